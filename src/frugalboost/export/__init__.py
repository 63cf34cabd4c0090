"""Fitted models for other programs: ONNX, and LightGBM's text format.

* :func:`to_onnx`: for onnxruntime and other programs that read ONNX.
* :func:`to_lightgbm`: for LightGBM, and for programs that read its models, such as shap.

An exported model only predicts: it can't be trained further and has no prices.
"""

from frugalboost.export.lightgbm import to_lightgbm
from frugalboost.export.onnx import to_onnx

__all__ = ["to_lightgbm", "to_onnx"]
