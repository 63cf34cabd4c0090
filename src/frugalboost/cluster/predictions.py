"""Predictions for Dask collections: as lazy as these are, partition by partition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask import delayed
from numpy.typing import NDArray
from sklearn.base import is_classifier

from frugalboost.cluster.partitions import Partitions, kind_of, pieces


def lazily(local: Any, method: str, X: Any, dtype: Any, width: int | None) -> Any:
    """Call a method of a fitted estimator on every partition. ``width``: columns of the result; None: a vector.

    Arrays give an array; frames a series with their index, or an array where the result has columns; lists of delayed
    tables lists of delayed results; anything else is predicted at once.
    """
    kind = kind_of(X)
    if kind is None:
        return getattr(local, method)(X)
    call = Call(local, method, np.dtype(dtype), width)
    if kind == "list":
        return [delayed(call)(x) for x in X]
    if kind == "array":
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        if width is None:
            return X.map_blocks(call, drop_axis=1, dtype=call.dtype, meta=np.empty(0, dtype=call.dtype))
        return X.map_blocks(
            call, chunks=(X.chunks[0], (width,)), dtype=call.dtype, meta=np.empty((0, 0), dtype=call.dtype)
        )
    if width is None:
        import pandas as pd

        return X.map_partitions(call.as_series, meta=pd.Series([], dtype=call.dtype, name=method))
    blocks = [da.from_delayed(delayed(call)(x), (np.nan, width), dtype=call.dtype) for x in pieces(X)]
    return da.concatenate(blocks, axis=0, allow_unknown_chunksizes=True)


class Call:
    """A method of an estimator on one partition, which may have no rows."""

    def __init__(self, local: Any, method: str, dtype: np.dtype[Any], width: int | None) -> None:
        self._local, self._method, self.dtype, self._width = local, method, dtype, width

    def __call__(self, X: Any) -> NDArray[Any]:
        """Return the result."""
        rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if rows == 0:
            return np.empty((0,) if self._width is None else (0, self._width), dtype=self.dtype)
        found: NDArray[Any] = getattr(self._local, self._method)(X)
        return found

    def as_series(self, X: Any) -> Any:
        """Return the result with the index of a frame."""
        import pandas as pd

        return pd.Series(self(X), index=X.index, name=self._method, dtype=self.dtype)


def selected(X: Any, support: NDArray[np.bool_], local: Any, transform: Callable[[Any], Any]) -> Any:
    """The selected columns."""
    kind = kind_of(X)
    if kind is None:
        return transform(X)
    if kind == "list":
        return [delayed(local.transform)(x) for x in X]
    columns = np.flatnonzero(support)
    if kind == "array":
        return X[:, columns]
    names = getattr(local, "feature_names_in_", None)
    return X[list(names[columns])] if names is not None else X[[X.columns[c] for c in columns]]


def scored(local: Any, partitions: Partitions) -> float:
    """Accuracy or R2 over all partitions, which are scored where they are."""
    sums = delayed(_sums_of_classes if is_classifier(local) else _sums_of_numbers)
    found = dask.compute(*(sums(local, p.X, p.y, p.weights) for p in partitions.each))
    if is_classifier(local):
        right, total = np.sum(found, axis=0)
        return float(right / total)
    weight, mean, spread, error = 0.0, 0.0, 0.0, 0.0
    for more, own, around, lost in found:
        if more > 0:
            joined = weight + more
            spread += around + (own - mean) ** 2 * weight * more / joined
            mean, weight, error = mean + (own - mean) * more / joined, joined, error + lost
    return 1.0 - error / spread if spread > 0 else float(error == 0)


def _predicted(local: Any, X: Any, y: Any, weights: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
    y = np.asarray(y).reshape(-1)
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64).reshape(-1)
    return (local.predict(X) if len(y) else y), y, w


def _sums_of_classes(local: Any, X: Any, y: Any, weights: Any) -> tuple[float, float]:
    """The weight of rows that are classified rightly, and of all."""
    predicted, y, w = _predicted(local, X, y, weights)
    return float(w[predicted == y].sum()), float(w.sum())


def _sums_of_numbers(local: Any, X: Any, y: Any, weights: Any) -> tuple[float, float, float, float]:
    """Weight, mean of y, squared differences from it, and squared errors."""
    predicted, y, w = _predicted(local, X, y, weights)
    total = float(w.sum())
    if total == 0:
        return 0.0, 0.0, 0.0, 0.0
    mean = float(w @ y / total)
    return total, mean, float(w @ (y - mean) ** 2), float(w @ (y - predicted) ** 2)
