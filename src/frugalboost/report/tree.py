"""One tree of a model, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from frugalboost.estimators.base import GBFSBase
from frugalboost.page.words import value_text, with_sign
from frugalboost.report.kinds import kind_of
from frugalboost.training.ensemble import SET_BYTES

MOST_LEVELS = 3  # named at a split


def first_that_splits(model: GBFSBase) -> int | None:
    """The number of the first tree with splits; None where there is none. Lines have none.

    Parameters
    ----------
    model : GBFSClassifier or GBFSRegressor
        Fitted.

    Returns
    -------
    int or None
        Trees of several classes take turns.
    """
    trees = model._model.ensemble
    roots = trees.tree_begin[: model.best_iteration_ * trees.n_outputs]
    splits = np.flatnonzero(trees.feature[roots] >= 0)
    return int(splits[0]) if len(splits) else None


def first_tree(model: GBFSBase, names: Sequence[str]) -> list[dict[str, Any]]:
    """Nodes of the first tree with splits, with where to draw them: depth, and height among the leaves.

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
    trees, number = model._model.ensemble, first_that_splits(model)
    if number is None:
        return []
    root = int(trees.tree_begin[number])
    total = float(trees.weight[root])
    nodes: list[dict[str, Any]] = []
    open_nodes: list[tuple[int, int, int | None, str]] = [(root, 0, None, "")]
    while open_nodes:  # a tree may be deeper than functions may call themselves
        node, depth, parent, side = open_nodes.pop()
        share = float(trees.weight[node]) / total if total > 0 else 0.0
        nodes.append({"id": node, "parent": parent, "depth": depth, "side": side, "share": share})
        if trees.feature[node] >= 0:
            left = root + int(trees.left[node])
            open_nodes += [(left + 1, depth + 1, node, "no"), (left, depth + 1, node, "yes")]
    leaves = iter(range(len(nodes)))
    for own in nodes:
        own |= (
            _leaf(model, own["id"], next(leaves)) if trees.feature[own["id"]] < 0 else _split(model, own["id"], names)
        )
    place = {own["id"]: own for own in nodes}
    for own in reversed(nodes):  # children come after their parent
        if not own["leaf"]:
            left = root + int(trees.left[own["id"]])
            own["y"] = (place[left]["y"] + place[left + 1]["y"]) / 2
    return nodes


def _leaf(model: GBFSBase, node: int, height: int) -> dict[str, Any]:
    value = model._model.ensemble.value[node]
    return {"leaf": True, "text": with_sign(value), "feature": None, "y": float(height)}


def _split(model: GBFSBase, node: int, names: Sequence[str]) -> dict[str, Any]:
    trees = model._model.ensemble
    missing = "yes" if trees.missing_left[node] else "no"
    feature = names[int(trees.feature[node])]
    return {"leaf": False, "text": question(model, node), "feature": feature, "y": 0.0, "missing": missing}


def question(model: GBFSBase, node: int) -> str:
    """What a split asks of its feature: a limit, or a set of levels."""
    trees = model._model.ensemble
    number = int(trees.level_set[node])
    if number < 0:
        return f"≤ {value_text(float(trees.threshold[node]), kind_of(model, int(trees.feature[node])), 6)}"
    levels = model._levels[int(trees.feature[node])]
    bits = np.unpackbits(trees.sets[number * SET_BYTES : (number + 1) * SET_BYTES], bitorder="little")
    inside = [str(v) for v, b in zip(levels.values, levels.bins.tolist(), strict=True) if b >= 0 and bits[b]]
    more = f" and {len(inside) - MOST_LEVELS} more" if len(inside) > MOST_LEVELS else ""
    return f"is {', '.join(inside[:MOST_LEVELS])}{more}"
