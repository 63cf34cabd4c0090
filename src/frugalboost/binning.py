"""Tables in bins: thresholds are found once and may be used again for other rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core


@dataclass(frozen=True)
class Thresholds:
    """Where the bins of every column end; columns lie one after another in ``cuts``.

    A value lies in the first bin whose cut is not below it. Missing values have a bin of their own.
    """

    cuts: NDArray[np.float64]
    offsets: NDArray[np.int64]
    has_missing: NDArray[np.uint8]

    @classmethod
    def find(
        cls, X: NDArray[np.generic], weights: NDArray[np.float64] | None, max_bins: int, threads: int
    ) -> Thresholds:
        """Find thresholds: one bin per value where they fit, else bins of about equal weight."""
        return cls(*_core.find_thresholds(X, weights, max_bins, threads))

    def bin(self, X: NDArray[np.generic], threads: int) -> _core.BinnedMatrix:
        """Return the table in bins of one byte."""
        return _core.BinnedMatrix(X, self.cuts, self.offsets, self.has_missing, threads)
