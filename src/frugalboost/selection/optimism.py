"""How much a choice among many models flatters the chosen one, and where the score on new rows may lie.

The best of many models owes part of its score to chance: it was the best on these held-out rows. So the choice is
repeated on rows drawn with replacement, from scores that are known already, and each chosen model is scored on the rows
that were not drawn (bootstrap bias-corrected cross-validation; Tsamardinos, Greasidou and Borboudakis 2018).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Choose = Callable[[Floats], int]  # the place of the choice, from scores by split and candidate

DRAWS = 500
MOST_BLOCKS = 1_000  # rows are put together at random into so many blocks at most
LEVEL = 0.95
# Another table would give other models, too, so that the error of one of them varies by more than the rows explain: by
# the share of held-out rows over training rows (Nadeau and Bengio 2003).
OTHER_ROWS = 0.25
EXACT_BITS = 52  # sums of whole numbers below 2^52 are exact in any order, so on any machine


@dataclass(frozen=True)
class Estimate:
    """A score that can be expected on new rows, and an interval for it; higher is better."""

    score: float
    low: float
    high: float
    candidates: int  # among which the choice was made


@dataclass(frozen=True)
class SplitScores:
    """Scores of candidates on the held-out rows of one split, by block.

    Parameters
    ----------
    blocks : ndarray of shape (n_blocks,)
        Numbers of the blocks that have held-out rows here.
    weights : ndarray of shape (n_blocks,)
        Of these rows.
    scores : ndarray of shape (n_candidates, n_blocks)
        Means over these rows.
    """

    blocks: Places
    weights: Floats
    scores: Floats


def block_of_rows(n_rows: int, groups: Places | None, most: int = MOST_BLOCKS) -> Places:
    """The block of each row: a row, a group, or several of them put together at random.

    Examples
    --------
    >>> import numpy as np
    >>> from frugalboost.selection.optimism import block_of_rows
    >>> block_of_rows(4, None)
    array([0, 1, 2, 3])
    >>> block_of_rows(4, np.array([0, 1, 1, 0]))
    array([0, 1, 1, 0])
    """
    units = np.arange(n_rows) if groups is None else np.unique(groups, return_inverse=True)[1].reshape(-1)
    n_units = int(units.max(initial=-1)) + 1
    if n_units <= most:
        return units
    turns: Places = np.random.default_rng(0).permutation(n_units) % most
    return turns[units]


@dataclass(frozen=True)
class Blocks:
    """The blocks of the held-out rows of a split.

    Parameters
    ----------
    of_row : ndarray of shape (n_rows,)
        The number of each row's block.
    weights : ndarray of shape (n_rows,) or None
        Of the rows.
    """

    of_row: Places
    weights: Floats | None

    @cached_property
    def _found(self) -> tuple[Places, Places]:
        numbers, places = np.unique(self.of_row, return_inverse=True)
        return numbers, places.reshape(-1)

    @property
    def numbers(self) -> Places:
        """Each block once, in order."""
        return self._found[0]

    @cached_property
    def totals(self) -> Floats:
        """The weight of each block."""
        return np.bincount(self._found[1], weights=self.weights).astype(np.float64)

    def means(self, rows: Floats) -> Floats:
        """Means of numbers of the rows over the blocks."""
        own = rows if self.weights is None else rows * self.weights
        return np.bincount(self._found[1], weights=own) / np.where(self.totals > 0, self.totals, 1.0)

    def put_together(self, most: int) -> tuple[Blocks, Places]:
        """So many blocks at most, each made of several of these, and the place of each row's block among them."""
        numbers, places = self._found
        place = places % min(most, len(numbers))
        return Blocks(numbers[place], self.weights), place


class HeldOutScores:
    """Scores of all candidates of a search on held-out rows.

    Parameters
    ----------
    splits : sequence of SplitScores
        Of each split. A candidate that was not tried on a split has NaN there.
    """

    def __init__(self, splits: Sequence[SplitScores]) -> None:
        self.splits = list(splits)
        names, places = np.unique(np.concatenate([s.blocks for s in splits]), return_inverse=True)
        ends = np.cumsum([len(s.blocks) for s in splits])[:-1]
        self.n_blocks = len(names)
        self._places = np.split(places.reshape(-1), ends)

    def beside(self, other: HeldOutScores) -> HeldOutScores:
        """Candidates of another search on the first of the same splits as further candidates."""
        found = []
        for i, split in enumerate(self.splits):
            more = np.full((len(other.splits[0].scores), len(split.blocks)), np.nan)
            if i < len(other.splits):
                more = other.splits[i].scores
            found.append(replace(split, scores=np.vstack([split.scores, more])))
        return HeldOutScores(found)

    def drawn(self, times: Floats) -> Floats:
        """Mean scores by draw, split and candidate; NaN where nothing is drawn of a split.

        ``times``: how often each draw has each block. Sums are of whole numbers, so they are exact in any order.
        """
        found = np.empty((len(times), len(self.splits), len(self.splits[0].scores)))
        for i, (split, places) in enumerate(zip(self.splits, self._places, strict=True)):
            own = times[:, places]
            weights, unit = on_grid(split.weights, self.n_blocks)
            totals, step = on_grid(split.weights * split.scores, self.n_blocks)
            weight = own @ weights
            weight[weight == 0] = np.nan
            found[:, i] = (own @ totals.T) / weight[:, None] * (step / unit)
        return found

    def spread(self, candidate: int) -> float:
        """The standard error of a candidate's mean score, from its scores of blocks."""
        tried = [i for i, split in enumerate(self.splits) if not np.isnan(split.scores[candidate]).any()]
        off = np.zeros(self.n_blocks)
        for split, places in ((self.splits[i], self._places[i]) for i in tried):
            share = split.weights / split.weights.sum()
            own = split.scores[candidate]
            off[places] += share * (own - share @ own) / len(tried)
        used = max(2, len(np.unique(np.concatenate([self._places[i] for i in tried]))))
        return float(np.sqrt(off @ off * used / (used - 1)))


