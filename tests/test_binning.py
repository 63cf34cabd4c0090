"""Thresholds and bins against a naive twin."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from frugalboost.binning import Thresholds
from frugalboost.tables import Plain


@given(st.integers(0, 2**32 - 1), st.integers(2, 255), st.booleans())
def test_thresholds_agree_with_the_reference(seed, max_bins, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 2000))
    column = [rng.normal(size=n), rng.integers(0, 300, n) / 7.0, np.exp(5 * rng.normal(size=n)), rng.zipf(1.5, n) * 1.0]
    column = column[int(rng.integers(4))]
    column[rng.random(n) < 0.3] = 0.0
    column[rng.random(n) < 0.05] = np.nan
    weights = rng.integers(1, 5, n).astype(float) if weighted else None
    found = Thresholds.find(Plain(column[:, None]), weights, max_bins, 1)
    units, _ = reference.weight_units(weights, n)
    np.testing.assert_array_equal(found.cuts, reference.cut_points(column, units, max_bins))
    assert len(found.cuts) < max_bins


@pytest.mark.parametrize("order", ["C", "F"])
def test_bins_are_where_the_thresholds_say(order):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.normal(size=(1000, 11)), order=order)
    X[rng.random(X.shape) < 0.1] = np.nan
    found = Thresholds.find(Plain(X), None, 20, 2)
    stored = np.asarray(found.bin(Plain(X), 2).bytes).reshape(2, 1000, 8)
    for c in range(11):
        cuts = found.cuts[found.offsets[c] : found.offsets[c + 1]]
        naive = [len(cuts) + 1 if np.isnan(v) else sum(v > cut for cut in cuts) for v in X[:, c]]
        np.testing.assert_array_equal(stored[c // 8, :, c % 8], naive)


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
    found = Thresholds.find(Plain(X), None, 255, 2)
    for c in range(X.shape[1]):
        expected = reference.cut_points(X[:, c], [1] * n, 255)
        np.testing.assert_array_equal(found.cuts[found.offsets[c] : found.offsets[c + 1]], expected)


def test_few_values_get_a_bin_each_and_many_get_even_bins():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 200, 5000), np.zeros(5000), rng.normal(size=5000)]).astype(float)
    found = Thresholds.find(Plain(X), None, 255, 1)
    counts = np.diff(found.offsets)
    assert list(counts) == [199, 0, 254]
    np.testing.assert_array_equal(found.cuts[:199], np.arange(199) + 0.5)
    inside = np.histogram(X[:, 2], bins=np.concatenate([[-np.inf], found.cuts[199:], [np.inf]]))[0]
    assert inside.min() >= 15
    assert inside.max() <= 25


def test_heavy_values_stand_alone():
    values = np.concatenate([np.zeros(900), np.arange(1, 101)])
    found = Thresholds.find(Plain(values[:, None]), None, 11, 1)
    assert found.cuts[0] == 0.5
    np.testing.assert_array_equal(np.diff(found.cuts), 10)
