"""The path of mu and of numbers of features."""

import json
import threading
import time
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import log_loss

from frugalboost import GBFSClassifier, GBFSRegressor, NothingBoughtWarning, SelectionPath, gbfs_path
from frugalboost._support.parallel import run_parallel
from frugalboost.costs import Bags

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)


def test_every_model_is_the_one_that_fit_would_make():
    path = gbfs_path(X[100:], Y[100:], n_mus=4, X_val=X[:100], y_val=Y[:100], early_stopping=True, max_iter=60)
    assert isinstance(path, SelectionPath)
    for mu, model in zip(path.values, path.estimators, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NothingBoughtWarning)  # at the largest mu
            alone = GBFSClassifier(mu, early_stopping=True, max_iter=60)
            alone.fit(X[100:], Y[100:], X_val=X[:100], y_val=Y[:100])
        np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))
        np.testing.assert_equal(model.history_, alone.history_)
        assert model.get_params() == alone.get_params()
        assert list(model.feature_names_in_) == list(X.columns)


def test_the_grid_begins_where_nothing_is_bought():
    path = gbfs_path(X, Y, n_mus=6, eps=0.01, max_iter=10)
    assert path.n_features[0] == 0
    assert path.n_features[-1] > 0
    np.testing.assert_allclose(path.values / path.mu_max, np.geomspace(1, 0.01, 6))
    assert path.mu_max == GBFSClassifier(max_iter=1).fit(X, Y).mu_max_
    just_below = gbfs_path(X, Y, mus=[np.nextafter(path.mu_max, 0)], max_iter=1)
    assert just_below.n_features[0] == 1


def test_losses_scores_and_curves():
    path = gbfs_path(X[100:], Y[100:], n_mus=4, X_val=X[:100], y_val=Y[:100], max_iter=20, scoring="neg_log_loss")
    for i, model in enumerate(path.estimators):
        assert path.train_score[i] == pytest.approx(-log_loss(Y[100:], model.predict_proba(X[100:])))
        assert path.train_score[i] == pytest.approx(-path.train_loss[i])
        assert path.validation_score[i] == pytest.approx(-path.validation_loss[i])
        assert path.curve(i)["n_features"][-1] == path.n_features[i]
    assert path.scoring == "neg_log_loss"
    best = path.best(most_features=4)
    assert best.n_features_selected_ <= 4
    with pytest.raises(ValueError, match="No model of this path"):
        path.best(most_price=-1)


def test_rows_set_aside_are_scored():
    path = gbfs_path(X, Y, n_mus=3, early_stopping=True, random_state=0, max_iter=30)
    assert np.isfinite(path.validation_score).all()
    model = path.estimators[-1]
    again = GBFSClassifier(path.values[-1], early_stopping=True, random_state=0, max_iter=30).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))


@pytest.mark.slow
def test_numbers_of_features_instead_of_mus():
    path = gbfs_path(X, Y, n_features_to_select=[5, 0, 2, 2], max_iter=30, min_samples_leaf=5)
    assert path.parameter == "n_features_to_select"
    assert path.values.tolist() == [0, 2, 5] == path.n_features.tolist()
    alone = GBFSClassifier(n_features_to_select=5, max_iter=30, min_samples_leaf=5).fit(X, Y)
    np.testing.assert_array_equal(path.estimators[-1].predict(X), alone.predict(X))


def test_frames_and_dicts():
    path = gbfs_path(X, Y, n_mus=4, max_iter=10)
    frame = path.to_frame()
    assert frame["n_features"].tolist() == path.n_features.tolist()
    assert frame["features"].iloc[-1].tolist() == [X.columns[j] for j in path.estimators[-1].selected_features_]
    curves = path.to_frame(curves=True)
    assert len(curves) == sum(model.n_iter_ + 1 for model in path.estimators)
    assert curves.columns[0] == "mu"
    plain = json.loads(json.dumps(path.to_dict()))
    assert plain["n_features"] == path.n_features.tolist()
    assert len(plain["curves"]) == len(path) == 4
    assert path.supports.sum(axis=1).tolist() == path.n_features.tolist()
    assert "4 models" in repr(path)


def test_the_kind_follows_from_y():
    features, y = load_diabetes(return_X_y=True)
    assert isinstance(gbfs_path(features, y, n_mus=1, max_iter=1).estimators[0], GBFSRegressor)  # 214 whole numbers
    assert isinstance(gbfs_path(features, y.astype(int), n_mus=1, max_iter=1).estimators[0], GBFSClassifier)
    assert isinstance(gbfs_path(features, y + 0.5, n_mus=1).estimators[0], GBFSRegressor)
    assert isinstance(gbfs_path(features, y, estimator=GBFSRegressor(), n_mus=1).estimators[0], GBFSRegressor)
    assert len(gbfs_path(*load_iris(return_X_y=True), n_mus=2, max_iter=5).estimators[1].classes_) == 3


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_it_does_not_depend_on_the_number_of_threads(jobs):
    settings = {"n_mus": 4, "max_iter": 10, "costs": Bags([j % 10 for j in range(30)])}
    one = gbfs_path(X.to_numpy(), Y, n_jobs=1, **settings)
    many = gbfs_path(np.asfortranarray(X), Y, n_jobs=jobs, **settings)
    for a, b in zip(one.estimators, many.estimators, strict=True):
        np.testing.assert_array_equal(a.decision_function(X.to_numpy()), b.decision_function(X.to_numpy()))
        assert a.total_cost_ == b.total_cost_


