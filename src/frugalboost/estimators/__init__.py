"""The public classes: validate, call, store."""

from frugalboost.estimators.classifier import GBFSClassifier, GBFSRegressor

__all__ = ["GBFSClassifier", "GBFSRegressor"]
