"""Partial dependence from the trees alone: rows go both ways at splits on other features, by weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from frugalboost.costs import FeatureTable
from frugalboost.export.served import Bools, Floats, ServedModel, fitted_model, serve
from frugalboost.inspection.grid import Axes, make_grid
from frugalboost.tables.names import feature_names

MOST_CELLS = 2**22  # nodes times points that are looked at together


def partial_dependence(
    model: Any,
    X: Any,
    features: int | str | Sequence[int | str],
    *,
    percentiles: tuple[float, float] = (0.05, 0.95),
    grid_resolution: int = 100,
    custom_values: Mapping[int | str, Any] | None = None,
) -> Bunch:
    """Return the mean raw prediction at values of one feature, or at combinations of values of several.

    What scikit-learn calls ``method="recursion"`` and allows for its own estimators alone: at a split on another
    feature a row goes both ways, in the shares of the training rows, by weight. No row is predicted, so it takes
    milliseconds. ``sklearn.inspection.partial_dependence`` works for these models too, and averages predictions of the
    rows of X instead.

    Parameters
    ----------
    model : GBFSClassifier or GBFSRegressor
        Fitted; also one of the searches by cross-validation.
    X : array-like, data frame, sparse matrix or None
        Only tells which values a feature has. None where ``custom_values`` has them all.
    features : int, str or list of them
        One feature, or several whose values are combined.
    percentiles : tuple of two floats, default=(0.05, 0.95)
        Where the values of a number begin and end.
    grid_resolution : int, default=100
        How many values, at equal distances. A feature that has fewer in X gets those. Categories have all levels.
    custom_values : dict, default=None
        For a feature the values to look at; NaN and unknown levels are missing values.

    Returns
    -------
    sklearn.utils.Bunch
        ``grid_values``, a list of arrays, one for each feature; and ``average``, of shape (n_outputs, n_values of the
        first feature, ...). Outputs are raw predictions: numbers, their logarithms with Poisson loss, or what
        ``decision_function`` returns. scikit-learn's functions return the same.

    Notes
    -----
    Unlike scikit-learn's recursion, sample weights of the fit count, and the start value is in the result. Where other
    features do not depend on these in the training rows, it is the mean of predictions over these rows; so it is for
    trees of depth 1. For lines it is nearly so: all its values are off by the same small number, since a model does not
    hold how many rows are in the bins of a line.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor
    >>> from frugalboost.inspection import partial_dependence
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = GBFSRegressor(mu=0.01, max_iter=50).fit(X, y)
    >>> found = partial_dependence(model, X, "bmi", grid_resolution=5)
    >>> found["grid_values"][0].round(2), found["average"].round(0)
    (array([-0.07, -0.03,  0.01,  0.05,  0.09]), array([[124., 127., 171., 177., 214.]]))
    """
    served, fitted = serve(model, "all"), fitted_model(model)
    table = FeatureTable(fitted.n_features_in_, tuple(feature_names(fitted)))
    asked = [features] if isinstance(features, int | str | np.integer) else list(features)
    columns = [table.place(feature, "features") for feature in asked]
    if not columns or len(set(columns)) < len(columns):
        raise ValueError(f"features={features!r}: give one feature, or several different ones.")
    given = {table.place(feature, "custom_values"): v for feature, v in (custom_values or {}).items()}
    grid = make_grid(fitted, X, columns, Axes(percentiles, grid_resolution), given)
    average = averages(served, columns, grid.points())
    return Bunch(grid_values=grid.values, average=average.reshape(-1, *map(len, grid.values)))


def averages(served: ServedModel, columns: list[int], points: Floats) -> Floats:
    """Mean raw prediction at each point, one row per output."""
    trees = served.trees
    at_once = max(1, MOST_CELLS // max(1, len(trees.feature)))
    parts = [_averages(served, columns, points[i : i + at_once]) for i in range(0, len(points), at_once)]
    return np.concatenate(parts, axis=1) + trees.start[:, None]


def _averages(served: ServedModel, columns: list[int], points: Floats) -> Floats:
    """The same for some points, without the start values."""
    trees, outputs = served.trees, served.trees.n_outputs
    share = _shares(served, columns, points)
    leaf = trees.feature < 0
    output = served.tree_of_node % outputs
    return np.stack([trees.value[leaf & (output == k)] @ share[leaf & (output == k)] for k in range(outputs)])


def _shares(served: ServedModel, columns: list[int], points: Floats) -> Floats:
    """The share of a tree's rows that comes to each node, at each point: all trees together, level by level."""
    trees = served.trees
    first_child = trees.tree_begin[served.tree_of_node] + trees.left
    share = np.zeros((len(trees.feature), len(points)))
    level = trees.tree_begin[:-1]
    share[level] = 1.0
    while len(level := level[trees.feature[level] >= 0]):
        left = first_child[level]
        goes_left = _share_left(trees.weight[left], trees.weight[left + 1])[:, None].repeat(len(points), axis=1)
        for place, column in enumerate(columns):
            own = trees.feature[level] == column
            goes_left[own] = _left(served, level[own], points[:, place])
        share[left] = share[level] * goes_left
        share[left + 1] = share[level] * (1.0 - goes_left)
        level = np.concatenate([left, left + 1])
    return share


def _share_left(left: Floats, right: Floats) -> Floats:
    both = left + right
    share: Floats = np.divide(left, both, out=np.full(len(both), 0.5), where=both > 0)
    return share


def _left(served: ServedModel, nodes: NDArray[np.int64], values: Floats) -> Bools:
    """Whether each value goes to the left at each node; all of them split on the same column."""
    trees = served.trees
    missing = np.isnan(values)
    left: Bools = values <= trees.threshold[nodes][:, None]
    categorical = trees.level_set[nodes] >= 0
    for i in np.flatnonzero(categorical).tolist():
        left[i, ~missing] = served.levels_left(int(nodes[i]))[values[~missing].astype(np.intp)]
    left[:, missing] = trees.missing_left[nodes, None] != 0
    return left
