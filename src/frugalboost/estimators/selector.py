"""What all estimators that select columns share, for scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from frugalboost.tables.sources import as_batches


class Selector(SelectorMixin):  # type: ignore[misc]
    """Keeps the columns of ``support_``."""

    support_: NDArray[np.bool_]

    def transform(self, X: Any) -> Any:
        """Return only the columns that were selected.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray, data frame or sparse matrix
            The selected columns, in the order of the table, as ``set_output`` says.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> GBFSRegressor(budget=3, max_iter=20).fit(X, y).transform(X).shape
        (442, 3)
        """
        if as_batches(X, for_fit=False) is not None:
            raise TypeError("X is a file or comes in batches; transform needs a table in memory.")
        return super().transform(X)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags
