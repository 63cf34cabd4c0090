"""Lines or trees? Models on folds of the training rows, judged on the rest, tell which suits a table.

On a hundred rows a split finds features by chance, and a line in one feature is the better base learner; with many rows
trees are. docs/lines.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from frugalboost._support.parallel import Check, call_both, run_parallel
from frugalboost.selection.folds import FOLDS, stratified_folds
from frugalboost.selection.importance import narrowed
from frugalboost.selection.ridge import L2S, Ridge, fit_one_step, fit_ridges, has_ridge
from frugalboost.training.boosting import Observer, boost
from frugalboost.training.model import Model
from frugalboost.training.task import FitTask

Floats = NDArray[np.float64]
Columns = NDArray[np.int64]
T = TypeVar("T")

FEW_ROWS = 500  # with fewer, and more columns, lines are preferred unless others are clearly better
LEAST_GAIN = 1e-4  # of the impurity; a feature that gains less when it is bought fits the noise that is left
MOST_ROWS_TO_COMPARE = 8_000
ROWS_TO_JUDGE = 300  # folds are drawn again until about this many rows were held out, at most REPEATS times
REPEATS = 4
MARGIN = 2.0  # by how many standard errors others must be better than lines, where rows are few


class Fitted(StrEnum):
    """What is fitted on the chosen features."""

    TREES = "trees"
    BOTH = "both"
    LINES = "lines"  # together, as a ridge
    MEAN = "mean"  # of a ridge and trees
    BOOSTED_LINES = "boosted lines"  # for losses that have no ridge


@dataclass(frozen=True)
class LastFit:
    """What is fitted on the chosen features, and how."""

    kind: Fitted
    l2: float | None = 0.0  # of a ridge; None: it is fitted in one step
    iterations: int | None = None  # of trees in folds, at their best; None: unknown
    trees: Fitted = Fitted.TREES  # of which a mean is taken: trees, or both

    @property
    def has_ridge(self) -> bool:
        """Whether it contains a ridge."""
        return self.kind in (Fitted.LINES, Fitted.MEAN)

    @property
    def boosted(self) -> str | None:
        """The parameter ``base`` of what is boosted; None: nothing is."""
        if self.kind == Fitted.LINES:
            return None
        kind = self.trees if self.kind == Fitted.MEAN else self.kind
        return "lines" if kind == Fitted.BOOSTED_LINES else kind.value


TREES = LastFit(Fitted.TREES)


@dataclass(frozen=True)
class Buyer:
    """What buys features: lines, and then what is fitted on them; or trees of some depth."""

    by_lines: bool
    depth: int | None = None  # of trees; None: the task's own
    last: LastFit | None = None  # None: decided later


def outnumbered(task: FitTask) -> bool:
    """Whether there are more columns than rows."""
    rows, columns = task.binned.shape
    return bool(columns > rows)


def has_few_rows(task: FitTask) -> bool:
    """Whether all of the buying can be repeated in folds, and must be: with few rows chance finds much."""
    return outnumbered(task) and len(task.train) <= FEW_ROWS


class HeldOut:
    """Held-out losses of several kinds of models, by fold and setting: a number of iterations, or a penalty."""

    def __init__(self, curves: Sequence[Floats]) -> None:
        longest = max(len(curve) for curve in curves)
        self.by_fold = np.array([np.pad(c, (0, longest - len(c)), mode="edge") for c in curves])
        means = self.by_fold.mean(axis=0)
        self.best = int(np.argmin(means))  # NaN comes first, and is the loss
        self.loss = float(means[self.best])

    @property
    def losses(self) -> Floats:
        """At the setting that is best for all folds together."""
        found: Floats = self.by_fold[:, self.best]
        return found


class BaseComparison:
    """Compares lines and trees in folds of a task's training rows."""

    def __init__(self, task: FitTask, observer: Observer | None, threads: int) -> None:
        self._task, self._observer, self._threads = task, observer, threads
        rows = len(task.train)
        self._few = has_few_rows(task)
        repeats = int(np.clip(-(-ROWS_TO_JUDGE // max(rows, 1)), 1, REPEATS))
        repeats = 1 if task.train.times is not None else repeats  # stretches of time are the same again
        folds = partial(stratified_folds, task.train, task.outputs, FOLDS, most=MOST_ROWS_TO_COMPARE)
        self._folds = [fold for r in range(repeats) for fold in folds(task.params.seed + r)]
        self._params = replace(task.params, mu=0.0, new_features=1.0, early_stopping=True)
        self._gains: dict[int, Floats] = {}  # by number of features: what held-out losses are below a constant's

    def _in_folds(self, work: Callable[..., T], folds: Sequence[tuple[Columns, Columns]] | None = None) -> list[T]:
        works = [partial(work, train, held) for train, held in (self._folds if folds is None else folds)]
        return run_parallel(works, self._threads)

    def _inner(self, train: Columns, held: Columns, threads: int, columns: Columns | None) -> FitTask:
        """The task of a fold, on all columns or on some, which are free."""
        task, rows = self._task, self._task.train
        own = task if columns is None else narrowed(task, columns, threads, train)
        return replace(
            own,
            train=rows.targets(train),
            validation=rows.targets(held),
            bins=task.binned.take(columns, train, threads),
            validation_bins=task.binned.take(columns, held, threads),
            params=self._params,
        )

    # ------------------------------------------------------------------------------------------ the last fit

    def suited(self, columns: Columns) -> LastFit:
        """What to fit on these columns: what ``base`` asks for; with "auto" what predicts held-out rows best."""
        base = self._task.params.base
        if not len(columns) or base in ("trees", "both"):
            return LastFit(Fitted.BOTH if base == "both" else Fitted.TREES)
        if base == "auto":
            return self.last_fit(columns)[0]
        if not has_ridge(self._task):
            return LastFit(Fitted.BOOSTED_LINES)
        return LastFit(Fitted.LINES, self.penalty(columns))

    def last_fit(self, columns: Columns) -> tuple[LastFit, float]:
        """What to fit on these columns, and its held-out loss."""
        last, losses = self._decided(self._in_folds(partial(self._last_fits, np.sort(columns))))
        return last, float(losses.mean())

    def penalty(self, columns: Columns) -> float | None:
        """The penalty of lines on these columns; None: they are fitted in one step.

        With few rows, columns were found by these very rows, so that folds of them would ask for too small a penalty.
        """
        if self._few:
            return None
        tried = self._in_folds(partial(self._last_fits, np.sort(columns), kinds=()))
        return float(L2S[HeldOut([t.curves[Fitted.LINES] for t in tried]).best])

    def _last_fits(
        self,
        columns: Columns,
        train: Columns,
        held: Columns,
        check: Check | None,
        threads: int,
        kinds: Sequence[Fitted] = (Fitted.TREES, Fitted.BOTH),
    ) -> FoldModels:
        """Models on some columns, in one fold."""
        observer = call_both(self._observer, check)
        if not len(columns):
            nothing = worth_something(self._inner(train, held, threads, None), 0)
            constant = boost(with_depth(nothing, 1), None, observer, threads)
            return FoldModels(nothing, dict.fromkeys(kinds, constant), [], float(constant.curve.validation_loss[0]))
        inner = self._inner(train, held, threads, columns)
        models = {
            kind: boost(replace(inner, params=replace(inner.params, base=kind.value)), None, observer, threads)
            for kind in kinds
        }
        ridges = []
        if has_ridge(inner) and not set(columns.tolist()) & set(self._task.levels):  # categories have no lines
            ridges = self._ridges(inner, threads)
        return FoldModels(inner, models, ridges)

    def _ridges(self, inner: FitTask, threads: int) -> list[Ridge]:
        """Lines on all columns of a task: for each penalty, or with few rows in one step."""
        columns = np.arange(inner.binned.shape[1])
        return [fit_one_step(inner, columns, threads)] if self._few else fit_ridges(inner, columns, L2S, threads)

    def _decided(self, tried: Sequence[FoldModels]) -> tuple[LastFit, Floats]:
        """The best of the models that were fitted in all folds, and its held-out losses."""
        kinds = {kind: HeldOut([t.curves[kind] for t in tried]) for kind in tried[0].curves}
        losses = {kind: found.losses for kind, found in kinds.items()}
        boosted = [kind for kind in (Fitted.BOTH, Fitted.TREES) if kind in kinds]
        trees = min(boosted, key=lambda k: kinds[k].loss, default=None)
        l2 = None
        if Fitted.LINES in kinds and not self._few:
            l2 = float(L2S[kinds[Fitted.LINES].best])
        if Fitted.LINES in kinds and trees is not None:
            at, penalty = kinds[trees].best, kinds[Fitted.LINES].best
            losses[Fitted.MEAN] = np.array([t.mean_loss(self._task, trees, at, penalty) for t in tried])
        order = [k for k in (Fitted.LINES, Fitted.MEAN, Fitted.BOTH, Fitted.TREES) if k in losses]
        best = self._first_unless_beaten(losses, order)
        if best == Fitted.LINES or trees is None:
            return LastFit(Fitted.LINES, l2), losses[best]
        iterations = kinds[trees if best == Fitted.MEAN else best].best
        return LastFit(best, l2, iterations, trees), losses[best]

    def _first_unless_beaten(self, losses: dict[T, Floats], order: Sequence[T]) -> T:
        """The lowest mean loss; with few rows a later one must be lower by MARGIN standard errors."""
        best = order[0]
        for rival in order[1:]:
            gain = losses[best] - losses[rival]
            error = standard_error(gain) if self._few and len(gain) > 1 else 0.0
            if gain.mean() > MARGIN * error:
                best = rival
        return best

    # ------------------------------------------------------------------------------------- what buys features

    def buyers(self, numbers: Sequence[int], trees: bool) -> dict[int, tuple[Buyer, float]]:
        """For each number of features what buys those that predict held-out rows best, and their loss there.

        ``trees``: whether trees take part, too.
        """
        depths = sorted({self._params.max_depth, 1}) if trees else []
        tried = self._raced(numbers, depths)
        out = {}
        for i, number in enumerate(numbers):
            last, losses = self._decided([fold[i].lines for fold in tried])
            found = {Buyer(by_lines=True, last=last): losses} if lines_buy(tried, i) or not depths else {}
            for depth in tried[-1][i].trees:
                found[Buyer(by_lines=False, depth=depth)] = HeldOut([fold[i].trees[depth] for fold in tried]).losses
            best = self._first_unless_beaten(found, list(found))
            self._gains[number] = np.array([fold[i].lines.constant_loss for fold in tried]) - found[best]
            out[number] = (best, float(found[best].mean()))
        return out

    def _raced(self, numbers: Sequence[int], depths: Sequence[int]) -> list[list[FoldPurchases]]:
        """Purchases in all folds; trees that are behind lines everywhere after the first round drop out."""
        work = partial(self._purchases, numbers, (Fitted.TREES, Fitted.BOTH) if depths else ())
        tried = self._in_folds(partial(work, depths), self._folds[:FOLDS])
        behind = [
            self._decided([fold[i].lines for fold in tried])[1].mean() if lines_buy(tried, i) else np.inf
            for i in range(len(numbers))
        ]
        left = [
            depth
            for depth in depths
            if any(HeldOut([fold[i].trees[depth] for fold in tried]).loss < behind[i] for i in range(len(numbers)))
        ]
        return tried + self._in_folds(partial(work, left), self._folds[FOLDS:])

    def no_better_than_constant(self, number: int) -> bool:
        """Whether the models with this number of features predicted held-out rows hardly better than a constant."""
        gains = self._gains.get(number)
        return gains is not None and bool(gains.mean() <= 2 * gains.std(ddof=1) / np.sqrt(len(gains)))

    def _purchases(
        self,
        numbers: Sequence[int],
        kinds: Sequence[Fitted],
        depths: Sequence[int],
        train: Columns,
        held: Columns,
        check: Check | None,
        threads: int,
    ) -> list[FoldPurchases]:
        """What lines and trees buy in one fold, for each number."""
        inner = self._inner(train, held, threads, None)
        observer = call_both(self._observer, check)
        lines = LineBuyer(inner, max(numbers), observer, threads)
        found = []
        for number in numbers:
            models = self._last_fits(np.sort(lines.columns(number)), train, held, check, threads, kinds)
            curves = {}
            for depth in depths:
                limited = worth_something(with_depth(inner, depth), number)
                curves[depth] = boost(limited, None, observer, threads).curve.validation_loss
            found.append(FoldPurchases(models, curves))
        return found


def standard_error(by_fold: Floats) -> float:
    """Of a mean over repeated folds, which share most of their training rows (Nadeau and Bengio 2003)."""
    return float(by_fold.std(ddof=1) * np.sqrt(1 / len(by_fold) + 1 / (FOLDS - 1)))


@dataclass(frozen=True)
class FoldModels:
    """Models of one fold on the chosen columns."""

    inner: FitTask
    models: dict[Fitted, Model]
    ridges: list[Ridge]
    constant: float | None = None  # its held-out loss, where there are no columns and all models are constants

    @property
    def constant_loss(self) -> float:
        """Held-out loss of a constant."""
        return self.ridges[0].constant_loss if self.constant is None else self.constant

    @property
    def curves(self) -> dict[Fitted, Floats]:
        """Held-out losses after each iteration, or for each penalty."""
        found = {kind: model.curve.validation_loss for kind, model in self.models.items()}
        if self.ridges:
            found[Fitted.LINES] = np.array([r.validation_loss for r in self.ridges])
        if self.constant is not None:
            found[Fitted.LINES] = np.array([self.constant])
        return found

    def mean_loss(self, task: FitTask, kind: Fitted, iteration: int, penalty: int) -> float:
        """Held-out loss of the mean of trees and lines."""
        if self.constant is not None:
            return self.constant
        held, bins, model = self.inner.validation, self.inner.validation_bins, self.models[kind]
        assert held is not None
        assert bins is not None
        lines = self.ridges[penalty].ensemble(self.inner)
        raw = lines.raw(bins, lines.n_iterations, 1)
        raw = 0.5 * raw + 0.5 * model.ensemble.raw(bins, min(iteration, model.n_iterations), 1)
        return model.ensemble.loss_of(raw, held, self.inner.train, task.loss, 1)


@dataclass(frozen=True)
class FoldPurchases:
    """A number of features, bought in one fold."""

    lines: FoldModels  # on what lines buy
    trees: dict[int, Floats]  # by depth: held-out losses of trees that buy for themselves


def lines_buy(tried: Sequence[Sequence[FoldPurchases]], place: int) -> bool:
    """Whether lines can buy anything: there may be categories alone, or a price that is too high."""
    return any(fold[place].lines.constant is None for fold in tried)


def at_most(task: FitTask, number: int) -> FitTask:
    """The task with mu = 0 and at most this number of purchases; a bag is one. Where rows pay, mu stays as it is."""
    mu = 0.0 if task.costs.row_prices is None else task.params.mu
    return replace(task, costs=task.costs.at_most(number), params=replace(task.params, mu=mu))


def with_depth(task: FitTask, depth: int | None) -> FitTask:
    """The task with trees of another depth."""
    params = replace(task.params, base="trees")
    return replace(task, params=params if depth is None else replace(params, max_depth=depth))


class LineBuyer:
    """Buys features by lines alone.

    Without prices they are in the order of purchase, the same for every number. With prices, mu is lowered by halves
    until the number wanted is bought: the first features are those worth their prices most.
    """

    def __init__(self, task: FitTask, most: int, observer: Observer | None, threads: int) -> None:
        self._task, self._most = replace(task, validation=None, validation_bins=None), most
        self._observer, self._threads = observer, threads
        self._model = cache(self._priced if task.costs.given else self._bought)

    def model(self, number: int) -> Model:
        """The model of lines that has bought this number of features (bags), or more."""
        return self._model(number if self._task.costs.given else self._most)

    def columns(self, number: int) -> Columns:
        """The features, this number of them (or of bags) at most, in the order of purchase."""
        order = self.model(number).features
        counts = [self._task.costs.count(order[: i + 1]) for i in range(len(order))]
        return order[: int(np.searchsorted(counts, number, "right"))]

    def _priced(self, number: int) -> Model:
        """Of falling mus the first that buys this number of features, or as many as any does."""
        last = self._bought(number)
        wanted, least, mu = self._task.costs.count(last.features), least_mu(self._task), 0.5 * last.mu_max
        while mu > least:
            found = self._bought(number, mu)
            if self._task.costs.count(found.features) >= min(number, wanted):
                return found
            mu *= 0.5
        return last

    def _bought(self, number: int, mu: float | None = None) -> Model:
        limited = worth_something(self._task, number, mu)
        most = 100 + 4 * number
        params = replace(limited.params, base="lines", early_stopping=False, max_iter=most)
        return boost(replace(limited, params=params), None, self._observer, self._threads)


def least_mu(task: FitTask) -> float:
    """A mu, as a share of the impurity, at which no price exceeds LEAST_GAIN; it saves most of the search."""
    prices = task.costs.start[np.isfinite(task.costs.start)]
    highest = float(prices.max(initial=0.0))
    return LEAST_GAIN / highest if highest > 0 else 0.0


def worth_something(task: FitTask, number: int, mu: float | None = None) -> FitTask:
    """The task with at most this number of purchases, of features that gain more than next to nothing.

    ``mu`` is a share of the impurity; None: the least.
    """
    limited = at_most(task, number)
    mu = least_mu(task) if mu is None else mu
    return replace(limited, params=replace(limited.params, mu=mu, mu_unit="share"))
