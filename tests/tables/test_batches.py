"""Tables that are read from files or come in batches."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from table_tools import bytes_of, labelled, saved, trees_and_noise

from frugalboost import (
    GBFSClassifierCV,
    GBFSRegressor,
    gbfs_path,
    load,
)


def test_bad_batches(tmp):
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60.0)
    model = GBFSRegressor(max_iter=2)
    cases = [
        (lambda: iter([(X, y)]), TypeError, "read only once"),
        (lambda: [(X, y), (X[:, :2], y)], ValueError, "Batch 1: X has 2 features, but .* expecting 3"),
        (lambda: [(X, y), (X, y[:5])], ValueError, r"batch 1 has 60 rows, but targets or weights of shape \(5,\)"),
        (lambda: [(X, y), (X, y, y)], ValueError, "batch 1: some batches have weights"),
        (lambda: [(X, y), (X, None)], ValueError, "batch 1 has no targets"),
        (lambda: [(X, y), (X, y.astype(str))], ValueError, "batch 1 has targets of type .*; those of the first"),
        (lambda: [(X, y), (sparse.csr_array(X), y)], ValueError, "Batch 1 is sparse, but the first one is not"),
        (lambda: [(sparse.csr_array(X), y), (X, y)], ValueError, "batch 1 is not sparse"),
        (lambda: [(sparse.csr_array(X), y), (sparse.csr_array(X), y[:5])], ValueError, "batch 1 has 60 rows"),
        (lambda: [(X, y), (X,)], ValueError, "Batch 1 is not a tuple"),
        (lambda: lambda: [], ValueError, "no batches"),
        (lambda: lambda: 5, TypeError, "returned a int, which is not an iterator"),
        (lambda: [(X, y), (np.where(X > 2, np.inf, X), y)], ValueError, "Batch 1: .*infinity"),
        (lambda: [(pd.DataFrame(X, columns=list("abc")), y), (pd.DataFrame(X, columns=list("abd")), y)],
         ValueError, r"Batch 1: [\s\S]*unseen at fit time:\s- d"),
    ]  # fmt: skip
    for make, error, message in cases:
        with pytest.raises(error, match=message):
            model.fit(make())
    times = iter([[(X, y)] * 2, [(X, y)] * 2, [(X, y)]])
    with pytest.raises(ValueError, match="fewer rows than the first time, 120"):
        model.fit(lambda: next(times))
    with pytest.raises(ValueError, match="have its own targets"):
        model.fit([(X, y)], y)
    assert not hasattr(model, "n_iter_")


def test_bad_files(tmp):
    data = labelled()
    path = tmp / "bad.parquet"
    data.to_parquet(path, index=False)
    model = GBFSRegressor(max_iter=2)
    with pytest.raises(ValueError, match="name the column to predict"):
        model.fit(path)
    with pytest.raises(ValueError, match=r"y='z' is not a column of the files. They have 'tree', 'noise'"):
        model.fit(path, "z")
    with pytest.raises(TypeError, match="y must be the name of one of its columns"):
        model.fit(path, data["y"])
    with pytest.raises(FileNotFoundError, match=r"no file or folder .*none.parquet"):
        model.fit(tmp / "none.parquet", "y")
    content = path.read_bytes()
    for broken in (content[: len(content) // 2], b"", b"something else entirely" * 50, content[:100] + content[200:]):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match="is not Parquet"):
            model.fit(path, "y")
    data.assign(y=data["y"].where(data["y"] > 0)).to_parquet(path, index=False)
    with pytest.raises(ValueError, match="'y' has missing values"):
        model.fit(path, "y")
    data.assign(when=pd.Timestamp("2020")).to_parquet(path, index=False)
    with pytest.raises(ValueError, match="'when' holds Datetime"):
        model.fit(path, "y")
    data.to_parquet(path, index=False)
    model.fit(path, "y")
    data.drop(columns=["tree", "height"]).to_parquet(path, index=False)
    with pytest.raises(ValueError, match=r"tree|height"):
        model.predict(path)
    with pytest.raises(TypeError, match="needs a table in memory"):
        list(model.staged_predict(path))


def test_progress_of_reading_shows_rows_and_bytes(tmp, capsys):
    labelled(300).to_parquet(tmp / "shown.parquet", index=False, row_group_size=100)
    GBFSRegressor(max_iter=2, verbose=1).fit(tmp / "shown.parquet", "y")
    out = capsys.readouterr().out
    assert re.search(r"finding thresholds: 300 of 300 rows \(100 %, files of \d+ kB\)", out)
    assert "binning: 300 of 300 rows" in out


def test_batches_are_read_twice(tmp):
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60.0)
    calls = []

    def batches():
        calls.append(1)
        yield X[:30], y[:30]
        yield X[30:], y[30:]

    GBFSRegressor(max_iter=2).fit(batches)
    assert len(calls) == 3  # the first time only the first batch is looked at


def test_continued_training_on_new_batches_uses_the_same_bins(tmp):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), rng.normal(size=400)
    y += 2 * X[:, 1] + X[:, 3]
    first = GBFSRegressor(0.01, max_iter=10, warm_start=True).fit([(X[:100], y[:100]), (X[100:200], y[100:200])])
    owned = first.selected_features_.tolist()
    kept = load(saved(first, tmp))
    cuts = set(first._warm_start.thresholds.cuts.tolist())
    for model in (first, kept):
        model.set_params(max_iter=20).fit([(X[200:], y[200:])])
        assert model.selected_features_.tolist()[: len(owned)] == owned
        trees = model._model.ensemble
        finite = np.isfinite(trees.threshold) & (trees.feature >= 0)
        assert set(trees.threshold[finite].tolist()) <= cuts
    assert bytes_of(first, tmp) == bytes_of(kept, tmp)
    cold = GBFSRegressor(0.01, max_iter=10).fit(X[:200], y[:200])
    with pytest.raises(ValueError, match="warm_start=True from the first fit on"):
        cold.set_params(warm_start=True, max_iter=20).fit([(X[200:], y[200:])])


def test_bins_may_lie_in_a_file(tmp):
    with pytest.raises(ValueError, match=r"bins_folder=.*nowhere' is not a folder"):
        GBFSRegressor(bins_folder=str(tmp / "nowhere")).fit(np.arange(50.0)[:, None], np.arange(50.0))
    X, y = np.random.default_rng(0).normal(size=(200, 9)), np.arange(200.0)
    model = GBFSRegressor(0.0, max_iter=3, bins_folder=tmp).fit(X, y)
    same = GBFSRegressor(0.0, max_iter=3).fit(X, y)
    assert bytes_of(model, tmp) == bytes_of(same, tmp)


def test_batches_that_change_are_noticed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=300)

    def shuffled():
        order = rng.permutation(300)
        for i in range(0, 300, 100):
            yield X[order[i : i + 100]], y[order[i : i + 100]]

    with pytest.raises(ValueError, match="other targets than the first time"):
        GBFSRegressor().fit(shuffled)

    def in_one_place():
        own_X, own_y = np.empty((100, 2)), np.empty(100)
        for i in range(0, 300, 100):
            own_X[:], own_y[:] = X[i : i + 100], y[i : i + 100]
            yield own_X, own_y

    same = GBFSRegressor().fit(X, y)
    np.testing.assert_array_equal(GBFSRegressor().fit(in_one_place).predict(X), same.predict(X))
    as_lists = [[X[:100], y[:100]], [X[:0], y[:0]], [X[100:], y[100:]]]  # as loaders give them; one is empty
    np.testing.assert_array_equal(GBFSRegressor().fit(as_lists).predict(X), same.predict(X))


def changing(change, n=4000, sizes=(1000, 1000), kind=np.asarray, weighted=False):
    """Batches whose X is changed when they are read for the second time as a whole, and then are cut otherwise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    X[::7, 2] = np.nan
    y, weights = X[:, 0] + 0.1 * rng.normal(size=n), np.ones(n) * 2
    calls = []

    def batches():
        calls.append(1)
        again = len(calls) > 2 + weighted  # with weights, thresholds are found in a reading of their own
        now = X.copy()
        now_weights = change(now) if again else None
        size = sizes[again]
        for i in range(0, n, size):
            rows = slice(i, i + size)
            w = (weights if now_weights is None else now_weights)[rows]
            yield (kind(now[rows]), y[rows], w) if weighted else (kind(now[rows]), y[rows])

    return batches


