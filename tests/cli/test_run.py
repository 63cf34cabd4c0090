"""`frugalboost select`, `predict` and `report`: a table in, a folder out, and a sentence where something is wrong."""

import csv
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from run_tools import QUICK, run, select
from sklearn.datasets import load_breast_cancer

import frugalboost
from frugalboost.cli import main


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


# -------------------------------------------------------------------------------------------------- a whole run


def test_a_run_leaves_a_folder(table, capsys):
    assert select(table, "--target", "bought", "--id", "amount", "--out", "run") == 0
    shown = capsys.readouterr()
    assert "'bought' has 2 different texts: classification." in shown.err
    assert "'name' was left out: it has 240 different texts" in shown.err
    assert "'when' holds dates; they became days since 1970-01-01." in shown.err
    chosen = rows_of("run/selected.csv")
    assert {"size", "colour"} <= {row["feature"] for row in chosen}
    assert [row["order"] for row in chosen] == [str(i + 1) for i in range(len(chosen))]
    for row in chosen:
        assert row["feature"] in shown.out
    path = rows_of("run/path.csv")
    assert len(path) == 5
    assert [float(p["mu"]) for p in path] == sorted((float(p["mu"]) for p in path), reverse=True)
    assert path[0]["n_features"] == "0"
    assert json.loads(path[0]["features"]) == []
    model = frugalboost.load("run/model.frugal")
    assert [model.feature_names_in_[i] for i in model.selected_features_] == [row["feature"] for row in chosen]
    assert "<!doctype html>" in Path("run/report.html").read_text()


@pytest.mark.slow
def test_same_call_same_bytes_for_any_threads(table, no_page):
    assert select(table, "-t", "bought", "--id", "amount", "--out", "one", "--threads", "1") == 0
    assert select(table, "-t", "bought", "--id", "amount", "--out", "two", "--threads", "3") == 0
    for name in ("selected.csv", "path.csv", "model.frugal"):
        assert Path(f"one/{name}").read_bytes() == Path(f"two/{name}").read_bytes()


def test_json_is_for_programs(table, capsys, no_page):
    assert select(table, "-t", "bought", "--id", "amount", "--json", "--quiet") == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    found = json.loads(shown.out)
    assert found["n_features"] == len(found["selected"]) > 0
    assert found["measure"]["title"] == "error"
    assert found["folder"] == "table_selected"
    assert 0 <= found["error"] < found["constant_error"]


def test_numbers_are_predicted_as_numbers(table, capsys, no_page):
    assert select(table, "-t", "amount", "--id", "bought", "--json") == 0
    shown = capsys.readouterr()
    assert "regression" in shown.err
    found = json.loads(shown.out)
    assert found["measure"]["title"] == "RMSE"
    model = frugalboost.load("table_selected/model.frugal")
    assert isinstance(model, frugalboost.GBFSRegressor)


