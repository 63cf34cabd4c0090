"""The first k columns of an L1 path, then logistic regression with an L2 penalty on them."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.utils._param_validation import Interval

from lab.rivals.l1_logistic import L1Logistic
from lab.rivals.paths import Linear, Standard
from lab.rivals.ranked import Ranked
from lab.rivals.rows import Places, Rows, folds
from lab.rivals.selector import POSITIVE, Selector

SEVERAL = Interval(Integral, 2, None, closed="left")
CS = np.logspace(-4, 2, 13)


class RelaxedL1(Ranked):
    """The relaxed lasso for two classes: an L1 path ranks, and an L2 penalty shrinks the weights of the top k.

    Columns are ranked in the order in which they enter the path of :class:`L1Logistic`; those that enter at one penalty
    by their weight. The last model is logistic regression on standardised columns; its C, one of 13 from 0.0001 to 100,
    has the lowest log loss in cross-validation. A sparse table stays sparse until k columns are left.

    Parameters
    ----------
    count : int, default=100
        How many features are ranked at most.
    splits : int, default=5
        Folds of the cross-validation; 2 at least.
    seed : int, default=0
        Decides the folds.

    Attributes
    ----------
    ranking_ : ndarray of int
        Columns in the order in which they enter.
    classes_, n_features_in_ : ndarray, int
        As in :class:`Selector`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lab.rivals import RelaxedL1
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RelaxedL1(count=5).fit(X, y)
    >>> model.features(3)
    array([27, 22, 20])
    >>> bool((model.predict(X, 3) == y).mean() > 0.9)
    True
    """

    title: ClassVar[str] = "L1 path, then L2 penalty"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Selector._parameter_constraints,
        "count": [POSITIVE],
        "splits": [SEVERAL],
    }

    def __init__(self, *, count: int = 100, splits: int = 5, seed: int = 0) -> None:
        self.count = count
        self.splits = splits
        self.seed = seed

    def _ranked(self, rows: Rows, validation: Rows | None) -> Places:
        order: list[int] = []
        for model in L1Logistic(count=self.count, seed=self.seed)._along(rows)[0]:
            order += sorted(set(model.columns.tolist()) - set(order), key=model.columns.tolist().index)
        return np.array(order[: self.count], dtype=np.int64)

    def _trained(self, rows: Rows, validation: Rows | None) -> Any:
        rows = rows.as_array()
        parts = [(rows, validation)] if validation else list(folds(rows, self.splits, self.seed))
        losses = [np.mean([shrunk(train, C).loss(held_out) for train, held_out in parts]) for C in CS]
        return shrunk(rows, float(CS[int(np.argmin(losses))]))


def shrunk(rows: Rows, C: float) -> Linear:
    """Logistic regression with an L2 penalty on standardised columns."""
    standard = Standard.of(rows)
    if len(standard.columns) == 0:
        return standard.empty()
    model = LogisticRegression(C=C, max_iter=1000).fit(standard.rows.X, rows.labels)
    return standard.linear(model.coef_[0], float(model.intercept_[0]))
