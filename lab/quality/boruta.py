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
from importlib.metadata import version
from typing import Any

import numpy as np

from lab.machine import machine
from lab.output import QUALITY, write_json
from lab.quality.splits import Split, cut
from lab.rivals import Boruta, Frugalboost, Selector
from lab.rivals.boruta import DEPTH

TABLES = {"spam": 3, "uspst": 3, "madelon": 3, "colon": 10}  # splits
ITERATIONS = 100
SELECTORS = ("Boruta, then LightGBM", "frugalboost, as many", "frugalboost, half as many")

Row = dict[str, Any]


def row(split: Split, seed: int, name: str, selector: Selector, k: int | None = None) -> Row | None:
    """One selector on one split, asked for k features or for as many as it likes; None: it selected nothing."""
    begin = time.perf_counter()
    selector.fit(split.X_train, split.y_train, validation=split.validation)
    k = split.X_train.shape[1] if k is None else k
    features = selector.features(k)
    wrong = float(np.mean(selector.predict(split.X_test, k) != split.y_test))
    about = {"data": split.name, "split": seed, "selector": name, "n_features": len(features), "error": wrong}
    return about | {"seconds": time.perf_counter() - begin} if len(features) else None


def compared(name: str, seed: int, iterations: int) -> list[Row]:
    """One split of one table."""
    split, theirs = cut(name, seed), Boruta(iterations=iterations, seed=seed)
    rows = [row(split, seed, SELECTORS[0], theirs)]
    confirmed = len(theirs.confirmed_)
    if rows[0] is None:
        return []
    for selector, k in zip(SELECTORS[1:], (confirmed, max(1, confirmed // 2)), strict=True):
        rows.append(row(split, seed, selector, Frugalboost([k]), k))
    return [found for found in rows if found is not None]


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
