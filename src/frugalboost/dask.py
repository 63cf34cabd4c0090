"""Fits on a Dask cluster, with the same bytes of model as on one machine. Needs the extra ``dask``.

Examples
--------
See :class:`DaskGBFSClassifier`.
"""

from importlib.util import find_spec

if find_spec("distributed") is None or find_spec("dask") is None:
    raise ImportError("frugalboost.dask needs Dask: pip install 'frugalboost[dask]'.")

from frugalboost.cluster.driver import ClusterError, LostWorkerWarning
from frugalboost.cluster.estimators import DaskGBFSClassifier, DaskGBFSRegressor

__all__ = ["ClusterError", "DaskGBFSClassifier", "DaskGBFSRegressor", "LostWorkerWarning"]
