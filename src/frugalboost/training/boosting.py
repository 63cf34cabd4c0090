"""From a binned table to a model: one call of the core, or the continuation of an earlier one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core, engines
from frugalboost.tables.sample import Sample
from frugalboost.training.draws import draw_rows, row_hashes, sum_over_parts
from frugalboost.training.ensemble import Ensemble
from frugalboost.training.model import Curve, Draw, Model, Purchases
from frugalboost.training.task import FitTask
from frugalboost.training.watching import Judge, Watch

Floats = NDArray[np.float64]
Observer = Callable[[int, float, float, int, float], None]
PRICED_CELLS = 2e6  # cells of the rows, at most 200, over which the cost of predictions is averaged


def boost(
    task: FitTask,
    previous: Model | None,
    observer: Observer | None,
    threads: int,
    start: Floats | None = None,
    watch: Watch | None = None,
) -> Model:
    """Grow trees for a task, from an earlier model or from raw start values, if given."""
    params = task.params.to_core()
    train, validation = _engine_rows(task, previous, threads, start)
    engine = engines.make_engine(
        train, validation, task.loss, task.outputs, params, threads, task.part, task.params.device
    )
    judge = None if watch is None else Judge(watch, engine, task, 0 if previous is None else previous.n_iterations)
    grown = _core.boost(
        engine=engine,
        rules=list(task.costs.rules),
        budget=task.budget,
        params=params,
        constraints=task.constraints.to_core(),
        progress=_progress(previous, task, judge) if start is None else _beginning(start),
        observer=observer,
        threads=threads,
        judge=judge,
        row_prices=task.costs.row_prices,
    )
    scores = None if judge is None else judge.scores
    model = _joined(previous, grown, task, scores)
    return model if task.costs.row_prices is not None else with_prediction_costs(model, task, threads)


def with_prediction_costs(model: Model, task: FitTask, threads: int) -> Model:
    """The model with the cost of a prediction after each iteration, if prices were given."""
    if not task.costs.given:
        return model
    if task.costs.row_prices is not None:
        return _with_row_costs(model, task, task.costs.row_prices, threads)
    # On some random rows, since this must not take longer than boosting.
    some = int(np.clip(PRICED_CELLS / task.binned.shape[1], 50, 200))
    X = _rows_to_price(model, task, some, threads)
    means = model.prediction_costs(X, task.costs, model.n_iterations, threads)[1]
    return replace(model, curve=replace(model.curve, prediction_cost=np.concatenate([[0.0], means])))


def _with_row_costs(model: Model, task: FitTask, prices: Floats, threads: int) -> Model:
    """The same where rows pay: the mean over all training rows, which is a part of what was paid."""
    weights = task.train.weights
    own = model.ensemble.row_costs(task.binned, prices, weights, model.n_iterations, threads)[1]
    means = np.concatenate([[0.0], own])
    paid = np.concatenate([[0.0], np.cumsum(model.purchases.price)])[model.curve.n_features]
    return replace(model, curve=replace(model.curve, cost=paid + means, prediction_cost=means))


def _rows_to_price(model: Model, task: FitTask, some: int, threads: int) -> _core.Source:
    """Random rows of the whole table, from all of its parts."""
    hashes = row_hashes(len(task.train), 0, task.part)
    rows = int(sum_over_parts(np.array([len(task.train)]), task.part)[0])
    chosen = np.flatnonzero(draw_rows([hashes], np.array([min(some, rows)]), task.part)[0])
    own = task.binned.take(None, chosen, threads)
    if task.part is None:
        return own
    # Every part uses the same rows; only the bought columns matter.
    bought = sorted(set(model.purchases.feature.tolist()))
    values = np.column_stack([_values_in_bins(own, c) for c in bought] or [np.zeros(len(chosen))])
    all_values = np.concatenate(
        [np.frombuffer(b).reshape(-1, values.shape[1]) for b in task.part.gather(values.tobytes())]
    )
    columns = [np.zeros(len(all_values))] * task.binned.shape[1]
    for i, c in enumerate(bought):
        columns[c] = np.ascontiguousarray(all_values[:, i])
    return _core.Table(len(all_values), columns)


def _values_in_bins(binned: _core.BinnedMatrix, column: int) -> Floats:
    """A number in each row's bin, on the same side of all thresholds as the value that was binned."""
    bins, cuts = binned.bins(column), binned.cuts(column)
    inside = np.arange(len(cuts) + 1.0) if binned.is_categorical(column) else np.append(cuts, np.finfo(float).max)
    found: Floats = np.append(inside, np.nan)[bins]
    return found


