"""Methods of estimators and paths that upper rooms implement: reports and figures.

Those rooms use estimators, so importing them here would be a cycle, and they need optional packages. They are imported
when a method is called. No other module imports upwards (tools/check_layers checks it).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frugalboost.report import Report

__all__ = ["Report", "plot_path", "report_on"]


def report_on(estimator: Any, X: Any, y: Any, sample_weight: Any, **options: Any) -> Report:
    """Make a report on a fitted estimator."""
    contents = import_module("frugalboost.report.build").build_contents(estimator, X, y, sample_weight, **options)
    report: Report = import_module("frugalboost.report").Report(contents)
    return report


def plot_path(path: Any, **options: Any) -> Any:
    """Draw a path."""
    return import_module("frugalboost.plotting").SelectionPathDisplay.from_path(path, **options)
