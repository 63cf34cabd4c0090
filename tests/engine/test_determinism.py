"""Same data, parameters and seed: same bytes of model, whatever runs it."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from same_trees import arrays_of
from sklearn.datasets import make_classification
from test_reference import LOSSES

from frugalboost import GBFSClassifier, GBFSRegressor, NothingBoughtWarning


def saved(model, tmp_path):
    model.save(tmp_path / "model.frugal")
    return (tmp_path / "model.frugal").read_bytes()


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(3000, 12, n_informative=6, n_classes=3, random_state=0)
    X = X.astype(np.float32)
    X[::7, 3] = np.nan
    return X, y


@pytest.mark.parametrize("n_jobs", [2, 7, -1])
@pytest.mark.parametrize("base", ["trees", "lines", "both"])
def test_number_of_threads_changes_nothing(table, tmp_path, n_jobs, base):
    X, y = table
    one = GBFSClassifier(max_iter=20, n_jobs=1, base=base).fit(X, y)
    many = GBFSClassifier(max_iter=20, n_jobs=n_jobs, verbose=1, base=base).fit(X, y)
    assert saved(one, tmp_path) == saved(many, tmp_path)
    np.testing.assert_array_equal(one.predict_proba(X), many.predict_proba(X))


@pytest.mark.parametrize("n_jobs", [2, 7])
@pytest.mark.parametrize("base", ["trees", "lines", "both"])
def test_few_columns_and_many_rows_are_summed_in_parts(tmp_path, n_jobs, base):
    """One group of columns: threads share the rows of a node, and parts are added."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 3))  # more than lines add up at once
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=70_000)
    models = [GBFSRegressor(max_iter=5, n_jobs=n, base=base).fit(X, y) for n in (1, n_jobs)]
    assert saved(models[0], tmp_path) == saved(models[1], tmp_path)


@pytest.mark.parametrize(
    "form",
    [
        np.asfortranarray,
        np.ascontiguousarray,
        lambda X: X.astype(np.float64),
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    ],
    ids=["fortran", "c", "float64", "strided"],
)
def test_memory_order_and_precision_change_nothing(table, tmp_path, form):
    X, y = table
    plain = GBFSClassifier(max_iter=10).fit(X, y)
    other = GBFSClassifier(max_iter=10).fit(form(X), y)
    assert saved(plain, tmp_path) == saved(other, tmp_path)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.uint64, np.float16, bool])
def test_integer_types_are_read_as_their_values(tmp_path, dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2 if dtype is bool else 50, size=(500, 3)).astype(dtype)
    y = X[:, 0].astype(float) + rng.normal(size=500)
    one = GBFSRegressor(max_iter=5).fit(X, y)
    other = GBFSRegressor(max_iter=5).fit(X.astype(np.float64), y)
    assert saved(one, tmp_path) == saved(other, tmp_path)
    np.testing.assert_array_equal(one.predict(X), other.predict(X.astype(np.float64)))


def test_two_word_cells_agree_with_one_word_cells(tmp_path):
    """Equal weights take the slower path; 270,000 rows are too many for cells of one word."""
    rng = np.random.default_rng(0)
    n = 270_000
    X = np.round(rng.normal(size=(n, 2)), 2)
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n) > 1).astype(int)
    weights = np.full(n, 2.0)
    plain = GBFSClassifier(max_iter=3, min_samples_leaf=20).fit(X, y)
    weighted = GBFSClassifier(max_iter=3, min_samples_leaf=40, l2_regularization=0).fit(X, y, sample_weight=weights)
    for name in ("feature", "threshold", "value", "missing_left"):
        np.testing.assert_array_equal(getattr(plain._model.ensemble, name), getattr(weighted._model.ensemble, name))
    small = slice(0, 200_000)
    one_word = GBFSClassifier(max_iter=3).fit(X[small], y[small])
    two_words = GBFSClassifier(max_iter=3, min_samples_leaf=40).fit(X[small], y[small], sample_weight=weights[small])
    np.testing.assert_array_equal(one_word._model.ensemble.value, two_words._model.ensemble.value)


