"""Our own part of the benchmarks keeps up with the library."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

lightgbm = pytest.importorskip("lightgbm")

from benchmarks import quality, tables  # noqa: E402
from benchmarks.quality_data import Split  # noqa: E402
from benchmarks.rivals import ours  # noqa: E402
from benchmarks.selectors import frugalboost, frugalboost_forward, lightgbm_gain  # noqa: E402


def table(rows, seed):
    X = np.random.default_rng(seed).normal(size=(rows, 8))
    return X, (X[:, 1] - X[:, 4] > 0).astype(int)


def test_speed():
    X, y = table(300, 0)
    setting = {"depth": 3, "bins": 255, "min_leaf": 20, "threads": 1, "trees": 5}
    assert ours.train(ours.bin(X, y.astype(float), setting), setting, 0.01) == 2


def test_tables():
    assert tables.text(rows=300, columns=400, words=20, trees=3)["features"] >= 1
    ratios = tables.against_lightgbm(rows=2000, columns=25, trees=3, repeats=1)
    assert ratios["binning"]["ours"] > 0
    page = tables.page({"machine": {"cores": 2, "cpu": "any", "lightgbm": "4"}, "against_lightgbm": ratios})
    assert "| predicting |" in page


@pytest.mark.parametrize("method", [frugalboost, frugalboost_forward, lightgbm_gain])
@pytest.mark.parametrize("few", [False, True])
def test_quality(method, few):
    (X, y), (X_valid, y_valid), (X_test, y_test) = table(300, 0), table(20 if few else 100, 1), table(200, 2)
    split = Split("made", "classification", X, y, X_valid, y_valid, X_test, y_test)
    answers = method.run(split, [2, 5], np.inf)
    assert set(answers) == {2, 5}
    for k, answer in answers.items():
        assert len(answer.features) <= k
        assert np.mean(answer.prediction != y_test) < 0.15


def test_every_selector_is_found():
    assert {"frugalboost", "frugalboost_forward", "lightgbm_gain", "catboost_select"} < set(quality.methods())
