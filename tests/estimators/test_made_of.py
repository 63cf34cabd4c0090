"""base_ and lines_: what a fitted model is made of; and everything else that looks at a model with lines."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import frugalboost
from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor, NothingBoughtWarning, gbfs_path
from frugalboost.estimators.made_of import made_of
from frugalboost.estimators.notebook import bought
from frugalboost.page.words import slope_text


def wide(rows=60, columns=100, classes=0):
    """More columns than rows; the target is a line in three of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    X[rng.random(X.shape) < 0.05] = np.nan
    score = np.nan_to_num(X[:, 0] - 2 * X[:, 1]) + np.nan_to_num(X[:, 2]) + 0.3 * rng.normal(size=rows)
    if not classes:
        return X, score
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def models():
    for base in ("lines", "both"):
        yield GBFSRegressor(0.003, base=base, max_iter=40).fit(*wide())
        yield GBFSClassifier(0.003, base=base, max_iter=20, costs=np.linspace(1, 2, 100)).fit(*wide(classes=3))
    yield GBFSRegressor(n_features_to_select=3, max_iter=40, base="lines").fit(*wide())
    yield GBFSClassifier(n_features_to_select=3, max_iter=40, base="lines").fit(*wide(classes=2))
    yield GBFSRegressor(n_features_to_select=3, max_iter=40, average=3, base="both").fit(*wide())


@pytest.fixture(scope="module", params=range(7))
def model(request):
    return list(models())[request.param]


def test_base_is_what_the_model_is_made_of():
    X, y = wide()
    trees = GBFSRegressor(0.003, base="trees", max_iter=10).fit(X, y)
    assert (trees.base_, trees.lines_) == ("trees", [])
    assert GBFSRegressor(0.003, base="lines", max_iter=10).fit(X, y).base_ == "lines"
    y = y + 3 * np.abs(np.nan_to_num(X[:, 3]))
    both = GBFSRegressor(0.0, base="both", max_iter=60, min_samples_leaf=5).fit(X, y)
    assert both.base_ == "both"
    assert both._counts() == (both.best_iteration_ - both._counts()[1], (both._model.ensemble.line >= 0).sum())
    with pytest.warns(NothingBoughtWarning):
        constant = GBFSRegressor(1.0, base="lines").fit(X, y)
    assert (constant.base_, constant.lines_) == ("trees", [])


@pytest.mark.parametrize("name", ["base_", "lines_"])
def test_before_fit(name):
    assert not hasattr(GBFSRegressor(), name)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(GBFSRegressor(), name)


@pytest.mark.slow
def test_slopes_are_what_a_row_gets(model):
    """Without trees, raw predictions are the start value, constants, and slopes times scores."""
    trees, last = model._model.ensemble, model.best_iteration_ * model._model.ensemble.n_outputs
    lines = {line["feature"]: np.ravel(line["slope"]) for line in model.lines_}
    expected = np.zeros((model.n_features_in_, trees.n_outputs))
    for t, root in enumerate(trees.tree_begin[:last]):
        if trees.line[root] >= 0:
            expected[trees.scales.feature[trees.line[root]], t % trees.n_outputs] += trees.slope[root]
    found = np.zeros_like(expected)
    for column, slope in lines.items():
        found[column] = slope
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
    assert lines
    assert list(lines) == [c for c in model.selected_features_.tolist() if c in lines]
    if model.base_ == "lines":
        assert list(lines) == model.selected_features_.tolist()


def test_directions_of_known_lines():
    X, y = wide()
    table = pd.DataFrame(X).rename(columns=lambda c: f"gene {c}")
    model = GBFSRegressor(n_features_to_select=3, base="lines", max_iter=40).fit(table, y)
    said = {line["name"]: line["direction"] for line in model.lines_}
    assert said == {"gene 0": "positive", "gene 1": "negative", "gene 2": "positive"}
    steep = {line["name"]: line["slope"] for line in model.lines_}
    assert abs(steep["gene 1"]) > abs(steep["gene 0"])
    _, y = wide(classes=3)
    line = GBFSClassifier(0.003, base="lines", max_iter=40).fit(table, y).lines_[0]
    assert (line["feature"], line["name"]) == (1, "gene 1")
    assert line["direction"][0] == "positive"
    assert line["direction"][2] == "negative"


