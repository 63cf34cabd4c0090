"""Estimators to files and back."""

from __future__ import annotations

import os
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frugalboost import losses
from frugalboost.costs.resolve import is_structured
from frugalboost.files import format as model_file
from frugalboost.files.checks import (
    check_classes,
    check_description,
    check_levels,
    check_model,
    check_records,
    is_mapping_to_numbers,
    is_number,
    require,
)
from frugalboost.files.format import ModelFileError
from frugalboost.selection.backward import Outcome
from frugalboost.tables import Levels
from frugalboost.training.binning import Thresholds
from frugalboost.training.boosting import Curve, Model, Purchases
from frugalboost.training.ensemble import Ensemble
from frugalboost.training.fit import Memory

if TYPE_CHECKING:
    from frugalboost.estimators.base import GBFSBase

__all__ = ["ModelFileError", "load", "save"]

# The records that a model is made of, and the arrays in them that are not float64.
_PARTS: dict[str, type] = {"ensemble": Ensemble, "purchases": Purchases, "curve": Curve}
_TYPES = {
    "tree_begin": np.int64,
    "feature": np.int32,
    "left": np.int32,
    "missing_left": np.uint8,
    "level_set": np.int32,
    "sets": np.uint8,
    "iteration": np.int32,
    "n_features": np.int32,
}


def save(estimator: GBFSBase, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator."""
    path = os.fspath(path)
    model: Model = estimator._model
    arrays = {"prices": model.prices}
    for part in _PARTS:
        record = getattr(model, part)
        arrays.update({f"{part}.{f.name}": getattr(record, f.name) for f in fields(record)})
    thresholds = estimator._memory.thresholds if estimator.warm_start else None
    if thresholds is not None:  # a continued fit is announced
        arrays.update({f"thresholds.{name}": getattr(thresholds, name) for name in ("cuts", "offsets")})
    description = {
        "estimator": next(c.__name__ for c in type(estimator).__mro__ if c.__module__.startswith("frugalboost.")),
        "params": _params_to_file(estimator),
        "classes": getattr(estimator, "classes_", None),
        "levels": [[c, list(v.values), v.bins.tolist()] for c, v in sorted(model.levels.items())],
        "feature_names": list(getattr(estimator, "feature_names_in_", [])) or None,
        "impurity": model.impurity,
        "mu_max": model.mu_max,
        "best_iteration": model.best_iteration,
        "ending": model.ending,
        "seed": estimator._memory.seed,
        "structured_costs": is_structured(estimator.costs) or estimator._memory.lost_costs,
        "cost_unit": estimator.cost_unit_,
        "refit_scores": estimator.refit_scores_,
        "selling": estimator.selling_,
        "fingerprint": estimator._memory.fingerprint if estimator.warm_start else None,
        "table": getattr(estimator, "_fitted_on", None),  # pickles of earlier versions lack it
    }
    try:
        model_file.write(path, description, arrays)
    except (TypeError, UnicodeEncodeError) as error:
        raise TypeError(f"This model can't be saved in a file: {error}. Use pickle or joblib instead.") from None


def load(path: str | os.PathLike[str], *, loss: Any = None) -> Any:
    """Read a model that an estimator's ``save`` wrote. Nothing in the file is run.

    How a fit is run on a machine (``n_jobs``, ``verbose``, ``bins_folder``, ``screening``) is not taken from a file,
    whatever it says: the model has the defaults.

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

    Raises
    ------
    ModelFileError
        Where the file is not a model, or is damaged, whether by accident or on purpose.

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
    from frugalboost.estimators.base import GBFSBase

    return load_as(GBFSBase, path, loss=loss)


def load_as(wanted: type[GBFSBase], path: str | os.PathLike[str], *, loss: Any = None) -> Any:
    """Read a model into an estimator of a class, or of the class in the file where that is more special."""
    from frugalboost.estimators.classifier import GBFSClassifier, GBFSRegressor

    description, arrays = model_file.read(path)
    try:
        check_description(description)
        known: dict[str, type[GBFSBase]] = {c.__name__: c for c in (GBFSClassifier, GBFSRegressor)}
        require(description["estimator"] in known, "its kind of estimator is not known")
        stored = known[description["estimator"]]
        made = wanted if issubclass(wanted, stored) else stored
        if not issubclass(made, wanted):
            raise WrongKindError(f"{os.fspath(path)} holds a {stored.__name__}, not a {wanted.__name__}.")
        estimator = made(**_params_from_file(description["params"], loss, made))
        _check_params(estimator)
        model = _model_from(description, arrays)
        _restore(estimator, model, _thresholds_from(arrays, model), description)
    except WrongKindError:
        raise
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)} is damaged or not a frugalboost model: {error}.") from None
    return estimator


