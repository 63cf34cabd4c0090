"""Candidates scored on the splits of a cross-validation, and the rule that chooses among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost._support.parallel import Check, run_parallel
from frugalboost._support.progress import Stage
from frugalboost.selection.final_fit import FitResult
from frugalboost.selection.path import PathFitter
from frugalboost.tables.sample import Sample

Floats = NDArray[np.float64]
Split = tuple[NDArray[np.intp], NDArray[np.intp]]
Row = tuple[float, ...]  # score, features, cost, held-out loss, iterations


@dataclass(frozen=True)
class Grid:
    """The candidates: every learner with every mu or number of features, and every number of iterations."""

    parameter: str
    values: NDArray[Any]
    learners: Sequence[dict[str, Any]]  # settings of the estimator: a depth, and a base where several are tried
    iterations: Sequence[int | None]  # None: the estimator's own
    mu_max: float | None = None  # of all rows; if given, a mu means the same share of mu_max in every split

    def candidates(self) -> list[dict[str, Any]]:
        """Parameters of each candidate, in the order of the results."""
        return [
            {self.parameter: value.item()} | learner | ({} if t is None else {"max_iter": t})
            for learner, value, t in product(self.learners, self.values, self.iterations)
        ]


class Fold:
    """One split: its training rows are binned without the held-out rows, which are only scored.

    Parameters
    ----------
    fitter : PathFitter
        Of the training rows.
    held_out : Sample
        The other rows, checked.
    score : callable
        ``score(result, **params)`` scores a fitted model on them; higher is better.
    """

    def __init__(self, fitter: PathFitter, held_out: Sample, score: Callable[..., float]) -> None:
        self._fitter, self._held_out, self._score = fitter, held_out, score

    def rows(self, grid: Grid, verbose: bool, stage: Stage) -> list[Row]:
        """Results of every value and number of iterations; fits run side by side."""
        # All numbers of features come from one backward elimination, which runs its fits in parallel.
        portions = np.split(grid.values, len(grid.values)) if grid.parameter == "mu" else [grid.values]
        works = [partial(self._run, values, grid) for values in portions[::-1]]  # the smallest mu take longest
        results = run_parallel(works, self._fitter.threads, verbose, stage)[::-1]
        return [row for part in results for row in part]

    def _run(self, values: NDArray[Any], grid: Grid, check: Check | None, threads: int) -> list[Row]:
        if grid.mu_max:
            # Otherwise the largest mu, at which all rows buy nothing, would buy in half of the splits.
            values = values / grid.mu_max * self._fitter.mu_max
        by_iterations = self._results(values, grid, check, threads)
        return [
            self._row(results[i], **{grid.parameter: value.item()})
            for i, value in enumerate(values)
            for results in by_iterations
        ]

    def _results(self, values: NDArray[Any], grid: Grid, check: Check | None, threads: int) -> list[list[FitResult]]:
        """For each number of iterations the result of every value."""
        longest = max((t for t in grid.iterations if t is not None), default=None)
        params = self._fitter.task.params
        if grid.parameter != "mu" or params.refit:  # the choice may depend on the iterations
            return [self._fitter.results(grid.parameter, values, check, threads, t) for t in grid.iterations]
        whole = self._fitter.results(grid.parameter, values, check, threads, longest)
        return [
            [r if t is None else replace(r, model=r.model.cut(t, params.tol)) for r in whole] for t in grid.iterations
        ]

    def _row(self, result: FitResult, **params: Any) -> Row:
        model, held_out, task = result.model, self._held_out, self._fitter.task
        values, best = held_out.table.source(model.levels), model.best_iteration
        loss = model.ensemble.losses_without(values, held_out, task.train, task.loss, [], best, 1)[0]
        return self._score(result, **params), len(model.features), model.cost, float(loss), best


def check_classes(sample: Sample, train: NDArray[np.intp], number: int) -> None:
    """Raise ValueError if a training part has fewer than two classes."""
    part = sample.targets(train)
    seen = np.unique(part.y if part.weights is None else part.y[part.weights > 0])
    if len(seen) < 2:
        raise ValueError(
            f"Split {number} of cv has training rows of one class only. Use a stratified splitter, fewer splits, or "
            "more rows of the rare classes."
        )


def chosen_index(results: dict[str, Any], rule: str) -> int:
    """Index of the best mean score, or of the cheapest candidate that is not clearly worse.

    With "1se" that is within one standard error of the best mean score; with "paired" within one standard error of the
    difference from the best, split by split, so that splits that are hard for all candidates do not count.
    """
    mean = results["mean_test_score"]
    scores = split_scores(results)
    if np.isnan(mean).all():
        split = int(np.isnan(scores).all(axis=1).argmax())
        where = "every split" if np.isnan(scores).all() else f"split {split} of cv"
        raise ValueError(
            f"The score is NaN on {where}: the scorer does not work for these models there. Choose another one."
        )
    # With equal scores the cheaper model wins, then the one with fewer features, then the earlier candidate.
    order = np.lexsort((results["mean_n_features"], results["mean_price"], -np.nan_to_num(mean, nan=-np.inf)))
    best = int(order[0])
    if rule == "min":
        return best
    spread = results["se_test_score"][best]
    if rule == "paired":
        lost = scores[:, [best]] - scores
        spread = lost.std(axis=0, ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
    near_best = np.flatnonzero(mean >= mean[best] - spread)
    order = np.lexsort((-mean[near_best], results["mean_n_features"][near_best], results["mean_price"][near_best]))
    return int(near_best[order[0]])


def split_scores(results: dict[str, Any]) -> Floats:
    """Scores by split and candidate."""
    return np.array([row for name, row in results.items() if name.startswith("split")])
