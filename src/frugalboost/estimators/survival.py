"""The estimator for times until an event: validate, call, store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.utils.validation import check_consistent_length, check_is_fitted

import frugalboost.estimators.saving as saving
from frugalboost.costs import Costs
from frugalboost.estimators.base import GBFSBase, unchanged_on_error
from frugalboost.estimators.docstrings import described
from frugalboost.losses import SURVIVAL, BuiltIn, Loss, exp
from frugalboost.selection.concordance import concordance
from frugalboost.tables.reading import read_table
from frugalboost.tables.sample import Sample
from frugalboost.tables.survival import check_y_survival
from frugalboost.tables.targets import check_weights, positive_weight, with_mean_one
from frugalboost.training.parameters import SURVIVAL as KIND
from frugalboost.training.parameters import constraints

Floats = NDArray[np.float64]


@saving.savable
@described(
    KIND,
    attributes="""\
event_times_ : ndarray
    The times of events in training, ascending.
baseline_hazard_ : ndarray
    The cumulative hazard at these times of a row whose prediction is 0, by Breslow's estimator.
""",
)
class GBFSSurvival(GBFSBase):
    """Boosted trees for times until an event (Cox's model) that pay for each feature once.

    Parameters
    ----------
    <parameters>

    Attributes
    ----------
    <attributes>

    Examples
    --------
    >>> import numpy as np
    >>> from frugalboost import GBFSSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 8))
    >>> time = rng.exponential(np.exp(-X[:, 2])) + 0.01
    >>> watched = rng.exponential(2.0, size=300) + 0.01
    >>> y = np.where(time <= watched, time, -watched)  # negative: watched so long without an event
    >>> model = GBFSSurvival(mu=0.1, max_iter=50).fit(X, y)
    >>> model.selected_features_, round(model.score(X, y), 2)
    (array([2]), 0.78)
    """

    _losses = SURVIVAL
    _parameter_constraints: ClassVar[dict[str, Any]] = constraints(KIND)
    _score_name = "concordance"
    _baseline: tuple[Floats, Floats] | None

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
        base: str = "auto",
        line_scale: str = "values",
        min_samples_leaf: float = 20,
        l2_regularization: float = 0.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        bins_folder: str | os.PathLike[str] | None = None,
        loss: str | BuiltIn | Loss = "cox",
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
            Times until the event, positive. A row that was watched until a time without an event has that time with a
            minus sign, as for XGBoost. Or a structured array of two fields, whether there was an event (bool) and the
            time, as in scikit-survival. The name of the column of signed times, where X is read from files; None, where
            it comes in batches.
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
            The fitted estimator.

        Examples
        --------
        See the class.
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
        _ = self._loss  # an error comes before anything is read
        X, y, sample_weight = read_table(self, X, y, sample_weight, reset=True)
        target = self._encoded_target(y)
        check_consistent_length(X, target)
        weights = with_mean_one(check_weights(sample_weight, X))
        if not ((target if weights is None else target[positive_weight(weights)]) > 0).any():
            raise ValueError("y has no event: all rows were only watched. At least one event is needed.")
        validation = self._validation_sample(X_val, y_val, sample_weight_val)
        return Sample(X, target, weights), validation

    def _encoded_target(self, y: Any) -> Floats:
        return check_y_survival(y)

    def _fit_checked(self, train: Sample, validation: Sample | None = None) -> Self:
        super()._fit_checked(train, validation)
        self._set_baseline(*self._baseline_of(train))
        return self

    def _baseline_of(self, rows: Sample) -> tuple[Floats, Floats]:
        """Times of events, and Breslow's estimate of the cumulative hazard for a raw prediction of 0."""
        weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        raw, time = self._raw(rows.X), np.abs(rows.y)
        order = np.lexsort((weights, raw, time))  # sums do not depend on the order of rows
        at_risk = np.cumsum((weights * exp(raw))[order][::-1])[::-1]
        times, first = np.unique(time[order], return_index=True)
        happened = np.add.reduceat(np.where(rows.y > 0, weights, 0.0)[order], first)
        some = happened > 0
        return times[some], np.cumsum(happened[some] / at_risk[first[some]])

    def _set_baseline(self, times: Floats, hazard: Floats) -> None:
        self.event_times_, self.baseline_hazard_ = times, hazard

    def predict(self, X: Any) -> Floats:
        """Return the logarithm of the hazard ratio: higher means an earlier event.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows. A data frame needs only the columns that the model owns. Or a path, an Arrow dataset or batches.

        Returns
        -------
        ndarray of shape (n_samples,)
            Risks, as in scikit-survival: the raw predictions. Their exponentials are what XGBoost predicts.

        Examples
        --------
        See the class.
        """
        return self._raw(X)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield predictions after each iteration up to the best one.

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
        See the class.
        """
        yield from self._staged_raw(X)

    def predict_cumulative_hazard_function(self, X: Any, times: ArrayLike | None = None) -> Floats:
        """Return the cumulative hazard of every row at some times.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        times : array-like, default=None
            At which times; None is ``event_times_``.

        Returns
        -------
        ndarray of shape (n_samples, n_times)
            Breslow's baseline times the hazard ratio; it rises at the times of events in training only.

        Examples
        --------
        See :meth:`predict_survival_function`.
        """
        check_is_fitted(self)
        if not hasattr(self, "event_times_"):
            raise ValueError("Only a model that was fitted by itself knows the baseline; this one comes from a path.")
        at = self.event_times_ if times is None else np.asarray(times, dtype=np.float64)
        if at.ndim != 1 or np.isnan(at).any():
            raise ValueError("times must be a list of numbers.")
        known = np.concatenate([[0.0], self.baseline_hazard_])
        base = known[np.searchsorted(self.event_times_, at, side="right")]
        found: Floats = exp(self._raw(X))[:, None] * base
        return found

    def predict_survival_function(self, X: Any, times: ArrayLike | None = None) -> Floats:
        """Return the probability that a row has had no event until some times.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        times : array-like, default=None
            At which times; None is ``event_times_``.

        Returns
        -------
        ndarray of shape (n_samples, n_times)
            Probabilities. Beyond the last time in training they stay what they were there.

        Examples
        --------
        >>> import numpy as np
        >>> from frugalboost import GBFSSurvival
        >>> X = np.repeat([[0.0], [1.0]], 50, axis=0)
        >>> y = np.random.default_rng(0).exponential(np.where(X[:, 0] == 1, 1.0, 5.0)) + 0.01
        >>> model = GBFSSurvival(max_iter=50).fit(X, y)
        >>> model.predict_survival_function([[0.0], [1.0]], times=[1.0, 2.0]).round(2)
        array([[0.84, 0.76],
               [0.45, 0.27]])
        """
        return exp(-self.predict_cumulative_hazard_function(X, times))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return Harrell's concordance index: 1 is best, 0.5 what chance gives.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix, path, Arrow dataset or batches
            The rows.
        y : array-like of shape (n_samples,), or str
            As in :meth:`fit`.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            A pair of rows counts the product of their weights.

        Returns
        -------
        float
            Of all pairs in which one row's event came before the other row's time, the share in which that row has the
            higher prediction; equal predictions count as half.

        Examples
        --------
        See the class.
        """
        y, sample_weight = self._targets_of(X, y, sample_weight)
        target, risk = check_y_survival(y), self.predict(X)
        check_consistent_length(risk, target)
        return concordance(target, risk, check_weights(sample_weight, risk))
