"""Whatever is proved and skipped, the model is the same."""

import warnings
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_trees import arrays_of, assert_same_bytes
from scipy import sparse
from test_reference import problems

from frugalboost import GBFSClassifier, GBFSRegressor, _core
from frugalboost.costs import Bags, Neighbours, PerRow, Prices

WAYS = ("off", "exact", "auto")
PRICES = ("plain", "bags", "neighbours", "function", "per row", "per row, bags")


def assert_same(make, X, y, **fit):
    """The same bytes for all ways of screening; returns one of the models."""
    models = []
    for way in WAYS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            models.append(make(screening=way).fit(X, y, **fit))
    first = models[0]._model
    for way, model in zip(WAYS[1:], models[1:]):
        for part in ("ensemble", "purchases", "curve"):
            found = arrays_of(getattr(model._model, part))
            for name, expected in arrays_of(getattr(first, part)).items():
                np.testing.assert_array_equal(found[name], expected, err_msg=f"{way}: {part}.{name}")
        assert model.mu_max_ == models[0].mu_max_
    return models[0]


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples // 2)
@given(problems(), st.sampled_from(PRICES))
def test_screening_changes_nothing_on_small_tables(problem, prices):
    X, y, weights, name, options = problem
    d = X.shape[1]
    costs = {
        "plain": options.prices,
        "bags": Bags([f"bag {i % 3}" for i in range(d)]),
        "neighbours": Neighbours((d,), discount=0.3),
        "function": lambda owned, last, prices: np.where(np.arange(d) > last, prices * 0.5, prices),
        "per row": Prices([1.0] * d if options.prices is None else options.prices) + PerRow(np.arange(d) % 3 * 0.7),
        "per row, bags": Bags([f"bag {i % 3}" for i in range(d)]) + PerRow(0.5),
    }[prices]
    kind = GBFSClassifier if name in ("log_loss", "multinomial") else GBFSRegressor

    def make(**way):
        return kind(
            options.mu,
            mu_unit=options.mu_unit,
            costs=costs,
            budget=None if np.isinf(options.budget) else options.budget,
            learning_rate=options.learning_rate,
            max_iter=3 * options.max_iter,
            max_depth=options.max_depth,
            min_samples_leaf=options.min_samples_leaf,
            max_bins=options.max_bins,
            stop=options.stop,
            categorical_features=list(options.categorical),
            base=options.base,
            line_scale=options.line_scale,
            **way,
        )

    assert_same(make, X, y, sample_weight=weights)


@pytest.mark.parametrize("columns", [2, 256])
def test_the_best_cut_of_levels_may_be_forbidden_and_then_allowed(columns):
    """A stale root gain bounds nothing where the order of levels, or a leaf that is too light, decides what is cut."""
    rare, heavy, light = 10, 1000, 20
    level = np.r_[np.zeros(rare), np.ones(heavy), np.full(light, 2)]
    z = np.r_[np.zeros(rare), (np.arange(heavy) % 7 < 2).astype(float), np.ones(light)]
    y = z + np.r_[np.full(rare, -100.0), np.zeros(heavy), np.full(light, -0.1)]
    noise = np.random.default_rng(0).normal(size=(len(y), columns - 2))
    settings = {"mu": 8000.0, "mu_unit": "absolute", "max_depth": 1, "learning_rate": 1.0, "max_iter": 5}
    costs = [1.0, 0.0] + [1.0] * (columns - 2)
    model = assert_same(
        lambda **way: GBFSRegressor(**settings, costs=costs, categorical_features=[0], **way),
        np.column_stack([level, z, noise]),
        y,
    )
    assert list(model.selected_features_) == [1, 0]


