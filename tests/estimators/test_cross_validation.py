"""Choosing by cross-validation."""

import ast

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    StratifiedShuffleSplit,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor, GBFSRegressorCV, gbfs_path
from frugalboost.selection import importance
from frugalboost.tables.sample import Sample

X, Y = load_breast_cancer(return_X_y=True)
QUICK = GBFSClassifier(max_iter=20)
SMALL = {"n_mus": 4, "random_state": 0}
MUS = [0.1, 0.01, 0.003, 0.001]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        GBFSClassifierCV(GBFSClassifier(max_iter=30), n_mus=4, cv=2),
        GBFSRegressorCV(GBFSRegressor(max_iter=30), n_mus=4, cv=2),
    ]
)
def test_check_estimator(estimator, check):
    """No expected failure is declared."""
    check(estimator)


def test_scores_are_those_of_fits_by_hand():
    """Bins and owned features are fresh in every split, and held-out rows are seen by nothing but the score."""
    mus = [0.1, 0.01, 0.001]
    search = GBFSClassifierCV(QUICK, mus=mus, cv=KFold(3)).fit(X, Y)
    by_hand = np.array(
        [
            [clone(QUICK).set_params(mu=mu).fit(X[train], Y[train]).score(X[test], Y[test]) for mu in mus]
            for train, test in KFold(3).split(X)
        ]
    )
    found = np.array([search.cv_results_[f"split{i}_test_score"] for i in range(3)])
    np.testing.assert_array_equal(found, by_hand)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], by_hand.mean(axis=0))
    np.testing.assert_allclose(
        search.cv_results_["se_test_score"], by_hand.std(axis=0, ddof=1) / np.sqrt(3), atol=1e-15
    )
    assert search.best_index_ == by_hand.mean(axis=0).argmax()
    alone = clone(QUICK).set_params(mu=mus[search.best_index_]).fit(X, Y)
    np.testing.assert_array_equal(search.predict_proba(X), alone.predict_proba(X))
    np.testing.assert_array_equal(search.support_, alone.support_)
    assert search.mu_ == search.best_params_["mu"]
    np.testing.assert_equal(search.history_, alone.history_)


def test_five_random_splits_are_the_default():
    search = GBFSClassifierCV(QUICK, **SMALL).fit(X, Y)
    assert search.n_splits_ == 5
    seed = np.random.RandomState(0).randint(2**31 - 1)
    same = GBFSClassifierCV(QUICK, n_mus=4, cv=StratifiedShuffleSplit(5, test_size=0.2, random_state=seed)).fit(X, Y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], same.cv_results_["mean_test_score"])


@pytest.mark.slow
def test_the_rule_of_one_standard_error():
    free = GBFSClassifierCV(GBFSClassifier(max_iter=60), n_mus=10, random_state=1).fit(X, Y)
    frugal = GBFSClassifierCV(GBFSClassifier(max_iter=60), n_mus=10, random_state=1, rule="1se").fit(X, Y)
    results = free.cv_results_
    best = results["mean_test_score"].argmax()
    assert results["mean_test_score"][free.best_index_] == results["mean_test_score"][best]
    limit = results["mean_test_score"][best] - results["se_test_score"][best]
    enough = results["mean_test_score"] >= limit
    assert enough[frugal.best_index_]
    assert results["mean_price"][frugal.best_index_] == results["mean_price"][enough].min()
    assert results["mean_price"][frugal.best_index_] < results["mean_price"][free.best_index_]


def test_depths_and_numbers_of_iterations():
    search = GBFSClassifierCV(QUICK, mus=[0.01, 0.001], max_depths=[1, 3], max_iters=[5, 30], cv=KFold(2)).fit(X, Y)
    assert len(search.cv_results_["params"]) == 8
    train, test = next(KFold(2).split(X))
    for i, params in enumerate(search.cv_results_["params"]):
        alone = GBFSClassifier(**params).fit(X[train], Y[train])
        assert search.cv_results_["split0_test_score"][i] == alone.score(X[test], Y[test])
    assert search.estimator_.max_depth == search.best_params_["max_depth"]
    assert search.n_iter_ <= search.best_params_["max_iter"]


