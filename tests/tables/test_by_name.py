"""Tables with more, fewer or reordered columns: every method finds them by name, or none does."""

import re
from itertools import islice

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st

from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor, GBFSRegressorCV, StabilitySelection

FORMS = {"pandas": pd.DataFrame, "polars": pl.from_pandas, "arrow": pa.Table.from_pandas}


def table(n=200):
    """Two columns that matter, one of levels, and two of noise."""
    rng = np.random.default_rng(0)
    tree = np.array(["oak", "ash", "fir"])[rng.integers(0, 3, n)]
    X = pd.DataFrame({name: rng.normal(size=n) for name in ("noise", "height", "age", "more noise")})
    X.insert(2, "tree", pd.Categorical(tree))
    X.loc[::9, "height"] = np.nan
    return X, 4.0 * (tree == "oak") + X["height"].fillna(0.0).to_numpy() + 0.1 * rng.normal(size=n)


X, Y = table()
TWO = np.median(Y) < Y
SETTINGS = {"mu": 0.05, "max_iter": 10, "n_jobs": 1}
MODELS = {
    "regressor": GBFSRegressor(**SETTINGS).fit(X, Y),
    "classifier": GBFSClassifier(**SETTINGS).fit(X, TWO),
    "regressor search": GBFSRegressorCV(GBFSRegressor(**SETTINGS), mus=[0.05], cv=2, n_jobs=1).fit(X, Y),
    "classifier search": GBFSClassifierCV(GBFSClassifier(**SETTINGS), mus=[0.05], cv=2, n_jobs=1).fit(X, TWO),
    "stability": StabilitySelection(GBFSRegressor(max_iter=5), threshold=0.9, random_state=0, n_jobs=1).fit(X, Y),
}


def answers(model, form):
    """What all methods that take a table say, by name."""
    found = {}
    for name in ("predict", "predict_proba", "predict_log_proba", "decision_function", "prediction_cost", "transform"):
        if hasattr(model, name):
            found[name] = np.asarray(getattr(model, name)(form))
    for name in ("staged_predict", "staged_predict_proba", "staged_decision_function"):
        if hasattr(model, name):
            found[name] = np.array(list(islice(getattr(model, name)(form), 3)))
    if hasattr(model, "score"):
        found["score"] = np.array(model.score(form, TWO if hasattr(model, "classes_") else Y))
    return found


METHODS = sorted({name for model in MODELS.values() for name in answers(model, X)})


def same(found, expected):
    assert found.keys() == expected.keys()
    for name in expected:
        assert found[name].dtype.kind == expected[name].dtype.kind
        pair = (found[name], expected[name])
        ours, theirs = (np.where(pd.isna(a), None, a) if a.dtype == object else a for a in pair)
        np.testing.assert_array_equal(ours, theirs, err_msg=name)


def test_what_is_tested_selects_some_columns_and_has_all_methods():
    for name, model in MODELS.items():
        assert list(X.columns[model.support_]) == ["height", "tree"], name
    assert {"predict", "predict_proba", "decision_function", "staged_predict", "transform", "score"} <= set(METHODS)


@pytest.mark.parametrize("kind", MODELS)
@settings(max_examples=15)
@given(data=st.data())
def test_any_table_with_the_columns_that_are_needed(kind, data):
    """Extra columns may hold anything; without them, columns are in another order only if some are left out."""
    model = MODELS[kind]
    extra = [name for name in ("id", "text", "when") if data.draw(st.booleans())]
    spare = [name for name in X if name not in ("height", "tree") and data.draw(st.booleans())]
    names = data.draw(st.permutations([*extra, *spare, "height", "tree"]))
    if set(names) == set(X):
        names = list(X)
    more = X.assign(id=[object()] * len(X), text="no number", when=pd.Timestamp("2024-01-01"))
    same(answers(model, more[names]), answers(model, X))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", MODELS)
def test_any_library(form, kind):
    made = FORMS[form](X.assign(more=np.arange(len(X)))[["tree", "more", "age", "height", "noise", "more noise"]])
    same(answers(MODELS[kind], made), answers(MODELS[kind], X))
    turned = FORMS[form](X[X.columns[::-1]])
    ordered = MODELS[kind].in_order(turned)
    assert type(ordered) is type(turned)
    same(answers(MODELS[kind], ordered), answers(MODELS[kind], X))


