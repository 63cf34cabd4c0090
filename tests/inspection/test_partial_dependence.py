"""Partial dependence from trees alone: held to plain recursion, to scikit-learn's own, and to means over rows."""

import itertools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conditional import conditional
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import inspection
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.exceptions import NotFittedError

import frugalboost.inspection.dependence as dependence
from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor
from frugalboost.inspection import partial_dependence

pytestmark = pytest.mark.filterwarnings("ignore::frugalboost.NothingBoughtWarning")


def table(seed, classes=1, missing=0.15):
    """Rows of a few columns, one of them of levels, and a target."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(20, 70)), int(rng.integers(2, 5))
    X = np.round(rng.normal(size=(n, d)), 1)
    X[:, 0] = rng.integers(0, 6, n)  # levels
    X[rng.random(X.shape) < missing] = np.nan
    score = np.sin(7 * np.nan_to_num(X[:, 0])) + np.nan_to_num(X).sum(axis=1) + 0.5 * rng.normal(size=n)
    return X, score if classes == 1 else np.argsort(np.argsort(score)) * classes // n


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    base=st.sampled_from(["trees", "lines", "both"]),
    classes=st.integers(1, 3),
    categories=st.booleans(),
    weighted=st.booleans(),
    pair=st.booleans(),
)
def test_plain_recursion_finds_the_same(seed, base, classes, categories, weighted, pair):
    X, y = table(seed, classes)
    weights = np.random.default_rng(seed).choice([1e-3, 0.3, 1.0, 7.0], len(X)) if weighted else None
    kind = GBFSRegressor if classes == 1 else GBFSClassifier
    options = {"categorical_features": [0] if categories else None, "base": base, "min_samples_leaf": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(0.0, max_iter=3, max_depth=3, **options).fit(X, y, sample_weight=weights)
    columns = [0, 1] if pair else [seed % X.shape[1]]
    values = {c: [np.nan, *np.unique(X[:, c][~np.isnan(X[:, c])])[:4], 0.05, -9.0] for c in columns}
    found = partial_dependence(model, None, columns, custom_values=values)
    expected = []
    for point in itertools.product(*(values[c] for c in columns)):
        row = np.full(X.shape[1], np.nan)
        for c, v in zip(columns, point, strict=True):
            row[c] = v if c not in model.categories_ else position(model.categories_[c], v)
        expected.append(conditional(model, row, set(columns)))
    shape = (len(expected[0]), *(len(values[c]) for c in columns))
    np.testing.assert_allclose(found["average"], np.transpose(expected).reshape(shape), rtol=1e-9, atol=1e-9)


def position(levels, value):
    return levels.index(value) if value in levels else np.nan


def as_scikit_learn_has_it(model, t):
    """One of our trees of numbers, fitted without weights, as a tree of HistGradientBoosting."""
    trees = model._model.ensemble
    nodes = np.zeros(trees.tree_begin[t + 1] - trees.tree_begin[t], dtype=PREDICTOR_RECORD_DTYPE)
    own = slice(trees.tree_begin[t], trees.tree_begin[t + 1])
    nodes["value"], nodes["count"] = trees.value[own], trees.weight[own]
    nodes["feature_idx"], nodes["num_threshold"] = np.maximum(trees.feature[own], 0), trees.threshold[own]
    nodes["missing_go_to_left"], nodes["is_leaf"] = trees.missing_left[own], trees.feature[own] < 0
    nodes["left"], nodes["right"] = np.maximum(trees.left[own], 0), np.maximum(trees.left[own], 0) + 1
    return TreePredictor(nodes, np.zeros((0, 8), np.uint32), np.zeros((0, 8), np.uint32))


@pytest.mark.parametrize("columns", [[2], [8], [2, 8]])
def test_scikit_learns_recursion_over_our_trees_finds_the_same(columns):
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(0.001, max_iter=40).fit(X, y)
    assert model._model.ensemble.feature.max() >= 8
    found = partial_dependence(model, X, columns, grid_resolution=15)
    grid = np.array(list(itertools.product(*found["grid_values"])), dtype=np.float64)
    out = np.zeros(len(grid))
    for t in range(model.best_iteration_):
        as_scikit_learn_has_it(model, t).compute_partial_dependence(grid, np.array(columns, dtype=np.intp), out)
    out += model._model.ensemble.start[0]
    np.testing.assert_allclose(found["average"].ravel(), out, rtol=1e-10)


def brute(model, X, features, **options):
    """scikit-learn's own, by predictions of the rows."""
    if isinstance(model, GBFSClassifier):
        options["response_method"] = "decision_function"
    return inspection.partial_dependence(model, X, features, method="brute", **options)


