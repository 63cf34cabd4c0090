"""An SVM whose settings are chosen on random splits."""

from __future__ import annotations

from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from lab.rivals.rows import Floats, Rows, check_enough, class_numbers, dense, random_splits, unchanged_on_error
from lab.rivals.selector import POSITIVE, SEED

CS = (1.0, 10.0, 100.0)
LINEAR_CS = (0.1, 1.0, 10.0, 100.0)  # with a smaller one few rows may all get one class
GAMMAS = (0.1, 1.0, 10.0)  # over the number of columns
CACHE = 500  # MB


class TunedSVM(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A support vector machine on standardised columns, with a Gaussian kernel or a linear one.

    C is one of 1, 10, 100 and gamma one of 0.1, 1, 10 over the number of columns, or with a linear kernel C is one of
    0.1, 1, 10, 100: those with the lowest mean error on a fifth of the rows held out, over random splits; among
    equals the smoother model. The last fit has all rows. A sparse table is made dense.

    Parameters
    ----------
    kernel : {"rbf", "linear"}, default="rbf"
        Gaussian, or linear.
    seed : int, default=0
        Decides the splits and the sample.
    splits : int, default=5
        How many random splits.
    tuning_rows : int, default=2000
        C and gamma are chosen on a sample of this many rows, classes in proportion, where there are more.

    Attributes
    ----------
    C_, gamma_ : float
        What was chosen; a linear kernel takes no notice of gamma.
    classes_ : ndarray
        The labels, two or more.
    n_features_in_ : int
        Columns of the table.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lab.rivals import TunedSVM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> svm = TunedSVM().fit(X[:, [27, 20, 21]], y)
    >>> bool(svm.score(X[:, [27, 20, 21]], y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [StrOptions({"rbf", "linear"})],
        "seed": [SEED],
        "splits": [POSITIVE],
        "tuning_rows": [POSITIVE],
    }

    def __init__(self, kernel: str = "rbf", *, seed: int = 0, splits: int = 5, tuning_rows: int = 2000) -> None:
        self.kernel = kernel
        self.seed = seed
        self.splits = splits
        self.tuning_rows = tuning_rows

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Choose C and gamma, then fit on all rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Numbers, none of them missing.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self
            Fitted.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from lab.rivals import TunedSVM
        >>> TunedSVM(splits=2).fit(*load_iris(return_X_y=True)).C_ in (1, 10, 100)
        True
        """
        with unchanged_on_error(self):
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
            self.classes_, labels = class_numbers(y)
            if len(self.classes_) < 2:
                raise ValueError(f"y has only one class, {self.classes_[0]!s}; an SVM needs at least two.")
            check_enough(labels, self.classes_)
            self._scaler = StandardScaler().fit(dense(X))
            rows = Rows(self._scaler.transform(dense(X)), labels, np.ones(len(labels)))
            self.C_, self.gamma_ = self._chosen(self._sample(rows))
            self._svc = self._svm(self.C_, self.gamma_).fit(rows.X, labels)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return labels.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The columns that fit was given.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from lab.rivals import TunedSVM
        >>> X, y = load_iris(return_X_y=True)
        >>> TunedSVM(splits=2).fit(X, y).predict(X[:3])
        array([0, 0, 0])
        """
        check_is_fitted(self, "classes_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        found: NDArray[Any] = self.classes_[self._svc.predict(self._scaler.transform(dense(X)))]
        return found

    def _sample(self, rows: Rows) -> Rows:
        """The rows on which C and gamma are chosen."""
        if len(rows.labels) <= self.tuning_rows:
            return rows
        everything = np.arange(len(rows.labels))
        some, _ = train_test_split(
            everything, train_size=self.tuning_rows, stratify=rows.labels, random_state=self.seed
        )
        return rows.take(np.sort(some))

    def _chosen(self, rows: Rows) -> tuple[float, float]:
        grid = [(C, gamma / rows.X.shape[1]) for C, gamma in self._grid]
        errors: list[Floats] = []
        for train, held_out in random_splits(rows, self.splits, self.seed):
            models = (self._svm(C, gamma).fit(train.X, train.labels) for C, gamma in grid)
            errors.append(np.array([(model.predict(held_out.X) != held_out.labels).mean() for model in models]))
        return grid[int(np.mean(errors, axis=0).argmin())]

    @property
    def _grid(self) -> list[tuple[float, float]]:
        return list(product(CS, GAMMAS)) if self.kernel == "rbf" else [(C, 1.0) for C in LINEAR_CS]

    def _svm(self, C: float, gamma: float) -> SVC:
        return SVC(
            C=C, kernel=self.kernel, gamma=gamma, cache_size=CACHE, random_state=self.seed
        )  # else it takes numpy's global state