@pytest.mark.slow
def test_exactly_k_and_a_given_mu(table, capsys, no_page):
    assert select(table, "-t", "bought", "--id", "amount", "--k", "2", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n_features"] == 2
    assert "asked for" in found["why"]
    assert select(table, "-t", "bought", "--id", "amount", "--mu", "0.001", "--json") == 0
    assert "mu = 0.001 was asked for" in json.loads(capsys.readouterr().out)["why"]
    assert select(table, "-t", "bought", "--k", "2", "--mu", "1") == 2
    assert "--k and --mu" in capsys.readouterr().err
    assert select(table, "-t", "bought", "--k", "99") == 2
    assert "--k asks for 99 features" in capsys.readouterr().err


@pytest.mark.parametrize(("score", "price", "taken"), [(0.95, 2.0, True), (0.8, 2.0, False), (0.95, 3.0, False)])
def test_selling_back_must_do_better_and_cost_no_more(monkeypatch, score, price, taken):
    from types import SimpleNamespace

    from frugalboost.recipe import choosing

    X, y = load_breast_cancer(return_X_y=True)
    quick = frugalboost.GBFSClassifier(max_iter=5, max_depth=2, budget=2)
    search = frugalboost.GBFSClassifierCV(quick, mus=[0.001], random_state=0).fit(X, y)
    assert search.total_cost_ == 2
    assert 0.8 < search.best_score_ < 0.95
    asked = []

    def selling(search, rows, k, rival):
        asked.append(k)
        np.testing.assert_array_equal(rival.mean(), search.best_score_)
        warnings.warn("The selected features are weak", stacklevel=2)
        results = {"mean_test_score": [score], "se_test_score": [0.01]}
        return SimpleNamespace(
            best_score_=score,
            total_cost_=price,
            cv_results_=results,
            best_index_=0,
            estimator_="sold back",
            _bought_in_splits=[[None]],
            _held_out_scores=search._held_out_scores,
            n_splits_=search.n_splits_,
        )

    monkeypatch.setattr(choosing, "selling", selling)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        choice = choosing.sold_back(search, None)
    assert bool(said) == taken  # no word about a model that is not the choice
    assert asked == [2]
    assert (choice is not None) == taken
    if taken:
        assert choice.model == "sold back"
        assert "The rule chose 2 features" in choice.why


@pytest.mark.slow
def test_a_sample_chooses_and_all_rows_fit(table, capsys, no_page):
    assert select(table, "-t", "bought", "--id", "amount", "--sample", "120", "--json") == 0
    shown = capsys.readouterr()
    assert "120 of the rows, drawn at random, are used to choose" in shown.err
    assert "fitted on all 240" in json.loads(shown.out)["why"]
    assert frugalboost.load("table_selected/model.frugal")._model.ensemble.weight[0] == 240
    assert select(table, "-t", "bought", "--id", "amount", "--sample", "0", "--json") == 0
    shown = capsys.readouterr()
    assert "drawn at random" not in shown.err + shown.out


@pytest.mark.slow
def test_lines_are_tried_with_more_columns_than_rows(tmp_path, monkeypatch, capsys, no_page):
    from frugalboost.recipe import choosing

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(choosing, "WIDE", {"bases": ("lines", "trees"), "max_depths": (3,)})
    X = np.random.default_rng(0).normal(size=(60, 80))
    frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(80)]).assign(ill=X[:, 0] > 0)
    frame.to_csv("wide.csv", index=False)

    def tried(*more):
        quick = ("--trees", "10", "--points", "3", "--splits", "2", "--rule", "min", "--json", "--no-sell")
        assert main(["select", "wide.csv", "-t", "ill", *quick, *more]) == 0
        capsys.readouterr()
        model = frugalboost.load("wide_selected/model.frugal")
        return model.max_depth, model.base

    assert tried() in [(3, "lines"), (3, "trees")]
    assert tried("--depth", "2") == (2, "auto")
    frame[[f"g{i}" for i in range(40)] + ["ill"]].to_csv("wide.csv", index=False)
    assert tried() == (4, "auto")
    assert tried("--sample", "30") == (4, "auto")  # the whole table has more rows than columns


@pytest.mark.slow
def test_at_most_k(tmp_path, monkeypatch, capsys, no_page):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(60, 80))
    frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(80)]).assign(ill=X[:, 0] + X[:, 1] > 0)
    frame.to_csv("wide.csv", index=False)
    quick = ("--trees", "30", "--points", "3", "--splits", "2")
    assert main(["select", "wide.csv", "-t", "ill", "--k", "30", "--fewer", *quick]) == 0
    said = capsys.readouterr().out
    assert "At most 30 features were asked for" in said
    assert {"g0", "g1"} <= set(frugalboost.load("wide_selected/model.frugal").get_feature_names_out())
    assert frugalboost.load("wide_selected/model.frugal").n_features_selected_ < 30
    assert main(["select", "wide.csv", "-t", "ill", "--fewer", *quick]) == 2
    assert "--fewer needs --k" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(("given", "shared"), [(True, 1), (False, 0)])
