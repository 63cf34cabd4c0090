"""Where batches of rows come from: Parquet files, Arrow datasets, or a user's own iterables."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

BATCH_ROWS = 2**16


@dataclass(frozen=True)
class Batch:
    """Some rows: a table of any kind, targets, weights."""

    X: Any
    y: Any = None
    weights: Any = None


class Batches(ABC):
    """Rows that come in batches, the same each time they are read."""

    rows: int | None = None  # if known in advance
    bytes: int | None = None
    can_choose_columns = False

    @abstractmethod
    def read(self, columns: Sequence[str] | None = None) -> Iterator[Batch]:
        """All batches from the beginning; only some columns, if the source can choose."""


def as_batches(X: Any, y: Any = None, weights: Any = None, *, for_fit: bool = True, what: str = "X") -> Batches | None:
    """X as a source of batches, or None if it is a table."""
    if isinstance(X, str | os.PathLike) or _are_paths(X):
        return ArrowBatches(dataset_of(X), y, weights, for_fit)
    if type(X).__module__.startswith("pyarrow") and hasattr(X, "to_batches") and hasattr(X, "schema"):
        if not hasattr(X, "column_names"):  # a table has column names, a dataset has not
            return ArrowBatches(X, y, weights, for_fit)
        return None
    if callable(X) and not hasattr(X, "__array__"):
        return IteratedBatches(X, y, weights, for_fit, what)
    if isinstance(X, Iterator):
        if for_fit:
            raise TypeError(
                f"{what} is an iterator, which can be read only once, but fit reads it twice. Give a list of batches, "
                "or a function that returns a new iterator."
            )
        return IteratedBatches(lambda: X, y, weights, for_fit, what)
    if isinstance(X, list | tuple):
        return IteratedBatches(lambda: X, y, weights, for_fit, what) if _are_batches(X) else None
    marks = ("shape", "__array__", "__dataframe__", "__arrow_c_stream__", "collect")
    is_table = any(hasattr(X, name) for name in marks)
    if isinstance(X, Iterable) and not is_table and not isinstance(X, dict | bytes | set):
        return IteratedBatches(lambda: X, y, weights, for_fit, what)
    return None


def _are_paths(X: Any) -> bool:
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(p, str | os.PathLike) for p in X)


def _are_batches(X: Sequence[Any]) -> bool:
    """A list of tables, or of tuples or lists that begin with one, rather than a list of rows."""
    first = X[0] if X else None
    return _is_table(first[0] if isinstance(first, tuple | list) and first else first)


def _is_table(X: Any) -> bool:
    return len(getattr(X, "shape", ())) == 2


def rows_of(X: Any) -> int:
    """How many rows a batch has."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


class IteratedBatches(Batches):
    """Batches that a user's function or list gives: (X, y), (X, y, weights), or X alone where nothing is fitted."""

    def __init__(self, make: Callable[[], Iterable[Any]], y: Any, weights: Any, for_fit: bool, what: str) -> None:
        if for_fit and (y is not None or weights is not None):
            raise ValueError(
                f"{what} comes in batches, so each batch must have its own targets and weights: (X, y) or (X, y, "
                "weights). Do not pass y or sample_weight."
            )
        self._make, self._for_fit = make, for_fit

    def read(self, columns: Sequence[str] | None = None) -> Iterator[Batch]:
        """All batches that have rows, from the beginning."""
        made = self._make()
        if not isinstance(made, Iterable):
            raise TypeError(
                f"The function that makes batches returned a {type(made).__name__}, which is not an iterator."
            )
        for number, item in enumerate(made):
            batch = self._batch(item, number)
            if rows_of(batch.X):
                yield batch

    def _batch(self, item: Any, number: int) -> Batch:
        several = isinstance(item, tuple) or (isinstance(item, list) and bool(item) and _is_table(item[0]))
        if several and (2 if self._for_fit else 1) <= len(item) <= 3:
            return Batch(*item)
        if self._for_fit:
            raise ValueError(f"Batch {number} is not a tuple (X, y) or (X, y, weights).")
        return Batch(item)


