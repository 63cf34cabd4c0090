"""What classes are called decides nothing: renamed, they permute the columns of predict_proba."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine, make_classification

from frugalboost import GBFSClassifier, GBFSClassifierCV, NothingBoughtWarning, StabilitySelection, gbfs_path
from frugalboost.costs import Bags, Function, Neighbours, Stage, Stages

SMALL = {"max_iter": 15, "mu": 5e-3}


def tables():
    X, y = make_classification(160, 8, n_informative=5, n_classes=4, random_state=0)
    X2, y2 = make_classification(160, 8, n_informative=5, n_classes=2, weights=[0.7], random_state=0)
    return {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True), "four": (X, y), "two": (X2, y2)}


WAYS = {
    "plain": GBFSClassifier(**SMALL),
    "a tree for each": GBFSClassifier(**SMALL, multi_strategy="one_output_per_tree"),
    "bags, a tree for each": GBFSClassifier(
        **SMALL,
        costs=Bags({"a": [0, 1], "b": [1, 2, 3]}, {"a": 2.0}),
        budget=3.0,
        multi_strategy="one_output_per_tree",
    ),
    "screened": GBFSClassifier(**SMALL, screening="exact"),
    "k": GBFSClassifier(**SMALL, n_features_to_select=2, random_state=0),
    "refit": GBFSClassifier(**SMALL, refit=True),
    "average": GBFSClassifier(**SMALL, refit=True, average=5, random_state=0),
    "early stopping": GBFSClassifier(**SMALL, early_stopping=True, n_iter_no_change=3, random_state=0),
    "budget": GBFSClassifier(**SMALL, budget=2.0),
    "bags": GBFSClassifier(**SMALL, costs=Bags({"a": [0, 1], "b": [1, 2, 3]}, {"a": 2.0}), budget=3.0),
    "sampled": GBFSClassifier(**SMALL, new_features=0.4, random_state=0),
    "lines": GBFSClassifier(**SMALL, base="lines"),
    "both": GBFSClassifier(**SMALL, base="both", max_depth=2),
    "bags of lines": GBFSClassifier(**SMALL, base="lines", costs=Bags({"a": [0, 1], "b": [1, 2, 3]}, {"a": 2.0})),
    "balanced": GBFSClassifier(**SMALL, class_weight="balanced"),
    "cv": GBFSClassifierCV(GBFSClassifier(**SMALL), n_mus=4, cv=2, random_state=0),
    "cv of k": GBFSClassifierCV(GBFSClassifier(**SMALL), n_features_to_select=[1, 3], cv=2, random_state=0),
}


SLOW = ("average", "cv", "cv of k", "k")  # many fits


def renamed(y, seed):
    """The same classes under other names, which sort in another order, and the new name of each old one."""
    names = np.array(["zebra", "ant", "mole", "bear"])[np.random.default_rng(seed).permutation(4)][: y.max() + 1]
    return names[y], names


def renamings(y, count):
    """Several, each of which changes the order of classes."""
    found = (renamed(y, seed) for seed in itertools.count())
    return itertools.islice((one for one in found if sorted(one[1]) != list(one[1])), count)


@pytest.mark.parametrize("table", ["iris", "wine", "four", "two"])
@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=[pytest.mark.slow] if way in SLOW else []) for way in sorted(WAYS)]
)
def test_names_of_classes_decide_nothing(table, way):
    X, y = tables()[table]
    first = WAYS[way]
    expected = type(first)(**first.get_params(deep=False)).fit(X, y)
    for labels, names in renamings(y, 1 if way in SLOW else 3):
        model = type(first)(**first.get_params(deep=False)).fit(X, labels)
        order = [list(model.classes_).index(name) for name in names]
        assert list(model.selected_features_) == list(expected.selected_features_)
        np.testing.assert_array_equal(model.predict_proba(X)[:, order], expected.predict_proba(X))
        np.testing.assert_array_equal(model.feature_importances_, expected.feature_importances_)
        assert model.mu_max_ == expected.mu_max_


def test_paths_and_stability_do_not_look_at_names():
    X, y = load_iris(return_X_y=True)
    labels, _ = renamed(y, 1)
    paths = [gbfs_path(X, target, estimator=GBFSClassifier(max_iter=10), n_mus=5) for target in (y, labels)]
    np.testing.assert_array_equal(paths[0].values, paths[1].values)
    assert [list(m.selected_features_) for m in paths[0].estimators] == [
        list(m.selected_features_) for m in paths[1].estimators
    ]
    frequencies = [
        StabilitySelection(GBFSClassifier(max_iter=5), n_subsamples=6, n_mus=4, random_state=0).fit(X, target)
        for target in (y, labels)
    ]
    np.testing.assert_array_equal(frequencies[0].frequencies_, frequencies[1].frequencies_)


@pytest.mark.slow
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["neighbours", "stages", "function", "bags", "plain"]),
    st.sampled_from(["trees", "lines", "both", "one tree"]),
)
def test_twin_classes_where_a_purchase_changes_prices(seed, kind, base):
    """Classes with equal offers: neither may be bound to the dear column while the other waits for prices to fall."""
    rng = np.random.default_rng(seed)
    half, d = int(rng.integers(6, 14)), 4
    one = rng.integers(0, 3, (half, d)).astype(float)
    X = np.concatenate([one, one, rng.integers(0, 3, (half, d))])
    y = np.repeat([0, 1, 2], half)
    flip = rng.integers(d)
    X[half : 2 * half, flip] = 2 - X[half : 2 * half, flip]  # the mirror image in one column
    prices = rng.choice([1.0, 2.0, 0.5], d)
    costs = {
        "neighbours": lambda: Neighbours([(0, 1), (1, 2), (2, 3)], discount=1.0, prices=prices),
        "stages": lambda: Stages({"s": Stage(0.5, opens=[0, 1], cheaper={2: 1.0, 3: 0.5})}, prices=prices),
        "function": lambda: Function(lambda owned, last, now: now * 0.25, prices),
        "bags": lambda: Bags({"a": [0, 1], "b": [1, 2], "c": [3]}, {"a": 2.0, "b": 0.5}),
        "plain": lambda: prices.tolist(),
    }[kind]()
    settings = {"mu": float(rng.choice([0.01, 0.03, 0.06])), "max_iter": 2, "max_depth": 2, "min_samples_leaf": 1}
    settings["base"] = "trees" if base == "one tree" else base
    settings["multi_strategy"] = "multi_output_tree" if base == "one tree" else "one_output_per_tree"
    swap = np.array([1, 0, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingBoughtWarning)
        model, other = (GBFSClassifier(costs=costs, **settings).fit(X, labels) for labels in (y, swap[y]))
    np.testing.assert_array_equal(other.predict_proba(X)[:, swap], model.predict_proba(X))
    for name in ("bought", "raw_gain", "price_paid", "train_loss"):
        assert other.history_[name] == model.history_[name]


def test_twins_are_bound_to_the_same_column():
    """One buys the cheap column, which makes the better one free: the other may not take that while the first can't."""
    n = 40
    y = np.repeat(["a", "b", "c"], n)
    first = np.r_[np.ones(n), np.zeros(n), np.tile([0, 1], n // 2)]
    X = np.column_stack([first, np.r_[np.ones(n), np.zeros(n), np.tile([0, 0, 0, 0, 1], n // 5)]])
    swapped = np.array([{"a": "b", "b": "a", "c": "c"}[label] for label in y])
    costs = Neighbours([(0, 1)], discount=1.0, prices=[1.0, 2.0])
    settings = {"mu": 0.08715254237288136, "max_iter": 1, "max_depth": 1, "min_samples_leaf": 1}
    settings["multi_strategy"] = "one_output_per_tree"
    one, other = (GBFSClassifier(costs=costs, **settings).fit(X, labels).predict_proba(X) for labels in (y, swapped))
    np.testing.assert_array_equal(other[:, [1, 0, 2]], one)
