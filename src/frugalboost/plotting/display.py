"""What all figures share: axes, colours, names, labels, and placing text without overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression
from sklearn.utils.validation import check_is_fitted

from frugalboost.estimators.base import GBFSBase
from frugalboost.estimators.cross_validation import GBFSCVBase
from frugalboost.page.words import number_text

Floats = NDArray[np.float64]

# Okabe and Ito's colours, told apart by the colour-blind too; without yellow, which is too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
INK, GREY, PALE = "#222222", "#9A9A9A", "#EDEDED"
SMALL = 8.5  # size of text beside points and rows
MOST_LETTERS = 26  # of a name; longer ones lose their middle
ROW = 0.23  # height of a row in inches
NOTHING = "nothing was bought"


class Display:
    """What all figures share: where they were drawn."""

    ax_: Any
    figure_: Any

    def _begin(self, ax: Any, width: float = 6.0, height: float = 4.0) -> Any:
        """Axes to draw on: those given, or those of a new figure."""
        if ax is None:
            ax = pyplot().subplots(figsize=(width, height), layout="constrained")[1]
        if not ax.has_data():
            ax.set_prop_cycle(**styles())
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _empty(self, ax: Any) -> Self:
        """A figure that says so where there is nothing to draw."""
        ax.text(0.5, 0.5, NOTHING, transform=ax.transAxes, ha="center", va="center", color=INK)
        ax.set(xticks=[], yticks=[])
        return self


def pyplot() -> Any:
    """matplotlib, or an error that says how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("Figures need matplotlib: pip install frugalboost[plot]") from None
    return plt


def styles() -> dict[str, list[Any]]:
    """Colours, then the same ones dashed and dotted."""
    kinds = [(dashes, colour) for dashes in ("-", "--", ":") for colour in COLOURS]
    return {"linestyle": [dashes for dashes, _ in kinds], "color": [colour for _, colour in kinds]}


# ------------------------------------------------------------------------------------------ loss and score


def kind_of(thing: Any) -> str:
    """What a thing is, for a message."""
    return f"a {type(thing).__name__}"


def check_option(what: str, value: Any, options: Sequence[str]) -> None:
    """Raise ValueError that names the options."""
    if value not in options:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, options))} here, not {value!r}.")


def check_estimator(display: type, estimator: Any) -> None:
    """Raise TypeError or NotFittedError for what a figure can't draw."""
    if not isinstance(estimator, GBFSBase | GBFSCVBase):
        raise TypeError(
            f"{display.__name__} draws a GBFSClassifier or GBFSRegressor, with or without cross-validation, not "
            f"{kind_of(estimator)}."
        )
    check_is_fitted(estimator)


def fitted_model(display: type, estimator: Any) -> GBFSBase:
    """The fitted model itself, out of one with cross-validation where that is given."""
    check_estimator(display, estimator)
    model: GBFSBase = estimator.estimator_ if isinstance(estimator, GBFSCVBase) else estimator
    return model


def total_gains(model: GBFSBase) -> Floats:
    """Sum of the raw gains of every feature's splits, up to the best iteration."""
    return model._model.ensemble.feature_gains(model.n_features_in_, model.best_iteration_)


ON_VALIDATION_ROWS = ("validation_score", "validation_loss")


def drawable(values: Floats, what: str) -> Floats:
    """The values; ValueError where all are NaN, which would be an empty figure."""
    if np.isnan(values).all():
        why = "Were validation rows given?" if what in ON_VALIDATION_ROWS else "The loss has no method 'value'."
        raise ValueError(f"There is no {what} to draw: it is NaN throughout. {why}")
    return values


def shown_names(names: Sequence[str]) -> list[str]:
    """Names fit to be drawn: not too long, on one line, and not taken for formulas."""
    whole = [" ".join(name.split()) for name in names]
    half = (MOST_LETTERS - 1) // 2
    cut = {n: n if len(n) <= MOST_LETTERS else f"{n[: MOST_LETTERS - 1 - half]}…{n[-half:]}" for n in whole}
    alike: dict[str, list[str]] = {}
    for name, short in cut.items():
        alike.setdefault(short, []).append(name)
    for group in (names for names in alike.values() if len(names) > 1):
        # The part in which they differ was cut away: show them from there on.
        begin = next((i for i, letters in enumerate(zip(*group, strict=False)) if len(set(letters)) > 1), half)
        cut |= {n: f"{n[:8]}…{truncated(n[begin:], MOST_LETTERS - 9)}" for n in group}
    return [cut[name].replace("$", r"\$") for name in whole]


def truncated(text: str, most: int) -> str:
    """A text cut to at most this number of letters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def in_unit(unit: str | None) -> str:
    """A unit behind a label."""
    return f" ({unit})" if unit else ""


def x_label_of(x: str, unit: str | None) -> str:
    """Label of an axis of features or costs."""
    return "number of features" if x == "n_features" else f"cost{in_unit(unit)}"


def amount_of(x: str, value: float, unit: str | None) -> str:
    """A number of features, or a cost, in words."""
    if x == "price":
        return f"cost {number_text(value, 3)}{' ' + unit if unit else ''}"
    return f"{number_text(value, 3)} feature{'' if value == 1 else 's'}"


def score_label(scoring: str) -> str:
    """Label of an axis of scores."""
    return scoring.replace("_", " ") or "score"


def mu_label_of(estimator: Any) -> str:
    """Label of an axis of mu."""
    return "mu (absolute)" if getattr(estimator, "mu_unit", "share") == "absolute" else "mu (share)"


def whole_numbers(axis: Any) -> None:
    """Ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def entry_order(chosen: Sequence[NDArray[np.intp]]) -> list[int]:
    """Features by the first model that has them, those of one model in order of purchase."""
    return list(dict.fromkeys(int(j) for features in chosen for j in features))


