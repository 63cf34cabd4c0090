"""frugalboost, called below the estimator so that binning and training are timed apart, as for the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from frugalboost import GBFSClassifier
from frugalboost.costs import resolve
from frugalboost.losses import LogLoss
from frugalboost.tables import DenseTable
from frugalboost.tables.sample import Sample
from frugalboost.training.binning import Thresholds
from frugalboost.training.boosting import boost
from frugalboost.training.params import Params
from frugalboost.training.task import FitTask

NAME = "frugalboost"
BINS_APART = True


def bin(X: np.ndarray, y: np.ndarray, setting: dict[str, Any]) -> dict[str, Any]:
    """Find thresholds and bin."""
    table = DenseTable(X)
    thresholds = Thresholds.find(table, None, setting["bins"], setting["threads"])
    return {"binned": thresholds.bin(table, setting["threads"]), "y": y, "X": table}


def train(data: dict[str, Any], setting: dict[str, Any], penalty: float) -> int:
    """Boost, mu in absolute units."""
    settings = GBFSClassifier(
        mu=penalty,
        mu_unit="absolute",
        max_iter=setting["trees"],
        max_depth=setting["depth"],
        min_samples_leaf=setting["min_leaf"],
        new_features=setting.get("new_features", "all"),
    )
    task = FitTask(
        train=Sample(data["X"], data["y"]),
        validation=None,
        loss=LogLoss(),
        outputs=1,
        costs=resolve(setting.get("costs"), data["X"].shape[1], None),
        params=Params.from_estimator(settings),
        bins=data["binned"],
    )
    return len(boost(task, None, None, setting["threads"]).purchases.feature)
