"""What a continued fit needs of the one before."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from frugalboost import _core
from frugalboost.costs import Cost
from frugalboost.losses import BuiltIn, Loss
from frugalboost.tables.checksum import of_vector
from frugalboost.tables.parts import first_row, of_all
from frugalboost.tables.sample import Sample
from frugalboost.training.binning import Thresholds
from frugalboost.training.constraints import Constraints
from frugalboost.training.draws import row_hashes
from frugalboost.training.model import Model
from frugalboost.training.set_aside import DRAW
from frugalboost.training.task import FitTask

_CANT_CONTINUE = "warm_start=True, but the earlier model"
_START_AGAIN = "To start again, use sklearn.base.clone(estimator)."


@dataclass(frozen=True)
class WarmStart:
    """An earlier model, and what its fit has decided."""

    model: Model
    loss: BuiltIn | Loss
    names: tuple[str, ...] | None  # of the features
    seed: int | None  # of the rows set aside; None: none were
    # Only with warm_start=True.
    thresholds: Thresholds | None = None
    lost_costs: bool = False  # the model came from a file, which does not hold price objects
    paid_by_row: bool = False  # predictions of the model cost something, by prices per row
    costs_in_file: Cost | None = None  # the object that stands for them until the user sets prices, even equal ones
    fingerprint: tuple[int, str] | None = None
    constraints: Constraints | None = None  # which all trees keep
    draw: str | None = None  # how rows were set aside; None: as versions did that did not say

    @classmethod
    def after(
        cls,
        task: FitTask,
        model: Model,
        fingerprint: tuple[int, str] | None = None,
        before: WarmStart | None = None,
    ) -> WarmStart:
        """What a continued fit needs; thresholds only if there is a fingerprint, with warm_start=True."""
        thresholds = None if fingerprint is None else task.thresholds
        seed = task.params.validation_seed
        draw = DRAW if before is None or before.seed is None else before.draw
        return cls(
            model,
            task.loss,
            task.names,
            seed,
            thresholds=thresholds,
            fingerprint=fingerprint,
            constraints=task.constraints,
            draw=draw,
            paid_by_row=task.costs.row_prices is not None,
        )

    def check(self, task: FitTask) -> None:
        """Raise ValueError if a task can't continue this model."""
        trees = self.model.ensemble
        if trees.n_outputs != task.outputs or len(self.model.prices) != len(task.costs.start):
            raise ValueError(f"{_CANT_CONTINUE} has another number of features, classes or targets. {_START_AGAIN}")
        if self.lost_costs and (not task.costs.structured or task.costs.cost is self.costs_in_file):
            raise ValueError(
                "warm_start=True, but this model came from a file and was fitted with a price object or a function, "
                "which a file does not hold. Set it again: set_params(costs=...)."
            )
        if self.paid_by_row and task.costs.row_prices is None:
            raise ValueError(
                f"{_CANT_CONTINUE} was fitted with prices per row, which its predictions go on paying: they can't be "
                "left out. Add them to the other prices, costs=... + PerRow(...); PerRow(0.0) if looking costs nothing "
                f"from now on. {_START_AGAIN}"
            )
        if self.names != task.names:
            raise ValueError(f"{_CANT_CONTINUE} has other feature names, or in another order. {_START_AGAIN}")
        same = type(self.loss) is type(task.loss) and (self.loss == task.loss or not isinstance(task.loss, BuiltIn))
        if not same:
            raise ValueError(f"{_CANT_CONTINUE} was fitted with loss={self.loss!r}, not {task.loss!r}. {_START_AGAIN}")
        if (self.constraints or Constraints()) != task.constraints:
            raise ValueError(
                f"{_CANT_CONTINUE} was fitted with another monotonic_cst or interaction_cst, which its trees keep. "
                f"{_START_AGAIN}"
            )
        self._check_draw(task)
        paid = float(self.model.curve.cost[-1])
        if paid > task.budget * (1 + 1e-9):
            raise ValueError(
                f"{_CANT_CONTINUE} has paid {paid:g} already, more than budget={task.budget:g}. Purchases can't be "
                "undone: raise the budget, or start again with sklearn.base.clone(estimator)."
            )
        if trees.n_iterations > task.params.max_iter:
            raise ValueError(
                f"warm_start=True, and the model has {trees.n_iterations} iterations already; "
                f"max_iter={task.params.max_iter} must not be smaller."
            )

    def _check_draw(self, task: FitTask) -> None:
        """Rows that the model was trained on must not become validation rows."""
        sets_aside = task.params.early_stopping and task.validation is None
        if sets_aside and self.seed is not None and self.draw != DRAW:
            raise ValueError(
                f"{_CANT_CONTINUE} was fitted by another version of frugalboost, which set other rows aside for "
                "early_stopping. Rows that it was trained on would be validation rows now. Pass X_val and y_val, or "
                "start again with sklearn.base.clone(estimator)."
            )

    def has_converged(self, fingerprint: tuple[int, str] | None) -> bool:
        """Whether one long fit would have stopped here too."""
        return self.model.ending == "converged" and fingerprint is not None and self.fingerprint == fingerprint


def fingerprint_of(task: FitTask) -> tuple[int, str]:
    """A checksum of everything that decides which trees are grown, to recognise a converged fit.

    It depends neither on how bins are stored nor on the parts that a table lies in.
    """
    seen = [*_of_rows(task.train, task.bins, task.part)]
    if task.validation is not None:
        seen += _of_rows(task.validation, task.validation_bins, task.part)
    checksum = zlib.crc32(np.ascontiguousarray(task.costs.start).data, zlib.crc32(repr(seen).encode()))
    constraints = [task.constraints] if task.constraints else []
    return checksum, repr((task.params.key(), task.costs.key, task.budget, task.loss, *constraints))


def _of_rows(rows: Sample, bins: _core.BinnedMatrix | None, part: _core.ThreadPart | None) -> list[int]:
    """Checksums of targets, weights and the bins of each column; those of parts add up."""
    first = first_row(len(rows), part)
    own = [len(rows), *(0 if v is None else of_vector(v, first) for v in (rows.y, rows.weights))]
    factors = row_hashes(len(rows), 0, part)
    if bins is not None:
        own += [int(np.dot(bins.bins(c).astype(np.uint64), factors)) for c in range(bins.shape[1])]
    return [sum(values) % 2**64 for values in zip(*of_all(own, part), strict=True)]
