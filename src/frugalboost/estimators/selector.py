"""What all estimators that select columns share, for scikit-learn."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_array, check_is_fitted

from frugalboost.tables import frames
from frugalboost.tables.by_name import check_names, in_order, places_by_name, taken
from frugalboost.tables.sources import as_batches


class Selector(SelectorMixin):  # type: ignore[misc]
    """Keeps the columns of ``support_``."""

    support_: NDArray[np.bool_]

    def transform(self, X: Any) -> Any:
        """Return only the columns that were selected.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows. Of a data frame only the selected columns are needed; others are ignored.

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
        check_is_fitted(self)
        places = places_by_name(self, X)
        if places is None or not self._get_support_mask().any():
            if frames.as_frame(X, "X") is not None:
                check_names(self, X, reset=False)
            return super().transform(X)
        chosen = taken(X, places, self._get_support_mask())
        if (
            nw.dependencies.is_pandas_dataframe(chosen)
            and _get_output_config("transform", estimator=self)["dense"] != "default"
        ):
            return chosen
        return check_array(chosen, dtype=None, ensure_all_finite=False)

    def in_order(self, X: Any) -> Any:
        """Return a data frame with its columns in the order of the fit, without those that the fit did not know.

        Methods find columns by name where a table has more or fewer columns than the one of the fit. One with the same
        columns in another order they refuse, as scikit-learn asks for; ``predict(in_order(X))`` accepts it. Columns
        that the model does not need may be missing.

        Parameters
        ----------
        X : data frame
            Of any library.

        Returns
        -------
        data frame
            Of the same library.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = GBFSRegressor(max_iter=20).fit(X, y)
        >>> turned = X[X.columns[::-1]]
        >>> bool((model.predict(model.in_order(turned)) == model.predict(X)).all())
        True
        """
        check_is_fitted(self)
        return in_order(self, X)

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
