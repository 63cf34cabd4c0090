"""Figures: what a path, a choice by cross-validation, a model and a stability selection look like.

Every class holds what it draws, and is made by ``from_estimator`` or ``from_path``, which also draw it; ``plot`` draws
it again, on other axes or in another style. matplotlib is imported only when something is drawn.
"""

from frugalboost.plotting.bags import BagDisplay
from frugalboost.plotting.entry import EntryDisplay
from frugalboost.plotting.path import Line, Mark, SelectionPathDisplay
from frugalboost.plotting.purchases import PurchaseDisplay
from frugalboost.plotting.stability import StabilityPathDisplay

__all__ = [
    "BagDisplay",
    "EntryDisplay",
    "Line",
    "Mark",
    "PurchaseDisplay",
    "SelectionPathDisplay",
    "StabilityPathDisplay",
]
