"""Whether models of a GPU and of the CPU have the same bytes: many settings on made tables, and real ones.

    PYTHONPATH=. python cuda/bench/equal.py

Real tables are read from the folder that FRUGALBOOST_DATA names. Prints a line for each model; ends with status 1 where
two differ.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from typing import Any

import numpy as np

from frugalboost import GBFSClassifier, GBFSRegressor
from frugalboost.costs import Bags
from lab.data import load
from lab.speed.hashes import digest

REAL = ("spam", "adult", "mnist3vs8")


def table(rows: int, columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of several kinds, some missing, and a target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)).astype(np.float32)
    X[:, ::5] = np.round(X[:, ::5])
    X[:, 3::7] = rng.integers(0, 12, size=X[:, 3::7].shape)
    X[rng.random(X.shape) < 0.02] = np.nan
    y = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1] * X[:, 2]) + (X[:, 3] == 4) + rng.normal(size=rows)
    return X, y


def cases() -> Any:
    """Name, estimator, X, y, weights."""
    X, y = table(40_000, 37)
    classes = np.digitize(y, [-1.0, 0.0, 1.5])
    weights = np.random.default_rng(1).random(len(y)) + 0.1
    two = y > np.median(y)
    yield "two classes", GBFSClassifier(1e-4, max_iter=40), X, two, None
    yield "weights", GBFSClassifier(1e-4, max_iter=30), X, two, weights
    yield "categories", GBFSClassifier(1e-4, max_iter=30, categorical_features=[3, 10, 17]), X, two, None
    yield "four classes", GBFSClassifier(1e-4, max_iter=15), X, classes, None
    yield "one tree for all", GBFSClassifier(1e-4, max_iter=25, multi_strategy="multi_output_tree"), X, classes, None
    for loss in ("squared_error", "absolute_error", "quantile", "huber"):
        yield loss, GBFSRegressor(1e-4, max_iter=25, loss=loss), X, y, None
        yield f"{loss}, weights", GBFSRegressor(1e-4, max_iter=10, loss=loss), X, y, weights
    for loss in ("poisson", "gamma", "tweedie"):
        yield loss, GBFSRegressor(1e-4, max_iter=25, loss=loss), X, np.exp(0.5 * y), None
    yield "stopped early", GBFSClassifier(1e-4, max_iter=60, early_stopping=True, random_state=1), X, two, None
    yield "sampled", GBFSClassifier(1e-4, max_iter=30, subsample=0.5, max_features=0.5, random_state=2), X, two, None
    yield "new features", GBFSClassifier(1e-4, max_iter=30, new_features=0.4, random_state=2), X, two, None
    yield "best first", GBFSClassifier(1e-4, max_iter=20, max_leaf_nodes=12), X, two, None
    yield "bags", GBFSClassifier(1e-4, max_iter=30, costs=Bags(np.arange(37) // 4)), X, two, None
    yield "trends", GBFSRegressor(1e-4, max_iter=30, monotonic_cst=[1, -1] + [0] * 35), X, y, None
    yield "lines", GBFSClassifier(1e-4, max_iter=30, base="lines"), X, two, None
    yield "both", GBFSRegressor(1e-4, max_iter=30, base="both"), X, y, None
    yield "both, absolute", GBFSRegressor(1e-4, max_iter=20, base="both", loss="absolute_error"), X, y, None
    yield "exactly five", GBFSClassifier(n_features_to_select=5, max_iter=20, random_state=0), X, two, None
    yield "exact screening", GBFSClassifier(1e-3, max_iter=40, screening="exact"), X, two, None
    large, y = table(581_012, 54, seed=3)
    yield (
        "covtype's size",
        GBFSClassifier(1e-4, max_iter=40),
        large,
        np.digitize(y, [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0]),
        None,
    )
    yield "covtype's size, two classes", GBFSClassifier(1e-4, max_iter=100), large, y > 0, None
    if "FRUGALBOOST_DATA" in os.environ:
        for name in REAL:
            data = load(name)
            yield name, GBFSClassifier(1e-3, max_iter=100), data.X, data.y, None


def main() -> None:
    """Fit all cases on both."""
    warnings.simplefilter("ignore")
    different = 0
    for name, estimator, X, y, weights in cases():
        found, seconds = {}, {}
        for device in ("cpu", "cuda"):
            begin = time.perf_counter()
            found[device] = digest(estimator.set_params(device=device).fit(X, y, sample_weight=weights))
            seconds[device] = time.perf_counter() - begin
        same = found["cpu"] == found["cuda"]
        different += not same
        word = "same" if same else "DIFFERENT"
        print(
            f"{word} {found['cuda'][:16]} {name}: cpu {seconds['cpu']:.2f} s, cuda {seconds['cuda']:.2f} s", flush=True
        )
    print(f"{different} models differ")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
