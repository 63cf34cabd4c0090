"""One table in every form gives the same bytes of model; tables that are not one are refused with a sentence."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from frugalboost import (
    GBFSClassifier,
    GBFSClassifierCV,
    GBFSRegressor,
    NothingBoughtWarning,
    StabilitySelection,
    gbfs_path,
    load,
)


def bytes_of(model, tmp):
    path = tmp / "model"
    model.save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def tmp(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


def fitted(settings, X, y=None, weights=None, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingBoughtWarning)
        warnings.simplefilter("ignore", UserWarning)
        return GBFSClassifier(**settings, **more).fit(X, y, sample_weight=weights)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.sampled_from([40, 20, 90, 7])), draw(st.sampled_from([3, 1, 9, 17]))
    X = np.round(rng.normal(size=(n, d)), draw(st.sampled_from([1, 0, 6])))
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.5, 0.95]))] = 0.0
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.1]))] = np.nan
    y = (np.nan_to_num(X).sum(axis=1) + rng.normal(size=n) > 0).astype(int)
    y[:2] = [0, 1]
    weights = rng.integers(0, 4, n) + (np.arange(n) < 4) * 1.0 if draw(st.booleans()) else None
    settings = {
        "mu": draw(st.sampled_from([0.0, 0.01])),
        "max_iter": 4,
        "max_depth": draw(st.sampled_from([3, None])),
        "min_samples_leaf": draw(st.sampled_from([1, 3])),
        "max_bins": draw(st.sampled_from([255, 4])),
        "early_stopping": draw(st.booleans()) and n > 15,
        "random_state": 0,
    }
    return rng, X, y, weights, settings


def cut_into(rng, n):
    ends = np.sort(rng.integers(1, n + 1, 3))
    return [slice(a, b) for a, b in zip([0, *ends], [*ends, n]) if b > a]


@settings(max_examples=settings.default.max_examples // 4)
@given(problems())
def test_every_form_of_numbers_gives_the_same_bytes(tmp, problem):
    rng, X, y, weights, options = problem
    expected = bytes_of(fitted(options, X, y, weights), tmp)
    parts = cut_into(rng, len(X))
    with_weights = (lambda p: ()) if weights is None else (lambda p: (weights[p],))

    def batches():
        for p in parts:
            yield X[p], y[p], *with_weights(p)

    csr = sparse.csr_matrix(X)
    doubled = in_halves(csr)
    wide = csr.tocsc()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    forms = {
        "fortran": (np.asfortranarray(X), y, weights, {}),
        "csr": (csr, y, weights, {"n_jobs": 1}),
        "csc, long indices": (wide, y, weights, {"n_jobs": 2}),
        "coo": (sparse.coo_array(X), y, weights, {}),
        "duplicates and zeros": (doubled, y, weights, {}),
        "batches": (batches, None, None, {"n_jobs": 1}),
        "a list of batches, on disk": (list(batches()), None, None, {"bins_folder": str(tmp)}),
        "sparse batches": ([(sparse.csr_array(b[0]), *b[1:]) for b in batches()], None, None, {}),
    }
    for name, (table, target, w, more) in forms.items():
        model = fitted(options, table, target, w, **more)
        assert bytes_of(model, tmp) == expected, name
    dense = fitted(options, X, y, weights)
    np.testing.assert_array_equal(dense.predict_proba(csr), dense.predict_proba(X))
    np.testing.assert_array_equal(dense.predict_proba(X[p] for p in parts), dense.predict_proba(X))


def in_halves(matrix):
    """The same matrix with every value stored in two halves, out of order, and a zero stored in every row."""
    n = matrix.shape[0]
    rows = np.repeat(np.arange(n), np.diff(matrix.indptr))
    rows = np.concatenate([rows, np.arange(n), rows])
    columns = np.concatenate([matrix.indices, np.zeros(n, dtype=int), matrix.indices])
    values = np.concatenate([matrix.data / 2, np.zeros(n), matrix.data / 2])
    order = np.argsort(rows, kind="stable")
    pointer = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    return sparse.csr_array((values[order], columns[order], pointer), shape=matrix.shape)


@st.composite
def mixed_problems(draw):
    """Numbers, whole numbers, truths and categories, with missing values in all of them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.sampled_from([60, 30, 120]))
    levels = ["oak", "ash", "elm", "fir", "yew", "bay"][: draw(st.integers(1, 6))]
    codes = rng.integers(-1, len(levels), n)
    frame = pl.DataFrame(
        {
            "real": [None if v < -1 else v for v in np.round(rng.normal(size=n), 1).tolist()],
            "whole": [None if v == 3 else v for v in rng.integers(0, 9, n).tolist()],
            "true": [None if v == 2 else bool(v) for v in rng.integers(0, 3, n).tolist()],
            "tree": [None if c < 0 else levels[c] for c in codes.tolist()],
            "small": rng.integers(0, 200, n).astype(np.uint8),
        },
        schema={"real": pl.Float64, "whole": pl.Int32, "true": pl.Boolean, "tree": pl.String, "small": pl.UInt8},
    )
    y = (codes % 2 + rng.normal(size=n) > 0.5).astype(int)
    y[:2] = [0, 1]
    settings = {
        "mu": 0.0,
        "max_iter": 3,
        "min_samples_leaf": draw(st.sampled_from([1, 4])),
        "max_bins": draw(st.sampled_from([255, 3])),
        "early_stopping": draw(st.booleans()),
        "random_state": 0,
    }
    return rng, frame, y, levels, settings


