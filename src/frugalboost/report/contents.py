"""Everything that a report shows, as plain lists and numbers: what the page, `run.json` and programs read."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from frugalboost import losses
from frugalboost.costs.cost import FeatureTable
from frugalboost.costs.owned_bags import find_bags, named_bags, paid_for_bags, paying_bags
from frugalboost.costs.resolve import has_row_prices
from frugalboost.estimators.base import GBFSBase
from frugalboost.estimators.made_of import made_of
from frugalboost.page.contents import FORMAT, Contents
from frugalboost.page.stops import MOST_LISTED
from frugalboost.report.effects import effects_of
from frugalboost.report.facts import Notice, facts_of
from frugalboost.report.findings import Findings, Point
from frugalboost.report.kinds import kind_of
from frugalboost.report.quality import quality_of
from frugalboost.report.relations import relations_of
from frugalboost.report.tree import first_that_splits, first_tree
from frugalboost.tables.names import feature_names
from frugalboost.tables.sample import Sample

MOST_RELATED = 25  # features whose relations are looked at, those with the largest gains


def contents_of(
    findings: Findings,
    sample: Sample,
    *,
    title: str,
    about: dict[str, Any] | None = None,
    notices: Sequence[Notice] = (),
    settings: dict[str, Any] | None = None,
    names: Sequence[str] | None = None,
) -> Contents:
    """Collect the contents of a report.

    Parameters
    ----------
    findings : Findings
        Of a search.
    sample : Sample
        The table it was made on, checked.
    title : str
        Of the report.
    about : dict or None, default=None
        Where the table came from: "source", "target", and so on.
    notices : sequence of Notice, default=()
        Notices from reading the table.
    settings : dict or None, default=None
        The call: "command" or "python".
    names : sequence of str or None, default=None
        Of all columns, where the model does not know them.

    Returns
    -------
    dict
        Ready for JSON.
    """
    model = findings.choice.model
    names = feature_names(model) if names is None else names
    facts = facts_of(sample, model, names, findings)
    index = Index(names)
    chosen = chosen_features(findings, index)
    strongest = sorted(chosen, key=lambda f: -f["gain"])[:MOST_RELATED]
    contents = {
        "format": FORMAT,
        "title": title,
        "about": {"task": task_of(model), **(about or {})},
        "measure": {
            "scoring": findings.measure.scoring,
            "title": findings.measure.title,
            "unit": findings.measure.unit,
            "n_splits": findings.n_splits,
            "split": findings.split,
        },
        "parameter": findings.parameter,
        "points": [point_of(p, findings, index) for p in findings.points],
        "chosen": chosen_model(findings, chosen),
        "constant_error": error_or_none(findings, findings.constant_score),
        "all_features": free_of_charge(findings),
        "facts": {
            "n_rows": facts.n_rows,
            "n_features": facts.n_features,
            "n_categorical": facts.n_categorical,
            "missing": facts.missing,
            "target": facts.target,
        },
        "notices": [n.as_dict() for n in (*notices, *facts.notices)],
        "prices": {"unit": model.cost_unit_, "differ": prices_differ(model, findings), **who_pays(model)},
        "bags": bags_of(model, names),
        "made_of": parts_of(model),
        "tree": first_tree(model, names),
        **place_of_tree(model),
        "effects": [own | {"name": index[own["column"]]} for own in effects_of(model, sample)],
        "quality": quality_of_both(findings),
        "relations": related(sample, [f["column"] for f in strongest], names),
        "settings": {**(settings or {}), "parameters": parameters_of(model), "versions": versions()},
        "names": index.names,
    }
    return finite(contents)  # type: ignore[no-any-return]


def finite(value: Any) -> Any:
    """The same with None for NaN and infinity, which JSON lacks."""
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in value]
    if isinstance(value, float | np.floating) and not np.isfinite(value):
        return None
    return value


class Index:
    """Names of the features that are mentioned, each kept once."""

    def __init__(self, all_names: Sequence[str]) -> None:
        self._all, self._place = all_names, dict[int, int]()
        self.names: list[str] = []

    def __getitem__(self, column: int) -> int:
        if column not in self._place:
            self._place[column] = len(self.names)
            self.names.append(self._all[column])
        return self._place[column]


def task_of(model: GBFSBase) -> str:
    """What kind of target the model predicts."""
    if not is_classifier(model):
        return "counts" if isinstance(model._loss, losses.Poisson) else "regression"
    return "classification, 2 classes" if len(model.classes_) == 2 else f"classification, {len(model.classes_)} classes"


def error_or_none(findings: Findings, score: float | None) -> float | None:
    """The error of a score, if there is one."""
    return None if score is None else findings.measure.error(score)


def free_of_charge(findings: Findings) -> dict[str, float] | None:
    """The error with all features, and how many of them are used."""
    free = findings.all_features
    if free is None:
        return None
    measure = findings.measure
    return {
        "error": measure.error(free.score),
        "spread": measure.spread(free.spread),
        "mean_features": free.mean_features,
    }


def gain_shares(model: GBFSBase) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Of all columns, in percent."""
    shares: np.ndarray[Any, np.dtype[np.float64]] = 100 * model.feature_importances_
    return shares


