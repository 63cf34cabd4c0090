"""What people wait for: CPU seconds of `frugalboost.select` with its defaults, beside the long search.

    python -m lab.speed.waiting                      # everything: about half an hour of one core
    python -m lab.speed.waiting --only sizes         # the tables whose seconds docs/command_line.md shows
    python -m lab.speed.waiting --only real          # needs FRUGALBOOST_DATA
    python -m lab.speed.waiting --quick              # two small tables; writes nothing

Each line has the seconds of one core, the number of features, and the error on fresh rows that took no part. Results go
to lab/results/speed/waiting.json and waiting.md.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import frugalboost
from lab import data
from lab.output import SPEED, write_atomically, write_json

FRESH = 4_000
WAYS: dict[str, dict[str, Any]] = {"default": {}, "thorough": {"thorough": True}}


@dataclass(frozen=True)
class Made:
    """A table with some informative columns, weaker copies of them, and noise.

    Parameters
    ----------
    rows, columns : int
        Of the table; FRESH more rows are made to test on.
    classes : int
        0: a number is predicted.
    informative : int
        Columns that the target depends on, some of them in pairs.
    noise : float
        How much of the target they do not explain.
    seed : int
        Other seeds give other tables.
    thorough : bool
        Whether the long search is run too.
    """

    rows: int
    columns: int
    classes: int = 2
    informative: int = 8
    noise: float = 1.0
    seed: int = 0
    thorough: bool = True

    @property
    def name(self) -> str:
        """Shape and kind, in words."""
        kind = "numbers" if not self.classes else f"{self.classes} classes"
        return f"{self.rows:,} x {self.columns:,}, {kind}, {self.informative} informative, seed {self.seed}"

    def tables(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The rows to choose by, and fresh ones."""
        rng = np.random.default_rng(self.seed)
        X = rng.normal(size=(self.rows + FRESH, self.columns))
        causes = rng.permutation(self.columns)[: self.informative]
        rest = np.setdiff1d(np.arange(self.columns), causes)
        for i, column in enumerate(rest[: min(len(rest) // 2, 2 * len(causes))]):
            X[:, column] = 0.8 * X[:, causes[i % len(causes)]] + 0.6 * X[:, column]
        frame = pd.DataFrame(X.round(4), columns=[f"x{i}" for i in range(self.columns)])
        frame["y"] = self._target(X[:, causes], rng)
        return frame[: self.rows], frame[self.rows :]

    def _target(self, causes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        scores = np.column_stack([score(causes, rng) for _ in range(max(1, self.classes if self.classes > 2 else 1))])
        scores /= scores.std(axis=0)
        if not self.classes:
            return scores[:, 0] + 0.7 * self.noise * rng.normal(size=len(scores))
        if self.classes == 2:
            noisy = scores[:, 0] + 0.6 * self.noise * rng.logistic(size=len(scores))
            return np.where(noisy > 0, "yes", "no")
        noisy = scores + 0.5 * self.noise * rng.gumbel(size=scores.shape)
        return np.array([f"c{i}" for i in noisy.argmax(axis=1)])


def score(causes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Lines in all of the columns, and steps and products of the first ones."""
    n = causes.shape[1]
    found = causes @ (rng.normal(size=n) * np.linspace(2, 0.5, n))
    if n >= 4:
        found += 2 * np.sin(2 * causes[:, 0]) * (causes[:, 1] > 0) + causes[:, 2] * causes[:, 3]
    return found


SIZES = [
    Made(10, 4, informative=2),
    Made(600, 4, 7, informative=4),
    Made(5_000, 30),
    Made(10_000, 50, thorough=False),
    Made(300, 5_000, thorough=False),
    Made(100, 12_600, thorough=False),
    Made(20_000, 12, 7, thorough=False),
    Made(100_000, 100, thorough=False),
]
OTHERS = [
    Made(500, 20, seed=1),
    Made(1_000, 15, 3, seed=2),
    Made(2_000, 40, seed=3, informative=15),
    Made(2_000, 40, 0, seed=4),
    Made(3_000, 20, 0, seed=5, informative=12, noise=0.3),
    Made(1_500, 60, seed=6, informative=4, noise=2.0),
    Made(4_000, 25, seed=7, informative=12, noise=0.3),
    Made(200, 400, seed=8, informative=5),
    Made(800, 10, 5, seed=9, informative=6),
    Made(3_000, 100, 0, seed=10, informative=20),
    Made(1_000, 30, seed=11, informative=3, noise=0.5),
    Made(2_500, 30, 4, seed=12, informative=10, noise=0.3),
]
REAL = {"spam": None, "adult": 10_000, "california_housing": None, "uspst": None, "madelon": None}


def real_tables(name: str, most: int | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Half of the rows to choose by and half to test on, or at most so many to choose by."""
    found = data.load(name)
    X = np.asarray(found.X.todense()) if hasattr(found.X, "todense") else np.asarray(found.X)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    frame["y"] = np.asarray(found.y)
    order = np.random.default_rng(0).permutation(len(frame))
    taken = min(most or len(order), len(order) * 6 // 10)
    return frame.iloc[order[:taken]].reset_index(drop=True), frame.iloc[order[taken:]].reset_index(drop=True)


def measured(train: pd.DataFrame, fresh: pd.DataFrame, **how: Any) -> dict[str, Any]:
    """One run on one core."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = frugalboost.select(train, "y", test=fresh, threads=1, **how)
    seconds = time.process_time() - begin
    return {"cpu_s": seconds, "features": len(found.features), "error": found.choice.test_error}


def works(only: str | None, quick: bool) -> Iterator[tuple[str, Callable[[], Any], bool]]:
    """Names of tables, functions that make them, and whether to run the long search too."""
    made = (
        [*SIZES[:1], OTHERS[0]] if quick else {"sizes": SIZES, "others": OTHERS, "real": []}.get(only, SIZES + OTHERS)
    )
    for table in made:
        yield table.name, table.tables, table.thorough
    if not quick and only in (None, "real") and data.Folder.set():
        for name, most in REAL.items():
            yield name, lambda name=name, most=most: real_tables(name, most), True


def as_text(rows: list[dict[str, Any]]) -> str:
    """A table for people."""
    lines = ["# How long `frugalboost select` takes", "", "By `python -m lab.speed.waiting`, on one core.", ""]
    lines += ["| table | search | CPU s | features | error on fresh rows |", "|---|---|---|---|---|"]
    for row in rows:
        lines.append(
            f"| {row['table']} | {row['search']} | {row['cpu_s']:.3g} | {row['features']} | {row['error']:.4g} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["sizes", "others", "real"])
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name, tables, thorough in works(asked.only, asked.quick):
        train, fresh = tables()
        for search, how in WAYS.items():
            if search == "thorough" and not thorough:
                continue
            rows.append({"table": name, "search": search, **measured(train, fresh, **how)})
            print(as_text(rows[-1:]).splitlines()[-1], flush=True)
    if not asked.quick:
        suffix = "" if asked.only is None else f"_{asked.only}"
        write_json(SPEED / f"waiting{suffix}.json", rows)
        write_atomically(SPEED / f"waiting{suffix}.md", as_text(rows))


if __name__ == "__main__":
    main()
