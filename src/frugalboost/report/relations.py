"""Correlations among chosen features, and of chosen ones with those that were not chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from frugalboost.tables import Table

MOST_ROWS = 5_000
AT_ONCE = 512  # columns ranked together
ALIKE = 0.7  # a rank correlation from which a feature is listed
MOST_ALIKE = 5

Floats = NDArray[np.float64]


def comparable(table: Table) -> list[int]:
    """Columns whose values have an order: numbers, and categories of two levels."""
    return [c for c in range(table.shape[1]) if len(table.vocabulary.get(c, ())) <= 2]


class Ranks:
    """Ranks of columns on at most MOST_ROWS rows, scaled so that a product is a correlation."""

    def __init__(self, table: Table, seed: int = 0) -> None:
        n = table.shape[0]
        rows = np.arange(n) if n <= MOST_ROWS else np.sort(np.random.default_rng(seed).choice(n, MOST_ROWS, False))
        self._table = table.take(rows)

    def of(self, columns: Sequence[int]) -> Floats:
        """One row for each column; zero throughout where a column is constant. Missing values have the mean rank."""
        values = np.array([self._values(c) for c in columns]).reshape(len(columns), len(self._table))
        ranks = rankdata(values, axis=1, nan_policy="omit")
        ranks -= np.nanmean(ranks, axis=1, keepdims=True)
        ranks[np.isnan(ranks)] = 0.0
        norm = np.sqrt((ranks**2).sum(axis=1, keepdims=True))
        scaled: Floats = np.divide(ranks, norm, out=np.zeros_like(ranks), where=norm > 0)
        return scaled

    def _values(self, c: int) -> Floats:
        column = self._table.column(c).astype(np.float64)
        if c in self._table.vocabulary:
            column[column < 0] = np.nan
        column = np.where(np.isnan(column).all(), 0.0, column)
        return column


def correlations(ranks: Ranks, columns: Sequence[int]) -> Floats:
    """Rank correlations among some columns."""
    own = ranks.of(columns)
    matrix: Floats = own @ own.T
    return matrix


def most_correlated(ranks: Ranks, chosen: Sequence[int], others: Sequence[int]) -> dict[int, list[tuple[int, float]]]:
    """For each chosen column the most correlated others, strongest first."""
    own = ranks.of(chosen)
    found: dict[int, list[tuple[int, float]]] = {c: [] for c in chosen}
    for begin in range(0, len(others), AT_ONCE):
        some = others[begin : begin + AT_ONCE]
        products = own @ ranks.of(some).T
        for i, j in zip(*np.nonzero(np.abs(products) >= ALIKE), strict=True):
            found[chosen[i]].append((some[j], float(products[i, j])))
    return {c: sorted(pairs, key=lambda p: -abs(p[1]))[:MOST_ALIKE] for c, pairs in found.items()}


def relations_of(table: Table, chosen: Sequence[int]) -> dict[str, Any]:
    """Correlations among the chosen columns, and of each with the others."""
    usable = set(comparable(table))
    own = [c for c in chosen if c in usable]
    if not own:
        return {"columns": [], "correlation": [], "stands_for": {}}
    ranks = Ranks(table)
    taken = set(chosen)
    others = [c for c in usable if c not in taken]
    return {
        "columns": own,
        "correlation": np.round(correlations(ranks, own), 3).tolist(),
        "stands_for": most_correlated(ranks, own, others),
    }
