"""Every step of an engine by itself, against the plain one: losses, gradients, sums, histograms, parting, leaves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_engine import NaiveEngine
from scipy import sparse

from frugalboost import _core, engines
from frugalboost.losses import AbsoluteError, Gamma, Huber, LogLoss, Poisson, Quantile, SquaredError, Tweedie

LOSSES = {
    "log loss": (LogLoss(), 1),
    "three classes": (LogLoss(), 3),
    "squared": (SquaredError(), 1),
    "absolute": (AbsoluteError(), 1),
    "quantile": (Quantile(0.8), 1),
    "huber": (Huber(), 1),
    "poisson": (Poisson(), 1),
    "gamma": (Gamma(), 1),
    "tweedie": (Tweedie(1.7), 1),
}


def target(rng, n, loss, outputs):
    if isinstance(loss, LogLoss):
        y = rng.integers(0, max(outputs, 2), n).astype(float)
        y[: max(outputs, 2)] = np.arange(max(outputs, 2))
        return y
    return rng.poisson(2.0, n) + 1.0 if isinstance(loss, Poisson | Gamma | Tweedie) else np.round(rng.normal(size=n), 1)


def dense_bins(rng, n, d, threads):
    """Columns of many kinds: numbers with and without missing values, two values, constant, categories."""
    cuts = [np.arange(rng.integers(0, 12)) + 0.5 for _ in range(d)]
    offsets = np.cumsum([0, *map(len, cuts)])
    flags = (rng.random(d) < 0.3).astype(np.uint8)
    X = np.column_stack([rng.integers(0, len(c) + 1, n) for c in cuts]).astype(float)
    rare = rng.random(d) < 0.3  # nearly all rows alike: such columns are listed
    X[:, rare & (flags == 0)] *= rng.random((n, int((rare & (flags == 0)).sum()))) < 0.03
    X[rng.random((n, d)) < 0.1 * (rng.random(d) < 0.5)] = np.nan
    binned = _core.BinnedMatrix(n, np.concatenate([np.zeros(0), *cuts]), offsets, flags, None)
    binned.fill(_core.Table(X), np.arange(n), threads)
    binned.list_sparse(threads)
    return binned


def sparse_bins(rng, n, d, threads):
    X = sparse.random_array((n, d), density=0.05, rng=rng, format="csc")
    X.data = np.ceil(4 * X.data)
    cuts = np.tile([0.5, 1.5, 2.5, 3.5], d)
    table = _core.SparseTable(n, d, X.data, X.indices, X.indptr)
    return _core.BinnedMatrix(table, cuts, 4 * np.arange(d + 1), np.zeros(d, dtype=np.uint8), threads)


def both(rng, name, weighted, bins, n, d, extreme=False):
    loss, outputs = LOSSES[name]
    params = _core.Params()
    params.min_samples_leaf = float(rng.choice([1, 2, 5]))
    params.subsample = float(rng.choice([1.0, 0.5]))
    weights = rng.random(n) + 0.1 if weighted else None
    rows = engines.EngineRows(bins(rng, n, d, 2), target(rng, n, loss, outputs), weights)
    scale = _core.LineScale.values if rng.random() < 0.5 else _core.LineScale.ranks
    rows.X.score_bins(weights, scale, 2)
    if extreme:
        rows.X.scores = rng.choice(np.array([-32767, 32767], dtype=np.int16), len(rows.X.scores))
    given = (rows, None, loss, outputs, params, 2)
    fast, plain = engines.make_engine(*given), NaiveEngine(*given)
    keeps_looks(fast)
    return fast, plain


def keeps_looks(engine):
    """Whether an engine knows which rows have looked at columns: a GPU does not."""
    try:
        engine.keep_looks()
    except RuntimeError as error:
        if "A GPU can't" not in str(error):
            raise
        return False
    return True


def same(fast, plain):
    """Bounds may be loose, so the last number of a split, its reach, only has to be one."""
    assert len(fast) == len(plain)
    for ours, theirs in zip(fast, plain):
        assert ours[0] == theirs[0] or (ours[0] <= 0 and theirs[0] <= 0)
        if ours[0] > 0:
            assert ours[1:3] == theirs[1:3]
            assert ours[3] == 0 or ours[3] >= np.float32(ours[0])


def random_rules(rng, engine, sums):
    """Some nodes, each split by a random set of bins; the others are leaves."""
    rules, leaves = [], []
    for node in range(len(sums)):
        column = int(rng.integers(0, len(engine.table()["columns"])))
        bins = engine.table()["columns"][column][0]
        if rng.random() < 0.8 and sums[node][0] > 1:
            rules.append((node, column, (rng.random(bins + 1) < 0.5).tolist()))
        else:
            leaves.append(node)
    return rules, leaves


def compare_looks(rng, fast, plain, nodes, columns):
    """Rows of some nodes look at some columns, again and again."""
    for _ in range(3):
        asked = rng.permutation(columns)[: rng.integers(0, len(columns) + 1)].tolist()
        assert fast.unseen(nodes, asked) == plain.unseen(nodes, asked)
        if nodes:
            node, column = int(rng.choice(nodes)), int(rng.choice(columns))
            for engine in (fast, plain):
                engine.look(node, column)
    assert fast.looked(columns) == plain.looked(columns)


def walk(rng, fast, plain, depth):
    """Grow random trees on both, level by level, and compare all that is asked on the way."""
    number = int(rng.integers(0, 2**63))
    assert fast.probe(number) == plain.probe(number)
    one_for_all = rng.random() < 0.5
    signs = rng.integers(-1, 2, plain.outputs()).tolist() if one_for_all else []
    share = float(rng.choice([1.0, 0.5, 0.1])) if plain.params.subsample < 1 else 1.0  # else equal rows may be merged
    drawn = (int(rng.integers(0, 2**63)), share)
    for engine in (fast, plain):
        engine.begin_trees(signs, *drawn)
    count = 1 if one_for_all else plain.outputs()
    assert [fast.tree_gradients(t) for t in range(count)] == [plain.tree_gradients(t) for t in range(count)]
    assert [fast.root(t)[1:3] for t in range(count)] == [plain.root(t)[1:3] for t in range(count)]
    columns = list(range(len(plain.table()["columns"])))
    dense = fast.columns("all")
    for level in range(depth):
        nodes = list(range(count))
        ours, theirs = (e.begin_level(nodes, True) for e in (fast, plain))
        assert [s[1:] for s in ours] == [s[1:] for s in theirs]  # the fast engine may keep equal rows once
        open_nodes = [n for n in nodes if theirs[n][1] > 0]
        some = sorted(rng.permutation(open_nodes)[: rng.integers(0, len(open_nodes) + 1)].tolist())
        found = fast.search("all", some, level + 1 < depth)
        for node, splits in zip(some, found):
            same(splits, [plain.best_split(node, c) for c in dense])
        owned = fast.columns("owned")
        for node, splits in zip(open_nodes, fast.search("owned", open_nodes, level + 1 < depth)):
            same(splits, [plain.best_split(node, c) for c in owned])
        for node in open_nodes:
            column = int(rng.choice(columns))
            same([fast.best_split(node, column)], [plain.best_split(node, column)])
            assert fast.cells(node, column) == plain.cells(node, column)
        if keeps_looks(fast):
            compare_looks(rng, fast, plain, nodes, columns)
        rules, leaves = random_rules(rng, plain, theirs)
        ours, theirs = (e.split(rules, leaves) for e in (fast, plain))
        if share < 1 and keeps_looks(fast):
            for engine in (fast, plain):
                engine.route(rules, leaves)
        assert [s[1] for s in ours] == [s[1] for s in theirs]
        count = len(theirs)
        if count == 0:
            break
    for engine in (fast, plain):
        engine.split([], list(range(count)))
    for k in range(plain.outputs()):
        assert fast.leaf_sums(k) == plain.leaf_sums(k)
        if plain.leaf_quantile() >= 0:
            assert fast.leaf_quantiles(k, 0.3) == plain.leaf_quantiles(k, 0.3)


@pytest.mark.parametrize("name", LOSSES)
@given(seed=st.integers(0, 2**32 - 1), weighted=st.booleans(), listed=st.booleans())
@settings(max_examples=settings.default.max_examples // 8)
def test_steps(name, seed, weighted, listed):
    rng = np.random.default_rng(seed)
    bins = sparse_bins if listed else dense_bins
    fast, plain = both(rng, name, weighted, bins, int(rng.integers(4, 120)), int(rng.integers(1, 20)))
    start = plain.best_constant()
    assert fast.best_constant() == start
    for _ in range(2):
        start = [s + float(rng.normal()) for s in start]
        for engine in (fast, plain):
            engine.predict(start)
        ours, theirs = fast.losses(), plain.losses()
        assert ours[0] == theirs[0]
        for engine in (fast, plain):
            engine.derive()
        for k in range(plain.outputs()):
            assert fast.gradients(k) == plain.gradients(k)
            assert fast.impurity(k) == plain.impurity(k)
        step = rng.normal(size=plain.outputs()).tolist()
        ours, theirs = (e.moved(step, step) for e in (fast, plain))
        assert ours[:2] == theirs[:2]
        for a, b in zip(ours[2], theirs[2]):
            assert a[:2] == b[:2]
            assert a[2] == pytest.approx(b[2], rel=1e-9, abs=1e-300)
        columns = rng.permutation(len(plain.table()["columns"]))[:3].tolist()
        new = [c for c in columns if c not in plain.columns("owned")]
        for engine in (fast, plain):
            engine.own(new)
        walk(rng, fast, plain, int(rng.integers(1, 5)))


@pytest.mark.parametrize("name", LOSSES)
@given(seed=st.integers(0, 2**32 - 1), weighted=st.booleans(), listed=st.booleans())
@settings(max_examples=settings.default.max_examples // 8)
def test_steps_of_lines(name, seed, weighted, listed):
    rng = np.random.default_rng(seed)
    bins = sparse_bins if listed else dense_bins
    fast, plain = both(rng, name, weighted, bins, int(rng.integers(4, 300)), int(rng.integers(1, 20)))
    d = len(plain.table()["columns"])
    assert fast.table()["scores"] == plain.table()["scores"]
    shrunk = 0.1 if name in ("gamma", "tweedie") else 1.0  # exp of far predictions leaves the range of numbers
    if seed % 5 == 0:  # the largest scores there are
        fast, plain = both(rng, name, weighted, bins, 200, d, extreme=True)
        assert max(map(abs, fast.table()["scores"])) == 32767
    columns = rng.permutation(d)[: rng.integers(0, d + 1)].tolist()
    columns += columns[:1]  # one twice
    assert fast.score_sums(columns) == plain.score_sums(columns)
    start = plain.best_constant()
    assert fast.best_constant() == start
    for _ in range(2):
        for engine in (fast, plain):
            engine.predict(start)
            for k in range(plain.outputs()):
                for c in columns[:3]:
                    engine.add_line(k, c, 0.1 * k, (0.25 + k - c) * shrunk)
        assert fast.losses()[0] == plain.losses()[0]
        for engine in (fast, plain):
            engine.derive()
        for k in range(plain.outputs()):
            assert fast.score_gradients(k, columns) == plain.score_gradients(k, columns)
            assert fast.curvatures(k, columns) == plain.curvatures(k, columns)
            for c in columns[:4]:
                assert list(fast.line_sums(k, c)) == list(plain.line_sums(k, c))
                found = [e.line_quantile(k, c, 0.3, 0.8) for e in (fast, plain)]
                assert found[0] == found[1]
        start = [s + float(rng.normal()) for s in start]


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=settings.default.max_examples // 8)
def test_bounds_of_listed_rows_and_moves(seed):
    """What proofs are made of: sums over listed rows, and at least how far gradients have moved."""
    rng = np.random.default_rng(seed)
    fast, plain = both(rng, "squared", bool(seed % 2), sparse_bins, 80, 6)
    before = None
    for _ in range(3):
        raw = [float(rng.normal())]
        for engine in (fast, plain):
            engine.predict(raw)
            engine.losses()
            engine.derive()
            engine.begin_trees([])
        q, shift = plain.q[0]
        g, w = np.ldexp(np.array(q, float), -shift), np.ldexp(np.array(plain.train.units, float), -plain.train.shift)
        move = fast.gradient_move(0)
        if before is None:
            assert move == np.inf
        else:
            change = g - before
            mean = np.average(change, weights=w)
            exact = np.sqrt(np.sum(w * (change - mean) ** 2))
            assert exact <= move <= 1.01 * exact + 1e-3 * np.sqrt(np.sum(w * change**2))
        before = g
        for c, column in enumerate(fast.table()["columns"]):
            if column[3]:
                off = np.array(plain.train.bins[c]) != 0
                found = fast.listed(0, [c])[0]
                np.testing.assert_allclose(found, [w[off].sum(), np.sum(w[off] * g[off] ** 2)], rtol=1e-12)
