"""Figure 1: three features of which two suffice, and no linear model will do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from frugalboost import GBFSClassifier
from lab.data import make_nonlinear
from lab.output import save_figure
from lab.paper.cells import Cell, Result, RunOptions
from lab.paper.ours import paper_model
from lab.paper.pages import Claim, Section, percent
from lab.rivals import L1Logistic

TITLE = "Synthetic data (Figure 1)"
NAMES = ("x", "y", "z")
ROWS = {"train": 2000, "test": 1000}
MU, TREES = 32.0, 200
SETTINGS = {"rows": ROWS, "mu": MU, "trees": TREES, "depth": 4, "splits": 5}


def cells(quick: bool) -> list[Cell]:
    """Five samples."""
    return [Cell("synthetic", m, s) for m in ("paper", "best", "l1") for s in range(1 if quick else 5)]


def run(cell: Cell, order: RunOptions) -> Result:
    """Fit on one sample, judge on another."""
    X, y = make_nonlinear(ROWS["train"], seed=2 * cell.split)
    X_test, y_test = make_nonlinear(ROWS["test"], seed=2 * cell.split + 1)
    if cell.method == "l1":
        l1 = L1Logistic(seed=cell.split).fit(X, y)
        return judged(l1.features(3), l1.predict(X_test, 3), y_test)
    if cell.method == "paper":
        model = paper_model(MU, 4, TREES).fit(X, y)
    else:
        settings: dict[str, Any] = {"base": "trees", "max_iter": TREES, "min_samples_leaf": 5, "n_jobs": 1}
        model = GBFSClassifier(n_features_to_select=2, **settings).fit(X, y)
    return judged(model.selected_features_, model.predict(X_test), y_test)


def judged(features: np.ndarray, answer: np.ndarray, y: np.ndarray) -> Result:
    return {"features": [NAMES[f] for f in sorted(features)], "error": float(np.mean(answer != y))}


def draw(results: Sequence[Result], folder: Path, order: RunOptions) -> None:
    """Both panels: what each method makes of the three features, in the plane of the first two."""
    X, y = make_nonlinear(ROWS["test"], seed=1)
    figure, panels = plt.subplots(1, 2, figsize=(9.8, 5.0), layout="constrained", sharex=True, sharey=True)
    for panel, method, title in zip(panels, ("paper", "l1"), ("GBFS", "L1 logistic regression"), strict=True):
        shade(panel, method)
        for label, colour in ((0, "#4c72b0"), (1, "#c44e52")):
            panel.scatter(*X[y == label, :2].T, s=6, color=colour, label=f"class {label}")
        own = next((r for r in results if r["method"] == method), None)
        if own is None:
            continue
        panel.set(title=f"{title}: keeps {', '.join(own['features']) or 'nothing'}; {percent(own['error'])} wrong")
        panel.set(xlabel="x", aspect="equal")
    panels[0].set_ylabel("y")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    save_figure(figure, folder / "paper_synthetic.png")
    plt.close(figure)


def shade(panel: Any, method: str) -> None:
    """Colour the plane by the prediction of a model of the first sample."""
    X, y = make_nonlinear(ROWS["train"], seed=0)
    axis = np.linspace(X[:, :2].min() * 1.05, X[:, :2].max() * 1.05, 200)
    plane = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    points = np.column_stack([plane, (plane[:, 0] + plane[:, 1]) / 2])
    if method == "l1":
        answer = L1Logistic(seed=0).fit(X, y).predict(points, 3)
    else:
        answer = paper_model(MU, 4, TREES).fit(X, y).predict(points)
    panel.contourf(axis, axis, answer.reshape(200, 200), levels=[-0.5, 0.5, 1.5], colors=["#dbe4f2", "#f3dcdd"])


def section(results: Sequence[Result]) -> Section:
    """The claims about this figure."""
    of = {m: [r for r in results if r["method"] == m] for m in ("paper", "best", "l1")}
    if not all(of.values()):
        return Section(TITLE, "Not run with all three methods yet.", [])
    error = {m: float(np.mean([r["error"] for r in own])) for m, own in of.items()}
    two = all(len(r["features"]) == 2 for r in of["paper"])
    kept = sorted({" and ".join(r["features"]) for r in of["paper"]})
    return Section(
        TITLE,
        f"Two classes, one square of points amid eight others, given by x and y; z = (x + y) / 2. {ROWS['train']} "
        f"training and {ROWS['test']} test rows, {len(of['paper'])} samples; {TREES} trees of depth 4, mu = {MU:g}. "
        "The figure is the first sample; L1 fails where more than 20 % are wrong.",
        [
            Claim(
                "GBFS keeps two of the three features",
                f"two in every sample ({'; '.join(kept)})"
                if two
                else "other numbers: " + ", ".join(str(len(r["features"])) for r in of["paper"]),
                two,
            ),
            Claim(
                "and has 0 % test error",
                f"{percent(error['paper'])}; best form {percent(error['best'])}",
                error["paper"] == 0,
            ),
            Claim("where L1 logistic regression fails", f"{percent(error['l1'])}", error["l1"] > 0.2),
        ],
        ["paper_synthetic.png"],
    )
