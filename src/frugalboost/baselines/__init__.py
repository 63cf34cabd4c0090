"""Other ways to a model of at most k features, each over a library of its own, all with one interface.

* :class:`L1Logistic`: logistic regression with an L1 penalty.
* :class:`GroupLasso`: logistic regression that takes columns group by group.
* :class:`RandomForestSelection`: a forest ranks, another is trained on the top k.
* :class:`MRMR`: large F statistic, small correlation with what is chosen; then an SVM.
* :class:`HSICLasso`: a lasso on kernels of single columns; then an SVM.
* :class:`TunedSVM`: that SVM by itself, for columns that anything else has chosen.

They are the rivals of Xu, Huang, Weinberger and Zheng (KDD 2014), here for experiments. The libraries are imported when
they are first needed: ``pip install "frugalboost[baselines]"``.
"""

from frugalboost.baselines.baseline import Baseline
from frugalboost.baselines.forest import RandomForestSelection
from frugalboost.baselines.group_lasso import GroupLasso
from frugalboost.baselines.hsic_lasso import HSICLasso
from frugalboost.baselines.l1_logistic import L1Logistic
from frugalboost.baselines.mrmr import MRMR
from frugalboost.baselines.svm import TunedSVM

__all__ = ["MRMR", "Baseline", "GroupLasso", "HSICLasso", "L1Logistic", "RandomForestSelection", "TunedSVM"]
