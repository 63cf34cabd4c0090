"""Tables that are never completely in memory: read in batches, once for thresholds and once for bins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core
from frugalboost._support.progress import ReadingLine
from frugalboost.tables import checksum
from frugalboost.tables.kinds import Places, Table
from frugalboost.tables.levels import Levels, Vocabulary
from frugalboost.tables.sources import Batch, Batches

MOST_CELLS = 2**15  # of a column's summary; with more distinct values, neighbours share a cell
SAMPLED_FROM = 200_000  # tables with more rows have thresholds from a sample of between half as many and as many rows
Check = Callable[[Any, int], Table]  # a batch's table and its number, checked against the first one


@dataclass(frozen=True)
class Stream:
    """Batches, and what is known from reading them the first time."""

    batches: Batches
    check: Check
    shape: tuple[int, int]
    y: NDArray[Any]  # targets, compared each time the batches are read
    weights: NDArray[Any] | None
    vocabulary: Vocabulary
    verbose: bool
    finder: _core.ThresholdFinder | None = None  # it has already seen all rows, each with weight 1
    checksums: list[int] = field(default_factory=list)  # of the first reading of all columns, when that is done
    first: int = 0  # the number of rows of the whole table before these

    def tables(self, what: str) -> Iterator[tuple[Table, int]]:
        """Checked tables, each with the number of rows before it."""
        line = ReadingLine(what, self.shape[0], self.batches.bytes) if self.verbose else None
        at = seen = 0
        for number, batch in enumerate(self.batches.read()):
            table = self.check(batch.X, number)
            at += len(table)
            if at > self.shape[0]:
                break
            self._compare(batch, slice(at - len(table), at))
            seen = checksum.combined(seen, checksum.of_rows(table, self.first + at - len(table)))
            yield table, at - len(table)
            if line is not None:
                line(at)
        if at != self.shape[0]:
            raise ValueError(
                f"The batches gave {'fewer' if at < self.shape[0] else 'more'} rows than the first time, "
                f"{self.shape[0]}. They must be the same each time."
            )
        if not self.checksums:
            self.checksums.append(seen)
        if self.checksums != [seen]:
            raise ValueError(
                "The batches gave other values of X than the first time. They must be the same each time: draw no "
                "random numbers in them, or set the seed each time they are read from the beginning."
            )

    def _compare(self, batch: Batch, rows: slice) -> None:
        for what, now, before in (("targets", batch.y, self.y), ("weights", batch.weights, self.weights)):
            if before is not None and not np.array_equal(np.asarray(now), before[rows]):
                raise ValueError(
                    f"The batches gave other {what} than the first time, or in another order. They must be the same "
                    "each time: do not shuffle them."
                )


class BatchedTable(Table):
    """Some rows of a stream."""

    in_pieces = True

    def __init__(self, stream: Stream, rows: NDArray[np.int64] | None = None) -> None:
        self._stream, self._rows = stream, rows
        self.vocabulary = stream.vocabulary
        self.shape = (stream.shape[0] if rows is None else len(rows), stream.shape[1])

    def _rows_at(self, rows: Places) -> BatchedTable:
        wanted = rows.astype(np.int64)
        return BatchedTable(self._stream, wanted if self._rows is None else self._rows[wanted])

    def source(self, levels: Mapping[int, Levels]) -> _core.Table:
        """Raise an error: the values are never completely in memory."""
        raise ValueError(
            "A table that is read in batches is never completely in memory. Use warm_start=True from the first fit on, "
            "so that a continued fit uses the same bins."
        )

    def checksum(self, first: int = 0) -> int:
        """A number that differs for tables with other values; known after the first reading."""
        if first != self._stream.first:
            raise ValueError("The table begins with another row.")
        if self._rows is not None or not self._stream.checksums:
            raise ValueError("The table has not been read completely.")
        return self._stream.checksums[0]

    def finder(self, weighted: bool) -> _core.ThresholdFinder | None:
        """A finder that has already seen all rows, if the first reading used one."""
        return None if weighted or self._rows is not None else self._stream.finder

    def pieces(self, what: str) -> Iterator[tuple[Table, NDArray[np.int64]]]:
        """The batches, each with the positions of its rows, limited to the rows of this table."""
        place = None
        if self._rows is not None:
            place = np.full(self._stream.shape[0], -1, dtype=np.int64)
            place[self._rows] = np.arange(len(self._rows))
        for table, at in self._stream.tables(what):
            places = np.arange(at, at + len(table))
            if place is None:
                yield table, places
                continue
            places = place[places]
            ours = np.flatnonzero(places >= 0)
            if len(ours):
                yield table if len(ours) == len(table) else table.take(ours), places[ours]
