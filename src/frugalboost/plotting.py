"""Figures: what a path, a choice by cross-validation, a model and a stability selection look like.

Every class holds what it draws, and is made by ``from_estimator`` or ``from_path``, which also draw it; ``plot`` draws
it again, on other axes or in another style. matplotlib is imported only when something is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import isotonic_regression
from sklearn.utils.validation import check_is_fitted

from frugalboost.base import GBFSBase
from frugalboost.costs.bags import Bags
from frugalboost.costs.cost import FeatureTable, Sum
from frugalboost.cross_validation import GBFSCVBase
from frugalboost.path import SelectionPath
from frugalboost.splits import chosen_index
from frugalboost.stability import StabilitySelection

__all__ = ["BagDisplay", "EntryDisplay", "PurchaseDisplay", "SelectionPathDisplay", "StabilityPathDisplay"]

Floats = NDArray[np.float64]

# Okabe and Ito's colours, told apart by the colour-blind too; without yellow, which is too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
INK, GREY, PALE = "#222222", "#9A9A9A", "#EDEDED"
SMALL = 8.5  # size of text beside points and rows
MOST_LETTERS = 26  # of a name; longer ones lose their middle
ROW = 0.23  # height of a row in inches
NOTHING = "nothing was bought"


class _Display:
    """What all figures share: where they were drawn."""

    ax_: Any
    figure_: Any

    def _begin(self, ax: Any, width: float = 6.0, height: float = 4.0) -> Any:
        """Axes to draw on: those given, or a figure of one's own."""
        if ax is None:
            ax = _pyplot().subplots(figsize=(width, height), layout="constrained")[1]
        if not ax.has_data():
            ax.set_prop_cycle(**_styles())
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _empty(self, ax: Any) -> Self:
        """A figure that says so where there is nothing to draw."""
        ax.text(0.5, 0.5, NOTHING, transform=ax.transAxes, ha="center", va="center", color=INK)
        ax.set(xticks=[], yticks=[])
        return self


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("Figures need matplotlib: pip install frugalboost[plot]") from None
    return plt


def _styles() -> dict[str, list[Any]]:
    """Colours, then the same ones dashed and dotted."""
    kinds = [(dashes, colour) for dashes in ("-", "--", ":") for colour in COLOURS]
    return {"linestyle": [dashes for dashes, _ in kinds], "color": [colour for _, colour in kinds]}


# ------------------------------------------------------------------------------------------ loss and score


class Line(NamedTuple):
    """One line of a :class:`SelectionPathDisplay`: points, half the height of their bars, and a name for the legend."""

    x: Floats
    y: Floats
    error: Floats | None = None
    name: str | None = None


class Mark(NamedTuple):
    """One marked point of a :class:`SelectionPathDisplay`."""

    x: float
    y: float
    text: str


