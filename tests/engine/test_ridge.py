"""Lines fitted together with a penalty: against scikit-learn and scipy, and what must not change them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_engine import NaiveEngine
from same_trees import assert_same_bytes
from scipy import optimize, special
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor, Ridge
from test_parts import task_of

from frugalboost import GBFSClassifier, GBFSRegressor, _core, engines
from frugalboost.losses import Huber
from frugalboost.selection.ridge import fit_one_step, fit_ridges
from frugalboost.training.fit import prepare

L2S = np.array([1.0, 0.1, 0.01])
MODELS = {
    "log loss": GBFSClassifier(),
    "classes": GBFSClassifier(),
    "squared": GBFSRegressor(),
    "huber": GBFSRegressor(loss=Huber(0.7)),
    "poisson": GBFSRegressor(loss="poisson"),
    "gamma": GBFSRegressor(loss="gamma"),
}


def drawn(seed, name, n=200, d=5, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 1] = rng.integers(0, 2, n)
    X[rng.random((n, d)) < 0.05] = np.nan
    score = np.nan_to_num(X) @ rng.normal(size=d) + 0.5 * rng.normal(size=n)
    y = {
        "log loss": (score > 0).astype(int),
        "classes": np.digitize(score, np.quantile(score, [0.3, 0.6, 0.8])),
        "poisson": rng.poisson(np.exp(np.clip(score, -2, 2))).astype(float),
        "gamma": np.exp(np.clip(score, -3, 3)) * rng.gamma(3.0, 1 / 3, n),
    }.get(name, score)
    return X, y, rng.integers(1, 5, n) * 0.7 if weighted else None


def prepared(name, X, y, weights=None):
    return prepare(task_of(MODELS[name].set_params(base="lines"), X, y, weights), 2)


def scores(task):
    """The score of every row and column."""
    binned = task.binned
    begin = np.concatenate([[0], np.cumsum(binned.n_bins)])
    own = [np.append(binned.scores[begin[c] : begin[c + 1]], 0) / 1024 for c in range(binned.shape[1])]
    return np.column_stack([own[c][binned.bins(c)] for c in range(binned.shape[1])])


def ridges(task, l2s=L2S, columns=None, threads=2):
    columns = np.arange(task.binned.shape[1]) if columns is None else columns
    return fit_ridges(task, columns, np.asarray(l2s), threads)


def penalised(ridge, l2):
    return ridge.train_loss + 0.5 * l2 * np.sum(ridge.slopes**2)


def assert_close(ridge, slopes, start, digits=1e-4):
    np.testing.assert_allclose(ridge.slopes, slopes, atol=digits)
    np.testing.assert_allclose(ridge.start, start, atol=digits)


# ------------------------------------------------------------------------------------ other libraries


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("l2", L2S)
def test_squared_error_is_the_ridge_of_scikit_learn(weighted, l2):
    X, y, weights = drawn(0, "squared", weighted=weighted)
    task = prepared("squared", X, y, weights)
    total = len(y) if weights is None else weights.sum()
    other = Ridge(alpha=l2 * total, tol=1e-12).fit(scores(task), y, sample_weight=weights)
    assert_close(ridges(task, [l2])[0], [other.coef_], [other.intercept_])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("l2", L2S)
def test_log_loss_is_logistic_regression(weighted, l2):
    X, y, weights = drawn(1, "log loss", weighted=weighted)
    task = prepared("log loss", X, y, weights)
    total = len(y) if weights is None else weights.sum()
    other = LogisticRegression(C=1.0 / (l2 * total), tol=1e-10, max_iter=1000)
    other.fit(scores(task), y, sample_weight=weights)
    assert_close(ridges(task, [l2])[0], other.coef_, other.intercept_)


@pytest.mark.parametrize("l2", L2S)
@pytest.mark.parametrize(("name", "kind"), [("poisson", PoissonRegressor), ("gamma", GammaRegressor)])
def test_a_log_link_is_the_regression_of_scikit_learn(name, kind, l2):
    X, y, weights = drawn(2, name)
    task = prepared(name, X, y, weights)
    other = kind(alpha=l2, tol=1e-10, max_iter=1000).fit(scores(task), y)
    assert_close(ridges(task, [l2])[0], [other.coef_], [other.intercept_])


def least(task, name, l2, weights):
    """The minimum by scipy: the least penalised loss, slopes and intercepts."""
    Z, y = scores(task), task.train.y
    w = np.full(len(y), 1 / len(y)) if weights is None else weights / weights.sum()
    outputs = task.outputs

    def loss(raw):
        if name == "poisson":
            return np.exp(raw[0]) - y * raw[0]
        if name == "huber":
            r = np.abs(y - raw[0])
            return np.where(r <= 0.7, 0.5 * r * r, 0.7 * (r - 0.35))
        return special.logsumexp(raw, axis=0) - raw[y.astype(int), np.arange(len(y))]

    def objective(v):
        v = v.reshape(outputs, -1)
        return np.sum(w * loss(v[:, :1] + v[:, 1:] @ Z.T)) + 0.5 * l2 * np.sum(v[:, 1:] ** 2)

    found = optimize.minimize(objective, np.zeros(outputs * (1 + Z.shape[1])), method="BFGS", options={"gtol": 1e-7})
    v = found.x.reshape(outputs, -1)
    return found.fun, v[:, 1:], v[:, 0]


@pytest.mark.parametrize("name", ["poisson", "huber", "classes"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("l2", L2S)
def test_the_minimum_is_that_of_scipy(name, weighted, l2):
    X, y, weights = drawn(3, name, weighted=weighted)
    task = prepared(name, X, y, weights)
    least_loss, slopes, start = least(task, name, l2, weights)
    found = ridges(task, [l2])[0]
    assert penalised(found, l2) == pytest.approx(least_loss, rel=1e-8)
    if name == "classes":  # a number added to the intercepts of all classes changes nothing
        start = start - start.mean() + found.start.mean()
    assert_close(found, slopes, start, 1e-3 if name == "huber" else 1e-4)


@pytest.mark.parametrize("l2", [1e-2, 1e-3])
@pytest.mark.parametrize("classes", [3, 10])
def test_softmax_reaches_its_minimum(classes, l2):
    """What all classes share changes no loss, so that only a small penalty works on it: it must not be left in."""
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(600, 8))
    y = np.argmax(X @ rng.normal(size=(8, classes)) + 0.5 * rng.gumbel(size=(600, classes)), axis=1)
    task = prepared("classes", X, y)
    other = LogisticRegression(C=1.0 / (l2 * len(y)), tol=1e-10, max_iter=9000).fit(scores(task), y)
    for l2s in ([1.0, 0.1, l2], [l2]):
        found = ridges(task, l2s)[-1]
        np.testing.assert_allclose(found.slopes, other.coef_, atol=1e-4)
        np.testing.assert_allclose(found.slopes.sum(axis=0), 0, atol=1e-9)


class EachByItself:
    """Three outputs, each the squared error of being one of three classes: what they share does change the loss."""

    def start(self, y, sample_weight):
        return np.array([0.1, 0.2, 0.3])

    def _aims(self, y):
        return 2.0 * (np.asarray(y)[:, None] == np.arange(3)) + [0.0, 1.0, 5.0]

    def gradient(self, y, raw):
        return raw - self._aims(y)

    def curvature(self, y, raw):
        return np.ones_like(raw)

    def value(self, y, raw):
        return 0.5 * np.sum((raw - self._aims(y)) ** 2, axis=1)

    def inverse_link(self, raw):
        return raw


def test_outputs_of_an_own_loss_are_not_centred():
    X, y, _ = drawn(14, "squared")
    y = np.digitize(y, [-1, 1])
    task = prepare(task_of(GBFSClassifier(loss=EachByItself(), base="lines"), X, y), 1)
    found = fit_ridges(task, np.arange(5), np.array([0.1]), 1)[0]
    other = Ridge(alpha=0.1 * len(y), tol=1e-12).fit(scores(task), EachByItself()._aims(y))
    assert_close(found, other.coef_, other.intercept_)


# ------------------------------------------------------------------------------------------ properties


@given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(sorted(MODELS)), weighted=st.booleans())
@settings(max_examples=40)
def test_slopes_fall_with_l2_and_no_fit_is_worse_than_the_start(seed, name, weighted):
    X, y, weights = drawn(seed, name, 60, 4, weighted)
    task = prepared(name, X, y, weights)
    l2s = 10.0 ** np.arange(2, -5.0, -1)
    fits = ridges(task, l2s)
    start = ridges(task, [0.1], np.zeros(0, dtype=int))[0].train_loss
    sizes = [np.sum(r.slopes**2) for r in fits]
    losses = [r.train_loss for r in fits]
    assert all(b >= a * (1 - 1e-5) for a, b in itertools.pairwise(sizes))
    assert all(b <= a + 1e-9 * abs(a) for a, b in itertools.pairwise(losses))
    assert all(penalised(r, l2) <= start * (1 + 1e-12) + 1e-12 for r, l2 in zip(fits, l2s))


@pytest.mark.parametrize("name", MODELS)
def test_losses_are_those_of_predictions(name):
    X, y, _ = drawn(5, name, 300)
    model = MODELS[name].set_params(base="lines", early_stopping=True)
    task = prepare(model._task(*model._checked(X[:200], y[:200], None, X[200:], y[200:], None)), 2)
    for ridge in ridges(task):
        trees = ridge.ensemble(task)
        for bins, rows, expected in (
            (task.binned, task.train, ridge.train_loss),
            (task.validation_bins, task.validation, ridge.validation_loss),
        ):
            curve = trees.loss_curve(bins, rows, task.train, task.loss, 1)
            assert curve[-1] == expected
            raw = trees.raw(rows.table.source(task.levels), trees.n_iterations, 1)
            assert trees.loss_of(raw, rows, task.train, task.loss, 1) == expected
    model.set_params(early_stopping=False)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_classes_renamed(seed):
    X, y, weights = drawn(seed, "classes", 80, 4, bool(seed % 2))
    new_name = np.random.default_rng(seed).permutation(4)
    one, other = (ridges(prepared("classes", X, labels, weights)) for labels in (y, new_name[y]))
    for a, b in zip(one, other):
        assert a.slopes.tobytes() == b.slopes[new_name].tobytes()
        assert a.start.tobytes() == b.start[new_name].tobytes()
        assert a.gains.tobytes() == b.gains.tobytes()
        assert a.train_loss == b.train_loss


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(sorted(MODELS)), weighted=st.booleans())
@settings(max_examples=30)
def test_rows_threads_and_the_plain_engine_change_no_byte(seed, name, weighted):
    X, y, weights = drawn(seed, name, 60, 4, weighted)
    expected = ridges(prepared(name, X, y, weights), threads=1)
    order = np.random.default_rng(seed).permutation(len(y))
    task = prepared(name, X[order], y[order], None if weights is None else weights[order])
    given = (engines.EngineRows(task.binned, task.train.y, task.train.weights), None)
    plain = NaiveEngine(*given, task.loss, task.outputs, task.params.to_core(), 1)
    on_plain = _core.fit_ridge(plain, list(range(4)), L2S.tolist(), [], 1)
    for ours, again, slow in zip(ridges(task, threads=3), expected, on_plain):
        assert_same_bytes(ours, again)
        assert ours.slopes.tobytes() == np.asarray(slow.slopes).tobytes()
        assert ours.train_loss == slow.train_loss


@pytest.mark.parametrize("name", MODELS)
def test_weight_k_is_the_row_k_times(name):
    X, y, _ = drawn(7, name)
    times = np.random.default_rng(8).integers(1, 5, len(y))
    one = ridges(prepared(name, X, y, times.astype(float)))
    other = ridges(prepared(name, np.repeat(X, times, axis=0), np.repeat(y, times)))
    for a, b in zip(one, other):
        np.testing.assert_allclose(a.slopes, b.slopes, atol=1e-6)
        assert a.train_loss == pytest.approx(b.train_loss, rel=1e-7)


def test_a_start_and_an_order_of_penalties_lead_to_the_same_minimum():
    X, y, _ = drawn(9, "log loss")
    task = prepared("log loss", X, y)
    columns = np.arange(5)
    expected = ridges(task)[-1]
    for found in (
        fit_ridges(task, columns, L2S[-1:], 1, np.array([2.0]))[0],
        fit_ridges(task, columns, L2S[::-1], 1)[0],
    ):
        assert_close(found, expected.slopes, expected.start, 1e-5)


def test_columns_without_lines_have_no_slope():
    """Constants and categories; the others are as if these were not there."""
    X, y, _ = drawn(10, "squared")
    more = np.column_stack([X, np.full(len(y), 3.0), np.arange(len(y)) % 3])
    model = GBFSRegressor(base="lines", categorical_features=[6])
    found = ridges(prepare(task_of(model, more, y), 1))
    for wide, narrow in zip(found, ridges(prepared("squared", X, y))):
        assert wide.slopes[0, 5:].tolist() == [0.0, 0.0]
        assert wide.gains[5:].tolist() == [0.0, 0.0]
        np.testing.assert_allclose(wide.slopes[:, :5], narrow.slopes, atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_more_columns_than_rows(name):
    X, y, _ = drawn(11, name, 30, 60)
    X[:, 30] = X[:, 0]
    task = prepared(name, X, y)
    start = ridges(task, [0.1], np.zeros(0, dtype=int))[0].train_loss
    for ridge, l2 in zip(ridges(task), L2S):
        assert np.isfinite(ridge.slopes).all()
        assert ridge.slopes[:, 30] == pytest.approx(ridge.slopes[:, 0], abs=1e-5)
        assert penalised(ridge, l2) < start


def test_a_column_twice_shares_its_slope():
    X, y, _ = drawn(12, "squared")
    task = prepared("squared", X, y)
    once, twice = ridges(task, [0.02], np.array([0]))[0], ridges(task, [0.04], np.array([0, 0]))[0]
    np.testing.assert_allclose(twice.slopes[0], once.slopes[0, 0] / 2, rtol=1e-4)


def test_a_large_matrix_is_kept_over_steps():
    """Above 4e6 products the matrix of the first step serves for all: the minimum is the same."""
    X, y, _ = drawn(13, "log loss", 3000, 40)
    task = prepared("log loss", X, y)
    Z = scores(task)
    assert Z.shape[0] * Z.shape[1] ** 2 > 4e6
    other = LogisticRegression(C=1.0 / (0.01 * len(y)), tol=1e-10, max_iter=1000).fit(Z, y)
    assert_close(ridges(task, [0.1, 0.01])[1], other.coef_, other.intercept_)


# ------------------------------------------------------------------------------------------- in one step


def one_step(task, columns=None, threads=2):
    return fit_one_step(task, np.arange(task.binned.shape[1]) if columns is None else columns, threads)


def stretched(name, Z, y, weights, shrinkage=1.0, penalty=0.01):
    """The same in numpy and scipy: a weighted least squares fit of one step, then a fit of its size and intercepts."""
    w = np.full(len(y), 1 / len(y)) if weights is None else weights / weights.sum()
    classes = np.arange(y.max() + 1) if name == "classes" else None
    start, gradients, curvatures = starts(name, y, w, classes)
    coarse = np.floor(64 * Z + 0.5) / 64  # as curvatures have them
    slopes = []
    for k in range(len(start)):
        g, h = gradients[k], curvatures[k]
        rows, fine = (np.column_stack([np.ones(len(y)), columns]) for columns in (coarse, Z))
        a = (rows * (w * h)[:, None]).T @ rows
        a[1:, 1:] += shrinkage * np.sum(w * h) * np.eye(Z.shape[1])
        slopes.append(np.linalg.solve(a, fine.T @ (w * g))[1:])
    slopes = np.array(slopes)
    if name == "classes":
        slopes = (slopes - slopes.mean(axis=0)) * (1 - 1 / len(slopes))
    said = slopes @ Z.T
    spread = [
        np.sum(w * h * s**2) / np.sum(w * h) - (np.sum(w * h * s) / np.sum(w * h)) ** 2
        for h, s in zip(curvatures, slopes @ coarse.T)
    ]

    def objective(v):
        raw = v[1:, None] + v[0] * said
        return np.sum(w * loss_of(name, raw, y)) + 0.5 * penalty * v[0] ** 2 * np.sum(spread)

    found = optimize.minimize(objective, np.append(1.0, start), method="BFGS", options={"gtol": 1e-9})
    return found.x[0] * slopes, found.x[1:]


def starts(name, y, w, classes):
    """The best constants, and what the losses' derivatives are there: one row for each output."""
    if name == "classes":
        p = np.array([np.sum(w[y == c]) for c in classes])
        own = (y[None, :] == classes[:, None]).astype(float)
        return np.log(p), own - p[:, None], np.repeat((p * (1 - p))[:, None], len(y), axis=1)
    mean = np.sum(w * y)
    if name == "log loss":
        return [special.logit(mean)], [y - mean], [np.full(len(y), mean * (1 - mean))]
    if name == "poisson":
        return [np.log(mean)], [y - mean], [np.full(len(y), mean)]
    return [mean], [y - mean], [np.ones(len(y))]


