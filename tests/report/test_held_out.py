"""Errors on held-out rows are those of the chosen settings on rows not seen, and are what sklearn counts."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import confusion_matrix, precision_score, recall_score, roc_auc_score
from sklearn.model_selection import LeaveOneOut

import frugalboost
from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor, GBFSRegressorCV
from frugalboost.report import contents as contents_module
from frugalboost.report import findings as findings_module
from frugalboost.report.facts import few_large_errors
from frugalboost.report.held_out import HeldOutPredictions, codes_of
from frugalboost.report.quality import interval, quality_of, quantiles
from frugalboost.report.steps import splits_of

QUICK = {"trees": 15, "points": 4, "splits": 3, "depth": 2}


def findings_of(monkeypatch, run):
    """What a run found, besides what it returns."""
    seen, both = [], contents_module.quality_of_both
    monkeypatch.setattr(contents_module, "quality_of_both", lambda found: seen.append(found) or both(found))
    return run(), seen[-1]


def mean_score(found, score):
    parts = [found.take(found.split == s) for s in np.unique(found.split)]
    return np.mean([score(part) for part in parts])


def right(found):
    return np.average(found.best == found.truth, weights=found.masses)


def table_of(kind):
    """A small table, and the column of its target."""
    if kind == "numbers":
        return load_diabetes(as_frame=True).frame[:300]
    table = load_breast_cancer(as_frame=True).frame[:300]
    return table.assign(times=np.random.default_rng(0).integers(1, 4, len(table)))


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"mu": 0.02},
        {"costs": {"worst radius": 5.0, "mean area": 0.5}},
        {"bags": {"mean": ["mean radius", "mean area"], "worst": ["worst radius", "worst area"]}},
        {"budget": 3},
        {"weight": "times"},
    ],
    ids=str,
)
def test_held_out_predictions_are_those_of_the_search(monkeypatch, how):
    """Not of a refit with other settings, nor of models that saw the rows."""
    asked, steps_of = [], findings_module.steps_of
    monkeypatch.setattr(findings_module, "steps_of", lambda *all: asked.append(all) or steps_of(*all))
    table = table_of("classes")
    table = table if "weight" in how else table.drop(columns="times")
    _, found = findings_of(monkeypatch, lambda: frugalboost.select(table, "target", **QUICK, sell=False, **how))
    search = asked[0][0]
    if "mu" not in how:  # another search has tried it
        for s in np.unique(found.held_out.split).tolist():
            score = search.cv_results_[f"split{s}_test_score"][search.best_index_]
            assert right(found.held_out.take(found.held_out.split == s)) == pytest.approx(score)
    assert len(np.unique(found.held_out.split)) == len(found.bought)
    np.testing.assert_array_equal(found.held_out.truth, table["target"].to_numpy()[found.held_out.row])
    for s, (train, held_out) in enumerate(splits_of(search, asked[0][2])):
        own = found.held_out.row[found.held_out.split == s]
        np.testing.assert_array_equal(own, held_out)
        assert not set(own) & set(train)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "how"), [("classes", {"k": 3}), ("classes", {}), ("numbers", {"k": 4, "fewer": True})]
)
def test_held_out_errors_with_a_number_of_features_are_near_those_of_the_search(monkeypatch, kind, how):
    run, found = findings_of(monkeypatch, lambda: frugalboost.select(table_of(kind), "target", **QUICK, **how))
    if kind == "classes":
        assert 100 * (1 - mean_score(found.held_out, right)) == pytest.approx(run.choice.error, abs=4)
    else:
        assert mean_score(found.held_out, rmse) == pytest.approx(run.choice.error, rel=0.1)


def rmse(found):
    return np.sqrt(np.mean((found.truth - found.predicted) ** 2))


def test_estimators_and_test_rows(monkeypatch):
    X, y = load_iris(return_X_y=True)
    y = np.array(["a", "b", "c"])[y]
    order = np.random.default_rng(0).permutation(150)
    X, y, X_test, y_test = X[order[:110]], y[order[:110]], X[order[110:]], y[order[110:]].copy()
    search = GBFSClassifierCV(GBFSClassifier(max_iter=10), n_mus=4, rule="min", random_state=0).fit(X, y)
    report, found = findings_of(monkeypatch, lambda: search.report(X, y, X_test=X_test, y_test=y_test))
    quality = report.contents["quality"]
    assert mean_score(found.held_out, right) == pytest.approx(search.best_score_)
    expected = confusion_matrix(y_test, search.predict(X_test))
    np.testing.assert_array_equal(quality["test"]["confusion"], expected)
    assert quality["test"]["predictions"] == quality["test"]["rows"] == 40
    assert quality["held_out"]["splits"] == 5
    y_test[:3] = "unknown"  # can't be right; errors of the other rows are shown
    model_on_strange = search.report(X, y, X_test=X_test, y_test=y_test).contents["quality"]["test"]
    assert model_on_strange["predictions"] == 37
    json.loads(report.to_json())


def test_noise_is_not_predicted():
    """A model that fits noise is right on rows it has seen, and here it must not be."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 12)), rng.integers(0, 2, 200)
    model = GBFSClassifier(mu=0.01, max_iter=30, min_samples_leaf=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says so
        assert model.fit(X, y).score(X, y) > 0.75
        own = model.report(X, y).contents["quality"]["held_out"]
    assert own["right"] < 0.62
    assert abs(own["classes"][0]["auc"] - 0.5) < 0.12


def test_how_often_a_feature_was_bought():
    table = load_breast_cancer(as_frame=True).frame
    rng = np.random.default_rng(0)
    table["noise"] = rng.normal(size=len(table))
    X, y = table.drop(columns="target"), table["target"]
    search = GBFSClassifierCV(GBFSClassifier(max_iter=15), mus=[0.02], random_state=0).fit(X, y)
    own = search.report(X, y).contents["chosen"]["features"]
    bought = [set(features[0].tolist()) for features in search._bought_in_splits]
    assert len(own) > 2
    for feature in own:
        assert feature["splits"] == [sum(feature["column"] in split for split in bought), 5]


def test_a_class_that_a_split_has_not_seen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] > 0, "p", "q").astype(object)
    y[[0, 1]] = "rare"
    splits = [(np.arange(30, 60), np.arange(30)), (np.arange(30), np.arange(30, 60))]
    search = GBFSClassifierCV(GBFSClassifier(max_iter=5, min_samples_leaf=2), n_mus=3, cv=splits, rule="min").fit(X, y)
    own = search.report(X, y).contents["quality"]["held_out"]
    rare = next(c for c in own["classes"] if c["class"] == "rare")
    assert (rare["rows"], rare["recall"]) == (2, 0.0)
    assert own["predictions"] == 60


