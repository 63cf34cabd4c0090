"""Saving and loading: the same model back, and no file that can do harm."""

import copy
import errno
import hashlib
import itertools
import json
import os
import pickle
import re
import signal
import stat
import struct
import subprocess
import sys
import tracemalloc

import joblib
import numpy as np
import pytest
from fuzz_model_files import BOMBS, File, Fuzzer
from own_losses import OwnSquare
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import frugalboost
from frugalboost import GBFSClassifier, GBFSRegressor, ModelFileError
from frugalboost.files import atomic_file
from frugalboost.files import format as model_file
from frugalboost.losses import Quantile
from frugalboost.report.tree import first_tree


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


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.frugal"
    next(models())[1].save(path)
    return path.read_bytes()


def parts(content):
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def joined(header, body, *, sign=True):
    if sign:
        meta = header["__metadata__"]
        meta["sha256"] = hashlib.sha256(meta["model"].encode() + body).hexdigest()
    head = json.dumps(header).encode()
    return struct.pack("<Q", len(head)) + head + body


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: b"", "is not a frugalboost model.*too short"),
        (lambda c: b"PK\x03\x04 some other file entirely", "is not a frugalboost model"),
        (lambda c: c[:-1], "does not match its checksum"),
        (lambda c: c[:200], "ends inside its header"),
        (lambda c: c[:-20] + bytes(20), "does not match its checksum"),
        (
            lambda c: c.replace(b'"format_version": "2"', b'"format_version": "3"'),
            "newer frugalboost .format 3.*Upgrade",
        ),
        (lambda c: c.replace(b'"format": "frugalboost"', b'"format": "other.......",'[:23]), "damaged"),
    ],
)
def test_files_that_are_not_models(content, change, message, tmp_path):
    path = tmp_path / "model.frugal"
    path.write_bytes(change(content))
    with pytest.raises(ModelFileError, match=message):
        frugalboost.load(path)


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


def attempt(path, data, X):
    """Load a mutated file and use what comes back; only a clear refusal is allowed."""
    path.write_bytes(data)
    try:
        model = frugalboost.load(path)
    except ModelFileError:
        return False
    model.predict(X)
    model.transform(X)
    return True


