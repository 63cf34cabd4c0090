"""Attack on budgets: small random tables, every kind of price, every way of selecting, and an account of what was paid.

``python tests/selection/attack_budgets.py 20000`` runs so many cases of each family of prices, and ``python
tests/selection/attack_budgets.py 1 bags 4711`` a single one; the suite runs some of each. A purchase is paid again by
the plain rules of reference_prices.py, which know nothing of the core.
"""

import os
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import reference_prices

import frugalboost
from frugalboost import (
    GBFSClassifier,
    GBFSClassifierCV,
    GBFSRegressor,
    GBFSRegressorCV,
    StabilitySelection,
    gbfs_path,
)
from frugalboost.costs import Bags, Function, Neighbours, Prices, Stage, Stages

PRICES = [0.0, 0.1, 0.5, 1.0, 1.0, 2.0, 3.0, 10.0]
SHARES = [0.0, 0.25, 0.5, 0.9, 1.0]

# ------------------------------------------------------------------------------------------- kinds of prices


@dataclass
class Priced:
    """A price object, the same rules in plain Python, and how bags are counted."""

    cost: Any
    rules: list[Any]
    bags: tuple[Any, Any] | None = None  # bags of each feature, prices of bags; None: features are counted

    def __add__(self, other):
        return Priced(self.cost + other.cost, self.rules + other.rules, self.bags or other.bags)

    def count(self, bought):
        return len(bought) if self.bags is None else len(reference_prices.paying_bags(*self.bags, bought))


def some_prices(rng, d, never=0.05):
    return np.where(rng.random(d) < never, inf, rng.choice(PRICES, d)).tolist()


def plain(rng, d):
    prices, most = some_prices(rng, d), rng.choice([None, None, None, 0, 1, 2])
    return Priced(Prices(prices, most=most), [reference_prices.fixed_prices(prices, inf if most is None else most)])


def bags_of(rng, d, members):
    prices, default = some_prices(rng, len(members)), float(rng.choice(PRICES))
    most = rng.choice([None, None, None, 1, 2])
    groups = {f"bag {b}": [int(f) for f in features] for b, features in enumerate(members)}
    cost = Bags(groups, {f"bag {b}": p for b, p in enumerate(prices)}, default=default, most=most)
    of = [[b for b, features in enumerate(members) if f in features] for f in range(d)]
    for own in of:
        if not own:
            own.append(len(prices))
            prices.append(default)
    rule = reference_prices.bag_prices(of, prices, inf if most is None else most)
    return Priced(cost, [rule], (of, prices))


def apart(rng, d):
    labels = rng.integers(0, 4, d)
    return bags_of(rng, d, [np.flatnonzero(labels == b) for b in range(rng.integers(1, 4))])


def overlapping(rng, d):
    return bags_of(rng, d, [np.flatnonzero(rng.random(d) < 0.5) for _ in range(rng.integers(2, 6))])


def neighbours(rng, d):
    edges = [tuple(map(int, rng.integers(0, d, 2))) for _ in range(rng.integers(1, 2 * d))]
    near = [sorted({b if a == f else a for a, b in edges if f in (a, b)} - {f}) for f in range(d)]
    prices, share = some_prices(rng, d), float(rng.choice(SHARES))
    rule = reference_prices.neighbour_prices(prices, near, 1.0 - share)
    return Priced(Neighbours(edges, share, prices=prices), [rule])


