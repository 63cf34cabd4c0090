"""RF-FS of the paper: a random forest ranks the columns by impurity, and another is fitted on the top k.

The size of its leaves is chosen on the validation rows: full-grown trees lose on tables of 0 and 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from lab.quality.splits import Split
from lab.rivals.selectors.common import Answer, late

NAME = "random forest, top importance"
TREES = 200
LEAVES = (1, 5, 20)

Forest = RandomForestClassifier | RandomForestRegressor


def run(split: Split, ks: Sequence[int], deadline: float) -> dict[int, Answer]:
    """Rank once, refit for each k."""
    everything = np.arange(split.X_train.shape[1])
    ranking = np.argsort(-best_forest(split, everything).feature_importances_, kind="stable")
    answers = {}
    for k in ks:
        if late(deadline):
            break
        columns = ranking[:k]
        model = best_forest(split, columns)
        features = columns[np.flatnonzero(model.feature_importances_)]
        answers[k] = Answer(features, model.predict(split.X_test[:, columns]))
    return answers


def best_forest(split: Split, columns: np.ndarray) -> Forest:
    """The forest of lowest validation error over the sizes of leaves."""
    forests = [forest(split, leaf).fit(split.X_train[:, columns], split.y_train) for leaf in LEAVES]
    return max(forests, key=lambda model: model.score(split.X_valid[:, columns], split.y_valid))


def forest(split: Split, leaf: int) -> Forest:
    if split.task == "classification":
        return RandomForestClassifier(TREES, min_samples_leaf=leaf, n_jobs=1, random_state=0)
    return RandomForestRegressor(TREES, min_samples_leaf=leaf, max_features=1 / 3, n_jobs=1, random_state=0)
