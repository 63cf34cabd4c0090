"""Random rows: every row of the whole table has a hash, and the rows with the smallest hashes are drawn.

The hash depends on the seed and the number of the row in the whole table. So the same rows are drawn whether the table
is in one piece or in parts on several machines.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core
from frugalboost.tables.parts import first_row

Hashes = NDArray[np.uint64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_DIGIT = 8  # bits found at a time


def sum_over_parts(values: NDArray[np.int64], part: _core.ThreadPart | None) -> NDArray[np.int64]:
    """The sums of whole numbers over all parts of the table."""
    values = np.ascontiguousarray(values, dtype=np.int64)
    if part is not None:
        flat = values.reshape(-1).copy()
        part.sum(flat)
        values = flat.reshape(values.shape)
    return values


def row_hashes(rows: int, seed: int, part: _core.ThreadPart | None) -> Hashes:
    """A hash for each row, different for all rows of the whole table."""
    numbers = np.arange(rows, dtype=np.uint64) + np.uint64(first_row(rows, part))
    return _mixed(_mixed(np.array([seed], dtype=np.uint64) + _STEP) + (numbers + np.uint64(1)) * _STEP)


def _mixed(v: Hashes) -> Hashes:
    """One to one; every bit depends on all bits of v, as in cpp/support/mixing.hpp."""
    with np.errstate(over="ignore"):
        v = (v ^ (v >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        v = (v ^ (v >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return v ^ (v >> np.uint64(31))


def draw_rows(
    groups: Sequence[Hashes], wanted: NDArray[np.int64], part: _core.ThreadPart | None
) -> list[NDArray[np.bool_]]:
    """The rows of each group with the smallest hashes, as many as wanted over all parts."""
    prefix = np.zeros(len(groups), dtype=np.uint64)  # leading bits of the largest number that is drawn
    left = wanted.astype(np.int64).copy()  # of those that begin with the prefix
    for shift in range(64 - _DIGIT, -1, -_DIGIT):
        counts = np.zeros((len(groups), 1 << _DIGIT), dtype=np.int64)
        for g, hashes in enumerate(groups):
            above = np.uint64(shift + _DIGIT)
            inside = hashes if shift + _DIGIT == 64 else hashes[hashes >> above == prefix[g]]
            digits = (inside >> np.uint64(shift)) & np.uint64((1 << _DIGIT) - 1)
            counts[g] = np.bincount(digits.astype(np.int64), minlength=1 << _DIGIT)
        until = np.cumsum(sum_over_parts(counts, part), axis=1)
        for g in range(len(groups)):
            digit = int(np.searchsorted(until[g], left[g])) if left[g] > 0 else 0
            digit = min(digit, (1 << _DIGIT) - 1)
            left[g] -= until[g, digit - 1] if digit > 0 else 0
            prefix[g] = (prefix[g] << np.uint64(_DIGIT)) | np.uint64(digit)
    nothing = wanted <= 0
    return [(hashes <= prefix[g]) & (not nothing[g]) for g, hashes in enumerate(groups)]
