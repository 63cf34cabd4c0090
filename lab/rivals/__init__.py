"""Ways to a model of at most k features, each over a library of its own, all with one interface: :class:`Selector`.

Two classes, for the paper's figures:

* :class:`L1Logistic`: logistic regression with an L1 penalty.
* :class:`RelaxedL1`: the first k columns of that path, then an L2 penalty.
* :class:`GroupLasso`: logistic regression that takes columns group by group.
* :class:`HSICLasso`: a lasso on kernels of single columns; then an SVM.
* :class:`SVMElimination`: a linear SVM drops columns again and again.
* :class:`TunedSVM`: that SVM by itself, for columns that anything else has chosen.
* :class:`Boruta`: what matters more than shuffled copies; then LightGBM.

Two classes or numbers:

* :class:`Lasso`: linear regression with an L1 penalty (numbers only).
* :class:`MRMR`: large F statistic, small correlation with what is chosen; then an SVM or LightGBM.
* :class:`RandomForestSelection`: a forest ranks, another is trained on the top k.
* :class:`LightGBMGain`, :class:`LightGBMElimination`, :class:`LightGBMCEGB`: LightGBM in three ways;
  :class:`LightGBMGainFewRows`: the first of them for tables of few rows, two classes only.
* :class:`CatBoostSelect`: CatBoost's own selection.
* :class:`LassoNet`: a network with a sparse skip layer.
* :class:`Frugalboost`, :class:`FrugalboostForward`, :class:`FrugalboostPlain`: ours.

``boosters`` has what is only timed. Classes are loaded when they are first asked for, and libraries when they are first
needed: ``pip install "frugalboost[lab]"``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lab.rivals.boruta import Boruta
    from lab.rivals.catboost_select import CatBoostSelect
    from lab.rivals.forest import RandomForestSelection
    from lab.rivals.group_lasso import GroupLasso
    from lab.rivals.hsic_lasso import HSICLasso
    from lab.rivals.l1_logistic import L1Logistic
    from lab.rivals.lasso import Lasso
    from lab.rivals.lassonet import LassoNet
    from lab.rivals.lightgbm_cegb import LightGBMCEGB
    from lab.rivals.lightgbm_gain import LightGBMGain, LightGBMGainFewRows
    from lab.rivals.lightgbm_rfe import LightGBMElimination
    from lab.rivals.mrmr import MRMR
    from lab.rivals.ours import Frugalboost, FrugalboostForward, FrugalboostPlain
    from lab.rivals.relaxed_l1 import RelaxedL1
    from lab.rivals.selector import Selector
    from lab.rivals.svm import TunedSVM
    from lab.rivals.svm_rfe import SVMElimination

_HOMES = {
    "Boruta": "boruta",
    "CatBoostSelect": "catboost_select",
    "Frugalboost": "ours",
    "FrugalboostForward": "ours",
    "FrugalboostPlain": "ours",
    "GroupLasso": "group_lasso",
    "HSICLasso": "hsic_lasso",
    "L1Logistic": "l1_logistic",
    "Lasso": "lasso",
    "LassoNet": "lassonet",
    "LightGBMCEGB": "lightgbm_cegb",
    "LightGBMElimination": "lightgbm_rfe",
    "LightGBMGain": "lightgbm_gain",
    "LightGBMGainFewRows": "lightgbm_gain",
    "MRMR": "mrmr",
    "RandomForestSelection": "forest",
    "RelaxedL1": "relaxed_l1",
    "SVMElimination": "svm_rfe",
    "Selector": "selector",
    "TunedSVM": "svm",
}

__all__ = [
    "MRMR",
    "Boruta",
    "CatBoostSelect",
    "Frugalboost",
    "FrugalboostForward",
    "FrugalboostPlain",
    "GroupLasso",
    "HSICLasso",
    "L1Logistic",
    "Lasso",
    "LassoNet",
    "LightGBMCEGB",
    "LightGBMElimination",
    "LightGBMGain",
    "LightGBMGainFewRows",
    "RandomForestSelection",
    "RelaxedL1",
    "SVMElimination",
    "Selector",
    "TunedSVM",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'lab.rivals' has no attribute {name!r}")
    return getattr(import_module(f"lab.rivals.{_HOMES[name]}"), name)
