"""XGBoost with histograms, no prices.

It bounds a leaf by its sum of hessians, not by its rows. 20 rows have a sum of 5 where the probability is a half, and
less elsewhere: a bound of 5 asks for at least 20 rows, and for more in later trees. Its penalty on leaf values is
turned off, as it is in the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost

NAME = "XGBoost hist"
BINS_APART = True


def bin(X: np.ndarray, y: np.ndarray, setting: dict[str, Any]) -> Any:
    """Make a QuantileDMatrix."""
    return xgboost.QuantileDMatrix(X, y, max_bin=setting["bins"], nthread=setting["threads"])


def train(data: Any, setting: dict[str, Any], penalty: float) -> int:
    """Boost; there are no penalties."""
    params = {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "learning_rate": 0.1,
        "max_depth": setting["depth"],
        "min_child_weight": setting["min_leaf"] / 4,
        "reg_lambda": 0.0,
        "max_bin": setting["bins"],
        "nthread": setting["threads"],
        "verbosity": 0,
    }
    model = xgboost.train(params, data, num_boost_round=setting["trees"])
    return len(model.get_score(importance_type="weight"))
