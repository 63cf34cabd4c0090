"""Boruta beside ours: it says how many features matter, so ours is asked for as many, and for half as many.

    python -m lab.quality.boruta            # about half an hour on 2 cores
    python -m lab.quality.boruta --quick    # one split of spam, few iterations; writes nothing

Boruta (the package of that name: a random forest of depth 5, 100 iterations) selects on the training rows; LightGBM is
fitted on what it confirms, as in lab.quality. Results go to lab/results/quality/boruta.json and boruta.md.
"""

from __future__ import annotations

import argparse
import textwrap
import time
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np

from lab.machine import machine
from lab.output import QUALITY, write_json
from lab.quality.splits import Split, cut
from lab.rivals.selectors import frugalboost as ours
from lab.rivals.selectors.common import Answer, lightgbm_answer, lightgbm_fit

TABLES = {"spam": 3, "uspst": 3, "madelon": 3, "colon": 10}  # splits
ITERATIONS, DEPTH = 100, 5
SELECTORS = ("Boruta, then LightGBM", "frugalboost, as many", "frugalboost, half as many")

Row = dict[str, Any]


def confirmed(split: Split, seed: int, iterations: int) -> np.ndarray:
    """Columns that are better than shuffled copies of all of them."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(max_depth=DEPTH, n_jobs=1, class_weight="balanced")
    search = BorutaPy(forest, n_estimators="auto", max_iter=iterations, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(split.X_train, split.y_train)
    return np.flatnonzero(search.support_)


def row(split: Split, seed: int, name: str, begin: float, answer: Answer) -> Row:
    return {
        "data": split.name,
        "split": seed,
        "selector": name,
        "n_features": len(answer.features),
        "error": float(np.mean(answer.prediction != split.y_test)),
        "seconds": time.perf_counter() - begin,
    }


def compared(name: str, seed: int, iterations: int) -> list[Row]:
    """One split of one table."""
    split = cut(name, seed)
    begin = time.perf_counter()
    columns = confirmed(split, seed, iterations)
    if not len(columns):
        return []
    rows = [row(split, seed, SELECTORS[0], begin, lightgbm_answer(split, lightgbm_fit(split, columns), columns))]
    for selector, k in zip(SELECTORS[1:], (len(columns), max(1, len(columns) // 2)), strict=True):
        begin = time.perf_counter()
        rows.append(row(split, seed, selector, begin, ours.run(split, [k], np.inf)[k]))
    return rows


def page(rows: list[Row]) -> str:
    """A table for people."""
    about = (
        f"Made by `python -m lab.quality.boruta`. Boruta ({version('Boruta')}, a random forest of depth {DEPTH}, "
        f"{ITERATIONS} iterations) selects on the training rows; LightGBM is fitted on what it confirms, 500 trees of "
        "depth 4, early stopping on the validation rows. frugalboost is asked for at most as many features as it "
        "confirms, and for half as many, with the settings of [quality.md](quality.md). Features are those that the "
        "models use. Means over splits, one thread each, standard errors of test errors in brackets; seconds were "
        "taken beside other work."
    )
    lines = [
        "# Beside Boruta",
        "",
        *textwrap.wrap(about, 120),
        "",
        "| table | splits | selector | features | test error, % | seconds |",
        "|---|---:|---|---:|---:|---:|",
    ]
    for name in TABLES:
        for selector in SELECTORS:
            own = [r for r in rows if r["data"] == name and r["selector"] == selector]
            if own:
                errors = 100 * np.array([r["error"] for r in own])
                spread = errors.std(ddof=1) / len(own) ** 0.5 if len(own) > 1 else 0.0
                features, seconds = (np.mean([r[key] for r in own]) for key in ("n_features", "seconds"))
                about = f"{features:.1f} | {errors.mean():.1f} ({spread:.1f}) | {seconds:.0f}"
                lines.append(f"| {name} | {len(own)} | {selector} | {about} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser("python -m lab.quality.boruta", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one split of spam, few iterations; writes nothing")
    if parser.parse_args().quick:
        print(page(compared("spam", 0, 12)))
        return
    rows: list[Row] = []
    for name, splits in TABLES.items():
        for seed in range(splits):
            rows += compared(name, seed, ITERATIONS)
            print(f"{name}, split {seed}: done", flush=True)
    write_json(QUALITY / "boruta.json", {"machine": machine(), "rows": rows})
    (QUALITY / "boruta.md").write_text(page(rows))


if __name__ == "__main__":
    main()
