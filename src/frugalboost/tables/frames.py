"""Data frames of any library, column by column, without copying what the core can read in place."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from frugalboost.tables.levels import Coded

Column = NDArray[Any] | Coded


def as_frame(X: Any, what: str) -> nw.DataFrame[Any] | None:
    """A data frame of any library, or None where X is none."""
    if isinstance(X, np.ndarray | list | tuple) or nw.dependencies.is_into_series(X):
        return None
    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"{what} has two columns of the same name. {error}") from None
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"{what} is a lazy frame. Call its method collect() first.")
    if not isinstance(frame, nw.DataFrame):
        return None
    names = [str(name) for name in frame.columns]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise ValueError(f"{what} has two columns named {twice[0]!r}. Give every column a name of its own.")
    return frame


def one_array(frame: nw.DataFrame[Any]) -> NDArray[Any] | None:
    """The whole frame, where it lies in memory as one array of numbers anyway."""
    native = frame.to_native()
    if not nw.dependencies.is_pandas_dataframe(native) or not native.shape[1]:
        return None
    first = native.dtypes.iloc[0]
    if not isinstance(first, np.dtype) or first.kind not in "biuf" or not (native.dtypes == first).all():
        return None
    array: NDArray[Any] = native.to_numpy()
    return array


def has_category_dtype(dtype: Any) -> bool:
    """Whether a column's type says that it is categorical."""
    return bool(dtype == nw.Categorical or dtype == nw.Enum)


def read(frame: nw.DataFrame[Any], position: int, is_category: bool, what: str) -> Column:
    """One column: numbers, or levels."""
    name, dtype = frame.columns[position], frame.schema[frame.columns[position]]
    where = f"{what}: column {str(name)!r}"
    series = frame[:, position]
    if is_category:
        return _coded(series, where)
    if has_category_dtype(dtype):
        raise ValueError(
            f"{where} holds categories, but is not among categorical_features. Add it there, or use "
            "categorical_features='from_dtype'."
        )
    if dtype.is_numeric() or dtype == nw.Boolean:
        return _numbers(series)
    values = series.to_numpy()
    if values.dtype == object and not any(isinstance(v, str | bytes) for v in values.tolist()):
        with suppress(TypeError, ValueError):  # numbers, and what stands for missing ones, as Python objects
            found = np.array([np.nan if _is_missing(v) else v for v in values.tolist()], dtype=np.float64)
            if found.ndim == 1:
                return found
    raise ValueError(f"{where} holds {_remedy(dtype, str(name))}")


def _numbers(series: nw.Series[Any]) -> NDArray[Any]:
    array: NDArray[Any] = series.to_numpy()
    if array.dtype.kind in "biuf":
        return array
    array = series.cast(nw.Float64()).to_numpy()  # missing values among whole numbers or truths, decimals
    return np.asarray(array, dtype=np.float64)


def _remedy(dtype: Any, name: str) -> str:
    """What to do about a column that holds no numbers; completes a sentence."""
    if dtype in (nw.String, nw.Object, nw.Unknown, nw.Binary):
        return (
            f"{dtype} values, not numbers. If they are categories, say so: give the column a category dtype, or name "
            f"it in categorical_features=[{name!r}]. Else drop it."
        )
    if dtype.is_temporal():
        return (
            f"{dtype} values, not numbers. Turn them into numbers that mean something, such as the year, the hour, or "
            "the days since an event, or drop the column."
        )
    if dtype.is_nested():
        return (
            f"{dtype} values, several numbers in one cell. Unnest them into columns of their own, or drop the column."
        )
    return f"{dtype} values, not numbers. Drop the column, or turn it into numbers or categories."


def _coded(series: nw.Series[Any], where: str) -> Coded:
    """A categorical column; of any kind of value, where the user says that it is one."""
    native, dtype = series.to_native(), series.dtype
    if has_category_dtype(dtype):
        if nw.dependencies.is_pandas_series(native):
            return Coded(native.cat.codes.to_numpy(), native.cat.categories.tolist())
        if nw.dependencies.is_pyarrow_chunked_array(native):
            joined = native.unify_dictionaries().combine_chunks()
            joined = joined.chunk(0) if hasattr(joined, "chunk") and joined.num_chunks else joined
            if not len(joined):
                return Coded(np.zeros(0, dtype=np.int32), [])
            codes = joined.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            return Coded(codes.astype(np.int64), joined.dictionary.to_pylist())
        series = series.cast(nw.String())
    elif dtype.is_temporal() or dtype.is_nested():
        raise ValueError(f"{where} is among categorical_features, but holds {dtype} values. Make them texts.")
    return of_values(series.to_numpy(), where)


def of_values(values: NDArray[Any], where: str) -> Coded:
    """Levels from the values of every row."""
    if values.dtype.kind in "biuf":
        levels, codes = np.unique(values, return_inverse=True)
        return Coded(codes.reshape(-1), levels.tolist())
    place: dict[Any, int] = {}
    codes = np.empty(len(values), dtype=np.int64)
    for i, value in enumerate(values.tolist()):
        try:
            codes[i] = -1 if _is_missing(value) else place.setdefault(value, len(place))
        except TypeError:
            raise ValueError(f"{where} is among categorical_features, but holds a {type(value).__name__}.") from None
    return Coded(codes, list(place))


def _is_missing(value: Any) -> bool:
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )
