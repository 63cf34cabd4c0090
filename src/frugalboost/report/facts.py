"""Facts about a table that matter before a model is trusted: sizes, oddities, suspected leaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from frugalboost.estimators.base import GBFSBase
from frugalboost.report.findings import Findings
from frugalboost.report.held_out import HeldOutPredictions
from frugalboost.tables import Table
from frugalboost.tables.sample import Sample

NEARLY_ALL = 0.95  # of a constant's error that one feature takes away: a leak suspect
FEW_OF_CLASS = 10
MOSTLY_MISSING = 0.9
OF_SQUARES = ("neg_root_mean_squared_error", "neg_mean_squared_error", "r2")  # scores about squared errors
FEW_LARGE = 0.04  # share of the rows (12 % of normal errors have half of the square): with as few, there may be larger
NAMED = 5  # columns that a notice names


class NoticeKind(StrEnum):
    """What a notice is about; the page and programs see these words."""

    READ = "read"  # how the file was read
    CONVERTED = "converted"  # columns that were turned into numbers
    ROWS = "rows"
    PRICES = "prices"
    LEFT_OUT = "left out"
    INFINITY = "infinity"
    LEAK = "leak"
    CONSTANT = "constant"
    DUPLICATE = "duplicate"
    MISSING = "missing"
    ID = "id"
    CLASS = "class"
    TARGET = "target"


@dataclass(frozen=True)
class Notice:
    """Something to look at before the model is used."""

    kind: NoticeKind
    text: str

    def as_dict(self) -> dict[str, str]:
        """For JSON."""
        return {"kind": self.kind.value, "text": self.text}


@dataclass(frozen=True)
class Facts:
    """Sizes of a table and what is odd about it."""

    n_rows: int
    n_features: int
    n_categorical: int
    missing: float  # share of cells
    target: list[dict[str, Any]]  # classes with their rows, or a histogram
    notices: list[Notice] = field(default_factory=list)


def facts_of(sample: Sample, model: GBFSBase, names: Sequence[str], findings: Findings) -> Facts:
    """Look at every column and at the target.

    Parameters
    ----------
    sample : Sample
        The checked table.
    model : GBFSClassifier or GBFSRegressor
        Fitted.
    names : sequence of str
        Of all columns.
    findings : Findings
        What the search found.

    Returns
    -------
    Facts
        With a notice for each suspicion.
    """
    table = sample.table
    scan = Scan(table)
    notices = [
        *leaks(findings, names),
        *_few_rows(sample, model),
        *few_large_errors(findings.held_out, findings.measure.scoring),
        *scan.notices(names, sample.y, is_classifier(model), findings.seen),
    ]
    return Facts(
        n_rows=len(sample),
        n_features=table.shape[1],
        n_categorical=len(table.vocabulary),
        missing=float(scan.missing.mean()) if len(scan.missing) else 0.0,
        target=_target(sample, model),
        notices=notices,
    )


def leaks(findings: Findings, names: Sequence[str]) -> list[Notice]:
    """A notice if one feature explains nearly everything: it is often known only after the target."""
    constant, first = findings.constant_score, findings.steps[0] if findings.steps else None
    if constant is None or first is None:
        return []
    measure = findings.measure
    without, alone = measure.error(constant), measure.error(first.score)
    left = alone / without if without > 0 else 1.0
    if measure.scoring == "neg_root_mean_squared_error":  # explained variance is about squares
        left **= 2
    if left > 1 - NEARLY_ALL:
        return []
    name = names[int(findings.choice.model.selected_features_[0])]
    return [
        Notice(
            NoticeKind.LEAK,
            f"{name!r} alone takes the {measure.title} from {measure.text(without)} to {measure.text(alone)}. Is it "
            "known before the target is? If not, leave it out and run again.",
        )
    ]


class Scan:
    """One look at every column."""

    def __init__(self, table: Table) -> None:
        n, d = table.shape
        self.missing, self.constant = np.zeros(d), np.zeros(d, dtype=bool)
        self.counting: list[int] = []  # columns that just number the rows
        self.row_keys = np.zeros(n, dtype=np.uint64)
        keys: dict[bytes, list[int]] = {}
        for c in range(d):
            column = table.column(c)
            bits = _bits(column)
            gone = column < 0 if c in table.vocabulary else np.isnan(column) if column.dtype.kind == "f" else None
            self.missing[c] = 0.0 if gone is None else gone.mean()
            self.constant[c] = bool((bits == bits[0]).all())
            if c not in table.vocabulary and counts_rows(column):
                self.counting.append(c)
            self.row_keys = _mixed(self.row_keys, bits, c)
            if not self.constant[c]:
                keys.setdefault(np.bitwise_xor.reduce(_mixed(_places(n), bits, 0)).tobytes(), []).append(c)
        self.twins = [same for some in keys.values() if len(some) > 1 for same in _really_equal(table, some)]

    def notices(self, names: Sequence[str], y: NDArray[np.float64], classes: bool, seen: bool = True) -> list[Notice]:
        """Sentences about what was found. ``seen``: models were judged on rows equal to some they were fitted on."""
        return [*self._about_columns(names), *self._about_rows(y, classes, seen)]

    def _about_columns(self, names: Sequence[str]) -> list[Notice]:
        found = []
        constant = np.flatnonzero(self.constant).tolist()
        if constant:
            found.append(Notice(NoticeKind.CONSTANT, f"{_columns(constant, names)} the same value in every row."))
        for same in self.twins[:NAMED]:
            found.append(
                Notice(NoticeKind.DUPLICATE, f"{_named(same, names)} hold the same values: all but one can be dropped.")
            )
        if len(self.twins) > NAMED:
            found.append(Notice(NoticeKind.DUPLICATE, f"{len(self.twins) - NAMED} more sets of equal columns."))
        empty = np.flatnonzero((self.missing > MOSTLY_MISSING) & ~self.constant).tolist()
        if empty:
            share = f"more than {MOSTLY_MISSING:.0%} of their values missing"
            found.append(Notice(NoticeKind.MISSING, f"{_columns(empty, names)} {share}."))
        for c in self.counting[:NAMED]:
            text = f"{names[c]!r} only numbers the rows. If it is a row number, leave it out as an id."
            found.append(Notice(NoticeKind.ID, text))
        return found

    def _about_rows(self, y: NDArray[np.float64], classes: bool, seen: bool) -> list[Notice]:
        _, first, inverse = np.unique(self.row_keys, return_index=True, return_inverse=True)
        again = len(self.row_keys) - len(first)
        if not again:
            return []
        text = f"{again:,} of {len(self.row_keys):,} rows repeat the features of another row"
        differ = int((y != y[first][inverse.reshape(-1)]).sum())
        if classes and differ:
            text += f", {differ:,} of them with another class than the first of them"
        done = (
            "Equal rows are never in both parts of a split, so that no model is judged on rows that it was fitted on."
        )
        if seen:
            done = "Equal rows are in training and held-out parts, which may make errors look too low."
        return [Notice(NoticeKind.ROWS, f"{text}. {done}")]


def _bits(column: NDArray[Any]) -> NDArray[np.uint64]:
    """Values as integers that are equal if the values are equal; all missing values are equal."""
    if column.dtype.kind != "f":
        return column.astype(np.int64).view(np.uint64)
    values = column.astype(np.float64) + 0.0  # -0.0 becomes 0.0
    values[np.isnan(values)] = np.nan
    return values.view(np.uint64)


def _places(n: int) -> NDArray[np.uint64]:
    return np.arange(n, dtype=np.uint64)


def _mixed(keys: NDArray[np.uint64], bits: NDArray[np.uint64], number: int) -> NDArray[np.uint64]:
    """Hash the values into the keys so far."""
    mixed = (keys ^ bits ^ np.uint64(number + 1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return mixed


def counts_rows(column: NDArray[Any]) -> bool:
    """Whether a column only numbers the rows."""
    if column.dtype.kind not in "iuf":
        return False
    if len(column) < 20 or (column.dtype.kind == "f" and not np.isfinite(column).all()):
        return False
    steps = np.diff(column.astype(np.float64))
    return bool(np.abs(steps[0]) > 0 and (steps == steps[0]).all())


def _really_equal(table: Table, columns: list[int]) -> list[list[int]]:
    """Sets of equal columns among those with equal keys."""
    sets: list[list[int]] = []
    for c in columns:
        home = next((s for s in sets if np.array_equal(_bits(table.column(s[0])), _bits(table.column(c)))), None)
        if home is None:
            sets.append([c])
        else:
            home.append(c)
    return [s for s in sets if len(s) > 1]


def _few_rows(sample: Sample, model: GBFSBase) -> list[Notice]:
    if not is_classifier(model):
        return []
    counts = np.bincount(sample.y.astype(np.intp), minlength=len(model.classes_))
    few = [f"{str(c)!r} ({n})" for c, n in zip(model.classes_, counts.tolist(), strict=True) if n < FEW_OF_CLASS]
    if not few:
        return []
    more = f" and {len(few) - NAMED} more" if len(few) > NAMED else ""
    text = f"Classes with fewer than {FEW_OF_CLASS} rows: {', '.join(few[:NAMED])}{more}. Errors say little about them."
    return [Notice(NoticeKind.CLASS, text)]


def few_large_errors(held_out: HeldOutPredictions | None, scoring: str) -> list[Notice]:
    """A notice where a few rows decide how large squared errors are: their like may be missing in the table."""
    if held_out is None or scoring not in OF_SQUARES:
        return []
    squares = np.bincount(held_out.row, weights=held_out.masses * (held_out.truth - held_out.predicted) ** 2)
    rows, total = len(np.unique(held_out.row)), squares.sum()
    few = int(np.searchsorted(np.cumsum(np.sort(squares)[::-1]), total / 2)) + 1
    if not (np.isfinite(total) and total > 0 and few <= FEW_LARGE * rows):
        return []
    one = "one row has" if few == 1 else f"{few:,} rows have"
    text = (
        f"Of {rows:,} rows that were held out, {one} half of the squared error. New rows may hold more or larger ones "
        "of that kind, so the interval says too little. The mean absolute error, or the logarithm of the target, "
        "depends on them less."
    )
    return [Notice(NoticeKind.TARGET, text)]


def _target(sample: Sample, model: GBFSBase) -> list[dict[str, Any]]:
    if is_classifier(model):
        counts = np.bincount(sample.y.astype(np.intp), minlength=len(model.classes_))
        return [{"value": str(c), "rows": int(n)} for c, n in zip(model.classes_, counts, strict=True)]
    counts, edges = np.histogram(sample.y, bins=min(30, max(5, len(sample) // 20)))
    ends = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    return [{"from": a, "to": b, "rows": int(n)} for (a, b), n in zip(ends, counts, strict=True)]


def _named(columns: Sequence[int], names: Sequence[str]) -> str:
    shown = ", ".join(repr(names[c]) for c in columns[:NAMED])
    return shown if len(columns) <= NAMED else f"{shown} and {len(columns) - NAMED} more"


def _columns(columns: Sequence[int], names: Sequence[str]) -> str:
    return f"{_named(columns, names)} {'has' if len(columns) == 1 else 'have'}"