class ArrowBatches(Batches):
    """A dataset of pyarrow: files are read in pieces, and only the columns that are needed."""

    can_choose_columns = True

    def __init__(self, dataset: Any, y: Any, weights: Any, for_fit: bool) -> None:
        names = dataset.schema.names
        if y is not None and isinstance(y, str) and y == weights:
            raise ValueError(f"y and sample_weight are the same column, {y!r}.")
        for what, column in (("y", y), ("sample_weight", weights)):
            if column is None:
                continue
            if not isinstance(column, str):
                more = " For several targets give batches." if isinstance(column, list | tuple) else ""
                raise TypeError(f"X is read from files, so {what} must be the name of one of its columns.{more}")
            if column not in names:
                raise ValueError(f"{what}={column!r} is not a column of the files. They have {_some(names)}.")
        if for_fit and y is None:
            raise ValueError("X is read from files: name the column to predict, fit(path, y='...').")
        self._dataset, self._y, self._weights = dataset, y, weights
        # The index that pandas wrote beside the columns is not a feature.
        index = [c for c in (dataset.schema.pandas_metadata or {}).get("index_columns", []) if isinstance(c, str)]
        self.names = [n for n in names if n not in (y, weights, *index)]
        self.rows = _reading(dataset.count_rows)
        self.bytes = sum(os.path.getsize(f) for f in getattr(dataset, "files", []) if os.path.exists(f)) or None

    def read(self, columns: Sequence[str] | None = None) -> Iterator[Batch]:
        """All batches from the beginning, of some columns or of all."""
        wanted = list(self.names if columns is None else columns)
        lost = [n for n in wanted if n not in self._dataset.schema.names]
        if lost:
            raise ValueError(f"The files have no column {lost[0]!r}, which the model needs.")
        targets = [c for c in (self._y, self._weights) if c is not None]
        batches = self._dataset.to_batches(
            columns=wanted + targets, batch_size=BATCH_ROWS, batch_readahead=1, fragment_readahead=1
        )
        while (batch := _reading(lambda: next(batches, None))) is not None:
            if batch.num_rows == 0:
                continue
            table = _table_of(batch)
            yield Batch(
                table.select(wanted),
                None if self._y is None else named_target(table, self._y),
                None if self._weights is None else named_target(table, self._weights),
            )


def _table_of(batch: Any) -> Any:
    import pyarrow

    return pyarrow.Table.from_batches([batch])


def named_target(table: Any, name: str) -> NDArray[Any]:
    """A column of an Arrow table that must not have missing values."""
    column = table.column(name)
    if column.null_count:
        raise ValueError(f"Column {name!r} has missing values, so some rows lack a target or a weight. Drop them.")
    array: NDArray[Any] = column.to_numpy()
    return array


def dataset_of(paths: Any) -> Any:
    """A Parquet file, a folder of them, or a list of files, as a dataset."""
    try:
        import pyarrow.dataset as ds
    except ImportError:
        raise ImportError("Reading Parquet files needs pyarrow: pip install 'frugalboost[parquet]'.") from None
    single = isinstance(paths, str | os.PathLike)
    found = [os.path.expanduser(os.fspath(p)) for p in ([paths] if single else paths)]
    for path in found:
        if not os.path.exists(path):
            raise FileNotFoundError(
                f"There is no file or folder {path!r}. For files elsewhere, give a pyarrow.dataset.dataset(...)."
            )

    def make(schema: Any = None) -> Any:
        place = found[0] if single else found
        return _reading(lambda: ds.dataset(place, schema=schema, format="parquet", partitioning="hive"))

    dataset = make()
    if not dataset.files:
        raise ValueError(f"There are no files in the folder {found[0]!r}.")
    return dataset if len(dataset.files) == 1 else make(_schema_of_all(dataset))


def _schema_of_all(dataset: Any) -> Any:
    """Types that hold the values of all files; by default pyarrow would use those of the first file."""
    import pyarrow

    schemas = _reading(lambda: [(f.path, f.physical_schema) for f in dataset.get_fragments()])
    first = schemas[0][1]
    for path, schema in schemas:
        differ = set(schema.names) ^ set(first.names)
        if differ:
            name = min(differ)
            lacks = path if name not in schema.names else schemas[0][0]
            raise ValueError(f"The files do not have the same columns: {lacks} lacks {name!r}.")
    try:
        together = pyarrow.unify_schemas([schema for _, schema in schemas], promote_options="permissive")
    except pyarrow.ArrowException as error:
        raise ValueError(f"The files have different types: {str(error).splitlines()[0]}") from None
    fields = [together.field(f.name) if f.name in together.names else f for f in dataset.schema]
    return pyarrow.schema(fields, metadata=dataset.schema.metadata)


def _reading(work: Callable[[], Any]) -> Any:
    """Read files; an error becomes one sentence."""
    import pyarrow

    try:
        return work()
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).split("\n")[0].rstrip(".")
        raise ValueError(f"A file is not Parquet, or is incomplete or damaged: {reason}.") from None


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
