"""One tree of a model, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from frugalboost.base import GBFSBase
from frugalboost.ensemble import SET_BYTES

MOST_LEVELS = 3  # named at a split


def first_tree(model: GBFSBase, names: Sequence[str]) -> list[dict[str, Any]]:
    """Nodes of the first tree, with where to draw them: depth, and height among the leaves.

    Parameters
    ----------
    model : GBFSClassifier or GBFSRegressor
        Fitted.
    names : sequence of str
        Of all columns.

    Returns
    -------
    list of dict
        Empty where the model has no tree that splits.
    """
    trees = model._model.ensemble
    if model.best_iteration_ == 0 or len(trees.tree_begin) < 2 or trees.feature[0] < 0:
        return []
    nodes: list[dict[str, Any]] = []
    height = 0.0
    total = float(trees.weight[0])

    def walk(node: int, depth: int, parent: int | None, side: str) -> float:
        nonlocal height
        own: dict[str, Any] = {"id": node, "parent": parent, "depth": depth, "side": side}
        own["share"] = float(trees.weight[node]) / total
        nodes.append(own)
        if trees.feature[node] < 0:
            own |= {"leaf": True, "text": f"{trees.value[node]:+.3g}", "feature": None, "y": height}
            height += 1
            return float(own["y"])
        left = int(trees.left[node])
        ends = walk(left, depth + 1, node, "yes"), walk(left + 1, depth + 1, node, "no")
        feature = int(trees.feature[node])
        own |= {"leaf": False, "text": question(model, node), "feature": names[feature], "y": sum(ends) / 2}
        own["missing"] = "yes" if trees.missing_left[node] else "no"
        return float(own["y"])

    walk(0, 0, None, "")
    return nodes


def question(model: GBFSBase, node: int) -> str:
    """What a split asks of its feature: a limit, or a set of levels."""
    trees = model._model.ensemble
    number = int(trees.level_set[node])
    if number < 0:
        return f"≤ {trees.threshold[node]:.4g}"
    levels = model._levels[int(trees.feature[node])]
    bits = np.unpackbits(trees.sets[number * SET_BYTES : (number + 1) * SET_BYTES], bitorder="little")
    inside = [str(v) for v, b in zip(levels.values, levels.bins.tolist(), strict=True) if b >= 0 and bits[b]]
    more = f" and {len(inside) - MOST_LEVELS} more" if len(inside) > MOST_LEVELS else ""
    return f"is {', '.join(inside[:MOST_LEVELS])}{more}"
