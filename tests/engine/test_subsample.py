"""Trees may see only some rows. test_reference.py and test_families.py hold that to the oracle; here is the rest."""

import warnings

import numpy as np
import pytest
import reference_draws
from same_trees import assert_same_bytes
from scipy import sparse
from sklearn.datasets import make_classification

from frugalboost import GBFSClassifier, GBFSRegressor, NothingBoughtWarning, load
from frugalboost.costs import Bags

SETTINGS = {"mu": 1e-3, "max_iter": 20, "max_depth": 3, "subsample": 0.4, "random_state": 3}


def table(n=900, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 1)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, np.nan_to_num(X[:, 0] - X[:, 1] * X[:, 2]) + 0.5 * rng.normal(size=n)


def same_models(a, b):
    assert_same_bytes(a._model.ensemble, b._model.ensemble)
    for name in ("bought", "raw_gain", "price_paid", "train_loss"):
        assert a.history_[name] == b.history_[name]


def weights_of_roots(model):
    trees = model._model.ensemble
    return trees.weight[trees.tree_begin[:-1]]


def seed_of(random_state):
    return int(np.random.RandomState(random_state).randint(2**31 - 1))


@pytest.mark.parametrize("base", ["trees", "both"])
def test_each_tree_after_the_first_sees_the_rows_of_the_hash(base):
    X, y = table()
    model = GBFSRegressor(**SETTINGS, base=base).fit(X, y)
    seen = weights_of_roots(model)
    assert seen[0] == len(y)  # until something is split, all rows
    drawn = [reference_draws.drawn_rows(seed_of(3), t, 0.4, len(y)).sum() for t in range(1, 20)]
    assert seen[1:].tolist() == drawn
    assert len(set(drawn)) > 10
    assert 0.35 < np.mean(drawn) / len(y) < 0.45


def test_all_classes_see_the_same_rows():
    X, y = table()
    model = GBFSClassifier(**SETTINGS, multi_strategy="one_output_per_tree").fit(X, np.digitize(y, [-1, 0, 1]))
    by_class = weights_of_roots(model).reshape(-1, 4)
    assert (by_class == by_class[:, :1]).all()
    assert (by_class[1:] < len(y)).all()


@pytest.mark.parametrize("base", ["trees", "lines", "both"])
def test_one_is_the_fit_without(base):
    X, y = table()
    settings = {**SETTINGS, "base": base}
    without = {k: v for k, v in settings.items() if k != "subsample"}
    same_models(GBFSRegressor(**{**settings, "subsample": 1.0}).fit(X, y), GBFSRegressor(**without).fit(X, y))
    other = GBFSRegressor(**settings).fit(X, y)
    assert other.history_["train_loss"] != GBFSRegressor(**without).fit(X, y).history_["train_loss"]


