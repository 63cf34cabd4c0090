"""Figure 4: kddcup99, nearly five million rows; the whole curve of boosting for several mu."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from frugalboost import GBFSClassifier
from lab.data import load
from lab.output import save_figure
from lab.paper.cells import Cell, Result, RunOptions
from lab.paper.curves import (
    COLOURS,
    RULE,
    TITLES,
    Point,
    against_rivals,
    best_within,
    by_features,
    of,
    point,
    shown,
)
from lab.paper.ours import by_number, paper_model
from lab.paper.pages import Claim, Section
from lab.rivals import L1Logistic, RandomForestSelection

TITLE = "kddcup99 (Figure 4)"
MUS = (2.0**5, 2.0**9, 2.0**13, 2.0**16)
KS = (2, 5, 10, 20, 40)
TREES, DEPTH = 500, 4
FOREST_TREES, FOREST_LEAF = 100, 500
FULL_ROWS = 4_898_431
MARGIN = 0.0025
NAMES = TITLES | {"paper": "GBFS, as in the paper, fixed mu", "newton": "GBFS, newton leaves, fixed mu"}
SETTINGS = {
    "mus": MUS,
    "ks": KS,
    "trees": TREES,
    "depth": DEPTH,
    "forest": [FOREST_TREES, FOREST_LEAF],
}

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # table, classes, weights


def cells(quick: bool) -> list[Cell]:
    """One training set, one test set; quick: a twentieth of the rows."""
    mus = MUS[-1:] if quick else MUS
    forms = [f"{form} mu={mu:g}" for form in ("paper", "newton") for mu in mus]
    return [Cell("kddcup99", m) for m in (*forms, "best", "l1", "forest")]


def run(cell: Cell, order: RunOptions) -> Result:
    """Rows weigh as much as there are of their kind in the full file."""
    table = load("kddcup99", order.folder)
    train, test = table.split(0)
    if order.quick:
        train, test = train[::20], test[::20]
    rows = table.X[train], table.y[train], table.weights[train]
    X_test, y_test = table.X[test], table.y[test]
    if "mu=" in cell.method:
        form, mu = cell.method.split(" mu=")
        return {"points": curve(form, float(mu), rows, X_test, y_test, 50 if order.quick else TREES)}
    if cell.method == "best":
        return {"points": best(rows, X_test, y_test, order.quick)}
    X, y, weights = merged(*rows) if cell.method == "l1" else rows  # equal for L1, not for a forest's samples
    model: Any = L1Logistic(seed=0, splits=0, count=max(KS))
    if cell.method == "forest":
        share = FOREST_LEAF / weights.sum()
        model = RandomForestSelection(seed=0, trees=FOREST_TREES, min_samples_leaf=1, min_weight_fraction_leaf=share)
    model.fit(X, y, sample_weight=weights)
    return {"points": [point(wrong(model.predict(X_test, k), y_test), model.features(k), k=k) for k in KS]}


def merged(X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> Rows:
    """Equal rows once, with the sum of their weights."""
    both = np.ascontiguousarray(np.column_stack([X, y.astype(X.dtype)]))
    rows = both.view(np.dtype((np.void, both.dtype.itemsize * both.shape[1]))).ravel()
    _, first, place = np.unique(rows, return_index=True, return_inverse=True)
    return X[first], y[first], np.bincount(place, weights)


def curve(form: str, mu: float, rows: Rows, X_test: np.ndarray, y_test: np.ndarray, trees: int) -> list[Point]:
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


def best(rows: Rows, X_test: np.ndarray, y_test: np.ndarray, quick: bool) -> list[Point]:
    """Buy, sell back, refit."""
    X, y, weights = rows
    train, valid = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)
    trees = 50 if quick else TREES
    model = GBFSClassifier(max_depth=DEPTH, max_iter=trees, base="trees", early_stopping=True, n_jobs=1)
    aside = {"X_val": X[valid], "y_val": y[valid], "sample_weight_val": weights[valid]}
    models = by_number(X[train], y[train], KS, model, sample_weight=weights[train], **aside)
    return [point(wrong(m.predict(X_test), y_test), m.selected_features_, k=k) for k, m in zip(KS, models)]


def wrong(answer: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(answer != y))


def draw(results: Sequence[Result], folder: Path, order: RunOptions) -> None:
    """Left: the paper's form, iteration by iteration; right: newton leaves."""
    figure, panels = plt.subplots(1, 2, figsize=(11, 5), layout="constrained", sharey=True, sharex=True)
    shades = plt.get_cmap("autumn_r")(np.linspace(0.3, 0.85, len(MUS)))
    for panel, form in zip(panels, ("paper", "newton"), strict=True):
        for mu, shade in zip(MUS, shades):
            for own in (r for r in results if r["method"] == f"{form} mu={mu:g}"):
                bought = [p for p in own["points"] if p["n_features"]]
                line = [p["n_features"] for p in bought], [100 * p["error"] for p in bought]
                panel.plot(*line, color=shade, marker=".", markersize=5, linewidth=0.8, label=f"GBFS, mu = {mu:g}")
        for method in ("best", "l1", "forest"):
            for own in (r for r in results if r["method"] == method):
                line = [p["n_features"] for p in own["points"]], [100 * p["error"] for p in own["points"]]
                panel.plot(*line, color=COLOURS[method], marker="o", markersize=4, label=TITLES[method])
        panel.set(title="paper's leaves, every iteration" if form == "paper" else "newton leaves, every iteration")
        by_features(panel)
    panels[0].set_ylim(top=1.25 * highest(results))  # newton leaves begin with a constant, at 19.5 %
    panels[0].set_ylabel("test error, %")
    figure.legend(*panels[1].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    save_figure(figure, folder / "paper_kddcup99.png")
    plt.close(figure)


def highest(results: Sequence[Result]) -> float:
    """The highest error of models that are not the beginning of a curve, in percent."""
    return 100 * max((p["error"] for r in results for p in r["points"] if p.get("iteration", 100) > 20), default=1.0)


def section(results: Sequence[Result]) -> Section:
    """GBFS against the two rivals that scale so far."""
    forms = {form: [r for r in results if r["method"].startswith(f"{form} mu=")] for form in ("paper", "newton")}
    more = [
        "| test error, % (features) | " + " | ".join(map(str, KS)) + " | seconds |",
        "|---|" + "---:|" * (len(KS) + 1),
    ]
    for name in ("paper", "newton", "best", "l1", "forest"):
        own = forms.get(name) or of(results, name)
        if own:
            row = [last_within(own, k) if name in forms else best_within(own, name, k) for k in KS]
            texts = [shown(value, k, None) for value, k in zip(row, KS, strict=True)]
            seconds = np.mean([r["seconds"] for r in own])
            more.append(f"| {NAMES[name]} | " + " | ".join(texts) + f" | {seconds:.0f} |")
    ends = [{"method": "paper", "split": 0, "points": last_points(forms["paper"])}] if forms["paper"] else []
    claims = [
        against_rivals(f"the lowest error ({NAMES[form]})", [*results, *ends], form, ("l1", "forest"), MARGIN)
        for form in ("paper", "best")
    ]
    claims.append(Claim(f"trains on {FULL_ROWS:,} rows", "the 10 percent file, weighted to the full counts", None))
    return Section(
        TITLE,
        "The official 10 percent file (494,021 rows, 145,586 of them distinct) with weights that give each kind of "
        "connection its count in the full file; 311,029 test rows, with kinds of attacks that the training file does "
        f"not have. {TREES} trees of depth {DEPTH}, mu = {', '.join(f'{mu:g}' for mu in MUS)}. Forest: {FOREST_TREES} "
        f"trees, leaves of at least {FOREST_LEAF} weighted rows; of L1 the largest model of at most k. For GBFS with "
        "fixed mu the table has the last iteration with at most k features, of the mu that has most of them then; the "
        "newton form that sells back is one model a size, stopped on a fifth of the rows. An error counts as lowest "
        f"within {100 * MARGIN:g} % of the best rival's, {RULE}.",
        claims,
        ["paper_kddcup99.png"],
        more,
    )


def last_points(results: Sequence[Result]) -> list[Point]:
    """For each number of features the last iteration that has it, of the mu that gets furthest with it."""
    last: dict[int, Point] = {}
    for result in results:
        for p in result["points"]:
            kept = last.get(p["n_features"])
            if p["n_features"] and (kept is None or p["iteration"] > kept["iteration"]):
                last[p["n_features"]] = p
    return [last[n] for n in sorted(last)]


def last_within(results: Sequence[Result], k: int) -> tuple[float, float] | None:
    """Error and number of features of the largest of these that fits."""
    fitting = [p for p in last_points(results) if p["n_features"] <= k]
    return (fitting[-1]["error"], fitting[-1]["n_features"]) if fitting else None
