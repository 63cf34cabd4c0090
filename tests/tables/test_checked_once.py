"""Each table that a user gives is looked at once, however many fits and scores follow."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer

import frugalboost
from frugalboost import GBFSClassifier, GBFSClassifierCV, StabilitySelection, gbfs_path
from frugalboost.tables import checking

pytestmark = pytest.mark.slow

QUICK = {"max_iter": 5, "n_jobs": 1}
X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
X, Y = X.iloc[:300, :8], Y.to_numpy()[:300]


def with_categories():
    frame = X.copy()
    frame["size"] = pd.Categorical(np.where(X.iloc[:, 0] > 14, "large", "small"))
    return frame


FORMS = {"array": X.to_numpy, "frame": lambda: X, "categories": with_categories, "sparse": lambda: sparse.csr_array(X)}


@pytest.fixture
def looked_at(monkeypatch):
    """The tables that were checked, value by value."""
    seen, check = [], checking._check_new

    def counted(estimator, X, *options):
        seen.append(X)
        return check(estimator, X, *options)

    monkeypatch.setattr(checking, "_check_new", counted)
    return seen


def tables(form):
    table = FORMS[form]()
    part = (lambda a, b: table.iloc[a:b]) if hasattr(table, "iloc") else (lambda a, b: table[a:b])
    return part(0, 200), part(200, 300)


@pytest.mark.parametrize("form", FORMS)
def test_fit(form, looked_at):
    train, held = tables(form)
    GBFSClassifier(early_stopping=True, **QUICK).fit(train, Y[:200], X_val=held, y_val=Y[200:])
    GBFSClassifier(n_features_to_select=2, early_stopping=True, average=2, **QUICK).fit(train, Y[:200])
    assert [id(seen) for seen in looked_at] == [id(train), id(held), id(train)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scoring", [None, "roc_auc"])
def test_path(form, scoring, looked_at):
    train, held = tables(form)
    gbfs_path(train, Y[:200], n_mus=3, X_val=held, y_val=Y[200:], scoring=scoring, max_iter=5, n_jobs=1)
    assert [id(seen) for seen in looked_at] == [id(train), id(held)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_cross_validation(form, scoring, looked_at):
    train, _ = tables(form)
    GBFSClassifierCV(GBFSClassifier(**QUICK), n_mus=3, cv=2, max_iters=[3, 5], scoring=scoring, n_jobs=1).fit(
        train, Y[:200]
    )
    assert [id(seen) for seen in looked_at] == [id(train)]


@pytest.mark.parametrize("form", FORMS)
def test_stability(form, looked_at):
    train, _ = tables(form)
    StabilitySelection(GBFSClassifier(**QUICK), n_subsamples=4, n_mus=3, n_jobs=1).fit(train, Y[:200])
    assert [id(seen) for seen in looked_at] == [id(train)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("number", [None, 2])
def test_report(form, number, looked_at):
    train, held = tables(form)
    model = GBFSClassifier(0.01, n_features_to_select=number, **QUICK).fit(train, Y[:200])
    looked_at.clear()
    model.report(train, Y[:200], X_test=held, y_test=Y[200:])
    assert [id(seen) for seen in looked_at] == [id(train), id(held)]


def test_a_scorer_of_the_users_own_is_shown_the_users_own_rows():
    frame, shown = with_categories(), []

    def own(estimator, X, y):
        shown.append(X)
        return float((estimator.predict(X) == y).mean())

    settings = {"scoring": own, "n_jobs": 1}
    GBFSClassifierCV(GBFSClassifier(**QUICK), n_mus=2, cv=2, **settings).fit(frame, Y)
    gbfs_path(frame, Y, n_mus=2, X_val=frame.iloc[:50], y_val=Y[:50], max_iter=5, **settings)
    assert shown
    assert all(isinstance(X, pd.DataFrame) and list(X) == list(frame) for X in shown)


def test_a_table_that_was_checked_is_fitted_alike():
    frame = with_categories()
    model = GBFSClassifier(1e-3, max_iter=20).fit(frame, Y)
    sample, _ = GBFSClassifier()._checked(frame, Y, None)
    again = GBFSClassifier(1e-3, max_iter=20).fit(sample.X, Y)
    assert list(again.feature_names_in_) == list(frame)
    assert again.categories_ == model.categories_
    assert (again.predict_proba(frame) == model.predict_proba(frame)).all()
    columns = np.array([8, 0, 3])
    fewer = GBFSClassifier(1e-3, max_iter=20).fit(frame.iloc[:, columns], Y)
    part = GBFSClassifier(1e-3, max_iter=20).fit(sample.columns(columns).X, Y)
    assert (part.predict_proba(frame.iloc[:, columns]) == fewer.predict_proba(frame.iloc[:, columns])).all()
    nameless = GBFSClassifier(max_iter=2).fit(X.to_numpy(), Y)
    assert frugalboost.tables.names.feature_names(nameless)[:2] == ["x0", "x1"]


def test_tables_that_were_checked_for_other_models_are_read_by_their_levels():
    """A model's number of a level is its own: a table that was checked for another model may have other numbers."""
    frame = X.copy()
    frame["kind"] = pd.Categorical(np.array(list("abcd"))[np.digitize(X.iloc[:, 0], [12, 13.5, 15])])
    model = GBFSClassifier(0.0, max_iter=10).fit(frame, Y)
    few = frame["kind"].isin(["a", "c", "d"]).to_numpy()
    other = GBFSClassifier(0.0, max_iter=10)
    sample, _ = other._checked(frame[few], Y[few], None)
    other.fit(sample.X, Y[few])
    assert (model.predict_proba(sample.X) == model.predict_proba(frame[few])).all()
    whole, _ = GBFSClassifier()._checked(frame, Y, None)
    assert (other.predict_proba(whole.X) == other.predict_proba(frame)).all()
    model._fitted_on = None  # as in a file of an earlier version, so that the report can't tell the tables apart
    chosen = model.report(frame[few], Y[few], X_test=frame, y_test=Y).contents["chosen"]
    assert chosen["test_error"] == pytest.approx(100 - 100 * model.score(frame, Y))


@pytest.mark.parametrize("with_test", [False, True])
def test_select(with_test, looked_at):
    frame = with_categories()
    frame["target"] = Y
    train, held = frame.iloc[:200], frame.iloc[200:]
    more = {"test": held} if with_test else {}
    frugalboost.select(train, "target", trees=10, points=3, splits=2, **more)
    assert len(looked_at) == 1 + with_test
