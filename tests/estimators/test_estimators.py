"""What the estimators promise beyond scikit-learn's own checks."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import frugalboost
from frugalboost import (
    GBFSClassifier,
    GBFSClassifierCV,
    GBFSRegressor,
    GBFSRegressorCV,
    NothingBoughtWarning,
    _core,
)
from frugalboost.losses import Huber, Quantile


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


def test_fitted_attributes_fit_together(cancer):
    X, y = cancer
    model = GBFSClassifier(0.01, max_iter=30).fit(X, y)
    history = model.history_
    assert model.n_iter_ == model.best_iteration_ == 30
    assert {len(v) for v in history.values()} == {31}
    assert history["iteration"] == list(range(31))
    bought = [f for batch in history["bought"] for f in batch]
    assert bought == list(model.selected_features_)
    assert np.flatnonzero(model.support_).tolist() == sorted(bought)
    assert model.n_features_selected_ == len(bought) == history["n_features"][-1]
    assert model.total_cost_ == history["price_paid"][-1] == len(bought)
    assert history["bought"][0] == []
    assert all(g > 0.01 * model._model.impurity for batch in history["raw_gain"] for g in batch)
    assert (np.diff(history["train_loss"]) < 0).all()
    assert np.isnan(history["validation_loss"]).all()
    used = np.unique(model._model.ensemble.feature)
    assert used[used >= 0].tolist() == sorted(bought)
    assert (model.feature_importances_ > 0).tolist() == model.support_.tolist()
    assert list(model.feature_names_in_) == list(X.columns)
    assert model.stop_reason_ == "max_iter"
    assert pd.DataFrame(history).shape == (31, 8)


def test_train_loss_is_the_loss_of_the_predictions(cancer):
    from sklearn.metrics import log_loss

    X, y = cancer
    model = GBFSClassifier(0.01, max_iter=5).fit(X, y)
    for loss, p in zip(model.history_["train_loss"][1:], model.staged_predict_proba(X), strict=True):
        assert loss == pytest.approx(log_loss(y, p), rel=1e-12)


@pytest.mark.parametrize("kind", ["binary", "multi", "regression"])
def test_staged_forms_end_at_the_prediction(kind, cancer):
    X, y = {"binary": cancer, "multi": load_iris(return_X_y=True), "regression": load_diabetes(return_X_y=True)}[kind]
    model = (GBFSRegressor if kind == "regression" else GBFSClassifier)(0.003, max_iter=10).fit(X, y)
    names = ["predict"] if kind == "regression" else ["predict", "predict_proba", "decision_function"]
    for name in names:
        stages = list(getattr(model, f"staged_{name}")(X))
        assert len(stages) == 10
        np.testing.assert_array_equal(stages[-1], getattr(model, name)(X))
        shorter = model.__class__(0.003, max_iter=4).fit(X, y)
        np.testing.assert_array_equal(stages[3], getattr(shorter, name)(X))


def test_mu_max_is_exact(cancer):
    X, y = cancer
    for unit in ("share", "absolute"):
        top = GBFSClassifier(0.01, mu_unit=unit, max_iter=1).fit(X, y).mu_max_
        with pytest.warns(NothingBoughtWarning, match="from mu_max_="):
            nothing = GBFSClassifier(top, mu_unit=unit, max_iter=3).fit(X, y)
        assert nothing.n_features_selected_ == 0
        assert nothing.stop_reason_ == "converged"
        assert nothing.n_iter_ == 1
        assert GBFSClassifier(math.nextafter(top, 0), mu_unit=unit, max_iter=1).fit(X, y).n_features_selected_ == 1


def test_mu_as_a_share_means_the_same_for_any_number_of_rows(cancer):
    X, y = cancer
    few = GBFSClassifier(0.01, max_iter=10).fit(X, y)
    many = GBFSClassifier(0.01, max_iter=10, min_samples_leaf=60).fit(pd.concat([X] * 3), pd.concat([y] * 3))
    assert list(few.selected_features_) == list(many.selected_features_)
    assert few.mu_max_ == pytest.approx(many.mu_max_, rel=1e-12)


def test_prices_steer_and_zero_is_free_and_infinity_is_never(cancer):
    X, y = cancer
    plain = GBFSClassifier(0.01, max_iter=20).fit(X, y)
    first = X.columns[plain.selected_features_[0]]
    model = GBFSClassifier(0.01, max_iter=20, costs={first: np.inf}).fit(X, y)
    assert first not in model.get_feature_names_out()
    free = GBFSClassifier(0.5, max_iter=20, costs={"mean symmetry": 0.0, first: 100.0}).fit(X, y)
    assert "mean symmetry" in free.get_feature_names_out()
    assert first not in free.get_feature_names_out()
    by_position = np.ones(30)
    by_position[X.columns.get_loc(first)] = np.inf
    same = GBFSClassifier(0.01, max_iter=20, costs=by_position).fit(X.to_numpy(), y)
    assert list(same.selected_features_) == list(model.selected_features_)


def test_budget_is_the_most_that_is_paid(cancer):
    X, y = cancer
    for k in (1, 2, 3):
        assert GBFSClassifier(0.0, budget=k, max_iter=20).fit(X, y).n_features_selected_ == k
    tenth = GBFSClassifier(0.0, budget=0.3, costs=np.full(30, 0.1), max_iter=20).fit(X, y)
    assert tenth.n_features_selected_ == 3
    assert tenth.total_cost_ == pytest.approx(0.3)
    with pytest.warns(NothingBoughtWarning, match="prices and the budget allow"):
        GBFSClassifier(0.0, budget=0, max_iter=2).fit(X, y)
    with pytest.warns(NothingBoughtWarning, match="y is constant"):
        GBFSRegressor(max_iter=2).fit(X, np.ones(len(X)))


def test_nothing_bought_is_a_constant_model_and_one_warning(cancer):
    X, y = cancer
    with pytest.warns(NothingBoughtWarning) as caught:
        model = GBFSClassifier(mu=10).fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert not model.support_.any()
    assert model.total_cost_ == 0
    np.testing.assert_allclose(model.predict_proba(X), [[1 - y.mean(), y.mean()]] * len(y))
    with pytest.warns(UserWarning, match="No features were selected"):
        assert model.transform(X.to_numpy()[:5]).shape == (5, 0)


def test_early_stopping_reports_omega_of_the_best_iteration():
    """In the validation rows the second feature points the other way, so buying it must not be part of the model."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(400, 2)).astype(float)
    y = 4 * X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=400)
    y_val = 4 * X[:, 0] - X[:, 1]
    model = GBFSRegressor(1e-3, early_stopping=True, n_iter_no_change=15, max_iter=300, max_depth=1, learning_rate=0.5)
    model.fit(X, y, X_val=X, y_val=y_val)
    validation = model.history_["validation_loss"]
    assert model.stop_reason_ == "early_stopping"
    assert model.best_iteration_ == int(np.argmin(validation)) > 0
    assert model.n_iter_ == model.best_iteration_ + 15
    assert model.history_["n_features"][-1] == 2
    assert model.selected_features_.tolist() == [0]
    assert model.support_.tolist() == [True, False]
    assert model.total_cost_ == 1
    assert model.feature_importances_[1] == 0
    assert len(list(model.staged_predict(X))) == model.best_iteration_
    np.testing.assert_allclose(np.mean(0.5 * (y_val - model.predict(X)) ** 2), min(validation))


