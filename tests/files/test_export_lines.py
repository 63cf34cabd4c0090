"""Exported models with lines predict what ours do, wherever a row lies."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import load_breast_cancer, load_diabetes
from test_export import VALUES, assert_served, booster, diabetes, near, walked

from frugalboost import GBFSClassifier, GBFSRegressor
from frugalboost.export import to_lightgbm, to_onnx
from frugalboost.export.lines import lines_as_trees

BASES = ["lines", "both"]


def slow(*values):
    """Values that a quick look leaves out."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


def wide(seed=0, rows=60, columns=200):
    """More columns than rows, and a target that is a line in three of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    return X, X[:, 0] - 2 * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=rows)


def has_lines(model):
    return (model._model.ensemble.line >= 0).any()


def mixed(classes):
    """Something for lines and something for trees; one class stands for numbers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    score = X[:, 0] - X[:, 1] + 2 * np.abs(X[:, 2]) + rng.normal(size=400)
    X[::9, 0] = np.nan
    return X, score if classes == 1 else np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("line_scale", ["ranks", "values"])
@pytest.mark.parametrize("loss", ["squared_error", *slow("absolute_error", "poisson")])
def test_regressors(base, line_scale, loss):
    X, y = diabetes()
    model = GBFSRegressor(0.003, base=base, line_scale=line_scale, loss=loss, max_iter=30).fit(X, y)
    assert has_lines(model)
    assert_served(model, np.concatenate([X, near(model, X)]))


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("classes", [2, *slow(3)])
def test_classifiers(base, classes):
    X, y = mixed(classes)
    model = GBFSClassifier(0.0, base=base, max_iter=30, min_samples_leaf=5).fit(X, y)
    assert has_lines(model)
    assert_served(model, np.concatenate([X, near(model, X)]))


@pytest.mark.parametrize("average", [1, *slow(3)])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_chosen_features(average, classes):
    """Ridges, and means of several models, whose scales may differ."""
    X, score = wide()
    y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes)) if classes else score
    kind = GBFSClassifier if classes else GBFSRegressor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(n_features_to_select=3, average=average, max_iter=40, random_state=0).fit(X, y)
    assert model.n_features_selected_
    assert_served(model, np.concatenate([X, near(model, X)]))


@pytest.mark.slow
@pytest.mark.parametrize("base", BASES)
def test_averages(base):
    X, y = diabetes()
    model = GBFSRegressor(n_features_to_select=4, base=base, average=3, max_iter=40, random_state=0).fit(X, y)
    assert has_lines(model)
    assert_served(model, np.concatenate([X, near(model, X)]))


def test_lines_after_the_best_iteration_are_left_out():
    X, y = wide()
    model = GBFSRegressor(0.0, base="lines", learning_rate=0.5, early_stopping=True, n_iter_no_change=5, random_state=0)
    model.fit(X, y)
    assert model.best_iteration_ < model.n_iter_
    assert booster(model).num_trees() == len(model.lines_) <= model.n_features_selected_
    assert_served(model, X)


@pytest.mark.slow
@settings(max_examples=50)
@given(
    X=hnp.arrays(np.float64, st.tuples(st.integers(8, 20), st.integers(1, 3)), elements=VALUES),
    seed=st.integers(0, 99),
    classes=st.integers(1, 3),
    base=st.sampled_from(BASES),
    line_scale=st.sampled_from(["ranks", "values"]),
)
def test_random_tables(X, seed, classes, base, line_scale):
    rng = np.random.default_rng(seed)
    given = {"mu": 0.0, "max_iter": 4, "min_samples_leaf": 0.5, "max_depth": 3, "learning_rate": 0.5}
    y = rng.permutation(np.arange(len(X)) % classes) if classes > 1 else rng.normal(size=len(X))
    weights = rng.choice([0.25, 1.0, 3.7], len(X))
    kind = GBFSClassifier if classes > 1 else GBFSRegressor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(base=base, line_scale=line_scale, **given).fit(X, y, sample_weight=weights)
    if not model.n_features_selected_:
        return
    rows = near(model, X)
    rows[np.abs(rows) < 1e-35] = 0.0  # to LightGBM these are zero
    assert_served(model, rows)


