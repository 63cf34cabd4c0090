"""Folds and splits that keep groups together, or rows in the order of time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedGroupKFold, TimeSeriesSplit

from frugalboost.selection.folds import dealt, forward_splits, grouped_splits, stratified_folds, with_two_classes
from frugalboost.tables.sample import Sample
from frugalboost.tables.targets import by_appearance


def made(n, n_groups, n_classes, seed):
    rng = np.random.default_rng(seed)
    groups = by_appearance(rng.integers(n_groups, size=n) ** 2 // n_groups)  # of very different sizes
    return rng.integers(n_classes, size=n).astype(float), groups


def imbalance(fold, y, folds):
    """How far shares of classes in folds are from equal, in rows."""
    values = np.unique(y)
    counts = np.array([[((fold == i) & (y == v)).sum() for v in values] for i in range(folds)])
    return np.abs(counts - counts.mean(axis=0)).max()


@given(st.integers(2, 80), st.integers(2, 30), st.sampled_from([2, 3]), st.booleans(), st.integers(0, 1000))
def test_rows_of_a_group_share_a_fold_and_no_fold_is_empty(n, n_groups, n_classes, classes, seed):
    y, groups = made(n, n_groups, n_classes, seed)
    number = len(np.unique(groups))
    folds = min(5, number)
    fold = dealt(groups, y, classes, folds)
    assert sorted(np.unique(fold)) == list(range(folds))
    assert all(len(np.unique(fold[groups == g])) == 1 for g in range(number))


@pytest.mark.parametrize("seed", range(8))
def test_classes_are_shared_out_as_well_as_by_scikit_learn(seed):
    y, groups = made(400, 60, 3, seed)
    ours = imbalance(dealt(groups, y, True, 5), y, 5)
    theirs = np.empty(len(y), dtype=int)
    for i, (_, held) in enumerate(StratifiedGroupKFold(5).split(y, y, groups)):
        theirs[held] = i
    assert ours <= imbalance(theirs, y, 5) + 1


def test_equal_pairs_are_shared_out_exactly():
    y = np.repeat(np.tile([0.0, 1.0, 1.0, 1.0], 25), 2)
    fold = dealt(np.repeat(np.arange(100), 2), y, True, 5)
    assert imbalance(fold, y, 5) == 0
    numbers = np.repeat(np.random.default_rng(0).permutation(100).astype(float), 2)
    fold = dealt(np.repeat(np.arange(100), 2), numbers, False, 5)
    means = [numbers[fold == i].mean() for i in range(5)]
    assert max(means) - min(means) == pytest.approx(4.0)  # of values 0 to 99 in order, dealt in turn


def test_names_of_groups_and_classes_do_not_matter():
    y, groups = made(200, 40, 3, 0)
    others = np.random.default_rng(1).permutation(100)[groups]
    for one, other in zip(
        grouped_splits(y, groups, True, 7, 3), grouped_splits(5 - y, others, True, 7, 3), strict=True
    ):
        np.testing.assert_array_equal(one[1], other[1])


def test_the_first_splits_do_not_depend_on_how_many_there_are():
    y, groups = made(200, 40, 3, 0)
    many = grouped_splits(y, groups, True, 9, 0)
    assert len(many) == 9
    for one, other in zip(grouped_splits(y, groups, True, 3, 0), many, strict=False):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])
    assert not np.array_equal(many[0][1], many[5][1])  # of another round
    assert not np.array_equal(many[0][1], grouped_splits(y, groups, True, 9, 1)[0][1])


def test_few_groups_give_few_splits():
    y, groups = np.tile([0.0, 1.0], 15), np.arange(30) % 3
    splits = grouped_splits(y, groups, True, 5, 0)
    assert all(len(np.unique(groups[held])) == 1 for _, held in splits)
    assert sorted(int(groups[held][0]) for _, held in splits) == [0, 1, 2]
    with pytest.raises(ValueError, match="groups has one value only"):
        grouped_splits(y, np.zeros(30, dtype=int), True, 5, 0)


@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("most", [None, 40])
def test_folds_inside_a_fit_keep_groups_together(classes, most):
    y, groups = made(90, 25, 2, 0)
    y = y if classes else y + np.random.default_rng(0).normal(size=90)
    folds = stratified_folds(Sample(None, y, groups=groups), 1, 5, 0, most)
    assert len(folds) == 5
    for train, held in folds:
        assert not set(groups[train]) & set(groups[held])
        assert len(train)
    held = np.concatenate([held for _, held in folds])
    assert len(held) == len(np.unique(held)) == (most or 90)


def test_folds_where_nothing_can_be_kept_together_are_plain():
    y = np.arange(20.0)
    plain = stratified_folds(Sample(None, y), 1, 5, 0)
    for tied in (Sample(None, y, groups=np.zeros(20)), Sample(None, y, times=np.zeros(20))):
        for one, other in zip(stratified_folds(tied, 1, 5, 0), plain, strict=True):
            np.testing.assert_array_equal(one[1], other[1])


# -------------------------------------------------------------------------------------------------------- time


def test_splits_by_time_are_those_of_scikit_learn_where_all_times_differ():
    times = np.random.default_rng(0).permutation(60)
    order = np.argsort(times)
    for (train, held), (before, after) in zip(
        forward_splits(times, None, 5), TimeSeriesSplit(5).split(times), strict=True
    ):
        np.testing.assert_array_equal(train, np.sort(order[before]))
        np.testing.assert_array_equal(held, np.sort(order[after]))


@given(st.integers(3, 60), st.integers(2, 20), st.integers(2, 6), st.integers(0, 1000))
def test_training_rows_are_earlier_and_share_no_group(n, n_times, n_splits, seed):
    rng = np.random.default_rng(seed)
    times, groups = rng.integers(n_times, size=n), by_appearance(rng.integers(3 * n, size=n))
    for train, held in forward_splits(times, groups, n_splits):
        assert len(train)
        assert times[train].max() < times[held].min()
        assert not set(groups[train]) & set(groups[held])
    assert len(forward_splits(times, groups, n_splits)) <= n_splits


def test_folds_inside_a_fit_are_stretches_of_time():
    times, groups = np.random.default_rng(0).permutation(50), np.arange(50) // 2
    folds = stratified_folds(Sample(None, np.arange(50.0), groups=groups, times=times), 1, 5, 0)
    assert len(folds) == 5
    for train, held in folds:
        assert np.ptp(times[held]) == len(held) - 1
        assert not set(groups[train]) & set(groups[held])


def test_splits_with_one_class_are_left_out():
    y = np.array(["a", "a", "b", "a", "b", "b"])
    splits = [
        (np.array([0, 1]), np.array([2])),
        (np.array([0, 2]), np.array([3, 4])),
        (np.array([0, 2]), np.array([3])),
    ]
    assert len(with_two_classes(splits, y, held_out=False)) == 2
    assert len(with_two_classes(splits, y, held_out=True)) == 1
