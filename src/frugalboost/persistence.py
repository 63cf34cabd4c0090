"""Estimators to files and back."""

from __future__ import annotations

import os
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frugalboost import losses, model_file
from frugalboost.binning import Thresholds
from frugalboost.boosting import Curve, Model, Purchases
from frugalboost.costs.resolve import is_structured
from frugalboost.ensemble import SET_BYTES, Ensemble
from frugalboost.fitting import Memory
from frugalboost.model_file import ModelFileError
from frugalboost.selection import Outcome
from frugalboost.tables import Levels

if TYPE_CHECKING:
    from frugalboost.base import GBFSBase

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
        "table": estimator._fitted_on,
    }
    try:
        model_file.write(path, description, arrays)
    except (TypeError, UnicodeEncodeError) as error:
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
    from frugalboost.base import GBFSBase

    return load_as(GBFSBase, path, loss=loss)


def load_as(wanted: type[GBFSBase], path: str | os.PathLike[str], *, loss: Any = None) -> Any:
    """Read a model into an estimator of a class, or of the class in the file where that is more special."""
    from frugalboost.estimators import GBFSClassifier, GBFSRegressor

    description, arrays = model_file.read(path)
    try:
        known: dict[str, type[GBFSBase]] = {c.__name__: c for c in (GBFSClassifier, GBFSRegressor)}
        stored = known[description["estimator"]]
        made = wanted if issubclass(wanted, stored) else stored
        if not issubclass(made, wanted):
            raise WrongKindError(f"{os.fspath(path)} holds a {stored.__name__}, not a {wanted.__name__}.")
        estimator = made(**_params_from_file(description["params"], loss))
        model = _model_from(description, arrays)
        _restore(estimator, model, _thresholds_from(arrays, model), description)
    except (MissingLossError, WrongKindError):
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise ModelFileError(f"{os.fspath(path)} is damaged or not a frugalboost model: {error}.") from None
    return estimator


class WrongKindError(ModelFileError):
    """A file that holds another kind of model than was asked for."""


class MissingLossError(ValueError):
    """A model with a loss of its user's own was loaded without it, or one without with it."""


def _restore(estimator: GBFSBase, model: Model, thresholds: Thresholds | None, description: dict[str, Any]) -> None:
    estimator._validate_params()
    _ = estimator._loss  # must be known
    estimator.n_features_in_ = len(model.prices)
    estimator.categories_ = {c: list(levels.values) for c, levels in model.levels.items()}
    if description["feature_names"] is not None:
        found = np.array(description["feature_names"], dtype=object)
        _require(found.shape == model.prices.shape, "it has another number of names than of features")
        _require(all(isinstance(n, str) for n in found), "a feature name is not a text")
        estimator.feature_names_in_ = found
    classes = description["classes"]
    if classes is not None:
        wanted = max(2, model.ensemble.n_outputs)
        fits = isinstance(classes, np.ndarray) and classes.shape == (wanted,)
        _require(fits, "its classes do not fit its trees")
        estimator.classes_ = classes
    _require((classes is not None) == hasattr(type(estimator), "predict_proba"), "its classes do not fit its kind")
    scores, selling = description["refit_scores"], description["selling"]
    for record in (scores, selling):
        _require(record is None or isinstance(record, dict), "its record of selection is not one")
    estimator._publish(Outcome(model, scores, selling))
    seed, fingerprint = description["seed"], description["fingerprint"]
    _require(seed is None or (type(seed) is int and 0 <= seed < 2**32), "its seed is not a number")
    known = isinstance(fingerprint, list) and [type(v) for v in fingerprint] == [int, str]
    _require(fingerprint is None or known, "its fingerprint is not one")
    estimator._memory = Memory(
        model,
        estimator._loss,
        estimator._names(),
        seed,
        thresholds=thresholds,
        lost_costs=bool(description["structured_costs"]),
        fingerprint=None if fingerprint is None else tuple(fingerprint),
    )
    seen = description.get("table")  # earlier versions did not know it
    fits = isinstance(seen, list) and [type(v) for v in seen] in ([int, str, str, str], [int, str, str, type(None)])
    _require(seen is None or fits, "what its table is known by is not that")
    estimator._fitted_on = None if seen is None else tuple(seen)
    unit = description["cost_unit"]
    _require(unit is None or isinstance(unit, str), "its unit of prices is not a text")
    estimator.cost_unit_ = unit


