"""The estimators: validate, call, store."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, _fit_context
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state, compute_sample_weight
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from frugalboost import fitting, persistence
from frugalboost._docs import shared_descriptions
from frugalboost.boosting import Model, Rows
from frugalboost.costs import Costs, resolve_prices
from frugalboost.data import check_weights, check_X, check_y, check_y_classes
from frugalboost.losses import CLASSIFICATION, REGRESSION, BuiltIn, Loss, resolve_loss
from frugalboost.params import Params
from frugalboost.threads import threads_for

Floats = NDArray[np.float64]


class NothingBoughtWarning(UserWarning):
    """No feature was worth its price: the model is a constant.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor, NothingBoughtWarning
    >>> X, y = load_diabetes(return_X_y=True)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = GBFSRegressor(mu=1.0).fit(X, y)
    >>> caught[0].category is NothingBoughtWarning, model.n_features_selected_
    (True, 0)
    """


@contextmanager
def _unchanged_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """Bad input, or Ctrl-C, leaves an estimator as it was."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


class _GBFS(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """What classifier and regressor share."""

    mu: float
    mu_unit: str
    costs: Costs
    budget: float | None
    learning_rate: float
    max_iter: int
    max_depth: int | None
    min_samples_leaf: int
    l2_regularization: float
    max_bins: int
    loss: str | BuiltIn | Loss
    leaf_values: str
    init: str
    stop: str
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    tol: float
    warm_start: bool
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: int

    _losses: ClassVar[dict[str, type[BuiltIn]]]  # the built-in losses for this kind of target

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "mu": [Interval(Real, 0, None, closed="left")],
        "mu_unit": [StrOptions({"share", "absolute"})],
        "costs": ["array-like", HasMethods("items"), None],
        "budget": [Interval(Real, 0, None, closed="both"), None],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "l2_regularization": [Interval(Real, 0, None, closed="left")],
        "max_bins": [Interval(Integral, 2, 255, closed="both")],
        "leaf_values": [StrOptions({"newton", "gradient"})],
        "init": [StrOptions({"prior", "zero"})],
        "stop": [StrOptions({"paid", "never"})],
        "loss": [str, BuiltIn, HasMethods(["gradient", "curvature"])],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def _store(self, arguments: dict[str, Any]) -> None:
        """Set every parameter of ``__init__``, untouched, as scikit-learn wants it."""
        for name in self._get_param_names():
            setattr(self, name, arguments[name])

    # ------------------------------------------------------------------------------------------ fitting

    def _encoded_target(self, y: Any) -> Floats:
        raise NotImplementedError

    def _validation_rows(self, X_val: Any, y_val: Any, sample_weight_val: Any) -> Rows | None:
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val belong together: give both or neither.")
        if X_val is None:
            if sample_weight_val is not None:
                raise ValueError("sample_weight_val is given without X_val and y_val.")
            return None
        X_val = check_X(self, X_val, reset=False, what="X_val")
        check_consistent_length(X_val, y_val)
        return Rows(X_val, self._encoded_target(y_val), check_weights(sample_weight_val, X_val, "sample_weight_val"))

    def _fit_rows(self, train: Rows, validation: Rows | None, loss: BuiltIn | Loss, outputs: int) -> Self:
        memory = self._memory_of_last_fit(outputs)
        model, memory = fitting.run(self._job(loss, outputs), train, validation, memory)
        self._memory = memory
        self._publish(model)
        self._warn_if_nothing_bought(train)
        return self

    def _memory_of_last_fit(self, outputs: int) -> fitting.Memory | None:
        memory: fitting.Memory | None = getattr(self, "_memory", None) if self.warm_start else None
        if memory is None:
            return None
        if memory.model.ensemble.n_outputs != outputs or len(memory.model.prices) != self.n_features_in_:
            raise ValueError(
                "warm_start=True, but the table has another number of features or classes than the fitted model. "
                "Start anew with sklearn.base.clone(estimator)."
            )
        if memory.model.n_iterations > self.max_iter:
            raise ValueError(
                f"warm_start=True, and the model has {memory.model.n_iterations} iterations already; "
                f"max_iter={self.max_iter} must not be smaller."
            )
        return memory

    def _job(self, loss: BuiltIn | Loss, outputs: int) -> fitting.Job:
        if self.early_stopping and not (isinstance(loss, BuiltIn) or callable(getattr(loss, "value", None))):
            raise ValueError("early_stopping=True needs the loss of every row: give your loss a method 'value'.")
        names = getattr(self, "feature_names_in_", None)
        seed = check_random_state(self.random_state).randint(2**31 - 1) if self.early_stopping else 0
        return fitting.Job(
            params=self._params(),
            loss=loss,
            outputs=outputs,
            prices=resolve_prices(self.costs, self.n_features_in_, None if names is None else list(names)),
            budget=np.inf if self.budget is None else float(self.budget),
            max_bins=int(self.max_bins),
            validation_fraction=float(self.validation_fraction),
            stratify=isinstance(self, ClassifierMixin),
            seed=int(seed),
            remember=bool(self.warm_start),
            verbose=bool(self.verbose),
            threads=threads_for(self.n_jobs),
        )

    def _params(self) -> Params:
        return Params(
            mu=float(self.mu),
            mu_unit=self.mu_unit,
            learning_rate=float(self.learning_rate),
            max_iter=int(self.max_iter),
            max_depth=2**30 if self.max_depth is None else int(self.max_depth),
            min_samples_leaf=float(self.min_samples_leaf),
            l2_regularization=float(self.l2_regularization),
            leaf_values=self.leaf_values,
            init=self.init,
            stop=self.stop,
            early_stopping=bool(self.early_stopping),
            n_iter_no_change=int(self.n_iter_no_change),
            tol=float(self.tol),
        )

    def _publish(self, model: Model) -> None:
        """Set the fitted attributes; Omega is the one at the best iteration."""
        best = model.best_iteration
        bought = model.purchases
        self._model = model
        self.n_iter_ = model.n_iterations
        self.best_iteration_ = best
        self.stop_reason_ = model.ending
        self.mu_ = float(self.mu)
        self.mu_max_ = model.mu_max
        self.selected_features_ = model.bought_until(best).astype(np.intp)
        self.n_features_selected_ = len(self.selected_features_)
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[self.selected_features_] = True
        self.total_cost_ = float(model.curve.cost[best])
        self.feature_importances_ = model.ensemble.feature_gains(self.n_features_in_, best)
        when = [np.flatnonzero(bought.iteration == i) for i in range(model.n_iterations + 1)]
        self.history_ = {
            "iteration": list(range(model.n_iterations + 1)),
            "train_loss": model.curve.train_loss.tolist(),
            "validation_loss": model.curve.validation_loss.tolist(),
            "n_features": model.curve.n_features.tolist(),
            "price_paid": model.curve.cost.tolist(),
            "bought": [bought.feature[w].tolist() for w in when],
            "raw_gain": [bought.gain[w].tolist() for w in when],
        }

    def _warn_if_nothing_bought(self, train: Rows) -> None:
        total = len(train) if train.weights is None else float(train.weights.sum())
        if total < 2 * self.min_samples_leaf:
            what = "rows are" if train.weights is None else "of total weight is"
            message = (
                f"No split is possible: {total:g} {what} less than two leaves of "
                f"min_samples_leaf={self.min_samples_leaf}. Lower min_samples_leaf"
                f"{'' if train.weights is None else ' or rescale sample_weight'}."
            )
        elif self.best_iteration_ == 0:
            message = (
                "No iteration was better on the validation rows than a constant, so the model is a constant and "
                "nothing is selected. Are the validation rows like the training rows?"
            )
        elif self.n_features_selected_ == 0:
            message = (
                f"No feature was worth its price, so the model is a constant: mu={self.mu:g} with mu_unit="
                f"{self.mu_unit!r}; from mu_max_={self.mu_max_:.4g} on nothing is bought. Lower mu"
                f"{'' if self.budget is None else ', or raise budget'}."
            )
        else:
            return
        warnings.warn(message, NothingBoughtWarning, stacklevel=5)  # the line that called fit

    # --------------------------------------------------------------------------------------- predicting

    def _raw(self, X: Any) -> Floats:
        """Raw predictions: a vector, or one column per class for more than two classes."""
        check_is_fitted(self)
        X = check_X(self, X, reset=False)
        return _by_rows(self._model.ensemble.raw(X, self.best_iteration_, threads_for(self.n_jobs)))

    def _staged_raw(self, X: Any) -> Iterator[Floats]:
        check_is_fitted(self)
        X = check_X(self, X, reset=False)
        for raw in self._model.ensemble.staged_raw(X, self.best_iteration_, threads_for(self.n_jobs)):
            yield _by_rows(raw.copy())

    @property
    def _loss(self) -> BuiltIn | Loss:
        return resolve_loss(self.loss, self._losses)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        support: NDArray[np.bool_] = self.support_
        return support

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = False
        tags.target_tags.required = True
        return tags

    # ------------------------------------------------------------------------------------------ on disk

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file: arrays and JSON, nothing that runs.

        Parameters
        ----------
        path : str or path
            Where to write. An existing file is replaced.

        Examples
        --------
        >>> import tempfile, os
        >>> from sklearn.datasets import load_diabetes
        >>> import frugalboost
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = frugalboost.GBFSRegressor(max_iter=10).fit(X, y)
        >>> path = os.path.join(tempfile.mkdtemp(), "model.frugal")
        >>> model.save(path)
        >>> bool((frugalboost.load(path).predict(X) == model.predict(X)).all())
        True
        """
        check_is_fitted(self)
        persistence.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, loss: Any = None) -> Self:
        """Read a model that ``save`` wrote. Nothing in the file is run.

        Parameters
        ----------
        path : str or path
            The file.
        loss : object, default=None
            The loss object, for a model that was fitted with one of your own; a file can't hold it.

        Returns
        -------
        estimator
            Fitted, as it was saved.

        Examples
        --------
        See :meth:`save`.
        """
        estimator = persistence.load(path, loss=loss)
        if not isinstance(estimator, cls):
            raise persistence.ModelFileError(
                f"{os.fspath(path)} holds a {type(estimator).__name__}, not a {cls.__name__}."
            )
        return estimator


def _by_rows(raw: Floats) -> Floats:
    """From one row per output to what users expect."""
    return raw[0] if len(raw) == 1 else np.ascontiguousarray(raw.T)


@shared_descriptions(
    loss="""\
loss : {"log_loss"} or object, default="log_loss"
    "log_loss" for two or more classes, or an object as described in :mod:`frugalboost.losses`.""",
    more="""\
class_weight : dict, "balanced" or None, default=None
    Weights of the classes, multiplied with ``sample_weight``.""",
    attributes="""\
classes_ : ndarray
    The class labels.
""",
)
class GBFSClassifier(ClassifierMixin, _GBFS):  # type: ignore[misc]
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
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_GBFS._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }
    class_weight: dict[Any, float] | str | None

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
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_bins: int = 255,
        loss: str | BuiltIn | Loss = "log_loss",
        leaf_values: str = "newton",
        init: str = "prior",
        stop: str = "paid",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        tol: float = 0.0,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers; NaN is a value of its own, whose side of a split is learned.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of k counts as k equal rows.
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
        with _unchanged_on_error(self):
            loss = self._loss
            X = check_X(self, X, reset=True)
            y = check_y_classes(y)
            check_consistent_length(X, y)
            previous = getattr(self, "classes_", None) if self.warm_start else None
            self.classes_ = np.unique(y) if previous is None else previous
            if len(self.classes_) < 2:
                raise ValueError(
                    f"y has only one class, {self.classes_.tolist()[0]!r}; a classifier needs at least two classes."
                )
            weights = self._weights(X, y, sample_weight)
            validation = self._validation_rows(X_val, y_val, sample_weight_val)
            outputs = 1 if len(self.classes_) == 2 else len(self.classes_)
            return self._fit_rows(Rows(X, self._encoded_target(y), weights), validation, loss, outputs)

    def _weights(self, X: NDArray[np.generic], y: NDArray[Any], sample_weight: ArrayLike | None) -> Floats | None:
        weights = check_weights(sample_weight, X)
        if self.class_weight is not None:
            by_class = compute_sample_weight(self.class_weight, y)
            weights = check_weights(by_class if weights is None else by_class * weights, X)
        if weights is not None and len(np.unique(y[weights > 0])) < 2:
            raise ValueError("Only one class has rows with a positive weight; a classifier needs at least two classes.")
        return weights

    def _encoded_target(self, y: Any) -> Floats:
        """Class numbers; labels that fit did not see are an error."""
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
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

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
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

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
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

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

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield raw predictions after each iteration up to the best one; see :meth:`decision_function`."""
        yield from self._staged_raw(X)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield probabilities after each iteration up to the best one; see :meth:`predict_proba`."""
        for raw in self._staged_raw(X):
            yield self._probabilities(raw)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield classes after each iteration up to the best one; see :meth:`predict`."""
        for probabilities in self.staged_predict_proba(X):
            yield self.classes_[probabilities.argmax(axis=1)]

    def _probabilities(self, raw: Floats) -> Floats:
        p = np.asarray(self._loss.inverse_link(raw), dtype=np.float64)
        return np.column_stack([1.0 - p, p]) if p.ndim == 1 else p


@shared_descriptions(
    loss="""\
loss : {"squared_error", "absolute_error", "huber", "quantile", "poisson"} or object, default="squared_error"
    A name, one of the objects in :mod:`frugalboost.losses` where a parameter is wanted (``Quantile(0.9)``,
    ``Huber(delta=2)``), or an object of your own as described there.""",
)
class GBFSRegressor(RegressorMixin, _GBFS):  # type: ignore[misc]
    """Boosted trees for regression that pay for each feature once, when a tree first splits on it.

    Parameters
    ----------
    <parameters>

    Attributes
    ----------
    <attributes>

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = GBFSRegressor(mu=0.02, max_iter=100).fit(X, y)
    >>> [str(X.columns[j]) for j in model.selected_features_]
    ['s5', 'bmi']
    """

    _losses = REGRESSION

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
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_bins: int = 255,
        loss: str | BuiltIn | Loss = "squared_error",
        leaf_values: str = "newton",
        init: str = "prior",
        stop: str = "paid",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        tol: float = 0.0,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers; NaN is a value of its own, whose side of a split is learned.
        y : array-like of shape (n_samples,)
            Numbers to predict.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of k counts as k equal rows.
        X_val, y_val : default=None
            Rows for the validation loss, instead of setting some aside.
        sample_weight_val : array-like, default=None
            Their weights.

        Returns
        -------
        self
            The fitted regressor.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> GBFSRegressor(budget=3, max_iter=20).fit(X, y).n_features_selected_
        3
        """
        with _unchanged_on_error(self):
            loss = self._loss
            X = check_X(self, X, reset=True)
            target = self._encoded_target(y)
            check_consistent_length(X, target)
            weights = check_weights(sample_weight, X)
            validation = self._validation_rows(X_val, y_val, sample_weight_val)
            if isinstance(loss, BuiltIn):
                loss.check_target(target if weights is None else target[weights > 0])
            return self._fit_rows(Rows(X, target, weights), validation, loss, 1)

    def _encoded_target(self, y: Any) -> Floats:
        return check_y(y)

    def predict(self, X: Any) -> Floats:
        """Return predictions.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions, in the units of y.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> GBFSRegressor(max_iter=20).fit(X, y).predict(X).shape
        (442,)
        """
        return self._predictions(self._raw(X))

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield predictions after each iteration up to the best one; see :meth:`predict`."""
        for raw in self._staged_raw(X):
            yield self._predictions(raw)

    def _predictions(self, raw: Floats) -> Floats:
        return np.asarray(self._loss.inverse_link(raw), dtype=np.float64)
