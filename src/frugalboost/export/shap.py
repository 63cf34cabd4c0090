"""Models for shap: ``shap.TreeExplainer`` takes what :func:`to_shap` returns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.export.lightgbm import to_lightgbm
from frugalboost.export.served import Floats, ServedModel, fitted_model, serve
from frugalboost.losses import LogLoss, SquaredError

NOTHING = 2.0**-40  # the share of a tree's weight that a leaf without rows has; shap divides by weights

# What shap calls the unit of raw predictions, by link, and our losses.
UNITS = {"identity": "raw_value", "logistic": "log_odds"}
OBJECTIVES: dict[type, str] = {SquaredError: "squared_error", LogLoss: "binary_crossentropy"}


def to_shap(model: Any, *, features: str = "all") -> Any:
    """Return a fitted model as ``shap.TreeExplainer`` takes it.

    SHAP values and the base value add up to the raw prediction: ``predict`` of a regressor (its logarithm with Poisson
    loss), ``decision_function`` of a classifier. Without data, they follow the weights of the training rows in every
    leaf, sample weights included; with ``shap.TreeExplainer(..., data=rows)`` they are against these rows.

    Parameters
    ----------
    model : GBFSClassifier or GBFSRegressor
        Fitted; also one of the searches by cross-validation.
    features : {"all", "selected"}, default="all"
        The columns of the table to explain: the whole table, as ``predict`` takes it; or only those that the model
        bought, in the order of the training table, as ``transform`` returns them. shap does not check columns: give it
        all of them, in the order of the fit.

    Returns
    -------
    dict or lightgbm.Booster
        Trees as arrays, in the form that shap takes. With categorical features, of which shap's own trees know nothing,
        it is a Booster (the extra "export"): give the explainer a pandas data frame that holds them in columns of type
        category.

    See Also
    --------
    to_lightgbm : The text of that Booster.

    Examples
    --------
    >>> import numpy as np
    >>> import shap
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor
    >>> from frugalboost.export import to_shap
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = GBFSRegressor(mu=0.02, max_iter=50).fit(X, y)
    >>> explained = shap.TreeExplainer(to_shap(model))(X)
    >>> bool(np.allclose(explained.values.sum(axis=1) + explained.base_values, model.predict(X)))
    True
    """
    served = serve(model, features)
    if served.levels:
        return _booster(model, features)
    loss = fitted_model(model)._loss
    return {
        "trees": list(_trees(served)),
        "base_offset": served.trees.start.copy(),
        "input_dtype": np.float64,
        "internal_dtype": np.float64,
        "tree_output": UNITS.get(served.link),
        "objective": OBJECTIVES.get(type(loss)) if served.trees.n_outputs == 1 else None,
        "feature_names": list(served.names),  # shap takes names from data frames; this is for people
    }


def _booster(model: Any, features: str) -> Any:
    try:
        import lightgbm
    except ImportError:
        raise ImportError(
            "The table has categories, which shap reads by way of LightGBM: pip install 'frugalboost[export]'."
        ) from None
    return lightgbm.Booster(model_str=to_lightgbm(model, features=features))


def _trees(served: ServedModel) -> Iterator[dict[str, NDArray[Any]]]:
    """Each tree; those of an iteration that differ in their leaf values alone are one tree with several outputs."""
    outputs = served.trees.n_outputs
    if not served.n_trees:
        yield _tree(served, slice(0, 0), np.zeros((1, outputs)))
        return
    begin = served.trees.tree_begin.tolist()
    nodes = [slice(first, last) for first, last in pairwise(begin)]
    for first in range(0, len(nodes), outputs):
        alike: dict[bytes, list[int]] = {}
        for output in range(outputs):
            alike.setdefault(_shape(served, nodes[first + output]), []).append(output)
        for group in alike.values():
            own = nodes[first + group[0]]
            values = np.zeros((own.stop - own.start, outputs))
            for output in group:
                values[:, output] = served.trees.value[nodes[first + output]]
            yield _tree(served, own, values)


def _shape(served: ServedModel, nodes: slice) -> bytes:
    """All of a tree but its values."""
    trees = served.trees
    parts = (trees.feature, trees.left, trees.missing_left, trees.threshold, trees.weight)
    return b"".join(part[nodes].tobytes() for part in parts)


def _tree(served: ServedModel, nodes: slice, values: Floats) -> dict[str, NDArray[Any]]:
    """One tree; no nodes stand for a single leaf."""
    trees = served.trees
    split = trees.feature[nodes] >= 0 if nodes.stop > nodes.start else np.zeros(1, dtype=bool)
    left, right, default = (np.full(len(split), -1, dtype=np.int32) for _ in range(3))
    feature = np.full(len(split), -2, dtype=np.int32)  # as shap marks leaves
    threshold, weight = np.zeros(len(split)), np.ones(len(split))
    if nodes.stop > nodes.start:
        first = trees.left[nodes][split]
        left[split], right[split] = first, first + 1
        default[split] = first + (trees.missing_left[nodes][split] == 0)
        feature[split], threshold[split] = trees.feature[nodes][split], trees.threshold[nodes][split]
        weight = _weights(split, trees.left[nodes], trees.weight[nodes])
    return {
        "children_left": left,
        "children_right": right,
        "children_default": default,
        "features": feature,
        "thresholds": threshold,
        "values": np.where(split[:, None], 0.0, values),
        "node_sample_weight": weight,
    }


def _weights(split: NDArray[np.bool_], left: NDArray[np.int32], weight: Floats) -> Floats:
    """Weights above zero that add up, as shares of the whole."""
    total = float(weight[0])
    share = weight / total if 0 < total < np.inf else np.ones(len(weight))
    share = np.maximum(share, NOTHING)
    for i in np.flatnonzero(split)[::-1].tolist():  # children come after their parent
        share[i] = share[left[i]] + share[left[i] + 1]
    made: Floats = share
    return made
