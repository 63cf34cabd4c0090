"""Reports: what they say is true, names are text, and everything is in the file."""

import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import StratifiedKFold

import frugalboost
from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor, GBFSRegressorCV, gbfs_path
from frugalboost.cli.printing import table_text
from frugalboost.costs import Bags, PerRow, Prices
from frugalboost.page.charts import charts_of
from frugalboost.page.frontier import models_of
from frugalboost.page.page import last_step_text, lead, page_of
from frugalboost.page.stops import start_of, stops_of
from frugalboost.page.words import number_text
from frugalboost.report import Report
from frugalboost.report.build import check_table
from frugalboost.report.facts import Scan
from frugalboost.report.measure import Measure
from frugalboost.report.relations import Ranks, correlations
from frugalboost.report.steps import step_sizes
from frugalboost.report.tree import first_tree
from frugalboost.tables.kinds import DenseTable, FrameTable, SparseTable

NASTY = '</script><script>document.title="owned"</script>'


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.rename(columns={"worst area": NASTY})
    X["copy of it"] = X[NASTY]
    X["always 1"] = 1
    X["row"] = np.arange(len(X))
    return X, y


@pytest.fixture(scope="module")
def searched(cancer):
    quick = GBFSClassifier(max_iter=15, max_depth=2)
    return GBFSClassifierCV(quick, n_mus=6, max_iters=[5, 15], rule="1se", random_state=0).fit(*cancer)


@pytest.fixture(scope="module")
def report(searched, cancer):
    return searched.report(*cancer)


def test_it_says_what_the_search_found(report, searched):
    c = report.contents
    results = searched.cv_results_
    assert c["chosen"]["n_features"] == searched.n_features_selected_
    assert c["chosen"]["error"] == pytest.approx(100 * (1 - searched.best_score_))
    assert [p["value"] for p in c["points"]] == sorted({p["mu"] for p in results["params"]}, reverse=True)
    chosen = c["points"][c["chosen"]["index"]]
    assert chosen["value"] == searched.best_params_["mu"]
    assert chosen["trees"] <= searched.best_params_["max_iter"]
    assert {c["names"][i] for i in chosen["features"]} == {c["names"][f["name"]] for f in c["chosen"]["features"]}
    for point in c["points"]:
        best = max(results["mean_test_score"][i] for i, p in enumerate(results["params"]) if p["mu"] == point["value"])
        if point is not chosen:
            assert point["error"] == pytest.approx(100 * (1 - best))
        assert sum(point["gains"]) == pytest.approx(100 if point["features"] else 0, abs=0.1)


def test_the_last_error_so_far_is_that_of_the_choice(searched, cancer):
    """With all that each split's model buys, refitted for free: near its cross-validated error."""
    c = searched.report(*cancer).contents
    assert c["chosen"]["features"][-1]["error"] == pytest.approx(c["chosen"]["error"], abs=3.0)


def test_notices(report):
    said = {n["kind"]: n["text"] for n in report.contents["notices"]}
    assert "'always 1' has the same value in every row." in said["constant"]
    assert "'copy of it'" in said["duplicate"]
    assert "'row' only numbers the rows" in said["id"]
    assert "leak" not in said


def test_a_leak_is_suspected():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X["after the fact"] = y * 2.0
    model = GBFSClassifier(mu=0.01, max_iter=10).fit(X, y)
    said = [n for n in model.report(X, y).contents["notices"] if n["kind"] == "leak"]
    assert len(said) == 1
    assert "'after the fact' alone takes the error from 36.8 % to 0.0 %" in said[0]["text"]


def test_names_are_text_and_nothing_comes_from_elsewhere(report):
    page = report.html()
    assert len(page) < 3_000_000
    assert NASTY not in page
    assert page.count("</script>") == 3
    ours = page[: page.index("(() => {")] + page[page.rindex("</script>\n<script>") :]  # without the library
    assert re.findall(r"(?:src|href|url)\s*[=(]\s*[\"']?https?:", ours) == []
    assert "default-src 'none'" in page


