"""A linear SVM drops the columns with the smallest weights, again and again."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.svm import SVC

from lab.rivals.paths import Standard
from lab.rivals.ranked import RankedForSVM
from lab.rivals.rows import Floats, Places, Rows

DROP = 0.1  # of the columns that are left
SINGLE = 100  # from here on one by one
C = 1.0


class SVMElimination(RankedForSVM):
    """SVM-RFE: a linear SVM with C = 1 drops the tenth of the columns with the smallest weights, until 100 are left.

    Then it drops one after another, so that the top k are those of the elimination that stops at k. Columns are
    standardised; a sparse table stays sparse, since the intercept makes up for its means. The last model is a linear
    SVM (:class:`TunedSVM`) on the top k.

    Parameters
    ----------
    count : int, default=100
        How many features are ranked at most.
    splits : int, default=5
        Random splits on which the last SVM's C is chosen.
    tuning_rows : int, default=2000
        Rows on which it is chosen, at most.
    seed : int, default=0
        Decides splits; the ranking does not depend on it.

    Attributes
    ----------
    ranking_ : ndarray of int
        Columns, the one that was left last first.
    classes_, n_features_in_ : ndarray, int
        As in :class:`Selector`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lab.rivals import SVMElimination
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SVMElimination(splits=2).fit(X, y)
    >>> len(model.features(3))
    3
    >>> bool((model.predict(X, 3) == y).mean() > 0.9)
    True
    """

    title: ClassVar[str] = "SVM-RFE"
    largest_rows: ClassVar[int | None] = 10_000
    _kernel: ClassVar[str] = "linear"

    def _ranked(self, rows: Rows, validation: Rows | None) -> Places:
        standard = Standard.of(rows)
        left, dropped = np.arange(len(standard.columns)), list[Places]()
        while len(left):
            order = np.argsort(weights(standard.rows.X[:, left], rows.labels) ** 2, kind="stable")
            drop = int(DROP * len(left)) if len(left) > SINGLE else 1
            drop = min(drop, max(1, len(left) - SINGLE))
            dropped.append(left[order[:drop]])
            left = np.sort(left[order[drop:]])
        return standard.columns[np.concatenate(dropped)[::-1][: self.count]] if dropped else standard.columns


def weights(Z: Any, labels: Places) -> Floats:
    """Of a linear SVM, by way of the products of rows, of which there are few."""
    products = Z @ Z.T
    products = products if isinstance(products, np.ndarray) else products.toarray()
    svm = SVC(C=C, kernel="precomputed", random_state=0).fit(products, labels)
    found: Floats = np.asarray(Z[svm.support_].T @ svm.dual_coef_[0])
    return found