@pytest.mark.slow
def test_numbers_of_features():
    search = GBFSClassifierCV(QUICK, n_features_to_select=[1, 3, 6], random_state=0, rule="1se").fit(X, Y)
    assert search.n_features_selected_ in (1, 3, 6)
    assert search.n_features_selected_ == search.best_params_["n_features_to_select"]
    one = GBFSClassifierCV(QUICK, n_features_to_select=2, random_state=0).fit(X, Y)
    assert one.n_features_selected_ == 2
    assert len(one.cv_results_["params"]) == 1
    assert 0.8 < one.best_score_ < 1


@pytest.mark.slow
def test_any_scorer():
    names = {}
    for scoring in ("roc_auc", "neg_log_loss", make_scorer(accuracy_score), lambda model, X, y: model.score(X, y)):
        search = GBFSClassifierCV(QUICK, scoring=scoring, **SMALL).fit(X, Y)
        names[search.scoring_] = search.best_score_
    assert {"roc_auc", "neg_log_loss"} < set(names)
    assert names["neg_log_loss"] < 0 < names["roc_auc"]
    regression = GBFSRegressorCV(GBFSRegressor(max_iter=20), scoring="neg_max_error", **SMALL)  # knows no weights
    features, y = load_diabetes(return_X_y=True)
    assert regression.fit(features, y, sample_weight=np.ones(len(y)) + (y > 100)).best_score_ < 0


def test_groups_stay_together():
    groups = np.arange(len(Y)) % 7
    search = GBFSClassifierCV(QUICK, mus=MUS, cv=GroupKFold(3)).fit(X, Y, groups=groups)
    splits = list(GroupKFold(3).split(X, Y, groups))
    by_hand = [
        clone(QUICK).set_params(**search.best_params_).fit(X[train], Y[train]).score(X[test], Y[test])
        for train, test in splits
    ]
    assert search.best_score_ == pytest.approx(np.mean(by_hand))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        GBFSClassifierCV(QUICK, cv=LeaveOneGroupOut()).fit(X, Y, groups=groups[:5])


def test_groups_stay_together_in_the_usual_splits():
    groups = np.array([f"patient {i % 40}" for i in range(len(Y))])
    search = GBFSClassifierCV(QUICK, **SMALL | {"cv": None}).fit(X, Y, groups=groups)
    splits = search._splits(Sample(None, Y, groups=groups), Sample(None, Y.astype(float)))
    assert len(splits) == search.n_splits_ == 5
    for train, held_out in splits:
        assert not set(groups[train]) & set(groups[held_out])
        assert len(held_out) == pytest.approx(len(Y) / 5, abs=15)
        assert Y[held_out].mean() == pytest.approx(Y.mean(), abs=0.03)
    few = GBFSClassifierCV(QUICK, mus=MUS).fit(X, Y, groups=np.arange(len(Y)) % 3)
    assert few.n_splits_ == 3
    before = dict(vars(few))
    for wrong, words in (
        (np.zeros(len(Y)), "groups has one value only"),
        (np.full(len(Y), np.nan), "groups contains NaN"),
    ):
        with pytest.raises(ValueError, match=words):
            few.fit(X, Y, groups=wrong)
        assert vars(few) == before


