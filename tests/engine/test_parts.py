"""A table in parts, each in a thread of its own, which add up together: the same bytes of model as in one piece."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_trees import assert_same_bytes
from scipy import sparse

from frugalboost import GBFSClassifier, GBFSRegressor, _core
from frugalboost.costs import Bags, PerRow, Prices
from frugalboost.losses import Huber, Quantile
from frugalboost.selection.ridge import fit_one_step, fit_ridges
from frugalboost.tables.kinds import FrameTable
from frugalboost.tables.parts import with_common_vocabulary
from frugalboost.tables.targets import positive_weight
from frugalboost.training.boosting import boost
from frugalboost.training.fit import prepare
from frugalboost.training.set_aside import set_aside

PARTS = (1, 2, 3, 7)


def task_of(model, X, y, weights=None):
    """What an estimator would fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model._task(*model._checked(X, y, weights))


def fitted(task, threads=1):
    return boost(prepare(task, threads), None, None, threads)


def own_levels(table):
    """A part as it would come: with the levels that its rows have, and no others."""
    if not isinstance(table, FrameTable) or not table.vocabulary:
        return table
    seen = {c: {int(v) for v in np.unique(table.codes(c)) if v >= 0} for c in table.vocabulary}
    return table.in_terms_of(
        {c: tuple(v for i, v in enumerate(vs) if i in seen[c]) for c, vs in table.vocabulary.items()}
    )


def fit_part(task, rows, validation_rows, part):
    try:
        train = task.train.take(rows)
        train = replace(train, X=with_common_vocabulary(own_levels(train.table), part))
        validation = None
        if task.validation is not None:
            validation = task.validation.take(validation_rows)
            validation = replace(validation, X=validation.table.in_terms_of(train.table.vocabulary))
        return fitted(replace(task, train=train, validation=validation, part=part))
    except BaseException:
        part.leave()
        raise


def in_parts(task, deal):
    """Models of all parts; ``deal``: which part each row is in."""
    handles = _core.thread_parts(int(deal.max()) + 1)
    order = [np.flatnonzero(deal == p) for p in range(len(handles))]
    others = [np.zeros(0, dtype=int)] * len(handles)
    if task.validation is not None:
        others = [np.arange(p, len(task.validation), len(handles)) for p in range(len(handles))]
    with ThreadPoolExecutor(len(handles)) as pool:
        return list(pool.map(lambda p: fit_part(task, order[p], others[p], handles[p]), range(len(handles))))


def assert_same_model(found, expected):
    for record in ("ensemble", "purchases", "curve"):
        assert_same_bytes(getattr(found, record), getattr(expected, record))
    for name in ("impurity", "mu_max", "best_iteration", "ending"):
        assert getattr(found, name) == getattr(expected, name), name


def made(rng, n=300, d=6):
    """Numbers, two values, nearly constant columns (listed), missing values."""
    X = rng.normal(size=(n, d)).round(1)
    X[:, 1] = rng.integers(0, 2, n)
    X[:, 2] = (rng.random(n) < 0.03) * rng.integers(1, 4, n)
    X[rng.random((n, d)) < 0.05] = np.nan
    return X, np.nan_to_num(X[:, 0]) + 2 * np.nan_to_num(X[:, 2]) + np.nan_to_num(X[:, 3]) ** 2 + rng.normal(size=n)


def deals(rng, y, parts):
    """Rows dealt out to parts: evenly, sorted by y, mostly to one, with empty parts."""
    n = len(y)
    rank = np.argsort(np.argsort(y, kind="stable"))
    lopsided = np.where(rng.random(n) < 0.9, parts - 1, rng.integers(0, parts, n))
    return {
        "even": np.arange(n) * parts // n,
        "by y": rank * parts // n,
        "lopsided": lopsided,
        "all in the last": np.full(n, parts - 1),
    }


def several(y):
    """Targets on different scales, and a constant one."""
    return np.column_stack([y, 1e3 * np.roll(y, 1) + y, np.full(len(y), 0.1), np.abs(y)])


