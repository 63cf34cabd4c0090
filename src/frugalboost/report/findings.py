"""The findings of a search: the whole trade-off, the choice, and what each feature contributes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost._support.plan import Part, reached
from frugalboost.estimators.base import GBFSBase
from frugalboost.estimators.cross_validation import GBFSCVBase
from frugalboost.estimators.fitted import NothingBoughtWarning
from frugalboost.estimators.path import gbfs_path
from frugalboost.report.measure import Measure
from frugalboost.report.steps import HeldOutScorer, Step, constant_score, splits_of, steps_of
from frugalboost.selection.optimism import Estimate
from frugalboost.tables.equal_rows import equal_rows
from frugalboost.tables.sample import Sample


@dataclass(frozen=True)
class Choice:
    """The model that was chosen, and why."""

    model: GBFSBase
    score: float  # mean over the splits
    spread: float  # its standard error
    expected: Estimate  # of the score on new rows, without what the choice among many models flatters it by
    index: int | None  # its place on the path
    why: str
    mu_given: bool = False  # by the user, so it is the same in every split
    bought: Sequence[NDArray[np.int64]] | None = None  # features in each split, in order of purchase; None: not known


@dataclass(frozen=True)
class Point:
    """One model of the path."""

    value: float  # mu, or the number of features
    score: float
    spread: float
    mean_features: float  # in the splits
    model: GBFSBase  # fitted on all rows
    test_score: float | None


@dataclass(frozen=True)
class Findings:
    """The path, the choice, and errors with one feature, two, ..."""

    parameter: str
    points: list[Point]
    choice: Choice
    steps: list[Step]
    measure: Measure
    test_score: float | None  # of the chosen model
    constant_score: float | None  # of a model without features; None where the scorer can't judge it
    n_splits: int
    split: str  # how rows were split, in a sentence
    seen: bool = False  # some held-out rows have equal rows in the training part


def examine(
    search: GBFSCVBase,
    rows: Sample,
    test: Sample | None = None,
    choice: Choice | None = None,
    split: str | None = None,
) -> Findings:
    """Follow the path of a fitted search on all rows, and measure what each feature of the choice contributes.

    Parameters
    ----------
    search : GBFSClassifierCV or GBFSRegressorCV
        Fitted on these rows.
    rows, test : Sample
        The rows of the fit, and test rows.
    choice : Choice or None, default=None
        None: what the search's rule chose.
    split : str or None, default=None
        How rows were split, in a sentence; None: as the search's ``cv`` says.

    Returns
    -------
    Findings
        The path, the choice, and errors with the features so far.
    """
    scorer = HeldOutScorer(search.estimator_, search.scoring, test)
    choice = choice or chosen_by_rule(search)
    with warnings.catch_warnings():  # the first models of a path buy nothing
        warnings.simplefilter("ignore", NothingBoughtWarning)
        reached(Part.PATH)
        points = list(_points(search, rows, scorer))
        reached(Part.STEPS)
        steps = steps_of(search, choice.model, rows, scorer, choice.mu_given, choice.bought)
    return Findings(
        parameter=_parameter(search),
        points=points,
        choice=choice,
        steps=steps,
        measure=Measure(search.scoring_),
        test_score=scorer(choice.model),
        constant_score=constant_score(search, rows),
        n_splits=search.n_splits_,
        split=(split or how_split(search, rows)) + on_first_splits(choice, search.n_splits_),
        seen=held_out_rows_seen(search, rows),
    )


def how_split(search: GBFSCVBase, rows: Sample) -> str:
    """How a search splits rows, in a sentence."""
    how = f"Errors are means over {search.n_splits_}"
    if search.cv is None:
        tied = "; rows of a group are in the same part" if rows.groups is not None else ""
        return f"{how} random splits into 80 and 20 % of the rows{tied}."
    named = hasattr(search.cv, "split")
    return f"{how} splits by {type(search.cv).__name__}." if named else f"{how} splits."


def on_first_splits(choice: Choice, n_splits: int) -> str:
    """A sentence where the chosen model was scored on some of the splits."""
    used = n_splits if choice.bought is None else len(choice.bought)
    return f" The error of the chosen model is that over the first {used} of them." if used < n_splits else ""


def held_out_rows_seen(search: GBFSCVBase, rows: Sample) -> bool:
    """Whether any held-out row of a split has all features in common with a row of the training part."""
    same = equal_rows(rows.table)
    if same is None:
        return False
    return any(np.isin(same[held_out], same[train]).any() for train, held_out in splits_of(search, rows))


def chosen_by_rule(search: GBFSCVBase) -> Choice:
    """What the search has chosen, and why."""
    results, at = search.cv_results_, search.best_index_
    measure = Measure(search.scoring_)
    best = int(np.nanargmax(results["mean_test_score"]))
    lowest, own = measure.shown(results["mean_test_score"][best]), measure.shown(results["mean_test_score"][at])
    if search.rule == "min" or at == best:
        why = f"It has the lowest mean {measure.title} over {search.n_splits_} splits: {own}."
    elif search.rule == "paired":
        why = (
            f"It is the cheapest that is not clearly worse than the best: its mean {measure.title} over "
            f"{search.n_splits_} splits is {own}, the lowest {lowest}, and split by split the difference is within one "
            "standard error."
        )
    else:
        spread = measure.text(measure.spread(float(results["se_test_score"][best])))
        why = (
            f"It is the cheapest whose mean {measure.title} over {search.n_splits_} splits, {own}, is within one "
            f"standard error ({spread}) of the lowest, {lowest}."
        )
    mean = float(results["mean_n_features"][at])
    if abs(mean - search.n_features_selected_) >= 0.05:
        why += f" In the splits such models buy {mean:.1f} features on average."
    score, error = float(results["mean_test_score"][at]), float(results["se_test_score"][at])
    value = search.best_params_[_parameter(search)]
    index = [v for v, _ in _best_of_each(search)].index(value)
    return Choice(search.estimator_, score, error, search._estimate(), index, why)


def _parameter(search: GBFSCVBase) -> str:
    return next(iter(search.best_params_))


def _best_of_each(search: GBFSCVBase) -> list[tuple[float, int]]:
    """The best candidate for each value along the path; for the chosen value, the chosen one."""
    results, name = search.cv_results_, _parameter(search)
    best: dict[float, int] = {}
    for i, params in enumerate(results["params"]):
        before = best.get(params[name])
        if before is None or results["mean_test_score"][i] > results["mean_test_score"][before]:
            best[params[name]] = i
    best[search.best_params_[name]] = search.best_index_
    return list(best.items())


def _points(search: GBFSCVBase, rows: Sample, scorer: HeldOutScorer) -> Iterator[Point]:
    results, name = search.cv_results_, _parameter(search)
    best = _best_of_each(search)
    models = _models(search, rows, [results["params"][i] for _, i in best], name)
    for (value, i), model in zip(best, models, strict=True):
        yield Point(
            value=value,
            score=float(results["mean_test_score"][i]),
            spread=float(results["se_test_score"][i]),
            mean_features=float(results["mean_n_features"][i]),
            model=model,
            test_score=scorer(model),
        )


def _models(search: GBFSCVBase, rows: Sample, candidates: list[dict[str, Any]], name: str) -> list[GBFSBase]:
    """The candidates fitted on all rows; those that differ only along the path share a binned table.

    The one that the search has chosen is fitted already.
    """

    def others(i: int) -> tuple[tuple[str, Any], ...]:
        return tuple((k, v) for k, v in candidates[i].items() if k != name)

    found: dict[int, GBFSBase] = {i: search.estimator_ for i, c in enumerate(candidates) if c == search.best_params_}
    many = {"mu": "mus", "n_features_to_select": "n_features_to_select"}[name]
    order = sorted((i for i in range(len(candidates)) if i not in found), key=lambda i: repr(others(i)))
    for params, group in groupby(order, key=others):
        members = sorted(group, key=lambda i: candidates[i][name], reverse=name == "mu")
        path = gbfs_path(
            rows.X,
            rows.y,
            estimator=search._template().set_params(n_features_to_select=None, **dict(params)),
            sample_weight=rows.weights,
            groups=rows.groups,
            n_jobs=search.n_jobs,
            verbose=search.verbose,
            **{many: [candidates[i][name] for i in members]},
        )
        found |= dict(zip(members, path.estimators, strict=True))
    return [found[i] for i in range(len(candidates))]
