"""The error with all features free of charge: what a choice among them is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from frugalboost.estimators.cross_validation import GBFSCVBase
from frugalboost.tables.sample import Sample

FREE = {"mu": 0.0, "costs": None, "budget": None, "n_features_to_select": None}


@dataclass(frozen=True)
class AllFeatures:
    """Models that pay for nothing, in the splits of a search."""

    score: float  # mean over the splits
    spread: float  # its standard error
    mean_features: float  # that they use


def all_features(search: GBFSCVBase, rows: Sample, tried: Mapping[str, Any] | None = None) -> AllFeatures | None:
    """Score models without prices and without a budget on the splits of a search.

    They are treated like a point of the path: the same splits, and the number of iterations and the base learner that
    do best among those of the search. The smallest mu of a path is not 0, so it is none of its points.

    Parameters
    ----------
    search : GBFSClassifierCV or GBFSRegressorCV
        Fitted on these rows.
    rows : Sample
        Those of the fit.
    tried : mapping or None, default=None
        "max_iters", "max_depths" and "bases" to choose from; None: those of the search.

    Returns
    -------
    AllFeatures or None
        None where the score is not a number.
    """
    own = clone(search).set_params(rule="min", mus=[0.0], n_features_to_select=None, verbose=0)
    own.estimator = clone(search._template()).set_params(**FREE)
    own.set_params(**(tried or {}))
    if own.max_iters is None:
        own.max_iters = [own.estimator.max_iter]  # a race has to know where it ends
    own._search(rows)
    results = own.cv_results_
    if np.isnan(results["mean_test_score"]).all():
        return None
    best = int(np.nanargmax(results["mean_test_score"]))
    found = (float(results[name][best]) for name in ("mean_test_score", "se_test_score", "mean_n_features"))
    return AllFeatures(*found)