@settings(max_examples=settings.default.max_examples // 8)
@given(mixed_problems())
def test_every_form_of_a_mixed_table_gives_the_same_bytes(tmp, problem):
    rng, texts, y, levels, options = problem
    shuffled = list(np.array([*levels, "unused"])[rng.permutation(len(levels) + 1)])
    enum = texts.with_columns(pl.col("tree").cast(pl.Enum(shuffled)))
    expected = bytes_of(fitted(options, enum, y), tmp)
    pandas = texts.to_pandas()
    pandas["tree"] = pd.Categorical(pandas["tree"], categories=shuffled[::-1])
    nullable = pandas.convert_dtypes().assign(tree=pandas["tree"])
    arrow = pa.Table.from_pandas(pandas, preserve_index=False)
    labelled = arrow.append_column("label", pa.array(y))
    pq.write_table(labelled, tmp / "one.parquet", row_group_size=17)
    folder = tmp / "many"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    parts = cut_into(rng, len(y))
    for i, p in enumerate(parts):
        pq.write_table(labelled.slice(p.start, p.stop - p.start), folder / f"{i:03}.parquet")
    forms = {
        "categorical": (texts.with_columns(pl.col("tree").cast(pl.Categorical)), y),
        "pandas": (pandas, y),
        "pandas, nullable": (nullable, y),
        "arrow": (arrow, y),
        "arrow, in pieces": (pa.concat_tables([arrow.slice(0, 11), arrow.slice(11)]), y),
        "a parquet file": (str(tmp / "one.parquet"), "label"),
        "a folder": (folder, "label"),
        "a dataset": (ds.dataset(folder), "label"),
        "batches": ([(pandas[p], y[p]) for p in parts], None),
        "batches of another library": (lambda: ((enum[p], y[p]) for p in parts), None),
    }
    for name, (table, target) in forms.items():
        assert bytes_of(fitted(options, table, target), tmp) == expected, name
    by_name = fitted(options | {"categorical_features": ["tree"]}, texts, y)
    by_place = fitted(options | {"categorical_features": [3]}, pandas, y)
    by_mask = fitted(options | {"categorical_features": [False, False, False, True, False]}, nullable, y)
    for model in (by_name, by_place, by_mask):
        model.set_params(categorical_features="from_dtype")
        assert bytes_of(model, tmp) == expected
    model = fitted(options, pandas, y)
    wanted = model.predict_proba(pandas)
    for table in (enum, nullable, arrow, tmp / "one.parquet", ds.dataset(folder), [pandas[p] for p in parts]):
        np.testing.assert_array_equal(model.predict_proba(table), wanted)
    np.testing.assert_array_equal(load(_saved(model, tmp)).predict_proba(enum), wanted)


def _saved(model, tmp):
    model.save(tmp / "saved")
    return tmp / "saved"


# ------------------------------------------------------------------------------------------------ categories


def trees_and_noise(n=600, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.choice(["oak", "ash", "elm", "fir", "yew"], n)
    frame = pd.DataFrame({"tree": pd.Categorical(kind), "noise": rng.normal(size=n), "height": rng.normal(size=n)})
    y = np.isin(kind, ["oak", "fir"]) * 2.0 + 0.5 * frame["height"].to_numpy() + 0.1 * rng.normal(size=n)
    return frame, y


def test_a_category_is_one_feature_split_by_a_set_of_levels():
    frame, y = trees_and_noise()
    model = GBFSRegressor(0.05, max_iter=50).fit(frame, y)
    assert model.selected_features_.tolist()[0] == 0
    assert model.total_cost_ == model.n_features_selected_
    assert model.categories_ == {0: ["ash", "elm", "fir", "oak", "yew"]}
    assert model._model.ensemble.level_set[0] == 0  # one split parts {fir, oak} from the rest
    left = np.flatnonzero(np.unpackbits(model._model.ensemble.sets[:32], bitorder="little"))
    assert {tuple(left)} <= {(0, 1, 4), (2, 3)}
    assert model.score(frame, y) > 0.9


def test_unseen_and_missing_levels_have_a_side():
    frame, y = trees_and_noise()
    model = GBFSRegressor(0.05, max_iter=20).fit(frame, y)
    new = frame[:3].copy()
    new["tree"] = pd.Categorical(["palm", None, "oak"])
    predicted = model.predict(new)
    missing = frame[:3].assign(tree=pd.Categorical([None] * 3, categories=["oak"]))
    np.testing.assert_array_equal(predicted[:2], model.predict(missing)[:2])
    assert np.isfinite(predicted).all()


def test_missing_levels_learn_their_side():
    frame, y = trees_and_noise()
    gone = np.arange(len(y)) % 4 == 0
    frame.loc[gone, "tree"] = None
    y = np.where(gone, 9.0, y)
    model = GBFSRegressor(0.01, max_iter=100).fit(frame, y)
    assert np.abs(model.predict(frame)[gone] - 9).max() < 1.0


def test_rare_levels_share_a_bin():
    rng = np.random.default_rng(0)
    codes = np.concatenate([np.repeat(np.arange(10), 200), np.arange(10, 400)])
    frame = pd.DataFrame({"id": pd.Categorical([f"c{c:03}" for c in codes])})
    y = (codes < 5) * 1.0 + 0.01 * rng.normal(size=len(codes))
    model = GBFSRegressor(0.01, max_iter=50, max_bins=12).fit(frame, y)
    bins = model._model.levels[0].bins
    assert bins[:11].tolist() == list(range(11))  # the ten heavy ones, and of the equal ones the first
    assert set(bins[11:].tolist()) == {11}
    assert model.score(frame, y) > 0.99


def test_a_column_of_many_small_levels_is_no_bargain():
    """With a mean of its own for each level of one or two rows, anything can be fitted."""
    rng = np.random.default_rng(0)
    n = 400
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame({"id": pd.Categorical(rng.integers(0, 200, n).astype(str)), "x": y + 0.8 * rng.normal(size=n)})
    assert GBFSClassifier(0.02, max_iter=20).fit(frame, y).get_feature_names_out().tolist() == ["x"]


def test_numbers_may_be_levels():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 6, 500), rng.normal(size=500)]).astype(float)
    y = np.isin(X[:, 0], [1, 4]) * 1.0
    model = GBFSRegressor(0.01, max_iter=1, max_depth=1, learning_rate=1.0, categorical_features=[0]).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y)  # one split is enough
    objects = X.astype(object)
    objects[:, 0] = [f"kind {int(v)}" for v in X[:, 0]]
    same = clone(model).fit(objects, y)
    np.testing.assert_allclose(same.predict(objects), y)
    assert same.categories_[0][1] == "kind 1"
    assert model.categories_ == {0: [0, 1, 2, 3, 4, 5]}