def test_contents_survive_json(report):
    again = Report.from_json(report.to_json())
    assert again.html() == report.html()
    json.loads(report.to_json())


def test_notebooks_show_it_in_a_frame_of_its_own(report):
    shown = report._repr_html_()
    assert shown.startswith("<iframe")
    assert 'sandbox="allow-scripts"' in shown
    assert "<script>" not in shown  # escaped


@pytest.mark.slow
def test_test_rows_and_other_scores():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    search = GBFSRegressorCV(
        GBFSRegressor(max_iter=10), n_features_to_select=[1, 2, 4], scoring="neg_mean_absolute_error", random_state=0
    )
    search.fit(X[:300], y[:300])
    c = search.report(X[:300], y[:300], X_test=X[300:], y_test=y[300:]).contents
    assert c["parameter"] == "n_features_to_select"
    assert c["measure"]["title"] == "mean absolute error"
    assert [p["n_features"] for p in c["points"]] == [1, 2, 4]
    wanted = np.abs(search.predict(X[300:]) - y[300:]).mean()
    assert c["chosen"]["test_error"] == pytest.approx(wanted)
    assert c["points"][c["chosen"]["index"]]["test_error"] == pytest.approx(wanted)
    with pytest.raises(ValueError, match="belong together"):
        search.report(X, y, X_test=X)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"mu": 0.02}, {"n_features_to_select": 3}])
def test_plain_estimators_are_searched_around(settings):
    X, y = load_iris(return_X_y=True)
    model = GBFSClassifier(max_iter=5, **settings).fit(X, y)
    c = model.report(X, y).contents
    assert "asked for" in c["chosen"]["why"]
    assert c["chosen"]["n_features"] == model.n_features_selected_
    if "mu" in settings:
        assert c["points"][c["chosen"]["index"]]["value"] == 0.02
    assert c["about"]["task"] == "classification, 3 classes"


WHO_PAYS = {
    "rows": (PerRow(10.0, unit="ms"), "price per row", "mean cost of a row"),
    "both": (
        PerRow(10.0, unit="ms") + Prices(20.0),
        "price, once and per row",
        "cost, what is paid once and the mean of a row",
    ),
    "rows, else free": (PerRow(10.0, unit="ms") + Prices(0.0), "price per row", "mean cost of a row"),
    "rows, some never": (PerRow([10.0] * 9 + [np.inf], unit="ms"), "price per row", "mean cost of a row"),
    "rows, some more": (PerRow([10.0, 20.0] * 5, unit="ms"), "price per row", "mean cost of a row"),
    "once": (Prices(20.0, unit="ms"), "price", "cost"),
    "nothing given": (None, "price", "cost"),
}


@pytest.mark.parametrize("name", WHO_PAYS)
@pytest.mark.parametrize("path", [True, False])
def test_it_says_who_pays(name, path):
    """Where rows pay, the cost is a mean over them, and less than the sum of the prices of the features."""
    costs, price, cost = WHO_PAYS[name]
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    if path:
        search = GBFSRegressorCV(GBFSRegressor(costs=costs, max_iter=15), n_mus=4, rule="min", random_state=0).fit(X, y)
        report, model = search.report(X, y), search.estimator_
    else:
        model = GBFSRegressor(mu=1e-4, costs=costs, max_iter=15).fit(X, y)
        report = model.report(X, y)
    c, page, said = report.contents, report.html(), lead(report.contents)
    row, total = number_text(model.prediction_cost_), number_text(model.total_cost_)
    expected = {
        "both": f" features at a cost of {total} ms, of which a row pays {row} ms on average: ",
        "once": f" features at a cost of {total} ms: ",
        "nothing given": " features: ",
    }.get(name, f" features at a mean cost of {row} ms a row: ")
    assert expected in said
    heads = re.findall(r"<th[^>]*>([^<]*)</th>", page)
    assert cost in heads
    assert (price in heads) == (costs is not None)
    prices = sum(f["price"] for f in c["chosen"]["features"])
    by_row = "row" in price
    assert (prices > model.total_cost_ + 1) == by_row
    assert ("the mean cost of a row is less than their sum" in page) == by_row
    assert ('"price per row, ms"' in page) == (name == "rows, some more")  # a chart, unless all prices are equal
    assert ('id="chart-price"' in page) == (costs is not None)
    shown = model._repr_html_inner()
    assert ("of which a row pays" in shown) == by_row
    old = {**c, "prices": {k: v for k, v in c["prices"].items() if k not in ("by_row", "once")}}
    assert " a row" not in lead(old)  # a run of an earlier version can still be shown


