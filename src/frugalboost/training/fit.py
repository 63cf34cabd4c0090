"""One fit from checked rows to a model: set rows aside, bin, boost, and remember what a continued fit needs."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from frugalboost._support.progress import ProgressLine, SellingLine
from frugalboost.costs import Resolved
from frugalboost.losses import BuiltIn, Loss
from frugalboost.selection import backward as selection
from frugalboost.selection.backward import Last, Outcome
from frugalboost.selection.folds import by_appearance
from frugalboost.tables.sample import Rows
from frugalboost.tables.targets import that_count
from frugalboost.training.binning import Thresholds
from frugalboost.training.boosting import Model, Task, boost
from frugalboost.training.params import Params

Floats = NDArray[np.float64]

ENDINGS = {
    "max_iter": "max_iter was reached",
    "converged": "no split pays for itself any more",
    "early_stopping": "the validation loss has stopped falling",
}


@dataclass(frozen=True)
class Job:
    """What an estimator asks for."""

    params: Params
    loss: BuiltIn | Loss
    outputs: int
    names: tuple[str, ...] | None  # of the features
    costs: Resolved
    budget: float
    max_bins: int
    bins_folder: str | None  # where bins are kept in a file; None: in memory
    validation_fraction: float
    stratify: bool
    seed: int | None  # decides which rows are set aside; None: none are
    folds_seed: int  # decides the folds in which features are weighed
    number: int | None  # of features to select; None: as many as pay
    refit: bool | str
    last: Last  # how the last fit on chosen features is made
    remember: bool  # a continued fit may follow
    verbose: bool
    threads: int


@dataclass(frozen=True)
class Memory:
    """What a continued fit needs of the one before."""

    model: Model
    loss: BuiltIn | Loss
    names: tuple[str, ...] | None  # of the features
    seed: int | None  # None: no rows were set aside
    # Only where a continued fit was announced (warm_start=True).
    thresholds: Thresholds | None = None
    lost_costs: bool = False  # the model came from a file, and prices with structure are not in files
    fingerprint: tuple[int, str] | None = None

    def check(self, job: Job) -> None:
        """Raise ValueError where a job can't go on from this."""
        trees = self.model.ensemble
        if trees.n_outputs != job.outputs or len(self.model.prices) != len(job.costs.start):
            raise ValueError(f"{_CANT_GO_ON} has another number of features or classes. {_START_ANEW}")
        if self.lost_costs and not job.costs.structured:
            raise ValueError(
                "warm_start=True, but this model came from a file and was fitted with prices with structure, which a "
                "file does not hold. Set them again: set_params(costs=...)."
            )
        if self.names != job.names:
            raise ValueError(f"{_CANT_GO_ON} has other feature names, or in another order. {_START_ANEW}")
        same = type(self.loss) is type(job.loss) and (self.loss == job.loss or not isinstance(job.loss, BuiltIn))
        if not same:
            raise ValueError(f"{_CANT_GO_ON} was fitted with loss={self.loss!r}, not {job.loss!r}. {_START_ANEW}")
        paid = float(self.model.purchases.price.sum())
        if paid > job.budget * (1 + 1e-9):
            raise ValueError(
                f"{_CANT_GO_ON} has paid {paid:g} already, more than budget={job.budget:g}. What is bought stays: "
                "raise the budget, or start anew with sklearn.base.clone(estimator)."
            )
        if trees.n_iterations > job.params.max_iter:
            raise ValueError(
                f"warm_start=True, and the model has {trees.n_iterations} iterations already; "
                f"max_iter={job.params.max_iter} must not be smaller."
            )


_CANT_GO_ON = "warm_start=True, but the model to go on from"
_START_ANEW = "Start anew with sklearn.base.clone(estimator)."


@dataclass(frozen=True)
class Prepared:
    """A task with all that was decided on the way to it."""

    task: Task
    thresholds: Thresholds
    seed: int | None  # of the rows set aside


