"""The best k features, not the first k: buy more than k, then sell the weakest back.

Buying is greedy and takes correlated twins. So features are weighed in folds of the training rows: models are fitted on
what is owned, and each feature is hidden from them on the rows they were not fitted on. What is missed least is sold.
docs/selection.md says what else was tried, with numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.costs import Resolved, resolve
from frugalboost.losses import has_values
from frugalboost.selection.averaging import fit_average
from frugalboost.selection.bills import Bill, prices_paid
from frugalboost.selection.importance import Scale, narrowed
from frugalboost.training.boosting import Curve, Model, Observer, Purchases, Task, boost, priced

Floats = NDArray[np.float64]
Columns = NDArray[np.int64]
Bag = tuple[int, ...]

SHARE_SOLD = 0.2  # of what is owned, at once, while much is owned
PLENTY = 5  # times as many are bought as are wanted
FEW = 20  # from here on one at a time


@dataclass(frozen=True)
class Outcome:
    """A model, and how it came about."""

    model: Model
    scores: dict[str, Any] | None = None  # of the model that bought, and of the one refitted on its features
    selling: dict[str, list[Any]] | None = None
    says_little: bool = False  # in the folds the features are no better than a constant, for all we know


@dataclass(frozen=True)
class Last:
    """How the last fit, on the chosen features alone, is made."""

    models: int = 1  # whose mean it is
    seed: int = 0  # decides their folds


def forward(task: Task, refit: bool | str, last: Last, observer: Observer | None, threads: int) -> Outcome:
    """Buy at a fixed mu, and where asked for fit once more on the chosen features alone."""
    if last.models > 1 and not refit:
        raise ValueError(f"average={last.models} is about the last fit: set n_features_to_select or refit too.")
    if refit == "auto" and task.validation is None:
        raise ValueError(
            'refit="auto" compares validation losses: set early_stopping=True, or give fit X_val and y_val.'
        )
    model = boost(task, None, observer, threads)
    if not refit:
        return Outcome(model)
    again = fit_on(task, _columns_of(model), model, last, observer, threads)
    keep = "refit"
    if refit == "auto" and not _validation_loss(again) < _validation_loss(model):
        keep = "forward"
    return Outcome(again if keep == "refit" else model, _scores(model, again, keep))


def _scores(model: Model, again: Model, keep: str) -> dict[str, Any]:
    return {"forward": _score(model), "refit": _score(again), "kept": keep}


def _score(model: Model) -> dict[str, Any]:
    best = model.best_iteration
    return {
        "n_features": int(model.curve.n_features[best]),
        "train_loss": float(model.curve.train_loss[best]),
        "validation_loss": float(model.curve.validation_loss[best]),
    }


def _validation_loss(model: Model) -> float:
    return float(model.curve.validation_loss[model.best_iteration])


# ------------------------------------------------------------------------------------- fits on some columns


def fit_on(task: Task, columns: Columns, bought: Model, last: Last, observer: Observer | None, threads: int) -> Model:
    """Fit on some columns, all free, with the task's settings; the model is one of the whole table.

    ``columns`` are in the order in which they were bought: where their prices depend on the order, another one may not
    fit the budget. ``bought`` is the model of the whole table that led here: mu_max is a matter of all columns.
    """
    if not len(columns):
        return _constant(task, bought, observer, threads)
    model = _fit_free(task, np.sort(columns), last, observer, threads)
    purchases = _settled(model, columns, task)
    if purchases is None:  # not all of what the free model uses can be had
        bound = boost(_only(task, columns), None, observer, threads)
        model, purchases = bound, bound.purchases
    wide = replace(
        model,
        purchases=purchases,
        curve=_accounted(model, purchases),
        prices=task.costs.start,
        mu_max=bought.mu_max,
        impurity=bought.impurity,
        levels=task.levels,
    )
    return priced(wide, task, threads)


def _fit_free(task: Task, columns: Columns, last: Last, observer: Observer | None, threads: int) -> Model:
    """A model on some columns that all cost nothing, in terms of the whole table."""
    narrow = narrowed(task, columns, threads)
    if last.models > 1:
        model = fit_average(narrow, last.models, last.seed, observer, threads)
    else:
        model = boost(narrow, None, observer, threads)
    return replace(
        model,
        ensemble=replace(model.ensemble, feature=_renamed(model.ensemble.feature, columns)),
        purchases=replace(model.purchases, feature=_renamed(model.purchases.feature, columns)),
    )


def _only(task: Task, columns: Columns) -> Task:
    """The task with no other columns to buy: prices and budget bind it, and mu does not."""
    others = np.full(len(task.costs.start), np.inf)
    others[columns] = 0.0
    costs = replace(task.costs, rules=(*task.costs.rules, *resolve(others, len(others), None).rules))
    return replace(task, costs=costs, params=replace(task.params, mu=0.0, new_features=1.0))


def _settled(model: Model, columns: Columns, task: Task) -> Purchases | None:
    """What a model that was fitted on free columns has to buy, in an order that fits the budget; None: there is none.

    In the order of first use, where that can be paid. Otherwise a feature may be bought before a tree looks at it,
    because that makes another one cheaper; what the best iteration does not use comes last.
    """
    used = model.purchases
    needed = used.feature[used.iteration <= model.best_iteration]
    first = Bill.of(task, [needed, columns[np.isin(columns, needed)]])
    whole = Bill.in_order(task, np.concatenate([first.order, used.feature[len(needed) :]]))
    if len(first.order) < len(needed) or len(whole.order) < len(used.feature):
        return None
    place = {f: i for i, f in enumerate(used.feature.tolist())}
    at = np.array([place[f] for f in whole.order.tolist()], dtype=np.int64)
    by_then = np.minimum.accumulate(used.iteration[at][::-1])[::-1]
    return Purchases(used.feature[at], whole.prices, used.gain[at], by_then)


def _accounted(model: Model, purchases: Purchases) -> Curve:
    """The model's curve with what is owned and paid after each iteration."""
    owned = np.searchsorted(purchases.iteration, np.arange(model.n_iterations + 1), side="right")
    paid = np.concatenate([[0.0], np.cumsum(purchases.price)])
    return replace(model.curve, n_features=owned.astype(np.int32), cost=paid[owned])


