"""The best k features, not the first k: buy more than k, then sell the weakest back.

Buying is greedy and takes correlated twins. So the importance of features is measured in folds of the training rows:
models are fitted on the owned features, and each feature is hidden from them on the held-out rows. The least important
ones are sold. docs/selection.md says what else was tried, with numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.costs import Resolved
from frugalboost.losses import has_values
from frugalboost.selection.base_learner import BaseComparison, LastFit, at_most, buy_lines, first_bags
from frugalboost.selection.final_fit import FitResult, fit_on, refit_scores
from frugalboost.selection.importance import HeldOutImportance
from frugalboost.selection.purchase_order import PurchaseOrder, prices_paid
from frugalboost.selection.ridge import has_ridge
from frugalboost.training.boosting import Observer, boost, with_prediction_costs
from frugalboost.training.fit import with_scores
from frugalboost.training.model import Model
from frugalboost.training.task import FitTask

Floats = NDArray[np.float64]
Columns = NDArray[np.int64]
Listener = Callable[[int], None]

SHARE_SOLD = 0.2  # of the owned features, sold at once
BUY_FACTOR = 5  # features bought per feature wanted
ONE_AT_A_TIME = 20  # with this number of features or fewer, one is sold at a time


class OwnedBags:
    """What can be sold: bags of columns, or single columns. A column is sold with the bag that paid for it."""

    def __init__(self, costs: Resolved, order: Columns) -> None:
        self._costs = costs
        self._keep(order)

    def _keep(self, order: Columns) -> None:
        """Own these columns, bought in this order."""
        payer, came_with = self._costs.payer(), dict[int, list[int]]()
        for c in order.tolist():
            came_with.setdefault(payer.buy(c), []).append(c)
        self.order = order
        self._came_with = sorted((sorted(columns), bag) for bag, columns in came_with.items())

    def __len__(self) -> int:
        return len(self._came_with)

    def columns(self) -> Columns:
        """All columns owned, ascending."""
        return np.sort(self.order)

    def own_columns(self) -> list[Columns]:
        """The columns that are sold with each bag: those in no other owned bag, and columns that need them."""
        own = [np.array(columns, dtype=np.int64) for columns in self._own()]
        columns = self.columns()
        if np.isfinite(self._costs.start[columns]).all():  # no column needs another one
            return own
        return [np.setdiff1d(columns, self._left_without(some)) for some in own]

    def _own(self) -> list[list[int]]:
        """The columns of each bag that are in no other owned bag; all of them if there are none."""
        bags = self._costs.bags
        if bags is None:
            return [columns for columns, _ in self._came_with]
        count: dict[int, int] = {}
        for _, bag in self._came_with:
            for c in bags[bag]:
                count[c] = count.get(c, 0) + 1
        return [[c for c in columns if count[c] == 1] or columns for columns, _ in self._came_with]

    def _left_without(self, sold: Columns) -> list[int]:
        return list(prices_paid(self._costs, self.order[~np.isin(self.order, sold)]))

    def prices(self) -> Floats:
        """What was paid for each bag; a free one counts like the cheapest other one, since k is limited too."""
        price = prices_paid(self._costs, self.order)
        prices = np.array([sum(price.get(c, 0.0) for c in columns) for columns, _ in self._came_with])
        return np.where(prices > 0, prices, prices[prices > 0].min() if (prices > 0).any() else 1.0)

    def sell(self, columns: Columns) -> None:
        """Sell columns."""
        self._keep(self.order[~np.isin(self.order, columns)])


class BackwardElimination:
    """Sells the bag with the lowest importance for its price, again and again."""

    def __init__(self, importance: HeldOutImportance, bags: OwnedBags, on_step: Listener | None) -> None:
        self._importance, self._bags, self._on_step = importance, bags, on_step
        self.n_features: list[int] = []
        self.loss: list[float] = []
        self.sold: list[list[int]] = []

    def down_to(self, number: int, task: FitTask) -> PurchaseOrder:
        """Sell until the remaining columns can be bought at the task's prices, which allow this number of bags."""
        if number == 0:  # to sell everything, importances are not needed
            self._bags.sell(self._bags.columns())
        while True:
            # In another order fewer bags may be enough, but only if they overlap.
            if len(self._bags) <= number or task.costs.overlap:
                order = PurchaseOrder.find(task, [self._bags.order, self._bags.columns()])
                if len(order.order) == len(self._bags.order):
                    return order
            self._eliminate(max(1, len(self._bags) - number))

    def _eliminate(self, most: int) -> None:
        bags = self._bags
        columns, own = bags.columns(), bags.own_columns()
        at_once = 1 if len(own) <= ONE_AT_A_TIME else max(1, int(SHARE_SOLD * len(own)))
        increase = self._importance.loss_increase(columns, own)
        prices = bags.prices()
        worth = np.where(increase > 0, increase / prices, increase * prices)
        weakest = np.argsort(worth, kind="stable")[: min(at_once, most)]
        sold = np.unique(np.concatenate([own[i] for i in weakest]))
        self.n_features.append(len(columns))
        self.loss.append(self._importance.loss(columns))
        self.sold.append(sold.tolist())
        bags.sell(sold)
        if self._on_step is not None:
            self._on_step(len(bags))

    def steps(self) -> dict[str, list[Any]]:
        """The columns sold in each step, and the held-out loss before."""
        return {"n_features": list(self.n_features), "loss": list(self.loss), "sold": list(self.sold)}


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
        The whole table, its prices and the mu at which buying starts.
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
    chooser = Chooser(task, numbers, observer, threads)
    by_lines = [k for k in numbers if chooser.by_lines[k]]
    rest = [k for k in numbers if not chooser.by_lines[k]]
    found = _bought_by_lines(chooser, by_lines)
    return found | (_bought_by_trees(chooser, rest, on_step) if rest else {})


