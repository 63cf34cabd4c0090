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

from frugalboost import _core
from frugalboost.averaging import fit_average
from frugalboost.boosting import Model, Observer, Task, boost, priced
from frugalboost.costs import Resolved, resolve
from frugalboost.losses import has_values
from frugalboost.weighing import Scale, narrowed

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
    chosen = np.sort(model.bought_until(model.best_iteration)).astype(np.int64)
    again = fit_on(task, chosen, model, last, observer, threads)
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

    ``bought`` is the model of the whole table that led here: mu_max is a matter of all columns.
    """
    if not len(columns):
        return _constant(task, bought, observer, threads)
    narrow = narrowed(task, columns, threads)
    if last.models > 1:
        model = fit_average(narrow, last.models, last.seed, observer, threads)
    else:
        model = boost(narrow, None, observer, threads)
    used = columns[model.purchases.feature].astype(np.int32)
    until = columns[model.bought_until(model.best_iteration)].astype(np.int32)
    price = _prices_paid(task.costs, used)
    lost = (set(used.tolist()) - price.keys()) | (set(until.tolist()) - _prices_paid(task.costs, until).keys())
    if lost:  # something waits for a feature that was sold, or that the best iteration does not use
        return fit_on(task, columns[~np.isin(columns, list(lost))], bought, last, observer, threads)
    purchases = replace(model.purchases, feature=used, price=np.array([price[f] for f in used.tolist()]))
    cost = np.array([purchases.price[purchases.iteration <= i].sum() for i in range(model.n_iterations + 1)])
    wide = replace(
        model,
        ensemble=replace(model.ensemble, feature=_renamed(model.ensemble.feature, columns)),
        purchases=purchases,
        curve=replace(model.curve, cost=cost),
        prices=task.costs.start,
        mu_max=bought.mu_max,
        impurity=bought.impurity,
        levels=task.levels,
    )
    return priced(wide, task, threads)


def _prices_paid(costs: Resolved, columns: NDArray[np.integer[Any]]) -> dict[int, float]:
    """What is paid for columns bought in this order; those that can't be had are left out."""
    order, paid = _core.buy_all(list(costs.rules), columns.astype(np.int32))
    return dict(zip(np.asarray(order).tolist(), np.asarray(paid).tolist(), strict=True))


def _constant(task: Task, bought: Model, observer: Observer | None, threads: int) -> Model:
    nothing = resolve(np.full(len(task.costs.start), np.inf), len(task.costs.start), None)
    model = boost(replace(task, costs=nothing), None, observer, threads)
    return replace(model, prices=task.costs.start, mu_max=bought.mu_max, impurity=bought.impurity)


def _renamed(feature: NDArray[np.int32], columns: Columns) -> NDArray[np.int32]:
    return np.where(feature >= 0, columns[feature], -1).astype(np.int32)


# -------------------------------------------------------------------------------------------- selling back


class Bags:
    """What can be sold: bags of columns, or single columns."""

    def __init__(self, costs: Resolved, columns: NDArray[np.integer[Any]]) -> None:
        wanted = set(columns.tolist())
        all_bags = costs.bags if costs.bags is not None else tuple((int(c),) for c in columns)
        owned = (tuple(c for c in bag if c in wanted) for bag in all_bags)
        self.owned: list[Bag] = sorted({bag for bag in owned if bag})
        self._costs = costs

    def columns(self) -> Columns:
        """All columns of the bags owned."""
        return np.array(sorted({c for bag in self.owned for c in bag}), dtype=np.int64)

    def own_columns(self) -> list[Columns]:
        """For each bag the columns that go with it: those in no other bag, and what can't be had without them."""
        count: dict[int, int] = {}
        for bag in self.owned:
            for c in bag:
                count[c] = count.get(c, 0) + 1
        own = [np.array([c for c in bag if count[c] == 1], dtype=np.int64) for bag in self.owned]
        columns = self.columns()
        if np.isfinite(self._costs.start[columns]).all():  # nothing waits for anything
            return own
        return [np.setdiff1d(columns, self._left_without(columns, some)) for some in own]

    def _left_without(self, columns: Columns, sold: Columns) -> list[int]:
        return list(_prices_paid(self._costs, np.setdiff1d(columns, sold)))

    def prices(self) -> Floats:
        """What was paid for each bag; the free ones count like the cheapest other one, since places are scarce too."""
        price = _prices_paid(self._costs, self.columns())
        prices = np.array([sum(price.get(c, 0.0) for c in bag) for bag in self.owned])
        return np.where(prices > 0, prices, prices[prices > 0].min() if (prices > 0).any() else 1.0)

    def sell(self, columns: Columns) -> None:
        """Give columns back."""
        gone = set(columns.tolist())
        left = (tuple(c for c in bag if c not in gone) for bag in self.owned)
        self.owned = sorted({bag for bag in left if bag})


