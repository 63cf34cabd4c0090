"""Lines or trees? Models on folds of the training rows, judged on the rest, tell which suits a table.

On a hundred rows a split finds features by chance, and a line in one feature is the better base learner; with many rows
trees are. docs/lines.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from frugalboost._support.parallel import Check, call_both, run_parallel
from frugalboost.selection.folds import stratified_folds
from frugalboost.selection.importance import FOLDS, MOST_ROWS, narrowed
from frugalboost.selection.ridge import L2S, Ridge, fit_ridges, has_ridge
from frugalboost.training.boosting import Observer, boost
from frugalboost.training.model import Model
from frugalboost.training.task import FitTask

Floats = NDArray[np.float64]
Columns = NDArray[np.int64]
T = TypeVar("T")

ROWS_TO_JUDGE = 300  # folds are drawn again until about this many rows were held out, at most REPEATS times
REPEATS = 4


@dataclass(frozen=True)
class LastFit:
    """What is fitted on the chosen features: "trees", "lines", "both" or the "mean" of lines and trees."""

    kind: str
    l2: float = 0.0  # of lines
    iterations: int | None = None  # of trees in folds, at their best; None: unknown
    trees: str = "trees"  # of which a mean is taken: "trees" or "both"


TREES = LastFit("trees")


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


def enough_better(rival: Floats, than: Floats) -> bool:
    """Whether losses are lower on average."""
    return bool(rival.mean() < than.mean())


class BaseComparison:
    """Compares lines and trees in folds of a task's training rows."""

    def __init__(self, task: FitTask, observer: Observer | None, threads: int) -> None:
        self._task, self._observer, self._threads = task, observer, threads
        rows = len(task.train)
        repeats = int(np.clip(-(-ROWS_TO_JUDGE // max(rows, 1)), 1, REPEATS))
        folds = partial(stratified_folds, task.train.y, task.outputs, FOLDS, most=MOST_ROWS)
        self._folds = [fold for r in range(repeats) for fold in folds(task.params.seed + r)]
        self._params = replace(task.params, mu=0.0, new_features=1.0, early_stopping=True)

    def _in_folds(self, work: Callable[..., T]) -> list[T]:
        works = [partial(work, train, held) for train, held in self._folds]
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

    def last_fit(self, columns: Columns, kinds_wanted: Sequence[str] | None = None) -> LastFit:
        """What to fit on these columns, of all kinds or of some."""
        if kinds_wanted == ("lines",):
            tried = self._in_folds(partial(self._lines, columns))
            return LastFit("lines", float(L2S[HeldOut(tried).best]))
        tried = self._in_folds(partial(self._last_fits, columns))
        kinds = {kind: HeldOut([t.curves[kind] for t in tried]) for kind in tried[0].curves}
        losses = {kind: found.losses for kind, found in kinds.items()}
        trees = min((kind for kind in ("trees", "both") if kind in kinds), key=lambda kind: kinds[kind].loss)
        l2 = 0.0
        if "lines" in kinds:
            l2 = float(L2S[kinds["lines"].best])
            means = [t.mean_loss(self._task, trees, kinds[trees].best, kinds["lines"].best) for t in tried]
            losses["mean"] = np.array(means)
        best = "trees"
        for kind in ("both", "lines", "mean"):
            if kind in losses and enough_better(losses[kind], losses[best]):
                best = kind
        tree_kind = trees if best == "mean" else best
        iterations = None if best == "lines" else kinds[tree_kind].best
        return LastFit(best, l2, iterations, trees)

    def _last_fits(
        self, columns: Columns, train: Columns, held: Columns, check: Check | None, threads: int
    ) -> FoldModels:
        inner = self._inner(train, held, threads, columns)
        observer = call_both(self._observer, check)
        models = {
            kind: boost(replace(inner, params=replace(inner.params, base=kind)), None, observer, threads)
            for kind in ("trees", "both")
        }
        ridges: list[Ridge] = []
        if has_ridge(inner):
            ridges = fit_ridges(inner, np.arange(len(columns)), L2S, threads)
        return FoldModels(inner, models, ridges)

    def _lines(self, columns: Columns, train: Columns, held: Columns, check: Check | None, threads: int) -> Floats:
        inner = self._inner(train, held, threads, columns)
        return np.array([r.validation_loss for r in fit_ridges(inner, np.arange(len(columns)), L2S, threads)])

    # ------------------------------------------------------------------------------------- buying by lines

    def by_lines(self, numbers: Sequence[int]) -> dict[int, bool]:
        """For each number of features, whether features that lines buy predict held-out rows better than trees'."""
        if not has_ridge(self._task) or not numbers:
            return dict.fromkeys(numbers, False)
        tried = self._in_folds(partial(self._purchases, numbers))
        out = {}
        for i, number in enumerate(numbers):
            lines = HeldOut([fold[i][0] for fold in tried])
            trees = HeldOut([fold[i][1] for fold in tried])
            out[number] = enough_better(lines.losses, trees.losses)
        return out

    def _purchases(
        self, numbers: Sequence[int], train: Columns, held: Columns, check: Check | None, threads: int
    ) -> list[tuple[Floats, Floats]]:
        """For each number the held-out losses of ridges and of trees on features bought by lines and by trees."""
        inner = self._inner(train, held, threads, None)
        observer = call_both(self._observer, check)
        order = buy_lines(inner, max(numbers), observer, threads).features
        found = []
        for number in numbers:
            own = first_bags(inner, order, number)
            ridges = fit_ridges(inner, own, L2S, threads)
            limited = at_most(replace(inner, params=replace(inner.params, base="trees")), number)
            trees = boost(limited, None, observer, threads)
            found.append((np.array([r.validation_loss for r in ridges]), trees.curve.validation_loss))
        return found


@dataclass(frozen=True)
class FoldModels:
    """Models of one fold on the chosen columns."""

    inner: FitTask
    models: dict[str, Model]
    ridges: list[Ridge]

    @property
    def curves(self) -> dict[str, Floats]:
        """Held-out losses after each iteration, or for each penalty."""
        found = {kind: model.curve.validation_loss for kind, model in self.models.items()}
        if self.ridges:
            found["lines"] = np.array([r.validation_loss for r in self.ridges])
        return found

    def mean_loss(self, task: FitTask, kind: str, iteration: int, penalty: int) -> float:
        """Held-out loss of the mean of trees and lines."""
        held, bins, model = self.inner.validation, self.inner.validation_bins, self.models[kind]
        assert held is not None and bins is not None
        lines = self.ridges[penalty].ensemble(self.inner)
        raw = lines.raw(bins, lines.n_iterations, 1)
        raw = 0.5 * raw + 0.5 * model.ensemble.raw(bins, min(iteration, model.n_iterations), 1)
        return model.ensemble.loss_of(raw, held, self.inner.train, task.loss, 1)


def at_most(task: FitTask, number: int) -> FitTask:
    """The task with mu = 0 and at most this number of purchases; a bag is one."""
    return replace(task, costs=task.costs.at_most(number), params=replace(task.params, mu=0.0))


def first_bags(task: FitTask, order: Columns, number: int) -> Columns:
    """The first columns of an order that are this number of features, or bags."""
    own = order[: int(np.searchsorted([task.costs.count(order[: i + 1]) for i in range(len(order))], number, "right"))]
    return own


def buy_lines(task: FitTask, number: int, observer: Observer | None, threads: int) -> Model:
    """Buy up to this number of features by lines alone."""
    params: dict[str, Any] = {"base": "lines", "early_stopping": False, "max_iter": 100 + 4 * number}
    lines = replace(task, validation=None, validation_bins=None, params=replace(task.params, **params))
    return boost(at_most(lines, number), None, observer, threads)