def test_the_rows_depend_on_the_seed_alone():
    X, y = table()
    model = GBFSRegressor(**SETTINGS).fit(X, y)
    same_models(model, GBFSRegressor(**{**SETTINGS, "n_jobs": 3}).fit(np.asfortranarray(X), y))
    other = GBFSRegressor(**{**SETTINGS, "random_state": 4}).fit(X, y)
    assert other.history_["train_loss"] != model.history_["train_loss"]
    assert weights_of_roots(other).tolist() != weights_of_roots(model).tolist()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_large_tables_on_any_number_of_threads(threads):
    """More rows than a thread takes at a time."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 3))
    y = X[:, 0] + rng.normal(size=70_000)
    settings = {**SETTINGS, "max_iter": 3}
    model = GBFSRegressor(**settings, n_jobs=threads).fit(X, y)
    drawn = reference_draws.drawn_rows(seed_of(3), 2, 0.4, 70_000)
    assert weights_of_roots(model)[2] == drawn.sum()
    same_models(model, GBFSRegressor(**settings, n_jobs=1).fit(X, y))


@pytest.mark.parametrize("base", ["trees", "lines", "both"])
@pytest.mark.parametrize("kind", ["number", "classes"])
@pytest.mark.parametrize("first", [1, 7, 19])
def test_a_continued_fit_is_one_long_fit(base, kind, first, tmp_path):
    X, y = table()
    y = y if kind == "number" else np.digitize(y, [-1, 1])
    cls = GBFSRegressor if kind == "number" else GBFSClassifier
    settings = {**SETTINGS, "base": base, "warm_start": True}
    whole = cls(**settings).fit(X, y)
    begun = cls(**{**settings, "max_iter": first}).fit(X, y)
    begun.save(tmp_path / "begun")
    again = load(tmp_path / "begun").set_params(max_iter=20, random_state=3).fit(X, y)
    same_models(again, whole)
    same_models(begun.set_params(max_iter=20).fit(X, y), whole)


def test_a_continued_fit_after_an_iteration_without_a_split():
    """Where the last draw paid for nothing, the next trees see all rows, also in a continued fit."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 3))
    y = np.sign(X[:, 0]) + 0.7 * rng.normal(size=80)
    settings = {"mu": 0.08, "max_depth": 1, "min_samples_leaf": 9, "subsample": 0.25, "random_state": 0}
    whole = GBFSRegressor(**settings, max_iter=60).fit(X, y)
    seen = weights_of_roots(whole)
    pauses = np.flatnonzero(seen[1:] == 80)  # 0: the first iteration; t: iteration t had no split, and t + 1 saw all
    assert len(pauses) > 1
    assert ((whole._model.ensemble.tree_begin[1:] - whole._model.ensemble.tree_begin[:-1])[pauses] == 1).all()
    for last in (*pauses[:2], 5):
        begun = GBFSRegressor(**settings, max_iter=int(last) + 1, warm_start=True).fit(X, y)
        same_models(begun.set_params(max_iter=60).fit(X, y), whole)


def test_boosting_ends_where_nothing_pays_on_all_rows():
    X, y = table(300)
    every = {"mu": 0.05, "max_depth": 2}
    whole, sampled = (
        GBFSRegressor(**every, learning_rate=1.0, subsample=s, random_state=0).fit(X > 0, 2.0 * (X[:, 3] > 0))
        for s in (1.0, 0.5)
    )
    assert whole.stop_reason_ == sampled.stop_reason_ == "converged"
    assert weights_of_roots(whole).tolist() == [300, 300]
    seen = weights_of_roots(sampled)
    assert seen[[0, 2]].tolist() == [300, 300]
    assert seen[1] < 200
    whole, sampled = (GBFSRegressor(**every, max_iter=9, subsample=s).fit(X, y) for s in (1.0, 0.5))
    assert whole.mu_max_ == sampled.mu_max_
    with pytest.warns(NothingBoughtWarning):
        nothing = GBFSRegressor(**{**every, "mu": whole.mu_max_}, subsample=0.5).fit(X, y)
    assert nothing.n_features_selected_ == 0
    assert (
        GBFSRegressor(**{**every, "mu": np.nextafter(whole.mu_max_, 0)}, subsample=0.5).fit(X, y).n_features_selected_
    )


