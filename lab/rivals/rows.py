"""Rows to learn from: how they are checked, cut, split and standardised."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

HELD_OUT = 0.2
FEWEST_ROWS = 10  # a fifth of them must have room for both classes


@dataclass(frozen=True)
class Rows:
    """A table, dense or sparse, with what is to be predicted and weights."""

    X: Any
    labels: Any  # numbers of classes, from 0 on; in regression the numbers themselves
    weight: Floats

    def take(self, places: Places) -> Rows:
        """Some of the rows."""
        return Rows(self.X[places], self.labels[places], self.weight[places])

    def as_array(self) -> Rows:
        """The same rows with a dense table."""
        return Rows(self.X.toarray(), self.labels, self.weight) if issparse(self.X) else self

    def columns(self, places: Places) -> Rows:
        """Some of the columns."""
        X = self.X[:, places]
        return Rows(X if issparse(X) else np.ascontiguousarray(X), self.labels, self.weight)


def judged(rows: Rows, validation: Rows | None, splits: int, seed: int) -> Iterator[tuple[Rows, Rows]]:
    """Rows to train on and rows to judge by: the validation rows, or random splits without them."""
    if validation is None:
        yield from random_splits(rows, splits, seed)
    else:
        yield rows, validation


def random_splits(rows: Rows, splits: int, seed: int) -> Iterator[tuple[Rows, Rows]]:
    """Cut the rows at random into four fifths to train on and a fifth held out, with the classes in proportion."""
    numbers = rows.labels.dtype.kind == "f"
    cuts = (ShuffleSplit if numbers else StratifiedShuffleSplit)(splits, test_size=HELD_OUT, random_state=seed)
    for train, held_out in cuts.split(rows.labels, rows.labels):
        yield rows.take(train), rows.take(held_out)


def folds(rows: Rows, count: int, seed: int) -> Iterator[tuple[Rows, Rows]]:
    """Hold out one part after another, classes in proportion; no more parts than the smaller class has rows."""
    count = min(count, int(np.bincount(rows.labels).min()))
    for train, held_out in StratifiedKFold(count, shuffle=True, random_state=seed).split(rows.labels, rows.labels):
        yield rows.take(train), rows.take(held_out)


@contextmanager
def unchanged_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """Bad input, or Ctrl-C, leaves an estimator as it was."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def class_numbers(y: Any) -> tuple[NDArray[Any], Places]:
    """The labels of classes, and for each row the place of its own among them."""
    check_classification_targets(y)
    classes, numbers = np.unique(y, return_inverse=True)
    return classes, numbers


def check_weights(sample_weight: Any, X: Any) -> Floats:
    """Return weights as floats, 1 where none are given."""
    weights: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0).any():
        raise ValueError("sample_weight has negative values; weights are zero or positive.")
    if not (weights > 0).any():
        raise ValueError("sample_weight is zero for every row; at least one row must count.")
    return weights


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
