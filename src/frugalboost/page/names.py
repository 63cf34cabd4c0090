"""Long names, cut so that they still differ."""

from __future__ import annotations

from collections.abc import Iterable

from frugalboost.page.contents import Contents

LONG = 24  # letters
ENDING = 9  # of a name that is cut: long names often differ there
ELLIPSIS = "…"


def ends_of_name(name: str) -> tuple[str, str]:
    """The beginning of a name, which may be cut where there is no room, and its end, which is not.

    Examples
    --------
    >>> from frugalboost.page.names import ends_of_name
    >>> ends_of_name("a short name"), ends_of_name("blood pressure at noon, lying")
    (('a short name', ''), ('blood pressure at no', 'on, lying'))
    """
    return (name, "") if len(name) <= LONG else (name[:-ENDING], name[-ENDING:])


def cropped(text: str, most: int = 20, end: int | None = None) -> str:
    """A name shortened in the middle; ``end``: so many of its last letters are kept."""
    if len(text) <= most:
        return text
    end = most // 2 - 1 if end is None else end
    return f"{text[: most - 1 - end]}{ELLIPSIS}{text[len(text) - end :]}"


def short_names(names: Iterable[str], most: int = LONG) -> dict[str, str]:
    """A short form for each name; no two names have the same.

    Examples
    --------
    >>> from frugalboost.page.names import short_names
    >>> list(short_names(["age", "temperature at the start", "temperature at the third of five ends"]).values())
    ['age', 'temperature at the start', 'temperature at…five ends']
    """
    names = list(dict.fromkeys(names))
    taken = {name for name in names if len(name) <= most}
    found = {}
    for name in names:
        tried = (cropped(name, most, end) for end in (ENDING, most // 2, 4, most - 3))
        free = (short for short in tried if short not in taken)
        short = name if len(name) <= most else next(free, None) or numbered(name, most, taken)
        taken.add(short)
        found[name] = short
    return found


def numbered(name: str, most: int, taken: set[str]) -> str:
    """The beginning of a name and a number that is not taken."""
    forms = (f"{name[: most - 1 - len(str(i))]}{ELLIPSIS}{i}" for i in range(2, len(taken) + 3))
    return next(form for form in forms if form not in taken)


def shortened(contents: Contents) -> dict[str, str]:
    """The short form of every name that a chart may show: of features, bags and classes."""
    bags = [bag["name"] for bag in contents["bags"]]
    classes = [str(t["value"]) for t in contents["facts"]["target"] if "value" in t]
    return short_names(contents["names"]) | short_names(bags) | short_names(classes)


def cut_names(contents: Contents) -> dict[str, str]:
    """The whole name by its short form, where they differ."""
    return {short: name for name, short in shortened(contents).items() if short != name}
