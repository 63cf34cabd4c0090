"""Logistic regression with an L1 penalty."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils._param_validation import Interval, StrOptions

from lab.rivals.paths import FEWER, WEAKER, Linear, Path, Standard
from lab.rivals.rows import Floats, Places, Rows

L1 = {"penalty": "l1"} if LogisticRegression().penalty == "l2" else {"l1_ratio": 1}  # before and from scikit-learn 1.8
WORKING = 500  # columns with which a fit begins; others join where the penalty would let them in
CLOSE = 1e-3  # by this share of the penalty a slope may exceed it
FREE = 100.0  # liblinear penalises the intercept; scaled so, next to nothing


class L1Logistic(Path):
    """Logistic regression with an L1 penalty (scikit-learn, liblinear), over a path of penalties.

    The path goes from the penalty at which the first column enters down to a thousandth of it. Columns are
    standardised; a sparse matrix stays sparse. Where there are more than 500, a fit begins with some of them, and
    others join as they are needed. Among models of at most k features the one with the lowest mean error on a fifth of
    the rows held out is taken, over random splits, with the same C.

    Parameters
    ----------
    count : int or None, default=None
        The most features that will be asked for: the path ends at a model of more than twice as many. None: it is
        followed to the end.
    splits : int, default=5
        How many random splits. 0: none, and the model for k is the largest of at most k features.
    judged_by : {"error", "loss"}, default="error"
        What is low on held-out rows where a penalty is good: the share of wrong answers, or the log loss.
    fine : bool, default=True
        90 penalties and an intercept that is next to free, or 37 with a looser tolerance and liblinear's penalty on the
        intercept, which takes a tenth of the time.
    first : int, default=0
        How many further penalties there are where the first columns enter, down to two thirds of the largest: with few
        rows and many columns several often enter between two penalties.
    seed : int, default=0
        Decides the splits.

    Attributes
    ----------
    path_ : list of (int, float)
        The number of features and the mean error on held-out rows (NaN without splits) of each model; the first has no
        feature.
    classes_, n_features_in_ : ndarray, int
        As in :class:`Selector`.

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

    title: ClassVar[str] = "L1 logistic regression"
    weighted: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Path._parameter_constraints,
        "judged_by": [StrOptions({"error", "loss"})],
        "fine": ["boolean"],
        "first": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        count: int | None = None,
        splits: int = 5,
        judged_by: str = "error",
        fine: bool = True,
        first: int = 0,
        seed: int = 0,
    ) -> None:
        self.count = count
        self.splits = splits
        self.judged_by = judged_by
        self.fine = fine
        self.first = first
        self.seed = seed

    @property
    def _weaker(self) -> Floats:  # type: ignore[override]
        weaker = WEAKER if self.fine else FEWER
        return np.union1d(np.geomspace(1.0005, 1.5, self.first), weaker) if self.first else weaker

    def _largest_penalty(self, standard: Standard) -> float:
        return float(np.abs(standard.slopes()).max())

    def _followed(self, standard: Standard, penalties: Floats) -> Iterator[Linear]:
        X = standard.rows.X.tocsc() if issparse(standard.rows.X) else standard.rows.X
        rows = Rows(X, standard.rows.labels, standard.rows.weight)
        working = np.sort(np.argsort(-np.abs(standard.slopes()), kind="stable")[:WORKING])
        for penalty in penalties:
            model, working = self._solved(rows, float(penalty), working)
            weights = np.zeros(X.shape[1])
            weights[working] = model.coef_[0]
            yield standard.linear(weights, float(model.intercept_[0]))

    def _solved(self, rows: Rows, penalty: float, working: Places) -> tuple[LogisticRegression, Places]:
        """Fit on some columns, and again with those that would enter then, until none would."""
        how = {"tol": 1e-4, "intercept_scaling": FREE} if self.fine else {"tol": 1e-3, "intercept_scaling": 1.0}
        model = LogisticRegression(**L1, C=1 / penalty, solver="liblinear", random_state=self.seed, **how)
        while True:
            some = rows.columns(working)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(some.X, some.labels, some.weight)
            if len(working) == rows.X.shape[1]:
                return model, working
            slopes = rows.X.T @ (rows.weight * (model.predict_proba(some.X)[:, 1] - rows.labels))
            slopes[working] = 0.0
            entering = np.flatnonzero(np.abs(slopes) > (1 + CLOSE) * penalty)
            if len(entering) == 0:
                return model, working
            working = np.union1d(working, entering)

    def _error(self, model: Linear, rows: Rows) -> float:
        if self.judged_by == "error":
            return super()._error(model, rows)
        if len(model.columns) == 0:
            return np.inf  # there must be a model, even if it is no better than a constant
        return model.loss(rows)
