"""Trees may use only some columns. test_reference.py and test_families.py hold that to the oracle; here is the rest."""

from itertools import pairwise

import numpy as np
import pytest
import reference_draws
from scipy import sparse
from sklearn.base import clone
from test_subsample import same_models, seed_of, table

from frugalboost import GBFSClassifier, GBFSRegressor, load
from frugalboost.costs import Bags

SETTINGS = {"mu": 1e-3, "max_iter": 20, "max_depth": 3, "max_features": 3, "random_state": 3}


def used(model):
    """The columns that the trees of each iteration split on, or have lines on."""
    trees = model._model.ensemble
    columns = trees.used_feature
    by_iteration = trees.tree_begin[:: trees.n_outputs]
    return [set(columns[a:b][columns[a:b] >= 0].tolist()) for a, b in pairwise(by_iteration)]


@pytest.mark.parametrize("base", ["trees", "lines", "both"])
@pytest.mark.parametrize("kind", ["number", "classes", "one tree"])
@pytest.mark.parametrize("screening", ["off", "exact"])
def test_trees_use_the_columns_of_the_hash(base, kind, screening):
    X, y = table(d=12)
    settings = {**SETTINGS, "base": base, "screening": screening, "mu": 1e-4}
    if kind == "number":
        model = GBFSRegressor(**settings).fit(X, y)
    else:
        strategy = "multi_output_tree" if kind == "one tree" else "one_output_per_tree"
        model = GBFSClassifier(**settings, multi_strategy=strategy).fit(X, np.digitize(y, [-1, 1]))
    found = used(model)
    for iteration in range(1, 20):
        if found[iteration - 1]:  # else all columns
            assert found[iteration] <= reference_draws.drawn_columns(seed_of(3), iteration, 3, 12), iteration
    assert len(set.union(*found)) > 5
    assert sum(map(bool, found)) > 10


def test_all_of_them_is_the_fit_without():
    X, y = table()
    without = {k: v for k, v in SETTINGS.items() if k != "max_features"}
    expected = GBFSRegressor(**without).fit(X, y)
    for everything in (None, 1.0, 8, 100):
        same_models(GBFSRegressor(**without, max_features=everything).fit(X, y), expected)
    assert GBFSRegressor(**SETTINGS).fit(X, y).history_["train_loss"] != expected.history_["train_loss"]


@pytest.mark.parametrize(
    ("max_features", "expected"),
    [(0.5, 8), (0.01, 1), (1, 1), (5, 5), (99, 17), ("sqrt", 4), ("log2", 4), (1.0, 17), (None, 17)],
)
def test_how_many(max_features, expected):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 17))
    model = GBFSRegressor(0.0, max_iter=12, max_features=max_features, min_samples_leaf=1, max_depth=None).fit(
        X, X.sum(axis=1) + rng.normal(size=900)
    )
    most = max(len(columns) for columns in used(model)[1:])
    assert most == expected  # deep trees on noise use all that they may


@pytest.mark.parametrize("base", ["trees", "lines", "both"])
@pytest.mark.parametrize("first", [1, 7, 19])
def test_a_continued_fit_is_one_long_fit(base, first, tmp_path):
    X, y = table(d=15)
    settings = {**SETTINGS, "base": base, "warm_start": True, "max_features": 1, "mu": 5e-3}
    whole = GBFSRegressor(**settings).fit(X, y)
    begun = GBFSRegressor(**{**settings, "max_iter": first}).fit(X, y)
    begun.save(tmp_path / "begun")
    assert load(tmp_path / "begun").max_features == 1
    same_models(load(tmp_path / "begun").set_params(max_iter=20).fit(X, y), whole)
    same_models(begun.set_params(max_iter=20).fit(X, y), whole)
    empty = [not columns for columns in used(whole)]
    assert any(empty)  # a column that pays for nothing was drawn, and then all of them


def test_boosting_ends_where_no_column_pays():
    X, y = table(300, d=12)
    model = GBFSRegressor(0.05, learning_rate=1.0, max_features=1, random_state=0).fit(X > 0, 2.0 * (X[:, 3] > 0))
    assert model.stop_reason_ == "converged"
    assert list(model.selected_features_) == [3]
    whole, drawn = (GBFSRegressor(0.02, max_iter=5, max_features=m).fit(X, y) for m in (None, "log2"))
    assert whole.mu_max_ == drawn.mu_max_


@pytest.mark.parametrize("beside", [{"new_features": 0.3}, {"subsample": 0.5}, {"costs": Bags(np.arange(24) // 3)}, {}])
@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array])
def test_screening_changes_nothing(beside, form):
    rng = np.random.default_rng(2)
    X = np.where(rng.random((1500, 24)) < 0.1, np.ceil(3 * rng.random((1500, 24))), 0.0)
    X[:, :4] = np.round(rng.normal(size=(1500, 4)), 1)
    y = X[:, 0] + X[:, 8] - X[:, 9] * X[:, 1] + 0.2 * rng.normal(size=1500)
    settings = {**SETTINGS, "mu": 5e-4, "max_iter": 40, "min_samples_leaf": 5, "max_features": 0.3} | beside
    off = GBFSRegressor(**settings, screening="off").fit(form(X), y)
    assert off.n_features_selected_ > 3
    same_models(off, GBFSRegressor(**settings, screening="exact").fit(form(X), y))
    same_models(off, GBFSRegressor(**settings, screening="auto", n_jobs=3).fit(form(X), y))


def test_the_columns_depend_on_the_seed_alone():
    X, y = table(d=20)
    model = GBFSRegressor(**SETTINGS).fit(X, y)
    same_models(model, clone(model).fit(np.asfortranarray(X), y))
    assert used(model) != used(clone(model).set_params(random_state=4).fit(X, y))


@pytest.mark.parametrize("bad", [0, 0.0, -1, 1.5, "all", "third", np.nan])
def test_what_is_no_number_of_columns_is_refused(bad):
    X, y = table(50)
    with pytest.raises(ValueError, match="max_features"):
        GBFSRegressor(max_features=bad).fit(X, y)
