"""What tests share: hypothesis profiles, and real data where its folder exists.

What is slow to import is imported where it is used: the process that only gives out tests reads this file too, and the
others wait for it.
"""

import gc
import os
import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

HERE = Path(__file__).parent
QUICK = "not slow"  # as it is given to -m


def pytest_addoption(parser):
    parser.addoption("--engine", choices=("cpu", "naive", "cuda"), default="cpu", help="what fits run on")


@pytest.fixture(autouse=True, scope="session")
def _chosen_engine(request):
    """``pytest --engine naive -n 0 tests/engine/test_reference.py`` runs tests of small tables on the plain engine.

    ``--engine cuda`` runs them on a GPU, or on the emulated one that FRUGALBOOST_CUDA_LIBRARY names (tools/emulator);
    what a GPU can't do stays on the CPU.
    """
    chosen = request.config.getoption("--engine")
    if chosen == "cpu":
        yield
        return
    if chosen == "cuda":
        with _on_a_gpu():
            yield
        return
    sys.path.insert(0, str(Path(__file__).parent / "engine"))
    from naive_engine import NaiveEngine

    from frugalboost import engines

    with mock.patch.object(engines, "make_engine", NaiveEngine):
        yield


@contextmanager
def _on_a_gpu():
    """Fits choose the GPU for what it can do, and so do engines that tests make themselves."""
    from frugalboost import engines
    from frugalboost.engines.devices import why_not
    from frugalboost.training import fit

    make_engine, with_device = engines.make_engine, fit._with_device

    def make(train, validation, loss, outputs, params, threads, part=None, device=None):
        chosen = device or ("cpu" if why_not(loss, part) else "cuda")
        return make_engine(train, validation, loss, outputs, params, threads, part, chosen)

    def chosen(task):
        asked = task.params.device
        return with_device(replace(task, params=replace(task.params, device="auto" if asked == "cpu" else asked)))

    with mock.patch.object(engines, "make_engine", make), mock.patch.object(fit, "_with_device", chosen):
        yield


@pytest.fixture(autouse=True)
def _figures_are_closed():
    """Matplotlib warns of more than 20 open ones, and tests of several files share a process."""
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")


def pytest_configure(config):
    """Workers share the cores; each would take all of them. They inherit what the first process says here.

    Tests about threads ask for the numbers they need. Without workers (``-n 0``) nothing is said.
    """
    os.environ.setdefault("NUMBA_OPT", "1")  # a rival's loops are compiled in every run, and used on tiny tables
    workers = len(getattr(config.option, "tx", None) or [])
    if workers and "PYTEST_XDIST_WORKER" not in os.environ:
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // workers)))
    else:  # a test on a model that bought nothing tests little; to know the class takes two seconds of imports
        config.addinivalue_line("filterwarnings", "error::frugalboost.NothingBoughtWarning")
        load_profile("quick" if config.option.markexpr == QUICK else "default")


def load_profile(usual):
    """Say how many examples hypothesis tries; FRUGALBOOST_HYPOTHESIS names another profile than the usual one."""
    from hypothesis import HealthCheck, settings

    shared = {"deadline": None, "suppress_health_check": list(HealthCheck)}
    settings.register_profile("quick", max_examples=50, derandomize=True, **shared)
    settings.register_profile("default", max_examples=200, derandomize=True, **shared)
    settings.register_profile("thorough", max_examples=2000, **shared)
    settings.load_profile(os.environ.get("FRUGALBOOST_HYPOTHESIS", usual))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give out tests by files, the longest tests first."""
    from schedule import ByFile

    return ByFile(config, log) if config.option.dist == "loadgroup" else None


def pytest_ignore_collect(collection_path, config):
    """The lab is not part of the package: a quick look does not even read its tests."""
    return True if config.option.markexpr == QUICK and collection_path == HERE / "lab" else None


def pytest_collection_modifyitems(config, items):
    """All tests of the lab are slow; with several processes, files of long tests come first."""
    for item in items:
        if HERE / "lab" in item.path.parents:
            item.add_marker(pytest.mark.slow)
    if "PYTEST_XDIST_WORKER" in os.environ:
        from schedule import place

        items.sort(key=lambda item: place(item.nodeid))


def pytest_collection_finish():
    """Modules stay: the garbage collector need not go through a million of their objects again and again."""
    gc.freeze()


def pytest_sessionfinish():
    """Look for garbage once more; pytest would do so five times."""
    gc.collect()
    gc.freeze()


def data_folder() -> Path:
    """Return the folder of real data, or skip where FRUGALBOOST_DATA names none."""
    from lab.data import Folder

    folder = Folder.named(None).path
    if folder is None:
        pytest.skip("needs real data: set FRUGALBOOST_DATA to the folder of the data files")
    return folder


@pytest.fixture
def real_data():
    """Load a data set by name, or skip where there is none."""
    from lab.data import load

    return partial(load, folder=data_folder(), fetch=False)


@pytest.fixture(scope="module")
def tmp(tmp_path_factory):
    """A folder that the tests of a module share: hypothesis wants fixtures that outlive an example."""
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="session")
def content(tmp_path_factory):
    """The bytes of a model file, for tests that read and change it."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer

    from frugalboost import GBFSClassifier

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    path = tmp_path_factory.mktemp("models") / "model.frugal"
    GBFSClassifier(0.01, max_iter=10, budget=np.inf, costs={"mean area": 0.5}).fit(X, y).save(path)
    return path.read_bytes()


# ------------------------------------------------------------------------------------------- for the command


@pytest.fixture(scope="session")
def frame():
    """Two useful numbers, one useful category, noise, and what real tables have besides."""
    import numpy as np
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


@pytest.fixture
def no_page(monkeypatch):
    """Runs leave no charts: a third of their time, where the report is not what is tested."""
    from frugalboost.report import Report

    monkeypatch.setattr(Report, "html", lambda self: "<!doctype html>")
