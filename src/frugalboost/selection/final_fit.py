"""The last fit, on the chosen features: all of them are free, and the prices paid are reported."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.costs import resolve
from frugalboost.losses import has_values
from frugalboost.selection.averaging import fit_average, mean_of
from frugalboost.selection.base_learner import TREES, BaseComparison, LastFit
from frugalboost.selection.importance import narrowed
from frugalboost.selection.purchase_order import PurchaseOrder
from frugalboost.selection.ridge import ridge_model
from frugalboost.training.boosting import Observer, boost, with_prediction_costs
from frugalboost.training.model import Curve, Model, Purchases
from frugalboost.training.task import FitTask

Columns = NDArray[np.int64]


@dataclass(frozen=True)
class FitResult:
    """A model, and how its features were selected."""

    model: Model
    refit_scores: dict[str, Any] | None = None  # of the model that bought the features, and of the refitted one
    elimination: dict[str, list[Any]] | None = None  # what was sold, and the held-out loss before
    no_better_than_constant: bool = False  # in the folds, within the error of the measurement


def forward(task: FitTask, observer: Observer | None, threads: int) -> FitResult:
    """Buy at a fixed mu, and with ``refit`` fit again on the chosen features alone."""
    refit, average = task.params.refit, task.params.average
    if average > 1 and not refit:
        raise ValueError(f"average={average} applies to the last fit: also set n_features_to_select or refit.")
    if refit == "auto" and task.validation is None:
        raise ValueError(
            'refit="auto" compares validation losses: set early_stopping=True, or give fit X_val and y_val.'
        )
    if refit:
        check_budget(task)
    model = boost(task, None, observer, threads)
    if not refit:
        return FitResult(model)
    last = TREES
    if task.params.base in ("lines", "both") or (refit == "auto" and has_values(task.loss)):
        last = BaseComparison(task, observer, threads).suited(model.features)
    again = fit_on(task, model.features, model, observer, threads, last)
    keep = "refit"
    if refit == "auto" and not again.validation_loss < model.validation_loss:
        keep = "forward"
    return FitResult(again if keep == "refit" else model, refit_scores(model, again, keep))


def check_budget(task: FitTask) -> None:
    """Raise ValueError for a budget that a second fit can't keep."""
    if task.costs.row_prices is not None and np.isfinite(task.budget):
        raise ValueError(
            f"budget={task.budget:g} also limits what rows pay (PerRow), which is known only after the last fit: it "
            "can't be kept with n_features_to_select, refit or average. Leave the budget out and raise mu."
        )


def refit_scores(model: Model, again: Model, keep: str) -> dict[str, Any]:
    """How the model that bought and the one refitted on its features compare."""
    return {"forward": _score(model), "refit": _score(again), "kept": keep}


def _score(model: Model) -> dict[str, Any]:
    return {
        "n_features": len(model.features),
        "train_loss": model.train_loss,
        "validation_loss": model.validation_loss,
    }


# ------------------------------------------------------------------------------------- fits on some columns


def fit_on(
    task: FitTask, columns: Columns, bought: Model, observer: Observer | None, threads: int, last: LastFit = TREES
) -> Model:
    """Fit on some columns, all free, with the task's settings; the model is one of the whole table.

    Only prices per row are still paid, at the task's mu.

    ``columns`` are in order of purchase: another order may exceed the budget. ``bought`` is the model on the whole
    table that bought them; mu_max and impurity are taken from it.
    """
    if not len(columns):
        return _constant(task, bought, observer, threads)
    model = _fit_free(task, columns, observer, threads, last)
    purchases = _affordable_purchases(model, columns, task)
    if purchases is None:  # the columns that the free model uses exceed the budget
        bound = boost(_restricted_to(task, columns), None, observer, threads)
        model, purchases = bound, bound.purchases
    wide = replace(
        model,
        purchases=purchases,
        curve=_with_purchases(model, purchases),
        prices=task.costs.start,
        mu_max=bought.mu_max,
        impurity=bought.impurity,
        levels=task.levels,
    )
    return with_prediction_costs(wide, task, threads)


