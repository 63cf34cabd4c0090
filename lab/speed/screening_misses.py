"""Count what screening="auto" misses on tables made to mislead it.

    python -m lab.speed.screening_misses                  # 40,000 fits of each kind of table; about 10 minutes
    python -m lab.speed.screening_misses --fits 2000      # a quick look

In each table one column is worth its price, by a hair, at one node of the first tree, because of a few of the node's
rows. Which rows are sampled follows from random_state, so one table gives as many fits as wanted. The core tells which
rows a fit draws; what it would make of them is worked out here, for the one split that matters: the library looks at
others too and can only see more. Where that is too little, the library itself is run with "off" and "auto", and a miss
is counted if they choose other features. Beside that: how many of the fits the margin of old would have missed with the
same draws, half the range of gradients, which took the shares of the sample for those of the node; and how many miss
the split in a single look if one in a thousand may. Exits with 1 if the library misses anything, or if that is clearly
more than one in a thousand.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

from frugalboost import GBFSClassifier, GBFSRegressor, _core
from frugalboost.losses import Quantile
from lab.speed.screening_bound import margin

Array = np.ndarray
N = 100_000
MISS = 1e-6  # kMissProbability in cpp/support/limits.hpp
TRIAL = 1e-3  # of a look by itself, where misses are to be seen in so few fits


@dataclass
class Attack:
    """A table, the node and the split that matter, and the first gradients."""

    name: str
    kind: type
    X: Any
    y: Array
    g: Array
    node: Array  # of booleans, as is
    side: Array  # what the split at this node sets apart
    column: int  # whose split it is; column 0 is free, and so are others in front of it
    settings: dict[str, Any]

    @property
    def gain(self) -> float:
        """What the split gains at the node."""
        return split_gain(self.g[self.node], self.side[self.node])

    def model(self, screening: str, seed: int | None) -> Any:
        """Fit to the table; mu is a hair less than the gain."""
        d = self.X.shape[1]
        costs = [0.0 if c < self.column else 1.0 if c == self.column else np.inf for c in range(d)]
        mu = self.gain * (1 - 1e-6)
        fixed = {"mu": mu, "mu_unit": "absolute", "costs": costs, "max_iter": 1, "min_samples_leaf": 10}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.kind(**fixed, **self.settings, screening=screening, random_state=seed).fit(self.X, self.y)

    def binned(self) -> _core.BinnedMatrix:
        """Return the bins that a fit works on."""
        with mock.patch.object(_core, "CpuEngine", wraps=_core.CpuEngine) as engine:
            off = self.model("off", None)
        assert self.column in off.selected_features_, self.name
        return engine.call_args.kwargs["X"]


def split_gain(g: Array, side: Array) -> float:
    n, k = len(g), int(side.sum())
    if k in (0, n):
        return 0.0
    return 0.5 * k * (n - k) / n * (g[side].mean() - g[~side].mean()) ** 2


class Sums:
    """Of the first rows of a sample, for any number of them."""

    def __init__(self, g: Array, side: Array) -> None:
        self.rows, self._g, self._side, self._both = len(g), np.cumsum(g), np.cumsum(side), np.cumsum(g * side)

    def length(self, m: int) -> float:
        """Return sqrt(2 gain) of the split in the first m rows."""
        k, g, on_side = self._side[m - 1], self._g[m - 1], self._both[m - 1]
        return 0.0 if k in (0, m) else abs(on_side - g * k / m) / np.sqrt(k * (m - k) / m)


class Judge:
    """What cpp/engine/cpu/sampling.cpp makes of a sample."""

    def __init__(self, attack: Attack, z: float, half_range: bool = False) -> None:
        g, inside = attack.g, attack.g[attack.node]
        self.attack, self.z, self.half_range = attack, z, half_range
        self.rows, self.range = len(inside), g.max() - g.min()
        self.e = min(inside.mean() - g.min(), g.max() - inside.mean()) / self.range
        self.enough = np.sqrt(2 * attack.gain * (1 - 1e-6))
        self.needed = self.rows * ((z * self.stray(0.0) + 3.5 * inside.std()) / self.enough) ** 2

    def stray(self, share: float) -> float:
        """The margin of a sample of this share of the rows, divided by z."""
        return self.range * (0.5 * np.sqrt(1 - share) if self.half_range else np.sqrt(margin(self.e, share)))

    def misses(self, sums: Sums, m: int) -> bool:
        """Tell whether the first m of the rows rule the column out."""
        share = m / self.rows
        return bool(sums.length(m) + self.z * self.stray(share) <= self.enough * np.sqrt(share))

    def looks(self, rows: int) -> list[int]:
        """How many rows are looked at, first and in the end; empty if that rules out no column."""
        if not self.needed < rows:
            return []
        first = max(int(self.needed) + 1, min(rows, 64))
        return [first, rows] if rows > 2 * first else [first]

    def misses_any(self, sums: Sums) -> bool:
        """Tell whether any look rules the column out."""
        return any(self.misses(sums, m) for m in self.looks(sums.rows))


def noise(rng: np.random.Generator) -> Array:
    return rng.random((N, 2))  # columns that can't be bought; they keep rows from being equal


def place(rng: np.random.Generator, node: Array, rare: int) -> Array:
    side = np.zeros(N, dtype=bool)
    side[rng.choice(np.flatnonzero(node), rare, replace=False)] = True
    return side


def classes(
    name: str, rng: np.random.Generator, value: Callable[[Array, Array], Any], rare: int = 100, others: int = 2000
) -> Attack:
    """Rare rows of a node are of the rare class; the others of it are outside, so that the free column splits first."""
    x0 = rng.random(N) < 0.3
    side = place(rng, x0, rare)
    y = side.astype(int)
    y[rng.choice(np.flatnonzero(~x0), others, replace=False)] = 1
    X = pd.DataFrame({"free": x0.astype(float)})
    X["rare"] = value(side, x0)
    X[["a", "b"]] = noise(rng)
    settings = {"max_depth": 2, "categorical_features": "from_dtype"}
    return Attack(name, GBFSClassifier, X, y, y - y.mean(), x0, side, 1, settings)


def top(rng: np.random.Generator) -> Attack:
    return classes("rare top value", rng, lambda side, x0: np.where(side, 99, rng.integers(0, 99, N)).astype(float))


def bottom(rng: np.random.Generator) -> Attack:
    return classes("rare bottom value", rng, lambda side, x0: np.where(side, -1, rng.integers(0, 99, N)).astype(float))


def two_valued(rng: np.random.Generator) -> Attack:
    """Common outside the node, where it says nothing: else the column would be kept sparse, and not sampled."""
    return classes("rare of two values", rng, lambda side, x0: (side | (~x0 & (rng.random(N) < 0.4))).astype(float))


def level(rng: np.random.Generator) -> Attack:
    levels = np.array([f"level {i}" for i in range(40)])
    return classes(
        "rare level", rng, lambda side, x0: pd.Categorical(np.where(side, levels[0], levels[rng.integers(1, 40, N)]))
    )


def deep(rng: np.random.Generator) -> Attack:
    """Below two splits on free columns."""
    x0, x1 = rng.random(N) < 0.5, rng.random(N) < 0.5
    node = x0 & x1
    side = place(rng, node, 120)
    y = side.astype(int)
    y[rng.choice(np.flatnonzero(~x0), 3000, replace=False)] = 1
    y[rng.choice(np.flatnonzero(x0 & ~x1), 1000, replace=False)] = 1
    rare = np.where(side, 99, rng.integers(0, 99, N))
    X = np.column_stack([x0, x1, rare, noise(rng)])
    return Attack("two levels down", GBFSClassifier, X, y, y - y.mean(), node, side, 2, {"max_depth": 3})


def outliers(rng: np.random.Generator) -> Attack:
    """Squared error: a few huge targets, and as many outside the node."""
    x0 = rng.random(N) < 0.4
    side = place(rng, x0, 110)
    y = 0.01 * rng.normal(size=N) + 0.05 * ~x0 + side
    rare = np.where(side, 99, rng.integers(0, 99, N))
    X = np.column_stack([x0, rare, noise(rng)])
    return Attack("huge targets", GBFSRegressor, X, y, y - y.mean(), x0, side, 1, {"max_depth": 2})


def quantile(rng: np.random.Generator) -> Attack:
    """Gradients of the 0.02-quantile: a few rows far below."""
    q = 0.02
    x0 = rng.random(N) < 0.3
    side = place(rng, x0, 150)
    below = side.copy()
    below[rng.choice(np.flatnonzero(~x0), int(q * N) - 150, replace=False)] = True
    y = np.where(below, -2.0, 1.0) + 0.5 * rng.random(N)
    rare = np.where(side, -1, rng.integers(0, 99, N))
    X = np.column_stack([x0, rare, noise(rng)])
    g = np.where(below, q - 1, q)
    return Attack("quantile", GBFSRegressor, X, y, g, x0, side, 1, {"max_depth": 2, "loss": Quantile(q)})


def mixed(rng: np.random.Generator) -> Attack:
    """A third of all rows have one class; a rare side has nearly only those."""
    x0 = rng.random(N) < 0.5
    side = place(rng, x0, 250)
    y = (rng.random(N) < np.where(side, 0.95, np.where(x0, 0.2, 0.5))).astype(int)
    rare = np.where(side, 99, rng.integers(0, 99, N))
    X = np.column_stack([x0, rare, noise(rng)])
    return Attack("rare side, common class", GBFSClassifier, X, y, y - y.mean(), x0, side, 1, {"max_depth": 2})


KINDS = (top, bottom, two_valued, level, deep, outliers, quantile, mixed)


def draws(attack: Attack, fits: int) -> Iterator[tuple[int, Sums]]:
    binned = attack.binned()
    for state in range(fits):
        seed = int(np.random.RandomState(state).randint(2**31 - 1))  # as the estimators do
        drawn = np.asarray(_core.rows_to_sample(binned, attack.g, seed, 1))
        drawn = drawn[attack.node[drawn]]
        yield state, Sums(attack.g[drawn], attack.side[drawn])


@dataclass
class Count:
    """What was found in the fits on tables of one kind."""

    name: str = ""
    suspects: int = 0
    missed: list[tuple[int, int]] = field(default_factory=list)  # table, random_state
    half_range: int = 0
    single_looks: int = 0


def count(make: Callable[[np.random.Generator], Attack], fits: int, tables: int) -> Count:
    found = Count()
    for table in range(tables):
        attack = make(np.random.default_rng(table))
        found.name = attack.name
        d = attack.X.shape[1]
        now = Judge(attack, np.sqrt(2 * np.log(5 * d / MISS)))
        before = Judge(attack, np.sqrt(2 * np.log(4 * d / MISS)), half_range=True)
        trial = Judge(attack, np.sqrt(2 * np.log(1 / TRIAL)))
        for state, sums in draws(attack, fits // tables):
            assert now.looks(sums.rows), attack.name  # else nothing is put to the test
            found.half_range += before.misses_any(sums)
            found.single_looks += trial.misses(sums, trial.looks(sums.rows)[0])
            if now.misses_any(sums):
                found.suspects += 1
                off, auto = (attack.model(way, state).selected_features_.tolist() for way in ("off", "auto"))
                if off != auto:
                    found.missed.append((table, state))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=40_000, help="of each kind of table")
    parser.add_argument("--tables", type=int, default=20, help="of each kind")
    parser.add_argument("--only", nargs="*", choices=[kind.__name__ for kind in KINDS], default=[])
    options = parser.parse_args()
    failed = False
    for kind in KINDS:
        if options.only and kind.__name__ not in options.only:
            continue
        found = count(kind, options.fits, options.tables)
        print(
            f"{found.name}: {options.fits:,} fits, {found.suspects} suspects, {len(found.missed)} missed "
            f"{found.missed or ''}; half the range: {found.half_range}; one look at {TRIAL}: {found.single_looks}",
            flush=True,
        )
        allowed = TRIAL * options.fits
        failed |= bool(found.missed) or found.single_looks > allowed + 4 * allowed**0.5
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
