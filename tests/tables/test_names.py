"""A column without a name is called the same wherever a person reads of it, and as scikit-learn calls it."""

from sklearn.datasets import load_diabetes

from frugalboost import EntryDisplay, GBFSRegressor, PurchaseDisplay
from frugalboost.export.served import serve
from frugalboost.tables.names import feature_names

X, Y = load_diabetes(return_X_y=True)


def test_columns_without_names_are_called_the_same_everywhere():
    model = GBFSRegressor(0.02, max_iter=20, n_jobs=1).fit(X, Y)
    bought = [f"x{c}" for c in model.selected_features_]
    assert sorted(bought) == sorted(model.get_feature_names_out())
    assert [feature_names(model)[c] for c in model.selected_features_] == bought
    assert set(EntryDisplay.from_estimator(model).features) == set(bought)
    assert set(PurchaseDisplay.from_estimator(model).features) == set(bought)
    assert set(serve(model, "selected").names) == set(bought)
    assert [f["name"] for f in names_in(model.report(X, Y).contents)] == bought
    assert all(f"<td>{name}</td>" in model._repr_html_inner() for name in bought)


def names_in(contents):
    return [f | {"name": contents["names"][f["name"]]} for f in contents["chosen"]["features"]]


def test_names_of_a_frame_are_kept():
    frame, y = load_diabetes(return_X_y=True, as_frame=True)
    assert feature_names(GBFSRegressor(max_iter=2).fit(frame, y)) == list(frame)
