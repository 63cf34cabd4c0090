"""Rows of a table: what is known of them, what is to be predicted, and how much each counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.tables import Table

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """A table, what is to be predicted, and how much each row counts (None: all the same)."""

    X: Table | None  # None: only bins are known
    y: Floats
    weights: Floats | None = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def table(self) -> Table:
        """The table, where it is known to be there."""
        assert self.X is not None
        return self.X

    def at(self, places: NDArray[np.integer[Any]]) -> Rows:
        """Some of the rows."""
        return Rows(self.table.take(places), *self._targets(places))

    def targets(self, places: NDArray[np.integer[Any]]) -> Rows:
        """What is to be predicted in some of the rows, and their weights, without the table."""
        return Rows(None, *self._targets(places))

    def _targets(self, places: NDArray[np.integer[Any]]) -> tuple[Floats, Floats | None]:
        return self.y[places], None if self.weights is None else self.weights[places]
