"""Orders in which lines could buy features where columns outnumber rows: prototypes in numpy, one last fit for all.

    python -m lab.quality.orders                        # 40 tuning splits of seven tables; two minutes
    python -m lab.quality.orders --count 5 --data colon

Columns are standardised and cut at 2.5 standard deviations; the 3,000 that say most by themselves take part. The last
fit is one Newton step with shrunken curvatures, as in the library. Prints mean test errors in %, and differences from
the order of purchase; writes nothing. Tables are read from the folder that FRUGALBOOST_DATA names.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit, logit

from lab.quality.wide import TABLES, cut, table
from lab.quality.wide_page import KS

WIDTH, LIMIT, MOST, RATE = 3_000, 2.5, 50, 0.1
LEAST_GAIN = 1e-4  # of the impurity
SHRINKAGE = 1.0  # of the last fit
PARTS, SHARE = 15, 0.632  # random parts of the rows
Order = Callable[[np.ndarray, np.ndarray], list[int]]


def scaled(train: Any, test: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the columns that have the largest products with the classes."""
    Z, T = (np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float) for X in (train, test))
    for limit in (LIMIT, np.inf):
        mean, deviation = Z.mean(axis=0), Z.std(axis=0)
        deviation[deviation == 0] = 1.0
        Z, T = (np.clip((X - mean) / deviation, -limit, limit) for X in (Z, T))
    best = np.sort(np.argsort(-np.abs(Z.T @ (y - y.mean())), kind="stable")[:WIDTH])
    return Z[:, best], T[:, best]


def by_lines(Z: np.ndarray, y: np.ndarray, penalty: float = 0.0, rate: float = RATE) -> list[int]:
    """The order of purchase of boosted lines, with a penalty on squared slopes."""
    n, mean = len(y), y.mean()
    raw, slopes, order = np.full(n, logit(mean)), np.zeros(Z.shape[1]), list[int]()
    for _ in range(2_000 if penalty else 100 + 4 * MOST):
        p = expit(raw)
        g, h = y - p, p * (1 - p)
        along = Z.T @ g / n - penalty * mean * (1 - mean) * slopes
        j = int(np.argmax(np.abs(along)))
        if j not in order and not penalty and along[j] ** 2 < LEAST_GAIN * mean * (1 - mean):
            break
        if j not in order:
            order.append(j)
        if len(order) == MOST:
            break
        step = rate * along[j] / max(np.mean(h * Z[:, j] ** 2) + penalty * mean * (1 - mean), 1e-9)
        slopes[j] += step
        raw += step * Z[:, j]
        raw += rate * np.mean(y - expit(raw)) / max(h.mean(), 1e-9)
    return order


def against_shrunken(Z: np.ndarray, y: np.ndarray, shrinkage: float) -> list[int]:
    """Greedy: the largest product with what a shrunken fit of all chosen columns leaves over."""
    centred, order, left = y - y.mean(), list[int](), y - y.mean()
    for _ in range(MOST):
        along = np.abs(Z.T @ left)
        along[order] = -1.0
        order.append(int(np.argmax(along)))
        left = centred - Z[:, order] @ slopes_of(Z[:, order], centred, shrinkage)
    return order


def by_rank(Z: np.ndarray, y: np.ndarray, order: Order) -> list[int]:
    """Columns by 1 / rank, summed over random parts of the rows."""
    rng, votes = np.random.default_rng(0), np.zeros(Z.shape[1])
    for _ in range(PARTS):
        own = [np.flatnonzero(y == c) for c in (0, 1)]
        rows = np.concatenate([rng.choice(c, max(2, int(len(c) * SHARE)), replace=False) for c in own])
        for rank, j in enumerate(order(Z[rows], y[rows]), start=1):
            votes[j] += 1 / rank
    return np.argsort(-votes, kind="stable")[:MOST].tolist()


ORDERS: dict[str, Order] = {
    "order of purchase": by_lines,
    **{f"penalty {s:g}, rate {r:g}": partial(by_lines, penalty=s, rate=r) for s, r in ((0.3, 0.3), (1, 0.5), (2, 0.7))},
    **{f"penalty {s:g}, rate 1": partial(by_lines, penalty=s, rate=1.0) for s in (1.0, 3.0, 10.0)},
    "against a shrunken fit": partial(against_shrunken, shrinkage=3.0),
    "by rank over parts of the rows": partial(by_rank, order=partial(by_lines, penalty=3.0, rate=1.0)),
}


def slopes_of(Z: np.ndarray, centred: np.ndarray, shrinkage: float) -> np.ndarray:
    return np.asarray(np.linalg.solve(Z.T @ Z / len(Z) + shrinkage * np.eye(Z.shape[1]), Z.T @ centred / len(Z)))


def predicted(Z: np.ndarray, y: np.ndarray, T: np.ndarray) -> np.ndarray:
    """The last fit: slopes of one step, stretched with the intercept to the least loss."""
    slopes = slopes_of(Z, y - y.mean(), SHRINKAGE)
    said, deviation = Z @ slopes, max(float((Z @ slopes).std()), 1e-12)
    said, at = said / deviation, np.array([logit(y.mean()), 1.0])
    for _ in range(50):
        p = expit(at[0] + at[1] * said)
        g, h = y - p, p * (1 - p) + 1e-9
        down = np.array([g.mean(), np.mean(g * said) - 0.01 * at[1]])
        curved = np.array([[h.mean(), np.mean(h * said)], [np.mean(h * said), np.mean(h * said**2) + 0.01]])
        step = np.clip(np.linalg.solve(curved, down), -1.0, 1.0)
        at += step
        if np.abs(step).max() < 1e-8:
            break
    return np.asarray(at[0] + at[1] * (T @ slopes) / deviation > 0)


def errors(data: str, seeds: Sequence[int]) -> dict[str, list[list[float]]]:
    """Test errors in percent by order, split and k."""
    X, y = table(data)
    found: dict[str, list[list[float]]] = {name: [] for name in ORDERS}
    for seed in seeds:
        split = cut(data, X, y, seed)
        classes = split.y_train.astype(float)
        Z, T = scaled(split.X_train, split.X_test, classes)
        for name, order in ORDERS.items():
            bought = order(Z, classes)
            wrong = [predicted(Z[:, bought[:k]], classes, T[:, bought[:k]]) != split.y_test for k in KS]
            found[name].append([100 * float(w.mean()) for w in wrong])
    return found


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usual = [name for name in TABLES if name != "dorothea"]  # 88,000 columns
    parser.add_argument("--data", nargs="+", choices=usual, default=usual, metavar="NAME")
    parser.add_argument("--count", type=int, default=40, help="splits of each table")
    asked = parser.parse_args()
    parts = [errors(data, range(asked.count)) for data in asked.data]
    print(f"| order | {' | '.join(f'k={k}' for k in KS)} | all | difference (s.e.) |")
    print("|---|" + "---:|" * (len(KS) + 2))
    first = np.concatenate([part["order of purchase"] for part in parts])
    for name in ORDERS:
        own = np.concatenate([part[name] for part in parts])
        apart = (own - first).mean(axis=1)
        cells = [*(f"{e:.1f}" for e in own.mean(axis=0)), f"{own.mean():.2f}"]
        print(f"| {name} | {' | '.join(cells)} | {apart.mean():+.2f} ({apart.std() / np.sqrt(len(apart)):.2f}) |")


if __name__ == "__main__":
    main()
