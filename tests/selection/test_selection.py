"""Exactly k features: what is sold back, the refit, and the pieces they stand on."""

import pickle
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import log_loss

import frugalboost
from frugalboost import GBFSClassifier, GBFSRegressor, NothingBoughtWarning, _core
from frugalboost.costs import Bags, Function, Neighbours, Prices, Stage, Stages
from frugalboost.losses import LogLoss
from frugalboost.selection.folds import stratified_folds
from frugalboost.tables import DenseTable
from frugalboost.tables.equal_rows import kept_together
from frugalboost.tables.sample import Sample
from frugalboost.training.binning import Thresholds

QUICK = {"max_iter": 40, "min_samples_leaf": 5}


def bytes_of(model):
    return b"".join(
        np.asarray(getattr(model._model.ensemble, name)).tobytes() for name in ("feature", "threshold", "value")
    )


def binned(X, cuts, offsets):
    """The table in bins, all columns dense."""
    matrix = _core.BinnedMatrix(len(X), cuts, offsets, np.zeros(X.shape[1], dtype=np.uint8), None)
    matrix.fill(_core.Table(X), np.arange(len(X)), 1)
    return matrix


NO_LINES = (
    np.full(3, -1, dtype=np.int32),
    np.zeros(3),
    np.zeros(0, dtype=np.int32),
    np.zeros(1, dtype=np.int64),
    np.zeros(0),
    np.zeros(0),
)


def seen(matrix):
    """What trees see of every cell: on which side of many thresholds it lies, and of missing values."""
    out = []
    for c in range(matrix.shape[1]):
        for threshold in np.linspace(-4, 4, 81):
            stump = _core.Trees(
                np.zeros(1),
                np.array([0, 3]),
                np.array([c, -1, -1], dtype=np.int32),
                np.array([1, -1, -1], dtype=np.int32),
                np.array([threshold < 0, 0, 0], dtype=np.uint8),
                np.array([threshold, 0, 0]),
                np.array([0.0, 1, 2]),
                np.full(3, -1, dtype=np.int32),
                np.zeros(0, dtype=np.uint8),
                *NO_LINES,
            )
            raw = np.zeros((1, matrix.shape[0]))
            _core.add_trees(stump, matrix, 0, 1, raw, 1)
            out.append(raw[0])
    return np.array(out)


@pytest.mark.slow
@given(st.integers(0, 10_000))
def test_a_part_of_a_binned_table_is_that_part_binned(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 40)), int(rng.integers(1, 10))
    X = np.round(rng.normal(size=(n, d)), 1) * (rng.random((n, d)) < rng.choice([0.1, 1.0]))
    X[rng.random(X.shape) < 0.1] = np.nan
    found = Thresholds.find(DenseTable(X), None, 8, 1)
    columns = rng.permutation(d)[: int(rng.integers(1, d + 1))]
    rows = rng.permutation(n)[: int(rng.integers(1, n + 1))]
    cuts = [found.cuts[found.offsets[c] : found.offsets[c + 1]] for c in columns]
    offsets = np.concatenate([[0], np.cumsum([len(c) for c in cuts])]).astype(np.int64)
    fresh = binned(np.ascontiguousarray(X[np.ix_(rows, columns)]), np.concatenate(cuts), offsets)
    whole = binned(X, found.cuts, found.offsets)
    np.testing.assert_array_equal(whole.take(columns, rows, 2).bytes, fresh.bytes)
    whole.list_sparse(2)  # some columns may be listed now: the same values, stored in another way
    np.testing.assert_array_equal(seen(whole.take(columns, rows, 2)), seen(fresh))
    with pytest.raises(ValueError, match="no such row or column"):
        whole.take(np.array([d]), None, 1)


