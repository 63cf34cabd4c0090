"""Categorical features: split by sets of levels, with a side for what is missing, rare or unseen."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from table_tools import saved, trees_and_noise

from frugalboost import (
    GBFSClassifier,
    GBFSRegressor,
    load,
)


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


def test_which_columns_are_categorical_must_make_sense():
    frame, y = trees_and_noise(50)
    for wanted, message in [
        (["leaf"], "'leaf', which is not a column"),
        ([7], "names column 7, but X has columns 0 to 2"),
        ([-1], "names column -1"),
        ([True, False], "2 booleans, but X has 3"),
        ([0.5], "list of names, of positions, or of booleans"),
        ([[0]], "list of names, of positions, or of booleans"),
        ([0, "noise"], "list of names, of positions, or of booleans"),
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


@pytest.mark.parametrize("from_file", [False, True])
def test_a_continued_fit_keeps_the_levels_of_its_trees(from_file, tmp):
    frame, y = trees_and_noise()
    model = GBFSRegressor(0.01, max_iter=30, learning_rate=0.3).fit(frame, y)
    before = model.score(frame, y)
    if from_file:
        model = load(saved(model, tmp))
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


def test_saving_lists_of_any_kind(tmp):
    frame, y = trees_and_noise(100)
    for wanted in (pd.Index(["tree"]), pl.Series(["tree"]), np.array([0]), range(1), pd.Series([True, False, False])):
        model = GBFSRegressor(0.01, max_iter=2, categorical_features=wanted).fit(frame, y)
        np.testing.assert_array_equal(load(saved(model, tmp)).predict(frame), model.predict(frame))
