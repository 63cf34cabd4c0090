"""frugalboost.select: the recipe of the command in Python."""

import inspect
import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import dump_svmlight_file, load_breast_cancer

import frugalboost
from frugalboost.cli import main
from frugalboost.costs import Bags, PerRow, Prices
from frugalboost.recipe import options
from frugalboost.recipe import select as recipe
from frugalboost.recipe.problems import Problem

QUICK = {"trees": 20, "points": 5, "splits": 2, "depth": 2}
QUICK_COMMAND = ["--trees", "20", "--points", "5", "--splits", "2", "--depth", "2", "--quiet"]
OURS = ("model.frugal", "selected.csv", "path.csv")

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_page")]


@pytest.fixture(scope="module")
def frame():
    """Numbers, whole numbers, truths, texts, missing values, dates, an id, weights."""
    rng = np.random.default_rng(0)
    n = 240
    X = rng.normal(size=(n, 6))
    city = rng.choice(["Bonn", "Ulm", "Kiel"], n)
    found = pd.DataFrame(X, columns=[f"x{i}" for i in range(6)])
    found.loc[::9, "x3"] = np.nan
    found["rooms"] = rng.integers(1, 6, n)
    found["garden"] = X[:, 4] > 0.3
    found["city"] = city
    found["name"] = [f"n{i}" for i in range(n)]
    found["sold"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, n), unit="D")
    found["w"] = rng.uniform(0.5, 2, n).round(3)
    found["y"] = np.where(X[:, 0] + X[:, 1] + (city == "Bonn") + 0.3 * rng.normal(size=n) > 0, "yes", "no")
    return found


def content(folder):
    return {name: (Path(folder) / name).read_bytes() for name in OURS}


def what_is_told(folder):
    """The report's contents but for where the table came from and how the run was asked for."""
    told = json.loads((Path(folder) / "run.json").read_text())
    told["about"].pop("source")
    for key in ("command", "python", "table"):
        told["settings"].pop(key, None)
    return told


# ------------------------------------------------------------------------------------------ the same as the command


