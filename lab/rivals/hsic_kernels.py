"""Kernels of single columns, and the non-negative lasso on them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram

from lab.rivals.rows import Floats, Places

Singles = NDArray[np.float32]

WORK = 2**24  # numbers that are worked on at once
LARGEST_GRAM = 4000  # columns


def cut(rows: int, size: int, times: int, seed: int) -> list[Places]:
    """Blocks of a fixed number of rows, from several shuffles; the rest of a shuffle is left out."""
    if size == rows:
        return [np.arange(rows)]
    rng = np.random.default_rng(seed)
    shuffles = (rng.permutation(rows) for _ in range(times))
    return [shuffled[i : i + size] for shuffled in shuffles for i in range(0, rows - size + 1, size)]


def kernels(Z: Singles, blocks: list[Places]) -> Singles:
    """Gaussian kernels of standardised columns: one row of numbers for each column, of length 1."""
    size = len(blocks[0]) ** 2
    found = np.empty((Z.shape[1], size * len(blocks)), dtype=np.float32)
    step = max(1, WORK // size)
    for first in range(0, Z.shape[1], step):
        part = slice(first, first + step)
        for number, block in enumerate(blocks):
            x = Z[block, part].T
            kernel = np.exp(-0.5 * (x[:, :, None] - x[:, None, :]) ** 2)
            found[part, number * size : (number + 1) * size] = _normal(kernel)
    return found / np.float32(np.sqrt(len(blocks)))


def label_kernel(labels: Places, blocks: list[Places]) -> Singles:
    """The delta kernel of labels: 1 where two rows have the same."""
    same = [_normal((labels[block][:, None] == labels[block]).astype(np.float32)[None])[0] for block in blocks]
    return np.concatenate(same).astype(np.float32) / np.float32(np.sqrt(len(blocks)))


def _normal(kernel: Singles) -> Singles:
    """Centred in both directions, flat, and of length 1; all 0 where rows don't differ."""
    kernel = kernel - kernel.mean(axis=1, keepdims=True)
    kernel -= kernel.mean(axis=2, keepdims=True)
    flat = kernel.reshape(len(kernel), -1)
    flat /= np.linalg.norm(flat, axis=1, keepdims=True) + np.float32(1e-9)
    return flat


def most_relevant(Z: Singles, labels: Places, blocks: list[Places], count: int) -> Places:
    """The columns whose kernels are most like that of the labels.

    Products of centred kernels are not negative, so neither weights nor other columns make a column more relevant than
    it is by itself. Those that are less relevant than the last penalty of a path can't be on it.
    """
    target = label_kernel(labels, blocks)
    relevance = np.concatenate([kernels(Z[:, part], blocks) @ target for part in _parts(Z.shape[1], len(target))])
    return np.sort(np.argsort(-relevance, kind="stable")[:count])


def _parts(columns: int, entries: int) -> Iterator[slice]:
    step = max(1, WORK // entries)
    return (slice(first, first + step) for first in range(0, columns, step))


def lasso_order(Z: Singles, labels: Places, blocks: list[Places], count: int) -> Places:
    """Columns in the order in which they enter the path of the non-negative lasso."""
    K = kernels(Z, blocks)
    relevance = (K @ label_kernel(labels, blocks)).astype(np.float64)
    kept = np.argsort(-relevance, kind="stable")[:LARGEST_GRAM]
    K = K[kept]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = lars_path_gram(
            relevance[kept],
            (K @ K.T).astype(np.float64),
            n_samples=1,
            max_iter=2 * count,
            method="lasso",
            positive=True,
        )[2]
    return kept[entered(path)][:count]


def entered(path: Floats) -> Places:
    """Columns of a path, one step after another, in the order in which they get a weight."""
    with_weight = np.nan_to_num(path) > 0
    ever = np.flatnonzero(with_weight.any(axis=1))
    return ever[np.argsort(with_weight[ever].argmax(axis=1), kind="stable")]
