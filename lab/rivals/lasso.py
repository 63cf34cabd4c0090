"""Linear regression with an L1 penalty."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from sklearn.linear_model import lasso_path

from lab.rivals.paths import Linear, Path, Standard
from lab.rivals.rows import Floats, Rows, dense
from lab.rivals.selector import REGRESSION


class Lasso(Path):
    """Linear regression with an L1 penalty (scikit-learn), over a path of 90 penalties.

    Columns are standardised and a sparse matrix is made dense. Among models of at most k features the one with the
    lowest mean squared error on a fifth of the rows held out is taken, over random splits, or on the validation rows.

    Parameters
    ----------
    count : int or None, default=None
        The most features that will be asked for: the path ends at a model of more than twice as many. None: it is
        followed to the end.
    splits : int, default=5
        How many random splits. 0: none, and the model for k is the largest of at most k features.
    seed : int, default=0
        Decides the splits.

    Attributes
    ----------
    path_ : list of (int, float)
        The number of features and the mean squared error on held-out rows of each model; the first has no feature.
    n_features_in_ : int
        As in :class:`Selector`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lab.rivals import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> Lasso(splits=2).fit(X, y).features(3)
    array([2, 8, 3])
    """

    title: ClassVar[str] = "lasso"
    task = REGRESSION
    _weaker = np.geomspace(1, 1000, 90)

    def __init__(self, *, count: int | None = None, splits: int = 5, seed: int = 0) -> None:
        self.count = count
        self.splits = splits
        self.seed = seed

    def _learn(self, rows: Rows, validation: Rows | None) -> None:
        super()._learn(Rows(dense(rows.X), rows.labels, rows.weight), validation)

    def _nothing(self, standard: Standard) -> Linear:
        return Linear(np.zeros(0, dtype=np.int64), np.zeros(0), standard.base)

    def _largest_penalty(self, standard: Standard) -> float:
        return float(np.abs(standard.slopes()).max())

    def _followed(self, standard: Standard, penalties: Floats) -> Iterator[Linear]:
        Z, y = standard.rows.X, standard.rows.labels - standard.base
        _, weights, _ = lasso_path(Z, y, alphas=penalties / len(y))  # scikit-learn takes the mean of the loss
        yield from (standard.linear(column, standard.base) for column in weights.T)

    def _error(self, model: Linear, rows: Rows) -> float:
        return float(np.average((model.raw(rows.X) - rows.labels) ** 2, weights=rows.weight))
