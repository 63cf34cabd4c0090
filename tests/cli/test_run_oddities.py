"""`frugalboost select` and `predict` on tables, prices and files that tried to break them."""

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from run_tools import QUICK, run, select
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from frugalboost import GBFSRegressor
from frugalboost.cli import main
from frugalboost.costs import Prices
from frugalboost.recipe.files import load_table
from frugalboost.recipe.pricing import costs_of
from frugalboost.recipe.problems import Problem


@pytest.mark.slow
@pytest.mark.parametrize("base", [0, 1])
def test_libsvm_columns_keep_their_numbers(tmp_path, monkeypatch, capsys, base):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)) * (rng.random((200, 4)) < 0.7)
    y = (X[:, 2] > 0).astype(int)
    dump_svmlight_file(sparse.csr_matrix(X), y, "train.svm", zero_based=base == 0)
    new = X.copy()
    new[:, [0, 3]] = 0  # neither the first nor the last column is mentioned
    dump_svmlight_file(sparse.csr_matrix(new), y, "new.svm", zero_based=base == 0)
    assert select("train.svm", "--mu", "0.01", "--test", "new.svm", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["feature"] for row in found["selected"]] == [str(2 + base)]
    assert found["test_error"] == 0
    assert main(["predict", "train_selected", "new.svm"]) == 0
    assert [int(line) for line in capsys.readouterr().out.splitlines()[1:]] == y.tolist()
    Path("wide.svm").write_text("1 99:1\n")
    assert main(["predict", "train_selected", "wide.svm"]) == 2
    assert "wide.svm has a column 99" in capsys.readouterr().err


