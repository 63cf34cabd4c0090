"""The appendix: six pairs of MNIST digits, against L1 logistic regression and the forest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt

from experiments.cells import Cell, Order, Result
from experiments.curves import KS, TITLES, best_within, draw_curves, points, sizes, table, test_error
from experiments.ours import Effort
from experiments.pages import Claim, Section, percent
from frugalboost import datasets

TITLE = "Six pairs of digits (appendix)"
PAIRS = ("1vs7", "2vs7", "3vs5", "4vs9", "5vs8", "7vs9")
METHODS = ("paper", "best", "l1", "forest")
EFFORT = Effort(depths=(4,), splits=1)
SETTINGS = {"ks": KS, "pairs": PAIRS, "depths": EFFORT.depths, "splits": EFFORT.splits}


def cells(quick: bool) -> list[Cell]:
    """The official test parts."""
    if quick:
        return [Cell("mnist1vs7", m) for m in ("best", "l1")]
    return [Cell(f"mnist{pair}", m) for pair in PAIRS for m in METHODS]


def run(cell: Cell, order: Order) -> Result:
    """One selector on one pair."""
    data = datasets.load(cell.data, order.folder)
    train, test = data.split(0)
    judge = test_error(data.X[test], data.y[test])
    ks = sizes(data.n_features, order.quick)
    return {"points": points(cell.method, data.X[train], data.y[train], ks, 0, order.quick, judge, EFFORT)}


def draw(results: Sequence[Result], folder: Path, order: Order) -> list[str]:
    """One panel for each pair."""
    figure, panels = plt.subplots(2, 3, figsize=(12, 7), layout="constrained")
    for panel, pair in zip(panels.flat, PAIRS, strict=True):
        draw_curves(panel, [r for r in results if r["data"] == f"mnist{pair}"], pair.replace("vs", " against "))
    panels.flat[0].legend(fontsize=7)
    figure.savefig(folder / "paper_mnist_pairs.png", dpi=110)
    plt.close(figure)
    return ["paper_mnist_pairs.png"]


def section(results: Sequence[Result]) -> Section:
    """Lower error than both, pair by pair."""
    claims, more = [], []
    for pair in PAIRS:
        own = [r for r in results if r["data"] == f"mnist{pair}"]
        if not own:
            continue
        for form in ("paper", "best"):
            worse = []
            for k in KS:
                error = best_within(own, form, k)
                others = [e for m in ("l1", "forest") if (e := best_within(own, m, k)) is not None]
                if error is not None and others and error > min(others) + 0.002:
                    worse.append(f"{percent(error)} against {percent(min(others))} at {k}")
            claims.append(
                Claim(f"{pair}: {TITLES[form]} has the lowest error", "; ".join(worse) or "at every k", not worse)
            )
        more += ["", f"**{pair}**", "", *table(own, KS)]
    return Section(
        TITLE,
        "Which six pairs the paper shows is not known here; these are pairs that look alike. Depth 4, "
        "the number of trees by one validation split. An error counts as lowest "
        "within 0.2 %, four test rows.",
        claims,
        ["paper_mnist_pairs.png"],
        more,
    )