def test_early_stopping_sets_the_same_rows_aside_for_the_same_seed(cancer):
    X, y = cancer
    fits = [GBFSClassifier(early_stopping=True, random_state=s, max_iter=30).fit(X, y) for s in (1, 1, 2)]
    assert repr(fits[0].history_) == repr(fits[1].history_)
    assert repr(fits[0].history_) != repr(fits[2].history_)


def test_early_stopping_at_the_start_says_so(cancer):
    X, y = cancer
    with pytest.warns(NothingBoughtWarning, match="better on the validation rows than a constant"):
        model = GBFSClassifier(early_stopping=True, n_iter_no_change=3).fit(X, y, X_val=X, y_val=1 - y)
    assert model.best_iteration_ == 0
    assert model.n_iter_ == 3
    assert model.n_features_selected_ == 0


def test_validation_rows_may_be_given():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    weights = np.arange(len(y) - 300) % 3
    model = GBFSRegressor(early_stopping=True, max_iter=200).fit(
        X[:300], y[:300], X_val=X[300:], y_val=y[300:], sample_weight_val=weights
    )
    best = model.predict(X[300:])
    loss = np.average(0.5 * (y[300:] - best) ** 2, weights=weights)
    assert model.history_["validation_loss"][model.best_iteration_] == pytest.approx(loss, rel=1e-5)
    watched = GBFSRegressor(max_iter=20).fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    assert watched.best_iteration_ == 20
    assert not np.isnan(watched.history_["validation_loss"]).any()


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("kind", ["binary", "multi", "huber"])
def test_fit_and_continued_fit_are_one_long_fit(kind, early_stopping, cancer, tmp_path):
    """LightGBM forgets what it has bought when training goes on; here Omega belongs to the model."""
    X, y = {"binary": cancer, "multi": load_iris(return_X_y=True), "huber": load_diabetes(return_X_y=True)}[kind]
    settings = {"mu": 0.004, "early_stopping": early_stopping, "random_state": 3, "n_iter_no_change": 8}
    make = GBFSRegressor if kind == "huber" else GBFSClassifier
    settings |= {"loss": "huber"} if kind == "huber" else {}
    long = make(max_iter=40, **settings).fit(X, y)
    pieces = make(max_iter=3, warm_start=True, **settings)
    for max_iter in (3, 11, 40):
        pieces.set_params(max_iter=max_iter).fit(X, y)
    assert pieces.set_params(warm_start=False).get_params() == long.get_params()
    long.save(tmp_path / "long")
    pieces.save(tmp_path / "pieces")
    assert (tmp_path / "long").read_bytes() == (tmp_path / "pieces").read_bytes()


