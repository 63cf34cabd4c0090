"""Trees of at most so many leaves, best first: what they promise.

That they are those of the oracle, to the bit, is the family "best_first" in ``test_families.py``.
"""

import warnings

import numpy as np
import pytest
from same_trees import assert_same_bytes
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingRegressor
from test_constraints import TRENDS, assert_kept_apart, assert_monotone, made
from test_parts import assert_same_model, fitted, in_parts, task_of

from frugalboost import GBFSClassifier, GBFSRegressor, load
from frugalboost.costs import Bags, Neighbours


def fit(X, y, **settings):
    settings = {"mu": 1e-4, "max_iter": 15, "min_samples_leaf": 5, "max_depth": None, "max_leaf_nodes": 6} | settings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GBFSRegressor(**settings).fit(X, y)


def shapes(model):
    """Leaves and depth of each tree."""
    trees, found = model._model.ensemble, []
    for begin, end in zip(trees.tree_begin[:-1], trees.tree_begin[1:]):
        depth = {0: 0}
        for node in range(end - begin):
            if trees.feature[begin + node] >= 0:
                left = int(trees.left[begin + node])
                depth[left] = depth[left + 1] = depth[node] + 1
        found.append((int((trees.feature[begin:end] < 0).sum()), max(depth.values())))
    return found


@pytest.mark.parametrize("leaves", [2, 3, 7])
@pytest.mark.parametrize("depth", [2, None])
def test_leaves_and_depth_are_limited(leaves, depth):
    X, y = made()
    found = shapes(fit(X, y, max_leaf_nodes=leaves, max_depth=depth, mu=0.0))
    assert max(n for n, _ in found) == min(leaves, 2**depth if depth else leaves)
    assert max(d for _, d in found) <= (depth or leaves - 1)


def test_the_best_leaf_is_split_first():
    """Two splits on the one side are worth more than any on the other, which a level would have split first."""
    x = np.repeat([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 10)
    y = np.repeat([0.0, 1.0, 100.0, 150.0, 220.0, 300.0], 10)
    model = fit(x[:, None], y, max_leaf_nodes=4, max_iter=1, mu=0.0)
    assert shapes(model)[0][0] == 4
    trees = model._model.ensemble
    assert 0.5 not in trees.threshold[trees.feature >= 0]  # the split that gains least is the one left out


def test_room_for_all_leaves_is_the_tree_of_levels_where_nothing_is_bought():
    """The order of splits decides nothing if prices never change."""
    X, y = made()
    for settings in ({}, {"monotonic_cst": TRENDS, "interaction_cst": "pairwise"}, {"base": "both"}):
        free = {"costs": [0.0] * 6, "max_depth": 4} | settings
        assert_same_bytes(
            fit(X, y, max_leaf_nodes=16, **free)._model.ensemble,
            fit(X, y, max_leaf_nodes=None, **free)._model.ensemble,
        )


def test_as_good_as_scikit_learn():
    X, y = made(2000, seed=1)
    Z, z = made(2000, seed=2)
    theirs = HistGradientBoostingRegressor(max_iter=60, max_leaf_nodes=8, early_stopping=False).fit(X, y)
    ours = fit(X, y, max_iter=60, max_leaf_nodes=8, mu=0.0, min_samples_leaf=20)
    assert ours.score(Z, z) > theirs.score(Z, z) - 0.01


@pytest.mark.parametrize(
    "settings",
    [
        {"mu": 1e-3},
        {"base": "both"},
        {"monotonic_cst": TRENDS, "interaction_cst": [[0, 1], [2, 3, 4]]},
        {"costs": Bags([0, 0, 1, 1, 2, 2])},
        {"costs": Neighbours([[0, 1], [1, 2], [3, 4]], discount=0.5)},
        {"new_features": 0.5},
        {"early_stopping": True, "random_state": 0},
    ],
    ids=str,
)
def test_threads_parts_and_forms_of_a_table_change_nothing(settings):
    X, y = made(700)
    X[:, 5] = np.where(np.random.default_rng(5).random(700) < 0.03, X[:, 5], 0.0)  # a sparse column
    one = fit(X, y, n_jobs=1, **settings)
    others = [fit(X, y, n_jobs=7, **settings), fit(sparse.csr_array(X), y, **settings)]
    others += [fit(X, y, **settings, screening=screening) for screening in ("off", "exact")]
    for other in others:
        assert_same_bytes(other._model.ensemble, one._model.ensemble)
        assert other.history_["bought"] == one.history_["bought"]
    if "early_stopping" not in settings:
        task = task_of(
            GBFSRegressor(min_samples_leaf=5, max_iter=5, max_leaf_nodes=5, **({"mu": 1e-4} | settings)), X, y
        )
        for found in in_parts(task, np.arange(len(y)) * 3 // len(y)):
            assert_same_model(found, fitted(task))


def test_constraints_hold():
    X, y = made()
    model = fit(X, y, monotonic_cst=TRENDS, interaction_cst="pairwise", max_iter=40)
    assert assert_monotone(model, X, TRENDS) > 10
    assert assert_kept_apart(model, "pairwise", 6) == 2


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_files_and_continued_fits(strategy, tmp_path):
    X, y = made()
    y = np.digitize(y, [-1, 1])
    settings = {"mu": 1e-3, "max_leaf_nodes": 5, "max_depth": None, "min_samples_leaf": 5, "multi_strategy": strategy}
    GBFSClassifier(max_iter=4, warm_start=True, **settings).fit(X, y).save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.max_leaf_nodes == 5
    whole = GBFSClassifier(max_iter=9, **settings).fit(X, y)
    assert_same_bytes(again.set_params(max_iter=9).fit(X, y)._model.ensemble, whole._model.ensemble)
    assert max(n for n, _ in shapes(whole)) == 5


def test_exports_predict_the_same():
    lightgbm = pytest.importorskip("lightgbm")
    from frugalboost.export import to_lightgbm

    X, y = made()
    X[:, 3] = np.random.default_rng(0).integers(0, 6, len(X))
    model = fit(X, y + (X[:, 3] == 2), categorical_features=[3], max_iter=30)
    booster = lightgbm.Booster(model_str=to_lightgbm(model, features="all"))
    np.testing.assert_allclose(booster.predict(X), model.predict(X), rtol=1e-12)


def test_selection_uses_it():
    X, y = made()
    model = fit(X, y, n_features_to_select=3, base="trees", max_leaf_nodes=3)
    assert model.n_features_selected_ == 3
    assert max(n for n, _ in shapes(model)) == 3


def test_one_leaf_is_no_tree():
    X, y = made(60)
    with pytest.raises(ValueError, match="max_leaf_nodes"):
        GBFSRegressor(max_leaf_nodes=1).fit(X, y)
