"""What tests share: hypothesis profiles, and real data where its folder exists."""

import os
import sys
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from lab.data import Folder, load

settings.register_profile(
    "default", max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
settings.register_profile("thorough", max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("FRUGALBOOST_HYPOTHESIS", "default"))


def pytest_addoption(parser):
    parser.addoption("--engine", choices=("cpu", "naive"), default="cpu", help="what fits run on")


@pytest.fixture(autouse=True, scope="session")
def _chosen_engine(request):
    """``pytest --engine naive -n 0 tests/engine/test_reference.py`` runs tests of small tables on the plain engine."""
    if request.config.getoption("--engine") == "cpu":
        yield
        return
    sys.path.insert(0, str(Path(__file__).parent / "engine"))
    from naive_engine import NaiveEngine

    from frugalboost import engines

    with mock.patch.object(engines, "make_engine", NaiveEngine):
        yield


def pytest_configure(config):
    """Workers share the cores; each would take all of them. They inherit what the first process says here.

    Tests about threads ask for the numbers they need. Without workers (``-n 0``) nothing is said.
    """
    workers = len(getattr(config.option, "tx", None) or [])
    if workers and "PYTEST_XDIST_WORKER" not in os.environ:
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // workers)))
    else:  # a test on a model that bought nothing tests little; to know the class takes two seconds of imports
        config.addinivalue_line("filterwarnings", "error::frugalboost.NothingBoughtWarning")


def pytest_collection_modifyitems(items):
    """The lab is not part of the package: a quick look leaves it out."""
    for item in items:
        if "lab" in item.path.relative_to(Path(__file__).parent).parts:
            item.add_marker(pytest.mark.slow)


def data_folder() -> Path:
    """Return the folder of real data, or skip where FRUGALBOOST_DATA names none."""
    folder = Folder.named(None).path
    if folder is None:
        pytest.skip("needs real data: set FRUGALBOOST_DATA to the folder of the data files")
    return folder


@pytest.fixture
def real_data():
    """Load a data set by name, or skip where there is none."""
    return partial(load, folder=data_folder(), fetch=False)


@pytest.fixture(scope="module")
def tmp(tmp_path_factory):
    """A folder that the tests of a module share: hypothesis wants fixtures that outlive an example."""
    return tmp_path_factory.mktemp("shared")


# ------------------------------------------------------------------------------------------- for the command


@pytest.fixture(scope="session")
def frame():
    """Two useful numbers, one useful category, noise, and what real tables have besides."""
    import pandas as pd

    rng = np.random.default_rng(0)
    n = 240
    X = pd.DataFrame({"size": rng.normal(size=n), "age": rng.integers(0, 90, n), "noise": rng.normal(size=n)})
    X["colour"] = rng.choice(["red", "green", "blue"], n)
    X["name"] = [f"person {i}" for i in range(n)]
    X["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n), "D")
    X["weight"] = rng.integers(1, 3, n)
    score = 2 * X["size"] + (X["colour"] == "red") * 2 - X["age"] / 30 + rng.normal(scale=0.3, size=n)
    X["bought"] = np.where(score > score.median(), "yes", "no")
    X["amount"] = score.round(6)
    return X


@pytest.fixture
def table(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame.to_csv("table.csv", index=False)
    return "table.csv"
