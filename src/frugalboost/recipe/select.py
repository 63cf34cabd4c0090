"""One run: a table in, the features worth paying for out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from frugalboost.estimators.base import Checked, GBFSBase
from frugalboost.recipe.choosing import Settings, choose, sample_size
from frugalboost.recipe.columns import Columns, Roles, divided, kinds_of_frame, like, values, weights_of
from frugalboost.recipe.files import LIBSVM_TARGET, STANDARD_INPUT, Loaded, load_table
from frugalboost.recipe.pricing import costs_of
from frugalboost.recipe.problems import Problem, unknown
from frugalboost.recipe.task import Task, task_of
from frugalboost.report.contents import Contents, contents_of
from frugalboost.report.facts import Notice
from frugalboost.report.steps import Rows

FEWEST_ROWS = 10


@dataclass(frozen=True)
class Wanted:
    """What a user asks for."""

    table: str
    target: str | None = None
    weight: str | None = None
    ids: Sequence[str] = ()
    test: str | None = None
    costs: str | None = None
    bags: str | None = None
    task: str = "auto"
    scoring: str | None = None
    header: bool = True
    settings: Settings = field(default_factory=Settings)
    command: str = ""


@dataclass(frozen=True)
class Run:
    """What came out."""

    contents: Contents
    model: GBFSBase


def origin_of(wanted: Wanted, folder: Path) -> tuple[str, str]:
    """Which table it is, as seen from where the folder lies, and its target: what makes a run another one."""
    target = wanted.target or LIBSVM_TARGET
    if wanted.table == "-":
        return STANDARD_INPUT, target
    table = os.path.realpath(os.path.expanduser(wanted.table))
    try:
        return os.path.relpath(table, os.path.realpath(folder.parent)), target
    except ValueError:  # on another drive
        return table, target


def select(wanted: Wanted, say: Callable[[str], None], folder: Path = Path("run")) -> Run:
    """Read a table, choose features and gather what is to be shown.

    Parameters
    ----------
    wanted : Wanted
        What a user asks for.
    say : callable
        Is told what was guessed and noticed.
    folder : Path
        Where the result will be written, elsewhere.

    Returns
    -------
    Run
        The contents of a report, and the chosen model.
    """
    wanted.settings.check()
    loaded = load_table(wanted.table, header=wanted.header)
    columns = divided(loaded, Roles(wanted.target, wanted.weight, wanted.ids))
    target = LIBSVM_TARGET if loaded.is_sparse else str(wanted.target)
    assert columns.y is not None
    if len(columns.y) < FEWEST_ROWS:
        raise Problem(f"{loaded.source} has {len(columns.y)} rows; at least {FEWEST_ROWS} are needed to choose by.")
    say(f"{loaded.source}: {len(columns.y):,} rows, {len(columns.names):,} features.")
    if wanted.settings.k is not None and wanted.settings.k > len(columns.names):
        raise Problem(f"--k asks for {wanted.settings.k} features, but the table has {len(columns.names)}.")
    task = task_of(columns.y, target, wanted.task, wanted.scoring)
    check_scoring_name(task, columns.y)
    costs = costs_of(wanted.costs, wanted.bags, columns.names, by_number=loaded.is_sparse)
    for remark in (*task.remarks, *(n.text for n in columns.notices)):
        say(remark)
    size = sample_size(columns.y, task, wanted.settings)
    if size < len(columns.y):
        say(f"{size:,} of the rows, drawn at random, are used to choose by (--sample); the model is fitted on all.")
    test, notices = test_rows(wanted, loaded, columns, task) if wanted.test else (None, [])
    rows = Rows(columns.X, columns.y, columns.weights)
    findings = choose(rows, task, wanted.settings, costs, test)
    model = findings.choice.model
    checked: Checked = model._like()._checked(columns.X, columns.y, columns.weights)
    if loaded.is_sparse:  # so that predictions know the number of the first column
        model.feature_names_in_ = np.array(columns.names, dtype=object)
    contents = contents_of(
        findings,
        checked,
        title=f"{target}: the features worth paying for",
        about=about(wanted, loaded, target, test),
        notices=[*columns.notices, *notices],
        settings={"command": wanted.command, "table": origin_of(wanted, folder)[0]},
        names=columns.names,
    )
    for notice in contents["notices"][len(columns.notices) :]:
        say(notice["text"])
    return Run(contents, model)


def check_scoring_name(task: Task, y: Any) -> None:
    """Raise Problem with the nearest name for a scorer that is not known, or not for such a target."""
    from sklearn.metrics import get_scorer_names

    if task.scoring is not None and task.scoring not in get_scorer_names():
        raise unknown("score", task.scoring, get_scorer_names(), "scikit-learn")
    if task.scoring == "roc_auc" and len(np.unique(y)) > 2:
        raise Problem("roc_auc is for two classes; for more of them there is --scoring roc_auc_ovr.")


def test_rows(wanted: Wanted, first: Loaded, columns: Columns, task: Task) -> tuple[Rows, list[Notice]]:
    """Rows of the test file, as those of the training file are."""
    assert columns.y is not None
    kinds = {} if first.is_sparse else kinds_of_frame(columns.X)
    texts = [n for n, levels in kinds.items() if levels and isinstance(levels[0], str)]
    target = LIBSVM_TARGET if first.is_sparse else str(wanted.target)
    if columns.y.dtype.kind in "OUT":
        texts.append(target)
    loaded = load_table(str(wanted.test), header=wanted.header, texts=texts, like=first)
    if loaded.is_sparse != first.is_sparse:
        raise Problem("The test file must be of the same kind as the table: both LIBSVM, or neither.")
    if loaded.is_sparse:
        return Rows(loaded.columns, loaded.target), []
    Roles(target, wanted.weight).check(loaded)
    kept = Loaded(loaded.source, loaded.names, loaded.columns.filter(loaded.columns.column(target).is_valid()))
    if not kept.n_rows:
        raise Problem(f"{loaded.source} has no rows with a value of {target!r}.")
    y = values(kept.columns.column(target))
    if task.is_classification:
        y = as_known_classes(y, columns.y, loaded.source)
    if task.scoring == "roc_auc" and len(np.unique(y)) < 2:
        raise Problem(f"{loaded.source} has rows of one class only, so ROC AUC can't be had there (--scoring).")
    X = like(kept, kinds)
    weights = None if wanted.weight is None else weights_of(kept.columns, wanted.weight)
    return Rows(X, y, weights), same_rows(columns.X, X, loaded.source)


def as_known_classes(y: Any, known: Any, source: str) -> Any:
    """Classes of a test file in the type of the table's; ones that the table has not are a problem."""
    place = {str(value): value for value in np.unique(known).tolist()}
    found = [str(value) for value in y.tolist()]
    strange = next((value for value in found if value not in place), None)
    if strange is not None:
        raise Problem(f"{source} has a class {strange!r} that the table has not.")
    return np.array([place[value] for value in found], dtype=known.dtype)


def same_rows(X: Any, X_test: Any, source: str) -> list[Notice]:
    """A notice where rows of the test file are also in the table."""
    own = set(row_keys(X).tolist())
    again = int(row_keys(X_test).isin(own).sum())
    if not again:
        return []
    return [Notice("rows", f"{again:,} of the {len(X_test):,} rows of {source} have the same features as one here.")]


def row_keys(frame: Any) -> Any:
    """A number for each row that is the same for equal values, whatever their type."""
    import pandas as pd

    alike = {n: c.astype(object if c.dtype == "category" else "float64") for n, c in frame.items()}
    return pd.util.hash_pandas_object(pd.DataFrame(alike), index=False)


def about(wanted: Wanted, loaded: Loaded, target: str, test: Rows | None) -> dict[str, Any]:
    """Where the data came from, for the report."""
    found: dict[str, Any] = {"source": loaded.source, "target": target}
    if wanted.weight:
        found["weights"] = wanted.weight
    if wanted.ids:
        found["left_out_as_ids"] = list(wanted.ids)
    if test is not None:
        found["test_rows"] = f"{test.X.shape[0]:,} in {wanted.test}"
    return found
