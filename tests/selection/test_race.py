"""Races: the same models and scores as a full search, for those candidates that are tried."""

import numpy as np
import pandas as pd
import pytest
from same_trees import assert_same_bytes
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor, GBFSRegressorCV
from frugalboost.costs import Bags, Prices
from frugalboost.estimators import racing
from frugalboost.selection import path, race
from frugalboost.tables.sample import Sample


def table(seed=0, rows=300, columns=8, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=rows)
    if classes == 0:
        return X, score
    return X, np.digitize(score, np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]))


def frame_with_categories():
    X, y = table(5)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(8)])
    frame["kind"] = pd.Categorical(np.where(X[:, 0] > 0.5, "a", np.where(X[:, 1] > 0, "b", "c")))
    frame.loc[::7, "x2"] = np.nan
    return frame, y


CASES = {
    "two classes": (*table(), {}, {}),
    "three classes": (*table(1, classes=3), {}, {}),
    "numbers": (*table(2, classes=0), {}, {}),
    "auc": (*table(3), {}, {"scoring": "roc_auc"}),
    "prices": (*table(4), {"costs": Prices([1.0, 2.0, 5.0, 1.0, 1.0, 3.0, 1.0, 1.0])}, {}),
    "bags": (*table(4), {"costs": Bags([0, 0, 1, 1, 2, 2, 3, 3])}, {}),
    "budget": (*table(4), {"budget": 2.0}, {}),
    "categories": (*frame_with_categories(), {}, {}),
    "lines and stumps": (*table(6), {}, {"bases": ("lines", "trees"), "max_depths": (1,)}),
    "own scorer": (*table(7), {}, {"scoring": lambda m, X, y: m.score(X, y) - 1e-3 * m.n_features_selected_}),
}


def searches(X, y, estimator, options, weights=None, trees=(60, 90, 130), n_mus=5):
    """A full search and a race with the same candidates, fitted."""
    numbers = len(np.unique(y)) > 10
    kinds = (GBFSRegressorCV, racing.RacingRegressorCV) if numbers else (GBFSClassifierCV, racing.RacingClassifierCV)
    template = (GBFSRegressor if numbers else GBFSClassifier)(max_depth=2, random_state=0, **estimator)
    splitter = ShuffleSplit if numbers else StratifiedShuffleSplit
    shared = {"cv": splitter(3, test_size=0.3, random_state=0), "n_mus": n_mus, "max_iters": trees, "n_jobs": 1}
    return [kind(template, rule="1se", **shared, **options).fit(X, y, weights) for kind in kinds]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_what_a_race_tries_has_the_scores_of_the_full_search(name, weighted):
    X, y, estimator, options = CASES[name]
    weights = np.random.default_rng(0).uniform(0.2, 3, len(y)) if weighted else None
    full, raced = searches(X, y, estimator, options, weights)
    params = full.cv_results_["params"]
    places = [params.index(p) for p in raced.cv_results_["params"]]
    assert 0 < len(places) < len(params)
    assert places == sorted(places)
    for key, values in raced.cv_results_.items():
        if key != "params":
            np.testing.assert_array_equal(values, full.cv_results_[key][places], err_msg=key)
    for mine, other in zip(raced._bought_in_splits, full._bought_in_splits, strict=True):
        for i, place in enumerate(places):
            np.testing.assert_array_equal(mine[i], other[place])
    if raced.best_params_ == full.best_params_:
        assert_same_bytes(raced.estimator_._model.ensemble, full.estimator_._model.ensemble)


def test_few_trees_are_grown_for_all():
    full, raced = searches(*table(), {}, {}, trees=(2, 10, 40))
    assert raced.cv_results_["params"] == full.cv_results_["params"]
    assert raced.best_params_ == full.best_params_


@pytest.mark.parametrize(
    ("trees", "expected"),
    [
        ([50, 100, 200, 500], [[25, 50], [100], [200], [350], [500]]),
        ([2, 4, 8, 20], [[2, 4, 8, 20]]),
        ([10, 20, 40, 100], [[10, 20, 40, 100]]),
        ([20, 40, 80, 200], [[20, 40, 80], [140], [200]]),
        ([1], [[1]]),
    ],
)
def test_stages(trees, expected):
    assert race.stages(trees) == expected


def test_a_race_is_decided_with_fewer_trees(monkeypatch):
    grown = {"full": 0, "race": 0}
    boost = path.boost

    def counted(task, previous, *rest):
        model = boost(task, previous, *rest)
        grown["race"] += model.n_iterations - (0 if previous is None else previous.n_iterations)
        return model

    monkeypatch.setattr(path, "boost", counted)
    forward = path.forward

    def counted_forward(task, *rest):
        result = forward(task, *rest)
        grown["race"] += result.model.n_iterations
        return result

    monkeypatch.setattr(path, "forward", counted_forward)
    X, y = table(8, rows=600)
    full, _ = searches(X, y, {}, {}, trees=(50, 100, 200, 400), n_mus=10)
    total = int(full.cv_results_["mean_n_iter"].reshape(10, 4)[:, -1].sum() * 3)
    # Both searches were counted: the full one grew `total` trees, beside one tree for each split to learn mu_max.
    assert grown["race"] - total < 0.6 * total


def test_every_candidate_has_a_score_on_every_split():
    _, raced = searches(*table(9, classes=3), {}, {})
    for key, values in raced.cv_results_.items():
        if key.endswith("score"):
            assert np.isfinite(values).all(), key


def test_threads_do_not_decide():
    X, y = table(10)
    template = GBFSClassifier(max_depth=2, random_state=0)
    found = [
        racing.RacingClassifierCV(template, n_mus=6, max_iters=(60, 120), rule="1se", random_state=0, n_jobs=n).fit(
            X, y
        )
        for n in (1, 3)
    ]
    assert found[0].cv_results_["params"] == found[1].cv_results_["params"]
    np.testing.assert_array_equal(*(f.cv_results_["mean_test_score"] for f in found))
    assert_same_bytes(found[0].estimator_._model.ensemble, found[1].estimator_._model.ensemble)


@pytest.mark.parametrize(("rival", "splits"), [(0.0, 5), (1.1, 2)])
def test_a_search_gives_up_if_it_can_not_win(rival, splits, monkeypatch):
    X, y = table(11)
    tried = []
    folds = racing.Racing._folds
    monkeypatch.setattr(racing.Racing, "_folds", lambda self, *rest: tried.append(1) or folds(self, *rest))
    search = racing.RacingClassifierCV(GBFSClassifier(max_iter=10), n_features_to_select=2, random_state=0)
    search._rival = np.full(5, rival)
    if rival < 1:
        assert search.fit(X, y).n_features_selected_ == 2
    else:
        with pytest.raises(racing.CanNotWin):
            search.fit(X, y)
        assert not hasattr(search, "estimator_")
    assert len(tried) == splits


def test_a_limited_race_buys_no_more():
    X, y = table(12)
    search = racing.RacingClassifierCV(GBFSClassifier(random_state=0), mus=[0.0], max_iters=(10, 20), random_state=0)
    search._most = 2
    best = search._compare(Sample(X, y))
    assert best["max_iter"] in (10, 20)
    assert set(search.cv_results_["mean_n_features"]) == {2.0}
    assert not hasattr(search, "estimator_")
