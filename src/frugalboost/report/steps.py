"""The error with one feature, with two, with three: what each purchase contributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import check_scoring

from frugalboost._support.parallel import Check, run_parallel
from frugalboost._support.progress import Stage, Tally, Work, progress_counter
from frugalboost._support.threads import threads_for
from frugalboost.estimators.base import GBFSBase
from frugalboost.estimators.cross_validation import GBFSCVBase
from frugalboost.report.held_out import HeldOutPredictions, classes_of
from frugalboost.report.refits import constant_on, fitted_on, predictions_of, settings_for_columns
from frugalboost.selection.scoring import Scorer
from frugalboost.selection.splits import Split
from frugalboost.tables.sample import Sample

ALL_UNTIL, MOST_STEPS = 20, 40  # sizes at which errors are measured

Columns = NDArray[np.intp]


class HeldOutScorer:
    """Scores models on held-out rows, if there are any."""

    def __init__(self, estimator: GBFSBase, scoring: Any, test: Sample | None) -> None:
        self._scorer = Scorer(check_scoring(estimator, scoring=scoring))
        self.test = test

    def __call__(self, model: Any, columns: Columns | None = None) -> float | None:
        """The score; None without rows. ``columns``: the model knows only these."""
        if self.test is None:
            return None
        rows = self.test if columns is None else self.test.columns(columns)
        return self._scorer(model, rows.X, rows.y, rows.weights)


@dataclass(frozen=True)
class Step:
    """The score with the first features."""

    n_features: int
    score: float
    test_score: float | None


@dataclass(frozen=True)
class Steps:
    """The scores with the first features, and what the fits for them tell besides."""

    scores: list[Step]
    bought: Sequence[Columns] = ()  # features in each split that was used, in order of purchase
    held_out: HeldOutPredictions | None = None  # of a model with the chosen settings in each split


def steps_of(
    search: GBFSCVBase,
    model: GBFSBase,
    rows: Sample,
    scorer: HeldOutScorer,
    mu_given: bool = False,
    bought: Sequence[NDArray[np.int64]] | None = None,
) -> Steps:
    """Scores of models with only the first features that were bought, and predictions with the chosen settings.

    Each split buys its own features on its training rows, with the settings of the chosen model, and models with the
    first ones are scored on its held-out rows: features chosen with the help of those rows would look better than they
    are. Test rows took no part in the choice, so there the chosen model's own features are used.

    Parameters
    ----------
    search : GBFSClassifierCV or GBFSRegressorCV
        Fitted.
    model : GBFSClassifier or GBFSRegressor
        The one that was chosen.
    rows : Sample
        Those of the fit.
    scorer : HeldOutScorer
        Has the test rows.
    mu_given : bool, default=False
        Whether the model's mu is to be the same in every split, not the same share of that split's mu_max.
    bought : sequence of ndarray or None, default=None
        What each split buys, if the search knows it, or each of the first splits; None: it is bought again.

    Returns
    -------
    Steps
        Scores for one feature, two, and so on; with many features, only some sizes. What each split bought, and
        predictions for its held-out rows.
    """
    sizes = step_sizes(len(model.selected_features_))
    if not sizes:
        return Steps([])
    splits = splits_of(search, rows)[: None if bought is None else len(bought)]
    n_fits = (len(splits) + (scorer.test is not None)) * len(sizes)
    count = progress_counter(n_fits, Stage(Work.FIRST_FEATURES)) if search.verbose else None
    threads = threads_for(search.n_jobs)
    shares = search.mus is None and not mu_given
    classes = classes_of(model)
    scores, orders, predictions = [], [], []
    for number, (train, held_out) in enumerate(splits):
        part, others = rows.take(train), rows.take(held_out)
        own = HeldOutScorer(model, search.scoring, others)
        if bought is None:
            again = fitted_on(model, part, shares, search.n_jobs)
            order, found = again.selected_features_.astype(np.intp), HeldOutPredictions.of(again, others, classes)
        else:
            order = bought[number].astype(np.intp)
            found = predictions_of(model, part, others, order, shares, search.n_jobs, classes)
        scores.append(scores_of(model, part, order, own, sizes, threads, count))
        orders.append(order)
        predictions.append(found.from_split(number, held_out))
    on_test: Sequence[float | None] = [None] * len(sizes)
    if scorer.test is not None:
        on_test = scores_of(model, rows, model.selected_features_.astype(np.intp), scorer, sizes, threads, count)
    means = np.mean(np.array(scores, dtype=float), axis=0).tolist()
    steps = [Step(*step) for step in zip(sizes, means, on_test, strict=True)]
    return Steps(steps, orders, HeldOutPredictions.joined(predictions))


def splits_of(search: GBFSCVBase, rows: Sample) -> list[Split]:
    """The splits of a search, drawn once more."""
    return search._splits(rows, search._template()._checked_rows(rows))


def constant_score(search: GBFSCVBase, rows: Sample) -> float | None:
    """The mean score of a constant over the splits of a search."""
    constant = DummyClassifier(strategy="prior") if is_classifier(search) else DummyRegressor()
    scores = []
    for train, held_out in splits_of(search, rows):
        part = rows.take(train)
        fitted = clone(constant).fit(np.zeros((len(train), 1)), part.y, part.weights)
        try:
            scores.append(HeldOutScorer(search.estimator_, search.scoring, rows.take(held_out))(fitted))
        except (TypeError, ValueError, AttributeError):  # a scorer that a constant model can't serve
            return None
    mean = float(np.mean(np.array(scores, dtype=float)))
    return mean if np.isfinite(mean) else None


def step_sizes(n: int) -> list[int]:
    """1, 2, 3, ..., and further apart from 20 on."""
    if n <= ALL_UNTIL:
        return list(range(1, n + 1))
    wide = np.geomspace(ALL_UNTIL, n, MOST_STEPS - ALL_UNTIL).round().astype(int)
    return sorted({*range(1, ALL_UNTIL + 1), *wide.tolist()})


def scores_of(
    model: GBFSBase,
    rows: Sample,
    order: Columns,
    scorer: HeldOutScorer,
    sizes: Sequence[int],
    threads: int,
    count: Tally | None,
) -> list[float | None]:
    """Scores of models with the first features of an order; with all of them if there are fewer."""

    def score(k: int, check: Check | None, threads: int) -> float | None:
        found = score_with(model, rows, order[:k], scorer, threads)
        if count is not None:
            count.step()
        return found

    return run_parallel([partial(score, k) for k in sizes], threads)


def score_with(model: GBFSBase, rows: Sample, columns: Columns, scorer: HeldOutScorer, threads: int) -> float | None:
    """The score of a model with the settings of another, on some columns that are all free."""
    if not len(columns):  # nothing was worth its price: a constant
        return scorer(constant_on(model, rows, threads))
    own = settings_for_columns(model, columns).set_params(n_jobs=threads)
    return scorer(own._fit_rows(rows.columns(columns)), columns)
