"""Estimators in files: the description of an estimator beside its model, and the estimator made from both."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from frugalboost import losses
from frugalboost.costs import Cost, PerRow, Prices
from frugalboost.costs.resolve import is_structured
from frugalboost.estimators.fitted import publish
from frugalboost.files import format as model_file
from frugalboost.files import persistence
from frugalboost.files.checks import (
    check_baseline,
    check_classes,
    check_description,
    check_records,
    is_mapping_to_numbers,
    is_number,
    require,
)
from frugalboost.files.format import ModelFileError
from frugalboost.selection.final_fit import FitResult
from frugalboost.training.binning import Thresholds
from frugalboost.training.model import Model
from frugalboost.training.warm_start import WarmStart

__all__ = ["ModelFileError", "load", "save"]

T = TypeVar("T", bound=type)
KINDS: dict[str, Any] = {}  # the classes that files may hold, by name


def savable(cls: T) -> T:
    """Let files hold estimators of a class."""
    KINDS[cls.__name__] = cls
    return cls


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator."""
    path = os.fspath(path)
    model: Model = estimator._model
    warm: WarmStart = estimator._warm_start
    description = {
        "estimator": next(c.__name__ for c in type(estimator).__mro__ if c in KINDS.values()),
        "params": _params_to_file(estimator),
        "classes": getattr(estimator, "classes_", None),
        "levels": persistence.describe_levels(model),
        "feature_names": list(getattr(estimator, "feature_names_in_", [])) or None,
        "impurity": model.impurity,
        "mu_max": model.mu_max,
        "best_iteration": model.best_iteration,
        "ending": model.ending,
        "seed": warm.seed,
        "set_aside": warm.draw if warm.seed is not None else None,
        "structured_costs": is_structured(estimator.costs) or warm.lost_costs,
        "cost_unit": estimator.cost_unit_,
        "refit_scores": estimator.refit_scores_,
        "selling": estimator.selling_,
        "fingerprint": warm.fingerprint if estimator.warm_start else None,
        "draw": persistence.describe_draw(model) if estimator.warm_start and warm.thresholds is not None else None,
        "table": getattr(estimator, "_fitted_on", None),  # pickles of earlier versions lack it
        "forms": getattr(estimator, "_forms", None),  # how the recipe has read columns
    } | _baseline_of(estimator)
    try:
        # Thresholds are kept for a continued fit (warm_start=True).
        persistence.write(path, description, model, warm.thresholds if estimator.warm_start else None)
    except (TypeError, UnicodeEncodeError) as error:
        raise TypeError(f"This model can't be saved in a file: {error}. Use pickle or joblib instead.") from None


def load(path: str | os.PathLike[str], *, loss: Any = None) -> Any:
    """Read a model that an estimator's ``save`` wrote. Nothing in the file is run.

    Settings of a machine (``n_jobs``, ``device``, ``verbose``, ``bins_folder``, ``screening``) are never taken from a
    file: the model has the defaults.

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
    return load_as(BaseEstimator, path, loss=loss)


def load_as(wanted: type, path: str | os.PathLike[str], *, loss: Any = None) -> Any:
    """Read a model into an estimator of a class, or of the class in the file if that is derived from it."""
    description, arrays = model_file.read(path)
    try:
        check_description(description)
        require(description["estimator"] in KINDS, "its kind of estimator is not known")
        stored = KINDS[description["estimator"]]
        made = wanted if issubclass(wanted, stored) else stored
        if not issubclass(made, wanted):
            raise WrongKindError(f"{os.fspath(path)} holds a {stored.__name__}, not a {wanted.__name__}.")
        estimator = made(**_params_from_file(description["params"], loss, made))
        _check_params(estimator)
        model = persistence.model_from(description, arrays)
        _restore(estimator, model, persistence.thresholds_from(arrays, model), description)
    except WrongKindError:
        raise
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)} is damaged or not a frugalboost model: {error}.") from None
    return estimator


class WrongKindError(ModelFileError):
    """A file that holds another kind of model than was asked for."""


class MissingLossError(ValueError):
    """A model with a user's own loss was loaded without passing it, or another model with a loss."""


