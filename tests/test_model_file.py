"""Saving and loading: the same model back, and no file that can do harm."""

import copy
import hashlib
import itertools
import json
import os
import pickle
import stat
import struct

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from test_losses import OwnSquare

import frugalboost
from frugalboost import GBFSClassifier, GBFSRegressor, ModelFileError
from frugalboost.losses import Quantile


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
    with pytest.raises(ValueError, match=r"loss of its own, 'OwnSquare', .* load\(path, loss=...\)"):
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
    ],
)
def test_hostile_descriptions(content, key, value, tmp_path):
    """Correctly signed, so that only the checks behind the checksum can refuse them."""
    header, body = parts(content)
    description = json.loads(header["__metadata__"]["model"])
    description[key] = value
    header["__metadata__"]["model"] = json.dumps(description)
    (tmp_path / "model").write_bytes(joined(header, body))
    with pytest.raises(ModelFileError):
        frugalboost.load(tmp_path / "model")


@pytest.mark.filterwarnings("ignore")
def test_fuzz_bytes(content, tmp_path):
    """10,000 mutated files; the checksum finds nearly all."""
    X = np.zeros((3, 30))
    rng = np.random.default_rng(0)
    loaded = sum(attempt(tmp_path / "model", mutate(rng, content), X) for _ in range(10_000))
    assert loaded < 500  # changes outside what is read, such as padding


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