def test_continuing_a_converged_fit_changes_nothing_until_something_else_does():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 50, dtype=float)
    y = 2 * X[:, 1] + X[:, 0] / 8
    model = GBFSRegressor(0.5, warm_start=True, max_iter=20, learning_rate=1.0, max_depth=1).fit(X, y)
    assert model.stop_reason_ == "converged"
    assert model.n_iter_ == 2  # a split, then a tree of one leaf
    assert model.set_params(max_iter=30).fit(X, y).n_iter_ == 2
    assert model.selected_features_.tolist() == [1]
    model.set_params(mu=0.0).fit(X, y)
    assert model.n_iter_ > 2
    assert model.selected_features_.tolist() == [1, 0]
    np.testing.assert_allclose(model.predict(X), y)


def test_continued_fit_on_new_rows_keeps_what_is_owned(cancer):
    X, y = cancer
    model = GBFSClassifier(0.01, warm_start=True, max_iter=10).fit(X[:300], y[:300])
    owned = list(model.selected_features_)
    model.set_params(max_iter=20).fit(X[300:], y[300:])
    assert list(model.selected_features_)[: len(owned)] == owned
    assert model.n_iter_ == 20


def frames(X):
    yield pd.DataFrame(X)
    yield pl.DataFrame(X)
    yield pa.table(X)


def test_tables_of_every_kind_give_the_same_model():
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.integers(20, 60, 200),
        "income": rng.normal(size=200).astype(np.float32),
        "owner": rng.random(200) > 0.5,
    }
    y = columns["age"] + 10 * columns["owner"] + rng.normal(size=200)
    by_hand = GBFSRegressor(max_iter=5).fit(np.column_stack([v.astype(float) for v in columns.values()]), y)
    for table in frames(columns):
        model = GBFSRegressor(max_iter=5, costs={"income": 2.0}).fit(table, y)
        assert list(model.feature_names_in_) == ["age", "income", "owner"]
        np.testing.assert_array_equal(model.predict(table), by_hand.predict(pd.DataFrame(columns).to_numpy(float)))
    missing = pl.DataFrame({"a": [1, None, 3] * 50, "b": list(range(150))})
    model = GBFSRegressor(max_iter=5).fit(missing, np.tile([0.0, 5.0, 1.0], 50))
    assert model.predict(missing)[1] > model.predict(missing)[0]


def test_missing_values_learn_their_side():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    y = np.where(np.arange(400) % 4 == 0, 5.0, x > 0)
    x[::4] = np.nan
    model = GBFSRegressor(max_iter=50, learning_rate=0.3).fit(x[:, None], y)
    np.testing.assert_allclose(model.predict([[np.nan], [-1.0], [1.0]]), [5.0, 0.0, 1.0], atol=0.2)


def test_unseen_missing_values_follow_the_heavier_side():
    X = np.arange(100.0)[:, None]
    y = (X[:, 0] >= 70).astype(float)
    model = GBFSRegressor(max_iter=1, learning_rate=1.0, max_depth=1).fit(X, y)
    np.testing.assert_allclose(model.predict([[np.nan], [0.0], [99.0]]), [0.0, 0.0, 1.0])


def test_no_limit_on_depth():
    X = np.arange(512.0)[:, None]
    y = np.sin(X[:, 0] * 3)
    model = GBFSRegressor(0.0, max_depth=None, min_samples_leaf=1, max_iter=1, learning_rate=1.0, max_bins=255).fit(
        X[:250], y[:250]
    )
    np.testing.assert_allclose(model.predict(X[:250]), y[:250], atol=1e-6)


