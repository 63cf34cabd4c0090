"""What follows the fit of an estimator: ``scoring`` and ``callbacks``."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from frugalboost.selection.concordance import NoPairsError
from frugalboost.selection.scoring import scorer_of
from frugalboost.tables.sample import Sample
from frugalboost.training.watching import Watch


def watch_of(estimator: Any) -> Watch | None:
    """The scorer and the callbacks of an estimator; None if it has neither."""
    callbacks = estimator.callbacks or ()
    if estimator.scoring is None and not callbacks:
        return None
    refuse_many_fits(estimator)
    for callback in callbacks:
        if not callable(callback):
            raise TypeError(f"callbacks has {callback!r}, which can't be called: give a list of functions.")
    return Watch(None if estimator.scoring is None else ScoreOf(estimator), tuple(callbacks))


def refuse_many_fits(estimator: Any) -> None:
    """Raise ValueError where ``scoring`` or ``callbacks`` would have to follow many fits."""
    settings = {"n_features_to_select": estimator.n_features_to_select, "refit": estimator.refit or None}
    many = [name for name, value in settings.items() if value is not None]
    given = [name for name in ("scoring", "callbacks") if getattr(estimator, name)]
    if many and given:
        raise ValueError(
            f"{' and '.join(given)} can follow only a single fit, and {many[0]} makes many, which compare losses: "
            "leave out one or the other."
        )


class ScoreOf:
    """The score of an estimator that has given raw predictions for some rows."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator
        self._scorer = scorer_of(estimator, estimator.scoring)
        self._weighted = getattr(estimator, "class_weight", None) is None  # those of classes are for the fit
        self._rows: Sample | None = None

    def __call__(self, rows: Sample, raw: NDArray[np.float64]) -> float:
        """Return the score; a user's own scorer gets X as the user passed it."""
        if rows is not self._rows:
            self._rows = rows
            self._X = rows.X if self._scorer.asks_for_predictions else rows.X.as_given
            self._y = self._estimator.classes_[rows.y.astype(np.intp)] if is_classifier(self._estimator) else rows.y
        fitted = copy.copy(self._estimator)
        fitted._model, fitted.best_iteration_ = None, 0  # only predictions of these rows can be asked for
        fitted._raw_at_hand = (self._X, raw)
        try:
            return self._scorer(fitted, self._X, self._y, rows.weights if self._weighted else None)
        except NoPairsError:
            raise ValueError(
                "scoring can't judge the validation rows: no two of them can be compared, since no event among "
                "them came before the time of another row. Give X_val and y_val with more events, raise "
                "validation_fraction, or leave scoring out: the loss needs no pairs."
            ) from None
