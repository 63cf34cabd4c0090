"""Which rows are set aside: the right number, shares by class, and some rows of every class in both parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frugalboost import GBFSClassifier, GBFSRegressor
from frugalboost.training.set_aside import set_aside


def counts(sizes, fraction, seed=0):
    """How many rows of each class are set aside, where rows lie in random order."""
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(float(len(sizes))), sizes))
    return np.bincount(y[set_aside(y, len(sizes), fraction, seed)].astype(int), minlength=len(sizes))


@pytest.mark.parametrize(
    ("sizes", "fraction", "held"),
    [
        ((100, 2), 0.9, [91, 1]),
        ((100, 2), 0.1, [10, 1]),
        ((50, 50, 2), 0.9, None),
        ((30, 0, 10), 0.2, [6, 0, 2]),
        ((2, 2, 2), 0.5, [1, 1, 1]),
        ((97, 2, 2, 2), 0.05, [3, 1, 1, 1]),
        ((97, 2, 2, 2), 0.95, [95, 1, 1, 1]),
    ],
)
def test_shares_of_rare_classes(sizes, fraction, held):
    found = counts(sizes, fraction)
    if held is None:
        assert found[2] == 1
        assert sorted(found[:2]) == [45, 46]
    else:
        assert found.tolist() == held


@given(
    st.lists(st.one_of(st.just(0), st.integers(2, 4), st.integers(2, 60)), min_size=2, max_size=6),
    st.floats(0.01, 0.99),
    st.integers(0, 2**32 - 1),
)
def test_both_parts_have_every_class(sizes, fraction, seed):
    rows, present = sum(sizes), sum(s > 0 for s in sizes)
    held = int(np.ceil(fraction * rows))
    if not present <= held <= rows - present or not present:
        with pytest.raises(ValueError, match="can't be split"):
            counts(sizes, fraction, seed)
        return
    found, size = counts(sizes, fraction, seed), np.array(sizes)
    assert found.sum() == held
    assert (found >= np.minimum(size, 1)).all()
    assert (found <= np.maximum(size - 1, 0)).all()
    exact = size * held / rows
    if ((exact >= 1) & (exact <= size - 1))[size > 0].all():
        assert (abs(found - exact) < 1).all()


@given(st.permutations(range(4)), st.floats(0.1, 0.9))
def test_names_of_classes_decide_nothing(order, fraction):
    y = np.random.default_rng(0).permutation(np.repeat(np.arange(4), [20, 20, 2, 2]))
    renamed = np.array(order)[y]
    held = [set_aside(v.astype(float), 4, fraction, seed=3) for v in (y, renamed)]
    np.testing.assert_array_equal(*held)


def test_what_is_wrong_is_counted_in_english():
    X = np.arange(20.0)[:, None]
    with pytest.raises(
        ValueError, match=r"^early_stopping: 1 row can't be split with validation_fraction=0.1. No rows"
    ):
        GBFSRegressor(early_stopping=True).fit(X[:1], X[:1, 0])
    with pytest.raises(ValueError, match=r"5 rows can't be .* One part would have 1 row, fewer than the 2 classes.$"):
        GBFSClassifier(early_stopping=True).fit(X[:5], [0, 0, 0, 1, 1])
