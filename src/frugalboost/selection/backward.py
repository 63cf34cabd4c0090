"""Backward elimination: of the features that were bought, the weakest are sold.

Buying is greedy and takes correlated twins. So the importance of features is measured in folds of the training rows:
models are fitted on the owned features, and each feature is hidden from them on the held-out rows. The least important
ones are sold. docs/selection.md says what else was tried, with numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.costs import Resolved
from frugalboost.selection.importance import HeldOutImportance
from frugalboost.selection.purchase_order import PurchaseOrder, prices_paid
from frugalboost.training.task import FitTask

Floats = NDArray[np.float64]
Columns = NDArray[np.int64]
Listener = Callable[[int], None]

SHARE_SOLD = 0.2  # of the owned features, sold at once
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
        if self._costs.row_prices is not None:  # as if every row looked at every feature
            price = {c: paid + float(self._costs.row_prices[c]) for c, paid in price.items()}
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
