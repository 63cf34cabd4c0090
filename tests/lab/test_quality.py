"""The quality benchmark asks every selector alike, and cuts tables alike."""

import json
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("lightgbm")

from lab.output import QUALITY, ROOT
from lab.quality.methods import METHODS
from lab.quality.page import page
from lab.quality.running import answers, run
from lab.quality.splits import KS, SPLITS, Split, cut
from lab.rivals import Selector


def table(rows, seed):
    X = np.random.default_rng(seed).normal(size=(rows, 8))
    return X, (X[:, 1] - X[:, 4] > 0).astype(int)


@pytest.mark.parametrize("method", ["frugalboost", "frugalboost_forward", "lightgbm_gain", "l1_logistic", "mrmr"])
@pytest.mark.parametrize("few", [False, True])
def test_quality(method, few):
    (X, y), (X_valid, y_valid), (X_test, y_test) = table(300, 0), table(20 if few else 100, 1), table(200, 2)
    split = Split("made", "classification", X, y, X_valid, y_valid, X_test, y_test)
    found, seconds = answers(METHODS[method]([2, 5], "classification", 100.0), split, [2, 5], 100.0)
    assert set(found) == {"2", "5"}
    assert seconds > 0
    for k, answer in found.items():
        assert 0 < answer["n_features"] <= int(k)
        assert answer["error"] < 0.15


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_method_can_be_made(task):
    for make in METHODS.values():
        selector = make((2, 5), task, 10.0)
        assert isinstance(selector, Selector)
        assert selector.task == task


def test_a_method_runs_in_a_process_of_its_own(real_data):
    found = run("lightgbm_gain", "spam", 0, 60.0)
    assert (found["method"], found["data"], found["timed_out"]) == ("lightgbm_gain", "spam", False)
    assert found["k"]["10"]["error"] < 0.12


def test_the_command_runs():
    ended = subprocess.run(
        [sys.executable, "-m", "lab.quality", "--data", "x"], cwd=ROOT, capture_output=True, text=True
    )
    assert "invalid choice: 'x'" in ended.stderr


def test_the_page_is_made_of_what_is_kept():
    kept = QUALITY / "quality.json"
    if not kept.exists():
        pytest.skip("results are not part of a source distribution")
    assert page(json.loads(kept.read_text()), KS, SPLITS) == (QUALITY / "quality.md").read_text()


@pytest.mark.parametrize(("name", "rows"), [("spam", (2944, 736, 921)), ("uspst", (1284, 321, 402))])
def test_tables_are_cut_in_three(name, rows, real_data, monkeypatch):
    monkeypatch.setattr("lab.quality.splits.load", real_data)
    split, again, other = cut(name, 0), cut(name, 0), cut(name, 1)
    assert (len(split.y_train), len(split.y_valid), len(split.y_test)) == rows
    for y in (split.y_train, split.y_valid, split.y_test):
        assert y.mean() == pytest.approx(np.concatenate([split.y_train, split.y_valid, split.y_test]).mean(), abs=0.01)
    np.testing.assert_array_equal(split.X_test, again.X_test)
    assert not np.array_equal(split.X_test, other.X_test)
