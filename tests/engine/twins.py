"""Naive twins of the kernels that every engine has: plain loops in Python's own integers, no tricks.

Cells of a histogram are the bins of values, then one for missing values. All sums are whole numbers: gradients (``q``)
and weights come from a grid, so the order in which they are added decides nothing. The formulas are those of
docs/algorithm.md; ``test_twins.py`` holds the twins to the oracle, and kernels are held to the twins.
"""

from fractions import Fraction
from math import frexp, ldexp
from typing import NamedTuple


class Best(NamedTuple):
    """The best raw split of one column at one node. Without one the gain is -1."""

    gain: float = -1.0
    left: tuple = ()  # cells of values that go left
    missing: str = "unseen"  # or "left", "right": where missing values of this node go


def bin_of(value, cuts):
    """Number of the bin: the first whose upper end is not below the value. Missing values have the last cell."""
    if value != value:
        return len(cuts) + 1
    for k, cut in enumerate(cuts):
        if value <= cut:
            return k
    return len(cuts)


def on_grid(values, bits):
    """Whole numbers and their exponent: the largest magnitude becomes at most 2**bits."""
    largest = max((abs(float(v)) for v in values), default=0.0)
    shift = bits - frexp(largest)[1] if largest > 0 else 0
    return [round(ldexp(float(v), shift)) for v in values], shift


def histogram(bins, rows, q, weights, cells):
    """Sums of gradient and of weight in every cell, over the rows of a node."""
    gradient, weight = [0] * cells, [0] * cells
    for i in rows:
        gradient[bins[i]] += weights[i] * q[i]
        weight[bins[i]] += weights[i]
    return gradient, weight


def free_gain(left, right, factor):
    """1/2 (GL^2/WL + GR^2/WR - G^2/W); products of whole numbers are rounded once."""
    (gl, wl), (gr, wr) = left, right
    numerator = float(gl * wr) - float(gr * wl)
    return numerator * numerator / (float(wl) * float(wr)) * factor


def sums(gradient, weight, cells):
    return sum(gradient[c] for c in cells), sum(weight[c] for c in cells)


def best_of(gradient, weight, candidates, min_weight, factor, gain_of=None):
    """The first of the best: candidates are sets of cells that go left, tried with missing values right, then left.

    ``gain_of(left, right, factor, cells_left)``: of a split, where constraints hold.
    """
    cells = range(len(weight))
    missing = cells[-1]
    best = Best()
    for values_left in candidates:
        for side in ("right", "left"):
            at_left = [*values_left, missing] if side == "left" else list(values_left)
            left = sums(gradient, weight, at_left)
            right = sums(gradient, weight, [c for c in cells if c not in at_left])
            if min(left[1], right[1]) < min_weight or min(left[1], right[1]) == 0:
                continue
            gain = gain_of(left, right, factor, len(values_left)) if gain_of else free_gain(left, right, factor)
            if gain > 0 and gain > best.gain:
                best = Best(gain, tuple(values_left), side if weight[missing] > 0 else "unseen")
    return best


def scan(gradient, weight, min_weight, factor, gain_of=None):
    """The best threshold: bins up to one of them go left. All of them, where missing values alone go right."""
    return best_of(gradient, weight, [range(k + 1) for k in range(len(weight) - 1)], min_weight, factor, gain_of)


def level_groups(gradient, weight, min_weight):
    """Levels that rows have, lowest mean gradient first; levels too light for a leaf are one group."""
    present = [c for c in range(len(weight) - 1) if weight[c] > 0]
    groups = [[c] for c in present if weight[c] >= min_weight]
    light = [c for c in present if weight[c] < min_weight]
    groups += [light] if light else []
    groups.sort(key=lambda group: (Fraction(*sums(gradient, weight, group)), group[0]))
    return groups


def scan_levels(gradient, weight, min_weight, factor):
    """The best set of levels among those that are lowest by mean gradient."""
    groups = level_groups(gradient, weight, min_weight)
    candidates = [[c for group in groups[: k + 1] for c in group] for k in range(len(groups))]
    return best_of(gradient, weight, candidates, min_weight, factor)


def partition(rows, bins, cells_left):
    """Rows of the left and of the right child, in the order in which they were."""
    left, right = [], []
    for i in rows:
        (left if bins[i] in cells_left else right).append(i)
    return left, right


def leaf_sums(rows, gradients, curvatures, weights):
    """Sums of gradient, curvature and weight over the rows of a leaf, on the fine grid of leaves."""
    g = h = w = 0
    for i in rows:
        g += weights[i] * gradients[i]
        h += weights[i] * curvatures[i]
        w += weights[i]
    return g, h, w
