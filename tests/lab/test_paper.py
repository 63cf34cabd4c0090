"""The machinery of experiments: cells are kept, stopped runs go on, failures are told; and quick forms of two."""

import io
import json
import os
import runpy
import signal
import subprocess
import sys
from concurrent.futures import Future
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from conftest import data_folder

pytest.importorskip("matplotlib")
from lab.paper import benchmark
from lab.paper import cells as cells_module
from lab.paper.cells import Cell, RunOptions, Store, run_all
from lab.paper.curves import against_rivals, best_within, mean_curve, table
from lab.paper.pages import Claim, Section, markdown, tally

ROOT = Path(__file__).resolve().parents[2]
ORDER = RunOptions(None, True)


def doubled(cell, order):
    if cell.data == "broken":
        raise ValueError("this cell can't be computed")
    return {"value": 2 * cell.split}


def refused(cell, order):
    raise AssertionError("a finished cell was run again")


def cells(*splits):
    return [Cell("table", "method", s) for s in splits]


class Here:
    """In place of a pool: the work is done in this process, which has imported all it needs."""

    _processes = None

    def __init__(self, jobs):
        self.jobs = jobs

    def submit(self, work, *arguments):
        done = Future()
        done.set_result(work(*arguments))
        return done

    def shutdown(self, **_):
        pass


@pytest.fixture
def here(monkeypatch):
    """Where workers are not what is tested: each takes two seconds to start."""
    monkeypatch.setattr(cells_module, "new_pool", Here)
    with mock.patch.dict(os.environ):  # one thread
        yield


@pytest.mark.slow
def test_finished_cells_are_kept_and_not_run_again(tmp_path, capsys):
    path = tmp_path / "deep" / "one.json"
    assert run_all(cells(0, 1), doubled, ORDER, Store(path, {"a": 1}), jobs=2) == []
    again = Store(path, {"a": 1})
    assert run_all(cells(0, 1), refused, ORDER, again, jobs=1) == []
    assert [r["value"] for r in again.results(cells(1, 0, 7))] == [2, 0]
    kept = json.loads(path.read_text())
    assert kept["versions"][kept["cells"][0]["versions"]]["frugalboost"]
    assert "2/2" in capsys.readouterr().out


def test_other_settings_are_other_results_and_nothing_is_lost(tmp_path):
    path = tmp_path / "one.json"
    Store(path, {"trees": (1, 2), "deep": {"mus": (0.5,)}}).put(Cell("a", "b"), {"value": 1})
    assert Cell("a", "b") in Store(path, {"trees": (1, 2), "deep": {"mus": (0.5,)}})
    other = Store(path, {"trees": 2})
    assert Cell("a", "b") not in other
    assert json.loads(path.read_text())["cells"][0]["value"] == 1  # only looked at so far
    other.put(Cell("a", "b"), {"value": 2})
    assert json.loads(path.read_text())["cells"][0]["value"] == 2
    assert json.loads((tmp_path / "one.1.json").read_text())["cells"][0]["value"] == 1


def test_two_runs_keep_each_others_cells(tmp_path):
    path = tmp_path / "one.json"
    first, second = Store(path, {}), Store(path, {})
    first.put(Cell("a", "b"), {"value": 1})
    second.put(Cell("c", "d"), {"value": 2})
    assert [r["value"] for r in Store(path, {}).results([Cell("a", "b"), Cell("c", "d")])] == [1, 2]


def killed(cell, order):
    if cell.split == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"value": cell.split}


@pytest.mark.slow
def test_a_killed_worker_does_not_end_the_run(tmp_path):
    store = Store(tmp_path / "one.json", {})
    failures = run_all(cells(0, 1, 2), killed, ORDER, store, jobs=1)
    assert len(failures) == 1
    assert failures[0][0].endswith("split 0")
    assert "a worker was killed" in failures[0][1]
    assert [r["value"] for r in store.results(cells(1, 2))] == [1, 2]


@pytest.mark.slow
def test_a_failed_cell_does_not_take_the_others_along(here, tmp_path):
    store = Store(tmp_path / "one.json", {})
    failures = run_all([Cell("broken", "m"), *cells(3)], doubled, ORDER, store, jobs=1)
    assert len(failures) == 1
    assert failures == [("broken, m, split 0", "ValueError: this cell can't be computed")]
    assert store.results(cells(3))[0]["value"] == 6
    assert Cell("broken", "m") not in store


@pytest.mark.slow
def test_finished_cells_run_again_where_asked(here, tmp_path):
    store = Store(tmp_path / "one.json", {})
    store.put(Cell("table", "method", 4), {"value": -1})
    run_all(cells(4), doubled, ORDER, store, jobs=1, again=True)
    assert store.results(cells(4))[0]["value"] == 8