def loss_of(name, raw, y):
    if name == "classes":
        return special.logsumexp(raw, axis=0) - raw[y, np.arange(len(y))]
    if name == "log loss":
        return np.logaddexp(0, raw[0]) - y * raw[0]
    if name == "poisson":
        return np.exp(raw[0]) - y * raw[0]
    return 0.5 * (y - raw[0]) ** 2


@pytest.mark.parametrize("name", ["log loss", "classes", "squared", "poisson"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(200, 5), (40, 90), (30, 1)])
def test_one_step_is_that_of_numpy(name, weighted, shape):
    X, y, weights = drawn(20, name, shape[0], max(shape[1], 2), weighted)
    task = prepared(name, X[:, : shape[1]], y, weights)
    found = one_step(task)
    slopes, start = stretched(name, scores(task), y, weights)
    if name == "classes":
        start = start - start.mean() + found.start.mean()
    assert_close(found, slopes, start, 1e-4 * max(1, np.abs(slopes).max()))


@pytest.mark.parametrize("name", MODELS)
def test_one_step_stays_finite_on_rows_that_lines_tell_apart(name):
    X, y, _ = drawn(21, name, 20, 200)
    task = prepared(name, X, y)
    found = one_step(task)
    start = one_step(task, np.zeros(0, dtype=int))
    assert np.isfinite(found.slopes).all()
    assert found.train_loss < start.train_loss
    assert start.slopes.shape[1] == 0


