"""From a table in bins to a model: one call of the core, or the continuation of an earlier one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core
from frugalboost.losses import BuiltIn
from frugalboost.tables.sample import Sample
from frugalboost.training.ensemble import Ensemble
from frugalboost.training.model import Curve, Model, Purchases
from frugalboost.training.task import FitTask

Floats = NDArray[np.float64]
Observer = Callable[[int, float, float, int, float], None]
PRICED_CELLS = 2e6  # of the table, at most 200 rows, in which predictions are priced


def boost(
    task: FitTask, previous: Model | None, observer: Observer | None, threads: int, start: Floats | None = None
) -> Model:
    """Grow trees for a task, going on from an earlier model, or from raw start values, where they are given."""
    validation = task.validation
    grown = _core.boost(
        X=task.binned,
        y=task.train.y,
        weights=task.train.weights,
        X_val=task.validation_bins,
        y_val=None if validation is None else validation.y,
        weights_val=None if validation is None else validation.weights,
        loss=task.loss.name if isinstance(task.loss, BuiltIn) else task.loss,
        loss_parameter=task.loss.parameter if isinstance(task.loss, BuiltIn) else np.nan,
        outputs=task.outputs,
        rules=list(task.costs.rules),
        budget=task.budget,
        params=task.params.to_core(),
        progress=_progress(previous, task, threads) if start is None else _beginning(start, task),
        observer=observer,
        threads=threads,
    )
    return priced(_joined(previous, grown, task), task, threads)


def priced(model: Model, task: FitTask, threads: int) -> Model:
    """The model with what a prediction costs after each iteration, where prices were given."""
    if not task.costs.given:
        return model
    # On some rows, evenly spaced: this must not cost more than boosting does.
    some = int(np.clip(PRICED_CELLS / task.binned.shape[1], 50, 200))
    X = task.binned.take(None, np.arange(0, len(task.train), max(1, len(task.train) // some)), threads)
    means = model.path_prices(X, task.costs, model.n_iterations, threads)[1]
    return replace(model, curve=replace(model.curve, prediction_cost=np.concatenate([[0.0], means])))


def _progress(previous: Model | None, task: FitTask, threads: int) -> _core.Progress:
    """Tell the core where an earlier fit stopped."""
    progress = _core.Progress()
    if previous is None:
        return progress
    trees, iterations = previous.ensemble, previous.n_iterations
    progress.iterations = iterations
    progress.start = trees.start.tolist()
    progress.features = previous.purchases.feature.tolist()
    progress.prices = previous.purchases.price.tolist()
    progress.gains = previous.purchases.gain.tolist()
    raw = trees.raw(_values(task, task.train, task.binned), iterations, threads).ravel()
    raw_val = None
    if task.validation is not None:
        assert task.validation_bins is not None
        values = _values(task, task.validation, task.validation_bins)
        raw_val = trees.raw(values, iterations, threads).ravel()
        if not np.isnan(previous.curve.validation_loss).any():
            progress.validation_losses = previous.curve.validation_loss.tolist()
    progress.set_raw(raw, raw_val)
    return progress


def _values(task: FitTask, rows: Sample, binned: _core.BinnedMatrix) -> _core.Source:
    """What an earlier model's trees look at: bins say enough where its thresholds are among them."""
    return binned if task.same_bins else rows.table.source(task.levels)


def _beginning(start: Floats, task: FitTask) -> _core.Progress:
    """Tell the core where to begin."""
    progress = _core.Progress()
    progress.start = start.tolist()
    validation = None if task.validation is None else np.repeat(start, len(task.validation))
    progress.set_raw(np.repeat(start, len(task.train)), validation)
    return progress


def _joined(previous: Model | None, grown: _core.Boosted, task: FitTask) -> Model:
    trees = Ensemble.from_core(grown)
    curve: dict[str, Any] = {
        "train_loss": np.asarray(grown.train_loss),
        "validation_loss": np.asarray(grown.validation_loss),
        "n_features": np.asarray(grown.features),
        "cost": np.asarray(grown.cost),
        "prediction_cost": np.full(len(grown.cost), np.nan),
    }
    bought_iteration = np.asarray(grown.bought_iteration)
    if previous is not None:
        trees = previous.ensemble.followed_by(trees)
        # The first new record is the state before the first new tree, which the old curve holds already.
        curve = {k: np.concatenate([getattr(previous.curve, k), v[1:]]) for k, v in curve.items()}
        bought_iteration = np.concatenate([previous.purchases.iteration, bought_iteration])
    purchases: dict[str, Any] = {
        "feature": np.asarray(grown.bought),
        "price": np.asarray(grown.bought_price),
        "gain": np.asarray(grown.bought_gain),
    }
    return Model(
        ensemble=trees,
        purchases=Purchases(**purchases, iteration=bought_iteration),
        curve=Curve(**curve),
        prices=task.costs.start,
        impurity=grown.impurity,
        mu_max=grown.mu_max if previous is None else max(previous.mu_max, grown.mu_max),
        best_iteration=grown.best_iteration,
        ending=grown.ending.name,
        levels=task.levels,
    )
