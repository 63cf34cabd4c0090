"""Gradient boosted feature selection: boosted trees that buy their features."""

from importlib.metadata import version as _version
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from frugalboost import _load  # noqa: F401  # before anything else loads the core
from frugalboost.base import NothingBoughtWarning
from frugalboost.cross_validation import GBFSClassifierCV, GBFSRegressorCV
from frugalboost.estimators import GBFSClassifier, GBFSRegressor
from frugalboost.path import SelectionPath, gbfs_path
from frugalboost.persistence import ModelFileError, load
from frugalboost.stability import StabilitySelection

if _TYPE_CHECKING:
    from frugalboost.plotting import (
        BagDisplay,
        EntryDisplay,
        PurchaseDisplay,
        SelectionPathDisplay,
        StabilityPathDisplay,
    )

__version__ = _version("frugalboost")
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


def __getattr__(name: str) -> _Any:
    # Figures are loaded when first asked for.
    if name.endswith("Display") and name in __all__:
        from frugalboost import plotting

        return getattr(plotting, name)
    raise AttributeError(f"module 'frugalboost' has no attribute {name!r}")
