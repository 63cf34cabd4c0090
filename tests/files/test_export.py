"""Exported models predict what ours do, wherever a row lies."""

import json
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor
from frugalboost.export import to_lightgbm, to_onnx
from frugalboost.losses import Huber, Quantile, Tweedie

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
lightgbm = pytest.importorskip("lightgbm")


class Cauchy:
    """A loss of a user's own."""

    def __init__(self, inverse_link=lambda raw: raw):
        self.inverse_link = inverse_link

    def start(self, y, sample_weight):
        return np.median(y)

    def gradient(self, y, raw):
        return (raw - y) / (1 + (raw - y) ** 2)

    def curvature(self, y, raw):
        return 1 / (1 + (raw - y) ** 2)


class Logistic(Cauchy):
    """Log loss, written by a user."""

    def start(self, y, sample_weight):
        return 0.0

    def gradient(self, y, raw):
        return 1 / (1 + np.exp(-raw)) - y

    def curvature(self, y, raw):
        return np.full_like(raw, 0.25)


def run_onnx(model, table, features="selected"):
    made = to_onnx(model, features=features)
    onnx.checker.check_model(made, full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(made.SerializeToString(), options)
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, {"X": table}), strict=True))


def booster(model, features="selected"):
    return lightgbm.Booster(model_str=to_lightgbm(model, features=features))


def own_raw(model, X):
    """Raw predictions, also for infinite values, which predict refuses; one column per output."""
    return walked(model, X)


def near(model, X):
    """Rows whose values lie on a threshold or beside one, or nowhere."""
    trees = model._model.ensemble
    split = trees.feature >= 0
    cuts = [*zip(trees.feature[split], trees.threshold[split], strict=True)]
    cuts += [(f, t) for s, f in enumerate(trees.scales.feature) for t in trees.scales.cuts_of(s)]
    rng = np.random.default_rng(0)
    rows = X[rng.integers(0, len(X), 600)].astype(np.float64)
    for row in rows:
        feature, t = cuts[rng.integers(len(cuts))]
        with np.errstate(over="ignore"):
            beside = [t, np.nextafter(t, np.inf), np.nextafter(t, -np.inf), np.float32(t)]
        row[feature] = rng.choice(beside)
        row[rng.integers(X.shape[1])] = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1e300])
    return rows


def assert_served(model, X):
    """Both exports, with both kinds of tables, give the raw predictions of the model."""
    raw = own_raw(model, X)
    for features, table in (("selected", X[:, model.support_]), ("all", X)):
        theirs = booster(model, features).predict(table, raw_score=True).reshape(raw.shape)
        np.testing.assert_allclose(theirs, raw, rtol=1e-12, atol=1e-12)
        if isinstance(model, GBFSRegressor):
            link = model._loss.inverse_link
            found = run_onnx(model, table, features)["prediction"]
            with np.errstate(over="ignore"):
                np.testing.assert_allclose(found, link(raw), rtol=1e-10, atol=1e-9)
                np.testing.assert_allclose(booster(model, features).predict(table), link(raw)[:, 0], rtol=1e-12)
            continue
        own = model._probabilities(raw[:, 0] if raw.shape[1] == 1 else raw)
        found = run_onnx(model, table, features)
        np.testing.assert_allclose(found["probabilities"], own, atol=1e-10)
        theirs = booster(model, features).predict(table)
        np.testing.assert_allclose(theirs, own[:, 1] if own.shape[1] == 2 else own, atol=1e-12)
        clear = np.diff(np.sort(own, axis=1)[:, -2:], axis=1)[:, 0] > 1e-9
        assert clear.any()
        np.testing.assert_array_equal(found["label"][clear], model.classes_[own.argmax(axis=1)][clear])


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.mark.slow
@pytest.mark.parametrize(
    "loss",
    [
        "squared_error",
        "absolute_error",
        "huber",
        "quantile",
        "poisson",
        "gamma",
        "tweedie",
        Huber(20),
        Quantile(0.9),
        Cauchy(),
    ],
    ids=lambda loss: loss if isinstance(loss, str) else type(loss).__name__,
)
def test_every_regression_loss(loss):
    X, y = diabetes()
    model = GBFSRegressor(0.005, loss=loss, budget=4, max_iter=40).fit(X, y)
    assert model.n_features_selected_ == 4
    assert_served(model, np.concatenate([X, near(model, X)]))


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie", Tweedie(1.2)])
def test_lightgbm_names_the_objective_of_a_log_link(loss):
    X, y = diabetes()
    text = to_lightgbm(GBFSRegressor(0.01, loss=loss, max_iter=2).fit(X, y))
    assert f"\nobjective={loss if isinstance(loss, str) else loss.name}\n" in text
    assert lightgbm.Booster(model_str=text).num_trees() == 2


