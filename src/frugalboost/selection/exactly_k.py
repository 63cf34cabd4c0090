"""Exactly k features, or at most k: what buys them, which are kept, and what is fitted on them.

Trees buy more features than wanted, and the weakest are sold again (`backward`). Where columns outnumber rows, lines
may buy them in the first place: folds of the training rows decide (`base_learner`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from frugalboost.losses import has_values
from frugalboost.selection.backward import BackwardElimination, OwnedBags
from frugalboost.selection.base_learner import (
    TREES,
    BaseComparison,
    Buyer,
    LastFit,
    LineBuyer,
    at_most,
    has_few_rows,
    outnumbered,
    with_depth,
)
from frugalboost.selection.final_fit import FitResult, check_budget, fit_on, refit_scores
from frugalboost.selection.importance import HeldOutImportance
from frugalboost.selection.purchase_order import PurchaseOrder
from frugalboost.selection.ridge import has_ridge
from frugalboost.training.boosting import Observer, boost, with_prediction_costs
from frugalboost.training.fit import with_scores
from frugalboost.training.model import Model
from frugalboost.training.task import FitTask

Columns = NDArray[np.int64]
Listener = Callable[[int], None]

BUY_FACTOR = 5  # features bought per feature wanted
LEAST_BOUGHT = 100  # where columns outnumber rows, not more are bought than this, or BUY_FACTOR per feature wanted
SIZES = tuple(round(2 ** (i / 2)) for i in range(32))  # numbers that are tried where fewer features are allowed


def eliminate(
    task: FitTask,
    numbers: Sequence[int],
    observer: Observer | None,
    threads: int,
    on_step: Listener | None = None,
) -> dict[int, FitResult]:
    """The best model found for each number of features (with bags: of bags).

    Parameters
    ----------
    task : FitTask
        The whole table, its prices and the mu at which buying starts. ``fewer``: smaller numbers are allowed.
    numbers : sequence of int
        How many features to keep.
    observer : callable or None
        Called by every fit, so that the fit can be stopped.
    threads : int
        Threads.
    on_step : callable or None
        Called with the number of features left after each step.
    """
    if not has_values(task.loss):
        raise ValueError("n_features_to_select needs the loss of every row: give your loss a method 'value'.")
    check_budget(task)
    if task.params.multi_strategy == "auto":  # of k features those are best that one tree for all classes buys
        task = replace(task, params=replace(task.params, multi_strategy="multi_output_tree"))
    plan = Plan(task, numbers, observer, threads)
    out: dict[int, FitResult] = {}
    for buyer, own in plan.shares().items():
        out |= ByLines(plan).results(own) if buyer.by_lines else ByTrees(plan, buyer, own, on_step).results(own)
    return {k: out[plan.number_for(k)] for k in numbers} if plan.judged else out


def sizes_up_to(numbers: Sequence[int]) -> list[int]:
    """Numbers of features to try, where fewer than each of these numbers are allowed."""
    return sorted({size for size in SIZES if size < max(numbers)} | {number for number in numbers if number > 0})


class Plan:
    """What buys features and what is fitted on them, as far as ``base`` leaves it open."""

    def __init__(self, task: FitTask, numbers: Sequence[int], observer: Observer | None, threads: int) -> None:
        base = task.params.base
        self.task = task if base == "trees" else with_scores(task, threads)
        self.observer, self.threads = observer, threads
        self.numbers = sorted(set(numbers))
        self.comparison = BaseComparison(self.task, observer, threads)
        self.wide = outnumbered(self.task)
        # With few rows all of the buying is repeated in folds; with more they compare features bought with all rows.
        few = has_few_rows(self.task)
        # Held-out losses by number of features, if they are to decide it; empty: they are not, or not yet.
        self.judged: dict[int, float] = {}
        self.compared = False  # whether folds that bought for themselves have compared lines and trees
        self.buyers = dict.fromkeys(self.numbers, Buyer(by_lines=base == "lines"))
        if has_ridge(self.task) and ((base == "auto" and few) or (base == "lines" and (few or self.fewer))):
            self._compare(trees=base == "auto")

    @property
    def fewer(self) -> bool:
        """Whether numbers are the most that is allowed."""
        return self.task.params.fewer

    def _compare(self, trees: bool) -> None:
        """Let folds decide what buys, and with ``fewer`` how many."""
        most = max(self.numbers)
        sizes = sizes_up_to(self.numbers) if self.fewer else [k for k in self.numbers if k > 0]
        if most == 0 or not sizes:
            return
        found = self.comparison.buyers(sizes, trees)
        self.compared = trees
        self.buyers |= {size: buyer for size, (buyer, _) in found.items()}
        if self.fewer:
            self.judged = {size: loss for size, (_, loss) in found.items()}
            self.buyers = {size: self.buyers[size] for size in {self.number_for(k) for k in self.numbers}}

    def number_for(self, number: int) -> int:
        """The number of features with the lowest held-out loss, at most this one."""
        allowed = [size for size in self.judged if size <= number]
        return min(allowed, key=lambda size: (self.judged[size], size)) if allowed else number

    def shares(self) -> dict[Buyer, list[int]]:
        """The numbers of features that each buyer is best for; all those by lines are bought at once."""
        out: dict[Buyer, list[int]] = {}
        for number, buyer in self.buyers.items():
            out.setdefault(replace(buyer, last=None), []).append(number)
        return out

    def last_fit(self, number: int, columns: Columns) -> LastFit:
        """What to fit on the chosen columns."""
        decided = self.buyers[number].last if number in self.buyers and len(columns) else None
        if decided is None and self.compared and len(columns):
            return TREES  # what has won in the folds; on columns found by all rows folds would flatter a ridge
        if decided is None:
            return self.comparison.suited(columns)
        # Folds that buy for themselves say what to fit. Their features differ: the penalty must suit those chosen.
        return replace(decided, l2=self.comparison.penalty(columns)) if decided.has_ridge else decided

    def _costs_no_more(self, rival: Columns, kept: Columns, number: int) -> bool:
        """Whether all of the rival columns can be bought, for no more than the others."""
        limited = at_most(self.task, number)
        own, other = PurchaseOrder.find(limited, [kept]), PurchaseOrder.find(limited, [rival])
        return len(other.order) == len(rival) and other.cost <= own.cost * (1 + 1e-9)

    @cached_property
    def lines(self) -> LineBuyer:
        """What buys by lines."""
        return LineBuyer(self.task, max(self.numbers), self.observer, self.threads)

    def _rival(self, number: int, kept: Columns) -> Columns:
        """The features that lines buy, if they may compete with those of trees."""
        if self.task.params.base != "auto" or self.compared or not self.wide or not has_ridge(self.task):
            return kept
        bought = self.lines.columns(number)
        return bought if len(bought) else kept

    def best_of(self, number: int, kept: Columns) -> tuple[Columns, LastFit]:
        """Features that trees have chosen or those that lines buy, and what to fit on them."""
        rival = self._rival(number, kept)
        same = set(rival.tolist()) == set(kept.tolist())
        if same or not len(kept) or not self._costs_no_more(rival, kept, number):
            return kept, self.last_fit(number, kept)
        (last, loss), (other, rival_loss) = self.comparison.last_fit(kept), self.comparison.last_fit(rival)
        return (rival, other) if rival_loss < loss else (kept, last)


class ByLines:
    """Features in the order in which lines buy them."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def results(self, numbers: Sequence[int]) -> dict[int, FitResult]:
        """A model for each number of features."""
        return {k: self._result(k) for k in numbers}

    def _result(self, number: int) -> FitResult:
        plan, task = self._plan, self._plan.task
        bought, kept = plan.lines.model(number), plan.lines.columns(number)
        if task.params.mu_unit == "absolute":
            bought = replace(bought, mu_max=bought.mu_max * bought.impurity)
        limited, last = at_most(task, number), plan.last_fit(number, kept)
        model = fit_on(limited, kept, bought, plan.observer, plan.threads, last)
        little = len(kept) > 0 and plan.comparison.no_better_than_constant(number)
        return FitResult(with_prediction_costs(model, task, plan.threads), None, None, little)