def test_texts_stay_texts_whatever_they_look_like(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    post = rng.choice(["001", "002", "003", "A"], 300)
    frame = pd.DataFrame({"post": post, "x": rng.normal(size=300), "y": np.isin(post, ["001", "003"]).astype(int)})
    frame.to_csv("train.csv", index=False)
    few = frame[frame["post"] != "A"]
    few.to_csv("few.csv", index=False)
    assert select("train.csv", "-t", "y", "--k", "1", "--test", "few.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["test_error"] == 0
    assert main(["predict", "train_selected", "few.csv", "--id", "post"]) == 0
    answers = [line.split(",") for line in capsys.readouterr().out.splitlines()[1:]]
    assert [a[0] for a in answers] == few["post"].tolist()
    assert [int(a[1]) for a in answers] == few["y"].tolist()


@pytest.mark.slow
def test_classes_that_look_like_numbers_in_the_test_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300)})
    frame["y"] = np.where(frame["x"] < -0.5, "1", np.where(frame["x"] < 0.5, "2", "x"))
    frame.to_csv("train.csv", index=False)
    frame[frame["y"] != "x"].to_csv("test.csv", index=False)
    assert select("train.csv", "-t", "y", "--test", "test.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["test_error"] < 10
    frame.assign(y="z").to_csv("test.csv", index=False)
    assert select("train.csv", "-t", "y", "--test", "test.csv") == 2
    assert "test.csv has a class 'z' that the table does not have" in capsys.readouterr().err


def test_one_class_in_the_test_file_is_told_before_the_work(frame, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rare = frame.assign(bought=np.where(frame["amount"] > frame["amount"].quantile(0.9), 1, 0))
    rare.to_csv("rare.csv", index=False)
    rare[rare["bought"] == 0].to_csv("test.csv", index=False)
    assert select("rare.csv", "-t", "bought", "--id", "amount", "--test", "test.csv") == 2
    assert "ROC AUC is not defined there" in capsys.readouterr().err
    assert not Path("rare_selected").exists()


@pytest.mark.parametrize("option", ["--mu", "--budget"])
def test_infinite_options_are_refused(table, capsys, option):
    assert select(table, "-t", "bought", option, "inf") == 2
    assert "must be a finite number" in capsys.readouterr().err


def test_names_can_not_steer_a_terminal(frame, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame[["size", "bought"]].rename(columns={"size": "\x1b[31mred\x07"}).to_csv("esc.csv", index=False)
    assert select("esc.csv", "-t", "bought") == 0
    shown = capsys.readouterr()
    assert "\\x1b[31mred\\x07" in shown.out
    assert "\x1b" not in shown.out + shown.err


@pytest.mark.slow
def test_k_that_can_not_be_had(frame, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    useless = {f"c{i}": 1 for i in range(5)}
    frame[["size", "age", "bought"]].assign(**useless).to_csv("t.csv", index=False)
    assert select("t.csv", "-t", "bought", "--k", "6", "--json") == 0
    shown = capsys.readouterr()
    assert "6 features were asked for, but only 2 gain anything" in json.loads(shown.out)["why"]
    assert "n_features_to_select" not in shown.err


@pytest.mark.slow
def test_other_kinds_of_columns(tmp_path, monkeypatch, capsys):
    pyarrow = pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    text = pyarrow.array(np.where(x > 0, "up", "down").tolist())
    table = pyarrow.table(
        {
            "view": text.cast(pyarrow.string_view()),
            "bytes": pyarrow.array([b"ab"] * 200, pyarrow.binary(2)),
            "huge": pyarrow.array([None, 2**60 + 1, *range(198)]),
            "days": pyarrow.array([None, *range(199)], pyarrow.int32()).cast(pyarrow.date32()).dictionary_encode(),
            "money": pyarrow.array([f"1{i % 10},{100 + i}" for i in range(200)]),
            "ratio": pyarrow.array([np.inf, *x[1:]]),
            "y": text,
        }
    )
    with pyarrow.OSFile("t.arrow", "wb") as file, pyarrow.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    assert select("t.arrow", "-t", "y", "--json") == 0
    shown = capsys.readouterr()
    assert {row["feature"] for row in json.loads(shown.out)["selected"]} <= {"view", "ratio", "huge", "money"}
    for words in (
        "'bytes' was left out: it holds fixed_size_binary",
        "'days' holds dates; they became days since 1970-01-01.",
        "'money' holds numbers: '19,299' is 19299. ",
        "Infinite values of 'ratio' count as missing.",
    ):
        assert words in shown.err
    twice = pyarrow.Table.from_arrays([text, text], names=["a", "a"])
    with pyarrow.OSFile("twice.arrow", "wb") as file, pyarrow.ipc.new_file(file, twice.schema) as writer:
        writer.write_table(twice)
    assert select("twice.arrow", "-t", "a") == 2
    assert "two columns named 'a'" in capsys.readouterr().err


def test_dialects(tmp_path):
    place = tmp_path / "a.csv"
    place.write_bytes('"a;b;c;d",e\n1,2\n'.encode("utf-16"))
    assert load_table(str(place)).names == ["a;b;c;d", "e"]
    place.write_text("# made by hand\n# twice\na,b\n1,2\n")
    loaded = load_table(str(place))
    assert loaded.names == ["a", "b"]
    assert "read as comments" in loaded.remarks[0]


@pytest.mark.parametrize(
    "text", ["prices = 3", "bags = 3", "never = 3", "unit = 5", "[bags]\nx = [['a']]", "free = [1]"]
)
def test_toml_of_another_shape(tmp_path, text):
    (tmp_path / "p.toml").write_text(text + "\n")
    with pytest.raises(Problem, match="must be"):
        costs_of(str(tmp_path / "p.toml"), None, ["a"])


def test_prices_with_semicolons_and_twice(tmp_path):
    place = tmp_path / "p.csv"
    place.write_text("feature;price\na;1,5\n")
    assert costs_of(str(place), None, ["a"]) == Prices({"a": 1.5})
    place.write_text("feature,price\na,1\na,2\n")
    with pytest.raises(Problem, match="two prices of 'a'"):
        costs_of(str(place), None, ["a"])


@pytest.mark.slow
def test_a_record_that_was_edited_is_damaged(table, capsys):
    assert select(table, "-t", "bought", "--id", "amount", "--out", "run") == 0
    whole = json.loads(Path("run/run.json").read_text())
    for key in ("measure", "names", "settings", "points", "chosen"):
        Path("run/run.json").write_text(json.dumps({k: v for k, v in whole.items() if k != key}))
        capsys.readouterr()
        assert main(["report", "run"]) == 2
        assert "damaged" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("rows", [0, 1, 7])
def test_each_of_several_targets_has_a_column(tmp_path, capsys, rows):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    model = GBFSRegressor(max_iter=5, min_samples_leaf=5).fit(X, np.stack([X["a"], X["b"], X["a"] - X["b"]], axis=1))
    model.save(tmp_path / "m.frugal")
    X[:rows].assign(id=range(rows)).to_csv(tmp_path / "new.csv", index=False)
    assert main(["predict", str(tmp_path / "m.frugal"), str(tmp_path / "new.csv"), "--id", "id"]) == 0
    found = pd.read_csv(io.StringIO(capsys.readouterr().out), float_precision="round_trip")
    assert found.columns.tolist() == ["id", "prediction_1", "prediction_2", "prediction_3"]
    np.testing.assert_array_equal(found.iloc[:, 1:], model.predict(X[:rows]) if rows else np.zeros((0, 3)))


def test_predictions_of_no_rows_and_from_no_model(frame, table, capsys):
    assert select(table, "-t", "bought", "--id", "amount", "--k", "1") == 0
    frame[:0].to_csv("none.csv", index=False)
    capsys.readouterr()
    assert main(["predict", "table_selected", "none.csv", "--proba"]) == 0
    assert capsys.readouterr().out == "prediction,probability_no,probability_yes\n"
    assert main(["predict", ".", table]) == 2
    assert "There is no model in the folder '.'" in capsys.readouterr().err


def test_default_folders_do_not_collide():
    from frugalboost.cli.folders import default_folder

    assert default_folder("a/run.v1.csv.gz") == "run.v1_selected"
    assert default_folder("run.v2.csv") == "run.v2_selected"
    assert default_folder("part-*.parquet") == "part_selected"
    assert default_folder("-") == "frugalboost_selected"


def test_something_unexpected_is_one_sentence(table, monkeypatch, capsys):
    from frugalboost.recipe import select as running

    def fail(*_):
        raise KeyError("oh")

    monkeypatch.setattr(running, "choose", fail)
    assert select(table, "-t", "bought") == 1
    assert "unexpected KeyError" in capsys.readouterr().err
    monkeypatch.setenv("FRUGALBOOST_DEBUG", "1")
    with pytest.raises(KeyError):
        select(table, "-t", "bought")


@pytest.mark.slow
def test_a_reader_of_the_table_that_has_seen_enough(table):
    read, write = os.pipe()
    os.close(read)
    call = ["select", table, "-t", "bought", "--id", "amount", "-q", *QUICK]
    assert run(call, stdout=write) == (0, "", "")
    os.close(write)


LIBSVM_FAULTS = [
    ("1 1:1\n0 4000000000:1\n", "line 2 has '4000000000:1'; numbers of columns must be 0 to 2147483647"),
    (f"1 1:1\n\n# a comment\n0 {2**63}:1\n", "line 4 has '9223372036854775808:1'; numbers of columns must be"),
    ("1 1" + "0" * 5000 + ":1\n", "line 1 has '1000"),
    ("1 2147483648:1\n", "numbers of columns must be 0 to 2147483647"),
    ("1 1:1\n0 -1:1\n", "line 2 has '-1:1'; numbers of columns must be"),
    ("1 3:1 2:2\n", "line 1 has '2:2' after column 3; the columns of a line must ascend"),
    ("1 1:1\n1 1:1 1:2\n", "line 2 has '1:2' after column 1"),
    ("1 1:abc\n", "line 1 has '1:abc', whose value is not a number"),
    ("1 1:\n", "line 1 has '1:', whose value is not a number"),
    ("1 1\n", "line 1 has '1', which is not a column's number"),
    ("1 :1\n", "which is not a column's number"),
    ("1 1.5:1\n", "which is not a column's number"),
    ("1 \xff:1\n", "which is not a column's number"),
    ("1,2 1:1\n", "line 1 does not begin with a number"),
    ("1 1:1\nyes 1:1\n", "line 2 does not begin with a number"),
    ("1\n0\n", "has no columns"),
    ("1 1:1\nnan 1:1\n", "not finite numbers, the first in row 2"),
    ("# nothing\n", "is empty"),
]


@pytest.mark.parametrize(("text", "words"), LIBSVM_FAULTS)
@pytest.mark.parametrize("ending", ["svm", "svm.gz"])
def test_libsvm_that_can_not_be_read_says_where(tmp_path, monkeypatch, capsys, text, words, ending):
    monkeypatch.chdir(tmp_path)
    content = text.encode("latin-1")
    Path(f"a.{ending}").write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    assert main(["select", f"a.{ending}"]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.startswith(f"frugalboost: a.{ending} ")


@pytest.mark.slow
def test_libsvm_of_few_lines_and_huge_numbers_of_columns(tmp_path, monkeypatch, capsys):
    """What no row mentions costs neither memory nor time."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    others = np.sort(rng.integers(10, 10**9, (60, 3)), axis=1)
    lines = [f"{i % 2} 7:{i % 2 + 1} {a}:1 {b + 1}:1 {c + 2}:1\n" for i, (a, b, c) in enumerate(others)]
    Path("train.svm").write_text("".join(lines) + "1 7:2 2147483647:1\n")
    assert select("train.svm", "--k", "1", "--test", "train.svm", "--json") == 0
    shown = capsys.readouterr()
    assert "columns of train.svm that no row mentions were left out" in shown.err
    found = json.loads(shown.out)
    assert [row["feature"] for row in found["selected"]] == ["7"]
    Path("prices.csv").write_text("feature,price\n7,2\n8,3\n")  # no row mentions the second one
    assert select("train.svm", "--k", "1", "--costs", "prices.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["price"] == 2
    Path("bags.csv").write_text("feature,bag,price\n7,a,2\n8,b,3\n")
    assert select("train.svm", "--k", "1", "--bags", "bags.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["price"] == 2
    Path("prices.csv").write_text("feature,price\n2147483648,3\n")
    assert select("train.svm", "--k", "1", "--costs", "prices.csv") == 2
    Path("new.svm").write_text("1 7:2 8:1 2147483645:1\n0 7:1\n0 5:1\n")  # columns that the first file had not
    assert main(["predict", "train_selected", "new.svm"]) == 0
    assert capsys.readouterr().out.split() == ["prediction", "1", "0", "0"]
    Path("new.svm").write_text("1 0:2\n")
    assert main(["predict", "train_selected", "new.svm"]) == 2
    assert "has a column 0; in the first file they were 1 to 2147483647" in capsys.readouterr().err


# ----------------------------------------------------------------------------------- odd files, names and streams


def test_files_that_hold_something_else(table, tmp_path, capsys):
    """Each is one sentence that names the file, and none is unexpected."""
    Path("half.csv").write_bytes("a,bought\n1,2\n".encode("utf-16")[:-1])
    Path("latin.csv").write_bytes(b"feature,bag,price\n\xff,1,1\n")
    Path("long.csv").write_text(f'feature,bag,price\n"{"a" * 200_000}",1,1\n')
    Path("nested.toml").write_text("a = " + "[" * 5000)
    Path("folder.csv").mkdir()
    Path("folder.toml").mkdir()
    for call, words in [
        (["half.csv", "-t", "bought"], "half.csv begins like UTF-16"),
        (["folder.csv", "-t", "bought"], "There are no files in the folder 'folder.csv'"),
        (["", "-t", "bought"], "'' can't be read"),
        *(([table, "-t", "bought", option, "latin.csv"], "latin.csv is not UTF-8") for option in ("--costs", "--bags")),
        *(([table, "-t", "bought", option, "long.csv"], "long.csv can't be read") for option in ("--costs", "--bags")),
        ([table, "-t", "bought", "--costs", "nested.toml"], "nested.toml is not a TOML file"),
        ([table, "-t", "bought", "--costs", "folder.toml"], "'folder.toml' is a folder; a file is needed here"),
        ([table, "-t", "bought", "--bags", "folder.csv"], "'folder.csv' is a folder; a file is needed here"),
    ]:
        assert select(*call) == 2, call
        said = capsys.readouterr().err
        assert words in said, call
        assert "unexpected" not in said


def test_targets_and_weights_that_are_none(frame, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame.assign(target=[b"\xff", b"a"] * 120).to_parquet("bytes.parquet")
    assert select("bytes.parquet", "-t", "target") == 2
    assert "The target holds binary values" in capsys.readouterr().err
    frame.to_csv("table.csv", index=False)
    for value in ("x", 0, -1, np.nan):
        frame.assign(weight=value).to_csv("test.csv", index=False)
        assert select("table.csv", "-t", "bought", "--weight", "weight", "--test", "test.csv") == 2
        assert "eights" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are Unicode")
def test_names_of_files_that_are_not_utf_8(frame, tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"na\xffme.csv")
    frame.to_csv(name, index=False)
    Path(os.fsdecode(b"z\xff.csv.gz")).write_bytes(gzip.compress(Path(name).read_bytes()))
    run = os.fsdecode(b"na\xffme_selected")
    assert select(name, "-t", "bought", "--id", "amount") == 0
    assert select(name, "-t", "bought", "--id", "amount", "--json") == 0
    assert select(os.fsdecode(b"z\xff.csv.gz"), "-t", "bought", "--id", "amount", "--out", os.fsdecode(b"o\xfft")) == 0
    capfdbinary.readouterr()
    assert main(["report", run]) == 0
    assert capfdbinary.readouterr().out in (b"na\xffme_selected/report.html\n", b"na?me_selected/report.html\n")
    assert main(["predict", run, name, "--out", os.fsdecode(b"\xff.csv")]) == 0
    assert main(["predict", run, os.fsdecode(b"no\xffthing.csv")]) == 2
    Path(run, "run.json").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_table_or_a_model_is_not_written_over(table, capsys):
    assert select(table, "-t", "bought", "--id", "amount", "--out", "run") == 0
    Path("link.csv").symlink_to(table)
    before = {p: p.read_bytes() for p in [Path(table), *Path("run").iterdir()]}
    for call in (
        ["predict", "run", table, "--out", table],
        ["predict", "run", table, "--out", "link.csv"],
        ["predict", "run", table, "--out", "run/model.frugal"],
        ["report", "run", "--out", "run/run.json"],
        ["report", "run", "--out", "run/model.frugal"],
    ):
        assert main(call) == 2
        assert "which is an input. Name another file." in capsys.readouterr().err
    for call in (["predict", "run", table, "--out", "run"], ["report", "run", "--out", "run"]):
        assert main(call) == 2
        assert "'run' is a folder; --out must name a file." in capsys.readouterr().err
    assert main(["predict", "run", table, "--out", "no/where.csv"]) == 2
    assert "The folder of 'no/where.csv' does not exist" in capsys.readouterr().err
    assert {p: p.read_bytes() for p in before} == before


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_streams_that_are_full_or_closed(table):
    """Neither a traceback nor a run that is lost."""
    assert select(table, "-t", "bought", "--id", "amount", "--out", "run") == 0
    predict, again = (
        ["predict", "run", table],
        ["select", table, "-t", "bought", "--id", "amount", "--out", "two", *QUICK],
    )
    read, piped = os.pipe()
    for call, streams, code, words in [
        (predict, {"stdout": "/dev/full"}, 2, "can't be written to standard output: No space left on device."),
        (["report", "run", "--out", "/dev/full"], {}, 2, "The disk is full: there was no room for '/dev/full'"),
        (["--help"], {"stdout": "/dev/full"}, 2, "No space left on device."),
        (predict, {"stdout": None}, 0, ""),
        ([*predict, "--out", "/dev/stdout"], {"stdout": piped}, 0, ""),
        (["select", "-", "-t", "bought"], {"stdin": None}, 2, "standard input is empty"),
        (again, {"stderr": "/dev/full", "stdout": os.devnull}, 0, ""),
    ]:
        ended, _, said = run(call, **streams)
        assert (ended, "Traceback" in said, "ignored" in said) == (code, False, False), call
        assert words in said, call
    os.close(piped)
    with open(read) as answers:
        assert answers.readline() == "prediction\n"
    assert Path("two/run.json").exists()
    for call in ("predict run table.csv >/dev/full", "--help >/dev/full"):  # Python itself writes what is left at exit
        done = subprocess.run(["bash", "-c", f"{sys.executable} -m frugalboost {call}"], capture_output=True, text=True)
        assert (done.returncode, done.stderr.count("No space left on device."), len(done.stderr.splitlines())) == (
            2,
            1,
            1,
        )


@pytest.mark.slow
def test_letters_that_a_terminal_lacks(table, monkeypatch, capfdbinary):
    """Results for programs are UTF-8 in any case, and the run is written."""
    monkeypatch.setattr(sys, "stdout", open(sys.stdout.fileno(), "w", encoding="ascii", closefd=False))  # noqa: SIM115
    assert select(table, "-t", "bought", "--id", "amount", "--out", "é") == 0
    assert "Written to é:".encode() in capfdbinary.readouterr().out
    assert select(table, "-t", "bought", "--id", "amount", "--out", "é", "--json") == 0
    assert json.loads(capfdbinary.readouterr().out)["folder"] == "é"