def test_stop_never_spends_on_every_split(cancer):
    """The reading of the authors' code: prices steer, and a tree goes on where nothing pays."""
    X, y = cancer
    with pytest.warns(NothingBoughtWarning):
        assert GBFSClassifier(0.9, max_iter=1).fit(X, y).n_features_selected_ == 0
    model = GBFSClassifier(0.9, max_iter=1, stop="never").fit(X, y)
    assert model.n_features_selected_ == 1
    assert (model._model.ensemble.feature >= 0).sum() > 3


def test_paper_settings_run(cancer):
    X, y = cancer
    model = GBFSClassifier(4.0, mu_unit="absolute", leaf_values="gradient", init="zero", max_iter=50).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model._model.ensemble.start[0] == 0


def test_quantile_and_huber_and_poisson_do_their_job():
    rng = np.random.default_rng(0)
    X = rng.random((3000, 3))
    noise = rng.exponential(size=3000)
    y = 2 * X[:, 0] + noise
    high = GBFSRegressor(loss=Quantile(0.9), max_iter=100).fit(X, y)
    assert np.mean(y <= high.predict(X)) == pytest.approx(0.9, abs=0.01)
    median = GBFSRegressor(loss="absolute_error", max_iter=100).fit(X, y)
    assert np.mean(y <= median.predict(X)) == pytest.approx(0.5, abs=0.02)
    spoiled = np.where(np.arange(3000) % 20 == 0, 1000.0, 2 * X[:, 0])
    robust = GBFSRegressor(loss=Huber(0.5), max_iter=100).fit(X, spoiled)
    assert np.median(np.abs(robust.predict(X) - 2 * X[:, 0])) < 0.2
    counts = rng.poisson(np.exp(1 + X[:, 1]))
    model = GBFSRegressor(loss="poisson", max_iter=100, mu=0.003).fit(X, counts)
    assert model.predict(X).mean() == pytest.approx(counts.mean(), rel=0.01)
    assert 1 in model.selected_features_


def test_labels_of_any_kind(cancer):
    X, y = cancer
    for labels in (np.array(["benign", "malignant"]), np.array([-1, 1]), np.array([False, True])):
        model = GBFSClassifier(0.02, max_iter=10).fit(X, labels[y])
        assert set(model.predict(X)) == set(labels)
        assert model.classes_.tolist() == sorted(labels.tolist())


def test_progress_line(cancer, capsys, monkeypatch):
    import frugalboost._support.progress as progress

    X, y = cancer
    monkeypatch.setattr(progress.time, "monotonic", iter(range(0, 1000, 3)).__next__)  # three seconds an iteration
    model = GBFSClassifier(0.02, max_iter=10, verbose=1).fit(X, y, X_val=X, y_val=y)
    lines = capsys.readouterr().out.splitlines()
    loss = model.history_["train_loss"]
    n, price = model.history_["n_features"][5], model.history_["price_paid"][5]
    assert lines[5].startswith(
        f"iteration 5/10  loss {loss[5]:.4f}  validation {loss[5]:.4f}  features {n}  cost {price:g}"
    )
    assert lines[5].endswith("18 s left")  # 18 seconds for five iterations and the start
    assert lines[-1].startswith("stopped: max_iter was reached")


