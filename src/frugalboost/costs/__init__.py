"""Prices of features, plain or with structure; they can be added with ``+``.

* :class:`Prices`: one price each, with a default, free and forbidden features.
* :class:`PerRow`: one price each, paid for each row that looks at the feature.
* :class:`Bags`: the first feature of a bag pays, the others become free.
* :class:`Neighbours`: buying a feature makes its neighbours in a grid or graph cheaper.
* :class:`Stages`: steps that must be passed, and paid once, before features can be bought.
* :class:`Function`: any ``phi(owned, last, prices)`` of your own.

``costs=`` of an estimator takes any of these, an array, a mapping from feature names, or a plain function.
"""

from frugalboost.costs.bags import Bags
from frugalboost.costs.cost import Cost, Costs, FeatureTable, Resolved, Sum
from frugalboost.costs.function import Function
from frugalboost.costs.neighbours import Neighbours
from frugalboost.costs.per_row import PerRow
from frugalboost.costs.prices import Prices
from frugalboost.costs.resolve import resolve
from frugalboost.costs.stages import Stage, Stages

__all__ = [
    "Bags",
    "Cost",
    "Costs",
    "FeatureTable",
    "Function",
    "Neighbours",
    "PerRow",
    "Prices",
    "Resolved",
    "Stage",
    "Stages",
    "Sum",
    "resolve",
]
