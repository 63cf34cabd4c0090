"""Data sets come whole from files or from scikit-learn's fetchers, and nothing in a file is run."""

import io
import json
import pickle
import sys
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from frugalboost import GBFSClassifier
from frugalboost.costs import Bags
from lab import data as datasets
from lab.data import Dataset, Folder, adult, fetching, kddcup

FOLDER = Folder.named(None).path  # before a test takes the variable away
TWO = {"X": np.arange(12.0).reshape(6, 2), "y": np.array([1, -1, 1, -1, -1, -1], dtype=np.int8)}


@pytest.fixture(autouse=True)
def no_folder_and_no_network(monkeypatch):
    """Tests name their folder, and nothing is ever fetched."""
    monkeypatch.delenv("FRUGALBOOST_DATA", raising=False)

    def refuse(*_, **__):
        raise AssertionError("a test asked the network")

    for fetcher in ("fetch_openml", "fetch_california_housing", "fetch_kddcup99"):
        monkeypatch.setattr(f"sklearn.datasets.{fetcher}", refuse)


# names and folders


def test_names():
    assert set(datasets.names()) == {
        *("pcmac", "uspst", "spam", "isolet", "mnist3vs8", "adult", "kddcup99", "colon", "smk_can_187", "relathe"),
        *("microarray_chowdary", "microarray_singh", "microarray_golub", "microarray_gravier"),
        *("madelon", "arcene", "dexter", "dorothea", "california_housing", "gglasso_bardet", "gglasso_colon"),
    }


@pytest.mark.parametrize("name", ["spams", "mnist", "mnist3vs10", "../spam", "", 3, ["spam"]])
def test_unknown_names(name, tmp_path):
    with pytest.raises(ValueError, match=r"There is no data set .* There are pcmac, .* any two digits"):
        datasets.load(name, tmp_path)


def test_one_digit_is_no_pair(tmp_path):
    with pytest.raises(ValueError, match="same digit twice"):
        datasets.load("mnist3vs3", tmp_path)


def test_the_argument_goes_before_the_variable(tmp_path, monkeypatch):
    for k in (1, 2):
        (tmp_path / str(k)).mkdir()
        np.savez(tmp_path / str(k) / "spam.npz", X=np.full((2, 3), k), y=np.array([1, -1]))
    monkeypatch.setenv("FRUGALBOOST_DATA", str(tmp_path / "1"))
    assert datasets.load("spam").X[0, 0] == 1
    assert datasets.load("spam", tmp_path / "2").X[0, 0] == 2
    assert datasets.load("spam", str(tmp_path / "2")).X[0, 0] == 2


