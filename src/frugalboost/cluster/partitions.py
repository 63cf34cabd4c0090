"""What users pass, as partitions: rows that a worker reads one after another, each by a small graph of Dask."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import dask
import numpy as np
from dask import delayed
from dask.core import flatten
from dask.delayed import Delayed
from dask.optimization import cull
from dask.utils import ensure_dict

from frugalboost.tables.categorical import categorical_columns
from frugalboost.tables.sources import ArrowBatches, dataset_of, named_target


@dataclass(frozen=True)
class Partition:
    """Some rows: graphs of their columns, targets and weights."""

    X: Any
    y: Any
    weights: Any = None
    some: Any = None  # the columns ``Partitions.some`` alone
    rows: int | None = None  # if known


@dataclass(frozen=True)
class Partitions:
    """Rows in partitions, in their order."""

    each: tuple[Partition, ...]
    some: tuple[str, ...] | None = None  # columns that can be read alone; None: none can

    def __len__(self) -> int:
        return len(self.each)

    def between(self, begin: int, end: int) -> Partitions:
        """Some of them."""
        return Partitions(self.each[begin:end], self.some)

    def shares(self, parts: int) -> list[Partitions]:
        """Runs of partitions with about as many rows each, one for each worker."""
        rows = [p.rows for p in self.each]
        weights = np.array([1 if None in rows else max(r or 0, 0) for r in rows], dtype=np.float64)
        middle = np.cumsum(weights) - weights / 2
        part = np.minimum((middle * parts / max(weights.sum(), 1.0)).astype(int), parts - 1)
        places = np.searchsorted(part, np.arange(parts + 1))
        return [self.between(int(a), int(b)) for a, b in pairwise(places)]


def partitions_of(X: Any, y: Any, weights: Any, categorical: Any, what: str = "X") -> Partitions:
    """The partitions of a table with its targets. ``categorical``: as the estimator's parameter."""
    if isinstance(X, str | os.PathLike) or (_is_list(X) and X and isinstance(X[0], str | os.PathLike)):
        return _of_files(X, y, weights, categorical, what)
    kind = kind_of(X)
    if kind is None:
        raise TypeError(
            f"{what} is a {type(X).__name__}, but a fit on a cluster takes a Dask dataframe, a Dask array, a list of "
            "delayed tables, or the path of Parquet files that all workers can read. For a table in memory use "
            "GBFSClassifier or GBFSRegressor, or divide it: dask.array.from_array(X, chunks=(100_000, -1))."
        )
    if y is None:
        raise ValueError(f"{what} has no targets: pass y, divided as {what} is.")
    if kind == "array" and X.ndim != 2:
        raise ValueError(f"{what} is an array of {X.ndim} dimension(s); a table has two.")
    if kind == "array" and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    rows = _known_rows(X) if kind == "array" else None
    tables = pieces(X)
    targets, shares = _aligned(y, X, len(tables), "y", what), None
    if weights is not None:
        shares = _aligned(weights, X, len(tables), "sample_weight", what)
    some, alone = _categories(X, categorical) if kind == "frame" else (None, None)
    return Partitions(
        tuple(
            Partition(
                table,
                targets[i],
                None if shares is None else shares[i],
                None if alone is None else alone[i],
                None if rows is None else rows[i],
            )
            for i, table in enumerate(tables)
        ),
        some,
    )


def pieces(collection: Any) -> list[Any]:
    """The parts of a Dask collection, each with the graph that it needs and nothing else."""
    if _is_list(collection):
        return [delayed(c) for c in collection]
    if hasattr(collection, "optimize"):  # a data frame
        collection = collection.optimize()
    graph = ensure_dict(collection.__dask_graph__())
    return [Delayed(key, cull(graph, [key])[0]) for key in flatten(collection.__dask_keys__())]


def _is_list(X: Any) -> bool:
    return isinstance(X, list | tuple)


def kind_of(X: Any) -> str | None:
    """What kind of collection: "list", "array" or "frame"; None: it is none."""
    if _is_list(X):
        return "list" if len(X) and all(_is_delayed(x) for x in X) else None
    if not dask.is_dask_collection(X):
        return None
    if hasattr(X, "chunks"):
        return "array"
    return "frame" if hasattr(X, "npartitions") and hasattr(X, "dtypes") else None


def _is_delayed(x: Any) -> bool:
    return isinstance(x, Delayed) or type(x).__module__.startswith("distributed")


def _known_rows(X: Any) -> list[int] | None:
    sizes = list(X.chunks[0])
    return None if any(s != s for s in sizes) else [int(s) for s in sizes]


def _aligned(vector: Any, X: Any, number: int, noun: str, what: str) -> list[Any]:
    """Targets or weights, divided as the table is."""
    if not _is_list(vector) and not dask.is_dask_collection(vector):
        raise TypeError(
            f"{noun} is a {type(vector).__name__}; it must be divided as {what} is: a Dask series, a Dask array or a "
            "list of delayed vectors."
        )
    both = hasattr(vector, "chunks") and hasattr(X, "chunks")
    if both and _known_rows(X) is not None and _known_rows(vector) is not None:
        if sum(vector.chunks[0]) != sum(X.chunks[0]):
            raise ValueError(f"{what} has {sum(X.chunks[0])} rows, but {noun} has {sum(vector.chunks[0])}.")
        if vector.chunks[0] != X.chunks[0]:
            vector = vector.rechunk({0: X.chunks[0]})
    found = pieces(vector)
    if len(found) != number:
        raise ValueError(
            f"{what} has {number} partitions, but {noun} has {len(found)}. They must be divided alike: take both from "
            "one Dask dataframe, or use repartition or rechunk."
        )
    return found


def _categories(X: Any, categorical: Any) -> tuple[tuple[str, ...] | None, list[Any] | None]:
    """The categorical columns of a data frame, which are read alone first."""
    names = [str(c) for c in X.columns]
    by_dtype = [i for i, dtype in enumerate(X.dtypes) if str(dtype) == "category"]
    columns = categorical_columns(categorical, names, by_dtype, len(names))
    if not columns:
        return (), None
    some = [X.columns[c] for c in columns]
    return tuple(names[c] for c in columns), pieces(X[some])


# ------------------------------------------------------------------------------------------- files


@dataclass(frozen=True)
class Piece:
    """Row groups of a Parquet file, read by the worker that needs them."""

    fragment: Any
    schema: Any

    def read(self, columns: Sequence[str]) -> Any:
        """Some columns."""
        return self.fragment.to_table(schema=self.schema, columns=list(columns), use_threads=False)

    def vector(self, name: str) -> Any:
        """One column without missing values."""
        return named_target(self.read([name]), name)


def _of_files(paths: Any, y: Any, weights: Any, categorical: Any, what: str) -> Partitions:
    dataset = dataset_of(paths)
    names = ArrowBatches(dataset, y, weights, for_fit=True).names
    by_dtype = [i for i, name in enumerate(names) if str(dataset.schema.field(name).type).startswith("dictionary")]
    some = tuple(names[c] for c in categorical_columns(categorical, names, by_dtype, len(names)))
    found = []
    for fragment in dataset.get_fragments():
        for group in fragment.split_by_row_group():
            piece = Piece(group, dataset.schema)
            found.append(
                Partition(
                    delayed(piece.read)(names),
                    delayed(piece.vector)(y),
                    None if weights is None else delayed(piece.vector)(weights),
                    delayed(piece.read)(some) if some else None,
                    rows=group.count_rows(),
                )
            )
    if not found:
        raise ValueError(f"{what}: the files have no rows.")
    return Partitions(tuple(found), some)
