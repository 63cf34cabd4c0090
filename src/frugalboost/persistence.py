"""Estimators to files and back."""

from __future__ import annotations

import os
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frugalboost import losses, model_file
from frugalboost.boosting import Curve, Model, Purchases
from frugalboost.ensemble import Ensemble
from frugalboost.fitting import Memory
from frugalboost.model_file import ModelFileError

if TYPE_CHECKING:
    from frugalboost.base import GBFSBase

__all__ = ["ModelFileError", "load", "save"]

# Which arrays a model is made of, and the type each must have.
_PARTS: dict[str, tuple[type, str]] = {
    "ensemble": (Ensemble, "start"),
    "purchases": (Purchases, "feature"),
    "curve": (Curve, "train_loss"),
}
_TYPES = {
    "tree_begin": np.int64,
    "feature": np.int32,
    "left": np.int32,
    "missing_left": np.uint8,
    "iteration": np.int32,
    "n_features": np.int32,
}


def save(estimator: GBFSBase, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator."""
    model: Model = estimator._model
    arrays = {"prices": model.prices}
    for part in _PARTS:
        record = getattr(model, part)
        arrays.update({f"{part}.{f.name}": getattr(record, f.name) for f in fields(record)})
    description = {
        "estimator": type(estimator).__name__,
        "params": _params_to_file(estimator),
        "classes": getattr(estimator, "classes_", None),
        "feature_names": list(getattr(estimator, "feature_names_in_", [])) or None,
        "impurity": model.impurity,
        "mu_max": model.mu_max,
        "best_iteration": model.best_iteration,
        "ending": model.ending,
    }
    try:
        model_file.write(path, description, arrays)
    except TypeError as error:
        raise TypeError(f"This model can't be saved in a file: {error}. Use pickle or joblib instead.") from None


def load(path: str | os.PathLike[str], *, loss: Any = None) -> Any:
    """Read a model that an estimator's ``save`` wrote. Nothing in the file is run.

    Parameters
    ----------
    path : str or path
        The file.
    loss : object, default=None
        The loss object, for a model that was fitted with one of your own; a file can't hold it.

    Returns
    -------
    GBFSClassifier or GBFSRegressor
        Fitted, as it was saved.

    Examples
    --------
    >>> import tempfile, os
    >>> from sklearn.datasets import load_iris
    >>> import frugalboost
    >>> X, y = load_iris(return_X_y=True)
    >>> path = os.path.join(tempfile.mkdtemp(), "iris.frugal")
    >>> frugalboost.GBFSClassifier(mu=0.01, max_iter=10).fit(X, y).save(path)
    >>> frugalboost.load(path)
    GBFSClassifier(max_iter=10, mu=0.01)
    """
    from frugalboost.estimators import GBFSClassifier, GBFSRegressor

    description, arrays = model_file.read(path)
    try:
        kinds: dict[str, type[GBFSBase]] = {cls.__name__: cls for cls in (GBFSClassifier, GBFSRegressor)}
        estimator = kinds[description["estimator"]](**_params_from_file(description["params"], loss))
        model = _model_from(description, arrays)
        _restore(estimator, model, description)
    except MissingLossError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise ModelFileError(f"{os.fspath(path)} is damaged or not a frugalboost model: {error}.") from None
    return estimator


class MissingLossError(ValueError):
    """A model with a loss of its user's own was loaded without it."""


def _restore(estimator: GBFSBase, model: Model, description: dict[str, Any]) -> None:
    estimator._validate_params()
    _ = estimator._loss  # must be known
    estimator.n_features_in_ = len(model.prices)
    if description["feature_names"] is not None:
        names = np.array(description["feature_names"], dtype=object)
        _require(len(names) == len(model.prices), "it has another number of names than of features")
        _require(all(isinstance(n, str) for n in names), "a feature name is not a text")
        estimator.feature_names_in_ = names
    classes = description["classes"]
    if classes is not None:
        wanted = max(2, model.ensemble.n_outputs)
        _require(isinstance(classes, np.ndarray) and len(classes) == wanted, "its classes do not fit its trees")
        estimator.classes_ = classes
    _require((classes is not None) == hasattr(type(estimator), "predict_proba"), "its classes do not fit its kind")
    estimator._publish(model)
    estimator._memory = Memory(model, None, 0, None) if estimator.warm_start else None


def _model_from(description: dict[str, Any], arrays: model_file.Arrays) -> Model:
    parts = {part: cls(**_fields_of(part, cls, arrays)) for part, (cls, _) in _PARTS.items()}
    model = Model(
        **parts,
        prices=_typed(arrays, "prices", np.float64),
        impurity=float(description["impurity"]),
        mu_max=float(description["mu_max"]),
        best_iteration=int(description["best_iteration"]),
        ending=str(description["ending"]),
    )
    _check(model)
    return model


def _fields_of(part: str, cls: type, arrays: model_file.Arrays) -> dict[str, NDArray[Any]]:
    return {f.name: _typed(arrays, f"{part}.{f.name}", _TYPES.get(f.name, np.float64)) for f in fields(cls)}


def _typed(arrays: model_file.Arrays, name: str, dtype: Any) -> NDArray[Any]:
    array = arrays[name]
    _require(array.dtype == dtype and array.ndim == 1, f"array {name!r} has the wrong type or shape")
    return array


def _check(model: Model) -> None:
    """Everything that a prediction or an attribute relies on."""
    trees, bought, curve = model.ensemble, model.purchases, model.curve
    trees.check(len(model.prices))
    nodes = len(trees.feature)
    _require(len(trees.gain) == nodes and len(trees.weight) == nodes, "its node arrays differ in length")
    _require(0 <= model.best_iteration <= model.n_iterations, "its best iteration is not one of its iterations")
    _require(model.ending in ("max_iter", "converged", "early_stopping"), "its ending is not known")
    for f in fields(curve):
        _require(len(getattr(curve, f.name)) == model.n_iterations + 1, "its history has another length")
    for f in fields(bought):
        _require(len(getattr(bought, f.name)) == len(bought.feature), "its list of purchases is uneven")
    if len(bought.feature):
        in_table = (bought.feature >= 0) & (bought.feature < len(model.prices))
        _require(bool(in_table.all()), "it bought a feature that does not exist")
        _require(len(np.unique(bought.feature)) == len(bought.feature), "it bought a feature twice")
    _require(
        set(np.unique(trees.feature[trees.feature >= 0])) <= set(bought.feature),
        "it uses a feature it did not buy",
    )


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise ModelFileError(otherwise)


def _params_to_file(estimator: GBFSBase) -> dict[str, Any]:
    params = dict(estimator.get_params(deep=False))
    loss = params["loss"]
    if isinstance(loss, losses.BuiltIn):
        params["loss"] = {"built_in": loss.name, **asdict(loss)}
    elif not isinstance(loss, str):
        params["loss"] = {"own": type(loss).__name__}
    if not isinstance(params["random_state"], int | np.integer | None):
        params["random_state"] = None  # a generator's state is of no use after fit
    if params["costs"] is not None and not isinstance(params["costs"], dict):
        params["costs"] = estimator._model.prices.tolist()
    return params


def _params_from_file(params: dict[str, Any], loss: Any) -> dict[str, Any]:
    stored = params["loss"]
    if isinstance(stored, dict) and "own" in stored:
        if loss is None:
            raise MissingLossError(
                f"This model was fitted with a loss of its own, {stored['own']!r}, which a file can't hold. "
                "Pass it: load(path, loss=...)."
            )
        return {**params, "loss": loss}
    if isinstance(stored, dict):
        known = {**losses.CLASSIFICATION, **losses.REGRESSION}
        arguments = {k: v for k, v in stored.items() if k != "built_in"}
        return {**params, "loss": known[stored["built_in"]](**arguments)}
    return params
