"""Tables for fit: in memory, or in batches that are read once for what must be known before binning."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from frugalboost import _core
from frugalboost._support.threads import threads_for
from frugalboost.tables import checksum, frames
from frugalboost.tables.batched import MOST_CELLS, SAMPLED_FROM, BatchedTable, Stream
from frugalboost.tables.checking import category_columns, check_X, keeps_levels
from frugalboost.tables.kinds import Table
from frugalboost.tables.levels import CodedColumn, Value
from frugalboost.tables.parts import common_levels, first_row, of_all
from frugalboost.tables.sources import Batch, Batches, as_batches, rows_of

Read = tuple[Table, Any, Any]  # a table, targets, weights


def read_table(estimator: Any, X: Any, y: Any, weights: Any, *, reset: bool, what: str = "X") -> Read:
    """Return a table for fit with its targets and weights, from memory, files or batches."""
    if isinstance(X, str | os.PathLike) and y is None:
        raise ValueError(f"{what} is read from files: name the column to predict, fit(path, y='...').")
    batches = as_batches(X, y, weights, what=what)
    if batches is None:
        return check_X(estimator, X, reset=reset, what=what, in_fit=True), y, weights
    head = next(batches.read(), None)
    if head is None:
        raise ValueError(f"{what} has no rows: there are no batches.")
    if sparse.issparse(head.X):
        return _put_together(estimator, batches, reset, what)
    return FirstReading(estimator, batches, head, reset, what).run()


def read_part(estimator: Any, batches: Batches, part: _core.ThreadPart, *, reset: bool, what: str = "X") -> Read:
    """Return one part of a table for fit, with its targets and weights."""
    own = next(batches.read(), None)
    filled = of_all(own is not None, part)
    if not any(filled):
        raise ValueError(f"{what} has no rows.")
    head = own
    if not all(filled):  # a part without rows learns from another what columns there are
        shown = None if own is None or part.part != filled.index(True) else _first_rows(own)
        heads = of_all(shown, part)
        head = heads[filled.index(True)] if own is None else own
    assert head is not None
    if not sparse.issparse(head.X):
        read = FirstReading(estimator, batches, head, reset, what, part).run()
    elif own is not None:
        read = _put_together(estimator, batches, reset, what)
    else:
        nothing = check_X(estimator, head.X, reset=reset, what=what, in_fit=True).take(np.zeros(0, dtype=np.int64))
        read = nothing, np.zeros(0), None if head.weights is None else np.zeros(0)
    names = getattr(estimator, "feature_names_in_", None)
    _compare_columns(
        [estimator.n_features_in_, None if names is None else list(names), sorted(estimator.categories_)], part, what
    )
    return read


def _first_rows(batch: Batch) -> Batch:
    """Two rows of a batch, to know its kind and its columns by."""
    X = batch.X.slice(0, 2) if hasattr(batch.X, "slice") else batch.X[:2]
    return Batch(X, np.asarray(batch.y)[:2], None if batch.weights is None else np.asarray(batch.weights)[:2])


def _compare_columns(own: list[Any], part: _core.ThreadPart, what: str) -> None:
    """Raise ValueError unless all parts have the same columns."""
    first, *others = of_all(own, part)
    for other in others:
        if other != first:
            i = [a == b for a, b in zip(first, other)].index(False)
            noun = ("numbers of columns", "names of columns", "categorical columns")[i]
            raise ValueError(f"{what} has partitions with different {noun}: {first[i]} and {other[i]}.")


def _put_together(estimator: Any, batches: Batches, reset: bool, what: str) -> Read:
    """Sparse batches, as one matrix."""
    targets, parts = Targets(what), []
    for number, batch in enumerate(batches.read()):
        if not sparse.issparse(batch.X):
            raise ValueError(f"{what}: batch {number} is not sparse, but the first one is.")
        targets.add(number, batch)
        parts.append(batch.X)
    try:
        whole = sparse.vstack(parts, format="csr")
    except ValueError as error:
        raise ValueError(f"{what}: the batches can't be joined: {error}") from None
    return check_X(estimator, whole, reset=reset, what=what, in_fit=True), *targets.joined()


class Targets:
    """Targets and weights of all batches; copies, since the arrays of a batch may be reused."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._y: list[NDArray[Any]] = []
        self._weights: list[NDArray[Any] | None] = []
        self.rows = 0

    def add(self, number: int, batch: Batch) -> None:
        """Add one batch."""
        where = f"{self._what}: batch {number}"
        size = rows_of(batch.X)
        if batch.y is None:
            raise ValueError(f"{where} has no targets: give tuples (X, y) or (X, y, weights).")
        y, weights = np.array(batch.y), None if batch.weights is None else np.array(batch.weights)
        for given, dimensions in ((y, (1, 2)), (weights, (1,))):
            if given is not None and (given.shape[:1] != (size,) or given.ndim not in dimensions):
                raise ValueError(f"{where} has {size} rows, but targets or weights of shape {given.shape}.")
        if self._y and y.shape[1:] != self._y[0].shape[1:]:
            raise ValueError(f"{where} has targets of another number of columns than the first one.")
        if self._y and (y.dtype.kind in "biuf") != (self._y[0].dtype.kind in "biuf"):
            raise ValueError(f"{where} has targets of type {y.dtype}; those of the first one are {self._y[0].dtype}.")
        if self._weights and (weights is None) != (self._weights[0] is None):
            raise ValueError(f"{where}: some batches have weights and others do not.")
        self._y.append(y)
        self._weights.append(weights)
        self.rows += size

    def joined(self) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Targets and weights of all rows."""
        if not self._y:
            return np.zeros(0), None
        weights = [w for w in self._weights if w is not None]
        return np.concatenate(self._y), np.concatenate(weights) if weights else None


class FirstReading:
    """Reads batches once: targets, weights, levels and, without weights and categories, thresholds.

    ``part``: other parts of the table have more rows; ``head`` may be one of theirs.
    """

    def __init__(
        self,
        estimator: Any,
        batches: Batches,
        head: Batch,
        reset: bool,
        what: str,
        part: _core.ThreadPart | None = None,
    ) -> None:
        self._part, self._weighted = part, head.weights is not None
        self._estimator, self._batches, self._reset, self._what = estimator, batches, reset, what
        self._names, self._categorical = self._columns(head.X)
        self._levels: dict[int, set[Value]] = {}
        if not keeps_levels(estimator, reset):
            self._levels = {c: set() for c in self._categorical}
            estimator.categories_ = {}
        # From files only these columns are read.
        self._only = None
        if part is not None and not self._levels:
            self._only = []  # a part's rows must be counted before its values are looked at
        elif batches.can_choose_columns:
            self._only = [self._names[c] for c in sorted(self._categorical)]
        self._finder: _core.ThresholdFinder | None = None
        if self._only is None and reset and not self._categorical and part is None:
            self._finder = _core.ThresholdFinder(estimator.n_features_in_, MOST_CELLS, SAMPLED_FROM, rows=0)

    def run(self) -> Read:
        """Read all batches."""
        estimator, targets, seen = self._estimator, Targets(self._what), 0
        for number, batch in enumerate(self._batches.read(self._only)):
            targets.add(number, batch)
            self._learn_levels(number, batch.X)
            if batch.weights is not None:
                self._finder = None
            if self._finder is not None:
                table = self._check(batch.X, number)
                numbers = np.arange(targets.rows - len(table), targets.rows)
                self._finder.add(table.numbers(), numbers, None, 0, threads_for(estimator.n_jobs))
                seen = checksum.combined(seen, checksum.of_rows(table, targets.rows - len(table)))
        for c, found in common_levels(self._levels, self._part).items():
            if len({isinstance(v, str) for v in found}) > 1:
                name = self._names[c] if self._names else c
                raise ValueError(f"{self._what}: column {name!r} has texts in some batches and numbers in others.")
            estimator.categories_[c] = sorted(found)
        vocabulary = {c: tuple(values) for c, values in estimator.categories_.items()}
        y, weights = targets.joined()
        if self._weighted and weights is None:
            weights = np.zeros(0)
        shape = (targets.rows, estimator.n_features_in_)
        verbose = bool(estimator.verbose) and self._part is None
        first = first_row(targets.rows, self._part)
        stream = Stream(self._batches, self._check, shape, y, weights, vocabulary, verbose, self._finder, first=first)
        if self._finder is not None:
            stream.checksums.append(seen)
        return BatchedTable(stream), y, weights

    def _columns(self, X: Any) -> tuple[list[str], set[int]]:
        """Names and categorical columns, from the first batch."""
        estimator = self._estimator
        frame = frames.as_frame(X, self._what)
        if frame is None:
            validate_data(estimator, X, reset=self._reset, dtype=None, ensure_all_finite=False)
            return [], category_columns(estimator, None, [], estimator.n_features_in_, self._reset)
        validate_data(estimator, X, reset=self._reset, skip_check_array=True)
        fields = frames.fields(frame, self._what)
        names = [f.name for f in fields]
        by_dtype = [i for i, f in enumerate(fields) if f.is_category]
        columns = category_columns(estimator, names, by_dtype, len(names), self._reset)
        for i, field in enumerate(fields):
            field.read(i in columns)  # raises an error for a column that can't be used
        return names, columns

    def _learn_levels(self, number: int, X: Any) -> None:
        if not self._levels:
            return
        what = f"{self._what}: batch {number}"
        frame = frames.as_frame(X, what)
        if frame is not None and self._only is None:
            _in_batch(number, lambda: validate_data(self._estimator, X, reset=False, skip_check_array=True))
        for c, found in self._levels.items():
            if frame is None:
                where = f"{what}: column {c}"
                coded: frames.Column = frames.of_values(np.asarray(X)[:, c], where)
            else:
                where = f"{what}: column {self._names[c]!r}"
                series = frame.get_column(frame.columns[c] if self._only is None else self._names[c])
                coded = frames.Field(series, self._names[c], where).read(as_category=True)
            assert isinstance(coded, CodedColumn)
            found |= coded.occurring(where)

    def _check(self, X: Any, number: int) -> Table:
        """A later batch must be like the first one."""
        if sparse.issparse(X):
            raise ValueError(f"Batch {number} is sparse, but the first one is not.")
        table: Table = _in_batch(number, lambda: check_X(self._estimator, X, reset=False, what=self._what, in_fit=True))
        return table


def _in_batch(number: int, work: Any) -> Any:
    try:
        return work()
    except (TypeError, ValueError) as error:
        raise type(error)(f"Batch {number}: {error}") from None
