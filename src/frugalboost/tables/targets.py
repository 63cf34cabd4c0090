"""Checks of users' targets, weights and groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _check_y, check_array, check_consistent_length, column_or_1d

from frugalboost import _core
from frugalboost.tables.kinds import Table
from frugalboost.tables.parts import exact_sum, of_all

Floats = NDArray[np.float64]


def positive_weight(weights: Floats, part: _core.ThreadPart | None = None) -> NDArray[np.bool_]:
    """Which rows have a positive weight on the grid of the core; very small weights round to zero there."""
    return np.asarray(np.rint(np.ldexp(weights, _core.weight_shift(weights, part))) > 0)


def check_weights(
    sample_weight: Any, X: Table | Floats, what: str = "sample_weight", part: _core.ThreadPart | None = None
) -> Floats | None:
    """Return weights as floats, or None if all are 1."""
    if sample_weight is None:
        return None
    weights: Floats = np.zeros(0)
    if len(X) or part is None:
        try:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        except ValueError as error:
            raise ValueError(f"{what}: {error}") from None
    if (weights < 0).any():
        raise ValueError(f"{what} has negative values; weights are zero or positive.")
    with np.errstate(over="ignore"):
        facts = of_all((bool((weights > 0).any()), bool((weights == 1).all()), float(weights.sum())), part)
        positive, ones, totals = zip(*facts, strict=True)
        total = np.sum(totals)
    if not any(positive):
        raise ValueError(f"{what} is zero for every row; at least one must be positive.")
    if not np.isfinite(total):
        raise ValueError(f"{what}: the sum of the weights is not finite. Rescale them.")
    return None if all(ones) else weights


def with_mean_one(weights: Floats | None, part: _core.ThreadPart | None = None) -> Floats | None:
    """Scale relative weights to a mean of 1: weights with a mean below 1 that are not all whole numbers.

    Weights that add up to 1, as in surveys and AdaBoost, would be less than a leaf needs. Rows of weight zero are left
    out of the mean.
    """
    if weights is None:
        return None
    counting = weights[positive_weight(weights, part)]
    own = (len(counting), counting.min(initial=np.inf), counting.max(initial=0.0), bool((counting % 1 == 0).all()))
    rows, smallest, largest, whole = zip(*of_all(own, part), strict=True)
    least, most = float(min(smallest)), float(max(largest))
    mean = least if least == most else exact_sum(counting, part) / sum(rows)  # the same for any order of rows
    if not mean < 1 or all(whole):
        return weights
    relative = weights / mean
    return None if all(of_all(bool((relative == 1).all()), part)) else relative


def check_y(y: Any, part: _core.ThreadPart | None = None) -> Floats:
    """Return a target of numbers; with several columns, if it has more than one."""
    if sparse.issparse(y):
        raise TypeError("y is a sparse matrix. Give an array: y.toarray().")
    shape = np.asarray(y).shape
    several = len(shape) == 2 and shape[1] != 1
    if several and shape[1] == 0:
        raise ValueError("y has no columns: there is nothing to predict.")
    if several and part is not None:
        raise ValueError(f"y has {shape[1]} columns; a table in parts can have one target only.")
    target: Floats = np.zeros(0)
    if part is None or len(y):
        target = _check_y(y, multi_output=several, y_numeric=True, estimator=None).astype(np.float64)
        target += 0.0  # no negative zeros
    for column in columns_of(target):
        least, most = extremes(column, part)
        if least < most and not most / 4 - least / 4 < np.finfo(np.float64).max / 4:
            raise ValueError(
                f"y has values from {least:g} to {most:g}: their differences are too large for a floating point "
                "number. Rescale y."
            )
    return target


def extremes(values: Floats, part: _core.ThreadPart | None) -> Floats:
    """The smallest and the largest number of all parts."""
    smallest, largest = zip(*of_all((values.min(initial=np.inf), values.max(initial=-np.inf)), part), strict=True)
    return np.array([min(smallest), max(largest)])


def columns_of(y: Floats) -> list[Floats]:
    """The columns of a target, or the only one."""
    return [y] if y.ndim == 1 else list(y.T)


def for_core(y: Floats) -> Floats:
    """A target as the core takes it: one column after another."""
    return y if y.ndim == 1 else np.ascontiguousarray(y.T).ravel()


def order_of(y: NDArray[Any]) -> NDArray[Any]:
    """What rows are put in order by where folds get their share of every y; several columns have no common order."""
    return y if y.ndim == 1 else np.zeros(len(y))


def check_y_classes(y: Any) -> NDArray[Any]:
    """Return a target of class labels."""
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    if labels.dtype.kind in "fc" or labels.dtype == object:
        check_array(labels.reshape(-1, 1), dtype=None, ensure_all_finite=True, input_name="y")
    check_classification_targets(labels)
    return labels


def check_groups(groups: Any, y: Any) -> NDArray[np.int64] | None:
    """Return groups as whole numbers in the order of first appearance, or None if there are none."""
    if groups is None:
        return None
    labels = check_array(groups, input_name="groups", ensure_2d=False, dtype=None, estimator=None)
    check_consistent_length(y, column_or_1d(labels))
    return by_appearance(labels)


def by_appearance(y: NDArray[Any]) -> NDArray[np.int64]:
    """Return class numbers in the order of first appearance, so that the names of classes do not matter."""
    _, first, codes = np.unique(y, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes]