def test_a_selection_says_who_pays():
    frame = load_diabetes(as_frame=True).frame
    found = frugalboost.select(frame, "target", costs=PerRow(10.0, unit="ms"), trees=15, points=3, splits=2)
    assert " at a mean cost of " in repr(found)
    assert " ms a row: " in repr(found)
    assert "<th>price per row</th>" in found._repr_html_()
    assert "price per row" in table_text(found.report.contents, Path("."))
    assert 'id="chart-price"' in found.report.html()
    alone = frugalboost.select(frame, "target", costs=PerRow(10.0, unit="ms"), mu=0.001, trees=15, splits=2)
    assert 'id="chart-price"' not in alone.report.html()  # what rows pay is known for this model alone
    assert " at a mean cost of " in repr(alone)
    rows = models_of(alone.report.contents, "n_features")
    assert [row["price"] for row in rows] == [None] * (len(rows) - 1) + [alone.choice.price]


@pytest.mark.slow
def test_bags_prices_and_groups_are_told():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    bags = Bags({"person": ["age", "sex", "bmi", "bp"], "blood": ["s1", "s2", "s3", "s4", "s5"]}, prices={"blood": 3.0})
    model = GBFSRegressor(mu=0.001, costs=bags, max_iter=15).fit(X, y)
    report = model.report(X, y)
    c = report.contents
    own = {b["name"]: b for b in c["bags"]}
    assert own["blood"]["price"] == 3.0
    assert own["blood"]["n_bought"] == sum(model.support_[4:9])
    assert c["prices"]["differ"]
    assert sum(b["gain"] for b in c["bags"]) == pytest.approx(100)
    assert sum(f["price"] for f in c["chosen"]["features"]) == pytest.approx(model.total_cost_)
    page = report.html()
    for name in ("price", "gain_price", "bags"):
        assert f'id="chart-{name}"' in page


@pytest.mark.slow
def test_categories_and_sparse_tables():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"c": pd.Categorical(rng.choice(list("abcd"), 200)), "x": rng.normal(size=200)})
    y = (X["c"].isin(["a", "c"])) ^ (rng.random(200) < 0.1)
    model = GBFSClassifier(mu=0.001, max_iter=5, min_samples_leaf=5).fit(X, y)
    c = model.report(X, y).contents
    root = next(n for n in c["tree"] if n["parent"] is None)
    assert root["feature"] == "c"
    assert root["text"] in ("is a, c", "is b, d")
    dense = rng.normal(size=(80, 5)) * (rng.random((80, 5)) < 0.5)
    sparse_model = GBFSRegressor(max_iter=5, min_samples_leaf=5).fit(sparse.csr_matrix(dense), dense[:, 2])
    assert sparse_model.report(sparse.csr_matrix(dense), dense[:, 2]).contents["names"][0] == "x2"


def test_a_generator_of_splits_is_refused(cancer):
    X, y = cancer
    splits = StratifiedKFold(2).split(X, y)
    search = GBFSClassifierCV(GBFSClassifier(max_iter=3), n_mus=2, cv=splits).fit(X, y)
    with pytest.raises(ValueError, match="only once"):
        search.report(X, y)
    with pytest.raises(ValueError, match="must have the columns of the table of the fit"):
        GBFSClassifier(max_iter=3).fit(X, y).report(X[["row"]], y)


def test_the_paired_rule_looks_at_differences():
    from frugalboost.selection.splits import chosen_index

    hard = np.array([0.9, 0.5, 0.7])  # splits differ much, candidates hardly
    scores = np.stack([hard - 0.1, hard - [0.01, -0.005, 0.0], hard], axis=1)
    results = {f"split{i}_test_score": row for i, row in enumerate(scores)}
    results |= {
        "mean_test_score": scores.mean(axis=0),
        "se_test_score": scores.std(axis=0, ddof=1) / 3**0.5,
        "mean_price": np.array([0.0, 1.0, 2.0]),
        "mean_n_features": np.array([0.0, 1.0, 2.0]),
    }
    assert chosen_index(results, "min") == 2
    assert chosen_index(results, "1se") == 0
    assert chosen_index(results, "paired") == 1


# ------------------------------------------------------------------------------------------------------ pieces


def test_measures():
    assert Measure("roc_auc").shown(0.9) == "10.0 %"
    assert Measure("neg_log_loss").text(None) == "-"
    assert Measure("f1").title == "1 - f1"
    assert Measure("neg_median_absolute_error").title == "median absolute error"


def test_step_sizes():
    assert step_sizes(0) == []
    assert step_sizes(3) == [1, 2, 3]
    many = step_sizes(1000)
    assert many[:20] == list(range(1, 21))
    assert many[-1] == 1000
    assert len(many) <= 40


def test_the_slider_starts_at_the_chosen_model_wherever_it_is():
    points = [{"n_features": n, "features": list(range(n))} for n in (0, 2, 2, 5)]
    features = [{"name": 7, "gain": 10.0}, {"name": 1, "gain": 90.0}]
    sold = {"index": None, "n_features": 2, "features": features}
    stops = stops_of({"points": points, "chosen": sold})
    assert [stop["n_features"] for stop in stops] == [0, 2, 2, 2, 5]
    assert start_of(stops) == 3
    assert stops[3]["features"] == [1, 7]
    assert stops[3]["gains"] == [90.0, 10.0]
    assert [stop["on_path"] for stop in stops] == [True, True, True, False, True]
    assert start_of(stops_of({"points": points, "chosen": sold | {"n_features": 9}})) == 4
    ruled = stops_of({"points": points, "chosen": sold | {"index": 1}})
    assert len(ruled) == 4
    assert start_of(ruled) == 1
    alone = stops_of({"points": points[1:2], "chosen": sold})  # without a path, fitted on all rows after a sample
    assert [stop["features"] for stop in alone] == [[1, 7]]


def test_a_scan_finds_twins_and_equal_rows_in_any_kind_of_table():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 50, size=(60, 4)).astype(float)
    X[:, 3] = X[:, 1]
    X[7] = X[3]
    X[0, 0] = np.nan
    tables = [DenseTable(X), SparseTable(sparse.csr_array(X)), FrameTable(60, [X[:, 0], X[:, 1], X[:, 2], X[:, 3]], {})]
    for table in tables:
        scan = Scan(table)
        assert scan.twins == [[1, 3]]
        assert scan.missing[0] == pytest.approx(1 / 60)
        equal = [(i, j) for i in range(60) for j in range(i) if np.array_equal(X[i], X[j], equal_nan=True)]
        assert len(scan.row_keys) - len(np.unique(scan.row_keys)) == len({i for i, _ in equal})
        text = scan.notices(["a", "b", "c", "d"], np.arange(60.0), True)[-1].text
        assert "of 60 rows repeat the features of another row" in text
    assert Scan(DenseTable(np.array([[0.0, 1], [-0.0, 2]]))).constant.tolist() == [True, False]


def test_correlations_are_spearmans():
    from scipy.stats import spearmanr

    X = np.random.default_rng(0).integers(0, 9, size=(50, 4)).astype(float)
    assert np.allclose(correlations(Ranks(DenseTable(X)), [0, 1, 2, 3]), spearmanr(X).statistic)


def test_the_first_tree_agrees_with_predictions():
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(max_iter=1, max_depth=3).fit(X, y)
    nodes = {n["id"]: n for n in first_tree(model, [str(i) for i in range(10)])}
    children = {}
    for n in nodes.values():
        if n["parent"] is not None:
            children.setdefault(n["parent"], {})[n["side"]] = n

    def walked(x):
        node = nodes[0]
        while not node["leaf"]:
            limit = float(node["text"].removeprefix("≤ "))
            node = children[node["id"]]["yes" if x[int(node["feature"])] <= limit else "no"]
        return float(node["text"])

    start = float(model._model.ensemble.start[0])
    answers = np.array([walked(x) for x in X])
    assert np.mean(np.isclose(answers, model.predict(X) - start, rtol=0.02, atol=0.02)) > 0.95  # limits are rounded


def test_notebooks_show_what_was_bought_and_paths():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X = X.rename(columns={"bmi": "<b>bmi</b>"})
    model = GBFSRegressor(mu=0.05, max_iter=5)
    assert "features bought" not in model._repr_html_()
    shown = model.fit(X, y)._repr_mimebundle_()["text/html"]
    assert "features bought" in shown
    assert "&lt;b&gt;bmi" in shown
    path = gbfs_path(X, y, n_mus=3, max_iter=5)._repr_html_()
    assert path.count("<tr>") == 4


def test_progress_in_a_notebook_is_a_bar_of_tqdm(monkeypatch, capsys):
    import sys
    from types import SimpleNamespace

    import tqdm.auto

    class ZMQInteractiveShell:
        pass

    bars = []

    class Bar(tqdm.tqdm):
        def __init__(self, *arguments, **options):
            bars.append(self)
            super().__init__(*arguments, **options)

    X, y = load_diabetes(return_X_y=True)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=ZMQInteractiveShell))
    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    gbfs_path(X, y, n_mus=3, max_iter=3, verbose=1)
    GBFSRegressor(max_iter=7, verbose=1).fit(X, y)
    assert [(bar.total, bar.n) for bar in bars] == [(3, 3), (7, 7)]
    assert capsys.readouterr().out == ""  # bars are on standard error
    monkeypatch.delitem(sys.modules, "IPython")
    GBFSRegressor(max_iter=7, verbose=1).fit(X, y)
    assert "iteration 7/7" in capsys.readouterr().out


@pytest.mark.slow
def test_other_columns_and_kinds_of_tables():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = GBFSRegressor(mu=0.05, max_iter=5).fit(X, y)
    with pytest.raises(ValueError, match="in the same order"):
        model.report(X[X.columns[::-1]], y)
    rows = X.to_numpy().tolist()
    plain = GBFSRegressor(mu=0.05, max_iter=5).fit(rows, y)
    assert plain.report(rows, y).contents["facts"]["n_features"] == 10
    matrix = sparse.coo_matrix(X.to_numpy())
    assert GBFSRegressor(mu=0.05, max_iter=5).fit(matrix, y).report(matrix, y).contents["facts"]["n_rows"] == 442


def test_scores_of_ones_own_keep_their_size():
    from sklearn.metrics import make_scorer, mean_absolute_error

    X, y = load_diabetes(return_X_y=True)
    scorer = make_scorer(mean_absolute_error, greater_is_better=False)
    search = GBFSRegressorCV(GBFSRegressor(max_iter=5), n_mus=3, scoring=scorer, random_state=0).fit(X, y)
    c = search.report(X, y).contents
    assert c["chosen"]["error"] == pytest.approx(-search.best_score_)
    assert c["measure"]["unit"] == ""
    assert c["measure"]["title"].startswith("minus")


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_leak_of_a_number_is_suspected(noise):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    y = X["a"] + rng.normal(size=200)
    X["copy"] = y + noise * rng.normal(size=200)
    search = GBFSRegressorCV(GBFSRegressor(max_iter=60), n_mus=4, scoring="neg_root_mean_squared_error", random_state=0)
    kinds = [n["kind"] for n in search.fit(X, y).report(X, y).contents["notices"]]
    assert "leak" in kinds


@pytest.mark.slow
def test_a_leak_is_suspected_beside_free_features():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X["after"] = y * 2.0
    model = GBFSClassifier(mu=0.01, max_iter=10, costs={"mean radius": 0.0}).fit(X, y)
    c = model.report(X, y).contents
    assert c["constant_error"] == pytest.approx(36.8, abs=1)
    assert "leak" in [n["kind"] for n in c["notices"]]


