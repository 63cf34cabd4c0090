"""``apply``: the leaf of each row in each tree."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

from frugalboost import GBFSClassifier, GBFSRegressor


def values(model, leaves):
    """Raw predictions from the values of leaves."""
    trees = model._model.ensemble
    leaves = leaves[:, :, None] if leaves.ndim == 2 else leaves
    raw = np.repeat(trees.start[None], len(leaves), axis=0)
    for i in range(leaves.shape[1]):
        for k in range(leaves.shape[2]):
            raw[:, k] += trees.value[trees.tree_begin[i * leaves.shape[2] + k] + leaves[:, i, k]]
    return raw[:, 0] if leaves.shape[2] == 1 else raw


@pytest.mark.parametrize("depth", [1, 4, None])
@pytest.mark.parametrize("kind", ["number", "two", "three", "one tree"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_values_of_the_leaves_add_up(depth, kind, form):
    load = {"number": load_diabetes, "two": load_breast_cancer}.get(kind, load_iris)
    X, y = load(return_X_y=True)
    X = np.where(np.abs(X) < np.median(np.abs(X)), 0.0, X)
    strategy = {"multi_strategy": "multi_output_tree"} if kind == "one tree" else {}
    make = GBFSRegressor if kind == "number" else GBFSClassifier
    model = make(1e-3, max_iter=15, max_depth=depth, min_samples_leaf=3, **strategy)
    table = form(X) if form is not pd.DataFrame else pd.DataFrame(X).add_prefix("x")
    leaves = model.fit(table, y).apply(table)
    assert leaves.dtype == np.int32
    assert leaves.shape == ((len(y), 15) if model._model.ensemble.n_outputs == 1 else (len(y), 15, 3))
    np.testing.assert_array_equal(values(model, leaves), model._raw(table))


def test_categories_missing_values_and_threads():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"kind": pd.Categorical(rng.choice(list("abcdef"), 700)), "x": rng.normal(size=700)})
    frame.loc[rng.random(700) < 0.1, "x"] = np.nan
    y = frame["kind"].isin(list("ace")) + frame["x"].fillna(2.0)
    model = GBFSRegressor(0.0, max_iter=10, n_jobs=3).fit(frame, y)
    leaves = model.apply(frame)
    np.testing.assert_array_equal(values(model, leaves), model._raw(frame))
    np.testing.assert_array_equal(model.set_params(n_jobs=1).apply(frame), leaves)


def test_trees_up_to_the_best_iteration():
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(max_iter=200, early_stopping=True, random_state=0).fit(X, y)
    assert model.apply(X).shape == (442, model.best_iteration_)
    assert model.best_iteration_ < model.n_iter_


def test_a_line_is_one_leaf():
    X, y = load_diabetes(return_X_y=True)
    assert not GBFSRegressor(base="lines", max_iter=10).fit(X, y).apply(X).any()
    both = GBFSRegressor(base="both", max_iter=30).fit(X, y)
    trees = both._model.ensemble
    lines = trees.line[trees.tree_begin[:-1]] >= 0
    assert lines.any()
    assert not lines.all()
    assert (both.apply(X).max(axis=0) == 0)[lines].all()


def test_leaves_make_features_for_another_model():
    X, y = load_breast_cancer(return_X_y=True)
    leaves = GBFSClassifier(0.01, max_iter=20).fit(X, y).apply(X)
    coded = OneHotEncoder().fit_transform(leaves)
    assert LogisticRegression(max_iter=1000).fit(coded, y).score(coded, y) > 0.97


def test_no_rows_and_bad_rows_are_told():
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(max_iter=2)
    with pytest.raises(ValueError, match="not fitted"):
        model.apply(X)
    model.fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.apply(X[:, :3])
    with pytest.raises(ValueError, match="infinity"):
        model.apply(np.where(X > 0.1, np.inf, X))
