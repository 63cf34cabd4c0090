"""Many fits on one binned table: for each mu, or for each number of features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frugalboost._support.parallel import Check, run_parallel
from frugalboost._support.progress import SellingLine
from frugalboost.selection.exactly_k import eliminate
from frugalboost.selection.final_fit import FitResult, forward
from frugalboost.tables.equal_rows import kept_together
from frugalboost.training.boosting import boost
from frugalboost.training.fit import prepare
from frugalboost.training.task import FitTask

Floats = NDArray[np.float64]


def mu_grid(mu_max: float, n_mus: int, eps: float) -> Floats:
    """Values of mu from mu_max down, each the same factor smaller; only zero if nothing gains anything."""
    if not mu_max > 0:
        return np.zeros(1)
    return mu_max * np.geomspace(1.0, eps, n_mus) if n_mus > 1 else np.array([mu_max])


def check_mus(mus: ArrayLike) -> Floats:
    """Return values of mu, falling; ValueError if one is negative or not a number."""
    values = np.unique(np.asarray(mus, dtype=np.float64).ravel())[::-1]
    if not len(values) or not (values >= 0).all():
        raise ValueError(f"mus must be a list of numbers that are zero or positive, not {mus!r}.")
    return values


def check_numbers(numbers: Any) -> list[int]:
    """Return numbers of features, rising; ValueError if one is negative or not a whole number."""
    values = np.unique(np.asarray(numbers).ravel())
    if not len(values) or values.dtype.kind not in "iu" or values.min() < 0:
        raise ValueError(f"n_features_to_select must be whole numbers from 0 on, not {numbers!r}.")
    return [int(v) for v in values]


class PathFitter:
    """One binned table, and the fits of a path on it.

    Parameters
    ----------
    task : FitTask
        The fit; it is prepared here.
    threads : int
        Threads.
    """

    def __init__(self, task: FitTask, threads: int) -> None:
        task = prepare(task, threads)
        self.task, self.threads = replace(task, train=kept_together(task.train)), threads

    def forget_table(self) -> None:
        """Keep only the bins of the training rows, which are all that fits at a mu need."""
        self.task = replace(self.task, train=replace(self.task.train, X=None), same_bins=True)

    def limit_purchases(self, most: int) -> None:
        """Let the fits buy at most this number of features, or bags."""
        self.task = replace(self.task, costs=self.task.costs.at_most(most))

    @cached_property
    def mu_max(self) -> float:
        """The smallest mu at which nothing is bought: known after one iteration."""
        first = replace(self.task, params=replace(self.task.params, max_iter=1, early_stopping=False))
        return boost(first, None, None, self.threads).mu_max

    def results(
        self, parameter: str, values: Iterable[Any], check: Check | None, threads: int, max_iter: int | None = None
    ) -> list[FitResult]:
        """Fit for each mu one after another, or eliminate down to each number of features."""
        task = self.task
        if max_iter is not None:
            task = replace(task, params=replace(task.params, max_iter=int(max_iter)))
        if parameter == "mu":
            return [self.at_mu(float(mu), check, threads, max_iter) for mu in values]
        numbers = [int(k) for k in values]
        found = eliminate(task, numbers, check, threads)
        return [found[k] for k in numbers]

    def at_mu(
        self, mu: float, check: Check | None, threads: int, max_iter: int | None = None, before: FitResult | None = None
    ) -> FitResult:
        """Fit at one mu, or continue a fit at that mu: the model is that of one long fit."""
        params = replace(self.task.params, mu=mu)
        if max_iter is not None:
            params = replace(params, max_iter=int(max_iter))
        task = replace(self.task, params=params)
        if before is None:
            return forward(task, check, threads)
        if before.model.ending == "converged" or before.model.n_iterations >= params.max_iter:
            return before
        return FitResult(boost(replace(task, same_bins=True), before.model, check, threads))

    def by_mu(self, mus: Floats, verbose: int) -> list[FitResult]:
        """Fit for each mu in parallel, starting with the smallest, which take longest."""
        works = [partial(_fit_at, self.task, float(mu)) for mu in mus[::-1]]
        return run_parallel(works, self.threads, bool(verbose))[::-1]

    def by_number(self, numbers: list[int], verbose: int) -> list[FitResult]:
        """Buy many features, then eliminate down to each number."""
        found = eliminate(self.task, numbers, None, self.threads, SellingLine() if verbose else None)
        return [found[k] for k in numbers]


def _fit_at(task: FitTask, mu: float, check: Check | None, threads: int) -> FitResult:
    return forward(replace(task, params=replace(task.params, mu=mu)), check, threads)