# --------------------------------------------------------------------------------------------- the table of the fit


def small(seed=0, n=200):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc")).round(3).astype(np.float32).astype(np.float64)
    X["kind"] = pd.Categorical(rng.choice(["oak", "ash", "elm"], n))
    X.loc[::17, "b"] = np.nan
    y = np.where(X["a"] + (X["kind"] == "oak") + 0.2 * rng.normal(size=n) > 0.3, "yes", "no")
    return X, y, rng.integers(1, 4, n).astype(float)


QUICK_FIT = {"max_iter": 5, "max_depth": 2, "min_samples_leaf": 5}


def fitted_kinds(tmp_path):
    X, y, weights = small()
    plain = GBFSClassifier(0.01, **QUICK_FIT).fit(X, y, weights)
    plain.save(tmp_path / "model")
    template = GBFSClassifier(**QUICK_FIT)
    stopped = GBFSClassifier(0.01, early_stopping=True, **QUICK_FIT).fit(X, y, weights)
    batches = [(X[:77], y[:77], weights[:77]), (X[77:], y[77:], weights[77:])]
    return {
        "estimator": plain,
        "from a file": frugalboost.load(tmp_path / "model"),
        "pickled": pickle.loads(pickle.dumps(plain)),
        "search": GBFSClassifierCV(template, n_mus=3, cv=2).fit(X, y, weights),
        "of a path": gbfs_path(X, y, estimator=template, sample_weight=weights, n_mus=3).estimators[-1],
        "with rows set aside": stopped,
        "exactly k": GBFSClassifier(n_features_to_select=1, **QUICK_FIT).fit(X, y, weights),
        "from batches": GBFSClassifier(0.01, **QUICK_FIT).fit(batches),
    }


def other_tables():
    X, y, weights = small()
    order = np.random.default_rng(5).permutation(len(X))
    swapped = np.where(y == "yes", "no", "yes")
    one = X.copy()
    one.loc[150, "c"] += 1
    renamed = X.assign(kind=X["kind"].cat.rename_categories({"oak": "yew"}))
    other = X.assign(kind=X["kind"].cat.rename_categories({"oak": "ash", "ash": "oak"}))
    return {
        "fewer rows": (X[:150], y[:150], weights[:150], "X has 150 rows, but the estimator was fitted on 200"),
        "other values": (small(1)[0], y, weights, "X: not those of the fit"),
        "one value": (one, y, weights, "X: not those"),
        "signs": (X.assign(a=-X["a"], c=-X["c"]), y, weights, "X: not those"),
        "two columns exchanged": (X.assign(a=X["c"], c=X["a"]), y, weights, "X: not those"),
        "missing values filled": (X.fillna(0.0), y, weights, "X: not those"),
        "levels renamed": (renamed, y, weights, "X: not those"),
        "levels exchanged": (other, y, weights, "X: not those"),
        "classes exchanged": (X, swapped, weights, "y: not those"),
        "classes renamed": (X, np.where(y == "yes", "z", "no"), weights, "y: not those"),
        "no weights": (X, y, None, "weights: not those"),
        "other weights": (X, y, weights + 1, "weights: not those"),
        "shuffled": (X.iloc[order], y[order], weights[order], "X and y and weights: not those .* in another order"),
    }


@pytest.mark.slow
def test_another_table_is_refused(tmp_path):
    """It was taken silently, and the report contradicted itself."""
    for kind, model in fitted_kinds(tmp_path).items():
        for what, (X, y, weights, words) in other_tables().items():
            with pytest.raises(ValueError, match=words) as raised:
                model.report(X, y, weights)
            assert "as X_test and y_test" in str(raised.value), (kind, what)


