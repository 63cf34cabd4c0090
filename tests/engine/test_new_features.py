"""A tree may look at a sample of the features that are not owned."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from test_screening import assert_same

from frugalboost import GBFSClassifier, GBFSRegressor
from frugalboost.costs import Bags


@pytest.fixture(scope="module")
def wide():
    X, y = make_classification(400, 700, n_informative=12, n_redundant=0, shuffle=False, random_state=0)
    return X.astype(np.float32), y


def saved(model, tmp_path):
    model.save(tmp_path / "model.frugal")
    return (tmp_path / "model.frugal").read_bytes()


def test_the_sample_depends_on_the_seed_and_on_nothing_else(wide, tmp_path):
    X, y = wide
    settings = {"mu": 5e-3, "max_iter": 40, "new_features": 0.05}
    one = GBFSClassifier(**settings, random_state=3, n_jobs=1).fit(X, y)
    for n_jobs in (2, 7):
        assert saved(one, tmp_path) == saved(
            GBFSClassifier(**settings, random_state=3, n_jobs=n_jobs).fit(X, y), tmp_path
        )
    again = GBFSClassifier(**settings, random_state=3).fit(np.asfortranarray(X), y)
    assert saved(one, tmp_path) == saved(again, tmp_path)
    other = GBFSClassifier(**settings, random_state=4).fit(X, y)
    assert list(one.selected_features_) != list(other.selected_features_)
    unseeded = [GBFSClassifier(**settings).fit(X, y).selected_features_ for _ in range(2)]
    np.testing.assert_array_equal(*unseeded)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.02, 0.3, "auto"])
def test_screening_changes_nothing_with_a_sample(wide, share):
    X, y = wide
    assert_same(lambda **way: GBFSClassifier(5e-3, max_iter=40, new_features=share, **way), X, y)
    bags = Bags(np.arange(X.shape[1]) // 3)
    assert_same(lambda **way: GBFSClassifier(5e-3, max_iter=20, new_features=share, costs=bags, **way), X, y)
    listed = sparse.csc_array(np.where(np.abs(X) > 2.2, X, 0))
    assert_same(lambda **way: GBFSClassifier(1e-3, max_iter=20, new_features=share, **way), listed, y)


def test_all_of_them_are_the_model_without_a_sample(wide, tmp_path):
    X, y = wide
    X = X[:, :40]
    usual = GBFSClassifier(5e-3, max_iter=15).fit(X, y)
    for share in (1.0, 1):
        found = GBFSClassifier(5e-3, max_iter=15, new_features=share).fit(X, y)
        np.testing.assert_array_equal(found._model.ensemble.threshold, usual._model.ensemble.threshold)
        np.testing.assert_array_equal(found.predict_proba(X), usual.predict_proba(X))


def test_trees_between_two_looks_buy_only_what_was_drawn():
    """Of 600 equally good columns, few are certain: with another seed others are bought."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 600))
    y = X.sum(axis=1)
    bought = [
        set(GBFSRegressor(0, max_iter=3, new_features=0.02, random_state=s).fit(X, y).selected_features_)
        for s in range(4)
    ]
    assert len(set.union(*bought)) > 1.5 * max(map(len, bought))
    everything = GBFSRegressor(0, max_iter=3).fit(X, y).selected_features_
    assert set(everything[:8]) & bought[0]  # the first root looks at all


def test_nobody_is_excluded_for_good():
    """A column that gains nothing at the first root is bought when another has made it worth something."""
    rng = np.random.default_rng(0)
    X = (rng.random((2000, 400)) < 0.5).astype(float)
    X[:, 1:] += 0.01 * rng.normal(size=(2000, 399))
    y = np.where(X[:, 0] > 0.5, np.where(X[:, 7] > 0.5, 1.0, -1.0), np.where(X[:, 7] > 0.5, -1.0, 1.0)) + 0.3 * X[:, 0]
    model = GBFSRegressor(1e-2, max_iter=400, new_features=0.05, random_state=0).fit(X, y)
    assert {0, 7} <= set(model.selected_features_)


def test_a_fit_is_over_only_when_all_have_been_looked_at():
    """Where a tree's sample offers nothing that pays, the next root asks everybody."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 500))
    y = np.sign(X[:, 3]) + np.sign(X[:, 400])
    usual = GBFSRegressor(0.02, max_depth=1, max_iter=300).fit(X, y)
    sampled = GBFSRegressor(0.02, max_depth=1, max_iter=300, new_features=0.005, random_state=0).fit(X, y)
    assert set(usual.selected_features_) == set(sampled.selected_features_) == {3, 400}


def test_owned_features_are_always_looked_at(wide):
    """A refit on chosen features, and a fit that may buy nothing new, see all that is owned."""
    X, y = wide
    model = GBFSClassifier(5e-3, max_iter=40, new_features=0.02, n_features_to_select=6, random_state=0).fit(X, y)
    assert model.n_features_selected_ == 6
    assert set(np.flatnonzero(model.feature_importances_)) == set(model.selected_features_)


@pytest.mark.parametrize("bad", [0, -0.5, 1.5, "some", None])
def test_what_is_no_share_is_refused(wide, bad):
    X, y = wide
    with pytest.raises(ValueError, match="new_features"):
        GBFSClassifier(new_features=bad).fit(X[:, :5], y)


def test_a_file_keeps_the_setting(wide, tmp_path):
    X, y = wide
    model = GBFSClassifier(5e-3, max_iter=10, new_features=0.1, random_state=1).fit(X, y)
    model.save(tmp_path / "model.frugal")
    assert GBFSClassifier.load(tmp_path / "model.frugal").new_features == 0.1