def point_of(point: Point, findings: Findings, index: Index) -> dict[str, Any]:
    """One model of the path; its features by gain."""
    model, shares = point.model, gain_shares(point.model)
    order = sorted(model.selected_features_.tolist(), key=lambda c: -shares[c])
    return {
        "value": point.value,
        "error": findings.measure.error(point.score),
        "spread": findings.measure.spread(point.spread),
        "mean_features": point.mean_features,
        "test_error": error_or_none(findings, point.test_score),
        "n_features": model.n_features_selected_,
        "price": model.total_cost_,
        "trees": model.best_iteration_,
        "depth": model.max_depth,
        "features": [index[c] for c in order[:MOST_LISTED]],
        "gains": [round(float(shares[c]), 3) for c in order[:MOST_LISTED]],
    }


def chosen_model(findings: Findings, features: list[dict[str, Any]]) -> dict[str, Any]:
    """The chosen model and its errors."""
    choice, model = findings.choice, findings.choice.model
    return {
        "index": choice.index,
        "why": choice.why,
        "n_features": model.n_features_selected_,
        "price": model.total_cost_,
        "row_price": model.prediction_cost_ if has_row_prices(model.costs) else None,  # of that, the mean of a row
        "mu": model.mu_,
        "trees": model.best_iteration_,
        "depth": model.max_depth,
        "error": findings.measure.error(choice.score),
        "spread": findings.measure.spread(choice.spread),
        **expected_error(findings),
        "test_error": error_or_none(findings, findings.test_score),
        "features": features,
    }


def expected_error(findings: Findings) -> dict[str, float]:
    """The error of the chosen model on new rows, and the ends of its interval."""
    expected, error = findings.choice.expected, findings.measure.error
    return {
        "expected_error": error(expected.score),
        "expected_low": error(expected.high),
        "expected_high": error(expected.low),
        "candidates": expected.candidates,
    }


def chosen_features(findings: Findings, index: Index) -> list[dict[str, Any]]:
    """The features of the chosen model in order of purchase, with their gains."""
    model = findings.choice.model
    shares, bought = gain_shares(model), model._model.purchases
    errors = {s.n_features: s for s in findings.steps}
    slopes = {line["feature"]: line["slope"] for line in model.lines_}
    often = Counter(c for split in findings.bought for c in split.tolist())
    by_row = model._costs().row_prices  # beside what was paid once, what a row pays that looks
    found = []
    for k, column in enumerate(model.selected_features_.tolist(), start=1):
        step = errors.get(k)
        found.append(
            {
                "name": index[column],
                "column": column,
                "kind": kind_of(model, column),
                "gain": float(shares[column]),
                "price": float(bought.price[k - 1]) + (0.0 if by_row is None else float(by_row[column])),
                "tree": int(bought.iteration[k - 1]),
                "splits": [often[column], len(findings.bought)],  # that bought it, of how many
                "slope": slopes.get(column),  # None: it has no lines; a list: of each class
                "error": None if step is None else findings.measure.error(step.score),
                "test_error": None if step is None else error_or_none(findings, step.test_score),
            }
        )
    return found