@pytest.mark.slow
def test_the_same_table_in_another_form_is_the_same(tmp_path):
    X, y, weights = small()
    forms = {
        "the same": X,
        "float32": X.astype(dict.fromkeys("abc", np.float32)),
        "other index": X.set_index(pd.Index(range(1000, 1200))),
        "levels in another order": X.assign(kind=pd.Categorical(X["kind"].astype(str), ["oak", "elm", "ash", "fir"])),
        "polars": pl.from_pandas(X),
    }
    models = fitted_kinds(tmp_path)
    for name, model in models.items():
        fitted = getattr(model, "estimator_", model)
        for form, table in forms.items():
            assert check_table(fitted, table, y.tolist(), list(weights)) is not None, (name, form)
    assert models["from a file"].report(X, y, weights).contents["facts"]["n_rows"] == 200
    assert models["search"].report(X, y, weights).contents["facts"]["n_rows"] == 200


def test_the_same_numbers_in_another_form_are_the_same():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(3000, 5)) * (rng.random((3000, 5)) < 0.3)).astype(np.float32)
    X[::13, 1] = np.nan
    y = np.nan_to_num(X).sum(axis=1) + 0.1 * rng.normal(size=3000)
    model = GBFSRegressor(0.0, max_iter=3, n_jobs=1).fit(X, y)
    signed = np.where(X == 0, np.float32(-0.0), X)
    payload = X.astype(np.float64)
    payload.view(np.uint64)[np.isnan(payload)] = 0xFFF8_0000_0000_0777
    wide = sparse.csc_array(X)
    for form in (X.astype(float), np.asfortranarray(X), signed, payload, sparse.csr_matrix(X), wide, pd.DataFrame(X)):
        assert check_table(model, form, y, None).y is not None
        assert check_table(model, form, y, np.ones(3000)) is not None  # all rows count the same
    late = X.copy()
    late[2000:, 0] += 1
    for form in (late, sparse.csr_array(late), late[:, ::-1]):
        with pytest.raises(ValueError, match="X: not those"):
            model.report(form, y)


def test_a_model_file_of_an_earlier_version_is_reported_on(tmp_path):
    X, y, weights = small()
    model = GBFSClassifier(0.01, **QUICK_FIT).fit(X, y, weights)
    model._fitted_on = None
    model.save(tmp_path / "old")
    assert check_table(frugalboost.load(tmp_path / "old"), X[:100], y[:100], None) is not None


# ------------------------------------------------------------------------------------------------ lines


