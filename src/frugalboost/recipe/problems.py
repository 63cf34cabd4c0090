"""Errors in what a user passed, as one sentence each."""

from __future__ import annotations

import difflib
import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from frugalboost.recipe.options import Option, Sentence


class Problem(ValueError):
    """An error that the user can fix.

    Parameters
    ----------
    *parts : str or Option
        A sentence: what was wrong, where, what to do.

    Examples
    --------
    >>> from frugalboost.recipe.options import Option
    >>> from frugalboost.recipe.problems import Problem
    >>> str(Problem(Option("k"), " and ", Option("mu"), " can't be used together: give one of them."))
    "k and mu can't be used together: give one of them."
    """

    def __init__(self, *parts: str | Option) -> None:
        super().__init__(*parts)
        self.sentence = Sentence(*parts)

    def __str__(self) -> str:
        return str(self.sentence)


def unknown(what: str, name: str, known: Iterable[str], where: str) -> Problem:
    """An unknown name, with the nearest known one."""
    names = list(known)
    near = nearest(name, names)
    hint = f"There are {listed(names)}." if near is None else f"Did you mean {near!r}?"
    return Problem(f"There is no {what} {name!r} in {where}. {hint}")


def nearest(name: str, names: list[str]) -> str | None:
    """The shortest name that begins like this one, else one that is written much like it.

    Examples
    --------
    >>> from frugalboost.recipe.problems import nearest
    >>> nearest("acc", ["jaccard", "accuracy"]), nearest("acuracy", ["jaccard", "accuracy"])
    ('accuracy', 'accuracy')
    """
    longer = [n for n in names if name and n.lower().startswith(name.lower())]
    if longer:
        return min(longer, key=len)
    return next(iter(difflib.get_close_matches(name, names, n=1, cutoff=0.5)), None)


def listed(names: list[str], most: int = 8) -> str:
    """A list for a sentence."""
    shown = ", ".join(repr(n) for n in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


OUT = Option("out", ...)
_ELSEWHERE: tuple[str | Option, ...] = ("Name another place with ", OUT, ".")
_OR_ELSEWHERE: tuple[str | Option, ...] = ("or name another place with ", OUT, ".")
_REASONS: dict[int, tuple[str | Option, ...]] = {
    errno.ENOSPC: ("The disk is full: there was no room for {}. Make room, ", *_OR_ELSEWHERE),
    errno.EDQUOT: ("Your disk quota is used up: there was no room for {}. Make room, ", *_OR_ELSEWHERE),
    errno.EROFS: ("{} is on a read-only disk. ", *_ELSEWHERE),
    errno.EACCES: ("You have no permission to write {}. Change its permissions, ", *_OR_ELSEWHERE),
    errno.EPERM: ("You have no permission to write {}. Change its permissions, ", *_OR_ELSEWHERE),
    errno.EISDIR: ("{} is a folder; ", Option("out"), " must name a file."),
    errno.ENOENT: ("The folder of {} does not exist. Create it, ", *_OR_ELSEWHERE),
    errno.ENOTDIR: ("{} is inside something that is not a folder. ", *_ELSEWHERE),
    errno.ENAMETOOLONG: ("The name {} is too long. ", *_ELSEWHERE),
}


@contextmanager
def writing(place: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors of writing into one sentence."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        otherwise = (f"{{}} can't be written: {error.strerror or error}. ", *_ELSEWHERE)
        first, *rest = _REASONS.get(error.errno or 0, otherwise)
        raise Problem(str(first).replace("{}", repr(os.fspath(place)), 1), *rest) from None
