"""Time and complexity: what each method costs on each table, and how it grows with rows and with columns."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from frugalboost import GBFSClassifier
from lab.output import save_figure
from lab.paper.cells import Cell, Result, RunOptions
from lab.paper.curves import COLOURS, TITLES
from lab.paper.ours import paper_model
from lab.paper.pages import Claim, Section
from lab.rivals import MRMR, HSICLasso, L1Logistic, RandomForestSelection, Selector

TITLE = "Time and complexity"
ROWS = (1_000, 3_000, 10_000, 30_000, 100_000)  # of 100 columns
COLUMNS = (10, 100, 1_000, 10_000)  # of 1,000 rows
MOST_ROWS = {"mrmr": 10_000, "hsic": 10_000, "forest": 30_000}  # beyond, minutes and gigabytes
METHODS = ("paper", "best", "l1", "forest", "mrmr", "hsic")
K, TREES = 10, 500
SETTINGS = {"rows": ROWS, "columns": COLUMNS, "k": K, "trees": TREES}


def cells(quick: bool) -> list[Cell]:
    """Rows x columns."""
    shapes = [(n, 100) for n in ROWS] + [(1_000, d) for d in COLUMNS if d != 100]
    if quick:
        shapes = shapes[:2]
    return [Cell(f"{n} x {d}", m) for n, d in shapes for m in METHODS if n <= MOST_ROWS.get(m, n)]


def run(cell: Cell, order: RunOptions) -> Result:
    """One thread; the clock runs from the table to a model with ten features."""
    n, d = map(int, cell.data.split(" x "))
    X, y = make_classification(n, d, n_informative=5, n_redundant=3, random_state=0)
    begin = time.perf_counter()
    if cell.method == "paper":
        paper_model(n * 0.002, 4, TREES, budget=K).fit(X, y)
    elif cell.method == "best":
        GBFSClassifier(n_features_to_select=K, base="trees", max_iter=TREES, min_samples_leaf=5, n_jobs=1).fit(X, y)
    else:
        rivals()[cell.method].fit(X, y).predict(X[:1], K)
    return {"seconds": round(time.perf_counter() - begin, 3)}


def rivals() -> dict[str, Selector]:
    """One model each: nothing is searched but C and gamma of the SVMs, by one split."""
    return {
        "l1": L1Logistic(splits=0, count=K),
        "forest": RandomForestSelection(min_samples_leaf=1),
        "mrmr": MRMR(count=K, splits=1),
        "hsic": HSICLasso(count=K, splits=1),
    }


def draw(results: Sequence[Result], folder: Path, order: RunOptions) -> None:
    """Seconds against rows, and against columns."""
    figure, panels = plt.subplots(1, 2, figsize=(10.5, 4.6), layout="constrained", sharey=True)
    for panel, along, name in ((panels[0], 0, "rows, of 100 columns"), (panels[1], 1, "columns, of 1,000 rows")):
        for method in METHODS:
            at = grown(results, method, along)
            if at:
                panel.plot(
                    *zip(*at, strict=True), marker="o", markersize=3, color=COLOURS[method], label=TITLES[method]
                )
        panel.set(xlabel=name, xscale="log", yscale="log")
        panel.grid(alpha=0.25)
    panels[0].set_ylabel("seconds, one thread")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    save_figure(figure, folder / "paper_times.png")
    plt.close(figure)


def grown(results: Sequence[Result], method: str, along: int) -> list[tuple[int, float]]:
    """Sizes and seconds where only rows (0) or only columns (1) vary."""
    fixed = (1, 100) if along == 0 else (0, 1_000)
    found = []
    for result in (r for r in results if r["method"] == method):
        shape = tuple(map(int, result["data"].split(" x ")))
        if shape[fixed[0]] == fixed[1]:
            found.append((shape[along], result["seconds"]))
    return sorted(found)


def exponent(at: Sequence[tuple[int, float]]) -> float:
    """The power of the size that time grows with, over the larger half of the sizes."""
    half = at[-3:]
    sizes, seconds = np.log([a for a, _ in half]), np.log([s for _, s in half])
    return float(np.polyfit(sizes, seconds, 1)[0])


def in_seconds(time: float | None) -> str:
    """Two digits, or whole seconds."""
    return "-" if time is None else f"{time:.2g}" if time < 10 else f"{time:.0f}"


def section(results: Sequence[Result]) -> Section:
    """GBFS is linear in rows and in columns."""
    claims, more = (
        [],
        [
            "| method | "
            + " | ".join(f"{n:,} rows" for n in ROWS)
            + " | "
            + " | ".join(f"{d:,} columns" for d in COLUMNS)
            + " |",
            "|---|" + "---:|" * (len(ROWS) + len(COLUMNS)),
        ],
    )
    for method in METHODS:
        rows, columns = dict(grown(results, method, 0)), dict(grown(results, method, 1))
        if rows:
            shown = [*(in_seconds(rows.get(n)) for n in ROWS), *(in_seconds(columns.get(d)) for d in COLUMNS)]
            more.append(f"| {TITLES[method]} | " + " | ".join(shown) + " |")
    for method in ("paper", "best"):
        rows, columns = grown(results, method, 0), grown(results, method, 1)
        if len(rows) >= 3 and len(columns) >= 3:
            powers = exponent(rows), exponent(columns)
            claims.append(
                Claim(
                    f"{TITLES[method]}: time linear in rows and in columns",
                    f"rows to the power {powers[0]:.2f}, columns to the power {powers[1]:.2f}",
                    max(powers) < 1.2,
                )
            )
    return Section(
        TITLE,
        "Made tables, of 100 columns where rows grow and of 1,000 rows where columns do; one thread, seconds from "
        f"the table to a model with {K} features. Linear: to a power below 1.2 over the last three sizes. Settings are "
        "not searched, but "
        f"for C and gamma of the SVMs by one split: L1 follows its path down to more than {2 * K} features, the forest "
        f"has 2000 trees twice, GBFS {TREES} trees of depth 4. '-': not run, as it takes minutes or gigabytes. Against "
        "other boosters: [speed.md](speed.md). What each method took on the paper's tables, search included, is in the "
        "last column of the tables above.",
        claims,
        ["paper_times.png"],
        more,
    )