def stages(rng, d):
    n = int(rng.integers(1, 4))
    price_of, own = some_prices(rng, n), some_prices(rng, d)
    after = [[int(a) for a in range(s) if rng.random() < 0.3] for s in range(n)]
    opens = [[int(f) for f in range(d) if rng.random() < 0.4] for _ in range(n)]
    outside = [f for f in range(d) if not any(f in o for o in opens)]  # needs that wait for nothing: no deadlock
    needs = [[int(rng.choice(outside))] if outside and rng.random() < 0.4 else [] for _ in range(n)]
    cheaper = [{int(f): float(rng.choice(SHARES)) for f in range(d) if rng.random() < 0.3} for _ in range(n)]
    named = {f"s{s}": Stage(price_of[s], opens[s], [f"s{a}" for a in after[s]], needs[s], cheaper[s]) for s in range(n)}

    def way(s):
        return {s}.union(*[way(a) for a in after[s]])

    ways = [set().union(*[way(s) for s in range(n) if f in opens[s]]) for f in range(d)]
    factors = [[(g, 1.0 - share) for g, share in c.items()] for c in cheaper]
    rule = reference_prices.stage_prices(own, ways, price_of, needs, factors)
    return Priced(Stages(named, prices=own), [rule])


@dataclass(frozen=True)
class Phi:
    """Prices that rise, fall, or end after some purchases, by what was bought."""

    by_last: tuple[float, ...]
    ends_after: int

    def __call__(self, owned, last, prices):
        new = prices * self.by_last[last]
        return np.where(owned.sum() >= self.ends_after, inf, new)


def functions(rng, d):
    prices = some_prices(rng, d, never=0.0)
    phi = Phi(tuple(rng.choice([0.1, 0.5, 1.0, 1.5, 4.0], d).tolist()), int(rng.choice([2, 3, 100])))
    return Priced(Function(phi, prices), [reference_prices.function_prices(prices, phi)])


SINGLE = {
    "prices": plain,
    "bags": apart,
    "overlapping": overlapping,
    "neighbours": neighbours,
    "stages": stages,
    "function": functions,
}


def sums(rng, d):
    first, second = rng.choice(sorted(SINGLE), 2)
    return SINGLE[first](rng, d) + SINGLE[second](rng, d)


FAMILIES = {**SINGLE, "sums": sums}

# ---------------------------------------------------------------------------------------------------- cases

WAYS = [
    "plain",
    "stopped",
    "refit",
    "refit auto",
    "refit average",
    "exactly",
    "exactly stopped",
    "exactly average",
    "path",
    "path refit",
    "path exactly",
    "cv",
    "cv refit",
    "cv exactly",
    "warm",
    "stability",
]


@dataclass
class Case:
    X: Any
    y: Any
    classes: int  # 0: a regression
    priced: Priced
    budget: float | None
    way: str
    k: int
    seed: int
    settings: dict[str, Any] = field(default_factory=dict)

    def model(self, **more):
        kind = GBFSClassifier if self.classes else GBFSRegressor
        return kind(costs=self.priced.cost, budget=self.budget, **self.settings, **more)


def drawn(family, number):
    """The case of this number."""
    rng = np.random.default_rng([sorted(FAMILIES).index(family), number])
    n, d = int(rng.integers(20, 61)), int(rng.integers(2, 7))
    X = np.round(rng.normal(size=(n, d)), 1)
    if rng.random() < 0.3 and d > 2:
        X[:, 1] = X[:, 0] + 0.3 * rng.normal(size=n)  # twins
    signal = X @ rng.choice([0.0, 0.3, 1.0, 3.0], d) + 0.3 * rng.normal(size=n)
    classes = int(rng.choice([0, 2, 3]))
    y = np.argsort(np.argsort(signal)) * classes // n if classes else signal
    budget = rng.choice([None, 0.0, 0.5, 1.0, 1.1, 2.0, 3.0, 5.0, 12.0])
    settings = {
        "mu": float(rng.choice([0.0, 1e-4, 1e-3, 0.01])),
        "max_iter": int(rng.integers(3, 9)),
        "max_depth": int(rng.integers(1, 4)),
        "min_samples_leaf": int(rng.choice([1, 2, 5])),
        "learning_rate": float(rng.choice([0.1, 0.5])),
        "random_state": 0,
        "n_jobs": 1,
    }
    priced, way = FAMILIES[family](rng, d), str(rng.choice(WAYS))
    return Case(X, y, classes, priced, budget, way, int(rng.integers(0, d + 2)), number, settings)


def fitted(case):
    """Every estimator that the case's way of selecting brings, each with the number of features asked of it."""
    X, y, way, k = case.X, case.y, case.way, case.k
    stop = {"early_stopping": True, "validation_fraction": 0.3} if "stopped" in way or "auto" in way else {}
    refit = {"refit": "auto" if "auto" in way else True} if "refit" in way else {}
    average = {"average": 2 + case.seed % 5} if "average" in way else {}
    if way == "warm":
        model = case.model(warm_start=True).set_params(max_iter=1)
        models = []
        for max_iter in (1, 3, case.settings["max_iter"]):
            models.append((model.set_params(max_iter=max_iter).fit(X, y), None))
        return models[-1:]
    if way == "stability":
        return [(StabilitySelection(case.model(), n_subsamples=4, n_mus=3, random_state=0, n_jobs=1).fit(X, y), None)]
    if way.startswith("path"):
        if "exactly" in way:
            path = gbfs_path(X, y, estimator=case.model(), n_features_to_select=[0, 1, k], n_jobs=1)
            return list(zip(path.estimators, path.values.tolist(), strict=True))
        path = gbfs_path(X, y, estimator=case.model(**refit), n_mus=3, eps=0.01, n_jobs=1)
        return [(model, None) for model in path.estimators]
    if way.startswith("cv"):
        kind = GBFSClassifierCV if case.classes else GBFSRegressorCV
        what = {"n_features_to_select": sorted({1, k})} if "exactly" in way else {"n_mus": 2}
        model = kind(case.model(**refit), cv=2, random_state=0, n_jobs=1, **what).fit(X, y)
        return [(model, model.best_params_.get("n_features_to_select"))]
    if way.startswith("exactly"):
        return [(case.model(n_features_to_select=k, **stop, **average).fit(X, y), k)]
    return [(case.model(**stop, **refit, **average).fit(X, y), None)]


# --------------------------------------------------------------------------------------------------- checks


class Wrong(AssertionError):
    """What a model reports does not hold."""


def require(condition, message):
    if not condition:
        raise Wrong(message)


def same(a, b):
    return bool(np.allclose(a, b, rtol=1e-12, atol=0))


def check_paid(case, model):
    """Purchases can be paid again at the same prices, never beyond the budget, and the history tells the same."""
    bought, history = model._model.purchases, model.history_
    owned, paid = [], 0.0
    limit = inf if case.budget is None else case.budget
    for f, price in zip(bought.feature.tolist(), bought.price.tolist(), strict=True):
        now = sum(rule(owned)[f] for rule in case.priced.rules)
        require(same(now, price), f"feature {f} costs {now} after {owned}, and {price} is reported")
        owned.append(f)
        paid += price
        require(paid < inf and paid <= limit * (1 + 1e-9), f"{paid} is paid of {limit}")
    require((np.diff(bought.iteration) >= 0).all(), "purchases are not in order")
    for i, (count, price) in enumerate(zip(history["n_features"], history["price_paid"], strict=True)):
        until = bought.iteration <= i
        require(count == until.sum(), f"{count} features are reported after iteration {i}")
        require(np.isclose(price, bought.price[until].sum(), rtol=1e-12), f"{price} is reported after iteration {i}")
    require([f for some in history["bought"] for f in some] == owned, "the history tells of other purchases")
    require(model.total_cost_ == history["price_paid"][model.best_iteration_], "total_cost_ is not of the best one")


def check_selected(case, model):
    """What is selected is what trees and lines use, and what transform returns."""
    trees, best = getattr(model, "estimator_", model)._model.ensemble, model.best_iteration_
    chosen = model.selected_features_
    used = trees.used_feature[: trees.tree_begin[best * trees.n_outputs]]
    require(set(used[used >= 0].tolist()) == set(chosen.tolist()), "what is selected is not what is used")
    require(model.n_features_selected_ == len(chosen) == model.support_.sum(), "the number is not that of support_")
    require(np.flatnonzero(model.support_).tolist() == sorted(chosen.tolist()), "support_ is another selection")
    if len(chosen):
        require(np.array_equal(model.transform(case.X), case.X[:, model.support_]), "transform has other columns")
    shares = model.feature_importances_
    require(np.isclose(shares.sum(), 1.0 if len(chosen) else 0.0, atol=1e-12), f"importances add up to {shares.sum()}")
    require((shares >= 0).all() and not shares[~model.support_].any(), "importances of what is not selected")
    each = getattr(model, "estimator_", model).prediction_cost(case.X)
    require(np.isfinite(each).all() and (each >= 0).all(), "what a prediction costs is no price")


