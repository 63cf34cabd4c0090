"""Checks of a model from a file, so that using it later is safe.

Each check raises a ModelFileError that says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.files.format import ModelFileError
from frugalboost.training.ensemble import SET_BYTES, Ensemble
from frugalboost.training.model import Curve, Model, Purchases

ENDINGS = ("max_iter", "converged", "early_stopping", "callback")


def require(condition: bool | np.bool_, otherwise: str) -> None:
    """Raise ModelFileError unless the condition holds."""
    if not condition:
        raise ModelFileError(otherwise)


# ------------------------------------------------------------------------------------ values of a description


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number; True and False are not."""
    return type(value) is int


def is_number(value: Any) -> bool:
    """Whether a value is a number that a float can hold."""
    return type(value) is float or (type(value) is int and abs(value) < 2**1000)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _list_of(item: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(item, value))


def _record(**entries: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """A mapping with these names exactly."""
    return lambda value: (
        isinstance(value, dict)
        and value.keys() == entries.keys()
        and all(is_one(value[k]) for k, is_one in entries.items())
    )


def _kinds(values: list[Any]) -> list[str]:
    return [type(v).__name__ for v in values]


def _or_none(is_one: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or is_one(value)


def is_mapping_to_numbers(value: Any) -> bool:
    """Tell a mapping of texts or numbers to numbers."""
    return isinstance(value, dict) and all(
        isinstance(k, str | int | float) and (is_number(v) or isinstance(v, bool)) for k, v in value.items()
    )


def _is_form(value: Any) -> bool:
    """Tell a mapping of texts to texts and lists of texts."""
    return isinstance(value, dict) and all(_is_text(v) or _list_of(_is_text)(v) for v in value.values())


_TABLES = (["int", "str", "str", "str"], ["int", "str", "str", "NoneType"])
_SCORE = _record(n_features=is_whole, train_loss=is_number, validation_loss=is_number)
_SOLD = _record(n_features=_list_of(is_whole), loss=_list_of(is_number), sold=_list_of(_list_of(is_whole)))


def _are_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_number, value))


_ENTRIES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "estimator": (_is_text, "a text"),
    "params": (lambda v: isinstance(v, dict) and all(map(_is_text, v)), "a mapping of names"),
    "classes": (_or_none(lambda v: isinstance(v, np.ndarray)), "an array"),
    "levels": (lambda v: isinstance(v, list), "a list"),
    "feature_names": (_or_none(_list_of(_is_text)), "a list of texts"),
    "impurity": (is_number, "a number"),
    "mu_max": (is_number, "a number"),
    "best_iteration": (is_whole, "a whole number"),
    "ending": (lambda v: _is_text(v) and v in ENDINGS, "one that is known"),
    "seed": (_or_none(lambda v: is_whole(v) and 0 <= v < 2**32), "a whole number between 0 and 2**32"),
    "set_aside": (_or_none(_is_text), "a text"),
    "structured_costs": (lambda v: isinstance(v, bool), "true or false"),
    "cost_unit": (_or_none(_is_text), "a text"),
    "refit_scores": (
        _or_none(_record(forward=_SCORE, refit=_SCORE, kept=lambda v: _is_text(v) and v in ("forward", "refit"))),
        "the scores of two models",
    ),
    "selling": (_or_none(_SOLD), "a record of what was sold"),
    "table": (_or_none(lambda v: isinstance(v, list) and _kinds(v) in _TABLES), "the checksums of a table"),
    "baseline": (_or_none(lambda v: isinstance(v, list) and len(v) == 2 and all(map(_are_numbers, v))), "two lists"),
    "forms": (_or_none(lambda v: isinstance(v, dict) and all(map(_is_form, v.values()))), "a mapping of forms"),
    "draw": (
        _or_none(
            _record(
                iterations=is_whole, last_look=is_whole, bought_then=is_whole, look_at_all=lambda v: isinstance(v, bool)
            )
        ),
        "the state of a draw of features",
    ),
    "fingerprint": (
        _or_none(lambda v: isinstance(v, list) and len(v) == 2 and is_whole(v[0]) and _is_text(v[1])),
        "a number and a text",
    ),
}


def check_description(description: dict[str, Any]) -> None:
    """Every entry is there and of its type."""
    description.setdefault("levels", [])  # models of the first version of the format had no categorical features
    description.setdefault("table", None)  # earlier versions did not have it
    description.setdefault("draw", None)  # likewise
    description.setdefault("forms", None)  # likewise
    description.setdefault("baseline", None)  # likewise
    description.setdefault("set_aside", None)  # likewise; rows were drawn in another way
    for name, (is_one, what) in _ENTRIES.items():
        require(name in description, f"its description lacks {name!r}")
        require(is_one(description[name]), f"its {name!r} is not {what}")