class Chooser:
    """Decides what buys features and what is fitted on them, as far as ``base`` leaves it open."""

    def __init__(self, task: FitTask, numbers: Sequence[int], observer: Observer | None, threads: int) -> None:
        base = task.params.base
        self.task = task if base == "trees" else with_scores(task, threads)
        self.observer, self.threads = observer, threads
        self.comparison = BaseComparison(self.task, observer, threads)
        rows, columns = self.task.binned.shape
        self.by_lines = dict.fromkeys(numbers, base == "lines")
        if base == "auto" and columns > rows:
            self.by_lines = {0: False} | self.comparison.by_lines([k for k in numbers if k > 0])

    def last_fit(self, columns: Columns) -> LastFit:
        """What to fit on the chosen columns."""
        base = self.task.params.base
        if base in ("trees", "both") or not len(columns):
            return LastFit("trees" if base == "auto" else base)
        if base == "lines" and not has_ridge(self.task):
            return LastFit("lines by boosting")
        return self.comparison.last_fit(np.sort(columns), ("lines",) if base == "lines" else None)


def _bought_by_lines(chooser: Chooser, numbers: Sequence[int]) -> dict[int, FitResult]:
    """Features in the order in which lines buy them."""
    if not numbers:
        return {}
    task, observer, threads = chooser.task, chooser.observer, chooser.threads
    bought = buy_lines(task, max(numbers), observer, threads)
    out = {}
    for k in numbers:
        kept = first_bags(task, bought.features, k)
        limited = at_most(task, k)
        last = chooser.last_fit(kept)
        model = fit_on(limited, kept, bought, observer, threads, last)
        out[k] = FitResult(with_prediction_costs(model, task, threads), None, None, False)
    return out


def _bought_by_trees(chooser: Chooser, numbers: Sequence[int], on_step: Listener | None) -> dict[int, FitResult]:
    """Trees buy more features than wanted, and the weakest are sold."""
    task, observer, threads = chooser.task, chooser.observer, chooser.threads
    bought = _buy_enough(task, max(numbers, default=0), observer, threads)
    importance = HeldOutImportance(task, observer, threads)
    elimination = BackwardElimination(importance, OwnedBags(task.costs, bought.features), on_step)
    out = {}
    for k in sorted(set(numbers), reverse=True):
        limited = at_most(task, k)
        first = boost(limited, None, observer, threads)
        left, rival = elimination.down_to(k, limited), first.features
        kept = left.order
        # The features bought first must not cost more, unless there is a budget, which they keep.
        fair = bool(np.isfinite(task.budget) or first.cost <= left.cost)
        if fair and len(rival) and importance.loss(np.sort(rival)) < importance.loss(np.sort(kept)):
            kept = rival
        again = fit_on(limited, kept, bought, observer, threads, chooser.last_fit(kept))
        keep = "forward" if fair and first.validation_loss < again.validation_loss else "refit"
        chosen = replace(first if keep == "forward" else again, mu_max=bought.mu_max)
        little = len(kept) > 0 and importance.no_better_than_constant(np.sort(kept))
        scores = refit_scores(first, again, keep)
        out[k] = FitResult(with_prediction_costs(chosen, task, threads), scores, elimination.steps(), little)
    return out


def _buy_enough(task: FitTask, number: int, observer: Observer | None, threads: int) -> Model:
    """Buy at the task's mu, and at smaller ones until BUY_FACTOR times as many are owned as wanted."""
    mu = task.params.mu
    while True:
        model = boost(replace(task, budget=np.inf, params=replace(task.params, mu=mu)), None, observer, threads)
        if mu == 0 or task.costs.count(model.features) >= BUY_FACTOR * number:
            return model
        mu = mu / 10 if mu > 1e-3 * model.mu_max else 0.0
