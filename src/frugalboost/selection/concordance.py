"""Harrell's concordance: how often the one of two rows with the higher risk had its event first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class NoPairsError(ValueError):
    """No two rows can be compared, so that there is no concordance."""


class _Sums:
    """Weights of rows by the rank of their risk, and sums of those below a rank (a Fenwick tree)."""

    def __init__(self, ranks: int) -> None:
        self._tree = [0.0] * (ranks + 1)
        self.total = 0.0

    def add(self, rank: int, weight: float) -> None:
        self.total += weight
        rank += 1
        while rank < len(self._tree):
            self._tree[rank] += weight
            rank += rank & -rank

    def below(self, rank: int) -> float:
        found = 0.0
        while rank > 0:
            found += self._tree[rank]
            rank -= rank & -rank
        return found


def concordance(y: Floats, risk: Floats, weights: Floats | None = None) -> float:
    """Return the share of comparable pairs in which the row with the earlier event has the higher risk.

    Two rows can be compared if the earlier one had its event; a row that was watched without an event until the time of
    another's event is the later one. Two events at the same time can't be compared. Equal risks count as half.

    Parameters
    ----------
    y : ndarray
        Times, negative where a row was watched so long without an event.
    risk : ndarray
        Higher for an earlier event.
    weights : ndarray, default=None
        A pair counts the product of its weights, so that a weight of k is k equal rows.

    Examples
    --------
    >>> import numpy as np
    >>> from frugalboost.selection.concordance import concordance
    >>> concordance(np.array([1.0, 2.0, -3.0]), np.array([0.9, 0.1, 0.5]))
    0.6666666666666666
    """
    risk = np.asarray(risk, dtype=np.float64)
    if not np.isfinite(risk).all():
        raise ValueError("A risk is not finite, so that rows can't be compared.")
    own = [1.0] * len(y) if weights is None else weights.tolist()
    rank = np.unique(risk, return_inverse=True)[1].ravel().tolist()
    time, event = np.abs(y).tolist(), (y > 0).tolist()
    later = _Sums(max(rank, default=0) + 1)
    right = pairs = 0.0
    # The latest first; of equal times those without an event come before, as they are the later ones.
    order = np.lexsort((y > 0, -np.abs(y))).tolist()
    waiting: list[int] = []  # events of one time, which are not compared with each other
    for i in order:
        if waiting and time[waiting[0]] != time[i]:
            _add(later, waiting, rank, own)
        if not event[i]:
            later.add(rank[i], own[i])
            continue
        less = later.below(rank[i])
        equal = later.below(rank[i] + 1) - less
        right += own[i] * (less + 0.5 * equal)
        pairs += own[i] * later.total
        waiting.append(i)
    if not pairs > 0:
        raise NoPairsError("No two rows can be compared: no event came before the time of another row.")
    return right / pairs


def _add(later: _Sums, waiting: list[int], rank: list[int], own: list[float]) -> None:
    for i in waiting:
        later.add(rank[i], own[i])
    waiting.clear()