def on_grid(values: Floats, n_blocks: int) -> tuple[Floats, float]:
    """Numbers as multiples of a step so small that sums over all blocks of a draw are exact; and the step."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    if not 0 < largest < np.inf:
        return values, 1.0
    step = 2.0 ** (int(np.frexp(largest)[1]) + n_blocks.bit_length() - EXACT_BITS)
    return np.rint(values / step), step


def estimate(scores: HeldOutScores, chosen: int, choose: Choose, is_share: bool, best: float) -> Estimate:
    """What the chosen model can be expected to score on new rows.

    Parameters
    ----------
    scores : HeldOutScores
        Of all candidates.
    chosen : int
        The place of the one that was chosen.
    choose : callable
        Makes the choice again: from scores by split and candidate, the place of a candidate.
    is_share : bool
        Whether a row's score is 0 or 1.
    best : float
        The best possible score.

    Returns
    -------
    Estimate
        The mean score of the models that are chosen by drawn rows on the others, and an interval.
    """
    n = scores.n_blocks
    times = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=DRAWS).astype(np.float64)
    inside, outside = scores.drawn(times), scores.drawn((times == 0).astype(np.float64))
    measured = mean_of_known(scores.drawn(np.ones((1, n)))[0])
    usable = (~np.isnan(inside)).any(axis=-1).all(axis=-1)  # something was drawn of every split
    again = np.array([choose(drawn) for drawn in inside[usable]], dtype=np.intp)
    found = mean_of_known(np.take_along_axis(outside[usable], again[:, None, None], axis=2)[:, :, 0].T)
    found = found[~np.isnan(found)]
    open_choice = len(found) and (again != chosen).any()
    score = float(found.mean()) if open_choice else float(measured[chosen])
    parts = (
        np.sqrt(1 + OTHER_ROWS) * scores.spread(chosen),
        measured[chosen] - score,  # what is corrected is about as uncertain as it is large
        float(measured[again].std()) if len(again) else 0.0,  # other rows would choose other models
    )
    ends = interval(score, float(np.sqrt(np.square(parts).sum())), n, is_share, best)
    return Estimate(score, *ends, len(measured) if open_choice else 1)


def mean_of_known(scores: Floats) -> Floats:
    """Means over the splits, which come first, without NaN; NaN where nothing is known."""
    known = ~np.isnan(scores)
    number = known.sum(axis=0)
    found: Floats = np.where(known, scores, 0.0).sum(axis=0) / np.where(number > 0, number, np.nan)
    return found


def interval(score: float, spread: float, n_blocks: int, is_share: bool, best: float) -> tuple[float, float]:
    """Return the ends of the interval of LEVEL around a score.

    Shares have Wilson's interval for as many rows as give this standard error, other scores one of Student's t.

    Parameters
    ----------
    score, spread : float
        A score and its standard error.
    n_blocks : int
        What it was measured on.
    is_share : bool
        Whether a row's score is 0 or 1.
    best : float
        The best possible score.

    Examples
    --------
    >>> from frugalboost.selection.optimism import interval
    >>> [round(end, 3) for end in interval(1.0, 0.0, 80, True, 1.0)]
    [0.953, 1.0]
    >>> [round(end, 3) for end in interval(1.0, 0.005, 80, True, 1.0)]
    [0.943, 1.0]
    >>> [round(end, 3) for end in interval(-2.0, 0.1, 80, False, 0.0)]
    [-2.199, -1.801]
    """
    t = float(stdtrit(max(1, n_blocks - 1), (1 + LEVEL) / 2))
    if not is_share:
        return score - t * spread, min(best, score + t * spread)
    low, high = wilson(score, float(n_blocks), t)
    if spread > 0:
        as_many = min(score * (1 - score) / spread / spread, float(n_blocks))
        wide = wilson(score, max(as_many, 1.0), t)
        # Near 0 and 1 the variance of a row says nothing about the spread: there it is added.
        low, high = max(wide[0], low - t * spread), min(wide[1], high + t * spread)
    return max(0.0, min(low, score)), min(1.0, max(high, score))


def wilson(share: float, rows: float, t: float) -> tuple[float, float]:
    """Return the ends of Wilson's interval for a share of so many rows."""
    middle = (share + t * t / (2 * rows)) / (1 + t * t / rows)
    half = t / (1 + t * t / rows) * np.sqrt(share * (1 - share) / rows + t * t / (4 * rows * rows))
    return float(middle - half), float(middle + half)
