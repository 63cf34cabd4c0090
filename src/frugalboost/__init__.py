"""Gradient boosted feature selection: boosted trees that buy their features."""

from importlib.metadata import version as _version

from frugalboost.base import NothingBoughtWarning
from frugalboost.cross_validation import GBFSClassifierCV, GBFSRegressorCV
from frugalboost.estimators import GBFSClassifier, GBFSRegressor
from frugalboost.path import SelectionPath, gbfs_path
from frugalboost.persistence import ModelFileError, load
from frugalboost.stability import StabilitySelection

__version__ = _version("frugalboost")
__all__ = [
    "GBFSClassifier",
    "GBFSClassifierCV",
    "GBFSRegressor",
    "GBFSRegressorCV",
    "ModelFileError",
    "NothingBoughtWarning",
    "SelectionPath",
    "StabilitySelection",
    "gbfs_path",
    "load",
]