def test_categories_and_weights():
    """A weight of k is the same as k equal rows, also for which levels share a bin and which are too light."""
    rng = np.random.default_rng(3)
    n = 150
    frame = pd.DataFrame({"c": pd.Categorical(rng.zipf(1.6, n).clip(max=30).astype(str)), "x": rng.normal(size=n)})
    y = rng.normal(size=n) + (frame["c"] == "2") * 2.0
    weights = rng.integers(0, 4, n)
    settings = {"mu": 0.0, "max_iter": 10, "max_bins": 6, "min_samples_leaf": 5}
    weighted = GBFSRegressor(**settings).fit(frame, y, sample_weight=weights)
    again = np.repeat(np.arange(n), weights)
    repeated = GBFSRegressor(**settings).fit(frame.iloc[again], y.iloc[again])
    np.testing.assert_array_equal(weighted.predict(frame.iloc[again]), repeated.predict(frame.iloc[again]))


@pytest.mark.parametrize("estimator", ["path", "cv", "stability", "number", "average", "warm"])
def test_categories_and_sparse_tables_everywhere(estimator):
    frame, y = trees_and_noise(300)
    labels = (y > 1).astype(int)
    X = sparse.csr_array(np.where(np.random.default_rng(0).random((300, 40)) < 0.9, 0, 1.0) + 0.0)
    X = sparse.hstack([X, sparse.csr_array(labels[:, None] * 2.0)], format="csr")
    for table in (frame, X):
        if estimator == "path":
            path = gbfs_path(table, labels, n_mus=4, max_iter=10)
            assert path.n_features[-1] >= 1
            assert (path.train_score[1:] > 0.5).all()
        elif estimator == "cv":
            found = GBFSClassifierCV(GBFSClassifier(max_iter=10), n_mus=3, cv=3).fit(table, labels)
            assert found.score(table, labels) > 0.8
        elif estimator == "stability":
            assert (
                StabilitySelection(
                    GBFSClassifier(max_iter=10), n_subsamples=6, threshold=0.6, n_features=1, random_state=0
                )
                .fit(table, labels)
                .support_.any()
            )
        elif estimator == "number":
            model = GBFSClassifier(n_features_to_select=1, max_iter=20).fit(table, labels)
            assert model.score(table, labels) > 0.8
        elif estimator == "average":
            model = GBFSClassifier(0.01, refit=True, average=3, max_iter=20).fit(table, labels)
            assert model.score(table, labels) > 0.8
            trees = model._model.ensemble
            assert trees.level_set.max(initial=-1) < len(trees.sets) // 32
        else:
            model = GBFSClassifier(0.01, max_iter=5, warm_start=True).fit(table, labels)
            model.set_params(max_iter=10).fit(table, labels)
            long = GBFSClassifier(0.01, max_iter=10).fit(table, labels)
            np.testing.assert_array_equal(model.predict_proba(table), long.predict_proba(table))


