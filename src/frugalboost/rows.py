"""Rows of a table: what is known of them, what is to be predicted, and how much each counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """A table, what is to be predicted, and how much each row counts (None: all the same)."""

    X: NDArray[np.generic]
    y: Floats
    weights: Floats | None = None

    def __len__(self) -> int:
        return len(self.y)

    def at(self, places: NDArray[np.integer[Any]]) -> Rows:
        """Some of the rows."""
        return self.over(self.X[places], places)

    def over(self, X: NDArray[np.generic], places: NDArray[np.integer[Any]]) -> Rows:
        """What is to be predicted in some of the rows, and their weights, over another table of them."""
        return Rows(X, self.y[places], None if self.weights is None else self.weights[places])
