"""One table in every form gives the same bytes of model; tables that are not one are refused with a sentence."""

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
from table_tools import bytes_of, cut_into, fitted, saved, trees_and_noise

from frugalboost import (
    GBFSClassifier,
    GBFSClassifierCV,
    GBFSRegressor,
    StabilitySelection,
    gbfs_path,
    load,
)


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


@pytest.mark.slow
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


@pytest.mark.slow
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
    np.testing.assert_array_equal(load(saved(model, tmp)).predict_proba(enum), wanted)


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
    from frugalboost.files import format as model_file

    X, y = np.random.default_rng(0).normal(size=(100, 3)), np.arange(100.0)
    model = GBFSRegressor(0.0, max_iter=3).fit(X, y)
    model.save(tmp / "new")
    description, arrays = model_file.read(tmp / "new")
    for name in ("ensemble.level_set", "ensemble.sets"):
        del arrays[name]
    del description["levels"], description["params"]["categorical_features"]
    model_file.write(tmp / "old", description, arrays)
    np.testing.assert_array_equal(load(tmp / "old").predict(X), model.predict(X))


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
