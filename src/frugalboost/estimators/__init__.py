"""The public classes: validate, call, store."""

from frugalboost.estimators.classifier import GBFSClassifier
from frugalboost.estimators.regressor import GBFSRegressor

__all__ = ["GBFSClassifier", "GBFSRegressor"]