def check_records(description: dict[str, Any], n_features: int) -> None:
    """Names and the record of sold features refer to features that exist."""
    names, selling = description["feature_names"], description["selling"]
    require(names is None or len(names) == n_features, "it has another number of names than of features")
    if selling is not None:
        require(len({len(v) for v in selling.values()}) == 1, "its record of what was sold is uneven")
        sold = [c for columns in selling["sold"] for c in columns]
        require(all(0 <= c < n_features for c in sold), "it sold a feature that does not exist")
        require(all(0 <= n <= n_features for n in selling["n_features"]), "it owned more features than there are")
    scores = description["refit_scores"] or {}
    for model in scores.keys() - {"kept"}:
        right = 0 <= scores[model]["n_features"] <= n_features
        require(right, "a model of its scores has more features than there are")


def check_baseline(times: list[float], hazard: list[float]) -> None:
    """Ascending times of events, and a cumulative hazard that does not fall."""
    require(len(times) == len(hazard) > 0, "its baseline has another number of times than of hazards")
    finite = all(0 < t < np.inf for t in times) and all(0 <= v < np.inf for v in hazard)
    require(finite, "its baseline has numbers that it can't have")
    require(all(a < b for a, b in pairwise(times)), "the times of its baseline do not ascend")
    require(all(a <= b for a, b in pairwise(hazard)), "the hazard of its baseline falls")


def check_classes(classes: NDArray[Any] | None, outputs: int, of_classifier: bool) -> None:
    """Two classes have one output, more have one each; a regressor has one for each target."""
    require((classes is not None) == of_classifier, "its classes do not fit its kind")
    if classes is None:
        return
    require(outputs != 2 and len(classes) == max(2, outputs), "its classes do not fit its trees")
    labels = classes.tolist()
    require(len(set(labels)) == len(labels), "a class occurs twice")
    require(all(v == v and abs(v) != np.inf for v in labels if isinstance(v, float)), "a class is not a finite number")


# ------------------------------------------------------------------------------------------------- the model


def check_model(model: Model) -> None:
    """Everything that predictions, attributes, reports and exports rely on."""
    n_features = len(model.prices)
    require(n_features > 0, "it has no features")
    require((model.prices >= 0).all(), "a price is negative or not a number")
    _check_trees(model.ensemble, n_features)
    _check_splits_by_levels(model)
    require(0 <= model.best_iteration <= model.n_iterations, "its best iteration is not one of its iterations")
    _check_purchases(model.purchases, n_features, model.n_iterations)
    _check_use(model)
    _check_curve(model.curve, model.purchases, model.n_iterations)


def _check_trees(trees: Ensemble, n_features: int) -> None:
    """Node arrays describe trees, in the order in which they were grown."""
    nodes = len(trees.feature)
    require(len(trees.gain) == nodes and len(trees.weight) == nodes, "its node arrays differ in length")
    try:
        trees.check(n_features)  # everything that walking the trees relies on
    except ValueError as error:
        raise ModelFileError(str(error).removeprefix("The model is damaged: ").removesuffix(".")) from None
    split = trees.feature >= 0
    leaf = ~split
    require((trees.feature >= -1).all(), "a tree splits on a feature that does not exist")
    # Breadth first: the children of a tree's first split are nodes 1 and 2, of its second 3 and 4, and so on. So every
    # node but the root has one parent.
    splits = np.concatenate([[0], np.cumsum(split)])
    of_tree = np.diff(splits[trees.tree_begin])
    require((np.diff(trees.tree_begin) == 2 * of_tree + 1).all(), "a tree has nodes without a parent, or with two")
    before = splits[:-1] - np.repeat(splits[trees.tree_begin[:-1]], np.diff(trees.tree_begin))
    expected = np.where(split, 2 * before + 1, -1)
    require((trees.left == expected).all(), "a tree has nodes without a parent, or with two")
    require((trees.level_set >= -1).all() and (trees.level_set[leaf] == -1).all(), "a leaf has a set of levels")
    require((trees.missing_left <= 1).all(), "a split sends missing values neither left nor right")
    require((trees.threshold[split] > -np.inf).all(), "a split has no threshold")
    require(np.isfinite(trees.start).all() and np.isfinite(trees.value).all(), "a value of a leaf is not finite")
    require(np.isfinite(trees.gain).all(), "the gain of a split is not finite")
    _check_lines(trees)
    require((np.isfinite(trees.weight) & (trees.weight >= 0)).all(), "the weight of a node is negative or not finite")


