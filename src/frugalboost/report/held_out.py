"""Predictions for rows that a model was not fitted on, from which errors and calibration follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from frugalboost.estimators.base import GBFSBase
from frugalboost.tables.sample import Sample

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class HeldOutPredictions:
    """What models predict for rows that they were not fitted on, beside the truth.

    A row may be there several times, once for each split that holds it out.
    """

    truth: Floats  # codes of classes, or numbers
    predicted: Floats  # a probability for each class, by row; or numbers
    split: NDArray[np.intp]  # the split that a prediction is from
    row: NDArray[np.intp]  # the place of the row in its table
    weights: Floats | None = None  # of the rows; None: all the same
    classes: tuple[Any, ...] = ()  # none for numbers

    def __len__(self) -> int:
        return len(self.truth)

    @classmethod
    def of(cls, model: GBFSBase, rows: Sample, classes: Sequence[Any]) -> HeldOutPredictions:
        """Predictions of one model.

        Parameters
        ----------
        model : GBFSClassifier or GBFSRegressor
            Fitted on other rows.
        rows : Sample
            With targets as the user passed them. Rows of a class that is not among ``classes`` are left out.
        classes : sequence
            All classes, ascending, also those that the model has not seen; empty for numbers.
        """
        truth = codes_of(rows.y, classes) if len(classes) else np.asarray(rows.y, dtype=np.float64)
        weights = None if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)
        found = cls(
            truth=truth,
            predicted=probabilities(model, rows.X, classes) if len(classes) else model.predict(rows.X),
            split=np.zeros(len(truth), dtype=np.intp),
            row=np.arange(len(truth)),
            weights=weights,
            classes=tuple(classes),
        )
        return found.take(truth >= 0) if len(classes) else found

    def take(self, places: NDArray[Any]) -> HeldOutPredictions:
        """Some of them."""
        arrays: dict[str, Any] = {n: getattr(self, n)[places] for n in ("truth", "predicted", "split", "row")}
        return replace(self, **arrays, weights=None if self.weights is None else self.weights[places])

    def from_split(self, number: int, rows: NDArray[np.integer[Any]]) -> HeldOutPredictions:
        """The same, as those of a split whose held-out rows are at these places."""
        return replace(self, split=np.full(len(self), number), row=np.asarray(rows)[self.row])

    @classmethod
    def joined(cls, parts: Sequence[HeldOutPredictions]) -> HeldOutPredictions:
        """Those of several splits."""
        names = ("truth", "predicted", "split", "row")
        arrays: dict[str, Any] = {n: np.concatenate([getattr(p, n) for p in parts]) for n in names}
        weights = [p.weights for p in parts if p.weights is not None]
        return replace(parts[0], **arrays, weights=np.concatenate(weights) if weights else None)

    @property
    def masses(self) -> Floats:
        """The weights of predictions, with a mean of 1: sums of them are numbers of rows."""
        if self.weights is None or not self.weights.sum() > 0:
            return np.ones(len(self))
        mean_one: Floats = self.weights / self.weights.mean()
        return mean_one

    @property
    def has_probabilities(self) -> bool:
        """Whether predictions of classes are probabilities; a loss of the user's own may give something else."""
        p = self.predicted
        if not self.classes or not np.isfinite(p).all():
            return False
        return bool((p >= 0).all() and np.allclose(p.sum(axis=1), 1.0, atol=1e-6))

    @property
    def best(self) -> NDArray[np.intp]:
        """The code of the predicted class of each row, as ``predict`` would choose it."""
        codes: NDArray[np.intp] = self.predicted.argmax(axis=1)
        return codes


def classes_of(model: GBFSBase) -> tuple[Any, ...]:
    """The classes of a model, ascending; none for numbers."""
    return tuple(model.classes_.tolist()) if is_classifier(model) else ()


def codes_of(y: Any, classes: Sequence[Any]) -> Floats:
    """Places in the list of classes; -1 for a value that is not there."""
    labels, place = np.unique(np.asarray(y), return_inverse=True)
    code = {label: float(k) for k, label in enumerate(classes)}
    codes: Floats = np.array([code.get(label, -1.0) for label in labels.tolist()])[place.reshape(-1)]
    return codes


def probabilities(model: Any, X: Any, classes: Sequence[Any]) -> Floats:
    """By row and class; zero for a class that the model has not seen."""
    place = {label: k for k, label in enumerate(classes)}
    found = np.zeros((X.shape[0], len(classes)))
    found[:, [place[label] for label in model.classes_.tolist()]] = model.predict_proba(X)
    return found
