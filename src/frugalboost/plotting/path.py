"""Error or loss against the number or the cost of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from frugalboost.estimators.cross_validation import GBFSCVBase
from frugalboost.estimators.path import SelectionPath
from frugalboost.page.words import number_text
from frugalboost.plotting.display import (
    GREY,
    INK,
    SMALL,
    Display,
    Floats,
    amount_of,
    check_estimator,
    check_option,
    drawable,
    kind_of,
    score_label,
    whole_numbers,
    x_label_of,
)
from frugalboost.selection.splits import chosen_index


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


class SelectionPathDisplay(Display):
    """Score or loss against the number or the cost of features.

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
            What lies along the axis; "price" is the total cost.
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
            raise TypeError(f"SelectionPathDisplay.from_path needs a path made by gbfs_path, not {kind_of(path)}.")
        if y is None:
            y = "train_score" if np.isnan(path.validation_score).all() else "validation_score"
        check_option("y", y, ["validation_score", "validation_loss", "train_score", "train_loss"])
        check_option("x", x, ["n_features", "price"])
        values = drawable(getattr(path, y), y)
        rows, _, kind = y.partition("_")
        what = score_label(path.scoring) if kind == "score" else "loss"
        display = cls(
            lines=[Line(np.asarray(getattr(path, x), dtype=float), values, None, name)],
            x_label=x_label_of(x, path.estimators[0].cost_unit_),
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
        check_estimator(cls, estimator)
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
            whole_numbers(ax.xaxis)
        if ax.get_legend_handles_labels()[1]:
            # Scores rise to the right; matplotlib's best place may overlap error bars.
            scores = any(line.error is not None for line in self.lines)
            ax.legend(frameon=False, fontsize=SMALL, loc="lower right" if scores else "best")
        return self


def _cross_validated(search: Any, x: str, y: str | None, name: str | None) -> dict[str, Any]:
    """What is drawn for a choice by cross-validation."""
    y = y or "validation_score"
    check_option("x", x, ["n_features", "price"])
    check_option("y", y, ["validation_score", "validation_loss"])
    results, loss = search.cv_results_, y == "validation_loss"
    along = results[f"mean_{x}"]
    values = drawable(results["mean_test_loss" if loss else "mean_test_score"], y)
    errors = results["se_test_score"]
    lines = [
        Line(along[i], values[i], None if loss else errors[i], ", ".join(w for w in (name, label) if w) or None)
        for label, i in _by_grid(results["params"])
    ]
    best, chosen = chosen_index(results, "min"), search.best_index_
    shown = [(best, "best, chosen")] if best == chosen else [(best, "best"), (chosen, f"chosen by {search.rule}")]
    what = "loss" if loss else score_label(search.scoring_)
    return {
        "lines": lines,
        "x_label": f"{x_label_of(x, search.cost_unit_)}, mean of {search.n_splits_} splits",
        "y_label": f"{what} (held-out rows)",
        "marks": [
            Mark(
                along[i], values[i], f"{text}: {number_text(values[i], 3)}, {amount_of(x, along[i], search.cost_unit_)}"
            )
            for i, text in shown
        ],
        "band": None if loss or search.rule != "1se" else (values[best] - errors[best], values[best]),
        "whole_x": x == "n_features",
    }


def _by_grid(candidates: Sequence[dict[str, Any]]) -> list[tuple[str, list[int]]]:
    """Candidates of each line, and its label: what was tried besides, if there was a choice."""
    groups: dict[tuple[Any, Any, Any], list[int]] = {}
    for i, candidate in enumerate(candidates):
        key = (candidate.get("base"), candidate["max_depth"], candidate.get("max_iter"))
        groups.setdefault(key, []).append(i)
    several_bases = len({base for base, _, _ in groups}) > 1
    several_depths = len({depth for base, depth, _ in groups if base != "lines"}) > 1
    several_iterations = len({t for _, _, t in groups}) > 1
    out = []
    for (base, depth, t), places in groups.items():
        words = [base] if several_bases else []
        words += ["any depth" if depth is None else f"depth {depth}"] if several_depths and base != "lines" else []
        words += [f"{t} iterations"] if several_iterations else []
        out.append((", ".join(words), places))
    return out


def _iterations(estimator: Any, x: str, y: str | None, name: str | None) -> dict[str, Any]:
    """What is drawn for one fit: its losses after each iteration."""
    columns = {"n_features": "n_features", "price": "price_paid", "iteration": "iteration"}
    rows = {"train_loss": "training rows", "validation_loss": "validation rows"}  # the latter on top
    check_option("x", x, list(columns))
    if y is not None:
        check_option("y", y, list(rows))
    history, best = estimator.history_, estimator.best_iteration_
    along = np.asarray(history[columns[x]], dtype=float)
    losses = {k: np.asarray(history[k], dtype=float) for k in rows if y in (None, k)}
    if y is None and not np.isnan(losses["train_loss"]).all():  # without validation rows only the other is drawn
        losses = {k: v for k, v in losses.items() if not np.isnan(v).all()}
    lines = [
        Line(along, drawable(v, k), None, rows[k] if name is None else f"{name}, {rows[k]}") for k, v in losses.items()
    ]
    number = f"{best} iteration{'' if best == 1 else 's'}, {amount_of('n_features', history['n_features'][best], None)}"
    kind = f" ({estimator.loss.replace('_', ' ')})" if isinstance(estimator.loss, str) else ""
    return {
        "lines": lines,
        "x_label": "iteration" if x == "iteration" else x_label_of(x, estimator.cost_unit_),
        "y_label": f"mean loss{kind}",
        "marks": [Mark(along[best], lines[-1].y[best], f"the model: {number}")],
        "whole_x": x != "price",
    }