def set_to(X, *where):
    X[where] = np.nan_to_num(X[where]) + 1


def permuted(X):
    X[:] = X[np.random.default_rng(1).permutation(len(X))]


def only(change, X):
    change(X)


CHANGES = {
    "signs of all": lambda X: np.negative(X, out=X),
    "signs of two columns": lambda X: np.negative(X[:, :2], out=X[:, :2]),
    "noise": lambda X: set_to(X, slice(None), 1),
    "the last batch": lambda X: set_to(X, slice(3000, None)),
    "one of the first rows": lambda X: set_to(X, 500, 3),
    "columns exchanged": lambda X: X.__setitem__((slice(None), [0, 1]), X[:, [1, 0]]),
    "rows of X shuffled": permuted,
    "missing values filled": lambda X: np.nan_to_num(X, copy=False),
    "smallest difference": lambda X: np.nextafter(X, 9, out=X),
}
KINDS = {"arrays": np.asarray, "fortran": np.asfortranarray, "frames": pd.DataFrame}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_values_that_change_between_the_readings_are_noticed(change, kind, weighted):
    batches = changing(lambda X: only(CHANGES[change], X), kind=KINDS[kind], weighted=weighted)
    with pytest.raises(ValueError, match="other values of X than the first time"):
        GBFSRegressor(max_iter=2).fit(batches)


