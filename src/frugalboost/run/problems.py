"""What can be wrong with what a user gave, told in one sentence."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

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
