"""Which bags a model owns, by name, and what was paid for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from frugalboost.costs.bags import Bags
from frugalboost.costs.cost import FeatureTable, Sum
from frugalboost.costs.paying import Payer, by_feature


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
            "There are no bags to draw: the estimator was not fitted with costs=Bags(...), or comes from a file, which "
            "keeps prices but not bags."
        )
    labels = [label if isinstance(label, str) else f"bag {label}" for label in bags._members(table)]
    alone = bags.bags(table)[len(labels) :]
    return bags, [*labels, *(names[bag[0]] for bag in alone)]


def paid_for_bags(
    features: Sequence[int], prices: Sequence[float], bags: Bags, table: FeatureTable
) -> dict[int, float]:
    """Bags owned, in order of purchase, and what was paid for the features that came with them."""
    payer = Payer(by_feature(bags.bags(table)), bags.bag_prices(table))
    paid: dict[int, float] = {}
    for j, price in zip(features, prices, strict=False):
        bag = payer.buy(j)
        paid[bag] = paid.get(bag, 0.0) + price
    return paid
