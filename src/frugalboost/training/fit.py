"""One fit from checked rows to a model: set rows aside, bin, boost, or continue an earlier fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from frugalboost import _core
from frugalboost._support.progress import ProgressLine
from frugalboost.engines.devices import device_for, name_of, why_not
from frugalboost.losses import Cox
from frugalboost.tables import SparseTable
from frugalboost.tables.sample import Sample
from frugalboost.tables.targets import positive_weight
from frugalboost.training.binning import Thresholds
from frugalboost.training.boosting import Observer, boost
from frugalboost.training.model import Model
from frugalboost.training.set_aside import set_aside
from frugalboost.training.task import FitTask
from frugalboost.training.warm_start import WarmStart, fingerprint_of
from frugalboost.training.watching import Watch

FIRST_STAGE = 25  # iterations of the first of the stages after which a model is kept
ENDINGS = {
    "max_iter": "max_iter was reached",
    "converged": "no split is worth its price any more",
    "early_stopping": "the validation loss or score is no longer getting better",
    "callback": "a callback has asked for it",
}


def prepare(task: FitTask, threads: int, warm: WarmStart | None = None) -> FitTask:
    """Set rows aside for early stopping, and bin; this is done once, even if many fits follow."""
    task = _with_device(task)
    if warm is not None and warm.seed is not None:
        task = replace(task, params=replace(task.params, validation_seed=warm.seed))
    train = _with_positive_weight(task.train, task.part)
    validation = None if task.validation is None else _with_positive_weight(task.validation, task.part)
    if validation is None and task.params.early_stopping:
        train, validation = _set_aside(train, task)
    thresholds = None if warm is None else warm.thresholds
    same_bins = thresholds is not None
    if thresholds is None:
        known = None if warm is None else warm.model.levels  # the trees refer to their bins
        found = partial(Thresholds.find, levels=known, part=task.part)
        thresholds = found(train.table, train.weights, task.params.max_bins, threads)
    binned = partial(thresholds.bin, threads=threads, folder=task.params.bins_folder, part=task.part)
    task = replace(
        task,
        train=train,
        validation=validation,
        bins=binned(train.table),
        validation_bins=None if validation is None else binned(validation.table),
        thresholds=thresholds,
        levels=thresholds.levels,
        same_bins=same_bins,
    )
    # Scores belong to the bins, which fits in several threads may share: so they are made here.
    lines = task.params.base in ("lines", "both") or (task.params.refit == "auto" and task.params.base == "auto")
    return with_scores(task, threads) if lines else task


def _with_device(task: FitTask) -> FitTask:
    """Where the fit runs: a GPU that was asked for and can't be used is told before the work begins."""
    asked = task.params.device
    if asked == "cpu":
        return task
    found = device_for(asked, _not_on_a_gpu(task))
    params = replace(task.params, device="cpu" if found is None else "cuda")
    return replace(task, params=params, runs_on=name_of(found))


def _not_on_a_gpu(task: FitTask) -> str | None:
    """What of a fit a GPU can't do."""
    if isinstance(task.train.table, SparseTable):
        return "A sparse table"
    if task.costs.row_prices is not None:
        return "A price per row"
    if task.outputs > 1 and not task.classes:
        return "A fit of several targets"
    return why_not(task.loss, task.part)


def with_scores(task: FitTask, threads: int) -> FitTask:
    """A prepared task whose bins have scores, on which lines are drawn."""
    binned, thresholds = task.binned, task.thresholds
    assert thresholds is not None
    if len(binned.scores):
        return task
    scores = thresholds.scores
    if scores is None:
        scale = getattr(_core.LineScale, task.params.line_scale)
        binned.score_bins(task.train.weights, scale, threads, task.part)
        scores = np.asarray(binned.scores)
    for rows in (task.bins, task.validation_bins):
        if rows is not None:
            rows.scores = scores
    return replace(task, thresholds=replace(thresholds, scores=scores))


def fit(
    task: FitTask,
    threads: int,
    warm: WarmStart | None = None,
    verbose: bool = False,
    watch: Watch | None = None,
) -> tuple[Model, WarmStart]:
    """Fit a prepared task, or continue an earlier fit."""
    fingerprint = fingerprint_of(task) if task.params.warm_start else None
    if warm is not None and warm.has_converged(fingerprint):
        return warm.model, warm
    model = _with_progress(task, None if warm is None else warm.model, threads, verbose, watch)
    return model, WarmStart.after(task, model, fingerprint, warm)


def fit_in_stages(
    task: FitTask,
    threads: int,
    warm: WarmStart | None,
    kept: Model | None,
    keep: Callable[[Model], None],
    first_stage: int = FIRST_STAGE,
    observer: Observer | None = None,
) -> tuple[Model, WarmStart]:
    """Fit a prepared task, or continue an earlier fit; after some iterations, and three times as many, call ``keep``.

    A fit that was interrupted goes on from what was ``kept``, and leads to the model of one that was not.
    """
    fingerprint = fingerprint_of(task) if task.params.warm_start else None
    if warm is not None and warm.has_converged(fingerprint):
        return warm.model, warm
    model = kept if kept is not None or warm is None else warm.model
    task = replace(task, same_bins=task.same_bins or kept is not None)
    most, limit, ending = task.params.max_iter, max(1, first_stage), None
    while ending is None or (ending == "max_iter" and model is not None and model.n_iterations < most):
        while model is not None and limit <= model.n_iterations:
            limit *= 3
        stage = replace(task, params=replace(task.params, max_iter=min(limit, most)))
        model = boost(stage, model, observer, threads)
        task, ending = replace(task, same_bins=True), model.ending
        keep(model)
    assert model is not None
    return model, WarmStart.after(task, model, fingerprint, warm)


def _with_progress(task: FitTask, previous: Model | None, threads: int, verbose: bool, watch: Watch | None) -> Model:
    if not verbose:
        return boost(task, previous, None, threads, watch=watch)
    line = ProgressLine(0 if previous is None else previous.n_iterations, task.params.max_iter)
    model = boost(task, previous, line, threads, watch=watch)
    line.close(f"stopped: {ENDINGS[model.ending]}" + (f" (on {task.runs_on})" if task.runs_on else ""))
    return model


def _with_positive_weight(sample: Sample, part: _core.ThreadPart | None) -> Sample:
    """Leave out rows whose weight is zero, or rounds to zero beside the others: they must not change the model."""
    if sample.weights is None:
        return sample
    positive = positive_weight(sample.weights, part)
    return sample if positive.all() else sample.take(np.flatnonzero(positive))


def _set_aside(sample: Sample, task: FitTask) -> tuple[Sample, Sample]:
    """Training and validation rows."""
    seed = task.params.validation_seed
    assert seed is not None
    y, classes = sample.y, max(task.outputs, 2) if task.classes else 0
    if isinstance(task.loss, Cox) and min((y > 0).sum(), (y < 0).sum()) > 1:
        y, classes = (y > 0).astype(np.float64), 2  # both parts have their share of events
    held = set_aside(y, classes, task.params.validation_fraction, seed, task.part)
    return sample.take(np.flatnonzero(~held)), sample.take(np.flatnonzero(held))
