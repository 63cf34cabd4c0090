"""Tables, targets and weights as users hold them, turned into what the core reads. Checked once, here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _check_y, check_array, column_or_1d, validate_data

Floats = NDArray[np.float64]


def check_X(estimator: BaseEstimator, X: Any, *, reset: bool, what: str = "X") -> NDArray[np.generic]:
    """Return a table as a numeric array, without copying what the core can read in place.

    NaN is allowed, infinity is not. With ``reset`` the estimator takes over names and number of columns, else they
    are compared with those seen in fit.
    """
    refuse_sparse(X, what)
    refuse_non_numeric(X, what)
    array: NDArray[np.generic] = validate_data(
        estimator, X, reset=reset, dtype="numeric", ensure_all_finite="allow-nan"
    )
    return readable(array)


def readable(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return the array in a type that the core reads; most are left as they are."""
    plain = array.dtype.kind in "biuf" and array.dtype.isnative and array.dtype.itemsize <= 8
    in_place = array.flags.aligned and not any(s % array.itemsize for s in array.strides)
    if not plain or not in_place or array.dtype == np.float16:
        return array.astype(np.float64)
    return array


def refuse_sparse(X: Any, what: str) -> None:
    """Raise TypeError for sparse matrices and arrays."""
    if sparse.issparse(X):
        raise TypeError(
            f"{what} is sparse, and sparse data is not supported yet. Use {what}.toarray() to make it dense."
        )


def refuse_non_numeric(X: Any, what: str) -> None:
    """Raise a sentence that names the first column of a data frame that does not hold numbers."""
    for name, kind in _non_numeric_columns(X):
        raise ValueError(
            f"{what}: column {name!r} holds {kind}, not numbers. Drop it or encode it first, for example with "
            "sklearn.preprocessing.OrdinalEncoder or OneHotEncoder."
        )


def _non_numeric_columns(X: Any) -> list[tuple[str, str]]:
    if isinstance(X, np.ndarray | list | tuple):
        return []
    try:
        import narwhals as nw
    except ImportError:  # scikit-learn before 1.9 may come without it; its own message is less precise
        return []
    if nw.dependencies.is_into_series(X):
        return []
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("X is a lazy frame. Call its method collect() first.")
    if not isinstance(frame, nw.DataFrame):
        return []
    bad = []
    for name, dtype in frame.schema.items():
        if dtype.is_numeric() or dtype == nw.Boolean:
            continue
        if dtype in (nw.Object, nw.Unknown) and _converts(frame[name]):
            continue
        bad.append((str(name), f"{dtype} values"))
    return bad


def _converts(column: Any) -> bool:
    try:
        np.asarray(column.to_numpy(), dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True


def check_weights(sample_weight: Any, X: NDArray[np.generic], what: str = "sample_weight") -> Floats | None:
    """Return weights as floats, or None where all rows count the same."""
    if sample_weight is None:
        return None
    try:
        weights: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None
    if (weights < 0).any():
        raise ValueError(f"{what} has negative values; weights are zero or positive.")
    if not (weights > 0).any():
        raise ValueError(f"{what} is zero for every row; at least one row must count.")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError(f"{what}: the weights add up to more than a number can hold. Rescale them.")
    return None if (weights == 1).all() else weights


def check_y(y: Any) -> Floats:
    """Return a target of numbers."""
    target: Floats = _check_y(y, y_numeric=True, estimator=None).astype(np.float64)
    return target


def check_y_classes(y: Any) -> NDArray[Any]:
    """Return a target of class labels."""
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    if labels.dtype.kind in "fc" or labels.dtype == object:
        check_array(labels.reshape(-1, 1), dtype=None, ensure_all_finite=True, input_name="y")
    check_classification_targets(labels)
    return labels
