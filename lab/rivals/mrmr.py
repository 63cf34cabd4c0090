"""mRMR: the largest F statistic over the mean correlation with what is chosen."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import f_classif, f_regression
from sklearn.utils._param_validation import StrOptions

from lab.rivals.ranked import RankedForSVM
from lab.rivals.rows import Floats, Places, Rows, dense, judged, standardised, varied
from lab.rivals.selector import CLASSIFICATION, TASK

MOST_COLUMNS = 10_000  # columns of next to no relevance would be taken only because nothing resembles them
PERFECT = 1e300  # instead of an infinite F, with which nothing can be compared
FLOOR = 1e-3  # of a correlation, as mrmr-selection has it
SAME = 1 - 1e-12  # a mean correlation above it: such a column adds nothing


class MRMR(RankedForSVM):
    """mRMR (minimum redundancy, maximum relevance), then an SVM (:class:`TunedSVM`) or LightGBM on the top k.

    Each step takes the feature with the largest F statistic over its mean absolute correlation with those that were
    taken: the rule of mrmr-selection, and the same ranking, with a matrix product instead of a data frame for each
    step. Where more than 10,000 columns vary, only the 10,000 with the largest F take part. A sparse table is made
    dense.

    Parameters
    ----------
    count : int, default=100
        How many features are ranked at most.
    final : {"svm", "lightgbm"}, default="svm"
        The model of the top k. In regression it is LightGBM.
    splits : int, default=5
        Random splits on which the SVM's settings are chosen.
    tuning_rows : int, default=2000
        Rows on which they are chosen, at most.
    task : {"classification", "regression"}, default="classification"
        What is predicted.
    seed : int, default=0
        Decides splits; the ranking does not depend on it.

    Attributes
    ----------
    ranking_ : ndarray of int
        Columns in the order in which they were taken.
    classes_, n_features_in_ : ndarray, int
        As in :class:`Selector`.

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

    title: ClassVar[str] = "mRMR"
    largest_rows: ClassVar[int | None] = 50_000
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankedForSVM._parameter_constraints,
        "final": [StrOptions({"svm", "lightgbm"})],
        "task": [TASK],
    }

    def __init__(
        self,
        *,
        count: int = 100,
        final: str = "svm",
        splits: int = 5,
        tuning_rows: int = 2000,
        task: str = CLASSIFICATION,
        seed: int = 0,
    ) -> None:
        super().__init__(count=count, splits=splits, tuning_rows=tuning_rows, seed=seed)
        self.final = final
        self.task = task

    def _ranked(self, rows: Rows, validation: Rows | None) -> Places:
        columns = varied(rows.X)
        if len(columns) == 0:
            return columns
        X = dense(rows.X[:, columns])
        F = statistic(X, rows.labels)
        kept = np.sort(np.argsort(-F, kind="stable")[:MOST_COLUMNS])
        kept = kept[F[kept] > 0]
        return columns[kept[taken(standardised(X[:, kept]), F[kept], self.count)]]

    def _trained(self, rows: Rows, validation: Rows | None) -> Any:
        if self.final == "svm" and not self._regresses:
            return super()._trained(rows, validation)
        from lab.rivals.lightgbm_models import Boosted

        train, stop = next(judged(rows, validation, 1, self.seed))
        return Boosted.fit(train.as_array(), stop.as_array(), self.task, self.seed)


def statistic(X: Floats, labels: NDArray[Any]) -> Floats:
    """F of each column; very large, but finite, where it tells all rows apart."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = (f_regression if labels.dtype.kind == "f" else f_classif)(X, labels)[0]
    return np.asarray(np.nan_to_num(found, posinf=PERFECT))


def taken(Z: Floats, relevance: Floats, count: int) -> Places:
    """The order in which standardised columns are taken, ``count`` of them at most."""
    order: list[int] = []
    redundancy = np.zeros(Z.shape[1])
    score = relevance.copy()
    for _ in range(min(count, Z.shape[1])):
        score[order] = -1.0
        order.append(int(np.argmax(score)))
        redundancy += np.maximum(np.abs(Z.T @ Z[:, order[-1]]) / len(Z), FLOOR)
        mean = redundancy / len(order)
        score = np.where(mean < SAME, relevance / mean, 0.0)
    return np.array(order, dtype=np.int64)
