"""The regressor: validate, call, store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils.validation import check_consistent_length

import frugalboost.estimators.saving as saving
from frugalboost import _core
from frugalboost.costs import Costs
from frugalboost.estimators.base import GBFSBase, unchanged_on_error
from frugalboost.estimators.docstrings import described
from frugalboost.losses import REGRESSION, BuiltIn, Loss
from frugalboost.tables import Table
from frugalboost.tables.reading import read_table
from frugalboost.tables.sample import Sample
from frugalboost.tables.targets import check_weights, check_y, columns_of, extremes, positive_weight, with_mean_one
from frugalboost.training.parameters import REGRESSOR, constraints

Floats = NDArray[np.float64]


@saving.savable
@described(
    REGRESSOR,
    attributes="""\
n_outputs_ : int
    The number of columns of y.
""",
)
class GBFSRegressor(RegressorMixin, GBFSBase):  # type: ignore[misc]
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

    n_outputs_: int
    _losses = REGRESSION
    _parameter_constraints: ClassVar[dict[str, Any]] = constraints(REGRESSOR)

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
        loss: str | BuiltIn | Loss = "squared_error",
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
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), or str
            Numbers to predict; with several columns, one model predicts all of them from the same features. The name of
            their column, where X is read from files; None, where it comes in batches.
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
            The fitted regressor.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> GBFSRegressor(budget=3, max_iter=20).fit(X, y).n_features_selected_
        3
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
        loss = self._loss  # an error comes before anything is read
        train = self._sample(*read_table(self, X, y, sample_weight, reset=True))
        validation = self._validation_sample(X_val, y_val, sample_weight_val)
        if validation is not None and validation.y.shape[1:] != train.y.shape[1:]:
            raise ValueError(f"y_val has {len(columns_of(validation.y))} column(s), and y has {self.n_outputs_}.")
        if isinstance(loss, BuiltIn) and validation is not None:
            loss.check_domain(validation.y, "y_val")
        return train, validation

    def _sample(self, X: Table, y: Any, sample_weight: Any, part: _core.ThreadPart | None = None) -> Sample:
        target = self._encoded_target(y) if part is None else check_y(y, part)
        loss = self._loss
        check_consistent_length(X, target)
        self.n_outputs_ = len(columns_of(target))
        weights = with_mean_one(check_weights(sample_weight, X, part=part), part)
        if isinstance(loss, BuiltIn):
            for column in columns_of(target if weights is None else target[positive_weight(weights, part)]):
                loss.check_target(column if part is None else extremes(column, part))
        return Sample(X, target, weights)

    @property
    def _outputs(self) -> int:
        """One for each column of y."""
        return int(getattr(self, "n_outputs_", 1))  # pickles of earlier versions lack it

    def _no_common_trend(self) -> str:
        return (
            f"monotonic_cst is for one target, and y has {self._outputs} columns, of which each may go another way. "
            "Leave it out, or fit each column by itself."
        )

    def __sklearn_tags__(self) -> Any:
        """Several columns of y are allowed."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _encoded_target(self, y: Any) -> Floats:
        return check_y(y)

    def predict(self, X: Any) -> Floats:
        """Return predictions.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows. A data frame needs only the columns that the model owns. Or a path, an Arrow dataset or batches.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
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

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of y's variance that is explained, R2; of several columns the mean over them.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix, path, Arrow dataset or batches
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), or str
            As in :meth:`fit`.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            As in :meth:`fit`.

        Returns
        -------
        float
            The score.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> GBFSRegressor(max_iter=20).fit(X, y).score(X, y) > 0.5
        True
        """
        y, sample_weight = self._targets_of(X, y, sample_weight)
        return float(super().score(X, y, sample_weight=sample_weight))

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield predictions after each iteration up to the best one.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows. A data frame needs only the columns that the model owns.

        Yields
        ------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            As :meth:`predict`.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> len(list(GBFSRegressor(max_iter=5).fit(X, y).staged_predict(X)))
        5
        """
        for raw in self._staged_raw(X):
            yield self._predictions(raw)

    def _predictions(self, raw: Floats) -> Floats:
        return np.asarray(self._loss.inverse_link(raw), dtype=np.float64)
