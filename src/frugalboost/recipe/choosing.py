"""The work of one run: cross-validate the path, choose a model, measure what each feature contributes."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from frugalboost._support.plan import Part, foresee, reached
from frugalboost.costs import Cost
from frugalboost.estimators import GBFSClassifier, GBFSRegressor
from frugalboost.estimators.base import GBFSBase
from frugalboost.estimators.cross_validation import GBFSClassifierCV, GBFSCVBase, GBFSRegressorCV
from frugalboost.estimators.racing import CanNotWin, Racing, RacingClassifierCV, RacingRegressorCV
from frugalboost.recipe.effort import Effort, Size, effort_for, outputs_of
from frugalboost.recipe.options import Rule
from frugalboost.recipe.request import Settings
from frugalboost.recipe.splitting import Ties, split, stratifiable
from frugalboost.recipe.task import Task
from frugalboost.recipe.workload import selling_work, work_of_run, work_of_steps
from frugalboost.report.findings import Choice, Findings, chosen_by_rule, examine
from frugalboost.report.measure import Measure
from frugalboost.selection.optimism import Estimate
from frugalboost.selection.splits import chosen_index, split_scores
from frugalboost.tables.sample import Sample

USUAL_LEAF, LEAVES = 20, 50  # rows in a leaf: 20, on small tables a fiftieth of the rows
USUAL_DEPTH = 4
FEW_ROWS = 2_000  # with fewer, two or three splits say too little about whether selling back wins
# With more columns than rows, splits of few rows find columns by chance: lines are tried, and trees of a single split.
WIDE = {"bases": ("lines", "trees"), "max_depths": (1,)}


def choose(
    rows: Sample, ties: Ties, task: Task, settings: Settings, costs: Cost | None, test: Sample | None = None
) -> Findings:
    """Do the work.

    Parameters
    ----------
    rows, test : Sample
        The rows to choose with, with their groups and times, and test rows.
    ties : Ties
        Where groups and times come from.
    task : Task
        Classes or numbers.
    settings : Settings
        What the user set.
    costs : Cost or None
        Prices.

    Returns
    -------
    Findings
        The path, the choice and what each feature contributes.
    """
    effort = effort_of(rows.X.shape, rows.y, task, settings)
    all_rows, rows = rows, sampled(rows, task, settings, effort.rows)
    splitting = split(rows, ties, task, effort.splits, settings.seed)
    is_sample, effort = rows is not all_rows, replace(effort, splits=splitting.n_splits)
    rows = splitting.rows
    template = template_of(len(rows.y), task, settings, costs)
    tried = {"max_iters": trees_tried(settings.trees), **learners_tried(all_rows.X.shape, settings.depth)}
    search = search_of(template, splitting.cv, task, settings, effort, **tried)
    learners = len(search._learners(template))
    foresee(*work_of_run(len(rows.y), len(all_rows.y), learners, settings, effort, test is not None))
    reached(Part.SEARCH)
    search, choice = find(search, rows, settings)
    reached(Part.ALL_ROWS)
    if is_sample:
        tied = all_rows if rows.groups is not None else replace(all_rows, groups=None)
        choice = fitted_on_all(choice, tied, settings)
    buying = 0.0
    if choice.bought is None:  # every split buys again
        buying = 1.0 if choice.model.n_features_to_select is None else selling_work(learners)
    foresee(work_of_steps(len(choice.model.selected_features_), buying, effort.splits, test is not None))
    return examine(search, rows, test, choice, splitting.words, tried)


def find(search: GBFSCVBase, rows: Sample, settings: Settings) -> tuple[GBFSCVBase, Choice]:
    """The search whose path is shown, and the choice."""
    if settings.mu is not None and settings.no_path:
        own = refitted(search, rows, mus=[settings.mu])
        return own, replace(choice_of(own, asked_for_mu(settings.mu)), mu_given=True, index=0)
    if settings.k is not None and settings.no_path:
        reached(Part.SELLING)
        own = selling(search, rows, settings.k, settings.fewer)
        return own, replace(choose_k(own, settings.k, settings.fewer), index=0)
    search._fit_rows(rows)
    if settings.rule == Rule.ONE_STANDARD_ERROR and not search.n_features_selected_:
        retry_with_paired_rule(search, rows)
    reached(Part.SELLING)
    choice = None
    if settings.k is not None:
        choice = choose_k(selling(search, rows, settings.k, settings.fewer), settings.k, settings.fewer)
    elif settings.mu is not None:
        choice = replace(choice_of(refitted(search, rows, mus=[settings.mu]), asked_for_mu(settings.mu)), mu_given=True)
    elif settings.sell and search.n_features_selected_:
        fewer = not settings.splits and not settings.thorough and rows.times is None  # the last ones train on most
        choice = sold_back(search, rows, splits_to_sell(search.n_splits_, len(rows.y)) if fewer else None)
    return search, choice or with_purchases(chosen_by_rule(search), search)


def effort_of(shape: tuple[int, int], y: Any, task: Task, settings: Settings) -> Effort:
    """How much work the search is: rows, splits and points."""
    size = Size(
        rows=shape[0],
        columns=shape[1],
        outputs=outputs_of(y, task),
        trees=settings.trees,
        stumps=bool(learners_tried(shape, settings.depth)),
    )
    points = 1 if settings.no_path else settings.points
    return effort_for(size, settings.sample, settings.splits, points, settings.thorough)


def sampled(rows: Sample, task: Task, settings: Settings, wanted: int) -> Sample:
    """A stratified sample of the rows; all of them if there are not too many."""
    n = len(rows.y)
    if wanted >= n:
        return rows
    classes = rows.y if task.is_classification and stratifiable(rows.y, wanted / n) else None
    taken, _ = train_test_split(np.arange(n), train_size=wanted, stratify=classes, random_state=settings.seed)
    return rows.take(np.sort(taken))


def fitted_on_all(choice: Choice, rows: Sample, settings: Settings) -> Choice:
    """The same settings on all rows."""
    model = clone(choice.model).set_params(n_jobs=settings.threads)._fit_rows(rows)
    why = f"{choice.why} It was chosen on a sample of the rows, then fitted on all {len(rows.y):,}."
    return replace(choice, model=model, index=None, why=why)


def template_of(n_rows: int, task: Task, settings: Settings, costs: Cost | None) -> GBFSBase:
    """The estimator behind all fits."""
    leaf = settings.leaf or max(1, min(USUAL_LEAF, n_rows // LEAVES))
    shared: dict[str, Any] = {
        "costs": costs,
        "budget": settings.budget,
        "max_iter": settings.trees,
        "max_depth": settings.depth or USUAL_DEPTH,
        "learning_rate": settings.learning_rate,
        "min_samples_leaf": leaf,
        "random_state": settings.seed,
        "device": settings.device,
    }
    if task.is_classification:  # the same kind of trees on the path and for k features: numbers of trees carry over
        return GBFSClassifier(**shared, multi_strategy="one_output_per_tree")
    return GBFSRegressor(**shared) if task.loss is None else GBFSRegressor(**shared, loss=task.loss)


def trees_tried(most: int) -> list[int]:
    """Numbers of trees among which the path chooses; they need no further fits."""
    return sorted({max(1, most * share // 100) for share in (10, 20, 40, 100)})


def learners_tried(shape: tuple[int, int], depth: int | None) -> dict[str, Any]:
    """Lines and depths among which the path chooses; nothing: the estimator's own."""
    n_rows, n_columns = shape
    return dict(WIDE) if depth is None and n_columns > n_rows else {}


