"""Models in LightGBM's text format, version 4.

Counts of rows are whole numbers there; SHAP values are computed from them. Where the weights of rows are not whole,
or too large, a tree's counts are its weights scaled up or down to ``MOST_ROWS``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.export.served import Bools, Floats, ServedModel, serve

MOST_ROWS = 2**30  # LightGBM counts rows in 32 bits
CATEGORICAL, DEFAULT_LEFT, MISSING_IS_NAN = 1, 2, 8  # bits of a decision's type

Ints = NDArray[np.int64]


def to_lightgbm(model: Any, *, features: str = "selected") -> str:
    """Return a fitted model as text that LightGBM reads: ``lightgbm.Booster(model_str=text)``.

    A categorical column holds the position of the level in ``categories_``; NaN, and any whole number that is not such
    a position, is a missing level. A pandas data frame holds the levels themselves, in columns of type category. Lines
    become trees over the bins of their columns.

    Parameters
    ----------
    model : GBFSClassifier or GBFSRegressor
        Fitted; also one of the searches by cross-validation.
    features : {"selected", "all"}, default="selected"
        The columns of the table to predict from: those that the model bought, in the order of the training table, as
        ``transform`` returns them; or every column of that table.

    Returns
    -------
    str
        The model. LightGBM's ``predict`` returns probabilities (of the second class where there are two) or numbers,
        with ``raw_score=True`` raw predictions, with ``pred_contrib=True`` SHAP values. In names of features, blanks
        and characters that LightGBM does not allow become ``_``.

    Examples
    --------
    >>> import lightgbm
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor
    >>> from frugalboost.export import to_lightgbm
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GBFSRegressor(mu=0.02, max_iter=50).fit(X, y)
    >>> booster = lightgbm.Booster(model_str=to_lightgbm(model))
    >>> bool(np.allclose(booster.predict(model.transform(X)), model.predict(X)))
    True
    """
    served = serve(model, features)
    blocks = [tree.block(i) for i, tree in enumerate(_trees(served))]
    names = _allowed(served.names)
    header = {
        "version": "v4",
        "num_class": served.trees.n_outputs,
        "num_tree_per_iteration": served.trees.n_outputs,
        "label_index": 0,
        "max_feature_idx": len(names) - 1,
        **_objective(served),
        "feature_names": " ".join(names),
        "feature_infos": " ".join(_infos(served)),
        "tree_sizes": _joined(len(block) for block in blocks),
    }
    used = np.bincount(served.trees.feature[served.trees.feature >= 0], minlength=len(names))
    importances = [f"{names[j]}={used[j]}" for j in np.argsort(-used, kind="stable") if used[j]]
    return "\n".join(
        [
            "tree",
            *(f"{key}={value}" for key, value in header.items()),
            "",
            "".join(blocks) + "end of trees",
            "",
            "feature_importances:",
            *importances,
            "",
            "parameters:",
            "end of parameters",
            "",
            f"pandas_categorical:{_pandas_categories(served)}",
            "",
        ]
    )


# ----------------------------------------------------------------------------------------------- header


def _objective(served: ServedModel) -> dict[str, str]:
    """The objective with our link; none for several outputs with the identity."""
    outputs = served.trees.n_outputs
    if served.link == "identity" and outputs > 1:
        return {}
    if served.link == "exp" and outputs > 1:
        raise ValueError(
            "A model of several targets with a log link can't be exported: LightGBM would apply the link to the first "
            "one only. Export to ONNX (to_onnx), or fit each target by itself."
        )
    known = {
        "identity": "regression",
        "exp": served.loss if served.loss in ("gamma", "tweedie") else "poisson",
        "logistic": "binary sigmoid:1",
        "softmax": f"multiclass num_class:{outputs}",
    }
    return {"objective": known[served.link]}


def _allowed(names: Iterable[str]) -> list[str]:
    """Unique names without blanks and characters that are special in JSON."""
    allowed: list[str] = []
    taken: set[str] = set()
    for name in names:
        plain = made = re.sub(r'[\s",:\[\]{}\\=]|[^\x20-\U0010ffff]', "_", name) or "_"
        number = 1
        while made in taken:
            number += 1
            made = f"{plain}_{number}"
        taken.add(made)
        allowed.append(made)
    return allowed


def _infos(served: ServedModel) -> list[str]:
    """The values of a column: its levels, or the range of its thresholds, since the data is gone."""
    trees = served.trees
    infos = []
    for place in range(len(served.names)):
        here = trees.feature == place
        found = trees.threshold[here & np.isfinite(trees.threshold)]
        if not here.any():
            infos.append("none")
        elif place in served.levels:
            infos.append(":".join(str(k) for k in range(len(served.levels[place]))))
        else:
            infos.append(f"[{_text(found.min(initial=0.0))}:{_text(found.max(initial=0.0))}]")
    return infos


def _pandas_categories(served: ServedModel) -> str:
    """The levels, with which LightGBM reads columns of type category in a data frame."""
    levels = [list(served.levels[place]) for place in sorted(served.levels)]
    if all(isinstance(value, str | bool | int | float) for values in levels for value in values):
        return json.dumps(levels or None)
    return "null"


# ------------------------------------------------------------------------------------------------ trees


@dataclass(frozen=True)
class Tree:
    """One tree in LightGBM's arrays: splits, then leaves; a child below zero is the leaf ``-1 - child``."""

    feature: Ints
    gain: Floats
    threshold: Floats
    decision: Ints
    left: Ints
    right: Ints
    value: Floats  # of splits
    weight: Floats
    count: Ints
    leaf_value: Floats
    leaf_weight: Floats
    leaf_count: Ints
    sets: list[list[int]]  # of the categorical splits: 32 levels a word

    def block(self, number: int) -> str:
        """The tree's lines."""
        lines: dict[str, Any] = {
            "Tree": number,
            "num_leaves": len(self.leaf_value),
            "num_cat": len(self.sets),
            "split_feature": _joined(self.feature),
            "split_gain": _joined(self.gain),
            "threshold": _joined(self.threshold),
            "decision_type": _joined(self.decision),
            "left_child": _joined(self.left),
            "right_child": _joined(self.right),
            "leaf_value": _joined(self.leaf_value),
            "leaf_weight": _joined(self.leaf_weight),
            "leaf_count": _joined(self.leaf_count),
            "internal_value": _joined(self.value),
            "internal_weight": _joined(self.weight),
            "internal_count": _joined(self.count),
        }
        if self.sets:
            lines["cat_boundaries"] = _joined(np.cumsum([0, *map(len, self.sets)]))
            lines["cat_threshold"] = _joined(word for words in self.sets for word in words)
        lines["is_linear"] = 0
        lines["shrinkage"] = 1
        return "".join(f"{key}={value}\n" for key, value in lines.items()) + "\n\n"


