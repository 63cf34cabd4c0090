"""What `frugalboost select` is given: every kind of file, targets whose task is guessed, prices and bags."""

import gzip
import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from run_tools import select
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_breast_cancer

from frugalboost.cli import main
from frugalboost.costs import Bags, Prices
from frugalboost.recipe.columns import Roles, split_columns
from frugalboost.recipe.files import load_table
from frugalboost.recipe.pricing import costs_of
from frugalboost.recipe.problems import Problem
from frugalboost.recipe.task import task_of

# ------------------------------------------------------------------------------------------------- kinds of files


def written(frame, kind):
    small = frame.drop(columns=["when", "name", "amount", "weight"])
    if kind == "csv.gz":
        with gzip.open("t.csv.gz", "wt") as file:
            file.write(small.to_csv(index=False))
    elif kind == "tsv":
        small.to_csv("t.tsv", sep="\t", index=False)
    elif kind == "semicolons":
        small.to_csv("t.csv", sep=";", decimal=",", index=False)
        return "t.csv"
    elif kind == "parquet":
        small.to_parquet("t.parquet")
    elif kind == "feather":
        small.to_feather("t.feather")
    elif kind == "pattern":
        small[:100].to_parquet("p-0.parquet")
        small[100:].to_parquet("p-1.parquet")
        return "p-*.parquet"
    elif kind == "bom":
        small.to_csv("t.csv", index=False, encoding="utf-8-sig")
        return "t.csv"
    elif kind == "pandas index":
        small.to_csv("t.csv")
        return "t.csv"
    return f"t.{kind}"


KINDS = ["csv.gz", "tsv", "semicolons", "parquet", "feather", "pattern", "bom", "pandas index"]


@pytest.mark.slow
def test_every_kind_of_file_gives_the_same_run(frame, table, capsys, no_page):
    unused = [word for name in ("amount", "weight", "when") for word in ("--id", name)]
    assert select(table, "-t", "bought", *unused, "--json") == 0
    plain = json.loads(capsys.readouterr().out)
    for kind in KINDS:
        assert select(written(frame, kind), "-t", "bought", "--json", "--out", kind) == 0
        other = json.loads(capsys.readouterr().out)
        assert other["selected"] == plain["selected"], kind
        assert other["path"] == plain["path"], kind


@pytest.mark.slow
def test_csv_from_standard_input(table, monkeypatch, capsys, no_page):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(table).read_bytes())))
    assert select("-", "-t", "bought", "--id", "amount", "--json") == 0
    assert json.loads(capsys.readouterr().out)["folder"] == "frugalboost_selected"


@pytest.mark.slow
def test_libsvm(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = load_breast_cancer(return_X_y=True)
    dump_svmlight_file(sparse.csr_matrix(X), y, "cancer.svm", zero_based=False)
    with open("prices.csv", "w") as file:
        file.write("feature,price\n21,never\n")
    assert select("cancer.svm", "--costs", "prices.csv", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    names = [row["feature"] for row in found["selected"]]
    assert set(names) <= {str(i) for i in range(1, 31)}
    assert "21" not in names
    assert main(["predict", "cancer_selected", "cancer.svm"]) == 0
    answers = np.array([float(line) for line in capsys.readouterr().out.splitlines()[1:]])
    assert np.mean(answers == y) > 0.9


@pytest.mark.slow
def test_no_header(tmp_path, monkeypatch, capsys, no_page):
    monkeypatch.chdir(tmp_path)
    X, y = load_breast_cancer(return_X_y=True)
    pd.DataFrame(np.column_stack([X, y])).to_csv("c.csv", header=False, index=False)
    assert select("c.csv", "-t", "column 31", "--no-header", "--json") == 0
    assert json.loads(capsys.readouterr().out)["n_features"] > 0
    assert select("c.csv", "-t", "column 31") == 2
    assert "Is header=False missing?" in "".join(map(str, load_table("c.csv").remarks))


def test_latin_1_and_quoted_lines(tmp_path):
    place = tmp_path / "a.csv"
    place.write_bytes('stra\xdfe,"two\nlines"\n1,2\n3,\n'.encode("latin-1"))
    loaded = load_table(str(place))
    assert loaded.names == ["straße", "two\nlines"]
    assert "Latin-1" in loaded.remarks[0]
    assert loaded.columns.column(1).null_count == 1


# ------------------------------------------------------------------------------------------------ guesses and prices


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        ([True, False] * 20, "classification"),
        (["a", "b"] * 20, "classification"),
        ([0, 1, 2] * 20, "classification"),
        ([0.0, 1.0] * 20, "classification"),
        (list(range(40)), "regression"),
        ([0.5, 1.5, 2.5] * 20, "regression"),
    ],
)
def test_the_task_is_guessed(y, kind):
    task = task_of(np.array(y), "y")
    assert task.kind == kind
    assert kind in str(task.remarks[0])


def test_prices_from_files(tmp_path):
    names = ["age", "sugar", "iron", "scan"]
    (tmp_path / "p.csv").write_text("Feature, Price\nscan, 300\nage, 0\n")
    assert costs_of(str(tmp_path / "p.csv"), None, names) == Prices({"scan": 300.0, "age": 0.0})
    toml = tmp_path / "p.toml"
    toml.write_text('unit = "euro"\n[bags]\nblood = ["sugar", "iron"]\n[bag_prices]\nblood = 20\n')
    assert costs_of(str(toml), None, names) == Bags({"blood": ["sugar", "iron"]}, prices={"blood": 20.0}, unit="euro")
    (tmp_path / "b.csv").write_text("feature,bag,price\nsugar,blood,20\niron,blood,\nage,,\n")
    bags = Bags({"blood": ["sugar", "iron"]}, prices={"blood": 20.0})
    assert costs_of(None, str(tmp_path / "b.csv"), names) == bags
    both = costs_of(str(tmp_path / "p.csv"), str(tmp_path / "b.csv"), names)
    assert both == Prices({"scan": 300.0, "age": 0.0}, default=0.0) + bags


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[prises]\nage = 1\n", "Did you mean 'prices'?"),
        ("[prices]\nage = 'dear'\n", "which is not a number"),
        ("[prices]\nage = -1\n", "A price must be zero"),
        ("[prices]\nagge = 1\n", "Did you mean 'age'?"),
        ("[bags]\nblood = 'age'\n", "must be a list of features"),
        ("prices", "is not a TOML file"),
    ],
)
def test_prices_that_are_wrong(tmp_path, text, words):
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(Problem, match=words.replace("?", r"\?")):
        costs_of(str(tmp_path / "p.toml"), None, ["age"])


def test_infinite_values_and_missing_targets(tmp_path):
    place = tmp_path / "a.csv"
    place.write_text("x,y,b\n1.5,1,true\ninf,2,false\n2.5,,\n-inf,3,true\n")
    columns = split_columns(load_table(str(place)), Roles("y"))
    assert columns.dropped_rows == 1
    assert columns.X["x"].isna().tolist() == [False, True, True]
    assert columns.X["b"].tolist() == [1.0, 0.0, 1.0]
    assert columns.y.tolist() == [1, 2, 3]
