"""Reports: one HTML file on a table, the features chosen from it, and what they bring."""

from frugalboost.page.report import Report

__all__ = ["Report"]