@dataclass(frozen=True)
class Left:
    """What is left of the features after selling, and what was sold by then."""

    order: PurchaseOrder
    steps: dict[str, list[object]]


class ByTrees:
    """Trees buy more features than wanted, and the weakest are sold."""

    def __init__(self, plan: Plan, buyer: Buyer, numbers: Sequence[int], on_step: Listener | None) -> None:
        self._plan = plan
        self._task = task = with_depth(plan.task, buyer.depth)
        self._bought = self._buy_enough(max(numbers, default=0))
        self._importance = HeldOutImportance(task, plan.observer, plan.threads)
        bags = OwnedBags(task.costs, self._bought.features)
        self._elimination = BackwardElimination(self._importance, bags, on_step)

    def results(self, numbers: Sequence[int]) -> dict[int, FitResult]:
        """A model for each number of features, or where fewer are allowed for those that are best."""
        plan = self._plan
        decide = plan.fewer and not plan.judged and max(numbers, default=0) > 0
        sizes = {*sizes_up_to(numbers), *numbers} if decide else set(numbers)
        left = {}
        for k in sorted(sizes, reverse=True):
            order = self._elimination.down_to(k, at_most(self._task, k))
            left[k] = Left(order, self._elimination.steps())
            if decide and k > 0:
                plan.judged[k] = self._importance.loss(np.sort(order.order))
        wanted = {plan.number_for(k) for k in numbers} if decide else numbers
        return {k: self._result(k, left[k]) for k in wanted}

    def _result(self, number: int, left: Left) -> FitResult:
        plan, task, importance = self._plan, self._task, self._importance
        observer, threads = plan.observer, plan.threads
        limited = at_most(task, number)
        first = boost(limited, None, observer, threads)
        kept, rival = left.order.order, first.features
        # The features bought first must not cost more, unless there is a budget, which they keep.
        fair = bool(np.isfinite(task.budget) or first.cost <= left.order.cost)
        if fair and len(rival) and importance.loss(np.sort(rival)) < importance.loss(np.sort(kept)):
            kept = rival
        kept, last = plan.best_of(number, kept)
        again = fit_on(limited, kept, self._bought, observer, threads, last)
        keep = "forward" if fair and first.validation_loss < again.validation_loss else "refit"
        chosen = replace(first if keep == "forward" else again, mu_max=self._bought.mu_max)
        little = len(kept) > 0 and importance.no_better_than_constant(np.sort(kept))
        scores = refit_scores(first, again, keep)
        return FitResult(with_prediction_costs(chosen, task, threads), scores, left.steps, little)

    def _buy_enough(self, number: int) -> Model:
        """Buy at the task's mu, and at smaller ones until BUY_FACTOR times as many are owned as wanted."""
        task, mu = replace(self._task, budget=np.inf), self._task.params.mu
        if self._plan.wide:
            task = replace(task, costs=task.costs.at_most(max(LEAST_BOUGHT, BUY_FACTOR * number)))
        while True:
            at_mu = replace(task, params=replace(task.params, mu=mu))
            model = boost(at_mu, None, self._plan.observer, self._plan.threads)
            if mu == 0 or task.costs.count(model.features) >= BUY_FACTOR * number:
                return model
            mu = mu / 10 if mu > 1e-3 * model.mu_max else 0.0