def _constant(task: Task, bought: Model, observer: Observer | None, threads: int) -> Model:
    nothing = resolve(np.full(len(task.costs.start), np.inf), len(task.costs.start), None)
    model = boost(replace(task, costs=nothing), None, observer, threads)
    return replace(model, prices=task.costs.start, mu_max=bought.mu_max, impurity=bought.impurity)


def _renamed(feature: NDArray[np.int32], columns: Columns) -> NDArray[np.int32]:
    return np.where(feature >= 0, columns[feature], -1).astype(np.int32)


# -------------------------------------------------------------------------------------------- selling back


class Bags:
    """What can be sold: bags of columns, or single columns. A column is given back with the bag that pays for it."""

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
        """For each bag the columns that go with it: those in no other bag, and what can't be had without them."""
        own = [np.array(columns, dtype=np.int64) for columns in self._own()]
        columns = self.columns()
        if np.isfinite(self._costs.start[columns]).all():  # nothing waits for anything
            return own
        return [np.setdiff1d(columns, self._left_without(some)) for some in own]

    def _own(self) -> list[list[int]]:
        """Of the columns that came with each bag those in no other that is owned; all, where there would be none."""
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
        """What was paid for each bag; the free ones count like the cheapest other one, since places are scarce too."""
        price = prices_paid(self._costs, self.order)
        prices = np.array([sum(price.get(c, 0.0) for c in columns) for columns, _ in self._came_with])
        return np.where(prices > 0, prices, prices[prices > 0].min() if (prices > 0).any() else 1.0)

    def sell(self, columns: Columns) -> None:
        """Give columns back."""
        self._keep(self.order[~np.isin(self.order, columns)])


