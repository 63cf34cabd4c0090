"""Held-out importance: how much worse models predict rows outside the fit when a feature is hidden from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from frugalboost._support.parallel import Check, call_both, run_parallel
from frugalboost.costs import resolve
from frugalboost.selection.folds import FOLDS, stratified_folds
from frugalboost.training.boosting import Observer, boost
from frugalboost.training.task import FitTask

Floats = NDArray[np.float64]
Columns = NDArray[np.int64]

MOST_ROWS = 20_000  # used to measure importances; the last fit uses all rows
COARSE_RATE = 0.3  # learning rate of models that only measure importances
COARSE_PATIENCE = 8  # iterations without improvement after which they stop


class HeldOutImportance:
    """Importance of features in folds of the training rows, for models on given columns."""

    def __init__(self, task: FitTask, observer: Observer | None, threads: int) -> None:
        self._task, self._observer, self._threads = task, observer, threads
        self._folds = stratified_folds(task.train, task.outputs, FOLDS, task.params.seed, MOST_ROWS)
        self._curves: dict[bytes, Floats] = {}
        self._params = replace(
            task.params,
            mu=0.0,
            new_features=1.0,
            learning_rate=max(task.params.learning_rate, COARSE_RATE),
            n_iter_no_change=min(task.params.n_iter_no_change, COARSE_PATIENCE),
            early_stopping=True,
        )

    def loss(self, columns: Columns) -> float:
        """Mean held-out loss of models on these columns, after the number of iterations that is best for all folds."""
        return float(self._curves_of(columns).mean(axis=0).min())

    def no_better_than_constant(self, columns: Columns) -> bool:
        """Whether models on these columns predict held-out rows hardly better than a constant."""
        curves = self._curves_of(columns)
        better = curves[:, 0] - curves[:, curves.mean(axis=0).argmin()]
        # Two standard errors, because columns and iterations were chosen on these very rows.
        return len(better) < 2 or bool(better.mean() <= 2 * better.std(ddof=1) / np.sqrt(len(better)))

    def _curves_of(self, columns: Columns) -> Floats:
        """For each fold the held-out loss after each iteration."""
        key = columns.tobytes()
        if key not in self._curves:
            self.loss_increase(columns, [])
        return self._curves[key]

    def loss_increase(self, columns: Columns, bags: Sequence[Columns]) -> Floats:
        """By how much the held-out loss rises when each bag of columns is hidden from models on these columns."""
        places = [np.searchsorted(columns, bag).astype(np.int32) for bag in bags]
        works = [partial(self._in_fold, train, held, columns, places) for train, held in self._folds]
        curves, rises = zip(*run_parallel(works, self._threads), strict=True)
        longest = max(len(curve) for curve in curves)
        padded = [
            np.pad(curve, (0, longest - len(curve)), mode="edge") for curve in curves
        ]  # a fold that stopped keeps its last loss
        self._curves[columns.tobytes()] = np.array(padded)
        return np.asarray(np.mean(rises, axis=0))

    def _in_fold(
        self,
        train: Columns,
        held: Columns,
        columns: Columns,
        bags: list[NDArray[np.int32]],
        check: Check | None,
        threads: int,
    ) -> tuple[Floats, Floats]:
        """One fold: the held-out loss after each iteration, and its increase at the best one without each bag."""
        task, rows = self._task, self._task.train
        validation, held_bins = rows.targets(held), task.binned.take(columns, held, threads)
        inner = replace(
            narrowed(task, columns, threads, train),
            train=rows.targets(train),
            validation=validation,
            validation_bins=held_bins,
            params=self._params,
        )
        model = boost(inner, None, call_both(self._observer, check), threads)
        if not bags:
            return model.curve.validation_loss, np.zeros(0)
        trees, best = model.ensemble, model.best_iteration
        without = trees.losses_without(held_bins, validation, inner.train, task.loss, bags, best, threads)
        return model.curve.validation_loss, without[1:] - without[0]


def narrowed(task: FitTask, columns: Columns, threads: int, rows: Columns | None = None) -> FitTask:
    """The same task on some columns of the binned table, all free."""
    validation = task.validation_bins
    return replace(
        task,
        bins=task.binned.take(columns, rows, threads),
        validation_bins=None if validation is None else validation.take(columns, None, threads),
        levels={},
        costs=replace(resolve(np.zeros(len(columns)), len(columns), None), given=False),
        budget=np.inf,
        constraints=task.constraints.on(columns),
        params=replace(task.params, mu=0.0, new_features=1.0),
    )
