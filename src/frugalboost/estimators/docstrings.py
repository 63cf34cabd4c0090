"""Descriptions that several estimators share, written once and put into their docstrings."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TypeVar

from frugalboost.training import parameters
from frugalboost.training.parameters import Parameter

T = TypeVar("T", bound=type)
WIDTH = 116  # of a line, before it is indented

ATTRIBUTES = """\
support_ : ndarray of shape (n_features,)
    Which features are owned at the best iteration.
selected_features_ : ndarray
    The same as column numbers, in order of purchase.
n_features_selected_ : int
    How many.
total_cost_ : float
    The sum of the prices paid for them, in this order of purchase; never more than ``budget``.
prediction_cost_ : float
    What one prediction costs on average, over some training rows, if a feature is fetched only when a tree looks at
    it; NaN if no ``costs`` were given. See :meth:`prediction_cost`.
cost_unit_ : str or None
    The unit of the prices, if they have one.
mu_, mu_max_ : float
    The mu used, and the smallest at which no root split of the first iteration pays for a feature, so that nothing
    is bought; both in the unit given. Features that are free from the start do not count for it; splits
    below them, or prices that change once they are owned, may still pay.
n_iter_, best_iteration_ : int
    Iterations run, and how many of them predictions use.
stop_reason_ : str
    "max_iter", "converged" (no split is worth its price any more), "early_stopping" or "callback".
feature_importances_ : ndarray of shape (n_features,)
    Each feature's share of the raw gains of all splits and lines, without prices: they add up to 1, or are all zero if
    there are none.
base_ : {"trees", "lines", "both"}
    What predictions are made of. A constant counts as trees.
lines_ : list of dict
    A record for each feature that has lines, in order of purchase: "feature" (the column), "name", "slope" (of all its
    lines together: what one standard deviation of the feature's score adds to the raw prediction) and "direction"
    ("positive", "negative" or "none"). With more than two classes, "slope" and "direction" are lists, one entry per
    class. Empty where the model has only trees.
history_ : dict of lists
    For every iteration, and for the start value as entry 0: "iteration", "train_loss", "validation_loss" (NaN without
    validation rows), "validation_score" (only with ``scoring``), "n_features", "price_paid" and "prediction_price"
    (total costs), "bought" (columns) and "raw_gain" (of the splits that bought them).
refit_scores_ : dict or None
    With ``refit`` or ``n_features_to_select``: "forward" (the model that bought) and "refit" (on the chosen features
    alone), each with "n_features", "train_loss" and "validation_loss"; "kept" says which is the model.
selling_ : dict of lists or None
    With ``n_features_to_select``, for each step of the elimination: "n_features", "loss" (held-out, in the folds) and
    "sold" (the columns sold next).
n_features_in_ : int
    Number of columns seen in fit.
categories_ : dict
    The levels of each categorical column, by its number, ascending.
feature_names_in_ : ndarray of str
    Their names, where the table has any.
"""


def described(kind: str, attributes: str = "") -> Callable[[T], T]:
    """Fill ``<parameters>`` and ``<attributes>`` in an estimator's docstring, from the table of parameters.

    Parameters
    ----------
    kind : {"classifier", "regressor"}
        Which parameters it has.
    attributes : str, default=""
        Attributes that only this class has.
    """
    return fill_in("\n".join(map(_entry, parameters.of(kind))), attributes + ATTRIBUTES)


def _entry(parameter: Parameter) -> str:
    text = textwrap.fill(
        " ".join(parameter.meaning.split()),
        WIDTH,
        initial_indent="    ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return f"{parameter.name} : {parameter.type}, default={parameter.default}\n{text}"


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
