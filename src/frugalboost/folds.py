"""Rows dealt out into folds that have the distribution of y."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]


def deal(y: NDArray[np.float64], folds: int, seed: int, most: int | None = None) -> list[tuple[Places, Places]]:
    """Return training and held-out rows of each fold, at most so many rows in all.

    Rows are dealt out in order of y, so that every fold has its share of every class and of every size of y.
    """
    shuffled = np.random.default_rng(seed).permutation(len(y))
    order = shuffled[np.argsort(y[shuffled], kind="stable")]
    if most is not None and len(order) > most:
        order = order[np.linspace(0, len(order) - 1, most).astype(np.int64)]
    dealt = np.arange(len(order)) % folds
    return [(np.sort(order[dealt != i]), np.sort(order[dealt == i])) for i in range(min(folds, len(order)))]
