"""Figure 4: kddcup99, nearly five million rows; the whole curve of boosting for several mu."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from experiments.cells import Cell, Order, Result
from experiments.curves import COLOURS, TITLES, Point, best_within, cell, point
from experiments.ours import by_number, paper_model
from experiments.pages import Claim, Section, percent
from frugalboost import GBFSClassifier, datasets
from frugalboost.baselines import L1Logistic, RandomForestSelection

TITLE = "kddcup99 (Figure 4)"
MUS = (2.0**5, 2.0**9, 2.0**13, 2.0**16)
KS = (2, 5, 10, 20, 40)
TREES, DEPTH = 500, 4
FOREST_TREES, FOREST_LEAF = 100, 500
FULL_ROWS = 4_898_431
SETTINGS = {"mus": MUS, "ks": KS, "trees": TREES, "depth": DEPTH, "forest": [FOREST_TREES, FOREST_LEAF]}


def cells(quick: bool) -> list[Cell]:
    """One training set, one test set; quick: a twentieth of the rows."""
    mus = MUS[-1:] if quick else MUS
    forms = [f"{form} mu={mu:g}" for form in ("paper", "newton") for mu in mus]
    return [Cell("kddcup99", m) for m in (*forms, "best", "l1", "forest")]


def run(one: Cell, order: Order) -> Result:
    """Rows weigh as much as there are of their kind in the full file."""
    table = datasets.load("kddcup99", order.folder)
    train, test = table.split(0)
    if order.quick:
        train, test = train[::20], test[::20]
    rows = merged(table.X[train], table.y[train], table.weights[train])
    X_test, y_test = table.X[test], table.y[test]
    if "mu=" in one.method:
        form, mu = one.method.split(" mu=")
        return {"points": curve(form, float(mu), rows, X_test, y_test, 50 if order.quick else TREES)}
    if one.method == "best":
        return {"points": best(rows, X_test, y_test, order.quick)}
    X, y, weights = rows
    model: Any = L1Logistic(seed=0)
    if one.method == "forest":
        share = FOREST_LEAF / weights.sum()
        model = RandomForestSelection(seed=0, trees=FOREST_TREES, min_samples_leaf=1, min_weight_fraction_leaf=share)
    model.fit(X, y, sample_weight=weights)
    return {"points": [point(wrong(model.predict(X_test, k), y_test), model.features(k), k=k) for k in KS]}


def merged(X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Equal rows once, with the sum of their weights: the same training set, a third of the size."""
    both = np.column_stack([X, y.astype(X.dtype)])
    rows = np.ascontiguousarray(both).view(np.dtype((np.void, both.dtype.itemsize * both.shape[1]))).ravel()
    _, first, place = np.unique(rows, return_index=True, return_inverse=True)
    return X[first], y[first], np.bincount(place, weights)


def curve(
    form: str, mu: float, rows: tuple[np.ndarray, ...], X_test: np.ndarray, y_test: np.ndarray, trees: int
) -> list[Point]:
    """After every iteration: how many features, and the test error."""
    X, y, weights = rows
    leaves = {"paper": {}, "newton": {"leaf_values": "newton", "init": "prior", "min_samples_leaf": 20}}[form]
    model = paper_model(mu, DEPTH, trees, **leaves).fit(X, y, sample_weight=weights)
    errors = [wrong(answer, y_test) for answer in model.staged_predict(X_test)]
    features = model.history_["n_features"][1:]  # the first is the start
    return [
        {"iteration": i, "n_features": int(f), "error": e}
        for i, (f, e) in enumerate(zip(features, errors, strict=True), start=1)
    ]


def best(rows: tuple[np.ndarray, ...], X_test: np.ndarray, y_test: np.ndarray, quick: bool) -> list[Point]:
    """Buy, sell back, refit."""
    X, y, weights = rows
    train, valid = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)
    model = GBFSClassifier(max_depth=DEPTH, max_iter=50 if quick else TREES, early_stopping=True, n_jobs=1)
    aside = {"X_val": X[valid], "y_val": y[valid], "sample_weight_val": weights[valid]}
    models = by_number(X[train], y[train], KS, model, sample_weight=weights[train], **aside)
    return [point(wrong(m.predict(X_test), y_test), m.selected_features_, k=k) for k, m in zip(KS, models)]


def wrong(answer: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(answer != y))


