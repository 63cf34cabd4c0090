"""Formulas in Excel files that nobody has computed: a program has written them, and Excel has never opened the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from frugalboost.recipe.problems import listed

_CELL = re.compile(rb"<(?:\w+:)?c\s([^<>]*[^<>/])>(.*?)</(?:\w+:)?c>", re.DOTALL)
_PLACE = re.compile(rb"""\br=["']([A-Z]{1,3})(\d+)["']""")
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
_RESULT = re.compile(rb"<(?:\w+:)?v(?:\s[^>]*)?>[^<]")
_TEXT = re.compile(rb"""\bt=["']str["']""")  # an empty text is a result, too


def uncomputed_cells(sheet: Any) -> list[tuple[int, int]]:
    """Rows and columns, both from 0 on, of formulas that have no result; an empty text is a result.

    Parameters
    ----------
    sheet : openpyxl's ReadOnlyWorksheet
        Which tells neither of both from an empty cell, so that its file is read.

    Returns
    -------
    list of tuple
        Nothing for a file without such formulas.
    """
    with sheet._get_source() as file:
        content = file.read()
    if _FORMULA.search(content) is None:
        return []
    formulas = (m for m in _CELL.finditer(content) if _FORMULA.search(m[2]))
    places = (_PLACE.search(m[1]) for m in formulas if not (_RESULT.search(m[2]) or _TEXT.search(m[1])))
    return [(int(place[2]) - 1, column_number(place[1])) for place in places if place is not None]


def column_number(letters: bytes) -> int:
    """A is 0, Z is 25, AA is 26.

    Examples
    --------
    >>> from frugalboost.recipe.formulas import column_number
    >>> [column_number(letters) for letters in (b"A", b"Z", b"AA", b"XFD")]
    [0, 25, 26, 16383]
    """
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number - 1


def by_column(cells: Sequence[tuple[int, int]], rows: Sequence[int], names: Sequence[str]) -> dict[str, int]:
    """How many of these cells each column has in these rows of the sheet."""
    taken = set(rows)
    counts = Counter(names[column] for row, column in cells if row in taken and column < len(names))
    return {name: counts[name] for name in names if name in counts}


def about_formulas(uncomputed: Mapping[str, int], source: str) -> str:
    """A sentence about formulas without a result."""
    n, names = sum(uncomputed.values()), list(uncomputed)
    one = n == 1
    where = f"{source}, in {listed(names, 5)}," if len(names) > 1 else f"{names[0]!r} in {source}"
    s, has, it = ("", "has", "it") if one else ("s", "have", "them")
    told = f"{n:,} formula{s} of {where} {has} no result, since nobody has computed {it}"
    count = "it counts" if one else "they count"
    return f"{told}; {count} as missing. Open the file in Excel or LibreOffice, and save it."