@pytest.mark.parametrize("kind", ["two", "three", "texts", "bools", "floats"])
def test_classifiers(kind):
    X, y = load_iris(return_X_y=True)
    X[::9, 2] = np.nan
    if kind != "three":
        X, y = X[50:], y[50:]
    y = {
        "texts": np.array(["setosa", "größer", "virginica"])[y],
        "bools": y == 2,
        "floats": y.astype(np.float64),
    }.get(kind, y)
    model = GBFSClassifier(0.0, max_iter=30, min_samples_leaf=5).fit(X, y)
    assert_served(model, np.concatenate([X, near(model, X)]))


def test_a_mean_prediction_far_from_zero_keeps_its_digits():
    X, y = diabetes()
    model = GBFSRegressor(0.005, max_iter=40).fit(X, y + 1e9)
    found = run_onnx(model, model.transform(X))["prediction"][:, 0]
    np.testing.assert_allclose(found, model.predict(X), rtol=0, atol=1e-6)  # single precision alone: 30


@pytest.mark.parametrize("size", [1e-60, 1e60])
def test_targets_beyond_single_precision(size):
    X, y = diabetes()
    model = GBFSRegressor(0.005, max_iter=10).fit(X, y * size)
    np.testing.assert_allclose(run_onnx(model, model.transform(X))["prediction"][:, 0], model.predict(X), rtol=1e-10)
    np.testing.assert_allclose(booster(model).predict(model.transform(X)), model.predict(X), rtol=1e-12)


def test_float32_tables():
    X, y = diabetes()
    X = X.astype(np.float32)
    model = GBFSRegressor(0.0, max_iter=40).fit(X, y)
    found = run_onnx(model, X.astype(np.float64), "all")["prediction"][:, 0]
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-10)
    np.testing.assert_allclose(booster(model, "all").predict(X), model.predict(X), rtol=1e-12)


def test_trees_after_the_best_iteration_are_left_out():
    X, y = load_breast_cancer(return_X_y=True)
    model = GBFSClassifier(
        0.0, max_iter=200, learning_rate=0.5, early_stopping=True, n_iter_no_change=5, random_state=0
    ).fit(X, y)
    assert model.best_iteration_ < model.n_iter_
    assert booster(model).num_trees() == model.best_iteration_
    assert_served(model, X)


@pytest.mark.filterwarnings("ignore::frugalboost.NothingBoughtWarning")
@pytest.mark.parametrize("features", ["selected", "all"])
def test_constant_models(features):
    X, y = load_iris(return_X_y=True)
    classifier = GBFSClassifier(10.0).fit(X, y)
    regressor = GBFSRegressor(10.0).fit(X, y)
    assert classifier.n_features_selected_ == regressor.n_features_selected_ == 0
    table = X if features == "all" else X[:, :0]
    own = classifier.predict_proba(X)
    np.testing.assert_allclose(run_onnx(classifier, table, features)["probabilities"], own, atol=1e-12)
    np.testing.assert_allclose(booster(classifier, features).predict(table), own, atol=1e-12)
    np.testing.assert_allclose(run_onnx(regressor, table, features)["prediction"][:, 0], regressor.predict(X))
    np.testing.assert_allclose(booster(regressor, features).predict(table), regressor.predict(X))


@pytest.mark.filterwarnings("ignore::frugalboost.NothingBoughtWarning")
def test_a_constant_that_never_grew_a_tree():
    X, y = diabetes()
    y = np.random.default_rng(0).permutation(y)
    model = GBFSRegressor(0.0, learning_rate=3.0, early_stopping=True, random_state=0).fit(X, y)
    assert model.best_iteration_ == 0
    np.testing.assert_allclose(run_onnx(model, X, "all")["prediction"][:, 0], model.predict(X))
    np.testing.assert_allclose(booster(model, "all").predict(X), model.predict(X))