def test_a_mu_that_was_asked_for_is_the_same_in_every_split(given, shared, monkeypatch):
    from frugalboost.report import steps

    X, y = load_breast_cancer(return_X_y=True)
    search = frugalboost.GBFSClassifierCV(frugalboost.GBFSClassifier(max_iter=5), n_mus=3, random_state=0).fit(X, y)
    asked, purchases_on = [], steps.purchases_on
    fits = []
    monkeypatch.setattr(steps, "purchases_on", lambda *args: asked.append(args[2]) or purchases_on(*args))
    fit = frugalboost.GBFSClassifier._fit_rows
    monkeypatch.setattr(
        frugalboost.GBFSClassifier, "_fit_rows", lambda self, rows: fits.append(self.mu) or fit(self, rows)
    )
    rows = steps.Sample(X, y)
    steps.steps_of(search, search.estimator_, rows, steps.HeldOutScorer(search.estimator_, None, None), mu_given=given)
    assert asked == [not given] * 5
    assert fits.count(search.mu_) == 5 * shared


@pytest.mark.slow
def test_selling_back_can_be_left_out(table, monkeypatch, no_page):
    from frugalboost.recipe import choosing

    asked = []
    monkeypatch.setattr(choosing, "sold_back", lambda *_: asked.append(1))
    assert select(table, "-t", "bought", "--id", "amount", "--no-sell") == 0
    assert asked == []
    assert select(table, "-t", "bought", "--id", "amount") == 0
    assert asked == [1]


@pytest.mark.slow
def test_errors_so_far_come_from_rows_that_took_no_part_in_buying(tmp_path, monkeypatch, capsys, no_page):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(60, 400)), columns=[f"x{i}" for i in range(400)])
    X["y"] = rng.permutation([0, 1] * 30)  # nothing to be found
    X.to_csv("noise.csv", index=False)
    assert select("noise.csv", "-t", "y", "--mu", "0.0001", "--json", "--leaf", "2", "--splits", "8") == 0
    errors = [row["error_so_far"] for row in json.loads(capsys.readouterr().out)["selected"]]
    assert min(errors) > 25  # features that were chosen with these rows in sight would have an error near 0


@pytest.mark.slow
def test_a_test_file_is_judged_besides(frame, table, capsys, no_page):
    frame[200:].drop(columns="noise").to_csv("test.csv", index=False)
    assert select(table, "-t", "bought", "--test", "test.csv") == 2
    assert "There is no column 'noise' in test.csv" in capsys.readouterr().err
    frame[200:].assign(weight=1.0).to_csv("test.csv", index=False)
    assert select(table, "-t", "bought", "--id", "amount", "--test", "test.csv", "--json") == 0
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert 0 <= found["test_error"] <= 50
    assert found["selected"][-1]["test_error_so_far"] is not None
    assert "rows of test.csv have the same features as a row of the table" in shown.err


@pytest.mark.slow
def test_weights_are_weights(frame, table, capsys, no_page):
    assert select(table, "-t", "bought", "--id", "amount", "--weight", "weight", "--json") == 0
    weighted = json.loads(capsys.readouterr().out)
    assert "weight" not in {row["feature"] for row in weighted["selected"]}
    assert select(table, "-t", "bought", "--weight", "name") == 2
    assert "does not hold numbers" in capsys.readouterr().err


@pytest.mark.slow
def test_a_rare_class_is_judged_by_auc(frame, tmp_path, monkeypatch, capsys, no_page):
    monkeypatch.chdir(tmp_path)
    rare = frame.assign(bought=np.where(frame["amount"] > frame["amount"].quantile(0.9), 1, 0))
    rare.to_csv("rare.csv", index=False)
    assert select("rare.csv", "-t", "bought", "--id", "amount", "--json") == 0
    shown = capsys.readouterr()
    assert "judged by ROC AUC" in shown.err
    assert json.loads(shown.out)["measure"]["title"] == "1 - ROC AUC"
    assert select("rare.csv", "-t", "bought", "--scoring", "acuracy") == 2
    assert "Did you mean 'accuracy'?" in capsys.readouterr().err


