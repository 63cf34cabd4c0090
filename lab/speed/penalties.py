"""Penalties at which models use a wanted number of features."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from lab.rivals.boosters import lightgbm_cegb, ours

MOST_TRIES = 16


def near(found: int, wanted: int) -> bool:
    """Within 10 %."""
    return abs(found - wanted) <= 0.1 * wanted


def matching(used: Callable[[float], int], wanted: int, start: float) -> tuple[float, int]:
    """Change a penalty until a model uses as many features as wanted; it and their number, or the nearest tried."""
    low, high = 0.0, math.inf  # too many features there, too few here
    penalty, best = start, (start, -1)
    for _ in range(MOST_TRIES):
        found = used(penalty)
        if best[1] < 0 or abs(found - wanted) < abs(best[1] - wanted):
            best = penalty, found
        if near(found, wanted) or high < 1.02 * low:
            break
        low, high = (penalty, high) if found > wanted else (low, penalty)
        penalty = between(low, high, found / wanted)
    return best


def between(low: float, high: float, share: float) -> float:
    """The geometric middle; where one end is not known yet, a step beyond the other, longer the worse the share."""
    if low > 0 and high < math.inf:
        return math.sqrt(low * high)
    step = min(4.0, max(1.1, math.pow(max(share, 1 / max(share, 0.1)), 1.5)))
    return low * step if low > 0 else high / step


def matching_mu(data: Any, setting: dict[str, Any], wanted: int, start: float) -> tuple[float, int]:
    """Find the mu at which ours buys about the wanted number of features, and the number it buys."""
    return matching(lambda mu: ours.train(data, setting, mu), wanted, start)


def matching_penalty(data: Any, setting: dict[str, Any], wanted: int, start: float) -> tuple[float, int]:
    """Find the penalty at which LightGBM CEGB uses about the wanted number of features, and the number it uses."""
    return matching(lambda penalty: lightgbm_cegb.train(data, setting, penalty), wanted, start)
