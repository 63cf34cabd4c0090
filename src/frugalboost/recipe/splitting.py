"""How rows are split to measure errors: at random, with equal rows and groups kept together, or in order of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.recipe.columns import Columns
from frugalboost.recipe.converting import is_text
from frugalboost.recipe.effort import HELD_OUT
from frugalboost.recipe.options import Option
from frugalboost.recipe.problems import Problem
from frugalboost.recipe.request import Roles
from frugalboost.recipe.task import Task
from frugalboost.report.facts import Notice, NoticeKind
from frugalboost.selection.folds import FOLDS, Parts, forward_splits, grouped_splits, with_two_classes
from frugalboost.tables.equal_rows import equal_by_chance, equal_rows, linked
from frugalboost.tables.sample import Sample
from frugalboost.tables.targets import by_appearance

Codes = NDArray[np.int64]

LEAST_SPLITS = 2


@dataclass(frozen=True)
class Ties:
    """What keeps rows together or in order, for sentences."""

    group: str | None = None  # the column
    time: str | None = None
    equal: bool = False  # there are equal rows, and they are kept together
    apart: str | None = None  # why equal rows are not kept together


@dataclass(frozen=True)
class Splitting:
    """The rows, with the groups that were kept together, their splits, and a sentence about these."""

    rows: Sample
    cv: list[Parts]
    words: str
    n_splits: int


def tied(rows: Sample, columns: Columns, roles: Roles) -> tuple[Sample, Ties, list[Notice]]:
    """Find groups and times of checked rows.

    Parameters
    ----------
    rows : Sample
        Checked.
    columns : Columns
        Has the columns of groups and times.
    roles : Roles
        Has their names.

    Returns
    -------
    Sample, Ties, list of Notice
        The rows with groups and times, what they come from, and a notice about rows without a group.
    """
    notices: list[Notice] = []
    groups, times = None, None
    if columns.time is not None:
        times = time_ranks(columns.time, str(roles.time))
    if columns.group is not None:
        groups, alone = group_codes(columns.group, str(roles.group))
        if alone:
            text = f"{alone:,} rows without a value of {roles.group!r} are a group of their own each."
            notices.append(Notice(NoticeKind.ROWS, text))
    ties = Ties(roles.group, roles.time)
    same = equal_rows(rows.table)
    if same is not None:
        if equal_by_chance(same):
            ties = replace(ties, apart=f"there are only {int(same.max()) + 1} different ones")
        else:
            ties, groups = replace(ties, equal=True), same if groups is None else linked(groups, same)
    return replace(rows, groups=groups, times=times), ties, notices


def group_codes(column: Any, name: str) -> tuple[Codes, int]:
    """A group for each row, and how many rows have no value: each of them is a group of its own."""
    import pyarrow

    if pyarrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pyarrow.types.is_floating(column.type):
        column = pyarrow.chunked_array([pyarrow.array(column.to_numpy(), from_pandas=True)])
    try:
        coded = column.combine_chunks().dictionary_encode()
    except pyarrow.ArrowException:
        raise Problem(
            f"Column {name!r} (", Option("group"), f") holds {column.type} values; it can't be groups."
        ) from None
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    missing = np.flatnonzero(codes < 0)
    codes[missing] = len(coded.dictionary) + np.arange(len(missing))
    if len(np.unique(codes)) < 2:
        raise Problem(f"All rows have the same value of {name!r} (", Option("group"), "), so no group can be held out.")
    return by_appearance(codes), len(missing)


def time_ranks(column: Any, name: str) -> Codes:
    """A number for each row that rises with time; Problem where rows can't be ordered."""
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    what = (f"Column {name!r} (", Option("time"))
    kind = column.type
    if types.is_decimal(kind):
        column = column.cast(pyarrow.float64())
    if is_text(kind) or not any(
        test(kind) for test in (types.is_temporal, types.is_integer, types.is_floating, types.is_decimal)
    ):
        held = "texts" if is_text(kind) else f"{kind} values"
        raise Problem(*what, f") holds {held}, which have no order in time. Use dates such as 2024-01-31, or numbers.")
    values = column.to_numpy()
    missing = int(np.sum(np.isnat(values) if values.dtype.kind in "mM" else values != values)) or column.null_count
    if missing:
        raise Problem(*what, f") has no value in {missing:,} rows. Give them one, or leave these rows out.")
    found, ranks = np.unique(values, return_inverse=True)
    if len(found) < LEAST_SPLITS + 1:
        raise Problem(
            *what, f") has {len(found)} different values; at least {LEAST_SPLITS + 1} are needed to split by time."
        )
    return ranks.reshape(-1).astype(np.int64)


# ------------------------------------------------------------------------------------------------------ splits


