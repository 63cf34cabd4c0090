"""GPUs: what is said where none can be used, and fits on the emulated one, or on that of FRUGALBOOST_CUDA_LIBRARY."""

import gc
import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from naive_engine import NaiveEngine
from own_losses import OwnSquare
from scipy import sparse
from test_naive_engine import assert_same_history

from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor, _core, engines, gbfs_path
from frugalboost.engines import devices
from frugalboost.losses import SquaredError

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _devices_are_chosen_here(request):
    if request.config.getoption("--engine") != "cpu":
        pytest.skip("compares devices that it chooses itself")


@pytest.fixture(scope="session")
def emulator(tmp_path_factory):
    """The plugin for the processor: the one that is named, or one that is built here."""
    if named := os.environ.get(devices.LIBRARY):
        return named
    if shutil.which("g++") is None:
        pytest.skip("needs a C++ compiler, or a library that FRUGALBOOST_CUDA_LIBRARY names")
    library = tmp_path_factory.mktemp("emulator") / "libemulator.so"
    subprocess.run([ROOT / "tools" / "emulator", library], check=True)
    return str(library)


@pytest.fixture
def gpu(emulator, monkeypatch):
    monkeypatch.setenv(devices.LIBRARY, emulator)
    device = devices.open_device(emulator)
    return device


@pytest.fixture
def emulated(gpu):
    if not gpu.is_emulated:
        pytest.skip("needs a GPU whose memory can be limited, and that nobody else uses")
    return gpu


@pytest.fixture
def no_plugin(monkeypatch):
    monkeypatch.delenv(devices.LIBRARY, raising=False)
    monkeypatch.setitem(sys.modules, "frugalboost_cuda", None)


def table(n=300, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 1)
    X[rng.random((n, d)) < 0.05] = np.nan
    return X, np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) + 0.3 * rng.normal(size=n)


def fitted(device="cuda", X=None, y=None, **settings):
    if X is None:
        X, y = table()
    return GBFSRegressor(1e-3, max_iter=8, device=device, **settings).fit(X, y)


# --------------------------------------------------------------------------------------------- the same model


def test_the_same_model(gpu, tmp_path):
    for device in ("cpu", "cuda"):
        fitted(device, screening="exact").save(tmp_path / device)
    assert (tmp_path / "cpu").read_bytes() == (tmp_path / "cuda").read_bytes()


