"""Which rows of a table have equal values in all columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frugalboost.tables.kinds import Table
from frugalboost.tables.targets import by_appearance

CELLS = 2**22  # looked at together


def equal_rows(table: Table) -> NDArray[np.int64] | None:
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
    step = max(1, CELLS // max(1, d))
    pieces = [table.row_bits(np.arange(at, min(at + step, n))) for at in range(0, n, step)]
    codes = by_appearance(np.concatenate(pieces)) if pieces else np.zeros(0, dtype=np.int64)
    return None if codes.max(initial=-1) + 1 == n else codes
