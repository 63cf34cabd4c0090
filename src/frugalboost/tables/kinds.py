"""Tables in memory: one array, columns of their own types, or sparse."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing, indexable

from frugalboost import _core
from frugalboost.tables.checksum import Bits, column_factors, level_bits, of_rows, value_bits
from frugalboost.tables.levels import CodedColumn, Codes, Levels, Vocabulary

Places = NDArray[np.integer[Any]]


class Table(ABC):
    """What a fit and a prediction need of a table."""

    shape: tuple[int, int]
    vocabulary: Vocabulary  # of the categorical columns
    names: tuple[str, ...] | None = None  # of the columns, where they have any
    in_pieces = False  # whether pieces() may yield more than one
    _given: Callable[[], Any] | None = None  # returns the same rows and columns as the user passed them

    def __len__(self) -> int:
        return self.shape[0]

    def made_of(self, X: Any, names: Sequence[str] | None) -> Self:
        """Remember what the table was made from, and the names of its columns."""
        self._given = lambda: indexable(X)[0]
        self.names = None if names is None else tuple(names)
        return self

    def take(self, rows: Places) -> Table:
        """Some of the rows, in the order given."""
        some, given = self._rows_at(rows), self._given
        some.names = self.names
        if given is not None:  # indexed only if it is needed
            some._given = lambda: _safe_indexing(given(), rows)
        return some

    def columns(self, places: Places) -> Table:
        """Some of the columns, in the order given."""
        some, given = self._columns_at(places.tolist()), self._given
        some.names = None if self.names is None else tuple(self.names[c] for c in places.tolist())
        if given is not None:
            some._given = lambda: _safe_indexing(given(), places.tolist(), axis=1)
        return some

    @abstractmethod
    def _rows_at(self, rows: Places) -> Table:
        """Some of the rows, in the order given."""

    def _columns_at(self, places: list[int]) -> Table:
        """Some of the columns, in the order given."""
        raise NotImplementedError

    @abstractmethod
    def source(self, levels: Mapping[int, Levels]) -> _core.Table | _core.SparseTable:
        """All values as the core reads them; of categorical columns the bins."""

    def in_terms_of(self, vocabulary: Vocabulary) -> Table:
        """The same table with the codes of a model's vocabulary."""
        return self

    def numbers(self) -> _core.Table | _core.SparseTable:
        """The columns that are not categorical."""
        raise NotImplementedError

    def codes(self, column: int) -> Codes:
        """Places of a categorical column's values in its vocabulary."""
        raise NotImplementedError

    def column(self, column: int) -> NDArray[Any]:
        """The values of one column; of a categorical one places in its vocabulary."""
        raise NotImplementedError

    def checksum(self, first: int = 0) -> int:
        """A number that differs for tables with other values. ``first``: the number of the first row."""
        return of_rows(self, first)

    def row_bits(self, rows: Places) -> Bits:
        """A hash of 64 bits for each of some rows."""
        raise NotImplementedError

    def pieces(self, what: str) -> Iterator[tuple[Table, NDArray[np.int64]]]:
        """The table in pieces that fit into memory, each with the places of its rows. ``what`` says what it is for."""
        yield self, np.arange(len(self))

    def finder(self, weighted: bool) -> _core.ThresholdFinder | None:
        """A finder that has already seen all rows, if there is one."""
        return None

    @property
    def as_given(self) -> Any:
        """The rows and columns as the user passed them, for the user's own scorers; if unknown, the table."""
        return self if self._given is None else self._given()

    @property
    def numeric(self) -> list[int]:
        """The columns that are not categorical."""
        return [c for c in range(self.shape[1]) if c not in self.vocabulary]


class DenseTable(Table):
    """One array of numbers."""

    def __init__(self, array: NDArray[np.generic]) -> None:
        self.array, self.vocabulary = array, {}
        self.shape = (array.shape[0], array.shape[1])

    def _rows_at(self, rows: Places) -> DenseTable:
        return DenseTable(self.array[rows])

    def _columns_at(self, places: list[int]) -> DenseTable:
        return DenseTable(self.array[:, places])

    def source(self, levels: Mapping[int, Levels]) -> _core.Table:
        """All values as the core reads them."""
        return _core.Table(self.array)

    def numbers(self) -> _core.Table:
        """All columns."""
        return _core.Table(self.array)

    def column(self, column: int) -> NDArray[Any]:
        """The values of one column."""
        return self.array[:, column]

    def row_bits(self, rows: Places) -> Bits:
        """A hash of 64 bits for each of some rows."""
        found: Bits = value_bits(self.array[rows]) @ column_factors(np.arange(self.shape[1]))
        return found


