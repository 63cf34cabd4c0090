"""The appendix: six pairs of MNIST digits, against L1 logistic regression and the forest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import matplotlib.pyplot as plt

from lab.data import load
from lab.output import save_figure
from lab.paper import curves
from lab.paper.cells import Cell, Result, RunOptions
from lab.paper.curves import (
    KS,
    TITLES,
    against_rivals,
    by_prediction,
    draw_curves,
    fitted,
    shared_legend,
    sizes,
    table,
)
from lab.paper.ours import Effort
from lab.paper.pages import Section

TITLE = "Six pairs of digits (appendix)"
PAIRS = ("1vs7", "2vs7", "3vs5", "4vs9", "5vs8", "7vs9")
RIVALS = ("l1", "forest")
MARGIN = 0.002
EFFORT = Effort(depths=(4,), splits=1)
L1_SPLITS = 1  # as one validation split is enough for ours
SETTINGS = curves.SETTINGS | {"pairs": PAIRS, "paper": asdict(EFFORT), "l1_splits": L1_SPLITS}


def cells(quick: bool) -> list[Cell]:
    """The official test parts."""
    if quick:
        return [Cell("mnist1vs7", m) for m in ("best", "l1")]
    return [Cell(f"mnist{pair}", m) for pair in PAIRS for m in ("paper", "best", *RIVALS)]


def run(cell: Cell, order: RunOptions) -> Result:
    """One selector on one pair."""
    data = load(cell.data, order.folder)
    train, test = data.split(0)
    judge = by_prediction(data.X[test], data.y[test])
    ks = sizes(data.n_features, order.quick)
    return fitted(cell.method, data.X[train], data.y[train], ks, 0, order.quick, judge, EFFORT, L1_SPLITS)


def draw(results: Sequence[Result], folder: Path, order: RunOptions) -> None:
    """One panel for each pair."""
    figure, panels = plt.subplots(2, 3, figsize=(12.6, 7.4), layout="constrained")
    for panel, pair in zip(panels.flat, PAIRS, strict=True):
        draw_curves(panel, [r for r in results if r["data"] == f"mnist{pair}"], pair.replace("vs", " against "))
    shared_legend(figure, panels)
    save_figure(figure, folder / "paper_mnist_pairs.png")
    plt.close(figure)


def section(results: Sequence[Result]) -> Section:
    """Lower error than both, pair by pair."""
    claims, more = [], []
    for pair in PAIRS:
        own = [r for r in results if r["data"] == f"mnist{pair}"]
        if not own:
            continue
        for form in ("paper", "best"):
            said = f"{pair}: the lowest error ({TITLES[form]})"
            claims.append(against_rivals(said, own, form, RIVALS, MARGIN))
        more += ["", f"**{pair}**", "", *table(own, KS)]
    return Section(
        TITLE,
        "Which six pairs the paper shows is not known here; these are pairs that look alike. The paper's form has "
        "depth 4; its number of trees, and the penalties of L1, are chosen by one validation split. An error counts as "
        "lowest within "
        f"{100 * MARGIN:g} % of the best rival's, less than four test rows, {curves.RULE}.",
        claims,
        ["paper_mnist_pairs.png"],
        more,
    )