def test_some_trees_are_single_leaves():
    """The third class is as frequent on both sides of the only split."""
    X, y = np.repeat([[0.0], [1.0]], 40, axis=0), np.repeat([0, 2, 1, 2], 20)
    model = GBFSClassifier(0.0, max_iter=1, multi_strategy="one_output_per_tree").fit(X, y)
    assert np.diff(model._model.ensemble.tree_begin).tolist() == [3, 3, 1]
    assert_served(model, X)


def test_searches_are_exported_too():
    X, y = load_iris(return_X_y=True)
    search = GBFSClassifierCV(GBFSClassifier(max_iter=10), n_mus=3, cv=2, random_state=0).fit(X, y)
    found = run_onnx(search, search.transform(X))["probabilities"]
    np.testing.assert_allclose(found, search.predict_proba(X), atol=1e-10)


VALUES = st.one_of(st.sampled_from([np.nan, 0.0, -0.0, 1.0, 1e-30, -1e300, 1e300]), st.floats(-3, 3, width=16))


@pytest.mark.slow
@settings(max_examples=50)
@given(
    X=hnp.arrays(np.float64, st.tuples(st.integers(8, 20), st.integers(1, 3)), elements=VALUES),
    seed=st.integers(0, 99),
    classes=st.integers(1, 3),
)
def test_random_tables(X, seed, classes):
    rng = np.random.default_rng(seed)
    settings = {"mu": 0.0, "max_iter": 4, "min_samples_leaf": 0.5, "max_depth": 3, "learning_rate": 0.5}
    y = rng.permutation(np.arange(len(X)) % classes) if classes > 1 else rng.normal(size=len(X))
    weights = rng.choice([0.25, 1.0, 3.7], len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = (GBFSClassifier if classes > 1 else GBFSRegressor)(**settings).fit(X, y, sample_weight=weights)
    if not model.n_features_selected_:
        return
    rows = near(model, X)
    rows[np.abs(rows) < 1e-35] = 0.0  # to LightGBM these are zero
    assert_served(model, rows)


# --------------------------------------------------------------------------------------- categorical splits


def with_levels(seed, n_levels, kind=GBFSRegressor):
    """A model over a column of levels and one of numbers, and its table with positions of levels instead."""
    rng = np.random.default_rng(seed)
    levels = [f"level {k:03}" for k in range(n_levels)]
    codes = rng.integers(0, n_levels, 2000)
    codes[:n_levels] = np.arange(n_levels)
    codes[rng.random(2000) < 0.1 * (np.arange(2000) >= n_levels)] = -1
    frame = pd.DataFrame({"x0": pd.Categorical.from_codes(codes, levels), "x1": rng.normal(size=2000), "x2": 0.0})
    y = np.sin(7 * codes) + frame["x1"].to_numpy()
    if kind is GBFSClassifier:
        y = np.digitize(y, [-0.5, 0.5])
    model = kind(0.0, max_iter=6, min_samples_leaf=2, max_bins=201).fit(frame, y)
    positions = np.where(codes < 0, np.nan, codes)
    X = np.column_stack([positions, frame["x1"], frame["x2"]])
    np.testing.assert_allclose(walked(model, X).squeeze(), model._raw(frame), rtol=1e-12)
    return model, X


def walked(model, X):
    """Raw predictions by the rule for categorical splits, row by row."""
    trees, levels = model._model.ensemble, model._model.levels
    raw = np.repeat(trees.start[None, :], len(X), axis=0)
    for r, row in enumerate(X):
        for t, root in enumerate(trees.tree_begin[: model.best_iteration_ * trees.n_outputs]):
            node = root
            while (column := trees.feature[node]) >= 0:
                v, k = row[column], trees.level_set[node]
                if k < 0:
                    left = trees.missing_left[node] if np.isnan(v) else v <= trees.threshold[node]
                elif v in range(len(levels[column].values)):
                    b = int(levels[column].bins[int(v)])
                    left = trees.sets[32 * k + b // 8] >> (b % 8) & 1
                else:
                    left = trees.missing_left[node]
                node = root + trees.left[node] + (not left)
            raw[r, t % trees.n_outputs] += trees.value[node] + on_line(trees, node, row)
    return raw


def on_line(trees, node, row):
    """What a line adds besides its constant; nothing where the node is none, or the value is missing."""
    scale = trees.line[node]
    if scale < 0 or np.isnan(value := row[trees.scales.feature[scale]]):
        return 0.0
    return trees.slope[node] * trees.scales.scores_of(scale)[np.searchsorted(trees.scales.cuts_of(scale), value)]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "n_levels"), [(0, 2), (1, 31), (2, 32), (3, 33), (4, 64), (5, 300)])