def test_a_missing_file_is_told_with_its_folder(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"pcmac.npz is needed, and no folder was named.*FRUGALBOOST_DATA"):
        datasets.load("pcmac")
    with pytest.raises(FileNotFoundError) as error:
        datasets.load("pcmac", tmp_path)
    for part in ("no file pcmac.npz", repr(str(tmp_path)), "the argument folder", "folder=", "can't be fetched"):
        assert part in str(error.value)
    monkeypatch.setenv("FRUGALBOOST_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="named by the environment variable FRUGALBOOST_DATA"):
        datasets.load("pcmac")
    with pytest.raises(FileNotFoundError, match=r"no file mnist.npz.*fetch=True"):
        datasets.load("mnist1vs7", fetch=False)
    with pytest.raises(FileNotFoundError, match=r"SMK_CAN_187.mat or SMK-CAN-187.mat"):
        datasets.load("smk_can_187")
    with pytest.raises(FileNotFoundError, match=r"kddcup99_train10.parquet.*test part, which is only in files"):
        datasets.load("kddcup99")


def test_a_missing_folder_is_an_error(tmp_path, monkeypatch):
    with pytest.raises(NotADirectoryError, match="absent', which is named by the argument folder"):
        datasets.load("spam", tmp_path / "absent")
    with pytest.raises(NotADirectoryError, match="named by the argument folder"):
        datasets.load("spam", "")
    monkeypatch.setenv("FRUGALBOOST_DATA", str(tmp_path / "absent"))
    with pytest.raises(NotADirectoryError, match="named by the environment variable FRUGALBOOST_DATA"):
        datasets.load("spam")


# files


def test_two_classes_from_a_file(tmp_path):
    names = np.array(["a", "b"])
    is_test = np.array([0, 0, 0, 0, 1, 1], dtype=np.uint8)
    np.savez(tmp_path / "adult.npz", **TWO, is_test=is_test, feature_names=names, groups=names == "b", label_note="hm")
    data = datasets.load("adult", tmp_path)
    assert data.y.dtype == np.int64
    assert data.y.tolist() == [1, 0, 1, 0, 0, 0]
    assert data.feature_names == ["a", "b"]
    assert data.groups.tolist() == [0, 1]
    assert data.groups.dtype == np.int64
    assert [rows.tolist() for rows in data.split(seed=3)] == [[0, 1, 2, 3], [4, 5]]
    assert data.note.startswith("LIBSVM's a9a")
    assert data.note.endswith('The file says: "hm"')
    assert data.labels is None
    assert data.weights is None
    assert repr(data) == "Dataset('adult', 6 x 2, 4 of class 0, 2 of class 1, 2 test rows)"


@pytest.mark.parametrize(
    ("given", "expected"),
    [("u1", "f4"), ("u2", "f4"), ("f4", "f4"), ("f2", "f4"), ("?", "f4"), ("i4", "f8"), ("i8", "f8"), (">f8", "f8")],
)
def test_precision_is_kept(given, expected, tmp_path):
    X = np.asfortranarray(TWO["X"].astype(given))
    np.savez(tmp_path / "spam.npz", X=X, y=TWO["y"])
    data = datasets.load("spam", tmp_path)
    assert data.X.dtype == np.dtype(expected)
    assert data.X.dtype.isnative
    assert data.X.flags.c_contiguous
    np.testing.assert_array_equal(data.X, X)


def test_pairs_of_digits(tmp_path):
    y = np.array([3, 8, 1, 3, 0, 8])
    np.savez(tmp_path / "mnist.npz", X=TWO["X"].astype(np.uint8), y=y, is_test=np.arange(6) > 2)
    data = datasets.load("mnist3vs8", tmp_path)
    assert data.y.tolist() == [0, 1, 0, 1]
    assert data.X[:, 0].tolist() == [0, 2, 6, 10]
    assert data.is_test.tolist() == [False, False, True, True]
    assert "1 for the digit 8, 0 for 3" in data.note
    turned = datasets.load("mnist8vs3", tmp_path)
    assert turned.y.tolist() == [1, 0, 1, 0]


def test_letters_and_digits_are_kept_beside_the_grouping(tmp_path):
    y, y_binary = np.array([1, 26, 13, 14, 2, 1]), np.array([-1, 1, -1, 1, -1, -1])
    np.savez(tmp_path / "isolet.npz", X=TWO["X"], y=y, y_binary=y_binary)
    assert datasets.load("isolet", tmp_path).labels.tolist() == list("AZMNBA")
    np.savez(tmp_path / "uspst.npz", X=TWO["X"], y=y, y_binary=y_binary)
    data = datasets.load("uspst", tmp_path)
    assert data.labels.tolist() == y.tolist()
    assert data.y.tolist() == [0, 1, 0, 1, 0, 0]
    np.savez(tmp_path / "isolet.npz", X=TWO["X"], y=y + 1, y_binary=y_binary)
    with pytest.raises(ValueError, match="Letters must be numbered from 1 to 26"):
        datasets.load("isolet", tmp_path)
    np.savez(tmp_path / "uspst.npz", X=TWO["X"], y=y)
    with pytest.raises(ValueError, match=r"uspst.npz.*lacks the array 'y_binary'"):
        datasets.load("uspst", tmp_path)


def test_numbers_to_predict(tmp_path):
    np.savez(tmp_path / "california_housing.npz", X=np.eye(10), y=np.arange(10, dtype=np.float32))
    data = datasets.load("california_housing", tmp_path)
    assert data.y.dtype == np.float64
    assert [len(rows) for rows in data.split(seed=0, test_size=0.3)] == [7, 3]
    assert repr(data) == "Dataset('california_housing', 10 x 10, y from 0 to 9)"


def csr(**changes):
    X = sparse.csr_array(np.diag(np.arange(1, 5, dtype=np.int16)))
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape), "format": b"csr"}
    return parts | {"y": np.array([1, -1, 1, -1])} | changes


def test_sparse_tables(tmp_path):
    np.savez(tmp_path / "dexter.npz", **csr())
    data = datasets.load("dexter", tmp_path)
    assert data.X.format == "csr"
    assert data.X.dtype == np.float32
    np.testing.assert_array_equal(data.X.toarray(), np.diag([1, 2, 3, 4]))
    assert data.X[data.split(seed=0, test_size=0.5)[0]].shape == (2, 4)


