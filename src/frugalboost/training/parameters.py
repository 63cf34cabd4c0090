"""The parameters of the estimators, one entry each: name, allowed values, meaning, and where they are used.

Everything else follows from this table: scikit-learn's constraints, the descriptions in docstrings, the fields of
`Params`, the settings of the core, and, through ``tools/write_signatures``, the ``__init__`` of both estimators.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions

from frugalboost import _core
from frugalboost._support.threads import LARGEST_INT
from frugalboost.costs import Cost
from frugalboost.losses import BuiltIn

CLASSIFIER, REGRESSOR, SURVIVAL = "classifier", "regressor", "survival"


@dataclass(frozen=True)
class Parameter:
    """One parameter. Texts are written into signatures as they are, so each must be a literal."""

    name: str
    annotation: str  # in __init__
    default: str  # as Python source
    type: str  # in the docstring
    allowed: list[Any]  # scikit-learn's constraints
    meaning: str
    kept: str | None = None  # its type in `Params`; None: it is not in there, since something else is made of it
    convert: Callable[[Any], Any] | None = None  # from the user's value to the one kept; None: by the type
    to_core: Callable[[Any], Any] | None = None  # from the value kept to the core's; None: the core does not know it
    only: str | None = None  # the estimators that have it, with blanks between them; None: all


def of(kind: str) -> Iterator[Parameter]:
    """The parameters of one kind of estimator, in order."""
    return (p for p in PARAMETERS if p.only is None or kind in p.only.split())


def constraints(kind: str) -> dict[str, list[Any]]:
    """What scikit-learn checks, by name."""
    return {p.name: p.allowed for p in of(kind)}


def kept(parameter: Parameter, value: Any) -> Any:
    """A user's value as `Params` keeps it."""
    convert = parameter.convert or _CONVERSIONS[parameter.kept or ""]
    return convert(value)


# ------------------------------------------------------------------------------------------------- conversions


def _count(value: int | None) -> int:
    """None sets no limit."""
    return LARGEST_INT if value is None else min(int(value), LARGEST_INT)


def _share(value: float | str) -> float:
    """A share of the features; negative lets the core choose one by their number."""
    return {"all": 1.0, "auto": -1.0}[value] if isinstance(value, str) else float(value)


def _columns(value: float | str | None) -> float:
    """For the core: a share below 1, a number of columns, or a code (cpp/data/params.hpp)."""
    if value is None or isinstance(value, str):
        return {None: 0.0, "sqrt": -1.0, "log2": -2.0}[value]
    all_of_them = not isinstance(value, Integral) and value == 1
    return 0.0 if all_of_them else float(value)


def _folder(value: str | os.PathLike[str] | None) -> str | None:
    if value is None:
        return None
    folder = os.fspath(value)
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        raise ValueError(f"bins_folder={folder!r} is not a folder that can be written to.")
    return folder


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "int": _count,
    "bool": bool,
    "str": str,
    "int | None": lambda value: None if value is None else int(value),
    "bool | str": lambda value: value,
}


def _same(value: Any) -> Any:
    return value


def _member(enum: Any, **other_names: str) -> Callable[[str], Any]:
    """By name; ``other_names`` says where the core has another word."""
    return lambda value: getattr(enum, other_names.get(value, value))


# --------------------------------------------------------------------------------------------------- the table