def test_single_rows_are_pooled_for_the_area():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:40], y[:40]
    search = GBFSClassifierCV(GBFSClassifier(max_iter=3, min_samples_leaf=3), mus=[0.01], cv=LeaveOneOut())
    own = search.fit(X, y).report(X, y).contents["quality"]["held_out"]
    assert own["splits"] == 40
    assert 0 <= own["roc"][0]["auc"] <= 1


def test_nothing_bought_has_no_errors_by_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.permutation([0, 1] * 30)
    search = GBFSClassifierCV(GBFSClassifier(max_iter=5), mus=[10.0, 20.0], random_state=0)
    with pytest.warns(UserWarning, match="constant"):
        search.fit(X, y)
    report = search.report(X, y, X_test=X, y_test=y)
    assert report.contents["quality"] == {"held_out": None, "test": None}
    assert report.contents["effects"] == []
    assert 'id="h-quality"' not in report.html()


# ------------------------------------------------------------------------------------------------------- numbers


@st.composite
def predictions(draw):
    n, k = draw(st.integers(1, 60)), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    p = rng.dirichlet(np.full(k, draw(st.sampled_from([0.2, 1.0]))), n)
    if draw(st.booleans()):
        p = np.round(p, 1)
        p = p / np.where(p.sum(axis=1) > 0, p.sum(axis=1), 1)[:, None]
        p[p.sum(axis=1) == 0, 0] = 1.0
    weights = rng.integers(0, 4, n).astype(float) if draw(st.booleans()) else None
    truth = rng.integers(0, k, n).astype(float)
    splits = rng.integers(0, draw(st.integers(1, 3)), n)
    return HeldOutPredictions(truth, p, splits, rng.permutation(n), weights, tuple("abcde"[:k]))