@pytest.mark.slow
def test_every_instruction_set_gives_the_same_bytes(tmp_path):
    """Each copy of the kernels in a process of its own; sets that this machine lacks fall back to the baseline."""
    script = """
import sys, hashlib, numpy as np
from frugalboost import GBFSClassifier, GBFSRegressor, _core
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 9)); X[::5, 2] = np.nan
y = (X[:, 0] + np.nan_to_num(X[:, 2]) + rng.normal(size=2000))
digest = hashlib.sha256()
for model in (GBFSClassifier(max_iter=10).fit(X, np.digitize(y, [-1, 1])), GBFSClassifier(max_iter=10).fit(X, y > 0),
              GBFSRegressor(max_iter=10, loss="poisson").fit(X, np.floor(np.exp(y))),
              GBFSClassifier(max_iter=10).fit(X, y > 0, sample_weight=rng.random(2000)),
              GBFSClassifier(max_iter=10, base="lines").fit(X, y > 0, sample_weight=rng.random(2000)),
              GBFSRegressor(max_iter=10, base="both").fit(X, y + X[:, 1] ** 2),
              GBFSRegressor(max_iter=10, subsample=0.5, loss="tweedie").fit(X, np.maximum(y, 0.0))):
    model.save(sys.argv[1])
    digest.update(open(sys.argv[1], "rb").read())
print(_core.instruction_set(), digest.hexdigest())
"""
    seen = {}
    for isa in ("baseline", "avx2", "avx512"):
        out = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "model.frugal")],
            env={**os.environ, "FRUGALBOOST_ISA": isa},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split()
        seen[out[0]] = out[1]
    assert "baseline" in seen
    assert len(set(seen.values())) == 1


def test_order_of_rows_does_not_move_a_split():
    """Sums are exact, so even the order of rows changes no tree (leaves too: they are exact sums)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 5))
    y = (X[:, 0] + rng.normal(size=1000) > 0).astype(int)
    shuffled = rng.permutation(1000)
    a = GBFSClassifier(max_iter=10).fit(X, y)
    b = GBFSClassifier(max_iter=10).fit(X[shuffled], y[shuffled])
    np.testing.assert_array_equal(a._model.ensemble.threshold, b._model.ensemble.threshold)
    np.testing.assert_array_equal(a._model.ensemble.value, b._model.ensemble.value)


@pytest.mark.slow
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([*LOSSES, "multinomial"]),
    st.sampled_from(["trees", "lines", "both"]),
)
def test_the_order_of_rows_changes_no_byte(seed, name, base):
    """Negative zeros in X and y, ties, weights: whatever comes first, the same bytes."""
    rng = np.random.default_rng(seed)
    n = 60
    X = np.round(rng.normal(size=(n, 3)))  # with negative zeros
    y = np.round(X[:, 0] + rng.normal(size=n))
    kind, loss = (GBFSClassifier, "log_loss") if name == "multinomial" else LOSSES[name][:2]
    if name in ("log_loss", "multinomial"):
        y = np.clip(y + 1, 0, 1 if name == "log_loss" else 3)
        y[:4] = [0, 1, 0, 1] if name == "log_loss" else [0, 1, 2, 3]
    if name in ("poisson", "gamma", "tweedie"):
        y = np.abs(y) + (name == "gamma")
    if name == "cox":
        y = np.where(y < 0, y, y + 1)  # times have no zero
    weights = rng.random(n) if seed % 2 else None
    saved = []
    for order in (np.arange(n), rng.permutation(n)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NothingBoughtWarning)
            model = kind(mu=1e-3, max_iter=4, min_samples_leaf=2, loss=loss, base=base).fit(
                X[order], y[order], sample_weight=None if weights is None else weights[order]
            )
        saved.append({name: values.tobytes() for name, values in arrays_of(model._model.ensemble).items()})
    assert saved[0] == saved[1]
