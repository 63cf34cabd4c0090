"""How many threads a call may use."""

from __future__ import annotations

import joblib

from frugalboost import _core

LARGEST_INT = 2**31 - 1  # the core counts in 32 bits; larger limits mean no limit


def threads_for(n_jobs: int | None) -> int:
    """Translate ``n_jobs`` as scikit-learn's own OpenMP estimators do: None means all cores.

    After a fork the core always runs on one thread, because the OpenMP runtime does not survive a fork; the model is
    the same.
    """
    if n_jobs == 0:
        raise ValueError("n_jobs is 0. Give a positive number of threads, or None or -1 for all cores.")
    cores: int = joblib.cpu_count()
    if n_jobs is None:
        return max(1, min(_core.usable_threads(0), cores))
    return max(1, min(n_jobs, LARGEST_INT) if n_jobs > 0 else cores + 1 + n_jobs)