def assert_as_brute(model, X, features, **options):
    ours, theirs = partial_dependence(model, X, features), brute(model, X, features, **options)
    for a, b in zip(ours["grid_values"], theirs["grid_values"], strict=True):
        np.testing.assert_allclose(a, b)
    assert np.ptp(ours["average"]) > 0
    np.testing.assert_allclose(ours["average"], theirs["average"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_independent_columns_have_the_mean_of_predictions(classes):
    """All combinations of values, equally often: a node's rows are spread over other columns like all rows."""
    X = np.array(list(itertools.product(range(4), range(3), range(5))), dtype=float).repeat(3, axis=0)
    score = X[:, 0] * X[:, 1] - X[:, 2] + np.random.default_rng(0).normal(size=len(X))
    y = score if classes == 1 else np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    kind = GBFSRegressor if classes == 1 else GBFSClassifier
    model = kind(0.0, max_iter=10, max_depth=3, min_samples_leaf=1).fit(X, y)
    for features in ([0], [1], [0, 2]):
        assert_as_brute(model, X, features)


@pytest.mark.parametrize("weighted", [False, True])
def test_trees_of_depth_one_have_the_mean_of_predictions(weighted):
    X, y = load_diabetes(return_X_y=True)
    weights = np.random.default_rng(0).uniform(0.1, 3, len(X)) if weighted else None
    model = GBFSRegressor(0.001, max_iter=60, max_depth=1).fit(X, y, sample_weight=weights)
    for features in ([2], [8], [2, 8]):
        assert_as_brute(model, X, features, sample_weight=weights)


def test_lines_have_the_mean_of_predictions():
    """As far as scores are whole numbers: their mean is zero up to rounding."""
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(0.001, max_iter=60, base="lines").fit(X, y)
    ours, theirs = partial_dependence(model, X, "x2"), brute(model, X, [2])
    spread = np.ptp(theirs["average"])
    np.testing.assert_allclose(ours["average"], theirs["average"], atol=2e-3 * spread)
    np.testing.assert_allclose(np.diff(ours["average"]), np.diff(theirs["average"]), atol=1e-9)


def test_levels_are_named_and_new_ones_are_missing():
    rng = np.random.default_rng(0)
    tree = np.array(["oak", "ash", "fir"])[rng.integers(0, 3, 300)]
    X = pd.DataFrame({"height": rng.normal(size=300), "tree": pd.Categorical(tree)})
    X.loc[:20, "tree"] = np.nan
    y = X["height"] + 3.0 * (tree == "oak")
    model = GBFSRegressor(0.0, max_iter=30, max_depth=1).fit(X, y)
    found = partial_dependence(model, X, "tree")
    assert found["grid_values"][0].tolist() == ["ash", "fir", "oak"] == model.categories_[1]
    expected = [model.predict(X.assign(tree=pd.Categorical([level] * 300))).mean() for level in found["grid_values"][0]]
    np.testing.assert_allclose(found["average"][0], expected)
    new, none = partial_dependence(model, X, "tree", custom_values={"tree": ["elm", None]})["average"][0]
    gone = model.predict(X.assign(tree=pd.Categorical([None] * 300, categories=["oak"])))
    np.testing.assert_allclose([new, none], gone.mean())


def test_the_form_of_the_table_does_not_matter():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = GBFSRegressor(0.001, max_iter=20).fit(X, y)
    expected = partial_dependence(model, X, ["bmi", "s5"], grid_resolution=7)
    turned = X[X.columns[::-1]].assign(more=1.0)
    for form in (
        turned,
        pl.from_pandas(X),
        X.to_numpy(),
        X.to_numpy().tolist(),
        sparse.csr_array(X),
        turned[["s5", "bmi"]],
    ):
        found = partial_dependence(model, form, [2, "s5"], grid_resolution=7)
        np.testing.assert_array_equal(found["average"], expected["average"])


def test_missing_values_do_not_spoil_the_grid():
    X, y = load_diabetes(return_X_y=True)
    X[::5, 2] = np.nan
    X[:, 1] = np.where(np.arange(len(X)) % 3, X[:, 1], np.nan)
    model = GBFSRegressor(0.001, max_iter=20).fit(X, y)
    found = partial_dependence(model, X, [2, 1])
    assert [len(v) for v in found["grid_values"]] == [100, 2]
    assert all(np.isfinite(v).all() for v in found["grid_values"])


def test_many_points_are_looked_at_in_parts(monkeypatch):
    X, y = load_iris(return_X_y=True)
    model = GBFSClassifier(0.001, max_iter=5).fit(X, y)
    whole = partial_dependence(model, X, [2, 3])
    monkeypatch.setattr(dependence, "MOST_CELLS", 500)
    np.testing.assert_allclose(partial_dependence(model, X, [2, 3])["average"], whole["average"], rtol=1e-14)


def test_constants_and_columns_that_were_not_bought_are_flat():
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(mu=1.0).fit(X, y)
    np.testing.assert_array_equal(partial_dependence(model, X, 0)["average"], model.predict(X[:1])[0])
    model = GBFSRegressor(0.05, max_iter=5).fit(X, y)
    assert np.ptp(partial_dependence(model, X, int(np.flatnonzero(~model.support_)[0]))["average"]) < 1e-9


def test_searches_too():
    X, y = load_iris(return_X_y=True)
    search = GBFSClassifierCV(GBFSClassifier(max_iter=5), mus=[0.001], cv=2)
    with pytest.raises(NotFittedError):
        partial_dependence(search, X, 0)
    search.fit(X, y)
    found = partial_dependence(search, X, 2)["average"]
    assert found.shape[0] == 3
    np.testing.assert_array_equal(found, partial_dependence(search.estimator_, X, 2)["average"])


def test_scikit_learns_display_draws_it():
    pytest.importorskip("matplotlib").use("agg")
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = GBFSRegressor(0.001, max_iter=20).fit(X, y)
    found = [partial_dependence(model, X, "bmi"), partial_dependence(model, X, ["bmi", "s5"], grid_resolution=20)]
    display = inspection.PartialDependenceDisplay(
        found,
        features=[(2,), (2, 8)],
        feature_names=list(X),
        target_idx=0,
        deciles={c: np.quantile(X.iloc[:, c], np.arange(0.1, 1, 0.1)) for c in (2, 8)},
    ).plot()
    np.testing.assert_allclose(display.lines_[0, 0].get_ydata(), found[0]["average"][0])


X, Y = load_diabetes(return_X_y=True, as_frame=True)
MODEL = GBFSRegressor(0.001, max_iter=5).fit(X, Y)


@pytest.mark.parametrize(
    ("X", "features", "options", "message"),
    [
        (X, "bim", {}, "features: X has no feature 'bim'. Did you mean 'bmi'?"),
        (X, 10, {}, "features: there is no feature number 10; X has 10."),
        (X, [], {}, "give one feature, or several different ones"),
        (X, ["bmi", 2], {}, "give one feature, or several different ones"),
        (X, "bmi", {"percentiles": (0.9, 0.1)}, "must be two shares of 1, the smaller one first"),
        (X, "bmi", {"grid_resolution": 1}, "must be at least 2"),
        (X, "bmi", {"custom_values": {"bmi": []}}, "must be a list of values"),
        (X, "bmi", {"custom_values": {"bmi": ["tall"]}}, "Feature 'bmi' holds numbers; \\['tall'\\]"),
        (X, "bmi", {"custom_values": {"bim": [1.0]}}, "custom_values: X has no feature 'bim'"),
        (X.drop(columns="bmi"), "bmi", {}, "X has no column 'bmi'"),
        (X.to_numpy()[:, :3], "bmi", {}, "fitted on 10 columns"),
        (None, "bmi", {}, "Feature 'bmi' has no values: give X"),
        (X.assign(bmi=np.nan), "bmi", {}, "has missing values only"),
        (X.assign(bmi=np.r_[np.arange(22.0), np.ones(420)]), "bmi", {"grid_resolution": 20}, "nearly the same value"),
    ],
)
def test_messages(X, features, options, message):
    with pytest.raises(ValueError, match=message):
        partial_dependence(MODEL, X, features, **options)


def test_files_and_batches_need_values(tmp_path):
    X.to_parquet(tmp_path / "rows.parquet")
    for source in (tmp_path / "rows.parquet", iter([X])):
        with pytest.raises(TypeError, match="give a table in memory, or custom_values"):
            partial_dependence(MODEL, source, "bmi")
    values = {"bmi": [0.0, 0.1]}
    found = partial_dependence(MODEL, tmp_path / "rows.parquet", "bmi", custom_values=values)["average"]
    np.testing.assert_array_equal(found, partial_dependence(MODEL, X, "bmi", custom_values=values)["average"])


def test_scikit_learn_allows_recursion_for_its_own_estimators_alone():
    """Should this ever change, `method="recursion"` is a name for what we have."""
    with pytest.raises(ValueError, match="Only the following estimators support the 'recursion'"):
        inspection.partial_dependence(MODEL, X, ["bmi"], method="recursion")
