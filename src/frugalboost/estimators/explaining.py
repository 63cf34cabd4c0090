"""How fitted estimators are explained by other libraries."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

import frugalboost._support.slots as slots


class ExplainingMixin:
    """Estimators that shap explains."""

    def to_shap(self, *, features: str = "all") -> Any:
        """Return the model as ``shap.TreeExplainer`` takes it: :func:`frugalboost.export.to_shap`.

        Parameters
        ----------
        features : {"all", "selected"}, default="all"
            The columns of the table to explain: all, as ``predict`` takes them, or only those that were bought, as
            ``transform`` returns them.

        Returns
        -------
        dict or lightgbm.Booster
            The trees; a Booster where the table has categorical features.

        Examples
        --------
        >>> import shap
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = GBFSRegressor(mu=0.02, max_iter=50).fit(X, y)
        >>> shap.TreeExplainer(model.to_shap())(X).values.shape
        (442, 10)
        """
        check_is_fitted(self)
        return slots.to_shap(self, features=features)
