"""Stability selection."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from frugalboost import GBFSClassifier, GBFSRegressor, StabilitySelection
from frugalboost.costs import Bags

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 30))
Y = X[:, 3] - X[:, 7] + 0.5 * RNG.normal(size=240)
QUICK = GBFSRegressor(max_iter=15)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([StabilitySelection(GBFSClassifier(max_iter=5), n_subsamples=4, n_mus=3)])
def test_check_estimator(estimator, check):
    """No expected failure is declared."""
    check(estimator)


@pytest.mark.slow
def test_what_matters_is_stable_and_the_rest_is_not():
    found = StabilitySelection(QUICK, n_subsamples=30, random_state=0).fit(X, Y)
    assert np.flatnonzero(found.support_).tolist() == [3, 7]
    assert found.frequency_[[3, 7]].min() > 0.9
    assert np.delete(found.frequency_, [3, 7]).max() < 0.6
    assert found.frequencies_.shape == (20, 30)
    assert (found.frequencies_ <= found.frequency_ + 1e-12).all()
    assert found.frequencies_[0].max() <= found.frequencies_[-1].max()
    assert found.transform(X).shape == (240, 2)


@pytest.mark.slow
def test_the_bound():
    found = StabilitySelection(QUICK, n_subsamples=20, threshold=0.8, max_false=2.0, random_state=0).fit(X, Y)
    q = found.n_features_per_subsample_
    assert found.error_bound_ == pytest.approx(q**2 / (0.6 * 30))
    assert q <= np.sqrt(2.0 * 0.6 * 30) + 1.5  # models at different mu need not be nested
    fixed = StabilitySelection(QUICK, n_subsamples=20, n_features=2, mus=[0.0], random_state=0).fit(X, Y)
    assert fixed.n_features_per_subsample_ == 2
    assert fixed.error_bound_ == pytest.approx(4 / (0.5 * 30))


@pytest.mark.slow
def test_false_selections_stay_below_the_bound():
    """Only noise: the mean number selected, over many tables, must not exceed the bound."""
    selected, bounds = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        noise, y = rng.normal(size=(100, 20)), rng.normal(size=100)
        found = StabilitySelection(QUICK, n_subsamples=20, n_features=3, n_mus=5, random_state=seed).fit(noise, y)
        selected.append(found.support_.sum())
        bounds.append(found.error_bound_)
    assert np.mean(selected) <= np.mean(bounds)


@pytest.mark.slow
def test_bags():
    bags = Bags([j // 3 for j in range(30)])
    found = StabilitySelection(clone(QUICK).set_params(costs=bags), n_subsamples=20, random_state=0).fit(X, Y)
    assert np.flatnonzero(found.bag_support_).tolist() == [1, 2]
    assert len(found.bag_frequency_) == 10 == len(found.bags_)
    assert found.bag_frequencies_.shape == (20, 10)
    assert (found.bag_frequency_ >= [found.frequency_[list(bag)].max() for bag in found.bags_]).all()
    assert found.error_bound_ == pytest.approx(found.n_features_per_subsample_**2 / (0.5 * 10))
    plain = StabilitySelection(QUICK, n_subsamples=4, random_state=0).fit(X, Y)
    assert plain.bag_frequency_ is None
    assert plain.bags_ is None


def test_of_bags_that_overlap_the_one_that_is_paid_counts():
    """Feature 3 lies in a dear bag and a cheap one: the ledger pays the cheap one, though the dear one comes first."""
    bags = Bags({"dear": [2, 3, 4], "cheap": [3, 5], "other": [7]}, prices={"dear": 5.0, "cheap": 0.5})
    model = clone(QUICK).set_params(costs=bags)
    found = StabilitySelection(model, n_subsamples=10, n_features=2, random_state=0).fit(X, Y)
    assert found.bag_frequency_[:3].tolist() == [0.0, 1.0, 1.0]
    assert found.bag_support_[:3].tolist() == [False, True, True]


def test_halves_are_complementary_and_have_the_distribution_of_y():
    y = np.arange(41) % 3 == 0
    model = StabilitySelection(GBFSClassifier(max_iter=2, min_samples_leaf=1), n_subsamples=6, random_state=0)
    halves = []

    class Spy(StabilitySelection):
        def _halves(self, task):
            halves.extend(super()._halves(task))
            return halves

    Spy(**model.get_params(deep=False)).fit(RNG.normal(size=(41, 2)), y)
    assert len(halves) == 6
    for a, b in zip(halves[::2], halves[1::2], strict=True):
        assert sorted([*a, *b]) == list(range(41))
        assert abs(len(a) - len(b)) <= 1
        assert abs(y[a].sum() - y[b].sum()) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 3])
def test_it_does_not_depend_on_the_number_of_threads(jobs):
    found = StabilitySelection(QUICK, n_subsamples=8, random_state=0, n_jobs=jobs).fit(X, Y)
    same = StabilitySelection(QUICK, n_subsamples=8, random_state=0, n_jobs=2).fit(np.asfortranarray(X), Y)
    np.testing.assert_array_equal(found.frequencies_, same.frequencies_)


def test_in_a_pipeline_with_names():
    table, y = load_breast_cancer(return_X_y=True, as_frame=True)
    stable = StabilitySelection(GBFSClassifier(max_iter=10), n_features=4, n_subsamples=10, random_state=0)
    pipeline = make_pipeline(stable.set_output(transform="pandas"), GBFSClassifier(max_iter=10)).fit(table, y)
    chosen = list(pipeline[0].get_feature_names_out())
    assert chosen == list(pipeline[1].feature_names_in_)
    assert "worst radius" in chosen or "worst perimeter" in chosen


def test_too_few_rows_is_said():
    with pytest.warns(UserWarning, match="Nothing was bought on any half"):
        found = StabilitySelection(GBFSRegressor(max_iter=2), n_subsamples=4, random_state=0).fit(X[:30], Y[:30])
    assert not found.support_.any()


def test_progress(capsys):
    StabilitySelection(QUICK, n_subsamples=4, random_state=0, verbose=1).fit(X, Y)
    assert "subsample 4/4" in capsys.readouterr().out


@pytest.mark.parametrize("settings", [{"threshold": 0.5}, {"n_subsamples": 1}, {"max_false": 0}, {"n_features": 0}])
def test_bad_settings_are_refused(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        StabilitySelection(QUICK, **settings).fit(X, Y)


@pytest.mark.slow
def test_no_more_is_bought_than_was_asked_for():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(200, 6))
    copies = np.repeat(base, 5, axis=1) + 0.3 * rng.normal(size=(200, 30))
    y = base[:, 0] + 0.7 * base[:, 1] + 0.5 * rng.normal(size=200)
    found = StabilitySelection(QUICK, n_features=2, n_subsamples=20, random_state=0).fit(copies, y)
    assert found.n_features_per_subsample_ <= 2
    assert (np.diff(found.frequencies_, axis=0) >= 0).all()
    default = StabilitySelection(QUICK, n_subsamples=20, random_state=0).fit(copies, y)
    assert default.error_bound_ <= default.max_false
    overlapping = Bags({"a": [0, 1, 2, 3], "b": [2, 3, 4, 5], "c": [6, 7], "d": [8, 9]})
    table = copies[:, :10]
    bags = StabilitySelection(clone(QUICK).set_params(costs=overlapping), n_features=1, n_subsamples=10, random_state=0)
    assert bags.fit(table, y).n_features_per_subsample_ <= 1


def test_a_bound_that_cant_be_kept_is_said():
    with pytest.warns(UserWarning, match=r"can't be as low as max_false=0\.1"):
        StabilitySelection(QUICK, max_false=0.1, n_subsamples=4, random_state=0).fit(X[:, [3, 7, 9]], Y)
