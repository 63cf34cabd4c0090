"""Gradient boosted feature selection: boosted trees that buy their features."""

# Names are loaded when first used: the command must react to Ctrl-C before numpy and scikit-learn are imported, which
# takes a second, and `frugalboost --version` needs neither. So this module imports little, not even typing.
import sys as _sys

from frugalboost._support import slots as _slots

# Before another library loads OpenMP. The command ("-m" while Python looks for __main__) first sets up Ctrl-C.
if _sys.argv[:1] != ["-m"] and not "".join(_sys.argv[:1]).endswith(("/frugalboost", "\\frugalboost")):
    from frugalboost._support import loading as _loading  # noqa: F401

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from frugalboost.estimators.classifier import GBFSClassifier
    from frugalboost.estimators.cross_validation import GBFSClassifierCV, GBFSRegressorCV
    from frugalboost.estimators.fitted import NothingBoughtWarning, WeakSelectionWarning
    from frugalboost.estimators.path import SelectionPath, gbfs_path
    from frugalboost.estimators.regressor import GBFSRegressor
    from frugalboost.estimators.saving import ModelFileError, load
    from frugalboost.estimators.stability import StabilitySelection
    from frugalboost.estimators.survival import GBFSSurvival
    from frugalboost.plotting import (
        BagDisplay,
        EntryDisplay,
        PurchaseDisplay,
        SelectionPathDisplay,
        StabilityPathDisplay,
    )
    from frugalboost.recipe.select import select
    from frugalboost.recipe.selection import Selection

    __version__: str

__all__ = [
    "BagDisplay",
    "EntryDisplay",
    "GBFSClassifier",
    "GBFSClassifierCV",
    "GBFSRegressor",
    "GBFSRegressorCV",
    "GBFSSurvival",
    "ModelFileError",
    "NothingBoughtWarning",
    "PurchaseDisplay",
    "Selection",
    "SelectionPath",
    "SelectionPathDisplay",
    "StabilityPathDisplay",
    "StabilitySelection",
    "WeakSelectionWarning",
    "gbfs_path",
    "load",
    "select",
]

_HOMES = {
    "BagDisplay": "plotting",
    "EntryDisplay": "plotting",
    "GBFSClassifier": "estimators",
    "GBFSClassifierCV": "estimators.cross_validation",
    "GBFSRegressor": "estimators",
    "GBFSRegressorCV": "estimators.cross_validation",
    "GBFSSurvival": "estimators",
    "ModelFileError": "estimators.saving",
    "NothingBoughtWarning": "estimators.fitted",
    "PurchaseDisplay": "plotting",
    "Selection": "recipe.selection",
    "SelectionPath": "estimators.path",
    "SelectionPathDisplay": "plotting",
    "StabilityPathDisplay": "plotting",
    "StabilitySelection": "estimators.stability",
    "WeakSelectionWarning": "estimators.fitted",
    "gbfs_path": "estimators.path",
    "load": "estimators.saving",
    "select": "recipe.select",
    "_core": "_support.loading",  # whichever module imports it first, it is loaded with the right settings
}


def _report_on(*arguments: "Any", **options: "Any") -> "Any":
    from frugalboost.report.build import report_on

    return report_on(*arguments, **options)


def _plot_path(*arguments: "Any", **options: "Any") -> "Any":
    from frugalboost.plotting import SelectionPathDisplay

    return SelectionPathDisplay.from_path(*arguments, **options)


def _to_shap(*arguments: "Any", **options: "Any") -> "Any":
    from frugalboost.export.shap import to_shap

    return to_shap(*arguments, **options)


# Methods of estimators and paths that rooms above them carry out.
_slots.report_on.fill(_report_on)
_slots.plot_path.fill(_plot_path)
_slots.to_shap.fill(_to_shap)


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    if name == "__version__":
        from importlib.metadata import version

        found: Any = version("frugalboost")
    elif name in _HOMES:
        found = getattr(import_module(f"frugalboost.{_HOMES[name]}"), name)
    elif name in ("datasets", "baselines"):
        home = {"datasets": "lab.data", "baselines": "lab.rivals"}[name]
        raise AttributeError(
            f"frugalboost.{name} is no longer part of the library: in a checkout of the repository it is {home}, and "
            "scikit-learn has data sets for examples."
        )
    elif name.startswith("__"):
        raise AttributeError(f"module 'frugalboost' has no attribute {name!r}")
    else:
        try:
            found = import_module(f"frugalboost.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"frugalboost.{name}":
                raise
            raise AttributeError(f"module 'frugalboost' has no attribute {name!r}") from None
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
