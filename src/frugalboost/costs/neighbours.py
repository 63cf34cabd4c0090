"""Neighbours: buying a feature makes those around it cheaper."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from frugalboost import _core
from frugalboost.costs.cost import Cost, FeatureTable, check_given, number


@dataclass(frozen=True, eq=False, repr=False)
class Neighbours(Cost):
    """Buying a feature takes a share off the price of its neighbours; each bought neighbour does so again.

    Parameters
    ----------
    graph : tuple of int, sparse matrix, edge list, or object with edges
        The shape of an image (two or three numbers, features in C order); a matrix whose non-zeros are edges; pairs of
        features (names or numbers); or an object such as a networkx graph.
    discount : float, default=0.5
        The share taken off, from 0 (nothing) to 1 (neighbours become free). Infinite prices stay infinite.
    reach : float, default=1
        How far neighbours are: the distance in an image (1: four neighbours of a pixel, 1.5: eight), or the number of
        edges in a graph.
    prices : array-like, mapping, float or None, default=None
        Prices before anything is bought; 1 each.
    unit : str or None, default=None
        What a price of 1 is; for reports.

    Examples
    --------
    >>> from frugalboost.costs import Neighbours
    >>> Neighbours((28, 28), discount=0.8, reach=1.5)
    Neighbours(graph=(28, 28), discount=0.8, reach=1.5)
    """

    graph: Any
    discount: float = 0.5
    reach: float = 1
    prices: Any = None
    unit: str | None = None

    def __post_init__(self) -> None:
        check_given(self.prices, "Neighbours")
        if hasattr(self.graph, "__next__"):
            raise ValueError("Neighbours: the edges can be read only once; make them a list.")
        if not 0 <= number(self.discount, "Neighbours: discount") <= 1:
            raise ValueError(f"Neighbours: discount is {self.discount!r}; it must be between 0 and 1.")
        if not 1 <= number(self.reach, "Neighbours: reach") < np.inf:
            raise ValueError(f"Neighbours: reach is {self.reach!r}; it must be at least 1.")
        if self._is_shape() and not (1 <= len(self.graph) <= 3 and all(n > 0 for n in self.graph)):
            raise ValueError(f"Neighbours: {self.graph!r} is not the shape of an image of one to three dimensions.")

    def rules(self, table: FeatureTable) -> tuple[_core.PriceRule, ...]:
        """Resolve against a table."""
        prices = table.by_feature(self.prices, 1.0, "Neighbours")
        near = sparse.csr_array(self._grid(table) if self._is_shape() else self._hops(self._edges(table)))
        near.setdiag(0)
        near.eliminate_zeros()
        near.sort_indices()
        factor = 1.0 - float(self.discount)
        begin, items = near.indptr.astype(np.int64), near.indices.astype(np.int32)
        return (_core.FeaturePrices(prices, begin, items, factor, np.inf),)

    def _is_shape(self) -> bool:
        return isinstance(self.graph, tuple) and all(isinstance(n, int | np.integer) for n in self.graph)

    def _grid(self, table: FeatureTable) -> Any:
        shape = tuple(int(n) for n in self.graph)
        if np.prod(shape) != table.n:
            raise ValueError(f"Neighbours: an image of shape {shape} has {np.prod(shape)} pixels; X has {table.n}.")
        number = np.arange(table.n).reshape(shape)
        steps = range(-int(self.reach), int(self.reach) + 1)
        rows: list[NDArray[np.intp]] = []
        columns: list[NDArray[np.intp]] = []
        for step in product(steps, repeat=len(shape)):
            if 0 < sum(s * s for s in step) <= self.reach * self.reach and all(abs(s) < n for s, n in zip(step, shape)):
                here = tuple(slice(max(0, -s), n - max(0, s)) for s, n in zip(step, shape))
                there = tuple(slice(max(0, s), n - max(0, -s)) for s, n in zip(step, shape))
                rows.append(number[here].ravel())
                columns.append(number[there].ravel())
        if not rows:
            return sparse.csr_array((table.n, table.n))
        r, c = np.concatenate(rows), np.concatenate(columns)
        return sparse.csr_array((np.ones(len(r)), (r, c)), shape=(table.n, table.n))

    def _edges(self, table: FeatureTable) -> Any:
        if sparse.issparse(self.graph) or isinstance(self.graph, np.ndarray):
            matrix = sparse.csr_array(self.graph)
            if matrix.shape != (table.n, table.n):
                raise ValueError(
                    f"Neighbours: the matrix has shape {matrix.shape}; X has {table.n} features. (Give the shape of "
                    "an image as a tuple of whole numbers, edges as a list of pairs.)"
                )
            return matrix
        edges = self.graph.edges if hasattr(self.graph, "edges") else self.graph
        edges = edges() if callable(edges) else edges
        pairs = []
        for edge in edges:
            if isinstance(edge, str) or not hasattr(edge, "__len__") or len(edge) < 2:
                raise ValueError(
                    f"Neighbours: {edge!r} is not an edge, a pair of features. (Give the shape of an image as a tuple "
                    "of whole numbers.)"
                )
            pairs.append([table.place(f, "Neighbours") for f in list(edge)[:2]])
        r, c = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return sparse.csr_array((np.ones(len(r)), (r, c)), shape=(table.n, table.n))

    def _hops(self, edges: Any) -> Any:
        step = ((edges != 0) + (edges != 0).T).astype(np.int32)
        near = step
        for _ in range(int(self.reach) - 1):
            near = ((near + near @ step) != 0).astype(np.int32)
        return near
