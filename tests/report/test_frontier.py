"""The main chart: the lowest error at each number of features, what it is compared with, and names of lines."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import KFold

import frugalboost
from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor, GBFSRegressorCV
from frugalboost.estimators.fitted import NothingBoughtWarning
from frugalboost.page.charts import charts_of
from frugalboost.page.frontier import Across, Upwards, first_features, lowest_so_far, models_of, spread_out, stairs
from frugalboost.page.names import LONG, cut_names, ends_of_name, short_names
from frugalboost.page.page import error_text, said_of
from frugalboost.page.stops import stops_of
from frugalboost.page.vega import axis_format
from frugalboost.report import Report
from frugalboost.report.all_features import all_features
from frugalboost.tables.sample import Sample

ERRORS = st.integers(-20, 200).map(lambda e: e / 10)
MODELS = st.lists(st.tuples(st.integers(0, 40), ERRORS), min_size=1, max_size=30)
SIZES = st.floats(1e-9, 1e12)


def rows_of(models):
    return [
        {"x": x, "features": x + 1, "error": error, "test": error + 1, "i": i} for i, (x, error) in enumerate(models)
    ]


@given(MODELS, st.randoms(use_true_random=False), st.sampled_from([0.001, 1.0, 2.5e6]))
def test_the_lowest_errors_so_far(models, random, factor):
    """Every number of features has the lowest error of all models with no more, whatever their order and unit."""
    found = lowest_so_far(rows_of(models))
    xs, errors = [row["x"] for row in found], [row["error"] for row in found]
    assert xs == sorted(set(xs))
    assert errors == sorted(set(errors), reverse=True)
    for x, _ in models:
        known = min(error for other, error in models if other <= x)
        assert [row["error"] for row in found if row["x"] <= x][-1] == known
    again = [(x * factor, error) for x, error in models]
    random.shuffle(again)
    assert [(row["x"], row["error"]) for row in lowest_so_far(rows_of(again))] == [
        (x * factor, e) for x, e in zip(xs, errors, strict=True)
    ]


@given(MODELS, st.none() | ERRORS)
def test_the_line_only_falls_and_spans_the_models(models, constant):
    rows = rows_of(models)
    corners = stairs({"constant_error": constant}, rows)
    xs, errors = [c["x"] for c in corners], [c["error"] for c in corners]
    assert xs == sorted(xs)
    assert errors == sorted(errors, reverse=True)
    assert xs[-1] == max(x for x, _ in models)
    assert errors[-1] == min(error for _, error in models)
    best = lowest_so_far(rows)
    if constant is not None and constant >= best[0]["error"]:
        assert xs[0] == 0
    tested = [(c["error"], c["test"]) for c in corners if c["test"] is not None]
    assert tested == [(e, e + 1) for e, _ in tested]  # the test error is that of the same model


@given(st.lists(st.floats(-500, 800), max_size=6).map(sorted), st.floats(1, 40))
def test_names_are_moved_apart_but_not_further(places, gap):
    low, high = 14.0, 286.0
    moved = spread_out(places, gap, low, high)
    assert len(moved) == len(places)
    assert all(b - a >= gap - 1e-6 for a, b in itertools.pairwise(moved))
    assume(gap * len(places) <= high - low)
    assert all(low - 1e-6 <= place <= high + 1e-6 for place in moved)
    free = all(b - a >= gap for a, b in itertools.pairwise(places))
    if free and places and places[0] >= low and places[-1] <= high:
        assert moved == pytest.approx(places)


@given(st.lists(st.just(0.0) | st.floats(1e-9, 100), min_size=1, max_size=8), SIZES, st.booleans())
def test_errors_of_any_size_have_an_axis(errors, size, minus):
    errors = [(-error if minus else error) * size for error in errors]
    axis = Upwards(errors, 300, 10, 44)
    low, high = axis.domain
    assert low < high
    for error in errors:
        assert 9.9 <= axis.place(error) <= 256.1
    ticks = axis.ticks()
    assert ticks == sorted(set(ticks))
    assert all(low <= t <= high for t in ticks)
    places = [axis.place(t) for t in ticks]
    assert all(a - b >= 25.9 for a, b in itertools.pairwise(places))
    assert len(ticks) >= 2 or min(errors) >= 0
    if min(errors) >= 0:
        assert all(t >= 0 for t in ticks)


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=9), SIZES)
def test_the_axis_across_looks_the_same_in_every_unit(places, size):
    whole, scaled = Across(places, whole=True), Across([x * size for x in places], whole=False)
    assert whole.bent == scaled.bent or max(places) in (30 * min(p for p in places if p), 0)
    ticks = whole.ticks()
    assert ticks == sorted(set(ticks))
    assert all(t == int(t) and 0 <= t <= max(whole.most, 1) for t in ticks)
    assert len(ticks) <= 20
    if whole.bent == scaled.bent:
        assert [whole.share(x) for x in places] == pytest.approx([scaled.share(x * size) for x in places])
    assert [whole.share(x) for x in sorted(places)] == sorted(whole.share(x) for x in places)
    assert 0 <= whole.share(min(places)) <= whole.share(max(places)) <= 1 + 1e-12


def test_large_and_small_numbers_are_written_short():
    assert [axis_format(size) for size in (5e10, 120.0, 1e-7, 1e30)] == [".3~s", ",.4~r", ".2~e", ".2~e"]


@given(st.lists(st.text(min_size=1, max_size=90), max_size=40))
@settings(max_examples=200)
def test_short_names_differ(names):
    found = short_names(names)
    assert list(found) == list(dict.fromkeys(names))
    assert len(set(found.values())) == len(found)
    for name, short in found.items():
        assert short == name if len(name) <= LONG else len(short) <= LONG
        assert "".join(ends_of_name(name)) == name


def test_names_that_differ_only_in_the_middle_stay_apart():
    names = [f"a long name that differs {i:03} only in the middle of it all" for i in range(120)]
    assert len(set(short_names(names).values())) == 120


# ------------------------------------------------------------------------------------------------- whole reports


@pytest.fixture(scope="module")
def contents():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    costs = {"worst concave points": 7.0, "worst texture": 0.25}
    table = X[:400].assign(target=y[:400])
    test = X[400:].assign(target=y[400:])
    return frugalboost.select(
        table, "target", costs=costs, test=test, trees=30, points=8, splits=3, depth=2, sell=False
    ).report.contents


def layers(contents, chart="tradeoff"):
    drawn = charts_of(contents)[chart]
    return {layer.get("name"): layer for layer in drawn["layer"]}


@pytest.mark.parametrize(("chart", "x"), [("tradeoff", "n_features"), ("price", "price")])
def test_the_chart_shows_every_model_once_and_a_line_that_falls(contents, chart, x):
    found = layers(contents, chart)
    line = [(row["x"], row["error"]) for row in found["line_best"]["data"]["values"]]
    assert line == sorted(line)
    assert all(a[1] >= b[1] for a, b in itertools.pairwise(line))
    points = [*found["others"]["data"]["values"], *found["best"]["data"]["values"]]
    stops = stops_of(contents)
    assert sorted(row["i"] for row in points) == list(range(len(stops)))
    assert {row["i"]: (row["x"], row["error"]) for row in points} == {
        i: (stop[x], stop["error"]) for i, stop in enumerate(stops)
    }
    assert found["others"]["mark"]["opacity"] < 0.5 < found["best"]["mark"]["opacity"]
    assert [row["i"] for row in found["ring"]["data"]["values"]] == sorted(row["i"] for row in points)
    test = [row["test"] for row in found["line_test"]["data"]["values"]]
    assert set(test) <= {stop["test_error"] for stop in stops}
    whiskers = [name for name in found if name and "whisker" in name]
    assert whiskers == ["whisker"]
    (own,) = found["whisker"]["data"]["values"]
    assert own["high"] - own["error"] == pytest.approx(contents["chosen"]["spread"])


def test_lines_carry_their_names_and_errors(contents):
    found = layers(contents)
    said = {
        name.removeprefix("label_"): layer["encoding"]["text"]["value"].split("\n")
        for name, layer in found.items()
        if name and name.startswith("label_")
    }
    c = contents
    assert said["all"] == ["all 30 features", error_text(c, c["all_features"]["error"])]
    assert said["constant"] == ["a constant", error_text(c, c["constant_error"])]
    lowest = min(p["error"] for p in stops_of(c))
    assert said["best"] == ["best so far", error_text(c, lowest)]
    last = next(p for p in stops_of(c) if p["error"] == lowest)
    assert said["test"][0] == "on test rows"
    assert said["test"][1] in {error_text(c, p["test_error"]) for p in stops_of(c) if p["error"] == last["error"]}
    n = c["chosen"]["n_features"]
    assert said["chosen"] == [f"chosen: {error_text(c, c['chosen']['error'])}", f"{n} feature{'s' if n > 1 else ''}"]


def test_without_test_rows_or_what_earlier_runs_lack_lines_are_left_out(contents):
    old = json.loads(json.dumps(contents))
    del old["all_features"]
    old["constant_error"] = None
    old["chosen"]["test_error"] = None
    for point in old["points"]:
        point["test_error"] = None
    names = layers(old)
    assert {"label_best", "label_chosen"} <= set(names)
    assert not {"line_test", "label_test", "label_all", "all", "label_constant", "constant"} & set(names)
    assert "chart-tradeoff" in Report(old).html()


def test_the_slider_says_the_numbers_of_the_headline(contents):
    """6.25 was 6.2 % in the headline and 6.3 % beside the slider."""
    own = json.loads(json.dumps(contents))
    own["chosen"] |= {"index": None, "error": 6.25, "spread": 0.25}
    stop = next(stop for stop in stops_of(own) if stop["chosen"])
    said = said_of(own, stop)
    assert f"error {error_text(own, 6.25)} ± {error_text(own, 0.25)}" in said
    assert said.endswith("(the chosen one)")
    assert said_of(own, stop | {"n_features": 1, "chosen": False}).startswith("1 feature, cost ")
    for large in (123_456.7, 50_563.4):
        own["measure"] |= {"unit": "", "title": "RMSE"}
        assert f"RMSE {error_text(own, large)}" in said_of(own, stop | {"error": large})


def test_without_a_path_it_shows_the_first_of_the_chosen_features():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    found = frugalboost.select(X.assign(target=y), "target", k=4, trees=20, splits=2)
    c = found.report.contents
    rows = models_of(c, "n_features")
    assert [row["x"] for row in rows] == [1, 2, 3, 4]
    assert rows[-1]["error"] == c["chosen"]["error"]
    assert [row["i"] for row in rows] == [None, None, None, 0]
    assert [row["x"] for row in first_features(c, "price")] == [1.0, 2.0, 3.0, 4.0]
    line = layers(c)["line_best"]["data"]["values"]
    assert (line[0]["x"], line[0]["error"]) == (0, c["constant_error"])


def test_cut_names_lead_back_to_the_whole(contents):
    own = json.loads(json.dumps(contents))
    own["names"] = [f"{name} as it was measured by the laboratory of the clinic" for name in own["names"]]
    own["relations"]["names"] = []
    cut = cut_names(own)
    assert sorted(cut.values()) == sorted(own["names"])
    drawn = charts_of(own)["gains"]
    rows = drawn["data"]["values"]
    assert all(cut[row["short"]] == row["feature"] for row in rows)
    assert drawn["encoding"]["y"]["field"] == "short"
    assert {t["field"] for t in drawn["encoding"]["tooltip"]} >= {"feature"}


# ---------------------------------------------------------------------------------------- all features, free


@pytest.mark.parametrize("how", ["costs", "budget", "k", "trees tried"])
def test_all_features_are_free_in_every_split(how):
    """As a loop over the splits computes it, whatever the estimator pays."""
    X, y = load_breast_cancer(return_X_y=True)
    cv = list(KFold(3, shuffle=True, random_state=1).split(X))
    settings = {"max_iter": 12, "max_depth": 2, "random_state": 0}
    own = {"costs": {i: 1.0 + i for i in range(30)}} if how == "costs" else {"budget": 2.0} if how == "budget" else {}
    what = {"n_features_to_select": [1, 2]} if how == "k" else {"n_mus": 3}
    what |= {"max_iters": [3, 12]} if how == "trees tried" else {}
    search = GBFSClassifierCV(GBFSClassifier(**settings, **own), cv=cv, random_state=0, **what).fit(X, y)
    found = all_features(search, Sample(X, y))
    wanted = []
    for iterations in what.get("max_iters", [12]):
        free = GBFSClassifier(0.0, **settings | {"max_iter": iterations})
        models = [clone(free).fit(X[train], y[train]) for train, _ in cv]
        scores = [m.score(X[held], y[held]) for m, (_, held) in zip(models, cv, strict=True)]
        wanted.append(
            (np.mean(scores), np.std(scores, ddof=1) / 3**0.5, np.mean([m.n_features_selected_ for m in models]))
        )
    assert (found.score, found.spread, found.mean_features) == pytest.approx(max(wanted, key=lambda w: w[0]))
    assert found.mean_features > 3
    assert search.mus is None  # the search itself is as it was
    assert search.estimator.costs == own.get("costs")


def test_a_model_without_features_is_no_better_than_a_constant():
    """Where the given mus are not shares of each split's own mu_max, some splits buy when all rows buy nothing."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    c = GBFSRegressor(mu=0.02, max_iter=40).fit(X, y).report(X, y).contents
    rows = models_of(c, "n_features")
    empty = [row for row in rows if not row["features"]]
    assert any(row["error"] < 0.9 * c["constant_error"] for row in empty)  # otherwise this tests nothing
    assert not any(row["best"] for row in empty if row["error"] < 0.99 * c["constant_error"])
    line = layers(c)["line_best"]["data"]["values"]
    assert (line[0]["x"], line[0]["error"]) == (0, pytest.approx(c["constant_error"]))
    tips = {tip["field"] for tip in layers(c)["others"]["encoding"]["tooltip"]}
    assert "mean" in tips


def test_all_features_are_in_reports_of_estimators():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = GBFSRegressor(mu=0.05, max_iter=10, budget=3.0).fit(X, y)
    c = model.report(X, y).contents
    assert c["all_features"]["mean_features"] > 3
    assert c["all_features"]["error"] < c["constant_error"]
    search = GBFSRegressorCV(GBFSRegressor(max_iter=10), mus=[0.1, 0.0], random_state=0).fit(X, y)
    c = search.report(X, y).contents
    free = next(p for p in c["points"] if p["value"] == 0.0)
    assert c["all_features"]["error"] == pytest.approx(free["error"])
    assert c["all_features"]["spread"] == pytest.approx(free["spread"])


def test_a_report_on_wide_noise_has_all_lines():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 60))).rename(columns=lambda i: f"gene {i}")
    with pytest.warns(NothingBoughtWarning):
        found = frugalboost.select(X.assign(y=rng.permutation([0, 1] * 20)), "y", trees=10, points=4, splits=2)
    assert {"label_all", "label_constant", "label_best", "label_chosen"} <= set(layers(found.report.contents))
