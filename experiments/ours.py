"""Gradient boosted feature selection in two forms: as the paper has it, and as this library does it best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split

from frugalboost import GBFSClassifier, gbfs_path

MUS = tuple(float(mu) for mu in 2.0 ** np.linspace(-3, 9, 10))  # the paper's range, in its absolute units
DEPTHS = (3, 4, 5, 6)
SPLITS = 5
PATIENCE = 50  # iterations without a lower validation loss, after which a fit that looks for one ends
ENOUGH = 50  # validation rows; fewer can't say when to stop


@dataclass(frozen=True)
class Effort:
    """How much is tried; the quick form tries little."""

    trees: int = 2000
    depths: tuple[int, ...] = DEPTHS
    splits: int = SPLITS
    mus: tuple[float, ...] = MUS

    @classmethod
    def of(cls, quick: bool) -> Effort:
        """All, or little."""
        return cls(trees=100, depths=(4,), splits=1, mus=MUS[::3]) if quick else cls()


def paper_model(mu: float, depth: int, trees: int, **more: Any) -> GBFSClassifier:
    """The paper's algorithm: mean gradients in the leaves, a start from zero, mu in absolute units."""
    settings = {"leaf_values": "gradient", "init": "zero", "mu_unit": "absolute", "min_samples_leaf": 1, "n_jobs": 1}
    return GBFSClassifier(mu, max_depth=depth, max_iter=trees, **(settings | more))


def tuned(mu: float, X: np.ndarray, y: np.ndarray, seed: int, effort: Effort, **more: Any) -> GBFSClassifier:
    """One mu; depth and number of trees by the mean validation loss over random 80/20 splits, then all rows."""
    cuts = list(StratifiedShuffleSplit(effort.splits, test_size=0.2, random_state=seed).split(X, y))
    found = []
    for depth in effort.depths:
        losses, trees = [], []
        for train, valid in cuts:
            model = paper_model(mu, depth, effort.trees, early_stopping=True, n_iter_no_change=PATIENCE, **more).fit(
                X[train], y[train], X_val=X[valid], y_val=y[valid]
            )
            losses.append(model.history_["validation_loss"][model.best_iteration_])
            trees.append(model.best_iteration_)
        found.append((float(np.mean(losses)), depth, max(1, round(float(np.mean(trees))))))
    _, depth, trees = min(found)
    return paper_model(mu, depth, trees, **more).fit(X, y)


def paper_path(X: np.ndarray, y: np.ndarray, seed: int, effort: Effort, **more: Any) -> list[GBFSClassifier]:
    """A model for each of the paper's mu."""
    return [tuned(mu, X, y, seed, effort, **more) for mu in effort.mus]


def best_path(X: np.ndarray, y: np.ndarray, ks: Sequence[int], seed: int, quick: bool) -> dict[int, GBFSClassifier]:
    """Newton leaves; buy, sell back down to k, refit; the mean of five models of one set of features.

    A fifth of the rows says when to stop and which of two depths is better, where that is at least 50 rows; fewer rows
    can't, and 100 trees of depth 4 are fitted to all of them.
    """
    ks = sorted(ks)
    if len(y) // 5 < ENOUGH:
        models = by_number(X, y, ks, GBFSClassifier(max_iter=100, min_samples_leaf=5, n_jobs=1))
        return dict(zip(ks, models, strict=True))
    train, valid = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed)
    rows = {"X_val": X[valid], "y_val": y[valid]}
    paths = []
    for depth in (4,) if quick else (4, 6):
        model = GBFSClassifier(
            max_depth=depth,
            max_iter=100 if quick else 500,
            min_samples_leaf=5,
            early_stopping=True,
            average=1 if quick else 5,
            random_state=seed,
            n_jobs=1,
        )
        paths.append(by_number(X[train], y[train], ks, model, **rows))
    return {k: min((path[i] for path in paths), key=validation_loss) for i, k in enumerate(ks)}


def by_number(
    X: np.ndarray, y: np.ndarray, ks: Sequence[int], model: GBFSClassifier, **rows: np.ndarray
) -> list[GBFSClassifier]:
    return list(gbfs_path(X, y, estimator=model, n_features_to_select=list(ks), n_jobs=1, **rows).estimators)


def validation_loss(model: GBFSClassifier) -> float:
    return float(model.history_["validation_loss"][model.best_iteration_])