def result(method, split, *points):
    found = [{"n_features": n, "error": e} for n, e in points]
    return {"data": "t", "method": method, "split": split, "seconds": 1.0, "points": found}


def test_curves_are_means_over_splits():
    results = [result("l1", 0, (2, 0.4), (5, 0.2)), result("l1", 1, (2, 0.2), (3, 0.1))]
    features, errors, spread = mean_curve(results)
    np.testing.assert_allclose(features, [2, 4])
    np.testing.assert_allclose(errors, [0.3, 0.15])
    np.testing.assert_allclose(spread, [0.1, 0.05])
    assert best_within(results, "l1", 4) == (pytest.approx(0.25), 2.5)  # 0.4 with 2, and 0.1 with 3 features
    assert best_within(results, "l1", 1) is None
    assert best_within(results, "forest", 4) is None


def test_the_best_of_a_column_is_bold():
    lines = table([result("l1", 0, (2, 0.4)), result("forest", 0, (2, 0.3))], [1, 2, 5])
    assert lines[2].startswith("| L1 logistic regression | - | 40.00 | 40.00 (2) |")
    assert "| - | **30.00** | **30.00** (2) |" in lines[3]


def test_a_model_without_features_is_not_shown_as_a_result():
    lines = table([result("paper", 0, (0, 0.5), (3, 0.3))], [2, 5])
    assert lines[2].startswith("| GBFS, as in the paper | - | **30.00** (3) |")


def test_features_are_judged_in_an_svm_besides():
    from lab.paper.wide import IN_SVM, in_svm

    own = result("best", 0, (2, 0.4))
    own["points"][0]["svm_error"] = 0.1
    also = in_svm([own, result("l1", 0, (2, 0.2))])
    assert [r["method"] for r in also] == ["best in svm"]
    assert also[0]["points"] == [{"n_features": 2, "error": 0.1, "svm_error": 0.1}]
    assert own["points"][0]["error"] == 0.4
    assert "| **10.00** |" in table(also, [2], titles=IN_SVM)[2]


def test_no_form_of_ours_is_a_rival_of_another():
    from lab.paper.colon import METHODS, judged

    error = dict.fromkeys(METHODS, 0.2) | {"lines": 0.1}
    bags = dict.fromkeys(METHODS, 3.0) | {"lines": 1.0}
    assert [c.holds for c in judged("paper", error, bags)] == [False, True]
    assert [c.holds for c in judged("lines", error, bags)] == [True, True]


def test_forms_are_compared_at_their_own_sizes():
    rival = result("l1", 0, (1, 0.4), (4, 0.2))  # 0.3 at 2, by the logarithm
    for error, holds in ((0.3, True), (0.305, True), (0.32, False)):
        claim = against_rivals("", [rival, result("paper", 0, (0, 0.5), (2, error))], "paper", ["l1"], 0.01)
        assert claim.holds is holds
        assert ("32 % against 30 %" in claim.found) is not holds
        assert "at 2" in claim.found


def test_what_can_not_be_compared_is_not_judged():
    far = [result("l1", 0, (50, 0.1)), result("paper", 0, (2, 0.3))]
    other_split = [result("l1", 1, (2, 0.1)), result("paper", 0, (2, 0.3))]
    for results in (far, other_split, far[1:]):
        assert against_rivals("", results, "paper", ["l1"], 0.0).holds is None
    near = [result("l1", 0, (2, 0.1)), result("paper", 0, (2, 0.1))]
    assert against_rivals("", near, "paper", ["l1"], 0.0).holds
    assert against_rivals("", near, "paper", ["l1", "forest"], 0.0).holds is None  # one of them was not run


def test_a_smaller_model_of_a_rival_is_a_rival_and_a_larger_one_is_not():
    rival = result("l1", 0, (5, 0.3), (10, 0.2))
    assert against_rivals("", [rival, result("paper", 0, (80, 0.25))], "paper", ["l1"], 0.0).holds is False
    assert against_rivals("", [rival, result("paper", 0, (4, 0.5), (6, 0.1))], "paper", ["l1"], 0.0).holds


def test_sections_say_what_does_not_hold():
    section = Section("Title", "How.", [Claim("so", "0.5 %", True), Claim("else", "9 %", False)], ["a.png"])
    text = "\n".join(markdown(section))
    assert "| so | 0.5 % | yes |" in text
    assert "| else | 9 % | **no** |" in text
    assert "![Title](images/a.png)" in text


def test_comparisons_are_counted_by_form():
    claims = [Claim("so", "", None), Claim("so", "", True), Claim("so", "", False), Claim("newton", "", True)]
    claims += [Claim("ours: lines or trees", "", holds) for holds in (True, False, False)]
    said = tally([Section("One", "", claims), Section("Two", "", [Claim("a shape", "", True, counts=False)])])
    assert "1 of 2 hold for GBFS as in the paper, 1 of 1 for newton" in said
    assert "and 1 of 3 for lines or trees" in said