def _engine_rows(
    task: FitTask, previous: Model | None, threads: int, start: Floats | None
) -> tuple[engines.EngineRows, engines.EngineRows | None]:
    """Training and validation rows, with the raw predictions that boosting continues from."""

    def rows(sample: Sample, binned: _core.BinnedMatrix) -> engines.EngineRows:
        raw = None
        if start is not None:
            raw = np.repeat(start, len(sample))
        elif previous is not None:
            trees = previous.ensemble
            raw = trees.raw(_values(task, sample, binned), previous.n_iterations, threads).ravel()
        return engines.EngineRows(binned, sample.y, sample.weights, raw)

    train = rows(task.train, task.binned)
    if previous is not None and task.costs.row_prices is not None:
        bought = previous.purchases.feature
        flags = previous.ensemble.looks(_values(task, task.train, task.binned), bought, threads)
        train = replace(train, looks=engines.Looks(bought, flags))
    if task.validation is None:
        return train, None
    assert task.validation_bins is not None
    return train, rows(task.validation, task.validation_bins)


def _progress(previous: Model | None, task: FitTask, judge: Judge | None) -> _core.Progress:
    """The state of an earlier fit, for the core."""
    progress = _core.Progress()
    if previous is None:
        return progress
    progress.iterations = previous.n_iterations
    progress.start = previous.ensemble.start.tolist()
    progress.split_last = previous.ensemble.split_last
    progress.features = previous.purchases.feature.tolist()
    progress.prices = previous.purchases.price.tolist()
    progress.gains = previous.purchases.gain.tolist()
    scores = previous.curve.validation_score
    if judge is not None and judge.gives_scores:
        progress.validation_losses = [] if scores is None else (-scores).tolist()
    elif task.validation is not None and not np.isnan(previous.curve.validation_loss).any():
        progress.validation_losses = previous.curve.validation_loss.tolist()
    if previous.draw is not None:
        progress.draw = previous.draw.to_core()
    return progress


def _values(task: FitTask, rows: Sample, binned: _core.BinnedMatrix) -> _core.Source:
    """The values for an earlier model's trees: the bins, if they have its thresholds, else the table."""
    return binned if task.same_bins else rows.table.source(task.levels)


def _beginning(start: Floats) -> _core.Progress:
    """A state with only start values, for the core."""
    progress = _core.Progress()
    progress.start = start.tolist()
    return progress


def _before(previous: Model, name: str) -> Floats:
    """A curve of an earlier fit, which may have had no scores."""
    found = getattr(previous.curve, name)
    return np.full(previous.n_iterations + 1, np.nan) if found is None else found


def _joined(previous: Model | None, grown: _core.Boosted, task: FitTask, scores: Floats | None) -> Model:
    trees = Ensemble.from_core(grown, task.binned)
    curve: dict[str, Any] = {
        "train_loss": np.asarray(grown.train_loss),
        "validation_loss": np.asarray(grown.validation_loss),
        "n_features": np.asarray(grown.features),
        "cost": np.asarray(grown.cost),
        "prediction_cost": np.asarray(grown.row_cost),
    }
    if task.costs.row_prices is None:
        curve["prediction_cost"] = np.full(len(grown.cost), np.nan)
    if scores is not None:
        curve["validation_score"] = scores
    bought_iteration = np.asarray(grown.bought_iteration)
    if previous is not None:
        trees = previous.ensemble.followed_by(trees)
        # The first new record is the state before the first new tree, which the old curve holds already.
        curve = {k: np.concatenate([_before(previous, k), v[1:]]) for k, v in curve.items()}
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
        draw=Draw.from_core(grown.draw),
    )
