"""Selectors that follow a path of penalties and choose among its models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import Interval

from lab.rivals.rows import Floats, Places, Rows, random_splits, varied
from lab.rivals.selector import POSITIVE, Selector

# By what the penalty at which the first column enters is divided; fine where the first ones enter.
WEAKER = np.concatenate([np.geomspace(1.01, 10, 60), np.geomspace(11, 1000, 30)])
FEWER = np.concatenate([np.linspace(1.01, 1.25, 7), np.geomspace(1.3, 1000, 30)])


@dataclass(frozen=True)
class Linear:
    """A linear model of a few columns, those with the largest weights on standardised columns first."""

    columns: Places
    weights: Floats
    intercept: float

    def raw(self, X: Any) -> Floats:
        """Log odds, or in regression the prediction."""
        found: Floats = X[:, self.columns] @ self.weights + self.intercept
        return found

    def predict(self, X: Any) -> Places:
        """Class numbers."""
        return (self.raw(X) > 0).astype(np.int64)

    def loss(self, rows: Rows) -> float:
        """Mean log loss."""
        margin = np.where(rows.labels == 1, 1.0, -1.0) * self.raw(rows.X)
        return float(np.average(np.logaddexp(0.0, -margin), weights=rows.weight))


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
        """The model of two classes that has only an intercept."""
        return Linear(np.zeros(0, dtype=np.int64), np.zeros(0), float(np.log(self.base / (1 - self.base))))

    def linear(self, weights: Floats, intercept: float) -> Linear:
        """A model of standardised columns as one of the columns as they were."""
        order = np.argsort(-np.abs(weights), kind="stable")[: np.count_nonzero(weights)]
        plain = weights[order] / self.scale[order]
        return Linear(self.columns[order], plain, intercept - float(plain @ self.mean[order]))


class Path(Selector):
    """Keeps a model for each penalty. The one for k is the best of those with at most k features.

    The best has the lowest mean error on a fifth of the rows held out, over random splits, with the same penalty, or
    on the validation rows; among equals it is the one with the weakest penalty: with few features many models predict
    one class only. Without either it is the largest.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Selector._parameter_constraints,
        "count": [POSITIVE, None],
        "splits": [Interval(Integral, 0, None, closed="left")],
    }

    count: int | None
    splits: int
    seed: int
    path_: list[tuple[int, float]]
    _models: list[Linear]
    _weaker: Floats = WEAKER  # the penalties, from the largest on

    def _nothing(self, standard: Standard) -> Linear:
        """The model that has only an intercept."""
        return standard.empty()

    @abstractmethod
    def _largest_penalty(self, standard: Standard) -> float:
        """The weakest penalty on the summed loss with which no column is used."""

    @abstractmethod
    def _followed(self, standard: Standard, penalties: Floats) -> Iterator[Linear]:
        """A model for each penalty, weaker and weaker."""

    def _error(self, model: Linear, rows: Rows) -> float:
        """What a model is judged by: the share of wrong answers."""
        return float(np.average(model.predict(rows.X) != rows.labels, weights=rows.weight))

    def _learn(self, rows: Rows, validation: Rows | None) -> None:
        self._models, penalties = self._along(rows)
        if validation is not None:
            errors = np.array([self._error(model, validation) for model in self._models])
        else:
            errors = self._errors(rows, penalties)
        self.path_ = [(len(model.columns), float(error)) for model, error in zip(self._models, errors, strict=True)]

    def _along(self, rows: Rows) -> tuple[list[Linear], Floats]:
        """The model without any column and one for each penalty, and these penalties."""
        standard = Standard.of(rows)
        models = [self._nothing(standard)]
        if len(standard.columns) == 0:
            return models, np.zeros(0)
        penalties = self._largest_penalty(standard) / self._weaker
        for model in self._followed(standard, penalties):
            models.append(model)
            if self.count is not None and len(model.columns) > 2 * self.count:
                break  # not at once: a column may leave the path again
        return models, penalties[: len(models) - 1]

    def _errors(self, rows: Rows, penalties: Floats) -> Floats:
        """Mean error on held-out rows, without any column and for each penalty."""
        if self.splits == 0:
            return np.full(len(penalties) + 1, np.nan)
        errors = []
        for train, held_out in random_splits(rows, self.splits, self.seed):
            standard = Standard.of(train)
            nothing = self._nothing(standard)
            models = [nothing] * len(penalties)
            if len(standard.columns):
                models = list(self._followed(standard, penalties))
            errors.append([self._error(model, held_out) for model in (nothing, *models)])
        mean: Floats = np.mean(errors, axis=0)
        return mean

    def _chosen(self, k: int) -> Linear:
        errors = [(-n if np.isnan(error) else error) if n <= k else np.inf for n, error in self.path_]
        if np.isinf(min(errors)):
            return self._models[0]  # no model is small enough but the one without any column
        return self._models[len(errors) - 1 - int(np.argmin(errors[::-1]))]

    def _features(self, k: int) -> Places:
        return self._chosen(k).columns.copy()

    def _predicted(self, X: Any, k: int) -> NDArray[Any]:
        model = self._chosen(k)
        return model.raw(X) if self._regresses else model.predict(X)
