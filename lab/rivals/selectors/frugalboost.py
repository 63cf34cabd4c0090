"""frugalboost: buy, sell back, refit; of all sizes up to k and of two depths the best on the validation rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frugalboost import GBFSClassifier, GBFSRegressor, SelectionPath, gbfs_path
from lab.quality.splits import Split
from lab.rivals.selectors.common import DEPTH, LEARNING_RATE, PATIENCE, TREES, Answer, late

NAME = "frugalboost, k features"
BETWEEN = (3, 7, 14, 30, 70)  # sizes that are tried besides, since fewer features may do better
DEPTHS = (DEPTH, 6)
MODELS = 5  # whose mean is the last fit
ENOUGH = 50  # validation rows; with fewer, as on colon, they can't tell when to stop, nor which model is better
FEW_TREES = 100  # where they can't


def run(split: Split, ks: Sequence[int], deadline: float) -> dict[int, Answer]:
    """One path from the largest k down for each depth."""
    wide = split.X_train.shape[1]
    sizes = sorted({*ks, *(k for k in BETWEEN if k < min(wide, max(ks)))})
    paths: list[SelectionPath] = []
    enough = len(split.y_valid) >= ENOUGH
    for depth in DEPTHS if enough else DEPTHS[:1]:
        if not paths or not late(deadline):
            paths.append(fitted_path(split, depth, average=MODELS, n_features_to_select=sizes))
    if enough:
        return {k: answer(split, paths, k) for k in ks}
    exactly = {k: paths[0].estimators[sizes.index(k)] for k in ks}
    return {k: Answer(np.sort(m.selected_features_), m.predict(split.X_test)) for k, m in exactly.items()}


def fitted_path(split: Split, depth: int, average: int = 1, **along: object) -> SelectionPath:
    """All fits stop early on the validation rows, as the rivals' do."""
    kind = GBFSClassifier if split.task == "classification" else GBFSRegressor
    enough = len(split.y_valid) >= ENOUGH
    estimator = kind(
        max_iter=TREES if enough else FEW_TREES,
        max_depth=depth,
        learning_rate=LEARNING_RATE,
        min_samples_leaf=5,
        early_stopping=enough,
        n_iter_no_change=PATIENCE,
        average=average if enough else 1,
    )
    rows = {"X_val": split.X_valid, "y_val": split.y_valid}
    return gbfs_path(split.X_train, split.y_train, estimator=estimator, n_jobs=1, **rows, **along)


def answer(split: Split, paths: Sequence[SelectionPath], k: int) -> Answer:
    """The best model with at most k features."""
    best = [path.best(most_features=k) for path in paths]
    model = min(best, key=lambda m: m.history_["validation_loss"][m.best_iteration_])
    return Answer(np.sort(model.selected_features_), model.predict(split.X_test))