class Selling:
    """The way down: the weakest bag is sold, again and again."""

    def __init__(self, scale: Scale, bags: Bags, tell: Teller | None) -> None:
        self._scale, self._bags, self._tell = scale, bags, tell
        self.n_features: list[int] = []
        self.loss: list[float] = []
        self.sold: list[list[int]] = []

    def down_to(self, number: int, task: Task) -> Bill:
        """Sell until what is left can be had at the task's prices, which leave room for so many bags."""
        if number == 0:  # nothing need be weighed to sell everything
            self._bags.sell(self._bags.columns())
        while True:
            # In another order fewer bags may do, but only where they overlap.
            if len(self._bags) <= number or task.costs.overlap:
                bill = Bill.of(task, [self._bags.order, self._bags.columns()])
                if len(bill.order) == len(self._bags.order):
                    return bill
            self._sell(max(1, len(self._bags) - number))

    def _sell(self, most: int) -> None:
        bags = self._bags
        columns, own = bags.columns(), bags.own_columns()
        at_once = 1 if len(own) <= FEW else max(1, int(SHARE_SOLD * len(own)))
        missed = self._scale.missed(columns, own)
        prices = bags.prices()
        worth = np.where(missed > 0, missed / prices, missed * prices)
        weakest = np.argsort(worth, kind="stable")[: min(at_once, most)]
        sold = np.unique(np.concatenate([own[i] for i in weakest]))
        self.n_features.append(len(columns))
        self.loss.append(self._scale.loss(columns))
        self.sold.append(sold.tolist())
        bags.sell(sold)
        if self._tell is not None:
            self._tell(len(bags))

    def steps(self) -> dict[str, list[Any]]:
        """What was sold, and the held-out loss before."""
        return {"n_features": list(self.n_features), "loss": list(self.loss), "sold": list(self.sold)}


Teller = Callable[[int], None]


def sell_back(
    task: Task,
    numbers: Sequence[int],
    seed: int,
    last: Last,
    observer: Observer | None,
    threads: int,
    tell: Teller | None = None,
) -> dict[int, Outcome]:
    """For each number of features (bags, where there are bags) the best model found.

    Parameters
    ----------
    task : Task
        The whole table, its prices and the mu at which buying starts.
    numbers : sequence of int
        How many features to keep.
    seed : int
        Decides the folds.
    last : Last
        How the last fit is made.
    observer : callable or None
        Called by every fit, so that it can be ended.
    threads : int
        Threads.
    tell : callable or None
        Told how many features are left.
    """
    if not has_values(task.loss):
        raise ValueError("n_features_to_select needs the loss of every row: give your loss a method 'value'.")
    bought = _buy_enough(task, max(numbers, default=0), observer, threads)
    scale = Scale(task, seed, observer, threads)
    selling = Selling(scale, Bags(task.costs, _columns_of(bought)), tell)
    out = {}
    for k in sorted(set(numbers), reverse=True):
        limited = _at_most(task, k)
        first = boost(limited, None, observer, threads)
        left, rival = selling.down_to(k, limited), _columns_of(first)
        kept = left.order
        # Never pay more for what was bought first, unless there is a budget, which it keeps.
        fair = bool(np.isfinite(task.budget) or first.curve.cost[first.best_iteration] <= left.total)
        if fair and len(rival) and scale.loss(np.sort(rival)) < scale.loss(np.sort(kept)):
            kept = rival
        again = fit_on(limited, kept, bought, last, observer, threads)
        keep = "forward" if fair and _validation_loss(first) < _validation_loss(again) else "refit"
        chosen = replace(first if keep == "forward" else again, mu_max=bought.mu_max)
        little = len(kept) > 0 and scale.says_little(np.sort(kept))
        out[k] = Outcome(priced(chosen, task, threads), _scores(first, again, keep), selling.steps(), little)
    return out


def _columns_of(model: Model) -> Columns:
    """What a model owns, in order of purchase."""
    return model.bought_until(model.best_iteration).astype(np.int64)


def _buy_enough(task: Task, number: int, observer: Observer | None, threads: int) -> Model:
    """Buy at the task's mu, and at smaller ones until several times as much is owned as is wanted."""
    mu = task.params.mu
    while True:
        model = boost(replace(task, budget=np.inf, params=replace(task.params, mu=mu)), None, observer, threads)
        if mu == 0 or task.costs.count(_columns_of(model)) >= PLENTY * number:
            return model
        mu = mu / 10 if mu > 1e-3 * model.mu_max else 0.0


def _at_most(task: Task, number: int) -> Task:
    """The task with so many purchases at most, whatever they gain; a bag is one."""
    return replace(task, costs=task.costs.at_most(number), params=replace(task.params, mu=0.0))
