"""Gradient boosted feature selection: boosted trees that buy their features."""

# Names are loaded when first asked for: the command must hear Ctrl-C before numpy and scikit-learn are read, which
# takes a second, and `frugalboost --version` needs neither. So little is imported here, not even typing.
import sys as _sys

# Before another library loads OpenMP. The command ("-m" while Python looks for __main__) does it when it hears Ctrl-C.
if _sys.argv[:1] != ["-m"] and not "".join(_sys.argv[:1]).endswith(("/frugalboost", "\\frugalboost")):
    from frugalboost import _load  # noqa: F401

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from frugalboost.base import NothingBoughtWarning
    from frugalboost.cross_validation import GBFSClassifierCV, GBFSRegressorCV
    from frugalboost.estimators import GBFSClassifier, GBFSRegressor
    from frugalboost.path import SelectionPath, gbfs_path
    from frugalboost.persistence import ModelFileError, load
    from frugalboost.plotting import (
        BagDisplay,
        EntryDisplay,
        PurchaseDisplay,
        SelectionPathDisplay,
        StabilityPathDisplay,
    )
    from frugalboost.stability import StabilitySelection

    __version__: str

__all__ = [
    "BagDisplay",
    "EntryDisplay",
    "GBFSClassifier",
    "GBFSClassifierCV",
    "GBFSRegressor",
    "GBFSRegressorCV",
    "ModelFileError",
    "NothingBoughtWarning",
    "PurchaseDisplay",
    "SelectionPath",
    "SelectionPathDisplay",
    "StabilityPathDisplay",
    "StabilitySelection",
    "gbfs_path",
    "load",
]

_HOMES = {
    "BagDisplay": "plotting",
    "EntryDisplay": "plotting",
    "GBFSClassifier": "estimators",
    "GBFSClassifierCV": "cross_validation",
    "GBFSRegressor": "estimators",
    "GBFSRegressorCV": "cross_validation",
    "ModelFileError": "persistence",
    "NothingBoughtWarning": "base",
    "PurchaseDisplay": "plotting",
    "SelectionPath": "path",
    "SelectionPathDisplay": "plotting",
    "StabilityPathDisplay": "plotting",
    "StabilitySelection": "stability",
    "gbfs_path": "path",
    "load": "persistence",
    "_core": "_load",  # so that whoever asks first loads it as it must be loaded
}


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    if name == "__version__":
        from importlib.metadata import version

        found: Any = version("frugalboost")
    elif name in _HOMES:
        found = getattr(import_module(f"frugalboost.{_HOMES[name]}"), name)
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
