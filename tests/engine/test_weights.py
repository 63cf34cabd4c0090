"""A weight of k is k equal rows."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from same_trees import arrays_of

from frugalboost import GBFSClassifier, GBFSRegressor, NothingBoughtWarning


@pytest.mark.slow
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(
        ["class", "classes", "squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"]
    ),
    st.sampled_from(["trees", "lines", "both"]),
)
def test_weight_k_is_the_row_k_times(seed, kind, base):
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
        if kind in ("gamma", "tweedie"):
            y = np.maximum(np.exp(score) - (0.5 if kind == "tweedie" else 0.0), 0.0)
        y[0] = 1.0
    weights = rng.integers(0, 4, n)
    weights[:3] = 1
    settings |= {"max_iter": 5, "min_samples_leaf": 3, "mu": 0.003, "max_bins": int(rng.choice([255, 8]))}
    settings |= {"base": base, "line_scale": str(rng.choice(["ranks", "values"]))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingBoughtWarning)
        weighted = make(**settings).fit(X, y, sample_weight=weights)
        repeated = make(**settings).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    found = arrays_of(repeated._model.ensemble)
    for name, expected in arrays_of(weighted._model.ensemble).items():
        np.testing.assert_array_equal(found[name], expected, err_msg=name)
    assert list(weighted.selected_features_) == list(repeated.selected_features_)
    assert weighted.history_["bought"] == repeated.history_["bought"]
    assert weighted.mu_max_ == repeated.mu_max_


def test_weights_of_one_are_no_weights(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    plain = GBFSRegressor(max_iter=5).fit(X, y)
    ones = GBFSRegressor(max_iter=5).fit(X, y, sample_weight=np.ones(200))
    np.testing.assert_array_equal(plain.predict(X), ones.predict(X))


@pytest.mark.parametrize("size", [1 / 200, 0.05, 0.3, 1e-300, 2.0**-985])
def test_weights_with_a_mean_below_one_are_relative(size):
    """AdaBoost's weights add up to 1: less than any leaf needs."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    settings = {"mu": 1e-3, "max_iter": 5}
    rows = GBFSRegressor(**settings).fit(X, y)
    equal = GBFSRegressor(**settings).fit(X, y, sample_weight=np.full(200, size))
    np.testing.assert_array_equal(equal.predict(X), rows.predict(X))
    weights = rng.integers(1, 5, 200).astype(float)
    weights *= 200 / weights.sum()
    mean_one = GBFSRegressor(**settings).fit(X, y, sample_weight=weights)
    shares = GBFSRegressor(**settings).fit(X, y, sample_weight=weights * size)
    assert list(shares.selected_features_) == list(mean_one.selected_features_) != []
    np.testing.assert_allclose(shares.predict(X), mean_one.predict(X), rtol=1e-6, atol=1e-9)


def test_relative_weights_depend_on_no_order_of_rows_and_not_on_rows_that_do_not_count():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(300, 3)), rng.normal(size=300), rng.random(300)
    settings = {"mu": 1e-3, "max_iter": 5}
    expected = GBFSRegressor(**settings).fit(X, y, sample_weight=weights).predict(X)
    order = rng.permutation(300)
    shuffled = GBFSRegressor(**settings).fit(X[order], y[order], sample_weight=weights[order])
    np.testing.assert_array_equal(shuffled.predict(X), expected)
    more = GBFSRegressor(**settings).fit(
        np.concatenate([X, X[:200] + 1]), np.concatenate([y, y[:200]]), sample_weight=np.r_[weights, np.zeros(200)]
    )
    np.testing.assert_array_equal(more.predict(X), expected)


def test_whole_numbers_are_numbers_of_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    weights = (np.arange(200) % 4 == 0).astype(float)  # a mean of 1/4
    with pytest.warns(NothingBoughtWarning, match=r"50 of total weight is less than two leaves.*Rescale sample_weight"):
        GBFSRegressor(min_samples_leaf=30).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("weights", ["none", "random", "equal", "balanced", "wide"])
def test_what_gains_nothing_is_not_bought(weights):
    """A split of a node of equal gradients gains exactly nothing, however heavy its rows are."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 20))
    y = (X[:, 0] > np.sort(X[:, 0])[300]).astype(int)
    given = {"random": rng.random(1000), "equal": np.full(1000, 0.3), "wide": 10.0 ** rng.uniform(-8, 8, 1000)}
    settings = {"max_iter": 5, "min_samples_leaf": 1e-9, "base": "trees"}
    settings["class_weight"] = "balanced" if weights == "balanced" else None
    for extra in ({"mu": 0}, {"n_features_to_select": 5}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # only two features gain anything
            model = GBFSClassifier(**settings, **extra).fit(X, y, sample_weight=given.get(weights))
        split = model._model.ensemble.feature >= 0
        assert model._model.ensemble.gain[split].min() > 1e-6
        assert model.n_features_selected_ <= 2


def test_class_weight_multiplies_sample_weight():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    weights = rng.integers(1, 4, 300)
    both = GBFSClassifier(max_iter=5, class_weight={0: 1, 1: 3}).fit(X, y, sample_weight=weights)
    product = GBFSClassifier(max_iter=5).fit(X, y, sample_weight=weights * np.where(y == 1, 3, 1))
    np.testing.assert_array_equal(both.predict_proba(X), product.predict_proba(X))
    balanced = GBFSClassifier(max_iter=5, class_weight="balanced").fit(X[:250], np.arange(250) % 5 == 0)
    assert abs(balanced._model.ensemble.start[0]) < 1e-4  # both classes weigh the same
