"""Threads, processes, forks and Ctrl-C: no global state anywhere."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.datasets import make_classification

from frugalboost import GBFSClassifier, _core
from frugalboost._support.threads import threads_for


@pytest.fixture(scope="module")
def table():
    return make_classification(5000, 20, random_state=0)


def usable(requested):
    return _core.usable_threads(requested)


def fit(X, y, mu=0.001):
    return GBFSClassifier(mu, max_iter=20).fit(X, y).predict_proba(X)


def test_two_python_threads_at_once(table):
    mus = [0.001, 0.003, 0.01, 0.03] * 3
    expected = [fit(*table, mu) for mu in mus]
    with ThreadPoolExecutor(4) as pool:
        for ours, alone in zip(pool.map(lambda mu: fit(*table, mu), mus), expected):
            np.testing.assert_array_equal(ours, alone)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_workers(table, backend):
    results = Parallel(n_jobs=2, backend=backend)(delayed(fit)(*table) for _ in range(3))
    for result in results:
        np.testing.assert_array_equal(result, fit(*table))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_a_fork(table):
    """The parent has used threads; a child that starts threads in the same runtime would hang."""
    expected = fit(*table)
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        results = [pool.apply_async(fit, table) for _ in range(4)]
        for result in results:
            np.testing.assert_array_equal(result.get(timeout=60), expected)
        assert pool.apply(usable, (8,)) == 1
    assert _core.usable_threads(8) == 8


@pytest.mark.slow
@pytest.mark.large
@pytest.mark.parametrize("phase", ["boosting", "binning"])
def test_ctrl_c_ends_a_fit_within_a_second(phase, tmp_path):
    """Also in the middle of a single tree on a large table, and while binning."""
    script = textwrap.dedent(
        f"""
        import numpy as np, time, sys
        from frugalboost import GBFSClassifier
        from frugalboost.training.binning import Thresholds
        from frugalboost.tables import DenseTable
        rng = np.random.default_rng(0)
        X = rng.normal(size=({"200_000, 40" if phase == "boosting" else "600_000, 60"})).astype(np.float32)
        y = (X[:, 0] > 0).astype(int)
        model = GBFSClassifier(0.0, max_iter=100_000, max_depth=8)
        begin = time.time()
        if {phase == "boosting"}:
            Thresholds.find(DenseTable(X), None, 255, 2)  # how long binning takes; then boosting is surely reached
        print("ready", time.time() - begin, flush=True)
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            print("interrupted", time.time(), hasattr(model, "n_iter_"), flush=True)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    ready, seconds = process.stdout.readline().split()
    assert ready == "ready"
    time.sleep(4 * float(seconds) + (0.5 if phase == "boosting" else 0.3))
    sent = time.time()
    process.send_signal(signal.SIGINT)
    word, when, fitted = process.stdout.readline().split()
    process.wait(timeout=30)
    assert word == "interrupted"
    assert float(when) - sent < 1.0
    assert fitted == "False"


def test_number_of_threads():
    assert threads_for(3) == 3
    assert threads_for(-1) >= 1
    assert _core.usable_threads(10**9) <= 256 or _core.usable_threads(10**9) <= os.cpu_count()
    assert threads_for(None) >= 1
    with pytest.raises(ValueError, match="n_jobs is 0"):
        threads_for(0)


def test_waiting_threads_spin_briefly_and_no_other_library_hears_of_it():
    """The runtime is told so when it is loaded; a user's own wish stands."""
    call = [sys.executable, "-c", "import os, frugalboost; print(os.environ.get('GOMP_SPINCOUNT'))"]
    bare = {k: v for k, v in os.environ.items() if k not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    brief = {}
    for wish in ("None", "7"):
        environment = bare | {"OMP_DISPLAY_ENV": "verbose"} | ({} if wish == "None" else {"GOMP_SPINCOUNT": wish})
        told = subprocess.run(call, env=environment, capture_output=True, text=True, check=True)
        assert told.stdout.strip() == wish
        if "GOMP_SPINCOUNT" not in told.stderr:
            pytest.skip("this OpenMP runtime does not show how it waits")
        brief[wish] = told.stderr.count("GOMP_SPINCOUNT = '10000'")
    assert brief == {"None": 1, "7": 0}
