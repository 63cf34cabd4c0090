"""Saving and loading: the same model back, and files that are whole at any moment."""

import copy
import errno
import itertools
import os
import pickle
import re
import signal
import stat
import subprocess
import sys

import joblib
import numpy as np
import pytest
from model_files import parts
from own_losses import OwnSquare
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import frugalboost
from frugalboost import GBFSClassifier, GBFSRegressor, ModelFileError
from frugalboost.files import atomic_file
from frugalboost.files import format as model_file
from frugalboost.losses import Quantile, Tweedie


def models():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    yield X, GBFSClassifier(0.01, max_iter=10, budget=np.inf, costs={"mean area": 0.5}).fit(X, y)
    yield X, GBFSClassifier(0.01, max_iter=5, class_weight={"n": 1.0, "y": 2.0}).fit(X, np.array(["n", "y"])[y])
    X, y = load_iris(return_X_y=True)
    yield X, GBFSClassifier(0.01, max_iter=5, early_stopping=True, random_state=np.random.RandomState(0)).fit(X, y)
    yield X, GBFSClassifier(0.01, max_iter=5).fit(X, np.array(["a", "b", "c"], dtype=object)[y])
    X, y = load_diabetes(return_X_y=True)
    yield X, GBFSRegressor(0.01, max_iter=5, loss=Quantile(0.7), costs=np.arange(10) + 1.0).fit(X, y)
    yield X, GBFSRegressor(0.01, max_iter=5, loss="poisson").fit(X, y)
    yield X, GBFSRegressor(0.01, max_iter=5, loss="gamma").fit(X, y)
    yield X, GBFSRegressor(0.01, max_iter=5, loss=Tweedie(1.7), warm_start=True).fit(X, y)