@pytest.mark.parametrize(
    "changes",
    [
        {"indices": np.array([0, 1, 2, 4])},
        {"indices": np.array([0, 1, 2, -1])},
        {"indptr": np.array([0, 1, 2, 3, 5])},
        {"indptr": np.array([0, 3, 2, 3, 4])},
        {"shape": np.array([5, 4])},
        {"shape": np.array(4)},
        {"format": b"csc"},
        {"data": np.array(["a"] * 4)},
    ],
)
def test_damaged_sparse_tables(changes, tmp_path):
    np.savez(tmp_path / "dexter.npz", **csr(**changes))
    with pytest.raises(ValueError, match=r"dexter\.npz"):
        datasets.load("dexter", tmp_path)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"y": None}, "lacks the array 'y'"),
        ({"X": None}, "lacks the array 'X'"),
        ({"y": np.ones(5)}, "one value for each row of X, 6 in all"),
        ({"y": np.arange(6)}, "classes must be 1 and -1"),
        ({"y": np.array(list("abcdef"))}, "classes must be 1 and -1"),
        ({"X": np.arange(6.0)}, "with rows and columns"),
        ({"X": np.array([["a"] * 2] * 6)}, "X must hold numbers"),
        ({"is_test": np.ones(6, dtype=bool)}, "there must be rows of both"),
        ({"is_test": np.zeros(6, dtype=bool)}, "there must be rows of both"),
        ({"groups": np.zeros(3)}, "one value for each column of X, 2 in all"),
        ({"feature_names": np.array(["a"])}, "one value for each column of X, 2 in all"),
    ],
)
def test_files_that_do_not_fit(changes, said, tmp_path):
    np.savez(tmp_path / "spam.npz", **{key: array for key, array in (TWO | changes).items() if array is not None})
    with pytest.raises(ValueError, match=said) as error:
        datasets.load("spam", tmp_path)
    assert str(tmp_path / "spam.npz") in str(error.value)


class Hostile:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("key", ["X", "y", "label_note", "feature_names"])
def test_objects_in_a_file_are_refused(key, tmp_path):
    trap = np.empty(1, dtype=object)
    trap[0] = Hostile(tmp_path / "ran")
    np.savez(tmp_path / "spam.npz", **(TWO | {key: trap}))
    with pytest.raises(ValueError, match=f"array '{key}'.*holds Python objects.*refused"):
        datasets.load("spam", tmp_path)
    assert not (tmp_path / "ran").exists()
    pickle.loads(pickle.dumps(trap))[0].close()  # the trap works where it is let in
    assert (tmp_path / "ran").exists()


def test_arrays_that_are_not_needed_are_not_read(tmp_path):
    trap = np.array([Hostile(tmp_path / "ran")], dtype=object)
    np.savez(tmp_path / "spam.npz", **TWO, other=trap)
    assert datasets.load("spam", tmp_path).n_samples == 6
    assert not (tmp_path / "ran").exists()


def damaged(tmp_path):
    whole = io.BytesIO()
    np.savez_compressed(whole, **TWO)
    yield b""
    yield b"no archive at all"
    yield whole.getvalue()[:-30]
    middle = bytearray(whole.getvalue())
    middle[60:120] = bytes(60)
    yield bytes(middle)
    yield pickle.dumps(Hostile(tmp_path / "ran"))
    single = io.BytesIO()
    np.save(single, TWO["X"])
    yield single.getvalue()
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr("X", b"not an array")
        archive.writestr("y", b"not an array")
    yield raw.getvalue()


