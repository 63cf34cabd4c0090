"""mRMR: the largest F statistic over the mean correlation with what is chosen."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
from sklearn.feature_selection import f_classif

from lab.rivals.optional import needed
from lab.rivals.ranked import RankedForSVM
from lab.rivals.rows import Places, Rows, dense, varied

MOST_COLUMNS = 10_000  # the package keeps a number for each pair of them
PERFECT = 1e300  # instead of an infinite F, with which it can't reckon


class MRMR(RankedForSVM):
    """mRMR (minimum redundancy, maximum relevance) of mrmr-selection, then an SVM (:class:`TunedSVM`) on the top k.

    Each step takes the feature with the largest F statistic over its mean absolute correlation with those that were
    taken. Where more than 10,000 columns vary, only the 10,000 with the largest F take part. A sparse table is made
    dense.

    Parameters
    ----------
    count : int, default=100
        How many features are ranked at most.
    splits : int, default=5
        Random splits on which the SVM's settings are chosen.
    tuning_rows : int, default=2000
        Rows on which they are chosen, at most.
    seed : int, default=0
        Decides splits; the ranking does not depend on it.

    Attributes
    ----------
    ranking_ : ndarray of int
        Columns in the order in which they were taken.
    classes_, n_features_in_ : ndarray, int
        As in :class:`Baseline`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lab.rivals import MRMR
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MRMR(count=5, splits=2).fit(X, y)
    >>> model.features(3)
    array([27, 22,  7])
    >>> bool((model.predict(X, 3) == y).mean() > 0.9)
    True
    """

    largest_rows: ClassVar[int | None] = 50_000

    def _ranked(self, rows: Rows) -> Places:
        mrmr, pandas = needed("mrmr", "mrmr-selection", "MRMR"), needed("pandas", "pandas", "MRMR")
        columns = varied(rows.X)
        if len(columns) == 0:
            return columns
        X = dense(rows.X[:, columns])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            F = np.nan_to_num(f_classif(X, rows.labels)[0], posinf=PERFECT)
            kept = np.sort(np.argsort(-F, kind="stable")[:MOST_COLUMNS])
            table = pandas.DataFrame(X[:, kept], columns=columns[kept])
            relevance = pandas.Series(F[kept], index=table.columns)
            settings = {"relevance": lambda X, y: relevance, "n_jobs": 1, "show_progress": False}
            taken = mrmr.mrmr_classif(table, pandas.Series(rows.labels), self.count, **settings)
        return np.array(taken, dtype=np.int64)
