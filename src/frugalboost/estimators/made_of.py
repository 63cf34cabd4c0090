"""What a fitted model is made of: trees, lines or both."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from frugalboost.page.words import Slope
from frugalboost.tables.names import feature_names
from frugalboost.training.model import Model


class MadeOfMixin:
    """Attributes that follow from the model, so that models of earlier versions have them too."""

    _model: Model
    best_iteration_: int
    selected_features_: NDArray[np.intp]

    @property
    def base_(self) -> str:
        """What predictions are made of: "trees", "lines" or "both"; a constant counts as trees.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> GBFSRegressor(max_iter=20, base="lines").fit(X, y).base_
        'lines'
        """
        trees, lines = self._counts()
        if not lines:
            return "trees"
        return "both" if trees else "lines"

    @property
    def lines_(self) -> list[dict[str, Any]]:
        """The lines, a record for each feature that has any, in order of purchase; see the list of attributes.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = GBFSRegressor(max_iter=20, base="lines", budget=3).fit(X, y)
        >>> [(line["name"], line["direction"]) for line in model.lines_]
        [('bmi', 'positive'), ('s5', 'positive'), ('bp', 'positive')]
        """
        slopes = self._slopes()
        names = feature_names(self)
        found = []
        for column in self.selected_features_.tolist():
            if column in slopes:
                own = slopes[column]
                slope: Slope = own[0] if len(own) == 1 else own
                direction = _direction(own[0]) if len(own) == 1 else list(map(_direction, own))
                found.append({"feature": column, "name": names[column], "slope": slope, "direction": direction})
        return found

    def _counts(self) -> tuple[int, int]:
        """Trees that split, and lines."""
        check_is_fitted(self)
        return self._model.ensemble.counts(self.best_iteration_)

    def _slopes(self) -> dict[int, list[float]]:
        """By feature: the sum of its slopes for each output."""
        check_is_fitted(self)
        trees = self._model.ensemble
        by_scale = trees.slopes(self.best_iteration_)
        used = np.unique(trees.line[trees.tree_begin[: self.best_iteration_ * trees.n_outputs]])
        found: dict[int, list[float]] = {}
        for scale in used[used >= 0].tolist():
            column = int(trees.scales.feature[scale])
            before = found.get(column, [0.0] * trees.n_outputs)
            found[column] = [a + b for a, b in zip(before, by_scale[scale].tolist(), strict=True)]
        return found


def _direction(slope: float) -> str:
    return "positive" if slope > 0 else "negative" if slope < 0 else "none"


def made_of(trees: int, lines: int, features: int) -> str:
    """How many trees and lines a model adds up, in words; ``features``: that have lines."""
    parts = [_number(trees, "tree")] if trees or not lines else []
    if lines:
        parts.append(f"{_number(lines, 'line')} in {_number(features, 'feature')}")
    return " and ".join(parts)


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
