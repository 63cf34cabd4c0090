"""What a model is cut to is what a shorter fit keeps."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from frugalboost import GBFSClassifier, GBFSRegressor

SETTINGS = {"mu": 1e-3, "random_state": 1, "learning_rate": 0.3, "n_iter_no_change": 15}


@pytest.mark.parametrize(
    ("kind", "tol"),
    [(GBFSClassifier, 0.0), (GBFSClassifier, 0.01), (GBFSRegressor, 0.0), (GBFSRegressor, 2.0), (GBFSRegressor, 20.0)],
)
def test_a_cut_model_is_what_a_shorter_fit_keeps(kind, tol):
    """Whether iterations are judged while boosting or afterwards."""
    X, y = (load_breast_cancer if kind is GBFSClassifier else load_diabetes)(return_X_y=True)
    settings = {**SETTINGS, "early_stopping": True, "tol": tol}
    long = kind(max_iter=120, **settings).fit(X, y)._model
    kept = set()
    for iterations in (1, 2, 5, 9, 20, 40, 80, 120, 500):
        short = kind(max_iter=iterations, **settings).fit(X, y)._model
        cut = long.cut(iterations, tol)
        assert cut.best_iteration == short.best_iteration
        assert cut.cost == short.cost
        assert cut.features.tolist() == short.features.tolist()
        kept.add(cut.best_iteration)
    assert len(kept) > 2


def test_without_validation_rows_the_last_iteration_is_kept():
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(max_iter=10, **SETTINGS).fit(X, y)._model
    assert [model.cut(t, 0.0).best_iteration for t in (1, 7, 10, 50)] == [1, 7, 10, 10]
    assert np.isnan(model.validation_loss)
