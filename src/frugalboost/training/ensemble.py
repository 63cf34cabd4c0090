"""Trees as flat arrays, and what they predict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core
from frugalboost.losses import BuiltIn, Loss
from frugalboost.tables.sample import Sample
from frugalboost.tables.targets import for_core
from frugalboost.training.scales import Scales

Floats = NDArray[np.float64]
SET_BYTES = 32  # a set of bins


@dataclass(frozen=True)
class Ensemble:
    """All trees in parallel arrays, nodes of a tree breadth first.

    Tree ``t`` owns the nodes ``tree_begin[t]`` to ``tree_begin[t + 1]`` and belongs to output ``t % n_outputs``. A tree
    of one node may be a line, which adds ``value + slope * score``.
    """

    start: Floats  # raw prediction before the first tree, one per output
    tree_begin: NDArray[np.int64]
    feature: NDArray[np.int32]  # -1: a leaf
    left: NDArray[np.int32]  # counted from the tree's first node; the right child is the next
    missing_left: NDArray[np.uint8]
    threshold: Floats  # x <= threshold goes left
    value: Floats  # what a leaf adds, learning rate included
    gain: Floats  # raw gain of a split, without prices
    weight: Floats  # total weight of the training rows
    level_set: NDArray[np.int32]  # the set of bins that go left; -1: split by threshold
    sets: NDArray[np.uint8]  # SET_BYTES each: bit b % 8 of byte b // 8 is set where bin b goes left
    line: NDArray[np.int32]  # the scale that a line is drawn on; -1: no line
    slope: Floats  # of the line, learning rate included
    scales: Scales

    @classmethod
    def from_core(cls, grown: _core.Boosted, binned: _core.BinnedMatrix) -> Ensemble:
        """Take over the trees of one call of the core, and the scales of their lines."""
        arrays = {name: np.asarray(getattr(grown, name)) for name in ARRAYS}
        columns = np.unique(arrays["line"][arrays["line"] >= 0])
        numbers = np.searchsorted(columns, arrays["line"])
        arrays["line"] = np.where(arrays["line"] >= 0, numbers, -1).astype(np.int32)
        return cls(**arrays, scales=Scales.of_columns(binned, columns))

    @classmethod
    def of_lines(cls, start: Floats, slopes: Floats, gains: Floats, weight: float, scales: Scales) -> Ensemble:
        """One line for each scale and output; ``slopes`` by output and scale."""
        outputs, nodes = len(start), slopes.size
        none = np.full(nodes, -1, dtype=np.int32)
        return cls(
            start=start,
            tree_begin=np.arange(nodes + 1, dtype=np.int64),
            feature=none,
            left=none,
            missing_left=np.zeros(nodes, dtype=np.uint8),
            threshold=np.full(nodes, np.inf),
            value=np.zeros(nodes),
            gain=np.repeat(gains / outputs, outputs),
            weight=np.full(nodes, weight),
            level_set=none,
            sets=np.zeros(0, dtype=np.uint8),
            line=np.repeat(np.arange(len(scales), dtype=np.int32), outputs),
            slope=np.ascontiguousarray(slopes.T).ravel(),
            scales=scales,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Pickles of earlier versions have no lines."""
        nodes = len(state["feature"])
        none = {"line": np.full(nodes, -1, dtype=np.int32), "slope": np.zeros(nodes), "scales": Scales.none()}
        self.__dict__.update({**none, **state})

    @property
    def n_outputs(self) -> int:
        """Trees in one iteration."""
        return len(self.start)

    @property
    def split_last(self) -> bool:
        """Whether the last iteration has a split or a line."""
        nodes = slice(int(self.tree_begin[max(0, len(self.tree_begin) - 1 - self.n_outputs)]), None)
        return bool((self.feature[nodes] >= 0).any() or (self.line[nodes] >= 0).any())

    @property
    def n_iterations(self) -> int:
        """Iterations of boosting that these trees took."""
        return (len(self.tree_begin) - 1) // self.n_outputs

    def followed_by(self, later: Ensemble) -> Ensemble:
        """Return an ensemble of these trees and then the later ones."""
        arrays: dict[str, Any] = {name: np.concatenate([getattr(self, name), getattr(later, name)]) for name in ARRAYS}
        arrays["scales"], numbers = Scales.joined([self.scales, later.scales])
        arrays["line"] = np.concatenate([renumbered(self.line, numbers[0]), renumbered(later.line, numbers[1])])
        known = len(self.sets) // SET_BYTES
        moved = np.where(later.level_set < 0, -1, later.level_set + known).astype(np.int32)
        arrays["level_set"] = np.concatenate([self.level_set, moved])
        arrays["start"] = self.start
        arrays["tree_begin"] = np.concatenate([self.tree_begin, later.tree_begin[1:] + self.tree_begin[-1]])
        return Ensemble(**arrays)

    @property
    def used_feature(self) -> NDArray[np.int32]:
        """For each node the feature that it splits on, or whose line it is; -1: neither."""
        if not len(self.scales):
            return self.feature
        used: NDArray[np.int32] = np.where(self.line >= 0, self.scales.feature[self.line], self.feature)
        return used

    def slopes(self, iterations: int) -> Floats:
        """The slopes of the first iterations, summed: one row per scale, one column per output."""
        roots = self.tree_begin[: iterations * self.n_outputs]
        tree = np.flatnonzero(self.line[roots] >= 0)
        total = np.zeros((len(self.scales), self.n_outputs))
        np.add.at(total, (self.line[roots[tree]], tree % self.n_outputs), self.slope[roots[tree]])
        return total

    def counts(self, iterations: int) -> tuple[int, int]:
        """How many trees with splits, and how many lines, the first iterations have."""
        roots = self.tree_begin[: iterations * self.n_outputs]
        return int((self.feature[roots] >= 0).sum()), int((self.line[roots] >= 0).sum())

    def with_columns(self, columns: NDArray[np.integer]) -> Ensemble:
        """The same with other numbers of features: feature ``i`` becomes ``columns[i]``."""
        feature = np.where(self.feature >= 0, columns[self.feature], -1).astype(np.int32)
        scales = replace(self.scales, feature=columns[self.scales.feature].astype(np.int32))
        return replace(self, feature=feature, scales=scales)

    def check(self, n_features: int) -> None:
        """Raise ValueError where the arrays do not describe trees over this number of features."""
        self._core_trees().check(n_features)

    def raw(self, X: _core.Source, iterations: int, threads: int) -> Floats:
        """Return raw predictions, one row per output."""
        raw = np.repeat(self.start[:, None], X.shape[0], axis=1)
        self.add_to(raw, X, 0, iterations, threads)
        return raw

    def staged_raw(self, X: _core.Source, iterations: int, threads: int) -> Iterator[Floats]:
        """Yield raw predictions after each iteration; the same array, changed in place."""
        raw = np.repeat(self.start[:, None], X.shape[0], axis=1)
        for i in range(iterations):
            self.add_to(raw, X, i, i + 1, threads)
            yield raw

    def add_to(self, raw: Floats, X: _core.Source, done: int, iterations: int, threads: int) -> None:
        """Add the trees of further iterations to raw predictions, in place; ``done`` of them are in already."""
        _core.add_trees(self._core_trees(), X, done * self.n_outputs, iterations * self.n_outputs, raw, threads)

    def leaves(self, X: _core.Source, iterations: int, threads: int) -> NDArray[np.int32]:
        """The leaf of every row, by iteration and output, as the number of a node of its tree; 0 for a line."""
        found = _core.leaves_of_rows(self._core_trees(), X, iterations * self.n_outputs, threads)
        return np.asarray(found).reshape(-1, iterations, self.n_outputs)

    def path_costs(
        self,
        X: _core.Source,
        rules: Sequence[_core.PriceRule],
        bought: NDArray[np.int32],
        paid: Floats,
        iterations: int,
        threads: int,
    ) -> tuple[Floats, Floats]:
        """Cost of the features that each row's paths use: for each row, and the mean after each iteration."""
        last = iterations * self.n_outputs
        rows, means = _core.path_prices(self._core_trees(), X, list(rules), bought, paid, last, threads)
        return np.asarray(rows), np.asarray(means)

    def row_costs(
        self, X: _core.Source, prices: Floats, weights: Floats | None, iterations: int, threads: int
    ) -> tuple[Floats, Floats]:
        """What each row pays for the features that its paths look at, and the weighted mean after each iteration."""
        last = iterations * self.n_outputs
        rows, means = _core.row_costs(self._core_trees(), X, prices, weights, last, threads)
        return np.asarray(rows), np.asarray(means)

    def looks(self, X: _core.Source, columns: NDArray[np.int32], threads: int) -> NDArray[np.uint8]:
        """Whether each row's paths look at each column: flags of all rows, column after column."""
        last = self.n_iterations * self.n_outputs
        found: NDArray[np.uint8] = np.asarray(_core.looked_rows(self._core_trees(), X, columns.tolist(), last, threads))
        return found

    def losses_without(
        self,
        X: _core.Source,
        rows: Sample,
        fitted: Sample,
        loss: BuiltIn | Loss,
        hidden: Sequence[NDArray[np.int32]],
        iterations: int,
        threads: int,
    ) -> Floats:
        """Mean loss on some rows, then with each list of features hidden: a row goes both ways at their splits.

        ``X`` holds the values of ``rows``; ``fitted`` are the rows of the fit, from which a loss may take a parameter.
        """
        begin = np.concatenate([[0], np.cumsum([len(features) for features in hidden])]).astype(np.int64)
        items = np.concatenate([np.zeros(0, dtype=np.int32), *hidden]).astype(np.int32)
        targets = (for_core(rows.y), rows.weights, for_core(fitted.y), fitted.weights, *_loss_for_core(loss))
        last = iterations * self.n_outputs
        losses = _core.losses_without(self._core_trees(), self.weight, X, *targets, begin, items, last, threads)
        return np.asarray(losses)

    def loss_of(self, raw: Floats, rows: Sample, fitted: Sample, loss: BuiltIn | Loss, threads: int) -> float:
        """Mean loss of raw predictions, one row per output."""
        targets = (for_core(rows.y), rows.weights, for_core(fitted.y), fitted.weights, *_loss_for_core(loss))
        return float(_core.mean_loss(raw, *targets, threads))

    def loss_curve(self, X: _core.Source, rows: Sample, fitted: Sample, loss: BuiltIn | Loss, threads: int) -> Floats:
        """Mean loss on some rows before the first iteration and after each."""
        start = np.repeat(self.start[:, None], len(rows), axis=1)
        curve = [self.loss_of(start, rows, fitted, loss, threads)]
        for raw in self.staged_raw(X, self.n_iterations, threads):
            curve.append(self.loss_of(raw, rows, fitted, loss, threads))
        return np.array(curve)

    def feature_gains(self, n_features: int, iterations: int) -> Floats:
        """Sum of the raw gains of every feature's splits and lines."""
        nodes = slice(0, self.tree_begin[iterations * self.n_outputs])
        feature, gain = self.used_feature[nodes], self.gain[nodes]
        split = np.flatnonzero(feature >= 0)
        split = split[np.argsort(gain[split], kind="stable")]  # rounding must not depend on the order of classes
        gains: Floats = np.bincount(feature[split], weights=gain[split], minlength=n_features).astype(np.float64)
        return gains

    def gain_shares(self, n_features: int, iterations: int) -> Floats:
        """The same as shares of the sum over all features; zeros without splits."""
        largest = float(np.max(self.gain[: self.tree_begin[iterations * self.n_outputs]], initial=0.0))
        # As multiples of the largest gain, sums neither overflow nor become zero.
        if 0 < largest < np.inf:
            relative = self.gain / largest
        elif largest > 0:
            relative = np.isinf(self.gain).astype(np.float64)
        else:
            relative = np.ones_like(self.gain)
        gains = replace(self, gain=relative).feature_gains(n_features, iterations)
        return gains / (gains.sum() or 1.0)

    def _core_trees(self) -> _core.Trees:
        return _core.Trees(
            self.start,
            self.tree_begin,
            self.feature,
            self.left,
            self.missing_left,
            self.threshold,
            self.value,
            self.level_set,
            self.sets,
            self.line,
            self.slope,
            self.scales.feature,
            self.scales.begin,
            self.scales.cuts,
            self.scales.scores,
        )


ARRAYS = tuple(f.name for f in fields(Ensemble) if f.name != "scales")


def renumbered(line: NDArray[np.int32], numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """Numbers of scales, where scale ``i`` is now called ``numbers[i]``."""
    return np.where(line >= 0, numbers[line] if len(numbers) else -1, -1).astype(np.int32)


def _loss_for_core(loss: BuiltIn | Loss) -> tuple[str | Loss, float]:
    """A loss as the core takes it: name and parameter, or the object itself."""
    return (loss.name, loss.parameter) if isinstance(loss, BuiltIn) else (loss, np.nan)
