"""Scores of fitted models by any scorer of scikit-learn."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.metrics._scorer import _BaseScorer

from frugalboost.tables.kinds import Table
from frugalboost.tables.sample import Sample

Floats = NDArray[np.float64]


# Scores whose best value is 1.
UP_TO_ONE = (
    "accuracy",
    "balanced_accuracy",
    "top_k_accuracy",
    "roc_auc",
    "average_precision",
    "f1",
    "precision",
    "recall",
    "jaccard",
    "r2",
    "R²",
    "explained_variance",
    "d2_",
    "matthews_corrcoef",
)


def best_score(name: str) -> float:
    """Return the best possible value of a score; infinity where it is not known.

    Examples
    --------
    >>> from frugalboost.selection.scoring import best_score
    >>> best_score("roc_auc_ovr"), best_score("neg_log_loss"), best_score("my_profit")
    (1.0, 0.0, inf)
    """
    if name.startswith(UP_TO_ONE):
        return 1.0
    return 0.0 if name.startswith("neg_") else float("inf")


class Scorer:
    """Calls a scorer of scikit-learn, with weights where it can take them."""

    def __init__(self, scorer: Callable[..., float]) -> None:
        self._scorer = scorer
        self._takes_weights = _takes_weights(scorer)
        # These scorers only ask for predictions: they pass X on to the model, which takes a checked table.
        self.asks_for_predictions = isinstance(scorer, _BaseScorer) or _is_own_score(scorer)

    def __call__(self, estimator: Any, X: Any, y: Any, weights: Floats | None) -> float:
        """Return the score; higher is better. A user's own scorer gets X as the user passed it."""
        if isinstance(X, Table) and not self.asks_for_predictions:
            X = X.as_given
        more = {"sample_weight": weights} if self._takes_weights and weights is not None else {}
        return float(self._scorer(estimator, X, y, **more))

    def on_checked(self, estimator: Any, sample: Sample, weighted: bool) -> float:
        """Return the score on a checked sample, whose y holds class codes."""
        y = estimator.classes_[sample.y.astype(np.intp)] if is_classifier(estimator) else sample.y
        return self(estimator, sample.X, y, sample.weights if weighted else None)


def scorer_of(estimator: Any, scoring: str | Callable[..., float] | None) -> Scorer:
    """Return the scorer for ``scoring=``; ValueError for one that can't judge the estimator.

    Predictions of survival are risks, and its targets signed times: the metrics of scikit-learn would compare the one
    with the other.
    """
    own = getattr(estimator, "_score_name", None)  # what its method `score` gives, if scikit-learn has no name
    metric = getattr(scoring, "_score_func", None)  # of a scorer that was made by make_scorer
    theirs = isinstance(scoring, str) or str(getattr(metric, "__module__", "")).startswith("sklearn.")
    if own is not None and scoring != own and theirs:
        given = repr(scoring) if isinstance(scoring, str) else f"<{getattr(metric, '__name__', metric)}>"
        raise ValueError(
            f"scoring={given} compares predictions with targets, but {type(estimator).__name__} predicts risks, and "
            f"its targets are times. Use scoring={own!r}, or a function of your own, scoring(model, X, y)."
        )
    return Scorer(check_scoring(estimator, scoring=None if scoring == own else scoring))


def score_name(estimator: Any, scoring: Any) -> str:
    """The name of a score in tables and figures."""
    if scoring is None:
        return "accuracy" if is_classifier(estimator) else str(getattr(estimator, "_score_name", "R²"))
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")


def _is_own_score(scorer: Any) -> bool:
    """Whether it calls the estimator's own method ``score``."""
    return type(scorer).__name__ == "_PassthroughScorer"


def _takes_weights(scorer: Any) -> bool:
    """A scorer made by make_scorer passes weights on to its metric, which may not take them."""
    if _is_own_score(scorer):
        return True
    try:
        return "sample_weight" in inspect.signature(getattr(scorer, "_score_func", scorer)).parameters
    except (TypeError, ValueError):
        return False
