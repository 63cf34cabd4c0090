"""Workers that are killed, and errors while a cluster fits; it is started by `dask scheduler` and `dask worker`."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager

import cloudpickle
import numpy as np
import pytest

pytest.importorskip("distributed")
import dask
from clusters import divided, fingerprint, fitted, on_cluster, sizes
from dask.distributed import Client

from frugalboost import GBFSRegressor
from frugalboost.cluster import driver, exchange
from frugalboost.dask import ClusterError, LostWorkerWarning
from frugalboost.training.fit import FIRST_STAGE

pytestmark = [pytest.mark.xdist_group("cluster"), pytest.mark.slow]
SMALL = {"mu": 1e-3, "max_iter": 20, "max_depth": 3, "min_samples_leaf": 5}
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers can't import it
LIMIT = 10.0  # seconds until an error


def command(*words):
    """A process of Dask's command line."""
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *words], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    file = tmp_path_factory.mktemp("scheduler") / "address.json"
    process = command("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    while not file.exists():
        time.sleep(0.1)
    yield file
    process.kill()
    process.wait()


@contextmanager
def workers(scheduler, number):
    """Some workers without nannies, which would start them again, and a client."""
    options = ("--scheduler-file", str(scheduler), "--nthreads", "1", "--no-nanny", "--no-dashboard")
    processes = [command("worker", *options) for _ in range(number)]
    try:
        with Client(scheduler_file=str(scheduler)) as client:
            client.wait_for_workers(number, timeout=60)
            yield client, processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def made(n=400):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 6)).round(1)
    return X, X[:, 0] + 2 * X[:, 2] + X[:, 3] ** 2 + rng.normal(size=n)


def kill(client, address):
    os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)


