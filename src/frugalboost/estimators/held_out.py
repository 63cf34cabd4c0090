"""The held-out rows of a split, and the scores of models on them and on blocks of them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.estimators.base import GBFSBase
from frugalboost.selection.final_fit import FitResult
from frugalboost.selection.optimism import Blocks
from frugalboost.selection.row_scores import row_scores
from frugalboost.selection.scoring import Scorer
from frugalboost.selection.splits import BlockScores
from frugalboost.tables.sample import Sample

Floats = NDArray[np.float64]
FEW_BLOCKS = 5  # of a split, where only calls of the scorer tell what rows add to the score


class HeldOutRows:
    """The rows of one split that models are scored on.

    Parameters
    ----------
    template : GBFSBase
        Settings of the models.
    scorer : Scorer
        The score.
    name : str or None
        Its name, if it is one of scikit-learn's.
    rows : Sample
        The rows; targets and weights are the user's own.
    blocks : Blocks
        Of these rows.
    """

    def __init__(self, template: GBFSBase, scorer: Scorer, name: str | None, rows: Sample, blocks: Blocks) -> None:
        self._template, self._scorer, self._name = template, scorer, name
        self._rows, self._blocks = rows, blocks

    def __call__(self, result: FitResult, raw: Floats, **params: Any) -> tuple[float, BlockScores]:
        """The score of a model, whose raw predictions of these rows are given, and its scores of blocks."""
        fitted = self._estimator(result, raw, **params)
        score, rows = self._of(fitted, self._rows), self._rows
        by_row = None if self._name is None else row_scores(self._name, fitted, rows.X, rows.y, rows.weights)
        if by_row is not None:
            return score, BlockScores(self._blocks, self._blocks.means(by_row))
        return score, self._by_calls(fitted, raw, score)

    def _estimator(self, result: FitResult, raw: Floats, **params: Any) -> Any:
        if self._scorer.asks_for_predictions:  # nothing else of a fitted estimator is needed
            fitted = copy.copy(self._template)
            fitted._model, fitted.best_iteration_ = result.model, result.model.best_iteration
        else:
            fitted = self._template._with_model(result, None, None, **params)
        fitted._raw_at_hand = (self._rows.X, raw)
        return fitted

    def _of(self, fitted: Any, rows: Sample) -> float:
        return self._scorer(fitted, rows.X, rows.y, rows.weights)

    def _by_calls(self, fitted: Any, raw: Floats, score: float) -> BlockScores:
        """Scores of a few blocks by any scorer: what the score is without each of them says what it adds."""
        blocks, place = self._blocks.put_together(FEW_BLOCKS)
        number = len(blocks.numbers)
        found = np.full(number, score)
        for i in range(number if number > 1 else 0):
            kept = np.flatnonzero(place != i)
            rows = self._rows.take(kept)
            fitted._raw_at_hand = (rows.X, raw[:, kept])
            try:
                without = self._of(fitted, rows)
            except ValueError:  # not defined for so few rows, such as those of one class
                continue
            if without == without:
                found[i] = number * score - (number - 1) * without
        return BlockScores(blocks, found)
