"""LightGBM as an outside check, and the failures of its CEGB that must not happen here."""

import lightgbm
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from frugalboost import GBFSClassifier, GBFSRegressor


def one_tree_of_lightgbm(X, y, weights, depth, min_samples_leaf):
    data = lightgbm.Dataset(X, y, weight=weights, params={"min_data_in_bin": 1, "max_bin": 255, "verbose": -1})
    return lightgbm.train(
        {
            "objective": "regression",
            "learning_rate": 1.0,
            "max_depth": depth,
            "num_leaves": 2**depth,
            "min_data_in_leaf": min_samples_leaf,
            "min_sum_hessian_in_leaf": 0.0,
            "num_threads": 1,
            "deterministic": True,
            "verbose": -1,
        },
        data,
        num_boost_round=1,
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("depth", [1, 3, 5])
def test_without_prices_the_tree_is_lightgbms(seed, depth):
    """Squared error: LightGBM's gain is the gradient criterion. 250 distinct values: both give each a bin."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.permutation(np.repeat(rng.normal(size=250), 8)) for _ in range(6)])
    if seed % 2:
        X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0] + np.sin(3 * X[:, 1]) * X[:, 2]) + 0.5 * rng.normal(size=2000)
    theirs = one_tree_of_lightgbm(X, y, None, depth, 20)
    ours = GBFSRegressor(0.0, max_depth=depth, max_iter=1, learning_rate=1.0, min_samples_leaf=20).fit(X, y)
    trees = ours._model.ensemble
    split = trees.feature >= 0
    table = theirs.trees_to_dataframe()
    table = table[table["split_gain"].notna()]
    assert sorted(trees.feature[split]) == sorted(int(f.split("_")[1]) for f in table["split_feature"])
    np.testing.assert_allclose(np.sort(2 * trees.gain[split]), np.sort(table["split_gain"]), rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-4, atol=1e-5)


def test_no_double_refund():
    """In the left node an owned feature gains more than the one just bought on the right; it must be taken.

    CEGB patches stored penalised gains after a purchase and then values the bought feature at raw gain plus price.
    """
    level = np.repeat([0, 1, 2, 3], 100)
    sensor = np.tile([0, 1], 200)
    y = np.where(level >= 2, 100.0 + 20 * sensor, 10.0 * (level == 1) + 4 * sensor)
    X = np.column_stack([level, sensor]).astype(float)
    settings = {"mu_unit": "absolute", "max_depth": 2, "max_iter": 1, "learning_rate": 1.0}
    model = GBFSRegressor(3000.0, **settings).fit(X, y)
    trees = model._model.ensemble
    assert model.selected_features_.tolist() == [0, 1]
    assert trees.feature[:3].tolist() == [0, 0, 1]  # root, left, right
    raw = GBFSRegressor(0.0, **settings).fit(X[level < 2][:, 1:], y[level < 2])._model.ensemble.gain[0]
    assert trees.gain[1] == pytest.approx(2500)
    assert raw == pytest.approx(400)
    assert raw < trees.gain[1] < raw + 3000  # a refund on top of the raw gain would have won


@pytest.mark.parametrize("mu", [0.0, 0.003])
def test_no_crash_with_leaves_of_one_row(mu):
    X, y = load_breast_cancer(return_X_y=True)
    model = GBFSClassifier(mu, min_samples_leaf=1, max_depth=None if mu else 6, max_iter=40).fit(X, y)
    assert model.score(X, y) == 1.0


def test_no_crash_with_leaves_of_one_row_on_spam(real_data):
    """The table on which LightGBM 4.7 stops with "Check failed: (best_split_info.left_count) > (0)"."""
    data = real_data("spam")
    model = GBFSClassifier(0.001, min_samples_leaf=1, max_iter=100).fit(data.X, data.y)
    assert 5 < model.n_features_selected_ < 57
    assert model.score(data.X, data.y) > 0.93