def split(rows: Sample, ties: Ties, task: Task, wanted: int, seed: int) -> Splitting:
    """Split rows to measure errors.

    Parameters
    ----------
    rows : Sample
        With groups and times.
    ties : Ties
        Where these come from.
    task : Task
        Classes or numbers.
    wanted : int
        Splits.
    seed : int
        Of random splits.

    Returns
    -------
    Splitting
        If equal rows alone are to be kept together and that leaves fewer than two splits, they are not.
    """
    if rows.times is None and rows.groups is None:
        return random_splits(rows, ties, task, wanted, seed)
    if rows.times is not None:
        found = forward_splits(rows.times, rows.groups, wanted)
    else:
        found = grouped_splits(rows.y, rows.groups, task.is_classification, wanted, seed) if many(rows.groups) else []
    if task.is_classification:
        found = with_two_classes(found, rows.y, held_out=str(task.scoring).startswith("roc_auc"))
    if len(found) >= LEAST_SPLITS:
        return Splitting(rows, found, said(found, rows, ties, wanted), len(found))
    if ties.group is None and ties.equal:
        ties = replace(ties, equal=False, apart="that would leave fewer than two splits")
        return split(replace(rows, groups=None), ties, task, wanted, seed)
    raise no_splits(ties)


def many(groups: Codes) -> bool:
    """Whether there are at least two groups."""
    return bool((groups != groups[0]).any())


def no_splits(ties: Ties) -> Problem:
    """The error where rows can't be split as asked for."""
    which: Sequence[str | Option] = (f"by {ties.group!r} (", Option("group"), ")")
    if ties.time is not None:
        which = (f"in the order of {ties.time!r} (", Option("time"), ")")
    parts = (
        "training rows, or of two classes in them" if ties.time is None else "earlier rows, or of two classes in them"
    )
    return Problem("Rows can't be split ", *which, f": fewer than two splits have enough {parts}. Name another column.")


def random_splits(rows: Sample, ties: Ties, task: Task, wanted: int, seed: int) -> Splitting:
    """Splits that draw every row for itself, each row held out as often as others, or once more.

    They are stratified by class or by size of y.
    """
    found = grouped_splits(rows.y, np.arange(len(rows.y)), task.is_classification, wanted, seed)
    made = len(found)
    if task.is_classification:
        found = usable(found, rows, task)
    stratified = task.is_classification and stratifiable(rows.y, 1 - HELD_OUT)
    few = f" Of {made} splits, only {len(found)} could be used." if len(found) < made else ""
    words = f"{at_random(len(found))}{', with the same share of each class' if stratified else ''}.{few}{apart(ties)}"
    return Splitting(rows, found, words, len(found))


def usable(splits: list[Parts], rows: Sample, task: Task) -> list[Parts]:
    """Random splits with two classes where the score needs them; Problem if fewer than two have them."""
    of_both = str(task.scoring).startswith("roc_auc")
    found = with_two_classes(splits, rows.y, held_out=of_both)
    if len(found) >= LEAST_SPLITS:
        return found
    if not of_both:
        return splits
    raise Problem(
        "A class has so few rows that fewer than two splits hold out rows of two classes, which ROC AUC (",
        Option("scoring", "roc_auc"),
        ") needs. Use another score, such as accuracy.",
    )


def stratifiable(y: Any, share: float) -> bool:
    """Whether both parts of a split can have rows of every class."""
    counts = np.unique(y, return_counts=True)[1]
    return bool(counts.min() >= 2 and len(counts) <= min(share, 1 - share) * len(y))


def at_random(n_splits: int) -> str:
    """The beginning of the sentence about random splits."""
    held = round(100 * HELD_OUT)
    return f"Errors are means over {n_splits} random splits into {100 - held} and {held} % of the rows"


def apart(ties: Ties) -> str:
    """A sentence where equal rows are not kept together."""
    return "" if ties.apart is None else f" Equal rows are not kept together, because {ties.apart}."


def said(found: list[Parts], rows: Sample, ties: Ties, wanted: int) -> str:
    """How rows were split, in a sentence; and why there are fewer splits than wanted."""
    same = [] if ties.group is None else [f"rows with the same {ties.group!r}"]
    same += ["equal rows"] if ties.equal else []
    tied_rows = " and ".join(same)
    if rows.times is not None:
        words = (
            f"Errors are means over {len(found)} splits in the order of {ties.time!r}: models are fitted on earlier "
            "rows and judged on the next later ones"
        )
        words += f"; {tied_rows} are never in both parts" if same else ""
    else:
        n_groups = len(np.unique(rows.groups))
        words = f"{at_random(len(found))}; {tied_rows} are in the same part"
        if n_groups < FOLDS:
            words = (
                f"Errors are means over {len(found)} splits, each with one of {n_groups} groups held out: {tied_rows}"
            )
    few = f" Of {wanted} splits, only {len(found)} could be made." if len(found) < wanted else ""
    return f"{words}.{few}{apart(ties)}"
