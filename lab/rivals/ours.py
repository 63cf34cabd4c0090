"""frugalboost beside its rivals, in two forms: asked for k features, and along a path of mu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from frugalboost import GBFSClassifier, GBFSRegressor, SelectionPath, gbfs_path
from lab.rivals.sized import DEPTH, LEARNING_RATE, PATIENCE, TREES, Model, Sized, Work

BETWEEN = (3, 7, 14, 30, 70)  # further sizes to try, since fewer features may be better
DEPTHS = (DEPTH, 6)
MODELS = 5  # whose mean is the last fit
ENOUGH = 50  # validation rows; with fewer, as on colon, they can't tell when to stop, nor which model is better
FEW_TREES = 100  # where they can't


class Frugalboost(Sized):
    """Buy, sell back, refit; of all sizes up to k and of two depths the best on the validation rows.

    With fewer than 50 validation rows it is a model of exactly k features. Parameters and attributes are those of
    ``lab.rivals.sized.Sized``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lab.rivals import Frugalboost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = Frugalboost(ks=(2, 5)).fit(X, y)
    >>> 0 < len(model.features(5)) <= 5
    True
    """

    title: ClassVar[str] = "frugalboost, k features"

    def _sized(self, work: Work) -> dict[int, Model]:
        ks = [k for k in work.ks if k <= work.n_columns]
        sizes = sorted({*ks, *(k for k in BETWEEN if k < min(work.n_columns, max(ks)))})
        paths: list[SelectionPath] = []
        enough = len(work.valid.labels) >= ENOUGH
        for depth in DEPTHS if enough else DEPTHS[:1]:
            if not paths or not work.late:
                paths.append(fitted_path(work, self._regresses, depth, average=MODELS, n_features_to_select=sizes))
        if enough:
            return best_models(paths, ks)
        return {k: as_model(paths[0].estimators[sizes.index(k)]) for k in ks}


class FrugalboostForward(Sized):
    """The forward part alone: a path of 40 mu; of all models with at most k features the best on validation rows.

    Nothing is sold, nothing is refitted. Parameters and attributes are those of ``lab.rivals.sized.Sized``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lab.rivals import FrugalboostForward
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = FrugalboostForward(ks=(2, 5)).fit(X, y)
    >>> 0 < len(model.features(5)) <= 5
    True
    """

    title: ClassVar[str] = "frugalboost, path of mu"

    def _sized(self, work: Work) -> dict[int, Model]:
        return best_models([fitted_path(work, self._regresses, DEPTH, n_mus=40, eps=1e-4)], work.ks)


def fitted_path(work: Work, regresses: bool, depth: int, average: int = 1, **along: Any) -> SelectionPath:
    """All fits stop early on the validation rows, as the rivals' do."""
    enough = len(work.valid.labels) >= ENOUGH
    estimator = (GBFSRegressor if regresses else GBFSClassifier)(
        max_iter=TREES if enough else FEW_TREES,
        max_depth=depth,
        learning_rate=LEARNING_RATE,
        min_samples_leaf=5,
        early_stopping=enough,
        n_iter_no_change=PATIENCE,
        average=average if enough else 1,
    )
    rows = {"X_val": work.valid.X, "y_val": work.valid.labels}
    path: SelectionPath = gbfs_path(work.train.X, work.train.labels, estimator=estimator, n_jobs=1, **rows, **along)
    return path


def best_models(paths: Sequence[SelectionPath], ks: Sequence[int]) -> dict[int, Model]:
    """For each k, the best model with at most k features of all paths."""
    found = {}
    for k in ks:
        best = [path.best(most_features=k) for path in paths]
        found[k] = as_model(min(best, key=lambda m: m.history_["validation_loss"][m.best_iteration_]))
    return found


def as_model(estimator: Any) -> Model:
    """The features that it bought, in that order."""
    return Model(np.asarray(estimator.selected_features_), estimator.predict)