@pytest.mark.parametrize("asked", [{}, {"k": 2}, {"weight": "w", "ids": ["name"]}, {"mu": 0.01, "budget": 3.0}])
def test_a_frame_gives_the_bytes_of_the_command(frame, asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame.to_csv("a.csv", index=False)
    frame.to_parquet("b.parquet")
    words = []
    for name, value in asked.items():
        words += ["--id", "name"] if name == "ids" else [f"--{name}", str(value)]
    for file in ("a.csv", "b.parquet"):
        assert main(["select", file, "-t", "y", "--out", file[0], *words, *QUICK_COMMAND]) == 0
    frugalboost.select(frame, "y", **asked, **QUICK).save("frame")
    assert content("a") == content("b") == content("frame")
    assert what_is_told("a") == what_is_told("b") == what_is_told("frame")
    assert sorted(p.name for p in Path("frame").iterdir()) == sorted(p.name for p in Path("a").iterdir())


def test_paths_are_what_the_command_reads(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame.to_csv("a.csv", index=False)
    frame.to_csv("a.csv.gz", index=False)
    frame.to_feather("a.feather")
    Path("parts").mkdir()
    frame[:100].to_parquet("parts/1.parquet")
    frame[100:].to_parquet("parts/2.parquet")
    found = [frugalboost.select(place, "y", **QUICK) for place in ("a.csv", Path("a.csv.gz"), "a.feather", "parts")]
    for i, selection in enumerate(found):
        selection.save(f"run{i}")
    assert all(content(f"run{i}") == content("run0") for i in range(4))
    assert main(["select", "a.csv", "-t", "y", "--out", "command", *QUICK_COMMAND]) == 0
    by_command = json.loads(Path("command/run.json").read_text())
    by_python = json.loads(Path("run0/run.json").read_text())
    assert by_python["settings"]["table"] == by_command["settings"]["table"] == "a.csv"
    assert by_python["settings"]["python"] == "frugalboost.select('a.csv', 'y', trees=20, depth=2, splits=2, points=5)"
    assert by_python["about"] == by_command["about"]


FRAMES = {
    "polars": lambda f: pl.from_pandas(f),
    "arrow": lambda f: pa.Table.from_pandas(f, preserve_index=False),
    "pandas of arrow": lambda f: f.convert_dtypes(dtype_backend="pyarrow"),
    "another index": lambda f: f.set_axis([f"row {i}" for i in range(len(f))]),
}


@pytest.fixture(scope="module")
def expected(frame):
    return frugalboost.select(frame, "y", **QUICK)


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_every_library(frame, expected, kind, tmp_path):
    other = FRAMES[kind](frame)
    found = frugalboost.select(other, "y", **QUICK)
    expected.save(tmp_path / "a")
    found.save(tmp_path / "b")
    assert content(tmp_path / "a") == content(tmp_path / "b")
    assert found.report.contents["about"]["source"].startswith("data frame (")
    np.testing.assert_array_equal(found.predict(other), expected.predict(frame))
    np.testing.assert_array_equal(found.predict_proba(other), expected.predict_proba(frame))


def test_categories_and_odd_names(frame):
    """Category dtypes, whole numbers as names and names with blanks come back as they were."""
    odd = frame[["x0", "x1", "city", "y"]].astype({"city": "category"})
    odd.columns = [0, " one ", "city", "y"]
    found = frugalboost.select(odd, "y", k=3, **QUICK)
    assert set(found.features) == {"0", " one ", "city"}
    assert (found.predict(odd) == odd["y"]).mean() > 0.8
    by_polars = pl.from_pandas(odd.set_axis(["0", " one ", "city", "y"], axis=1))
    np.testing.assert_array_equal(found.predict(by_polars), found.predict(odd))


# --------------------------------------------------------------------------------------------------- what is found


def test_what_a_selection_holds(frame):
    found = frugalboost.select(frame, "y", test=frame[::3], **QUICK)
    assert found.choice.features == tuple(found.features)
    assert set(found.features) >= {"x0", "x1"}
    assert found.choice.n_features == len(found.features) == found.model.n_features_selected_
    assert [found.model.feature_names_in_[i] for i in found.model.selected_features_] == found.features
    assert found.path[0].n_features == 0
    assert len(found.path) == 5
    assert found.choice.test_error is not None
    assert pd.DataFrame(found.path)["error"].min() < pd.DataFrame(found.path)["error"][0]
    assert found.measure == "error %"
    assert "240" not in found.why
    assert any("'sold' holds dates; they became days" in text for text in found.notices)
    assert any("80 of the 80 rows of test have the same features" in text for text in found.notices)
    assert found.report.contents["about"]["test_rows"] == "80 in data frame (pandas)"
    assert repr(found).startswith(f"<Selection: {len(found.features)} of 11 features: error ")
    assert "x0" in repr(found)
    again = pickle.loads(pickle.dumps(found))
    assert again.path == found.path


def test_regression(frame):
    found = frugalboost.select(frame.assign(y=frame["x0"] * 2 + frame["x1"]), "y", **QUICK)
    assert found.measure == "RMSE"
    assert set(found.features) >= {"x0", "x1"}
    with pytest.raises(AttributeError, match="there are no probabilities"):
        found.predict_proba(frame)


def test_html_is_escaped(frame):
    found = frugalboost.select(frame.rename(columns={"x0": "<script>alert(1)</script>"}), "y", k=2, **QUICK)
    shown = found._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "error so far" in shown


def test_folders_are_replaced_or_refused(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = frugalboost.select(frame, "y", k=1, **QUICK)
    found.save("run")
    before = content("run")
    frugalboost.select(frame, "y", k=2, **QUICK).save("run")
    assert content("run") != before
    Path("other").mkdir()
    Path("other/thesis.txt").write_text("mine")
    with pytest.raises(
        ValueError, match=r"holds other files than those of a run. Name another one with the argument folder"
    ):
        found.save("other")
    Path("file").write_text("mine")
    with pytest.raises(ValueError, match="'file' is a file; folder must name a folder"):
        found.save("file")
    assert Path("other/thesis.txt").read_text() == Path("file").read_text() == "mine"
    assert main(["predict", "run", "nothing.csv"]) == 2
    assert frugalboost.load("run/model.frugal").n_features_selected_ == 2


# ---------------------------------------------------------------------------------------------------- what is given


def test_weights_change_the_model(frame, tmp_path):
    plain, weighted = (frugalboost.select(frame, "y", weight=w, ids="name", k=2, **QUICK) for w in (None, "w"))
    assert "w" in plain.model.feature_names_in_
    assert "w" not in weighted.model.feature_names_in_
    assert weighted.model._model.ensemble.weight[0] == pytest.approx(frame["w"].sum())
    assert weighted.report.contents["about"]["left_out_as_ids"] == ["name"]


def test_prices_from_files_mappings_and_objects(frame, tmp_path):
    prices = {"x0": 50.0, "city": 3.0}
    file = tmp_path / "prices.csv"
    file.write_text("feature,price\nx0,50\ncity,3\n")
    found = [frugalboost.select(frame, "y", costs=c, budget=6, **QUICK) for c in (prices, file, Prices(prices))]
    assert len({repr(f.features) for f in found}) == 1
    assert "x0" not in found[0].features
    assert found[0].choice.price == pytest.approx(sum(prices.get(f, 1.0) for f in found[0].features))
    assert found[0].choice.price <= 6


PER_ROW = {
    "per row": PerRow(1.0),
    "both": PerRow(0.5) + Prices({"x0": 0.5}, default=0.0),
    "with bags": Bags({"first": ["x0", "x1"]}, default=0.1) + PerRow(0.5),
}


@pytest.mark.parametrize("costs", PER_ROW.values(), ids=PER_ROW)
@pytest.mark.parametrize(
    "asked", [{}, {"rule": "min"}, {"mu": 0.01}, {"mu": 0.01, "points": 3}, {"sell": False}, {"thorough": True}]
)
def test_a_budget_of_what_rows_pay_is_kept(frame, costs, asked):
    """What would break it, selling back, is left out and said; it is tried without a budget."""
    found = frugalboost.select(frame, "y", costs=costs, budget=1.5, **QUICK | asked)
    assert 0 < found.choice.price <= 1.5 + 1e-9
    assert found.choice.price == pytest.approx(found.model.total_cost_)
    told = [n for n in found.notices if "Selling features back was not tried" in n]
    assert len(told) == (not {"mu", "sell"} & set(asked))
    free = frugalboost.select(frame, "y", costs=costs, **QUICK | asked)
    assert not any("Selling features back" in n for n in free.notices)


@pytest.mark.parametrize("asked", [{"k": 2}, {"k": 2, "fewer": True}, {"k": 2, "points": 3}])
def test_so_many_features_within_a_budget_of_what_rows_pay_are_an_error(frame, asked):
    frugalboost.select(frame, "y", costs=PerRow(1.0), **QUICK | asked)
    with pytest.raises(ValueError, match=r"^k and budget can't be used together with prices per row") as told:
        frugalboost.select(frame, "y", costs=PerRow(1.0), budget=1.5, **QUICK | asked)
    assert not any(word in str(told.value) for word in ("n_features_to_select", "refit", "average", "raise mu"))


def test_bags_from_files_mappings_and_objects(frame, tmp_path):
    bags = {"first": ["x0", "x1"], "second": ["x2", "x3", "x4"]}
    file = tmp_path / "bags.csv"
    file.write_text("feature,bag\n" + "".join(f"{f},{b}\n" for b, own in bags.items() for f in own))
    found = [frugalboost.select(frame, "y", bags=b, k=1, **QUICK) for b in (bags, file, Bags(bags))]
    assert [f.features for f in found] == [["x0", "x1"]] * 3
    assert [f.choice.price for f in found] == [1.0] * 3
    both = frugalboost.select(frame, "y", bags=Bags(bags), costs={"x0": 2.0}, budget=3, rule="min", **QUICK)
    same = frugalboost.select(frame, "y", bags=bags, costs={"x0": 2.0}, budget=3, rule="min", **QUICK)
    assert both.features == same.features
    assert both.choice.price == same.choice.price <= 3


def test_the_call_can_be_made_again(frame):
    """What is a default, or changes no result, is not told."""
    given = {"table": frame, "target": "y", "test": frame, "trees": int("500"), "costs": Prices({"x0": 2.0}), "ids": ()}
    defaults = {n: p.default for n, p in inspect.signature(frugalboost.select).parameters.items()}
    call = recipe.python_call(defaults | given | {"verbose": 1, "threads": 2, "k": 3})
    assert call == {"python": "frugalboost.select(table, 'y', k=3, costs=Prices(values={'x0': 2.0}), test=test)"}


@pytest.mark.parametrize("number", [int, np.int64, str])
def test_names_may_be_whole_numbers(number):
    """As pandas names columns by itself."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 5)))
    frame[3] = frame[0] + frame[1] + 0.1 * frame[3]
    frame[4] = 1.0 + (frame[4] > 0)
    arguments = {"ids": [number(1)], "weight": number(4)}
    found = frugalboost.select(frame, number(3), k=1, test=frame, **arguments, **QUICK)
    assert found.features == ["0"]
    assert len(found.predict(frame)) == 120
    about = found.report.contents["about"]
    assert (about["target"], about["weights"], about["left_out_as_ids"]) == ("3", "4", ["1"])
    call = found.report.contents["settings"]["python"]
    assert call.startswith("frugalboost.select(table, '3', k=1, ids=('1',), weight='4', test=test")


@pytest.mark.parametrize("none", [None, (), [], np.array([], dtype=str)], ids=["None", "tuple", "list", "array"])
def test_no_ids(frame, none):
    found = frugalboost.select(frame.drop(columns="name"), "y", ids=none, k=1, **QUICK)
    assert "ids" not in found.report.contents["settings"]["python"]
    assert "left_out_as_ids" not in found.report.contents["about"]


@pytest.fixture(scope="module")
def libsvm(tmp_path_factory):
    X, y = load_breast_cancer(return_X_y=True)
    folder = tmp_path_factory.mktemp("svm")
    dump_svmlight_file(X[:300], y[:300], str(folder / "a.svm"), zero_based=False)
    dump_svmlight_file(X[300:], y[300:], str(folder / "b.svm"), zero_based=False)
    return folder, X, y


def test_libsvm_files(libsvm, tmp_path, monkeypatch):
    folder, X, y = libsvm
    found = frugalboost.select(folder / "a.svm", test=folder / "b.svm", costs={"24": 5.0}, k=2, **QUICK)
    assert found.report.contents["about"]["target"] == "label"
    assert all(name.isdigit() for name in found.features)
    predicted = found.predict(folder / "b.svm")
    assert (predicted == y[300:]).mean() > 0.8
    assert found.choice.test_error == pytest.approx(100 * (predicted != y[300:]).mean())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(found.model.predict(X[300:]), predicted)  # the model itself knows no names
    monkeypatch.chdir(tmp_path)
    found.save("python")
    Path("prices.csv").write_text("feature,price\n24,5\n")
    files = [str(folder / "a.svm"), "--test", str(folder / "b.svm"), "--costs", "prices.csv"]
    assert main(["select", *files, "--k", "2", "--out", "command", *QUICK_COMMAND]) == 0
    assert content("python") == content("command")


# ---------------------------------------------------------------------------------------------------- what goes wrong


ERRORS = [
    ({"target": "yy"}, "There is no column 'yy' in table. Did you mean 'y'?"),
    ({"target": None}, "target is missing: name the column to predict."),
    ({"target": 3}, "There is no column '3' in table."),
    ({"target": True}, "target must be a name, not bool"),
    ({"target": 1.5}, "target must be a name, not float"),
    ({"k": 0}, "k must be at least 1, not 0"),
    ({"k": 99}, "k asks for 99 features, but the table has 11"),
    ({"k": 2, "mu": 0.1}, "k and mu can't be used together"),
    ({"mu": float("nan")}, "mu must be a finite number, not nan"),
    ({"learning_rate": 0}, "learning_rate must be at least 1e-06"),
    ({"trees": 1.5}, "trees must be a whole number, not 1.5"),
    ({"seed": None}, "seed must be a whole number, not None"),
    ({"splits": 1}, "splits must be at least 2, not 1"),
    ({"seed": 2**31}, "seed must be at most 2147483647"),
    ({"rule": "best"}, "rule must be one of 'min', '1se', 'paired', not 'best'"),
    ({"task": "clustering"}, "task must be one of 'auto', 'classification', 'regression'"),
    ({"scoring": "acuracy"}, "There is no score 'acuracy' in scikit-learn. Did you mean 'accuracy'?"),
    ({"scoring": "acc"}, "There is no score 'acc' in scikit-learn. Did you mean 'accuracy'?"),
    ({"scoring": "ACCURACY"}, "Did you mean 'accuracy'?"),
    ({"ids": "nme"}, "There is no column 'nme' in table. Did you mean 'name'?"),
    ({"ids": [3]}, "There is no column '3' in table."),
    ({"ids": 5}, "There is no column '5' in table."),
    ({"ids": 1.5}, "ids must be a name or a list of names, not float."),
    ({"ids": b"name"}, "ids must be a name or a list of names, not bytes."),
    ({"ids": ["name", None]}, "ids must be a name or a list of names, not of NoneType."),
    ({"weight": "city"}, "The column of weights 'city' does not hold numbers"),
    ({"weight": "y"}, "Column 'y' has two roles"),
    ({"costs": {"x9": 1.0}}, "There is no feature 'x9' in the table, but costs mentions it."),
    ({"bags": {"a": ["x9"]}}, "There is no feature 'x9' in the table, but bags mentions it."),
    ({"costs": Prices({"x9": 1.0})}, "X has no feature 'x9'"),
    ({"costs": {"x0": -1.0}}, "the price of feature 'x0' is -1"),
    ({"costs": "no.toml"}, "There is no file 'no.toml'"),
]


@pytest.mark.parametrize(("asked", "words"), ERRORS, ids=[words[:30] for _, words in ERRORS])
def test_errors_speak_of_arguments(frame, asked, words):
    given = {"target": "y"} | QUICK | asked
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the text is compared below, without patterns
        frugalboost.select(frame, **given)
    assert words in str(caught.value)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize("table", [np.zeros((20, 2)), 5, None, [[1, 2]]], ids=["array", "number", "none", "list"])
def test_what_is_no_table(table):
    with pytest.raises(TypeError, match=r"Give a data frame .* or the path of a file"):
        frugalboost.select(table, "y")


def test_other_tables_that_can_not_be_used(frame):
    with pytest.raises(TypeError, match="table is a lazy frame"):
        frugalboost.select(pl.from_pandas(frame).lazy(), "y")
    with pytest.raises(ValueError, match="table has 5 rows; at least 10 are needed"):
        frugalboost.select(frame[:5], "y")
    with pytest.raises(ValueError, match="two columns"):
        frugalboost.select(pd.concat([frame, frame[["x0"]]], axis=1), "y")
    with pytest.raises(ValueError, match=r"can't be read.* column mixed"):
        frugalboost.select(frame.assign(mixed=["a", 1] * 120), "y")
    with pytest.raises(ValueError, match="test has a class 'maybe' that the table does not have"):
        frugalboost.select(frame, "y", test=frame.assign(y="maybe"), **QUICK)


def test_a_problem_survives_pickling():
    """Errors cross processes, as those of joblib do."""
    problem = pickle.loads(pickle.dumps(Problem(options.Option("k"), " is odd.")))
    assert str(problem) == "k is odd."


def test_every_option_of_the_command_is_an_argument():
    """By its own name; what the command prints and where to are not the recipe's affair."""
    from frugalboost.cli.app import select as command

    asked, known = inspect.signature(command).parameters, inspect.signature(frugalboost.select).parameters
    assert set(asked) - {"out", "json", "quiet"} == set(known) - {"verbose"}
    for name in set(asked) & set(known):
        if name not in ("table", "ids"):
            assert known[name].default == asked[name].default, name


# ------------------------------------------------------------------------------------------------------- how it behaves


def test_it_is_silent_unless_asked(frame, capsys):
    frugalboost.select(frame, "y", k=1, **QUICK)
    assert capsys.readouterr() == ("", "")
    frugalboost.select(frame, "y", k=1, verbose=1, **QUICK)
    shown = capsys.readouterr().out
    assert "table: 240 rows, 11 features." in shown
    assert "'y' has 2 different texts: classification." in shown
    whole = frame.assign(y=frame["rooms"])
    frugalboost.select(whole, "y", k=1, verbose=1, sample=100, **QUICK)
    shown = capsys.readouterr().out
    assert "(task='regression' if they are amounts, task='count' if they are counts.)" in shown
    assert "used to choose (sample); the model" in shown


def test_warnings_are_warnings(frame):
    nothing = frame[["x4", "x5"]].assign(y=np.random.default_rng(0).normal(size=len(frame)))
    with pytest.warns(frugalboost.WeakSelectionWarning) as caught:
        assert len(frugalboost.select(nothing, "y", k=1, **QUICK).features) == 1
    assert {w.category for w in caught} == {frugalboost.WeakSelectionWarning}  # nothing about models that were tried
    with pytest.warns(frugalboost.NothingBoughtWarning, match="prices, budget and leaf allow no feature"):
        found = frugalboost.select(frame, "y", budget=0.5, **QUICK)
    assert found.features == []
    assert repr(found).startswith("<Selection: 0 of 11 features")
    assert len(set(found.predict(frame))) == 1


def test_ctrl_c_passes(frame, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(recipe, "choose", stop)
    with pytest.raises(KeyboardInterrupt):
        frugalboost.select(frame, "y")