def answer(*words):
    """The command in this process: to import everything once more takes seconds."""
    said, complaints, handler = io.StringIO(), io.StringIO(), signal.getsignal(signal.SIGTERM)
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(said), redirect_stderr(complaints):
        patched.chdir(ROOT)
        patched.setattr(sys, "argv", ["experiments", *words])
        with pytest.raises(SystemExit) as ended:
            runpy.run_module("lab.paper", run_name="__main__")
    signal.signal(signal.SIGTERM, handler)
    code, stderr = ended.value.code, complaints.getvalue()
    if isinstance(code, str):  # Python itself shows it on standard error, and ends with 1
        code, stderr = 1, f"{stderr}{code}\n"
    return SimpleNamespace(returncode=code, stdout=said.getvalue(), stderr=stderr)


def command(*words):
    return subprocess.run([sys.executable, "-m", "lab.paper", *words], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["benchmark", "--only", "spam", "spm"], "--only names 'spm'; here are only adult, isolet"),
        (["wide", "--methods", "svm"], "--methods names 'svm'; here are only best, forest"),
        (["wide", "--data", "nowhere"], "--data names 'nowhere', which is not a folder."),
        (["wide", "page"], "page stands alone"),
    ],
)
def test_what_is_not_there_is_told(words, said, tmp_path):
    ended = answer(*words, "--out", str(tmp_path))
    assert ended.returncode != 0
    assert said in ended.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_without_data_one_sentence_says_so(tmp_path):
    # Tables that nobody knows how to fetch: it is the same with a network and without one.
    ended = command("wide", "--quick", "--data", str(tmp_path), "--out", str(tmp_path / "out"), "--jobs", "1")
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert ended.stderr.count("failed: wide") == 1
    assert "and 3 more" in ended.stderr
    assert "results are in" not in ended.stdout


def test_a_page_is_not_written_from_nothing(tmp_path):
    before = (ROOT / "docs" / "paper.md").read_bytes()
    ended = answer("page", "--out", str(tmp_path))
    assert ended.returncode == 1
    assert "has no results to write a page from" in ended.stderr
    assert (ROOT / "docs" / "paper.md").read_bytes() == before
    (tmp_path / "synthetic.json").write_text("{")
    ended = answer("page", "--out", str(tmp_path))
    assert "synthetic.json is not a file of results" in ended.stderr
    assert (ROOT / "docs" / "paper.md").read_bytes() == before


@pytest.mark.slow
def test_the_synthetic_experiment_in_its_quick_form(here, tmp_path):
    ended = answer("synthetic", "--quick", "--out", str(tmp_path))
    assert ended.returncode == 0, ended.stderr
    found = {c["method"]: c for c in json.loads((tmp_path / "synthetic.quick.json").read_text())["cells"]}
    assert found["paper"]["error"] == 0
    assert len(found["paper"]["features"]) == 2
    assert found["l1"]["error"] > 0.2
    assert (tmp_path / "paper_synthetic.png").stat().st_size > 10_000


@pytest.mark.slow
def test_spam_in_its_quick_form(here, tmp_path, monkeypatch):
    """On a third of its rows."""
    folder, whole = data_folder(), benchmark.load

    def third(name, folder):
        table = whole(name, folder)
        return replace(table, X=table.X[::3], y=table.y[::3])

    monkeypatch.setattr(benchmark, "load", third)
    ended = answer("benchmark", "--only", "spam", "--quick", "--data", str(folder), "--out", str(tmp_path))
    assert ended.returncode == 0, ended.stderr
    found = {c["method"]: c for c in json.loads((tmp_path / "benchmark.quick.json").read_text())["cells"]}
    assert set(found) == {"paper", "best", "l1", "forest"}
    assert found["best"]["rows"] == [1228, 306, 57]
    for points in (found["best"]["points"], found["forest"]["points"]):
        assert [p["k"] for p in points] == [5, 20]
        assert all(p["n_features"] <= p["k"] for p in points)
        assert points[-1]["error"] < 0.11
    assert (tmp_path / "paper_tables.png").stat().st_size > 10_000
    again = answer("benchmark", "--only", "spam", "--quick", "--data", str(folder), "--out", str(tmp_path))
    assert "4 of 4 cells were finished before" in again.stdout


@pytest.mark.slow
def test_wrong_words_are_told(tmp_path):
    assert "not a folder" in answer("synthetic", "--data", str(tmp_path / "nowhere")).stderr
    assert "invalid choice" in answer("unknown").stderr
    assert "page stands alone" in answer("page", "synthetic").stderr
