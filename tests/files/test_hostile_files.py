"""Files that are damaged or made to do harm are refused with a sentence, and cost no more than their size."""

import json
import tracemalloc

import numpy as np
import pytest
from fuzz_model_files import BOMBS, File, Fuzzer
from model_files import joined, parts
from sklearn.datasets import load_iris

import frugalboost
from frugalboost import GBFSClassifier, GBFSRegressor, ModelFileError
from frugalboost.report.tree import first_tree


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
        ("params", {"loss": "log_loss", "costs": {"paid": [1.0], "per_row": 1.0}}),
        ("params", {"loss": "log_loss", "costs": {"paid": [1.0], "per_row": [-1.0]}}),
        ("params", {"loss": "log_loss", "costs": {"paid": [{"$float": "nan"}], "per_row": [1.0]}}),
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
