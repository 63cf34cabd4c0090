"""The work of one run: cross-validate the path, choose a model, measure what each feature contributes."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, train_test_split

from frugalboost._support.plan import Part, foresee, reached
from frugalboost.costs import Cost
from frugalboost.estimators import GBFSClassifier, GBFSRegressor
from frugalboost.estimators.base import GBFSBase
from frugalboost.estimators.cross_validation import GBFSClassifierCV, GBFSCVBase, GBFSRegressorCV
from frugalboost.recipe.options import Rule
from frugalboost.recipe.request import Settings
from frugalboost.recipe.task import Task
from frugalboost.recipe.workload import selling_work, work_of_run, work_of_steps
from frugalboost.report.findings import Choice, Findings, chosen_by_rule, examine
from frugalboost.report.measure import Measure
from frugalboost.selection.splits import chosen_index
from frugalboost.tables.sample import Sample

HELD_OUT = 0.2
USUAL_SAMPLE, SMALLEST_SAMPLE = 50_000, 10_000  # rows times trees per iteration; and the least number of rows
USUAL_LEAF, LEAVES = 20, 50  # rows in a leaf: 20, on small tables a fiftieth of the rows
USUAL_DEPTH = 4
# With more columns than rows, splits of few rows find columns by chance: lines are tried, and trees of a single split.
WIDE = {"bases": ("lines", "trees"), "max_depths": (1,)}


def choose(rows: Sample, task: Task, settings: Settings, costs: Cost | None, test: Sample | None = None) -> Findings:
    """Do the work.

    Parameters
    ----------
    rows, test : Sample
        The rows to choose with, and test rows.
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
    all_rows, rows = rows, sampled(rows, task, settings)
    template = template_of(len(rows.y), task, settings, costs)
    tried = {"max_iters": trees_tried(settings.trees), **learners_tried(all_rows.X.shape, settings.depth)}
    search = search_of(template, rows.y, task, settings, **tried)
    learners = len(search._learners(template))
    foresee(*work_of_run(len(rows.y), len(all_rows.y), learners, settings, test is not None))
    reached(Part.SEARCH)
    search.fit(rows.X, rows.y, rows.weights)
    choice = None
    if settings.rule == Rule.ONE_STANDARD_ERROR and not search.n_features_selected_:
        retry_with_paired_rule(search, rows)
    reached(Part.SELLING)
    if settings.k is not None:
        choice = choose_k(search, rows, settings.k, settings.fewer)
    elif settings.mu is not None:
        choice = choose_mu(search, rows, settings.mu)
    elif settings.sell and search.n_features_selected_:
        choice = sold_back(search, rows)
    reached(Part.ALL_ROWS)
    if rows is not all_rows:
        choice = fitted_on_all(choice or chosen_by_rule(search), all_rows, settings)
    chosen = (choice or chosen_by_rule(search)).model
    buying = 1.0 if chosen.n_features_to_select is None else selling_work(learners)
    foresee(work_of_steps(len(chosen.selected_features_), buying, settings, test is not None))
    return examine(search, rows, test, choice)


def sample_size(y: Any, task: Task, settings: Settings) -> int:
    """How many rows are used to choose."""
    if settings.sample is not None:
        return settings.sample or len(y)
    outputs = len(np.unique(y)) if task.is_classification else 1
    return max(SMALLEST_SAMPLE, USUAL_SAMPLE // (outputs if outputs > 2 else 1))


def sampled(rows: Sample, task: Task, settings: Settings) -> Sample:
    """A stratified sample of the rows; all of them if there are not too many."""
    n, wanted = len(rows.y), sample_size(rows.y, task, settings)
    if wanted >= n:
        return rows
    classes = rows.y if task.is_classification and stratifiable(rows.y, wanted / n) else None
    taken, _ = train_test_split(np.arange(n), train_size=wanted, stratify=classes, random_state=settings.seed)
    return rows.take(np.sort(taken))


def fitted_on_all(choice: Choice, rows: Sample, settings: Settings) -> Choice:
    """The same settings on all rows."""
    model = clone(choice.model).set_params(n_jobs=settings.threads).fit(rows.X, rows.y, rows.weights)
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
    }
    return GBFSClassifier(**shared) if task.is_classification else GBFSRegressor(**shared)


