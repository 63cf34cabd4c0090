"""The public attributes that a fit sets on an estimator, and warnings about weak models."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np

from frugalboost.costs import Cost
from frugalboost.selection.final_fit import FitResult
from frugalboost.training.model import Model


class NothingBoughtWarning(UserWarning):
    """No feature was worth its price: the model is a constant.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor, NothingBoughtWarning
    >>> X, y = load_diabetes(return_X_y=True)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = GBFSRegressor(mu=1.0).fit(X, y)
    >>> caught[0].category is NothingBoughtWarning, model.n_features_selected_
    (True, 0)
    """


class WeakSelectionWarning(UserWarning):
    """The features selected predict no better than a constant on rows that took no part in choosing them.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from frugalboost import GBFSRegressor, WeakSelectionWarning
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 5)), rng.normal(size=60)  # there is nothing to be found
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = GBFSRegressor(n_features_to_select=2, max_iter=20).fit(X, y)
    >>> caught[0].category is WeakSelectionWarning
    True
    """


def publish(estimator: Any, result: FitResult) -> None:
    """Set the fitted attributes; Omega is the one at the best iteration."""
    model = result.model
    estimator._model = model
    estimator.refit_scores_, estimator.selling_ = result.refit_scores, result.elimination
    estimator.n_iter_ = model.n_iterations
    estimator.best_iteration_ = model.best_iteration
    estimator.stop_reason_ = model.ending
    estimator.mu_ = float(estimator.mu)
    estimator.mu_max_ = model.mu_max
    estimator.selected_features_ = model.features.astype(np.intp)
    estimator.n_features_selected_ = len(model.features)
    estimator.support_ = np.zeros(estimator.n_features_in_, dtype=bool)
    estimator.support_[model.features] = True
    estimator.total_cost_ = model.cost
    estimator.prediction_cost_ = model.prediction_cost
    estimator.cost_unit_ = estimator.costs.unit if isinstance(estimator.costs, Cost) else None
    estimator.feature_importances_ = model.ensemble.gain_shares(estimator.n_features_in_, model.best_iteration)
    estimator.history_ = history(model)


def history(model: Model) -> dict[str, list[Any]]:
    """The state after each iteration, and what was bought in it."""
    bought, curve = model.purchases, model.curve
    order = np.argsort(bought.iteration, kind="stable")
    place = np.searchsorted(bought.iteration[order], np.arange(model.n_iterations + 2)).tolist()
    when = [order[begin:end] for begin, end in pairwise(place)]
    scores = {} if curve.validation_score is None else {"validation_score": curve.validation_score.tolist()}
    return {
        "iteration": list(range(model.n_iterations + 1)),
        "train_loss": curve.train_loss.tolist(),
        "validation_loss": curve.validation_loss.tolist(),
        **scores,
        "n_features": curve.n_features.tolist(),
        "price_paid": curve.cost.tolist(),
        "prediction_price": curve.prediction_cost.tolist(),
        "bought": [bought.feature[w].tolist() for w in when],
        "raw_gain": [bought.gain[w].tolist() for w in when],
    }


def warn_if_nothing_bought(estimator: Any, weighted: bool) -> None:
    """Warn if a model is a constant, or if no split was possible, and say why."""
    trees = estimator._model.ensemble
    # Of the rows that the last tree was grown on; the mean of models that all stopped at once has no tree.
    roots = trees.weight[trees.tree_begin[:-1]] if len(trees.tree_begin) > 1 else np.array([np.inf])
    total = float(roots[-1] if estimator.subsample == 1 else roots.max())  # some trees see only some rows
    only_trees = estimator.base in ("auto", "trees") and not estimator._counts()[1]  # a line needs no leaves
    if only_trees and total < 2 * estimator.min_samples_leaf:
        what = "of total weight is" if weighted else "rows are"
        remedy = "Lower it, or bring more rows"
        if weighted:
            remedy = "Rescale sample_weight, or lower it (fractions are allowed)"
        message = (
            f"No split is possible: {total:g} {what} less than two leaves of "
            f"min_samples_leaf={estimator.min_samples_leaf}. {remedy}."
        )
    elif only_trees and estimator.subsample * total < 2 * estimator.min_samples_leaf:
        message = (
            f"subsample={estimator.subsample:g} draws about {estimator.subsample * total:g} of "
            f"{total:g} {'in weight' if weighted else 'rows'}, less than two leaves of "
            f"min_samples_leaf={estimator.min_samples_leaf}: most trees can't split. Raise the one or lower the other."
        )
    elif estimator.n_features_to_select == 0:
        message = "n_features_to_select=0, so the model is a constant."
    elif estimator.best_iteration_ == 0:
        message = (
            "No iteration was better on the validation rows than a constant, so the model is a constant and "
            "nothing is selected. Check that the validation rows are like the training rows."
        )
    elif estimator.n_features_selected_ == 0 and estimator.mu_max_ == 0:
        message = (
            "No split gains anything, so the model is a constant: y is constant, or all features that the prices "
            "and the budget allow are constant."
        )
    elif estimator.n_features_selected_ == 0:
        message = (
            f"No feature was worth its price, so the model is a constant: mu={estimator.mu:g} with mu_unit="
            f"{estimator.mu_unit!r}; from mu_max_={estimator.mu_max_:.4g} on, nothing is bought. Lower mu"
            f"{'' if estimator.budget is None else ', or raise budget'}."
        )
    else:
        return
    category = NothingBoughtWarning if estimator.n_features_selected_ == 0 else UserWarning
    warnings.warn(message, category, stacklevel=5)  # the line that called fit


def warn_of_selection(estimator: Any, result: FitResult) -> None:
    """Warn if fewer features are selected than asked for, or if they hardly predict."""
    if estimator.n_features_to_select is None or estimator.n_features_selected_ == 0:
        return
    owned = estimator._costs().count(estimator.selected_features_)
    if owned < estimator.n_features_to_select and not estimator.fewer:
        warnings.warn(
            f"n_features_to_select={estimator.n_features_to_select}, but only {owned} gain anything in the model and "
            "can be bought at these prices and this budget.",
            UserWarning,
            stacklevel=5,
        )
    if result.no_better_than_constant:
        warnings.warn(
            "The selected features are weak: on the held-out rows of the folds they predict no better than a "
            "constant, within the error of the measurement.",
            WeakSelectionWarning,
            stacklevel=5,
        )
