"""Stratified folds, for classes and for numbers: each has the distribution of y."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frugalboost.tables.targets import by_appearance

Places = NDArray[np.int64]


def in_order(y: NDArray[np.float64], shuffled: Places, outputs: int) -> Places:
    """Return shuffled rows in order of y, or class after class where y has classes (or no more than two values)."""
    classes = outputs > 1 or len(np.unique(y)) <= 2
    return shuffled[np.argsort((by_appearance(y) if classes else y)[shuffled], kind="stable")]


def stratified_folds(
    y: NDArray[np.float64], outputs: int, folds: int, seed: int, most: int | None = None
) -> list[tuple[Places, Places]]:
    """Return training and held-out rows of each fold, at most ``most`` rows in all.

    Rows in order of y go to the folds in turn, so that every fold has its share of every class and of every size of y.
    """
    order = in_order(y, np.random.default_rng(seed).permutation(len(y)), outputs)
    if most is not None and len(order) > most:
        order = order[np.linspace(0, len(order) - 1, most).astype(np.int64)]
    fold = np.arange(len(order)) % folds
    return [(np.sort(order[fold != i]), np.sort(order[fold == i])) for i in range(min(folds, len(order)))]
