"""Data frames of any library, column by column; data that the core can read in place is not copied."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from frugalboost.tables.levels import CodedColumn

Column = NDArray[Any] | CodedColumn


def as_frame(X: Any, what: str) -> nw.DataFrame[Any] | None:
    """A data frame of any library, or None where X is something else."""
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
    """The whole frame, if it is one array of numbers in memory."""
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


@dataclass(frozen=True)
class Field:
    """A column of a frame that was not read yet."""

    series: nw.Series[Any]
    name: str
    where: str  # how messages about it begin

    @property
    def is_category(self) -> bool:
        """Whether its type says that it is categorical."""
        return has_category_dtype(self.series.dtype)

    def read(self, as_category: bool) -> Column:
        """The values: numbers, or levels."""
        if as_category:
            return _coded(self.series, self.where)
        if self.is_category:
            raise ValueError(
                f"{self.where} holds categories, but is not among categorical_features. Add it there, or use "
                "categorical_features='from_dtype'."
            )
        found = _numbers(self.series)
        if found is None:
            raise ValueError(f"{self.where} holds {_remedy(self.series.dtype, self.name)}")
        return found


def fields(frame: nw.DataFrame[Any], what: str) -> list[Field]:
    """All columns of a frame."""
    return [Field(s, str(s.name), f"{what}: column {str(s.name)!r}") for s in frame.iter_columns()]


def _numbers(series: nw.Series[Any]) -> NDArray[Any] | None:
    """The values of a column of numbers; None where it holds something else."""
    dtype = series.dtype
    if dtype in (nw.Int128, nw.UInt128, nw.Decimal):
        series = series.cast(nw.Float64())
    if not (dtype.is_numeric() or dtype in (nw.Boolean, nw.Object, nw.Unknown, nw.String)):
        return None
    array: NDArray[Any] = series.to_numpy()
    if array.dtype.kind in "biuf":
        return None if dtype == nw.String else array
    if dtype.is_numeric() or dtype == nw.Boolean:  # missing values among whole numbers or booleans
        return np.asarray(series.cast(nw.Float64()).to_numpy(), dtype=np.float64)
    values = array.tolist()
    if not all(_is_missing(v) or isinstance(v, Real | Decimal | np.bool_) for v in values):
        return None
    return np.array([np.nan if _is_missing(v) else v for v in values], dtype=np.float64)


def _remedy(dtype: Any, name: str) -> str:
    """What to do with a column that does not hold numbers; the end of an error message."""
    if dtype in (nw.String, nw.Object, nw.Unknown, nw.Binary):
        return (
            f"{dtype} values, not numbers. If they are categories, say so: give the column a category dtype, or name "
            f"it in categorical_features=[{name!r}]. Otherwise drop it."
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


def _coded(series: nw.Series[Any], where: str) -> CodedColumn:
    """A categorical column of any type."""
    native, dtype = series.to_native(), series.dtype
    if has_category_dtype(dtype):
        if nw.dependencies.is_pandas_series(native) and hasattr(native.dtype, "categories"):
            return CodedColumn(native.cat.codes.to_numpy(), native.cat.categories.tolist())
        if nw.dependencies.is_pyarrow_chunked_array(native):
            return _of_dictionary(native)
        if nw.dependencies.is_pandas_series(native):
            return of_values(native.to_numpy(dtype=object), where)
        series = series.cast(nw.String())
    elif dtype.is_temporal() or dtype.is_nested():
        raise ValueError(f"{where} is among categorical_features, but holds {dtype} values. Make them texts.")
    elif dtype.is_integer():  # missing ones are handled apart, or all would become floats
        missing = series.is_null().to_numpy()
        found = of_values(series.fill_null(0).to_numpy(), where)
        return CodedColumn(np.where(missing, -1, found.codes), found.levels)
    return of_values(series.to_numpy(), where)


def _of_dictionary(column: Any) -> CodedColumn:
    """A column of Arrow that is stored as places in a dictionary, which may differ from chunk to chunk."""
    if not len(column):
        return CodedColumn(np.zeros(0, dtype=np.int64), [])
    joined = column.unify_dictionaries().combine_chunks()
    joined = joined.chunk(0) if hasattr(joined, "chunk") else joined
    codes = joined.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    return CodedColumn(codes, joined.dictionary.to_pylist())


def of_values(values: NDArray[Any], where: str) -> CodedColumn:
    """Levels from the values of every row."""
    if values.dtype.kind in "biuf":
        levels, codes = np.unique(values, return_inverse=True)
        # 0.1 is the same level in every precision.
        short = values.dtype.kind == "f" and values.dtype.itemsize < 8
        return CodedColumn(codes.reshape(-1), [float(str(v)) for v in levels] if short else levels.tolist())
    place: dict[Any, int] = {}
    codes = np.empty(len(values), dtype=np.int64)
    for i, value in enumerate(values.tolist()):
        try:
            codes[i] = -1 if _is_missing(value) else place.setdefault(value, len(place))
        except TypeError:
            raise ValueError(f"{where} is among categorical_features, but holds a {type(value).__name__}.") from None
    return CodedColumn(codes, list(place))


def _is_missing(value: Any) -> bool:
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )
