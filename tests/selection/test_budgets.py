"""What is paid never exceeds the budget, however features are selected, and can be paid again in the order reported."""

import attack_budgets
import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from frugalboost import GBFSRegressor, StabilitySelection
from frugalboost.costs import Bags, Function, Neighbours, Prices, Stage, Stages, resolve
from frugalboost.selection.purchase_order import PurchaseOrder, is_affordable

CASES = 40  # of each family; python tests/selection/attack_budgets.py runs as many as one likes
QUICK = {"max_iter": 20, "mu": 1e-4, "min_samples_leaf": 5}


@pytest.mark.slow
@pytest.mark.parametrize("family", sorted(attack_budgets.FAMILIES))
def test_every_family_of_prices_and_every_way_of_selecting(family, tmp_path):
    for number in range(CASES):
        attack_budgets.attack(family, number, tmp_path)


@pytest.mark.parametrize("cheap", [0, 1])
@pytest.mark.parametrize(
    "more", [{}, {"n_features_to_select": 2}, {"refit": True}, {"refit": True, "average": 3}], ids=str
)
def test_a_refit_keeps_the_budget_and_all_features(more, cheap):
    """The dear feature says more, and costs ten times as much unless the cheap one is bought before."""
    X = np.random.default_rng(0).normal(size=(400, 2))
    y = X[:, cheap] + 3 * X[:, 1 - cheap]
    prices = np.where(np.arange(2) == cheap, 1.0, 10.0)
    near = Neighbours([(0, 1)], discount=0.9, prices=prices)
    model = GBFSRegressor(costs=near, budget=2.0, base="trees", **QUICK, **more).fit(X, y)
    assert model.selected_features_.tolist() == [cheap, 1 - cheap]
    assert model.total_cost_ == pytest.approx(2.0)
    assert model.history_["price_paid"][1] == pytest.approx(2.0)
    assert model.history_["bought"][1] == [cheap, 1 - cheap]


def test_a_feature_may_be_bought_before_a_tree_looks_at_it():
    """The first trees use only the dear feature, which could not be had if the cheap one were not bought with it."""
    X = np.random.default_rng(0).normal(size=(400, 2))
    near = Neighbours([(0, 1)], discount=0.9, prices=[1.0, 10.0])
    model = GBFSRegressor(costs=near, budget=2.0, refit=True, max_depth=1, **QUICK).fit(X, X[:, 0] + 3 * X[:, 1])
    trees = model._model.ensemble
    assert set(trees.feature[: trees.tree_begin[2]].tolist()) == {1, -1}
    assert model.selected_features_.tolist() == [0, 1]
    assert model.history_["bought"][1] == [0, 1]
    assert model.history_["n_features"][:3] == [0, 2, 2]
    assert model.history_["price_paid"][:2] == [0.0, pytest.approx(2.0)]


def test_bags_that_overlap_keep_the_budget():
    bags = Bags({"a": [0, 1], "b": [1, 2], "c": [0, 2]}, prices={"a": 0.5, "b": 1.0, "c": 1.0})
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, 3))
        model = GBFSRegressor(costs=bags, budget=1.0, n_features_to_select=3, **QUICK)
        with pytest.warns(UserWarning, match="only 1"):
            model.fit(X, X @ rng.normal(size=3))
        assert 0 < model.total_cost_ <= 1.0


def gate_that_says_nothing(refit, **more):
    """Feature 1 is cheap once feature 0 is owned, which a free model has no use for."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = np.sign(X[:, 1])
    near = Neighbours([(0, 1)], discount=0.9, prices=[1.0, 10.0, np.inf])
    return X, y, GBFSRegressor(0.0, costs=near, budget=2.0, refit=refit, max_iter=5, min_samples_leaf=5, **more)


def test_what_a_free_model_can_t_pay_is_bought_by_the_ledger():
    X, y, model = gate_that_says_nothing(True, max_depth=1, learning_rate=1.0)
    model.fit(X, y)
    assert model.selected_features_.tolist() == [0, 1]  # feature 1 alone would cost 10
    assert model.total_cost_ == pytest.approx(2.0)
    assert model.refit_scores_["refit"]["n_features"] == 2


def test_the_first_order_that_can_be_paid_is_taken():
    costs = resolve(Neighbours([(0, 1), (1, 2)], discount=0.5, prices=[4.0, 2.0, 4.0]), 3, None)

    class Task:
        budget = np.inf

    Task.costs = costs
    given = np.array([0, 2, 1])
    assert PurchaseOrder.find(Task, [given]).order.tolist() == [0, 2, 1]
    assert PurchaseOrder.find(Task, [given]).cost == 4 + 4 + 0.5
    Task.budget = 6.0
    assert PurchaseOrder.find(Task, [given]).order.tolist() == [1, 0, 2]  # the cheapest first
    assert PurchaseOrder.find(Task, [given]).prices.tolist() == [2.0, 2.0, 2.0]
    assert PurchaseOrder.find(Task, [given, np.array([1, 2, 0])]).order.tolist() == [1, 2, 0]
    assert is_affordable(Task, [1, 2, 0])
    assert not is_affordable(Task, [0, 1, 2])
    Task.budget = 1.0
    assert PurchaseOrder.find(Task, [given]).order.tolist() == []


def test_one_bag_is_counted_where_one_is_paid():
    """Feature 1 lies in two bags and came with the first: that is one bag, not two."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + X[:, 1]
    bags = Bags({"a": [0, 1], "b": [1, 2]})
    model = GBFSRegressor(n_features_to_select=1, costs=bags, **QUICK).fit(X, y)
    assert sorted(model.selected_features_) == [0, 1]
    assert model.total_cost_ == 1


def test_the_cheapest_bag_is_counted():
    """Feature 1 pays bag b: feature 0, which only a has, is another bag and has no place beside it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + 2 * X[:, 1]
    bags = Bags({"a": [0, 1], "b": [1, 2]}, prices={"a": 5.0, "b": 1.0})
    model = GBFSRegressor(n_features_to_select=1, costs=bags, **QUICK).fit(X, y)
    assert 0 not in model.selected_features_ or 1 not in model.selected_features_ or model.total_cost_ == 5
    assert resolve(bags, 3, None).count(model.selected_features_) == 1


@pytest.mark.parametrize(
    ("costs", "budget"),
    [(Prices([2.0, 2.0, 2.0, np.inf]), 4.0), (Bags({"a": [0], "b": [1], "c": [2]}), 2.0)],
    ids=["prices", "bags"],
)
def test_what_is_stable_fits_the_budget(costs, budget):
    """Each half may buy two of three equals: all three are bought often, and two of them can be had."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 4))
    y = X[:, :3].sum(axis=1)
    model = GBFSRegressor(max_iter=10, costs=costs, budget=budget)
    settings = {"n_features": 3, "n_subsamples": 20, "threshold": 0.51, "random_state": 0, "n_mus": 5}
    stable = StabilitySelection(model, **settings)
    with pytest.warns(UserWarning, match="3 features are stable, but only 2 of them"):
        stable.fit(X, y)
    assert stable.support_.sum() == 2
    assert (stable.frequency_[:3] >= 0.51).all()
    free = StabilitySelection(model.set_params(budget=None), **settings).fit(X, y)
    assert free.support_.sum() == 3


def test_a_purse_pays_for_all_that_it_holds():
    """At each mu the budget allows one of two features, another one each time; together they cost too much."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + 0.9 * X[:, 1]
    costs = Prices([1.0, 0.6])
    stable = StabilitySelection(
        GBFSRegressor(max_iter=5, costs=costs, budget=1.0), n_features=2, n_subsamples=20, random_state=0
    ).fit(X, y)
    assert stable.n_features_per_subsample_ == 1.0


def test_going_on_with_less_than_was_paid_is_refused():
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(1e-4, budget=3, max_iter=10, warm_start=True).fit(X, y)
    assert model.total_cost_ == 3
    with pytest.raises(ValueError, match="has paid 3 already, more than budget=2"):
        model.set_params(budget=2, max_iter=20).fit(X, y)
    assert model.set_params(budget=4).fit(X, y).total_cost_ == 4


def test_prices_of_a_function_hold_in_the_order_reported():
    def dearer(owned, last, prices):
        return prices * (3.0 if last == 2 else 1.0)

    X, y = load_diabetes(return_X_y=True)
    for more in ({"refit": True}, {"n_features_to_select": 2}, {"n_features_to_select": 2, "average": 2}):
        model = GBFSRegressor(costs=Function(dearer), budget=4.0, **QUICK, **more).fit(X, y)
        order = model.selected_features_.tolist()
        when = order.index(2) if 2 in order else len(order)
        assert model.total_cost_ == pytest.approx(sum(3.0 if i > when else 1.0 for i in range(len(order))))
        assert model.total_cost_ <= 4.0
        assert len(order) >= 2


def test_stages_wait_in_the_order_reported():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3))
    y = 3 * X[:, 1] + X[:, 0]
    lab = Stages({"lab": Stage(2.0, opens=[1], needs=[0])}, prices=1.0)
    model = GBFSRegressor(costs=lab, budget=4.0, refit=True, **QUICK).fit(X, y)
    assert model.selected_features_.tolist() == [0, 1]  # a tree looks at 1 first, but it can't be bought first
    assert model._model.purchases.price.tolist() == [1.0, 3.0]