class FrameTable(Table):
    """Columns of their own types; categorical ones hold places in a vocabulary."""

    def __init__(self, rows: int, columns: list[NDArray[Any]], vocabulary: Vocabulary) -> None:
        self._columns, self.vocabulary = columns, vocabulary
        self.shape = (rows, len(columns))

    def _rows_at(self, rows: Places) -> FrameTable:
        return FrameTable(len(rows), [c[rows] for c in self._columns], self.vocabulary)

    def _columns_at(self, places: list[int]) -> FrameTable:
        vocabulary = {i: self.vocabulary[c] for i, c in enumerate(places) if c in self.vocabulary}
        return FrameTable(self.shape[0], [self._columns[c] for c in places], vocabulary)

    def in_terms_of(self, vocabulary: Vocabulary) -> FrameTable:
        """The same table with the codes of a model's vocabulary."""
        if vocabulary == self.vocabulary:
            return self
        columns = list(self._columns)
        for c, levels in self.vocabulary.items():
            columns[c] = CodedColumn(columns[c], levels).in_terms_of(vocabulary[c], f"Column {c}")
        renumbered = FrameTable(self.shape[0], columns, vocabulary)
        renumbered.names, renumbered._given = self.names, self._given
        return renumbered

    def source(self, levels: Mapping[int, Levels]) -> _core.Table:
        """All values as the core reads them; of categorical columns the bins."""
        columns = [levels[i].binned(c) if i in levels else c for i, c in enumerate(self._columns)]
        return _core.Table(self.shape[0], columns)

    def numbers(self) -> _core.Table:
        """The columns that are not categorical."""
        return _core.Table(self.shape[0], [self._columns[i] for i in self.numeric])

    def codes(self, column: int) -> Codes:
        """Places of a categorical column's values in its vocabulary."""
        return self._columns[column]

    def row_bits(self, rows: Places) -> Bits:
        """A hash of 64 bits for each of some rows."""
        values = np.zeros((len(rows), self.shape[1]))
        for i in self.numeric:
            values[:, i] = self._columns[i][rows]
        bits = value_bits(values)
        for i, levels in self.vocabulary.items():
            bits[:, i] = level_bits(self._columns[i][rows], levels)
        found: Bits = bits @ column_factors(np.arange(self.shape[1]))
        return found

    def column(self, column: int) -> NDArray[Any]:
        """The values of one column; of a categorical one places in its vocabulary."""
        return self._columns[column]


class SparseTable(Table):
    """A sparse matrix: what is not stored is zero."""

    def __init__(self, matrix: Any) -> None:
        self._matrix, self.vocabulary = matrix, {}
        self.shape = (matrix.shape[0], matrix.shape[1])

    @cached_property
    def _by_column(self) -> _core.SparseTable:
        found = self._matrix.tocsc()
        # A new matrix, without cached flags: whether it is sorted is checked.
        arrays = [np.ascontiguousarray(a) for a in (found.data, found.indices, found.indptr)]
        by_column = sparse.csc_array(tuple(arrays), shape=self.shape)
        if not by_column.has_canonical_format:
            by_column = by_column.copy()
            by_column.sum_duplicates()
        return _core.SparseTable(*self.shape, by_column.data, by_column.indices, by_column.indptr)

    def _rows_at(self, rows: Places) -> SparseTable:
        return SparseTable(sparse.csr_array(self._matrix)[rows])

    def _columns_at(self, places: list[int]) -> SparseTable:
        return SparseTable(self._columns[:, places])

    def source(self, levels: Mapping[int, Levels]) -> _core.SparseTable:
        """All values as the core reads them."""
        return self._by_column

    def numbers(self) -> _core.SparseTable:
        """All columns."""
        return self._by_column

    @cached_property
    def _columns(self) -> Any:
        return sparse.csc_array(self._matrix)

    def column(self, column: int) -> NDArray[Any]:
        """The values of one column."""
        dense: NDArray[Any] = self._columns[:, [column]].toarray()[:, 0]
        return dense

    def row_bits(self, rows: Places) -> Bits:
        """A hash of 64 bits for each of some rows; zeros do not contribute."""
        some = sparse.csr_array(self._matrix[rows])
        some.sum_duplicates()
        sums = np.append(np.uint64(0), np.cumsum(value_bits(some.data) * column_factors(some.indices)))
        found: Bits = np.diff(sums[some.indptr])
        return found