SETTINGS = {
    "categories": {"categorical_features": [2]},
    "early stopping": {"early_stopping": True, "random_state": 1},
    "lines": {"base": "both"},
    "drawn": {"subsample": 0.5, "max_features": 3, "random_state": 1},
    "exactly two": {"n_features_to_select": 2, "refit": "auto", "random_state": 1},
    "absolute": {"loss": "absolute_error"},
    "best first": {"max_leaf_nodes": 5},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings(gpu, name):
    X, y = table()
    X[:, 2] = np.random.default_rng(1).integers(0, 9, len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same_history(*(fitted(device, X, y, **SETTINGS[name]) for device in ("cpu", "cuda")))


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_classes(gpu, strategy):
    X, y = table()
    classes = np.digitize(y, [-0.5, 0.5])
    both = [
        GBFSClassifier(1e-3, max_iter=6, multi_strategy=strategy, device=device).fit(X, classes, np.arange(1.0, 301.0))
        for device in ("cpu", "cuda")
    ]
    assert_same_history(*both)


@pytest.mark.large
def test_screening_by_a_sample(gpu):
    """Tables that are sampled: the columns that matter little are ruled out, and the model stays."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_500, 34)).astype(np.float32)
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(X))
    assert_same_history(*(fitted(device, X, y, max_depth=3) for device in ("cpu", "cuda")))


def test_paths_and_cross_validation(gpu):
    X, y = table()
    found = {}
    for device in ("cpu", "cuda"):
        model = GBFSClassifier(max_iter=5, device=device)
        path = gbfs_path(X, y > 0, estimator=model, n_mus=3)
        search = GBFSClassifierCV(model, n_mus=3, cv=2).fit(X, y > 0)
        found[device] = path.n_features.tolist(), path.train_loss.tolist(), search.best_params_["mu"]
    assert found["cpu"] == found["cuda"]


# ------------------------------------------------------------------------------------------------- the setting


def test_the_device_is_not_saved(gpu, tmp_path):
    model = fitted("cuda")
    model.save(tmp_path / "model")
    assert type(model).load(tmp_path / "model").device == "cpu"
    assert b"cuda" not in (tmp_path / "model").read_bytes()


@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_verbose_says_where(gpu, capsys, device):
    fitted(device, verbose=1)
    assert f"(on {gpu.name})" in capsys.readouterr().out


def test_auto_without_a_plugin(no_plugin, capsys):
    fitted("auto", verbose=1)
    assert "(on the CPU)" in capsys.readouterr().out


def test_unknown_devices():
    with pytest.raises(ValueError, match="'device' parameter"):
        fitted("tpu")


# ------------------------------------------------------------------------------------------ what can't be done


def test_without_a_plugin(no_plugin):
    with pytest.raises(RuntimeError, match="pip install frugalboost-cuda"):
        fitted("cuda")


def test_no_library(monkeypatch):
    monkeypatch.setenv(devices.LIBRARY, "/no/such/library.so")
    with pytest.raises(RuntimeError, match="could not be loaded"):
        fitted("cuda")
    fitted("auto")


def compiled(folder, source):
    if shutil.which("g++") is None:
        pytest.skip("needs a C++ compiler")
    (folder / "plugin.cpp").write_text(source)
    library = folder / "libplugin.so"
    subprocess.run(["g++", "-shared", "-fPIC", f"-I{ROOT / 'cpp'}", folder / "plugin.cpp", "-o", library], check=True)
    return str(library)


def test_another_library(monkeypatch, tmp_path):
    monkeypatch.setenv(devices.LIBRARY, compiled(tmp_path, "int nothing = 0;"))
    with pytest.raises(RuntimeError, match="no GPU plugin"):
        fitted("cuda")


TABLE = """
#include "engine/cuda/table.h"
static const char* message() { return "no CUDA-capable device is detected"; }
static int count(int32_t* devices) { *devices = 0; return %s; }
static const FrugalDeviceTable table{FRUGAL_DEVICE_VERSION + %d, sizeof(FrugalDeviceTable), message, count};
extern "C" const FrugalDeviceTable* frugalboost_device_table() { return &table; }
"""


@pytest.mark.parametrize(
    ("result", "version", "said"),
    [
        ("FRUGAL_OK", 1, "of the same version"),
        ("FRUGAL_OK", 0, "no GPU in this machine"),
        ("FRUGAL_FAILED", 0, "no CUDA-capable device"),
    ],
)
def test_a_plugin_without_a_gpu(monkeypatch, tmp_path, result, version, said):
    monkeypatch.setenv(devices.LIBRARY, compiled(tmp_path, TABLE % (result, version)))
    with pytest.raises(RuntimeError, match=said):
        fitted("cuda")
    fitted("auto")


def test_sparse_tables(gpu):
    X, y = table()
    X = sparse.csr_array(np.nan_to_num(X))
    with pytest.raises(ValueError, match="A sparse table can't be fitted on a GPU"):
        fitted("cuda", X, y)
    fitted("auto", X, y)


def test_losses_of_the_user(gpu):
    with pytest.raises(ValueError, match="A loss written in Python can't be fitted on a GPU"):
        fitted("cuda", loss=OwnSquare())
    fitted("auto", loss=OwnSquare())


def rows(n=200, d=5):
    X, y = table(n, d)
    cuts = np.tile([-1.0, 0.0, 1.0], d)
    binned = _core.BinnedMatrix(n, cuts, 3 * np.arange(d + 1), np.zeros(d, dtype=np.uint8), None)
    binned.fill(_core.Table(X), np.arange(n), 1)
    return engines.EngineRows(binned, y, None)


def test_parts_of_a_table(gpu):
    part = _core.thread_parts(1)[0]
    with pytest.raises(ValueError, match="A part of a table"):
        engines.make_engine(rows(), None, SquaredError(), 1, _core.Params(), 1, part, "cuda")


# ----------------------------------------------------------------------------------------- memory and processes


def test_no_room(emulated, monkeypatch):
    gc.collect()
    free = emulated.free_bytes
    monkeypatch.setenv("FRUGALBOOST_EMULATED_BYTES", str(emulated.total_bytes - free + 30_000))
    model = GBFSRegressor(device="cuda")
    with pytest.raises(MemoryError, match=r"The GPU has no room for the fit: another .* GB are needed"):
        model.fit(*table())
    assert not hasattr(model, "n_features_in_")
    monkeypatch.delenv("FRUGALBOOST_EMULATED_BYTES")
    assert emulated.free_bytes == free
    fitted("cuda")


@pytest.mark.parametrize("room", np.geomspace(3e4, 3e6, 12).astype(int))
def test_no_room_later(emulated, monkeypatch, room):
    """Wherever memory runs out, the error is the same, and all of it is given back."""
    gc.collect()
    free = emulated.free_bytes
    monkeypatch.setenv("FRUGALBOOST_EMULATED_BYTES", str(emulated.total_bytes - free + int(room)))
    try:
        fitted("cuda", base="both")
    except MemoryError as error:
        assert "The GPU has no room" in str(error)  # noqa: PT017 - with enough room there is none
    monkeypatch.delenv("FRUGALBOOST_EMULATED_BYTES")
    gc.collect()
    assert emulated.free_bytes == free


def test_nothing_is_left(emulated):
    gc.collect()
    free = emulated.free_bytes
    fitted("cuda", early_stopping=True, base="both")
    gc.collect()
    assert emulated.free_bytes == free


def test_two_fits_in_two_threads(gpu):
    X, y = table(2000, 12)
    expected = fitted("cpu", X, y)
    barrier = threading.Barrier(2)

    def fit():
        barrier.wait()
        return fitted("cuda", X, y)

    with ThreadPoolExecutor(2) as pool:
        for found in [pool.submit(fit), pool.submit(fit)]:
            assert_same_history(expected, found.result())


def test_an_interrupt(emulated):
    """A callback that raises stands for Ctrl-C: the estimator stays as it was, and memory is given back."""
    gc.collect()
    free = emulated.free_bytes

    def stop(record):
        if record.iteration == 3:
            raise KeyboardInterrupt

    X, y = table()
    model = GBFSRegressor(device="cuda", callbacks=[stop])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "n_features_in_")
    gc.collect()
    assert emulated.free_bytes == free


def test_ctrl_c(emulated):
    """A real one, in a process of its own."""
    code = """
import gc, os, signal, threading
import numpy as np
from frugalboost import GBFSRegressor
from frugalboost.engines import devices
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 20))
model = GBFSRegressor(1e-6, max_iter=10**6, device="cuda")
threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.fit(X, X[:, 0])
except KeyboardInterrupt:
    print("stopped")
