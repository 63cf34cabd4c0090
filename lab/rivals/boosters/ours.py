"""frugalboost, called below the estimator so that binning and training are timed apart, as for the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from frugalboost.costs import resolve
from frugalboost.losses import LogLoss
from frugalboost.tables import Plain
from frugalboost.tables.sample import Rows
from frugalboost.training.binning import Thresholds
from frugalboost.training.boosting import Task, boost
from frugalboost.training.params import Params

NAME = "frugalboost"
BINS_APART = True


def bin(X: np.ndarray, y: np.ndarray, setting: dict[str, Any]) -> dict[str, Any]:
    """Find thresholds and bin."""
    table = Plain(X)
    thresholds = Thresholds.find(table, None, setting["bins"], setting["threads"])
    return {"binned": thresholds.bin(table, setting["threads"]), "y": y, "X": table}


def train(data: dict[str, Any], setting: dict[str, Any], penalty: float) -> int:
    """Boost, mu in absolute units."""
    params = Params(
        mu=penalty,
        mu_unit="absolute",
        learning_rate=0.1,
        max_iter=setting["trees"],
        max_depth=setting["depth"],
        min_samples_leaf=setting["min_leaf"],
        l2_regularization=0.0,
        leaf_values="newton",
        init="prior",
        stop="paid",
        early_stopping=False,
        n_iter_no_change=1,
        tol=0.0,
        screening="auto",
        new_features=setting.get("new_features", 1.0),
    )
    task = Task(
        train=Rows(data["X"], data["y"]),
        validation=None,
        binned=data["binned"],
        binned_validation=None,
        loss=LogLoss(),
        outputs=1,
        costs=resolve(setting.get("costs"), data["X"].shape[1], None),
        budget=np.inf,
        params=params,
    )
    return len(boost(task, None, None, setting["threads"]).purchases.feature)
