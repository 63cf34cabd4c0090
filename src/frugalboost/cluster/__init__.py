"""Fits on the workers of a Dask cluster: the same bytes of model as on one machine."""
