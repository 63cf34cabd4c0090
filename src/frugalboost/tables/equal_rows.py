"""Which rows of a table have equal values in all columns, and are kept together where rows are held out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from frugalboost.tables.kinds import Table
from frugalboost.tables.sample import Sample
from frugalboost.tables.targets import by_appearance

Codes = NDArray[np.int64]

CELLS = 2**22  # looked at together
FEW_DIFFERENT, OFTEN = 25, 4  # with fewer different rows, each there more often than this, rows are equal by chance


def equal_rows(table: Table) -> Codes | None:
    """A number for each row, the same for equal rows; None if all rows differ. All missing values are equal.

    Rows are compared by a hash. Two that have the same by chance, which is very rare, count as equal.

    Examples
    --------
    >>> import numpy as np
    >>> from frugalboost.tables import DenseTable
    >>> from frugalboost.tables.equal_rows import equal_rows
    >>> equal_rows(DenseTable(np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 2.0]])))
    array([0, 1, 0])
    >>> equal_rows(DenseTable(np.array([[1.0], [2.0]]))) is None
    True
    """
    n, d = table.shape
    bits = np.empty(n, dtype=np.uint64)
    step = max(1, CELLS // max(1, d))
    for piece, places in table.pieces("to look for equal rows"):
        for at in range(0, len(piece), step):
            rows = np.arange(at, min(at + step, len(piece)))
            bits[places[rows]] = piece.row_bits(rows)
    codes = by_appearance(bits)
    return None if codes.max(initial=-1) + 1 == n else codes


def equal_by_chance(same: Codes) -> bool:
    """Whether there are so few different rows that equal ones say nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from frugalboost.tables.equal_rows import equal_by_chance
    >>> equal_by_chance(np.arange(100) % 8), equal_by_chance(np.arange(100) % 50)
    (True, False)
    """
    different = int(same.max()) + 1
    return different < FEW_DIFFERENT and len(same) > OFTEN * different


def kept_together(rows: Sample) -> Sample:
    """Checked rows, of which equal ones are in one group, with all rows that share a group with them."""
    same = equal_rows(rows.table)
    if same is None or equal_by_chance(same):
        return rows
    return replace(rows, groups=same if rows.groups is None else linked(rows.groups, same))


def linked(one: Codes, other: Codes) -> Codes:
    """Groups of rows that are linked by either of two kinds of groups, directly or through others.

    Examples
    --------
    >>> import numpy as np
    >>> from frugalboost.tables.equal_rows import linked
    >>> linked(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2]))
    array([0, 0, 0, 1])
    """
    n = int(max(one.max(), other.max())) + 1
    edges = coo_array((np.ones(len(one), dtype=np.int8), (one, other + n)), shape=(2 * n, 2 * n))
    return by_appearance(connected_components(edges, directed=False)[1][one])
