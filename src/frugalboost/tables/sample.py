"""Samples: rows of a table with their targets and weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from frugalboost import _core
from frugalboost.tables.checksum import combined, of_vector
from frugalboost.tables.kinds import Table
from frugalboost.tables.parts import first_row, of_all

Floats = NDArray[np.float64]
Places = NDArray[np.integer[Any]]
Checksums = tuple[int, str, str, str | None]  # number of rows, checksums of X, y and weights


@dataclass(frozen=True)
class Sample:
    """A table with targets and weights, as a user passes them or checked.

    In a checked sample X is a `Table`, y holds numbers (for classes: their codes), and weights are numbers.
    """

    X: Any  # None: only bins are known
    y: Any
    weights: Any = None  # None: all are 1
    groups: Any = None  # rows of a group share a fold; None: every row is one of its own
    times: Any = None  # numbers that rise with time; None: rows have no order

    def __len__(self) -> int:
        return len(self.y)

    @property
    def table(self) -> Table:
        """The table of a checked sample."""
        assert isinstance(self.X, Table)
        return self.X

    def take(self, places: Places) -> Sample:
        """Some of the rows."""
        X = self.X.take(places) if isinstance(self.X, Table) else _safe_indexing(self.X, places)
        return replace(self.targets(places), X=X)

    def targets(self, places: Places) -> Sample:
        """Targets and weights of some of the rows, without the table."""
        parts = (None if p is None else _some(p, places) for p in (self.y, self.weights, self.groups, self.times))
        return Sample(None, *parts)

    def tied_as(self, other: Sample) -> Sample:
        """The same rows, with the groups and times of another sample."""
        return replace(self, groups=other.groups, times=other.times)

    def columns(self, columns: Places) -> Sample:
        """Some of the columns."""
        if isinstance(self.X, Table):
            return replace(self, X=self.X.columns(columns))
        return replace(self, X=_safe_indexing(self.X, columns.tolist(), axis=1))

    def checksums(self, part: _core.ThreadPart | None = None) -> Checksums:
        """The number of rows, and checksums of X, y and weights, of a checked sample, or of all parts of one."""
        first = first_row(len(self), part)
        vectors = [0 if v is None else of_vector(v, first) for v in (self.y, self.weights)]
        X, y, weights = (reduce(combined, sums) for sums in zip(*of_all((self.table.checksum(first), *vectors), part)))
        return (
            sum(of_all(len(self), part)),
            f"{X:016x}",
            f"{y:016x}",
            None if self.weights is None else f"{weights:016x}",
        )


def _some(values: Any, places: Places) -> Any:
    return values[places] if isinstance(values, np.ndarray) else _safe_indexing(values, places)
