"""Models as ONNX graphs.

Trees become one ``TreeEnsembleRegressor`` (ai.onnx.ml 3) that reads numbers and thresholds as doubles. The newer
``TreeEnsemble`` is not used: onnxruntime 1.21 to 1.23 gives wrong sums for it, and earlier ones lack it for doubles.
The operator returns its sums in single precision. So each leaf holds its value in two parts, a coarse one, whose sums
are exact in single precision, and the small rest, both as shares of a power of two that no sum exceeds; the two sums
and the start value are added in double precision.

A categorical split becomes a column of its own, looked up by level: 0 goes left, 1 goes right. That leaves a single
kind of comparison in the trees.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.export.served import Floats, ServedModel, serve

if TYPE_CHECKING:
    from onnx import ModelProto

OPSET, ML_OPSET, IR_VERSION = 18, 3, 8


def to_onnx(model: Any, *, features: str = "selected") -> ModelProto:
    """Return a fitted model as an ONNX graph.

    The input ``X`` has type double and shape (rows, columns). A categorical column holds the position of the level in
    ``categories_``; NaN, and any number that is not such a position, is a missing level. A classifier has the outputs
    ``label`` (shape (rows,)) and ``probabilities`` (shape (rows, classes), columns in the order of ``classes_``); a
    regressor has ``prediction`` (shape (rows, targets)). Labels are int64 where ``classes_`` are whole numbers or
    bools, else strings. Lines become trees over the bins of their columns.

    The graph's metadata holds, as JSON, ``feature_names``, ``classes`` and ``levels`` (the levels of each categorical
    column, by name).

    Parameters
    ----------
    model : GBFSClassifier or GBFSRegressor
        Fitted; also one of the searches by cross-validation.
    features : {"selected", "all"}, default="selected"
        The columns of ``X``: those that the model bought, in the order of the training table, as ``transform`` returns
        them; or every column of that table.

    Returns
    -------
    onnx.ModelProto
        ``onnx.save`` writes it to a file, ``SerializeToString`` gives its bytes.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from sklearn.datasets import load_iris
    >>> from frugalboost import GBFSClassifier
    >>> from frugalboost.export import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GBFSClassifier(mu=0.01, max_iter=20).fit(X, y)
    >>> session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    >>> label, probabilities = session.run(None, {"X": model.transform(X)})
    >>> bool(np.allclose(probabilities, model.predict_proba(X), atol=1e-6))
    True
    """
    onnx = _onnx()
    served = serve(model, features)
    graph = Graph()
    raw = _raw(graph, served)
    if served.classes is None:
        outputs = [graph.output("prediction", onnx.TensorProto.DOUBLE, [None, served.trees.n_outputs])]
        graph.add("Identity", [_linked(graph, raw, served.link)], "prediction")
    else:
        outputs = _classes(graph, served, raw)
    inputs = [onnx.helper.make_tensor_value_info("X", onnx.TensorProto.DOUBLE, [None, len(served.names)])]
    body = onnx.helper.make_graph(graph.nodes, "frugalboost", inputs, outputs, graph.constants)
    versions = [onnx.helper.make_opsetid("", OPSET), onnx.helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    made: ModelProto = onnx.helper.make_model(
        body, opset_imports=versions, ir_version=IR_VERSION, producer_name="frugalboost"
    )
    onnx.helper.set_model_props(made, _metadata(served))
    return made


def _onnx() -> Any:
    """The package onnx, or an error that says how to install it."""
    try:
        import onnx
    except ImportError:
        raise ImportError("to_onnx needs the package onnx: pip install frugalboost[export]") from None
    return onnx


@dataclass
class Graph:
    """Nodes and constants of a graph that is being written."""

    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def add(self, kind: str, inputs: list[str], name: str | None = None, **attributes: Any) -> str:
        """Append a node with one output, and return the output's name."""
        name = name or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(_onnx().helper.make_node(kind, inputs, [name], **attributes))
        return name

    def constant(self, values: Any) -> str:
        """Append a constant, and return its name."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(_tensor(np.asarray(values), name))
        return name

    def output(self, name: str, kind: int, shape: list[int | None]) -> Any:
        """Describe an output."""
        return _onnx().helper.make_tensor_value_info(name, kind, shape)


def _tensor(values: NDArray[Any], name: str) -> Any:
    onnx = _onnx()
    if values.dtype == object:
        texts = [text.encode() for text in values.tolist()]
        return onnx.helper.make_tensor(name, onnx.TensorProto.STRING, values.shape, texts)
    return onnx.numpy_helper.from_array(values, name)


# ------------------------------------------------------------------------------------------------ trees


def _raw(graph: Graph, served: ServedModel) -> str:
    """Raw predictions, one column per output."""
    if not (served.trees.feature >= 0).any():  # a constant; there may be no columns
        constant = served.trees.start.copy()
        np.add.at(constant, np.arange(served.n_trees) % served.trees.n_outputs, served.trees.value)
        rows = graph.add("Shape", ["X"], start=0, end=1)
        shape = graph.add("Concat", [rows, graph.constant(np.array([len(constant)]))], axis=0)
        return graph.add("Expand", [graph.constant(constant[None, :]), shape])
    table, column = _with_sides(graph, served)
    scale = _scale(served)
    sums = graph.add("TreeEnsembleRegressor", [table], domain="ai.onnx.ml", **_ensemble(served, column, scale))
    double = graph.add("Cast", [sums], to=_onnx().TensorProto.DOUBLE)
    parts = graph.add("Reshape", [double, graph.constant(np.array([-1, 2, served.trees.n_outputs]))])
    total = graph.add("ReduceSum", [parts, graph.constant(np.array([1]))], keepdims=0)
    # onnxruntime drops the addition of a constant that is zero in single precision; shares are large enough.
    share = graph.add("Add", [total, graph.constant(served.trees.start[None, :] / scale)])
    return graph.add("Mul", [share, graph.constant(scale[None, :])])


def _ensemble(served: ServedModel, column: NDArray[np.int64], scale: Floats) -> dict[str, Any]:
    """The attributes of the operator; children are counted within a tree, as ours are."""
    trees, tree = served.trees, served.tree_of_node
    split = trees.feature >= 0
    leaf = np.flatnonzero(~split)
    number = np.arange(len(tree)) - trees.tree_begin[tree]
    threshold = np.where(trees.level_set >= 0, 0.5, trees.threshold)
    output = tree[leaf] % trees.n_outputs
    share = trees.value[leaf] / scale[output]
    coarse = np.rint(share * 2**22) / 2**22
    return {
        "n_targets": 2 * trees.n_outputs,
        "aggregate_function": "SUM",
        "nodes_treeids": tree.tolist(),
        "nodes_nodeids": number.tolist(),
        "nodes_modes": np.where(split, "BRANCH_LEQ", "LEAF").tolist(),
        "nodes_featureids": np.where(split, column, 0).tolist(),
        "nodes_values_as_tensor": _tensor(np.where(split, threshold, 0.0), "thresholds"),
        "nodes_truenodeids": np.where(split, trees.left, 0).tolist(),
        "nodes_falsenodeids": np.where(split, trees.left + 1, 0).tolist(),
        "nodes_missing_value_tracks_true": np.where(split, trees.missing_left, 0).tolist(),
        "target_treeids": np.tile(tree[leaf], 2).tolist(),
        "target_nodeids": np.tile(number[leaf], 2).tolist(),
        "target_ids": np.concatenate([output, trees.n_outputs + output]).tolist(),
        "target_weights_as_tensor": _tensor(np.concatenate([coarse, share - coarse]), "values"),
    }


def _scale(served: ServedModel) -> Floats:
    """For each output a power of two that no sum over trees exceeds; the same for classes, which are compared."""
    trees = served.trees
    largest = np.maximum.reduceat(np.abs(trees.value), trees.tree_begin[:-1]).reshape(-1, trees.n_outputs)
    sums = largest.sum(axis=0) if served.classes is None else np.full(trees.n_outputs, largest.sum())
    return np.asarray(2.0 ** np.clip(np.frexp(sums)[1], -1000, 1000), dtype=np.float64)


def _with_sides(graph: Graph, served: ServedModel) -> tuple[str, NDArray[np.int64]]:
    """The table with a column for each categorical split behind it, and the column that each node looks at."""
    column = served.trees.feature.astype(np.int64)
    tables, width = ["X"], len(served.names)
    for place, levels in served.levels.items():
        nodes = np.flatnonzero((served.trees.level_set >= 0) & (served.trees.feature == place))
        if not len(nodes):
            continue
        missing = served.trees.missing_left[nodes].astype(bool)
        left = np.column_stack([np.array([served.levels_left(node) for node in nodes.tolist()]), missing])
        sides, number = np.unique(~left, axis=0, return_inverse=True)  # equal splits share a column
        column[nodes] = width + number.ravel()
        tables.append(_looked_up(graph, place, len(levels), sides.T.astype(np.float64)))
        width += len(sides)
    return (graph.add("Concat", tables, axis=1) if len(tables) > 1 else "X"), column


def _looked_up(graph: Graph, place: int, levels: int, sides: Floats) -> str:
    """Rows of a table by the level in a column; its last row is for values that are not a level."""
    values = graph.add("Gather", ["X", graph.constant(np.int64(place))], axis=1)
    # NaN compares as false, so that it is not a level.
    inside = graph.add("And", [_compared(graph, "GreaterOrEqual", values, 0), _compared(graph, "Less", values, levels)])
    whole = graph.add("Equal", [values, graph.add("Floor", [values])])
    known = graph.add("And", [inside, whole])
    safe = graph.add("Where", [known, values, graph.constant(np.float64(levels))])
    level = graph.add("Cast", [safe], to=_onnx().TensorProto.INT64)
    return graph.add("Gather", [graph.constant(sides), level], axis=0)


def _compared(graph: Graph, how: str, values: str, bound: float) -> str:
    return graph.add(how, [values, graph.constant(np.float64(bound))])


# ------------------------------------------------------------------------------------------- predictions


def _linked(graph: Graph, raw: str, link: str) -> str:
    """Predictions from raw predictions."""
    if link == "identity":
        return raw
    if link == "softmax":
        return graph.add("Softmax", [raw], axis=1)
    if link == "exp":
        return graph.add("Exp", [raw])
    return graph.add("Sigmoid", [raw])


def _classes(graph: Graph, served: ServedModel, raw: str) -> list[Any]:
    """Label and probabilities."""
    labels = _labels(served)
    probabilities = _linked(graph, raw, served.link)
    if served.trees.n_outputs == 1:
        first = graph.add("Sub", [graph.constant(np.float64(1)), probabilities])
        probabilities = graph.add("Concat", [first, probabilities], axis=1)
    graph.add("Identity", [probabilities], "probabilities")
    best = graph.add("ArgMax", [probabilities], axis=1, keepdims=0)
    graph.add("Gather", [graph.constant(labels), best], "label", axis=0)
    kinds = _onnx().TensorProto
    return [
        graph.output("label", kinds.STRING if labels.dtype == object else kinds.INT64, [None]),
        graph.output("probabilities", kinds.DOUBLE, [None, len(labels)]),
    ]


def _labels(served: ServedModel) -> NDArray[Any]:
    """The classes as int64 or, in an array of objects, as texts."""
    assert served.classes is not None
    labels = served.classes.tolist()
    if all(isinstance(label, str) for label in labels):
        return np.array(labels, dtype=object)
    number = all(isinstance(label, bool | int | float) for label in labels)
    if number and all(label == int(label) and abs(label) < 2**63 for label in labels):
        return np.array([int(label) for label in labels], dtype=np.int64)
    raise ValueError(
        f"The classes {labels[:3]} can't be exported: labels in ONNX are whole numbers or texts. Fit the model on such "
        "labels, for example those of sklearn.preprocessing.LabelEncoder."
    )


def _metadata(served: ServedModel) -> dict[str, str]:
    levels = {served.names[place]: list(values) for place, values in served.levels.items()}
    content: dict[str, Any] = {"feature_names": list(served.names), "levels": levels}
    if served.classes is not None:
        content["classes"] = served.classes.tolist()
    return {name: json.dumps(value, default=str) for name, value in content.items()}
