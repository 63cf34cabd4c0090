"""Fits on a Dask cluster, with the same bytes of model as on one machine. Needs the extra ``dask``.

Examples
--------
See :class:`DaskGBFSClassifier`.
"""

try:
    import distributed as _
except ImportError:
    raise ImportError("frugalboost.dask needs Dask: pip install 'frugalboost[dask]'.") from None

from frugalboost.cluster.driver import ClusterError, LostWorkerWarning
from frugalboost.cluster.estimators import DaskGBFSClassifier, DaskGBFSRegressor

__all__ = ["ClusterError", "DaskGBFSClassifier", "DaskGBFSRegressor", "LostWorkerWarning"]
