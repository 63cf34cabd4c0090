"""The oracle's draws: which rows the trees of an iteration see."""

from __future__ import annotations

import numpy as np
from reference_direction import STEP, mixed


def row_draw_key(seed, iteration):
    return mixed(mixed(seed + 2 * STEP) + iteration * STEP)


def is_drawn(key, row, share):
    """Each row by itself, by its number in the whole table."""
    return float(mixed(key + (row + 1) * STEP) >> 11) * 2.0**-53 < share


def drawn_rows(seed, iteration, share, rows):
    """A mask of the rows that the trees of an iteration see."""
    key = row_draw_key(seed, iteration)
    return np.array([is_drawn(key, r, share) for r in range(rows)], dtype=bool)
