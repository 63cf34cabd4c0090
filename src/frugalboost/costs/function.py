"""Prices by a function of what is owned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frugalboost import _core
from frugalboost.costs.cost import Cost, FeatureTable, check_given


@dataclass(frozen=True, eq=False, repr=False)
class Function(Cost):
    """Any function from what is owned to prices, called once per purchase.

    Parameters
    ----------
    phi : callable
        ``phi(owned, last, prices)`` returns the new prices: ``owned`` is a boolean array, ``last`` the column just
        bought, ``prices`` the prices before.
    prices : array-like, mapping, float or None, default=None
        Prices before anything is bought; 1 each.
    unit : str or None, default=None
        What a price of 1 is; for reports.

    Examples
    --------
    The second feature costs twice as much as the first, and so on:

    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor
    >>> from frugalboost.costs import Function
    >>> def dearer(owned, last, prices):
    ...     return 2 * prices
    >>> X, y = load_diabetes(return_X_y=True)
    >>> GBFSRegressor(budget=7, costs=Function(dearer), max_iter=50).fit(X, y).total_cost_
    7.0
    """

    phi: Callable[[NDArray[np.bool_], int, NDArray[np.float64]], ArrayLike]
    prices: Any = None
    unit: str | None = None

    def __post_init__(self) -> None:
        if not callable(self.phi):
            raise ValueError(f"Function: phi is {self.phi!r}, which is not callable.")
        check_given(self.prices, "Function")

    def rules(self, table: FeatureTable) -> tuple[_core.PriceRule, ...]:
        """Resolve against a table."""
        return (_core.CallablePrices(table.by_feature(self.prices, 1.0, "Function"), self._checked(table)),)

    def _checked(self, table: FeatureTable) -> Callable[..., NDArray[np.float64]]:
        def phi(owned: NDArray[np.bool_], last: int, prices: NDArray[np.float64]) -> NDArray[np.float64]:
            answer = self.phi(owned, last, prices)
            where = f"costs: after feature {table.label(last)} was bought, phi"
            if answer is None:
                raise ValueError(f"{where} returned None; it must return the new prices.")
            try:
                new = np.array(answer, dtype=np.float64)
            except (TypeError, ValueError):
                raise ValueError(f"{where} returned a {type(answer).__name__}, not an array of prices.") from None
            if new.shape != (table.n,):
                raise ValueError(
                    f"{where} returned prices of shape {new.shape}; one for each of {table.n} features is needed."
                )
            table.check_prices(np.where(owned, 0.0, new), where)
            return new

        return phi
