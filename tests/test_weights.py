"""A weight of k is k equal rows."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frugalboost import GBFSClassifier, GBFSRegressor, NothingBoughtWarning


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["class", "classes", "squared_error", "absolute_error", "huber", "quantile", "poisson"]),
)
def test_weight_k_is_the_row_k_times(seed, kind):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 80))
    X = np.round(rng.normal(size=(n, 4)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    score = np.nan_to_num(X[:, 0] - X[:, 1]) + 0.3 * rng.normal(size=n)
    if kind in ("class", "classes"):
        y = np.digitize(score, [0] if kind == "class" else [-0.5, 0.5])
        y[:3] = [0, 1, 2][: 3 if kind == "classes" else 2] if kind == "classes" else [0, 1, 0]
        make = GBFSClassifier
        settings = {}
    else:
        y, make, settings = np.floor(np.exp(score)) if kind == "poisson" else score, GBFSRegressor, {"loss": kind}
        y[0] = 1.0
    weights = rng.integers(0, 4, n)
    weights[:3] = 1
    settings |= {"max_iter": 5, "min_samples_leaf": 3, "mu": 0.003, "max_bins": int(rng.choice([255, 8]))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingBoughtWarning)
        weighted = make(**settings).fit(X, y, sample_weight=weights)
        repeated = make(**settings).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    for name in ("start", "feature", "threshold", "missing_left", "value", "gain", "weight"):
        np.testing.assert_array_equal(
            getattr(weighted._model.ensemble, name), getattr(repeated._model.ensemble, name), err_msg=name
        )
    assert list(weighted.selected_features_) == list(repeated.selected_features_)
    assert weighted.history_["bought"] == repeated.history_["bought"]
    assert weighted.mu_max_ == repeated.mu_max_


def test_weights_of_one_are_no_weights(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    plain = GBFSRegressor(max_iter=5).fit(X, y)
    ones = GBFSRegressor(max_iter=5).fit(X, y, sample_weight=np.ones(200))
    np.testing.assert_array_equal(plain.predict(X), ones.predict(X))


def test_light_weights_warn():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    with pytest.warns(NothingBoughtWarning, match=r"10 of total weight is less than two leaves.*Rescale sample_weight"):
        model = GBFSRegressor().fit(X, y, sample_weight=np.full(200, 0.05))
    assert model.n_features_selected_ == 0
    normalised = GBFSRegressor(mu=0.0, min_samples_leaf=0.05, max_iter=5).fit(X, y, sample_weight=np.full(200, 1 / 200))
    rows = GBFSRegressor(mu=0.0, min_samples_leaf=10, max_iter=5).fit(X, y)
    np.testing.assert_allclose(normalised.predict(X), rows.predict(X))


def test_class_weight_multiplies_sample_weight():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    weights = rng.integers(1, 4, 300)
    both = GBFSClassifier(max_iter=5, class_weight={0: 1, 1: 3}).fit(X, y, sample_weight=weights)
    product = GBFSClassifier(max_iter=5).fit(X, y, sample_weight=weights * np.where(y == 1, 3, 1))
    np.testing.assert_array_equal(both.predict_proba(X), product.predict_proba(X))
    balanced = GBFSClassifier(max_iter=5, class_weight="balanced").fit(X[:250], np.arange(250) % 5 == 0)
    assert abs(balanced._model.ensemble.start[0]) < 1e-4  # both classes weigh the same