@given(predictions())
def test_errors_of_classes_are_what_sklearn_counts(found):
    own = quality_of(found)
    labels, masses = np.arange(len(found.classes)), found.masses
    expected = confusion_matrix(found.truth, found.best, labels=labels, sample_weight=masses)
    np.testing.assert_allclose(own["confusion"], expected, atol=0.051)
    assert own["predictions"] == len(found)
    more = {"labels": labels, "average": None, "zero_division": np.nan, "sample_weight": masses}
    for name, score in (("recall", recall_score), ("precision", precision_score)):
        for c, wanted in zip(own["classes"], score(found.truth, found.best, **more), strict=True):
            assert c[name] is None if np.isnan(wanted) else c[name] == pytest.approx(wanted, abs=1e-3)
    wrong = sum(pair["rows"] for pair in own["confused"])
    assert wrong <= (expected.sum() - np.trace(expected)) * 1.001
    bins = own["calibration"]["bins"]
    assert sum(b["rows"] for b in bins) <= len(found)
    assert all(0 <= b["low"] <= b["observed"] + 1e-3 and b["observed"] <= b["high"] + 1e-3 <= 1.002 for b in bins)
    scaled = quality_of(HeldOutPredictions(**{**vars(found), "weights": 1e6 * masses}))
    assert [c["recall"] for c in scaled["classes"]] == [c["recall"] for c in own["classes"]]
    json.dumps(own, allow_nan=False)


@given(predictions())
def test_areas_are_those_of_the_splits(found):
    own = quality_of(found)
    for k, c in enumerate(own["classes"]):
        areas = []
        for s in np.unique(found.split):
            part = found.take(found.split == s)
            mass = found.masses[found.split == s]
            if mass[part.truth == k].sum() > 0 and mass[part.truth != k].sum() > 0:
                areas.append(roc_auc_score(part.truth == k, part.predicted[:, k], sample_weight=mass))
        if len(areas) == len(np.unique(found.split)):
            assert c["auc"] == pytest.approx(np.mean(areas), abs=1e-3)
    for curve in own["roc"]:
        assert np.all(np.diff(curve["true"]) >= 0)
        area = np.trapezoid(curve["true"], curve["false"]) if hasattr(np, "trapezoid") else None
        if area is not None:
            assert area == pytest.approx(curve["auc"], abs=0.04)


def test_a_calibrated_model_is_on_the_diagonal():
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    truth = (rng.random(20_000) < p).astype(float)
    places = np.arange(20_000)
    own = quality_of(HeldOutPredictions(truth, np.column_stack([1 - p, p]), places % 2, places, None, ("no", "yes")))
    bins = own["calibration"]["bins"]
    assert own["calibration"]["of"] == "yes"
    assert len(bins) == 10
    assert max(abs(b["predicted"] - b["observed"]) for b in bins) < 0.03
    assert sum(b["low"] <= b["predicted"] <= b["high"] for b in bins) >= 8


def test_intervals_cover():
    rng = np.random.default_rng(0)
    for share, rows in ((0.02, 50), (0.5, 20), (0.9, 200)):
        seen = rng.binomial(rows, share, 2000) / rows
        inside = [interval(s, rows)["low"] <= share <= interval(s, rows)["high"] for s in seen]
        assert 0.9 < np.mean(inside) <= 1


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 4)), min_size=1, max_size=40))
def test_weighted_quantiles_are_those_of_repeated_rows(pairs):
    values, masses = (np.array(v, dtype=float) for v in zip(*pairs, strict=True))
    if masses.sum() == 0:
        return
    repeated = np.repeat(values, masses.astype(int))
    at = (0.05, 0.25, 0.5, 0.75, 0.95)
    np.testing.assert_array_equal(quantiles(values, masses, at), np.quantile(repeated, at, method="inverted_cdf"))


