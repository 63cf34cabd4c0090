"""Several columns of y: what the model is made of, what must not change it, and that everything works with it."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from same_trees import assert_same_bytes
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.inspection import permutation_importance
from sklearn.metrics import r2_score
from test_parts import several, task_of
from test_ridge import prepared as ridge_task

from frugalboost import (
    GBFSRegressor,
    GBFSRegressorCV,
    NothingBoughtWarning,
    StabilitySelection,
    engines,
    gbfs_path,
    load,
)
from frugalboost.export import to_lightgbm, to_onnx, to_shap
from frugalboost.inspection import partial_dependence
from frugalboost.losses import Huber, Quantile, Tweedie
from frugalboost.selection.ridge import fit_one_step, fit_ridges
from frugalboost.training.fit import prepare

ONE, EACH = "multi_output_tree", "one_output_per_tree"
LOSSES = ["squared_error", "absolute_error", "huber", "poisson", "gamma", Tweedie(1.3), Quantile(0.8), Huber(0.5)]
POSITIVE = ("poisson", "gamma", Tweedie(1.3))


def table(n=250, d=9, seed=0):
    """Three targets: two share a column, one has a column of its own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = np.column_stack([X[:, 0] + X[:, 1], X[:, 1] - 2 * X[:, 2], X[:, 3] ** 2]) + 0.3 * rng.normal(size=(n, 3))
    return X, Y


def fitted(X, Y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingBoughtWarning)
        return GBFSRegressor(**({"mu": 5e-3, "max_iter": 12, "max_depth": 3} | settings)).fit(X, Y)


def splits_of(model):
    trees = model._model.ensemble
    return [getattr(trees, name).tolist() for name in ("tree_begin", "feature", "left", "threshold", "line", "gain")]


@pytest.mark.parametrize("base", ["trees", "lines", "both"])
def test_a_single_column_is_raveled_with_a_warning(base):
    X, Y = table()
    with pytest.warns(DataConversionWarning, match="column-vector"):
        column = GBFSRegressor(max_iter=5, base=base).fit(X, Y[:, :1])
    assert_same_bytes(column._model.ensemble, GBFSRegressor(max_iter=5, base=base).fit(X, Y[:, 0])._model.ensemble)
    assert column.predict(X).shape == (len(X),)
    assert column.n_outputs_ == 1


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("base", ["trees", "lines"])
def test_with_free_features_each_target_has_the_model_of_a_fit_by_itself(loss, base):
    X, Y = table()
    Y = np.exp(Y / 3) if loss in POSITIVE else Y
    settings = {"mu": 0.0, "max_iter": 15, "loss": loss, "base": base}
    Y = Y * ([1e6, 1.0, 1e-6] if loss != Huber(0.5) else [2.0, 1.0, 1.0])
    together = fitted(X, Y, **settings).predict(X)
    apart = np.column_stack([fitted(X, y, **settings).predict(X) for y in Y.T])
    size = np.abs(apart).max(axis=0)
    # With two values of the gradient many splits gain the same, and rounding decides between them.
    tied = loss in ("absolute_error", Quantile(0.8), Huber(0.5))
    if not (tied and base == "trees"):
        np.testing.assert_allclose(together / size, apart / size, atol=2e-6)
    np.testing.assert_allclose(np.abs(Y - together).mean(axis=0), np.abs(Y - apart).mean(axis=0), rtol=0.05)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "gamma"])
@pytest.mark.parametrize("strategy", [ONE, EACH])
@pytest.mark.parametrize("base", ["trees", "both"])
def test_units_of_a_target_change_nothing(loss, strategy, base):
    X, Y = table()
    Y = np.exp(Y / 3) if loss == "gamma" else Y
    scale = np.array([2.0**30, 1.0, 2.0**-30])
    settings = {"loss": loss, "multi_strategy": strategy, "base": base}
    one, other = fitted(X, Y, **settings), fitted(X, Y * scale, **settings)
    if loss != "gamma":  # logarithms are rounded
        assert splits_of(one) == splits_of(other)
        np.testing.assert_array_equal(other.predict(X), one.predict(X) * scale)
        np.testing.assert_allclose(one.history_["train_loss"], other.history_["train_loss"], rtol=1e-12)
    np.testing.assert_allclose(other.predict(X), one.predict(X) * scale, rtol=1e-6)
    tens = fitted(X, Y * [1e9, 1.0, 1e-9], **settings)
    np.testing.assert_array_equal(tens.selected_features_, one.selected_features_)
    np.testing.assert_allclose(tens.mu_max_, one.mu_max_, rtol=1e-6)