def test_groups_reach_the_folds_that_sell_back(monkeypatch):
    groups, asked, folds = np.repeat(np.arange(len(Y) // 2 + 1), 2)[: len(Y)], [], importance.stratified_folds

    def kept(rows, *rest):
        found = folds(rows, *rest)
        asked.extend(set(rows.groups[train]) & set(rows.groups[held]) for train, held in found)
        return found

    monkeypatch.setattr(importance, "stratified_folds", kept)
    few = GBFSClassifier(max_iter=5)
    GBFSClassifierCV(few, n_features_to_select=2, cv=GroupKFold(2)).fit(X, Y, groups=groups)
    gbfs_path(X, Y, estimator=few, n_features_to_select=[2], groups=groups)
    assert len(asked) == 5 * (2 + 1 + 1)  # both splits, all rows, the path
    assert not any(asked)


def test_weights_reach_fits_and_scores():
    weights = np.where(np.arange(len(Y)) % 3 == 0, 5.0, 0.2)
    search = GBFSClassifierCV(QUICK, mus=MUS, cv=KFold(3)).fit(X, Y, sample_weight=weights)
    by_hand = []
    for train, test in KFold(3).split(X):
        model = clone(QUICK).set_params(**search.best_params_).fit(X[train], Y[train], weights[train])
        by_hand.append(model.score(X[test], Y[test], weights[test]))
    assert search.best_score_ == pytest.approx(np.mean(by_hand))


def test_routing_through_other_searches():
    groups = np.arange(len(Y)) % 5
    with sklearn.config_context(enable_metadata_routing=True):
        search = GBFSClassifierCV(QUICK, n_mus=3, cv=GroupKFold(2)).set_fit_request(groups=True, sample_weight=True)
        search.set_score_request(sample_weight=True)
        params = {"groups": groups, "sample_weight": np.ones(len(Y))}
        assert cross_validate(search, X, Y, cv=KFold(2), params=params)["test_score"].min() > 0.85


@pytest.mark.slow
def test_inside_pipelines_and_searches():
    pipeline = make_pipeline(StandardScaler(), GBFSClassifierCV(QUICK, **SMALL))
    assert cross_val_score(pipeline, X, Y, cv=2).min() > 0.88
    grid = GridSearchCV(GBFSClassifierCV(QUICK, **SMALL), {"rule": ["min", "1se"], "estimator__max_depth": [2]}, cv=2)
    assert grid.fit(X, Y).best_estimator_.estimator_.max_depth == 2


def test_early_stopping_sets_rows_of_the_training_part_aside():
    settings = {"early_stopping": True, "random_state": 1, "max_iter": 50}
    search = GBFSClassifierCV(GBFSClassifier(**settings), mus=[0.001], cv=KFold(3)).fit(X, Y)
    by_hand = [GBFSClassifier(0.001, **settings).fit(X[a], Y[a]).score(X[b], Y[b]) for a, b in KFold(3).split(X)]
    assert search.best_score_ == pytest.approx(np.mean(by_hand))


def test_folds_that_lack_a_class():
    features, y = load_iris(return_X_y=True)
    unseen = GBFSClassifierCV(GBFSClassifier(max_iter=10), mus=[0.01], cv=KFold(3)).fit(features, y)
    assert unseen.best_score_ == 0  # sorted by class: each fold lacks the one that it must predict
    assert unseen.score(features, y) > 0.9
    with pytest.raises(ValueError, match="Split 0 of cv has training rows of one class only"):
        GBFSClassifierCV(GBFSClassifier(max_iter=10), cv=KFold(2)).fit(features[:100], y[:100])


@pytest.mark.slow
def test_it_does_not_depend_on_the_number_of_threads():
    made = [GBFSClassifierCV(QUICK, n_jobs=jobs, **SMALL).fit(X, Y) for jobs in (1, 2, 5)]
    for other in made[1:]:
        np.testing.assert_array_equal(made[0].predict_proba(X), other.predict_proba(X))
        np.testing.assert_array_equal(made[0].cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])


@pytest.mark.slow
def test_all_noise_selects_nothing_or_little():
    rng = np.random.default_rng(0)
    noise, y = rng.normal(size=(300, 20)), rng.integers(2, size=300)
    with pytest.warns(UserWarning, match="constant"):
        search = GBFSClassifierCV(QUICK, rule="1se", scoring="neg_log_loss", random_state=0).fit(noise, y)
    assert search.n_features_selected_ == 0


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"estimator": GBFSRegressor()}, TypeError, "needs a GBFSClassifier"),
        ({"rule": "best"}, ValueError, "rule"),
        ({"max_depths": []}, ValueError, "must not be empty"),
        ({"mus": [-1]}, ValueError, "mus must be"),
        ({"n_features_to_select": [0.5]}, ValueError, "whole numbers"),
        ({"cv": 1}, ValueError, "cv"),
        ({"scoring": lambda model, X, y: np.nan}, ValueError, "NaN on every split"),
    ],
)
def test_bad_settings_are_sentences(settings, error, message):
    search = GBFSClassifierCV(**{"estimator": QUICK, **SMALL, **settings})
    with pytest.raises(error, match=message):
        search.fit(X, Y)
    assert not hasattr(search, "estimator_")