def test_which_columns_are_categorical_must_make_sense():
    frame, y = trees_and_noise(50)
    for wanted, message in [
        (["leaf"], "'leaf', which is not a column"),
        ([7], "names column 7, but X has columns 0 to 2"),
        ([-1], "names column -1"),
        ([True, False], "2 truths, but X has 3"),
        ([0.5], "list of names, of positions, or of truths"),
        ([[0]], "list of names, of positions, or of truths"),
        ([0, "noise"], "list of names, of positions, or of truths"),
        (["noise"], "'tree' holds categories, but is not among categorical_features"),
        (None, "'tree' holds categories, but is not among categorical_features"),
    ]:
        with pytest.raises(ValueError, match=message):
            GBFSRegressor(categorical_features=wanted).fit(frame, y)
    with pytest.raises(ValueError, match=r"'texts' holds .*categorical_features=\['texts'\]"):
        GBFSRegressor().fit(frame.assign(texts="a"), y)
    with pytest.raises(ValueError, match="no names"):
        GBFSRegressor(categorical_features=["tree"]).fit(np.zeros((50, 3)), y)
    with pytest.raises(TypeError, match="X is a sparse matrix"):
        GBFSRegressor(categorical_features=[0]).fit(sparse.csr_array(np.eye(50)), y)
    with pytest.raises(ValueError, match="column 0 holds values that are not numbers"):
        GBFSRegressor(categorical_features=[1]).fit(np.array([["a", "b"]] * 50, dtype=object), y)
    with pytest.raises(ValueError, match=r"'when' .*categories of type Timestamp"):
        GBFSRegressor().fit(frame.assign(when=pd.Categorical(pd.date_range("2020", periods=50))), y)


# --------------------------------------------------------------------------------------- the reduced table


