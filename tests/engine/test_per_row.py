"""Prices that rows pay: what is paid is what predictions cost, and nothing else changes the model.

That splits and purchases are those of the oracle is in ``test_reference.py`` and ``test_families.py``.
"""

import copy
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import reference
from families import FAMILIES, table
from hypothesis import given, settings
from hypothesis import strategies as st
from same_trees import assert_same, assert_same_bytes
from scipy import sparse
from test_families import check
from test_reference import fit_both

from frugalboost import GBFSClassifier, GBFSRegressor, gbfs_path, load
from frugalboost.costs import Bags, Function, PerRow, Prices

FEW = settings(max_examples=settings.default.max_examples // 4)


def quietly(fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit()


def made(n=400, d=6, seed=0):
    """A table in which one column settles most rows, and others help with the rest."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(1)
    X[rng.random((n, d)) < 0.05] = np.nan
    Z = np.nan_to_num(X)
    return X, np.where(Z[:, 0] > -0.5, 5.0, Z[:, 1] + Z[:, 2] ** 2) + 0.1 * rng.normal(size=n)


def assert_paid(model, X, weights=None, once=None):
    """What was paid is the mean price of a prediction, and what features cost once."""
    mean = np.average(model.prediction_cost(X), weights=weights)
    owned = 0.0 if once is None else float(np.sum(np.asarray(once)[model.selected_features_]))
    assert model.prediction_cost_ == pytest.approx(mean, rel=1e-7, abs=1e-300)
    assert model.total_cost_ == pytest.approx(owned + mean, rel=1e-7, abs=1e-300)
    history = model.history_
    assert (np.diff(history["prediction_price"]) >= 0).all()
    assert history["prediction_price"][0] == history["price_paid"][0] == 0


@pytest.mark.parametrize("family", sorted(FAMILIES))
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_what_was_paid_is_what_predictions_cost(family, seed):
    X, y, weights, name, options = table(family, seed)
    rng = np.random.default_rng(seed)
    options.row_prices = rng.choice([1.0, 0.5, 0.0, 3.0], X.shape[1]).tolist()
    options.subsample, options.max_iter = float(rng.choice([1.0, 0.6])), 6
    options.mu = float(rng.choice([1e-3, 0.01, 0.03]))
    core, expected = quietly(lambda: fit_both(X, y, weights, name, options))
    assert_same(core, expected, X)
    once = [1.0] * X.shape[1] if options.prices is None else options.prices
    used = X if weights is None else X[weights > 0]
    assert_paid(core, used, None if weights is None else weights[weights > 0], once)
    assert core.total_cost_ <= options.budget * (1 + 1e-9)


def test_the_order_of_classes_decides_nothing():
    """Trees that grow best first, with twin offers in two of them: what comes below the one makes others cheaper."""
    check(table("best_first", 1230))


@pytest.mark.parametrize("stop", [0, 1, 3, 7])
def test_the_history_is_that_of_shorter_fits(stop):
    X, y = made()
    history = GBFSRegressor(1e-3, costs=PerRow(0.7), max_iter=8).fit(X, y).history_
    if stop:
        short = GBFSRegressor(1e-3, costs=PerRow(0.7), max_iter=stop).fit(X, y)
        assert history["prediction_price"][stop] == short.prediction_cost_ == short.total_cost_


def test_easy_rows_stay_cheap():
    X, y = made(2000)
    settings = {"mu": 3e-3, "max_iter": 60, "max_depth": 3}
    model = GBFSRegressor(costs=PerRow(1.0), **settings).fit(X, y)
    once = GBFSRegressor(costs=Prices(1.0), **settings).fit(X, y)
    cost, easy = model.prediction_cost(X), np.nan_to_num(X[:, 0]) > -0.4
    assert cost[easy].mean() < 1.5 < 2 < cost[~easy].mean()
    assert once.prediction_cost(X)[easy].mean() > 1.3 * cost[easy].mean()
    assert model.score(X, y) > once.score(X, y) - 0.02 > 0.9


SETTINGS = {
    "plain": {},
    "some rows": {"subsample": 0.5},
    "best first": {"max_leaf_nodes": 5},
    "lines": {"base": "lines"},
    "both": {"base": "both", "subsample": 0.7},
    "columns": {"max_features": 0.5},
    "offered": {"new_features": 0.5},
    "bags": {"costs": PerRow([1, 2, 0, 1, 1, 1]) + Bags([0, 0, 1, 1, 2, 2])},
    "budget": {"budget": 2.0},
    "function": {"costs": PerRow(0.5) + Function(lambda owned, last, prices: 2 * prices)},
    "early": {"early_stopping": True, "validation_fraction": 0.3},
}


@pytest.mark.parametrize("bins_again", [False, True])
@pytest.mark.parametrize("name", SETTINGS)
def test_a_continued_fit_is_one_long_fit(name, bins_again, tmp_path):
    X, y = made()
    options = {"mu": 1e-3, "costs": PerRow(0.5), "min_samples_leaf": 5, "random_state": 3} | SETTINGS[name]
    labels = np.digitize(y, [0.0, 1.0])
    for kind, target in ((GBFSRegressor, y), (GBFSClassifier, labels)):
        long = quietly(lambda: kind(**options, max_iter=13).fit(X, target))  # noqa: B023
        short = quietly(lambda: kind(**options, max_iter=5, warm_start=True).fit(X, target))  # noqa: B023
        if bins_again:
            path = tmp_path / "model.frugal"
            short.save(path)
            short = load(path).set_params(costs=options["costs"])
        quietly(lambda: short.set_params(max_iter=13).fit(X, target))  # noqa: B023
        for part in ("ensemble", "purchases", "curve"):
            assert_same_bytes(getattr(short._model, part), getattr(long._model, part))


def test_a_model_without_prices_per_row_can_be_continued_with_them():
    """Its trees have looked already; so what rows have looked at costs them nothing more."""
    X, y = made()
    model = GBFSRegressor(1e-3, costs=Prices(0.0), max_iter=5, warm_start=True).fit(X, y)
    model.set_params(costs=PerRow(1.0), max_iter=10, mu=10.0).fit(X, y)
    assert model.total_cost_ == pytest.approx(model.prediction_cost(X).mean())
    assert model.history_["n_features"][5] == model.history_["n_features"][10]


@pytest.mark.parametrize("kind", ["dense", "sparse", "categories"])
def test_threads_order_and_layout_change_nothing(kind):
    rng = np.random.default_rng(1)
    X, y = made(3000, 12, seed=1)
    if kind == "sparse":
        X = np.where(rng.random(X.shape) < 0.15, np.nan_to_num(X), 0.0)
        y = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + 0.1 * rng.normal(size=len(y))
    frame = pd.DataFrame(X)
    if kind == "categories":
        frame[0] = pd.Categorical(np.nan_to_num(X[:, 0]).round().astype(int))
    else:
        frame = X
    labels = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    options = {"mu": 1e-3, "costs": PerRow(0.5) + Prices(0.3), "max_iter": 12, "subsample": 0.6, "random_state": 0}
    first = GBFSClassifier(**options, n_jobs=1, screening="off").fit(frame, labels)
    for screening in ("off", "exact", "auto"):
        for threads in (1, 2, 5):
            other = GBFSClassifier(**options, n_jobs=threads, screening=screening).fit(frame, labels)
            assert_same_bytes(other._model.ensemble, first._model.ensemble)
            assert_same_bytes(other._model.curve, first._model.curve)
    if kind == "sparse":
        other = GBFSClassifier(**options).fit(sparse.csr_array(X), labels)
        assert_same_bytes(other._model.ensemble, first._model.ensemble)
    if kind == "dense":
        other = GBFSClassifier(**options).fit(np.asfortranarray(X), labels)
        assert_same_bytes(other._model.ensemble, first._model.ensemble)
        with ThreadPoolExecutor(2) as pool:
            side_by_side = pool.map(lambda _: GBFSClassifier(**options).fit(X, labels), range(2))
            for other in side_by_side:
                assert_same_bytes(other._model.ensemble, first._model.ensemble)


def test_equal_rows_are_kept_once_with_their_weight():
    X, y = made(300)
    many = np.tile(X, (50, 1)), np.tile(y.round(1), 50)
    options = {"mu": 1e-3, "costs": PerRow(0.5), "max_iter": 15, "min_samples_leaf": 50}
    merged = GBFSRegressor(**options).fit(*many)
    weighted = GBFSRegressor(**options).fit(X, y.round(1), sample_weight=np.full(len(y), 50.0))
    assert_same_bytes(merged._model.ensemble, weighted._model.ensemble)
    assert merged.total_cost_ == weighted.total_cost_
    assert_paid(merged, X)


@pytest.mark.parametrize("budget", [0.0, 0.3, 1.0, 2.5])
@pytest.mark.parametrize("classes", [False, True])
def test_a_budget_limits_what_rows_and_features_cost_together(budget, classes):
    X, y = made(1000)
    kind, target = (GBFSClassifier, np.digitize(y, [0.0, 1.0])) if classes else (GBFSRegressor, y)
    model = quietly(lambda: kind(1e-6, costs=PerRow(0.8) + Prices(0.1), budget=budget, max_iter=40).fit(X, target))
    assert model.total_cost_ <= budget * (1 + 1e-9)
    assert_paid(model, X, once=[0.1] * X.shape[1])
    if budget >= 1:  # a first split, which all rows look at, costs 0.9
        assert model.total_cost_ > 0.6 * budget


def test_mu_max_is_the_least_mu_at_which_nothing_is_bought():
    X, y = made()
    costs = PerRow([1, 2, 0.5, 1, 1, 3]) + Prices(0.5)
    top = GBFSRegressor(0.01, costs=costs, max_iter=1).fit(X, y).mu_max_
    nothing = quietly(lambda: GBFSRegressor(top, costs=costs, max_iter=3).fit(X, y))
    assert nothing.n_features_selected_ == 0
    assert nothing.total_cost_ == 0
    assert GBFSRegressor(np.nextafter(top, 0), costs=costs, max_iter=3).fit(X, y).n_features_selected_ > 0


@pytest.mark.parametrize("price", [0.0, 1e-300, 1e-8, 1e8, 1e300])
def test_extreme_prices(price):
    X, y = made(200)
    model = quietly(lambda: GBFSRegressor(1e-3, costs=PerRow(price), max_iter=5).fit(X, y))
    assert_paid(model, X)
    assert np.isfinite(model.total_cost_)
    free = GBFSRegressor(1e-3, costs=Prices(0.0), max_iter=5).fit(X, y)
    if price <= 1e-300:
        assert_same_bytes(model._model.ensemble, free._model.ensemble)
    if price == 1e300:
        assert model.n_features_selected_ == 0
    scaled = quietly(lambda: GBFSRegressor(1e-3 * (price or 1), costs=PerRow(1.0), max_iter=5).fit(X, y))
    if price == 1e8:
        assert_same_bytes(model._model.ensemble, scaled._model.ensemble)


@pytest.mark.parametrize("stop", ["paid", "never"])
def test_what_is_never_sold_is_never_used(stop):
    X, y = made(200)
    model = GBFSRegressor(1e-4, costs=PerRow({0: np.inf}, never=[1]), max_iter=10, stop=stop).fit(X, y)
    assert not {0, 1} & set(model.selected_features_)
    huge = PerRow(1.5e308) + PerRow(1.5e308)  # more than any number
    assert quietly(lambda: GBFSRegressor(costs=huge, max_iter=2, stop=stop).fit(X, y)).n_features_selected_ == 0


@pytest.mark.parametrize("rows", [1, 2, 40])
def test_few_and_equal_rows(rows):
    X, y = np.ones((rows, 2)), np.ones(rows)
    model = quietly(lambda: GBFSRegressor(costs=PerRow(1.0), min_samples_leaf=1, max_iter=3).fit(X, y))
    assert model.total_cost_ == 0
    assert (model.prediction_cost(X) == 0).all()


def test_more_than_64_features_that_rows_pay_for():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, (200, 150)).astype(float)
    y = X @ rng.normal(size=150)
    options = reference.Options(mu=1e-6, row_prices=[0.5] * 150, prices=[0.0] * 150, max_iter=25, min_samples_leaf=5)
    model = GBFSRegressor(1e-6, costs=PerRow(0.5), max_iter=25, min_samples_leaf=5).fit(X, y)
    assert model.n_features_selected_ > 70
    assert_paid(model, X)
    assert options.row_prices == [0.5] * 150


def test_prices_of_features_stay_paid_once():
    """Where both are given, a prediction pays by row alone."""
    X, y = made()
    model = GBFSRegressor(1e-3, costs=PerRow(0.1) + Prices(100.0, most=2), mu_unit="absolute", max_iter=20).fit(X, y)
    assert model.total_cost_ == pytest.approx(200.0 + model.prediction_cost(X).mean())
    assert model.prediction_cost(X).max() <= 0.2 + 1e-12


@pytest.mark.parametrize("settings", [{"n_features_to_select": 2}, {"refit": True}, {"refit": True, "average": 3}])
def test_a_last_fit_still_pays_by_row(settings):
    X, y = made(800)
    options = {"mu": 3e-3, "costs": PerRow(1.0), "max_iter": 40, "early_stopping": True, "random_state": 0}
    model = GBFSRegressor(**options, **settings).fit(X, y, X_val=X[:200], y_val=y[:200])
    assert model.total_cost_ == pytest.approx(model.prediction_cost(X).mean())
    assert model.total_cost_ < model.n_features_selected_ - 0.05  # some rows never look at some features
    with pytest.raises(ValueError, match="budget=3 also limits what rows pay"):
        GBFSRegressor(**options, **settings, budget=3).fit(X, y, X_val=X, y_val=y)


def test_a_path_has_the_mean_price_of_a_prediction():
    X, y = made()
    path = gbfs_path(X, y, estimator=GBFSRegressor(costs=PerRow(1.0), max_iter=10), n_mus=4)
    for mu, price in zip(path.to_frame()["mu"], path.to_frame()["price"]):
        alone = quietly(lambda: GBFSRegressor(mu, costs=PerRow(1.0), max_iter=10).fit(X, y))  # noqa: B023
        assert alone.total_cost_ == price


def test_a_file_keeps_what_predictions_cost(tmp_path):
    X, y = made()
    costs = PerRow([1, 0.5, 2, 1, 0.25, 1], unit="ms") + Bags([0, 0, 1, 1, 2, 2])
    model = GBFSRegressor(1e-3, costs=costs, max_iter=10, warm_start=True).fit(X, y)
    model.save(tmp_path / "model.frugal")
    found = load(tmp_path / "model.frugal")
    np.testing.assert_array_equal(found.prediction_cost(X), model.prediction_cost(X))
    assert found.total_cost_ == model.total_cost_
    assert found.cost_unit_ == "ms"
    found.save(tmp_path / "again.frugal")
    np.testing.assert_array_equal(load(tmp_path / "again.frugal").prediction_cost(X), model.prediction_cost(X))
    with pytest.raises(ValueError, match="fitted with a price object"):
        found.set_params(max_iter=12).fit(X, y)


@pytest.mark.parametrize("before", [PerRow(5.0), PerRow([5, 1, 1, 1, 1, 0]), PerRow(5.0) + Prices(3.0)], ids=repr)
@pytest.mark.parametrize("form", ["fitted", "pickled", "file", "path"])
def test_prices_per_row_cannot_be_left_out_of_a_continued_fit(before, form, tmp_path):
    """Else what rows paid would be forgotten. With a new price, all rows pay it for all they look at."""
    X, y = made()
    model = GBFSRegressor(1e-3, costs=before, max_iter=5, warm_start=True)
    if form == "path":
        model = gbfs_path(X, y, estimator=model, mus=[1e-3]).estimators[0].set_params(warm_start=True)
    else:
        model.fit(X, y)
    if form == "pickled":
        model = pickle.loads(pickle.dumps(model))
    if form == "file":
        model.save(tmp_path / "model.frugal")
        model = load(tmp_path / "model.frugal")
    cost, predicted, history = model.total_cost_, model.predict(X), model.history_
    assert cost > 0
    others = [Prices(1.0), Bags([0, 0, 1, 1, 2, 2]), Function(lambda owned, last, prices: prices)]
    others += [] if form == "file" else [None, [1.0] * 6]  # which are an error in any case
    for costs in others:
        with pytest.raises(ValueError, match=r"prices per row.*can't be left out"):
            model.set_params(costs=costs, max_iter=8).fit(X, y)
        assert model.total_cost_ == cost
        assert model.history_ == history
        np.testing.assert_array_equal(model.predict(X), predicted)
    once = float(model._model.purchases.price.sum())
    for price in (2.0, 0.0):
        model.set_params(costs=PerRow(price), max_iter=model.max_iter + 3, mu=1e3).fit(X, y)  # nothing new is bought
        assert model.total_cost_ == pytest.approx(once + model.prediction_cost(X).mean())
        assert (model.prediction_cost(X).mean() > 0) == (price > 0)


SET_AGAIN = {
    "list": PerRow([1, 0.5, 2, 1, 0.25, 1]),
    "number": PerRow(0.5),
    "sum": Prices([3.0, 1, 2, 1, 1, 2]) + PerRow([1, 0.5, 2, 1, 0.25, 1]),
    "sum of floats": Prices([0.5] * 6) + PerRow([0.5] * 6),
    "other way round": PerRow([0.5] * 6) + Prices([1.0] * 6),
    "free": Prices([0.0] * 6) + PerRow([0.5] * 6),
    "bags": Bags([0, 0, 1, 1, 2, 2]) + PerRow([0.5] * 6),
    "without rows": Prices([3.0, 1, 2, 1, 1, 2]),
}


@pytest.mark.parametrize("name", SET_AGAIN)
def test_a_model_from_a_file_goes_on_with_the_prices_set_again(name, tmp_path):
    """Also with prices that equal those in the file; without prices set again it is an error, whatever they were."""
    X, y = made()
    options = {"mu": 1e-3, "min_samples_leaf": 5, "warm_start": True}
    costs = SET_AGAIN[name]
    long = GBFSRegressor(**options, costs=costs, max_iter=13).fit(X, y)
    GBFSRegressor(**options, costs=costs, max_iter=5).fit(X, y).save(tmp_path / "model.frugal")
    load(tmp_path / "model.frugal").save(tmp_path / "again.frugal")
    for path in ("model.frugal", "again.frugal"):
        found = load(tmp_path / path)
        for unset in (found, pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
            with pytest.raises(ValueError, match="fitted with a price object"):
                unset.set_params(max_iter=13).fit(X, y)
            again = eval(repr(costs)) if name != "bags" else costs  # an equal one
            found = unset.set_params(costs=again).fit(X, y)
            for part in ("ensemble", "purchases", "curve"):
                assert_same_bytes(getattr(found._model, part), getattr(long._model, part))
        found.set_params(max_iter=20).fit(X, y)  # once is enough


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PerRow(-1.0), "the price of every feature is -1"),
        (lambda: PerRow({"a": np.nan}), "the price of feature 'a' is nan"),
        (lambda: PerRow(free="abc"), "free must be a list"),
        (lambda: PerRow(1.0, unit="ms") + Prices(1.0, unit="euro"), "euro and ms can't be added"),
        (lambda: GBFSRegressor(costs=PerRow([1.0, 2.0])).fit(*made()), "6 prices are needed"),
        (lambda: GBFSRegressor(costs=PerRow({"b": 1.0})).fit(*made()), "columns of X have no names"),
    ],
)
def test_bad_prices_are_told(make, message):
    with pytest.raises(ValueError, match=message):
        make()