def mutate(rng, data):
    data = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        kind = rng.integers(5)
        at = int(rng.integers(len(data)))
        if kind == 0:
            data[at] = int(rng.integers(256))
        elif kind == 1:
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 2:
            del data[at : at + int(rng.integers(1, 64))]
        elif kind == 3:
            data[at:at] = rng.bytes(int(rng.integers(1, 64)))
        else:
            del data[at:]
        if not data:
            break
    return bytes(data)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mu_max", {"$float": 10**400}),
        ("mu_max", {"$float": "not a number"}),
        ("best_iteration", 10**30),
        ("best_iteration", -1),
        ("impurity", None),
        ("ending", "tomorrow"),
        ("seed", "x"),
        ("set_aside", 1),
        ("fingerprint", [1]),
        ("estimator", "Pipeline"),
        ("feature_names", ["a"]),
        ("classes", None),
        ("classes", {"$array": ["<i8", [[0, 1], [2, 3]]]}),
        ("classes", {"$array": ["<i4", [10**30, 1]]}),
        ("classes", {"$array": ["|O", [0, 1, 2]]}),
        ("classes", {"$array": ["<M8[s]", [0, 1]]}),
        ("classes", {"$array": ["<U1", ["x" * 500_000] + [""] * 50_000]}),
        ("params", {"mu": 1}),
        ("params", {"surprise": 1, "loss": "log_loss"}),
        ("params", {"loss": "log_loss", "mu": [1]}),
        ("params", {"loss": "log_loss", "mu": 10**400}),
        ("params", {"loss": "log_loss", "costs": [[1.0]]}),
        ("params", {"loss": "log_loss", "costs": {"a": "b"}}),
        ("params", {"loss": "log_loss", "class_weight": {"$map": [[0, [1]]]}}),
        ("params", {"loss": "log_loss", "categorical_features": {}}),
        ("params", {"loss": {"built_in": "quantile", "level": 0.5}}),
        ("params", {"loss": {"built_in": "huber", "delta": "x"}}),
        ("params", {"loss": {"built_in": []}}),
        ("params", []),
        ("impurity", "0.5"),
        ("mu_max", 10**400),
        ("best_iteration", 2.0),
        ("best_iteration", True),
        ("structured_costs", "yes"),
        ("cost_unit", 1),
        ("feature_names", [1] * 30),
        ("feature_names", ["a"] * 31),
        ("levels", [[0, ["a"], [0]], [0, ["a"], [0]]]),
        ("levels", [[30, ["a"], [0]]]),
        ("levels", [[0, ["b", "a"], [0, 1]]]),
        ("levels", [[0, [{"$float": "nan"}], [0]]]),
        ("levels", [[0, ["a"], [255]]]),
        ("levels", [[0, "a", [0]]]),
        ("levels", [1]),
        ("classes", {"$array": ["<i8", [1, 1]]}),
        ("classes", {"$array": ["<i8", ["0", "1"]]}),
        ("classes", {"$array": ["<i8", [0.5, 1.5]]}),
        ("classes", {"$array": ["<f8", [{"$float": "nan"}, 1.0]]}),
        ("classes", {"$array": ["<f4", [1e300, 1.0]]}),
        ("classes", {"$array": ["<U999999999", ["a", "b"]]}),
        ("classes", {"$array": ["|O", [[1], [2, 3]]]}),
        ("selling", {"n_features": [3], "loss": [0.5], "sold": [[30]]}),
        ("selling", {"n_features": [3], "loss": [0.5], "sold": []}),
        ("selling", {"n_features": [3]}),
        ("refit_scores", {"kept": "refit"}),
        ("anything", {"$map": [[1, 2], [1.0, 3]]}),
        ("anything", {"$map": [[[], 3]]}),
        ("anything", {"$float": "nan", "more": 1}),
        ("anything", {"$unheard of": 1}),
    ],
)
def test_hostile_descriptions(content, key, value, tmp_path):
    """Correctly signed, so that only the checks behind the checksum can refuse them."""
    header, body = parts(content)
    description = json.loads(header["__metadata__"]["model"])
    description[key] = value
    header["__metadata__"]["model"] = json.dumps(description)
    (tmp_path / "model").write_bytes(joined(header, body))
    with pytest.raises(ModelFileError, match=r"^\S+model is .*: .{10,400}\.$"):
        frugalboost.load(tmp_path / "model")


def refused(content, path, match):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=match):
        frugalboost.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: "[" * 100_000, "more lists and mappings"),
        (lambda t: "[" * 5000 + " " * 50_000, "nested too deeply"),
        (lambda t: t.replace("{", '{"ending": "max_iter", ', 1), "occurs twice"),
        (lambda t: t.replace('"impurity": ', '"impurity": NaN, "a": ', 1), "NaN"),
        (lambda t: t.replace('"best_iteration": ', '"best_iteration": ' + "9" * 5000, 1), "not JSON"),
        (lambda t: "[]", "not a mapping"),
        (lambda t: t[:-1], "not JSON"),
    ],
)
def test_hostile_texts(content, change, message, tmp_path):
    header, body = parts(content)
    header["__metadata__"]["model"] = change(header["__metadata__"]["model"])
    refused(joined(header, body), tmp_path / "model", message)


@pytest.mark.parametrize(
    ("name", "entry", "message"),
    [
        ("prices", {"shape": [2**62]}, "does not fit its place"),
        ("prices", {"shape": [30, 1]}, "whole numbers"),
        ("prices", {"shape": [10**4000] * 1000}, "whole numbers"),
        ("prices", {"shape": [30.0]}, "whole numbers"),
        ("prices", {"shape": [0], "data_offsets": [0, 0]}, "does not follow|belong to no array"),
        ("prices", {"data_offsets": [-240, 0]}, "whole numbers"),
        ("prices", {"dtype": "O"}, "a type that models do not have"),
        ("more", {"dtype": "U8", "shape": [8], "data_offsets": [0, 8]}, "does not follow"),
        ("more", {"dtype": "U8"}, "is incomplete"),
        ("more", None, "is incomplete"),
    ],
)
def test_hostile_headers(content, name, entry, message, tmp_path):
    header, body = parts(content)
    header[name] = {**header.get(name, {}), **entry} if entry is not None else None
    refused(joined(header, body), tmp_path / "model", message)