class Selling:
    """The way down: the weakest bag is sold, again and again."""

    def __init__(self, scale: Scale, bags: Bags, task: Task, tell: Teller | None) -> None:
        self._scale, self._bags, self._task, self._tell = scale, bags, task, tell
        self.n_features: list[int] = []
        self.loss: list[float] = []
        self.sold: list[list[int]] = []

    def down_to(self, number: int) -> Columns:
        """Sell until so many bags are left, and the budget is kept; return their columns."""
        if number == 0:  # nothing need be weighed to sell everything
            self._bags.owned = []
        while len(self._bags.owned) > number:
            self._sell(len(self._bags.owned) - number)
        while self._bags.owned and _price(self._task, self._bags.columns()) > self._task.budget * (1 + 1e-9):
            self._sell(1)
        return self._bags.columns()

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
        bags.owned = [bag for i, bag in enumerate(bags.owned) if i not in set(weakest.tolist())]
        bags.sell(sold)
        if self._tell is not None:
            self._tell(len(bags.owned))

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
    selling = Selling(scale, Bags(task.costs, _columns_of(bought)), task, tell)
    out = {}
    for k in sorted(set(numbers), reverse=True):
        first = boost(_at_most(task, k), None, observer, threads)
        kept, rival = selling.down_to(k), _columns_of(first)
        # Never pay more for what was bought first, unless there is a budget, which it keeps.
        fair = np.isfinite(task.budget) or _price(task, rival) <= _price(task, kept)
        if fair and len(rival) and scale.loss(rival) < scale.loss(kept):
            kept = rival
        again = fit_on(task, kept, bought, last, observer, threads)
        keep = "forward" if fair and _validation_loss(first) < _validation_loss(again) else "refit"
        chosen = replace(first if keep == "forward" else again, mu_max=bought.mu_max)
        little = len(kept) > 0 and scale.says_little(kept)
        out[k] = Outcome(chosen, _scores(first, again, keep), selling.steps(), little)
    return out


def _price(task: Task, columns: Columns) -> float:
    """What columns cost together."""
    return float(sum(_prices_paid(task.costs, columns).values()))


def _columns_of(model: Model) -> Columns:
    return np.sort(model.bought_until(model.best_iteration)).astype(np.int64)


def _buy_enough(task: Task, number: int, observer: Observer | None, threads: int) -> Model:
    """Buy at the task's mu, and at smaller ones until several times as much is owned as is wanted."""
    mu = task.params.mu
    while True:
        model = boost(replace(task, budget=np.inf, params=replace(task.params, mu=mu)), None, observer, threads)
        if mu == 0 or len(Bags(task.costs, _columns_of(model)).owned) >= PLENTY * number:
            return model
        mu = mu / 10 if mu > 1e-3 * model.mu_max else 0.0


def _at_most(task: Task, number: int) -> Task:
    """The task with so many purchases at most; a bag is one."""
    n = len(task.costs.start)
    bags = task.costs.bags or tuple((c,) for c in range(n))
    of: list[list[int]] = [[] for _ in range(n)]
    for i, bag in enumerate(bags):
        for c in bag:
            of[c].append(i)
    begin = np.concatenate([[0], np.cumsum([len(own) for own in of])]).astype(np.int64)
    items = np.array([i for own in of for i in own], dtype=np.int32)
    rule = _core.BagPrices(begin, items, np.zeros(len(bags)), float(number))
    costs = replace(task.costs, rules=(*task.costs.rules, rule))
    return replace(task, costs=costs, params=replace(task.params, mu=0.0))