def test_one_step_of_equal_columns_shares_their_slope():
    X, y, _ = drawn(22, "log loss", 60, 4)
    task = prepared("log loss", np.column_stack([X, X[:, 0]]), y)
    found = one_step(task)
    assert found.slopes[0, 4] == pytest.approx(found.slopes[0, 0], rel=1e-9)
    assert abs(found.slopes[0, 0]) < abs(one_step(task, np.arange(4)).slopes[0, 0])


@given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(sorted(MODELS)), weighted=st.booleans())
@settings(max_examples=30)
def test_one_step_on_other_rows_threads_and_engines(seed, name, weighted):
    X, y, weights = drawn(seed, name, 40, 4, weighted)
    expected = one_step(prepared(name, X, y, weights), threads=1)
    order = np.random.default_rng(seed).permutation(len(y))
    task = prepared(name, X[order], y[order], None if weights is None else weights[order])
    assert_same_bytes(one_step(task, threads=3), expected)
    given = (engines.EngineRows(task.binned, task.train.y, task.train.weights), None)
    plain = NaiveEngine(*given, task.loss, task.outputs, task.params.to_core(), 1)
    slow = _core.fit_one_step(plain, list(range(4)), 1.0, [], 1)
    assert expected.slopes.tobytes() == np.asarray(slow.slopes).tobytes()
    assert expected.train_loss == slow.train_loss


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_one_step_with_classes_renamed(seed):
    X, y, weights = drawn(seed, "classes", 80, 4, bool(seed % 2))
    new_name = np.random.default_rng(seed).permutation(4)
    one, other = (one_step(prepared("classes", X, labels, weights)) for labels in (y, new_name[y]))
    assert one.slopes.tobytes() == other.slopes[new_name].tobytes()
    assert one.start.tobytes() == other.start[new_name].tobytes()


@pytest.mark.parametrize("name", MODELS)
def test_one_step_knows_no_unit_of_weights(name):
    X, y, weights = drawn(23, name, 80, 6, True)
    one, other = (one_step(prepared(name, X, y, weights * unit)) for unit in (1.0, 1e-6))
    np.testing.assert_allclose(one.slopes, other.slopes, atol=1e-3 if name == "huber" else 1e-6)


def test_one_step_follows_the_unit_of_y():
    X, y, _ = drawn(24, "squared", 80, 6)
    one, other = (one_step(prepared("squared", X, y * unit)) for unit in (1.0, 1e6))
    np.testing.assert_allclose(one.slopes, other.slopes / 1e6, rtol=1e-5)
