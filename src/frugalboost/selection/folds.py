"""Folds and splits of rows: with the distribution of y, with groups kept together, or in the order of time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from frugalboost.tables.sample import Sample
from frugalboost.tables.targets import by_appearance, order_of

Places = NDArray[np.int64]
Parts = tuple[Places, Places]  # training and held-out rows

FOLDS = 5


def in_order(y: NDArray[np.float64], shuffled: Places, outputs: int) -> Places:
    """Return shuffled rows in order of y, or class after class where y has classes (or no more than two values).

    Several columns of y have no common order: rows stay shuffled.
    """
    y = order_of(y)
    return shuffled[np.argsort((by_appearance(y) if _has_classes(y, outputs) else y)[shuffled], kind="stable")]


def _has_classes(y: NDArray[np.float64], outputs: int) -> bool:
    return outputs > 1 or len(np.unique(y)) <= 2


def stratified_folds(rows: Sample, outputs: int, folds: int, seed: int, most: int | None = None) -> list[Parts]:
    """Return training and held-out rows of each fold, at most ``most`` rows in all.

    Rows in order of y go to the folds in turn, so that every fold has its share of every class and of every size of y.
    Rows of a group share a fold. Where rows have times, folds are stretches of time; a group that is in several of them
    is left out of the training rows where it is held out. There are fewer folds where there are fewer groups or times.
    """
    y = order_of(rows.y)
    order = in_order(y, np.random.default_rng(seed).permutation(len(y)), outputs)
    if most is not None and len(order) > most:
        order = order[np.linspace(0, len(order) - 1, most).astype(np.int64)]
    groups = None if rows.groups is None else by_appearance(np.asarray(rows.groups)[order])
    found: list[Parts] = []
    if rows.times is not None:
        found = _held_out_in_turn(order, stretches(rows.times[order], folds), groups)
    elif groups is not None:
        found = _held_out_in_turn(order, dealt(groups, y[order], _has_classes(y, outputs), folds))
    # With one group, or one time, nothing can be kept together.
    return [parts for parts in found if len(parts[0])] or _held_out_in_turn(order, np.arange(len(order)) % folds)


def _held_out_in_turn(order: Places, fold: Places, groups: Places | None = None) -> list[Parts]:
    """Each fold held out of all rows."""
    inside = [fold == i for i in range(int(fold.max(initial=-1)) + 1)]
    return [(np.sort(order[_apart(~held, held, groups)]), np.sort(order[held])) for held in inside]


def _apart(train: NDArray[np.bool_], held: NDArray[np.bool_], groups: Places | None) -> NDArray[np.bool_]:
    """Training rows that share no group with the held-out ones."""
    return train if groups is None else train & ~np.isin(groups, groups[held])


# ------------------------------------------------------------------------------------------------------ groups


def grouped_splits(y: NDArray[np.generic], groups: Places, classes: bool, n_splits: int, seed: int) -> list[Parts]:
    """Return random splits into 80 and 20 percent of the rows, in which rows of a group are in the same part.

    Splits are the folds of as many rounds as are needed, so the first ones do not depend on how many there are. With
    fewer groups than splits there are only as many splits.

    Examples
    --------
    >>> import numpy as np
    >>> from frugalboost.selection.folds import grouped_splits
    >>> y, groups = np.tile([0, 1], 10), np.repeat(np.arange(10), 2)
    >>> for train, held_out in grouped_splits(y, groups, True, 2, seed=0):
    ...     print(len(train), np.unique(groups[held_out]), np.bincount(y[held_out]))
    16 [2 8] [2 2]
    16 [5 9] [2 2]
    """
    y, n_groups = order_of(y), len(np.unique(groups))
    if n_groups < 2:
        raise ValueError("groups has one value only, so that all rows would share a fold. At least two are needed.")
    n_splits, folds = min(n_splits, n_groups), min(FOLDS, n_groups)
    found: list[Parts] = []
    for r in range(-(-n_splits // folds)):
        order = np.random.default_rng(seed + r).permutation(len(y))
        fold = np.empty(len(y), dtype=np.int64)
        fold[order] = dealt(by_appearance(groups[order]), y[order], classes, folds)
        found += [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(folds)]
    return found[:n_splits]


def dealt(groups: Places, y: NDArray[np.generic], classes: bool, folds: int) -> Places:
    """The fold of each row. Rows of a group share it, and folds have about the same rows, and rows of each class.

    Groups with the same rows of each class are dealt in turn, those of numbers in the order of their means. What is
    left goes, large groups first, to the fold that has the smallest share of its classes.

    Parameters
    ----------
    groups : ndarray
        A group for each row, from 0, in the order of their first rows, which decides between equal groups.
    y : ndarray
        Classes or numbers.
    classes : bool
        Which of both.
    folds : int
        How many.
    """
    codes = by_appearance(y) if classes else np.zeros(len(y), dtype=np.int64)
    sizes = np.bincount(groups)
    kinds = _same_rows(groups, codes)
    place = (
        np.arange(len(sizes))
        if classes
        else np.argsort(np.argsort(np.bincount(groups, weights=y) / sizes, kind="stable"))
    )
    order = np.lexsort((place, kinds))
    turn = np.arange(len(order)) - np.searchsorted(kinds[order], kinds[order])  # place among groups of its kind
    full = np.bincount(kinds)[kinds[order]] // folds * folds
    out = np.full(len(sizes), -1, dtype=np.int64)
    out[order[turn < full]] = turn[turn < full] % folds
    _deal_rest(out, groups, codes, folds)
    return out[groups]


def _same_rows(groups: Places, codes: Places) -> Places:
    """A number for each group, the same for those with the same number of rows of each class."""
    rng = np.random.default_rng(0)
    keys = np.zeros(int(groups.max()) + 1, dtype=np.uint64)
    np.add.at(keys, groups, rng.integers(0, 2**64, size=int(codes.max()) + 1, dtype=np.uint64)[codes])
    return by_appearance(keys)


def _deal_rest(fold: Places, groups: Places, codes: Places, folds: int) -> None:
    """Give each group that has no fold yet the one that has the smallest share of its classes, then of rows."""
    total = np.bincount(codes).astype(np.float64)
    rest = np.flatnonzero(fold < 0)
    sizes = np.bincount(groups)
    known = fold[groups] >= 0
    held = np.zeros((folds, len(total)))
    np.add.at(held, (fold[groups[known]], codes[known]), 1.0)
    own = {int(g): np.zeros(len(total)) for g in rest}
    for g, c in zip(groups[~known].tolist(), codes[~known].tolist(), strict=True):
        own[g][c] += 1
    for g in rest[np.argsort(-sizes[rest], kind="stable")].tolist():
        share = (held / total**2) @ own[g]
        fold[g] = int(np.lexsort((held.sum(axis=1), share))[0])
        held[fold[g]] += own[g]


# -------------------------------------------------------------------------------------------------------- time


def stretches(times: NDArray[np.generic], number: int) -> Places:
    """The stretch of time of each row, from 0: about equally many rows in each; equal times are in the same."""
    _, rank, counts = np.unique(times, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    stretch = np.minimum((middle * number / len(times)).astype(np.int64), number - 1)
    numbered: Places = np.unique(stretch, return_inverse=True)[1].reshape(-1)
    found: Places = numbered[rank.reshape(-1)]
    return found


def forward_splits(times: NDArray[np.generic], groups: Places | None, n_splits: int) -> list[Parts]:
    """Return splits that train on earlier rows and hold out the next stretch of time; the last ones train on most.

    Rows of a group that is held out are left out of the training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from frugalboost.selection.folds import forward_splits
    >>> for train, held_out in forward_splits(np.array([3, 1, 2, 1, 4, 2]), None, 2):
    ...     print(train, held_out)
    [1 3] [2 5]
    [1 2 3 5] [0 4]
    """
    stretch = stretches(times, n_splits + 1)
    found = []
    for i in range(1, int(stretch.max(initial=0)) + 1):
        held = stretch == i
        train = _apart(stretch < i, held, groups)
        if train.any():
            found.append((np.flatnonzero(train), np.flatnonzero(held)))
    return found


def with_two_classes(splits: Sequence[Parts], y: NDArray[np.generic], held_out: bool) -> list[Parts]:
    """Those whose training rows have at least two classes, and the held-out rows too if they must."""
    return [
        (train, held)
        for train, held in splits
        if len(np.unique(y[train])) > 1 and not (held_out and len(np.unique(y[held])) < 2)
    ]
