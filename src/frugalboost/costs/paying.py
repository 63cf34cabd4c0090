"""Which bag pays for a feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core

Floats = NDArray[np.float64]


class Payer:
    """Which bag pays for each feature, bought one after another: the core's own rule (BagPayer).

    A bag that is owned already, for nothing; otherwise the cheapest of the feature's bags, the first of equals, which
    is owned from then on. Counting bags, and adding up what was paid for them, both ask here.

    Parameters
    ----------
    bags_of : mapping from int to sequence of int
        The bags of each feature, ascending; a feature that is left out is a bag by itself, of the same number.
    prices : ndarray or None
        Of each bag; None: all alike.
    """

    def __init__(self, bags_of: Mapping[int, Sequence[int]], prices: Floats | None) -> None:
        self.owned: dict[int, None] = {}  # in order of purchase
        self._place = {feature: place for place, feature in enumerate(bags_of)}
        bags = 1 + max((bag for own in bags_of.values() for bag in own), default=-1)
        given = np.zeros(bags) if prices is None else np.asarray(prices, dtype=np.float64)
        self._core = _core.BagPayer(*lists(list(bags_of.values())), given)

    def bag_of(self, feature: int) -> int:
        """The bag that would pay now."""
        return self._core.bag_of(self._place[feature]) if feature in self._place else feature

    def buy(self, feature: int) -> int:
        """Buy a feature; the bag that pays is owned."""
        bag = self._core.buy(self._place[feature]) if feature in self._place else feature
        self.owned[bag] = None
        return bag


def by_feature(bags: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """The bags of each feature, ascending."""
    found: dict[int, list[int]] = {}
    for number, bag in enumerate(bags):
        for f in bag:
            found.setdefault(f, []).append(number)
    return found


def lists(items: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Lists of different lengths as the core wants them: where each begins, and all items one after another."""
    begin = np.concatenate([[0], np.cumsum([len(i) for i in items], dtype=np.int64)]).astype(np.int64)
    return begin, np.array([v for i in items for v in i], dtype=np.int32)
