"""Scores of fitted models on rows that were checked already."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from frugalboost.base import GBFSBase
from frugalboost.rows import Rows


class RowScorer:
    """Calls a scorer of scikit-learn on checked rows, with their weights where the scorer can take them."""

    def __init__(self, scorer: Callable[..., float], weighted: bool) -> None:
        self._scorer = scorer
        self._weighted = weighted and _takes_weights(scorer)

    def __call__(self, estimator: GBFSBase, rows: Rows) -> float:
        """Return the score; higher is better."""
        nameless = copy.copy(estimator)  # the rows are an array by now
        if hasattr(nameless, "feature_names_in_"):
            del nameless.feature_names_in_
        y: Any = rows.y
        if is_classifier(estimator):
            y = estimator.classes_[rows.y.astype(np.intp)]
        weights = {"sample_weight": rows.weights} if self._weighted and rows.weights is not None else {}
        return float(self._scorer(nameless, rows.X, y, **weights))


def _takes_weights(scorer: Any) -> bool:
    """A scorer made by make_scorer passes weights on to its metric, which may not know them."""
    function = getattr(scorer, "_score_func", scorer)
    if type(scorer).__name__ == "_PassthroughScorer":  # the estimator's own score
        return True
    try:
        return "sample_weight" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
