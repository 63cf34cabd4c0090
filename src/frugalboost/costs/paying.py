"""Which bag pays for a feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core

Floats = NDArray[np.float64]


class Payer:
    """Which bag pays for each feature, bought one after another: the core's own rule (BagPayer).

    If a bag of the feature is owned, that bag, for nothing. Otherwise the cheapest of its bags, the first of equals,
    which is owned from then on. All code that counts bags, or adds up what was paid for them, uses this class.

    Parameters
    ----------
    bags_of : mapping from int to sequence of int
        The bags of each feature, ascending; a feature that is not in it is a bag of its own, with the same number.
    prices : ndarray or None
        The price of each bag; None: all the same.
    """

    def __init__(self, bags_of: Mapping[int, Sequence[int]], prices: Floats | None) -> None:
        self.owned: dict[int, None] = {}  # in order of purchase
        self._place = {feature: place for place, feature in enumerate(bags_of)}
        bags = 1 + max((bag for own in bags_of.values() for bag in own), default=-1)
        given = np.zeros(bags) if prices is None else np.asarray(prices, dtype=np.float64)
        self._core = _core.BagPayer(*flattened(list(bags_of.values())), given)

    def bag_of(self, feature: int) -> int:
        """The bag that would pay if the feature were bought now."""
        return self._core.bag_of(self._place[feature]) if feature in self._place else feature

    def buy(self, feature: int) -> int:
        """Buy a feature; the bag that pays is owned."""
        bag = self._core.buy(self._place[feature]) if feature in self._place else feature
        self.owned[bag] = None
        return bag


def bags_by_feature(bags: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """The bags of each feature, ascending."""
    found: dict[int, list[int]] = {}
    for number, bag in enumerate(bags):
        for f in bag:
            found.setdefault(f, []).append(number)
    return found


def flattened(items: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Lists of different lengths as the core takes them: where each begins, and all items one after another."""
    begin = np.concatenate([[0], np.cumsum([len(i) for i in items], dtype=np.int64)]).astype(np.int64)
    return begin, np.array([v for i in items for v in i], dtype=np.int32)
