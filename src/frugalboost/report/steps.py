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
from frugalboost.estimators.template import path_fitter
from frugalboost.selection.scoring import Scorer
from frugalboost.selection.splits import Split
from frugalboost.tables.sample import Sample

ALL_UNTIL, MOST_STEPS = 20, 40  # sizes at which errors are measured
NEVER = 1e300  # a mu at which nothing is bought

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


def steps_of(
    search: GBFSCVBase,
    model: GBFSBase,
    rows: Sample,
    scorer: HeldOutScorer,
    mu_given: bool = False,
    bought: Sequence[NDArray[np.int64]] | None = None,
) -> list[Step]:
    """Scores of models with only the first features that were bought.

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
    list of Step
        For one feature, two, and so on; with many features, only some sizes.
    """
    sizes = step_sizes(len(model.selected_features_))
    if not sizes:
        return []
    splits = splits_of(search, rows)[: None if bought is None else len(bought)]
    n_fits = (len(splits) + (scorer.test is not None)) * len(sizes)
    count = progress_counter(n_fits, Stage(Work.FIRST_FEATURES)) if search.verbose else None
    threads = threads_for(search.n_jobs)
    shares = search.mus is None and not mu_given
    scores = []
    for number, (train, held_out) in enumerate(splits):
        part = rows.take(train)
        own = HeldOutScorer(model, search.scoring, rows.take(held_out))
        order = purchases_on(model, part, shares, search.n_jobs) if bought is None else bought[number].astype(np.intp)
        scores.append(scores_of(model, part, order, own, sizes, threads, count))
    on_test: Sequence[float | None] = [None] * len(sizes)
    if scorer.test is not None:
        on_test = scores_of(model, rows, model.selected_features_.astype(np.intp), scorer, sizes, threads, count)
    means = np.mean(np.array(scores, dtype=float), axis=0).tolist()
    return [Step(*step) for step in zip(sizes, means, on_test, strict=True)]


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


def purchases_on(model: GBFSBase, rows: Sample, shares: bool, n_jobs: int | None) -> Columns:
    """The features that the same settings buy on other rows; ``shares``: mu is the same share of mu_max there."""
    again = clone(model).set_params(n_jobs=n_jobs, verbose=0)
    if shares and model.n_features_to_select is None and model.mu_max_ > 0:
        checked, _ = again._checked(rows.X, rows.y, rows.weights)
        again.set_params(mu=model.mu * path_fitter(again, checked, n_jobs=n_jobs).mu_max / model.mu_max_)
    columns: Columns = again._fit_rows(rows).selected_features_.astype(np.intp)
    return columns


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
        constant = clone(model).set_params(n_features_to_select=None, mu=NEVER, costs=None, max_iter=1, n_jobs=threads)
        return scorer(constant.fit(rows.X, rows.y, rows.weights))
    own = settings_for_columns(model, columns).set_params(n_jobs=threads)
    return scorer(own._fit_rows(rows.columns(columns)), columns)


def settings_for_columns(model: GBFSBase, columns: Columns) -> GBFSBase:
    """The model's settings for a table of some of its columns, all of them free."""
    categorical = [i for i, c in enumerate(columns.tolist()) if c in model.categories_]
    settings: dict[str, Any] = {"mu": 0.0, "costs": None, "budget": None, "n_features_to_select": None, "verbose": 0}
    settings["categorical_features"] = categorical or "from_dtype"
    if model.n_features_to_select is not None and model.get_params().get("multi_strategy") == "auto":
        settings["multi_strategy"] = "multi_output_tree"  # as the model has been fitted
    changed: GBFSBase = clone(model).set_params(**settings)
    return changed
