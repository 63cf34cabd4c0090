"""The mean of several models as one model: each is fitted on a part of the rows and stopped early on the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from frugalboost._support.parallel import Check, call_both, run_parallel
from frugalboost.losses import has_values
from frugalboost.selection.folds import stratified_folds
from frugalboost.training.boosting import Observer, boost
from frugalboost.training.ensemble import ARRAYS, SET_BYTES, Ensemble, renumbered
from frugalboost.training.model import Curve, Model, Purchases
from frugalboost.training.scales import Scales
from frugalboost.training.task import FitTask

Places = NDArray[np.int64]


def fit_average(task: FitTask, observer: Observer | None, threads: int) -> Model:
    """Fit as many models as ``average`` says, each stopped on its own held-out rows, and return their mean.

    All start from the start value of all rows, since a fold may lack a class.
    """
    if not has_values(task.loss):
        raise ValueError("average needs the loss of every row: give your loss a method 'value'.")
    one = replace(task.params, max_iter=1, early_stopping=False)
    start = boost(replace(task, params=one), None, None, threads).ensemble.start
    models, seed = task.params.average, task.params.seed
    repeats = range(-(-models // 5))
    folds = [fold for r in repeats for fold in stratified_folds(task.train, task.outputs, 5, seed + r)][:models]
    works = [partial(_fit, task, train, held, start, observer) for train, held in folds]
    return mean_of(run_parallel(works, threads), task, threads)


def _fit(
    task: FitTask,
    train: Places,
    held: Places,
    start: NDArray[np.float64],
    observer: Observer | None,
    check: Check | None,
    threads: int,
) -> Model:
    rows = task.train
    part = replace(
        task,
        train=rows.targets(train),
        validation=rows.targets(held),
        bins=task.binned.take(None, train, threads),
        validation_bins=task.binned.take(None, held, threads),
        params=replace(task.params, early_stopping=True),
    )
    return boost(part, None, call_both(observer, check), threads, start)


def mean_of(models: Sequence[Model], task: FitTask, threads: int) -> Model:
    """One model of all trees, scaled by the number of models: the first trees of all, then the second ones."""
    trees = _interleaved(models)
    model = replace(
        models[0],
        ensemble=trees,
        purchases=_purchases(trees),
        best_iteration=trees.n_iterations,
        ending="early_stopping",
    )
    iterations = range(trees.n_iterations + 1)
    n_features = np.array([(model.purchases.iteration <= i).sum() for i in iterations], dtype=np.int32)
    none = np.full(len(iterations), np.nan)
    train = trees.loss_curve(task.binned, task.train, task.train, task.loss, threads)
    validation = none
    if task.validation is not None and task.validation_bins is not None:
        validation = trees.loss_curve(task.validation_bins, task.validation, task.train, task.loss, threads)
    return replace(model, curve=Curve(train, validation, n_features, np.zeros_like(none), none))


def _interleaved(models: Sequence[Model]) -> Ensemble:
    outputs = models[0].ensemble.n_outputs
    order = sorted((i, m) for m, model in enumerate(models) for i in range(model.best_iteration))
    of_nodes = [name for name in ARRAYS if name not in ("start", "tree_begin", "sets")]
    scales, numbers = Scales.joined([model.ensemble.scales for model in models])
    known = np.cumsum([0, *(len(model.ensemble.sets) // SET_BYTES for model in models)])
    pieces: dict[str, list[NDArray[np.generic]]] = {name: [] for name in of_nodes}
    begin = [0]
    for iteration, m in order:
        trees = models[m].ensemble
        for tree in range(iteration * outputs, (iteration + 1) * outputs):
            nodes = slice(trees.tree_begin[tree], trees.tree_begin[tree + 1])
            for name, parts in pieces.items():
                parts.append(getattr(trees, name)[nodes])
            sets = trees.level_set[nodes]
            pieces["level_set"][-1] = np.where(sets < 0, -1, sets + known[m]).astype(np.int32)
            pieces["line"][-1] = renumbered(trees.line[nodes], numbers[m])
            begin.append(begin[-1] + int(nodes.stop - nodes.start))
    first = models[0].ensemble
    starts = np.array([model.ensemble.start for model in models])
    start = first.start if (starts == first.start).all() else starts.mean(axis=0)
    arrays = {name: np.concatenate([getattr(first, name)[:0], *parts]) for name, parts in pieces.items()}
    for name in ("value", "slope"):
        arrays[name] = arrays[name] / len(models)
    arrays["sets"] = np.concatenate([model.ensemble.sets for model in models])
    return Ensemble(start=start, tree_begin=np.array(begin, dtype=np.int64), scales=scales, **arrays)


def _purchases(trees: Ensemble) -> Purchases:
    """Features in the order in which the trees first use them; those of several classes side by side."""
    used = trees.used_feature
    place = np.flatnonzero(used >= 0)
    tree = np.searchsorted(trees.tree_begin, place, side="right") - 1
    iteration = (tree // trees.n_outputs + 1).astype(np.int32)
    feature, gain = used[place], trees.gain[place]
    order = np.lexsort((feature, -gain, place - trees.tree_begin[tree], iteration))
    first = np.sort(np.unique(feature[order], return_index=True)[1])
    chosen = order[first]
    return Purchases(feature[chosen], np.zeros(len(chosen)), gain[chosen], iteration[chosen])
