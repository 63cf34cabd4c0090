"""Our own part of the benchmarks of speed keeps up with the library."""

from pathlib import Path

import numpy as np
import pytest

lightgbm = pytest.importorskip("lightgbm")

from lab.rivals.boosters import CEGB, OURS, installed  # noqa: E402
from lab.speed import page as speed_page  # noqa: E402
from lab.speed import tables  # noqa: E402
from lab.speed.compare import summary  # noqa: E402
from lab.speed.measure import measure  # noqa: E402
from lab.speed.penalties import matching, near  # noqa: E402


def table(rows, seed):
    X = np.random.default_rng(seed).normal(size=(rows, 8))
    return X, (X[:, 1] - X[:, 4] > 0).astype(int)


SETTING = {"depth": 3, "bins": 255, "min_leaf": 20, "threads": 1, "trees": 5}


@pytest.fixture
def folder(tmp_path):
    X, y = table(300, 0)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y.astype(float))
    return tmp_path


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is measured on Linux")
@pytest.mark.parametrize("rival", installed())
def test_speed(rival, folder):
    run = measure(folder, rival, SETTING, {OURS: 0.01, CEGB: 1.0}.get(rival, 0.0), trainings=2)
    assert run["features"] == 2 if rival in (OURS, CEGB) else 2 <= run["features"] <= 8
    assert run["seconds"] is None or 0 < run["seconds"] < run["seconds_with_binning"]
    assert 0 <= run["bytes_beside_table"] < run["peak_bytes"]


def test_penalties_are_found():
    penalty, found = matching(lambda penalty: int(100 / penalty), 20, 0.3)
    assert found == int(100 / penalty)
    assert near(found, 20)
    assert matching(lambda penalty: 8 if penalty < 3 else 2, 6, 1.0)[1] == 8  # nothing nearer is to be had


def entry(seconds, shape):
    run = {"features": 5, "binning_seconds": 0.1, "peak_bytes": 2e8, "bytes_beside_table": 1e6}
    runs = {
        m: summary([run | {"name": m, "seconds": s, "seconds_with_binning": s + 0.1}] * 3) for m, s in seconds.items()
    }
    about = {"rows": shape[0], "columns": shape[1], "trees": 50, "at_least": 2.0, "left_out": ["xgboost_hist"]}
    return about | {"rivals": runs}


def test_speed_page(tmp_path):
    machine = {"cores": 2, "cpu": "any", "instruction_set": "any", "memory_gb": 8, "lightgbm": "4"}
    entries = {"fast": entry({OURS: 1.0, CEGB: 3.0}, (9, 4)), "slow": entry({OURS: 2.0, CEGB: 3.0}, (90, 4))}
    works = {"machine": machine, "setting": SETTING, "works": entries}
    grown = {"machine": machine, "setting": SETTING, "rows": entries}
    load = {"work": "fast", "trees": 50, "busy": 2, "seconds_with_binning": {OURS: 2.0, CEGB: 9.0}}
    waits = [
        {"table": "9 x 4, 3 classes, 2 informative, seed 0", "search": "default", "cpu_s": 1.23},
        {"table": "9 x 4, 2 classes, 2 informative, seed 0", "search": "thorough", "cpu_s": 99.0},
    ]
    page = speed_page.page(works, grown, {"rows": [load]}, waits)
    first, details = page.split("## How it was measured")
    assert "| fast, 9 x 4, 50 trees | 5 | 1.100 | 2.8 |" in first
    assert "fast with 50 trees: 4.5 beside 2 busy processes." in first
    assert "| 9 x 4, 3 classes | 1.2 |" in first
    assert "99" not in first
    assert "| fast, 9 x 4, 50 trees | 5 |" not in details
    assert "## How it was measured" in speed_page.page(works, None)
    assert "| fast, 9 x 4, 50 trees | 1.000 (5) | 3.000 (5) | **3.00** | 2 | yes |" in page
    assert "| **1.50** | 2 | **no** |" in page
    assert "| 90 | 5 / 5 | 2.000 (2.100) | 3.000 (3.100) | **1.50** |" in page
    speed_page.pictures(works, grown, tmp_path)
    assert {"speed_works.png", "speed_growth_rows.png"} == {p.name for p in tmp_path.iterdir()}


def test_tables():
    assert tables.text(rows=300, columns=400, words=20, trees=3)["features"] >= 1
    ratios = tables.against_lightgbm(rows=2000, columns=25, trees=3, repeats=1)
    assert ratios["binning"]["ours"] > 0
    page = tables.page({"machine": {"cores": 2, "cpu": "any", "lightgbm": "4"}, "against_lightgbm": ratios})
    assert "| predicting |" in page
