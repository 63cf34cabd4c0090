"""The settings of a chosen model fitted again, on the training rows of a split or on some of the columns."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from frugalboost.estimators.base import GBFSBase
from frugalboost.estimators.template import path_fitter
from frugalboost.report.held_out import HeldOutPredictions
from frugalboost.tables.sample import Sample

NEVER = 1e300  # a mu at which nothing is bought

Columns = NDArray[np.intp]


def fitted_on(model: GBFSBase, rows: Sample, shares: bool, n_jobs: int | None) -> GBFSBase:
    """The same settings on other rows; ``shares``: mu is the same share of mu_max there."""
    mu = own_mu(model, rows, n_jobs) if shares else model.mu
    fitted: GBFSBase = clone(model).set_params(n_jobs=n_jobs, verbose=0, mu=mu)._fit_rows(rows)
    return fitted


def own_mu(model: GBFSBase, rows: Sample, n_jobs: int | None) -> float:
    """The mu that is the same share of mu_max on other rows."""
    if model.n_features_to_select is not None or not model.mu_max_ > 0:
        return float(model.mu)
    again = clone(model).set_params(n_jobs=n_jobs, verbose=0)
    checked, _ = again._checked(rows.X, rows.y, rows.weights)
    return float(model.mu * path_fitter(again, checked, n_jobs=n_jobs).mu_max / model.mu_max_)


def settings_for_columns(model: GBFSBase, columns: Columns) -> GBFSBase:
    """The model's settings for a table of some of its columns, all of them free."""
    categorical = [i for i, c in enumerate(columns.tolist()) if c in model.categories_]
    settings: dict[str, Any] = {"mu": 0.0, "costs": None, "budget": None, "n_features_to_select": None, "verbose": 0}
    settings["categorical_features"] = categorical or "from_dtype"
    if model.n_features_to_select is not None and model.get_params().get("multi_strategy") == "auto":
        settings["multi_strategy"] = "multi_output_tree"  # as the model has been fitted
    changed: GBFSBase = clone(model).set_params(**settings)
    return changed


def constant_on(model: GBFSBase, rows: Sample, n_jobs: int | None) -> GBFSBase:
    """A model that buys nothing."""
    constant = clone(model).set_params(n_features_to_select=None, mu=NEVER, costs=None, max_iter=1, n_jobs=n_jobs)
    fitted: GBFSBase = constant.fit(rows.X, rows.y, rows.weights)
    return fitted


def predictions_of(
    model: GBFSBase, rows: Sample, others: Sample, bought: Columns, shares: bool, n_jobs: int | None, classes: Any
) -> HeldOutPredictions:
    """Predictions for the held-out rows of a split by the settings of a chosen model, fitted on its training rows.

    What they buy is known, so that a table of these columns is enough: it gives the model that the whole table gave,
    unless prices depend on other columns. With a number of features all of them are kept.
    """
    if not len(bought):
        return HeldOutPredictions.of(constant_on(model, rows, n_jobs), others, classes)
    number = model.n_features_to_select
    with warnings.catch_warnings():  # they would be about this split
        warnings.simplefilter("ignore")
        if number is None and (model.costs is not None or model.new_features != 1.0):
            return HeldOutPredictions.of(fitted_on(model, rows, shares, n_jobs), others, classes)
        own = settings_for_columns(model, bought).set_params(n_jobs=n_jobs, fewer=False)
        if number is None:
            own.set_params(mu=own_mu(model, rows, n_jobs) if shares else model.mu, budget=model.budget)
        else:
            own.set_params(mu=model.mu, n_features_to_select=len(bought))
        own._fit_rows(rows.columns(bought))
    return HeldOutPredictions.of(own, others.columns(bought), classes)
