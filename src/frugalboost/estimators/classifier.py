"""The classifier: validate, call, store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import compute_class_weight, compute_sample_weight
from sklearn.utils.validation import check_consistent_length

import frugalboost.estimators.saving as saving
from frugalboost import _core
from frugalboost.costs import Costs
from frugalboost.estimators.base import GBFSBase, unchanged_on_error
from frugalboost.estimators.docstrings import described
from frugalboost.losses import CLASSIFICATION, BuiltIn, Loss, resolve_loss
from frugalboost.tables import Table
from frugalboost.tables.parts import of_all
from frugalboost.tables.reading import read_table
from frugalboost.tables.sample import Sample
from frugalboost.tables.targets import check_weights, check_y_classes, positive_weight, with_mean_one
from frugalboost.training.parameters import CLASSIFIER, constraints

Floats = NDArray[np.float64]


@saving.savable
@described(
    CLASSIFIER,
    attributes="""\
classes_ : ndarray
    The class labels.
""",
)
class GBFSClassifier(ClassifierMixin, GBFSBase):  # type: ignore[misc]
    """Boosted trees for classification that pay for each feature once, when a tree first splits on it.

    Parameters
    ----------
    <parameters>

    Attributes
    ----------
    <attributes>

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from frugalboost import GBFSClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = GBFSClassifier(mu=0.02, max_iter=100).fit(X, y)
    >>> [str(X.columns[j]) for j in model.selected_features_]
    ['worst radius', 'worst concave points', 'worst texture']
    """

    _losses = CLASSIFICATION
    _parameter_constraints: ClassVar[dict[str, Any]] = constraints(CLASSIFIER)
    class_weight: dict[Any, float] | str | None

    # Written by tools/write_signatures from training/parameters.py.
    def __init__(
        self,
        mu: float = 1e-3,
        *,
        mu_unit: str = "share",
        costs: Costs = None,
        budget: float | None = None,
        learning_rate: float = 0.1,
        max_iter: int = 500,
        max_depth: int | None = 4,
        max_leaf_nodes: int | None = None,
        multi_strategy: str = "auto",
        base: str = "auto",
        line_scale: str = "values",
        min_samples_leaf: float = 20,
        l2_regularization: float = 0.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        bins_folder: str | os.PathLike[str] | None = None,
        loss: str | BuiltIn | Loss = "log_loss",
        leaf_values: str = "newton",
        init: str = "prior",
        stop: str = "paid",
        screening: str = "auto",
        new_features: float | str = "all",
        subsample: float = 1.0,
        max_features: float | int | str | None = None,
        n_features_to_select: int | None = None,
        fewer: bool = False,
        refit: bool | str = False,
        average: int = 1,
        early_stopping: bool = False,
        scoring: str | Callable[..., float] | None = None,
        callbacks: Sequence[Callable[..., Any]] | None = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        tol: float = 0.0,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    # End of what tools/write_signatures wrote.

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix, path, Arrow dataset or batches
            A table of shape (n_samples, n_features); NaN is a value of its own, whose side of a split is learned. Or
            where to read it: a Parquet file or a folder of them, an Arrow dataset, or a list of batches ``(X, y)`` or
            ``(X, y, weights)``, or a function that returns an iterator over them.
        y : array-like of shape (n_samples,), or str
            Class labels. The name of their column, where X is read from files; None, where it comes in batches.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            A weight of k counts as k equal rows. Weights with a mean below 1 that are not whole numbers are relative:
            they are brought to a mean of 1. The name of a column, where X is read from files.
        X_val, y_val : default=None
            Rows for the validation loss, instead of setting some aside.
        sample_weight_val : array-like, default=None
            Their weights.

        Returns
        -------
        self
            The fitted classifier.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from frugalboost import GBFSClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = GBFSClassifier(mu=0.01, max_iter=20).fit(X, y)
        >>> model.predict(X[:3])
        array([0, 0, 0])
        """
        with unchanged_on_error(self):
            return self._fit_checked(*self._checked(X, y, sample_weight, X_val, y_val, sample_weight_val))

    def _checked(
        self,
        X: Any,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> tuple[Sample, Sample | None]:
        resolve_loss(self.loss, self._losses)  # an error comes before anything is read
        train = self._sample(*read_table(self, X, y, sample_weight, reset=True))
        return train, self._validation_sample(X_val, y_val, sample_weight_val)

    def _sample(self, X: Table, y: Any, sample_weight: Any, part: _core.ThreadPart | None = None) -> Sample:
        if part is None or len(y):
            y = check_y_classes(y)
        check_consistent_length(X, y)
        present = _labels(y, part)
        if not (self.warm_start and hasattr(self, "_warm_start")):
            self.classes_ = present
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has only one class, {self.classes_.tolist()[0]!r}; a classifier needs at least two classes."
            )
        weights = self._weights(X, y, sample_weight, part)
        return Sample(X, self._encoded_target(y), weights)

    @property
    def _outputs(self) -> int:
        """One for two classes, else one for each."""
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _weights(
        self, X: Table, y: NDArray[Any], sample_weight: ArrayLike | None, part: _core.ThreadPart | None
    ) -> Floats | None:
        weights = check_weights(sample_weight, X, part=part)
        if self.class_weight is not None:
            by_class = _weights_of_classes(self.class_weight, y, part)
            weights = check_weights(by_class if weights is None else by_class * weights, X, "class_weight", part)
        weights = with_mean_one(weights, part)
        if weights is not None and len(_labels(y[positive_weight(weights, part)], part)) < 2:
            raise ValueError("Only one class has rows with a positive weight; a classifier needs at least two classes.")
        return weights

    def _encoded_target(self, y: Any) -> Floats:
        """Class numbers; labels that fit did not see are an error."""
        if not len(y):  # of a part without rows
            return np.zeros(0)
        y = check_y_classes(y)
        labels, place = np.unique(y, return_inverse=True)
        code = {label: float(k) for k, label in enumerate(self.classes_.tolist())}
        for label in labels.tolist():
            if label not in code:
                raise ValueError(f"y holds the label {label!r}, which is not among the classes {list(code)}.")
        codes: Floats = np.array([code[label] for label in labels.tolist()])[place]
        return codes

    def decision_function(self, X: Any) -> Floats:
        """Return raw predictions: the log odds of the second class, or one column per class for more than two.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows. A data frame needs only the columns that the model owns. Or a path, an Arrow dataset or batches.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Raw predictions.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from frugalboost import GBFSClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> GBFSClassifier(max_iter=5).fit(X, y).decision_function(X).shape
        (150, 3)
        """
        return self._raw(X)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of every class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows. A data frame needs only the columns that the model owns. Or a path, an Arrow dataset or batches.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, columns in the order of ``classes_``.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from frugalboost import GBFSClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> GBFSClassifier(max_iter=5).fit(X, y).predict_proba(X).shape
        (150, 3)
        """
        return self._probabilities(self._raw(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of every row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows. A data frame needs only the columns that the model owns. Or a path, an Arrow dataset or batches.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from frugalboost import GBFSClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> GBFSClassifier(max_iter=20).fit(X, y).predict(X[:2])
        array([0, 0])
        """
        best = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of rows that are classified rightly.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix, path, Arrow dataset or batches
            The rows.
        y : array-like of shape (n_samples,), or str
            As in :meth:`fit`.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            As in :meth:`fit`.

        Returns
        -------
        float
            The score.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from frugalboost import GBFSClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> GBFSClassifier(max_iter=20).fit(X, y).score(X, y) > 0.5
        True
        """
        y, sample_weight = self._targets_of(X, y, sample_weight)
        return float(super().score(X, y, sample_weight=sample_weight))

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield raw predictions after each iteration up to the best one.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows. A data frame needs only the columns that the model owns.

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            As :meth:`decision_function`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from frugalboost import GBFSClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> len(list(GBFSClassifier(max_iter=5).fit(X, y).staged_decision_function(X)))
        5
        """
        yield from self._staged_raw(X)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield probabilities after each iteration up to the best one.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows. A data frame needs only the columns that the model owns.

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
            As :meth:`predict_proba`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from frugalboost import GBFSClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> [p.shape for p in GBFSClassifier(max_iter=2).fit(X, y).staged_predict_proba(X)]
        [(150, 3), (150, 3)]
        """
        for raw in self._staged_raw(X):
            yield self._probabilities(raw)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield classes after each iteration up to the best one.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows. A data frame needs only the columns that the model owns.

        Yields
        ------
        ndarray of shape (n_samples,)
            As :meth:`predict`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from frugalboost import GBFSClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> errors = [(p != y).mean() for p in GBFSClassifier(max_iter=20).fit(X, y).staged_predict(X)]
        >>> bool(errors[-1] <= errors[0])
        True
        """
        for probabilities in self.staged_predict_proba(X):
            yield self.classes_[probabilities.argmax(axis=1)]

    def _probabilities(self, raw: Floats) -> Floats:
        p = np.asarray(self._loss.inverse_link(raw), dtype=np.float64)
        if p.ndim == 2:
            return p
        built_in = isinstance(self._loss, BuiltIn)
        return np.column_stack([self._loss.inverse_link(-raw) if built_in else 1.0 - p, p])


def _labels(y: NDArray[Any], part: _core.ThreadPart | None) -> NDArray[Any]:
    """The labels that rows of any part have, ascending."""
    found = of_all(np.unique(y), part)
    filled = [labels for labels in found if len(labels)] or found[:1]
    return np.unique(np.concatenate(filled))


def _weights_of_classes(class_weight: Any, y: NDArray[Any], part: _core.ThreadPart | None) -> Floats:
    """The weight of each row's class."""
    if part is None:
        return np.asarray(compute_sample_weight(class_weight, y), dtype=np.float64)
    labels = _labels(y, part)
    place = np.searchsorted(labels, y) if len(y) else np.zeros(0, dtype=np.intp)
    if isinstance(class_weight, str):  # "balanced"
        rows = np.sum(of_all(np.bincount(place, minlength=len(labels)), part), axis=0)
        weights = rows.sum() / (len(labels) * rows.astype(np.float64))
    else:
        weights = compute_class_weight(class_weight, classes=labels, y=labels)
    return np.asarray(weights, dtype=np.float64)[place]
