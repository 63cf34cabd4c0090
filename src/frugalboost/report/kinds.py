"""What the values of a feature are, as a person would say it."""

from __future__ import annotations

from frugalboost.estimators.base import GBFSBase
from frugalboost.tables.names import feature_names

READ_AS = {"dates": "date", "times": "time"}  # by the name of the form that the recipe has read a column by


def kind_of(model: GBFSBase, column: int) -> str:
    """Whether a feature is a category, a date, a time of day, or a number.

    Parameters
    ----------
    model : GBFSClassifier or GBFSRegressor
        Fitted.
    column : int
        The place of the feature.

    Returns
    -------
    str
        "category", "date", "time" or "number".
    """
    if column in model._model.levels:
        return "category"
    form = (model._forms or {}).get(feature_names(model)[column], {})
    return READ_AS.get(str(form.get("form")), "number")