def _restore(estimator: Any, model: Model, thresholds: Thresholds | None, description: dict[str, Any]) -> None:
    check_records(description, len(model.prices))
    check_classes(description["classes"], model.ensemble.n_outputs, hasattr(type(estimator), "predict_proba"))
    estimator.n_features_in_ = len(model.prices)
    estimator.categories_ = {c: list(levels.values) for c, levels in model.levels.items()}
    if description["feature_names"] is not None:
        estimator.feature_names_in_ = np.array(description["feature_names"], dtype=object)
    if description["classes"] is not None:
        estimator.classes_ = description["classes"]
    else:
        estimator.n_outputs_ = model.ensemble.n_outputs
    of_survival = hasattr(estimator, "_set_baseline")
    require(not of_survival or model.ensemble.n_outputs == 1, "a model of survival has one output, and it has more")
    if description["baseline"] is not None:
        require(of_survival, "its kind of estimator has no baseline")
        check_baseline(*description["baseline"])
        estimator._set_baseline(*(np.array(part, dtype=np.float64) for part in description["baseline"]))
    publish(estimator, FitResult(model, description["refit_scores"], description["selling"]))
    fingerprint = description["fingerprint"]
    try:
        constraints = estimator._constraints(model.levels)
        paid_by_row = estimator._costs().row_prices is not None
    except ValueError as error:
        raise ModelFileError(str(error)[:400].removesuffix(".")) from None
    estimator._warm_start = WarmStart(
        model,
        estimator._loss,
        estimator._names(),
        description["seed"],
        thresholds=thresholds,
        lost_costs=description["structured_costs"],
        paid_by_row=paid_by_row,
        costs_in_file=estimator.costs if isinstance(estimator.costs, Cost) else None,
        fingerprint=None if fingerprint is None else tuple(fingerprint),
        constraints=constraints,
        draw=description["set_aside"],
    )
    fitted_on = description["table"]
    estimator._fitted_on = None if fitted_on is None else tuple(fitted_on)
    estimator.cost_unit_ = description["cost_unit"]
    estimator._forms = description["forms"]


def _baseline_of(estimator: Any) -> dict[str, Any]:
    """Times of events and the hazard at them, of a model of survival that was fitted by itself."""
    if not hasattr(estimator, "event_times_"):
        return {}
    return {"baseline": [estimator.event_times_.tolist(), estimator.baseline_hazard_.tolist()]}


_MACHINE_PARAMS = (
    "n_jobs",
    "device",
    "verbose",
    "bins_folder",
    "screening",
    "callbacks",
)  # how a fit is run; not saved
_EARLIER_PARAMS = {"multi_strategy": "one_output_per_tree"}  # what versions did with classes that did not say


def _params_to_file(estimator: Any) -> dict[str, Any]:
    params = dict(estimator.get_params(deep=False))
    loss = params["loss"]
    if isinstance(loss, losses.BuiltIn):
        params["loss"] = {"built_in": loss.name, **asdict(loss)}
    elif not isinstance(loss, str):
        params["loss"] = {"own": type(loss).__name__}
    for name in _MACHINE_PARAMS:
        del params[name]
    if not isinstance(params["scoring"], str):
        params["scoring"] = None
    if not isinstance(params["random_state"], int | np.integer | None):
        params["random_state"] = None  # the state of a generator is not needed after fit
    if not isinstance(params["categorical_features"], str | None):
        params["categorical_features"] = np.asarray(params["categorical_features"]).tolist()
    params |= _constraints_to_file(params)
    if is_structured(params["costs"]):
        params["costs"] = _paid_prices(estimator)
    elif hasattr(params["costs"], "items"):
        params["costs"] = dict(params["costs"].items())
    elif params["costs"] is not None:
        params["costs"] = np.asarray(params["costs"], dtype=np.float64).tolist()
    return params


def _paid_prices(estimator: Any) -> list[float] | dict[str, list[float]]:
    """What was paid for each feature; where rows pay, that and the prices per row."""
    model, costs = estimator._model, estimator._costs()
    if costs.row_prices is None:
        return model.paid_prices().tolist()  # type: ignore[no-any-return]
    paid = np.sum([np.asarray(rule.prices) for rule in costs.rules], axis=0)
    paid[model.purchases.feature] = model.purchases.price
    return {"paid": paid.tolist(), "per_row": costs.row_prices.tolist()}