@pytest.mark.parametrize("case", range(7))
def test_damaged_files(case, tmp_path):
    (tmp_path / "spam.npz").write_bytes(list(damaged(tmp_path))[case])
    with pytest.raises(ValueError, match=r"spam.npz' is damaged, or no .npz file"):
        datasets.load("spam", tmp_path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("file", ["SMK_CAN_187.mat", "SMK-CAN-187.mat"])
def test_smk(file, tmp_path):
    X = np.arange(187)[:, None] + np.zeros((187, 19993), dtype=np.uint8)
    raw = np.where(np.arange(187) < 90, 1, 2)[:, None]
    savemat(tmp_path / file, {"X": X.astype(np.float32), "Y": raw}, do_compression=True)
    data = datasets.load("smk_can_187", tmp_path)
    assert data.X.shape == (187, 19993)
    assert data.X[:, 7].tolist() == list(range(187))
    assert data.y.tolist() == [1] * 90 + [0] * 97


def test_other_mat_files(tmp_path):
    path = tmp_path / "SMK_CAN_187.mat"
    savemat(path, {"X": np.eye(3), "Y": np.ones(3)})
    with pytest.raises(ValueError, match=r"shape \(3, 3\), not \(187, 19993\)"):
        datasets.load("smk_can_187", tmp_path)
    savemat(path, {"X": np.zeros((187, 19993), dtype=np.uint8), "Y": np.arange(187)}, do_compression=True)
    with pytest.raises(ValueError, match="classes 1 and 2, or 1 and -1"):
        datasets.load("smk_can_187", tmp_path)
    path.write_bytes(b"MATLAB it is not")
    with pytest.raises(ValueError, match="can't be read as a MATLAB file"):
        datasets.load("smk_can_187", tmp_path)


# kddcup99

SCHEMA = {
    "numeric": ["duration", "count"],
    "symbolic": {"flag": ["SF", "S0"]},
    "full_train_class_counts": {"normal.": 30, "smurf.": 10},
}
TRAIN = {"duration": [1, 2, 3, 4], "flag": ["S0", "SF", "SF", "S0"], "count": [0.5] * 4, "label": ["normal."] * 3}
TEST = {"duration": [7, 8], "flag": ["SF", "odd"], "count": [0.25, 1.0], "label": ["normal.", "new."]}


def kdd_folder(folder, train=None, test=None, schema=None):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    train = {**TRAIN, "label": [*TRAIN["label"], "smurf."]} | (train or {})
    for part, columns in (("train10", train), ("test", TEST | (test or {}))):
        table = pa.table({k: v for k, v in columns.items() if v is not None})
        if "flag" in table.column_names:  # as the real files have it
            table = table.set_column(table.column_names.index("flag"), "flag", table["flag"].dictionary_encode())
        parquet.write_table(table, folder / f"kddcup99_{part}.parquet", row_group_size=2)
    (folder / "kddcup99_schema.json").write_text(json.dumps(SCHEMA if schema is None else schema))
    return folder


def test_kddcup(tmp_path):
    data = datasets.load("kddcup99", kdd_folder(tmp_path))
    assert data.feature_names == ["duration", "count", "flag=SF", "flag=S0"]
    assert data.X.dtype == np.float32
    expected = [[1, 0.5, 0, 1], [2, 0.5, 1, 0], [3, 0.5, 1, 0], [4, 0.5, 0, 1], [7, 0.25, 1, 0], [8, 1.0, 0, 0]]
    assert data.X.tolist() == expected
    assert data.y.tolist() == [0, 0, 0, 1, 0, 1]
    assert data.is_test.tolist() == [False] * 4 + [True] * 2
    assert data.labels.tolist() == ["normal."] * 3 + ["smurf.", "normal.", "new."]
    assert data.weights.tolist() == [10, 10, 10, 10, 1, 1]
    assert Bags.from_one_hot(data.feature_names, "=").groups == ["duration", "count", "flag", "flag"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"train": {"count": None}}, r"train10.parquet' lacks the column 'count'"),
        ({"test": {"label": None}}, r"test.parquet' lacks the column 'label'"),
        ({"train": {"label": ["normal.", "smurf.", "perl.", "smurf."]}}, "rows labelled 'perl.'"),
        ({"train": {"label": ["normal.", None, "smurf.", "smurf."]}}, "1 rows have no label"),
        ({"test": {"count": ["a", "b"]}}, r"test.parquet' does not hold what the schema says"),
        ({"test": {"label": [[1], [2]]}}, r"test.parquet' does not hold what the schema says"),
        ({"schema": {"numeric": []}}, "should be JSON with numeric, symbolic and full_train_class_counts"),
        ({"schema": [1]}, "should be JSON with numeric"),
    ],
)
def test_kddcup_that_does_not_fit(changes, said, tmp_path):
    with pytest.raises(ValueError, match=said):
        datasets.load("kddcup99", kdd_folder(tmp_path, **changes))


