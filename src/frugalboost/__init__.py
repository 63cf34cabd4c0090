"""Gradient boosted feature selection: boosted trees that buy their features."""

from importlib.metadata import version as _version

from frugalboost.base import NothingBoughtWarning
from frugalboost.estimators import GBFSClassifier, GBFSRegressor
from frugalboost.persistence import ModelFileError, load

__version__ = _version("frugalboost")
__all__ = ["GBFSClassifier", "GBFSRegressor", "ModelFileError", "NothingBoughtWarning", "load"]
