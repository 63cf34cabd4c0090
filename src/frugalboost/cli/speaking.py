"""How the command speaks: results on standard output, everything else on standard error, errors in one sentence."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from frugalboost.cli import stopping
from frugalboost.recipe.problems import WRONG, Problem


def say(text: str) -> None:
    """Something beside the result. That nobody listens is no reason to stop."""
    with contextlib.suppress(OSError):
        print(printable(text), file=sys.stderr, flush=True)


def put(text: str) -> None:
    """The result; as UTF-8 where the terminal's own letters do not suffice."""
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
        mute()
        raise Problem(f"The result can't be written to standard output: {error.strerror}.") from None


def mute() -> None:
    """Drop what is left for standard output; Python would try again to write it at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def open_streams() -> None:
    """Give a process that was started with closed streams some to write to; else a file would get their number."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            stream = open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, stream)


def printable(text: str) -> str:
    """A text that can't steer a terminal: names are data."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


@contextmanager
def told() -> Iterator[None]:
    """End with a sentence and an exit code where something is wrong; FRUGALBOOST_DEBUG=1 shows where it came from."""
    try:
        from frugalboost._support import loading  # noqa: F401  # before another library loads OpenMP

        stopping.work(True)
        yield
        stopping.work(False)
    except KeyboardInterrupt:
        say("frugalboost: stopped.")
        raise typer.Exit(stopping.INTERRUPTED) from None
    except BrokenPipeError:  # the reader, such as head, has seen enough
        mute()
        raise typer.Exit from None
    except typer.Exit:
        raise
    except (Problem, ValueError, TypeError, ImportError, OSError, MemoryError) as error:
        if os.environ.get("FRUGALBOOST_DEBUG"):
            raise
        text = " ".join(str(error).split()) or type(error).__name__
        say(f"frugalboost: {text}")
        raise typer.Exit(error.code if isinstance(error, Problem) else WRONG) from None
    except Exception as error:
        if os.environ.get("FRUGALBOOST_DEBUG"):
            raise
        what = f"{type(error).__name__}: {error}"
        say(f"frugalboost: unexpected {what}. FRUGALBOOST_DEBUG=1 shows where; please report it.")
        raise typer.Exit(1) from None


@contextmanager
def warnings_said() -> Iterator[None]:
    """Say our own warnings about the chosen model, and no others."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    if any(str(w.message).startswith("The features selected say little") for w in caught):
        say("The features selected say little: on rows held out they predict no better than a constant.")