def test_nothing_worth_its_price_ends_with_3(table, capsys):
    assert select(table, "-t", "bought", "--mu", "1000") == 3
    assert "no feature is worth its price" in capsys.readouterr().err
    assert "None: no feature is worth its price" in Path("table_selected/report.html").read_text()
    assert main(["predict", "table_selected", table]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 241


# ------------------------------------------------------------------------------------------------------- problems


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tabel.csv", "-t", "bought"], "Did you mean 'table.csv'?"),
        (["nowhere/a.csv", "-t", "bought"], "and no folder"),
        (["table.csv"], "--target is missing"),
        (["table.csv", "-t", "Bought"], "Did you mean 'bought'?"),
        (["table.csv", "-t", "bought", "--id", "colur"], "Did you mean 'colour'?"),
        (["table.csv", "-t", "bought", "--id", "bought"], "has two roles"),
        (["table.csv", "-t", "name"], "too many for classes"),
        (["table.csv", "-t", "name", "--task", "classification"], "Is it an id?"),
        (["table.csv", "-t", "colour", "--task", "regression"], "holds texts"),
        (["table.csv", "-t", "when"], "it must be numbers or classes"),
        (["table.csv", "-t", "bought", "--costs", "p.csv"], "Did you mean 'size'?"),
        (["constant.csv", "-t", "c"], "is 1 in every row"),
        (["empty.csv", "-t", "c"], "is empty"),
        (["few.csv", "-t", "c"], "at least 10 are needed"),
        (["ragged.csv", "-t", "c"], "can't be read as CSV"),
        (["twice.csv", "-t", "a"], "two columns named 'a'"),
        (["broken.parquet", "-t", "a"], "can't be read"),
        (["table.docx", "-t", "a"], "has no known ending"),
        (["none-*.parquet", "-t", "a"], "No file has a name like"),
        (["table.csv", "-t", "bought", "--out", "table.csv"], "must name a folder"),
        (["table.csv", "-t", "bought", "--out", "full"], "holds other files than those of a run"),
    ],
)
def test_problems_are_one_sentence(table, tmp_path, capsys, arguments, words):
    (tmp_path / "p.csv").write_text("feature,price\nsise,3\n")
    (tmp_path / "constant.csv").write_text("a,c\n" + "".join(f"{i},1\n" for i in range(20)))
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "few.csv").write_text("a,c\n1,2\n2,3\n")
    (tmp_path / "ragged.csv").write_text("a,c\n1,2\n2,3,4\n")
    (tmp_path / "twice.csv").write_text("a,a\n1,2\n")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 nothing")
    (tmp_path / "table.docx").write_bytes(b"")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    before = sorted(p.name for p in tmp_path.iterdir())
    assert select(*arguments) == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert shown.out == ""
    said = [line for line in shown.err.splitlines() if line.startswith("frugalboost: ")]
    assert len(said) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == before  # nothing was written


def test_ctrl_c_ends_with_130(table, monkeypatch, capsys):
    from frugalboost.recipe import select as running

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "choose", stop)
    assert select(table, "-t", "bought") == 130
    assert "stopped" in capsys.readouterr().err


@pytest.mark.slow
def test_bars_are_for_terminals_only(table):
    code, shown, said = run(["select", table, "-t", "bought", "--id", "amount", *QUICK])
    assert code == 0
    assert "size" in shown
    assert "\x1b" not in said + shown
    assert "\r" not in said + shown


# ----------------------------------------------------------------------------------------------------- predictions


def test_predictions_need_only_what_was_bought(frame, table, capsys, no_page):
    assert select(table, "-t", "bought", "--id", "amount", "--k", "2", "--json") == 0
    names = [row["feature"] for row in json.loads(capsys.readouterr().out)["selected"]]
    frame[[*names, "name"]].to_csv("new.csv", index=False)
    assert main(["predict", "table_selected", "new.csv", "--id", "name", "--proba", "--out", "answers.csv"]) == 0
    answers = pd.read_csv("answers.csv")
    assert list(answers) == ["name", "prediction", "probability_no", "probability_yes"]
    model = frugalboost.load("table_selected/model.frugal")
    coded = frame[names].assign(**{n: frame[n].astype("category") for n in names if frame[n].dtype != float})
    assert (answers["prediction"] == model.predict(coded)).all()
    assert np.allclose(answers["probability_yes"], model.predict_proba(coded)[:, 1])


