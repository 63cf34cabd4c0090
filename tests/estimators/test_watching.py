"""``scoring`` for early stopping, and ``callbacks``."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from own_losses import OwnSquare
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import accuracy_score, log_loss, make_scorer, mean_absolute_error, roc_auc_score
from sklearn.model_selection import GridSearchCV, train_test_split

from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor, gbfs_path, load
from frugalboost.losses import Poisson

STOP = {"early_stopping": True, "n_iter_no_change": 5, "max_iter": 200, "random_state": 0, "mu": 0.003}


def split(load_table, as_frame=False):
    X, y = load_table(return_X_y=True, as_frame=as_frame)
    return train_test_split(X, y, test_size=0.3, random_state=0)


# ------------------------------------------------------------------------------------------------- scoring


@pytest.mark.parametrize("as_frame", [False, True])
def test_the_recorded_scores_are_those_of_staged_predictions(as_frame):
    X, X_val, y, y_val = split(load_breast_cancer, as_frame)
    model = GBFSClassifier(max_iter=30, mu=0.003, scoring="roc_auc").fit(X, y, X_val=X_val, y_val=y_val)
    staged = [roc_auc_score(y_val, p[:, 1]) for p in model.staged_predict_proba(X_val)]
    assert model.history_["validation_score"][1:] == staged
    assert model.history_["validation_score"][0] == 0.5  # a constant
    assert model.stop_reason_ == "max_iter"  # without early stopping, scores are only recorded
    assert model.best_iteration_ == 30


def best(values, tol=0.0):
    """The last value that rose by more than tol."""
    at = 0
    for i, v in enumerate(values):
        if v > values[at] + tol:
            at = i
    return at


@pytest.mark.parametrize(
    ("load_table", "scoring"),
    [
        (load_breast_cancer, "roc_auc"),
        (load_breast_cancer, "accuracy"),
        (load_iris, "neg_log_loss"),
        (load_iris, make_scorer(accuracy_score)),
        (load_diabetes, "neg_mean_absolute_error"),
        (load_diabetes, lambda model, X, y: -mean_absolute_error(y, model.predict(X))),
    ],
)
@pytest.mark.parametrize("base", ["trees", "both"])
def test_early_stopping_keeps_the_best_score(load_table, scoring, base):
    X, X_val, y, y_val = split(load_table)
    model = (GBFSRegressor if load_table is load_diabetes else GBFSClassifier)(**STOP, scoring=scoring, base=base)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    scores = model.history_["validation_score"]
    assert model.stop_reason_ == "early_stopping"
    assert model.best_iteration_ == best(scores)
    assert model.n_iter_ == best(scores) + 5
    tolerant = clone(model).set_params(tol=0.01).fit(X, y, X_val=X_val, y_val=y_val)
    assert tolerant.best_iteration_ == best(tolerant.history_["validation_score"], 0.01)


def test_rows_set_aside_are_scored():
    X, y = load_breast_cancer(return_X_y=True)
    seen = []

    def score(model, X, y):
        seen.append((X.shape, sorted(set(y.tolist()))))
        return accuracy_score(y, model.predict(X))

    model = GBFSClassifier(**STOP, scoring=score).fit(X, np.where(y == 1, "benign", "malignant"))
    assert all(rows == ((57, 30), ["benign", "malignant"]) for rows in seen)
    assert len(model.history_["validation_score"]) == model.n_iter_ + 1


def test_a_scorer_of_a_users_own_gets_the_users_own_rows():
    X, X_val, y, y_val = split(load_diabetes, as_frame=True)
    seen = []

    def score(model, X, y):
        seen.append(X)
        assert model.predict(X).shape == (len(X),)
        return -mean_absolute_error(y, model.predict(X))

    GBFSRegressor(**STOP, scoring=score).fit(X, y, X_val=X_val, y_val=y_val)
    pd.testing.assert_frame_equal(seen[0], X_val)


def test_weights_of_validation_rows_count():
    X, X_val, y, y_val = split(load_breast_cancer)
    weights = np.random.default_rng(0).integers(1, 9, len(y_val)).astype(float)
    rows = {"X_val": X_val, "y_val": y_val, "sample_weight_val": weights}
    model = GBFSClassifier(max_iter=5, scoring="neg_log_loss").fit(X, y, **rows)
    expected = [-log_loss(y_val, p, sample_weight=weights) for p in model.staged_predict_proba(X_val)]
    np.testing.assert_allclose(model.history_["validation_score"][1:], expected)


def test_a_loss_without_values_stops_by_a_score():
    class NoValue:
        start, gradient, curvature = OwnSquare.start, OwnSquare.gradient, OwnSquare.curvature
        inverse_link = OwnSquare.inverse_link

    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match="give your loss a method 'value', or set scoring"):
        GBFSRegressor(**STOP, loss=NoValue()).fit(X, y)
    model = GBFSRegressor(**STOP, loss=NoValue(), scoring="r2").fit(X, y)
    assert model.stop_reason_ == "early_stopping"


@pytest.mark.parametrize("first", [1, 20])
def test_a_continued_fit_is_one_long_fit(first, tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    settings = {**STOP, "scoring": "roc_auc", "warm_start": True}
    whole = GBFSClassifier(**settings).fit(X, y)
    begun = GBFSClassifier(**{**settings, "max_iter": first}).fit(X, y)
    begun.save(tmp_path / "begun")
    for model in (begun, load(tmp_path / "begun")):
        model.set_params(max_iter=200).fit(X, y)
        assert model.history_["bought"] == whole.history_["bought"]
        assert model.history_["validation_score"] == whole.history_["validation_score"]
        assert model.best_iteration_ == whole.best_iteration_
        np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))


def test_a_continued_fit_that_is_scored_only_now():
    X, X_val, y, y_val = split(load_breast_cancer)
    rows = {"X_val": X_val, "y_val": y_val}
    model = GBFSClassifier(max_iter=5, warm_start=True).fit(X, y, **rows)
    model.set_params(max_iter=9, scoring="accuracy").fit(X, y, **rows)
    scores = model.history_["validation_score"]
    assert np.isnan(scores[:6]).all()
    assert np.isfinite(scores[6:]).all()


def test_scores_that_do_not_exist_are_told():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match="scoring"):
        GBFSClassifier(**STOP, scoring="best").fit(X, y)
    with pytest.raises(ValueError, match="scoring"):
        GBFSClassifier(**STOP, scoring=3).fit(X, y)
    model = GBFSClassifier(**STOP, scoring=lambda *_: np.nan)
    with pytest.raises(ValueError, match="scoring gave nan for the validation rows after iteration 0"):
        model.fit(X, y)
    assert not hasattr(model, "n_iter_")


@pytest.mark.parametrize("many", [{"n_features_to_select": 2}, {"refit": True}, {"refit": "auto"}])
@pytest.mark.parametrize("watched", [{"scoring": "r2"}, {"callbacks": [print]}])
def test_many_fits_are_refused(many, watched):
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(
        ValueError, match=f"{next(iter(watched))} can follow only a single fit, and {next(iter(many))} makes many"
    ):
        GBFSRegressor(**STOP, **many, **watched).fit(X, y)


@pytest.mark.parametrize("watched", [{"scoring": "accuracy"}, {"callbacks": [print]}])
def test_paths_and_searches_refuse_them(watched):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="paths, searches and subsamples stop each of theirs by its loss"):
        gbfs_path(X, y, estimator=GBFSClassifier(**watched))
    with pytest.raises(ValueError, match="paths, searches and subsamples stop each of theirs by its loss"):
        GBFSClassifierCV(GBFSClassifier(**watched)).fit(X, y)


def test_searches_of_scikit_learn_pass_them_on():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(GBFSClassifier(**STOP, scoring="accuracy"), {"max_depth": [1, 2]}, cv=2).fit(X, y)
    assert "validation_score" in search.best_estimator_.history_


# ----------------------------------------------------------------------------------------------- callbacks


def test_a_callback_sees_every_iteration():
    X, X_val, y, y_val = split(load_breast_cancer)
    seen = []
    model = GBFSClassifier(max_iter=12, mu=0.01, callbacks=[seen.append], scoring="accuracy")
    model.fit(X, y, X_val=X_val, y_val=y_val)
    for name in ("iteration", "train_loss", "validation_loss", "validation_score"):
        assert [getattr(s, name) for s in seen] == model.history_[name][1:]
    assert [s.cost for s in seen] == model.history_["price_paid"][1:]
    assert [len(s.features) for s in seen] == model.history_["n_features"][1:]
    assert seen[-1].features == tuple(model.selected_features_)
    with pytest.raises(AttributeError):
        seen[0].iteration = 7
    without = GBFSClassifier(max_iter=12, mu=0.01).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), without.predict_proba(X))


@pytest.mark.parametrize("answer", [True, np.True_])
def test_a_callback_may_stop_the_fit(answer):
    X, y = load_diabetes(return_X_y=True)
    after = []
    model = GBFSRegressor(max_iter=50, callbacks=[lambda s: answer if s.iteration == 7 else None, after.append]).fit(
        X, y
    )
    assert model.stop_reason_ == "callback"
    assert model.n_iter_ == model.best_iteration_ == len(after) == 7
    np.testing.assert_array_equal(model.predict(X), GBFSRegressor(max_iter=7).fit(X, y).predict(X))


def test_what_is_not_true_does_not_stop():
    X, y = load_diabetes(return_X_y=True)
    assert GBFSRegressor(max_iter=5, callbacks=[lambda s: 1, lambda s: "stop", lambda s: [1]]).fit(X, y).n_iter_ == 5


def test_a_fit_that_a_callback_stopped_goes_on(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(max_iter=20, warm_start=True, callbacks=[lambda s: s.iteration == 7]).fit(X, y)
    model.save(tmp_path / "model")
    stored = load(tmp_path / "model")
    assert stored.callbacks is None
    assert stored.stop_reason_ == "callback"
    whole = GBFSRegressor(max_iter=20).fit(X, y)
    for begun in (model, stored):
        begun.fit(X, y)
        assert begun.n_iter_ == 20
        np.testing.assert_array_equal(begun.predict(X), whole.predict(X))


def test_the_best_iteration_is_kept_where_a_callback_stops():
    X, X_val, y, y_val = split(load_diabetes)
    settings = {"max_iter": 300, "early_stopping": True, "n_iter_no_change": 100, "learning_rate": 0.3}
    free = GBFSRegressor(**settings).fit(X, y, X_val=X_val, y_val=y_val)
    stopped = GBFSRegressor(**settings, callbacks=[lambda s: s.iteration == free.best_iteration_ + 3])
    stopped.fit(X, y, X_val=X_val, y_val=y_val)
    assert stopped.n_iter_ == free.best_iteration_ + 3
    assert stopped.best_iteration_ == free.best_iteration_


def test_an_error_leaves_the_estimator_as_it_was():
    X, y = load_diabetes(return_X_y=True)

    def fails(state):
        if state.iteration == 3:
            raise ZeroDivisionError("mine")

    model = GBFSRegressor(max_iter=5).fit(X, y)
    before = dict(vars(model))
    model.set_params(callbacks=[fails])
    with pytest.raises(ZeroDivisionError, match="mine"):
        model.fit(X, y * 2)
    assert {k: v for k, v in vars(model).items() if k != "callbacks"} == {
        k: v for k, v in before.items() if k != "callbacks"
    }
    fresh = GBFSRegressor(callbacks=[fails])
    with pytest.raises(ZeroDivisionError):
        fresh.fit(X, y)
    assert not hasattr(fresh, "n_features_in_")


def told(state):
    """A function that can be pickled."""


def test_callbacks_are_parameters_as_others():
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(max_iter=3, callbacks=[told], loss=Poisson())
    assert clone(model).get_params()["callbacks"] == [told]
    assert pickle.loads(pickle.dumps(model.fit(X, y))).callbacks == [told]
    with pytest.raises(ValueError, match="callbacks"):
        GBFSRegressor(callbacks=told).fit(X, y)
    with pytest.raises(TypeError, match="callbacks has 3, which can't be called"):
        GBFSRegressor(callbacks=[told, 3]).fit(X, y)


def test_a_function_that_scores_is_not_saved(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GBFSRegressor(**STOP, scoring=lambda m, X, y: m.predict(X).std()).fit(X, y).save(tmp_path / "own")
        GBFSRegressor(**STOP, scoring="r2").fit(X, y).save(tmp_path / "named")
    assert load(tmp_path / "own").scoring is None
    assert len(load(tmp_path / "own").history_["validation_score"]) > 1
    assert load(tmp_path / "named").scoring == "r2"
