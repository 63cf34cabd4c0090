"""Gradient boosted feature selection: as the paper has it, with trees that are sold back, and by the default call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from frugalboost import GBFSClassifier, gbfs_path

MUS = tuple(float(mu) for mu in 2.0 ** np.linspace(-3, 9, 10))  # the paper's range, in its absolute units
PATIENCE = 50  # iterations without a lower validation loss, after which a fit that looks for one ends


@dataclass(frozen=True)
class Effort:
    """How much the paper's form tries; learning rate 0.1 throughout."""

    trees: int = 2000
    depths: tuple[int, ...] = (3, 4, 5, 6)
    splits: int = 5
    mus: tuple[float, ...] = MUS


@dataclass(frozen=True)
class Best:
    """How much the best form tries."""

    trees: int = 2000
    depths: tuple[int, ...] = (4, 6)
    splits: int = 1
    models: int = 5  # whose mean is the last fit
    min_samples_leaf: int = 5


QUICK = Effort(trees=100, depths=(4,), splits=1, mus=MUS[::3]), Best(trees=100, depths=(4,), models=1)
SETTINGS = {"paper": asdict(Effort()), "best": asdict(Best()), "patience": PATIENCE}


def paper_model(mu: float, depth: int, trees: int, **more: Any) -> GBFSClassifier:
    """The paper's algorithm: mean gradients in the leaves, a start from zero, mu in absolute units."""
    settings = {"leaf_values": "gradient", "init": "zero", "mu_unit": "absolute", "min_samples_leaf": 1, "n_jobs": 1}
    return GBFSClassifier(mu, max_depth=depth, max_iter=trees, **(settings | more))


def tuned(mu: float, X: np.ndarray, y: np.ndarray, seed: int, effort: Effort) -> GBFSClassifier:
    """One mu; depth and number of trees by the mean validation loss over random 80/20 splits, then all rows."""
    cuts = list(StratifiedShuffleSplit(effort.splits, test_size=0.2, random_state=seed).split(X, y))
    found = []
    for depth in effort.depths:
        model = paper_model(mu, depth, effort.trees, early_stopping=True, n_iter_no_change=PATIENCE)
        losses, trees = [], []
        for train, valid in cuts:
            model.fit(X[train], y[train], X_val=X[valid], y_val=y[valid])
            losses.append(validation_loss(model))
            trees.append(model.best_iteration_)
        found.append((float(np.mean(losses)), depth, max(1, round(float(np.mean(trees))))))
    _, depth, trees = min(found)
    return paper_model(mu, depth, trees).fit(X, y)


def paper_path(X: np.ndarray, y: np.ndarray, seed: int, effort: Effort) -> list[GBFSClassifier]:
    """A model for each mu."""
    return [tuned(mu, X, y, seed, effort) for mu in effort.mus]


def best_path(X: np.ndarray, y: np.ndarray, ks: Sequence[int], seed: int, best: Best) -> dict[int, GBFSClassifier]:
    """Newton leaves; buy, sell back down to k, refit; the mean of five models of one set of features.

    Random 80/20 splits choose depth and number of trees for all k by the mean validation loss, then all rows are used.
    """
    ks = sorted(ks)
    shared: dict[str, Any] = {"min_samples_leaf": best.min_samples_leaf, "random_state": seed, "n_jobs": 1}
    shared |= {"base": "trees"}
    cuts = list(StratifiedShuffleSplit(best.splits, test_size=0.2, random_state=seed).split(X, y))
    found = []
    for depth in best.depths:
        model = GBFSClassifier(
            max_depth=depth, max_iter=best.trees, early_stopping=True, n_iter_no_change=PATIENCE, **shared
        )
        paths = [by_number(X[a], y[a], ks, model, X_val=X[b], y_val=y[b]) for a, b in cuts]
        loss = float(np.mean([[validation_loss(m) for m in path] for path in paths]))
        trees = np.mean([[m.best_iteration_ for m in path] for path in paths], axis=0)  # for each k
        found.append((loss, depth, max(1, round(float(trees.max())))))
    _, depth, most = min(found)
    last = GBFSClassifier(max_depth=depth, max_iter=most, average=best.models, **shared)
    return dict(zip(ks, by_number(X, y, ks, last), strict=True))


def default_path(X: np.ndarray, y: np.ndarray, ks: Sequence[int]) -> dict[int, GBFSClassifier]:
    """The plain call for each k: folds of these rows decide between lines and trees, nothing else is chosen."""
    return {k: GBFSClassifier(n_features_to_select=k, n_jobs=1).fit(X, y) for k in ks}


def by_number(
    X: np.ndarray, y: np.ndarray, ks: Sequence[int], model: GBFSClassifier, **rows: np.ndarray
) -> list[GBFSClassifier]:
    return list(gbfs_path(X, y, estimator=model, n_features_to_select=list(ks), n_jobs=1, **rows).estimators)


def validation_loss(model: GBFSClassifier) -> float:
    return float(model.history_["validation_loss"][model.best_iteration_])