def test_a_mu_of_the_grid_is_the_same_share_of_mu_max_in_every_split():
    """At mu_max of all rows nothing is bought; half of the splits would, and the choice would be a constant model."""
    x = np.random.default_rng(0).normal(size=200)
    search = GBFSClassifierCV(QUICK, n_mus=3, cv=KFold(4)).fit(x[:, None], x > 0)
    assert search.cv_results_["mean_n_features"][0] == 0
    assert search.n_features_selected_ == 1


@pytest.mark.slow
def test_held_out_rows_choose_nothing():
    """Also where selection could compare models by validation loss."""
    features, y = load_diabetes(return_X_y=True)
    splits = KFold(3, shuffle=True, random_state=1)
    search = GBFSRegressorCV(GBFSRegressor(max_iter=40), n_features_to_select=[1, 3], cv=splits).fit(features, y)
    for i, k in enumerate([1, 3]):
        by_hand = [
            GBFSRegressor(max_iter=40, n_features_to_select=k).fit(features[a], y[a]).score(features[b], y[b])
            for a, b in splits.split(features)
        ]
        # One number alone buys for itself; a list buys for its largest.
        if k == 3:
            assert [search.cv_results_[f"split{s}_test_score"][i] for s in range(3)] == by_hand
    with pytest.raises(ValueError, match='refit="auto" compares validation losses'):
        GBFSRegressorCV(GBFSRegressor(refit="auto"), n_mus=2).fit(features, y)


@pytest.mark.parametrize("more", [{"early_stopping": True, "random_state": 0, "learning_rate": 0.3}, {"refit": True}])
def test_numbers_of_iterations_are_those_of_fits(more):
    features, y = load_diabetes(return_X_y=True)
    splits = KFold(3, shuffle=True, random_state=1)
    search = GBFSRegressorCV(GBFSRegressor(**more), mus=[0.003], max_iters=[10, 60], cv=splits).fit(features, y)
    for i, t in enumerate([10, 60]):
        by_hand = [
            GBFSRegressor(0.003, max_iter=t, **more).fit(features[a], y[a]).score(features[b], y[b])
            for a, b in splits.split(features)
        ]
        assert [search.cv_results_[f"split{s}_test_score"][i] for s in range(3)] == by_hand


def test_the_held_out_loss_is_that_of_the_held_out_rows():
    split = [(np.arange(300), np.arange(300, 442))]
    features, y = load_diabetes(return_X_y=True)
    settings = {"max_iter": 60, "early_stopping": True, "random_state": 0}
    search = GBFSRegressorCV(GBFSRegressor(**settings), mus=[0.001], cv=split).fit(features, y)
    model = GBFSRegressor(0.001, **settings).fit(features[:300], y[:300])
    loss = 0.5 * np.mean((model.predict(features[300:]) - y[300:]) ** 2)
    assert search.cv_results_["mean_test_loss"][0] in (pytest.approx(loss), pytest.approx(2 * loss))


@pytest.mark.slow
def test_weights_of_classes_are_for_the_fit_and_not_for_the_score():
    model = GBFSClassifier(max_iter=20, class_weight={0: 10.0, 1: 1.0})
    bare = GBFSClassifierCV(model, **SMALL).fit(X, Y)
    ones = GBFSClassifierCV(model, **SMALL).fit(X, Y, sample_weight=np.ones(len(Y)))
    np.testing.assert_array_equal(bare.cv_results_["mean_test_score"], ones.cv_results_["mean_test_score"])


