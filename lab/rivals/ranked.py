"""Selectors that rank the features once and train a model on the top k."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lab.rivals.rows import Places, Rows
from lab.rivals.selector import POSITIVE, Selector
from lab.rivals.svm import TunedSVM


class Ranked(Selector):
    """Keeps the ranking, the training rows, and a model for each number of features that was asked for."""

    ranking_: Places
    _rows: tuple[Rows, Rows | None]
    _models: dict[int, Any]

    @abstractmethod
    def _ranked(self, rows: Rows, validation: Rows | None) -> Places:
        """Columns, best first."""

    @abstractmethod
    def _trained(self, rows: Rows, validation: Rows | None) -> Any:
        """A model of these columns that predicts class numbers, or numbers in regression."""

    def _learn(self, rows: Rows, validation: Rows | None) -> None:
        self.ranking_ = np.asarray(self._ranked(rows, validation), dtype=np.int64)
        self._rows, self._models = (rows, validation), {}

    def _features(self, k: int) -> Places:
        return self.ranking_[:k].copy()

    def used(self, k: int) -> Places:
        """Return those of ``features(k)`` that the model looks at, as in :class:`Selector`."""
        columns = self.features(k)
        importance = getattr(self._model(columns), "feature_importances_", None) if len(columns) else None
        return columns if importance is None else columns[np.flatnonzero(importance)]

    def _predicted(self, X: Any, k: int) -> NDArray[Any]:
        columns = self.ranking_[:k]
        found: NDArray[Any] = self._model(columns).predict(X[:, columns])
        return found

    def _model(self, columns: Places) -> Any:
        if len(columns) not in self._models:
            rows, validation = self._rows
            held_out = None if validation is None else validation.columns(columns)
            self._models[len(columns)] = self._trained(rows.columns(columns), held_out)
        return self._models[len(columns)]


class RankedForSVM(Ranked):
    """Ranks ``count`` features at most; the model is an SVM."""

    _kernel: ClassVar[str] = "rbf"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Selector._parameter_constraints,
        "count": [POSITIVE],
        "tuning_rows": [POSITIVE],
    }

    def __init__(self, *, count: int = 100, splits: int = 5, tuning_rows: int = 2000, seed: int = 0) -> None:
        self.count = count
        self.splits = splits
        self.tuning_rows = tuning_rows
        self.seed = seed

    def _trained(self, rows: Rows, validation: Rows | None) -> Any:
        svm = TunedSVM(self._kernel, seed=self.seed, splits=self.splits, tuning_rows=self.tuning_rows)
        svm.fit(rows.X, rows.labels)
        return svm
