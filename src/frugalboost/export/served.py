"""The parts of a fitted model that an export needs: columns, trees, start values, link, classes and levels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from frugalboost.estimators.base import GBFSBase
from frugalboost.estimators.cross_validation import GBFSCVBase
from frugalboost.export.lines import OF_NODES, lines_as_trees
from frugalboost.losses import BuiltIn, LogLoss, Loss, Poisson
from frugalboost.tables.names import feature_names
from frugalboost.training.ensemble import SET_BYTES, Ensemble

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class ServedModel:
    """A model as it will be served. Trees end at the best iteration, and count features by their place in ``names``.

    Lines are trees here, behind the others.
    """

    names: tuple[str, ...]  # columns of the table that is served, in order
    trees: Ensemble
    link: str  # "identity", "exp", "logistic" or "softmax"
    loss: str | None  # the name of a built-in one
    classes: NDArray[Any] | None  # None: a regressor
    levels: dict[int, tuple[Any, ...]]  # of each categorical column, by place
    bins: dict[int, NDArray[np.int16]]  # the bin of each of these levels; -1: it counts as missing

    @property
    def n_trees(self) -> int:
        """Trees of all outputs."""
        return len(self.trees.tree_begin) - 1

    @cached_property
    def tree_of_node(self) -> NDArray[np.int64]:
        """The tree that each node belongs to."""
        return np.repeat(np.arange(self.n_trees), np.diff(self.trees.tree_begin))

    def nodes_by_tree(self) -> Iterator[slice]:
        """Yield each tree's nodes."""
        for first, last in pairwise(self.trees.tree_begin.tolist()):
            yield slice(first, last)

    def levels_left(self, node: int) -> Bools:
        """Which levels of its column a categorical split sends to the left."""
        at = int(self.trees.level_set[node]) * SET_BYTES
        bits = np.unpackbits(self.trees.sets[at : at + SET_BYTES], bitorder="little").astype(bool)
        bins = self.bins[int(self.trees.feature[node])]
        left: Bools = np.where(bins < 0, bool(self.trees.missing_left[node]), bits[bins])
        return left


def serve(model: Any, features: str) -> ServedModel:
    """Return the exportable parts of a fitted model."""
    fitted = fitted_model(model)
    columns = _columns(fitted, features)
    names = feature_names(fitted)
    place = {int(column): i for i, column in enumerate(columns)}
    return ServedModel(
        names=tuple(names[j] for j in columns),
        trees=_cut(fitted._model.ensemble, fitted.best_iteration_, place),
        link=link_of(fitted._loss, fitted._model.ensemble.n_outputs),
        loss=fitted._loss.name if isinstance(fitted._loss, BuiltIn) else None,
        classes=getattr(fitted, "classes_", None),
        levels={place[j]: tuple(levels) for j, levels in fitted.categories_.items() if j in place},
        bins={place[j]: levels.bins for j, levels in fitted._levels.items() if j in place},
    )


def fitted_model(model: Any) -> GBFSBase:
    """The fitted classifier or regressor."""
    if isinstance(model, GBFSCVBase):
        check_is_fitted(model)
        model = model.estimator_
    if not isinstance(model, GBFSBase):
        raise TypeError(
            f"A {type(model).__name__} can't be exported, only a fitted GBFSClassifier or GBFSRegressor. "
            "From a pipeline or a search, export the fitted model inside it; the steps before it are not exported."
        )
    check_is_fitted(model)
    return model


def _columns(model: GBFSBase, features: str) -> NDArray[np.intp]:
    """The columns that the served table has."""
    if features not in ("selected", "all"):
        raise ValueError(f"features={features!r} is not known here. Choose 'selected' or 'all'.")
    return np.flatnonzero(model.support_) if features == "selected" else np.arange(model.n_features_in_)


def _cut(trees: Ensemble, iterations: int, place: dict[int, int]) -> Ensemble:
    """The first iterations as trees, lines too, with features numbered as in the served table."""
    last = iterations * trees.n_outputs
    nodes = slice(0, int(trees.tree_begin[last]))
    cut = replace(
        trees,
        tree_begin=trees.tree_begin[: last + 1],
        **{name: getattr(trees, name)[nodes] for name in OF_NODES},
    )
    served = lines_as_trees(cut)
    feature = np.array([place[j] if j >= 0 else -1 for j in served.feature.tolist()], dtype=np.int32)
    return replace(served, feature=feature)


def link_of(loss: BuiltIn | Loss, outputs: int) -> str:
    """The link function, found by trying values, since a loss may be the user's own."""
    at = np.concatenate([[-300.0, 300.0, -1e-3, 1e-3], np.linspace(-30, 30, 241)])
    known = {"identity": at, "exp": Poisson().inverse_link(at), "logistic": LogLoss().inverse_link(at)}
    if outputs > 1:
        at = np.column_stack([np.roll(at, 7 * k) for k in range(outputs)])
        known = {"identity": at, "exp": Poisson().inverse_link(at), "softmax": LogLoss().inverse_link(at)}
    found = np.asarray(loss.inverse_link(at.copy()), dtype=np.float64)
    for name, values in known.items():
        if found.shape == values.shape and np.allclose(found, values, rtol=1e-9, atol=1e-9):
            return name
    raise ValueError(
        f"loss={loss!r} has an inverse_link that can't be exported: it is not {_listed(list(known))}. Export a copy of "
        "the model with a loss that has one of these (set_params(loss=...)), and apply yours to its predictions."
    )


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
