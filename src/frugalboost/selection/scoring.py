"""Scores of fitted models by any scorer of scikit-learn."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from frugalboost.estimators.base import GBFSBase
from frugalboost.tables.sample import Rows

Floats = NDArray[np.float64]


class Scorer:
    """Calls a scorer of scikit-learn, with weights where it can take them."""

    def __init__(self, scorer: Callable[..., float]) -> None:
        self._scorer = scorer
        self._takes_weights = _takes_weights(scorer)

    def __call__(self, estimator: GBFSBase, X: Any, y: Any, weights: Floats | None) -> float:
        """Return the score; higher is better."""
        more = {"sample_weight": weights} if self._takes_weights and weights is not None else {}
        return float(self._scorer(estimator, X, y, **more))

    def on_rows(self, estimator: GBFSBase, rows: Rows, weighted: bool) -> float:
        """Return the score on rows that were checked: without names by now."""
        nameless = copy.copy(estimator)
        if hasattr(nameless, "feature_names_in_"):
            del nameless.feature_names_in_
        y = estimator.classes_[rows.y.astype(np.intp)] if is_classifier(estimator) else rows.y
        return self(nameless, rows.table.for_scorers, y, rows.weights if weighted else None)


def _takes_weights(scorer: Any) -> bool:
    """A scorer made by make_scorer passes weights on to its metric, which may not know them."""
    if type(scorer).__name__ == "_PassthroughScorer":  # the estimator's own score
        return True
    try:
        return "sample_weight" in inspect.signature(getattr(scorer, "_score_func", scorer)).parameters
    except (TypeError, ValueError):
        return False
