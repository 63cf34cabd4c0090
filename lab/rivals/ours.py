"""frugalboost beside its rivals, in three forms: asked for k features, plainly or tuned, and along a path of mu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from frugalboost import GBFSClassifier, GBFSRegressor, SelectionPath, gbfs_path
from lab.rivals.rows import Rows
from lab.rivals.selector import CLASSIFICATION, SEED, TASK
from lab.rivals.sized import DEPTH, KS, LEARNING_RATE, PATIENCE, TREES, Model, Sized, Work

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


class FrugalboostPlain(Sized):
    """``GBFSClassifier(n_features_to_select=k)`` as it is, on the training rows; validation rows are not looked at.

    Parameters
    ----------
    ks : sequence of int, default=(2, 5, 10, 20, 50, 100)
        The numbers of features that will be asked for.
    task : {"classification", "regression"}, default="classification"
        What is predicted.
    base : str or None, default=None
        What is boosted, as ``GBFSClassifier`` calls it. None: its default.
    seed : int, default=0
        Decides whatever is drawn.

    Attributes
    ----------
    classes_, n_features_in_ : ndarray, int
        As in :class:`Selector`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lab.rivals import FrugalboostPlain
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = FrugalboostPlain(ks=(2, 5)).fit(X, y)
    >>> 0 < len(model.features(5)) <= 5
    True
    """

    title: ClassVar[str] = "frugalboost, as it is"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "ks": ["array-like"],
        "task": [TASK],
        "base": [str, None],
        "seed": [SEED],
    }
    _keeps_sparse: ClassVar[bool] = True
    seconds = None

    def __init__(
        self, ks: Sequence[int] = KS, *, task: str = CLASSIFICATION, base: str | None = None, seed: int = 0
    ) -> None:
        self.ks = ks
        self.task = task
        self.base = base
        self.seed = seed

    def _parts(self, rows: Rows, validation: Rows | None) -> tuple[Rows, Rows]:
        return rows, rows

    def _sized(self, work: Work) -> dict[int, Model]:
        settings: dict[str, Any] = {"random_state": self.seed, "n_jobs": 1}
        settings |= {} if self.base is None else {"base": self.base}
        kind = GBFSRegressor if self._regresses else GBFSClassifier
        models = {k: kind(n_features_to_select=k, **settings) for k in work.ks if k <= work.n_columns}
        return {k: as_model(model.fit(work.train.X, work.train.labels)) for k, model in models.items()}


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