def parts_of(model: GBFSBase) -> dict[str, Any]:
    """How many trees and lines the model adds up, and in how many features it has lines."""
    trees, lines = model._counts()
    features = len(model.lines_)
    return {"trees": trees, "lines": lines, "features": features, "words": made_of(trees, lines, features)}


def quality_of_both(findings: Findings) -> dict[str, Any]:
    """How good predictions are on held-out rows of the splits, and on test rows."""
    counts = task_of(findings.choice.model) == "counts"
    return {
        "held_out": quality_of(findings.held_out, counts),
        "test": quality_of(findings.tested, counts) if findings.held_out is not None else None,
    }


def place_of_tree(model: GBFSBase) -> dict[str, Any]:
    """The iteration of the tree that is shown, and its class, if there are more than two."""
    outputs, number = model._model.ensemble.n_outputs, first_that_splits(model) or 0
    own = str(model.classes_[number % outputs]) if is_classifier(model) and len(model.classes_) > 2 else None
    return {"tree_iteration": number // outputs + 1, "tree_class": own}


def who_pays(model: GBFSBase) -> dict[str, bool]:
    """Whether rows pay, each for what it looks at, and whether anything is paid once."""
    once = np.sum([np.asarray(rule.prices) for rule in model._costs().rules], axis=0)
    return {"by_row": has_row_prices(model.costs), "once": bool((np.isfinite(once) & (once > 0)).any())}


def prices_differ(model: GBFSBase, findings: Findings) -> bool:
    """Whether the cost differs from the number of features, for the chosen model or along the path."""
    models = [model, *(p.model for p in findings.points)]
    return any(abs(m.total_cost_ - m.n_features_selected_) > 1e-9 for m in models)


def bags_of(model: GBFSBase, names: Sequence[str]) -> list[dict[str, Any]]:
    """The bags that are owned, in order of purchase; empty where there are no bags.

    A feature of several bags counts for the one that paid for it, so that shares add up to the whole.
    """
    if find_bags(model.costs) is None:
        return []
    table = FeatureTable(model.n_features_in_, model._names())
    bags, labels = named_bags(model.costs, table, names)
    features = model.selected_features_.tolist()
    paid = paid_for_bags(model._costs(), features, model._model.purchases.price.tolist())
    members, shares = bags.bags(table), gain_shares(model)
    own: dict[int, list[int]] = {}
    for feature, bag in zip(features, paying_bags(model._costs(), features), strict=True):
        own.setdefault(bag, []).append(feature)
    return [
        {
            "name": labels[i],
            "price": price,
            "n_features": len(members[i]),
            "n_bought": len(own[i]),
            "gain": float(shares[own[i]].sum()),
        }
        for i, price in paid.items()
    ]


def related(sample: Sample, columns: Sequence[int], names: Sequence[str]) -> dict[str, Any]:
    """Correlations among chosen features, and what each stands for, by name."""
    found = relations_of(sample.table, columns)
    return {
        "names": [names[c] for c in found["columns"]],
        "correlation": found["correlation"],
        "stands_for": [
            {"name": names[c], "others": [{"name": names[o], "correlation": r} for o, r in pairs]}
            for c, pairs in found["stands_for"].items()
            if pairs
        ],
    }


def parameters_of(model: GBFSBase) -> dict[str, str]:
    """Those that differ from the defaults."""
    fresh = type(model)().get_params()
    own = {k: v for k, v in model.get_params(deep=False).items() if repr(v) != repr(fresh.get(k))}
    return {"estimator": type(model).__name__, **{k: shortened(repr(v)) for k, v in own.items()}}


def shortened(text: str, most: int = 200) -> str:
    """A text that fits a line or two."""
    return text if len(text) <= most else f"{text[: most - 4]} ..."


def versions() -> dict[str, str]:
    """What it was made with."""
    packages = ("frugalboost", "numpy", "scikit-learn")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}