def _is_paid_by_row(value: Any) -> bool:
    lists = isinstance(value, dict) and value.keys() == {"paid", "per_row"}
    return lists and all(isinstance(v, list) and all(map(is_number, v)) for v in value.values())


def _constraints_to_file(params: dict[str, Any]) -> dict[str, Any]:
    """``monotonic_cst`` and ``interaction_cst`` as lists and mappings."""
    monotonic, groups = params["monotonic_cst"], params["interaction_cst"]
    if hasattr(monotonic, "items"):
        monotonic = {name: int(value) for name, value in monotonic.items()}
    elif monotonic is not None:
        monotonic = [int(value) for value in monotonic]
    if groups is not None and not isinstance(groups, str):
        groups = [sorted((c if isinstance(c, str) else int(c) for c in group), key=str) for group in groups]
    return {"monotonic_cst": monotonic, "interaction_cst": groups}


def _params_from_file(params: dict[str, Any], loss: Any, made: Any) -> dict[str, Any]:
    """The parameters of the class, without those of a machine: a file must not start threads or name folders."""
    names = made._get_param_names()
    for name, value in params.items():
        require(name in names, f"{made.__name__} has no parameter {name[:60]!r}")
        if name in made._parameter_constraints and name not in (*_MACHINE_PARAMS, "loss"):
            require(_is_param(name, value), f"its parameter {name!r} is of a type that it can't have")
    require("loss" in params, "its parameters lack 'loss'")
    kept = {name: value for name, value in params.items() if name not in _MACHINE_PARAMS}
    if _is_paid_by_row(kept.get("costs")):
        try:
            kept["costs"] = Prices(kept["costs"]["paid"]) + PerRow(kept["costs"]["per_row"])
        except ValueError as error:
            raise ModelFileError(str(error)[:400].removesuffix(".")) from None
    before = _EARLIER_PARAMS if hasattr(made, "predict_proba") else {}
    return {**before, **kept, "loss": _loss_from_file(params["loss"], loss)}


def _is_param(name: str, value: Any) -> bool:
    if value is None or isinstance(value, str | bool) or is_number(value):
        return True
    if name == "costs" and isinstance(value, list):
        return all(map(is_number, value))
    if name == "costs" and _is_paid_by_row(value):
        return True
    if name == "categorical_features" and isinstance(value, list):
        return all(isinstance(v, str | int) for v in value)
    if name == "monotonic_cst" and isinstance(value, list):
        return all(map(is_number, value))
    if name == "interaction_cst" and isinstance(value, list):
        return all(isinstance(group, list) and all(isinstance(v, str | int) for v in group) for group in value)
    return name in ("costs", "class_weight", "monotonic_cst") and is_mapping_to_numbers(value)


def _check_params(estimator: Any) -> None:
    """Check the parameters with scikit-learn and the losses."""
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
                f"This model was fitted with a user's own loss, {stored['own'][:60]!r}, which a file can't hold. "
                "Pass it: load(path, loss=...)."
            )
        try:
            losses.resolve_loss(loss, {})
        except (TypeError, ValueError) as error:
            raise MissingLossError(f"The object passed to load is not a loss: {error}") from None
        return loss
    if loss is not None:
        raise MissingLossError("This model has a built-in loss; load it without passing one.")
    if isinstance(stored, str):
        return stored
    known = {**losses.CLASSIFICATION, **losses.REGRESSION, **losses.SURVIVAL}
    name = stored.get("built_in") if isinstance(stored, dict) else None
    if not isinstance(name, str) or name not in known:
        raise ModelFileError("its loss is not known")
    arguments = {k: v for k, v in stored.items() if k != "built_in"}
    try:
        require(all(v is None or is_number(v) for v in arguments.values()), "its loss has parameters it can't have")
        return known[name](**arguments)
    except (TypeError, ValueError):
        raise ModelFileError("its loss has parameters it can't have") from None