def test_predict_takes_the_table_that_transform_gives():
    frame, y = trees_and_noise()
    model = GBFSRegressor(0.05, max_iter=30).fit(frame, y).set_output(transform="pandas")
    assert model.get_feature_names_out().tolist() == ["tree", "height"]
    small = model.transform(frame)
    assert small.dtypes.to_dict() == frame[["tree", "height"]].dtypes.to_dict()
    wanted = model.predict(frame)
    np.testing.assert_array_equal(model.predict(small), wanted)
    np.testing.assert_array_equal(model.predict(small[["height", "tree"]]), wanted)  # by name
    np.testing.assert_array_equal(model.predict(pl.from_pandas(small)), wanted)
    np.testing.assert_array_equal(list(model.staged_predict(small))[-1], wanted)
    with pytest.raises(ValueError, match=r"now missing:\s- (noise|tree)"):
        model.predict(frame[["height", "noise"]])
    with pytest.raises(ValueError, match="unseen at fit time"):
        model.predict(small.rename(columns={"tree": "wood"}))
    with pytest.raises(ValueError, match="2 features, but GBFSRegressor is expecting 3"):
        model.predict(np.zeros((3, 2)))


def test_transform_keeps_sparse_tables_sparse():
    rng = np.random.default_rng(0)
    X = sparse.random_array((200, 50), density=0.1, rng=rng, format="csr")
    y = X[:, [3]].toarray()[:, 0] + 0.1 * X[:, [4]].toarray()[:, 0]
    model = GBFSRegressor(0.1, max_iter=20, min_samples_leaf=2).fit(X, y)
    assert sparse.issparse(model.transform(X))
    assert model.transform(X).shape == (200, model.n_features_selected_)


# ------------------------------------------------------------------------------------------------ bad tables


def sparse_with(field, place, value):
    X = sparse.csr_matrix(np.eye(20) + np.eye(20, k=1))
    getattr(X, field)[place] = value
    return X


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (lambda: sparse_with("indices", 3, 20), "value in column 20, but it has 20 columns"),
        (lambda: sparse_with("indices", 3, -1), "value in column -1, but it has 20 columns"),
        (lambda: sparse_with("indptr", 3, 39), "index pointer does not fit"),
        (lambda: sparse_with("indptr", 20, 400), "index pointer does not fit"),
        (lambda: sparse_with("data", 3, np.inf), "infinity"),
        (lambda: sparse.csr_matrix((20, 0)), r"0 feature\(s\)"),
        (lambda: sparse.csr_matrix(np.eye(20) * 1j), "Complex data not supported"),
        (lambda: sparse.coo_array(np.ones(20)), "Expected 2D array"),
        (lambda: pl.DataFrame({"a": np.arange(20), "b": [np.inf] * 20}), "'b' contains infinity"),
        (lambda: pd.DataFrame(np.zeros((20, 2)), columns=["a", "a"]), "two columns"),
        (lambda: pl.DataFrame({"a": [pl.Series([1.0, 2.0])] * 20}), "'a' holds List.*Unnest"),
        (lambda: pl.DataFrame({"a": [{"b": 1}] * 20}), "'a' holds Struct.*Unnest"),
        (lambda: pd.DataFrame({"a": pd.date_range("2020", periods=20)}), "'a' holds Datetime.*days since"),
        (lambda: pd.DataFrame({"a": pd.to_timedelta(np.arange(20), "h")}), "'a' holds Duration.*into numbers"),
        (lambda: pa.table({"a": ["x"] * 20}), r"'a' holds String values.*categorical_features=\['a'\]"),
    ],
)
def test_bad_tables(X, message):
    model = GBFSRegressor(max_iter=2, mu=0.0).fit(np.arange(40.0)[:, None], np.arange(40.0))
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.fit(X(), np.arange(20.0))
    assert vars(model) == before


