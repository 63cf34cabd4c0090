"""LightGBM with a price on first use of a feature (CEGB), its nearest relative of this algorithm."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np

NAME = "LightGBM CEGB"
BINS_APART = True


def _params(setting: dict[str, Any]) -> dict[str, Any]:
    return {
        "objective": "binary",
        "learning_rate": 0.1,
        "max_depth": setting["depth"],
        "num_leaves": 2 ** setting["depth"],
        "min_data_in_leaf": setting["min_leaf"],
        "max_bin": setting["bins"],
        "num_threads": setting["threads"],
        "verbose": -1,
    }


def bin(X: np.ndarray, y: np.ndarray, setting: dict[str, Any]) -> Any:
    """Construct a Dataset."""
    return lightgbm.Dataset(X, y, params=_params(setting)).construct()


def train(data: Any, setting: dict[str, Any], penalty: float) -> int:
    """Boost with one coupled penalty for every feature."""
    params = _params(setting)
    if penalty > 0:
        params |= {"cegb_tradeoff": 1.0, "cegb_penalty_feature_coupled": [penalty] * data.num_feature()}
    model = lightgbm.train(params, data, num_boost_round=setting["trees"])
    return int((model.feature_importance() > 0).sum())
