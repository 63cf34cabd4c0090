"""CatBoost, no prices.

Its trees are symmetric, which is its default: all nodes of a level split on the same threshold. Such trees know no
least number of rows a leaf. Samples of rows, noise in scores and further Newton steps are turned off: the others have
none. Its penalty on leaf values stays at 3.
"""

from __future__ import annotations

from typing import Any

import catboost
import numpy as np

NAME = "CatBoost"
BINS_APART = True


def bin(X: np.ndarray, y: np.ndarray, setting: dict[str, Any]) -> Any:
    """Make a Pool and quantize it."""
    pool = catboost.Pool(X, y, thread_count=setting["threads"])
    pool.quantize(border_count=setting["bins"] - 1)
    return pool


def train(data: Any, setting: dict[str, Any], penalty: float) -> int:
    """Boost; there are no penalties."""
    model = catboost.CatBoost(
        {
            "loss_function": "Logloss",
            "boosting_type": "Plain",
            "bootstrap_type": "No",
            "random_strength": 0.0,
            "leaf_estimation_iterations": 1,
            "learning_rate": 0.1,
            "iterations": setting["trees"],
            "depth": setting["depth"],
            "thread_count": setting["threads"],
            "allow_writing_files": False,
            "logging_level": "Silent",
        }
    )
    model.fit(data)
    return int((model.get_feature_importance() > 0).sum())
