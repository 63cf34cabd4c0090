"""Plots of what lab/speed and lab/speed/growth.py found; a library has the same colour in all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from lab.output import save_figure
from lab.rivals.boosters import CEGB, OURS, PACKAGES, SAMPLED

# module: colour, marker
STYLES = {
    OURS: ("#c8102e", "o"),
    SAMPLED: ("#e8879a", "s"),
    CEGB: ("#1f4e9e", "s"),
    "lightgbm_plain": ("#76a9dd", "D"),
    "xgboost_hist": ("#2e8b57", "^"),
    "catboost_plain": ("#d99a00", "v"),
    "sklearn_hist": ("#7a7a7a", "P"),
}
KINDS = {"seconds": "training alone", "seconds_with_binning": "binning and training"}

Record = dict[str, Any]


def plain(value: float, position: int = 0) -> str:
    """A tick as people write it: 0.03, 1, 1,000,000."""
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def logarithmic(axes: Axes, which: str, subs: tuple[float, ...] = (1.0,)) -> None:
    """Logarithmic, with few ticks and plain numbers."""
    getattr(axes, f"set_{which}scale")("log")
    axis = getattr(axes, f"{which}axis")
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(FuncFormatter(plain))
    axis.set_minor_formatter(NullFormatter())


def finished(figure: Figure, path: Path) -> None:
    """One legend above all panels, then the file."""
    handles: dict[str, Any] = {}
    for axes in reversed(figure.axes):  # the last panel has every library
        found, labels = axes.get_legend_handles_labels()
        handles |= dict(zip(labels, found, strict=True))
    figure.legend(
        handles.values(),
        handles,
        loc="outside upper center",
        ncols=len(handles) if len(handles) < 7 else 4,
        frameon=False,
        columnspacing=1.2,
        handletextpad=0.3,
    )
    save_figure(figure, path)
    plt.close(figure)


def works(entries: dict[str, Record], path: Path) -> None:
    """How many times our seconds each rival takes: a line for each work, a dot for each rival."""
    figure, panels = plt.subplots(1, 2, figsize=(10, 1.6 + 0.45 * len(entries)), layout="constrained", sharey=True)
    for axes, (key, title) in zip(panels, KINDS.items(), strict=True):
        axes.axvline(1, color=STYLES[OURS][0], linewidth=2, zorder=1)
        for module in PACKAGES:
            dots(axes, entries, module, key)
        if key == "seconds":
            bars = [(place, e["at_least"]) for place, e in enumerate(entries.values()) if e["at_least"]]
            places, least = zip(*bars, strict=True) if bars else ((), ())
            axes.plot(
                least,
                places,
                "|",
                color="black",
                markersize=15,
                label="asked of CEGB",
                zorder=2,
            )
        axes.set(title=title, xlabel="times frugalboost's seconds", yticks=range(len(entries)), yticklabels=entries)
        axes.set_ylim(len(entries) - 0.5, -0.5)
        axes.grid(axis="y", color="#e4e4e4")
        logarithmic(axes, "x", (1.0, 2.0, 5.0))
    finished(figure, path)


def dots(axes: Axes, entries: dict[str, Record], module: str, key: str) -> None:
    """One rival's place on every line."""
    colour, marker = STYLES[module]
    known = [(i, e) for i, e in enumerate(entries.values()) if module in e["rivals"] and e["rivals"][module][key]]
    if not known:
        return
    name = known[0][1]["rivals"][module]["name"]
    times = [e["rivals"][module][key] / e["rivals"][OURS][key] for _, e in known]
    size = 9 if module in (OURS, CEGB) else 6
    axes.plot(times, [i for i, _ in known], marker, color=colour, markersize=size, label=name, alpha=0.9, zorder=3)


def growth(entries: dict[str, Record], along: str, path: Path) -> None:
    """Seconds against rows or columns."""
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained", sharey=True)
    for axes, (key, title) in zip(panels, KINDS.items(), strict=True):
        for module in PACKAGES:
            line(axes, entries, module, along, key)
        axes.set(title=title, xlabel=along)
        axes.grid(color="#e4e4e4")
        logarithmic(axes, "x")
        logarithmic(axes, "y")
    panels[0].set_ylabel("seconds")
    finished(figure, path)


def line(axes: Axes, entries: dict[str, Record], module: str, along: str, key: str) -> None:
    known = [e for e in entries.values() if module in e["rivals"] and e["rivals"][module][key]]
    if not known:
        return
    colour, marker = STYLES[module]
    sizes, seconds = [e[along] for e in known], [e["rivals"][module][key] for e in known]
    width = 3 if module == OURS else 1.5
    name = known[0]["rivals"][module]["name"]
    order = 4 if module == OURS else 3
    axes.plot(
        sizes, seconds, marker=marker, color=colour, linewidth=width, markersize=2 * width + 1, label=name, zorder=order
    )
