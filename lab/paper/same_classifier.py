"""Figure 5: the quality of features alone; every selector's features go to one RBF SVM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from lab.data import load
from lab.output import save_figure
from lab.paper import curves
from lab.paper.cells import Cell, Result, RunOptions
from lab.paper.curves import TITLES, Judge, against_rivals, draw_curves, fitted, sizes, table
from lab.paper.ours import Effort
from lab.paper.pages import Section
from lab.rivals import TunedSVM

TITLE = "Quality of the features (Figure 5)"
RIVALS = ("l1", "forest", "mrmr", "hsic")
MARGIN = 0.01
EFFORT = Effort(depths=(4,), splits=1)  # only the features count here
SETTINGS = curves.SETTINGS | {"splits": 5, "paper": asdict(EFFORT)}


def cells(quick: bool) -> list[Cell]:
    """uspst, as in the paper."""
    return [Cell("uspst", m, s) for m in ("paper", "best", *RIVALS) for s in range(1 if quick else 5)]


def run(cell: Cell, order: RunOptions) -> Result:
    """Select on the training rows, then train the same SVM on what was selected."""
    data = load("uspst", order.folder)
    train, test = data.split(cell.split)
    X, y = data.X[train], data.y[train]
    judge = by_svm(X, y, data.X[test], data.y[test], cell.split)
    ks = sizes(data.n_features, order.quick)
    return fitted(cell.method, X, y, ks, cell.split, order.quick, judge, EFFORT, l1_splits=0)  # as many as it may


def by_svm(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, seed: int) -> Judge:
    """Judge a model by the features it selects."""

    def judge(model: Any, k: int | None) -> float:
        features = model.selected_features_ if k is None else model.features(k)
        if not len(features):
            return float(np.mean(y_test != (np.mean(y) > 0.5)))
        svm = TunedSVM(seed=seed).fit(X[:, features], y)
        return float(np.mean(svm.predict(X_test[:, features]) != y_test))

    return judge


def draw(results: Sequence[Result], folder: Path, order: RunOptions) -> None:
    """One panel."""
    figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    draw_curves(axes, results, "uspst: every selector's features, one RBF SVM")
    axes.legend([text.split(", RBF")[0] for text in axes.get_legend_handles_labels()[1]], fontsize=8)
    save_figure(figure, folder / "paper_same_classifier.png")
    plt.close(figure)


def section(results: Sequence[Result]) -> Section:
    """Nonlinear selectors find features as good as each other's, and better than a linear one's."""
    said = "features as good as any other selector's"
    return Section(
        TITLE,
        "uspst (digits 0-4 against 5-9, our grouping), 5 random 80/20 splits. C and gamma of the SVM by 5 random 80/20 "
        "splits of the training rows. The paper's form has depth 4 and its number of trees by one validation split; of "
        f"L1 the largest model of at most k. {curves.solvers(results)} As good: within {100 * MARGIN:g} % at the sizes "
        f"that GBFS has models of, rivals {curves.RULE}.",
        [against_rivals(f"{TITLES[form]}: {said}", results, form, RIVALS, MARGIN) for form in ("paper", "best")],
        ["paper_same_classifier.png"],
        table(results, sizes(256), seconds=False),
    )
