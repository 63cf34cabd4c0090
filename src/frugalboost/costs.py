"""Prices of features."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Costs: TypeAlias = "ArrayLike | Mapping[str, float] | None"


def resolve_prices(costs: Costs, n_features: int, names: Sequence[str] | None) -> NDArray[np.float64]:
    """Return one price for each feature.

    Parameters
    ----------
    costs : array-like, mapping or None
        Prices by position or by name. Features that a mapping leaves out cost 1, as all do with None.
    n_features : int
        Number of columns of the table.
    names : sequence of str or None
        Column names, where the table has them.

    Returns
    -------
    ndarray of shape (n_features,)
        Zero is free, infinity is never.

    Examples
    --------
    >>> from frugalboost.costs import resolve_prices
    >>> resolve_prices({"scan": 300.0, "age": 0.0}, 3, ["age", "weight", "scan"])
    array([  0.,   1., 300.])
    """
    if costs is None:
        return np.ones(n_features)
    if hasattr(costs, "items") and not _is_numbered(costs):
        prices = _by_name(dict(costs.items()), n_features, names)
    else:
        prices = _by_position(costs, n_features)
    for j in np.flatnonzero(~(prices >= 0)).tolist():
        name = repr(names[j]) if names is not None else f"number {j}"
        raise ValueError(
            f"costs: the price of feature {name} is {prices[j]:g}. "
            "A price is zero (free), positive, or infinity (never)."
        )
    return prices


def _is_numbered(costs: Any) -> bool:
    """A pandas Series whose index just counts is an array; any other is a mapping from names."""
    return not isinstance(costs, Mapping) and list(costs.keys()) == list(range(len(costs)))


def _by_name(costs: Mapping[str, float], n_features: int, names: Sequence[str] | None) -> NDArray[np.float64]:
    if names is None:
        raise ValueError(
            "costs: a mapping needs feature names that are texts, and X has none. Pass a data frame with such names, "
            "or an array of prices."
        )
    place = {name: j for j, name in enumerate(names)}
    prices = np.ones(n_features)
    for name, price in costs.items():
        if name not in place:
            near = difflib.get_close_matches(str(name), list(place), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"costs: X has no feature {name!r}.{hint}")
        try:
            prices[place[name]] = float(price)
        except (TypeError, ValueError):
            raise ValueError(f"costs: the price of feature {name!r} is {price!r}, not a number.") from None
    return prices


def _by_position(costs: Any, n_features: int) -> NDArray[np.float64]:
    try:
        prices = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("costs: prices must be numbers, one for each feature.") from None
    if prices.shape != (n_features,):
        raise ValueError(f"costs: {n_features} prices are needed, one for each feature; got shape {prices.shape}.")
    return prices
