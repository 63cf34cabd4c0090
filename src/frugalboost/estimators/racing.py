"""Searches that spend fits only where the choice is open; the recipe uses them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost._support.progress import Stage, Work
from frugalboost._support.threads import threads_for
from frugalboost.estimators.base import GBFSBase
from frugalboost.estimators.cross_validation import GBFSClassifierCV, GBFSCVBase, GBFSRegressorCV, results_of
from frugalboost.selection.race import Race
from frugalboost.selection.scoring import score_name
from frugalboost.selection.splits import Fold, Grid, Scored, Split
from frugalboost.tables.sample import Sample

Floats = NDArray[np.float64]
LEAST_SPLITS = 2  # before a search gives up


class CanNotWin(Exception):
    """The first splits say that a search will not do better than another one."""


class Racing(GBFSCVBase):
    """A search over mu that is a race, and one over numbers of features that gives up if it can't win.

    ``cv_results_`` holds the candidates that were tried, each scored on every split. The rows of the table must not
    change between ``fit`` and the use of ``_bought_in_splits``.
    """

    _most: int | None = None  # features that fits may buy, or bags; None: any number
    _rival: Floats | None = None  # scores of another model, split by split, that must be beaten; None: none

    def _try(self, template: GBFSBase, sample: Sample, targets: Sample, splits: list[Split], grid: Grid) -> None:
        if grid.parameter == "mu":
            folds = [self._kept_folds(template, sample, targets, split, grid) for split in splits]
            race = Race(folds, grid, self.rule, results_of)
            race.run(threads_for(self.n_jobs), bool(self.verbose))
            scored, candidates = race.table()
        else:
            scored, candidates = self._beaten(template, sample, targets, splits, grid), grid.candidates()
        self._publish_results(scored, candidates, score_name(template, self.scoring))

    def _kept_folds(self, template: GBFSBase, sample: Sample, targets: Sample, split: Split, grid: Grid) -> list[Fold]:
        folds = []
        for fold in self._folds(template, sample, targets, split, grid):
            fold.forget_table()
            if self._most is not None:
                fold.limit_purchases(self._most)
            folds.append(fold)
        return folds

    def _beaten(
        self, template: GBFSBase, sample: Sample, targets: Sample, splits: list[Split], grid: Grid
    ) -> list[list[Scored]]:
        """One split after another, as long as the mean score is above the rival's."""
        scored: list[list[Scored]] = []
        for number, split in enumerate(splits, start=1):
            stage = Stage(Work.CROSS_VALIDATION, f"split {number}/{len(splits)}, fit", number, len(splits))
            rows = [
                fold.rows(grid, bool(self.verbose), stage)
                for fold in self._folds(template, sample, targets, split, grid)
            ]
            scored.append([row for part in rows for row in part])
            if self._rival is not None and LEAST_SPLITS <= number < len(splits):
                best = np.array([[one.row[0] for one in rows] for rows in scored]).mean(axis=0).max()
                if not best > self._rival[:number].mean():
                    raise CanNotWin
        return scored

    def _compare(self, rows: Sample) -> dict[str, Any]:
        """Parameters of the candidate with the best mean score; no fit on all rows."""
        self._search(rows)
        found: dict[str, Any] = self.cv_results_["params"][int(np.nanargmax(self.cv_results_["mean_test_score"]))]
        return found


class RacingClassifierCV(Racing, GBFSClassifierCV):
    """A race of classifiers."""


class RacingRegressorCV(Racing, GBFSRegressorCV):
    """A race of regressors."""