PARAMETERS = (
    Parameter(
        "mu",
        "float",
        "1e-3",
        "float",
        [Interval(Real, 0, None, closed="left")],
        """What a price of 1 weighs against the loss: a split on a feature that is not owned yet must gain more than
        ``mu`` times its price. Larger values buy fewer features.""",
        kept="float",
        to_core=_same,
    ),
    Parameter(
        "mu_unit",
        "str",
        '"share"',
        '{"share", "absolute"}',
        [StrOptions({"share", "absolute"})],
        """"share": ``mu`` is a share of the impurity of the gradients before the first tree, so that one value means
        the same for any number of rows. "absolute": the units of the paper.""",
        kept="str",
        to_core=_member(_core.MuUnit),
    ),
    Parameter(
        "costs",
        "Costs",
        "None",
        "Cost, array-like, mapping, callable or None",
        ["array-like", HasMethods("items"), Cost, callable, None],
        """Prices: one of the objects in :mod:`frugalboost.costs` (bags, neighbours, stages, sums of these), or by
        position, or by feature name; features that a mapping leaves out cost 1. None: all cost 1. Zero means free,
        infinity means never. A function ``phi(owned, last, prices)`` sets new prices after each purchase.""",
    ),
    Parameter(
        "budget",
        "float | None",
        "None",
        "float or None",
        [Interval(Real, 0, None, closed="both"), None],
        "The highest total cost, up to rounding; if all prices are 1, the highest number of features.",
    ),
    Parameter(
        "learning_rate",
        "float",
        "0.1",
        "float",
        [Interval(Real, 0, None, closed="neither")],
        "Factor on every tree.",
        kept="float",
        to_core=_same,
    ),
    Parameter(
        "max_iter",
        "int",
        "500",
        "int",
        [Interval(Integral, 1, None, closed="left")],
        """Maximum number of iterations; each grows one tree, or for more than two classes or several columns of y what
        ``multi_strategy`` says.""",
        kept="int",
        to_core=_same,
    ),
    Parameter(
        "max_depth",
        "int | None",
        "4",
        "int or None",
        [Interval(Integral, 1, None, closed="left"), None],
        "Maximum depth of a tree; None sets no limit.",
        kept="int",
        to_core=_same,
    ),
    Parameter(
        "max_leaf_nodes",
        "int | None",
        "None",
        "int or None",
        [Interval(Integral, 2, None, closed="left"), None],
        """Maximum number of leaves of a tree, which then grows best first: of all its leaves the one whose best split
        is worth most, at the prices of that moment, is split next. ``max_depth`` holds too. Every column is searched,
        whatever ``screening`` says. None: trees grow level by level.""",
        kept="int | None",
        to_core=lambda value: 0 if value is None else _count(value),
    ),
    Parameter(
        "multi_strategy",
        "str",
        '"auto"',
        '{"auto", "one_output_per_tree", "multi_output_tree"}',
        [StrOptions({"auto", "one_output_per_tree", "multi_output_tree"})],
        """With more than two classes, or several columns of y: a tree for each of them in every iteration, or one tree
        for all, whose leaves have a value for each. One tree is faster, and a feature is bought for all at once (see
        docs/algorithm.md), but as many iterations fit less. "auto": one tree with ``n_features_to_select``, otherwise a
        tree for each. Lines belong to one class or column each: with ``base="lines"`` or "both", so do trees.""",
        kept="str",
        to_core=_member(_core.MultiStrategy, auto="one_output_per_tree"),
        only="classifier regressor",
    ),
    Parameter(
        "base",
        "str",
        '"auto"',
        '{"auto", "trees", "lines", "both"}',
        [StrOptions({"auto", "trees", "lines", "both"})],
        """What an iteration adds. "trees": a tree, as in the paper. "lines": a straight line in one feature, which is
        often better if columns outnumber rows. "both": whichever gains more, the first split of a tree or a line.
        "auto": trees; but ``n_features_to_select`` lets held-out rows choose between all of them, see
        docs/lines.md.""",
        kept="str",
        to_core=_member(_core.Base, auto="trees"),
    ),
    Parameter(
        "line_scale",
        "str",
        '"values"',
        '{"values", "ranks"}',
        [StrOptions({"ranks", "values"})],
        """What lines are drawn on: the values of a column, where those beyond 2.5 standard deviations count as 2.5;
        or normal scores of their ranks, which no rescaling of the column changes.""",
        kept="str",
    ),
    Parameter(
        "min_samples_leaf",
        "float",
        "20",
        "int or float",
        [Interval(Real, 0, None, closed="neither")],
        """Minimum total weight of a leaf: rows, if there are no weights. Weights that add up to little, such as
        normalised ones, need a fraction here.""",
        kept="float",
        to_core=_same,
    ),
    Parameter(
        "l2_regularization",
        "float",
        "0.0",
        "float",
        [Interval(Real, 0, None, closed="left")],
        "Added to the denominator of a Newton step.",
        kept="float",
        to_core=_same,
    ),
    Parameter(
        "max_bins",
        "int",
        "255",
        "int",
        [Interval(Integral, 2, 255, closed="both")],
        """Maximum number of bins of a column, without the bin for missing values; at most 255. In a categorical column
        with more levels, the rarest share the last bin.""",
        kept="int",
    ),
    Parameter(
        "categorical_features",
        "Any",
        '"from_dtype"',
        '"from_dtype", array-like or None',
        ["array-like", StrOptions({"from_dtype"}), None],
        """Columns whose values have no order: by their type in a data frame, or as a list of names, positions or
        booleans. Each is one feature with one price, split by sets of its levels. A level that training did not see
        counts as missing.""",
    ),
    Parameter(
        "monotonic_cst",
        "Any",
        "None",
        "array-like, mapping or None",
        ["array-like", HasMethods("items"), None],
        """Features in which predictions may only rise (1) or only fall (-1), as in scikit-learn: one entry for each
        column, or a mapping from names; what it leaves out is 0, no constraint. For two classes this is about the
        probability of ``classes_[1]``; more classes are an error. A split or a line that breaks a constraint is not
        offered, at any price. Nothing is said of missing values (see docs/guide/constraints.md).""",
    ),
    Parameter(
        "interaction_cst",
        "Any",
        "None",
        '{"pairwise", "no_interactions"}, list of groups or None',
        ["array-like", set, tuple, StrOptions({"pairwise", "no_interactions"}), None],
        """Which features may meet on the way from a root to a leaf, as in scikit-learn: those of one group. A group is
        a list of positions or names. Features that are in no group are one more group. "no_interactions": each by
        itself. "pairwise": any two. Lines use one feature each.""",
    ),
    Parameter(
        "bins_folder",
        "str | os.PathLike[str] | None",
        "None",
        "str, path or None",
        [str, os.PathLike, None],
        """A folder for a temporary file that holds the binned table and is mapped into memory, for tables that do not
        fit into memory.""",
        kept="str | None",
        convert=_folder,
    ),
    Parameter(
        "loss",
        "str | BuiltIn | Loss",
        '"log_loss"',
        '{"log_loss"} or object',
        [str, BuiltIn, HasMethods(["gradient", "curvature"])],
        '"log_loss" for two or more classes, or an object as described in :mod:`frugalboost.losses`.',
        only="classifier",
    ),
    Parameter(
        "loss",
        "str | BuiltIn | Loss",
        '"squared_error"',
        '{"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"} or object',
        [str, BuiltIn, HasMethods(["gradient", "curvature"])],
        """A name, one of the objects in :mod:`frugalboost.losses` where a parameter is wanted (``Quantile(0.9)``,
        ``Huber(delta=2)``, ``Tweedie(1.2)``), or an object of your own as described there. Poisson (counts), gamma
        (positive numbers) and Tweedie (amounts that are often zero) have a log link.""",
        only="regressor",
    ),
    Parameter(
        "loss",
        "str | BuiltIn | Loss",
        '"cox"',
        '{"cox"} or object',
        [str, BuiltIn, HasMethods(["gradient", "curvature"])],
        """Cox's partial likelihood, or an object as described in :mod:`frugalboost.losses`, whose y are times, negative
        where there was no event.""",
        only="survival",
    ),
    Parameter(
        "leaf_values",
        "str",
        '"newton"',
        '{"newton", "gradient"}',
        [StrOptions({"newton", "gradient"})],
        """A Newton step, or the mean of the gradient as in the paper. The criterion for splits is the same for both.
        Losses without curvature use a quantile of the residuals with both.""",
        kept="str",
        to_core=_member(_core.LeafValues),
    ),
    Parameter(
        "init",
        "str",
        '"prior"',
        '{"prior", "zero"}',
        [StrOptions({"prior", "zero"})],
        "Where boosting starts: at the best constant, or at zero as in the paper.",
        kept="str",
        to_core=_member(_core.Init),
    ),
    Parameter(
        "stop",
        "str",
        '"paid"',
        '{"paid", "never"}',
        [StrOptions({"paid", "never"})],
        """"paid": a split is made only if its gain exceeds mu times its price. "never": prices only influence which
        split is made, as in the authors' released code.""",
        kept="str",
        to_core=_member(_core.Stop),
    ),
    Parameter(
        "screening",
        "str",
        '"auto"',
        '{"auto", "exact", "off"}',
        [StrOptions({"auto", "exact", "off"})],
        """How columns that can't be worth their price are found and skipped. "exact": by proofs that can't fail.
        "auto": on large tables also by a random sample of the rows, which misses a column that should be bought with a
        probability of at most 1e-6 per fit (see docs/algorithm.md). "off": every column is searched in every node. The
        model is the same.""",
        kept="str",
        to_core=_member(_core.Screening, auto="probable"),
    ),
    Parameter(
        "new_features",
        "float | str",
        '"all"',
        '"all", "auto" or float in (0, 1]',
        [StrOptions({"all", "auto"}), Interval(Real, 0, 1, closed="right")],
        """How many of the features that are not owned a tree looks at. A share, or "auto" (3 times the square root of
        their number, at least 500), makes fits on very wide tables faster and changes the model: each iteration draws
        that many features, those that last gained more at a root more often. All can be drawn, and the root of every
        16th to 64th tree looks at all of them.""",
        kept="float",
        convert=_share,
        to_core=_same,
    ),
    Parameter(
        "subsample",
        "float",
        "1.0",
        "float",
        [Interval(Real, 0, 1, closed="right")],
        """The share of rows that the trees of an iteration see; each row is drawn by itself, for all classes of the
        iteration alike. Trees differ more, and take less time. Splits, leaf values and ``min_samples_leaf`` count the
        drawn rows, losses all rows; a new feature must be worth its price to the drawn rows. Until something is
        split, and after an iteration without a split, all rows are seen. See docs/guide/other_boosters.md.""",
        kept="float",
        to_core=_same,
    ),
    Parameter(
        "max_features",
        "float | int | str | None",
        "None",
        'float in (0, 1], int, "sqrt", "log2" or None',
        [
            Interval(RealNotInt, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
        """How many features, owned or new, the trees of an iteration may use: a share, a number, the root or the binary
        logarithm of their number, rounded down, but at least one. Each iteration draws others, for all classes alike;
        all may be used until something is split, and after an iteration without a split. Prices stay what they are.
        ``new_features`` draws only among features that are not owned. See docs/guide/other_boosters.md.""",
        kept="float",
        convert=_columns,
        to_core=_same,
    ),
    Parameter(
        "n_features_to_select",
        "int | None",
        "None",
        "int or None",
        [Interval(Integral, 0, None, closed="left"), None],
        """Exactly this number of features, or fewer if fewer gain anything: buy more, sell the weakest by held-out
        importance, and fit on the rest (see docs/selection.md). A bag counts as one and is sold as one. mu is then only
        where buying starts.""",
        kept="int | None",
    ),
    Parameter(
        "fewer",
        "bool",
        "False",
        "bool",
        ["boolean"],
        """With ``n_features_to_select``: at most that many. The number is the one with the lowest held-out loss.""",
        kept="bool",
    ),
    Parameter(
        "refit",
        "bool | str",
        "False",
        'bool or "auto"',
        ["boolean", StrOptions({"auto"})],
        """Fit once more on the chosen features alone, all of them free from the start: what ``base`` says, trees with
        "auto". ``refit="auto"`` keeps the better of the two models by validation loss, and needs validation rows; if
        ``base`` is "auto", folds of the training rows choose between trees, lines (a ridge), both and their mean.
        ``n_features_to_select`` always fits once more, and with validation rows keeps the better model.""",
        kept="bool | str",
    ),
    Parameter(
        "average",
        "int",
        "1",
        "int",
        [Interval(Integral, 1, None, closed="left")],
        """The last fit is the mean of this number of models, each fitted on four fifths of the rows and stopped early
        on the rest: predictions are often better, with that many times more trees. ``n_iter_`` and
        ``feature_importances_`` then count the trees of all of them.""",
        kept="int",
    ),
    Parameter(
        "early_stopping",
        "bool",
        "False",
        "bool",
        ["boolean"],
        """Stop when the validation loss, or the score that ``scoring`` names, has not improved for ``n_iter_no_change``
        iterations, and keep the best one.""",
        kept="bool",
        to_core=_same,
    ),
    Parameter(
        "scoring",
        "str | Callable[..., float] | None",
        "None",
        "str, callable or None",
        [str, callable, None],
        """What early stopping judges by: None: the loss; or a score of scikit-learn by name, or a function
        ``(estimator, X, y)``, where higher is better, of the validation rows after every iteration. It is in
        ``history_["validation_score"]`` wherever there are validation rows. Their raw predictions are kept
        up to date, so that only the score itself is computed. A function is not saved in files.""",
    ),
    Parameter(
        "callbacks",
        "Sequence[Callable[..., Any]] | None",
        "None",
        "list of callables or None",
        [list, tuple, None],
        """Functions that are called after every iteration with a record of it: ``iteration``, ``train_loss``,
        ``validation_loss``, ``validation_score``, ``features`` (bought so far) and ``cost``. The fit stops where one
        returns True, and leaves the estimator as it was where one raises an error. They follow a single fit, and are
        not saved in files.""",
    ),
    Parameter(
        "validation_fraction",
        "float",
        "0.1",
        "float",
        [Interval(Real, 0, 1, closed="neither")],
        "Share of rows set aside for that, unless fit is given ``X_val`` and ``y_val``.",
        kept="float",
    ),
    Parameter(
        "n_iter_no_change",
        "int",
        "20",
        "int",
        [Interval(Integral, 1, None, closed="left")],
        "How many iterations without improvement early stopping waits for.",
        kept="int",
        to_core=_same,
    ),
    Parameter(
        "tol",
        "float",
        "0.0",
        "float",
        [Interval(Real, 0, None, closed="left")],
        "By how much the validation loss must fall, or the score rise, to count as an improvement.",
        kept="float",
        to_core=_same,
    ),
    Parameter(
        "class_weight",
        "dict[Any, float] | str | None",
        "None",
        'dict, "balanced" or None',
        [dict, StrOptions({"balanced"}), None],
        "Weights of the classes, multiplied with ``sample_weight``.",
        only="classifier",
    ),
    Parameter(
        "warm_start",
        "bool",
        "False",
        "bool",
        ["boolean"],
        """Continue the last fit, with its features still owned and in its bins, on the same rows or on others: fitting
        twice with a growing ``max_iter`` gives the same model as one long fit.""",
        kept="bool",
    ),
    Parameter(
        "random_state",
        "int | np.random.RandomState | None",
        "None",
        "int, RandomState or None",
        ["random_state"],
        """Decides which rows are set aside by early stopping, the folds of ``n_features_to_select`` and ``average``,
        which features ``new_features`` and ``max_features`` draw, and which rows ``subsample`` and ``screening`` draw
        (None: always the same). Nothing else is random.""",
    ),
    Parameter(
        "n_jobs",
        "int | None",
        "None",
        "int or None",
        [Integral, None],
        "Number of threads; None means all cores. The model does not depend on it.",
    ),
    Parameter(
        "device",
        "str",
        '"cpu"',
        '{"cpu", "cuda", "auto"}',
        [StrOptions({"cpu", "cuda", "auto"})],
        """Where trees are grown. "cuda": on an NVIDIA GPU, by the package frugalboost-cuda (see docs/gpu.md); sparse
        tables and losses written in Python need "cpu". "auto": on a GPU where there is one that can do the fit;
        ``verbose`` says which. The model is the same, to the last bit.""",
        kept="str",
    ),
    Parameter(
        "verbose",
        "int",
        "0",
        "int",
        ["verbose"],
        "1 shows a line of progress.",
    ),
)
