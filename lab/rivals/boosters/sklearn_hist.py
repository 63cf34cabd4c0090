"""scikit-learn's HistGradientBoostingClassifier, no prices. It bins inside fit, and takes its threads from OpenMP."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

NAME = "scikit-learn hist"
BINS_APART = False


def bin(X: np.ndarray, y: np.ndarray, setting: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Nothing yet: fit does it."""
    return X, y


def train(data: tuple[np.ndarray, np.ndarray], setting: dict[str, Any], penalty: float) -> int:
    """Bin and boost; there are no penalties."""
    model = HistGradientBoostingClassifier(
        learning_rate=0.1,
        max_iter=setting["trees"],
        max_depth=setting["depth"],
        max_leaf_nodes=2 ** setting["depth"],
        min_samples_leaf=setting["min_leaf"],
        max_bins=setting["bins"],
        early_stopping=False,
    )
    model.fit(*data)
    nodes = np.concatenate([tree.nodes for (tree,) in model._predictors])
    return len(np.unique(nodes["feature_idx"][nodes["is_leaf"] == 0]))