def test_residuals_of_numbers_and_counts():
    rng = np.random.default_rng(0)
    predicted = rng.gamma(2, 2, 500)
    truth = rng.poisson(predicted).astype(float)
    predicted[7] = np.inf  # too large for a number
    places = np.arange(500)
    own = quality_of(HeldOutPredictions(truth, predicted, places % 5, places), counts=True)
    keep = np.isfinite(predicted)
    residuals = truth[keep] - predicted[keep]
    assert own["kind"] == "counts"
    assert own["rmse"] == pytest.approx(np.sqrt(np.mean(residuals**2)), rel=1e-3)
    assert own["quantiles"]["0.5"] == pytest.approx(np.quantile(residuals, 0.5, method="inverted_cdf"), rel=1e-3)
    assert len(own["points"]) == 300
    assert max(abs(b["predicted"] - b["observed"]) for b in own["calibration"]["bins"]) < 1.5
    one = quality_of(HeldOutPredictions(np.ones(3), np.ones(3), np.zeros(3, dtype=int), np.arange(3)))
    assert one["rmse"] == 0
    json.dumps([own, one], allow_nan=False)


def test_labels_of_any_kind():
    for y, classes in (
        (["b", "a", "c"], ("a", "b")),
        (pd.Series(["b", "a", "c"], dtype="category"), ("a", "b")),
        (np.array([True, False, True]), (False, True)),
        ([2.0, 1.0, 7.0], (1, 2)),
    ):
        place = {label: k for k, label in enumerate(classes)}
        assert codes_of(y, classes).tolist() == [place.get(label, -1) for label in list(y)]


class Strange:
    """A loss whose predictions are no probabilities."""

    def start(self, y, sample_weight):
        return 0.0

    def gradient(self, y, raw):
        return raw - (2 * y - 1)

    def curvature(self, y, raw):
        return np.ones_like(raw)

    def inverse_link(self, raw):
        return raw

    def value(self, y, raw):
        return 0.5 * (raw - (2 * y - 1)) ** 2


def test_losses_without_probabilities_have_errors_but_no_curves():
    X, y = load_breast_cancer(return_X_y=True)
    search = GBFSClassifierCV(GBFSClassifier(loss=Strange(), max_iter=10), n_mus=3, rule="min", random_state=0).fit(
        X, y
    )
    own = search.report(X, y).contents["quality"]["held_out"]
    assert own["right"] > 0.8
    assert own["roc"] == []
    assert own["calibration"] is None


def test_regression_by_quantiles_has_residuals():
    X, y = load_diabetes(return_X_y=True)
    search = GBFSRegressorCV(GBFSRegressor(loss=frugalboost.losses.Quantile(0.9), max_iter=20), n_mus=3, random_state=0)
    own = search.fit(X, y).report(X, y).contents["quality"]["held_out"]
    assert own["quantiles"]["0.5"] < 0 < own["quantiles"]["0.95"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scoring", ["neg_root_mean_squared_error", "neg_mean_absolute_error"])
def test_few_rows_that_decide_the_squared_error_are_told(weighted, scoring):
    rng = np.random.default_rng(0)
    errors = {"normal": rng.normal(size=400), "rare": np.exp(1.8 * rng.normal(size=400)), "none": np.zeros(400)}
    row = np.arange(400) % 200  # held out twice each
    weights = rng.uniform(0.5, 2, size=400) if weighted else None
    told = {
        name: few_large_errors(HeldOutPredictions(own, np.zeros(400), np.zeros(400, int), row, weights), scoring)
        for name, own in errors.items()
    }
    assert [name for name, notices in told.items() if notices] == ["rare"] * (scoring != "neg_mean_absolute_error")
    assert few_large_errors(None, scoring) == []