def test_a_target_with_small_numbers_buys_what_it_needs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    Y = np.column_stack([1e9 * X[:, 0], 1e-9 * X[:, 1]])
    for strategy in (ONE, EACH):
        model = fitted(X, Y, mu=0.05, max_iter=60, multi_strategy=strategy)
        assert sorted(model.selected_features_) == [0, 1]
        assert r2_score(Y, model.predict(X), multioutput="raw_values").min() > 0.9


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("strategy", [ONE, EACH])
def test_the_order_of_targets_changes_nothing(loss, strategy):
    X, Y = table()
    one = fitted(X, Y, loss=loss, multi_strategy=strategy)
    other = fitted(X, Y[:, [2, 0, 1]], loss=loss, multi_strategy=strategy)
    np.testing.assert_array_equal(other.predict(X), one.predict(X)[:, [2, 0, 1]])
    for name in ("train_loss", "bought", "raw_gain", "price_paid"):
        assert one.history_[name] == other.history_[name]
    np.testing.assert_array_equal(one.selected_features_, other.selected_features_)


@pytest.mark.parametrize("strategy", [ONE, EACH])
def test_targets_that_are_twice_there_or_constant_change_no_splits(strategy):
    X, Y = table()
    alone = fitted(X, Y[:, 0], mu=0.01)
    twice = fitted(X, Y[:, [0, 0]], mu=0.01, multi_strategy=strategy)
    np.testing.assert_array_equal(twice.predict(X)[:, 0], twice.predict(X)[:, 1])
    assert set(alone.selected_features_) == set(twice.selected_features_)
    constant = fitted(X, np.column_stack([np.full(len(X), 0.1), Y[:, 0]]), mu=0.01, multi_strategy=strategy)
    assert set(constant.selected_features_) == set(alone.selected_features_)
    np.testing.assert_allclose(constant.predict(X)[:, 0], 0.1, rtol=1e-12)
    np.testing.assert_allclose(constant.predict(X)[:, 1], alone.predict(X), rtol=1e-6, atol=1e-6)


