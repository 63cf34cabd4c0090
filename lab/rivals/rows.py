"""Rows to learn from: how they are cut, split and standardised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

HELD_OUT = 0.2
FEWEST_ROWS = 10  # a fifth of them must have room for both classes


@dataclass(frozen=True)
class Rows:
    """A table, dense or sparse, with labels from 0 on and weights."""

    X: Any
    labels: Places
    weight: Floats

    def take(self, places: Places) -> Rows:
        """Some of the rows."""
        return Rows(self.X[places], self.labels[places], self.weight[places])


def random_splits(rows: Rows, splits: int, seed: int) -> Iterator[tuple[Rows, Rows]]:
    """Cut the rows at random into four fifths to train on and a fifth held out, with the classes in proportion."""
    cuts = StratifiedShuffleSplit(splits, test_size=HELD_OUT, random_state=seed)
    for train, held_out in cuts.split(rows.labels, rows.labels):
        yield rows.take(train), rows.take(held_out)


def check_enough(labels: Places, classes: NDArray[Any]) -> None:
    """Raise ValueError where random splits can't hold every class."""
    counts = np.bincount(labels, minlength=len(classes))
    if len(labels) < FEWEST_ROWS:
        raise ValueError(f"There are {len(labels)} rows; at least {FEWEST_ROWS} are needed, since a fifth is held out.")
    if counts.min() < 2:
        raise ValueError(
            f"Class {classes[counts.argmin()]!s} has {counts.min()} row; each class needs at least 2, since some rows "
            "are held out."
        )


def dense(X: Any) -> Floats:
    """The table as an array."""
    return np.asarray(X.toarray() if issparse(X) else X, dtype=np.float64)


def varied(X: Any) -> Places:
    """Columns with more than one value."""
    low, high = X.min(axis=0), X.max(axis=0)
    differs = (high - low).toarray().ravel() if issparse(X) else high - low
    return np.flatnonzero(differs)


def standardised(X: Any) -> Floats:
    """Columns with mean 0 and variance 1, as an array; constant ones are all 0."""
    return np.asarray(StandardScaler().fit_transform(dense(X)))