def search_of(template: GBFSBase, cv: Any, task: Task, settings: Settings, effort: Effort, **what: Any) -> GBFSCVBase:
    """A search over splits."""
    kind = RacingClassifierCV if task.is_classification else RacingRegressorCV
    if settings.thorough:
        kind = GBFSClassifierCV if task.is_classification else GBFSRegressorCV
    return kind(
        template,
        n_mus=effort.points,
        cv=cv,
        scoring=task.scoring,
        rule=str(settings.rule),
        n_jobs=settings.threads,
        random_state=settings.seed,
        verbose=settings.verbose,
        **what,
    )


def retry_with_paired_rule(search: GBFSCVBase, rows: Sample) -> None:
    """If "1se" buys nothing because splits differ much, compare models split by split."""
    results = search.cv_results_
    if results["mean_n_features"][chosen_index(results, Rule.PAIRED.value)]:
        search._choose_by(Rule.PAIRED.value, rows)


def choose_k(own: GBFSCVBase, k: int, fewer: bool = False) -> Choice:
    """Exactly k features, or at most k: a search for them has bought many and sold the weakest back."""
    model = own.estimator_
    costs = model._costs()
    counted = "feature" if costs.bags is None else "bag"
    asked = f"{k} {counted}{' was' if k == 1 else 's were'} asked for"
    found = costs.count(model.selected_features_)
    if fewer:
        return choice_of(own, f"At most {asked}; of all numbers up to {k}, {found} had the lowest held-out loss.")
    if found < k:
        return choice_of(own, f"{asked}, but only {found} gain anything and can be bought at these prices.")
    return choice_of(own, f"Exactly {asked}; more were bought, and the weakest sold back.")