def test_kddcup_needs_all_files_and_pyarrow(tmp_path, monkeypatch):
    kdd_folder(tmp_path)
    (tmp_path / "kddcup99_test.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(ValueError, match=r"kddcup99_test.parquet' can't be read as Parquet"):
        datasets.load("kddcup99", tmp_path)
    (tmp_path / "kddcup99_schema.json").write_text("{")
    with pytest.raises(ValueError, match="should be JSON"):
        datasets.load("kddcup99", tmp_path)
    (tmp_path / "kddcup99_schema.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"no file kddcup99_schema.json"):
        datasets.load("kddcup99", tmp_path)
    kdd_folder(tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"need pyarrow: pip install 'frugalboost\[parquet\]'"):
        datasets.load("kddcup99", tmp_path)


# fetching

FETCHED = ["spam", "isolet", "mnist3vs8", "adult", "california_housing"]


def bunch(name):
    """What a fetcher gives for a name, of the right size, with nothing in it."""
    source = fetching.source_of(name)
    X = np.zeros(source.shape, dtype=np.uint8 if name.startswith("mnist") else np.float64)
    if name == "adult":
        X[:, 3] = 1
        X = sparse.csr_matrix(X)
    first = {"isolet": 1, "adult": -1}.get(name, 0)
    step = 2 if name == "adult" else 1
    labels = [np.repeat(first + step * np.arange(len(part)), part)[::-1] for part in source.rows]
    classes = np.concatenate(labels) if labels else np.zeros(source.shape[0])
    y = np.array([f"'{c}'" if name == "isolet" else str(c) for c in classes], dtype=object)
    names = [f"x{i}" for i in range(source.shape[1])]
    if name == "spam":
        names[48] = "char_freq_%3B"
    return SimpleNamespace(data=X, target=y if labels else classes, feature_names=names)


@pytest.fixture
def network(monkeypatch):
    """Let fetchers give what a test puts here, and tell what they were asked for."""
    found = SimpleNamespace(gives=None, asked=[])

    def openml(title, *, version, as_frame, parser):
        assert (version, as_frame) == (1, False)
        assert parser in ("auto", "liac-arff")
        found.asked.append(title)
        if isinstance(found.gives, Exception):
            raise found.gives
        return found.gives

    monkeypatch.setattr("sklearn.datasets.fetch_openml", openml)
    monkeypatch.setattr(
        "sklearn.datasets.fetch_california_housing", lambda: openml("", version=1, as_frame=False, parser="auto")
    )
    return found


@pytest.mark.parametrize("name", FETCHED)
def test_fetched(name, network, tmp_path):
    network.gives = bunch(name)
    data = datasets.load(name, tmp_path)
    titles = {"spam": "spambase", "isolet": "isolet", "mnist3vs8": "mnist_784", "adult": "a9a"}
    assert network.asked == [titles.get(name, "")]
    assert "Fetched from" in data.note
    assert data.X.flags.c_contiguous
    if name == "spam":
        assert data.feature_names[48] == "char_freq_;"
        assert np.bincount(data.y).tolist() == [2788, 1813]
    if name == "isolet":
        assert data.labels[0] == "Z"
        assert data.is_test.sum() == 1559
        np.testing.assert_array_equal(data.y, data.labels > "M")
    if name == "mnist3vs8":
        assert data.n_samples == 11982 + 1984
        assert data.is_test.sum() == 1984
    if name == "adult":
        assert data.is_test[32561:].all()
        assert np.bincount(data.y[data.is_test]).tolist() == [12435, 3846]
        assert data.feature_names[3] == "age in [41,49]"


def test_what_came_must_be_the_known_table(network):
    network.gives = bunch("spam")
    network.gives.data = network.gives.data[:-1]
    with pytest.raises(ValueError, match=r"fetched for 'spam'.*shape \(4600, 57\); expected: \(4601, 57\)"):
        datasets.load("spam")
    network.gives = bunch("spam")
    network.gives.target[:] = "1"
    with pytest.raises(ValueError, match="classes of 4601 rows in rows 0 to 4600; expected: 2788, 1813"):
        datasets.load("spam")
    network.gives.target[0] = "spam"
    with pytest.raises(ValueError, match="classes that are no numbers"):
        datasets.load("spam")
    network.gives = bunch("isolet")  # in another order, so that the last rows are not isolet5
    network.gives.target = network.gives.target[::-1]
    with pytest.raises(ValueError, match="in rows 0 to 6237; expected: 240, 240"):
        datasets.load("isolet")
    network.gives = bunch("adult")
    network.gives.data = network.gives.data.toarray()
    network.gives.data[:, 4] = 1
    with pytest.raises(ValueError, match="columns in another order"):
        datasets.load("adult")
    network.gives = bunch("california_housing")
    network.gives.data = network.gives.data[:, :7]
    with pytest.raises(ValueError, match=r"shape \(20640, 7\)"):
        datasets.load("california_housing")


@pytest.mark.parametrize("error", [OSError("no route to host"), ValueError("no dataset found")])
def test_a_network_that_fails_is_told_with_what_else_to_do(error, network, tmp_path):
    network.gives = error
    with pytest.raises(FileNotFoundError, match=f"no file adult.npz in the folder.*folder=.*but failed: {error}"):
        datasets.load("adult", tmp_path)


def test_files_go_before_the_network(network, tmp_path):
    np.savez(tmp_path / "spam.npz", **TWO)
    assert datasets.load("spam", tmp_path).n_samples == 6
    assert network.asked == []
    with pytest.raises(FileNotFoundError):
        datasets.load("isolet", tmp_path, fetch=False)
    assert network.asked == []


# data sets by hand


def test_random_splits_keep_shares_of_classes():
    data = Dataset("toy", np.zeros((100, 1)), np.repeat([0, 1], [80, 20]))
    train, test = data.split(seed=1)
    assert sorted([*train, *test]) == list(range(100))
    assert data.y[test].sum() == 4
    np.testing.assert_array_equal(test, data.split(seed=1)[1])
    assert test.tolist() != data.split(seed=2)[1].tolist()
    assert len(data.split(seed=1, test_size=0.5)[1]) == 50


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"X": np.eye(2, dtype=int)}, "X must be a table of float32 or float64"),
        ({"X": [[1.0]]}, "X must be a table"),
        ({"X": sparse.csc_array(np.eye(2))}, "CSR format, not 'csc'"),
        ({"y": np.array([1, 2])}, "classes 0 and 1, or floats"),
        ({"y": np.array([1.0, np.nan])}, "not finite"),
        ({"is_test": np.array([0, 1])}, "is_test must be True"),
        ({"weights": np.array([1.0, -1.0])}, "weights must be finite and not negative"),
        ({"labels": np.array(["a"])}, "labels must have one value for each row of X, 2 in all"),
    ],
)
def test_data_sets_that_do_not_fit(changes, said):
    with pytest.raises(ValueError, match=said):
        Dataset("toy", **({"X": np.eye(2), "y": np.array([0, 1])} | changes))