gc.collect()  # the traceback held the engine
device = devices.open_device(devices.plugin_library())
print(device.free_bytes == device.total_bytes, hasattr(model, "n_features_in_"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.stdout.split() == ["stopped", "True", "False"], done.stderr


def forked(connection):
    try:
        fitted("cuda")
        connection.send("it was fitted")
    except RuntimeError as error:
        connection.send(str(error))
    fitted("auto")
    connection.send("auto works")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_a_fork(gpu):
    fitted("cuda")
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=forked, args=(there,))
    child.start()
    assert here.poll(60)
    assert "was forked from one that has used the GPU" in here.recv()
    assert here.poll(60)
    assert here.recv() == "auto works"
    child.join(60)


# ------------------------------------------------------------------------------------------ single steps


def test_pools_of_many_columns(gpu):
    """Pools of more than one tile, and pieces of some of their columns."""
    rng = np.random.default_rng(0)
    n, d = 400, 77
    X = rng.integers(0, 4, (n, d)).astype(float)
    cuts = np.tile([0.5, 1.5, 2.5], d)
    binned = _core.BinnedMatrix(n, cuts, 3 * np.arange(d + 1), np.zeros(d, dtype=np.uint8), None)
    binned.fill(_core.Table(X), np.arange(n), 1)
    own = engines.EngineRows(binned, rng.normal(size=n), None)
    given = (own, None, SquaredError(), 1, _core.Params(), 1)
    fast, plain = engines.make_engine(*given, device="cuda"), NaiveEngine(*given)
    for engine in (fast, plain):
        engine.predict([0.0])
        engine.losses()
        engine.derive()
        engine.own([70, 3, 33])
        engine.own(list(range(4, 40)))
        engine.offer(list(range(20, 75)))
        engine.begin_trees([])
        engine.begin_level([0], False)
    for pool in ("all", "owned", "offered"):
        ours, theirs = (e.search(pool, [0], True)[0] for e in (fast, plain))
        assert [s[:3] for s in ours] == [s[:3] for s in theirs]
    rule = [(0, 5, [True, False, True, False, False])]
    for engine in (fast, plain):
        engine.split(rule, [])
        engine.begin_level([0, 1], False)
    for pool in ("all", "owned", "offered"):
        ours, theirs = (e.search(pool, [0, 1], False) for e in (fast, plain))
        assert [[s[:3] for s in node] for node in ours] == [[s[:3] for s in node] for node in theirs]