def draw(results: Sequence[Result], folder: Path, order: Order) -> list[str]:
    """Left: the paper's form, iteration by iteration; right: newton leaves."""
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained", sharey=True, sharex=True)
    shades = plt.get_cmap("Reds")(np.linspace(0.45, 0.95, len(MUS)))
    for panel, form in zip(panels, ("paper", "newton"), strict=True):
        for mu, shade in zip(MUS, shades):
            for own in (r for r in results if r["method"] == f"{form} mu={mu:g}"):
                bought = [p for p in own["points"] if p["n_features"]]
                line = [p["n_features"] for p in bought], [100 * p["error"] for p in bought]
                panel.plot(*line, color=shade, marker=".", markersize=2, linewidth=0.8, label=f"GBFS, mu = {mu:g}")
        for method in ("best", "l1", "forest"):
            for own in (r for r in results if r["method"] == method):
                line = [p["n_features"] for p in own["points"]], [100 * p["error"] for p in own["points"]]
                panel.plot(*line, color=COLOURS[method], marker="o", markersize=4, label=TITLES[method])
        panel.set(title="paper's leaves, every iteration" if form == "paper" else "newton leaves, every iteration")
        panel.set(xlabel="features", xscale="log")
        panel.grid(alpha=0.25)
    panels[0].set_ylabel("test error, %")
    panels[1].legend(fontsize=8)
    figure.savefig(folder / "paper_kddcup99.png", dpi=110)
    plt.close(figure)
    return ["paper_kddcup99.png"]


def section(results: Sequence[Result]) -> Section:
    """GBFS against the two rivals that scale so far."""
    curves = [r for r in results if "mu=" in r["method"]]
    forms = {form: [r for r in curves if r["method"].startswith(form)] for form in ("paper", "newton")}
    rivals = [m for m in ("l1", "forest") if any(r["method"] == m for r in results)]
    more = ["| test error, % | " + " | ".join(map(str, KS)) + " | seconds |", "|---|" + "---:|" * (len(KS) + 1)]
    ours = {form: [last_within(own, k) for k in KS] for form, own in forms.items() if own}
    theirs = {m: [best_within(results, m, k) for k in KS] for m in ("best", *rivals)}
    for name, row in (ours | theirs).items():
        own = forms.get(name) or [r for r in results if r["method"] == name]
        if own:
            title = {"paper": "GBFS, as in the paper", "newton": "GBFS, newton leaves, fixed mu"}.get(name)
            seconds = np.mean([r["seconds"] for r in own])
            shown = " | ".join(cell(value, None) for value in row)
            more.append(f"| {title or TITLES[name]} | {shown} | {seconds:.0f} |")
    claims = []
    for name in ("paper", "best"):
        row = (ours | theirs).get(name)
        if not row or not rivals:
            continue
        pairs = [
            (k, e, min(theirs[m][i] for m in rivals if theirs[m][i] is not None))
            for i, (k, e) in enumerate(zip(KS, row))
            if e is not None
        ]
        worse = [f"{percent(e)} against {percent(r)} at {k}" for k, e, r in pairs if e > r + 0.0025]
        claims.append(
            Claim(
                f"{TITLES[name]}: the lowest error at every number of features",
                "; ".join(worse) or "at every k, within 0.25 %",
                not worse,
            )
        )
    claims.append(
        Claim(
            f"trains on {FULL_ROWS:,} rows",
            "the 10 percent file, weighted to the full class counts; equal rows are merged before training",
            None,
        )
    )
    return Section(
        TITLE,
        f"The official 10 percent file (494,021 rows, 145,586 distinct) with weights that give each kind of connection "
        f"its count in the full file; 311,029 test rows, with kinds of attacks that the training file does not have. "
        f"{TREES} trees of depth {DEPTH}. Forest: {FOREST_TREES} trees, leaves of at least {FOREST_LEAF} (weighted) "
        f"rows. For GBFS with fixed mu the table has the last iteration with at most k features, of the mu that gets "
        "furthest with them.",
        claims,
        ["paper_kddcup99.png"],
        more,
    )


def last_within(results: Sequence[Result], k: int) -> float | None:
    """Of all mu, the curve that uses its k features longest."""
    ends = []
    for result in results:
        fitting = [p for p in result["points"] if 0 < p["n_features"] <= k]
        if fitting:
            ends.append((fitting[-1]["iteration"], fitting[-1]["error"]))
    return max(ends)[1] if ends else None
