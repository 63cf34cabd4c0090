"""Baselines that rank the features once and train a model on the top k."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from lab.rivals.baseline import POSITIVE, Baseline
from lab.rivals.rows import Places, Rows
from lab.rivals.svm import TunedSVM


class Ranked(Baseline):
    """Keeps the ranking, the training rows, and a model for each number of features that was asked for."""

    ranking_: Places
    _rows: Rows
    _models: dict[int, Any]

    @abstractmethod
    def _ranked(self, rows: Rows) -> Places:
        """Columns, best first."""

    @abstractmethod
    def _trained(self, rows: Rows) -> Any:
        """A model of these columns that predicts class numbers."""

    def _learn(self, rows: Rows) -> None:
        self.ranking_ = np.asarray(self._ranked(rows), dtype=np.int64)
        self._rows, self._models = rows, {}

    def _features(self, k: int) -> Places:
        return self.ranking_[:k].copy()

    def _predicted(self, X: Any, k: int) -> Places:
        columns = self.ranking_[:k]
        if len(columns) not in self._models:
            rows = self._rows
            self._models[len(columns)] = self._trained(Rows(rows.X[:, columns], rows.labels, rows.weight))
        found: Places = self._models[len(columns)].predict(X[:, columns])
        return found


class RankedForSVM(Ranked):
    """Ranks ``count`` features at most; the model is an SVM."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Baseline._parameter_constraints,
        "count": [POSITIVE],
        "tuning_rows": [POSITIVE],
    }

    def __init__(self, *, count: int = 100, splits: int = 5, tuning_rows: int = 2000, seed: int = 0) -> None:
        self.count = count
        self.splits = splits
        self.tuning_rows = tuning_rows
        self.seed = seed

    def _trained(self, rows: Rows) -> TunedSVM:
        svm = TunedSVM(seed=self.seed, splits=self.splits, tuning_rows=self.tuning_rows)
        svm.fit(rows.X, rows.labels)
        return svm