# the real files


def real(name, *files):
    if FOLDER is None:
        pytest.skip("needs real data: set FRUGALBOOST_DATA to the folder of the data files")
    for file in files or (f"{name}.npz",):
        if not (FOLDER / file).exists():
            pytest.skip(f"{file} is not in the folder of FRUGALBOOST_DATA")
    return datasets.load(name, FOLDER, fetch=False)


# name, rows x columns, rows of class 0 and 1, official test rows, precision, how many groups
REAL = [
    ("pcmac", (1943, 3289), (961, 982), None, "f4", 0),
    ("uspst", (2007, 256), (1187, 820), None, "f4", 0),
    ("spam", (4601, 57), (2788, 1813), None, "f8", 0),
    ("isolet", (7797, 617), (3897, 3900), 1559, "f4", 0),
    ("adult", (48842, 123), (37155, 11687), 16281, "f4", 14),
    ("colon", (62, 2000), (22, 40), None, "f8", 9),
    ("microarray_chowdary", (104, 22283), (42, 62), None, "f4", 0),
    ("microarray_singh", (102, 12600), (50, 52), None, "f4", 0),
    ("microarray_golub", (72, 7129), (47, 25), None, "f4", 0),
    ("microarray_gravier", (168, 2905), (111, 57), None, "f4", 0),
    ("relathe", (1427, 4322), (648, 779), None, "f4", 0),
    ("madelon", (2600, 500), (1300, 1300), None, "f4", 0),
    ("arcene", (200, 10000), (112, 88), None, "f4", 0),
    ("dexter", (300, 20000), (150, 150), None, "f4", 0),
    ("dorothea", (800, 88119), (722, 78), None, "f4", 0),
    ("california_housing", (20640, 8), None, None, "f8", 0),
    ("gglasso_bardet", (120, 100), None, None, "f8", 20),
    ("gglasso_colon", (62, 100), (22, 40), None, "f8", 20),
]