@settings(max_examples=settings.default.max_examples // 10)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 2.0**-53, 1e-9, 2.0**-27, 1e-6]),
    st.sampled_from(["squared_error", "absolute_error", "huber", "quantile"]),
    st.sampled_from(["zero", "prior"]),
)
def test_screening_of_gradients_just_below_a_power_of_two(seed, less, loss, init):
    """Squares of gradients at the very end of the grid, many thousands of them in one node."""
    rng = np.random.default_rng(seed)
    n = 6000
    X = np.column_stack([rng.integers(0, 2, (n, 3)), rng.random((n, 2))])
    y = (1 - less) * 2.0 ** rng.integers(-9, 9) * np.where((X[:, 0] == 1) | (X[:, 1] == 1), 1.0, -1.0)
    assert_same(lambda **way: GBFSRegressor(1e-3, loss=loss, init=init, max_iter=2, max_depth=3, **way), X, y)


def large(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    X[:, d // 2 :] = np.round(X[:, d // 2 :])
    X[rng.random(X.shape) < 0.02] = np.nan
    filled = np.nan_to_num(X)
    score = filled[:, 0] + filled[:, 1] * filled[:, 2] + np.sin(3 * filled[:, 3]) + 0.3 * filled[:, d - 1]
    return X, score + rng.normal(size=n)


@pytest.mark.slow
@pytest.mark.large
@pytest.mark.parametrize("mu", [3e-2, 3e-3, 3e-4, 0.0])
@pytest.mark.parametrize("depth", [2, 5])
def test_screening_with_a_sample(mu, depth):
    """Enough rows that a sample of them is used."""
    X, score = large(25_000, 30)
    model = assert_same(
        lambda **way: GBFSClassifier(mu, max_iter=25, max_depth=depth, **way), X, (score > 0).astype(int)
    )
    assert model.n_features_selected_ >= 1


@pytest.mark.slow
@pytest.mark.large
def test_screening_of_every_kind_of_table():
    X, score = large(22_000, 24)
    rng = np.random.default_rng(1)
    listed = np.where(rng.random((22_000, 40)) < 0.95, 0.0, rng.integers(1, 5, (22_000, 40)))
    listed[:, 3] = np.where((score > 1) & (rng.random(22_000) < 0.3), 1.0, 0.0)
    y = np.digitize(score, [-1, 1])
    settings = {"mu": 2e-3, "max_iter": 12}
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(24)])
    frame["kind"] = pd.Categorical(np.where(rng.random(22_000) < 0.2, "rare", np.where(score > 0, "up", "down")))
    assert_same(lambda **way: GBFSClassifier(**settings, **way), frame, y)
    for base in ("both", "lines"):
        model = assert_same(lambda base=base, **way: GBFSClassifier(**settings, base=base, **way), frame, y)
    assert (model._model.ensemble.line >= 0).any()
    assert (model._model.ensemble.feature < 0).all()
    assert_same(lambda **way: GBFSClassifier(**settings, **way), np.column_stack([X, listed]), y)
    assert_same(lambda **way: GBFSRegressor(**settings, **way), sparse.csr_array(listed), score)
    assert_same(lambda **way: GBFSRegressor(**settings, base="both", **way), sparse.csr_array(listed), score)
    weights = rng.random(22_000)
    assert_same(lambda **way: GBFSRegressor(**settings, **way), X, score, sample_weight=weights)
    bags = Bags([f"bag {i % 6}" for i in range(24)])
    assert_same(lambda **way: GBFSRegressor(**settings, costs=bags, **way), X, score)
    assert_same(lambda **way: GBFSRegressor(**settings, costs=Neighbours((4, 6)), budget=5, **way), X, score)
    assert_same(lambda **way: GBFSRegressor(2e-2, max_iter=12, stop="never", max_depth=3, **way), X, score)


@pytest.mark.slow
@pytest.mark.large
@pytest.mark.parametrize("name", ["adult", "spam", "pcmac", "colon", "mnist3vs8"])
def test_screening_on_real_data(name, real_data):
    data = real_data(name)
    X, y = data.X.astype(np.float32), data.y
    for mu in (1e-2, 5e-4):
        model = assert_same(lambda mu=mu, **way: GBFSClassifier(mu, max_iter=40, **way), X, y)
        assert model.n_features_selected_ > 1


