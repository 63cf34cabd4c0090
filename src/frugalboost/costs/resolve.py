"""From the argument ``costs=`` to rules for the core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from frugalboost import _core
from frugalboost.costs.cost import Cost, FeatureTable, Resolved, Sum
from frugalboost.costs.function import Function
from frugalboost.costs.paying import flattened
from frugalboost.costs.per_row import PerRow
from frugalboost.costs.prices import Prices


def as_cost(costs: Any) -> Cost:
    """Return prices as an object: arrays, mappings and numbers as Prices, functions as Function."""
    if isinstance(costs, Cost):
        return costs
    if isinstance(costs, type):
        raise ValueError(f"costs={costs.__name__} is a class; pass an object of it.")
    if callable(costs):
        return Function(costs)
    return Prices(costs)


Cost._from_plain = staticmethod(as_cost)


def is_structured(costs: Any) -> bool:
    """Tell objects and functions from plain lists of prices."""
    return isinstance(costs, Cost) or callable(costs)


def has_row_prices(costs: Any) -> bool:
    """Tell prices of which some are paid for each row."""
    return isinstance(costs, PerRow) or (isinstance(costs, Sum) and any(map(has_row_prices, costs.terms)))


def resolve(costs: Any, n_features: int, names: Sequence[str] | None) -> Resolved:
    """Resolve prices against a table.

    Parameters
    ----------
    costs : Cost, array-like, mapping, callable or None
        As the estimators take it.
    n_features : int
        Number of columns of the table.
    names : sequence of str or None
        Column names, where the table has them.

    Returns
    -------
    Resolved
        Rules for the core, and the prices before anything is bought.

    Examples
    --------
    >>> from frugalboost.costs import resolve
    >>> resolve({"scan": 300.0, "age": 0.0}, 3, ["age", "weight", "scan"]).start
    array([  0.,   1., 300.])
    """
    cost = as_cost(costs)
    if names is not None and len(set(names)) < len(names):
        raise ValueError("costs: two columns of X have the same name. Rename one.")
    table = FeatureTable(n_features, None if names is None else tuple(names))
    rules = cost.rules(table)
    start = np.sum([np.asarray(rule.prices) for rule in rules], axis=0)
    by_row = cost.row_prices(table)
    if by_row is not None:
        start = start + by_row  # at first, every row of a split looks at the feature for the first time
        if (never := np.isinf(by_row)).any():
            rules = (*rules, _core.FeaturePrices(np.where(never, np.inf, 0.0), *flattened([]), 1.0, np.inf))
            by_row = np.where(never, 0.0, by_row)
    bags, bag_prices = cost.bags(table), cost.bag_prices(table)
    return Resolved(rules, start, cost, costs is not None, is_structured(costs), bags, bag_prices, by_row)
