"""What the authors' Matlab code changes: it never ends a branch because a split does not pay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from lab.data import load
from lab.output import save_figure
from lab.paper.cells import Cell, Result, RunOptions
from lab.paper.curves import mean_curve, point
from lab.paper.ours import MUS, paper_model
from lab.paper.pages import Claim, Section

TITLE = "What the authors' Matlab code does differently"
TABLES = ("spam", "uspst")
READINGS = {
    "paid": "a split must pay (the text)",
    "never": "the best split is always made (the Matlab code)",
}
TREES, DEPTH = 200, 4
SETTINGS = {"mus": MUS, "trees": TREES, "depth": DEPTH, "splits": 5}


def cells(quick: bool) -> list[Cell]:
    """Both readings."""
    tables, splits = (TABLES[:1], 1) if quick else (TABLES, 5)
    return [Cell(data, stop, s) for data in tables for stop in READINGS for s in range(splits)]


def run(cell: Cell, order: RunOptions) -> Result:
    """A model for each mu; they differ only in when branches end."""
    data = load(cell.data, order.folder)
    train, test = data.split(cell.split)
    found = []
    for mu in MUS:
        model = paper_model(mu, DEPTH, TREES, stop=cell.method).fit(data.X[train], data.y[train])
        wrong = float(np.mean(model.predict(data.X[test]) != data.y[test]))
        found.append(point(wrong, model.selected_features_, mu=mu))
    return {"points": found}


def draw(results: Sequence[Result], folder: Path, order: RunOptions) -> None:
    """Features bought against mu."""
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained")
    for panel, data in zip(panels, TABLES, strict=True):
        for stop, colour in zip(READINGS, ("#c44e52", "#4c72b0"), strict=True):
            own = [r for r in results if r["data"] == data and r["method"] == stop]
            style = "--" if stop == "never" else "-"  # so that both are seen where they coincide
            if own:
                line = MUS, mean_curve(own)[0]
                panel.plot(*line, style, marker="o", markersize=4, color=colour, label=READINGS[stop])
        panel.set(title=data, xlabel="mu", xscale="log", ylabel="features bought")
        panel.grid(alpha=0.25)
    panels[0].legend(fontsize=8)
    save_figure(figure, folder / "paper_never_stopping.png")
    plt.close(figure)


def section(results: Sequence[Result]) -> Section:
    """How few features each reading can reach."""
    claims, more = [], []
    for data in TABLES:
        of = {stop: [r for r in results if r["data"] == data and r["method"] == stop] for stop in READINGS}
        if not all(of.values()):
            continue
        features = {stop: mean_curve(own)[0] for stop, own in of.items()}
        errors = {stop: mean_curve(own)[1] for stop, own in of.items()}
        fewest = {stop: float(f.min()) for stop, f in features.items()}
        claims.append(
            Claim(
                f"{data}: a split must be worth its price, so a large mu buys nothing",
                f"{fewest['paid']:.1f} features at the fewest by the text's rule, {fewest['never']:.1f} by the "
                "Matlab code's",
                fewest["paid"] < 0.5,
                counts=False,
            )
        )
        more += [
            "",
            f"**{data}**",
            "",
            "| mu | " + " | ".join(f"{mu:.3g}" for mu in MUS) + " |",
            "|---|" + "---:|" * len(MUS),
        ]
        for stop, name in (("paid", "text"), ("never", "Matlab code")):
            more.append(f"| features, {name} | " + " | ".join(f"{f:.1f}" for f in features[stop]) + " |")
            more.append(f"| test error, {name}, % | " + " | ".join(f"{100 * e:.1f}" for e in errors[stop]) + " |")
    return Section(
        TITLE,
        "The text takes mu off the gain of a split on a new feature, so one that gains less is not worth making. The "
        "released Matlab code only ranks splits by it and always makes the best one, until a tree has its depth; "
        '`stop="never"` is that reading. Then mu steers which features are bought, but keeps none out. Besides, the '
        f"text's log-loss has a sign slip. Paper's form, {TREES} trees of depth {DEPTH}, 5 random 80/20 splits. "
        "Nothing: less than half a feature on average.",
        claims,
        ["paper_never_stopping.png"],
        more,
    )
