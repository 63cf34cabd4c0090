"""The public classes: validate, call, store."""

from frugalboost.estimators.classifier import GBFSClassifier
from frugalboost.estimators.regressor import GBFSRegressor
from frugalboost.estimators.survival import GBFSSurvival

__all__ = ["GBFSClassifier", "GBFSRegressor", "GBFSSurvival"]