def loss_without(model, X, y, hidden):
    """The naive twin: walk every row through every tree, both ways where the feature is hidden."""
    trees = model._model.ensemble

    def walk(root, node, row):
        f = trees.feature[node]
        if f < 0:
            return trees.value[node]
        left = root + trees.left[node]
        if f in hidden:
            a, b = trees.weight[left], trees.weight[left + 1]
            return (a * walk(root, left, row) + b * walk(root, left + 1, row)) / (a + b)
        goes_left = trees.missing_left[node] if np.isnan(row[f]) else row[f] <= trees.threshold[node]
        return walk(root, left + (not goes_left), row)

    raw = np.array([trees.start[0] + sum(walk(b, b, row) for b in trees.tree_begin[:-1]) for row in X])
    return np.mean(np.logaddexp(0, -(2 * y - 1) * raw))


def test_the_loss_without_a_feature_is_that_of_the_naive_twin():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0] * X[:, 1] + X[:, 2]) > 0).astype(float)
    model = GBFSClassifier(0, max_iter=8, min_samples_leaf=3, max_depth=5).fit(X, y)
    hidden = [[0], [1, 2], [4], [], [3, 0, 1], [1]]
    for threads in (1, 3):
        found = model._model.ensemble.losses_without(
            _core.Table(X),
            Sample(None, y),
            Sample(None, y),
            LogLoss(),
            [np.array(h, dtype=np.int32) for h in hidden],
            model.n_iter_,
            threads,
        )
        expected = [loss_without(model, X, y, h) for h in ([], *hidden)]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_exactly_so_many(k):
    X, y = load_breast_cancer(return_X_y=True)
    model = GBFSClassifier(n_features_to_select=k, **QUICK).fit(X, y)
    assert model.n_features_selected_ == k == model.support_.sum() == model.transform(X).shape[1]
    assert set(model._model.ensemble.used_feature) - {-1} == set(model.selected_features_)
    assert model.total_cost_ == k
    assert model.selling_["n_features"] == sorted(model.selling_["n_features"], reverse=True)