@pytest.mark.large
@pytest.mark.parametrize("base", ["trees", "both"])
def test_a_continued_fit_is_screened_too(base):
    X, score = large(21_000, 20)
    models = {}
    for way in WAYS:
        model = GBFSRegressor(1e-3, max_iter=8, warm_start=True, screening=way, base=base).fit(X, score)
        models[way] = model.set_params(max_iter=16).fit(X, score).predict(X)
    long = GBFSRegressor(1e-3, max_iter=16, base=base).fit(X, score).predict(X)
    for found in models.values():
        np.testing.assert_array_equal(found, long)


def rare_value(seed):
    """The top value of column 1 is all that counts below the first split, and one row in 300 has it there."""
    n, rng = 100_000, np.random.default_rng(seed)
    rare = rng.choice(n, 100, replace=False)
    free = rng.random(n) < 0.3
    free[rare] = True
    column = rng.integers(0, 99, n).astype(float)
    column[rare] = 99
    y = np.zeros(n, dtype=int)
    y[rare] = 1
    y[rng.choice(np.flatnonzero(~free), 2000, replace=False)] = 1
    return np.column_stack([free, column, rng.random((n, 2))]), y


def at_its_price(**more):
    """What column 1 gains there is hardly more than its price."""
    costs = [0.0, 1.0, np.inf, np.inf]
    return GBFSClassifier(49.0, mu_unit="absolute", costs=costs, max_depth=2, max_iter=1, min_samples_leaf=20, **more)


def bins_of(X, y):
    with mock.patch.object(_core, "CpuEngine", wraps=_core.CpuEngine) as engine:
        at_its_price(screening="off").fit(X, y)
    return engine.call_args.kwargs["X"]


# Tables on which the sample, when it was the same for all of 100,000 rows, had none of the rare rows among those that a
# margin of half the range of gradients makes look like enough; and draws that have none of them there now.
@pytest.mark.large
@pytest.mark.parametrize(("table", "state"), [(6226, None), (18821, None), (0, 10953), (0, 11026)])
def test_rare_rows_that_the_sample_may_not_have(table, state):
    X, y = rare_value(table)
    model = assert_same(lambda **way: at_its_price(random_state=state, **way), X, y)
    assert model.selected_features_.tolist() == [0, 1]


@pytest.mark.large
def test_the_sample_follows_from_seed_and_data():
    X, y = rare_value(0)
    g = y - y.mean()
    n = len(y)

    def drawn(X=X, g=g, seed=0, threads=1):
        rows = _core.rows_to_sample(bins_of(X, y), np.ascontiguousarray(g), seed, threads)
        assert len(np.unique(rows)) == n // 4
        return rows

    first = drawn()
    np.testing.assert_array_equal(drawn(threads=3), first)
    chance = n / 16  # rows that two samples share, if nothing but chance decides
    moved = X.copy()
    moved[[0, 1], 2] = moved[[1, 0], 2]
    other_g = g.copy()
    other_g[0] = 0.5
    for rows in (drawn(seed=1), drawn(X=moved), drawn(g=other_g), n - 1 - drawn(X=X[::-1].copy(), g=g[::-1])):
        shared = len(np.intersect1d(rows, first))
        assert abs(shared - chance) < 0.05 * chance


@pytest.mark.slow
@pytest.mark.large
def test_a_sampled_fit_is_the_same_on_any_number_of_threads():
    X, score = large(100_000, 9)
    models = [GBFSRegressor(1e-3, max_iter=8, n_jobs=jobs, random_state=3).fit(X, score) for jobs in (1, 2, 5)]
    for model in models[1:]:
        assert_same_bytes(model._model.ensemble, models[0]._model.ensemble)