def test_each_byte_of_a_file_counts_once(content, tmp_path):
    """Three thousand names for one megabyte were three gigabytes."""
    header, body = parts(content)
    more = {"dtype": "U8", "shape": [2**20], "data_offsets": [len(body), len(body) + 2**20]}
    shared = {**header, **{f"z{i}": more for i in range(3000)}}
    refused(joined(shared, body + bytes(2**20)), tmp_path / "model", "does not follow the one before")
    refused(joined(header, body + bytes(8)), tmp_path / "model", "bytes that belong to no array")


LONG = "y" * 25_000
CROWDED = {"x": {"$array": ["<U1", [[LONG] + ["n"] * 25_000]]}}  # numpy gave each the room of the longest


@pytest.mark.slow
@pytest.mark.parametrize("value", [CROWDED, *(make(50_000) for make in BOMBS)])
def test_memory_is_bounded_by_the_file(content, value, tmp_path):
    header, body = parts(content)
    description = {**json.loads(header["__metadata__"]["model"]), "selling": value}
    header["__metadata__"]["model"] = json.dumps(description, separators=(",", ":"))
    data = joined(header, body)
    (tmp_path / "model").write_bytes(data)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            frugalboost.load(tmp_path / "model")
        assert tracemalloc.get_traced_memory()[1] < 40 * len(data) + 2**24
    finally:
        tracemalloc.stop()


def test_names_may_be_full_of_brackets(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = GBFSClassifier(0.01, max_iter=2).fit(X, y)
    model.feature_names_in_ = np.array([end + '[{"\\"' * 1000 + end for end in ("a", "\\", '"', "\\\\")], dtype=object)
    model.save(tmp_path / "model")
    assert list(frugalboost.load(tmp_path / "model").feature_names_in_) == list(model.feature_names_in_)


def test_nothing_about_a_machine_comes_from_a_file(content, tmp_path):
    header, body = parts(content)
    description = json.loads(header["__metadata__"]["model"])
    assert not {"n_jobs", "verbose", "bins_folder", "screening"} & description["params"].keys()
    description["params"] |= {"n_jobs": 256, "verbose": 1, "bins_folder": "/", "screening": "off"}
    header["__metadata__"]["model"] = json.dumps(description)
    (tmp_path / "model").write_bytes(joined(header, body))
    model = frugalboost.load(tmp_path / "model")
    assert (model.n_jobs, model.verbose, model.bins_folder, model.screening) == (None, 0, None, "auto")


def put(name, place, value):
    def change(file):
        file.arrays[name][place] = value

    return change


def share_children(file):
    """A second split leads where the first one does."""
    left = file.arrays["ensemble.left"]
    first, second = np.flatnonzero(file.arrays["ensemble.feature"] >= 0)[:2]
    left[second] = left[first]


def one_node_more(file):
    for name in ("feature", "left", "missing_left", "threshold", "value", "gain", "weight", "level_set"):
        array = file.arrays[f"ensemble.{name}"]
        file.arrays[f"ensemble.{name}"] = np.append(array, array[-1])
    file.arrays["ensemble.tree_begin"][-1] += 1


def second_output(file):
    file.arrays["ensemble.start"] = np.zeros(2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (share_children, "outside it|without a parent, or with two"),
        (one_node_more, "without a parent, or with two"),
        (second_output, "its best iteration is not one of its iterations"),
        (put("ensemble.left", -1, 0), "without a parent, or with two"),
        (put("ensemble.feature", 0, 30), "splits on a feature that does not exist"),
        (put("ensemble.feature", -1, -2), "splits on a feature that does not exist"),
        (put("ensemble.level_set", 0, 0), "set of levels that does not exist"),
        (put("ensemble.level_set", -1, 0), "leaf has a set of levels"),
        (put("ensemble.missing_left", 0, 2), "neither left nor right"),
        (put("ensemble.threshold", 0, np.nan), "no threshold"),
        (put("ensemble.value", -1, np.inf), "value of a leaf is not finite"),
        (put("ensemble.start", 0, np.nan), "value of a leaf is not finite"),
        (put("ensemble.gain", 0, np.nan), "gain of a split"),
        (put("ensemble.weight", 0, -1.0), "weight of a node"),
        (put("prices", 0, np.nan), "price is negative or not a number"),
        (put("purchases.feature", 0, 30), "bought a feature that does not exist"),
        (put("purchases.iteration", 0, 5), "not in order"),
        (put("purchases.iteration", slice(None), 10), "uses a feature it did not buy"),
        (put("purchases.price", 0, np.inf), "price paid"),
        (put("purchases.gain", 0, np.nan), "gain of a purchase"),
        (put("curve.n_features", 3, 99), "does not agree with its purchases"),
        (put("curve.cost", 3, np.nan), "cost in its history"),
        (put("curve.prediction_cost", 3, -1.0), "cost in its history"),
    ],
)
def test_hostile_arrays(content, change, message, tmp_path):
    file = File.of(content)
    change(file)
    refused(file.content(), tmp_path / "model", message)


