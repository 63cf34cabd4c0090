"""What people do with HistGradientBoosting and LightGBM around a model, on a table with categories."""

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from frugalboost import GBFSClassifier, GBFSRegressor

SETTINGS = {"mu": 0.03, "max_iter": 15, "n_jobs": 1}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 400
    work = np.array(["office", "farm", "none"])[rng.integers(0, 3, n)]
    table = pd.DataFrame(
        {"age": rng.normal(40, 9, n), "work": work, "noise": rng.normal(size=n), "hours": rng.random(n)}
    )
    table.loc[::11, "work"] = None
    score = (work == "office") + (table["age"] - 40) / 9 + 0.3 * rng.normal(size=n)
    return table, np.where(score > 0.4, "rich", "poor"), score.to_numpy()


@pytest.fixture(scope="module")
def model(people):
    table, y, _ = people
    return GBFSClassifier(**SETTINGS).fit(table.astype({"work": "category"}), y)


def encoded(encoder, output="pandas"):
    numbers = ["age", "noise", "hours"]
    steps = ColumnTransformer(
        [("c", encoder, ["work"]), ("n", "passthrough", numbers)], verbose_feature_names_out=False
    )
    return steps.set_output(transform=output)


def test_encoders_before_the_model_find_columns_by_name(people):
    table, y, _ = people
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    pipeline = make_pipeline(encoded(ordinal), GBFSClassifier(categorical_features=["work"], **SETTINGS))
    pipeline.set_output(transform="pandas").fit(table, y)
    assert list(pipeline.transform(table)) == list(pipeline.get_feature_names_out()) == ["work", "age"]
    turned = table[table.columns[::-1]].assign(id="A")
    np.testing.assert_array_equal(pipeline.predict_proba(turned), pipeline.predict_proba(table))
    one_hot = encoded(OneHotEncoder(handle_unknown="ignore"), "default")
    assert make_pipeline(one_hot, GBFSClassifier(**SETTINGS)).fit(table, y).score(table, y) > 0.85


def test_searches_and_routing(people):
    table, y, _ = people
    table = table.astype({"work": "category"})
    weights = np.random.default_rng(1).random(len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        inner = GBFSClassifier(**SETTINGS).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        grid = GridSearchCV(Pipeline([("model", inner)]), {"model__mu": [0.03, 0.3]}, cv=2, n_jobs=2)
        grid.fit(table, y, sample_weight=weights)
    assert grid.best_params_ == {"model__mu": 0.03}
    by_hand = clone(inner).fit(table, y, sample_weight=weights)
    np.testing.assert_array_equal(grid.predict_proba(table), by_hand.predict_proba(table))


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration(people, model, method):
    table, y, _ = people
    table = table.astype({"work": "category"})
    for inner, cv in ((GBFSClassifier(**SETTINGS), 2), (FrozenEstimator(model), None)):
        found = CalibratedClassifierCV(inner, method=method, cv=cv).fit(table, y)
        assert found.score(table, y) > 0.8
        np.testing.assert_array_equal(found.classes_, ["poor", "rich"])


def test_ensembles_of_others(people):
    table, y, score = people
    table = table.astype({"work": "category"})
    for outer in (
        StackingClassifier([("a", GBFSClassifier(**SETTINGS))], cv=2),
        VotingClassifier([("a", GBFSClassifier(**SETTINGS))], voting="soft"),
    ):
        assert outer.fit(table, y).score(table, y) > 0.8
    logs = TransformedTargetRegressor(GBFSRegressor(**SETTINGS), func=np.exp, inverse_func=np.log)
    assert logs.fit(table, score).score(table, score) > 0.5


def test_inspection(people, model):
    table, y, _ = people
    table = table.astype({"work": "category"})
    importances = permutation_importance(model, table, y, n_repeats=2, random_state=0).importances_mean
    np.testing.assert_array_equal(importances > 0, model.support_)
    given = {"age": np.array([30.0, 50.0]), "work": np.array(["farm", "office"], dtype=object)}
    for name, values in given.items():
        whole = partial_dependence(model, table, [name], custom_values={name: values}, kind="both")
        low, high = whole["average"][0]
        assert high > low
        assert whole["individual"].shape == (1, len(table), 2)


def test_joblib_keeps_the_bits(people, model, tmp_path):
    table = people[0].astype({"work": "category"})
    joblib.dump(model, tmp_path / "model.joblib")
    for mode in (None, "r"):
        again = joblib.load(tmp_path / "model.joblib", mmap_mode=mode)
        np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
