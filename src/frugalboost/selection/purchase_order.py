"""An order in which columns can be bought within a budget, and what is paid for each.

If prices depend on earlier purchases, the same columns cost more in one order than in another. A cost is only reported
together with an order of purchases that has it.
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

        After the orders given, which hold the same columns, two more are tried: the cheapest column at each step, and
        columns in the fewest bags first. If no order allows all, the columns that the first order allows are bought.
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
        """Buy columns in this order, as far as possible; columns that the budget does not allow are left out."""
        bought, prices = _core.buy_all(list(task.costs.rules), order.astype(np.int32), task.budget, cheapest_first)
        return cls(np.asarray(bought).astype(np.int64), np.asarray(prices))

    @property
    def cost(self) -> float:
        """The total cost."""
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
    """Whether columns can be bought in exactly this order within the budget."""
    wanted = np.array(order, dtype=np.int64)
    return bool(np.isinf(task.budget)) or np.array_equal(PurchaseOrder.in_order(task, wanted).order, wanted)


def prices_paid(costs: Resolved, columns: Places) -> dict[int, float]:
    """What is paid for columns bought in this order, without a budget; those that can't be bought are left out."""
    order, paid = _core.buy_all(list(costs.rules), columns.astype(np.int32))
    return dict(zip(np.asarray(order).tolist(), np.asarray(paid).tolist(), strict=True))