def test_only_the_best_iterations_count():
    X, y = wide()
    model = GBFSRegressor(0.0, base="lines", learning_rate=0.5, early_stopping=True, n_iter_no_change=5, random_state=0)
    model.fit(X, y)
    assert model.best_iteration_ < model.n_iter_
    assert {line["feature"] for line in model.lines_} == set(model.selected_features_)
    assert sum(model._counts()) == model.best_iteration_


def test_files_and_pickles_bring_them_back(model, tmp_path):
    model.save(tmp_path / "model")
    for again in (frugalboost.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert again.base_ == model.base_
        assert again.lines_ == model.lines_
        assert bought(again) == bought(model)


def test_pickles_from_before_lines(tmp_path):
    X, y = wide()
    model = GBFSRegressor(0.003, max_iter=10, warm_start=True).fit(X, y)
    known = model.predict(X)
    for name in ("line", "slope", "scales"):
        del model._model.ensemble.__dict__[name]
    for name in ("base", "line_scale", "fewer"):
        del model.__dict__[name]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), known)
    assert (again.base_, again.lines_, again.base) == ("trees", [], "auto")
    assert repr(again) == repr(GBFSRegressor(0.003, max_iter=10, warm_start=True))
    again.save(tmp_path / "model")
    np.testing.assert_array_equal(frugalboost.load(tmp_path / "model").predict(X), known)
    assert clone(again).fit(X, y).base_ == "trees"
    assert again.set_params(max_iter=12).fit(X, y).n_iter_ == 12


def test_stages_end_at_the_prediction(model):
    X = wide()[0]
    stages = list(model.staged_predict(X))
    assert len(stages) == model.best_iteration_
    np.testing.assert_array_equal(stages[-1], model.predict(X))


def test_only_bought_columns_are_read(model):
    X = wide()[0]
    blind = np.where(model.support_, X, np.nan)
    np.testing.assert_array_equal(model.predict(blind), model.predict(X))
    np.testing.assert_array_equal(model.transform(X), X[:, model.support_])
    noise = np.where(model.support_, X, np.random.default_rng(1).normal(size=X.shape))
    np.testing.assert_array_equal(model.predict(noise), model.predict(X))


def test_every_prediction_of_lines_needs_all_their_features(model):
    cost = model.prediction_cost(wide()[0])
    assert (cost <= model.total_cost_ * (1 + 1e-12)).all()
    if model.base_ == "lines":
        np.testing.assert_allclose(cost, model.total_cost_)


def test_lines_need_no_leaves(recwarn):
    """Too few rows for a split are enough for a line."""
    X, y = wide(rows=30)
    model = GBFSRegressor(0.003, base="lines", min_samples_leaf=20, max_iter=5).fit(X, y)
    assert model.n_features_selected_
    assert not recwarn
    with pytest.warns(UserWarning, match="No split is possible"):
        GBFSRegressor(0.003, base="trees", min_samples_leaf=20, max_iter=5).fit(X, y)


def test_paths_and_searches():
    pytest.importorskip("matplotlib").use("Agg")
    X, y = wide(classes=2)
    path = gbfs_path(X, y, estimator=GBFSClassifier(base="lines", max_iter=20), n_mus=4)
    assert {m.base_ for m in path.estimators[1:]} == {"lines"}
    path.plot()
    frugalboost.EntryDisplay.from_estimator(path.estimators[-1])
    frugalboost.PurchaseDisplay.from_estimator(path.estimators[-1])
    search = GBFSClassifierCV(GBFSClassifier(base="lines", max_iter=20), n_mus=4, cv=2, random_state=0).fit(X, y)
    assert search.estimator_.base_ == "lines"
    assert "<th>slope</th>" in search._repr_html_()


def test_a_notebook_shows_slopes():
    X, y = wide(classes=3)
    shown = GBFSClassifier(0.003, base="lines", max_iter=20).fit(X, y)._repr_html_()
    assert "<th>slope</th>" in shown
    assert "; 60 lines in " in shown
    assert "slope" not in GBFSClassifier(0.003, base="trees", max_iter=5).fit(X, y)._repr_html_().split("<caption>")[1]


def test_words():
    assert made_of(1, 0, 0) == "1 tree"
    assert made_of(0, 0, 0) == "0 trees"
    assert made_of(1200, 1, 1) == "1,200 trees and 1 line in 1 feature"
    assert made_of(0, 30, 5) == "30 lines in 5 features"
    assert slope_text(None, []) == ""
    assert slope_text(-0.12345, []) == "-0.123"
    assert slope_text([0.1, -0.5, 0.2], ["a", "b", "c"]) == "-0.5 (b)"