def test_a_new_feature_pays_on_the_drawn_rows():
    """Every recorded gain is larger than the price; chance gains on few rows do not buy noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 40))
    y = X[:, 0] + rng.normal(size=2000)
    for subsample in (1.0, 0.5, 0.2):
        model = GBFSRegressor(mu=5e-3, max_iter=100, subsample=subsample, random_state=0).fit(X, y)
        gains = np.concatenate(model.history_["raw_gain"])
        assert (gains > 5e-3 * model._model.impurity).all()
        assert model.selected_features_[0] == 0
        assert model.n_features_selected_ <= 3


def test_leaves_count_drawn_rows():
    X, y = table(200)
    model = GBFSRegressor(**{**SETTINGS, "min_samples_leaf": 15}).fit(X, y)
    trees = model._model.ensemble
    assert trees.weight[trees.feature < 0].min() >= 15
    with pytest.warns(UserWarning, match="subsample=0.1 draws about 20 of 200 rows, less than two leaves"):
        few = GBFSRegressor(**{**SETTINGS, "subsample": 0.1, "min_samples_leaf": 30}).fit(X, y)
    trees = few._model.ensemble
    split = np.add.reduceat(trees.feature >= 0, trees.tree_begin[:-1])
    assert (weights_of_roots(few)[split > 0] == 200).all()  # 20 rows can't be split


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("base", ["trees", "lines", "both"])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber"])
def test_tables_of_few_rows(n, base, loss):
    """Often no row is drawn at all: such an iteration adds nothing."""
    X, y = np.arange(float(n))[:, None], np.arange(float(n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = GBFSRegressor(
            0.0, max_iter=30, min_samples_leaf=1, subsample=0.1, base=base, loss=loss, random_state=1
        ).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_rows_of_weight_zero_are_not_there():
    X, y = table(400)
    weights = np.random.default_rng(0).integers(0, 3, 400).astype(float)
    whole = GBFSRegressor(**SETTINGS).fit(X, y, sample_weight=weights)
    there = weights > 0
    same_models(whole, GBFSRegressor(**SETTINGS).fit(X[there], y[there], sample_weight=weights[there]))


def test_equal_rows_are_drawn_one_by_one():
    """Without a draw they would be merged; some of them are drawn, and others are not."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (30_000, 3)).astype(float)
    y = (X[:, 0] > 0) + (X[:, 1] > 1) * 1.0
    model = GBFSRegressor(**{**SETTINGS, "max_iter": 3}).fit(X, y)
    assert weights_of_roots(model)[1] == reference_draws.drawn_rows(seed_of(3), 1, 0.4, 30_000).sum()


def test_rows_set_aside_are_not_drawn():
    X, y = table()
    model = GBFSRegressor(**{**SETTINGS, "max_iter": 300, "early_stopping": True, "n_iter_no_change": 5}).fit(X, y)
    assert model.stop_reason_ == "early_stopping"
    assert weights_of_roots(model).max() == 810
    losses = model.history_["validation_loss"]
    assert losses[model.best_iteration_] == min(losses)


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array])
@pytest.mark.parametrize("costs", [None, Bags(np.arange(24) // 3)])
def test_screening_changes_nothing(form, costs):
    rng = np.random.default_rng(2)
    X = np.where(rng.random((1500, 24)) < 0.1, np.ceil(3 * rng.random((1500, 24))), 0.0)
    X[:, :4] = np.round(rng.normal(size=(1500, 4)), 1)
    y = X[:, 0] + X[:, 8] - X[:, 9] * X[:, 1] + 0.2 * rng.normal(size=1500)
    settings = {**SETTINGS, "mu": 5e-4, "max_iter": 25, "min_samples_leaf": 5, "costs": costs}
    off = GBFSRegressor(**settings, screening="off").fit(form(X), y)
    assert off.n_features_selected_ > 3
    same_models(off, GBFSRegressor(**settings, screening="exact").fit(form(X), y))


@pytest.mark.slow
def test_screening_by_a_sample_of_the_drawn_rows():
    """Large enough for it: the sample is that of the rows which were drawn."""
    X, y = make_classification(30_000, 120, n_informative=6, n_redundant=0, shuffle=False, random_state=0)
    settings = {"mu": 3e-3, "max_iter": 15, "subsample": 0.5, "random_state": 0}
    same_models(
        GBFSClassifier(**settings, screening="off").fit(X, y), GBFSClassifier(**settings, screening="auto").fit(X, y)
    )


def test_with_a_number_of_features_and_average():
    X, y = table()
    for settings in ({"n_features_to_select": 2}, {"refit": True}, {"n_features_to_select": 2, "average": 2}):
        model = GBFSRegressor(**SETTINGS, **settings).fit(X, y)
        assert model.score(X, y) > 0.3


def test_a_file_keeps_the_setting(tmp_path):
    X, y = table()
    model = GBFSRegressor(**SETTINGS).fit(X, y)
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").subsample == 0.4


@pytest.mark.parametrize("bad", [0, 0.0, -0.5, 1.5, "half", None, np.nan])
def test_what_is_no_share_is_refused(bad):
    X, y = table(50)
    with pytest.raises(ValueError, match="subsample"):
        GBFSRegressor(subsample=bad).fit(X, y)
