"""The direction of a curve in words, weighted by rows: where there are no rows, a curve says nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CLEAR = 0.9  # of all change between pairs of rows, the part that goes one way
A_PART = 0.2  # of the whole change, on either side of a turn
NEARLY_NOTHING = 1e-9  # of the size of the values


@dataclass(frozen=True)
class Direction:
    """Where a curve goes as the value of a feature grows."""

    words: str  # "rises", "falls", "up then down", "down then up", "flat", "no clear direction"
    rising: float  # the part of all change between pairs of rows that is a rise; 0.5 without any


def direction_of(curve: Floats, rows: Floats) -> Direction:
    """Say where a curve goes.

    Take two rows at random, the one with the larger value of the feature second. Summed over all pairs, how much of the
    difference in predictions is a rise? From 0.9 on the curve rises, up to 0.1 it falls. Otherwise it may turn once: at
    its highest or lowest point, with at least a fifth of the whole change on both sides.

    Parameters
    ----------
    curve : ndarray of shape (n_values,)
        Predictions at ascending values of the feature.
    rows : ndarray of shape (n_values,)
        Shares of the rows at these values.

    Returns
    -------
    Direction
        In words, and how much of the change is a rise.

    Examples
    --------
    >>> import numpy as np
    >>> from frugalboost.report.direction import direction_of
    >>> direction_of(np.array([1.0, 2.0, 4.0]), np.array([0.5, 0.3, 0.2])).words
    'rises'
    >>> direction_of(np.array([1.0, 4.0, 2.0]), np.array([0.3, 0.4, 0.3])).words
    'up then down'
    """
    up, down = changes(curve, rows)
    if up + down <= NEARLY_NOTHING * max(float(np.abs(curve).max(initial=0.0)), 1e-300):
        return Direction("flat", 0.5)
    rising = up / (up + down)
    if rising >= CLEAR:
        return Direction("rises", rising)
    if rising <= 1 - CLEAR:
        return Direction("falls", rising)
    for words, sign in (("up then down", 1.0), ("down then up", -1.0)):
        if turns_once(sign * curve, rows):
            return Direction(words, rising)
    return Direction("no clear direction", rising)


def changes(curve: Floats, rows: Floats) -> tuple[float, float]:
    """Mean rise and mean fall between pairs of rows."""
    steps = np.triu(curve[None, :] - curve[:, None]) * rows[:, None] * rows[None, :]
    return float(np.maximum(steps, 0).sum()), float(np.maximum(-steps, 0).sum())


def turns_once(curve: Floats, rows: Floats) -> bool:
    """Whether a curve clearly rises to its highest point and clearly falls from there."""
    top = int(np.where(rows > 0, curve, -np.inf).argmax())
    sides = (slice(None, top + 1), slice(top, None))
    seen = curve[rows > 0]
    whole = float(np.ptp(seen)) if len(seen) else 0.0
    for side, sign in zip(sides, (1.0, -1.0), strict=True):
        up, down = changes(sign * curve[side], rows[side])
        own = curve[side][rows[side] > 0]
        if len(own) < 2 or np.ptp(own) < A_PART * whole or not up >= CLEAR * (up + down) > 0:
            return False
    return True
