"""LightGBM with one setting for all that train it on some columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import lightgbm
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from lab.rivals.rows import Floats, Places, Rows
from lab.rivals.selector import CLASSIFICATION
from lab.rivals.sized import DEPTH, LEARNING_RATE, PATIENCE, TREES, Model, Work


@dataclass(frozen=True)
class Boosted:
    """A booster, stopped early or after a number of trees."""

    booster: lightgbm.Booster
    task: str

    @classmethod
    def fit(cls, train: Rows, valid: Rows | None, task: str, seed: int = 0, trees: int = TREES, **more: Any) -> Self:
        """Boost, stopped early on the validation rows where there are some."""
        classes = task == CLASSIFICATION
        params = {
            "objective": "binary" if classes else "regression",
            "metric": "binary_logloss" if classes else "rmse",
            "learning_rate": LEARNING_RATE,
            "max_depth": DEPTH,
            "num_leaves": 2**DEPTH,
            "min_data_in_leaf": smallest_leaf(train),
            "num_threads": 1,
            "seed": seed,
            "verbosity": -1,
        }
        data = lightgbm.Dataset(train.X, train.labels)
        if valid is None:
            return cls(lightgbm.train(params | more, data, trees), task)
        stop = lightgbm.early_stopping(PATIENCE, verbose=False)
        checks = lightgbm.Dataset(valid.X, valid.labels, reference=data)
        return cls(lightgbm.train(params | more, data, trees, valid_sets=[checks], callbacks=[stop]), task)

    @property
    def gains(self) -> Floats:
        """Total gain of each column, over the trees that early stopping keeps."""
        found: Floats = self.booster.feature_importance("gain", iteration=self.booster.best_iteration)
        return found

    @property
    def feature_importances_(self) -> NDArray[Any]:
        """How often each column is split."""
        found: NDArray[Any] = self.booster.feature_importance("split", iteration=self.booster.best_iteration)
        return found

    @property
    def used(self) -> Places:
        """The columns that are split, those with the largest gain first."""
        order = np.argsort(-self.gains, kind="stable")
        return order[self.feature_importances_[order] > 0]

    def score(self, X: Any) -> Floats:
        """Probabilities of class 1, or the prediction of a regression."""
        return np.asarray(self.booster.predict(X.toarray() if issparse(X) else X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Class numbers, or numbers."""
        score = self.score(X)
        return (score > 0.5).astype(np.int64) if self.task == CLASSIFICATION else score

    def on(self, columns: Places | None = None) -> Model:
        """A model of the whole table, of which the booster saw these columns (None: all)."""
        if columns is None:
            return Model(self.used, self.predict)
        return Model(columns[self.used], lambda X: self.predict(np.ascontiguousarray(X[:, columns])))


def smallest_leaf(train: Rows) -> int:
    """LightGBM's default of 20 rows, but fewer where it would forbid every split: colon has 39 training rows."""
    return min(20, len(train.labels) // 10)


def fit_on(work: Work, columns: Places, task: str, seed: int) -> Boosted:
    """Boost on some columns."""
    return Boosted.fit(work.train.columns(columns), work.valid.columns(columns), task, seed)


def refit_on_top(work: Work, ranking: Places, task: str, seed: int) -> dict[int, Model]:
    """Boost anew on the first k columns of a ranking, for each k."""
    found: dict[int, Model] = {}
    for k in work.ks:
        if work.late:
            break
        found[k] = fit_on(work, ranking[:k], task, seed).on(ranking[:k])
    return found


def valid_loss(score: Floats, valid: Rows, task: str) -> float:
    """Log loss of probabilities, or RMSE, on the validation rows: what penalties are chosen by."""
    if task != CLASSIFICATION:
        return float(np.sqrt(np.mean((score - valid.labels) ** 2)))
    score = np.clip(score, 1e-12, 1 - 1e-12)
    return float(-np.mean(np.where(valid.labels == 1, np.log(score), np.log(1 - score))))


def next_size(now: int, ks: Sequence[int], drop: float) -> int:
    """A share fewer, at least one fewer, and no further than the next k; 0 when no k is left."""
    below = max((k for k in ks if k < now), default=0)
    return max(below, now - max(1, int(drop * now))) if below else 0