def prepare(job: Job, train: Rows, validation: Rows | None, memory: Memory | None = None) -> Prepared:
    """Set rows aside where the job wants it, and bin: once, however many fits follow."""
    train = _that_count(train)
    seed = job.seed if memory is None or memory.seed is None else memory.seed
    if validation is not None:
        validation = _that_count(validation)
    elif job.params.early_stopping:
        assert seed is not None
        train, validation = _set_aside(train, job, seed)
    thresholds = None if memory is None else memory.thresholds
    same_bins = thresholds is not None
    if thresholds is None:
        known = None if memory is None else memory.model.levels  # trees speak of their bins
        thresholds = Thresholds.find(train.table, train.weights, job.max_bins, job.threads, levels=known)
    binned = thresholds.bin(train.table, job.threads, job.bins_folder)
    binned_validation = None
    if validation is not None:
        binned_validation = thresholds.bin(validation.table, job.threads, job.bins_folder)
    task = Task(
        train,
        validation,
        binned,
        binned_validation,
        job.loss,
        job.outputs,
        job.costs,
        job.budget,
        job.params,
        thresholds.levels,
        same_bins,
    )
    return Prepared(task, thresholds, seed)


def run(job: Job, train: Rows, validation: Rows | None, memory: Memory | None) -> tuple[Outcome, Memory]:
    """Fit, or go on from what is remembered."""
    if memory is not None:
        memory.check(job)
    prepared = prepare(job, train, validation, memory)
    if job.number is not None or job.refit or job.last.models > 1:
        outcome = _selected(prepared, job)
        return outcome, Memory(outcome.model, job.loss, job.names, prepared.seed)
    task = prepared.task
    fingerprint = _fingerprint(job, task) if job.remember else None
    if memory is not None and memory.model.ending == "converged" and memory.fingerprint == fingerprint is not None:
        return Outcome(memory.model), memory  # one long fit would have stopped here too
    model = _with_progress(task, None if memory is None else memory.model, job)
    memory = Memory(model, job.loss, job.names, prepared.seed)
    if job.remember:
        memory = replace(memory, thresholds=prepared.thresholds, fingerprint=fingerprint)
    return Outcome(model), memory


def _selected(prepared: Prepared, job: Job) -> Outcome:
    """Exactly so many features, or a second fit on those that were bought."""
    task = prepared.task
    if job.number is None:
        return selection.forward(task, job.refit, job.last, None, job.threads)
    tell = SellingLine() if job.verbose else None
    return selection.sell_back(task, [job.number], job.folds_seed, job.last, None, job.threads, tell)[job.number]


def _with_progress(task: Task, previous: Model | None, job: Job) -> Model:
    if not job.verbose:
        return boost(task, previous, None, job.threads)
    line = ProgressLine(0 if previous is None else previous.n_iterations, job.params.max_iter)
    model = boost(task, previous, line, job.threads)
    line.close(f"stopped: {ENDINGS[model.ending]}")
    return model


def _that_count(rows: Rows) -> Rows:
    """Leave out rows of weight zero, or so light that they are none beside the others: they must not move anything."""
    if rows.weights is None:
        return rows
    counts = that_count(rows.weights)
    return rows if counts.all() else rows.at(np.flatnonzero(counts))


def _set_aside(rows: Rows, job: Job, seed: int) -> tuple[Rows, Rows]:
    try:
        train, held = train_test_split(
            np.arange(len(rows)),
            test_size=job.validation_fraction,
            stratify=by_appearance(rows.y) if job.stratify else None,
            random_state=seed,
        )
    except ValueError as error:
        raise ValueError(
            f"early_stopping: {len(rows)} rows can't be split with "
            f"validation_fraction={job.validation_fraction:g}. {error}"
        ) from None
    return rows.at(train), rows.at(held)


def _fingerprint(job: Job, task: Task) -> tuple[int, str]:
    """All that decides which trees are grown and kept, so that a converged fit is known again."""
    checksum = 0
    arrays: list[NDArray[np.generic] | None] = [task.train.y, task.train.weights, job.costs.start]
    if task.validation is not None:
        arrays += [task.validation.y, task.validation.weights]
    for binned in (task.binned, task.binned_validation):
        if binned is not None:
            arrays += [np.asarray(a) for a in (binned.bytes, binned.listed_bins, binned.listed_rows)]
    for array in arrays:
        checksum = zlib.crc32(b"" if array is None else np.ascontiguousarray(array).data, checksum)
    return checksum, repr((replace(job.params, max_iter=0), job.costs.key, job.budget, job.loss))
