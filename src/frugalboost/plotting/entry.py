"""Which features enter where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from frugalboost.estimators.path import SelectionPath
from frugalboost.plotting.display import (
    COLOURS,
    PALE,
    ROW,
    SMALL,
    Display,
    Floats,
    check_option,
    edges_of,
    entry_order,
    falling_mu,
    fitted_model,
    kind_of,
    mu_label_of,
    shown_names,
    whole_numbers,
)
from frugalboost.tables.names import feature_names


class EntryDisplay(Display):
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
            Maximum number of rows: the features that enter first.
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
            raise TypeError(f"EntryDisplay.from_path needs a path made by gbfs_path, not {kind_of(path)}.")
        by_mu = path.parameter == "mu"
        x = x or ("mu" if by_mu else "n_features")
        check_option("x", x, ["mu", "n_features"])
        if x == "mu" and not by_mu:
            raise ValueError("x='mu' needs a path by mu; this one is by number of features. Use x='n_features'.")
        order = entry_order([model.selected_features_ for model in path.estimators])
        rows = order[:max_features]
        names = feature_names(path.estimators[0])
        display = cls(
            features=[names[j] for j in rows],
            member=path.supports[:, rows].T,
            columns=path.values if x == "mu" else path.n_features,
            scale="log" if x == "mu" else "list",
            x_label=mu_label_of(path.estimators[0]) if x == "mu" else "number of features",
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
            Maximum number of rows: the features that were bought first.
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
        model = fitted_model(cls, estimator)
        iterations = np.arange(1, max(model.best_iteration_, 1) + 1)
        order, names = model.selected_features_, feature_names(model)
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

        edges = edges_of(self.columns, self.scale)
        looks = {"cmap": ListedColormap([PALE, COLOURS[0]]), "vmin": 0, "vmax": 1} | style
        ax.pcolormesh(edges, np.arange(rows + 1) - 0.5, self.member.astype(float), **looks)
        ax.hlines(np.arange(1, rows) - 0.5, edges[0], edges[-1], color="white", linewidth=1.5)
        ax.set_ylim(rows - 0.5, -0.5)
        ax.set_yticks(range(rows), shown_names(self.features), fontsize=SMALL)
        ax.tick_params(axis="y", length=0)
        ax.spines[["left", "bottom"]].set_visible(False)
        if self.n_entered > rows:
            ax.set_ylabel(f"the first {rows} of {self.n_entered} features")
        self._scale_x(ax, edges)
        return self

    def _scale_x(self, ax: Any, edges: Floats) -> None:
        if self.scale == "log":
            falling_mu(ax, self.columns)
        elif self.scale == "linear":
            whole_numbers(ax.xaxis)
        else:
            step = -(-len(self.columns) // 20)  # at most 20 numbers below the columns
            ax.set_xticks(range(0, len(self.columns), step), [f"{c:g}" for c in self.columns[::step]])
            ax.tick_params(axis="x", length=0)
        ax.set_xlim(edges[0], edges[-1])
