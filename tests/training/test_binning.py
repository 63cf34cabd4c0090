"""Thresholds and bins against a naive twin."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from frugalboost import _core
from frugalboost.tables import DenseTable, SparseTable
from frugalboost.training.binning import Thresholds


@given(st.integers(0, 2**32 - 1), st.integers(2, 255), st.booleans())
def test_thresholds_agree_with_the_reference(seed, max_bins, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 2000))
    column = [rng.normal(size=n), rng.integers(0, 300, n) / 7.0, np.exp(5 * rng.normal(size=n)), rng.zipf(1.5, n) * 1.0]
    column = column[int(rng.integers(4))]
    column[rng.random(n) < 0.3] = 0.0
    column[rng.random(n) < 0.05] = np.nan
    weights = rng.integers(1, 5, n).astype(float) if weighted else None
    found = Thresholds.find(DenseTable(column[:, None]), weights, max_bins, 1)
    units, _ = reference.weight_units(weights, n)
    np.testing.assert_array_equal(found.cuts, reference.cut_points(column, units, max_bins))
    assert len(found.cuts) < max_bins


def column_to_sample(rng, n):
    """Few or many values, rare ones, mostly zero, or mostly missing."""
    kinds = [
        rng.normal(size=n),
        rng.normal(size=n).astype(np.float32),
        rng.integers(-3, 3, n),
        rng.integers(0, 40, n) / 7.0,
        np.where(rng.random(n) < 0.01, rng.integers(1, 30, n), 5),
        np.where(rng.random(n) < rng.choice([0.003, 0.05, 0.3]), rng.normal(size=n), 0.0),
        np.where(rng.random(n) < 0.1, rng.normal(size=n), np.nan),
        np.full(n, rng.choice([0.0, 1.5])),
    ]
    return kinds[int(rng.integers(len(kinds)))].astype(np.float64)


def in_parts(table_of, X, weights, ends, **options):
    """Thresholds as each of several parts finds them, rows cut at the given places."""
    handles = _core.thread_parts(len(ends) - 1)

    def find(p):
        rows = slice(ends[p], ends[p + 1])
        own = None if weights is None else weights[rows]
        return Thresholds.find(table_of(X[rows]), own, threads=1, part=handles[p], **options).cuts

    with ThreadPoolExecutor(len(handles)) as pool:
        return list(pool.map(find, range(len(handles))))


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([1, 3, 20, 100, 399, 1200]))
def test_thresholds_from_a_sample_agree_with_the_reference(seed, weighted, sampled_from):
    """Dense and sparse tables, in one piece, in batches in any order, whose number is known or not, and in parts."""
    rng = np.random.default_rng(seed)
    n, max_bins = int(rng.integers(1, 1500)), int(rng.choice([2, 5, 16, 60, 255]))
    X = np.column_stack([column_to_sample(rng, n) for _ in range(3)])
    weights = rng.integers(1, 5, n).astype(float) if weighted else None
    units, shift = reference.weight_units(weights, n)
    expected = np.concatenate([reference.cut_points(c, units, max_bins, sampled_from) for c in X.T])
    options = {"max_bins": max_bins, "sampled_from": sampled_from}
    tables = (DenseTable, lambda rows: SparseTable(sparse.csr_array(rows)))
    for table_of in (*tables, lambda rows: DenseTable(np.asfortranarray(rows))):
        np.testing.assert_array_equal(Thresholds.find(table_of(X), weights, threads=2, **options).cuts, expected)
    for rows in (0, n):
        step = int(rng.integers(1, n + 1))
        finder = _core.ThresholdFinder(3, 2**15, sampled_from, rows)
        for i in rng.permutation(range(0, n, step)):
            some = np.arange(i, min(n, i + step))
            finder.add(_core.Table(X[some]), some, None if weights is None else weights[some], shift, 1)
        np.testing.assert_array_equal(finder.thresholds(max_bins, 1)[0], expected)
    ends = [0, *sorted(rng.integers(0, n + 1, 2)), n]
    for table_of in tables:
        for found in in_parts(table_of, X, weights, ends, **options):
            np.testing.assert_array_equal(found, expected)


def test_a_sample_misses_no_value_of_a_column_of_few_values():
    """One row in a thousand rows has the third value; a sample of about thirty rows hardly ever has it."""
    X = np.zeros((1000, 2))
    X[500:, :] = 1.0
    X[777, 0] = 2.0
    found = Thresholds.find(DenseTable(X), None, 255, 1, sampled_from=50)
    np.testing.assert_array_equal(found.cuts, [0.5, 1.5, 0.5])


@pytest.mark.large
def test_large_tables_are_sampled_and_others_are_not():
    """Bins of a sample of 125,000 of a million rows hold about equal weight; a table of 200,000 rows is used whole."""
    values = np.random.default_rng(0).normal(size=1_000_000)
    whole, sampled = (
        Thresholds.find(DenseTable(values[:, None]), None, 255, 2, sampled_from=most).cuts for most in (10**6, 200_000)
    )
    assert len(sampled) == len(whole) == 254
    assert not np.array_equal(sampled, whole)
    inside = np.diff(np.searchsorted(np.sort(values), sampled, side="right"), prepend=0)
    assert inside.min() > 0.8 * 1_000_000 / 255
    assert inside.max() < 1.2 * 1_000_000 / 255
    few = DenseTable(values[:200_000, None])
    np.testing.assert_array_equal(
        Thresholds.find(few, None, 255, 2).cuts, Thresholds.find(few, None, 255, 2, sampled_from=10**6).cuts
    )


@pytest.mark.parametrize("order", ["C", "F"])
def test_bins_are_where_the_thresholds_say(order):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.normal(size=(1000, 11)), order=order)
    X[rng.random(X.shape) < 0.1] = np.nan
    found = Thresholds.find(DenseTable(X), None, 20, 2)
    stored = np.asarray(found.bin(DenseTable(X), 2).bytes).reshape(2, 1000, 8)
    for c in range(11):
        cuts = found.cuts[found.offsets[c] : found.offsets[c + 1]]
        naive = [len(cuts) + 1 if np.isnan(v) else sum(v > cut for cut in cuts) for v in X[:, c]]
        np.testing.assert_array_equal(stored[c // 8, :, c % 8], naive)


def close_to(cuts, rng, kind):
    """Values on the thresholds, one step beside them, far away and missing."""
    values = np.concatenate([cuts, rng.normal(size=40), [np.inf, -np.inf, 0.0, -0.0, 1e-42, -1e-42, np.nan]])
    if np.issubdtype(kind, np.floating):
        values = values.astype(kind)
        values = np.concatenate([values, np.nextafter(values, kind(np.inf)), np.nextafter(values, kind(-np.inf))])
    else:
        values = np.clip(np.nan_to_num(values), 0, 100).astype(kind)
    return rng.permutation(values)


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0, 1, 2, 7, 15, 16, 31, 32, 63, 64, 127, 128, 200, 254]),
    st.sampled_from([np.float32, np.float64, np.int64, np.uint8]),
    st.sampled_from([1.0, 1e-40, 1e-300, 1e38, 1e300]),
    st.booleans(),
)
def test_values_next_to_thresholds_are_binned_exactly(seed, count, kind, scale, crowded):
    """Vector instructions search in single precision; crowded thresholds are equal there."""
    rng = np.random.default_rng(seed)
    cuts = np.unique(rng.normal(size=count) * scale if not crowded else 1e9 + rng.integers(0, 400, count) / 8)
    values = close_to(cuts, rng, kind)
    X = np.tile(values[:, None], (1, 3))
    found = Thresholds(np.tile(cuts, 3), np.arange(4) * len(cuts))
    naive = np.where(np.isnan(X), len(cuts) + 1, np.searchsorted(cuts, X.astype(np.float64)))
    for order in "CF":
        binned = found.bin(DenseTable(np.asarray(X, order=order)), 1)
        for c in range(3):
            np.testing.assert_array_equal(binned.bins(c), naive[:, c])


def test_long_columns_are_sorted_by_their_digits():
    """Above 4096 rows another sort runs; negative, tiny, huge and equal numbers, and both zeros."""
    rng = np.random.default_rng(0)
    n = 10_000
    columns = [
        rng.normal(size=n),
        np.exp(100 * rng.normal(size=n)) * rng.choice([-1, 1], n),
        rng.integers(-3, 3, n) * 1.0,
    ]
    columns.append(np.where(rng.random(n) < 0.5, -0.0, 0.0))
    columns.append(rng.normal(size=n).astype(np.float32).astype(float))
    X = np.column_stack(columns)
    X[rng.random(X.shape) < 0.01] = np.nan
    found = Thresholds.find(DenseTable(X), None, 255, 2)
    for c in range(X.shape[1]):
        expected = reference.cut_points(X[:, c], [1] * n, 255)
        np.testing.assert_array_equal(found.cuts[found.offsets[c] : found.offsets[c + 1]], expected)


def test_few_values_get_a_bin_each_and_many_get_even_bins():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 200, 5000), np.zeros(5000), rng.normal(size=5000)]).astype(float)
    found = Thresholds.find(DenseTable(X), None, 255, 1)
    counts = np.diff(found.offsets)
    assert list(counts) == [199, 0, 254]
    np.testing.assert_array_equal(found.cuts[:199], np.arange(199) + 0.5)
    inside = np.histogram(X[:, 2], bins=np.concatenate([[-np.inf], found.cuts[199:], [np.inf]]))[0]
    assert inside.min() >= 15
    assert inside.max() <= 25


def test_heavy_values_stand_alone():
    values = np.concatenate([np.zeros(900), np.arange(1, 101)])
    found = Thresholds.find(DenseTable(values[:, None]), None, 11, 1)
    assert found.cuts[0] == 0.5
    np.testing.assert_array_equal(np.diff(found.cuts), 10)


def cells_of(column, units, most):
    """Values as cells (low, high, mass): the fewest low bits of the ordered integers are left out that are needed."""
    keys = [int.from_bytes(np.float64(v + 0.0).tobytes(), "little") for v in column]
    keys = [k ^ (2**64 - 1) if k >> 63 else k | 2**63 for k in keys]
    left_out = 0
    while len({k >> left_out for k in keys}) > most:
        left_out += 1
    cells = {}
    for k, v, u in zip(keys, column.tolist(), units):
        low, high, mass = cells.get(k >> left_out, (v, v, 0))
        cells[k >> left_out] = (min(low, v), max(high, v), mass + u)
    return [cells[k] for k in sorted(cells)]


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 5, 40, 300]), st.booleans())
def test_summaries_do_not_depend_on_batches(seed, most, weighted):
    """Few cells, so that columns of few values need them too; a naive twin, and parts of any size in any order."""
    rng = np.random.default_rng(seed)
    n, max_bins = int(rng.integers(2, 400)), int(rng.integers(2, max(3, min(most, 255))))
    kinds = [rng.normal(size=n), rng.integers(-9, 9, n) / 4, 1e9 + rng.random(n), np.exp(40 * rng.normal(size=n))]
    column = kinds[int(rng.integers(4))] * rng.choice([-1, 1])
    weights = rng.integers(1, 5, n).astype(float) if weighted else None
    found = Thresholds.find(DenseTable(column[:, None]), weights, max_bins, 1, most)
    units, shift = reference.weight_units(weights, n)
    cells = cells_of(column, units, most)
    ends = range(len(cells) - 1)
    if len(cells) > max_bins:
        ends = reference._equal_weight_bins([mass for _, _, mass in cells], max_bins)
    expected = []
    for i in ends:
        a, b = cells[i][1], cells[i + 1][0]
        middle = 0.5 * a + 0.5 * b
        expected.append(middle if a <= middle < b else a)
    np.testing.assert_array_equal(found.cuts, expected)
    for step in (1, 7, 150):
        finder = _core.ThresholdFinder(1, most, 1000, 0)
        for i in rng.permutation(range(0, n, step)):
            part = np.ascontiguousarray(column[i : i + step, None])
            finder.add(
                _core.Table(part),
                np.arange(i, i + len(part)),
                None if weights is None else weights[i : i + step],
                shift,
                2,
            )
        np.testing.assert_array_equal(finder.thresholds(max_bins, 2)[0], expected)


@pytest.mark.large
def test_many_distinct_values_are_summarised_closely():
    """A million values have more than 32,768 cells; bins still hold about equal weight."""
    rng = np.random.default_rng(0)
    for values in (rng.normal(size=200_000), 1.7e9 + 1e5 * rng.random(200_000), np.exp(5 * rng.normal(size=200_000))):
        found = Thresholds.find(DenseTable(values[:, None]), None, 255, 2)
        inside = np.diff(np.searchsorted(np.sort(values), found.cuts, side="right"), prepend=0)
        assert len(found.cuts) == 254
        assert inside.min() > 0.85 * 200_000 / 255
        assert inside.max() < 1.15 * 200_000 / 255