class WrongKindError(ModelFileError):
    """A file that holds another kind of model than was asked for."""


class MissingLossError(ValueError):
    """A model with a loss of its user's own was loaded without it, or one without with it."""


def _restore(estimator: GBFSBase, model: Model, thresholds: Thresholds | None, description: dict[str, Any]) -> None:
    check_records(description, len(model.prices))
    check_classes(description["classes"], model.ensemble.n_outputs, hasattr(type(estimator), "predict_proba"))
    estimator.n_features_in_ = len(model.prices)
    estimator.categories_ = {c: list(levels.values) for c, levels in model.levels.items()}
    if description["feature_names"] is not None:
        estimator.feature_names_in_ = np.array(description["feature_names"], dtype=object)
    if description["classes"] is not None:
        estimator.classes_ = description["classes"]
    estimator._publish(Outcome(model, description["refit_scores"], description["selling"]))
    fingerprint = description["fingerprint"]
    estimator._memory = Memory(
        model,
        estimator._loss,
        estimator._names(),
        description["seed"],
        thresholds=thresholds,
        lost_costs=description["structured_costs"],
        fingerprint=None if fingerprint is None else tuple(fingerprint),
    )
    seen = description["table"]
    estimator._fitted_on = None if seen is None else tuple(seen)
    estimator.cost_unit_ = description["cost_unit"]


def _model_from(description: dict[str, Any], arrays: model_file.Arrays) -> Model:
    _before_categories(arrays)
    parts = {part: cls(**_fields_of(part, cls, arrays)) for part, cls in _PARTS.items()}
    model = Model(
        **parts,
        prices=_typed(arrays, "prices", np.float64),
        impurity=float(description["impurity"]),
        mu_max=float(description["mu_max"]),
        best_iteration=description["best_iteration"],
        ending=description["ending"],
        levels=_levels_from(description["levels"]),
    )
    check_model(model)
    return model


def _fields_of(part: str, cls: type, arrays: model_file.Arrays) -> dict[str, NDArray[Any]]:
    return {f.name: _typed(arrays, f"{part}.{f.name}", _TYPES.get(f.name, np.float64)) for f in fields(cls)}


def _before_categories(arrays: model_file.Arrays) -> None:
    """Models of the first version of the format had no categorical features."""
    if "ensemble.level_set" not in arrays and "ensemble.sets" not in arrays:
        nodes = len(_typed(arrays, "ensemble.feature", np.int32))
        arrays["ensemble.level_set"] = np.full(nodes, -1, dtype=np.int32)
        arrays["ensemble.sets"] = np.zeros(0, dtype=np.uint8)


def _levels_from(stored: list[Any]) -> dict[int, Levels]:
    found: dict[int, Levels] = {}
    for entry in stored:
        require(isinstance(entry, list) and len(entry) == 3, "its levels are not given by feature")
        column, values, bins = entry
        check_levels(column, values, bins)
        require(column not in found, "the levels of a feature are given twice")
        found[column] = Levels(tuple(values), np.array(bins, dtype=np.int16))
    return found


def _thresholds_from(arrays: model_file.Arrays, model: Model) -> Thresholds | None:
    if "thresholds.cuts" not in arrays:
        return None
    cuts, offsets = _typed(arrays, "thresholds.cuts", np.float64), _typed(arrays, "thresholds.offsets", np.int64)
    fits = len(offsets) == len(model.prices) + 1 and offsets[0] == 0 and offsets[-1] == len(cuts)
    require(fits and ((sizes := np.diff(offsets)) >= 0).all() and (sizes <= 254).all(), "its bins do not fit")
    inside = np.ones(max(len(cuts) - 1, 0), dtype=bool)
    inside[offsets[(offsets > 0) & (offsets < len(cuts))] - 1] = False  # from one column to the next
    require(np.isfinite(cuts).all() and (cuts[1:] > cuts[:-1])[inside].all(), "its thresholds do not ascend")
    for c, levels in model.levels.items():
        require(np.array_equal(levels.cuts, cuts[offsets[c] : offsets[c + 1]]), "its bins do not fit its levels")
    return Thresholds(cuts, offsets, model.levels)


