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
from frugalboost.selection.optimism import Blocks, HeldOutScores, SplitScores
from frugalboost.selection.path import PathFitter
from frugalboost.tables.sample import Sample

Floats = NDArray[np.float64]
Columns = NDArray[np.int64]
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


@dataclass(frozen=True)
class BlockScores:
    """Scores of a model on blocks of held-out rows, whose weighted mean is its score, at least nearly."""

    blocks: Blocks
    scores: Floats


@dataclass(frozen=True)
class Scored:
    """A model scored on the held-out rows of a split."""

    row: Row
    features: Columns  # that it owns, in order of purchase
    by_block: BlockScores


@dataclass(frozen=True)
class Trial:
    """A fit in a split as far as it has gone, with its raw predictions of the held-out rows."""

    result: FitResult
    raw: Floats  # by output and row
    iterations: int  # that are in the raw predictions


class Fold:
    """One split: its training rows are binned without the held-out rows, which are only scored.

    Parameters
    ----------
    fitter : PathFitter
        Of the training rows.
    held_out : Sample
        The other rows, checked.
    score : callable
        ``score(result, raw, **params)`` scores a fitted model, whose raw predictions of the held-out rows are given, on
        them and on blocks of them; higher is better.
    """

    def __init__(self, fitter: PathFitter, held_out: Sample, score: Callable[..., tuple[float, BlockScores]]) -> None:
        self._fitter, self._held_out, self._score = fitter, held_out, score
        self._values = held_out.table.source(fitter.task.levels)

    def forget_table(self) -> None:
        """Keep only the bins of the training rows, so that all splits fit in memory side by side."""
        self._fitter.forget_table()

    def limit_purchases(self, most: int) -> None:
        """Let fits buy at most this number of features, or bags."""
        self._fitter.limit_purchases(most)

    def rows(self, grid: Grid, verbose: bool, stage: Stage) -> list[Scored]:
        """Results of every value and number of iterations; fits run side by side."""
        # All numbers of features come from one backward elimination, which runs its fits in parallel.
        portions = np.split(grid.values, len(grid.values)) if grid.parameter == "mu" else [grid.values]
        works = [partial(self._run, values, grid) for values in portions[::-1]]  # the smallest mu take longest
        results = run_parallel(works, self._fitter.threads, verbose, stage)[::-1]
        return [row for part in results for row in part]

    def _run(self, values: NDArray[Any], grid: Grid, check: Check | None, threads: int) -> list[Scored]:
        params = self._fitter.task.params
        if grid.parameter != "mu" or params.refit:  # the choice may depend on the iterations
            own = [self.own_value(value, grid) for value in values]
            found = [self._fitter.results(grid.parameter, own, check, threads, t) for t in grid.iterations]
            return [
                self.scored(results[i], [None], **{grid.parameter: value})[0][0]
                for i, value in enumerate(own)
                for results in found
            ]
        return [row for value in values for row in self.go_on(None, value, grid, grid.iterations, check, threads)[0]]

    def own_value(self, value: Any, grid: Grid) -> Any:
        """A value of the grid as it is in this split."""
        if not grid.mu_max:
            return value.item()
        # Otherwise the largest mu, at which all rows buy nothing, would buy in half of the splits.
        return float(value / grid.mu_max * self._fitter.mu_max)

    def go_on(
        self,
        trial: Trial | None,
        value: Any,
        grid: Grid,
        iterations: Sequence[int | None],
        check: Check | None,
        threads: int,
    ) -> tuple[list[Scored], Trial]:
        """Fit at a mu, or continue such a fit; its scores after these numbers of iterations, which rise."""
        mu, before = self.own_value(value, grid), None if trial is None else trial.result
        longest = max((t for t in iterations if t is not None), default=None)
        result = self._fitter.at_mu(mu, check, threads, longest, before)
        return self.scored(result, iterations, trial, mu=mu)

    def scored(
        self, result: FitResult, iterations: Sequence[int | None], trial: Trial | None = None, **params: Any
    ) -> tuple[list[Scored], Trial]:
        """Scores after each number of iterations; held-out rows go through every tree once."""
        whole, task = result.model, self._fitter.task
        trees = whole.ensemble
        done = 0 if trial is None else trial.iterations
        raw = np.repeat(trees.start[:, None], len(self._held_out), axis=1) if trial is None else trial.raw.copy()
        found = []
        for t in iterations:
            model = whole if t is None else whole.cut(t, task.params.tol)
            trees.add_to(raw, self._values, done, model.best_iteration, 1)
            done = model.best_iteration
            loss = trees.loss_of(raw, self._held_out, task.train, task.loss, 1)
            score, by_block = self._score(replace(result, model=model), raw, **params)
            found.append(Scored((score, len(model.features), model.cost, loss, done), model.features, by_block))
        return found, Trial(result, raw, done)


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


def held_out_scores(scored: Sequence[Sequence[Scored]]) -> HeldOutScores:
    """Scores on blocks of held-out rows, from those by split and candidate."""
    splits = []
    for split in scored:
        blocks = split[0].by_block.blocks
        found = np.array([one.by_block.scores for one in split])
        splits.append(SplitScores(blocks.numbers, blocks.totals, found))
    return HeldOutScores(splits)


def score_columns(scores: Floats) -> dict[str, Floats]:
    """What rules judge, from scores by split and candidate: each split's, their mean, and its standard error."""
    mean, n = scores.mean(axis=0), len(scores)
    std = scores.std(axis=0, ddof=1) if n > 1 else np.zeros_like(mean)
    return {
        **{f"split{i}_test_score": row for i, row in enumerate(scores)},
        "mean_test_score": mean,
        "std_test_score": std,
        "se_test_score": std / np.sqrt(n),
    }


def split_scores(results: dict[str, Any]) -> Floats:
    """Scores by split and candidate."""
    return np.array([row for name, row in results.items() if name.startswith("split")])
