"""Do thresholds from a sample of rows cost accuracy? Held-out losses with a sample and with all rows, side by side.

    python -m lab.speed.sampled_thresholds                       # made tables of 450,000 rows, ten seeds
    python -m lab.speed.sampled_thresholds --rows 1000000 --seeds 3

Each seed makes a table, on whose first two thirds models are fitted: with thresholds from all rows, from a sample as it
is drawn, and from one that is ten times smaller. Prints the mean losses on the last third, their difference from those
of all rows, and its standard error over seeds. Writes nothing.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import replace

import numpy as np
from sklearn.datasets import make_classification

from frugalboost import GBFSClassifier
from frugalboost.tables import DenseTable
from frugalboost.training import fit
from frugalboost.training.binning import Thresholds

SAMPLED_FROM = {"all rows": 10**9, "a sample of 100,000 to 200,000": 200_000, "a sample of 10,000 to 20,000": 20_000}


def made(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns of many kinds of distributions: as made, skewed, rounded, and mostly zero."""
    X, y = make_classification(rows, 20, n_informative=12, n_redundant=4, flip_y=0.1, random_state=seed)
    X[:, 5:10] = np.exp(X[:, 5:10])
    X[:, 10:15] = np.round(X[:, 10:15], 1)
    X[:, 15:] = np.maximum(X[:, 15:] - 1.5, 0)
    return X.astype(np.float32), y


def loss(X: np.ndarray, y: np.ndarray, sampled_from: int) -> float:
    """The held-out log loss of a model whose thresholds are found with that limit."""
    train = slice(0, 2 * len(y) // 3)
    model = GBFSClassifier(1e-4, max_iter=100, n_jobs=1)
    task = model._task(*model._checked(X[train], y[train], None))
    table = task.train.table
    thresholds = Thresholds.find(table, None, task.params.max_bins, 1, sampled_from=sampled_from)
    task = replace(task, bins=thresholds.bin(table, 1), thresholds=thresholds, levels=thresholds.levels)
    found, _ = fit.fit(task, 1)
    test = slice(2 * len(y) // 3, len(y))
    raw = found.ensemble.raw(DenseTable(X[test]).numbers(), found.n_iterations, 1)[0]
    return float(np.mean(np.logaddexp(0, np.where(y[test] == 1, -raw, raw))))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=450_000, help="of a made table; two thirds are fitted")
    parser.add_argument("--seeds", type=int, default=10)
    asked = parser.parse_args()
    losses: dict[str, list[float]] = {name: [] for name in SAMPLED_FROM}
    for seed in range(asked.seeds):
        X, y = made(asked.rows, seed)
        for name, limit in SAMPLED_FROM.items():
            losses[name].append(loss(X, y, limit))
    print("| thresholds from | held-out log loss | difference | standard error |")
    print("|---|---:|---:|---:|")
    whole = losses["all rows"]
    for name, found in losses.items():
        apart = [a - b for a, b in zip(found, whole)]
        error = statistics.stdev(apart) / len(apart) ** 0.5 if len(apart) > 1 else float("nan")
        print(f"| {name} | {statistics.mean(found):.6f} | {statistics.mean(apart):+.6f} | {error:.6f} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
