"""Reports: what they say is true, names are text, and everything is in the file."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import StratifiedKFold

from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor, GBFSRegressorCV, gbfs_path
from frugalboost.costs import Bags
from frugalboost.report import Report
from frugalboost.report.facts import Scan
from frugalboost.report.measure import Measure
from frugalboost.report.relations import Ranks, correlations
from frugalboost.report.steps import step_sizes
from frugalboost.report.tree import first_tree
from frugalboost.tables.kinds import Framed, Listed, Plain

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
    assert "'row' only counts the rows" in said["id"]
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
    assert sparse_model.report(sparse.csr_matrix(dense), dense[:, 2]).contents["names"][0] == "column 2"


def test_a_generator_of_splits_is_refused(cancer):
    X, y = cancer
    splits = StratifiedKFold(2).split(X, y)
    search = GBFSClassifierCV(GBFSClassifier(max_iter=3), n_mus=2, cv=splits).fit(X, y)
    with pytest.raises(ValueError, match="only once"):
        search.report(X, y)
    with pytest.raises(ValueError, match="other columns"):
        GBFSClassifier(max_iter=3).fit(X, y).report(X[["row"]], y)


def test_the_paired_rule_looks_at_differences():
    from frugalboost.splits import chosen_index

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


def test_a_scan_finds_twins_and_equal_rows_in_any_kind_of_table():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 50, size=(60, 4)).astype(float)
    X[:, 3] = X[:, 1]
    X[7] = X[3]
    X[0, 0] = np.nan
    tables = [Plain(X), Listed(sparse.csr_array(X)), Framed(60, [X[:, 0], X[:, 1], X[:, 2], X[:, 3]], {})]
    for table in tables:
        scan = Scan(table)
        assert scan.twins == [[1, 3]]
        assert scan.missing[0] == pytest.approx(1 / 60)
        equal = [(i, j) for i in range(60) for j in range(i) if np.array_equal(X[i], X[j], equal_nan=True)]
        assert len(scan.row_keys) - len(np.unique(scan.row_keys)) == len({i for i, _ in equal})
        text = scan.notices(["a", "b", "c", "d"], np.arange(60.0), True)[-1].text
        assert "of 60 rows repeat the features of another row" in text
    assert Scan(Plain(np.array([[0.0, 1], [-0.0, 2]]))).constant.tolist() == [True, False]


def test_correlations_are_spearmans():
    from scipy.stats import spearmanr

    X = np.random.default_rng(0).integers(0, 9, size=(50, 4)).astype(float)
    assert np.allclose(correlations(Ranks(Plain(X)), [0, 1, 2, 3]), spearmanr(X).statistic)


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


def test_other_columns_and_kinds_of_tables():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = GBFSRegressor(mu=0.05, max_iter=5).fit(X, y)
    with pytest.raises(ValueError, match="another order"):
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


def test_a_leak_is_suspected_beside_free_features():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X["after"] = y * 2.0
    model = GBFSClassifier(mu=0.01, max_iter=10, costs={"mean radius": 0.0}).fit(X, y)
    c = model.report(X, y).contents
    assert c["constant_error"] == pytest.approx(36.8, abs=1)
    assert "leak" in [n["kind"] for n in c["notices"]]