def positive_mus(mus: Floats) -> Floats:
    """Places of mus on a log axis: zero lies one step below the smallest."""
    above = mus[mus > 0]
    if len(above) == len(mus) or not len(above):
        return mus if len(above) else np.ones(len(mus))
    step = float(above[-1] / above[-2]) if len(above) > 1 else 0.1
    places = mus.copy()
    places[mus == 0] = above[-1] * step
    return places


def edges_of(columns: Floats, scale: str) -> Floats:
    """Borders of the cells around columns."""
    if scale == "list":
        return np.arange(len(columns) + 1.0) - 0.5
    places = np.log(positive_mus(columns)) if scale == "log" else columns
    half = np.diff(places) / 2
    if not len(half):
        half = np.array([-1.0 if scale == "log" else 0.5])  # a single column
    edges: Floats = np.concatenate(
        [places[:1] - half[0], places[:-1] + half[: len(places) - 1], places[-1:] + half[-1]]
    )
    return np.exp(edges) if scale == "log" else edges


def falling_mu(ax: Any, mus: Floats) -> None:
    """A log axis from large to small, on which zero has a place too."""
    from matplotlib.ticker import NullFormatter

    ax.set_xscale("log")
    ax.xaxis.set_minor_formatter(NullFormatter())
    places, above = positive_mus(mus), mus[mus > 0]
    if len(above) == len(mus) and above[0] >= 10 * above[-1]:
        return  # powers of ten below the axis will do
    some = range(0, len(mus), -(-len(mus) // 5))
    ax.set_xticks(places[some], [f"{mu:.2g}" for mu in mus[some]])
    ax.minorticks_off()


def legend_above(ax: Any) -> None:
    """A legend over the axes, side by side as far as there is room."""
    columns = int(ax.get_window_extent().width / ax.figure.dpi / 1.5)
    place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": max(columns, 1), "columnspacing": 1.2}
    ax.legend(frameon=False, fontsize=SMALL, **place)


def write_at_ends(ax: Any, x: float, ends: Floats, names: Sequence[str], lines: Sequence[Any]) -> None:
    """Write names of lines, from the highest down, to the right of their ends, moved apart where they would overlap."""
    from matplotlib.transforms import ScaledTranslation

    if not names:
        return
    ax.figure.draw_without_rendering()  # the height of the axes is known only then
    low, high = ax.get_ylim()
    gap = 1.2 * SMALL * ax.figure.dpi / 72 * (high - low) / ax.get_window_extent().height
    most = max(int((high - low) / gap), 1)
    if len(names) > most:
        names = [*names[: most - 1], f"and {len(names) - most + 1} more"]
    steps = gap * np.arange(len(names))
    rising = ends[: len(names)][::-1]
    # The least movement that keeps the order and leaves a gap.
    moved = isotonic_regression(rising - steps, y_min=low, y_max=high - steps[-1]) + steps
    right = ax.get_yaxis_transform() + ScaledTranslation(22 / 72, 0, ax.figure.dpi_scale_trans)
    looks = {"annotation_clip": False, "fontsize": SMALL, "color": INK, "va": "center", "textcoords": right}
    for name, end, height, line in zip(names[::-1], rising, moved, lines[: len(names)][::-1], strict=True):
        leader = {"arrowstyle": "-", "linewidth": 1, "shrinkA": 1, "shrinkB": 3, "relpos": (0, 0.5)}
        leader |= {"color": line.get_color(), "linestyle": line.get_linestyle()}
        ax.annotate(name, (x, end), (1.0, height), arrowprops=leader, **looks)


def write_beside(ax: Any, x: Floats, low: Floats, high: Floats, names: Sequence[str], order: Sequence[int]) -> None:
    """Write names beside the tops of columns, the first in ``order`` first; a name without room is left out."""
    ax.figure.draw_without_rendering()  # places in the picture are known only then
    pixel = ax.figure.dpi / 72
    points = ax.transData.transform(np.column_stack([x, high]))
    feet = ax.transData.transform(np.column_stack([x, low]))
    taken = np.column_stack([np.fmin(points, feet) - 3 * pixel, np.fmax(points, feet) + 3 * pixel])
    inside = ax.get_window_extent().extents  # left, bottom, right, top, as above
    shown = shown_names(names)
    for i in order:
        text = ax.annotate(shown[i], (x[i], high[i]), (0, 0), textcoords="offset points", fontsize=SMALL)
        box = text.get_window_extent()
        size = np.array([box.width, box.height])
        for place in PLACES:
            corner = points[i] + pixel * np.array(place) - size * [place[0] < 0, 0.5]
            box = np.concatenate([corner, corner + size])
            out = (box[:2] < inside[:2]).any() or (box[2:] > inside[2:]).any()
            hit = ((box[:2] < taken[:, 2:]) & (box[2:] > taken[:, :2])).all(axis=1)
            if not out and not hit.any():
                text.set(position=place, va="center", ha="right" if place[0] < 0 else "left", color=INK)
                taken = np.vstack([taken, box])
                break
        else:
            text.remove()


# Where a name may stand, in points from its point: at the right, at the left, then a little higher or lower.
PLACES = [(side * 6, up * 4) for up in (0, 1, -1, 2, -2) for side in (1, -1)]
