"""Parts of one table: what they must exchange before a fit. ``part`` is None for a table in one piece."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core
from frugalboost.tables.kinds import Table
from frugalboost.tables.levels import Value

T = TypeVar("T")


def of_all(own: T, part: _core.ThreadPart | None) -> list[T]:
    """What each part has, in the order of parts. Parts trust each other: they run the same program."""
    if part is None:
        return [own]
    return [pickle.loads(sent) for sent in part.gather(pickle.dumps(own))]


def first_row(rows: int, part: _core.ThreadPart | None) -> int:
    """The number of a part's first row in the whole table."""
    return 0 if part is None else sum(of_all(rows, part)[: part.part])


def common_levels(own: dict[int, set[Value]], part: _core.ThreadPart | None) -> dict[int, set[Value]]:
    """The levels of categorical columns that any part has."""
    known: dict[int, set[Value]] = {c: set() for c in own}
    for levels in of_all(own, part):
        for c, values in levels.items():
            known[c].update(values)
    return known


def with_common_vocabulary(table: Table, part: _core.ThreadPart) -> Table:
    """The part with the vocabulary of all parts.

    Every part then knows a level that only one part has, as if the table were in one piece.
    """
    known = common_levels({c: set(levels) for c, levels in table.vocabulary.items()}, part)
    return table.in_terms_of({c: tuple(sorted(levels)) for c, levels in known.items()})


def exact_sum(values: NDArray[np.float64], part: _core.ThreadPart | None) -> float:
    """The sum over all parts, rounded once, so that it doesn't depend on how rows are divided.

    Examples
    --------
    >>> import numpy as np
    >>> from frugalboost.tables.parts import exact_sum
    >>> exact_sum(np.array([1e100, 1.0, -1e100]), None)
    1.0
    """
    total = sum((Fraction(*pair) for pair in of_all(_fraction(values), part)), start=Fraction(0))
    return float(total)


def _fraction(values: NDArray[np.float64]) -> tuple[int, int]:
    """The exact sum: mantissas are added as whole numbers, those of equal exponents together."""
    mantissas, exponents = np.frexp(values)
    digits = np.ldexp(mantissas, 53).astype(np.int64)
    low, high = digits & ((1 << 26) - 1), digits >> 26  # so that sums of 2**36 of them fit 64 bits
    total = Fraction(0)
    for e in np.unique(exponents).tolist():
        same = exponents == e
        whole = (int(high[same].sum()) << 26) + int(low[same].sum())
        total += whole * Fraction(2) ** (e - 53)
    return total.numerator, total.denominator
