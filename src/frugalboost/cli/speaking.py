"""How the command speaks: results on standard output, everything else on standard error, errors in one sentence."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from frugalboost.persistence import ModelFileError
from frugalboost.run.problems import WRONG, Problem

INTERRUPTED = 130


def say(text: str) -> None:
    """Something beside the result."""
    print(printable(text), file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """A text that can't steer a terminal: names are data."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


@contextmanager
def told() -> Iterator[None]:
    """End with a sentence and an exit code where something is wrong; FRUGALBOOST_DEBUG=1 shows where it came from."""
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        say("frugalboost: stopped.")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit from None
    except (Problem, ModelFileError, ValueError, TypeError, ImportError, OSError, MemoryError) as error:
        if os.environ.get("FRUGALBOOST_DEBUG"):
            raise
        text = " ".join(str(error).split()) or type(error).__name__
        say(f"frugalboost: {text}")
        raise typer.Exit(error.code if isinstance(error, Problem) else WRONG) from None
    except typer.Exit:
        raise
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