class SelectionPathDisplay(_Display):
    """Score or loss against the number or the price of features.

    Make it with :meth:`from_path` or :meth:`from_estimator`.

    Parameters
    ----------
    lines : sequence of Line
        What is drawn: ``x``, ``y``, ``error`` (bars, or None) and ``name`` (for the legend, or None). Points are marked
        where there are at most 60.
    x_label, y_label : str
        Texts at the axes.
    marks : sequence of Mark, default=()
        Points to mark: ``x``, ``y`` and ``text``.
    band : (float, float) or None, default=None
        Scores within one standard error of the best, shaded.
    whole_x : bool, default=True
        Whether x counts something.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor, gbfs_path
    >>> from frugalboost.plotting import SelectionPathDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GBFSRegressor(max_iter=20)
    >>> path = gbfs_path(X[:300], y[:300], estimator=model, X_val=X[300:], y_val=y[300:], n_mus=5)
    >>> display = SelectionPathDisplay.from_path(path)
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('number of features', 'R² (validation rows)')
    """

    def __init__(
        self,
        *,
        lines: Sequence[Line],
        x_label: str,
        y_label: str,
        marks: Sequence[Mark] = (),
        band: tuple[float, float] | None = None,
        whole_x: bool = True,
    ) -> None:
        self.lines = lines
        self.x_label = x_label
        self.y_label = y_label
        self.marks = marks
        self.band = band
        self.whole_x = whole_x

    @classmethod
    def from_path(
        cls,
        path: SelectionPath,
        *,
        x: str = "n_features",
        y: str | None = None,
        ax: Any = None,
        name: str | None = None,
    ) -> Self:
        """Draw a path: one point for each model.

        Parameters
        ----------
        path : SelectionPath
            Made by :func:`~frugalboost.gbfs_path`.
        x : {"n_features", "price"}, default="n_features"
            What lies along the axis.
        y : {"validation_score", "validation_loss", "train_score", "train_loss"} or None, default=None
            None: the score on validation rows, where there are any, else on training rows.
        ax : matplotlib Axes or None, default=None
            Where to draw; None: a new figure.
        name : str or None, default=None
            Name of the line in the legend.

        Returns
        -------
        SelectionPathDisplay
            Drawn.

        Examples
        --------
        Two paths in one figure:

        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor, gbfs_path
        >>> from frugalboost.plotting import SelectionPathDisplay
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = GBFSRegressor(max_iter=20)
        >>> first = SelectionPathDisplay.from_path(gbfs_path(X, y, estimator=model, n_mus=5), name="by mu")
        >>> by_number = gbfs_path(X, y, estimator=model, n_features_to_select=[1, 2, 3])
        >>> second = SelectionPathDisplay.from_path(by_number, name="exactly k", ax=first.ax_)
        """
        if not isinstance(path, SelectionPath):
            raise TypeError(f"SelectionPathDisplay.from_path needs a path made by gbfs_path, not {_kind(path)}.")
        if y is None:
            y = "train_score" if np.isnan(path.validation_score).all() else "validation_score"
        _check_option("y", y, ["validation_score", "validation_loss", "train_score", "train_loss"])
        _check_option("x", x, ["n_features", "price"])
        values = _drawable(getattr(path, y), y)
        rows, _, kind = y.partition("_")
        what = _score_label(path.scoring) if kind == "score" else "loss"
        display = cls(
            lines=[Line(np.asarray(getattr(path, x), dtype=float), values, None, name)],
            x_label=_x_label(x, path.estimators[0].cost_unit_),
            y_label=f"{what} ({'training' if rows == 'train' else rows} rows)",
            whole_x=x == "n_features",
        )
        return display.plot(ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, x: str = "n_features", y: str | None = None, ax: Any = None, name: str | None = None
    ) -> Self:
        """Draw how an estimator was chosen, or how its loss fell while features were bought.

        For an estimator with cross-validation: the mean score of the candidates, with bars of one standard error, the
        best of them and the one chosen by the rule; a line for each depth and number of iterations. For any other: the
        losses after each iteration, and where the model stops.

        Parameters
        ----------
        estimator : GBFSClassifier, GBFSRegressor, GBFSClassifierCV or GBFSRegressorCV
            Fitted.
        x : {"n_features", "price", "iteration"}, default="n_features"
            What lies along the axis; "iteration" is for estimators without cross-validation.
        y : {"validation_score", "validation_loss", "train_loss"} or None, default=None
            None: the score with cross-validation, and all losses without.
        ax : matplotlib Axes or None, default=None
            Where to draw; None: a new figure.
        name : str or None, default=None
            Name of the line in the legend.

        Returns
        -------
        SelectionPathDisplay
            Drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor, GBFSRegressorCV
        >>> from frugalboost.plotting import SelectionPathDisplay
        >>> X, y = load_diabetes(return_X_y=True)
        >>> search = GBFSRegressorCV(GBFSRegressor(max_iter=20), n_mus=5, rule="1se", random_state=0).fit(X, y)
        >>> display = SelectionPathDisplay.from_estimator(search)
        >>> [mark.text.partition(":")[0] for mark in display.marks]
        ['best', 'chosen by 1se']
        """
        _check_estimator(cls, estimator)
        if isinstance(estimator, GBFSCVBase):
            display = cls(**_cross_validated(estimator, x, y, name))
        else:
            display = cls(**_iterations(estimator, x, y, name))
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None: a new figure.
        **style
            Passed to ``Axes.errorbar`` for every line.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``.

        Examples
        --------
        >>> import numpy as np
        >>> from frugalboost.plotting import Line, SelectionPathDisplay
        >>> line = Line(np.array([1, 2, 5]), np.array([0.5, 0.7, 0.8]))
        >>> display = SelectionPathDisplay(lines=[line], x_label="number of features", y_label="accuracy")
        >>> display.plot(linestyle="--").ax_.get_ylabel()
        'accuracy'
        """
        ax = self._begin(ax)
        if self.band is not None:
            ax.axhspan(*self.band, color=GREY, alpha=0.2, linewidth=0, label="within one standard error of the best")
        for line in self.lines:
            many = len(line.x) > 60
            looks = {"marker": "" if many else "o", "markersize": 4, "linewidth": 1.5, "elinewidth": 0.8} | style
            ax.errorbar(line.x, line.y, yerr=line.error, label=line.name, **looks)
        for place, mark in enumerate(self.marks):
            shape, size = ("*", 13) if place == len(self.marks) - 1 else ("D", 8)
            looks = {"color": INK, "markerfacecolor": "white", "linestyle": "", "zorder": 5}
            ax.plot(mark.x, mark.y, marker=shape, markersize=size, label=mark.text, **looks)
        ax.set(xlabel=self.x_label, ylabel=self.y_label)
        if self.whole_x:
            _whole_numbers(ax.xaxis)
        if ax.get_legend_handles_labels()[1]:
            # Scores rise to the right; what matplotlib takes for the best place may lie upon bars.
            scores = any(line.error is not None for line in self.lines)
            ax.legend(frameon=False, fontsize=SMALL, loc="lower right" if scores else "best")
        return self


def _cross_validated(search: Any, x: str, y: str | None, name: str | None) -> dict[str, Any]:
    """What is drawn of a choice by cross-validation."""
    y = y or "validation_score"
    _check_option("x", x, ["n_features", "price"])
    _check_option("y", y, ["validation_score", "validation_loss"])
    results, loss = search.cv_results_, y == "validation_loss"
    along = results[f"mean_{x}"]
    values = _drawable(results["mean_test_loss" if loss else "mean_test_score"], y)
    errors = results["se_test_score"]
    lines = [
        Line(along[i], values[i], None if loss else errors[i], ", ".join(w for w in (name, label) if w) or None)
        for label, i in _by_grid(results["params"])
    ]
    best, chosen = chosen_index(results, "min"), search.best_index_
    shown = [(best, "best, chosen")] if best == chosen else [(best, "best"), (chosen, f"chosen by {search.rule}")]
    what = "loss" if loss else _score_label(search.scoring_)
    return {
        "lines": lines,
        "x_label": f"{_x_label(x, search.cost_unit_)}, mean of {search.n_splits_} splits",
        "y_label": f"{what} (held-out rows)",
        "marks": [
            Mark(along[i], values[i], f"{text}: {values[i]:.3g}, {_amount(x, along[i], search.cost_unit_)}")
            for i, text in shown
        ],
        "band": None if loss or search.rule != "1se" else (values[best] - errors[best], values[best]),
        "whole_x": x == "n_features",
    }


def _by_grid(candidates: Sequence[dict[str, Any]]) -> list[tuple[str, list[int]]]:
    """Candidates of each line, and what sets the line apart: depth and iterations, where several were tried."""
    groups: dict[tuple[Any, Any], list[int]] = {}
    for i, candidate in enumerate(candidates):
        groups.setdefault((candidate["max_depth"], candidate.get("max_iter")), []).append(i)
    several_depths = len({depth for depth, _ in groups}) > 1
    several_iterations = len({t for _, t in groups}) > 1
    out = []
    for (depth, t), places in groups.items():
        words = ["any depth" if depth is None else f"depth {depth}"] if several_depths else []
        words += [f"{t} iterations"] if several_iterations else []
        out.append((", ".join(words), places))
    return out


def _iterations(estimator: Any, x: str, y: str | None, name: str | None) -> dict[str, Any]:
    """What is drawn of one fit: its losses after each iteration."""
    columns = {"n_features": "n_features", "price": "price_paid", "iteration": "iteration"}
    rows = {"train_loss": "training rows", "validation_loss": "validation rows"}  # the latter on top
    _check_option("x", x, list(columns))
    if y is not None:
        _check_option("y", y, list(rows))
    history, best = estimator.history_, estimator.best_iteration_
    along = np.asarray(history[columns[x]], dtype=float)
    losses = {k: np.asarray(history[k], dtype=float) for k in rows if y in (None, k)}
    if y is None and not np.isnan(losses["train_loss"]).all():  # without validation rows only the other is drawn
        losses = {k: v for k, v in losses.items() if not np.isnan(v).all()}
    lines = [
        Line(along, _drawable(v, k), None, rows[k] if name is None else f"{name}, {rows[k]}") for k, v in losses.items()
    ]
    number = f"{best} iteration{'' if best == 1 else 's'}, {_amount('n_features', history['n_features'][best], None)}"
    kind = f" ({estimator.loss.replace('_', ' ')})" if isinstance(estimator.loss, str) else ""
    return {
        "lines": lines,
        "x_label": "iteration" if x == "iteration" else _x_label(x, estimator.cost_unit_),
        "y_label": f"mean loss{kind}",
        "marks": [Mark(along[best], lines[-1].y[best], f"the model: {number}")],
        "whole_x": x != "price",
    }


# ------------------------------------------------------------------------------------------ what enters where


class EntryDisplay(_Display):
    """Which features are in which model: a row for each feature, in the order they enter.

    Make it with :meth:`from_path` or :meth:`from_estimator`.

    Parameters
    ----------
    features : sequence of str
        Names of the rows, from the top.
    member : array-like of bool of shape (n_rows, n_columns)
        Which feature is in which model.
    columns : array-like of shape (n_columns,)
        What lies along the axis: mu, numbers of features or iterations.
    scale : {"log", "linear", "list"}
        "log": mu, falling; "linear": iterations; "list": equally wide columns with ``columns`` below.
    x_label : str
        Text at the axis.
    n_entered : int or None, default=None
        How many features entered in all; None: those of the rows.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor, gbfs_path
    >>> from frugalboost.plotting import EntryDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> display = EntryDisplay.from_path(gbfs_path(X, y, estimator=GBFSRegressor(max_iter=20), n_mus=10))
    >>> display.features[:2]
    ['s5', 'bmi']
    """

    def __init__(
        self,
        *,
        features: Sequence[str],
        member: ArrayLike,
        columns: ArrayLike,
        scale: str,
        x_label: str,
        n_entered: int | None = None,
    ) -> None:
        self.features = features
        self.columns = np.asarray(columns, dtype=float)
        self.member = np.asarray(member, dtype=bool).reshape(len(features), len(self.columns))
        self.scale = scale
        self.x_label = x_label
        self.n_entered = len(features) if n_entered is None else n_entered

    @classmethod
    def from_path(cls, path: SelectionPath, *, x: str | None = None, max_features: int = 30, ax: Any = None) -> Self:
        """Draw which features the models of a path use.

        Parameters
        ----------
        path : SelectionPath
            Made by :func:`~frugalboost.gbfs_path`.
        x : {"mu", "n_features"} or None, default=None
            What lies along the axis; None: what varies along the path.
        max_features : int, default=30
            So many rows at most: the features that enter first.
        ax : matplotlib Axes or None, default=None
            Where to draw; None: a new figure, as high as the rows need.

        Returns
        -------
        EntryDisplay
            Drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor, gbfs_path
        >>> from frugalboost.plotting import EntryDisplay
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> path = gbfs_path(X, y, estimator=GBFSRegressor(max_iter=20), n_features_to_select=[1, 2, 3])
        >>> EntryDisplay.from_path(path).member.sum(axis=0)
        array([1, 2, 3])
        """
        if not isinstance(path, SelectionPath):
            raise TypeError(f"EntryDisplay.from_path needs a path made by gbfs_path, not {_kind(path)}.")
        by_mu = path.parameter == "mu"
        x = x or ("mu" if by_mu else "n_features")
        _check_option("x", x, ["mu", "n_features"])
        if x == "mu" and not by_mu:
            raise ValueError("x='mu' needs a path by mu; this one is by number of features. Use x='n_features'.")
        order = _entry_order([model.selected_features_ for model in path.estimators])
        rows = order[:max_features]
        names = _names(path.estimators[0])
        display = cls(
            features=[names[j] for j in rows],
            member=path.supports[:, rows].T,
            columns=path.values if x == "mu" else path.n_features,
            scale="log" if x == "mu" else "list",
            x_label=_mu_label(path.estimators[0]) if x == "mu" else "number of features",
            n_entered=len(order),
        )
        return display.plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, max_features: int = 30, ax: Any = None) -> Self:
        """Draw in which iteration a model bought its features.

        Parameters
        ----------
        estimator : GBFSClassifier, GBFSRegressor, GBFSClassifierCV or GBFSRegressorCV
            Fitted. Of one with cross-validation the last fit, on all rows, is drawn.
        max_features : int, default=30
            So many rows at most: the features that were bought first.
        ax : matplotlib Axes or None, default=None
            Where to draw; None: a new figure, as high as the rows need.

        Returns
        -------
        EntryDisplay
            Drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> from frugalboost.plotting import EntryDisplay
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> EntryDisplay.from_estimator(GBFSRegressor(mu=0.02, max_iter=20).fit(X, y)).features
        ['s5', 'bmi']
        """
        model = _fitted(cls, estimator)
        iterations = np.arange(1, max(model.best_iteration_, 1) + 1)
        order, names = model.selected_features_, _names(model)
        bought = {j: i for i, features in enumerate(model.history_["bought"]) for j in features}
        rows = order[:max_features]
        display = cls(
            features=[names[j] for j in rows],
            member=np.array([iterations >= bought[j] for j in rows]),
            columns=iterations,
            scale="linear",
            x_label="iteration",
            n_entered=len(order),
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None: a new figure, as high as the rows need.
        **style
            Passed to ``Axes.pcolormesh``.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``.

        Examples
        --------
        >>> from frugalboost.plotting import EntryDisplay
        >>> display = EntryDisplay(
        ...     features=["age", "iron"], member=[[1, 1], [0, 1]], columns=[1, 2], scale="list", x_label="model"
        ... )
        >>> [text.get_text() for text in display.plot().ax_.get_yticklabels()]
        ['age', 'iron']
        """
        rows = len(self.features)
        ax = self._begin(ax, 6.0, 1.0 + ROW * max(rows, 4))
        ax.set_xlabel(self.x_label)
        if not rows:
            return self._empty(ax)
        from matplotlib.colors import ListedColormap

        edges = _edges(self.columns, self.scale)
        looks = {"cmap": ListedColormap([PALE, COLOURS[0]]), "vmin": 0, "vmax": 1} | style
        ax.pcolormesh(edges, np.arange(rows + 1) - 0.5, self.member.astype(float), **looks)
        ax.hlines(np.arange(1, rows) - 0.5, edges[0], edges[-1], color="white", linewidth=1.5)
        ax.set_ylim(rows - 0.5, -0.5)
        ax.set_yticks(range(rows), _shown(self.features), fontsize=SMALL)
        ax.tick_params(axis="y", length=0)
        ax.spines[["left", "bottom"]].set_visible(False)
        if self.n_entered > rows:
            ax.set_ylabel(f"the first {rows} of {self.n_entered} features")
        self._scale_x(ax, edges)
        return self

    def _scale_x(self, ax: Any, edges: Floats) -> None:
        if self.scale == "log":
            _falling_mu(ax, self.columns)
        elif self.scale == "linear":
            _whole_numbers(ax.xaxis)
        else:
            step = -(-len(self.columns) // 20)  # at most 20 numbers below the columns
            ax.set_xticks(range(0, len(self.columns), step), [f"{c:g}" for c in self.columns[::step]])
            ax.tick_params(axis="x", length=0)
        ax.set_xlim(edges[0], edges[-1])


# ------------------------------------------------------------------------------------------ gains and prices


class PurchaseDisplay(_Display):
    """What each feature cost and what it gained: when it was bought, and in all splits since.

    Make it with :meth:`from_estimator`.

    Parameters
    ----------
    features : sequence of str
        Names of the features, in order of purchase.
    price : array-like of shape (n_bought,)
        What was paid for each.
    first_gain : array-like of shape (n_bought,)
        Raw gain of the split that bought it.
    total_gain : array-like of shape (n_bought,)
        Raw gain of all its splits.
    mu : float or None, default=None
        What a price of 1 had to gain; None: gains did not have to meet prices.
    unit : str or None, default=None
        What a price of 1 is.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor
    >>> from frugalboost.plotting import PurchaseDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> prices = {"age": 0.1, "sex": 0.1, "bmi": 0.5, "bp": 2.0}
    >>> display = PurchaseDisplay.from_estimator(GBFSRegressor(mu=0.01, costs=prices, max_iter=20).fit(X, y))
    >>> bool((display.first_gain > display.mu * display.price).all())
    True
    """

    def __init__(
        self,
        *,
        features: Sequence[str],
        price: ArrayLike,
        first_gain: ArrayLike,
        total_gain: ArrayLike,
        mu: float | None = None,
        unit: str | None = None,
    ) -> None:
        self.features = features
        self.price = np.asarray(price, dtype=float)
        self.first_gain = np.asarray(first_gain, dtype=float)
        self.total_gain = np.asarray(total_gain, dtype=float)
        self.mu = mu
        self.unit = unit

    @classmethod
    def from_estimator(cls, estimator: Any, *, x: str | None = None, ax: Any = None) -> Self:
        """Draw what a model bought.

        Parameters
        ----------
        estimator : GBFSClassifier, GBFSRegressor, GBFSClassifierCV or GBFSRegressorCV
            Fitted. Of one with cross-validation the last fit, on all rows, is drawn.
        x : {"price", "order"} or None, default=None
            What lies along the axis. None: the price, or the order of purchase where most features cost the same.
        ax : matplotlib Axes or None, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        PurchaseDisplay
            Drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> from frugalboost.plotting import PurchaseDisplay
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> PurchaseDisplay.from_estimator(GBFSRegressor(mu=0.02, max_iter=20).fit(X, y)).ax_.get_xlabel()
        'order of purchase (each price 1)'
        """
        fitted = _fitted(cls, estimator)
        model, order = fitted._model, fitted.selected_features_
        # A model that was fitted again on chosen features, or whose prices only steer, did not have to gain its prices.
        refitted = fitted.selling_ is not None or (fitted.refit_scores_ or {}).get("kept") == "refit"
        free = refitted or fitted.stop == "never"
        names, bought = _names(fitted), len(order)
        display = cls(
            features=[names[j] for j in order],
            price=model.purchases.price[:bought],
            first_gain=model.purchases.gain[:bought],
            total_gain=fitted.feature_importances_[order],
            mu=None if free else fitted.mu_ * (model.impurity if fitted.mu_unit == "share" else 1.0),
            unit=fitted.cost_unit_,
        )
        return display.plot(x=x, ax=ax)

    def plot(self, *, x: str | None = None, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        x : {"price", "order"} or None, default=None
            What lies along the axis. None: the price, or the order of purchase where most features cost the same.
        ax : matplotlib Axes or None, default=None
            Where; None: a new figure.
        **style
            Passed to ``Axes.scatter``.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``.

        Examples
        --------
        >>> from frugalboost.plotting import PurchaseDisplay
        >>> display = PurchaseDisplay(
        ...     features=["age", "iron"], price=[1, 5], first_gain=[3, 9], total_gain=[4, 30], mu=1.0, unit="euro"
        ... )
        >>> display.plot().ax_.get_xlabel()
        'price paid (euro)'
        """
        if x is not None:
            _check_option("x", x, ["price", "order"])
        by_price = (not self._alike()) if x is None else x == "price"
        named = not by_price and len(self.features) <= 30  # there is room for all names below the axis
        longest = max(map(len, _shown(self.features)), default=0) if named else 0
        ax = self._begin(ax, 6.0, 4.0 + 0.06 * longest)
        ax.set(xlabel=self._x_label(by_price), ylabel="raw gain")
        if not len(self.features):
            return self._empty(ax)
        along: Floats = self.price if by_price else np.arange(1.0, len(self.features) + 1)
        self._draw_points(ax, along, style)
        self._scale(ax, by_price)
        if self.mu:
            self._draw_mu(ax, along, self.mu, by_price)
        _legend_above(ax)
        if named:
            ax.set_xticks(along, _shown(self.features), rotation=90, fontsize=SMALL)
        else:
            big = np.argsort(-self.total_gain, kind="stable")[:12].tolist()
            _write_beside(ax, along, self.first_gain, self.total_gain, self.features, big)
        return self

    def _alike(self) -> bool:
        """Most prices are the same: along an axis of prices the points would lie one above the other."""
        counts = np.unique(self.price, return_counts=True)[1]
        return len(counts) == 1 or (len(self.price) > 3 and counts.max() > len(self.price) / 2)

    def _x_label(self, by_price: bool) -> str:
        if by_price:
            return f"price paid{_unit(self.unit)}"
        equal = len(self.price) and (self.price == self.price[0]).all()
        each = f" (each price {self.price[0]:g}{' ' + self.unit if self.unit else ''})" if equal else ""
        return f"order of purchase{each}"

    def _draw_points(self, ax: Any, along: Floats, style: dict[str, Any]) -> None:
        ax.set_yscale("log")
        ax.vlines(along, self.first_gain, self.total_gain, color=GREY, linewidth=0.8, zorder=1)
        looks: dict[str, Any] = {"s": 28, "linewidths": 1.2, "zorder": 3} | style
        blue = COLOURS[0]
        ax.scatter(along, self.total_gain, **({"color": blue, "label": "all its splits"} | looks))
        hollow = {"facecolors": "white", "edgecolors": blue, "label": "the split that bought it"}
        ax.scatter(along, self.first_gain, **(hollow | looks))

    def _scale(self, ax: Any, by_price: bool) -> None:
        gains = np.concatenate([self.first_gain, self.total_gain])
        gains = gains[gains > 0]
        if len(gains):
            ax.set_ylim(gains.min() / 2.5, gains.max() * 2.5)
        if not by_price:
            _whole_numbers(ax.xaxis)
            ax.set_xlim(0.4, len(self.price) + 0.6)
        elif self.price.min() > 0 and self.price.max() > 50 * self.price.min():
            ax.set_xscale("log")
            ax.margins(x=0.1)
        else:
            top = self.price.max() or 1.0
            ax.set_xlim(-0.06 * top, 1.12 * top)

    def _draw_mu(self, ax: Any, along: Floats, mu: float, by_price: bool) -> None:
        """What had to be gained: a line over all prices, or one, or a dash at each purchase."""
        looks = {"color": COLOURS[1], "label": "mu * price, to be exceeded"}
        if by_price:
            low, high = ax.get_xlim()
            prices = np.geomspace(low, high, 300) if low > 0 else np.linspace(1e-6 * high, high, 300)
            ax.plot(prices, mu * prices, linewidth=1.2, scalex=False, scaley=False, **looks)
            return
        paid = self.price > 0
        if (self.price == self.price[0]).all() and paid[0]:
            ax.axhline(mu * self.price[0], linewidth=1.2, **looks)
        else:
            ax.hlines(mu * self.price[paid], along[paid] - 0.35, along[paid] + 0.35, linewidth=2, **looks)
        low, high = ax.get_ylim()
        needed = mu * self.price[paid]
        ax.set_ylim(min(low, needed.min(initial=low) / 2), max(high, needed.max(initial=high) * 1.5))


# ------------------------------------------------------------------------------------------------------ bags


class BagDisplay(_Display):
    """A map of bags: a row for each bag, a cell for each of its features.

    Cells of bought features are coloured by their total gain and come first, the others are pale; what was paid for the
    bag stands beside it. Make it with :meth:`from_estimator`.

    Parameters
    ----------
    bags : sequence of str
        Names of the rows, from the top.
    gains : sequence of array-like
        For each bag the total gains of its features, NaN where a feature was not bought.
    price : array-like of shape (n_rows,)
        What was paid for each bag, NaN where it is not owned.
    unit : str or None, default=None
        What a price of 1 is.
    n_bags, n_owned : int or None, default=None
        How many bags there are in all, and how many are owned; None: those of the rows.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor
    >>> from frugalboost.costs import Bags
    >>> from frugalboost.plotting import BagDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> bags = Bags({"person": ["age", "sex", "bmi", "bp"], "blood": ["s1", "s2", "s3", "s4", "s5", "s6"]})
    >>> display = BagDisplay.from_estimator(GBFSRegressor(mu=0.01, costs=bags, max_iter=20).fit(X, y))
    >>> display.bags, display.price
    (['blood', 'person'], array([1., 1.]))
    """

    def __init__(
        self,
        *,
        bags: Sequence[str],
        gains: Sequence[ArrayLike],
        price: ArrayLike,
        unit: str | None = None,
        n_bags: int | None = None,
        n_owned: int | None = None,
    ) -> None:
        self.bags = bags
        self.gains = [np.asarray(g, dtype=float) for g in gains]
        self.price = np.asarray(price, dtype=float)
        self.unit = unit
        self.n_bags = len(bags) if n_bags is None else n_bags
        self.n_owned = int((~np.isnan(self.price)).sum()) if n_owned is None else n_owned

    @classmethod
    def from_estimator(cls, estimator: Any, *, max_bags: int = 30, ax: Any = None) -> Self:
        """Draw the bags that a model bought from.

        Parameters
        ----------
        estimator : GBFSClassifier, GBFSRegressor, GBFSClassifierCV or GBFSRegressorCV
            Fitted with ``costs=Bags(...)``, or a sum with Bags in it.
        max_bags : int, default=30
            So many rows at most: those owned first, in order of purchase.
        ax : matplotlib Axes or None, default=None
            Where to draw; None: a new figure, as high as the rows need.

        Returns
        -------
        BagDisplay
            Drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> from frugalboost.costs import Bags
        >>> from frugalboost.plotting import BagDisplay
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = GBFSRegressor(budget=1, costs=Bags([0, 0, 0, 0, 1, 1, 1, 1, 2, 2]), max_iter=20).fit(X, y)
        >>> display = BagDisplay.from_estimator(model)
        >>> display.n_owned, display.n_bags
        (1, 3)
        """
        model = _fitted(cls, estimator)
        table = FeatureTable(model.n_features_in_, model._names())
        bags, names = _named_bags(model.costs, table, _names(model))
        paid = _paid_for_bags(model, bags, table)
        rows = [*paid, *(i for i in range(len(names)) if i not in paid)][:max_bags]
        members = bags.bags(table)
        gains = np.where(model.support_, model.feature_importances_, np.nan)
        display = cls(
            bags=[names[i] for i in rows],
            gains=[gains[list(members[i])] for i in rows],
            price=[paid.get(i, np.nan) for i in rows],
            unit=model.cost_unit_,
            n_bags=len(names),
            n_owned=len(paid),
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None: a new figure, as high as the rows need.
        **style
            Passed to ``Axes.pcolormesh``.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``.

        Examples
        --------
        >>> import numpy as np
        >>> from frugalboost.plotting import BagDisplay
        >>> display = BagDisplay(bags=["blood", "scan"], gains=[[3.0, np.nan], [np.nan]], price=[20.0, np.nan])
        >>> [text.get_text() for text in display.plot().ax_.get_yticklabels()]
        ['blood', 'scan']
        """
        rows = len(self.bags)
        wide = min(max((len(g) for g in self.gains), default=1), _MOST_CELLS)
        ax = self._begin(ax, 3.4 + 0.2 * max(wide, 8), 1.0 + ROW * max(rows, 4))
        if not rows:
            return self._empty(ax)
        mesh = self._draw_cells(ax, wide, style)
        self._write_prices(ax, wide)
        ax.set_ylim(rows - 0.5, -0.5)
        ax.set_xlim(0, wide)
        ax.set_yticks(range(rows), _shown(self.bags), fontsize=SMALL)
        ax.set_xticks([])
        ax.tick_params(axis="y", length=0)
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.set_xlabel(f"{self.n_owned} of {self.n_bags} bags owned" + (f", {rows} shown" if rows < self.n_bags else ""))
        if mesh is not None:
            high = {"shrink": min(1.0, 12 / max(rows, 4)), "anchor": (0.0, 1.0), "pad": 0.02, "aspect": 25}
            bar = self.figure_.colorbar(mesh, ax=ax, **high)
            bar.set_label("total gain")
            bar.outline.set_visible(False)
        return self

    def _draw_cells(self, ax: Any, wide: int, style: dict[str, Any]) -> Any:
        """Pale cells for all features, coloured ones for those bought; None where nothing was."""
        from matplotlib.colors import ListedColormap, LogNorm, Normalize

        cells = np.full((len(self.bags), wide), np.nan)
        for row, gains in enumerate(self.gains):
            shown = np.sort(-gains)[:wide]  # bought ones first, by gain; NaN goes to the end
            cells[row, : len(shown)] = -shown
        there = np.arange(wide) < np.array([len(g) for g in self.gains])[:, None]
        lines = np.arange(wide + 1), np.arange(len(self.bags) + 1) - 0.5
        white = {"edgecolors": "white", "linewidth": 1.5}
        ax.pcolormesh(*lines, np.where(there, 0.0, np.nan), cmap=ListedColormap([PALE]), **white)
        found = cells[cells > 0]
        if not len(found):
            return None
        low, high = found.min(), found.max()
        norm = LogNorm(low, high) if high > 10 * low else Normalize(0, high)
        looks = {"cmap": "viridis_r", "norm": norm} | white | style
        return ax.pcolormesh(*lines, np.where(np.isnan(cells), np.nan, np.fmax(cells, low)), **looks)

    def _write_prices(self, ax: Any, wide: int) -> None:
        """Beside each row how many features there is no room for, and the price."""
        looks = {"va": "center", "fontsize": SMALL, "annotation_clip": False, "textcoords": "offset points"}
        more = [f"+{len(g) - wide}" if len(g) > wide else "" for g in self.gains]
        beside = 6 + 0.7 * SMALL * max(map(len, more))
        for row, (rest, price) in enumerate(zip(more, self.price, strict=True)):
            ax.annotate(rest, (wide, row), (3, 0), color=GREY, **looks)
            if not np.isnan(price):
                ax.annotate(f"{price:.4g}", (wide, row), (beside, 0), color=INK, **looks)
        if not np.isnan(self.price).all():
            looks["va"] = "bottom"
            ax.annotate(f"price{_unit(self.unit)}", (wide, -0.5), (beside, 2), color=INK, **looks)


_MOST_CELLS = 40


def _find_bags(costs: Any) -> Bags | None:
    """The bags among prices: the first, as for the model."""
    if isinstance(costs, Sum):
        return next((bags for bags in map(_find_bags, costs.terms) if bags is not None), None)
    return costs if isinstance(costs, Bags) else None


def _named_bags(costs: Any, table: FeatureTable, names: Sequence[str]) -> tuple[Bags, list[str]]:
    """The bags of some prices, and a name for each, in the order of ``Bags.bags``."""
    bags = _find_bags(costs)
    if bags is None:
        raise ValueError(
            "There are no bags to draw: the estimator was not fitted with costs=Bags(...), or comes from a file, which "
            "keeps prices but not bags."
        )
    labels = [label if isinstance(label, str) else f"bag {label}" for label in bags._members(table)]
    alone = bags.bags(table)[len(labels) :]
    return bags, [*labels, *(names[bag[0]] for bag in alone)]


def _paid_for_bags(model: GBFSBase, bags: Bags, table: FeatureTable) -> dict[int, float]:
    """Bags owned, in order of purchase, and what was paid for the features that came with them."""
    prices = [bags._price(label) for label in bags._members(table)]
    members = bags.bags(table)
    prices += [float(bags.default)] * (len(members) - len(prices))
    paid: dict[int, float] = {}
    of: dict[int, list[int]] = {}
    for i, bag in enumerate(members):
        for j in bag:
            of.setdefault(j, []).append(i)
    for j, price in zip(model.selected_features_.tolist(), model._model.purchases.price.tolist(), strict=False):
        # A feature of no bag that is owned makes its cheapest one owned, the first of equals.
        mine = next((i for i in of[j] if i in paid), None)
        if mine is None:
            mine = min(of[j], key=lambda i: prices[i])
        paid[mine] = paid.get(mine, 0.0) + price
    return paid


# ------------------------------------------------------------------------------------------------- stability


class StabilityPathDisplay(_Display):
    """How often features are bought, against mu: stable ones coloured and named, the others grey.

    Make it with :meth:`from_estimator`.

    Parameters
    ----------
    features : sequence of str
        Names of the features, or of the bags.
    mus : array-like of shape (n_mus,)
        Values of mu, falling.
    frequencies : array-like of shape (n_mus, n_features)
        The share of halves of the rows on which each was bought, for each mu.
    frequency : array-like of shape (n_features,)
        The share on which it was bought at any mu; this is what makes a feature stable.
    stable : array-like of bool of shape (n_features,)
        Which are stable.
    threshold : float
        The share from which they are.
    x_label : str, default="mu"
        Text at the axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor, StabilitySelection
    >>> from frugalboost.plotting import StabilityPathDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> stable = StabilitySelection(GBFSRegressor(max_iter=10), n_features=3, n_subsamples=10, random_state=0)
    >>> display = StabilityPathDisplay.from_estimator(stable.fit(X, y))
    >>> display.ax_.get_ylabel()
    'share of halves that bought it'
    """

    def __init__(
        self,
        *,
        features: Sequence[str],
        mus: ArrayLike,
        frequencies: ArrayLike,
        frequency: ArrayLike,
        stable: ArrayLike,
        threshold: float,
        x_label: str = "mu",
    ) -> None:
        self.features = features
        self.mus = np.asarray(mus, dtype=float)
        self.frequencies = np.asarray(frequencies, dtype=float)
        self.frequency = np.asarray(frequency, dtype=float)
        self.stable = np.asarray(stable, dtype=bool)
        self.threshold = threshold
        self.x_label = x_label

    @classmethod
    def from_estimator(cls, stability: StabilitySelection, *, bags: bool = False, ax: Any = None) -> Self:
        """Draw a stability selection.

        Parameters
        ----------
        stability : StabilitySelection
            Fitted.
        bags : bool, default=False
            Draw bags, where prices have them, instead of features.
        ax : matplotlib Axes or None, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        StabilityPathDisplay
            Drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor, StabilitySelection
        >>> from frugalboost.costs import Bags
        >>> from frugalboost.plotting import StabilityPathDisplay
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = GBFSRegressor(max_iter=10, costs=Bags(["person"] * 4 + ["blood"] * 6))
        >>> stable = StabilitySelection(model, n_features=1, n_subsamples=10, random_state=0).fit(X, y)
        >>> StabilityPathDisplay.from_estimator(stable, bags=True).features
        ['person', 'blood']
        """
        if not isinstance(stability, StabilitySelection):
            raise TypeError(f"StabilityPathDisplay draws a StabilitySelection, not {_kind(stability)}.")
        check_is_fitted(stability)
        names, prefix = _names(stability), ""
        if bags:
            given = getattr(stability, "feature_names_in_", None)
            table = FeatureTable(stability.n_features_in_, None if given is None else tuple(given))
            names = _named_bags(getattr(stability.estimator, "costs", None), table, names)[1]
            prefix = "bag_"
        display = cls(
            features=names,
            mus=stability.mus_,
            frequencies=getattr(stability, f"{prefix}frequencies_"),
            frequency=getattr(stability, f"{prefix}frequency_"),
            stable=getattr(stability, f"{prefix}support_"),
            threshold=stability.threshold,
            x_label=_mu_label(stability.estimator),
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None: a new figure.
        **style
            Passed to ``Axes.plot`` for every stable feature.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``.

        Examples
        --------
        >>> from frugalboost.plotting import StabilityPathDisplay
        >>> display = StabilityPathDisplay(
        ...     features=["age", "iron"], mus=[0.1, 0.01], frequencies=[[0.2, 0], [0.9, 0.3]], frequency=[0.9, 0.3],
        ...     stable=[True, False], threshold=0.75,
        ... )
        >>> [text.get_text() for text in display.plot().ax_.texts]
        ['any mu', 'age']
        """
        ax = self._begin(ax, 6.4, 4.2)
        _falling_mu(ax, self.mus)
        along = _positive(self.mus)
        # What counts is a purchase at any mu: it has a place of its own at the right.
        end = along[-1] * (along[-1] / along[0]) ** 0.07 if len(along) > 1 else along[0] / 3
        self._draw_others(ax, along, end)
        if not self.frequency.any():
            ax.text(0.5, 0.5, NOTHING, transform=ax.transAxes, ha="center", va="center", color=INK)
        chosen: list[int] = np.flatnonzero(self.stable).tolist()
        chosen.sort(key=lambda j: -float(self.frequency[j]))
        lines = []
        for j in chosen:
            looks = {"linewidth": 1.8, "marker": "o" if len(along) == 1 else "", "markersize": 4} | style
            (line,) = ax.plot(along, self.frequencies[:, j], **looks)
            lines.append(line)
            ends = [self.frequencies[-1, j], self.frequency[j]]
            ax.plot([along[-1], end], ends, "-", color=line.get_color(), linewidth=0.8)
            ax.plot(end, self.frequency[j], "o", color=line.get_color(), markersize=5, zorder=4, clip_on=False)
        dashes = {"color": INK, "linewidth": 0.9, "linestyle": (0, (4, 3)), "zorder": 2}
        ax.axhline(self.threshold, label=f"threshold {self.threshold:g}", **dashes)
        ax.set(xlabel=self.x_label, ylabel="share of halves that bought it", ylim=(-0.02, 1.04))
        ax.set_xlim(along[0] if len(along) > 1 else 3 * along[0], end)
        below = {"xycoords": ax.get_xaxis_transform(), "textcoords": "offset points", "ha": "center", "va": "top"}
        ax.annotate("any mu", (end, 0), (0, -22), fontsize=SMALL, **below)
        _legend_above(ax)
        _write_at_ends(ax, end, self.frequency[chosen], _shown([self.features[j] for j in chosen]), lines)
        return self

    def _draw_others(self, ax: Any, along: Floats, end: float) -> None:
        """Features that are not stable, as far as they were bought at all."""
        from matplotlib.collections import LineCollection

        others = np.flatnonzero(~self.stable & (self.frequency > 0))
        if not len(others):  # an empty collection upsets the layout
            return
        lines = [np.column_stack([along, self.frequencies[:, j]]) for j in others]
        looks: dict[str, Any] = {"colors": GREY, "linewidths": 0.7, "alpha": 0.7, "zorder": 1}
        ax.add_collection(LineCollection(lines, label="not stable", **looks))
        dots: dict[str, Any] = {"color": GREY, "markersize": 2.5, "zorder": 1, "clip_on": False}
        ax.plot(np.full(len(others), end), self.frequency[others], "o", **dots)


# --------------------------------------------------------------------------------------------------- helpers


def _kind(thing: Any) -> str:
    return f"a {type(thing).__name__}"


def _check_option(what: str, value: Any, options: Sequence[str]) -> None:
    if value not in options:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, options))} here, not {value!r}.")


def _check_estimator(display: type, estimator: Any) -> None:
    if not isinstance(estimator, GBFSBase | GBFSCVBase):
        raise TypeError(
            f"{display.__name__} draws a GBFSClassifier or GBFSRegressor, with or without cross-validation, not "
            f"{_kind(estimator)}."
        )
    check_is_fitted(estimator)


def _fitted(display: type, estimator: Any) -> GBFSBase:
    """The fitted model itself, out of one with cross-validation where that is given."""
    _check_estimator(display, estimator)
    model: GBFSBase = estimator.estimator_ if isinstance(estimator, GBFSCVBase) else estimator
    return model


def _drawable(values: Floats, what: str) -> Floats:
    """The values; ValueError where all are NaN, which would be an empty figure."""
    if np.isnan(values).all():
        why = " Were validation rows given?" if what.startswith("validation") else " The loss has no method 'value'."
        raise ValueError(f"There is no {what} to draw: it is NaN throughout.{why}")
    return values


def _names(estimator: Any) -> list[str]:
    """Names of all columns, or their numbers."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"feature {j}" for j in range(estimator.n_features_in_)] if names is None else [str(n) for n in names]


def _shown(names: Sequence[str]) -> list[str]:
    """Names fit to be drawn: not too long, on one line, and not taken for formulas."""
    whole = [" ".join(name.split()) for name in names]
    half = (MOST_LETTERS - 1) // 2
    cut = {n: n if len(n) <= MOST_LETTERS else f"{n[: MOST_LETTERS - 1 - half]}…{n[-half:]}" for n in whole}
    alike: dict[str, list[str]] = {}
    for name, short in cut.items():
        alike.setdefault(short, []).append(name)
    for group in (names for names in alike.values() if len(names) > 1):
        # What sets them apart was cut away: show them from there on.
        begin = next((i for i, letters in enumerate(zip(*group, strict=False)) if len(set(letters)) > 1), half)
        cut |= {n: f"{n[:8]}…{_ended(n[begin:], MOST_LETTERS - 9)}" for n in group}
    return [cut[name].replace("$", r"\$") for name in whole]


def _ended(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _unit(unit: str | None) -> str:
    return f" ({unit})" if unit else ""


def _x_label(x: str, unit: str | None) -> str:
    return "number of features" if x == "n_features" else f"price paid{_unit(unit)}"


def _amount(x: str, value: float, unit: str | None) -> str:
    """A number of features, or a price, in words."""
    if x == "price":
        return f"price {value:.3g}{' ' + unit if unit else ''}"
    return f"{value:.3g} feature{'' if value == 1 else 's'}"


def _score_label(scoring: str) -> str:
    return scoring.replace("_", " ") or "score"


def _mu_label(estimator: Any) -> str:
    return "mu (absolute)" if getattr(estimator, "mu_unit", "share") == "absolute" else "mu (share)"


def _whole_numbers(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def _entry_order(chosen: Sequence[NDArray[np.intp]]) -> list[int]:
    """Features by the first model that has them, those of one model in order of purchase."""
    return list(dict.fromkeys(int(j) for features in chosen for j in features))


def _positive(mus: Floats) -> Floats:
    """Places of mus on a log axis: zero lies one step below the smallest."""
    above = mus[mus > 0]
    if len(above) == len(mus) or not len(above):
        return mus if len(above) else np.ones(len(mus))
    step = float(above[-1] / above[-2]) if len(above) > 1 else 0.1
    places = mus.copy()
    places[mus == 0] = above[-1] * step
    return places


def _edges(columns: Floats, scale: str) -> Floats:
    """Borders of the cells around columns."""
    if scale == "list":
        return np.arange(len(columns) + 1.0) - 0.5
    places = np.log(_positive(columns)) if scale == "log" else columns
    half = np.diff(places) / 2
    if not len(half):
        half = np.array([-1.0 if scale == "log" else 0.5])  # a single column: as wide as looks well
    edges: Floats = np.concatenate(
        [places[:1] - half[0], places[:-1] + half[: len(places) - 1], places[-1:] + half[-1]]
    )
    return np.exp(edges) if scale == "log" else edges


def _falling_mu(ax: Any, mus: Floats) -> None:
    """A log axis from large to small, on which zero has a place too."""
    from matplotlib.ticker import NullFormatter

    ax.set_xscale("log")
    ax.xaxis.set_minor_formatter(NullFormatter())
    places, above = _positive(mus), mus[mus > 0]
    if len(above) == len(mus) and above[0] >= 10 * above[-1]:
        return  # powers of ten below the axis will do
    some = range(0, len(mus), -(-len(mus) // 5))
    ax.set_xticks(places[some], [f"{mu:.2g}" for mu in mus[some]])
    ax.minorticks_off()


def _legend_above(ax: Any) -> None:
    """A legend over the axes, side by side as far as there is room."""
    columns = int(ax.get_window_extent().width / ax.figure.dpi / 1.5)
    place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": max(columns, 1), "columnspacing": 1.2}
    ax.legend(frameon=False, fontsize=SMALL, **place)


def _write_at_ends(ax: Any, x: float, ends: Floats, names: Sequence[str], lines: Sequence[Any]) -> None:
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


def _write_beside(ax: Any, x: Floats, low: Floats, high: Floats, names: Sequence[str], order: Sequence[int]) -> None:
    """Write names beside the tops of columns, the first in ``order`` first; one that finds no room is left out."""
    ax.figure.draw_without_rendering()  # places in the picture are known only then
    pixel = ax.figure.dpi / 72
    points = ax.transData.transform(np.column_stack([x, high]))
    feet = ax.transData.transform(np.column_stack([x, low]))
    taken = np.column_stack([np.fmin(points, feet) - 3 * pixel, np.fmax(points, feet) + 3 * pixel])
    inside = ax.get_window_extent().extents  # left, bottom, right, top, as above
    shown = _shown(names)
    for i in order:
        text = ax.annotate(shown[i], (x[i], high[i]), (0, 0), textcoords="offset points", fontsize=SMALL)
        box = text.get_window_extent()
        size = np.array([box.width, box.height])
        for place in _PLACES:
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
_PLACES = [(side * 6, up * 4) for up in (0, 1, -1, 2, -2) for side in (1, -1)]
