"""Descriptions that several estimators share, written once and put into their docstrings."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T", bound=type)

PARAMETERS = """\
mu : float, default=1e-3
    What a price of 1 weighs against the loss: a split on a feature that is not owned yet must gain more than
    ``mu`` times its price. Larger values buy fewer features.
mu_unit : {"share", "absolute"}, default="share"
    "share": ``mu`` is a share of the impurity of the gradients before the first tree, so that one value means
    the same for any number of rows. "absolute": the units of the paper.
costs : Cost, array-like, mapping, callable or None, default=None
    Prices: one of the objects in :mod:`frugalboost.costs` (bags, neighbours, stages, sums of these), or by position, or
    by feature name; features that a mapping leaves out cost 1, as all do with None. Zero is free, infinity is never.
    A function ``phi(owned, last, prices)`` sets new prices after each purchase.
budget : float or None, default=None
    The most that may be paid in all, up to rounding; with prices of 1, the most features.
learning_rate : float, default=0.1
    Factor on every tree.
max_iter : int, default=500
    The most iterations; each grows one tree, or one per class for more than two classes.
max_depth : int or None, default=4
    The deepest tree; None sets no limit.
min_samples_leaf : int or float, default=20
    The least total weight of a leaf: rows, where no weights are given. Weights that add up to little, such as
    normalised ones, need a fraction here.
l2_regularization : float, default=0.0
    Added to the denominator of a Newton step.
max_bins : int, default=255
    The most bins of a column, missing values apart; at most 255. Of a categorical column with more levels, the lightest
    share the last bin.
categorical_features : "from_dtype", array-like or None, default="from_dtype"
    Columns whose values have no order: by their type in a data frame, or as a list of names, positions or truths. Each
    is one feature with one price, split by sets of its levels. A level that training did not see counts as missing.
bins_folder : str, path or None, default=None
    Where the table in bins is kept in a temporary file that is mapped into memory, if it does not fit otherwise.
%(loss)s
leaf_values : {"newton", "gradient"}, default="newton"
    A Newton step, or the mean of the gradient as in the paper. Splits are the same criterion in both.
    Losses without curvature use a quantile of the residuals in both.
init : {"prior", "zero"}, default="prior"
    Where boosting starts: at the best constant, or at zero as in the paper.
stop : {"paid", "never"}, default="paid"
    "paid": a split is made only if its gain exceeds its price. "never": prices only steer which split is
    made, as in the authors' released code.
screening : {"auto", "exact", "off"}, default="auto"
    How columns are found that are not worth a look, because they can't be worth their price. "exact": by proofs that
    can't fail. "auto": large tables also by a random sample of the rows, which overlooks a column that should be bought
    with a probability of 1e-6 a fit at most (see docs/algorithm.md). "off": every column is searched in every node.
    The model is the same.
new_features : "all", "auto" or float in (0, 1], default="all"
    How many features that are not owned a tree looks at. A share, or "auto" (3 times the square root of their number,
    500 at least), makes fits on very wide tables faster and changes the model: for each tree so many are drawn, in
    proportion to what they last gained at a root. All keep a chance, and the root of every 16th to 64th tree looks at
    all of them.
n_features_to_select : int or None, default=None
    Exactly so many features, or as many as gain anything: buy more, then sell the weakest back with refits on what is
    owned, and fit on the rest (see docs/selection.md). A bag counts as one and is sold as one. mu is then only where
    buying starts.
refit : bool or "auto", default=False
    Fit once more on the chosen features alone, all of them free from the start. "auto" keeps the better of the two by
    validation loss, and needs validation rows. ``n_features_to_select`` always fits once more, and with validation
    rows keeps the better model.
average : int, default=1
    That last fit is the mean of so many models, each fitted on four fifths of the rows and stopped early on the rest:
    often a better prediction, from so many times as many trees. ``n_iter_`` and ``feature_importances_`` then count
    the trees of all of them.
early_stopping : bool, default=False
    Stop when the validation loss has not fallen for ``n_iter_no_change`` iterations, and keep the best one.
