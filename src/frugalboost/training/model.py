"""The result of a fit: trees, purchases, and the curves of loss and cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core
from frugalboost.costs import Resolved, resolve
from frugalboost.tables import Levels
from frugalboost.training.ensemble import Ensemble

Floats = NDArray[np.float64]


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
    validation_score: Floats | None = None  # by ``scoring``; None: there was none


@dataclass(frozen=True)
class Draw:
    """The state of the draw of features that trees may buy, so that a continued fit draws like one long fit."""

    iterations: int
    last_look: int  # the last iteration that compared all features
    bought_then: int  # features owned then
    look_at_all: bool  # the next iteration compares all
    gains: Floats  # of all features, in that look

    @classmethod
    def from_core(cls, draw: _core.DrawState) -> Draw | None:
        """None if all features are offered."""
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
    """Everything that boosting returns."""

    ensemble: Ensemble
    purchases: Purchases
    curve: Curve
    prices: Floats  # of all features, before anything was bought
    impurity: float
    mu_max: float  # in the unit given
    best_iteration: int
    ending: str  # "max_iter", "converged", "early_stopping" or "callback"
    levels: Mapping[int, Levels] = field(default_factory=dict)  # of the categorical features
    draw: Draw | None = None  # None: all features were offered, or it is unknown

    @property
    def n_iterations(self) -> int:
        """Iterations that were run, also those after the best one."""
        return self.ensemble.n_iterations

    def paid_prices(self) -> Floats:
        """The price paid for each feature, or its price at the start if it was not bought."""
        prices = self.prices.copy()
        prices[self.purchases.feature] = self.purchases.price
        return prices

    def prediction_costs(
        self, X: _core.Source, costs: Resolved, iterations: int, threads: int
    ) -> tuple[Floats, Floats]:
        """The cost of predictions if a feature is fetched when a path uses it: by row, and means by iteration.

        Where prices are per row, only these: what is paid once for the model is not paid again by a prediction.
        """
        if costs.row_prices is not None:
            return self.ensemble.row_costs(X, costs.row_prices, None, iterations, threads)
        bought, rules = self.purchases, costs.rules
        if any(isinstance(rule, _core.CallablePrices) for rule in rules):
            # A function would be called for every set of features that a row uses: take the prices that were paid.
            rules = resolve(self.paid_prices(), len(self.prices), None).rules
        return self.ensemble.path_costs(X, rules, bought.feature, bought.price, iterations, threads)

    @property
    def features(self) -> NDArray[np.int64]:
        """Features owned at the best iteration, in order of purchase."""
        return self.purchases.feature[self.purchases.iteration <= self.best_iteration].astype(np.int64)

    @property
    def cost(self) -> float:
        """The total cost of these features."""
        return self._at_best(self.curve.cost)

    @property
    def train_loss(self) -> float:
        """At the best iteration."""
        return self._at_best(self.curve.train_loss)

    @property
    def validation_loss(self) -> float:
        """At the best iteration; NaN without validation rows."""
        return self._at_best(self.curve.validation_loss)

    @property
    def prediction_cost(self) -> float:
        """What one prediction costs on average at the best iteration; NaN where prices were not given."""
        return self._at_best(self.curve.prediction_cost)

    def _at_best(self, curve: Floats) -> float:
        return float(curve[self.best_iteration])

    def cut(self, iterations: int, tol: float) -> Model:
        """The model that a fit of at most this number of iterations would have kept.

        The best iteration is the one that the core would choose, or the last, without validation rows.
        """
        last = min(iterations, self.n_iterations)
        if np.isnan(self.curve.validation_loss).all():
            return replace(self, best_iteration=last)
        losses = np.ascontiguousarray(self.curve.validation_loss[: last + 1])
        return replace(self, best_iteration=_core.best_iteration(losses, tol))