def test_equal_gradients_are_not_searched_along_opposite_signs():
    """Those of classes must differ, as gradients add up to 0; for two targets that would cancel what they share."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    Y = X[:, :1] + 0.1 * rng.normal(size=(300, 2))
    model = fitted(X, Y, multi_strategy=ONE, mu=0.2)
    assert model.selected_features_.tolist() == [0]


@pytest.mark.parametrize("strategy", [ONE, EACH])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_threads_memory_and_copies_of_rows_change_nothing(strategy, loss):
    X, Y = table()
    settings = {"multi_strategy": strategy, "loss": loss}
    expected = fitted(X, Y, **settings, n_jobs=1)._model.ensemble
    for A, B, jobs in (
        (np.asfortranarray(X), np.asfortranarray(Y), 2),
        (sparse.csr_array(X), Y, 3),
        (pd.DataFrame(X), pd.DataFrame(Y), 2),
    ):
        assert_same_bytes(fitted(A, B, **settings, n_jobs=jobs)._model.ensemble, expected)
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    one = fitted(X, Y, **settings, mu_unit="absolute", mu=0.5, min_samples_leaf=30)
    assert one.n_features_selected_ > 0
    weighted = GBFSRegressor(**settings, max_iter=9).fit(X, Y, sample_weight=weights)
    copied = GBFSRegressor(**settings, max_iter=9).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0))
    np.testing.assert_array_equal(weighted.predict(X), copied.predict(X))


def test_equal_rows_are_merged_only_where_all_targets_are_equal():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (20_000, 3)).astype(float)
    Y = np.column_stack([X[:, 0], rng.integers(0, 2, 20_000)]).astype(float)
    model = fitted(X, Y, subsample=1.0)
    shuffled = rng.permutation(20_000)
    assert_same_bytes(model._model.ensemble, fitted(X[shuffled], Y[shuffled])._model.ensemble)
    np.testing.assert_allclose(model.predict(X)[:, 1].mean(), Y[:, 1].mean(), atol=1e-9)
    differing = fitted(np.column_stack([X, np.arange(20_000.0)]), Y, max_features=None, mu=0.05)  # not merged
    np.testing.assert_allclose(
        differing.predict(np.column_stack([X, np.arange(20_000.0)])), model.predict(X), atol=0.02
    )


@pytest.mark.parametrize("name", ["squared", "huber", "poisson", "gamma"])
@pytest.mark.parametrize("few", [False, True])
def test_ridges_are_those_of_each_target(name, few):
    rng = np.random.default_rng(3)
    X, Y = table(n=120, d=4)
    Y = np.exp(np.clip(Y, -3, 3)) if name in ("poisson", "gamma") else Y
    Y = Y * [1e4, 1.0, 1e-4]
    Y[:, 2] = Y[rng.permutation(120), 2]

    def slopes(y):
        task = ridge_task(name, X, y)
        columns = np.arange(4)
        if few:
            return fit_one_step(task, columns, 1)
        return fit_ridges(task, columns, np.array([0.1, 0.01]), 1)[-1]

    together, apart = slopes(Y), [slopes(y) for y in Y.T]
    for k, alone in enumerate(apart):
        size = np.abs(alone.slopes).max()
        np.testing.assert_allclose(together.slopes[k] / size, alone.slopes[0] / size, atol=1e-4)
        np.testing.assert_allclose(together.start[k], alone.start[0], rtol=1e-4, atol=1e-6 * size)


# --------------------------------------------------------------------------------------------- all the rest


def test_shapes_and_scores():
    X, Y = table()
    model = fitted(X, Y)
    assert model.n_outputs_ == 3
    assert model.predict(X).shape == Y.shape
    assert model.score(X, Y) == r2_score(Y, model.predict(X))
    assert model.apply(X).shape == (len(X), model.n_iter_, 3)
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
    assert partial_dependence(model, X, [0])["average"].shape[0] == 3
    assert permutation_importance(model, X, Y, n_repeats=2, random_state=0).importances_mean.argmax() in (0, 1, 2, 3)
    np.testing.assert_array_equal(GBFSRegressor(max_iter=2).fit(X.tolist(), Y.tolist()).predict(X).shape, Y.shape)


def test_early_stopping_is_on_the_mean_of_all_targets():
    X, Y = table()
    held = table(seed=1)
    model = GBFSRegressor(max_iter=200, early_stopping=True).fit(X, Y, X_val=held[0], y_val=held[1])
    losses = model.history_["validation_loss"]
    assert model.best_iteration_ == int(np.argmin(losses))
    spread = Y.var(axis=0)
    by_hand = [(0.5 * (held[1] - p) ** 2 / spread).mean() for p in model.staged_predict(held[0])]
    np.testing.assert_allclose(losses[1 : len(by_hand) + 1], by_hand, rtol=1e-6)
    aside = GBFSRegressor(max_iter=50, early_stopping=True, scoring="r2").fit(X, Y)
    assert max(aside.history_["validation_score"]) == aside.history_["validation_score"][aside.best_iteration_]


@pytest.mark.parametrize("strategy", [ONE, EACH])
def test_a_continued_fit_is_one_long_fit(strategy):
    X, Y = table()
    settings = {"multi_strategy": strategy, "warm_start": True}
    long = fitted(X, Y, max_iter=14, **settings)
    short = fitted(X, Y, max_iter=6, **settings)
    short.set_params(max_iter=14).fit(X, Y)
    assert_same_bytes(short._model.ensemble, long._model.ensemble)
    with pytest.raises(ValueError, match="another number of features, classes or targets"):
        short.set_params(max_iter=20).fit(X, Y[:, :2])
    assert short.n_outputs_ == 3


@pytest.mark.parametrize("base", ["trees", "lines"])
def test_files_and_pickles(tmp_path, base):
    X, Y = table()
    model = fitted(X, Y, base=base)
    model.save(tmp_path / "model.frugal")
    for again in (load(tmp_path / "model.frugal"), pickle.loads(pickle.dumps(model))):
        assert again.n_outputs_ == 3
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("base", ["trees", "lines"])
def test_exports_keep_the_digits_of_every_target(base):
    lightgbm, onnxruntime = pytest.importorskip("lightgbm"), pytest.importorskip("onnxruntime")
    shap = pytest.importorskip("shap")
    X, Y = table()
    model = fitted(X, Y * [1e9, 1.0, 1e-9], base=base)
    size, expected, own = np.abs(model.predict(X)).max(axis=0), model.predict(X), model.transform(X)
    (found,) = onnxruntime.InferenceSession(to_onnx(model).SerializeToString()).run(None, {"X": own})
    np.testing.assert_allclose(found / size, expected / size, atol=1e-6)
    np.testing.assert_allclose(lightgbm.Booster(model_str=to_lightgbm(model)).predict(own), expected, rtol=1e-12)
    explained = shap.TreeExplainer(to_shap(model, features="all"))
    np.testing.assert_allclose(
        (explained.shap_values(X).sum(axis=1) + explained.expected_value) / size, expected / size
    )
    counts = fitted(X, np.abs(Y.round()), loss="poisson")
    (found,) = onnxruntime.InferenceSession(to_onnx(counts).SerializeToString()).run(None, {"X": counts.transform(X)})
    np.testing.assert_allclose(found, counts.predict(X), rtol=1e-5)
    with pytest.raises(ValueError, match="several targets with a log link"):
        to_lightgbm(counts)


@pytest.mark.parametrize(
    "settings", [{}, {"fewer": True}, {"average": 2}, {"base": "lines"}, {"base": "trees"}], ids=str
)
def test_so_many_features(settings):
    X, Y = table()
    model = GBFSRegressor(n_features_to_select=4, max_iter=40, **settings).fit(X, Y * [1e6, 1, 1e-6])
    found = {0, 1, 2} if settings.get("base") == "lines" else {0, 1, 2, 3}  # no line says what a square does
    assert found <= set(model.selected_features_)
    assert len(model.selected_features_) == 4


def test_a_path():
    path = gbfs_path(*table(), n_features_to_select=[1, 3], max_iter=10)
    assert path.n_features.tolist() == [1, 3]


def test_wide_tables_with_few_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 200))
    Y = np.column_stack([3 * X[:, 5], X[:, 5] - X[:, 7]]) + 0.3 * rng.normal(size=(60, 2))
    model = GBFSRegressor(n_features_to_select=2, max_iter=30).fit(X, Y * [1e5, 1e-5])
    assert sorted(model.selected_features_) == [5, 7]
    assert model.score(X, Y * [1e5, 1e-5]) > 0.8


def test_searches():
    X, Y = table()
    groups = np.arange(len(X)) // 5
    for more in ({}, {"groups": groups}):
        search = GBFSRegressorCV(GBFSRegressor(max_iter=30), n_mus=4, random_state=0).fit(X, pd.DataFrame(Y), **more)
        assert search.predict(X).shape == Y.shape
        assert {0, 1, 2} <= set(search.estimator_.selected_features_)
    stable = StabilitySelection(GBFSRegressor(max_iter=10), n_subsamples=4, random_state=0).fit(X, Y)
    assert stable.support_[:3].any()


def test_batches():
    X, Y = table()
    batches = [(X[:100], Y[:100]), (X[100:], Y[100:])]
    np.testing.assert_array_equal(fitted(batches, None).predict(X), fitted(X, Y).predict(X))
    assert fitted(batches, None).score(batches) == pytest.approx(fitted(X, Y).score(X, Y))
    with pytest.raises(ValueError, match="batch 1 has targets of another number of columns"):
        GBFSRegressor().fit([(X[:100], Y[:100]), (X[100:], Y[100:, :2])])


def test_a_loss_of_ones_own_gets_all_targets():
    class Squares:
        def start(self, y, sample_weight):
            return np.average(y, axis=0, weights=sample_weight)

        def gradient(self, y, raw):
            return raw - y

        def curvature(self, y, raw):
            return np.ones_like(raw)

        def inverse_link(self, raw):
            return raw

        def value(self, y, raw):
            return 0.5 * ((raw - y) ** 2).sum(axis=1)

    X, Y = table()
    Y = Y / Y.std(axis=0)
    own, built_in = fitted(X, Y, loss=Squares()), fitted(X, Y)
    np.testing.assert_allclose(own.predict(X), built_in.predict(X), atol=1e-6)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda Y: np.where(Y > 1, np.nan, Y), ValueError, "NaN"),
        (lambda Y: np.where(Y > 1, np.inf, Y), ValueError, "infinity"),
        (lambda Y: sparse.csr_array(Y), TypeError, "y is a sparse matrix"),
        (lambda Y: Y[:, :0], ValueError, "y has no columns"),
        (lambda Y: Y[:, :, None], ValueError, "dim 3"),
        (lambda Y: Y[1:], ValueError, "inconsistent numbers of samples"),
        (lambda Y: Y * [1.0, 1e-200, 1.0], ValueError, "too small to be squared"),
        (lambda Y: Y * [1.0, 1e200, 1.0], ValueError, "too large to be squared"),
        (lambda Y: Y.round().astype("U").astype(object) + "g", ValueError, "could not convert"),
    ],
)
def test_bad_targets_leave_the_model_as_it_was(change, error, message):
    X, Y = table()
    model = fitted(X, Y[:, :2])
    before = model.predict(X)
    with pytest.raises(error, match=message):
        model.fit(X, change(Y))
    np.testing.assert_array_equal(model.predict(X), before)
    assert model.n_outputs_ == 2


def test_what_is_for_one_target_says_so():
    X, Y = table()
    with pytest.raises(ValueError, match="monotonic_cst is for one target, and y has 3 columns"):
        GBFSRegressor(monotonic_cst=[1] + [0] * 8).fit(X, Y)
    with pytest.raises(ValueError, match="A report is about one target, and this model has 3"):
        fitted(X, Y).report(X, Y)
    with pytest.raises(ValueError, match="y_val has 1 column"):
        GBFSRegressor().fit(X, Y, X_val=X, y_val=Y[:, 0])
    with pytest.raises(ValueError, match="loss='poisson' needs y >= 0"):
        GBFSRegressor(loss="poisson").fit(X, Y)
    with pytest.raises(ValueError, match="at least one positive y"):
        GBFSRegressor(loss="poisson").fit(X, np.abs(Y) * [1, 0, 1])
    assert "target 0" in fitted(X, Y, base="lines")._repr_html_()


@pytest.mark.parametrize("strategy", [ONE, EACH])
def test_small_and_many(strategy):
    X, Y = table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingBoughtWarning)
        one_row = GBFSRegressor(multi_strategy=strategy).fit(X[:1], Y[:1])
        np.testing.assert_allclose(one_row.predict(X[:2]), np.repeat(Y[:1], 2, axis=0))
        equal = GBFSRegressor(multi_strategy=strategy).fit(X, np.ones((len(X), 4)))
        np.testing.assert_array_equal(equal.predict(X), np.ones((len(X), 4)))
        assert equal.n_features_selected_ == 0
    rng = np.random.default_rng(0)
    many = fitted(
        X, X[:, :2] @ rng.normal(size=(2, 50)) + 0.1 * rng.normal(size=(len(X), 50)), multi_strategy=strategy, mu=2e-3
    )
    assert sorted(many.selected_features_) == [0, 1]


def test_the_core_refuses_targets_that_do_not_fit():
    X, Y = table()
    task = prepare(task_of(GBFSRegressor(), X, Y), 1)
    rows = engines.EngineRows(task.binned, several(Y[:, 0]), None)
    with pytest.raises(ValueError, match="One output per column"):
        engines.make_engine(rows, None, task.loss, 3, task.params.to_core(), 1)
    with pytest.raises(ValueError, match="differ in length"):
        engines.make_engine(replace(rows, y=Y[1:]), None, task.loss, 3, task.params.to_core(), 1)
