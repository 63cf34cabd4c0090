"""From a table in bins to a model: one call of the core, or the continuation of an earlier one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core, engines
from frugalboost.costs import Resolved, resolve
from frugalboost.losses import BuiltIn, Loss
from frugalboost.tables import Levels
from frugalboost.tables.sample import Rows
from frugalboost.training.ensemble import Ensemble
from frugalboost.training.params import Params

Floats = NDArray[np.float64]
Observer = Callable[[int, float, float, int, float], None]
PRICED_CELLS = 2e6  # so many cells of the table, at most 200 rows, are asked what a prediction costs


@dataclass(frozen=True)
class Purchases:
    """What was bought, in order."""

    feature: NDArray[np.int32]
    price: Floats
    gain: Floats  # raw gain of the split that bought it
    iteration: NDArray[np.int32]  # counted from 1


@dataclass(frozen=True)
class Curve:
    """The state after each iteration; entry 0 is the start value alone."""

    train_loss: Floats
    validation_loss: Floats  # NaN: no validation rows
    n_features: NDArray[np.int32]
    cost: Floats
    prediction_cost: Floats  # NaN: prices were not given


@dataclass(frozen=True)
class Draw:
    """Where the draw of features that trees may buy stands, so that a continued fit draws as one long fit would."""

    iterations: int
    last_look: int  # the iteration in which all features were compared last
    bought_then: int  # features owned then
    look_at_all: bool  # the next iteration compares all
    gains: Floats  # of all features, in that look

    @classmethod
    def from_core(cls, draw: _core.DrawState) -> Draw | None:
        """None where all features are on offer."""
        gains = np.asarray(draw.gains)
        if not len(gains):
            return None
        return cls(draw.iterations, draw.last_look, draw.bought_then, draw.look_at_all, gains)

    def to_core(self) -> _core.DrawState:
        """The same for the core."""
        draw = _core.DrawState()
        for name in ("iterations", "last_look", "bought_then", "look_at_all", "gains"):
            setattr(draw, name, getattr(self, name))
        return draw


@dataclass(frozen=True)
class Model:
    """Everything that boosting leaves behind."""

    ensemble: Ensemble
    purchases: Purchases
    curve: Curve
    prices: Floats  # of all features, before anything was bought
    impurity: float
    mu_max: float  # in the unit given
    best_iteration: int
    ending: str  # "max_iter", "converged" or "early_stopping"
    levels: Mapping[int, Levels] = field(default_factory=dict)  # of the categorical features
    draw: Draw | None = None  # None: all features were on offer, or it is not known

    @property
    def n_iterations(self) -> int:
        """Iterations that were run, the best one or not."""
        return self.ensemble.n_iterations

    def paid_prices(self) -> Floats:
        """What was paid for a feature, or its price at the start where it was not bought."""
        prices = self.prices.copy()
        prices[self.purchases.feature] = self.purchases.price
        return prices

    def path_prices(self, X: _core.Source, costs: Resolved, iterations: int, threads: int) -> tuple[Floats, Floats]:
        """What predictions cost when a feature is fetched once a path looks at it: by row, and means by iteration."""
        bought, rules = self.purchases, costs.rules
        if any(isinstance(rule, _core.CallablePrices) for rule in rules):
            # A function would be called for every set of features that a row looks at: prices as they were paid.
            rules = resolve(self.paid_prices(), len(self.prices), None).rules
        return self.ensemble.path_prices(X, rules, bought.feature, bought.price, iterations, threads)

    def bought_until(self, iteration: int) -> NDArray[np.int32]:
        """Features owned after so many iterations, in order of purchase."""
        return self.purchases.feature[self.purchases.iteration <= iteration]


@dataclass(frozen=True)
class Task:
    """What is to be fitted, how, and at which prices."""

    train: Rows
    validation: Rows | None
    binned: _core.BinnedMatrix
    binned_validation: _core.BinnedMatrix | None
    loss: BuiltIn | Loss
    outputs: int
    costs: Resolved
    budget: float
    params: Params
    levels: Mapping[int, Levels] = field(default_factory=dict)  # of the categorical columns
    same_bins: bool = False  # an earlier model's thresholds are those of the bins


def boost(
    task: Task, previous: Model | None, observer: Observer | None, threads: int, start: Floats | None = None
) -> Model:
    """Grow trees for a task, going on from an earlier model, or from raw start values, where they are given."""
    params = task.params.to_core()
    train, validation = _engine_rows(task, previous, threads, start)
    engine = engines.make_engine(train, validation, task.loss, task.outputs, params, threads)
    grown = _core.boost(
        engine=engine,
        rules=list(task.costs.rules),
        budget=task.budget,
        params=params,
        progress=_progress(previous, task) if start is None else _beginning(start),
        observer=observer,
        threads=threads,
    )
    return priced(_joined(previous, grown, task), task, threads)


def priced(model: Model, task: Task, threads: int) -> Model:
    """The model with what a prediction costs after each iteration, where prices were given."""
    if not task.costs.given:
        return model
    # On some rows, evenly spaced: this must not cost more than boosting does.
    some = int(np.clip(PRICED_CELLS / task.binned.shape[1], 50, 200))
    X = task.binned.take(None, np.arange(0, len(task.train), max(1, len(task.train) // some)), threads)
    means = model.path_prices(X, task.costs, model.n_iterations, threads)[1]
    return replace(model, curve=replace(model.curve, prediction_cost=np.concatenate([[0.0], means])))


def _engine_rows(
    task: Task, previous: Model | None, threads: int, start: Floats | None
) -> tuple[engines.EngineRows, engines.EngineRows | None]:
    """Both samples, with the raw predictions that boosting goes on from."""

    def rows(sample: Rows, binned: _core.BinnedMatrix) -> engines.EngineRows:
        raw = None
        if start is not None:
            raw = np.repeat(start, len(sample))
        elif previous is not None:
            trees = previous.ensemble
            raw = trees.raw(_values(task, sample, binned), previous.n_iterations, threads).ravel()
        return engines.EngineRows(binned, sample.y, sample.weights, raw)

    if task.validation is None:
        return rows(task.train, task.binned), None
    assert task.binned_validation is not None
    return rows(task.train, task.binned), rows(task.validation, task.binned_validation)


def _progress(previous: Model | None, task: Task) -> _core.Progress:
    """Tell the core where an earlier fit stopped."""
    progress = _core.Progress()
    if previous is None:
        return progress
    progress.iterations = previous.n_iterations
    progress.start = previous.ensemble.start.tolist()
    progress.features = previous.purchases.feature.tolist()
    progress.prices = previous.purchases.price.tolist()
    progress.gains = previous.purchases.gain.tolist()
    if task.validation is not None and not np.isnan(previous.curve.validation_loss).any():
        progress.validation_losses = previous.curve.validation_loss.tolist()
    if previous.draw is not None:
        progress.draw = previous.draw.to_core()
    return progress


def _values(task: Task, rows: Rows, binned: _core.BinnedMatrix) -> _core.Source:
    """What an earlier model's trees look at: bins say enough where its thresholds are among them."""
    return binned if task.same_bins else rows.table.source(task.levels)


def _beginning(start: Floats) -> _core.Progress:
    """Tell the core where to begin."""
    progress = _core.Progress()
    progress.start = start.tolist()
    return progress


def _joined(previous: Model | None, grown: _core.Boosted, task: Task) -> Model:
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
        draw=Draw.from_core(grown.draw),
    )
