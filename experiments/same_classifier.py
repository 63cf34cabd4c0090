"""Figure 5: the quality of features alone; every selector's features go to one RBF SVM."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from experiments.cells import Cell, Order, Result
from experiments.curves import KS, TITLES, Judge, best_within, draw_curves, points, sizes, table
from experiments.pages import Claim, Section, percent
from frugalboost import datasets
from frugalboost.baselines import TunedSVM

TITLE = "Quality of the features (Figure 5)"
METHODS = ("paper", "best", "l1", "forest", "mrmr", "hsic")
SETTINGS = {"ks": KS, "splits": 5, "data": "uspst"}


def cells(quick: bool) -> list[Cell]:
    """uspst, as in the paper."""
    return [Cell("uspst", m, s) for m in METHODS for s in range(1 if quick else 5)]


def run(cell: Cell, order: Order) -> Result:
    """Select on the training rows, then train the same SVM on what was selected."""
    data = datasets.load("uspst", order.folder)
    train, test = data.split(cell.split)
    X, y = data.X[train], data.y[train]
    judge = by_svm(X, y, data.X[test], data.y[test], cell.split)
    return {"points": points(cell.method, X, y, sizes(data.n_features, order.quick), cell.split, order.quick, judge)}


def by_svm(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, seed: int) -> Judge:
    """Judge a model by the features it selects."""

    def judge(model: Any, k: int | None) -> float:
        features = model.selected_features_ if k is None else model.features(k)
        if not len(features):
            return float(np.mean(y_test != (np.mean(y) > 0.5)))
        svm = TunedSVM(seed=seed).fit(X[:, features], y)
        return float(np.mean(svm.predict(X_test[:, features]) != y_test))

    return judge


def draw(results: Sequence[Result], folder: Path, order: Order) -> list[str]:
    """One panel."""
    figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    draw_curves(axes, results, "uspst: every selector's features, one RBF SVM")
    axes.legend([text.split(", RBF")[0] for text in axes.get_legend_handles_labels()[1]], fontsize=8)
    figure.savefig(folder / "paper_same_classifier.png", dpi=110)
    plt.close(figure)
    return ["paper_same_classifier.png"]


def section(results: Sequence[Result]) -> Section:
    """Nonlinear selectors find features as good as each other's, and better than a linear one's."""
    claims = []
    ks = [k for k in sizes(256) if k >= 5]
    for form in ("paper", "best"):
        rivals = [m for m in METHODS if m not in ("paper", "best")]
        worse = []
        for k in ks:
            own = best_within(results, form, k)
            others = {m: e for m in rivals if (e := best_within(results, m, k)) is not None}
            if own is not None and others and own > min(others.values()) + 0.01:
                best = min(others, key=others.__getitem__)
                worse.append(f"{percent(own)} against {percent(others[best])} ({TITLES[best].split(',')[0]}) at {k}")
        claims.append(
            Claim(
                f"{TITLES[form]}: features as good as any other selector's, within 1 %",
                "; ".join(worse) or "at every k from 5",
                not worse,
            )
        )
    return Section(
        TITLE,
        "uspst (digits 0-4 against 5-9, our grouping), 5 random 80/20 splits. C and gamma of the SVM by 5 random 80/20 "
        "splits of the training rows.",
        claims,
        ["paper_same_classifier.png"],
        table(results, sizes(256)),
    )