def test_tables_that_changed_since_fit():
    frame, y = trees_and_noise(100)
    model = GBFSRegressor(0.0, max_iter=3, min_samples_leaf=5).fit(frame, y)
    for change, message in [
        (frame.assign(height="tall"), "'height' holds .* not numbers"),
        (frame.assign(height=pd.Categorical(["a"] * 100)), "'height' holds categories, but"),
        (frame.assign(tree=1.0), "'tree' has categories that are numbers; in fit they were texts"),
        (frame.rename(columns={"tree": "wood"}), "unseen at fit time:\n- wood"),
        (frame.drop(columns="tree"), "now missing:\n- tree"),
        (frame[["noise", "tree", "height"]], "same order"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.predict(change)
    with pytest.raises(TypeError, match="is sparse, but the model has categorical features"):
        model.predict(sparse.csr_array(np.zeros((3, 3))))


def labelled(n=100):
    frame, y = trees_and_noise(n)
    return frame.assign(y=y)


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
        (lambda: lambda: 5, TypeError, "returned a int, which is no iterator"),
        (lambda: [(X, y), (np.where(X > 2, np.inf, X), y)], ValueError, "Batch 1: .*infinity"),
        (lambda: [(pd.DataFrame(X, columns=list("abc")), y), (pd.DataFrame(X, columns=list("abd")), y)],
         ValueError, r"Batch 1: [\s\S]*unseen at fit time:\s- d"),
    ]  # fmt: skip
    for make, error, message in cases:
        with pytest.raises(error, match=message):
            model.fit(make())
    times = iter([[(X, y)] * 2, [(X, y)] * 2, [(X, y)]])
    with pytest.raises(ValueError, match="fewer rows than when they were first read, 120"):
        model.fit(lambda: next(times))
    with pytest.raises(ValueError, match="bring its own targets"):
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
        with pytest.raises(ValueError, match="can't be read as Parquet"):
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
    kept = load(_saved(first, tmp))
    cuts = set(first._memory.thresholds.cuts.tolist())
    for model in (first, kept):
        model.set_params(max_iter=20).fit([(X[200:], y[200:])])
        assert model.selected_features_.tolist()[: len(owned)] == owned
        trees = model._model.ensemble
        finite = np.isfinite(trees.threshold) & (trees.feature >= 0)
        assert set(trees.threshold[finite].tolist()) <= cuts
    assert bytes_of(first, tmp) == bytes_of(kept, tmp)
    cold = GBFSRegressor(0.01, max_iter=10).fit(X[:200], y[:200])
    with pytest.raises(ValueError, match="warm_start=True from the start"):
        cold.set_params(warm_start=True, max_iter=20).fit([(X[200:], y[200:])])


def test_bins_may_lie_in_a_file(tmp):
    with pytest.raises(ValueError, match=r"bins_folder=.*nowhere' is not a folder"):
        GBFSRegressor(bins_folder=str(tmp / "nowhere")).fit(np.arange(50.0)[:, None], np.arange(50.0))
    X, y = np.random.default_rng(0).normal(size=(200, 9)), np.arange(200.0)
    model = GBFSRegressor(0.0, max_iter=3, bins_folder=tmp).fit(X, y)
    same = GBFSRegressor(0.0, max_iter=3).fit(X, y)
    assert bytes_of(model, tmp) == bytes_of(same, tmp)


def test_frames_are_not_copied():
    """The core reads a frame's columns where they are."""
    from frugalboost.tables.checking import check_X

    values = np.random.default_rng(0).normal(size=1000)
    for frame in (pl.DataFrame({"a": values, "b": np.arange(1000)}), pa.table({"a": values, "b": np.arange(1000)})):
        table = check_X(GBFSRegressor(), frame, reset=True)
        own = frame["a"].to_numpy()
        assert np.shares_memory(table._columns[0], own)
    pandas = pd.DataFrame({"a": values, "b": np.arange(1000)})
    table = check_X(GBFSRegressor(), pandas, reset=True)
    assert np.shares_memory(table._columns[0], pandas["a"].to_numpy())
    whole = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 5)))
    assert np.shares_memory(check_X(GBFSRegressor(), whole, reset=True).array, whole.to_numpy())


def test_models_of_the_first_file_format_are_still_read(tmp):
    """A file without categorical features, as the first version wrote it."""
    from frugalboost import model_file

    X, y = np.random.default_rng(0).normal(size=(100, 3)), np.arange(100.0)
    model = GBFSRegressor(0.0, max_iter=3).fit(X, y)
    model.save(tmp / "new")
    description, arrays = model_file.read(tmp / "new")
    for name in ("ensemble.level_set", "ensemble.sets"):
        del arrays[name]
    del description["levels"], description["params"]["categorical_features"]
    model_file.write(tmp / "old", description, arrays)
    np.testing.assert_array_equal(load(tmp / "old").predict(X), model.predict(X))


# ------------------------------------------------------------------- what reviewers of the first version found


