"""What can be wrong with what a user gave, told in one sentence."""

from __future__ import annotations

import difflib
import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from frugalboost.recipe.options import Option, Sentence


class Problem(ValueError):
    """Something that the user can mend.

    Parameters
    ----------
    *parts : str or Option
        A sentence: what was wrong, where, what to do.

    Examples
    --------
    >>> from frugalboost.recipe.options import Option
    >>> from frugalboost.recipe.problems import Problem
    >>> str(Problem(Option("k"), " and ", Option("mu"), " can't both be followed: give one of them."))
    "k and mu can't both be followed: give one of them."
    """

    def __init__(self, *parts: str | Option) -> None:
        super().__init__(*parts)
        self.sentence = Sentence(*parts)

    def __str__(self) -> str:
        return str(self.sentence)


def unknown(what: str, name: str, known: Iterable[str], where: str) -> Problem:
    """A name that is not there, with the nearest one that is."""
    names = list(known)
    lower = {n.lower(): n for n in names}
    near = [lower[name.lower()]] if name.lower() in lower else difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]!r}?" if near else f"There are {listed(names)}."
    return Problem(f"There is no {what} {name!r} in {where}. {hint}")


def listed(names: list[str], most: int = 8) -> str:
    """A list for a sentence."""
    shown = ", ".join(repr(n) for n in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


OUT = Option("out", ...)
_ELSEWHERE: tuple[str | Option, ...] = ("Name another place with ", OUT, ".")
_OR_ELSEWHERE: tuple[str | Option, ...] = ("or name another place with ", OUT, ".")
_REASONS: dict[int, tuple[str | Option, ...]] = {
    errno.ENOSPC: ("The disk is full: there was no room for {}. Make room, ", *_OR_ELSEWHERE),
    errno.EDQUOT: ("Your share of the disk is used up: there was no room for {}. Make room, ", *_OR_ELSEWHERE),
    errno.EROFS: ("{} is on a disk that can only be read. ", *_ELSEWHERE),
    errno.EACCES: ("{} may not be written. Change its permissions, ", *_OR_ELSEWHERE),
    errno.EPERM: ("{} may not be written. Change its permissions, ", *_OR_ELSEWHERE),
    errno.EISDIR: ("{} is a folder; ", Option("out"), " must name a file."),
    errno.ENOENT: ("The folder of {} is not there. Make it, ", *_OR_ELSEWHERE),
    errno.ENOTDIR: ("{} lies in something that is no folder. ", *_ELSEWHERE),
    errno.ENAMETOOLONG: ("{} is too long a name. ", *_ELSEWHERE),
}


@contextmanager
def writing(place: str | os.PathLike[str]) -> Iterator[None]:
    """Say in a sentence why something can't be written."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        otherwise = (f"{{}} can't be written: {error.strerror or error}. ", *_ELSEWHERE)
        first, *rest = _REASONS.get(error.errno or 0, otherwise)
        raise Problem(str(first).replace("{}", repr(os.fspath(place)), 1), *rest) from None
