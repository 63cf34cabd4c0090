"""Small fits that run every kernel, for compute-sanitizer.

PYTHONPATH=. compute-sanitizer --tool racecheck python cuda/bench/small.py
"""

from __future__ import annotations

import warnings

import numpy as np
from equal import table

from frugalboost import GBFSClassifier, GBFSRegressor


def main() -> None:
    """Fit them."""
    warnings.simplefilter("ignore")
    X, y = table(6_000, 19)
    two, four = y > 0, np.digitize(y, [-1.0, 0.0, 1.5])
    weights = np.random.default_rng(1).random(len(y)) + 0.1
    on = {"device": "cuda", "max_iter": 3, "mu": 1e-4}
    GBFSClassifier(**on, categorical_features=[3, 10]).fit(X, two)
    GBFSClassifier(**on, early_stopping=True, subsample=0.5, random_state=0).fit(X, two, sample_weight=weights)
    GBFSClassifier(**on).fit(X, four)
    GBFSClassifier(**on, multi_strategy="multi_output_tree").fit(X, four)
    GBFSRegressor(**on, loss="absolute_error", base="both").fit(X, y)
    GBFSRegressor(**on, base="lines", monotonic_cst=[1] + [0] * 18).fit(X, y, sample_weight=weights)
    GBFSRegressor(**on, screening="exact", max_leaf_nodes=6).fit(X, y)
    GBFSRegressor(n_features_to_select=3, device="cuda", max_iter=3, refit="auto", random_state=0).fit(X[:800], y[:800])
    print("done")


if __name__ == "__main__":
    main()
