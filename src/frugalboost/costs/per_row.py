"""Prices that are paid for each row that looks at a feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from frugalboost import _core
from frugalboost.costs.cost import Cost, FeatureTable, Floats, check_given, check_list, check_price
from frugalboost.costs.paying import flattened


@dataclass(frozen=True, eq=False, repr=False)
class PerRow(Cost):
    """One price for each feature, paid for each row when a tree looks at the feature for the first time for that row.

    A split that only a tenth of the rows reach costs a tenth of the price, and nothing for rows that have looked at the
    feature before, in this tree or an earlier one. What is paid in total is the mean price of a prediction on the
    training rows, so trees keep easy rows cheap. Add :class:`Prices` for what is paid once for the whole model.

    Parameters
    ----------
    values : array-like, mapping, float or None, default=None
        Prices by position, by feature name (or column number), or one for all.
    default : float, default=1.0
        Price of features that a mapping leaves out.
    free : sequence, default=()
        Features, by name or number, that cost nothing.
    never : sequence, default=()
        Features that may not be used.
    unit : str or None, default=None
        What a price of 1 is, such as "ms"; for reports.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from frugalboost import GBFSClassifier
    >>> from frugalboost.costs import PerRow, Prices
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = GBFSClassifier(mu=0.001, costs=PerRow(2.0), max_iter=50).fit(X, y)
    >>> bool(abs(model.prediction_cost(X).mean() - model.total_cost_) < 1e-9)
    True

    A contract is paid once, each measurement by row:

    >>> Prices({"scan": 300.0}, default=0.0) + PerRow({"scan": 5.0}, default=0.1)
    Prices(values={'scan': 300.0}, default=0.0) + PerRow(values={'scan': 5.0}, default=0.1)
    """

    values: Any = None
    default: float = 1.0
    free: Sequence[Any] = ()
    never: Sequence[Any] = ()
    unit: str | None = None

    def __post_init__(self) -> None:
        check_price(self.default, "PerRow: default")
        check_given(self.values, "PerRow")
        check_list(self.free, "PerRow", "free")
        check_list(self.never, "PerRow", "never")

    def rules(self, table: FeatureTable) -> tuple[_core.PriceRule, ...]:
        """Resolve against a table: owning a feature costs nothing, but what is never sold can't be bought."""
        never = np.where(np.isinf(self.row_prices(table)), np.inf, 0.0)
        return (_core.FeaturePrices(never, *flattened([]), 1.0, np.inf),)

    def row_prices(self, table: FeatureTable) -> Floats:
        """Resolve prices per row against a table."""
        prices = table.by_feature(self.values, self.default, "PerRow")
        for features, price in ((self.free, 0.0), (self.never, np.inf)):
            for feature in features:
                prices[table.place(feature, "PerRow")] = price
        return prices
