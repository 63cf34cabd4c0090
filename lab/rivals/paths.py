"""Baselines that follow a path of penalties and choose among its models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import Interval

from lab.rivals.baseline import POSITIVE, Baseline
from lab.rivals.rows import Floats, Places, Rows, random_splits, varied

WEAKER = np.concatenate([np.geomspace(1.01, 10, 60), np.geomspace(11, 1000, 30)])  # fine where the first enter


@dataclass(frozen=True)
class Linear:
    """A linear model of a few columns, those with the largest weights on standardised columns first."""

    columns: Places
    weights: Floats
    intercept: float

    def predict(self, X: Any) -> Places:
        """Class numbers."""
        raw: Floats = X[:, self.columns] @ self.weights + self.intercept
        return (raw > 0).astype(np.int64)


@dataclass(frozen=True)
class Standard:
    """The columns that vary, standardised; a sparse table stays sparse, since an intercept makes up for its means."""

    rows: Rows
    columns: Places
    mean: Floats
    scale: Floats

    @classmethod
    def of(cls, rows: Rows) -> Self:
        """Standardise by weighted mean and variance."""
        columns = varied(rows.X)
        X = rows.X[:, columns]
        if len(columns) == 0:
            return cls(Rows(X, rows.labels, rows.weight), columns, np.zeros(0), np.ones(0))
        scaler = StandardScaler(with_mean=not issparse(X)).fit(X, sample_weight=rows.weight)
        mean = np.zeros(len(columns)) if issparse(X) else scaler.mean_
        return cls(Rows(scaler.transform(X), rows.labels, rows.weight), columns, mean, scaler.scale_)

    @property
    def base(self) -> float:
        """The share of class 1."""
        return float(np.average(self.rows.labels, weights=self.rows.weight))

    def slopes(self) -> Floats:
        """Of the summed loss by each weight, in the model that has only an intercept."""
        slopes: Floats = self.rows.X.T @ (self.rows.weight * (self.base - self.rows.labels))
        return slopes

    def empty(self) -> Linear:
        """The model that has only an intercept."""
        return Linear(np.zeros(0, dtype=np.int64), np.zeros(0), float(np.log(self.base / (1 - self.base))))

    def linear(self, weights: Floats, intercept: float) -> Linear:
        """A model of standardised columns as one of the columns as they were."""
        order = np.argsort(-np.abs(weights), kind="stable")[: np.count_nonzero(weights)]
        plain = weights[order] / self.scale[order]
        return Linear(self.columns[order], plain, intercept - float(plain @ self.mean[order]))


class Path(Baseline):
    """Keeps a model for each penalty. The one for k is the best of those with at most k features.

    The best has the lowest mean error on a fifth of the rows held out, over random splits, with the same penalty;
    among equals it is the one with the weakest penalty: with few features many models predict one class only. Without
    splits it is the largest.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Baseline._parameter_constraints,
        "count": [POSITIVE, None],
        "splits": [Interval(Integral, 0, None, closed="left")],
    }

    count: int | None
    splits: int
    seed: int
    path_: list[tuple[int, float]]
    _models: list[Linear]

    @abstractmethod
    def _largest_penalty(self, standard: Standard) -> float:
        """The weakest penalty on the summed loss with which no column is used."""

    @abstractmethod
    def _followed(self, standard: Standard, penalties: Floats) -> Iterator[Linear]:
        """A model for each penalty, weaker and weaker."""

    def _learn(self, rows: Rows) -> None:
        standard = Standard.of(rows)
        self._models = [standard.empty()]
        penalties = np.zeros(0)
        if len(standard.columns):
            penalties = self._largest_penalty(standard) / WEAKER
            for model in self._followed(standard, penalties):
                self._models.append(model)
                if self.count is not None and len(model.columns) > 2 * self.count:
                    break  # not at once: a column may leave the path again
        errors = self._errors(rows, penalties[: len(self._models) - 1])
        self.path_ = [(len(model.columns), float(error)) for model, error in zip(self._models, errors, strict=True)]

    def _errors(self, rows: Rows, penalties: Floats) -> Floats:
        """Mean error on held-out rows, without any column and for each penalty."""
        if self.splits == 0:
            return np.full(len(penalties) + 1, np.nan)
        errors = []
        for train, held_out in random_splits(rows, self.splits, self.seed):
            standard = Standard.of(train)
            nothing = standard.empty()
            models = [nothing] * len(penalties)
            if len(standard.columns):
                models = list(self._followed(standard, penalties))
            wrong = [model.predict(held_out.X) != held_out.labels for model in (nothing, *models)]
            errors.append(np.average(wrong, axis=1, weights=held_out.weight))
        mean: Floats = np.mean(errors, axis=0)
        return mean

    def _chosen(self, k: int) -> Linear:
        errors = [(-n if self.splits == 0 else error) if n <= k else np.inf for n, error in self.path_]
        return self._models[len(errors) - 1 - int(np.argmin(errors[::-1]))]

    def _features(self, k: int) -> Places:
        return self._chosen(k).columns.copy()

    def _predicted(self, X: Any, k: int) -> Places:
        return self._chosen(k).predict(X)
