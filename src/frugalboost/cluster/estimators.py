"""The public classes: the ordinary estimators, fitted on Dask collections by the workers of a cluster."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, Self

import numpy as np
from distributed import Client

from frugalboost.cluster.driver import ClusterFit, client_for
from frugalboost.cluster.part import AskedPrices, Job
from frugalboost.cluster.partitions import Partitions, kind_of, partitions_of
from frugalboost.cluster.predictions import lazily, scored, selected
from frugalboost.costs import Cost, Function, Sum
from frugalboost.costs.resolve import has_row_prices
from frugalboost.estimators.base import GBFSBase, unchanged_on_error
from frugalboost.estimators.classifier import GBFSClassifier
from frugalboost.estimators.fitted import publish, warn_if_nothing_bought
from frugalboost.estimators.regressor import GBFSRegressor
from frugalboost.losses import BuiltIn
from frugalboost.training.params import Params

_OURS = ("_client", "cluster_")  # attributes that the ordinary estimators lack


class OnCluster(GBFSBase):
    """What both classes share: a fit on a cluster, and predictions of Dask collections."""

    _local: type[GBFSBase]  # the ordinary class
    _client: Client | None = None
    cluster_: dict[str, Any]

    @property
    def client(self) -> Client | None:
        """The Dask client; None: the current one when ``fit`` is called."""
        return self._client

    @client.setter
    def client(self, client: Client | None) -> None:
        self._client = client

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k != "_client"}

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Fit the model on the workers of a cluster.

        Parameters
        ----------
        X : dask.dataframe, dask.array, list of delayed, or path
            A table of shape (n_samples, n_features) in partitions. Or a Parquet file, or a folder of them, that all
            workers can read.
        y : dask series, dask.array, list of delayed, or str
            Targets, divided as X is. The name of their column, where X is read from files.
        sample_weight : as y, default=None
            Weights of rows.
        X_val, y_val, sample_weight_val : as X, y and sample_weight, default=None
            Rows for the validation loss, instead of setting some aside.

        Returns
        -------
        self
            The fitted estimator.

        Examples
        --------
        See the guide, `More than one machine`.
        """
        with unchanged_on_error(self):
            self._validate_params()
            _refuse_what_is_missing(self)
            client = client_for(self._client)
            train = partitions_of(X, y, sample_weight, self.categorical_features)
            validation = self._validation_partitions(X_val, y_val, sample_weight_val)
            costs, functions = _without_functions(self.costs)
            estimator = _plain_copy(self, self._local).set_params(
                costs=costs, callbacks=None, random_state=0, verbose=0
            )
            job = Job(
                f"fit-{uuid.uuid4().hex[:12]}",
                estimator,
                Params.from_estimator(self),
                train,
                validation,
                bool(self.verbose),
            )
            running = ClusterFit(client, job, functions)
            outcome = running.run()
            for name, value in outcome.attributes.items():
                setattr(self, name, value)
            if "feature_names_in_" not in outcome.attributes and hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            self._warm_start = outcome.warm
            publish(self, outcome.result)
            self._fitted_on, self._forms = outcome.fitted_on, None
            self.cluster_ = asdict(running.report)
            warn_if_nothing_bought(self, weighted=outcome.fitted_on[3] is not None)
        return self

    def _checked(self, *rows: Any, **more: Any) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__} has no other fit than its method fit: paths, cross-validation, stability selection "
            f"and reports run on one machine. Use {self._local.__name__} there, or to_local()."
        )

    def _raw(self, X: Any) -> Any:
        _refuse_collections(X)
        return super()._raw(X)

    def _values(self, X: Any) -> Any:
        _refuse_collections(X)
        return super()._values(X)

    def _validation_partitions(self, X: Any, y: Any, weights: Any) -> Partitions | None:
        if X is None:
            if y is not None:
                raise ValueError("X_val and y_val belong together: give both, or give neither.")
            if weights is not None:
                raise ValueError("sample_weight_val is given without X_val and y_val.")
            return None
        if y is None:
            raise ValueError("X_val and y_val belong together: give both, or give neither.")
        return partitions_of(X, y, weights, None, "X_val")

    def to_local(self) -> Any:
        """Return the ordinary estimator, which needs no Dask, with the same parameters and model.

        Returns
        -------
        GBFSClassifier or GBFSRegressor
            Fitted, if this estimator is.

        Examples
        --------
        >>> from frugalboost.dask import DaskGBFSRegressor
        >>> DaskGBFSRegressor(max_iter=20).to_local()
        GBFSRegressor(max_iter=20)
        """
        return _plain_copy(self, self._local)

    def transform(self, X: Any) -> Any:
        """Return the selected columns, as lazy as X is.

        Parameters
        ----------
        X : Dask collection, list of delayed, or any table
            The rows.

        Returns
        -------
        of the kind of X
            Their selected columns.

        Examples
        --------
        See the guide, `More than one machine`.
        """
        return selected(X, self.get_support(), self.to_local(), super().transform)

    def predict(self, X: Any) -> Any:
        """Return predictions, as lazy as X is.

        Parameters
        ----------
        X : Dask collection, list of delayed, or any table
            The rows.

        Returns
        -------
        dask series, dask.array, list of delayed, or ndarray
            Of a Dask dataframe a series with its index.

        Examples
        --------
        See the guide, `More than one machine`.
        """
        return self._lazily("predict", X, getattr(self, "classes_", np.zeros(0)).dtype)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the score of the ordinary estimator, accuracy or R2, added up partition by partition.

        Parameters
        ----------
        X, y, sample_weight : as in :meth:`fit`, or a table in memory with its targets
            The rows.

        Returns
        -------
        float
            The score.

        Examples
        --------
        See the guide, `More than one machine`.
        """
        local = self.to_local()
        if kind_of(X) is None:
            return float(local.score(X, y, sample_weight))
        return scored(local, partitions_of(X, y, sample_weight, None))

    def _lazily(self, method: str, X: Any, dtype: Any, width: int | None = None) -> Any:
        return lazily(self.to_local(), method, X, dtype, width)


class DaskGBFSClassifier(OnCluster, GBFSClassifier):
    """:class:`~frugalboost.GBFSClassifier`, fitted on Dask collections by the workers of a cluster.

    The parameters are those of `GBFSClassifier`, and the model has the same bytes as one fitted on one machine, for any
    number of workers and partitions. ``n_jobs=None`` uses the threads of each worker.

    Attributes
    ----------
    client : dask.distributed.Client or None
        The cluster; None: the current client.
    cluster_ : dict
        What the fit took: workers, messages between them, and bytes in these.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from sklearn.datasets import load_breast_cancer
    >>> from frugalboost.dask import DaskGBFSClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
    ...     model = DaskGBFSClassifier(mu=0.02, max_iter=20)
    ...     model = model.fit(da.from_array(X, chunks=(200, -1)), da.from_array(y, chunks=200))
    >>> model.selected_features_
    array([20, 27, 21])
    """

    _local = GBFSClassifier

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of every class, as lazy as X is.

        Parameters
        ----------
        X : Dask collection, list of delayed, or any table
            The rows.

        Returns
        -------
        dask.array, list of delayed, or ndarray, of shape (n_samples, n_classes)
            Probabilities, columns in the order of ``classes_``.

        Examples
        --------
        See the guide, `More than one machine`.
        """
        return self._lazily("predict_proba", X, np.float64, len(self.classes_))

    def decision_function(self, X: Any) -> Any:
        """Return raw predictions, as lazy as X is.

        Parameters
        ----------
        X : Dask collection, list of delayed, or any table
            The rows.

        Returns
        -------
        dask series, dask.array, list of delayed, or ndarray
            The log odds of the second class, or one column per class for more than two.

        Examples
        --------
        See the guide, `More than one machine`.
        """
        return self._lazily("decision_function", X, np.float64, len(self.classes_) if len(self.classes_) > 2 else None)