def test_categories_that_change_between_the_readings_are_noticed():
    frame = labelled(300).drop(columns="height")
    frame["tree"] = frame["tree"].astype(object)
    calls = []

    def batches():
        calls.append(1)
        swap = {"oak": "ash", "ash": "oak"} if len(calls) > 3 else {}
        yield frame[["tree", "noise"]].assign(tree=frame["tree"].replace(swap).astype("category")), frame["y"]

    with pytest.raises(ValueError, match="other values of X"):
        GBFSRegressor(max_iter=2).fit(batches)


def test_weights_that_change_between_the_readings_are_noticed():
    with pytest.raises(ValueError, match="other weights than the first time"):
        GBFSRegressor(max_iter=2).fit(changing(lambda X: np.arange(1.0, 4001.0), weighted=True))


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sizes", [(4000, 1), (1, 4000), (1000, 333), (7, 4000)])
def test_the_same_values_cut_otherwise_are_the_same(sizes, weighted):
    def zeros_and_missing(X):
        X[X == 0] = -0.0
        X.view(np.uint64)[np.isnan(X)] = 0xFFF8_0000_0000_0123

    model = GBFSRegressor(max_iter=2).fit(changing(zeros_and_missing, sizes=sizes, weighted=weighted))
    whole = GBFSRegressor(max_iter=2).fit(changing(zeros_and_missing, sizes=(4000, 4000), weighted=weighted))
    assert model._fitted_on == whole._fitted_on


def test_files_as_people_have_them(tmp):
    frame, y = trees_and_noise(200)
    data = frame.assign(y=y)
    folder = tmp / "various"
    folder.mkdir()
    shuffled = data.sample(frac=1, random_state=0)
    shuffled.to_parquet(folder / "indexed.parquet")  # with an index, which is no feature
    model = GBFSRegressor(max_iter=5).fit(folder / "indexed.parquet", "y")
    assert model.feature_names_in_.tolist() == ["tree", "noise", "height"]
    assert model.score(folder / "indexed.parquet", "y") == pytest.approx(model.score(frame, y))
    pq.write_to_dataset(pa.Table.from_pandas(data.assign(g=np.arange(200) % 2)), folder / "hive", partition_cols=["g"])
    assert "g" in GBFSRegressor(max_iter=2).fit(folder / "hive", "y").feature_names_in_
    halves = [folder / "a.parquet", folder / "b.parquet"]
    data[:100].astype({"noise": np.float32}).to_parquet(halves[0], index=False)
    data[100:].to_parquet(halves[1], index=False)
    joined = GBFSRegressor(max_iter=5).fit(halves, "y")
    whole = pd.concat([pd.read_parquet(h) for h in halves]).drop(columns="y")
    np.testing.assert_array_equal(joined.predict(halves), joined.predict(whole))
    data[100:].rename(columns={"noise": "Noise"}).to_parquet(halves[1], index=False)
    with pytest.raises(ValueError, match=r"do not have the same columns: .*(a|b).parquet lacks '(N|n)oise'"):
        GBFSRegressor().fit(halves, "y")
    with pytest.raises(ValueError, match="y and sample_weight are the same column"):
        GBFSRegressor().fit(halves[0], "y", sample_weight="y")
    (folder / "empty").mkdir()
    with pytest.raises(ValueError, match="no files in the folder"):
        GBFSRegressor().fit(folder / "empty", "y")


def test_validation_and_scores_from_batches_and_files(tmp):
    frame, y = trees_and_noise(300)
    batches = [(frame[:150], y[:150]), (frame[150:], y[150:])]
    frame.assign(y=y).to_parquet(tmp / "val.parquet", index=False)
    settings = {"mu": 0.01, "max_iter": 10, "early_stopping": True, "random_state": 0}
    expected = GBFSRegressor(**settings).fit(frame, y, X_val=frame, y_val=y)
    for held, target in ((batches, None), (tmp / "val.parquet", "y")):
        model = GBFSRegressor(**settings).fit(frame, y, X_val=held, y_val=target)
        assert bytes_of(model, tmp) == bytes_of(expected, tmp)
        assert model.score(held, target) == pytest.approx(expected.score(frame, y))
    with pytest.raises(TypeError, match="needs a table in memory"):
        GBFSClassifierCV().fit(tmp / "val.parquet", "y")
    with pytest.raises(TypeError, match="transform needs a table in memory"):
        expected.transform(tmp / "val.parquet")
    with pytest.raises(ValueError, match="the kind of model can't be guessed"):
        gbfs_path(tmp / "val.parquet", "y")
    path = gbfs_path(tmp / "val.parquet", "y", estimator=GBFSRegressor(max_iter=5), n_mus=3)
    same = gbfs_path(frame, y, n_mus=3, max_iter=5)
    np.testing.assert_allclose(path.train_score, same.train_score)
    with pytest.raises(ValueError, match="nothing to predict from"):
        expected.predict(iter([]))