def test_nothing_to_gain():
    flat = np.zeros((60, 3))
    path = gbfs_path(flat, np.arange(60) % 2, max_iter=5)
    assert path.values.tolist() == [0.0]
    assert path.n_features.tolist() == [0]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"mus": []}, ValueError, "mus must be"),
        ({"mus": [-1.0]}, ValueError, "mus must be"),
        ({"mus": [np.nan]}, ValueError, "mus must be"),
        ({"n_mus": 0}, ValueError, "n_mus"),
        ({"eps": 2.0}, ValueError, "eps"),
        ({"n_features_to_select": [1.5]}, ValueError, "whole numbers"),
        ({"n_features_to_select": [-1]}, ValueError, "whole numbers"),
        ({"n_features_to_select": []}, ValueError, "whole numbers"),
        ({"estimator": "tree"}, TypeError, "estimator must be"),
        ({"max_iter": 0}, ValueError, "max_iter"),
        ({"no_such": 1}, ValueError, "no_such"),
        ({"X_val": X}, ValueError, "belong together"),
        ({"scoring": "no such score"}, ValueError, "no such score"),
        ({"n_jobs": 0}, ValueError, "n_jobs is 0"),
    ],
)
def test_bad_input_is_a_sentence(settings, error, message):
    with pytest.raises(error, match=message):
        gbfs_path(X, Y, **settings)


def test_progress(capsys):
    gbfs_path(X, Y, n_mus=3, max_iter=5, verbose=1)
    assert "fit 3/3" in capsys.readouterr().out
    gbfs_path(X, Y, n_features_to_select=[2], max_iter=5, verbose=1)
    assert "selling back: 2 features left" in capsys.readouterr().out


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("pieces", [0, 1, 2, 7])
def test_any_number_of_pieces_for_any_number_of_threads(pieces, threads):
    def piece(number, check, own):
        assert 1 <= own <= threads
        return number

    assert run_parallel([partial(piece, i) for i in range(pieces)], threads) == list(range(pieces))


def test_one_failure_ends_the_others():
    ended = []

    def fails(check, threads):
        time.sleep(0.05)
        raise ValueError("no")

    def goes_on(check, threads):
        try:
            for _ in range(2000):
                check()
                time.sleep(0.005)
        except BaseException:
            ended.append(threading.get_ident())
            raise

    begin = time.monotonic()
    with pytest.raises(ValueError, match="no"):
        run_parallel([goes_on, fails, goes_on, goes_on], threads=2)
    assert ended
    assert time.monotonic() - begin < 5


def test_weights_of_classes_are_for_the_fit_and_not_for_the_score():
    weighted = gbfs_path(X, Y, n_mus=3, max_iter=5, class_weight={0: 10.0, 1: 1.0}, sample_weight=np.ones(len(Y)))
    for model, score in zip(weighted.estimators, weighted.train_score, strict=True):
        assert score == pytest.approx(model.score(X, Y))
    own = np.where(np.arange(100) < 50, 3.0, 1.0)
    path = gbfs_path(X[100:], Y[100:], X_val=X[:100], y_val=Y[:100], sample_weight_val=own, n_mus=3, max_iter=5)
    for model, score in zip(path.estimators, path.validation_score, strict=True):
        assert score == pytest.approx(model.score(X[:100], Y[:100], own))


class NoValue:
    """A loss that can't say how large it is."""

    def start(self, y, weights):
        return 0.0

    def gradient(self, y, raw):
        return y - raw

    def curvature(self, y, raw):
        return np.ones_like(y)

    def inverse_link(self, raw):
        return raw


def test_a_loss_without_values():
    features, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(loss=NoValue(), max_iter=5)
    with pytest.raises(ValueError, match="method 'value'"):
        gbfs_path(features, y, estimator=model, n_features_to_select=[2])
    with pytest.raises(ValueError, match="method 'value'"):
        gbfs_path(features, y, estimator=model, n_mus=2).best()


def test_settings_that_do_not_go_together():
    with pytest.raises(ValueError, match="The estimator has n_features_to_select"):
        gbfs_path(X, Y, estimator=GBFSClassifier(n_features_to_select=3))
    with pytest.raises(ValueError, match="can't be used together"):
        gbfs_path(X, Y, mus=[0.1], n_features_to_select=[2])
    path = gbfs_path(X, Y, n_mus=2, max_iter=2)
    assert path == path
    assert path != gbfs_path(X, Y, n_mus=2, max_iter=2)
    assert gbfs_path(X, Y, n_mus=2, max_iter=2, refit=True).mu_max == path.mu_max