def _trees(served: ServedModel) -> list[Tree]:
    """All trees; the first of each output has its start value in it, as LightGBM does it itself."""
    start = served.trees.start
    if not served.n_trees:
        return [_constant(value) for value in start]
    return [
        _tree(served, nodes, float(start[i]) if i < len(start) else 0.0)
        for i, nodes in enumerate(served.nodes_by_tree())
    ]


def _constant(value: float) -> Tree:
    none, one = np.zeros(0), np.ones(1)
    whole = none.astype(np.int64)
    return Tree(whole, none, none, whole, whole, whole, none, none, whole, one * value, one, one.astype(np.int64), [])


def _tree(served: ServedModel, nodes: slice, start: float) -> Tree:
    trees = served.trees
    split = trees.feature[nodes] >= 0
    leaf = ~split
    number = np.where(split, np.cumsum(split) - 1, -leaf.cumsum(dtype=np.int64))  # as LightGBM numbers nodes
    first = trees.left[nodes][split].astype(np.int64)
    missing = trees.missing_left[nodes][split].astype(bool)
    categorical = trees.level_set[nodes][split] >= 0
    # LightGBM sends values that are not in a set to the right. If they should go left, the sides are swapped.
    swapped = categorical & missing
    in_sets = nodes.start + np.flatnonzero(trees.level_set[nodes] >= 0)
    sets = [_words(served.levels_left(i), bool(trees.missing_left[i])) for i in in_sets.tolist()]
    weight = trees.weight[nodes]
    value = _means(split, trees.left[nodes], weight, trees.value[nodes]) + start
    count = _counts(split, trees.left[nodes], weight)
    return Tree(
        feature=trees.feature[nodes][split].astype(np.int64),
        gain=trees.gain[nodes][split],
        threshold=np.where(categorical, np.cumsum(categorical) - 1.0, trees.threshold[nodes][split]),
        decision=MISSING_IS_NAN + np.where(categorical, CATEGORICAL, DEFAULT_LEFT * missing),
        left=number[first + swapped],
        right=number[first + ~swapped],
        value=value[split],
        weight=weight[split],
        count=count[split],
        leaf_value=value[leaf],
        leaf_weight=weight[leaf],
        leaf_count=count[leaf],
        sets=sets,
    )


def _words(left: Bools, missing_left: bool) -> list[int]:
    """The levels that go to the other side than missing ones, 32 in a word."""
    chosen = left != missing_left
    bits = np.zeros(max(1, -(-len(chosen) // 32)) * 32, dtype=bool)
    bits[: len(chosen)] = chosen
    words: list[int] = np.packbits(bits, bitorder="little").view("<u4").tolist()
    return words


def _means(split: Bools, left: NDArray[np.int32], weight: Floats, value: Floats) -> Floats:
    """What each node predicts on average; children come after their parent."""
    mean = value.astype(np.float64)
    for i in np.flatnonzero(split)[::-1]:
        children = slice(left[i], left[i] + 2)
        mean[i] = np.average(mean[children], weights=weight[children] if weight[children].sum() > 0 else None)
    return mean


def _counts(split: Bools, left: NDArray[np.int32], weight: Floats) -> Ints:
    """Weights as whole numbers, at least 1, that add up."""
    whole = weight[0] <= MOST_ROWS and (weight == np.rint(weight)).all()
    scale = 1.0 if whole or weight[0] <= 0 else MOST_ROWS / weight[0]
    count = np.maximum(np.rint(weight * scale), 1).astype(np.int64)
    for i in np.flatnonzero(split)[::-1]:
        count[i] = count[left[i]] + count[left[i] + 1]
    return count


def _joined(values: Iterable[Any]) -> str:
    return " ".join(map(_text, values))


def _text(value: Any) -> str:
    """A number as text that reads back with the same bits."""
    return repr(float(value)) if isinstance(value, float) else str(int(value))
