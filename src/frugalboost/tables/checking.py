"""Users' tables, checked and turned into the tables of a fit or a prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from frugalboost.tables import frames
from frugalboost.tables.by_name import check_names, places_by_name
from frugalboost.tables.categorical import categorical_columns
from frugalboost.tables.kinds import DenseTable, FrameTable, SparseTable, Table
from frugalboost.tables.levels import CodedColumn


def check_X(estimator: Any, X: Any, *, reset: bool, what: str = "X", in_fit: bool = False) -> Table:
    """Return a table as the core reads it; data that the core can read in place is not copied.

    NaN is allowed; infinity is not, and predictions check for it only in the columns they need. With ``reset`` the
    estimator stores names, number of columns and levels, otherwise they are compared with those of the fit.
    """
    if isinstance(X, Table):
        if reset:
            _take_over(estimator, X)
        return X.in_terms_of({c: tuple(levels) for c, levels in estimator.categories_.items()})
    table = _check_new(estimator, X, reset, what, in_fit or reset)
    return table.made_of(X, _names(estimator))


def _check_new(estimator: Any, X: Any, reset: bool, what: str, in_fit: bool) -> Table:
    """Check every value. This happens once for each table: parts of a `Table` are `Table`s again."""
    if sparse.issparse(X):
        return _check_sparse(estimator, X, reset, what, in_fit)
    frame = frames.as_frame(X, what)
    if frame is not None:
        return _check_frame(estimator, X, frame, reset, what, in_fit)
    return _check_array(estimator, X, reset, what, in_fit)


def _take_over(estimator: Any, table: Table) -> None:
    """Store names, columns and levels of a table that was checked for another estimator."""
    if keeps_levels(estimator, True):
        if table.names != _names(estimator) or table.shape[1] != estimator.n_features_in_:
            raise ValueError("X has other columns than the model that is continued.")
        return
    estimator.n_features_in_ = table.shape[1]
    estimator.categories_ = {c: list(levels) for c, levels in table.vocabulary.items()}
    if table.names is not None:
        estimator.feature_names_in_ = np.array(table.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def _names(estimator: Any) -> tuple[str, ...] | None:
    return tuple(estimator.feature_names_in_) if hasattr(estimator, "feature_names_in_") else None


def _check_array(estimator: Any, X: Any, reset: bool, what: str, in_fit: bool) -> Table:
    finite = "allow-nan" if in_fit else False
    asked = estimator.categorical_features
    if keeps_levels(estimator, reset):
        only_numbers = not estimator.categories_
    else:
        only_numbers = asked is None or isinstance(asked, str)
    if only_numbers:
        array = validate_data(estimator, X, reset=reset, dtype="numeric", ensure_all_finite=finite)
        if not keeps_levels(estimator, reset):
            estimator.categories_ = {}
        return DenseTable(readable(array))
    array = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)  # some columns may be texts
    columns = category_columns(estimator, None, [], array.shape[1], reset)
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
    if not in_fit and (places := places_by_name(estimator, X)) is not None:
        return _looked_at(estimator, frame, places, what)
    check_names(estimator, X, reset=reset)
    check_not_empty(frame.shape, what)
    if not in_fit and hasattr(estimator, "support_"):
        return _looked_at(estimator, frame, list(range(len(names))), what)
    found = frames.fields(frame, what)
    columns = category_columns(estimator, names, [i for i, f in enumerate(found) if f.is_category], len(names), reset)
    array = None if columns else frames.one_array(frame)
    if array is not None:
        if in_fit:
            _refuse_infinite([array], None, what)
        if not keeps_levels(estimator, reset):
            estimator.categories_ = {}
        return DenseTable(readable(array))
    read = [f.read(i in columns) for i, f in enumerate(found)]
    return _framed(estimator, frame.shape[0], read, names, reset, what, in_fit)


def _looked_at(estimator: Any, frame: Any, places: list[int], what: str) -> Table:
    """The columns that the model needs; the others are not read and count as missing. Places of -1 are ignored."""
    check_not_empty(frame.shape, what)
    owned = estimator.support_
    as_in_fit = places == list(range(len(owned)))
    array = frames.one_array(frame) if as_in_fit and not estimator.categories_ else None
    if array is not None:
        return DenseTable(readable(array))
    missing = np.broadcast_to(np.float64(np.nan), (frame.shape[0],))
    read: list[frames.Column] = [missing] * len(owned)
    for c in estimator.categories_:
        read[c] = CodedColumn(np.full(frame.shape[0], -1), [])
    native = frame.columns
    for i, place in enumerate(places):
        if place >= 0 and owned[place]:
            field = frames.Field(frame.get_column(native[i]), str(native[i]), f"{what}: column {str(native[i])!r}")
            read[place] = field.read(place in estimator.categories_)
    names = estimator._names() or [str(c) for c in range(len(owned))]
    return _framed(estimator, frame.shape[0], read, list(names), False, what, False)


def _check_sparse(estimator: Any, X: Any, reset: bool, what: str, in_fit: bool) -> Table:
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got a sparse {what} of {X.ndim} dimension(s).")
    if not keeps_levels(estimator, reset):
        if category_columns(estimator, None, [], X.shape[1], True):
            raise TypeError("categorical_features are given, but X is a sparse matrix. Give a data frame or an array.")
        estimator.categories_ = {}
    elif estimator.categories_:
        raise TypeError(f"{what} is sparse, but the model has categorical features. Give a table as in fit.")
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    check_not_empty(X.shape, what)
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
    return SparseTable(X)


def _check_indices(X: Any, what: str) -> None:
    """Refuse a matrix with indices outside of it; scipy would crash on some of them."""
    inner, outer = (X.shape[1], X.shape[0]) if X.format == "csr" else X.shape
    pointer, indices = X.indptr, X.indices
    fits = len(pointer) == outer + 1 and pointer[0] == 0 and len(indices) == len(X.data) == pointer[-1]
    if not fits or (np.diff(pointer) < 0).any():
        raise ValueError(f"{what} is a sparse matrix whose index pointer does not fit its values: it is damaged.")
    if len(indices) and not (indices.min() >= 0 and indices.max() < inner):
        side = "column" if X.format == "csr" else "row"
        wrong = indices.max() if indices.max() >= inner else indices.min()
        raise ValueError(f"{what} is a sparse matrix with a value in {side} {wrong}, but it has {inner} {side}s.")


def keeps_levels(estimator: Any, reset: bool) -> bool:
    """Whether the levels of categorical columns are those of an earlier fit: in predictions and continued fits."""
    return not reset or bool(estimator.warm_start and hasattr(estimator, "_warm_start"))


def category_columns(
    estimator: Any, names: list[str] | None, by_dtype: list[int], number: int, reset: bool
) -> set[int]:
    """The categorical columns of a table: those of the fit, or those that the user names."""
    if keeps_levels(estimator, reset):
        return set(estimator.categories_)
    return set(categorical_columns(estimator.categorical_features, names, by_dtype, number))


def _framed(
    estimator: Any, rows: int, read: list[frames.Column], names: list[str], reset: bool, what: str, in_fit: bool
) -> FrameTable:
    """A table of columns, categorical ones as codes of the vocabulary, which ``reset`` renews."""
    where = [f"{what}: column {name!r}" for name in names]
    if not keeps_levels(estimator, reset):
        coded = {i: c for i, c in enumerate(read) if isinstance(c, CodedColumn)}
        estimator.categories_ = {i: sorted(c.occurring(where[i])) for i, c in coded.items()}
    vocabulary = {i: tuple(values) for i, values in estimator.categories_.items()}
    columns: list[NDArray[Any]] = []
    for i, column in enumerate(read):
        if isinstance(column, CodedColumn):
            columns.append(column.in_terms_of(vocabulary.get(i, ()), where[i]))
        else:
            columns.append(readable(column))
    if in_fit:
        numeric = [i for i in range(len(columns)) if i not in vocabulary]
        _refuse_infinite([columns[i] for i in numeric], [where[i] for i in numeric], what)
    return FrameTable(rows, columns, vocabulary)


def check_not_empty(shape: tuple[int, ...], what: str) -> None:
    """Raise ValueError, in scikit-learn's words, where a table has no rows or no columns."""
    for number, noun in zip(shape, ("sample", "feature"), strict=True):
        if number == 0:
            raise ValueError(f"Found array with 0 {noun}(s) (shape={tuple(shape)}) while a minimum of 1 is required.")


def _refuse_infinite(columns: list[NDArray[Any]], where: list[str] | None, what: str) -> None:
    for i, column in enumerate(columns):
        if column.dtype.kind == "f" and np.isinf(column).any():
            place = what if where is None else where[i]
            raise ValueError(f"Input {place} contains infinity. Replace it, for example by a missing value (NaN).")


def readable(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return the array in a type that the core reads; most need no change."""
    plain = array.dtype.kind in "biuf" and array.dtype.isnative and array.dtype.itemsize <= 8
    in_place = array.flags.aligned and not any(s % array.itemsize for s in array.strides)
    if not plain or not in_place or array.dtype == np.float16:
        return array.astype(np.float64)
    return array
