"""The fit of an estimator: plain, refitted on the features it bought, or with exactly k of them."""

from __future__ import annotations

from dataclasses import replace

from frugalboost._support.progress import SellingLine
from frugalboost.selection.exactly_k import eliminate
from frugalboost.selection.final_fit import FitResult, forward
from frugalboost.tables.equal_rows import kept_together
from frugalboost.training import fit as training
from frugalboost.training.task import FitTask
from frugalboost.training.warm_start import WarmStart
from frugalboost.training.watching import Watch


def fit(
    task: FitTask,
    threads: int,
    warm: WarmStart | None = None,
    verbose: bool = False,
    watch: Watch | None = None,
) -> tuple[FitResult, WarmStart]:
    """Fit, or continue an earlier fit; also returns what a continued fit needs. ``watch`` follows a single fit."""
    if warm is not None:
        warm.check(task)
    task = training.prepare(task, threads, warm)
    if task.params.n_features_to_select is not None or task.params.refit or task.params.average > 1:
        task = replace(task, train=kept_together(task.train))  # rows are held out
    number = task.params.n_features_to_select
    if number is not None:
        result = eliminate(task, [number], None, threads, SellingLine() if verbose else None)[number]
    elif task.params.refit or task.params.average > 1:
        result = forward(task, None, threads)
    else:
        model, warm = training.fit(task, threads, warm, verbose, watch)
        return FitResult(model), warm
    return result, WarmStart.after(task, result.model)
