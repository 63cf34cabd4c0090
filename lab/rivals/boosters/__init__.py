"""Boosters to be timed, one file each.

Every module has ``NAME``, ``bin(X, y, setting)``, which returns the table in that library's bins, and
``train(binned, setting, penalty)``, which trains on it and returns how many features the model uses. A penalty is in
that library's own units; with 0 features cost nothing. Where ``BINS_APART`` is False, train does the binning as well.
"""

from importlib.util import find_spec

OURS, SAMPLED, CEGB = "ours", "ours_sampled", "lightgbm_cegb"
COMPARED = (OURS, CEGB)  # with as many features

# module: the package it needs, in the order of tables
PACKAGES = {
    OURS: "frugalboost",
    SAMPLED: "frugalboost",  # only where columns grow
    CEGB: "lightgbm",
    "lightgbm_plain": "lightgbm",
    "xgboost_hist": "xgboost",
    "catboost_plain": "catboost",
    "sklearn_hist": "sklearn",
}


def installed() -> list[str]:
    """The modules whose package is here."""
    return [module for module, package in PACKAGES.items() if find_spec(package)]
