"""Fitted models for other programs: ONNX, LightGBM's text format, and shap.

* :func:`to_onnx`: for onnxruntime and other programs that read ONNX.
* :func:`to_lightgbm`: for LightGBM, and for programs that read its models, such as shap.
* :func:`to_shap`: for ``shap.TreeExplainer``; estimators have it as a method.

An exported model only predicts: it can't be trained further and has no prices.
"""

from frugalboost.export.lightgbm import to_lightgbm
from frugalboost.export.onnx import to_onnx
from frugalboost.export.shap import to_shap

__all__ = ["to_lightgbm", "to_onnx", "to_shap"]