@pytest.mark.parametrize(("name", "shape", "classes", "tests", "precision", "groups"), REAL, ids=[r[0] for r in REAL])
def test_real_files(name, shape, classes, tests, precision, groups):
    data = real(name)
    assert (data.n_samples, data.n_features) == data.X.shape == shape
    assert data.X.dtype == np.dtype(precision)
    assert sparse.issparse(data.X) == (name in ("dexter", "dorothea"))
    if classes is None:
        assert data.y.dtype == np.float64
    else:
        assert data.y.dtype == np.int64
        assert tuple(np.bincount(data.y).tolist()) == classes
    assert (data.is_test is None) == (tests is None)
    assert tests is None or data.is_test.sum() == tests
    assert (0 if data.groups is None else len(np.unique(data.groups))) == groups
    assert "The file says" in data.note
    train, test = data.split(seed=0)
    assert len(train) + len(test) == shape[0]


def test_real_parts_and_labels():
    data = real("isolet")
    counts = dict(zip(*np.unique(data.labels, return_counts=True)))
    assert counts == {c: {"F": 298, "M": 299}.get(c, 300) for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
    rows = fetching.SOURCES["isolet"].rows
    assert [tuple(np.unique(data.labels[data.is_test == t], return_counts=True)[1].tolist()) for t in (0, 1)] == [*rows]
    assert np.bincount(real("uspst").labels).tolist() == [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]


def test_adult_is_the_same_fetched_and_from_its_file(network):
    data = real("adult")
    network.gives = SimpleNamespace(data=sparse.csr_matrix(data.X), target=np.where(data.y, "1", "-1").astype(object))
    fetched = datasets.load("adult")
    assert fetched.feature_names == data.feature_names == adult.names()
    for name in ("X", "y", "is_test", "groups"):
        np.testing.assert_array_equal(getattr(fetched, name), getattr(data, name))
        assert getattr(fetched, name).dtype == getattr(data, name).dtype


def test_spam_and_houses_are_the_same_fetched_and_from_their_files(network):
    for name in ("spam", "california_housing"):
        data = real(name)
        target = data.y.astype(str).astype(object) if name == "spam" else data.y
        network.gives = SimpleNamespace(data=data.X, target=target, feature_names=data.feature_names)
        fetched = datasets.load(name)
        assert fetched.feature_names == data.feature_names
        for part in ("X", "y"):
            np.testing.assert_array_equal(getattr(fetched, part), getattr(data, part))
            assert getattr(fetched, part).dtype == getattr(data, part).dtype


def test_real_mnist():
    data = real("mnist3vs8", "mnist.npz")
    train, test = data.split(seed=0)
    assert (len(train), len(test), data.n_features) == (11982, 1984, 784)
    assert (np.bincount(data.y[train]).tolist(), np.bincount(data.y[test]).tolist()) == ([6131, 5851], [1010, 974])
    assert data.X.dtype == np.float32


@pytest.mark.slow
def test_real_kddcup():
    pytest.importorskip("pyarrow")
    data = real("kddcup99", "kddcup99_train10.parquet", "kddcup99_test.parquet", "kddcup99_schema.json")
    train, test = data.split(seed=0)
    assert data.X.shape == (494021 + 311029, 122)
    assert np.bincount(data.y[train]).tolist() == [97278, 396743]
    assert np.bincount(data.y[test]).tolist() == [60593, 250436]
    assert data.weights[train].sum() == pytest.approx(4_898_431)
    assert data.weights[train][data.y[train] == 0].sum() == pytest.approx(972_781)
    assert (data.weights[test] == 1).all()
    one_hot = data.X[:, 38:]
    assert one_hot.sum() == 3 * len(data.y) - 2  # the service icmp of two test rows has no column
    assert (one_hot.max(), data.X[:, :38].min()) == (1, 0)
    schema = kddcup.Schema.read(FOLDER / "kddcup99_schema.json")
    assert (len(schema.numeric), [len(levels) for levels in schema.symbolic.values()]) == (38, [3, 70, 11])


def test_a_model_takes_what_is_loaded():
    data = real("adult")
    train, test = data.split(seed=0)
    model = GBFSClassifier(0.003, max_iter=20, costs=Bags(data.groups)).fit(data.X[train], data.y[train])
    assert model.score(data.X[test], data.y[test]) > 0.8
