"""The oracle's draws: which rows the trees of an iteration see, and which columns they may use."""

from __future__ import annotations

import numpy as np
from reference_direction import STEP, mixed


def row_draw_key(seed, iteration):
    return mixed(mixed(seed + 2 * STEP) + iteration * STEP)


def is_drawn(key, row, share):
    """Each row by itself, by its number in the whole table."""
    return float(mixed(key + (row + 1) * STEP) >> 11) * 2.0**-53 < share


def number_of_columns(max_features, columns):
    count = {
        None: lambda: columns,
        "sqrt": lambda: int(columns**0.5),
        "log2": lambda: columns.bit_length() - 1,
    }.get(max_features, lambda: max_features if isinstance(max_features, int) else int(max_features * columns))()
    return min(max(count, 1), columns)


def drawn_columns(seed, iteration, max_features, columns):
    """The columns with the smallest hashes."""
    key = mixed(mixed(seed + 3 * STEP) + iteration * STEP)
    ordered = sorted(range(columns), key=lambda c: mixed(key + (c + 1) * STEP))
    return set(ordered[: number_of_columns(max_features, columns)])


def drawn_rows(seed, iteration, share, rows):
    """A mask of the rows that the trees of an iteration see."""
    key = row_draw_key(seed, iteration)
    return np.array([is_drawn(key, r, share) for r in range(rows)], dtype=bool)
