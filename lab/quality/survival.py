"""Survival with many more columns than rows: our search and Cox's model with a lasso.

    python -m lab.quality.survival            # about 4 minutes on one core
    python -m lab.quality.survival --quick    # one table of each kind; writes nothing

Concordance on held-out rows. Tables are made: 100 rows and 2,000 columns, of which five matter. Results go to
lab/results/quality/survival.json and survival.md.
"""

from __future__ import annotations

import argparse
import textwrap
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold
from sksurv.linear_model import CoxnetSurvivalAnalysis
from sksurv.util import Surv

from frugalboost import GBFSSurvival
from frugalboost.selection.concordance import concordance
from lab.machine import machine
from lab.output import QUALITY, write_json

ROWS, TEST_ROWS, COLUMNS, TRUE, SEEDS, KS, ALPHAS = 100, 2_000, 2_000, 5, 10, (3, 5, 10), 50

Floats = NDArray[np.float64]
Table = tuple[Floats, Floats]  # columns, and times that are negative without an event
Row = dict[str, Any]
KINDS = {"linear": "each adds to the risk", "steps": "each adds to the risk above its median"}


def made(kind: str, seed: int, rows: int) -> Table:
    """Blocks of ten columns hang together; about three rows of five have their event."""
    rng = np.random.default_rng(seed)
    shared = np.repeat(rng.normal(size=(rows, COLUMNS // 10)), 10, axis=1)
    X = np.sqrt(0.3) * shared + np.sqrt(0.7) * rng.normal(size=(rows, COLUMNS))
    signs = np.array([1, -1, 1, -1, 1])
    own = X[:, : 10 * TRUE : 10]
    risk = (own if kind == "linear" else 2.0 * (own > 0)) @ signs
    time, watched = rng.exponential(np.exp(-risk)), rng.exponential(2.0 * np.exp(-np.median(risk)), rows)
    first = np.minimum(time, watched) + 1e-9
    return X, np.where(time <= watched, first, -first)


def surv(y: Floats) -> Any:
    """Times as scikit-survival wants them."""
    return Surv.from_arrays(y > 0, np.abs(y))


def lasso(train: Table, alphas: Floats | None = None) -> Any:
    """A lasso path."""
    return CoxnetSurvivalAnalysis(l1_ratio=1.0, n_alphas=ALPHAS, alphas=alphas, alpha_min_ratio=0.05).fit(
        train[0], surv(train[1])
    )


def best_lasso(train: Table) -> tuple[Any, int]:
    """A lasso whose penalty five folds choose by concordance, and its place on the path."""
    whole = lasso(train)
    scores = np.zeros(len(whole.alphas_))
    for inside, outside in KFold(5, shuffle=True, random_state=0).split(train[0]):
        part = lasso((train[0][inside], train[1][inside]), whole.alphas_)
        held = train[0][outside], train[1][outside]
        scores += [concordance(held[1], part.predict(held[0], alpha=a)) for a in whole.alphas_]
    return whole, int(np.argmax(scores))


def measured(kind: str, seed: int) -> list[Row]:
    """Concordance on held-out rows, and how many of the true columns were chosen."""
    train, test = made(kind, seed, ROWS), made(kind, 1000 + seed, TEST_ROWS)
    whole, best = best_lasso(train)
    number = (whole.coef_ != 0).sum(axis=0)
    places = {f"lasso, at most {k} columns": int(np.flatnonzero(number <= k)[-1]) for k in KS}
    places["lasso, chosen in folds"] = best
    found = []
    for method, place in places.items():
        chosen = np.flatnonzero(whole.coef_[:, place])
        risk = whole.predict(test[0], alpha=whole.alphas_[place])
        found.append({"method": method, "score": concordance(test[1], risk), "chosen": chosen.tolist()})
    for k in KS:
        model = GBFSSurvival(n_features_to_select=k, max_iter=200, random_state=0, n_jobs=1).fit(*train)
        chosen = model.selected_features_.tolist()
        found.append({"method": f"ours, {k} columns", "score": model.score(*test), "chosen": chosen})
    true = {10 * i for i in range(TRUE)}
    for row in found:
        row |= {"kind": kind, "seed": seed, "number": len(row["chosen"]), "true": len(true & set(row.pop("chosen")))}
    return found


def page(rows: list[Row]) -> str:
    """A table for people."""
    about = (
        f"Made by `python -m lab.quality.survival`. Tables of {ROWS} rows and {COLUMNS:,} columns in blocks of ten "
        f"that hang together (correlation 0.3); {TRUE} columns matter, and three rows of five have their event. Means "
        f"over {SEEDS} tables: Harrell's concordance on {TEST_ROWS:,} new rows with its standard error, columns "
        "chosen, and how many of them are true. The lasso is scikit-survival's Coxnet; ours is "
        "`GBFSSurvival(n_features_to_select=k)`."
    )
    out = ["# Survival, many columns", "", *textwrap.wrap(about, 120), ""]
    out += ["| risk | method | concordance | columns | true |", "|---|---|---:|---:|---:|"]
    for kind, title in KINDS.items():
        for method in dict.fromkeys(r["method"] for r in rows):
            own = [r for r in rows if r["kind"] == kind and r["method"] == method]
            scores = np.array([r["score"] for r in own])
            error = scores.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
            number, true = (np.mean([r[name] for r in own]) for name in ("number", "true"))
            out.append(f"| {title} | {method} | {scores.mean():.3f} ± {error:.3f} | {number:.1f} | {true:.1f} |")
    return "\n".join(out) + "\n"


def main() -> None:
    """Measure all tables and write both files."""
    parser = argparse.ArgumentParser("python -m lab.quality.survival", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one table of each kind; writes nothing")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    rows: list[Row] = []
    for kind in KINDS:
        for seed in range(1 if quick else SEEDS):
            rows += measured(kind, seed)
    if not quick:
        write_json(QUALITY / "survival.json", {"machine": machine(), "rows": rows})
        (QUALITY / "survival.md").write_text(page(rows))
    print(page(rows))


if __name__ == "__main__":
    main()