def test_rows_of_next_to_no_weight_are_left_out():
    """A level that only such rows have must not lead the partition astray."""
    rng = np.random.default_rng(0)
    n = 2000
    frame = pd.DataFrame({"shop": pd.Categorical(rng.integers(0, 20, n)), "x": rng.normal(size=n)})
    y = frame["x"] + frame["shop"].astype(int) % 7 + rng.normal(size=n)
    weights = np.where(rng.random(n) < 0.5, 1e-14, 1.0)
    settings = {"mu": 0, "max_iter": 20, "min_samples_leaf": 1}
    light = GBFSRegressor(**settings).fit(frame, y, sample_weight=weights)
    without = GBFSRegressor(**settings).fit(frame[weights == 1], y[weights == 1])
    np.testing.assert_array_equal(light.predict(frame), without.predict(frame))
    for seed in range(3):
        weights = 10.0 ** np.random.default_rng(seed).integers(-12, 1, n)
        model = GBFSRegressor(**settings).fit(frame, y, sample_weight=weights)
        loss = np.average(0.5 * (y - model.predict(frame)) ** 2, weights=weights)
        assert model.history_["train_loss"][-1] == pytest.approx(loss, rel=1e-6)


@pytest.mark.parametrize("saved", [False, True])
def test_a_continued_fit_keeps_the_levels_of_its_trees(saved, tmp):
    frame, y = trees_and_noise()
    model = GBFSRegressor(0.01, max_iter=30, learning_rate=0.3).fit(frame, y)
    before = model.score(frame, y)
    if saved:
        model = load(_saved(model, tmp))
    some = frame["tree"] != "ash"
    model.set_params(warm_start=True, max_iter=31).fit(frame[some], y[some])
    assert model.score(frame, y) > before - 0.02
    assert model.categories_ == {0: ["ash", "elm", "fir", "oak", "yew"]}


def test_a_continued_fit_keeps_what_is_categorical():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.choice([10, 20, 30, 40], 400), rng.normal(size=400)])
    y = np.isin(X[:, 0], [10, 40]) * 5.0 + X[:, 1]
    model = GBFSRegressor(0.01, max_iter=20, warm_start=True, categorical_features=[0]).fit(X, y)
    before = model.score(X, y)
    model.set_params(max_iter=21, categorical_features=None).fit(X, y)
    assert model.score(X, y) > before - 0.02
    with pytest.raises(TypeError, match="is sparse, but the model has categorical features"):
        model.set_params(max_iter=22).fit(sparse.csr_array(X), y)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    numbers = GBFSRegressor(0.01, max_iter=20, warm_start=True).fit(frame, y)
    with pytest.raises(ValueError, match="'a' holds categories, but is not among"):
        numbers.set_params(max_iter=21).fit(frame.assign(a=pd.Categorical(X[:, 0])), y)


def test_batches_that_change_are_noticed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=300)

    def shuffled():
        order = rng.permutation(300)
        for i in range(0, 300, 100):
            yield X[order[i : i + 100]], y[order[i : i + 100]]

    with pytest.raises(ValueError, match="other targets than when they were first read"):
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


def test_categories_of_whole_numbers_stay_whole():
    ids = np.array([10**18 + i for i in range(4)])
    k = np.arange(400) % 4
    y = (k % 2) * 1.0
    whole = ids[k].tolist()
    settings = {"mu": 0.0, "max_iter": 50, "learning_rate": 0.5, "categorical_features": ["id"]}
    model = GBFSRegressor(**settings).fit(pl.DataFrame({"id": whole}), y)
    for table in (
        pl.DataFrame({"id": [None, *whole[1:]]}),
        pd.DataFrame({"id": pd.array([None, *whole[1:]], dtype="Int64")}),
        pa.table({"id": [None, *whole[1:]]}),
    ):
        assert model.score(table, y) > 0.9
        assert GBFSRegressor(**settings).fit(table, y).categories_[0] == ids.tolist()
    short = pd.DataFrame({"id": np.float32([0.1, 0.2])[k % 2]})
    tenths = GBFSRegressor(**settings).fit(short, y)
    assert tenths.categories_ == {0: [0.1, 0.2]}
    assert tenths.score(short.astype(np.float64).round(1), y) > 0.99