def trees_tried(most: int) -> list[int]:
    """Numbers of trees among which the path chooses; they need no further fits."""
    return sorted({max(1, most * share // 100) for share in (10, 20, 40, 100)})


def learners_tried(shape: tuple[int, int], depth: int | None) -> dict[str, Any]:
    """Lines and depths among which the path chooses; nothing: the estimator's own."""
    n_rows, n_columns = shape
    return dict(WIDE) if depth is None and n_columns > n_rows else {}


def search_of(template: GBFSBase, y: Any, task: Task, settings: Settings, **what: Any) -> GBFSCVBase:
    """A search over random splits, stratified if every class has enough rows."""
    kind = GBFSClassifierCV if task.is_classification else GBFSRegressorCV
    splitter = ShuffleSplit
    if task.is_classification and stratifiable(y, 1 - HELD_OUT):
        splitter = StratifiedShuffleSplit
    return kind(
        template,
        n_mus=settings.points,
        cv=splitter(settings.splits, test_size=HELD_OUT, random_state=settings.seed),
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
        search._choose_by(Rule.PAIRED.value, rows.X, rows.y, rows.weights)


def stratifiable(y: Any, share: float) -> bool:
    """Whether both parts of a split can have rows of every class."""
    counts = np.unique(y, return_counts=True)[1]
    return bool(counts.min() >= 2 and len(counts) <= min(share, 1 - share) * len(y))


def choose_k(search: GBFSCVBase, rows: Sample, k: int, fewer: bool = False) -> Choice:
    """Exactly k features, or at most k: buy many, sell the weakest back."""
    own = selling(search, rows, k, fewer)
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


def selling(search: GBFSCVBase, rows: Sample, k: int, fewer: bool = False) -> GBFSCVBase:
    """A cross-validated search for k features (bags), with the number and depth of trees that did best on the path."""
    best = search.cv_results_["params"][int(np.nanargmax(search.cv_results_["mean_test_score"]))]
    trees = {"estimator__max_iter": best["max_iter"], "estimator__max_depth": best["max_depth"]}
    if best.get("base") == "lines":  # cross-validation has decided against trees
        trees = {"estimator__base": "lines"}
    once = {"mus": None, "max_iters": None, "max_depths": None, "bases": None}
    return refitted(search, rows, n_features_to_select=k, estimator__fewer=fewer, **once, **trees)


def sold_back(search: GBFSCVBase, rows: Sample) -> Choice | None:
    """The number of features that the rule chose, by buying more and selling the weakest, if these do better."""
    model = search.estimator_
    costs = model._costs()
    number = costs.count(model.selected_features_)
    with warnings.catch_warnings(record=True) as caught:  # about models that may not be taken
        own = selling(search, rows, number)
    costs_more = own.total_cost_ > model.total_cost_ * (1 + 1e-9)
    if not own.best_score_ > search.cv_results_["mean_test_score"][search.best_index_] or costs_more:
        return None
    for warning in caught:
        warnings.warn(warning.message, stacklevel=2)
    measure, first = Measure(search.scoring_), chosen_by_rule(search)
    counted = "features" if costs.bags is None else "bags"
    why = (
        f"The rule chose {number} {counted} on the path, with a mean {measure.title} of {measure.shown(first.score)} "
        f"over {search.n_splits_} splits. Buying more and selling the weakest back finds better "
        f"ones: {measure.shown(own.best_score_)}."
    )
    return choice_of(own, why)


def choose_mu(search: GBFSCVBase, rows: Sample, mu: float) -> Choice:
    """The given mu, with the best number of trees for it."""
    found = choice_of(refitted(search, rows, mus=[mu]), f"mu = {mu:g} was asked for.")
    return replace(found, mu_given=True)


def refitted(search: GBFSCVBase, rows: Sample, **changes: Any) -> GBFSCVBase:
    """The same search along another path."""
    own: GBFSCVBase = clone(search).set_params(rule="min", **changes)
    own.fit(rows.X, rows.y, rows.weights)
    return own


def choice_of(search: GBFSCVBase, why: str) -> Choice:
    """The result of a search with a single candidate."""
    results, at = search.cv_results_, search.best_index_
    score, spread = float(results["mean_test_score"][at]), float(results["se_test_score"][at])
    return Choice(search.estimator_, score, spread, None, why)
