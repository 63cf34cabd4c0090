"""The tables on which training is timed, and what is asked of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from lab.data import load

Table = tuple[np.ndarray, np.ndarray]

SETTING = {"depth": 4, "bins": 255, "min_leaf": 20, "threads": 2}


@dataclass(frozen=True)
class Work:
    """A table, the model to be trained on it, and how often it is timed."""

    load: Callable[[], Table]
    trees: int
    mu: float  # absolute units; a first guess where a number of features is wanted
    features: int | None = None  # wanted, within 10 %; None: as many as mu buys
    at_least: float | None = None  # LightGBM CEGB's seconds / ours
    rounds: int = 3  # of ours and LightGBM CEGB
    other_rounds: int = 1
    trainings: int = 3  # in one round, while they take less than a few seconds
    part: int = 1  # penalties are searched on every n-th row, then checked on all rows
    left_out: tuple[str, ...] = ()  # rivals that would take too long
    reads_data: bool = True  # from the data folder


def synthetic(rows: int, columns: int) -> Table:
    """Make a table with at most 20 informative columns and 10 that follow from them."""
    X, y = make_classification(
        rows, columns, n_informative=min(20, columns // 2), n_redundant=min(10, columns // 4), random_state=0
    )
    return X.astype(np.float32), y.astype(np.float64)


def training_rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read a table with two classes: the official training rows, or all where no test rows are marked."""
    data = load(name)
    rows = slice(None) if data.is_test is None else ~data.is_test
    return data.X[rows], data.y[rows].astype(np.float64)


def real(name: str) -> Table:
    """A table in double precision."""
    X, y = training_rows(name)
    return X.astype(np.float64), y


def kddcup99(times: int) -> Table:
    """Tile the 10 percent file, 122 columns in single precision, attack or not."""
    X, y = training_rows("kddcup99")
    return np.tile(X, (times, 1)), np.tile(y, times)


def made(rows: int, columns: int, trees: int, mu: float, **more: Any) -> Work:
    return Work(lambda: synthetic(rows, columns), trees, mu, reads_data=False, **more)


LARGE: dict[str, Any] = {"rounds": 2, "trainings": 1}

WORKS = {
    "1,000,000 x 60": made(1_000_000, 60, 100, 556.0, features=17, at_least=3.0, part=10, **LARGE),
    "1,000,000 x 500": made(
        1_000_000, 500, 100, 429.0, features=20, at_least=10.0, part=10, left_out=("sklearn_hist",), **LARGE
    ),
    "100,000 x 200": made(100_000, 200, 200, 178.0, features=9, at_least=3.0, trainings=1),
    "kddcup99 tiled": Work(
        lambda: kddcup99(10), 500, 300.0, 10, 3.0, part=10, left_out=("catboost_plain", "sklearn_hist"), **LARGE
    ),
    "kddcup99": Work(lambda: kddcup99(1), 500, 30.0, 10, rounds=2, trainings=1),
    "mnist 3 vs 8": Work(lambda: real("mnist3vs8"), 300, 2.3, 28, 1.5),
    "spam": Work(lambda: real("spam"), 500, 4.0, 10, 1.0),
    "adult": Work(lambda: real("adult"), 500, 10.0, 12, 1.0),
    "pcmac": Work(lambda: real("pcmac"), 500, 1.25, 20, 1.0),
    "colon": Work(lambda: real("colon"), 500, 0.07, 10, 1.0),
}
QUICK = {
    "20,000 x 60": made(20_000, 60, 50, 15.0, features=16, at_least=1.0, rounds=1, part=2, other_rounds=1),
    "2,000 x 300": made(2_000, 300, 50, 4.0, features=20, at_least=1.0, rounds=1, other_rounds=1),
}
