"""A model to a file and back, together with a description of the estimator."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost._support.threads import LARGEST_INT
from frugalboost.files import format as model_file
from frugalboost.files.checks import check_levels, check_model, require
from frugalboost.tables import Levels
from frugalboost.training.binning import Thresholds
from frugalboost.training.ensemble import ARRAYS, Ensemble
from frugalboost.training.model import Curve, Draw, Model, Purchases
from frugalboost.training.scales import Scales

# The records that a model is made of, and the arrays in them that are not float64.
_PARTS: dict[str, type] = {"purchases": Purchases, "curve": Curve}
_OF_LINES = ("line", "slope")
_OPTIONAL = ("validation_score",)  # a fit without scoring has none
_TYPES = {
    "tree_begin": np.int64,
    "feature": np.int32,
    "left": np.int32,
    "missing_left": np.uint8,
    "level_set": np.int32,
    "sets": np.uint8,
    "line": np.int32,
    "begin": np.int64,
    "iteration": np.int32,
    "n_features": np.int32,
}


def write(path: str, description: dict[str, Any], model: Model, thresholds: Thresholds | None) -> None:
    """Write a model with a description, and with its bins if a continued fit may follow."""
    arrays: model_file.Arrays = {"prices": model.prices}
    for part in _PARTS:
        record = getattr(model, part)
        known = {f.name: getattr(record, f.name) for f in fields(record)}
        arrays.update({f"{part}.{name}": array for name, array in known.items() if array is not None})
    trees = model.ensemble
    without = () if len(trees.scales) else _OF_LINES  # earlier versions can read a model without lines
    arrays.update({f"ensemble.{name}": getattr(trees, name) for name in ARRAYS if name not in without})
    if len(trees.scales):
        arrays.update({f"scales.{f.name}": getattr(trees.scales, f.name) for f in fields(trees.scales)})
    if thresholds is not None:
        arrays.update({f"thresholds.{name}": getattr(thresholds, name) for name in ("cuts", "offsets")})
        if thresholds.scores is not None:
            arrays["thresholds.scores"] = thresholds.scores
        if model.draw is not None:
            arrays["draw.gains"] = model.draw.gains
    model_file.write(path, description, arrays)


def describe_draw(model: Model) -> dict[str, Any] | None:
    """The state of the draw of features, without the gains, which are an array."""
    if model.draw is None:
        return None
    return {f.name: getattr(model.draw, f.name) for f in fields(Draw) if f.name != "gains"}


def _draw_from(stored: dict[str, Any] | None, arrays: model_file.Arrays, model: Model) -> Draw | None:
    if stored is None:
        return None
    gains = _typed(arrays, "draw.gains", np.float64)
    require(len(gains) == len(model.prices), "it has gains of another number of features than there are")
    require((gains >= 0).all(), "its draw of features has gains that are negative")  # NaN is not
    counted = 0 <= stored["last_look"] <= stored["iterations"] <= LARGEST_INT
    require(
        counted and 0 <= stored["bought_then"] <= len(model.purchases.feature), "its draw of features is miscounted"
    )
    return Draw(gains=gains, **stored)


def describe_levels(model: Model) -> list[list[Any]]:
    """The levels of categorical features, by column."""
    return [[c, list(v.values), v.bins.tolist()] for c, v in sorted(model.levels.items())]


def model_from(description: dict[str, Any], arrays: model_file.Arrays) -> Model:
    """The model in a file; ModelFileError if it is not valid."""
    _before_categories(arrays)
    parts = {part: cls(**_fields_of(part, cls, arrays)) for part, cls in _PARTS.items()}
    model = Model(
        ensemble=_ensemble_from(arrays),
        **parts,
        prices=_typed(arrays, "prices", np.float64),
        impurity=float(description["impurity"]),
        mu_max=float(description["mu_max"]),
        best_iteration=description["best_iteration"],
        ending=description["ending"],
        levels=_levels_from(description["levels"]),
    )
    model = replace(model, draw=_draw_from(description["draw"], arrays, model))
    check_model(model)
    return model


def _fields_of(part: str, cls: type, arrays: model_file.Arrays) -> dict[str, NDArray[Any]]:
    names = [f.name for f in fields(cls) if f.name not in _OPTIONAL or f"{part}.{f.name}" in arrays]
    return {name: _typed(arrays, f"{part}.{name}", _TYPES.get(name, np.float64)) for name in names}


def _ensemble_from(arrays: model_file.Arrays) -> Ensemble:
    scales = Scales.none()
    if "scales.feature" in arrays:
        scales = Scales(**_fields_of("scales", Scales, arrays))
        require(len(scales) > 0, "it has scales without a feature")
    else:
        nodes = len(_typed(arrays, "ensemble.feature", np.int32))
        arrays["ensemble.line"], arrays["ensemble.slope"] = np.full(nodes, -1, dtype=np.int32), np.zeros(nodes)
    own = {name: _typed(arrays, f"ensemble.{name}", _TYPES.get(name, np.float64)) for name in ARRAYS}
    return Ensemble(**own, scales=scales)


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


def thresholds_from(arrays: model_file.Arrays, model: Model) -> Thresholds | None:
    """The bins for a continued fit; None if the file has none."""
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
    return Thresholds(cuts, offsets, model.levels, _scores_from(arrays, offsets, model))


def _scores_from(arrays: model_file.Arrays, offsets: NDArray[np.int64], model: Model) -> NDArray[np.int16] | None:
    """The scores of bins, for a continued fit with lines."""
    if "thresholds.scores" not in arrays:
        return None
    scores = _typed(arrays, "thresholds.scores", np.int16)
    require(len(scores) == offsets[-1] + len(model.prices), "its bins have scores of another number")
    require((scores > np.iinfo(np.int16).min).all(), "a score is too small")
    for c in model.levels:
        require(not scores[offsets[c] + c : offsets[c + 1] + c + 1].any(), "it has scores of levels")
    return scores


def _typed(arrays: model_file.Arrays, name: str, dtype: Any) -> NDArray[Any]:
    require(name in arrays, f"it lacks the array {name!r}")
    require(arrays[name].dtype == dtype, f"array {name!r} has the wrong type")
    return arrays[name]
