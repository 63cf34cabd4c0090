"""What each chosen feature does: the mean prediction as its value changes (partial dependence), and its direction.

The cost is bounded: as many features, values and rows are looked at as walks of rows through trees allow. A feature's
own trees are walked for each value, all others once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core
from frugalboost.estimators.base import GBFSBase
from frugalboost.report.direction import direction_of
from frugalboost.report.held_out import classes_of
from frugalboost.report.kinds import kind_of
from frugalboost.tables import Table
from frugalboost.tables.sample import Sample
from frugalboost.training.ensemble import ARRAYS, Ensemble

Floats = NDArray[np.float64]

MOST_FEATURES = 30  # those with the largest gains
MOST_ROWS, LEAST_ROWS = 400, 40  # predictions are means over them
MOST_VALUES, LEAST_VALUES = 21, 11  # of a number
MOST_LEVELS = 10  # of a category, those with the most rows
MOST_CLASSES = 3  # whose curves are shown, where there are more than two
WORK = 20_000_000  # rows that are walked through a tree
RANGE_ROWS = 20_000  # quantiles, levels and missing values are those of at most so many rows
ENDS = (0.01, 0.99)  # quantiles between which a number is shown
BINS = 24  # of the histogram
FEW = 12  # values of a number that need no stretching
DIGITS, DATE_DIGITS = 6, 10  # of values that are shown; of days since 1970 the last are minutes
NARROW = 0.1  # of the range that is shown; an axis is stretched if half of the rows are in less


@dataclass(frozen=True)
class Column:
    """The values of one chosen feature as the trees see them, and where its rows are."""

    place: int  # among the features of the model
    levels: tuple[Any, ...] | None  # of a category; None: it is a number
    values: Floats  # at which predictions are made, ascending; of a category numbers of bins
    rows: Floats  # share of the rows nearest to each value, or of each level
    missing: float  # share of the rows
    others: int  # levels that are not shown
    known: Floats  # of a number: all values that are there, ascending


def effects_of(model: GBFSBase, sample: Sample, seed: int = 0) -> list[dict[str, Any]]:
    """The effects of the features with the largest gains.

    Parameters
    ----------
    model : GBFSClassifier or GBFSRegressor
        Fitted.
    sample : Sample
        Rows of the fit, checked.
    seed : int, default=0
        Of the draw of rows.

    Returns
    -------
    list of dict
        One for each feature, by gain: "column", "kind" (of `kind_of`), "x" (values or levels), "rows" (their shares),
        "y" (for each curve the mean prediction at each value), "of" (the class of each curve), "missing", and so on.
    """
    trees, chosen = first_iterations(model), model.selected_features_
    strongest = chosen[np.argsort(-model.feature_importances_[chosen], kind="stable")][:MOST_FEATURES]
    strongest = strongest[model.feature_importances_[strongest] > 0]
    if not len(strongest):
        return []
    rng = np.random.default_rng(seed)
    used = np.sort(chosen)
    own = trees.with_columns(places_of(used, model.n_features_in_))
    places = np.searchsorted(used, strongest)
    n_values, n_rows, n_features = affordable(own, places.tolist())
    table = sample.table
    wide, few = drawn(rng, len(table), RANGE_ROWS), drawn(rng, len(table), n_rows)
    values = values_of(table.take(few).columns(used), used, model)
    weights = np.ones(len(few)) if sample.weights is None else sample.weights[few]
    seen = table.take(wide).columns(used)
    predictor = Predictor(model, own, values, weights if weights.sum() > 0 else np.ones(len(few)))
    found = []
    for column, place in zip(strongest.tolist()[:n_features], places.tolist(), strict=False):
        look = column_of(seen, place, column, model, n_values)
        found.append({"column": column, **effect(look, kind_of(model, column), predictor)})
    return found


def first_iterations(model: GBFSBase) -> Ensemble:
    """The trees that predictions use."""
    trees = model._model.ensemble
    last = model.best_iteration_ * trees.n_outputs
    return some_trees(trees, np.arange(last), trees.start)


def some_trees(trees: Ensemble, numbers: NDArray[np.integer[Any]], start: Floats) -> Ensemble:
    """Some of the trees, as an ensemble with these start values."""
    begin, sizes = trees.tree_begin[numbers], np.diff(trees.tree_begin)[numbers]
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    nodes = np.repeat(begin - begins[:-1], sizes) + np.arange(begins[-1])
    apart = {"start", "tree_begin", "sets"}
    arrays: dict[str, Any] = {n: np.ascontiguousarray(getattr(trees, n)[nodes]) for n in ARRAYS if n not in apart}
    return replace(trees, **arrays, start=start, tree_begin=begins)


def places_of(used: NDArray[np.integer[Any]], n_features: int) -> NDArray[np.int32]:
    """For each column its place among those used."""
    places = np.zeros(n_features, dtype=np.int32)
    places[used] = np.arange(len(used))
    return places


def owners(trees: Ensemble) -> NDArray[np.integer[Any]]:
    """For each tree and feature that it uses, a row of both."""
    tree = np.repeat(np.arange(len(trees.tree_begin) - 1), np.diff(trees.tree_begin))
    feature = trees.used_feature
    pairs: NDArray[np.integer[Any]] = np.unique(np.stack([tree, feature], axis=1)[feature >= 0], axis=0)
    return pairs


def affordable(trees: Ensemble, features: Sequence[int]) -> tuple[int, int, int]:
    """How many values, rows and features are looked at, so that the work is bounded."""
    counts = np.bincount(owners(trees)[:, 1], minlength=max(features) + 1)[list(features)]
    for n_values in (MOST_VALUES, LEAST_VALUES):
        rows = int(WORK // max(1, counts.sum() * (n_values + 1)))
        if rows >= LEAST_ROWS:
            return n_values, min(rows, MOST_ROWS), len(features)
    work = np.cumsum(counts) * (LEAST_VALUES + 1) * LEAST_ROWS
    return LEAST_VALUES, LEAST_ROWS, max(1, int((work <= WORK).sum()))


def drawn(rng: np.random.Generator, n: int, most: int) -> NDArray[np.int64]:
    """All rows, or some at random."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def values_of(table: Table, used: NDArray[np.integer[Any]], model: GBFSBase) -> Floats:
    """All values as the trees see them: of categories bins, NaN where missing."""
    found = np.empty(table.shape)
    for place, column in enumerate(used.tolist()):
        levels, own = model._model.levels.get(column), table.column(place)
        found[:, place] = own if levels is None else levels.binned(own)
    return found


