"""Logistic regression with an L1 penalty."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from lab.rivals.paths import Linear, Path, Standard
from lab.rivals.rows import Floats

L1 = {"penalty": "l1"} if LogisticRegression().penalty == "l2" else {"l1_ratio": 1}  # before and from scikit-learn 1.8
FREE = 100.0  # liblinear penalises the intercept; scaled so, next to nothing


class L1Logistic(Path):
    """Logistic regression with an L1 penalty (scikit-learn, liblinear), over a path of penalties.

    The path goes from the penalty at which the first column enters down to a thousandth of it. Columns are
    standardised; a sparse matrix stays sparse. Among models of at most k features the one with the lowest mean error on
    a fifth of the rows held out is taken, over random splits, with the same C.

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
        The number of features and the mean error on held-out rows (NaN without splits) of each model; the first has no
        feature.
    classes_, n_features_in_ : ndarray, int
        As in :class:`Baseline`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lab.rivals import L1Logistic
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = L1Logistic(count=5, splits=2).fit(X, y)
    >>> model.features(3)
    array([27, 20,  7])
    >>> bool((model.predict(X, 3) == y).mean() > 0.9)
    True
    """

    def __init__(self, *, count: int | None = None, splits: int = 5, seed: int = 0) -> None:
        self.count = count
        self.splits = splits
        self.seed = seed

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Follow the path.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Numbers, none of them missing.
        y : array-like of shape (n_samples,)
            Two labels, of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, which count in fits and in errors.

        Returns
        -------
        self
            Fitted.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from lab.rivals import L1Logistic
        >>> model = L1Logistic(count=3, splits=2).fit(*load_breast_cancer(return_X_y=True))
        >>> [n for n, error in model.path_[:4]]
        [0, 1, 1, 2]
        """
        return self._fit_rows(X, y, sample_weight)

    def _largest_penalty(self, standard: Standard) -> float:
        return float(np.abs(standard.slopes()).max())

    def _followed(self, standard: Standard, penalties: Floats) -> Iterator[Linear]:
        rows = standard.rows
        for penalty in penalties:
            model = LogisticRegression(
                **L1, C=1 / penalty, solver="liblinear", intercept_scaling=FREE, random_state=self.seed
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(rows.X, rows.labels, rows.weight)
            yield standard.linear(model.coef_[0], float(model.intercept_[0]))