def same(a, b, X):
    assert type(a) is type(b)
    for method in ("predict", "predict_proba"):
        if hasattr(a, method):
            np.testing.assert_array_equal(getattr(a, method)(X), getattr(b, method)(X))
    for name in ("support_", "selected_features_", "feature_importances_"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert getattr(a, "classes_", np.array(0)).dtype == getattr(b, "classes_", np.array(0)).dtype
    for name in ("mu_", "mu_max_", "n_iter_", "best_iteration_", "total_cost_", "stop_reason_", "n_features_in_"):
        assert getattr(a, name) == getattr(b, name)
    assert repr(a.history_) == repr(b.history_)  # repr: NaN equals NaN
    assert a.loss == b.loss


@pytest.mark.parametrize("case", range(6))
def test_every_way_brings_the_same_model_back(case, tmp_path):
    X, model = list(models())[case]
    path = tmp_path / "model.frugal"
    model.save(path)
    same(model, frugalboost.load(path), X)
    same(model, type(model).load(path), X)
    same(model, pickle.loads(pickle.dumps(model)), X)
    same(model, copy.deepcopy(model), X)
    joblib.dump(model, tmp_path / "model.joblib")
    same(model, joblib.load(tmp_path / "model.joblib"), X)
    frugalboost.load(path).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("early_stopping", [False, True])
def test_loaded_model_can_be_continued(early_stopping, tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    settings = {"mu": 0.01, "early_stopping": early_stopping, "random_state": 5}
    GBFSClassifier(max_iter=10, warm_start=True, **settings).fit(X, y).save(tmp_path / "ten")
    twenty = frugalboost.load(tmp_path / "ten").set_params(max_iter=20).fit(X, y)
    long = GBFSClassifier(max_iter=20, **settings).fit(X, y)
    np.testing.assert_array_equal(twenty.predict_proba(X), long.predict_proba(X))
    assert list(twenty.selected_features_) == list(long.selected_features_)
    assert repr(twenty.history_) == repr(long.history_)


@pytest.fixture(params=["file", "pickle"])
def of_an_earlier_version(request, tmp_path):
    """A model whose version drew other rows for early stopping, and did not say how."""
    X, y = load_diabetes(return_X_y=True)
    settings = {"max_iter": 10, "early_stopping": True, "n_iter_no_change": 50, "random_state": 5}
    model = GBFSRegressor(0.0, warm_start=True, **settings).fit(X, y)
    if request.param == "pickle":
        object.__delattr__(model._warm_start, "draw")
        return pickle.loads(pickle.dumps(model))
    model.save(tmp_path / "model")
    description, arrays = model_file.read(tmp_path / "model")
    assert description.pop("set_aside") == "rows by hash"
    model_file.write(tmp_path / "model", description, arrays)
    return frugalboost.load(tmp_path / "model")


def test_validation_rows_of_an_earlier_version_are_not_replaced_silently(of_an_earlier_version, tmp_path):
    X, y = load_diabetes(return_X_y=True)
    model = of_an_earlier_version.set_params(max_iter=12)
    with pytest.raises(ValueError, match=r"set other rows aside.*Pass X_val and y_val, or start again.*clone"):
        model.fit(X, y)
    assert model.n_iter_ == 10
    assert model.fit(X, y, X_val=X[:50], y_val=y[:50]).n_iter_ == 12
    model.save(tmp_path / "continued")  # its first trees still saw the other rows
    for continued in (model, frugalboost.load(tmp_path / "continued")):
        with pytest.raises(ValueError, match="set other rows aside"):
            continued.set_params(max_iter=14).fit(X, y)
    assert model.set_params(early_stopping=False).fit(X, y).n_iter_ == 14
    assert clone(model).set_params(early_stopping=True).fit(X, y).n_iter_ == 14


def test_loaded_converged_model_stays_converged(tmp_path):
    X = np.array([[0.0], [1.0]] * 50)
    model = GBFSRegressor(0.5, warm_start=True, learning_rate=1.0, max_depth=1).fit(X, X[:, 0])
    assert model.stop_reason_ == "converged"
    model.save(tmp_path / "model")
    assert frugalboost.load(tmp_path / "model").fit(X, X[:, 0]).n_iter_ == model.n_iter_


def test_costs_come_back_as_they_were_given(tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = GBFSRegressor(0.01, max_iter=5, warm_start=True, costs=[1.0] * 10).fit(X, y)
    model.set_params(costs=[2.0] * 10, max_iter=8).fit(X, y).save(tmp_path / "model")
    assert frugalboost.load(tmp_path / "model").costs == [2.0] * 10
    GBFSRegressor(0.01, max_iter=5, costs={"bmi": 0.5}).fit(X, y).save(tmp_path / "model")
    assert frugalboost.load(tmp_path / "model").costs == {"bmi": 0.5}


def test_subclasses_load_themselves(tmp_path):
    class Mine(GBFSRegressor):
        pass

    X, y = load_diabetes(return_X_y=True)
    Mine(0.01, max_iter=5).fit(X, y).save(tmp_path / "model")
    assert type(frugalboost.load(tmp_path / "model")) is GBFSRegressor
    assert type(Mine.load(tmp_path / "model")) is Mine


def test_a_loss_of_ones_own_must_be_passed(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(loss=OwnSquare(), max_iter=3).fit(X, y)
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"user's own loss, 'OwnSquare', .* load\(path, loss=...\)"):
        frugalboost.load(tmp_path / "model")
    GBFSRegressor(max_iter=3).fit(X, y).save(tmp_path / "plain")
    with pytest.raises(ValueError, match="load it without passing one"):
        frugalboost.load(tmp_path / "plain", loss=OwnSquare())
    loaded = GBFSRegressor.load(tmp_path / "model", loss=OwnSquare())
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_missing_file_and_wrong_class(content, tmp_path):
    with pytest.raises(FileNotFoundError):
        frugalboost.load(tmp_path / "nothing")
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(ModelFileError, match="holds a GBFSClassifier, not a GBFSRegressor"):
        GBFSRegressor.load(tmp_path / "model")


def test_a_failed_save_leaves_the_old_file(content, tmp_path):
    X, y = load_iris(return_X_y=True)
    labels = np.array([frozenset({1}), 2, "three"], dtype=object)[y]
    model = GBFSClassifier(0.01, max_iter=2).fit(X, y)
    model.classes_ = labels[[0, 50, 100]]
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(TypeError, match="Use pickle or joblib instead"):
        model.save(tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == content
    assert len(list(tmp_path.iterdir())) == 1


def test_saving_respects_links_modes_and_devices(tmp_path):
    model = next(models())[1]
    target = tmp_path / "target"
    target.write_bytes(b"old")
    target.chmod(0o640)
    (tmp_path / "link").symlink_to(target)
    model.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert len(frugalboost.load(target).feature_names_in_) == 30
    with pytest.raises(FileNotFoundError, match="nowhere/model'"):
        model.save(tmp_path / "nowhere" / "model")
    with pytest.raises(IsADirectoryError):
        model.save(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    model.save(tmp_path / "pipe")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    os.close(reader)


posix = pytest.mark.skipif(os.name == "nt", reason="locks, modes and signals of POSIX")
WAITS = """
import os, sys, time
from frugalboost.files import atomic_file
sync = os.fsync
def slow(number):
    print("written", flush=True)
    sys.stdin.readline()
    sync(number)
os.fsync = slow
atomic_file.write(sys.argv[1], b"new" * 10**6)
"""


def writer(path):
    """A process in the middle of writing."""
    process = subprocess.Popen(
        [sys.executable, "-c", WAITS, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "written\n"
    return process


@posix
def test_a_killed_save_leaves_nothing_for_long(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    with writer(path) as killed:
        killed.send_signal(signal.SIGKILL)
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 2
    (tmp_path / "notes.part").write_text("of someone else")
    atomic_file.write(tmp_path / "another", b"any file in the folder")
    assert {p.name for p in tmp_path.iterdir()} == {"model", "another", "notes.part"}


@posix
def test_a_save_leaves_others_alone(tmp_path):
    path = tmp_path / "model"
    with writer(path) as other:
        atomic_file.write(path, b"mine")
        assert path.read_bytes() == b"mine"
        assert len(list(tmp_path.iterdir())) == 2
        other.communicate("\n")
    assert other.returncode == 0
    assert path.read_bytes() == b"new" * 10**6
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_is_on_the_disk_before_it_takes_the_place_of_the_old(tmp_path, monkeypatch):
    events = []
    replace, sync = os.replace, os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: events.append("sync") or sync(number))
    monkeypatch.setattr(os, "replace", lambda a, b: events.append("replace") or replace(a, b))
    atomic_file.write(tmp_path / "model", b"new")
    assert events[:2] == ["sync", "replace"]
    assert events[2:] == ([] if os.name == "nt" else ["sync"])


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device"), MemoryError()]
)
@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_whatever_stops_a_save_leaves_the_old_file_alone(error, function, tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.write_bytes(b"old")

    def fail(*arguments):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(os, function, fail)
        with pytest.raises(type(error)) as caught:
            atomic_file.write(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    if isinstance(error, OSError):
        assert caught.value.errno == errno.ENOSPC
        assert str(path) in str(caught.value)


@posix
def test_a_full_disk_is_an_error_that_names_the_file(tmp_path):
    """A limit on the size of files stands for the disk; /dev/full is one that is always full."""
    code = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (10**5, 10**5)); "
    code += "from frugalboost.files import atomic_file; atomic_file.write(sys.argv[1], bytes(10**6))"
    path = tmp_path / "model"
    ended = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert re.search(rf"OSError: .*File too large.*{path}", ended.stderr)
    assert list(tmp_path.iterdir()) == []
    if os.path.exists("/dev/full"):
        with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
            next(models())[1].save("/dev/full")


@posix
def test_private_files_stay_private_and_loops_of_links_are_errors(tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    path.chmod(0o600)
    seen = []
    lock = atomic_file._lock  # the first thing after the file was made
    monkeypatch.setattr(atomic_file, "_lock", lambda n: seen.append(os.fstat(n).st_mode & 0o777) or lock(n))
    atomic_file.write(path, b"new")
    assert seen == [path.stat().st_mode & 0o777] == [0o600]
    before = os.umask(0o027)
    try:
        atomic_file.write(tmp_path / "fresh", b"new")
    finally:
        os.umask(before)
    assert (tmp_path / "fresh").stat().st_mode & 0o777 == 0o640
    (tmp_path / "dangling").symlink_to(tmp_path / "target")
    atomic_file.write(tmp_path / "dangling", b"new")
    assert (tmp_path / "target").read_bytes() == b"new"
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="symbolic links"):
        atomic_file.write(tmp_path / "a", b"new")
    atomic_file.write(tmp_path / ("x" * 250), b"a name may be as long as any")


def test_files_are_readable_as_safetensors(content):
    """Any reader of that layout can get at the arrays: contiguous, in order, covering the whole body."""
    header, body = parts(content)
    del header["__metadata__"]
    places = sorted(entry["data_offsets"] for entry in header.values())
    assert places[0][0] == 0
    assert places[-1][1] == len(body)
    assert all(a[1] == b[0] for a, b in itertools.pairwise(places))


@pytest.mark.parametrize("dtype", [">i8", ">f4", "<f2", "<U20", "|b1", "<i2"])
def test_labels_of_any_type_come_back(dtype, tmp_path):
    X, y = load_iris(return_X_y=True)
    model = GBFSClassifier(0.01, max_iter=2).fit(X, (y > 0).astype(dtype))
    model.save(tmp_path / "model")
    loaded = frugalboost.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.classes_.dtype == np.dtype(dtype).newbyteorder("=")
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_labels_that_would_not_load_are_not_saved(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = GBFSClassifier(0.01, max_iter=2).fit(X, y)
    model.classes_ = np.array([*map(str, range(199)), "c" * 100_000])
    with pytest.raises(TypeError, match="Use pickle or joblib instead"):
        model.save(tmp_path / "model")
