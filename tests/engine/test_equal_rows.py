"""Equal rows are kept once, and two-valued columns are summed eight at a time: the model is the same."""

import numpy as np
import pytest
from same_trees import arrays_of
from scipy import sparse

from frugalboost import GBFSClassifier, GBFSRegressor


def same_trees(a, b):
    found = arrays_of(a._model.ensemble)
    for name, expected in arrays_of(b._model.ensemble).items():
        np.testing.assert_array_equal(found[name], expected, err_msg=name)
    assert list(a.selected_features_) == list(b.selected_features_)
    assert a.mu_max_ == b.mu_max_


def distinct(rows, rng):
    """Columns of many values, of two, and nearly all zero; some values are missing."""
    X = np.column_stack(
        [
            rng.normal(size=(rows, 4)),
            rng.random((rows, 10)) < 0.3,
            np.where(rng.random((rows, 3)) < 0.03, rng.normal(size=(rows, 3)), 0.0),
        ]
    )
    X[rng.random(rows) < 0.05, 1] = np.nan
    return X, np.nan_to_num(X[:, 0] + X[:, 1]) + X[:, 4] + 4 * X[:, 14] + 0.5 * rng.normal(size=rows)


@pytest.mark.parametrize("kind", ["class", "classes", "squared_error", "quantile"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("base", ["trees", "lines", "both"])
def test_repeated_rows_give_the_model_of_weighted_rows(kind, form, base):
    rng = np.random.default_rng(0)
    X, score = distinct(900, rng)
    if form is not np.asarray:
        X = np.nan_to_num(X)
    if kind in ("class", "classes"):
        y, make, settings = np.digitize(score, [0.0] if kind == "class" else [-0.5, 1.0]), GBFSClassifier, {}
    else:
        y, make, settings = score, GBFSRegressor, {"loss": kind}
    weights = rng.integers(1, 40, len(y))
    order = rng.permutation(weights.sum())
    settings |= {"mu": 1e-3, "max_iter": 12, "min_samples_leaf": 15, "base": base}
    repeated_X, repeated_y = np.repeat(X, weights, axis=0)[order], np.repeat(y, weights)[order]
    assert len(repeated_y) > 10_000  # fewer are not looked through
    weighted = make(**settings).fit(form(X), y, sample_weight=weights)
    repeated = make(**settings).fit(form(repeated_X), repeated_y)
    same_trees(weighted, repeated)
    np.testing.assert_allclose(weighted.history_["train_loss"], repeated.history_["train_loss"], rtol=1e-12)


def test_rows_that_differ_in_one_bin_or_in_y_stay_apart():
    rng = np.random.default_rng(1)
    X, score = distinct(500, rng)
    X, y = np.tile(X, (24, 1)), np.tile(score, 24)
    X[::24, 16] += rng.normal(size=len(X[::24]))  # a sparse column
    X[1::24, 5] = 1 - X[1::24, 5]
    y[2::24] += rng.normal(size=len(y[2::24]))
    settings = {"mu": 1e-4, "max_iter": 15, "max_depth": 6}
    merged = GBFSRegressor(**settings).fit(X, y)
    apart = GBFSRegressor(**settings, loss=Squared()).fit(X, y)  # such a loss is shown every row
    for name in ("feature", "threshold", "weight"):
        np.testing.assert_array_equal(getattr(merged._model.ensemble, name), getattr(apart._model.ensemble, name))
    np.testing.assert_allclose(merged.predict(X), apart.predict(X))


class Squared:
    """Squared error, written by a user."""

    rows = 0

    def start(self, y, sample_weight):
        return np.average(y, weights=sample_weight)

    def gradient(self, y, raw):
        Squared.rows = len(y)
        return raw - y

    def curvature(self, y, raw):
        return np.ones_like(y)

    def inverse_link(self, raw):
        return raw


def test_a_loss_written_in_python_sees_every_row():
    X, score = distinct(500, np.random.default_rng(2))
    GBFSRegressor(max_iter=2, loss=Squared()).fit(np.tile(X, (24, 1)), np.tile(score, 24))
    assert Squared.rows == 24 * 500


@pytest.mark.parametrize("base", ["trees", "lines", "both"])
def test_a_continued_fit_on_equal_rows(base):
    X, score = distinct(500, np.random.default_rng(3))
    X, y = np.tile(X, (24, 1)), np.tile(score, 24)
    twice = GBFSRegressor(1e-3, max_iter=5, warm_start=True, base=base).fit(X, y).set_params(max_iter=11).fit(X, y)
    same_trees(twice, GBFSRegressor(1e-3, max_iter=11, base=base).fit(X, y))


@pytest.mark.parametrize("weighted", [False, True])
def test_two_valued_columns_give_the_model_of_the_same_columns_among_others(weighted):
    """Between columns of more values they are summed one by one."""
    rng = np.random.default_rng(4)
    bits = (rng.random((3000, 21)) < rng.uniform(0.03, 0.6, 21)).astype(float)
    y = bits[:, :5] @ [1.0, -2.0, 1.5, 0.5, 1.0] + bits[:, 5] * bits[:, 6] + 0.3 * rng.normal(size=3000)
    noise = rng.normal(size=(3000, 21))
    mixed = np.empty((3000, 42))
    mixed[:, ::2], mixed[:, 1::2] = bits, noise
    prices = np.where(np.arange(42) % 2, np.inf, 1.0)
    weights = rng.random(3000) if weighted else None
    settings = {"mu": 1e-4, "max_iter": 20}
    alone = GBFSRegressor(**settings).fit(bits, y, sample_weight=weights)
    among = GBFSRegressor(**settings, costs=prices).fit(mixed, y, sample_weight=weights)
    assert list(2 * alone.selected_features_) == list(among.selected_features_)
    np.testing.assert_array_equal(alone.predict(bits), among.predict(mixed))
