"""Bad input: one clear sentence, and everything as it was."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError

from frugalboost import GBFSClassifier, GBFSRegressor

X, y = load_breast_cancer(return_X_y=True)
FRAME, LABELS = load_breast_cancer(return_X_y=True, as_frame=True)


def spoiled(value):
    table = X.copy()
    table[3, 2] = value
    return table


def with_column(values):
    return FRAME.assign(extra=values)


CASES = [
    (lambda: (spoiled(np.inf), y, {}), ValueError, "infinity"),
    (lambda: (spoiled(-np.inf), y, {}), ValueError, "infinity"),
    (lambda: (np.empty((0, 3)), [], {}), ValueError, "0 sample"),
    (lambda: (np.empty((10, 0)), np.arange(10) % 2, {}), ValueError, r"0 feature\(s\)"),
    (lambda: (X[:, 0], y, {}), ValueError, "Expected 2D array, got 1D"),
    (lambda: (X[None], y, {}), ValueError, "dim 3"),
    (lambda: (X, np.zeros(len(y)), {}), ValueError, "only one class, 0.0; a classifier needs at least two classes"),
    (lambda: (X, np.where(np.arange(len(y)) == 5, np.nan, y), {}), ValueError, "NaN"),
    (lambda: (X, y[:-1], {}), ValueError, "inconsistent numbers of samples"),
    (lambda: (X, np.linspace(0, 1, len(y)), {}), ValueError, "continuous"),
    (lambda: (X, np.column_stack([y, y]), {}), ValueError, "1d array|multilabel|y should be"),
    (lambda: (X, y, {"sample_weight": np.ones(5)}), ValueError, "sample_weight"),
    (lambda: (X, y, {"sample_weight": -np.ones(len(y))}), ValueError, "sample_weight has negative values"),
    (lambda: (X, y, {"sample_weight": np.full(len(y), np.nan)}), ValueError, "NaN"),
    (lambda: (X, y, {"sample_weight": np.zeros(len(y))}), ValueError, "at least one (row must count|non-zero)"),
    (lambda: (X, y, {"sample_weight": np.full(len(y), 1e308)}), ValueError, "Rescale them"),
    (lambda: (X, y, {"sample_weight": y}), ValueError, "Only one class has rows with a positive weight"),
    (lambda: (X, y, {"X_val": X}), ValueError, "X_val and y_val belong together"),
    (lambda: (X, y, {"sample_weight_val": y}), ValueError, "without X_val and y_val"),
    (lambda: (X, y, {"X_val": X[:, :3], "y_val": y}), ValueError, "3 features, but .* is expecting 30"),
    (lambda: (X, y, {"X_val": X, "y_val": y + 5}), ValueError, "label 5, which is not among the classes"),
    (lambda: (X, y, {"X_val": X, "y_val": np.where(y, y, np.nan)}), ValueError, "y_val: .*NaN"),
    (lambda: (X, y, {"X_val": X, "y_val": y, "sample_weight_val": y * 0}), ValueError, "sample_weight_val"),
    (lambda: (pl.DataFrame(X).lazy(), y, {}), TypeError, r"lazy frame. Call its method collect\(\)"),
    (lambda: (with_column(pd.period_range("2020", periods=len(y), freq="D")), y, {}), ValueError, "column 'extra'"),
    (lambda: (X, y, {"X_val": X, "y_val": y[:4]}), ValueError, "inconsistent numbers of samples"),
    (lambda: (with_column("red"), y, {}), ValueError, r"column 'extra' holds .*categorical_features=\['extra'\]"),
    (lambda: (with_column(pd.Timestamp("2020-01-01")), y, {}), ValueError, "column 'extra' holds Datetime"),
    (lambda: (with_column([[1]] * len(y)), y, {}), ValueError, "column 'extra'"),
    (lambda: (pl.DataFrame({"a": ["x"] * 10}), [0, 1] * 5, {}), ValueError, "column 'a' holds String"),
    (lambda: (pl.DataFrame({"a": [[1]] * 10}), [0, 1] * 5, {}), ValueError, "column 'a' holds List"),
    (lambda: (np.array([["a"], ["b"]]), [0, 1], {}), ValueError, "could not convert string|strings"),
    (lambda: (X + 1j, y, {}), ValueError, "[Cc]omplex"),
]


@pytest.mark.parametrize(("make", "error", "message"), CASES)
def test_bad_tables_and_targets(make, error, message):
    table, target, more = make()
    model = GBFSClassifier(0.05, max_iter=3).fit(FRAME, LABELS)
    before = dict(vars(model))
    with pytest.raises(error, match=message):
        model.fit(table, target, **more)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: (spoiled(np.inf), y, {}), ValueError, "infinity"),
        (lambda: (X, np.where(np.arange(len(y)) == 5, np.nan, y), {}), ValueError, "NaN"),
        (lambda: (X, np.where(np.arange(len(y)) == 5, np.inf, y), {}), ValueError, "infinity"),
        (lambda: (X, y[:-1], {}), ValueError, "inconsistent numbers of samples"),
        (lambda: (X, np.array(["a"] * len(y)), {}), ValueError, "string|numeric"),
        (lambda: (X, y, {"sample_weight": -np.ones(len(y))}), ValueError, "sample_weight has negative values"),
        (lambda: (with_column("red"), y, {}), ValueError, "column 'extra'"),
    ],
)
def test_bad_tables_and_targets_of_a_regressor(make, error, message):
    table, target, more = make()
    model = GBFSRegressor(0.05, max_iter=3).fit(FRAME, LABELS)
    before = dict(vars(model))
    with pytest.raises(error, match=message):
        model.fit(table, target, **more)
    assert all(vars(model)[name] is value for name, value in before.items())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mu": -1}, "'mu' parameter"),
        ({"mu": np.nan}, "'mu' parameter"),
        ({"mu_unit": "euro"}, "'mu_unit' parameter"),
        ({"budget": -1}, "'budget' parameter"),
        ({"learning_rate": 0}, "'learning_rate' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"max_depth": 0}, "'max_depth' parameter"),
        ({"min_samples_leaf": -1}, "'min_samples_leaf' parameter"),
        ({"max_bins": 256}, "'max_bins' parameter"),
        ({"leaf_values": "median"}, "'leaf_values' parameter"),
        ({"init": 1}, "'init' parameter"),
        ({"stop": "soon"}, "'stop' parameter"),
        ({"early_stopping": "auto"}, "'early_stopping' parameter"),
        ({"validation_fraction": 1.0}, "'validation_fraction' parameter"),
        ({"class_weight": "heavy"}, "'class_weight' parameter"),
        ({"loss": "hinge"}, "loss='hinge' is not known here"),
        ({"loss": 3}, "'loss' parameter"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"n_jobs": 1.5}, "'n_jobs' parameter"),
        ({"costs": [1.0, 2.0]}, r"30 prices are needed, one for each feature; got shape \(2,\)"),
        ({"costs": [-1.0] + [1.0] * 29}, "price of feature number 0 is -1"),
        ({"costs": [1.0] * 29 + [np.nan]}, "price of feature number 29 is nan"),
        ({"costs": ["cheap"] * 30}, "price of feature number 0 is 'cheap', not a number"),
        ({"costs": {"age": 1.0}}, "feature 'age' is given by name, but the columns of X have no names"),
        ({"costs": 5}, "'costs' parameter"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        GBFSClassifier(**settings).fit(X, y)


def test_bad_prices_by_name():
    with pytest.raises(ValueError, match=r"X has no feature 'worst radios'. Did you mean 'worst radius'\?"):
        GBFSClassifier(costs={"worst radios": 2.0}).fit(FRAME, y)
    with pytest.raises(ValueError, match="price of feature 'worst radius' is -2"):
        GBFSClassifier(costs={"worst radius": -2.0}).fit(FRAME, y)
    with pytest.raises(ValueError, match="price of feature 'worst radius' is 'high', not a number"):
        GBFSClassifier(costs={"worst radius": "high"}).fit(FRAME, y)


def test_bad_input_to_predict():
    model = GBFSClassifier(0.05, max_iter=3)
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        model.save("nowhere")
    model.fit(FRAME, y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(FRAME.rename(columns={"worst radius": "radius"}))
    with pytest.raises(ValueError, match="29 features, but GBFSClassifier is expecting 30"):
        model.predict(X[:, 1:])
    table = X.copy()
    table[300, model.selected_features_[0]] = np.inf
    with pytest.raises(ValueError, match=f"infinity, in column {model.selected_features_[0]}"):
        model.predict(table)
    table = X.copy()
    table[300, ~model.support_] = np.inf  # nobody looks there
    np.testing.assert_array_equal(model.predict(table), model.predict(X))


def test_bad_continuation():
    named = GBFSClassifier(0.01, warm_start=True, max_iter=10).fit(FRAME, y)
    with pytest.raises(ValueError, match="other feature names, or in another order"):
        named.set_params(max_iter=20).fit(FRAME[FRAME.columns[::-1]], y)
    number = GBFSRegressor(0.01, warm_start=True, max_iter=10).fit(X, y)
    with pytest.raises(ValueError, match=r"was fitted with loss=SquaredError\(\), not Poisson\(\)"):
        number.set_params(loss="poisson", max_iter=20).fit(X, y)
    model = GBFSClassifier(0.01, warm_start=True, max_iter=10).fit(X, y)
    with pytest.raises(ValueError, match="another number of features, classes or targets"):
        model.fit(X[:, :5], y)
    with pytest.raises(ValueError, match="10 iterations already; max_iter=5 must not be smaller"):
        model.set_params(max_iter=5).fit(X, y)


def test_early_stopping_needs_rows():
    with pytest.raises(ValueError, match="early_stopping: 3 rows can't be split"):
        GBFSClassifier(early_stopping=True).fit(X[:3], [0, 1, 1])


def test_numbers_too_large_to_square():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="Rescale y"):
        GBFSRegressor().fit(rng.normal(size=(100, 2)), rng.normal(size=100) * 1e300)
    for small in (1e-200, 1e-154, 1e-140):
        with pytest.raises(ValueError, match="too small to be squared"):
            GBFSRegressor(max_iter=3).fit(np.arange(100.0)[:, None], np.arange(100) * small)
    for loss in ("absolute_error", "huber", "squared_error"):
        with pytest.raises(ValueError, match=r"y has values from -1e\+308 to 1e\+308.*Rescale y"):
            GBFSRegressor(loss=loss).fit(rng.normal(size=(100, 2)), np.where(rng.random(100) < 0.5, 1e308, -1e308))


@pytest.mark.parametrize("size", [1e-130, 1e-60, 1e-8, 1e8, 1e60, 1e130])
def test_the_scale_of_y_changes_nothing(size):
    """Not what is bought, nor mu_max, nor the trees but for their scale."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.normal(size=400)
    one, other = (GBFSRegressor(max_iter=20).fit(X, y * s) for s in (1.0, size))
    assert list(one.selected_features_) == list(other.selected_features_)
    assert other.mu_max_ == pytest.approx(one.mu_max_, rel=1e-6)
    np.testing.assert_allclose(other.predict(X), one.predict(X) * size, rtol=1e-5)


def test_numbers_too_large_for_the_core_are_no_limit():
    model = GBFSClassifier(
        0.05, max_depth=10**10, n_iter_no_change=10**10, early_stopping=True, max_iter=3, n_jobs=10**10
    )
    assert model.fit(X, y).n_iter_ == 3
    free = np.ones(30)
    free[:15] = 0.0
    assert GBFSClassifier(1e308, costs=free, max_iter=3).fit(X, y).n_features_selected_ > 0
    expensive = GBFSRegressor(costs=np.full(30, 1.7e308), max_iter=1, mu=0.0).fit(X, y * 1e-6)
    assert expensive.mu_max_ >= 0


def test_validation_counts_must_not_be_negative():
    with pytest.raises(ValueError, match="needs y_val >= 0, and y_val has negative values"):
        GBFSRegressor(loss="poisson").fit(X, y, X_val=X, y_val=y - 1.0)


def test_unaligned_tables_are_read():
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)
    table = raw[1:].view(np.float64).reshape(X.shape)
    table[:] = X
    assert not table.flags.aligned
    np.testing.assert_array_equal(
        GBFSClassifier(max_iter=3).fit(table, y).predict_proba(table),
        GBFSClassifier(max_iter=3).fit(X, y).predict_proba(X),
    )
