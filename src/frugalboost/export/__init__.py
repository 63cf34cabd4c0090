"""Fitted models for other programs: ONNX, and LightGBM's text format.

* :func:`to_onnx`: for onnxruntime and whatever else reads ONNX.
* :func:`to_lightgbm`: for LightGBM, and for what reads its models, as shap does.

What is exported predicts; it can't be trained further and knows no prices.
"""

from frugalboost.export.lightgbm import to_lightgbm
from frugalboost.export.onnx import to_onnx

__all__ = ["to_lightgbm", "to_onnx"]
