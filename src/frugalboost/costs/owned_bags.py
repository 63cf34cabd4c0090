"""Which bags a model owns, by name, and what was paid for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from frugalboost.costs.bags import Bags
from frugalboost.costs.cost import FeatureTable, Resolved, Sum


def find_bags(costs: Any) -> Bags | None:
    """The bags among prices: the first, as for the model."""
    if isinstance(costs, Sum):
        return next((bags for bags in map(find_bags, costs.terms) if bags is not None), None)
    return costs if isinstance(costs, Bags) else None


def named_bags(costs: Any, table: FeatureTable, names: Sequence[str]) -> tuple[Bags, list[str]]:
    """The bags of some prices, and a name for each, in the order of ``Bags.bags``."""
    bags = find_bags(costs)
    if bags is None:
        raise ValueError(
            "There are no bags to draw: the estimator was not fitted with costs=Bags(...), or was loaded from a file, "
            "which keeps prices but not bags."
        )
    labels = [label if isinstance(label, str) else f"bag {label}" for label in bags._members(table)]
    alone = bags.bags(table)[len(labels) :]
    return bags, [*labels, *(names[bag[0]] for bag in alone)]


def paying_bags(costs: Resolved, features: Iterable[int]) -> list[int]:
    """The bag that pays for each feature, if they are bought in this order; a feature of several bags has one."""
    payer = costs.payer()
    return [payer.buy(feature) for feature in features]


def paid_for_bags(costs: Resolved, features: Iterable[int], prices: Iterable[float]) -> dict[int, float]:
    """Bags owned after features were bought in this order at these prices, and what was paid for each bag."""
    paid: dict[int, float] = {}
    # Later purchases may belong to trees after the best iteration.
    for bag, price in zip(paying_bags(costs, features), prices, strict=False):
        paid[bag] = paid.get(bag, 0.0) + price
    return paid