def _fit_free(task: FitTask, columns: Columns, observer: Observer | None, threads: int, last: LastFit) -> Model:
    """A model on some columns, all free, with the column numbers of the whole table."""
    order, columns = columns, np.sort(columns)
    narrow = narrowed(task, columns, threads)
    if task.costs.row_prices is not None:  # owning is free, looking is not
        narrow = replace(narrow, costs=task.costs.on(columns), params=replace(narrow.params, mu=task.params.mu))
    models = []
    if last.has_ridge:  # lines in the order of purchase
        models.append(ridge_model(narrow, np.searchsorted(columns, order), last.l2, threads))
    if (base := last.boosted) is not None:
        most = narrow.params.max_iter
        if last.iterations is not None and narrow.validation is None and task.params.average == 1:
            most = min(most, max(1, last.iterations))  # nothing else would stop it
        narrow = replace(narrow, params=replace(narrow.params, base=base, max_iter=most))
        fit = fit_average if task.params.average > 1 else _boost
        models.append(fit(narrow, observer, threads))
    model = models[0] if len(models) == 1 else mean_of(models, narrow, threads)
    return replace(
        model,
        ensemble=model.ensemble.with_columns(columns),
        purchases=replace(model.purchases, feature=columns[model.purchases.feature].astype(np.int32)),
    )


def _boost(task: FitTask, observer: Observer | None, threads: int) -> Model:
    return boost(task, None, observer, threads)


def _restricted_to(task: FitTask, columns: Columns) -> FitTask:
    """The task with only these columns for sale, with prices and budget and mu = 0."""
    others = np.full(len(task.costs.start), np.inf)
    others[columns] = 0.0
    costs = replace(task.costs, rules=(*task.costs.rules, *resolve(others, len(others), None).rules))
    return replace(task, costs=costs, params=replace(task.params, mu=0.0, new_features=1.0, max_features=0.0))


def _affordable_purchases(model: Model, columns: Columns, task: FitTask) -> Purchases | None:
    """The purchases of a model that was fitted on free columns, in an order within the budget; None if there is none.

    In the order of first use, if the budget allows it. Otherwise a feature may be bought before a tree uses it, because
    that makes another one cheaper. Features that the best iteration does not use come last.
    """
    used = model.purchases
    needed = used.feature[used.iteration <= model.best_iteration]
    first = PurchaseOrder.find(task, [needed, columns[np.isin(columns, needed)]])
    whole = PurchaseOrder.in_order(task, np.concatenate([first.order, used.feature[len(needed) :]]))
    if len(first.order) < len(needed) or len(whole.order) < len(used.feature):
        return None
    place = {f: i for i, f in enumerate(used.feature.tolist())}
    at = np.array([place[f] for f in whole.order.tolist()], dtype=np.int64)
    by_then = np.minimum.accumulate(used.iteration[at][::-1])[::-1]
    return Purchases(used.feature[at], whole.prices, used.gain[at], by_then)


def _with_purchases(model: Model, purchases: Purchases) -> Curve:
    """The model's curve with the features owned and the cost after each iteration."""
    owned = np.searchsorted(purchases.iteration, np.arange(model.n_iterations + 1), side="right")
    paid = np.concatenate([[0.0], np.cumsum(purchases.price)])
    return replace(model.curve, n_features=owned.astype(np.int32), cost=paid[owned])


def _constant(task: FitTask, bought: Model, observer: Observer | None, threads: int) -> Model:
    nothing = resolve(np.full(len(task.costs.start), np.inf), len(task.costs.start), None)
    model = boost(replace(task, costs=nothing), None, observer, threads)
    return replace(model, prices=task.costs.start, mu_max=bought.mu_max, impurity=bought.impurity)