@pytest.mark.parametrize("kind", MODELS)
def test_another_order_of_the_same_columns_is_refused_with_the_way_out(kind):
    model = MODELS[kind]
    turned = X[X.columns[::-1]]
    way = re.escape("in the same order as they were in fit.") + r"\n.*in_order\(X\) of the estimator"
    for name in answers(model, X):
        method = getattr(model, name)
        arguments = (turned, Y) if name == "score" else (turned,)
        with pytest.raises(ValueError, match=way):
            list(np.atleast_1d(list(method(*arguments)) if name.startswith("staged") else method(*arguments)))


@pytest.mark.parametrize("kind", MODELS)
def test_a_missing_column_is_named(kind):
    model = MODELS[kind]
    lacking = X.drop(columns=["tree", "age"]).assign(new=1.0)
    for name in answers(model, X):
        method = getattr(model, name)
        with pytest.raises(ValueError, match=r"the model needs 'height', 'tree'\. X lacks 'tree'\."):
            list(method(lacking, Y)) if name == "score" else list(method(lacking))
    with pytest.raises(ValueError, match="X lacks columns that the model needs: 'tree'"):
        model.in_order(lacking)


def test_in_order_keeps_rows_and_drops_what_the_fit_did_not_know():
    model = MODELS["regressor"]
    rows = X.assign(id=1)[["id", *X.columns[::-1]]].iloc[::-3]
    pd.testing.assert_frame_equal(model.in_order(rows), X.iloc[::-3])
    assert list(model.in_order(rows.drop(columns="age"))) == ["noise", "height", "tree", "more noise"]
    with pytest.raises(TypeError, match="not a data frame whose columns have texts as names"):
        model.in_order(X.to_numpy())
    with pytest.raises(TypeError, match="not a data frame whose columns have texts as names"):
        model.in_order(X.set_axis(range(5), axis=1))
    nameless = GBFSRegressor(max_iter=3).fit(np.arange(60.0)[:, None], np.arange(60.0))
    with pytest.raises(ValueError, match="have no names"):
        nameless.in_order(X)


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_transform_returns_what_set_output_says(output):
    for names in (list(X), ["tree", "height"], ["x", "tree", "height", "age"]):
        given = X.assign(x="a")[names]
        with sklearn.config_context(transform_output=output):
            found = MODELS["regressor"].transform(given)
        assert type(found) is {"default": np.ndarray, "pandas": pd.DataFrame, "polars": pl.DataFrame}[output]
        if output != "default":
            assert list(found.columns) == ["height", "tree"]
        if output == "pandas":
            pd.testing.assert_frame_equal(found, X[["height", "tree"]])


@pytest.mark.filterwarnings("ignore::frugalboost.NothingBoughtWarning")
def test_a_constant_knows_a_strange_table_all_the_same():
    numbers = X.drop(columns="tree")
    model = GBFSRegressor(mu=1.0, max_iter=3).fit(numbers, Y)
    assert model.n_features_selected_ == 0
    np.testing.assert_array_equal(model.predict(numbers[["age"]]), model.predict(numbers))
    for bad in (numbers.add_prefix("a "), numbers.assign(more=1.0), numbers[["age"]].assign(more=1.0)):
        for method in (model.predict, model.transform):
            with pytest.raises(ValueError, match="should match those that were passed during fit"):
                method(bad)


def test_rows_for_validation_may_have_more_columns():
    more = X.assign(id="a")[["id", *X.columns[::-1]]]
    model = GBFSRegressor(**SETTINGS, early_stopping=True)
    expected = model.fit(X[:150], Y[:150], X_val=X[150:], y_val=Y[150:]).history_["validation_loss"]
    found = model.fit(X[:150], Y[:150], X_val=more[150:], y_val=Y[150:]).history_["validation_loss"]
    assert found == expected
    with pytest.raises(ValueError, match=r"in_order\(X\)"):
        model.fit(X[:150], Y[:150], X_val=X[X.columns[::-1]][150:], y_val=Y[150:])


def test_batches_and_files_with_more_columns(tmp_path):
    model = MODELS["regressor"]
    more = X.assign(id=1.0)[["id", *X.columns[::-1]]]
    more.to_parquet(tmp_path / "rows.parquet")
    for source in ([more[:70], more[70:]], tmp_path / "rows.parquet"):
        np.testing.assert_array_equal(model.predict(source), model.predict(X))


def test_names_that_are_no_texts_are_places():
    numbered = X.drop(columns="tree").set_axis(range(4), axis=1)
    model = GBFSRegressor(**SETTINGS).fit(numbered, Y)
    np.testing.assert_array_equal(model.predict(numbered.set_axis([3, 2, 1, 0], axis=1)), model.predict(numbered))
    with pytest.raises(ValueError, match="X has 5 features"):
        model.predict(numbered.assign(more=1.0).set_axis(range(5), axis=1))