def check_number(case, model, asked, said):
    """As many as asked for, or fewer with the reason."""
    number = case.priced.count(model.selected_features_.tolist())
    require(number <= asked, f"{number} were bought, {asked} asked for")
    told = any("but only" in m or "constant" in m or "No split is possible" in m for m in said)
    alone = not case.way.startswith("path")  # estimators of a path are made without warnings
    require(number == asked or told or not alone, f"{number} were bought of {asked}, and nobody says why: {said}")


def check_file(model, folder):
    """A file keeps what was selected and paid."""
    model = getattr(model, "estimator_", model)
    path = os.path.join(folder, "model.frugal")
    model.save(path)
    again = frugalboost.load(path)
    for name in ("total_cost_", "n_features_selected_", "best_iteration_", "mu_max_"):
        require(getattr(again, name) == getattr(model, name), f"a file changes {name}")
    for name in ("selected_features_", "support_", "feature_importances_"):
        require(np.array_equal(getattr(again, name), getattr(model, name)), f"a file changes {name}")
    require(repr(again.history_) == repr(model.history_), "a file changes history_")


def check_stable(case, model):
    """What is stable can be had within the budget, the most frequent first."""
    if case.budget is None:
        return
    order = np.lexsort((sum(np.array(rule([])) for rule in case.priced.rules), -model.frequency_))
    waiting, owned, paid = order[model.support_[order]].tolist(), [], 0.0
    while waiting:
        now = [paid + sum(rule(owned)[f] for rule in case.priced.rules) for f in waiting]
        place = next((i for i, total in enumerate(now) if total <= case.budget * (1 + 1e-9)), None)
        require(place is not None, f"features {waiting} are stable, and can't be had with {owned} for {case.budget}")
        paid = now[place]
        owned.append(waiting.pop(place))


def attack(family, number, folder):
    """Run one case; the way of selecting, and whether fewer were had than asked for. Raises Wrong."""
    case = drawn(family, number)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        models = fitted(case)
    said = [str(w.message) for w in caught]
    fewer = False
    for model, asked in models:
        if case.way == "stability":
            check_stable(case, model)
            continue
        check_paid(case, getattr(model, "estimator_", model))
        check_selected(case, model)
        check_file(model, folder)
        if asked is not None:
            check_number(case, model, asked, said)
            fewer = fewer or case.priced.count(model.selected_features_.tolist()) < asked
    return case.way, fewer


def attack_all(cases, family, first, folder):
    """Run cases of a family; how many went wrong."""
    begin, ways, fewer, wrong = time.monotonic(), Counter(), 0, 0
    for number in range(first, first + cases):
        try:
            way, some = attack(family, number, folder)
            ways[way] += 1
            fewer += some
        except Exception as error:  # whatever it is, say which case it was and go on
            wrong += 1
            print(f"{family} {number} ({drawn(family, number).way}): {type(error).__name__}: {error}", flush=True)
            if not isinstance(error, Wrong):
                traceback.print_exc(limit=-4)
    took = time.monotonic() - begin
    print(f"{family}: {cases} cases, {wrong} wrong, {fewer} with fewer than asked for, {took:.0f} s; {dict(ways)}")
    sys.stdout.flush()
    return wrong


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    families = sys.argv[2].split(",") if len(sys.argv) > 2 else list(FAMILIES)
    start = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    with tempfile.TemporaryDirectory() as place:
        sys.exit(sum(attack_all(count, family, start, place) for family in families) > 0)
