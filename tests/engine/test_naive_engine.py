"""The fast engine and the plain one behind the same border: the same bytes of model."""

import warnings
from unittest import mock

import numpy as np
import pytest
from families import FAMILIES, table
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_engine import NaiveEngine
from own_losses import OwnSquare
from same_trees import assert_same
from test_families import assert_equal_models
from test_reference import fit_both, problems

from frugalboost import GBFSClassifier, GBFSRegressor, engines
from frugalboost.costs import Bags, Neighbours, PerRow

FEW = settings(max_examples=settings.default.max_examples // 5)


def on_both(fit):
    """What a fit gives on the fast engine, and on the plain one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fast = fit()
        with mock.patch.object(engines, "make_engine", NaiveEngine):
            return fast, fit()


def assert_same_history(fast, plain):
    assert_equal_models(fast, plain)
    for name in ("train_loss", "validation_loss", "n_features", "price_paid"):
        np.testing.assert_array_equal(fast.history_[name], plain.history_[name], err_msg=name)
    assert fast.stop_reason_ == plain.stop_reason_
    assert fast.best_iteration_ == plain.best_iteration_


@given(problems())
@FEW
def test_the_plain_engine_agrees_with_the_oracle_and_the_fast_one(problem):
    X, y, weights, name, options = problem
    fast, (plain, expected) = on_both(lambda: fit_both(X, y, weights, name, options))
    assert_same(plain, expected, X)
    assert_same_history(fast[0], plain)


@pytest.mark.slow
@pytest.mark.parametrize("family", sorted(FAMILIES))
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_families_on_the_plain_engine(family, seed):
    X, y, weights, name, options = table(family, seed)
    fast, (plain, _) = on_both(lambda: fit_both(X, y, weights, name, options))
    assert_same_history(fast[0], plain)


def test_scores_and_callbacks_on_the_plain_engine():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(80, 4)), 1)
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=80), [-0.5, 0.5])
    settings = {"max_iter": 9, "min_samples_leaf": 3, "scoring": "neg_log_loss", "subsample": 0.7, "max_features": 2}
    stop = [lambda state: state.iteration == 6]
    fast, plain = on_both(lambda: GBFSClassifier(**settings, callbacks=stop).fit(X, y, X_val=X, y_val=y))
    assert_same_history(fast, plain)
    assert fast.history_["validation_score"] == plain.history_["validation_score"]
    assert fast.stop_reason_ == "callback"


def small_table(seed, n=60, d=7):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n, d)).astype(float)
    X[rng.random((n, d)) < 0.1] = np.nan
    return X, (np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) * X.shape[1] + rng.normal(size=n))


SETTINGS = {
    "early stopping": {"early_stopping": True, "validation_fraction": 0.3, "max_iter": 30, "n_iter_no_change": 3},
    "sampled features": {"new_features": 0.4, "max_iter": 25},
    "bags": {"costs": Bags([0, 0, 1, 1, 2, 2, 2]), "max_iter": 8},
    "neighbours": {"costs": Neighbours([[0, 1], [1, 2], [2, 3], [5, 6]], discount=0.5), "max_iter": 8},
    "per row": {"costs": PerRow(0.5) + Bags([0, 0, 1, 1, 2, 2, 2]), "max_iter": 8, "mu": 0.01},
    "per row, some rows": {"costs": PerRow([1, 2, 0, 0.5, 1, 1, 1]), "subsample": 0.5, "max_iter": 12},
    "per row, best first": {"costs": PerRow(1.0), "subsample": 0.6, "max_leaf_nodes": 5, "max_iter": 12},
    "exactly two": {"n_features_to_select": 2, "max_iter": 5},
    "own loss": {"loss": OwnSquare(), "max_iter": 5},
    "screened": {"screening": "exact", "max_iter": 8},
}


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("base", ["trees", "both", "lines"])
def test_settings_on_the_plain_engine(name, base):
    X, y = small_table(3)
    options = {"mu": 1e-3, "min_samples_leaf": 3, "max_depth": 3, "random_state": 1, "base": base} | SETTINGS[name]
    assert_same_history(*on_both(lambda: GBFSRegressor(**options).fit(X, y)))


@pytest.mark.parametrize("costs", [None, PerRow(0.5)])
@pytest.mark.parametrize("base", ["trees", "both", "lines"])
def test_a_continued_fit_on_the_plain_engine(base, costs):
    X, y = small_table(4)

    def fit():
        settings = {"max_iter": 4, "min_samples_leaf": 3, "warm_start": True, "base": base, "costs": costs}
        model = GBFSClassifier(1e-3, **settings).fit(X, y > np.median(y))
        return model.set_params(max_iter=9).fit(X, y > np.median(y))

    assert_same_history(*on_both(fit))