def test_categories_as_polars_and_pandas_write_them(tmp):
    frame, y = trees_and_noise(200)
    polars = pl.from_pandas(frame)
    dictionary = pa.dictionary(pa.int32(), pa.string())
    arrow = pd.DataFrame({"tree": pd.Series(frame["tree"].astype(str), dtype=pd.ArrowDtype(pa.string()))})
    arrow["tree"] = arrow["tree"].astype(pd.ArrowDtype(dictionary))
    polars.with_columns(y=pl.Series(y)).write_parquet(tmp / "polars.parquet")
    expected = GBFSRegressor(0.01, max_iter=5).fit(frame, y)
    for table, target in [
        (polars.to_arrow(), y),
        (tmp / "polars.parquet", "y"),
        (pd.concat([arrow, frame[["noise", "height"]]], axis=1), y),
    ]:
        model = GBFSRegressor(0.01, max_iter=5).fit(table, target)
        np.testing.assert_array_equal(model.predict(frame), expected.predict(frame))


def test_columns_of_unusual_kinds():
    y = np.arange(100.0)
    for values in (
        pd.arrays.SparseArray(np.arange(100.0)),
        pd.Series(np.arange(100), dtype=object),
        pd.array(np.arange(100), dtype="Int64"),
    ):
        assert (
            GBFSRegressor(0.0, max_iter=30)
            .fit(pd.DataFrame({"a": values, "b": 1.0}), y)
            .score(pd.DataFrame({"a": np.arange(100.0), "b": 1.0}), y)
            > 0.9
        )
    empty = pl.DataFrame({"a": np.arange(100.0), "b": pl.Series([None] * 100, dtype=pl.Null)})
    assert GBFSRegressor(0.0, max_iter=5).fit(empty, y).selected_features_.tolist() == [0]
    big = pl.DataFrame({"a": pl.Series(np.arange(100)).cast(pl.Int128)})
    assert GBFSRegressor(0.0, max_iter=5).fit(big, y).n_features_selected_ == 1
    dates = pd.DataFrame({"a": np.array([np.datetime64("2020-01-01")] * 100, dtype=object)})
    with pytest.raises(ValueError, match="'a' holds"):
        GBFSRegressor().fit(dates, y)


def test_wide_frames_are_read_in_linear_time():
    """Names and types are asked for once, not once for every column; 4,000 columns took half a minute."""
    wide = pl.DataFrame({f"c{i}": np.arange(30.0) for i in range(3000)})
    calls = []
    original = type(wide).schema

    class Counting(pl.DataFrame):
        @property
        def schema(self):
            calls.append(1)
            return original.__get__(self)

    model = GBFSRegressor(0.0, max_iter=1, min_samples_leaf=2).fit(Counting(wide), np.arange(30.0))
    assert len(calls) < 100
    assert model.predict(wide).shape == (30,)


def test_sparse_matrices_that_do_not_know_themselves():
    X = sparse.csc_array(np.arange(60.0).reshape(20, 3) % 7)
    y = np.arange(20.0)
    settings = {"mu": 0.0, "max_iter": 3, "min_samples_leaf": 2}
    expected = GBFSRegressor(**settings).fit(X, y).predict(X)
    strided = sparse.csc_array((np.repeat(X.data, 2)[::2], X.indices, X.indptr), shape=X.shape)
    np.testing.assert_array_equal(GBFSRegressor(**settings).fit(strided, y).predict(X), expected)
    swapped = X.copy()
    swapped.has_sorted_indices, swapped.has_canonical_format = True, True
    a, b = X.indptr[1], X.indptr[1] + 1
    for array in (swapped.data, swapped.indices):
        array[[a, b]] = array[[b, a]]
    np.testing.assert_array_equal(GBFSRegressor(**settings).fit(swapped, y).predict(X), expected)


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
    with pytest.raises(ValueError, match="which kind of model"):
        gbfs_path(tmp / "val.parquet", "y")
    path = gbfs_path(tmp / "val.parquet", "y", estimator=GBFSRegressor(max_iter=5), n_mus=3)
    same = gbfs_path(frame, y, n_mus=3, max_iter=5)
    np.testing.assert_allclose(path.train_score, same.train_score)
    with pytest.raises(ValueError, match="nothing to predict from"):
        expected.predict(iter([]))


def test_saving_lists_of_any_kind(tmp):
    frame, y = trees_and_noise(100)
    for wanted in (pd.Index(["tree"]), pl.Series(["tree"]), np.array([0]), range(1), pd.Series([True, False, False])):
        model = GBFSRegressor(0.01, max_iter=2, categorical_features=wanted).fit(frame, y)
        np.testing.assert_array_equal(load(_saved(model, tmp)).predict(frame), model.predict(frame))
