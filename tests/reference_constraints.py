"""Constraints in plain numpy: what splits and lines they allow, and how leaf values are brought into order.

``reference`` asks here whether an offer is one. Trends are -1, 0 or 1 for each column; groups are sets of columns that
may meet on the way to a leaf, or one of the words "pairwise" and "no_interactions".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf


@dataclass(frozen=True)
class Range:
    """Between which values the mean gradient of a node counts, in the units of the gradients' integers."""

    low: float = -inf
    high: float = inf

    def value(self, g, w):
        return min(max(float(g) / float(w), self.low), self.high)

    def children(self, trend, left, right):
        """The ranges of both children; ``left`` and ``right`` are their sums of gradient and weight."""
        if trend == 0:
            return self, self
        middle = 0.5 * self.value(*left) + 0.5 * self.value(*right)
        below, above = Range(self.low, middle), Range(middle, self.high)
        return (below, above) if trend > 0 else (above, below)


@dataclass(frozen=True)
class SplitLimits:
    """What a node allows on one column."""

    trend: int = 0
    range: Range = field(default_factory=Range)

    @property
    def any(self):
        return self.trend != 0 or self.range != Range()

    def gain(self, gl, wl, gr, wr, factor, plain, parts_values):
        """The gain of a split with its values brought into the range; None: it is no offer.

        ``plain``: the gain without constraints. ``parts_values``: whether the split parts values that are not missing.
        """
        left, right = self.range.value(gl, wl), self.range.value(gr, wr)
        trend = self.trend if parts_values else 0
        if left == right or trend * left > trend * right:
            return None
        ml, mr = float(gl) / float(wl), float(gr) / float(wr)
        if left == ml and right == mr:
            return plain
        here = self.range.value(gl + gr, wl + wr)
        rise = float(wl) * (left - here) * ((ml - left) + (ml - here))
        rise = rise + float(wr) * (right - here) * ((mr - right) + (mr - here))
        return min(plain, rise * (factor * float(wl + wr)))


def in_order(root, trends):
    """Bring the values of leaves into the order that splits ask for: breadth first, from the root on."""
    nodes = [root]
    for node in nodes:
        if not node.children:
            continue
        nodes.extend(node.children)
        if trends[node.feature] and node.threshold < inf:
            low, high = node.children if trends[node.feature] > 0 else node.children[::-1]
            _part(low, high)


def _part(low, high):
    """No leaf of the one side above one of the other."""
    below, above = leaves(low), leaves(high)
    most, least = max(leaf.value for leaf in below), min(leaf.value for leaf in above)
    if most <= least:
        return
    middle = min(max(0.5 * _mean(low) + 0.5 * _mean(high), least), most)
    for leaf in below:
        leaf.value = min(leaf.value, middle)
    for leaf in above:
        leaf.value = max(leaf.value, middle)


def leaves(node):
    return [leaf for child in node.children for leaf in leaves(child)] if node.children else [node]


def _mean(node):
    """The mean value of the leaves of a node, by their weights."""
    if not node.children:
        return node.value
    left, right = node.children
    return (left.weight * _mean(left) + right.weight * _mean(right)) / (left.weight + right.weight)


def may_meet(groups, path, column, columns):
    """Whether a column may be split on below splits on all columns of ``path``."""
    wanted = {*path, column}
    if groups is None or not path:
        return True
    if groups == "no_interactions":
        return len(wanted) == 1
    if groups == "pairwise":
        return len(wanted) <= 2
    listed = set().union(*groups)
    rest = set(range(columns)) - listed
    return any(wanted <= set(group) for group in [*groups, rest])