def _typed(arrays: model_file.Arrays, name: str, dtype: Any) -> NDArray[Any]:
    require(name in arrays, f"it lacks the array {name!r}")
    require(arrays[name].dtype == dtype, f"array {name!r} has the wrong type")
    return arrays[name]


_NOT_OF_THE_MODEL = ("n_jobs", "verbose", "bins_folder", "screening")  # how a fit is run; a file must not depend on it


def _params_to_file(estimator: GBFSBase) -> dict[str, Any]:
    params = dict(estimator.get_params(deep=False))
    loss = params["loss"]
    if isinstance(loss, losses.BuiltIn):
        params["loss"] = {"built_in": loss.name, **asdict(loss)}
    elif not isinstance(loss, str):
        params["loss"] = {"own": type(loss).__name__}
    for name in _NOT_OF_THE_MODEL:
        del params[name]
    if not isinstance(params["random_state"], int | np.integer | None):
        params["random_state"] = None  # a generator's state is of no use after fit
    if not isinstance(params["categorical_features"], str | None):
        params["categorical_features"] = np.asarray(params["categorical_features"]).tolist()
    if is_structured(params["costs"]):
        params["costs"] = estimator._model.paid_prices().tolist()
    elif hasattr(params["costs"], "items"):
        params["costs"] = dict(params["costs"].items())
    elif params["costs"] is not None:
        params["costs"] = np.asarray(params["costs"], dtype=np.float64).tolist()
    return params


def _params_from_file(params: dict[str, Any], loss: Any, made: type[GBFSBase]) -> dict[str, Any]:
    """The parameters of the class, less those about a machine: a file must not start threads or name folders."""
    names = made._get_param_names()
    for name, value in params.items():
        require(name in names, f"{made.__name__} has no parameter {name[:60]!r}")
        if name in made._parameter_constraints and name not in (*_NOT_OF_THE_MODEL, "loss"):
            require(_is_param(name, value), f"its parameter {name!r} is of a type that it can't have")
    require("loss" in params, "its parameters lack 'loss'")
    kept = {name: value for name, value in params.items() if name not in _NOT_OF_THE_MODEL}
    return {**kept, "loss": _loss_from_file(params["loss"], loss)}


def _is_param(name: str, value: Any) -> bool:
    if value is None or isinstance(value, str | bool) or is_number(value):
        return True
    if name == "costs" and isinstance(value, list):
        return all(map(is_number, value))
    if name == "categorical_features" and isinstance(value, list):
        return all(isinstance(v, str | int) for v in value)
    return name in ("costs", "class_weight") and is_mapping_to_numbers(value)


def _check_params(estimator: GBFSBase) -> None:
    """What scikit-learn and the losses say of the parameters."""
    try:
        estimator._validate_params()
        _ = estimator._loss
    except (TypeError, ValueError) as error:
        sentence = str(error).removesuffix(".")
        raise ModelFileError(sentence if len(sentence) <= 400 else f"{sentence[:400]} ...") from None


def _loss_from_file(stored: Any, loss: Any) -> Any:
    if isinstance(stored, dict) and isinstance(stored.get("own"), str):
        if loss is None:
            raise MissingLossError(
                f"This model was fitted with a loss of its own, {stored['own'][:60]!r}, which a file can't hold. "
                "Pass it: load(path, loss=...)."
            )
        try:
            losses.resolve_loss(loss, {})
        except (TypeError, ValueError) as error:
            raise MissingLossError(f"The loss passed to load is not one: {error}") from None
        return loss
    if loss is not None:
        raise MissingLossError("This model has a built-in loss; load it without passing one.")
    if isinstance(stored, str):
        return stored
    known = {**losses.CLASSIFICATION, **losses.REGRESSION}
    name = stored.get("built_in") if isinstance(stored, dict) else None
    if not isinstance(name, str) or name not in known:
        raise ModelFileError("its loss is not known")
    arguments = {k: v for k, v in stored.items() if k != "built_in"}
    try:
        require(all(v is None or is_number(v) for v in arguments.values()), "its loss has parameters it can't have")
        return known[name](**arguments)
    except (TypeError, ValueError):
        raise ModelFileError("its loss has parameters it can't have") from None