def _model_from(description: dict[str, Any], arrays: model_file.Arrays) -> Model:
    _before_categories(arrays)
    parts = {part: cls(**_fields_of(part, cls, arrays)) for part, cls in _PARTS.items()}
    model = Model(
        **parts,
        prices=_typed(arrays, "prices", np.float64),
        impurity=float(description["impurity"]),
        mu_max=float(description["mu_max"]),
        best_iteration=int(description["best_iteration"]),
        ending=str(description["ending"]),
        levels=_levels_from(description.get("levels", [])),
    )
    _check(model)
    return model


def _fields_of(part: str, cls: type, arrays: model_file.Arrays) -> dict[str, NDArray[Any]]:
    return {f.name: _typed(arrays, f"{part}.{f.name}", _TYPES.get(f.name, np.float64)) for f in fields(cls)}


def _before_categories(arrays: model_file.Arrays) -> None:
    """Models of the first version of the format had no categorical features."""
    if "ensemble.level_set" not in arrays and "ensemble.sets" not in arrays:
        arrays["ensemble.level_set"] = np.full(len(arrays["ensemble.feature"]), -1, dtype=np.int32)
        arrays["ensemble.sets"] = np.zeros(0, dtype=np.uint8)


def _levels_from(stored: Any) -> dict[int, Levels]:
    found = {}
    for column, values, bins in stored:
        _require(type(column) is int and column not in found, "the number of a categorical feature is not one")
        texts = {isinstance(v, str) for v in values}
        fits = len(texts) <= 1 and all(isinstance(v, str | int | float) and not isinstance(v, bool) for v in values)
        _require(
            fits and len(set(values)) == len(values) == len(bins), "the levels of a feature are not a list of them"
        )
        _require(all(type(b) is int and -1 <= b < 255 for b in bins), "a level lies in a bin that does not exist")
        found[column] = Levels(tuple(values), np.array(bins, dtype=np.int16))
    return found


def _thresholds_from(arrays: model_file.Arrays, model: Model) -> Thresholds | None:
    if "thresholds.cuts" not in arrays:
        return None
    cuts, offsets = _typed(arrays, "thresholds.cuts", np.float64), _typed(arrays, "thresholds.offsets", np.int64)
    fits = len(offsets) == len(model.prices) + 1 and offsets[0] == 0 and offsets[-1] == len(cuts)
    _require(bool(fits and ((sizes := np.diff(offsets)) >= 0).all() and (sizes <= 254).all()), "its bins do not fit")
    inside = np.ones(max(len(cuts) - 1, 0), dtype=bool)
    inside[offsets[(offsets > 0) & (offsets < len(cuts))] - 1] = False  # from one column to the next
    _require(bool(np.isfinite(cuts).all() and (np.diff(cuts)[inside] > 0).all()), "its thresholds do not ascend")
    for c, levels in model.levels.items():
        _require(np.array_equal(levels.cuts, cuts[offsets[c] : offsets[c + 1]]), "its bins do not fit its levels")
    return Thresholds(cuts, offsets, model.levels)


def _typed(arrays: model_file.Arrays, name: str, dtype: Any) -> NDArray[Any]:
    array = arrays[name]
    _require(array.dtype == dtype and array.ndim == 1, f"array {name!r} has the wrong type or shape")
    return array


def _check(model: Model) -> None:
    """Everything that a prediction or an attribute relies on."""
    trees, bought, curve = model.ensemble, model.purchases, model.curve
    trees.check(len(model.prices))
    nodes = len(trees.feature)
    _require(len(trees.sets) % SET_BYTES == 0, "its sets of levels are cut short")
    by_levels = trees.feature[(trees.feature >= 0) & (trees.level_set >= 0)]
    _require(set(by_levels.tolist()) <= model.levels.keys(), "it splits a feature by levels that it does not have")
    _require(all(0 <= c < len(model.prices) for c in model.levels), "it has levels of a feature that does not exist")
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


def _params_from_file(params: dict[str, Any], loss: Any) -> dict[str, Any]:
    stored = params["loss"]
    if isinstance(stored, dict) and "own" in stored:
        if loss is None:
            raise MissingLossError(
                f"This model was fitted with a loss of its own, {stored['own']!r}, which a file can't hold. "
                "Pass it: load(path, loss=...)."
            )
        try:
            losses.resolve_loss(loss, {})
        except (TypeError, ValueError) as error:
            raise MissingLossError(f"The loss passed to load is not one: {error}") from None
        return {**params, "loss": loss}
    if loss is not None:
        raise MissingLossError("This model has a built-in loss; load it without passing one.")
    if isinstance(stored, dict):
        known = {**losses.CLASSIFICATION, **losses.REGRESSION}
        arguments = {k: v for k, v in stored.items() if k != "built_in"}
        return {**params, "loss": known[stored["built_in"]](**arguments)}
    return params