@pytest.mark.slow
def test_predictions_say_what_is_missing(frame, table, capsys, no_page):
    assert select(table, "-t", "bought", "--id", "amount", "--k", "2") == 0
    frame[["age"]].to_csv("new.csv", index=False)
    capsys.readouterr()
    assert main(["predict", "table_selected", "new.csv"]) == 2
    assert "There is no column" in capsys.readouterr().err
    assert main(["predict", "nothing.frugal", table]) == 2
    assert main(["predict", table, table]) == 2  # no model
    frame.assign(size="big").to_csv("new.csv", index=False)
    assert main(["predict", "table_selected", "new.csv"]) == 2
    said = "its values, such as 'big', are written in another way; it held numbers when the model was fitted"
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_levels_and_columns_that_are_empty_are_missing_values(frame, table, capsys, no_page):
    assert select(table, "-t", "bought", "--id", "amount", "--k", "2", "--json") == 0
    capsys.readouterr()
    frame[["size", "colour", "age"]].assign(size=np.nan, colour="violet").to_csv("new.csv", index=False)
    assert main(["predict", "table_selected", "new.csv"]) == 0
    assert len(set(capsys.readouterr().out.splitlines()[1:])) == 1


# ------------------------------------------------------------------------------------------------------ the report


@pytest.mark.slow
def test_report_is_made_again_from_the_run(table, capsys):
    assert select(table, "-t", "bought", "--id", "amount", "--out", "run") == 0
    before = Path("run/report.html").read_text()
    Path("run/report.html").write_text("")
    assert main(["report", "run"]) == 0
    assert Path("run/report.html").read_text() == before
    assert main(["report", "run", "--out", "r.html"]) == 0
    assert Path("r.html").read_text() == before
    capsys.readouterr()
    assert main(["report", "."]) == 2
    assert "There is no run" in capsys.readouterr().err
    Path("run/run.json").write_text("{")
    assert main(["report", "run"]) == 2
    assert "damaged" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------- a second run


@pytest.mark.slow
def test_another_target_or_table_does_not_replace_what_nobody_named(frame, table, capsys, no_page):
    """Only what is asked for is lost: a second target needs a folder of its own, or the word to replace the first."""
    call = [table, "-t", "bought", "--id", "amount"]
    assert select(*call) == 0
    assert select(*call) == 0  # the same again
    assert select(*call, "--k", "1") == 0  # other settings
    before = Path("table_selected/model.frugal").read_bytes()
    capsys.readouterr()
    assert select(table, "-t", "amount", "--id", "bought") == 2
    said = capsys.readouterr().err
    assert "'table_selected' holds the run of table.csv with the target 'bought'" in said
    assert "--out table_selected" in said
    Path("other").mkdir()
    frame.to_csv("other/table.csv", index=False)
    assert select("other/table.csv", *call[1:]) == 2
    assert select("./table.csv", *call[1:]) == 0  # the same file by another name
    assert select("other/../table.csv", *call[1:]) == 0
    assert Path("table_selected/model.frugal").read_bytes() != before
    capsys.readouterr()
    assert select(table, "-t", "amount", "--id", "bought", "--out", "table_selected") == 0
    assert "This will replace the run of table.csv with the target 'bought'" in capsys.readouterr().err
    assert select(table, "-t", "amount", "--id", "bought") == 0
    assert "This will replace" not in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_that_moved_with_its_table_is_the_same(table, tmp_path, monkeypatch, no_page):
    Path("old").mkdir()
    Path(table).rename("old/table.csv")
    monkeypatch.chdir("old")
    assert select(table, "-t", "bought", "--id", "amount") == 0
    monkeypatch.chdir(tmp_path)
    Path("old").rename("new")
    monkeypatch.chdir("new")
    assert select(table, "-t", "bought", "--id", "amount") == 0


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "[]", "{}", '{"about": 3}', '{"about": {"target": 1}, "settings": {}}', "\ud800"])
def test_a_record_that_can_not_be_read_does_not_stand_in_the_way(table, text, no_page):
    Path("table_selected").mkdir()
    Path("table_selected/run.json").write_text(text, errors="surrogatepass")
    assert select(table, "-t", "bought", "--id", "amount") == 0