def report_with_lines(base, classes=1):
    """A report on a model with lines, and the model."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 6)), columns=list("abcdef"))
    score = (X["a"] - X["b"] + 2 * X["c"].abs() + 0.5 * rng.normal(size=300)).to_numpy()
    y = score if classes == 1 else np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    kind, search = (GBFSRegressor, GBFSRegressorCV) if classes == 1 else (GBFSClassifier, GBFSClassifierCV)
    found = search(kind(base=base, max_iter=30), n_mus=4, cv=2, random_state=0, rule="min").fit(X, y)
    return found.report(X, y), found.estimator_


@pytest.mark.slow
@pytest.mark.parametrize("classes", [1, 2, 3])
@pytest.mark.parametrize("base", ["lines", "both"])
def test_lines_are_told_from_trees(base, classes):
    report, model = report_with_lines(base, classes)
    c, page = report.contents, report.html()
    assert model.base_ == base
    trees, lines = model._counts()
    assert c["made_of"] == {
        "trees": trees,
        "lines": lines,
        "features": len(model.lines_),
        "words": ("" if base == "lines" else f"{trees} trees and ") + f"{lines} lines in {len(model.lines_)} features",
    }
    assert f"The model adds up {c['made_of']['words']}." in page
    slopes = {c["names"][f["name"]]: f["slope"] for f in c["chosen"]["features"]}
    assert slopes == dict.fromkeys(slopes) | {line["name"]: line["slope"] for line in model.lines_}
    assert ("chart-slopes" in page, "chart-tree" in page) == (True, base == "both")
    if classes == 1:
        assert ">+" in page
        assert slopes["a"] > 0 > slopes["b"]
    if classes == 2:
        assert "the raw prediction of class 1 rises" in page
    assert json.loads(report.to_json())["made_of"] == c["made_of"]


def test_the_first_tree_may_come_after_lines():
    report, model = report_with_lines("both")
    trees, c = model._model.ensemble, report.contents
    assert trees.line[0] >= 0
    number = next(t for t in range(model.best_iteration_) if trees.feature[trees.tree_begin[t]] >= 0)
    assert c["tree_iteration"] == number + 1
    assert f"Iteration {number + 1}, the first with a tree, of {model.best_iteration_} iterations" in report.html()
    nodes = slice(trees.tree_begin[number], trees.tree_begin[number + 1])
    assert sorted(n["id"] for n in c["tree"]) == list(range(nodes.start, nodes.stop))
    assert c["tree"][0]["share"] == 1.0
    leaves = sum(n["share"] for n in c["tree"] if n["leaf"])
    assert leaves == pytest.approx(1.0)
    values = {n["text"] for n in c["tree"] if n["leaf"]}
    assert values == {f"{v:+.3g}" for v in trees.value[nodes][trees.feature[nodes] < 0]}


def test_reports_from_before_lines_are_still_drawn(report):
    old = json.loads(report.to_json())
    del old["made_of"], old["tree_iteration"]
    for feature in old["chosen"]["features"]:
        del feature["slope"]
    page = Report(old).html()
    assert page.count("<tr") == report.html().count("<tr")
    assert "adds up" not in page
    assert "The first of" in page
    assert "slope" not in page.split('type="application/json"')[0]


@pytest.mark.slow
def test_charts_follow_the_schema():
    """They are made without looking at it."""
    import altair
    import jsonschema

    X, y = load_diabetes(return_X_y=True, as_frame=True)
    costs = Bags({"person": list(X.columns[:4]), "blood": list(X.columns[4:])}, prices={"blood": 3.0})
    charts = charts_of(GBFSRegressor(max_iter=5, costs=costs).fit(X, y).report(X, y).contents)
    assert len(charts) == 8
    for chart in charts.values():
        altair.Chart.from_dict(chart)
    with pytest.raises(jsonschema.ValidationError, match="no_such"):
        altair.Chart.from_dict(charts["gains"] | {"mark": {"type": "no_such"}})


IN_A_NEW_PROCESS = """
import pickle, sys
with open("models", "rb") as file:
    model, path, X, y = pickle.load(file)
assert not {"altair", "matplotlib", "frugalboost.report", "frugalboost.plotting"} & set(sys.modules)
assert type(path.plot()).__name__ == "SelectionPathDisplay"
print(model.report(X, y))
"""


class Ours(GBFSRegressor):
    """A user's own estimator."""


@pytest.mark.slow
def test_an_estimator_from_elsewhere_is_reported_on(tmp_path):
    """Nothing but estimators is imported before its methods look for reports and figures."""
    X, y = load_diabetes(return_X_y=True)
    model, path = Ours(max_iter=10).fit(X, y), gbfs_path(X, y, n_mus=2, max_iter=5)
    expected = repr(model.report(X, y))
    model.__class__ = GBFSRegressor  # the new process does not have the other one
    (tmp_path / "models").write_bytes(pickle.dumps((model, path, X, y)))
    call = [sys.executable, "-c", IN_A_NEW_PROCESS]
    done = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.strip() == expected


def test_a_last_error_that_is_not_that_of_the_choice_is_explained(searched, cancer):
    """The sentence is there exactly where a number that is shown differs."""
    contents = searched.report(*cancer).contents
    features = contents["chosen"]["features"]
    for error, own, test, own_test in [(4.0, 4.04, None, None), (4.0, 4.2, None, None), (4.0, 4.0, 3.0, 3.5)]:
        last = [*features[:-1], features[-1] | {"error": error, "test_error": test}]
        chosen = contents["chosen"] | {"features": last, "error": own, "test_error": own_test}
        changed = contents | {"chosen": chosen}
        said = "The last error so far need not be that of the chosen model"
        differs = f"{error:.1f}" != f"{own:.1f}" or test != own_test
        assert (said in last_step_text(changed)) == differs
        assert (said in page_of(changed)) == differs
        assert (said in " ".join(table_text(changed, Path("run")).split())) == differs
    assert last_step_text(contents | {"chosen": contents["chosen"] | {"features": []}}) == ""