def test_what_greed_takes_first_is_sold_again():
    """The sum of two features with noise is the best single one, and useless beside both."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 8))
    X[:, 5] = X[:, 0] + X[:, 1] + 0.7 * rng.normal(size=600)
    y = X[:, 0] + X[:, 1]
    first = GBFSRegressor(0, budget=2, **QUICK).fit(X, y)
    assert 5 in first.selected_features_
    model = GBFSRegressor(n_features_to_select=2, **QUICK).fit(X, y)
    assert sorted(model.selected_features_) == [0, 1]
    assert model.refit_scores_["refit"]["train_loss"] < model.refit_scores_["forward"]["train_loss"]


def test_copies_of_one_feature_do_not_take_two_places():
    rng = np.random.default_rng(2)
    strong, weak = rng.normal(size=(2, 500))
    X = np.column_stack([strong, strong, strong, weak, weak, rng.normal(size=(500, 4))])
    y = 3 * strong + weak
    chosen = GBFSRegressor(n_features_to_select=2, **QUICK).fit(X, y).selected_features_
    assert len(set(chosen) & {0, 1, 2}) == 1
    assert len(set(chosen) & {3, 4}) == 1


def test_one_informative_feature():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 40))
    model = GBFSClassifier(n_features_to_select=1, **QUICK).fit(X, X[:, 17] > 0)
    assert model.selected_features_.tolist() == [17]


def test_noise_is_called_noise():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(200, 10)), rng.integers(2, size=200)
    with pytest.warns(UserWarning, match="are weak"):
        model = GBFSClassifier(n_features_to_select=3, **QUICK).fit(X, y)
    assert model.n_features_selected_ == 3


@pytest.mark.parametrize("kind", [GBFSClassifier, GBFSRegressor])
def test_none_at_all(kind):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(NothingBoughtWarning, match="n_features_to_select=0"):
        model = kind(n_features_to_select=0, **QUICK).fit(X, y)
    assert model.n_features_selected_ == 0
    assert model.total_cost_ == 0
    assert len(np.unique(model.predict(X))) == 1


def test_more_than_gain_anything():
    X, y = load_diabetes(return_X_y=True)
    with_constants = np.column_stack([X, np.zeros((len(X), 5))])
    for k in (11, 15, 100):
        with pytest.warns(UserWarning, match=f"n_features_to_select={k}, but only 10"):
            model = GBFSRegressor(n_features_to_select=k, **QUICK).fit(with_constants, y)
        assert model.n_features_selected_ == 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert GBFSRegressor(n_features_to_select=10, **QUICK).fit(X, y).n_features_selected_ == 10


def test_tiny_tables():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(8, 6))
    y = X[:, 2] > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert GBFSClassifier(n_features_to_select=1).fit(X, y).n_features_selected_ == 0  # leaves of 20 rows
        model = GBFSClassifier(n_features_to_select=1, min_samples_leaf=1, max_iter=5).fit(X, y)
    assert model.selected_features_.tolist() == [2]


def test_three_classes_weights_and_missing_values():
    X, y = load_iris(return_X_y=True)
    X = np.where(np.random.default_rng(6).random(X.shape) < 0.05, np.nan, X)
    model = GBFSClassifier(n_features_to_select=2, **QUICK).fit(X, y, sample_weight=np.linspace(0.5, 2, len(y)))
    assert sorted(model.selected_features_) == [2, 3]
    assert model.score(X, y) > 0.9


def test_bags_are_sold_as_bags_and_count_as_one():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(500, 12))
    y = X[:, 0] + X[:, 1] + X[:, 2] + 0.8 * X[:, 6]
    bags = Bags([j // 3 for j in range(12)], prices=2.0)
    model = GBFSRegressor(n_features_to_select=2, costs=bags, **QUICK).fit(X, y)
    assert {f // 3 for f in model.selected_features_} == {0, 2}
    assert {0, 1, 2, 6} <= set(model.selected_features_)
    assert model.total_cost_ == 4
    one = GBFSRegressor(n_features_to_select=1, costs=bags, **QUICK).fit(X, y)
    assert set(one.selected_features_) == {0, 1, 2}


def test_overlapping_bags():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(400, 5))
    y = X[:, 0] + X[:, 1] + 0.1 * X[:, 4]
    bags = Bags({"a": [0, 2], "b": [1, 2], "c": [3], "d": [4]})
    model = GBFSRegressor(n_features_to_select=2, costs=bags, **QUICK).fit(X, y)
    assert {0, 1} <= set(model.selected_features_) <= {0, 1, 2}
    assert model.total_cost_ == 2


def test_of_equals_the_dear_one_is_sold():
    rng = np.random.default_rng(9)
    a, b = rng.normal(size=(2, 500))
    X = np.column_stack([a + 0.1 * rng.normal(size=500), a + 0.1 * rng.normal(size=500), b, rng.normal(size=500)])
    for dear in (0, 1):
        prices = np.ones(4)
        prices[dear] = 50.0
        model = GBFSRegressor(1e-6, n_features_to_select=2, costs=prices, **QUICK).fit(X, a + b)
        assert sorted(model.selected_features_) == [1 - dear, 2]


def test_the_budget_is_kept_too():
    X, y = load_diabetes(return_X_y=True)
    prices = np.array([1, 1, 5, 4, 1, 1, 1, 1, 5, 1.0])
    with pytest.warns(UserWarning, match="only"):
        model = GBFSRegressor(n_features_to_select=4, budget=7, costs=prices, **QUICK).fit(X, y)
    assert model.total_cost_ <= 7
    assert model.n_features_selected_ > 0


def test_what_waits_for_another_goes_with_it():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(400, 3))
    y = X[:, 1] + 0.01 * X[:, 0]  # feature 1 needs feature 0 first, which says nothing
    stages = Stages({"lab": Stage(1.0, opens=[1], needs=[0])})
    model = GBFSRegressor(0, n_features_to_select=2, costs=stages, **QUICK).fit(X, y)
    paid = dict(zip(model._model.purchases.feature.tolist(), model._model.purchases.price.tolist(), strict=True))
    assert all(np.isfinite(list(paid.values())))
    assert 1 not in paid or 0 in paid


@pytest.mark.parametrize(
    "costs",
    [
        Neighbours((5, 2), discount=0.5),
        Function(lambda owned, last, prices: prices * 0.9),
        Prices(np.arange(1.0, 11.0)),
        Bags([0, 0, 1, 1, 2, 2, 3, 3, 4, 4]) + Prices(np.full(10, 0.5)),
    ],
    ids=["neighbours", "function", "prices", "sum"],
)
def test_every_kind_of_prices(costs):
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(n_features_to_select=3, costs=costs, **QUICK).fit(X, y)
    assert 3 <= model.n_features_selected_ <= 6
    assert model.history_["price_paid"][model.best_iteration_] == pytest.approx(model.total_cost_)
    assert model.prediction_cost_ <= model.total_cost_ + 1e-9


@pytest.mark.slow
def test_same_bytes_for_any_number_of_threads_and_memory_order():
    X, y = load_breast_cancer(return_X_y=True)
    made = [
        GBFSClassifier(n_features_to_select=4, n_jobs=jobs, **QUICK).fit(table, y)
        for jobs, table in [(1, X), (2, X), (7, X), (2, np.asfortranarray(X)), (2, X.astype(np.float32))]
    ]
    assert len({bytes_of(model) for model in made[:4]}) == 1
    assert all(model.selling_ == made[0].selling_ for model in made[:4])


@pytest.mark.slow
def test_early_stopping_and_given_validation_rows():
    X, y = load_breast_cancer(return_X_y=True)
    model = GBFSClassifier(n_features_to_select=3, early_stopping=True, random_state=0).fit(X, y)
    scores = model.refit_scores_
    assert model.n_features_selected_ <= 3
    kept = scores[scores["kept"]]
    assert kept["validation_loss"] == min(scores[w]["validation_loss"] for w in ("forward", "refit"))
    assert model.history_["validation_loss"][model.best_iteration_] == kept["validation_loss"]
    given_rows = GBFSClassifier(n_features_to_select=3, **QUICK).fit(X[100:], y[100:], X_val=X[:100], y_val=y[:100])
    assert np.isfinite(given_rows.refit_scores_["refit"]["validation_loss"])


def test_refit_on_the_chosen_features_alone():
    X, y = load_diabetes(return_X_y=True)
    forward = GBFSRegressor(0.01, max_iter=60).fit(X, y)
    model = GBFSRegressor(0.01, max_iter=60, refit=True).fit(X, y)
    scores = model.refit_scores_
    assert scores["forward"]["train_loss"] == forward.history_["train_loss"][-1]
    assert set(model.selected_features_) <= set(forward.selected_features_)
    alone = GBFSRegressor(0, max_iter=60).fit(X[:, np.sort(forward.selected_features_)], y)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X[:, np.sort(forward.selected_features_)]))
    assert scores["refit"]["train_loss"] == alone.history_["train_loss"][-1]
    assert model.mu_max_ == forward.mu_max_


def test_refit_auto_keeps_the_better_one():
    X, y = load_diabetes(return_X_y=True)
    kept = set()
    for seed in range(6):
        model = GBFSRegressor(0.01, refit="auto", early_stopping=True, random_state=seed).fit(X, y)
        scores = model.refit_scores_
        kept.add(scores["kept"])
        best = min(scores["forward"]["validation_loss"], scores["refit"]["validation_loss"])
        assert model.history_["validation_loss"][model.best_iteration_] == best
    assert kept == {"forward", "refit"}
    with pytest.raises(ValueError, match='refit="auto" compares validation losses'):
        GBFSRegressor(refit="auto").fit(X, y)


def test_saved_and_pickled(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(n_features_to_select=3, **QUICK).fit(X, y)
    model.save(tmp_path / "model.frugal")
    for copy in (frugalboost.load(tmp_path / "model.frugal"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
        assert copy.selling_ == model.selling_
        assert copy.refit_scores_["refit"]["train_loss"] == model.refit_scores_["refit"]["train_loss"]
        assert copy.n_features_to_select == 3


class NoValue:
    """A loss that can't say how large it is."""

    def start(self, y, weights):
        return 0.0

    def gradient(self, y, raw):
        return y - raw

    def curvature(self, y, raw):
        return np.ones_like(y)

    def inverse_link(self, raw):
        return raw


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_features_to_select": -1}, "n_features_to_select"),
        ({"n_features_to_select": 2.5}, "n_features_to_select"),
        ({"refit": "maybe"}, "refit"),
        ({"n_features_to_select": 2, "warm_start": True}, "warm_start=True can't continue"),
        ({"n_features_to_select": 2, "loss": NoValue()}, "method 'value'"),
    ],
)
def test_bad_settings_are_sentences(settings, message):
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(**settings)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "support_")