def test_categorical_splits(seed, n_levels):
    model, X = with_levels(seed, n_levels)
    X[:9, 0] = [np.nan, -1, n_levels, n_levels + 31, 1e9, -1e9, np.inf, -np.inf, 1e300]
    X[20:30, 1] = np.nan
    raw = walked(model, X)[:, 0]
    assert len(np.unique(raw)) > 5
    for features, table in (("selected", X[:, :2]), ("all", X)):
        found = run_onnx(model, table, features)["prediction"][:, 0]
        np.testing.assert_allclose(found, raw, rtol=1e-10)
        np.testing.assert_allclose(booster(model, features).predict(table), raw, rtol=1e-12)
    X[:200, 0] += 0.5  # not a level; LightGBM cuts it down to one
    found = run_onnx(model, X, "all")["prediction"][:, 0]
    np.testing.assert_allclose(found, walked(model, X)[:, 0], rtol=1e-10)


@pytest.mark.slow
def test_categorical_splits_of_a_classifier():
    model, X = with_levels(0, 12, GBFSClassifier)
    raw = walked(model, X)
    np.testing.assert_allclose(booster(model, "all").predict(X, raw_score=True), raw, rtol=1e-12)
    found = run_onnx(model, X, "all")["probabilities"]
    np.testing.assert_allclose(found, model._probabilities(raw), atol=1e-10)


def test_lightgbm_reads_levels_from_a_data_frame():
    model, X = with_levels(6, 12)
    levels = model.categories_[0]
    names = [None if np.isnan(k) else levels[int(k)] for k in X[:, 0]]
    names[0], X[0, 0] = "never seen", np.nan
    some = [n for n in dict.fromkeys(reversed(names)) if n]  # in another order than ours
    table = pd.DataFrame({"x0": pd.Categorical(names, categories=some), "x1": X[:, 1]})
    np.testing.assert_allclose(booster(model).predict(table), walked(model, X)[:, 0], rtol=1e-12)


def test_onnx_metadata():
    model, _ = with_levels(0, 3, GBFSClassifier)
    held = {p.key: json.loads(p.value) for p in to_onnx(model).metadata_props}
    assert held == {
        "feature_names": ["x0", "x1"],
        "classes": [0, 1, 2],
        "levels": {"x0": ["level 000", "level 001", "level 002"]},
    }


# ------------------------------------------------------------------------------------------- around LightGBM


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["numbers", "two", "three"])
def test_shap_values_add_up(kind, weighted):
    shap = pytest.importorskip("shap")
    X, y = load_iris(return_X_y=True)
    X, y = (X, y) if kind != "two" else (X[50:], y[50:])
    weights = np.random.default_rng(0).random(len(X)) if weighted else None
    estimator = GBFSRegressor if kind == "numbers" else GBFSClassifier
    model = estimator(0.001, max_iter=20, min_samples_leaf=5).fit(X, y, sample_weight=weights)
    explained = shap.TreeExplainer(booster(model))(model.transform(X))
    total = explained.values.sum(axis=1) + explained.base_values
    np.testing.assert_allclose(total, own_raw(model, X).reshape(total.shape), atol=1e-9)
    assert explained.values.shape[1] == model.n_features_selected_


def test_shap_expects_the_weighted_mean():
    """Scaled counts stand for weights: the expected value is the mean of the training rows by weight."""
    X, y = load_diabetes(return_X_y=True)
    weights = np.random.default_rng(0).random(len(X))
    model = GBFSRegressor(0.0, max_iter=20).fit(X, y, sample_weight=weights)
    expected = booster(model).predict(model.transform(X[:1]), pred_contrib=True)[0, -1]
    assert expected == pytest.approx(np.average(model.predict(X), weights=weights), rel=1e-6)


def test_shap_values_of_categorical_splits_add_up():
    model, X = with_levels(1, 40)
    total = booster(model, "all").predict(X, pred_contrib=True).sum(axis=1)
    np.testing.assert_allclose(total, walked(model, X)[:, 0], atol=1e-9)