def test_lines_of_a_feature_become_one_balanced_tree():
    X, y = diabetes()
    model = GBFSRegressor(0.01, base="lines", max_iter=50, max_bins=64).fit(X, y)
    own = model._model.ensemble
    made = lines_as_trees(own)
    assert made.n_iterations == len(model.lines_) < own.n_iterations
    made.check(X.shape[1])
    assert not len(made.scales)
    assert (made.line < 0).all()
    assert np.diff(made.tree_begin).max() <= 2 * 65 - 1 + 2
    table = booster(model).trees_to_dataframe()
    assert table.node_depth.max() <= 1 + 1 + 6 + 1  # a root for missing values, and 64 bins
    assert lines_as_trees(made) is made


def test_iterations_of_trees_stay_as_they_are():
    X, y = mixed(3)
    model = GBFSClassifier(0.0, base="both", max_iter=12, min_samples_leaf=5).fit(X, y)
    trees, lines = model._counts()
    own, made = model._model.ensemble, lines_as_trees(model._model.ensemble)
    assert trees
    assert lines
    assert ((made.feature >= 0) & (made.gain > 0)).sum() <= (own.feature >= 0).sum() + 3 * len(own.scales)
    np.testing.assert_allclose(made.gain.sum(), own.gain.sum())


def test_importances_are_those_of_the_model():
    X, y = diabetes()
    for base in BASES:
        model = GBFSRegressor(0.003, base=base, max_iter=30).fit(X, y)
        gains = booster(model, "all").feature_importance("gain")
        np.testing.assert_allclose(gains / gains.sum(), model.feature_importances_, rtol=1e-6)
    model = GBFSRegressor(0.003, base="lines", max_iter=30).fit(X, y)
    assert booster(model).feature_importance("split").tolist() == [1] * len(model.lines_)


@pytest.mark.slow
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("classes", [1, 2, 3])
def test_shap_values_add_up(classes, base):
    shap = pytest.importorskip("shap")
    X, y = mixed(classes)
    estimator = GBFSRegressor if classes == 1 else GBFSClassifier
    model = estimator(0.001, base=base, max_iter=20, min_samples_leaf=5).fit(X, y)
    assert has_lines(model)
    explained = shap.TreeExplainer(booster(model))(model.transform(X))
    total = explained.values.sum(axis=1) + explained.base_values
    np.testing.assert_allclose(total, walked(model, X).reshape(total.shape), atol=1e-9)


def test_the_shap_value_of_a_line_is_its_height_above_the_mean():
    X, y = diabetes()
    model = GBFSRegressor(0.003, base="lines", max_iter=30).fit(X, y)
    parts = booster(model, "all").predict(X, pred_contrib=True)
    trees = model._model.ensemble
    for scale, column in enumerate(trees.scales.feature.tolist()):
        score = trees.scales.scores_of(scale)[np.searchsorted(trees.scales.cuts_of(scale), X[:, column])]
        expected = np.where(np.isnan(X[:, column]), 0.0, trees.slopes(model.best_iteration_)[scale, 0] * score)
        np.testing.assert_allclose(parts[:, column], expected, atol=1e-6)
    assert parts[0, -1] == pytest.approx(model.predict(X).mean(), rel=1e-4)


def test_one_column_of_many_rows():
    X, y = load_breast_cancer(return_X_y=True)
    model = GBFSClassifier(0.0, base="lines", budget=1, max_iter=20).fit(X, y)
    assert model.n_features_selected_ == 1
    assert_served(model, np.concatenate([X, near(model, X)]))


@pytest.mark.parametrize("export", [to_onnx, to_lightgbm])
def test_lines_too_steep_for_a_number(export):
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(0.0, base="lines", max_iter=3).fit(X, y)
    model._model.ensemble.slope[:] = 1.7e308
    with pytest.raises(ValueError, match="what its lines add is too large for a number"):
        export(model)
