"""shap explains our models: its values are those of all coalitions, counted one by one."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from conditional import shapley
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from test_export import Cauchy, near, with_levels

from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor
from frugalboost.export import to_shap

shap = pytest.importorskip("shap")
pytestmark = pytest.mark.filterwarnings("ignore::frugalboost.NothingBoughtWarning")


def explained(model, X, features="all"):
    """SHAP values by rows, features and outputs, and base values by rows and outputs. shap checks that they add up."""
    found = shap.TreeExplainer(model.to_shap(features=features))(X)
    values = found.values.reshape(*found.values.shape[:2], -1)
    return values, np.asarray(found.base_values).reshape(len(X), -1)


def assert_exact(model, X, tolerance=1e-9):
    values, base = explained(model, X)
    for row, own, start in zip(X, values, base, strict=True):
        phi, nothing = shapley(model, row)
        np.testing.assert_allclose(own, phi, atol=tolerance * (1 + abs(phi).max()))
        np.testing.assert_allclose(start, nothing, rtol=tolerance, atol=tolerance)


@pytest.mark.slow
@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    base=st.sampled_from(["trees", "lines", "both"]),
    classes=st.integers(1, 4),
    strategy=st.sampled_from(["one_output_per_tree", "multi_output_tree"]),
    weighted=st.booleans(),
    average=st.sampled_from([1, 1, 3]),
)
def test_random_models(seed, base, classes, strategy, weighted, average):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(12, 60)), int(rng.integers(1, 5))
    X = np.round(rng.normal(size=(n, d)), 1)
    X[rng.random(X.shape) < 0.15] = np.nan
    score = np.nan_to_num(X).sum(axis=1) + rng.normal(size=n)
    y = score if classes == 1 else np.argsort(np.argsort(score)) * classes // n
    options = {"max_iter": 4, "max_depth": 3, "min_samples_leaf": 1, "average": average, "refit": average > 1}
    kind = GBFSRegressor if classes == 1 else GBFSClassifier
    if classes > 2:
        options["multi_strategy"] = strategy if base == "trees" else "one_output_per_tree"
    weights = rng.choice([1e-3, 0.3, 1.0, 7.0], n) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(0.0, base=base, **options).fit(X, y, sample_weight=weights)
    rows = X if not model.n_features_selected_ or base != "trees" else np.concatenate([X[:8], near(model, X)[:8]])
    assert_exact(model, np.where(np.isinf(rows), 0.0, rows)[:12])


@pytest.mark.parametrize("base", ["trees", "lines", "both"])
def test_missing_values_weights_and_lines(base):
    X, y = load_diabetes(return_X_y=True)
    X = X[:, :4]
    X[::7, 2] = np.nan  # one column has missing values in training, the others meet them first here
    weights = np.random.default_rng(0).uniform(0.1, 3, len(X))
    model = GBFSRegressor(0.001, base=base, max_iter=10).fit(X, y, sample_weight=weights)
    rows = X[:6].copy()
    rows[1:5] = np.where(np.eye(4, dtype=bool), np.nan, rows[1:5])
    rows[5] = np.nan
    assert_exact(model, rows)


def test_the_base_value_is_the_weighted_mean_of_the_training_rows():
    X, y = load_diabetes(return_X_y=True)
    weights = np.random.default_rng(0).random(len(X)) * 1e-9
    model = GBFSRegressor(0.0, max_iter=20).fit(X, y, sample_weight=weights)
    expected = shap.TreeExplainer(model.to_shap()).expected_value
    assert expected == pytest.approx(np.average(model.predict(X), weights=weights), rel=1e-9)


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_classes_and_one_tree_for_all(strategy):
    X, y = load_iris(return_X_y=True)
    model = GBFSClassifier(0.001, max_iter=5, multi_strategy=strategy).fit(X, y)
    made = model.to_shap()
    assert len(made["trees"]) == model.best_iteration_ * (1 if strategy == "multi_output_tree" else 3)
    assert_exact(model, X[::30])
    values, base = explained(model, X)
    np.testing.assert_allclose(values.sum(axis=1) + base, model.decision_function(X), atol=1e-12)


def test_trees_of_one_shape_on_other_features_stay_apart():
    rng = np.random.default_rng(0)
    X = np.tile([[a, b, c] for a in (0.0, 1.0) for b in (0.0, 1.0) for c in (0.0, 1.0)], (50, 1))
    y = (3 * X + rng.gumbel(size=X.shape)).argmax(axis=1)
    model = GBFSClassifier(0.0, max_iter=3, max_depth=1, multi_strategy="one_output_per_tree").fit(X, y)
    assert len(set(model._model.ensemble.feature[[0, 3, 6]])) == 3
    assert_exact(model, X[:8])


def test_categories_are_explained_by_way_of_lightgbm():
    pytest.importorskip("lightgbm")
    model, X = with_levels(1, 40)
    levels = model.categories_[0]
    names = [None if np.isnan(k) else levels[int(k)] for k in X[:, 0]]
    table = pd.DataFrame({"x0": pd.Categorical(names, categories=levels[::-1]), "x1": X[:, 1], "x2": 0.0})
    found = shap.TreeExplainer(model.to_shap())(table)
    assert found.feature_names == ["x0", "x1", "x2"]
    for i in range(0, 40, 4):
        phi, nothing = shapley(model, X[i])
        np.testing.assert_allclose(found.values[i], phi[:, 0], atol=1e-6)
        np.testing.assert_allclose(found.base_values[i], nothing[0], atol=1e-6)
    bought = table.loc[:, model.support_]
    only = shap.TreeExplainer(model.to_shap(features="selected"))(bought)
    np.testing.assert_allclose(only.values, found.values[:, :2], atol=1e-12)


def test_bought_columns_alone():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = GBFSRegressor(0.01, max_iter=20).fit(X, y)
    whole, base = explained(model, X)
    bought, same = explained(model, X.loc[:, model.support_], "selected")
    assert bought.shape[1] == model.n_features_selected_ < X.shape[1]
    np.testing.assert_array_equal(whole[:, model.support_], bought)
    np.testing.assert_array_equal(whole[:, ~model.support_], 0.0)
    np.testing.assert_array_equal(base, same)
    assert model.to_shap()["feature_names"] == list(X)
    assert model.to_shap(features="selected")["feature_names"] == list(X.loc[:, model.support_])
    with pytest.raises(ValueError, match="features='bought' is not known"):
        model.to_shap(features="bought")


def test_against_rows_and_as_probabilities():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    model = GBFSClassifier(0.001, max_iter=20).fit(X, y)
    explainer = shap.TreeExplainer(model.to_shap(), data=X[:40], model_output="probability")
    total = explainer(X).values.sum(axis=1) + explainer.expected_value
    np.testing.assert_allclose(total, model.predict_proba(X)[:, 1], atol=1e-6)
    assert explainer.expected_value == pytest.approx(model.predict_proba(X[:40])[:, 1].mean())
    pairs = shap.TreeExplainer(model.to_shap()).shap_interaction_values(X[:5])
    values, _ = explained(model, X[:5])
    np.testing.assert_allclose(pairs.sum(axis=2), values[:, :, 0], atol=1e-9)


def test_losses_are_explained_where_shap_knows_them():
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(0.01, max_iter=10).fit(X, y)
    explainer = shap.TreeExplainer(model.to_shap(), data=X[:30], model_output="log_loss")
    values = explainer.shap_values(X[:5], y[:5])
    total = values.sum(axis=1) + np.array([np.ravel(explainer.expected_value(v))[0] for v in y[:5]])
    np.testing.assert_allclose(total, (model.predict(X[:5]) - y[:5]) ** 2, rtol=1e-6)
    for loss in ("poisson", "absolute_error", Cauchy()):
        made = GBFSRegressor(0.01, max_iter=10, loss=loss).fit(X, y).to_shap()
        assert made["objective"] is None
        assert made["tree_output"] == (None if loss == "poisson" else "raw_value")


def test_constants():
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(mu=1.0).fit(X, y)
    values, base = explained(model, X[:3])
    assert not values.any()
    np.testing.assert_array_equal(base[:, 0], model.predict(X[:3]))
    X, y = load_iris(return_X_y=True)
    model = GBFSClassifier(mu=1.0).fit(X, y)
    values, base = explained(model, X[:3])
    assert not values.any()
    np.testing.assert_array_equal(base, model.decision_function(X[:3]))


def test_searches_too_and_nothing_else():
    X, y = load_iris(return_X_y=True)
    search = GBFSClassifierCV(GBFSClassifier(max_iter=5), mus=[0.01, 0.1], cv=2)
    with pytest.raises(NotFittedError):
        search.to_shap()
    search.fit(X, y)
    values, base = explained(search, X)
    np.testing.assert_allclose(values.sum(axis=1) + base, search.decision_function(X), atol=1e-12)
    with pytest.raises(TypeError, match="A Pipeline can't be exported"):
        to_shap(make_pipeline(GBFSClassifier()).fit(X, y))


def test_shap_is_not_needed_to_make_it():
    code = (
        "import sys; sys.modules['shap'] = sys.modules['lightgbm'] = None\n"
        "from frugalboost import GBFSRegressor\n"
        "made = GBFSRegressor(0.0, max_iter=3).fit([[0.0], [1.0]] * 30, [0.0, 1.0] * 30).to_shap()\n"
        "assert len(made['trees']) == 3\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_lightgbm(monkeypatch):
    model, _ = with_levels(0, 3)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ImportError, match=r"pip install 'frugalboost\[export\]'"):
        model.to_shap()
