"""In which order some columns can be bought within a budget, and what is paid for each.

Where prices depend on what was bought before, the same columns cost more in one order than in another. A price is only
reported with an order in which it can really be paid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core
from frugalboost.costs import Resolved
from frugalboost.training.task import FitTask

Floats = NDArray[np.float64]
Columns = NDArray[np.int64]
Places = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class PurchaseOrder:
    """Columns in an order in which they can be bought, and what is paid for each."""

    order: Columns
    prices: Floats

    @classmethod
    def find(cls, task: FitTask, orders: Sequence[Places]) -> Self:
        """Buy columns in the first order in which all of them can be paid within the task's budget.

        After the orders given, which hold the same columns, the cheapest one at each step is tried, then those first
        that are in few bags and so leave no choice. Where no order allows all, as many as the first one does.
        """
        wanted = orders[0]
        found = []
        for order, cheapest_first in _orders_to_try(task.costs, orders):
            found.append(cls.in_order(task, order, cheapest_first))
            if len(found[-1].order) == len(wanted):
                return found[-1]
        return found[0]

    @classmethod
    def in_order(cls, task: FitTask, order: Places, cheapest_first: bool = False) -> Self:
        """Buy columns as far as possible in this order; what the budget does not allow is left out."""
        bought, prices = _core.buy_all(list(task.costs.rules), order.astype(np.int32), task.budget, cheapest_first)
        return cls(np.asarray(bought).astype(np.int64), np.asarray(prices))

    @property
    def cost(self) -> float:
        """What is paid in all."""
        return float(self.prices.sum())


def _orders_to_try(
    costs: Resolved, orders: Sequence[NDArray[np.integer[Any]]]
) -> list[tuple[NDArray[np.integer[Any]], bool]]:
    """Orders to try, and whether the cheapest goes first."""
    tries = [(order, False) for order in orders]
    tries.append((np.sort(orders[0]), True))
    if costs.overlap:
        choices = [len(costs.bags_of[c]) for c in orders[0].tolist()]
        tries.append((orders[0][np.argsort(choices, kind="stable")], False))
    return tries


def is_affordable(task: FitTask, order: Sequence[int]) -> bool:
    """Whether columns can be bought in just this order within the budget."""
    wanted = np.array(order, dtype=np.int64)
    return bool(np.isinf(task.budget)) or np.array_equal(PurchaseOrder.in_order(task, wanted).order, wanted)


def prices_paid(costs: Resolved, columns: Places) -> dict[int, float]:
    """What is paid for columns bought in this order, whatever it is; those that can't be bought are left out."""
    order, paid = _core.buy_all(list(costs.rules), columns.astype(np.int32))
    return dict(zip(np.asarray(order).tolist(), np.asarray(paid).tolist(), strict=True))
