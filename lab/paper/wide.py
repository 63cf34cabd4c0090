"""Figure 6: many more columns than rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from lab.data import load, logarithms
from lab.output import save_figure
from lab.paper import curves
from lab.paper.cells import Cell, Result, RunOptions
from lab.paper.curves import OURS, TITLES, against_rivals, by_prediction, draw_curves, fitted, table
from lab.paper.ours import Best, Effort
from lab.paper.pages import Section
from lab.paper.same_classifier import by_svm

TITLE = "More columns than rows (Figure 6)"
STAND_INS = ("microarray_chowdary", "microarray_singh")
WANTED = "smk_can_187"
OPTIONAL = (WANTED,)  # a page is whole without it
RIVALS = ("l1", "forest", "mrmr", "hsic")
KS = (2, 5, 10, 20, 50)
MARGIN = 0.02
IN_SVM = {  # the same features in another classifier
    "paper in svm": "RBF SVM, features of GBFS as in the paper",
    "best in svm": "RBF SVM, features of GBFS, newton leaves and selling back",
    "lines in svm": "RBF SVM, features of ours, lines or trees",
}
EFFORT = Effort(depths=(1, 2, 4))
BEST = Best(trees=500, depths=(1, 2, 4), splits=5)  # one split of so few rows can't choose
SETTINGS = curves.SETTINGS | {"ks": KS, "splits": 5, "paper": asdict(EFFORT), "best": asdict(BEST)}


def cells(quick: bool) -> list[Cell]:
    """SMK-CAN-187 too: where its file is absent, its cells say so and are not kept."""
    if quick:
        return [Cell(STAND_INS[1], m) for m in (*OURS, "l1")]
    return [Cell(data, m, s) for data in (*STAND_INS, WANTED) for m in (*OURS, *RIVALS) for s in range(5)]


def run(cell: Cell, order: RunOptions) -> Result:
    """One selector on one cut."""
    try:
        data = load(cell.data, order.folder)
    except FileNotFoundError:
        if cell.data != WANTED:
            raise
        return {"absent": True}
    train, test = data.split(cell.split)
    X = data.X if cell.data == WANTED else logarithms(data.X)
    own = by_prediction(X[test], data.y[test])
    in_other = by_svm(X[train], data.y[train], X[test], data.y[test], cell.split)
    others: list[float] = []

    def judge(model: Any, k: int | None) -> float:
        if cell.method in OURS:
            others.append(in_other(model, k))
        return own(model, k)

    found = fitted(cell.method, X[train], data.y[train], KS, cell.split, order.quick, judge, EFFORT, best=BEST)
    for p, error in zip(found["points"], others):
        p["svm_error"] = error
    return {"rows": [len(train), len(test), data.n_features]} | found


def in_svm(results: Sequence[Result]) -> list[Result]:
    """Features of all forms of GBFS as results of selectors that end in an SVM."""
    return [
        r | {"method": f"{r['method']} in svm", "points": [p | {"error": p["svm_error"]} for p in r["points"]]}
        for r in results
        if r["method"] in OURS
    ]


def draw(results: Sequence[Result], folder: Path, order: RunOptions) -> None:
    """One panel for each table."""
    here = sorted({r["data"] for r in results})
    figure, panels = plt.subplots(1, len(here), figsize=(5.4 * len(here), 4.2), layout="constrained", squeeze=False)
    for panel, data in zip(panels.flat, here, strict=True):
        own = [r for r in results if r["data"] == data]
        train, test, columns = own[0]["rows"]
        draw_curves(panel, own, f"{data}, {train + test} x {columns:,}")
    panels.flat[0].legend(fontsize=7)
    save_figure(figure, folder / "paper_wide.png")
    plt.close(figure)


def section(results: Sequence[Result]) -> Section:
    """GBFS works there, too."""
    claims, more = [], []
    for data in (*STAND_INS, WANTED):
        own = [r for r in results if r["data"] == data]
        if not own:
            continue
        for form in OURS:
            said = f"{data}: as good as the others with few features ({TITLES[form]})"
            claims.append(against_rivals(said, own, form, RIVALS, MARGIN))
        lines = table(own + in_svm(own), KS, titles=TITLES | IN_SVM)
        more += ["", f"**{data}**, {own[0]['rows'][1]} test rows a split", "", *lines]
    absent = (
        "The paper's SMK-CAN-187 (187 x 19,993) can't be had here: microarray_chowdary (104 x 22,283) and "
        "microarray_singh (102 x 12,600) stand in. Its file, put into the data folder, is used without a change. "
    )
    return Section(
        TITLE,
        (absent if all(r["data"] != WANTED for r in results) else "")
        + "5 random 80/20 splits; logarithms of raw intensities, for all methods. GBFS as in the paper and with "
        "newton leaves has trees of depth 1, 2 or 4, chosen by 5 random splits of the training rows; the newton form "
        "has up to 500 of them. Lines or trees: `GBFSClassifier(n_features_to_select=k)` for each k, without a search "
        "of settings. The last rows of the tables are the features of all three in the SVM that mRMR and HSIC Lasso "
        "have: what is better there is due to the last fit on 80 rows, the rest to the features. As good: "
        f"within {100 * MARGIN:g} % at the sizes that GBFS has models of, rivals {curves.RULE}; one test row in all "
        f"five splits is 1 %. {curves.solvers(results)}",
        claims,
        ["paper_wide.png"],
        more,
    )
