"""One price for each feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from frugalboost import _core
from frugalboost.costs.cost import Cost, FeatureTable, check_given, check_list, check_most, check_price, limit
from frugalboost.costs.paying import flattened


@dataclass(frozen=True, eq=False, repr=False)
class Prices(Cost):
    """One price for each feature, by position or by name.

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
    most : float or None, default=None
        Maximum number of features that may be bought.
    unit : str or None, default=None
        What a price of 1 is, such as "ms"; for reports.

    Examples
    --------
    >>> from frugalboost.costs import Prices
    >>> Prices({"mri": 300.0}, default=5.0, free=["age"], unit="euro")
    Prices(values={'mri': 300.0}, default=5.0, free=['age'], unit='euro')
    """

    values: Any = None
    default: float = 1.0
    free: Sequence[Any] = ()
    never: Sequence[Any] = ()
    most: float | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        check_price(self.default, "Prices: default")
        check_most(self.most, "Prices")
        check_given(self.values, "costs")
        check_list(self.free, "Prices", "free")
        check_list(self.never, "Prices", "never")

    def rules(self, table: FeatureTable) -> tuple[_core.PriceRule, ...]:
        """Resolve against a table."""
        prices = table.by_feature(self.values, self.default, "costs")
        for features, price in ((self.free, 0.0), (self.never, np.inf)):
            for feature in features:
                prices[table.place(feature, "costs")] = price
        return (_core.FeaturePrices(prices, *flattened([]), 1.0, limit(self.most)),)
