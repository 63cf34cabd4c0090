"""Lines on given columns, fitted together, with a penalty on their squared slopes (a ridge)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core, engines
from frugalboost.losses import BuiltIn
from frugalboost.training.ensemble import Ensemble
from frugalboost.training.model import Curve, Model, Purchases
from frugalboost.training.scales import Scales
from frugalboost.training.task import FitTask

Floats = NDArray[np.float64]
Columns = NDArray[np.int64]

# Penalties to try, the largest first: what a squared slope of 1 weighs against the mean loss of the rows, times 1/2.
L2S = 10.0 ** np.arange(1.0, -4.1, -0.5)
# With few rows no penalty is tried: one step with the covariance of the scores shrunken by this part of their variance.
SHRINKAGE = 1.0
_WITHOUT_CURVATURE = ("absolute_error", "quantile")


def has_ridge(task: FitTask) -> bool:
    """Whether the loss has the curvature that a ridge needs, and its slopes may have either sign."""
    no_curvature = isinstance(task.loss, BuiltIn) and task.loss.name in _WITHOUT_CURVATURE
    return not no_curvature and not task.constraints.trends


@dataclass(frozen=True)
class Ridge:
    """Slopes of the lines on some columns, and the losses of the model."""

    columns: Columns
    start: Floats
    slopes: Floats  # by output and column
    gains: Floats
    train_loss: float
    validation_loss: float  # NaN without validation rows
    constant_loss: float  # validation loss of the start values

    @classmethod
    def from_core(cls, fit: _core.RidgeFit, columns: Columns, outputs: int) -> Ridge:
        """Take over a result of the core."""
        slopes = np.asarray(fit.slopes).reshape(outputs, len(columns))
        losses = (fit.train_loss, fit.validation_loss, fit.constant_loss)
        return cls(columns, np.asarray(fit.start), slopes, np.asarray(fit.gains), *losses)

    def ensemble(self, task: FitTask) -> Ensemble:
        """One iteration for each column, in their order."""
        weight = float(len(task.train)) if task.train.weights is None else float(task.train.weights.sum())
        scales = Scales.of_columns(task.binned, self.columns)
        return Ensemble.of_lines(self.start, self.slopes, self.gains, weight, scales)


def fit_ridges(task: FitTask, columns: Columns, l2s: Floats, threads: int, start: Floats | None = None) -> list[Ridge]:
    """A ridge for each penalty; falling penalties are fastest. ``start``: raw start values, where they are given."""
    first = [] if start is None else start.tolist()
    found = _core.fit_ridge(_engine(task, threads), columns.tolist(), l2s.tolist(), first, threads)
    return [Ridge.from_core(fit, columns, task.outputs) for fit in found]


def fit_one_step(task: FitTask, columns: Columns, threads: int) -> Ridge:
    """For few rows: one Newton step with a shrunken covariance, stretched to the least loss."""
    found = _core.fit_one_step(_engine(task, threads), columns.tolist(), SHRINKAGE, [], threads)
    return Ridge.from_core(found, columns, task.outputs)


def _engine(task: FitTask, threads: int) -> object:
    train, validation = engines.EngineRows(task.binned, task.train.y, task.train.weights), None
    if task.validation is not None and task.validation_bins is not None:
        validation = engines.EngineRows(task.validation_bins, task.validation.y, task.validation.weights)
    params = task.params
    return engines.make_engine(
        train, validation, task.loss, task.outputs, params.to_core(), threads, task.part, params.device
    )


def ridge_model(task: FitTask, columns: Columns, l2: float | None, threads: int) -> Model:
    """A ridge as a model; None: in one step. All larger penalties are tried first, which is faster than none."""
    if l2 is None:
        ridge = fit_one_step(task, columns, threads)
    else:
        ridge = fit_ridges(task, columns, L2S[l2 <= L2S], threads)[-1]
    trees = ridge.ensemble(task)
    number = len(columns)
    losses = trees.loss_curve(task.binned, task.train, task.train, task.loss, threads)
    validation = np.full(number + 1, np.nan)
    if task.validation is not None and task.validation_bins is not None:
        validation = trees.loss_curve(task.validation_bins, task.validation, task.train, task.loss, threads)
    count = np.arange(number + 1, dtype=np.int32)
    return Model(
        ensemble=trees,
        purchases=Purchases(columns.astype(np.int32), np.zeros(number), ridge.gains, count[1:]),
        curve=Curve(losses, validation, count, np.zeros(number + 1), np.full(number + 1, np.nan)),
        prices=task.costs.start,
        impurity=0.0,
        mu_max=0.0,
        best_iteration=number,
        ending="converged",
        levels=task.levels,
    )
