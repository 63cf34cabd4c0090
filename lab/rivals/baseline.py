"""What all baselines have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from frugalboost.estimators.base import unchanged_on_error
from frugalboost.tables.targets import check_weights, check_y_classes
from lab.rivals.rows import Places, Rows, check_enough

POSITIVE = Interval(Integral, 1, None, closed="left")
SEED = Interval(Integral, 0, 2**32 - 1, closed="both")


class Baseline(BaseEstimator, ABC):  # type: ignore[misc]
    """A way to models of at most k features, for two classes.

    ``fit`` ranks features or follows a path of penalties; ``features(k)`` and ``predict(X, k)`` then answer for any k.
    Answers are the same for the same seed, and one thread is used unless there is an ``n_jobs`` that says otherwise.

    Attributes
    ----------
    largest_rows : int or None
        On more rows than this it takes very long or much memory, but is not refused; None: it scales. Of the class.
    classes_ : ndarray of shape (2,)
        The labels.
    n_features_in_ : int
        Columns of the table.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lab.rivals import Baseline, L1Logistic
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = L1Logistic(splits=2).fit(X, y)
    >>> isinstance(model, Baseline)
    True
    >>> len(model.features(5)) <= 5
    True
    >>> bool((model.predict(X, 5) == y).mean() > 0.9)
    True
    """

    largest_rows: ClassVar[int | None] = None
    _parameter_constraints: ClassVar[dict[str, Any]] = {"splits": [POSITIVE], "seed": [SEED]}

    classes_: NDArray[Any]
    n_features_in_: int
    _majority: int

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Rank the features, or follow the path.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Numbers, none of them missing.
        y : array-like of shape (n_samples,)
            Two labels, of any kind.

        Returns
        -------
        self
            Fitted.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from lab.rivals import MRMR
        >>> MRMR(count=3).fit(*load_breast_cancer(return_X_y=True)).features(3)
        array([27, 22,  7])
        """
        return self._fit_rows(X, y, None)

    def features(self, k: int) -> Places:
        """Return the columns that the model of at most k features uses.

        Parameters
        ----------
        k : int
            The most features it may use.

        Returns
        -------
        ndarray of int
            At most k columns, the best first.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from lab.rivals import RandomForestSelection
        >>> forest = RandomForestSelection(trees=50, min_samples_leaf=5)
        >>> len(forest.fit(*load_breast_cancer(return_X_y=True)).features(4))
        4
        """
        check_is_fitted(self, "classes_")
        if not isinstance(k, Integral) or isinstance(k, bool) or k < 0:
            raise ValueError(f"k is {k!r}; it is the most features a model may use: a whole number, zero or more.")
        return self._features(int(k))

    def predict(self, X: Any, k: int) -> NDArray[Any]:
        """Return the labels that the model of at most k features predicts.

        Where a ranking comes first, a model that is asked for the first time is trained then, on the rows of ``fit``,
        which are kept; so is the model.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            All columns of the table, used or not.
        k : int
            The most features it may use. Where it can use none, all rows get the label of the larger class.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from lab.rivals import RandomForestSelection
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> forest = RandomForestSelection(trees=50, min_samples_leaf=5).fit(X, y)
        >>> forest.predict(X[:5], 0)
        array([1, 1, 1, 1, 1])
        """
        columns = self.features(k)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        if len(columns) == 0:
            return np.full(X.shape[0], self.classes_[self._majority])
        with threadpool_limits(1, "blas"):
            found: NDArray[Any] = self.classes_[self._predicted(X, int(k))]
        return found

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Check what fit was given and learn from it; rows of no weight are left out."""
        with unchanged_on_error(self), threadpool_limits(1, "blas"):
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
            self.classes_, labels = np.unique(check_y_classes(y), return_inverse=True)
            if len(self.classes_) != 2:
                some = ", ".join(map(str, self.classes_[:5])) + (", ..." if len(self.classes_) > 5 else "")
                raise ValueError(f"{type(self).__name__} tells two classes apart; y has {len(self.classes_)}: {some}.")
            weight = check_weights(sample_weight, X)
            rows = Rows(X, labels, np.ones(len(labels)) if weight is None else weight)
            if not rows.weight.all():
                rows = rows.take(np.flatnonzero(rows.weight))
            check_enough(rows.labels, self.classes_)
            self._majority = int(np.bincount(rows.labels, rows.weight).argmax())
            self._learn(rows)
        return self

    @abstractmethod
    def _learn(self, rows: Rows) -> None:
        """Rank the features, or follow the path."""

    @abstractmethod
    def _features(self, k: int) -> Places:
        """Columns of the model of at most k features, best first."""

    @abstractmethod
    def _predicted(self, X: Any, k: int) -> Places:
        """Class numbers from the model of at most k features, which has at least one."""
