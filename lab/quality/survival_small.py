"""Survival on two small real tables: how many iterations overfit, and what others reach.

    python -m lab.quality.survival_small            # a minute on one core
    python -m lab.quality.survival_small --quick    # one fold of each table; writes nothing

Concordance on held-out rows, folds with their share of events. The tables are those of lifelines.datasets; install
lifelines for this alone, since it asks for pandas below 3. Results go to lab/results/quality/survival_small.json and
survival_small.md.
"""

from __future__ import annotations

import argparse
import textwrap
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold
from sksurv.ensemble import GradientBoostingSurvivalAnalysis
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.util import Surv

from frugalboost import GBFSSurvival
from frugalboost.selection.concordance import concordance
from lab.machine import machine
from lab.output import QUALITY, write_json

FOLDS, REPEATS = 5, 2

Floats = NDArray[np.float64]
Row = dict[str, Any]
Method = Callable[[Floats, Floats], Any]  # of columns and signed times; what it returns predicts risks


def ours(**settings: Any) -> Method:
    """Our estimator with some settings."""
    return lambda X, y: GBFSSurvival(**settings, random_state=0, n_jobs=1).fit(X, y)


def theirs(model: Any) -> Method:
    """An estimator of scikit-survival."""
    return lambda X, y: model.fit(X, Surv.from_arrays(y > 0, np.abs(y)))


def methods() -> dict[str, Method]:
    """What is compared."""
    few = {"max_depth": 3, "max_iter": 100}
    return {
        "default, 500 iterations": ours(),
        "`max_iter=100`": ours(max_iter=100),
        "`max_depth=3, max_iter=100, mu=0.01`": ours(**few, mu=0.01),
        "`early_stopping=True`": ours(early_stopping=True),
        '`base="lines"`': ours(base="lines"),
        '`base="lines", max_iter=100`': ours(base="lines", max_iter=100),
        "scikit-survival's gradient boosting": theirs(GradientBoostingSurvivalAnalysis(random_state=0)),
        "Cox's model": theirs(CoxPHSurvivalAnalysis(alpha=0.1)),
    }


def tables() -> dict[str, tuple[Floats, Floats]]:
    """Columns as numbers, and times that are negative without an event."""
    from lifelines.datasets import load_gbsg2, load_rossi

    found = {}
    for name, frame, time, event in (
        ("gbsg2", load_gbsg2(), "time", "cens"),
        ("rossi", load_rossi(), "week", "arrest"),
    ):
        X = pd.get_dummies(frame.drop(columns=[time, event]), drop_first=True).to_numpy(np.float64)
        at = frame[time].to_numpy(np.float64)
        found[name] = X, np.where(frame[event].to_numpy() == 1, at, -at)
    return found


def measured(table: str, X: Floats, y: Floats, most: int | None) -> list[Row]:
    """Concordance on the held-out rows of each fold."""
    found = []
    splits = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=0).split(X, y > 0)
    for number, (train, test) in enumerate(splits):
        if most is not None and number >= most:
            break
        for method, fit in methods().items():
            score = concordance(y[test], fit(X[train], y[train]).predict(X[test]))
            found.append({"table": table, "method": method, "fold": number, "score": score})
    return found


def page(rows: list[Row]) -> str:
    """A table for people."""
    shapes = ", ".join(f"{name} ({len(y)} rows, {(y > 0).sum()} events)" for name, (_, y) in tables().items())
    about = (
        f"Made by `python -m lab.quality.survival_small`. Means over {REPEATS} repeats of {FOLDS} folds: Harrell's "
        f"concordance on held-out rows of {shapes}. The standard deviation of a fold is in brackets; the folds "
        "overlap, so that it says little about the error of the mean."
    )
    names = list(tables())
    out = ["# Survival, small tables", "", *textwrap.wrap(about, 120), ""]
    out += [f"| method | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for method in dict.fromkeys(r["method"] for r in rows):
        cells = []
        for name in names:
            own = np.array([r["score"] for r in rows if r["method"] == method and r["table"] == name])
            cells.append(f"{own.mean():.3f} ({own.std():.3f})")
        out.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(out) + "\n"


def main() -> None:
    """Measure all tables and write both files."""
    parser = argparse.ArgumentParser("python -m lab.quality.survival_small", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one fold of each table; writes nothing")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    rows: list[Row] = []
    for name, (X, y) in tables().items():
        rows += measured(name, X, y, 1 if quick else None)
    if not quick:
        write_json(QUALITY / "survival_small.json", {"machine": machine(), "rows": rows})
        (QUALITY / "survival_small.md").write_text(page(rows))
    print(page(rows))


if __name__ == "__main__":
    main()
