"""Models fitted on a cluster of processes have the bytes of those fitted on one machine."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pandas as pd
import psutil
import pytest
from scipy import sparse

pytest.importorskip("distributed")
import dask
import dask.array as da
import dask.dataframe as dd
from clusters import check_same, divided, fingerprint, fitted, fitted_on, on_cluster, sizes
from dask.distributed import Client, LocalCluster

from frugalboost import GBFSClassifier, GBFSRegressor, gbfs_path
from frugalboost.cluster import exchange
from frugalboost.costs import Bags, Function, Neighbours, Prices, Stage, Stages

pytestmark = pytest.mark.xdist_group("cluster")
QUICK = {(2, 7), "a function", "early stopping", "huber", "wide", "multi_output_tree"}  # the others are slow together


def cases(values):
    return [
        pytest.param(*v, marks=marks_of(v)) if isinstance(v, tuple) else pytest.param(v, marks=marks_of(v))
        for v in values
    ]


def marks_of(value):
    return [] if value in QUICK else [pytest.mark.slow]


ALL = cases([(w, p) for w in (1, 2, 3, 5) for p in (1, 7, 50)])


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=5, threads_per_worker=1, dashboard_address=None, memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        yield client


def made(rng, n=400, d=6):
    """Numbers, two values, nearly constant columns (listed), missing values."""
    X = rng.normal(size=(n, d)).round(1)
    X[:, 1] = rng.integers(0, 2, n)
    X[:, 2] = (rng.random(n) < 0.03) * rng.integers(1, 4, n)
    X[rng.random((n, d)) < 0.05] = np.nan
    return X, np.nan_to_num(X[:, 0]) + 2 * np.nan_to_num(X[:, 2]) + np.nan_to_num(X[:, 3]) ** 2 + rng.normal(size=n)


SMALL = {"mu": 1e-3, "max_iter": 12, "max_depth": 3, "min_samples_leaf": 5, "random_state": 5}


@pytest.mark.parametrize(("workers", "partitions"), ALL)
def test_any_number_of_workers_and_partitions(client, workers, partitions):
    X, y = made(np.random.default_rng(workers))
    check_same(client, GBFSRegressor(**SMALL), X, y, at=[(workers, partitions)])


@pytest.mark.parametrize("loss", cases(["absolute_error", "huber", "poisson", "gamma", "tweedie"]))
def test_losses(client, loss):
    X, y = made(np.random.default_rng(1))
    y = np.exp(y / 4).round(1) + 0.1 if loss == "gamma" else np.maximum(y.round(), 0) if loss != "huber" else y
    check_same(client, GBFSRegressor(**SMALL, loss=loss), X, y, at=[(3, 7)])


def dearer(owned, last, prices):
    return prices * 1.5 + np.arange(len(prices)) / 10


SETTINGS = {
    "bags": {"costs": Bags([0, 0, 1, 1, 2, 2])},
    "a budget": {"costs": Prices([1, 2, 0.5, 1, 3, 1]), "budget": 4},
    "neighbours": {"costs": Neighbours((2, 3), discount=0.5)},
    "a function": {"costs": dearer},
    "a sum": {"costs": Prices([1, 2, 0.5, 1, 3, 1]) + Function(dearer, prices=1.0), "budget": 30},
    "early stopping": {"early_stopping": True, "max_iter": 40, "n_iter_no_change": 3, "validation_fraction": 0.3},
    "new features": {"new_features": "auto", "max_iter": 20},
    "sampled features": {"new_features": 0.5, "max_iter": 20},
    "screened": {"screening": "exact"},
    "not screened": {"screening": "off"},
    "sampled rows": {"subsample": 0.4, "max_features": 0.5, "max_iter": 20},
    "trends": {"monotonic_cst": [1, 0, 0, -1, 0, 0], "interaction_cst": [[0, 1, 2], [3, 4, 5]]},
    "lines": {"base": "both"},
    "only lines": {"base": "lines", "max_iter": 30},
    "leaves": {"max_leaf_nodes": 5, "max_depth": None},
}


@pytest.mark.parametrize("name", cases(SETTINGS))
def test_settings(client, name):
    X, y = made(np.random.default_rng(7))
    check_same(client, GBFSRegressor(**SMALL | SETTINGS[name]), X, y, at=[(2, 7)])


@pytest.mark.slow
def test_stages(client):
    X, y = made(np.random.default_rng(8))
    costs = Stages({"blood": Stage(5.0, opens=[0, 1]), "scan": Stage(9.0, opens=[2], after="blood", cheaper={3: 0.5})})
    check_same(client, GBFSRegressor(**SMALL, costs=costs), X, y, at=[(3, 7)])


@pytest.mark.parametrize("strategy", cases(["one_output_per_tree", "multi_output_tree"]))
def test_classes_sorted_by_y(client, strategy):
    """Each worker has rows of one or two of the classes only."""
    X, y = made(np.random.default_rng(2))
    labels = np.array(["low", "middle", "high", "very high"])[np.digitize(y, np.quantile(y, [0.3, 0.6, 0.8]))]
    order = np.argsort(y)
    model = GBFSClassifier(**SMALL, multi_strategy=strategy)
    found, expected = check_same(client, model, X[order], labels[order], at=[(5, 7), (2, 50)])
    assert found.classes_.tolist() == expected.classes_.tolist()


def test_empty_partitions(client):
    X, y = made(np.random.default_rng(3))
    found, _ = check_same(
        client, GBFSRegressor(**SMALL), X, y, at=[(3, (0, 0, 150, 0, 250, 0)), (3, (0, 0, 400)), (3, (400, 0, 0))]
    )
    labels = np.array(["no", "yes"])[(y > 1).astype(int)]
    weights = np.random.default_rng(3).random(len(y))
    model = GBFSClassifier(**SMALL, class_weight={"no": 1.0, "yes": 3.0})
    check_same(client, model, X, labels, weights, at=[(3, (0, 0, 400)), (3, (150, 0, 250))])
    assert found.cluster_["workers"] == 3


@pytest.mark.parametrize("weights", cases(["relative", "wide", "whole", "ones on one worker"]))
def test_weights(client, weights):
    rng = np.random.default_rng(4)
    X, y = made(rng)
    w = {
        "relative": rng.random(len(y)) / 50,
        "wide": 10.0 ** rng.integers(-16, 3, len(y)),
        "whole": rng.integers(0, 4, len(y)).astype(float),
        "ones on one worker": np.where(np.arange(len(y)) < 200, 1.0, rng.random(len(y)) + 1),
    }[weights]
    check_same(client, GBFSRegressor(**SMALL, early_stopping=True), X, y, w, at=[(2, 4), (3, 7)])


@pytest.mark.slow
def test_weights_of_classes(client):
    X, y = made(np.random.default_rng(5))
    labels = np.digitize(np.sort(y), np.quantile(y, [0.7, 0.9]))
    model = GBFSClassifier(**SMALL, class_weight="balanced")
    check_same(client, model, X, labels, at=[(3, 7)])


def test_rows_for_validation(client):
    X, y = made(np.random.default_rng(6), n=600)
    model = GBFSRegressor(**SMALL | {"max_iter": 40}, early_stopping=True, n_iter_no_change=3)
    weights = np.random.default_rng(6).random(200)
    check_same(client, model, X[:400], y[:400], X_val=X[400:], y_val=y[400:], at=[(2, 7), (5, 7)])
    check_same(client, model, X[:400], y[:400], X_val=X[400:], y_val=y[400:], sample_weight_val=weights, at=[(2, 7)])


def frame_of(rng, n=400):
    X, y = made(rng, n)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    early = np.arange(n) < 60
    levels = np.where(early, rng.choice(["a", "b", "rare"], n), rng.choice(["b", "c", "d"], n))
    frame["x5"] = np.where(early & (rng.random(n) < 0.5), np.nan, np.nan_to_num(frame["x5"]))
    frame["kind"] = pd.Categorical(levels)
    return frame, y + 2 * (levels == "rare") - (levels == "d")


def test_frames_with_levels_and_missing_values_on_one_worker_only(client):
    frame, y = frame_of(np.random.default_rng(9))
    expected = fitted(GBFSRegressor(**SMALL), frame, y)
    whole = dd.from_pandas(frame.assign(y=y), npartitions=7, sort=False)
    found = fitted_on(client, 3, on_cluster(expected), whole.drop(columns="y"), whole["y"])
    assert fingerprint(found) == fingerprint(expected)
    assert found.feature_names_in_.tolist() == frame.columns.tolist()
    # Every partition knows its own levels only, in its own order.
    parts = [
        frame.iloc[i : i + 60].assign(kind=frame["kind"].iloc[i : i + 60].astype(str).astype("category"))
        for i in range(0, 400, 60)
    ]
    targets = [dask.delayed(y[i : i + 60]) for i in range(0, 400, 60)]
    found = fitted_on(client, 2, on_cluster(expected), [dask.delayed(p) for p in parts], targets)
    assert fingerprint(found) == fingerprint(expected)


def test_parquet_files_are_read_by_the_workers(client, tmp_path):
    frame, y = frame_of(np.random.default_rng(10))
    frame["y"], frame["w"] = y, np.random.default_rng(10).random(len(y)) + 0.5
    for i in range(4):
        frame.iloc[i * 100 : i * 100 + 100].to_parquet(tmp_path / f"{i}.parquet", row_group_size=40, index=False)
    expected = fitted(GBFSRegressor(**SMALL), tmp_path, "y", "w")
    found = fitted_on(client, 3, on_cluster(expected), tmp_path, "y", "w")
    assert fingerprint(found) == fingerprint(expected)
    assert found.cluster_["partitions"] == 12


def test_sparse_chunks(client):
    rng = np.random.default_rng(13)
    X = sparse.random_array((400, 30), density=0.05, rng=rng, format="csr")
    X.data = np.ceil(3 * X.data)
    y = np.asarray(X[:, [0]].todense()).ravel() - np.asarray(X[:, [1]].todense()).ravel() + 0.1 * rng.normal(size=400)
    expected = fitted(GBFSRegressor(**SMALL | {"mu": 1e-4}), X, y)
    ends = np.cumsum([0, *(0, 130, 0, 170, 100)])
    chunks = [dask.delayed(X[a:b]) for a, b in pairwise(ends)]
    targets = [dask.delayed(y[a:b]) for a, b in pairwise(ends)]
    for workers in (2, 5):
        found = fitted_on(client, workers, on_cluster(expected), chunks, targets)
        assert fingerprint(found) == fingerprint(expected)
    assert expected.n_features_selected_ > 1


@pytest.mark.slow
def test_thresholds_from_a_sample_of_rows(client):
    """More than 200,000 rows: which are looked at depends on their numbers in the whole table."""
    rng = np.random.default_rng(14)
    X = rng.normal(size=(230_000, 2))
    y = X[:, 0] + rng.normal(size=len(X))
    check_same(client, GBFSRegressor(max_iter=2, mu=1e-5), X, y, at=[(2, 5)])


def test_continued_fits(client):
    X, y = made(np.random.default_rng(15))
    local = GBFSRegressor(**SMALL, warm_start=True, costs=dearer)
    cluster = on_cluster(local)
    for iterations in (5, 12, 400, 410):
        fitted(local.set_params(max_iter=iterations, mu=0.05), X, y)
        fitted_on(
            client,
            2,
            cluster.set_params(max_iter=iterations, mu=0.05),
            divided(X, sizes(400, 7)),
            divided(y, sizes(400, 7)),
        )
        assert fingerprint(cluster) == fingerprint(local)


def test_functions_of_prices_are_called_once_for_each_purchase_and_here(client):
    X, y = made(np.random.default_rng(16))
    called = []

    def counted(owned, last, prices):
        called.append(last)
        return prices * 1.1

    model = on_cluster(GBFSRegressor(**SMALL, costs=counted))
    fitted_on(client, 3, model, divided(X, sizes(400, 7)), divided(y, sizes(400, 7)))
    assert called == model._model.purchases.feature.tolist()
    assert len(called) > 1


def test_predictions_are_lazy_and_those_of_the_local_model(client):
    frame, y = frame_of(np.random.default_rng(17))
    labels = np.array(["no", "yes"])[(y > 1).astype(int)]
    whole = dd.from_pandas(frame.assign(y=labels), npartitions=3, sort=False)
    X = whole.drop(columns="y")
    model = fitted(on_cluster(GBFSClassifier(**SMALL)), X, whole["y"])
    local = model.to_local()
    assert type(local) is GBFSClassifier
    assert fingerprint(local) == fingerprint(model)
    predicted = model.predict(X)
    assert isinstance(predicted, dd.Series)
    assert predicted.compute().tolist() == local.predict(frame).tolist()
    assert predicted.compute().index.tolist() == frame.index.tolist()
    for name in ("predict_proba", "decision_function"):
        found = getattr(model, name)(X)
        assert dask.is_dask_collection(found)
        np.testing.assert_array_equal(np.asarray(found.compute()), getattr(local, name)(frame))
    assert model.transform(X).compute().equals(local.set_output(transform="pandas").transform(frame))
    np.testing.assert_array_equal(model.predict(frame), local.predict(frame))


@pytest.mark.slow
def test_predictions_of_arrays(client):
    X, y = made(np.random.default_rng(18))
    classes = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    chunks = da.from_array(X, chunks=((0, 150, 250), 4))  # columns in several chunks, too
    model = fitted(on_cluster(GBFSClassifier(**SMALL)), chunks, divided(classes, (0, 150, 250)))
    local = model.to_local()
    for name in ("predict", "predict_proba", "decision_function", "transform"):
        found = getattr(model, name)(chunks)
        assert isinstance(found, da.Array)
        np.testing.assert_array_equal(found.compute(), getattr(local, name)(X))
    delayed = model.predict([dask.delayed(X[:100]), dask.delayed(X[100:])])
    np.testing.assert_array_equal(np.concatenate(dask.compute(*delayed)), local.predict(X))


def test_collections_that_workers_hold_already(client):
    X, y = made(np.random.default_rng(19))
    expected = fitted(GBFSRegressor(**SMALL), X, y)
    chunks = sizes(400, 5)
    rows, targets = dask.persist(divided(X, chunks), divided(y, chunks))
    for given in (rows, rows[:, ::-1][:, ::-1]):
        found = fitted_on(client, 3, on_cluster(expected), given, targets)
        assert fingerprint(found) == fingerprint(expected)
    frame = pd.DataFrame(X).rename(columns=str)
    (whole,) = dask.persist(dd.from_pandas(frame.assign(y=y), npartitions=4, sort=False))
    expected = fitted(expected, frame, y)
    found = fitted_on(client, 2, on_cluster(expected), whole.drop(columns="y"), whole["y"])
    assert fingerprint(found) == fingerprint(expected)
    tables, vectors = client.scatter([X[:150], X[150:]]), client.scatter([y[:150], y[150:]])
    expected = fitted(expected, X, y)
    assert fingerprint(fitted_on(client, 2, on_cluster(expected), tables, vectors)) == fingerprint(expected)


def test_scores(client):
    X, y = made(np.random.default_rng(20))
    w, chunks = np.random.default_rng(20).random(400), (0, 150, 250)
    rows, weights = divided(X, chunks), divided(w, chunks)
    regressor = fitted(on_cluster(GBFSRegressor(**SMALL)), rows, divided(y, chunks))
    labels = np.where(y > 1, "yes", "no")
    classifier = fitted(on_cluster(GBFSClassifier(**SMALL)), rows, divided(labels, chunks))
    for model, target in ((regressor, y), (classifier, labels)):
        local, given = model.to_local(), divided(target, chunks)
        assert model.score(rows, given) == pytest.approx(local.score(X, target), abs=1e-12)
        assert model.score(rows, given, weights) == pytest.approx(local.score(X, target, w), abs=1e-12)
        assert model.score(X, target) == local.score(X, target)


def test_what_is_not_there_says_so(client):
    X, y = made(np.random.default_rng(21))
    rows, targets = divided(X, sizes(400, 3)), divided(y, sizes(400, 3))
    for options in ({"n_features_to_select": 2}, {"refit": True}, {"scoring": "r2"}, {"callbacks": [print]}):
        with pytest.raises(NotImplementedError, match=f"{next(iter(options))} does not work on a cluster yet"):
            on_cluster(GBFSRegressor(**SMALL, **options)).fit(rows, targets)
    model = fitted(on_cluster(GBFSRegressor(**SMALL)), rows, targets)
    with pytest.raises(NotImplementedError, match="run on one machine"):
        gbfs_path(rows, targets, estimator=model)
    for method in (model.apply, model.prediction_cost, lambda X: list(model.staged_predict(X))):
        with pytest.raises(TypeError, match="is not lazy"):
            method(rows)
    with pytest.raises(TypeError, match="X is a ndarray, but a fit on a cluster takes"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="divided alike"):
        model.fit([dask.delayed(X)], [dask.delayed(y), dask.delayed(y)])
    with pytest.raises(ValueError, match="400 rows, but y has 399"):
        model.fit(rows, targets[1:])
    with pytest.raises(ValueError, match="partitions with different numbers of columns"):
        fitted_on(client, 2, model, [dask.delayed(X[:200]), dask.delayed(X[200:, 1:])], [dask.delayed(y[:200])] * 2)
    unstable = dask.delayed(lambda: np.random.default_rng().normal(size=(200, 6)), pure=False)()
    with pytest.raises(ValueError, match="other values of X than the first time"):
        fitted_on(client, 2, model, [dask.delayed(X[:200]), unstable], [dask.delayed(y[:200])] * 2)
    assert fingerprint(model) == fingerprint(fitted(GBFSRegressor(**SMALL), X, y))  # as it was


@pytest.mark.slow
def test_messages_are_encrypted_where_the_cluster_is_and_use_no_port_of_their_own():
    pytest.importorskip("cryptography")
    X, y = made(np.random.default_rng(22))
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "security": True}

    def listening():
        return sorted(c.laddr.port for c in psutil.Process().net_connections("tcp") if c.status == "LISTEN")

    with LocalCluster(**options) as cluster, Client(cluster) as client:
        assert all(address.startswith("tls://") for address in client.nthreads())
        before = client.run(listening)
        found = fitted(on_cluster(GBFSRegressor(**SMALL)), divided(X, sizes(400, 4)), divided(y, sizes(400, 4)))
        assert client.run(listening) == before
        peers = client.run(lambda dask_worker: [str(a) for a in dask_worker.rpc.available])
        assert all(a.startswith("tls://") for addresses in peers.values() for a in addresses)
    assert found.cluster_["messages"] > 100
    assert fingerprint(found) == fingerprint(fitted(GBFSRegressor(**SMALL), X, y))


def test_a_worker_that_is_too_small_says_so(client):
    X, y = made(np.random.default_rng(23))

    def limit(to, dask_worker):
        dask_worker.memory_manager.memory_limit = to

    client.run(limit, 10_000)
    try:
        with pytest.raises(MemoryError, match=r"200 rows x 6 columns, needs about .* GB .* Use more workers or larger"):
            fitted_on(client, 2, on_cluster(GBFSRegressor(**SMALL)), divided(X, (200, 200)), divided(y, (200, 200)))
    finally:
        client.run(limit, None)


def test_two_fits_at_once(client):
    """Each worker has a single thread, and both fits need all of them."""
    X, y = made(np.random.default_rng(24))
    parts = divided(X, sizes(400, 5)), divided(y, sizes(400, 5))
    models = [on_cluster(GBFSRegressor(**SMALL | {"max_depth": depth})) for depth in (2, 3)]
    with ThreadPoolExecutor(2) as pool:
        for model in [pool.submit(fitted_on, client, 5, model, *parts) for model in models]:
            model.result(timeout=60)
    for model in models:
        assert fingerprint(model) == fingerprint(fitted(model.to_local(), X, y))


@pytest.mark.parametrize("fanout", [1, 2])
def test_any_tree_of_workers(client, monkeypatch, fanout):
    """A chain of five workers, and a tree of three levels."""
    monkeypatch.setattr(exchange, "FANOUT", fanout)
    X, y = made(np.random.default_rng(25))
    found, _ = check_same(client, GBFSRegressor(**SMALL), X, y, at=[(5, 7)])
    assert found.cluster_["messages"] == 2 * 4 * found.cluster_["exchanges"]


def test_progress_is_shown_here(client, capsys):
    X, y = made(np.random.default_rng(26))
    model = on_cluster(GBFSRegressor(**SMALL, verbose=1))
    fitted_on(client, 2, model, divided(X, sizes(400, 4)), divided(y, sizes(400, 4)))
    shown = capsys.readouterr().out
    assert "iteration" in shown
    assert "stopped: max_iter was reached" in shown
