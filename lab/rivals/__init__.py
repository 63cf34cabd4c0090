"""Other ways to a model of at most k features, each over a library of its own, all with one interface.

* :class:`L1Logistic`: logistic regression with an L1 penalty.
* :class:`GroupLasso`: logistic regression that takes columns group by group.
* :class:`RandomForestSelection`: a forest ranks, another is trained on the top k.
* :class:`MRMR`: large F statistic, small correlation with what is chosen; then an SVM.
* :class:`HSICLasso`: a lasso on kernels of single columns; then an SVM.
* :class:`TunedSVM`: that SVM by itself, for columns that anything else has chosen.

They are the rivals of Xu, Huang, Weinberger and Zheng (KDD 2014), here for experiments. The libraries are imported when
they are first needed: ``pip install "frugalboost[lab]"``.
"""

from lab.rivals.baseline import Baseline
from lab.rivals.forest import RandomForestSelection
from lab.rivals.group_lasso import GroupLasso
from lab.rivals.hsic_lasso import HSICLasso
from lab.rivals.l1_logistic import L1Logistic
from lab.rivals.mrmr import MRMR
from lab.rivals.svm import TunedSVM

__all__ = ["MRMR", "Baseline", "GroupLasso", "HSICLasso", "L1Logistic", "RandomForestSelection", "TunedSVM"]