def column_of(table: Table, place: int, column: int, model: GBFSBase, most: int) -> Column:
    """Where the rows of a feature are, and the values at which predictions are made."""
    levels, own = model._model.levels.get(column), table.column(place)
    if levels is None:
        numbers = own.astype(np.float64)
        known = np.sort(numbers[np.isfinite(numbers)])
        values = shown_values(known, most)
        nearest = np.searchsorted((values[1:] + values[:-1]) / 2, known)
        rows = np.bincount(nearest, minlength=len(values)) / max(1, len(known))
        return Column(place, None, values, rows, float(np.isnan(numbers).mean()), 0, known)
    counts = np.bincount(own[own >= 0], minlength=len(levels.values))
    order = [c for c in np.argsort(-counts, kind="stable").tolist() if counts[c] > 0 and levels.bins[c] >= 0]
    shown, total = order[:MOST_LEVELS], max(1, len(own))
    return Column(
        place,
        tuple(str(levels.values[c]) for c in shown),
        levels.bins[shown].astype(np.float64),
        counts[shown] / total,
        float((own < 0).mean()) if len(own) else 0.0,
        len(order) - len(shown),
        np.zeros(0),
    )


def shown_values(known: Floats, most: int) -> Floats:
    """Values of a number: all if there are few, else some where the rows are and some across the range."""
    different = np.unique(known)
    if len(different) <= most:
        return different
    low, high = np.quantile(known, ENDS, method="inverted_cdf")
    if low == high:  # nearly all rows have one value
        low, high = different[[0, -1]]
    inside, apart = known[(known >= low) & (known <= high)], different[(different >= low) & (different <= high)]
    by_row = np.unique(np.quantile(inside, np.linspace(0, 1, 2 * most // 3), method="inverted_cdf"))
    by_value = np.quantile(apart, np.linspace(0, 1, most - len(by_row) + 2), method="inverted_cdf")
    values: Floats = np.unique(np.concatenate([by_row, by_value]))
    return values


class Predictor:
    """Mean predictions over some rows with one feature set to a value."""

    def __init__(self, model: GBFSBase, trees: Ensemble, values: Floats, weights: Floats) -> None:
        self.classes = classes_of(model)
        self._model, self._trees, self._values = model, trees, values
        self._weights = weights / weights.sum()
        self._owners = owners(trees)
        self._whole = trees.raw(_core.Table(values), trees.n_iterations, 1)
        self.mean = self._means(self._whole)

    def at(self, place: int, points: Floats) -> Floats:
        """Mean predictions at some values of a feature, by curve and value; NaN is a missing value."""
        own = self._owners[self._owners[:, 1] == place, 0]
        parts = [
            (output, some_trees(self._trees, own[own % self._trees.n_outputs == output], np.zeros(1)))
            for output in np.unique(own % self._trees.n_outputs).tolist()
        ]
        rest, values = self._whole.copy(), self._values.copy()
        for output, trees in parts:
            rest[output] -= trees.raw(_core.Table(values), trees.n_iterations, 1)[0]
        found = []
        for point in points.tolist():
            values[:, place] = point
            raw, X = rest.copy(), _core.Table(values)
            for output, trees in parts:
                raw[output] += trees.raw(X, trees.n_iterations, 1)[0]
            found.append(self._means(raw))
        return np.array(found).T

    def _means(self, raw: Floats) -> Floats:
        """By class, of two the second; or of the number."""
        by_row = raw[0] if len(raw) == 1 else np.ascontiguousarray(raw.T)
        if self.classes:
            p = self._model._probabilities(by_row)
            by_row = p[:, 1:] if len(self.classes) == 2 else p
        else:
            by_row = np.asarray(self._model._loss.inverse_link(by_row), dtype=np.float64)[:, None]
        means: Floats = self._weights @ by_row
        return means


def effect(look: Column, kind: str, predictor: Predictor) -> dict[str, Any]:
    """What a report holds on one feature."""
    there = [np.nan] if look.missing > 0 else []
    found = predictor.at(look.place, np.concatenate([look.values, there]))
    curves, missing = (found[:, :-1], found[:, -1]) if there else (found, None)
    if not curves.size:  # only missing values
        return {"kind": "nothing", "direction": "no values", "x": [], "y": [], "of": [], "rows": [], "missing": None}
    swings = curves.max(axis=1) - curves.min(axis=1)
    shown = np.argsort(-swings, kind="stable")[:MOST_CLASSES]
    classes = predictor.classes
    names = [None] if not classes else [str(c) for c in (classes[1:] if len(classes) == 2 else classes)]
    said = direction_of(curves[shown[0]], look.rows) if look.levels is None else None
    order = np.arange(len(look.rows)) if look.levels is None else np.argsort(-curves[shown[0]], kind="stable")
    digits = DATE_DIGITS if kind == "date" else DIGITS
    own: dict[str, Any] = {
        "kind": kind,
        "direction": "by level" if said is None else said.words,
        "monotone": None if said is None else rounded(said.rising, 3),
        "of": [names[i] for i in shown.tolist()],
        "x": [rounded(v, digits) for v in look.values]
        if look.levels is None
        else [look.levels[i] for i in order.tolist()],
        "rows": [rounded(share, 3) for share in look.rows[order]],
        "y": [[rounded(v, 4) for v in curves[i][order]] for i in shown.tolist()],
        "mean": [rounded(predictor.mean[i], 4) for i in shown.tolist()],
        "missing": None,
    }
    if missing is not None:
        own["missing"] = {"share": rounded(look.missing, 3), "y": [rounded(missing[i], 4) for i in shown.tolist()]}
    return own | (range_of(look, digits) if look.levels is None else {"other_levels": look.others})


def range_of(look: Column, digits: int) -> dict[str, Any]:
    """Where the rows of a number are: deciles, and a histogram across what is shown.

    If half of the rows are in a tenth of the range, the axis is stretched around the median.
    """
    known, (low, high) = look.known, look.values[[0, -1]].tolist()
    inside = known[(known >= low) & (known <= high)]
    quarter, center, last = np.quantile(inside, [0.25, 0.5, 0.75])
    own: dict[str, Any] = {
        "deciles": [rounded(v, digits) for v in np.quantile(known, np.linspace(0, 1, 11), method="inverted_cdf")]
    }
    if len(look.values) > FEW and last - quarter < NARROW * (high - low):
        apart = np.abs(inside - center)
        unit = max((last - quarter) / 2, float(np.median(apart[apart > 0])) / 2)
        inside, low, high = (np.arcsinh((v - center) / unit) for v in (inside, low, high))
        own |= {"center": rounded(center, digits), "unit": rounded(unit, digits)}
    counts, _ = np.histogram(inside, bins=BINS, range=(float(low), float(high)))
    return own | {"histogram": counts.tolist()}


def rounded(value: Any, digits: int) -> float:
    """A number with so many digits: what a page or a person can tell apart."""
    return float(f"{float(value):.{digits}g}")