def test_continued_fit_may_bring_the_first_missing_values():
    """The bins of the first fit have no place for missing values; the second must make it."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 16, size=(600, 8)).astype(float)
    y = X[:, 7] + X[:, 0] + rng.normal(size=600)
    for weights in (None, np.full(600, 2.0)):
        model = GBFSRegressor(0.0, max_iter=3, warm_start=True).fit(X, y, sample_weight=weights)
        holes = X.copy()
        holes[rng.random(X.shape) < 0.3] = np.nan
        model.set_params(max_iter=6).fit(holes, y, sample_weight=weights)
        loss = np.mean(0.5 * (y - model.predict(holes)) ** 2)
        assert model.history_["train_loss"][-1] == pytest.approx(loss, rel=1e-12)
        # The fourth tree's root, by hand: residuals of three trees, every threshold and both sides for missing values.
        three = model._model.ensemble.raw(_core.Table(holes), 3, 1)[0]
        root = model._model.ensemble.tree_begin[3]
        f, cut = model._model.ensemble.feature[root], model._model.ensemble.threshold[root]
        left = (holes[:, f] <= cut) | (np.isnan(holes[:, f]) & bool(model._model.ensemble.missing_left[root]))
        r, w = y - three, 1.0 if weights is None else 2.0
        gain = 0.5 * w * (r[left].sum() ** 2 / left.sum() + r[~left].sum() ** 2 / (~left).sum() - r.sum() ** 2 / 600)
        assert model._model.ensemble.gain[root] == pytest.approx(gain, rel=1e-5)


def test_warm_start_may_be_switched_on_later(cancer):
    X, y = cancer
    model = GBFSClassifier(0.01, max_iter=10, early_stopping=True, random_state=np.random.RandomState(0)).fit(X, y)
    model.set_params(warm_start=True, max_iter=25).fit(X, y)
    long = GBFSClassifier(0.01, max_iter=25, early_stopping=True, random_state=np.random.RandomState(0)).fit(X, y)
    assert repr(model.history_) == repr(long.history_)
    np.testing.assert_array_equal(model.predict_proba(X), long.predict_proba(X))
    fresh = model.set_params(warm_start=False).fit(X[y == 1], np.arange((y == 1).sum()) % 3)
    assert len(fresh.classes_) == 3


def test_prices_may_be_a_series(cancer):
    X, y = cancer
    plain = GBFSClassifier(0.01, max_iter=5).fit(X, y)
    banned = X.columns[plain.selected_features_[0]]
    by_name = pd.Series(1.0, index=X.columns[::-1])
    by_name[banned] = np.inf
    assert banned not in GBFSClassifier(0.01, max_iter=5, costs=by_name).fit(X, y).get_feature_names_out()
    by_position = pd.Series(by_name[X.columns].to_numpy())
    assert banned not in GBFSClassifier(0.01, max_iter=5, costs=by_position).fit(X, y).get_feature_names_out()


def test_early_stopping_counts_the_rows_that_are_left():
    X = np.arange(42.0)[:, None]
    with pytest.warns(NothingBoughtWarning, match="37 rows are less than two leaves"):
        GBFSRegressor(early_stopping=True, random_state=0).fit(X, X[:, 0])


def importances(kind, how, scale):
    """Fitted with some way of selecting on a target of some size, and again from a file."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    signal = X[:, 0] + 0.5 * X[:, 1] * X[:, 2]
    y = np.digitize(signal, np.quantile(signal, np.arange(1, kind) / kind)) if kind else signal * scale
    single, searched = (GBFSClassifier, GBFSClassifierCV) if kind else (GBFSRegressor, GBFSRegressorCV)
    if how == "search":
        return searched(single(max_iter=20, min_samples_leaf=5), n_mus=2, cv=2, scoring=lambda *_: 0.0).fit(X, y)
    return single(max_iter=60, min_samples_leaf=5, **HOW[how]).fit(X, y)


HOW = {
    "plain": {},
    "stopped": {"early_stopping": True, "random_state": 0, "n_iter_no_change": 3},
    "refit": {"refit": True},
    "average": {"refit": True, "average": 3},
    "exactly": {"n_features_to_select": 2},
    "exactly, average": {"n_features_to_select": 2, "average": 2},
    "never": {"stop": "never", "mu": 0.5},
    "nothing": {"mu": 1e9},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("how", [*HOW, "search"])
@pytest.mark.parametrize(
    ("kind", "scale"), [(2, 1.0), (3, 1.0), (0, 1.0), (0, 1e-100), (0, 1e-130), (0, 1e150)], ids=str
)
def test_importances_add_up_to_one(kind, scale, how, tmp_path):
    model = importances(kind, how, scale)
    fitted = getattr(model, "estimator_", model)
    fitted.save(tmp_path / "model")
    for one in (model, fitted, frugalboost.load(tmp_path / "model")):
        shares = one.feature_importances_
        assert shares.sum() == pytest.approx(1.0 if one.n_features_selected_ else 0.0, abs=1e-12)
        assert ((shares > 0) == one.support_).all()
    if how == "plain":
        assert model.n_features_selected_ > 0


def test_importances_where_sums_of_gains_overflow_or_vanish():
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(max_iter=20).fit(X, y)
    trees, best = model._model.ensemble, model.best_iteration_
    expected = model.feature_importances_
    for factor in (2.0**1023 / trees.gain.max(), 2.0**-1000 / trees.gain.max()):
        scaled = replace(trees, gain=trees.gain * factor)
        np.testing.assert_allclose(scaled.gain_shares(10, best), expected, rtol=1e-9)
    with np.errstate(all="ignore"):
        assert np.isinf(replace(trees, gain=trees.gain * (2.0**1023 / trees.gain.max())).feature_gains(10, best).sum())
    for odd in (0.0, np.inf, np.nan):
        shares = replace(trees, gain=np.full_like(trees.gain, odd)).gain_shares(10, best)
        assert shares.sum() == pytest.approx(1.0)
        assert ((shares > 0) == model.support_).all()