LOSSES = {
    "log loss": lambda y: (GBFSClassifier(), (y > np.median(y)).astype(int)),
    "classes": lambda y: (GBFSClassifier(), np.digitize(y, np.quantile(y, [0.3, 0.6, 0.8]))),
    "a tree for each class": lambda y: (
        GBFSClassifier(multi_strategy="one_output_per_tree"),
        np.digitize(y, np.quantile(y, [0.3, 0.6, 0.8])),
    ),
    "squared": lambda y: (GBFSRegressor(), y),
    "absolute": lambda y: (GBFSRegressor(loss="absolute_error"), y.round(1)),
    "quantile": lambda y: (GBFSRegressor(loss=Quantile(0.8)), y.round(1)),
    "huber": lambda y: (GBFSRegressor(loss="huber"), y),
    "huber, given": lambda y: (GBFSRegressor(loss=Huber(0.5)), y),
    "poisson": lambda y: (GBFSRegressor(loss="poisson"), np.abs(y.round())),
    "gamma": lambda y: (GBFSRegressor(loss="gamma"), np.exp(y.round(1))),
    "tweedie": lambda y: (GBFSRegressor(loss="tweedie"), np.maximum(y.round(1), 0.0)),
    "several targets": lambda y: (GBFSRegressor(), several(y)),
    "one tree for several targets": lambda y: (GBFSRegressor(multi_strategy="multi_output_tree"), several(y)),
    "several medians": lambda y: (GBFSRegressor(loss="absolute_error"), several(y).round(1)),
    "several counts": lambda y: (GBFSRegressor(loss="poisson"), np.abs(several(y).round()) + 1),
}


def sorted_rows(task, deal):
    """Parts hold rows in order, so that the row numbers of the whole table are those of the parts one after another."""
    order = np.argsort(deal, kind="stable")
    return replace(task, train=task.train.take(order)), deal[order]


