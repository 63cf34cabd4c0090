"""What can be wrong with what a user gave, told in one sentence."""

from __future__ import annotations

import difflib
import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

WRONG, NOTHING = 2, 3  # exit codes: a wrong call or bad input; nothing is worth its price


class Problem(Exception):
    """Something that the user can mend.

    Parameters
    ----------
    message : str
        A sentence: what was wrong, where, what to do.
    code : int, default=2
        The exit code of the command.
    """

    def __init__(self, message: str, code: int = WRONG) -> None:
        super().__init__(message)
        self.code = code


def unknown(what: str, name: str, known: Iterable[str], where: str) -> Problem:
    """A name that is not there, with the nearest one that is."""
    names = list(known)
    lower = {n.lower(): n for n in names}
    near = [lower[name.lower()]] if name.lower() in lower else difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]!r}?" if near else f"There are {some(names)}."
    return Problem(f"There is no {what} {name!r} in {where}. {hint}")


def some(names: list[str], most: int = 8) -> str:
    """A list for a sentence."""
    shown = ", ".join(repr(n) for n in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


_REASONS = {
    errno.ENOSPC: "The disk is full: there was no room for {}. Make room, or name another place with --out.",
    errno.EDQUOT: "Your share of the disk is used up: there was no room for {}. Make room, or name another place with "
    "--out.",
    errno.EROFS: "{} is on a disk that can only be read. Name another place with --out.",
    errno.EACCES: "{} may not be written. Change its permissions, or name another place with --out.",
    errno.EPERM: "{} may not be written. Change its permissions, or name another place with --out.",
    errno.EISDIR: "{} is a folder; --out must name a file.",
    errno.ENOENT: "The folder of {} is not there. Make it, or name another place with --out.",
    errno.ENOTDIR: "{} lies in something that is no folder. Name another place with --out.",
    errno.ENAMETOOLONG: "{} is too long a name. Name another place with --out.",
}


@contextmanager
def writing(place: str | os.PathLike[str]) -> Iterator[None]:
    """Say in a sentence why something can't be written."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        path = repr(os.fspath(place))
        otherwise = f"{{}} can't be written: {error.strerror or error}. Name another place with --out."
        raise Problem(_REASONS.get(error.errno or 0, otherwise).format(path)) from None