@pytest.mark.slow
def test_the_mean_of_several_models():
    X, y = load_breast_cancer(return_X_y=True)
    for kind in (GBFSClassifier, GBFSRegressor):
        model = kind(n_features_to_select=4, average=5, **QUICK).fit(X, y)
        assert model.n_features_selected_ == 4
        assert len(model.history_["train_loss"]) == model.n_iter_ + 1 == model.best_iteration_ + 1
        assert model.history_["n_features"][-1] == 4
        assert model.total_cost_ == 4
        assert list(model.staged_predict(X))[-1].tolist() == model.predict(X).tolist()


def test_the_mean_of_several_models_is_exact_where_bins_are():
    """With few values every part of the rows has the same thresholds."""
    rng = np.random.default_rng(0)
    X = rng.integers(4, size=(300, 3)).astype(float)
    y = rng.integers(3, size=300) * (X[:, 0] > 1) + (X[:, 1] > 2)
    # All models of an average begin where all rows do, so begin at zero.
    model = GBFSClassifier(0, refit=True, average=7, random_state=3, init="zero", **QUICK).fit(X, y)
    seed = np.random.RandomState(3).randint(2**31 - 1)
    rows = kept_together(Sample(DenseTable(X), y.astype(float)))
    folds = [fold for r in (0, 1) for fold in stratified_folds(rows, 4, 5, seed + r)][:7]
    raw = []
    for train, held in folds:
        part = GBFSClassifier(0, early_stopping=True, init="zero", random_state=3, **QUICK)
        raw.append(part.fit(X[train], y[train], X_val=X[held], y_val=y[held])._raw(X))
    np.testing.assert_allclose(model._raw(X), np.mean(raw, axis=0), rtol=1e-9)
    assert model.history_["train_loss"][-1] == pytest.approx(log_loss(y, model.predict_proba(X)))


