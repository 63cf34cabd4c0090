"""Raw predictions of fitted estimators, also batch by batch or after each iteration, and what predictions cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from frugalboost import _core
from frugalboost._support.threads import threads_for
from frugalboost.costs import Costs, Resolved, resolve
from frugalboost.tables import Levels, Table
from frugalboost.tables.batched import BatchedTable
from frugalboost.tables.checking import check_X
from frugalboost.tables.reading import Targets
from frugalboost.tables.sources import as_batches
from frugalboost.training.model import Model

Floats = NDArray[np.float64]


class PredictingMixin:
    """Raw predictions of a model; the estimators turn them into classes or numbers."""

    _model: Model
    best_iteration_: int
    n_features_in_: int
    support_: NDArray[np.bool_]
    n_jobs: int | None
    costs: Costs
    _raw_at_hand: tuple[Any, Floats] | None = None  # rows whose raw predictions are known, and these

    def _raw(self, X: Any) -> Floats:
        """Raw predictions: a vector, or one column per class for more than two classes."""
        check_is_fitted(self)
        if self._raw_at_hand is not None and X is self._raw_at_hand[0]:
            return _by_rows(self._raw_at_hand[1])
        batches = None if isinstance(X, Table) else as_batches(X, for_fit=False)
        if batches is not None:
            parts = [self._raw(batch.X) for batch in batches.read(self._columns_to_read())]
            if not parts:
                raise ValueError("X has no rows: there is nothing to predict from.")
            return np.concatenate(parts)
        table = check_X(self, X, reset=False)
        if isinstance(table, BatchedTable):
            raw = np.empty((self._model.ensemble.n_outputs, len(table)))
            for piece, places in table.pieces("predicting"):
                raw[:, places] = self._raw_of(piece)
            return _by_rows(raw)
        return _by_rows(self._raw_of(table))

    def _raw_of(self, table: Table) -> Floats:
        values = table.source(self._model.levels)
        return self._model.ensemble.raw(values, self.best_iteration_, threads_for(self.n_jobs))

    def _targets_of(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
        """Targets and weights for a score; from the files or batches of X, if they are there."""
        batches = as_batches(X, y, sample_weight)
        if batches is None:
            return y, sample_weight
        names = self._columns_to_read() if batches.can_choose_columns else None
        targets = Targets("X")
        for number, batch in enumerate(batches.read(names)):
            targets.add(number, batch)
        return targets.joined()

    def _columns_to_read(self) -> list[str] | None:
        """Names of the columns that predictions need, if columns have names; at least one, to count rows."""
        names = self._names()
        return None if names is None else [n for n, s in zip(names, self.support_, strict=True) if s] or [names[0]]

    def _staged_raw(self, X: Any) -> Iterator[Floats]:
        check_is_fitted(self)
        values = self._values(X)
        for raw in self._model.ensemble.staged_raw(values, self.best_iteration_, threads_for(self.n_jobs)):
            yield _by_rows(raw.copy())

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the leaf that each row falls into, in every tree that predictions use.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows. A data frame needs only the columns that the model owns.

        Returns
        -------
        ndarray of shape (n_samples, n_iterations), or (n_samples, n_iterations, n_classes) for more than two classes
            The number of the leaf among the nodes of its tree, which are counted from 0, the root, level by level. A
            tree that was not split has one node, 0, and so has a line.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from frugalboost import GBFSClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = GBFSClassifier(mu=0.01, max_iter=10, max_depth=2).fit(X, y)
        >>> leaves = model.apply(X)
        >>> leaves.shape, int(leaves.max())
        ((150, 10, 3), 6)
        """
        check_is_fitted(self)
        leaves = self._model.ensemble.leaves(self._values(X), self.best_iteration_, threads_for(self.n_jobs))
        return leaves[:, :, 0] if leaves.shape[2] == 1 else leaves

    def _values(self, X: Any) -> _core.Source:
        """A table's values as the trees look at them."""
        if not isinstance(X, Table) and as_batches(X, for_fit=False) is not None:
            raise TypeError("X is a file or comes in batches; this method needs a table in memory.")
        return check_X(self, X, reset=False).source(self._model.levels)

    @property
    def _levels(self) -> dict[int, Levels]:
        """Of each categorical feature its levels and their bins."""
        return dict(self._model.levels)

    def _names(self) -> tuple[str, ...] | None:
        return tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None

    def _costs(self) -> Resolved:
        return resolve(self.costs, self.n_features_in_, self._names())

    def prediction_cost(self, X: Any) -> Floats:
        """Return what each row's prediction costs if a feature is fetched only when a tree looks at it, or a line.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The total cost, by the rules of ``costs``, of the features that the row's paths look at. If a function sets
            prices, those paid in training are added up.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = GBFSRegressor(max_iter=3, costs=[5.0] + [1.0] * 9).fit(X, y)
        >>> bool((model.prediction_cost(X) <= model.total_cost_).all())
        True
        """
        check_is_fitted(self)
        threads = threads_for(self.n_jobs)
        return self._model.prediction_costs(self._values(X), self._costs(), self.best_iteration_, threads)[0]


def _by_rows(raw: Floats) -> Floats:
    """From one row per output to one row per sample, as in scikit-learn."""
    return raw[0] if len(raw) == 1 else np.ascontiguousarray(raw.T)