def test_the_top_of_the_grid_buys_nothing_in_any_split():
    features, y = load_diabetes(return_X_y=True)
    splits = ShuffleSplit(30, test_size=0.2, random_state=0)
    search = GBFSRegressorCV(GBFSRegressor(max_iter=3), n_mus=3, cv=splits).fit(features, y)
    assert search.cv_results_["mean_n_features"][0] == 0


def test_scorers_see_the_users_table():
    frame, y = load_breast_cancer(return_X_y=True, as_frame=True)
    seen = []

    def scorer(model, X, y):
        seen.append(X.columns[0])
        return model.score(X, y)

    GBFSClassifierCV(QUICK, scoring=scorer, **SMALL).fit(frame, y)
    assert set(seen) == {"mean radius"}


@pytest.mark.slow
def test_names_of_an_earlier_table_are_forgotten():
    frame, y = load_breast_cancer(return_X_y=True, as_frame=True)
    search = GBFSClassifierCV(QUICK, **SMALL).fit(frame, y)
    assert len(search.feature_names_in_) == 30
    assert not hasattr(search.fit(frame.to_numpy(), y), "feature_names_in_")


@pytest.mark.slow
def test_with_a_seed_early_stopping_is_reproducible():
    model = GBFSClassifier(max_iter=20, early_stopping=True)
    first, second = (GBFSClassifierCV(model, **SMALL).fit(X, Y).cv_results_["mean_test_score"] for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_depths": [0]}, "max_depth"),
        ({"max_depths": [2.7]}, "max_depth"),
        ({"max_iters": [-5, 10]}, "max_iter"),
        ({"max_iters": [1.7]}, "max_iter"),
        ({"cv": []}, "no splits"),
        ({"mus": [0.1], "n_features_to_select": [2]}, "can't both be tried"),
        ({"estimator": GBFSClassifier(n_features_to_select=3)}, "The estimator has n_features_to_select"),
    ],
)
def test_grids_are_checked_before_anything_is_fitted(settings, message):
    with pytest.raises(ValueError, match=message):
        GBFSClassifierCV(**{"estimator": QUICK, **SMALL, **settings}).fit(X, Y)


@pytest.mark.filterwarnings("ignore:Only one class")
def test_a_split_that_cant_be_scored_is_named():
    order = np.argsort(Y, kind="stable")
    first = [(order[:500], order[500:]), (np.arange(300), np.arange(300, 569))]  # the first holds out one class only
    search = GBFSClassifierCV(QUICK, cv=first, scoring="roc_auc", n_mus=2)
    with pytest.raises(ValueError, match="NaN on split 0"):
        search.fit(X, Y)


@pytest.mark.slow
def test_another_rule_needs_no_further_splits(monkeypatch):
    asked = GBFSClassifierCV(QUICK, rule="1se", n_mus=10, random_state=0).fit(X, Y)
    changed = GBFSClassifierCV(QUICK, rule="min", n_mus=10, random_state=0).fit(X, Y)
    before = changed.n_features_selected_
    monkeypatch.setattr(GBFSClassifierCV, "_try", None)
    changed._choose_by("1se", Sample(X, Y))
    assert changed.n_features_selected_ < before
    assert changed.best_index_ == asked.best_index_
    assert changed.selected_features_.tolist() == asked.selected_features_.tolist()
    np.testing.assert_array_equal(changed.predict_proba(X), asked.predict_proba(X))


def test_fits_parse_no_text(monkeypatch):
    """In Python 3.11.7 and before, two threads that parse at the same time may end in a SystemError."""
    parsed, parse = [], ast.parse

    def recorded(source, *args, **kwargs):
        parsed.append(source)
        return parse(source, *args, **kwargs)

    monkeypatch.setattr(ast, "parse", recorded)
    GBFSClassifierCV(GBFSClassifier(max_iter=3), n_mus=3, cv=2, n_jobs=2).fit(X, Y)
    GBFSClassifier(n_features_to_select=2, max_iter=3, n_jobs=2).fit(X, Y)
    assert parsed == []
