"""An unfitted estimator whose settings many fits share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.multiclass import type_of_target

from frugalboost._support.threads import threads_for
from frugalboost.estimators.base import GBFSBase
from frugalboost.estimators.classifier import GBFSClassifier
from frugalboost.estimators.regressor import GBFSRegressor
from frugalboost.selection.path import PathFitter
from frugalboost.tables.sample import Sample


def make_template(estimator: GBFSBase | None, y: Any, params: dict[str, Any]) -> GBFSBase:
    """Return a fresh estimator with checked parameters; without an estimator, its kind follows from y."""
    if estimator is None:
        estimator = GBFSRegressor() if _looks_continuous(y) else GBFSClassifier()
    elif not isinstance(estimator, GBFSBase):
        raise TypeError(f"estimator must be a GBFSClassifier or GBFSRegressor, not {type(estimator).__name__}.")
    model: GBFSBase = clone(estimator).set_params(**params, warm_start=False)
    model._validate_params()
    if model.n_features_to_select is not None:
        raise ValueError(
            "The estimator has n_features_to_select, which can't be combined with a path, a search or subsamples: "
            "pass it to gbfs_path or to the CV class instead."
        )
    if model.scoring is not None or model.callbacks:
        raise ValueError(
            "The estimator has scoring or callbacks, which follow a single fit: paths, searches and subsamples stop "
            "each of theirs by its loss. Set both to None; gbfs_path and the CV classes have a scoring of their own."
        )
    return model


def _looks_continuous(y: ArrayLike) -> bool:
    """Fractions, or floats with more than 20 different values, which are unlikely to be class labels."""
    values = np.asarray(y)
    if type_of_target(values, input_name="y").startswith("continuous"):
        return True
    return values.dtype.kind == "f" and len(np.unique(values)) > 20


def path_fitter(
    template: GBFSBase, train: Sample, validation: Sample | None = None, n_jobs: int | None = None
) -> PathFitter:
    """Fits with a template's settings on rows that it has checked."""
    return PathFitter(template._task(train, validation), threads_for(n_jobs))
