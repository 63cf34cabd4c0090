"""Clusters for tests, and comparisons of models by their bytes."""

import hashlib
import tempfile
import warnings
from pathlib import Path

import dask
import dask.array as da
import numpy as np

from frugalboost.dask import DaskGBFSClassifier, DaskGBFSRegressor

ON_CLUSTER = {"GBFSClassifier": DaskGBFSClassifier, "GBFSRegressor": DaskGBFSRegressor}


def fingerprint(model):
    """SHA-256 of the file of a model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()


def sizes(rows, partitions):
    """Partitions of about equal size."""
    ends = np.arange(partitions + 1) * rows // partitions
    return tuple(np.diff(ends).tolist())


def divided(array, chunks):
    """A Dask array with chunks of given numbers of rows."""
    return da.from_array(array, chunks=(chunks,) if np.ndim(array) == 1 else (chunks, -1))


def on_cluster(model):
    """The same estimator for a cluster."""
    return ON_CLUSTER[type(model).__name__](**model.get_params(deep=False))


def fitted(model, *rows, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*rows, **options)


def fitted_on(client, workers, model, *rows, **options):
    """Fit on some of a cluster's workers."""
    with dask.annotate(workers=sorted(client.nthreads())[:workers]):
        return fitted(model, *rows, **options)


def check_same(client, model, X, y, weights=None, at=((2, 7),), **options):
    """Fit on one machine and on the cluster, with numbers of workers and partitions; returns the last model."""
    expected = fitted(on_one_machine(model), X, y, weights, **options)
    for workers, chunks in at:
        chunks = sizes(len(y), chunks) if isinstance(chunks, int) else chunks
        given = [None if v is None else divided(v, chunks) for v in (X, y, weights)]
        validation = {k: divided(v, sizes(len(v), min(3, len(v)))) for k, v in options.items() if v is not None}
        found = fitted_on(client, workers, on_cluster(model), *given, **validation)
        assert fingerprint(found) == fingerprint(expected), (workers, chunks)
        assert found.cluster_["workers"] == min(workers, len(chunks))
    return found, expected


def on_one_machine(model):
    return type(model)(**model.get_params(deep=False))