def check(task, y, rng, parts=PARTS, names=("even", "by y", "lopsided", "all in the last")):
    for count in parts:
        for name, deal in deals(rng, y, count).items():
            if name not in names:
                continue
            whole, dealt = sorted_rows(task, deal)
            expected = fitted(whole)
            for model in in_parts(whole, dealt):
                assert_same_model(model, expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("base", ["trees", "lines", "both"])
def test_losses(name, weighted, base):
    rng = np.random.default_rng(len(name))
    X, y = made(rng)
    model, target = LOSSES[name](y)
    weights = rng.random(len(y)) + 0.5 if weighted else None
    task = task_of(model.set_params(mu=1e-3, max_iter=6, max_depth=3, base=base), X, target, weights)
    check(task, y, rng, **({} if base == "trees" else {"names": ("by y", "lopsided")}))


SETTINGS = {
    "bags": {"costs": Bags([0, 0, 1, 1, 2, 2])},
    "prices": {"costs": Prices([1, 2, 0.5, 1, 3, 1]), "budget": 4},
    "per row": {"costs": PerRow([1, 2, 0.5, 1, 3, 0]), "mu": 0.01},
    "per row, some rows": {"costs": PerRow(1.0) + Prices(0.5), "subsample": 0.4, "max_iter": 12, "budget": 5},
    "per row, best first": {"costs": PerRow(1.0), "max_leaf_nodes": 6, "subsample": 0.7, "base": "both"},
    "early stopping": {"early_stopping": True, "max_iter": 40, "n_iter_no_change": 3, "validation_fraction": 0.3},
    "sampled features": {"new_features": 0.5, "max_iter": 20},
    "screened": {"screening": "exact"},
    "sampled rows": {"subsample": 0.4, "max_iter": 20},
    "sampled columns": {"max_features": 0.5, "subsample": 0.7, "max_iter": 20},
    "sampled rows, lines": {"subsample": 0.4, "base": "both", "max_iter": 10},
    "sampled rows, quantiles": {"subsample": 0.4, "max_iter": 10, "early_stopping": True, "screening": "exact"},
    "never stopping": {"stop": "never"},
    "from zero": {"init": "zero"},
    "mean gradients": {"leaf_values": "gradient", "l2_regularization": 1.0},
    "few bins": {"max_bins": 4},
    "lines by values": {"base": "both", "line_scale": "values", "max_bins": 10},
    "lines, early stopping": {"base": "lines", "early_stopping": True, "max_iter": 30, "n_iter_no_change": 3},
    "lines from zero": {"base": "lines", "init": "zero", "leaf_values": "gradient"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_settings(name):
    rng = np.random.default_rng(7)
    X, y = made(rng)
    options = {"mu": 1e-3, "max_iter": 6, "max_depth": 3, "random_state": 5} | SETTINGS[name]
    check(task_of(GBFSRegressor(**options), X, y), y, rng)
    labels = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    check(task_of(GBFSClassifier(**options), X, labels), y, rng, parts=(3,))


@pytest.mark.parametrize("base", ["trees", "lines", "both"])
def test_categories_and_missing_values_in_one_part_only(base):
    rng = np.random.default_rng(11)
    X, y = made(rng)
    where = np.arange(len(y)) < 40
    levels = np.where(where, rng.choice(["a", "b", "rare"], len(y)), rng.choice(["b", "c", "d"], len(y)))
    frame = pd.DataFrame(np.nan_to_num(X), columns=[f"x{i}" for i in range(X.shape[1])])
    frame.loc[where & (rng.random(len(y)) < 0.3), "x4"] = np.nan
    frame["kind"] = pd.Categorical(levels)
    y = y + 2 * (levels == "rare") - (levels == "d")
    task = task_of(GBFSRegressor(mu=1e-4, max_iter=8, max_depth=3, min_samples_leaf=5, base=base), frame, y)
    check(task, y, rng, names=("even", "lopsided"))
    models = in_parts(task, np.arange(len(y)) * 3 // len(y))
    assert models[0].levels[6].values == ("a", "b", "c", "d", "rare")


# Rows are dealt by weight, so that the light rows are a part of their own. The grid of all weights then isn't the grid
# of the part: weights that are zero on the one are large on the other.
BY_WEIGHT = ("by y", "lopsided")


@pytest.mark.parametrize("early_stopping", [False, True])
def test_weights_that_vanish_beside_those_of_other_parts(early_stopping):
    rng = np.random.default_rng(23)
    X, y = made(rng)
    weights = 10.0 ** rng.integers(-16, 3, len(y))
    model = GBFSRegressor(
        mu=1e-4, max_iter=8, max_depth=3, min_samples_leaf=3, random_state=5, early_stopping=early_stopping
    )
    task = task_of(model, X, y, weights)
    used = prepare(task, 1)
    assert len(used.train) + (0 if used.validation is None else len(used.validation)) < 0.8 * len(y)
    lightest = np.argsort(weights)[: len(y) // 3]
    assert (positive_weight(weights[lightest]) & ~positive_weight(weights)[lightest]).any()
    check(task, weights, rng, parts=(2, 3, 7), names=BY_WEIGHT)


@pytest.mark.parametrize("form", ["numbers", "sparse", "categories"])
def test_weights_of_many_values(form):
    """More values than bins: the bins depend on how the weights of all parts compare."""
    rng = np.random.default_rng(29)
    n = 1200
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + np.abs(X[:, 1]) + 0.1 * rng.normal(size=n)
    weights = 10.0 ** rng.uniform(-6, 3, n)
    bins = {"numbers": 255, "sparse": 30, "categories": 12}[form]
    table = X
    if form == "sparse":
        table = sparse.csr_array(np.where(rng.random(X.shape) < 0.3, X, 0.0))
    if form == "categories":
        levels = rng.integers(0, 60, n)
        y = y + rng.normal(size=60)[levels]
        table = pd.DataFrame({"x": X[:, 0], "kind": pd.Categorical([f"level {k:02d}" for k in levels])})
    model = GBFSRegressor(mu=1e-4, max_iter=5, max_depth=4, min_samples_leaf=3, max_bins=bins)
    check(task_of(model, table, y, weights), weights, rng, parts=(2, 7), names=BY_WEIGHT)


def test_equal_remainders_are_rounded_alike_in_all_parts():
    """Classes of one size share what rounding leaves over; each part must give it to the same class."""
    y = np.repeat([0.0, 1.0, 2.0, 3.0], 25)
    handed = set()
    for seed in range(20):
        for deal in (np.arange(100) * 3 // 100, np.repeat([0, 1, 2], [5, 80, 15])):
            expected = set_aside(y, 4, 0.13, seed)
            handles = _core.thread_parts(3)
            with ThreadPoolExecutor(3) as pool:
                held = pool.map(lambda p: set_aside(y[deal == p], 4, 0.13, seed, handles[p]), range(3))  # noqa: B023
            assert np.concatenate(list(held)).tolist() == expected.tolist()
            handed.add(tuple(np.bincount(y[expected].astype(int), minlength=4)))
    assert len(handed) > 1  # not always to the same class


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("base", ["trees", "lines", "both"])
def test_sparse_tables(weighted, base):
    rng = np.random.default_rng(13)
    X = sparse.random_array((400, 30), density=0.05, rng=rng, format="csr")
    X.data = np.ceil(3 * X.data)
    y = np.asarray(X[:, [0]].todense()).ravel() - np.asarray(X[:, [1]].todense()).ravel() + 0.1 * rng.normal(size=400)
    for screening in ("off", "exact"):
        model = GBFSRegressor(mu=1e-4, max_iter=8, min_samples_leaf=3, screening=screening, base=base)
        task = task_of(model, X, y, rng.random(400) + 0.5 if weighted else None)
        check(task, y, rng, parts=(2, 3))


def test_rows_given_for_validation():
    rng = np.random.default_rng(17)
    X, y = made(rng)
    model = GBFSRegressor(mu=1e-3, max_iter=30, early_stopping=True, n_iter_no_change=3)
    task = model._task(*model._checked(X[:200], y[:200], None, X[200:], y[200:], None))
    check(task, y[:200], rng, parts=(2, 7))


@given(seed=st.integers(0, 2**32 - 1), parts=st.sampled_from(PARTS))
@settings(max_examples=settings.default.max_examples // 6)
def test_random_tables(seed, parts):
    rng = np.random.default_rng(seed)
    X, y = made(rng, n=int(rng.integers(20, 120)))
    model, target = LOSSES[rng.choice(list(LOSSES))](y)
    weights = 10.0 ** rng.integers(-6, 2, len(y)) if rng.random() < 0.4 else None
    model.set_params(
        mu=float(rng.choice([0.0, 1e-3, 0.1])), max_iter=4, min_samples_leaf=2, init=str(rng.choice(["prior", "zero"]))
    )
    model.set_params(subsample=float(rng.choice([1.0, 0.5])), random_state=int(seed % 97))
    model.set_params(base=str(rng.choice(["trees", "lines", "both"])), line_scale=str(rng.choice(["ranks", "values"])))
    try:
        task = task_of(model, X, target, weights)
        expected = fitted(task)
    except ValueError:
        return
    whole, dealt = sorted_rows(task, rng.integers(0, parts, len(y)))
    expected = fitted(whole)
    for found in in_parts(whole, dealt):
        assert_same_model(found, expected)


def all_ridges(task):
    columns = np.arange(task.binned.shape[1])
    return [*fit_ridges(task, columns, np.array([1.0, 0.1, 1e-3]), 1), fit_one_step(task, columns, 1)]


def ridges_of_part(task, rows, part):
    try:
        own = prepare(replace(task, train=task.train.take(rows), part=part), 1)
        return all_ridges(own)
    except BaseException:
        part.leave()
        raise


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["log loss", "classes", "squared", "huber", "poisson", "several targets", "several counts"]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_ridges(name, weighted):
    rng = np.random.default_rng(len(name))
    X, y = made(rng)
    X[40:, 4] = np.nan_to_num(X[40:, 4])  # missing values in one part only
    model, target = LOSSES[name](y)
    weights = 10.0 ** rng.uniform(-3, 3, len(y)) if weighted else None
    task = task_of(model.set_params(base="lines"), X, target, weights)
    alone = _core.thread_parts(1)[0]
    for parts in PARTS:
        for deal in deals(rng, y, parts).values():
            whole, dealt = sorted_rows(task, deal)
            expected = ridges_of_part(whole, np.arange(len(y)), alone)
            handles = _core.thread_parts(int(dealt.max()) + 1)
            rows = [np.flatnonzero(dealt == p) for p in range(len(handles))]
            with ThreadPoolExecutor(len(handles)) as pool:
                found = list(pool.map(partial(ridges_of_part, whole), rows, handles))
            for own in found:
                for ours, theirs in zip(own, expected, strict=True):
                    assert_same_bytes(ours, theirs)


def test_ridges_of_equal_rows_in_parts():
    """Alone they are kept once, in parts they are not."""
    rng = np.random.default_rng(5)
    X, y = made(rng)
    X, y = np.repeat(X, 50, axis=0), np.repeat(y, 50)
    task = task_of(GBFSClassifier(base="lines"), X, (y > np.median(y)).astype(int))
    own = prepare(task, 1)
    expected = all_ridges(own)
    handles = _core.thread_parts(2)
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(partial(ridges_of_part, task), [np.arange(7000), np.arange(7000, len(y))], handles)
        for ours, theirs in zip(next(iter(found)), expected, strict=True):
            assert_same_bytes(ours, theirs)


def test_an_error_in_one_part_ends_all():
    rng = np.random.default_rng(19)
    X, y = made(rng)
    task = task_of(GBFSRegressor(mu=1e-3, max_iter=5), X, y)
    first, second = _core.thread_parts(2)
    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(fit_part, task, np.arange(100), None, first)

        def broken():
            second.leave()

        pool.submit(broken)
        with pytest.raises(RuntimeError, match="Another part of the table has stopped"):
            waiting.result(timeout=60)


def test_parts_that_come_apart_say_so():
    first, second = _core.thread_parts(2)
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(first.sum, np.zeros(3, dtype=np.int64))
        two = pool.submit(second.gather, b"something else")
        errors = [f.exception(timeout=60) for f in (one, two)]
    assert any("come apart" in str(e) for e in errors)
    assert all(isinstance(e, RuntimeError) for e in errors)


def test_sums_are_exact_whatever_their_size():
    handles = _core.thread_parts(3)
    values = [np.array([2**62, -5, i], dtype=np.int64) for i in range(3)]
    values[1][0] = -(2**62)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda p: handles[p].sum(values[p]), range(3)))
    for v in values:
        assert v.tolist() == [2**62, -15, 3]