def test_what_lightgbm_tells_about_the_model():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X = X.rename(columns={"age": 'a "b', "sex": "a_:b", "bmi": "größe,{}"})
    model = GBFSRegressor(0.0, max_iter=5).fit(X, y)
    theirs, trees = booster(model, "all"), model._model.ensemble
    assert theirs.feature_name()[:4] == ["a__b", "a__b_2", "größe___", "bp"]
    theirs.dump_model()  # JSON that can be read
    gains = theirs.feature_importance("gain")
    np.testing.assert_allclose(gains / gains.sum(), model.feature_importances_, rtol=1e-6)
    table = theirs.trees_to_dataframe()
    assert len(table) == len(trees.feature)
    assert sorted(table["count"]) == sorted(trees.weight)
    assert sorted(table["weight"]) == pytest.approx(sorted(trees.weight))
    first = table[(table.tree_index == 0) & (table.node_depth == 1)].iloc[0]
    assert first["value"] == pytest.approx(y.mean())
    again = lightgbm.Booster(model_str=theirs.model_to_string())
    np.testing.assert_array_equal(again.predict(X), theirs.predict(X))


def test_lightgbm_takes_values_around_zero_for_zero():
    """Documented: what is closer to zero than 1e-35 is zero to LightGBM. ONNX has no such rule."""
    X = np.repeat([[0.0], [1e-36]], 30, axis=0)
    model = GBFSRegressor(0.0, max_iter=1, learning_rate=1.0).fit(X, X[:, 0] > 0)
    np.testing.assert_allclose(run_onnx(model, X)["prediction"][[0, -1], 0], [0, 1], atol=1e-12)
    np.testing.assert_allclose(booster(model).predict(X)[[0, -1]], [0, 0], atol=1e-12)


# ---------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("export", [to_onnx, to_lightgbm])
class TestErrors:
    def test_not_fitted(self, export):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            export(GBFSRegressor())
        with pytest.raises(NotFittedError, match="not fitted yet"):
            export(GBFSClassifierCV())

    def test_something_else(self, export):
        with pytest.raises(TypeError, match=r"A Pipeline can't be exported.*inside it"):
            export(make_pipeline(StandardScaler(), GBFSRegressor()))

    def test_unknown_features(self, export):
        X, y = load_iris(return_X_y=True)
        with pytest.raises(ValueError, match=r"features='bought' is not known here\. Choose 'selected' or 'all'"):
            export(GBFSClassifier(max_iter=2).fit(X, y), features="bought")

    def test_a_link_of_ones_own(self, export):
        X, y = diabetes()
        for link in (np.sinh, lambda raw: np.maximum(raw, 0), lambda raw: raw[:3]):
            model = GBFSRegressor(loss=Cauchy(link), max_iter=3).fit(X, y)
            with pytest.raises(ValueError, match=r"inverse_link that can't be exported.*identity, exp or logistic"):
                export(model)


@pytest.mark.parametrize("link", [np.exp, lambda raw: 1 / (1 + np.exp(-raw)), lambda raw: 1.0 * raw])
def test_links_of_ones_own_that_are_known(link):
    X, y = diabetes()
    model = GBFSRegressor(0.005, loss=Cauchy(link), max_iter=3).fit(X, y / 100)
    assert_served(model, X)


def test_a_users_classifier_loss():
    X, y = load_breast_cancer(return_X_y=True)
    model = GBFSClassifier(0.01, loss=Logistic(lambda raw: 1 / (1 + np.exp(-raw))), max_iter=10).fit(X, y)
    assert_served(model, X)


def test_labels_that_onnx_lacks():
    X, y = load_iris(return_X_y=True)
    model = GBFSClassifier(max_iter=2).fit(X, y)
    model.classes_ = np.array([b"a", b"b", b"c"])
    with pytest.raises(ValueError, match=r"labels in ONNX are whole numbers or texts.*LabelEncoder"):
        to_onnx(model)


def test_without_onnx(monkeypatch):
    X, y = load_iris(return_X_y=True)
    model = GBFSClassifier(max_iter=2).fit(X, y)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install frugalboost\[export\]"):
        to_onnx(model)
    assert to_lightgbm(model).startswith("tree\n")
