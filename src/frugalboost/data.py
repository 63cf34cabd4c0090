"""Tables, targets and weights as users hold them, turned into what the core reads. Checked once, here."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _check_y, check_array, column_or_1d, validate_data

from frugalboost import _core
from frugalboost.binning import MOST_CELLS
from frugalboost.tables import Framed, Listed, Plain, Table, frames
from frugalboost.tables.batched import Batched, Stream
from frugalboost.tables.categorical import categorical_columns
from frugalboost.tables.levels import Coded, Value
from frugalboost.tables.sources import Batches, as_batches, as_vector
from frugalboost.threads import threads_for

Floats = NDArray[np.float64]


def check_X(estimator: Any, X: Any, *, reset: bool, what: str = "X", in_fit: bool = False) -> Table:
    """Return a table as the core reads it, without copying what it can read in place.

    NaN is allowed; infinity is not, which predictions find only in columns they look at. With ``reset`` the estimator
    takes over names, number of columns and levels, else they are compared with those seen in fit.
    """
    if isinstance(X, Table):
        return X
    in_fit = in_fit or reset
    if sparse.issparse(X):
        return _check_sparse(estimator, X, reset, what, in_fit)
    frame = frames.as_frame(X, what)
    if frame is not None:
        return _check_frame(estimator, X, frame, reset, what, in_fit)
    return _check_array(estimator, X, reset, what, in_fit)


def read_table(estimator: Any, X: Any, y: Any, weights: Any, *, reset: bool, what: str = "X") -> tuple[Table, Any, Any]:
    """Return a table for fit with its targets and weights, wherever it comes from."""
    if isinstance(X, str | os.PathLike) and y is None:
        raise ValueError(f"{what} is read from files: name the column to predict, fit(path, y='...').")
    batches = as_batches(X, y, weights)
    if batches is None:
        return check_X(estimator, X, reset=reset, what=what, in_fit=True), y, weights
    return _read_first(estimator, batches, reset, what)


def _read_first(estimator: Any, batches: Batches, reset: bool, what: str) -> tuple[Table, Any, Any]:
    """Read batches once, for all that must be known before thresholds are found; sparse ones are put together."""
    head = next(batches.read(), None)
    if head is None:
        raise ValueError(f"{what} has no batches.")
    if sparse.issparse(head.X):
        parts = list(batches.read())
        X = check_X(estimator, sparse.vstack([b.X for b in parts], format="csr"), reset=reset, what=what, in_fit=True)
        return X, *_targets([b.y for b in parts], [b.weights for b in parts])
    names, categorical = _learn_columns(estimator, head.X, reset, what)
    only = [names[c] for c in sorted(categorical)] if names and batches.can_choose_columns else None
    learn_levels = reset and not _goes_on(estimator)
    levels: dict[int, set[Value]] = {c: set() for c in categorical} if learn_levels else {}
    checked = _batch_check(estimator, what)
    finder = None
    if only is None and reset and not categorical:
        finder = _core.ThresholdFinder(estimator.n_features_in_, MOST_CELLS)
        estimator.categories_ = {}
    ys, ws, rows = [], [], 0
    for number, batch in enumerate(batches.read(only)):
        size = batch.X.shape[0] if hasattr(batch.X, "shape") else len(batch.X)
        for given in (batch.y, batch.weights):
            if given is not None and len(given) != size:
                raise ValueError(f"{what}: batch {number} has {size} rows, but {len(given)} targets or weights.")
        ys.append(batch.y)
        ws.append(batch.weights)
        rows += size
        for c, found in levels.items():
            found |= _levels_in(batch.X, None if only is None else names[c], c, f"{what}: batch {number}")
        if finder is not None:
            if batch.weights is not None:
                finder = None
            else:
                finder.add(checked(batch.X, number).numbers(), None, 0, threads_for(estimator.n_jobs))
    if learn_levels:
        estimator.categories_ = {c: sorted(found) for c, found in levels.items()}
    vocabulary = {c: tuple(values) for c, values in estimator.categories_.items()}
    shape = (rows, estimator.n_features_in_)
    table = Batched(Stream(batches, checked, shape, vocabulary, bool(estimator.verbose), finder))
    return table, *_targets(ys, ws)


def _learn_columns(estimator: Any, X: Any, reset: bool, what: str) -> tuple[list[str], set[int]]:
    """Names and categorical columns, from the first batch."""
    frame = frames.as_frame(X, what)
    if frame is None:
        validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)
        return [], _category_columns(estimator, None, [], estimator.n_features_in_, reset)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    names = [str(name) for name in frame.columns]
    by_dtype = [i for i, t in enumerate(frame.schema.values()) if frames.has_category_dtype(t)]
    columns = _category_columns(estimator, names, by_dtype, len(names), reset)
    for i in range(len(names)):
        frames.read(frame, i, i in columns, what)  # says which column can't be used
    return names, columns


def _levels_in(X: Any, name: str | None, column: int, what: str) -> set[Value]:
    frame = frames.as_frame(X, what)
    if frame is None:
        array = np.asarray(X)
        return frames.of_values(array[:, column], f"{what}: column {column}").occurring(f"{what}: column {column}")
    place = column if name is None else frame.columns.index(name)
    coded = frames.read(frame, place, True, what)
    assert isinstance(coded, Coded)
    return coded.occurring(f"{what}: column {frame.columns[place]!r}")


def _batch_check(estimator: Any, what: str) -> Callable[[Any, int], Table]:
    def check(X: Any, number: int) -> Table:
        try:
            return check_X(estimator, X, reset=False, what=what, in_fit=True)
        except (TypeError, ValueError) as error:
            raise type(error)(f"Batch {number}: {error}") from None

    return check


def _targets(ys: list[Any], ws: list[Any]) -> tuple[Any, Any]:
    if any(y is None for y in ys):
        raise ValueError("A batch has no targets: give tuples (X, y) or (X, y, weights).")
    if any((w is None) != (ws[0] is None) for w in ws):
        raise ValueError("Some batches have weights and some have none.")
    return as_vector(ys, "y"), None if ws[0] is None else as_vector(ws, "sample_weight")


def _check_array(estimator: Any, X: Any, reset: bool, what: str, in_fit: bool) -> Table:
    finite = "allow-nan" if in_fit else False
    asked = estimator.categorical_features
    if reset and asked is not None and not isinstance(asked, str):
        kind = None  # texts are allowed in some columns
    else:
        kind = "numeric" if reset or not estimator.categories_ else None
    if kind == "numeric":
        array = validate_data(estimator, X, reset=reset, dtype="numeric", ensure_all_finite=finite)
        if reset:
            categorical_columns(asked, None, [], array.shape[1])
            estimator.categories_ = {}
        return Plain(readable(array))
    array = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)
    columns = _category_columns(estimator, None, [], array.shape[1], reset)
    read: list[frames.Column] = []
    for c in range(array.shape[1]):
        where = f"{what}: column {c}"
        read.append(frames.of_values(array[:, c], where) if c in columns else _as_numbers(array[:, c], where))
    return _framed(estimator, len(array), read, [str(c) for c in range(len(read))], reset, what, in_fit)


def _as_numbers(column: NDArray[Any], where: str) -> NDArray[np.generic]:
    try:
        return readable(column if column.dtype.kind in "biuf" else column.astype(np.float64))
    except (TypeError, ValueError):
        raise ValueError(
            f"{where} holds values that are not numbers. If they are categories, add it to categorical_features."
        ) from None


def _check_frame(estimator: Any, X: Any, frame: Any, reset: bool, what: str, in_fit: bool) -> Table:
    names = [str(name) for name in frame.columns]
    if not in_fit and (places := _reduced(estimator, names)) is not None:
        return _check_reduced(estimator, frame, names, places, what)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    _check_not_empty(frame.shape, what)
    by_dtype = [i for i, t in enumerate(frame.schema.values()) if frames.has_category_dtype(t)]
    columns = _category_columns(estimator, names, by_dtype, len(names), reset)
    array = None if columns else frames.one_array(frame)
    if array is not None:
        if in_fit:
            _refuse_infinite([array], None, what)
        if reset:
            estimator.categories_ = {}
        return Plain(readable(array))
    read = [frames.read(frame, i, i in columns, what) for i in range(len(names))]
    return _framed(estimator, frame.shape[0], read, names, reset, what, in_fit)


def _reduced(estimator: Any, names: list[str]) -> dict[str, int] | None:
    """Where the columns of a table stood in fit, if it lacks some but has all that the model looks at."""
    known = getattr(estimator, "feature_names_in_", None)
    if known is None or not hasattr(estimator, "support_") or len(names) >= len(known):
        return None
    place = {name: i for i, name in enumerate(known)}
    wanted = {known[i] for i in np.flatnonzero(estimator.support_)}
    return place if wanted <= set(names) <= place.keys() else None


def _check_reduced(estimator: Any, frame: Any, names: list[str], place: dict[str, int], what: str) -> Table:
    """A table with some of the columns: the others are not looked at, and stand as missing."""
    if not frame.shape[0]:
        _check_not_empty(frame.shape, what)
    missing = np.broadcast_to(np.float64(np.nan), (frame.shape[0],))
    read: list[frames.Column] = [missing] * len(estimator.feature_names_in_)
    for i, name in enumerate(names):
        read[place[name]] = frames.read(frame, i, place[name] in estimator.categories_, what)
    for c in estimator.categories_:
        if read[c] is missing:
            read[c] = Coded(np.full(frame.shape[0], -1), [])
    return _framed(estimator, frame.shape[0], read, list(estimator.feature_names_in_), False, what, False)


def _check_sparse(estimator: Any, X: Any, reset: bool, what: str, in_fit: bool) -> Table:
    if reset:
        _category_columns(estimator, None, [], X.shape[1] if X.ndim == 2 else 0, True, "a sparse matrix")
        estimator.categories_ = {}
    elif estimator.categories_:
        raise TypeError(f"{what} is sparse, but the model has categorical features. Give a table as in fit.")
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got a sparse {what} of {X.ndim} dimension(s).")
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    _check_not_empty(X.shape, what)
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{what} is a sparse matrix of dtype {X.dtype}, not of numbers. Complex data not supported.")
    if X.format not in ("csr", "csc"):
        X = X.tocsr()
    _check_indices(X, what)
    if in_fit:
        _refuse_infinite([X.data], None, what)
    data = readable(X.data)
    if data is not X.data:
        X = type(X)((data, X.indices, X.indptr), shape=X.shape)
    return Listed(X)


def _check_indices(X: Any, what: str) -> None:
    """Refuse a matrix whose arrays would lead outside it; scipy itself would crash on some of them."""
    inner, outer = (X.shape[1], X.shape[0]) if X.format == "csr" else X.shape
    pointer, indices = X.indptr, X.indices
    fits = len(pointer) == outer + 1 and pointer[0] == 0 and len(indices) == len(X.data) == pointer[-1]
    if not fits or (np.diff(pointer) < 0).any():
        raise ValueError(f"{what} is a sparse matrix whose index pointer does not fit its values: it is damaged.")
    if len(indices) and not (indices.min() >= 0 and indices.max() < inner):
        side = "column" if X.format == "csr" else "row"
        wrong = indices.max() if indices.max() >= inner else indices.min()
        raise ValueError(f"{what} is a sparse matrix with a value in {side} {wrong}, but it has {inner} {side}s.")


def _category_columns(
    estimator: Any, names: list[str] | None, by_dtype: list[int], number: int, reset: bool, kind: str = ""
) -> set[int]:
    if not reset:
        return set(estimator.categories_)
    columns = set(categorical_columns(estimator.categorical_features, names, by_dtype, number))
    if columns and kind:
        raise TypeError(f"categorical_features are given, but X is {kind}. Give a data frame or a dense array.")
    return columns


def _framed(
    estimator: Any, rows: int, read: list[frames.Column], names: list[str], reset: bool, what: str, in_fit: bool
) -> Framed:
    """Columns as they were read, categorical ones in terms of the vocabulary, which ``reset`` renews."""
    where = [f"{what}: column {name!r}" for name in names]
    if reset and not _goes_on(estimator):
        coded = {i: c for i, c in enumerate(read) if isinstance(c, Coded)}
        estimator.categories_ = {i: sorted(c.occurring(where[i])) for i, c in coded.items()}
    vocabulary = {i: tuple(values) for i, values in estimator.categories_.items()}
    columns: list[NDArray[Any]] = []
    for i, column in enumerate(read):
        if isinstance(column, Coded):
            columns.append(column.in_terms_of(vocabulary.get(i, ()), where[i]))
        else:
            columns.append(readable(column))
    if in_fit:
        numeric = [i for i in range(len(columns)) if i not in vocabulary]
        _refuse_infinite([columns[i] for i in numeric], [where[i] for i in numeric], what)
    return Framed(rows, columns, vocabulary)


def _goes_on(estimator: Any) -> bool:
    """A continued fit keeps the levels it knows; others count as missing."""
    return bool(estimator.warm_start and hasattr(estimator, "_memory"))


def _check_not_empty(shape: tuple[int, ...], what: str) -> None:
    for number, noun in zip(shape, ("sample", "feature"), strict=True):
        if number == 0:
            raise ValueError(f"Found array with 0 {noun}(s) (shape={tuple(shape)}) while a minimum of 1 is required.")


def _refuse_infinite(columns: list[NDArray[Any]], where: list[str] | None, what: str) -> None:
    for i, column in enumerate(columns):
        if column.dtype.kind == "f" and np.isinf(column).any():
            place = what if where is None else where[i]
            raise ValueError(f"Input {place} contains infinity. Replace it, for example by a missing value (NaN).")


def readable(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return the array in a type that the core reads; most are left as they are."""
    plain = array.dtype.kind in "biuf" and array.dtype.isnative and array.dtype.itemsize <= 8
    in_place = array.flags.aligned and not any(s % array.itemsize for s in array.strides)
    if not plain or not in_place or array.dtype == np.float16:
        return array.astype(np.float64)
    return array


def check_weights(sample_weight: Any, X: Table, what: str = "sample_weight") -> Floats | None:
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