def selling(search: GBFSCVBase, rows: Sample, k: int, fewer: bool = False, rival: Any = None) -> GBFSCVBase:
    """A cross-validated search for k features (bags), with the number and depth of trees that do best.

    They are known from the path; without one, from fits that may buy at most k. ``rival``: scores split by split that
    must be beaten.
    """
    if hasattr(search, "cv_results_"):
        best = search.cv_results_["params"][int(np.nanargmax(search.cv_results_["mean_test_score"]))]
    else:
        short = clone(search).set_params(rule="min", mus=[0.0])
        short._most = k
        best = short._compare(rows)
    trees = {"estimator__max_iter": best["max_iter"], "estimator__max_depth": best["max_depth"]}
    if best.get("base") == "lines":  # cross-validation has decided against trees
        trees = {"estimator__base": "lines"}
    once: dict[str, Any] = {"mus": None, "max_iters": None, "max_depths": None, "bases": None}
    if rival is not None:
        once["cv"] = search.cv[: len(rival)]
    return refitted(search, rows, rival, n_features_to_select=k, estimator__fewer=fewer, **once, **trees)


def splits_to_sell(n_splits: int, n_rows: int) -> int:
    """How many of the splits compare features that were bought with those left after selling."""
    return n_splits if n_rows < FEW_ROWS else max(2, n_splits * 3 // 5)


def sold_back(search: GBFSCVBase, rows: Sample, splits: int | None = None) -> Choice | None:
    """The number of features that the rule chose, by buying more and selling the weakest, if these do better.

    ``splits``: how many are used to compare them; None: all.
    """
    model = search.estimator_
    costs = model._costs()
    number = costs.count(model.selected_features_)
    rival = split_scores(search.cv_results_)[:splits, search.best_index_]
    with warnings.catch_warnings(record=True) as caught:  # about models that may not be taken
        try:
            own = selling(search, rows, number, rival=rival)
        except CanNotWin:
            return None
    costs_more = own.total_cost_ > model.total_cost_ * (1 + 1e-9)
    if not own.best_score_ > rival.mean() or costs_more:
        return None
    for warning in caught:
        warnings.warn(warning.message, stacklevel=2)
    measure = Measure(search.scoring_)
    counted = ("feature" if costs.bags is None else "bag") + ("" if number == 1 else "s")
    why = (
        f"The rule chose {number} {counted} on the path, with a mean {measure.title} of "
        f"{measure.shown(float(rival.mean()))} over {len(rival)} splits. Buying more and selling the weakest back "
        f"finds better ones: {measure.shown(own.best_score_)}."
    )
    return choice_of(own, why, search._estimate(own))


def asked_for_mu(mu: float) -> str:
    """Why a given mu was chosen."""
    return f"mu = {mu:g} was asked for."


def refitted(search: GBFSCVBase, rows: Sample, rival: Any = None, **changes: Any) -> GBFSCVBase:
    """The same search along another path."""
    own: GBFSCVBase = clone(search).set_params(rule="min", **changes)
    if isinstance(own, Racing):
        own._rival = rival if len(rows.y) >= FEW_ROWS else None
    own._fit_rows(rows)
    return own


def choice_of(search: GBFSCVBase, why: str, expected: Estimate | None = None) -> Choice:
    """The result of a search along another path than the one that is shown.

    ``expected``: on new rows, if more was chosen than by this search.
    """
    results, at = search.cv_results_, search.best_index_
    score, spread = float(results["mean_test_score"][at]), float(results["se_test_score"][at])
    choice = Choice(search.estimator_, score, spread, expected or search._estimate(), None, why)
    return with_purchases(choice, search)


def with_purchases(choice: Choice, search: GBFSCVBase) -> Choice:
    """The choice with what its settings bought in each split."""
    return replace(choice, bought=[split[search.best_index_] for split in search._bought_in_splits])
