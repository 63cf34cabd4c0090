"""Lines as trees, for programs that know only trees.

The lines of one scale and output add up to one line, which is constant within each bin of its column: a tree over the
bins, with a leaf of its own for missing values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.training.ensemble import ARRAYS, Ensemble
from frugalboost.training.scales import Scales

Floats = NDArray[np.float64]
Nodes = dict[str, NDArray[Any]]  # of one tree, by the name of the array

OF_NODES = tuple(name for name in ARRAYS if name not in ("start", "tree_begin", "sets"))


def lines_as_trees(trees: Ensemble) -> Ensemble:
    """Return an ensemble that predicts the same without lines: its trees, then one tree per scale and output."""
    if not len(trees.scales):
        return trees
    outputs = trees.n_outputs
    by_output = [_without_lines(trees, k) + _merged(trees, k) for k in range(outputs)]
    most = max(map(len, by_output))
    pieces = [own[i] if i < len(own) else _leaf() for i in range(most) for own in by_output]
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(trees, name)[:0], *(piece[name] for piece in pieces)]) for name in OF_NODES
    }
    arrays["tree_begin"] = np.cumsum([0, *(len(piece["feature"]) for piece in pieces)]).astype(np.int64)
    return Ensemble(start=trees.start, sets=trees.sets, scales=Scales.none(), **arrays)


def _without_lines(trees: Ensemble, output: int) -> list[Nodes]:
    """The trees of one output that are no lines."""
    found = []
    for tree in range(output, len(trees.tree_begin) - 1, trees.n_outputs):
        nodes = slice(int(trees.tree_begin[tree]), int(trees.tree_begin[tree + 1]))
        if trees.line[nodes.start] < 0:
            found.append({name: getattr(trees, name)[nodes] for name in OF_NODES})
    return found


def _merged(trees: Ensemble, output: int) -> list[Nodes]:
    """For each scale of one output its lines as one tree."""
    roots = trees.tree_begin[:-1][output :: trees.n_outputs]
    line = trees.line[roots]
    found = []
    for scale in np.unique(line[line >= 0]).tolist():
        own = roots[line == scale]
        with np.errstate(over="ignore"):
            sums = {name: float(getattr(trees, name)[own].sum()) for name in ("value", "slope", "gain")}
        found.append(_tree(trees.scales, scale, sums, float(trees.weight[own].max())))
    return found


def _tree(scales: Scales, scale: int, line: dict[str, float], weight: float) -> Nodes:
    """One line as a tree. Bins side by side with the same score are one leaf; the last leaf is for missing values."""
    scores, cuts = scales.scores_of(scale), scales.cuts_of(scale)
    steps = np.flatnonzero(np.diff(scores))
    scores = scores[[*steps, -1]]
    with np.errstate(over="ignore", invalid="ignore"):
        value = line["value"] + line["slope"] * np.append(scores, 0.0)
    if not np.isfinite(value).all():
        raise ValueError("This model can't be exported: what its lines add is too large for a number.")
    made = _balanced(np.append(cuts[steps], np.inf), value, np.append(_weights(scores, weight), 0.0))
    made["feature"] = np.where(made["left"] >= 0, scales.feature[scale], -1).astype(np.int32)
    made["gain"][0] = line["gain"]  # LightGBM counts the splits of a feature that gain something: one for its lines
    return made


def _balanced(cuts: Floats, value: Floats, weight: Floats) -> Nodes:
    """Nodes breadth first. The root separates missing values: all numbers are at most infinity."""
    below = np.concatenate([[0.0], np.cumsum(weight)])
    spans, threshold, left = [(0, len(value))], [], []  # the leaves below each node
    for begin, end in spans:
        middle = len(value) - 1 if end == len(value) else (begin + end) // 2
        if end - begin == 1:
            threshold.append(np.inf)
            left.append(-1)
        else:
            threshold.append(float(cuts[middle - 1]))
            left.append(len(spans))
            spans += [(begin, middle), (middle, end)]
    first, last = np.array(spans).T
    is_leaf = np.array(left) < 0
    return {
        **_leaf(len(spans)),
        "left": np.array(left, dtype=np.int32),
        "threshold": np.array(threshold),
        "value": np.where(is_leaf, value[first], 0.0),
        "weight": below[last] - below[first],
    }


def _leaf(nodes: int = 1) -> Nodes:
    """Leaves that add nothing."""
    none = np.full(nodes, -1, dtype=np.int32)
    zeros = {name: np.zeros(nodes) for name in ("value", "gain", "weight", "slope")}
    of_splits = {"feature": none, "left": none, "level_set": none, "threshold": np.full(nodes, np.inf)}
    return {**zeros, **of_splits, "missing_left": np.zeros(nodes, dtype=np.uint8), "line": none}


def _weights(scores: Floats, total: float) -> Floats:
    """Weights of the bins, which a model does not hold.

    SHAP values of a tree over one feature depend on the mean score alone, which is 0 in the training rows. So all bins
    above 0 count the same, and all below, such that the mean is 0.
    """
    above, below = scores[scores > 0].sum(), -scores[scores < 0].sum()
    if not (above > 0 and below > 0):
        return np.full(len(scores), total / len(scores))
    weight: Floats = np.where(scores > 0, below, np.where(scores < 0, above, 0.5 * (above + below)))
    weight *= total / weight.sum()
    return weight