def test_average_is_about_the_last_fit():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match="average=3 applies to the last fit"):
        GBFSRegressor(average=3).fit(X, y)


@given(st.integers(1, 60), st.integers(0, 1000), st.sampled_from([1, 3]))
def test_folds_have_every_row_once_and_the_distribution_of_y(n, seed, outputs):
    y = np.random.default_rng(seed).integers(3, size=n).astype(float)
    folds = stratified_folds(Sample(None, y), outputs, 5, seed)
    assert sorted(np.concatenate([held for _, held in folds])) == list(range(n))
    for train, held in folds:
        assert sorted([*train, *held]) == list(range(n))
        for value in np.unique(y):
            assert abs((y[held] == value).sum() - (y == value).sum() / 5) < 2
    few = stratified_folds(Sample(None, y), outputs, 5, seed, most=10)
    assert sum(len(held) for _, held in few) == min(n, 10)


GATE = Stages({"lab": Stage(1.0, opens=[1], needs=[0])}, prices=1.0)


@pytest.mark.parametrize("weight_of_the_gate", [0.5, 0.0])
def test_what_a_gate_opens_counts_for_the_gate(weight_of_the_gate):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    y = 2 * X[:, 1] + weight_of_the_gate * X[:, 0] + 0.3 * X[:, 2] + 0.2 * X[:, 3] + 0.1 * rng.normal(size=600)
    for k in (2, 3, 4):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the last fit may not need the gate's own values
            model = GBFSRegressor(n_features_to_select=k, costs=GATE, max_iter=60).fit(X, y)
        assert {0, 1} <= set(model.selected_features_), k


