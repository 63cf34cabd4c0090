"""What the command prints: results on standard output, everything else on standard error, errors in one sentence."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

import frugalboost.cli.interrupts as interrupts
from frugalboost.recipe.options import Option
from frugalboost.recipe.problems import Problem

WRONG, NOTHING = 2, 3  # exit codes: a wrong call or bad input; nothing is worth its price
COMMAND_NAMES = {"ids": "id"}


def command_spelling(option: Option) -> str:
    """Spell an option as it is typed.

    Examples
    --------
    >>> from frugalboost.cli.messages import command_spelling
    >>> from frugalboost.recipe.options import Option
    >>> [command_spelling(Option(*given)) for given in [("learning_rate",), ("task", "regression"), ("header", False)]]
    ['--learning-rate', '--task regression', '--no-header']
    """
    name = COMMAND_NAMES.get(option.name, option.name).replace("_", "-")
    if option.value is False:
        return f"--no-{name}"
    return f"--{name}" if option.value in (None, ..., True) else f"--{name} {shlex.quote(str(option.value))}"


def say(text: str) -> None:
    """Print a message to standard error; if that is closed, go on without it."""
    with contextlib.suppress(OSError):
        print(printable(text), file=sys.stderr, flush=True)


def print_result(text: str) -> None:
    """Print the result; as UTF-8 if the terminal's encoding lacks a character."""
    try:
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError:
            sys.stdout.flush()
            sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_output()
        raise Problem(f"The result can't be written to standard output: {error.strerror}.") from None


def discard_output() -> None:
    """Discard what is left for standard output; otherwise Python would try to write it again at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def open_streams() -> None:
    """Open /dev/null for streams that were closed at the start; otherwise a file would get their number."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            stream = open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, stream)


def printable(text: str) -> str:
    """The text without control characters, since names may contain any."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def exit_with(words: str, code: int) -> NoReturn:
    """End with a sentence and an exit code."""
    say(f"frugalboost: {words}")
    raise typer.Exit(code) from None


@contextmanager
def errors_in_one_sentence() -> Iterator[None]:
    """Turn errors into a sentence and an exit code; FRUGALBOOST_DEBUG=1 shows the traceback."""
    try:
        interrupts.set_working(True)
        yield
        interrupts.set_working(False)
    except KeyboardInterrupt:
        say("frugalboost: stopped.")
        raise typer.Exit(interrupts.INTERRUPTED) from None
    except BrokenPipeError:  # the reader, such as head, has closed the pipe
        discard_output()
        raise typer.Exit from None
    except typer.Exit:
        raise
    except (ValueError, TypeError, ImportError, OSError, MemoryError) as error:
        if os.environ.get("FRUGALBOOST_DEBUG"):
            raise
        text = error.sentence.spelled(command_spelling) if isinstance(error, Problem) else str(error)
        exit_with(" ".join(text.split()) or type(error).__name__, WRONG)
    except Exception as error:
        if os.environ.get("FRUGALBOOST_DEBUG"):
            raise
        what = f"{type(error).__name__}: {error}"
        exit_with(f"unexpected {what}. FRUGALBOOST_DEBUG=1 shows where; please report it.", 1)


@contextmanager
def own_warnings_only(say: Callable[[str], None] = say) -> Iterator[None]:
    """Show only our own warning about the chosen model, by ``say``."""
    from frugalboost import WeakSelectionWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    if any(issubclass(w.category, WeakSelectionWarning) for w in caught):
        say("The selected features are weak: on held-out rows they predict no better than a constant.")
