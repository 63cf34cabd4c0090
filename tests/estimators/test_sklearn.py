"""scikit-learn's conventions, to the letter."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from frugalboost import GBFSClassifier, GBFSRegressor


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([GBFSClassifier(), GBFSRegressor()])
def test_check_estimator(estimator, check):
    """No expected failure is declared."""
    check(estimator)


def test_inside_pipelines_and_searches():
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), GBFSClassifier(max_iter=20), LogisticRegression())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(GBFSClassifier(max_iter=20), {"mu": [0.003, 0.03]}, cv=3).fit(X, y)
    assert search.best_estimator_.n_features_selected_ < 30
    chosen = SelectFromModel(GBFSClassifier(max_iter=20), threshold=1e-9).fit(X, y)
    np.testing.assert_array_equal(chosen.get_support(), chosen.estimator_.support_)


def test_transform_keeps_the_selected_columns_and_names():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = GBFSClassifier(0.01, max_iter=20).fit(X, y)
    names = list(X.columns[model.support_])
    assert list(model.get_feature_names_out()) == names
    np.testing.assert_array_equal(model.transform(X), X[names])
    frame = clone(model).set_output(transform="pandas").fit(X, y).transform(X)
    assert list(frame.columns) == names
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_array_equal(back[:, model.support_], X[names])
    assert (back[:, ~model.support_] == 0).all()
    assert sorted(model.selected_features_) == list(model.get_support(indices=True))


def test_sample_weight_is_routed():
    X, y = load_diabetes(return_X_y=True)
    weights = np.where(np.arange(len(y)) < 200, 1.0, 3.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = GBFSRegressor(max_iter=5).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        routed = cross_validate(model, X, y, params={"sample_weight": weights}, cv=2, return_estimator=True)
    first = routed["estimator"][0]
    half = len(y) // 2
    by_hand = GBFSRegressor(max_iter=5).fit(X[half:], y[half:], sample_weight=weights[half:])
    np.testing.assert_array_equal(first.predict(X), by_hand.predict(X))
