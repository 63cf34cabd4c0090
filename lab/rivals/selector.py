"""One interface for every way to select features: fit, then ask for the model of at most k features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data
from threadpoolctl import threadpool_limits

from lab.rivals.rows import Places, Rows, check_enough, check_weights, class_numbers, unchanged_on_error

POSITIVE = Interval(Integral, 1, None, closed="left")
SEED = Interval(Integral, 0, 2**32 - 1, closed="both")
CLASSIFICATION, REGRESSION = "classification", "regression"
TASK = StrOptions({CLASSIFICATION, REGRESSION})


class Selector(BaseEstimator, ABC):  # type: ignore[misc]
    """A way to models of at most k features, for two classes or, where there is a ``task``, for numbers.

    ``fit`` ranks features, follows a path of penalties or eliminates; ``features(k)`` and ``predict(X, k)`` then answer
    for any k. Answers are the same for the same seed, and one thread is used unless there is an ``n_jobs`` that says
    otherwise.

    Attributes
    ----------
    title : str
        What tables and legends call it. Of the class.
    largest_rows : int or None
        On more rows than this it takes very long or much memory, but is not refused; None: it scales. Of the class.
    weighted : bool
        Whether it takes weights of rows. Of the class.
    classes_ : ndarray of shape (2,)
        The labels; there are none in regression.
    n_features_in_ : int
        Columns of the table.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lab.rivals import Selector, L1Logistic
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = L1Logistic(splits=2).fit(X, y)
    >>> isinstance(model, Selector)
    True
    >>> len(model.features(5)) <= 5
    True
    >>> bool((model.predict(X, 5) == y).mean() > 0.9)
    True
    """

    title: ClassVar[str]
    largest_rows: ClassVar[int | None] = None
    weighted: ClassVar[bool] = False
    task: str = CLASSIFICATION
    _numbers: ClassVar[Any] = np.float64  # the form in which the table is read
    _parameter_constraints: ClassVar[dict[str, Any]] = {"splits": [POSITIVE], "seed": [SEED]}

    classes_: NDArray[Any]
    n_features_in_: int

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, validation: tuple[Any, Any] | None = None
    ) -> Self:
        """Rank the features, follow the path, or eliminate.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Numbers, none of them missing.
        y : array-like of shape (n_samples,)
            Two labels, of any kind; numbers in regression.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, which count in fits and in errors, where ``weighted`` is True.
        validation : (X, y) or None, default=None
            Rows by which settings are chosen and boosting is stopped. None: random parts of the training rows.

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
        if sample_weight is not None and not self.weighted:
            raise TypeError(f"{type(self).__name__} takes no sample_weight.")
        with unchanged_on_error(self), threadpool_limits(1, "blas"):
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=self._numbers, y_numeric=self._regresses)
            rows = Rows(X, self._learned_labels(y), check_weights(sample_weight, X))
            if not rows.weight.all():
                rows = rows.take(np.flatnonzero(rows.weight))
            if not self._regresses:
                check_enough(rows.labels, self.classes_)
            self._usual = self._most_likely(rows)
            self._learn(rows, None if validation is None else self._validation(*validation))
        return self

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
        check_is_fitted(self, "n_features_in_")
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
        X = validate_data(self, X, accept_sparse="csr", dtype=self._numbers, reset=False)
        if len(columns) == 0:
            return np.full(X.shape[0], self._usual if self._regresses else self.classes_[int(self._usual)])
        with threadpool_limits(1, "blas"):
            found: NDArray[Any] = self._predicted(X, int(k))
        return found if self._regresses else self.classes_[found]

    def used(self, k: int) -> Places:
        """Return those of ``features(k)`` that the model looks at; a tree may pass over some that it was given.

        Parameters
        ----------
        k : int
            The most features it may use.

        Returns
        -------
        ndarray of int
            Columns.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from lab.rivals import RandomForestSelection
        >>> forest = RandomForestSelection(trees=50, min_samples_leaf=5)
        >>> len(forest.fit(*load_breast_cancer(return_X_y=True)).used(4))
        4
        """
        return self.features(k)

    def reaches(self, k: int) -> bool:
        """Return whether there is a model of at most k features; where there is none, the usual answer is predicted.

        Parameters
        ----------
        k : int
            The most features it may use.

        Returns
        -------
        bool
            False where the smallest model is larger, or was not reached in time.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from lab.rivals import L1Logistic
        >>> model = L1Logistic(splits=2).fit(*load_breast_cancer(return_X_y=True))
        >>> model.reaches(5), model.reaches(0)
        (True, False)
        """
        return len(self.features(k)) > 0

    @property
    def _regresses(self) -> bool:
        return self.task == REGRESSION

    def _learned_labels(self, y: Any) -> NDArray[Any]:
        """Numbers of classes, which are kept; in regression the target as it is."""
        if self._regresses:
            return np.asarray(y, dtype=np.float64)
        self.classes_, labels = class_numbers(y)
        if len(self.classes_) != 2:
            some = ", ".join(map(str, self.classes_[:5])) + (", ..." if len(self.classes_) > 5 else "")
            raise ValueError(f"{type(self).__name__} tells two classes apart; y has {len(self.classes_)}: {some}.")
        return labels

    def _most_likely(self, rows: Rows) -> float:
        """What is predicted without any feature: the mean, or the larger class."""
        if self._regresses:
            return float(np.average(rows.labels, weights=rows.weight))
        return int(np.bincount(rows.labels, rows.weight).argmax())

    def _validation(self, X: Any, y: Any) -> Rows:
        """Check the validation rows, whose labels must be known ones."""
        X, y = check_X_y(X, y, accept_sparse="csr", dtype=self._numbers)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"The validation rows have {X.shape[1]} columns; X has {self.n_features_in_}.")
        if self._regresses:
            return Rows(X, y.astype(np.float64), np.ones(len(y)))
        strange = sorted(set(np.unique(y).tolist()) - set(self.classes_.tolist()))
        if strange:
            raise ValueError(f"The validation rows have the label {strange[0]!s}, which the training rows do not have.")
        return Rows(X, np.searchsorted(self.classes_, y), np.ones(len(y)))

    @abstractmethod
    def _learn(self, rows: Rows, validation: Rows | None) -> None:
        """Rank the features, follow the path, or eliminate."""

    @abstractmethod
    def _features(self, k: int) -> Places:
        """Columns of the model of at most k features, best first."""

    @abstractmethod
    def _predicted(self, X: Any, k: int) -> NDArray[Any]:
        """Class numbers, or in regression numbers, from the model of at most k features, which has at least one."""