@pytest.mark.filterwarnings("ignore")
def test_a_refitted_model_never_owns_what_it_could_not_buy():
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 5))
        y = 1.5 * X[:, 1] + 0.05 * X[:, 0] + 0.3 * X[:, 2] + rng.normal(size=300)
        model = GBFSRegressor(0, refit=True, costs=GATE, max_iter=100, learning_rate=0.3, early_stopping=True)
        model.set_params(random_state=0, max_depth=1, n_iter_no_change=30).fit(X, y)
        chosen = set(model.selected_features_.tolist())
        assert 1 not in chosen or 0 in chosen
        assert (np.diff(model._model.purchases.iteration) >= 0).all()
        assert model.total_cost_ == pytest.approx(len(chosen) + (1 in chosen))


def test_free_features_do_not_fill_the_places():
    X, y = load_diabetes(return_X_y=True)
    prices = np.ones(10)
    prices[[0, 1, 3]] = 0
    model = GBFSRegressor(n_features_to_select=3, costs=prices, **QUICK).fit(X, y)
    assert {2, 8} <= set(model.selected_features_)


def test_a_budget_is_used():
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(n_features_to_select=4, budget=6, costs=np.arange(1.0, 11), **QUICK)
    with pytest.warns(UserWarning, match="only"):
        model.fit(X, y)
    assert 3 < model.total_cost_ <= 6


def test_a_constant_keeps_mu_max():
    X, y = load_diabetes(return_X_y=True)
    with pytest.warns(NothingBoughtWarning, match=r"from mu_max_=0\.29"):
        model = GBFSRegressor(1.0, refit=True).fit(X, y)
    assert model.mu_max_ == pytest.approx(0.2915, abs=1e-3)


def test_averages_that_stop_at_once_are_constants():
    rng = np.random.default_rng(2)
    with pytest.warns(NothingBoughtWarning, match="validation rows"):
        model = GBFSRegressor(average=5, refit=True, max_iter=30).fit(rng.normal(size=(60, 3)), rng.normal(size=60))
    assert model.n_iter_ == model.best_iteration_ == 0
    assert len(np.unique(model.predict(rng.normal(size=(5, 3))))) == 1


def test_averages_of_folds_that_lack_a_class():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 4))
    y = np.zeros(100, dtype=int)
    y[17] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GBFSClassifier(n_features_to_select=2, average=5, min_samples_leaf=1, max_iter=10).fit(X, y)
    assert 1e-4 < model.predict_proba(X)[:, 1].min() <= model.predict_proba(X)[17, 1]


def test_hubers_delta_is_that_of_the_fit_wherever_losses_are_compared():
    X, y = load_diabetes(return_X_y=True)
    y_val = y[300:].copy()
    y_val[:40] *= 8
    model = GBFSRegressor(n_features_to_select=4, average=5, loss="huber", **QUICK)
    model.fit(X[:300], y[:300], X_val=X[300:], y_val=y_val)
    losses = [model.refit_scores_[which]["validation_loss"] for which in ("forward", "refit")]
    assert 0.5 < losses[0] / losses[1] < 2


@pytest.mark.slow
def test_ctrl_c_reaches_every_fit_of_an_average():
    script = """
import numpy as np, frugalboost, frugalboost.selection.final_fit as selection
fit_average = selection.fit_average
def announced(*arguments):
    print("go", flush=True)
    return fit_average(*arguments)
selection.fit_average = announced
rng = np.random.default_rng(0)
X = rng.normal(size=(20000, 10))
model = frugalboost.GBFSRegressor(0.0, refit=True, average=2, n_jobs=2, max_iter=400, max_depth=8, learning_rate=0.001)
model.fit(X, X[:, 0] + rng.normal(size=20000))
print("done", flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline().strip() == "go"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert "KeyboardInterrupt" in errors
    assert "done" not in output
