"""What a fitted model has learned about a feature.

* :func:`partial_dependence`: the mean prediction at each value of a feature, from the trees alone.
"""

from frugalboost.inspection.dependence import partial_dependence

__all__ = ["partial_dependence"]
