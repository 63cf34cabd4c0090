"""How much work a search may be: rows to choose by, splits and points on the path, from the size of the table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from frugalboost.recipe.task import Task

ENOUGH = 6.0  # seconds of one core for the race
PER_MILLION, MOST = 5.0, 16.0  # and more for each million of cells of the table, up to this
USUAL_SAMPLE, SMALLEST_SAMPLE = 50_000, 10_000  # rows times trees per iteration; and the least number of rows
MANY = (5, 20)  # splits, points: the long search
FEWER = ((5, 12), (5, 8))  # tried in turn until the work is not too much, with fewer rows from the first on
# One tree, in seconds: for each cell, each row, and each column (its histograms are searched, whatever the rows).
PER_CELL, PER_ROW, PER_COLUMN = 0.8e-9, 14e-9, 7.5e-6
FIRST, LATER = 0.1, 2.8  # shares of all trees: that all points grow, and that those still open grow together
HELD_OUT = 0.2


@dataclass(frozen=True)
class Effort:
    """How much a search does.

    Parameters
    ----------
    rows : int
        To choose by.
    splits, points : int
        Of cross-validation, and on the path.
    """

    rows: int
    splits: int
    points: int


@dataclass(frozen=True)
class Size:
    """What the work of a search depends on."""

    rows: int
    columns: int
    outputs: int = 1  # trees in one iteration
    trees: int = 500
    stumps: bool = False  # and lines: less is searched in each column

    def seconds(self, effort: Effort) -> float:
        """Roughly how long the race takes on one core."""
        rows = (1 - HELD_OUT) * effort.rows
        one = PER_CELL * rows * self.columns + PER_ROW * rows + (0.0 if self.stumps else PER_COLUMN * self.columns)
        trees = self.trees * self.outputs * (FIRST * effort.points + LATER)
        return one * trees * effort.splits

    def rows_within(self, seconds: float, effort: Effort) -> int:
        """So many rows that the race takes no longer, but not fewer than are needed for a choice."""
        fixed, all_rows = self.seconds(replace(effort, rows=0)), self.seconds(effort)
        share = (seconds - fixed) / max(all_rows - fixed, 1e-9)
        if share >= 1:
            return effort.rows
        return min(effort.rows, max(SMALLEST_SAMPLE, int(share * effort.rows) // 1000 * 1000))


def outputs_of(y: Any, task: Task) -> int:
    """Trees in one iteration."""
    outputs = len(np.unique(y)) if task.is_classification else 1
    return outputs if outputs > 2 else 1


def effort_for(
    size: Size, sample: int | None, splits: int | None, points: int | None, thorough: bool = False
) -> Effort:
    """The most work that is not too much; what is given is obeyed.

    Points are reduced first, then rows, then points again. Splits are not: the standard error of three says little.

    Examples
    --------
    >>> from frugalboost.recipe.effort import Size, effort_for
    >>> effort_for(Size(5_000, 30), None, None, None)
    Effort(rows=5000, splits=5, points=20)
    >>> effort_for(Size(100_000, 100), None, splits=4, points=None)
    Effort(rows=16000, splits=4, points=12)
    """
    most = min(size.rows, max(SMALLEST_SAMPLE, USUAL_SAMPLE // size.outputs))
    rows = most if sample is None else min(sample or size.rows, size.rows)
    found = Effort(rows, splits or MANY[0], points or MANY[1])
    enough = min(MOST, ENOUGH + PER_MILLION * size.rows * size.columns / 1e6)
    for fewer_splits, fewer_points in FEWER:
        if thorough or size.seconds(found) <= enough:
            break
        found = Effort(found.rows, splits or fewer_splits, points or fewer_points)
        if sample is None:
            found = replace(found, rows=size.rows_within(enough, found))
    return found