validation_fraction : float, default=0.1
    Share of rows set aside for that, unless fit is given ``X_val`` and ``y_val``.
n_iter_no_change : int, default=20
    Patience of early stopping.
tol : float, default=0.0
    By how much the validation loss must fall to count.%(more)s
warm_start : bool, default=False
    Go on from the last fit, with its features still owned and in its bins, on the same rows or on others: fitting
    twice with a growing ``max_iter`` gives the same model as one long fit, unless ``new_features`` draws some.
random_state : int, RandomState or None, default=None
    Decides which rows are set aside by early stopping, the folds of ``n_features_to_select`` and ``average``, which
    features ``new_features`` draws and which rows ``screening`` does (None: always the same). Nothing else is random.
n_jobs : int or None, default=None
    Threads; None means all cores. The model does not depend on it.
verbose : int, default=0
    1 shows a line of progress.
"""

ATTRIBUTES = """\
support_ : ndarray of shape (n_features,)
    Which features are owned at the best iteration.
selected_features_ : ndarray
    The same as column numbers, in order of purchase.
n_features_selected_ : int
    How many.
total_cost_ : float
    What was paid for them, bought in this order; never more than ``budget``.
prediction_cost_ : float
    What one prediction costs on average over (some) training rows when a feature is fetched only once a tree looks at
    it; NaN where no ``costs`` were given. See :meth:`prediction_cost`.
cost_unit_ : str or None
    The unit of the prices, where they have one.
mu_, mu_max_ : float
    The mu used, and the smallest at which no root split of the first iteration pays for a feature, so that nothing
    is bought; both in the unit given. Features that are free from the start do not count for it; splits
    below them, or prices that change once they are owned, may still pay.
n_iter_, best_iteration_ : int
    Iterations run, and how many of them predictions use.
stop_reason_ : str
    "max_iter", "converged" (no split pays any more) or "early_stopping".
feature_importances_ : ndarray of shape (n_features,)
    Each feature's share of the raw gains of all splits, prices apart: they add up to 1, or are all zero where nothing
    is split on.
history_ : dict of lists
    For every iteration, and for the start value as entry 0: "iteration", "train_loss", "validation_loss" (NaN without
    validation rows), "n_features", "price_paid", "prediction_price", "bought" (columns) and "raw_gain" (of the splits
    that bought them).
refit_scores_ : dict or None
    With ``refit`` or ``n_features_to_select``: "forward" (the model that bought) and "refit" (on the chosen features
    alone), each with "n_features", "train_loss" and "validation_loss"; "kept" says which is the model.
selling_ : dict of lists or None
    With ``n_features_to_select``: on the way down "n_features", "loss" (held out, in the folds), "sold" (what was sold
    next).
n_features_in_ : int
    Number of columns seen in fit.
categories_ : dict
    Of each categorical column, by number, the levels that were seen, ascending.
feature_names_in_ : ndarray of str
    Their names, where the table has any.
"""


def shared_descriptions(loss: str, more: str = "", attributes: str = "") -> Callable[[T], T]:
    """Fill ``<parameters>`` and ``<attributes>`` in a class's docstring.

    Parameters
    ----------
    loss : str
        What the ``loss`` parameter may be.
    more : str, default=""
        Parameters that only this class has.
    attributes : str, default=""
        Attributes that only this class has.
    """
    return fill_in(PARAMETERS % {"loss": loss, "more": more and f"\n{more}"}, attributes + ATTRIBUTES)


def fill_in(parameters: str, attributes: str) -> Callable[[T], T]:
    """Put descriptions in the place of ``<parameters>`` and ``<attributes>``.

    Parameters
    ----------
    parameters, attributes : str
        The descriptions, not indented.
    """

    def fill(cls: T) -> T:
        doc = cls.__doc__ or ""
        doc = doc.replace("    <parameters>", textwrap.indent(parameters.strip(), "    "))
        cls.__doc__ = doc.replace("    <attributes>", textwrap.indent(attributes.strip(), "    "))
        return cls

    return fill