def deep_tree(depth):
    """A model with one tree, every other node of which splits."""
    X = np.arange(40.0)[:, None]
    model = GBFSRegressor(0.0, max_iter=1, max_depth=2, min_samples_leaf=1).fit(X, X[:, 0] ** 2)
    nodes = np.arange(2 * depth + 1)
    split = ((nodes % 2 == 1) | (nodes == 0)) & (nodes < 2 * depth - 1)
    trees = model._model.ensemble
    return model, {
        "feature": np.where(split, 0, -1).astype(np.int32),
        "left": np.where(split, 2 * np.cumsum(split) - 1, -1).astype(np.int32),
        "missing_left": np.zeros(len(nodes), dtype=np.uint8),
        "level_set": np.full(len(nodes), -1, dtype=np.int32),
        "tree_begin": np.array([0, len(nodes)]),
        **{name: np.ones(len(nodes)) for name in ("threshold", "value", "gain", "weight")},
        "start": trees.start,
    }


def test_a_tree_may_be_deeper_than_functions_call_themselves(tmp_path):
    model, arrays = deep_tree(5000)
    model.save(tmp_path / "model")
    file = File.of((tmp_path / "model").read_bytes())
    file.arrays |= {f"ensemble.{name}": array for name, array in arrays.items()}
    (tmp_path / "model").write_bytes(file.content())
    loaded = frugalboost.load(tmp_path / "model")
    loaded.predict(np.zeros((2, 1)))
    assert max(node["depth"] for node in first_tree(loaded, ["x"])) == 5000


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


@pytest.mark.slow
def test_fuzz_structure(tmp_path):
    """Many kinds of files with something wrong in them; ``python tests/files/fuzz_model_files.py 20000`` tries more."""
    fuzzer = Fuzzer(0, tmp_path)
    drawing = [f for f in fuzzer.files if f.description["draw"] is not None]
    assert len(drawing) == 2
    assert all(len(f.arrays["draw.gains"]) > 0 for f in drawing)
    for case in range(300):
        fuzzer.run(case)
    assert fuzzer.findings == {}
    assert fuzzer.counts["loaded"] > 50
    assert fuzzer.counts["refused"] > 100
    assert len(fuzzer.reasons) > 50


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_fuzz_bytes(content, tmp_path):
    """10,000 mutated files; the checksum finds nearly all."""
    X = np.zeros((3, 30))
    rng = np.random.default_rng(0)
    loaded = sum(attempt(tmp_path / "model", mutate(rng, content), X) for _ in range(10_000))
    assert loaded < 500  # changes outside what is read, such as padding


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_fuzz_behind_the_checksum(content, tmp_path):
    """A hostile file has a correct checksum: arrays and description are mutated and signed again."""
    X = np.zeros((3, 30))
    header, body = parts(content)
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(3000):
        changed = json.loads(json.dumps(header))
        new_body = body
        if rng.random() < 0.5:
            data = bytearray(body)
            for _ in range(rng.integers(1, 30)):
                at = int(rng.integers(len(data)))
                data[at] = int(rng.choice([0, 255, 127, 128, rng.integers(256)]))
            new_body = bytes(data)
        elif rng.random() < 0.5:
            text = mutate(rng, changed["__metadata__"]["model"].encode())
            changed["__metadata__"]["model"] = text.decode(errors="replace")
        else:
            name = rng.choice([k for k in changed if k != "__metadata__"])
            field = rng.choice(["dtype", "shape", "data_offsets"])
            values = ["F64", "I32", "U8", None, [], [0], [-1], [2**62], [1, 2], [0, len(body)], [2**40, 2**40], "x", {}]
            changed[name][field] = values[rng.integers(len(values))]
        refused += not attempt(tmp_path / "model", joined(changed, new_body), X)
    assert refused > 1500