def _check_lines(trees: Ensemble) -> None:
    """Slopes and scales are finite, and the thresholds of a scale ascend."""
    scales = trees.scales
    require((trees.line >= -1).all(), "a line is drawn on a scale that does not exist")
    require(np.isfinite(trees.slope).all() and (trees.slope[trees.line < 0] == 0).all(), "a slope is not one of a line")
    require(np.isfinite(scales.scores).all() and np.isfinite(scales.cuts).all(), "a scale is not finite")
    for s in range(len(scales)):
        require((np.diff(scales.cuts_of(s)) > 0).all(), "the thresholds of a scale do not ascend")


def _check_splits_by_levels(model: Model) -> None:
    trees = model.ensemble
    require(len(trees.sets) % SET_BYTES == 0, "its sets of levels are cut short")
    require(all(0 <= c < len(model.prices) for c in model.levels), "it has levels of a feature that does not exist")
    has_levels = np.zeros(len(model.prices), dtype=bool)
    has_levels[list(model.levels)] = True
    split = trees.feature >= 0
    by_levels = trees.level_set[split] >= 0
    require(
        (by_levels <= has_levels[trees.feature[split]]).all(), "it splits a feature by levels that it does not have"
    )
    require((by_levels >= has_levels[trees.feature[split]]).all(), "it splits a feature with levels by a threshold")
    require(not has_levels[trees.scales.feature].any(), "it has a line on a feature with levels")


def _check_purchases(bought: Purchases, n_features: int, iterations: int) -> None:
    number = len(bought.feature)
    require(all(len(getattr(bought, f.name)) == number for f in fields(bought)), "its list of purchases is uneven")
    if not number:
        return
    in_table = (bought.feature >= 0) & (bought.feature < n_features)
    require(in_table.all(), "it bought a feature that does not exist")
    require(len(np.unique(bought.feature)) == number, "it bought a feature twice")
    when = bought.iteration
    require(when[0] >= 1 and when[-1] <= iterations and (when[:-1] <= when[1:]).all(), "its purchases are not in order")
    require((np.isfinite(bought.price) & (bought.price >= 0)).all(), "a price paid is negative or not finite")
    require(np.isfinite(bought.gain).all(), "the gain of a purchase is not finite")


def _check_use(model: Model) -> None:
    """A tree uses only features that are bought by then."""
    trees, bought = model.ensemble, model.purchases
    since = np.full(len(model.prices), np.iinfo(np.int64).max)
    since[bought.feature] = bought.iteration
    tree = np.repeat(np.arange(len(trees.tree_begin) - 1), np.diff(trees.tree_begin))
    used = trees.used_feature
    uses = used >= 0
    iteration = tree[uses] // trees.n_outputs + 1
    require((since[used[uses]] <= iteration).all(), "it uses a feature it did not buy")


def _check_curve(curve: Curve, bought: Purchases, iterations: int) -> None:
    curves = [getattr(curve, f.name) for f in fields(curve)]
    require(all(len(v) == iterations + 1 for v in curves if v is not None), "its history has another length")
    scores = curve.validation_score
    require(scores is None or not np.isinf(scores).any(), "a score in its history is not finite")
    owned = np.searchsorted(bought.iteration, np.arange(iterations + 1), side="right")
    require((curve.n_features == owned).all(), "its history does not agree with its purchases")
    require((np.isfinite(curve.cost) & (curve.cost >= 0)).all(), "a cost in its history is negative or not finite")
    require(not (curve.prediction_cost < 0).any(), "a cost in its history is negative")


def check_levels(column: Any, values: Any, bins: Any) -> None:
    """The levels of one categorical feature, and the bins they lie in."""
    require(is_whole(column) and column >= 0, "the number of a categorical feature is not a column number")
    fits = isinstance(values, list) and isinstance(bins, list) and len(values) == len(bins)
    require(fits, "the levels of a feature are not a list of them")
    texts = {isinstance(v, str) for v in values}
    plain = len(texts) <= 1 and all(type(v) in (str, int, float) for v in values)
    require(plain, "the levels of a feature are neither all texts nor all numbers")
    finite = all(v == v and abs(v) != np.inf for v in values if type(v) is float)
    ascend = finite and all(a < b for a, b in pairwise(values))
    require(ascend, "the levels of a feature are not finite, or not in their order")
    require(all(is_whole(b) and -1 <= b < 255 for b in bins), "a level lies in a bin that does not exist")