class DaskGBFSRegressor(OnCluster, GBFSRegressor):
    """:class:`~frugalboost.GBFSRegressor`, fitted on Dask collections by the workers of a cluster.

    The parameters are those of `GBFSRegressor`, and the model has the same bytes as one fitted on one machine, for any
    number of workers and partitions. ``n_jobs=None`` uses the threads of each worker.

    Attributes
    ----------
    client : dask.distributed.Client or None
        The cluster; None: the current client.
    cluster_ : dict
        What the fit took: workers, messages between them, and bytes in these.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost.dask import DaskGBFSRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
    ...     model = DaskGBFSRegressor(mu=0.02, max_iter=100)
    ...     model = model.fit(da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100))
    >>> model.selected_features_
    array([8, 2])
    """

    _local = GBFSRegressor


def _refuse_collections(X: Any) -> None:
    """Raise TypeError rather than bring all rows to one machine unasked."""
    if kind_of(X) is not None:
        raise TypeError(
            "X is a Dask collection, and this method is not lazy. Compute a part of it first, or use map_partitions "
            "with to_local()."
        )


def _plain_copy(estimator: Any, cls: type[GBFSBase]) -> Any:
    """An ordinary estimator with the same parameters and fitted attributes."""
    copy = cls(**estimator.get_params(deep=False))
    copy.__dict__.update({k: v for k, v in vars(estimator).items() if k not in _OURS})
    return copy


def _refuse_what_is_missing(estimator: Any) -> None:
    """Raise NotImplementedError for what a cluster can't do yet; nothing is done on one machine instead."""
    asked = {
        "n_features_to_select": estimator.n_features_to_select is not None,
        "refit": bool(estimator.refit),
        "average": estimator.average > 1,
        "scoring": estimator.scoring is not None,
        "callbacks": bool(estimator.callbacks),
        f"device={estimator.device!r}": estimator.device != "cpu",
        "costs=PerRow(...)": has_row_prices(estimator.costs),
    }
    for name, given in asked.items():
        if given:
            raise NotImplementedError(
                f"{name} does not work on a cluster yet. Select features there with mu or budget; then fit "
                f"{estimator._local.__name__} with {name} on the selected columns, on one machine."
            )
    if not isinstance(estimator._loss, BuiltIn):
        raise NotImplementedError(
            f"loss={estimator._loss!r} is an object of your own, whose start is found from all rows at once; on a "
            "cluster the built-in losses work."
        )


def _without_functions(costs: Any) -> tuple[Any, Sequence[Callable[..., Any]]]:
    """Prices in which users' functions are replaced by questions to this process, and the functions."""
    functions: list[Callable[..., Any]] = []

    def replaced(cost: Any) -> Any:
        if isinstance(cost, Sum):
            return replace(cost, terms=tuple(replaced(term) for term in cost.terms))
        if isinstance(cost, Function):
            functions.append(cost.phi)
            return replace(cost, phi=AskedPrices(len(functions) - 1, repr(cost.phi)))
        if callable(cost) and not isinstance(cost, Cost | type):
            functions.append(cost)
            return AskedPrices(len(functions) - 1, repr(cost))
        return cost

    return replaced(costs), functions
