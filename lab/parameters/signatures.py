"""Names and defaults of parameters: those that are kept, and those of installed libraries."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

KEPT = Path(__file__).with_name("signatures.json")
# What a library is called in `rows`, by its distribution.
PARTS = {"scikit-learn": ("hist",), "lightgbm": ("lgbm", "native"), "xgboost": ("xgb",)}
TITLES = {"scikit-learn": "HistGradientBoosting, scikit-learn", "lightgbm": "LightGBM", "xgboost": "XGBoost"}


def kept() -> dict[str, Any]:
    """By distribution its version, and the parameters of each part with their defaults as text."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def installed(distribution: str, native: list[str]) -> dict[str, Any] | None:
    """The same of one installed library; None where it is not. ``native``: which of LightGBM's own are looked up."""
    try:
        found: dict[str, Any] = {"version": version(distribution)}
    except PackageNotFoundError:
        return None
    if distribution == "scikit-learn":
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        found["hist"] = defaults(HistGradientBoostingClassifier, HistGradientBoostingRegressor)
    elif distribution == "lightgbm":
        from lightgbm import LGBMClassifier, LGBMRegressor
        from lightgbm.basic import _ConfigAliases

        found["lgbm"] = defaults(LGBMClassifier, LGBMRegressor)
        found["native"] = {name: "" for name in native if name in _ConfigAliases._get_all_param_aliases()}
    else:
        from xgboost import XGBClassifier, XGBRegressor

        found["xgb"] = _of_objects(XGBClassifier, XGBRegressor)
    return found


def defaults(*classes: Any) -> dict[str, str]:
    """All arguments of constructors with their defaults; two of them where classes differ."""
    return _joined(
        {
            name: parameter.default
            for name, parameter in inspect.signature(kind.__init__).parameters.items()
            if name != "self" and parameter.kind is not parameter.VAR_KEYWORD
        }
        for kind in classes
    )


def _of_objects(*classes: Any) -> dict[str, str]:
    """XGBoost's constructors pass most arguments on, so objects are asked; None stands for the library's choice."""
    return _joined(kind().get_params() for kind in classes)


def _joined(found: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    texts: dict[str, list[str]] = {}
    for values in found:
        for name, value in values.items():
            if (text := _text(value)) not in texts.setdefault(name, []):
                texts[name].append(text)
    return {name: " or ".join(own) for name, own in sorted(texts.items())}


def _text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def ours() -> dict[str, str]:
    """Our parameters and their defaults."""
    from frugalboost import GBFSClassifier, GBFSRegressor

    return defaults(GBFSClassifier, GBFSRegressor)


def ours_in_fit() -> set[str]:
    """Arguments of our ``fit``."""
    from frugalboost import GBFSClassifier, GBFSRegressor

    return {name for kind in (GBFSClassifier, GBFSRegressor) for name in inspect.signature(kind.fit).parameters}