def fit_losing(model, X, y):
    """Fit, and expect one warning that a worker was lost."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin = time.monotonic()
        model.fit(X, y)
    told = [w for w in caught if w.category is LostWorkerWarning]
    assert len(told) == 1
    assert "lost during the fit" in str(told[0].message)
    assert len(model.cluster_["lost_workers"]) == 1
    assert time.monotonic() - begin < 30


def test_workers_killed_in_boosting_and_while_trees_are_collected(scheduler, monkeypatch):
    X, y = made()
    victims, called = [], []

    def deadly(owned, last, prices):
        called.append(last)
        if len(called) == 2 and victims:
            kill(client, victims.pop())
        return prices * 1.1

    expected = fitted(GBFSRegressor(**SMALL, costs=deadly), X, y)
    assert len(called) > 3
    with workers(scheduler, 4) as (client, _):
        called.clear()
        victims.append(sorted(client.nthreads())[1])
        model = on_cluster(expected)
        fit_losing(model, divided(X, sizes(400, 7)), divided(y, sizes(400, 7)))
        assert fingerprint(model) == fingerprint(expected)
        assert called == expected._model.purchases.feature.tolist()  # once for each purchase, although it began again

        collect, victims = driver.Attempt._collect, [sorted(client.nthreads())[0]]

        def kill_first(attempt, futures, report):
            if victims:
                kill(client, victims.pop())
                time.sleep(1)
            return collect(attempt, futures, report)

        monkeypatch.setattr(driver.Attempt, "_collect", kill_first)
        fit_losing(model, divided(X, sizes(400, 7)), divided(y, sizes(400, 7)))
        assert fingerprint(model) == fingerprint(expected)
        assert model.cluster_["workers"] == 2


def test_a_fit_goes_on_from_the_trees_that_were_kept(scheduler):
    X, y = made()
    late, called, victims = [], [], []

    def deadly(owned, last, prices):
        called.append(last)
        if late and len(called) == late[0] and victims:
            kill(client, victims.pop())
        return prices * 1.1

    y = X @ [4, 3, 2, 1.5, 1, 0.5] + np.random.default_rng(4).normal(size=len(y))
    options = {"max_iter": 150, "learning_rate": 0.02, "max_depth": 1, "early_stopping": True, "random_state": 1}
    expected = fitted(GBFSRegressor(**options, new_features="auto", costs=deadly), X, y)
    iterations = expected._model.purchases.iteration
    late.append(int(np.argmax(iterations > FIRST_STAGE)) + 1)
    assert iterations[late[0] - 1] > FIRST_STAGE
    with workers(scheduler, 3) as (client, _):
        called.clear()
        victims.append(sorted(client.nthreads())[0])  # the one that asks about prices
        model = on_cluster(expected)
        fit_losing(model, divided(X, sizes(400, 7)), divided(y, sizes(400, 7)))
    assert model.cluster_["kept_iterations"] in (FIRST_STAGE, 3 * FIRST_STAGE)
    assert fingerprint(model) == fingerprint(expected)
    assert called == expected._model.purchases.feature.tolist()


def deadly_rows(X, mark):
    """The process that reads these rows for the second time is killed, once."""
    reads = mark.with_suffix(".read")
    if reads.exists() and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    reads.touch()
    return X


def test_workers_killed_in_binning(scheduler, tmp_path):
    X, y = made()
    expected = fitted(GBFSRegressor(**SMALL), X, y)
    chunks = [dask.delayed(X[i : i + 100]) for i in range(0, 400, 100)]
    chunks[2] = dask.delayed(deadly_rows)(chunks[2], tmp_path / "killed")
    targets = [dask.delayed(y[i : i + 100]) for i in range(0, 400, 100)]
    with workers(scheduler, 3) as (_, _):
        model = on_cluster(expected)
        fit_losing(model, chunks, targets)
        assert (tmp_path / "killed").exists()
        assert fingerprint(model) == fingerprint(expected)


def no_one_works(client):
    """Whether no thread of a worker is busy for a fit."""
    fits = client.run(lambda dask_worker: [m.running for m in exchange.Members.of(dask_worker).places.values()])
    return not any(any(running) for running in fits.values())


def test_errors_end_the_fit_everywhere(scheduler):
    X, y = made()
    parts = divided(X, sizes(400, 7)), divided(y, sizes(400, 7))
    asked = threading.Event()

    def failing(owned, last, prices):
        asked.set()
        raise LookupError("no price today")

    def wrong(owned, last, prices):
        asked.set()
        return prices[:2]

    def pressed(owned, last, prices):
        asked.set()
        signal.raise_signal(signal.SIGINT)
        return prices

    def late(owned, last, prices):
        asked.set()
        for process in processes:
            process.kill()
        return prices

    cases = {
        failing: (LookupError, "no price today"),
        wrong: (ValueError, r"shape \(2,\)"),
        pressed: (KeyboardInterrupt, None),
        late: (ClusterError, "has no workers"),
    }
    with workers(scheduler, 3) as (client, processes):
        for phi, (error, message) in cases.items():
            model = on_cluster(GBFSRegressor(**SMALL, costs=phi))
            asked.clear()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                begin = time.monotonic()
                with pytest.raises(error, match=message):
                    model.fit(*parts)
            assert time.monotonic() - begin < 2 * LIMIT
            assert asked.is_set()
            assert not hasattr(model, "n_features_in_")
            if phi is not late:
                assert no_one_works(client)
                assert len(client.nthreads()) == 3


def unreadable(X):
    raise OSError("the disk is gone")


def test_an_error_in_reading_rows(scheduler):
    X, y = made()
    chunks = [dask.delayed(X[i : i + 100]) for i in range(0, 400, 100)]
    targets = [dask.delayed(y[i : i + 100]) for i in range(0, 400, 100)]
    with workers(scheduler, 2) as (client, _):
        with pytest.raises(OSError, match="the disk is gone"):
            on_cluster(GBFSRegressor(**SMALL)).fit([*chunks[:3], dask.delayed(unreadable)(chunks[3])], targets)
        infinite = dask.delayed(np.where(X[:100] > 1, np.inf, X[:100]))
        with pytest.raises(ValueError, match="infinity"):
            on_cluster(GBFSRegressor(**SMALL)).fit([*chunks[:3], infinite], targets)
        assert no_one_works(client)
