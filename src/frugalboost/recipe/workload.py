"""How much work the parts of a run are, in fits of one model of the path: what the progress bar starts from.

Rough numbers are enough: the bar corrects them as soon as parts are done. ``python -m lab.speed.time_left`` compares
what was said with what came.
"""

from __future__ import annotations

from frugalboost._support.plan import Estimate, Part
from frugalboost.recipe.effort import FIRST, LATER, Effort
from frugalboost.recipe.request import Settings

TRAINING = 0.8  # share of the rows in a split
SELLING, SELLING_LINES = 30.0, 4.0  # buying more and selling back; with lines, which are tried on wide tables
CHOSEN_TREES = 0.6  # the path on all rows has as many trees as were best, not all
FREE_TREES = 0.6  # the fits without prices, which stop where more trees no longer help
FEW_COLUMNS = 0.4  # a fit on a few columns
PAGE = 2.0
USUAL_FEATURES = 10  # until the choice is known


def work_of_run(
    rows: int, all_rows: int, learners: int, settings: Settings, effort: Effort, tested: bool
) -> list[Estimate]:
    """Estimates of all parts.

    Parameters
    ----------
    rows, all_rows : int
        To choose by, and in all.
    learners : int
        Kinds of base learners that are tried.
    settings : Settings
        What the user set.
    effort : Effort
        How much the search does.
    tested : bool
        Whether there are test rows.
    """
    sells = settings.k is not None or (settings.mu is None and settings.sell)
    one = selling_work(learners) if sells else 1.0  # fit of the kind that is chosen
    again = TRAINING * effort.splits * one if sells or (settings.mu is not None and not settings.no_path) else 0.0
    fits = float(effort.points) if settings.thorough or settings.no_path else FIRST * effort.points + LATER
    points = effort.points
    free = FREE_TREES * TRAINING * effort.splits * learners
    return [
        Estimate(Part.SEARCH, TRAINING * fits * effort.splits * learners + 2.0, after=2.0),
        Estimate(Part.SELLING, again + one if again else 0.0, after=one),
        Estimate(Part.ALL_ROWS, one * all_rows / rows if all_rows > rows else 0.0),
        Estimate(Part.PATH, CHOSEN_TREES * points + free, after=free, pieces=points),
        work_of_steps(settings.k or USUAL_FEATURES, 0.0, effort.splits, tested),
        Estimate(Part.REPORT, PAGE),
    ]


def work_of_steps(features: int, buying: float, splits: int, tested: bool) -> Estimate:
    """The estimate of the errors with one feature, two, ...: every split may buy again, then fits few columns."""
    parts = TRAINING * splits
    return Estimate(Part.STEPS, parts * buying + FEW_COLUMNS * features * (parts + tested))


def selling_work(learners: int) -> float:
    """The work of buying more and selling back."""
    return SELLING_LINES if learners > 1 else SELLING
