"""Names of features: those of a data frame, or scikit-learn's default names x0, x1, ..."""

from __future__ import annotations

from typing import Any


def default_name(column: int) -> str:
    """The name of a column that has no name.

    Examples
    --------
    >>> from frugalboost.tables.names import default_name
    >>> default_name(3)
    'x3'
    """
    return f"x{column}"


def feature_names(estimator: Any) -> list[str]:
    """Names of all columns that an estimator was fitted on."""
    own = getattr(estimator, "feature_names_in_", None)
    return [default_name(c) for c in range(estimator.n_features_in_)] if own is None else [str(name) for name in own]
