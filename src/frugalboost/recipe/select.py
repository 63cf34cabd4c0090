"""The recipe: a table in, the features worth paying for out."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer_names

from frugalboost._support.display import shown
from frugalboost._support.plan import Part, reached
from frugalboost.estimators import GBFSClassifier, GBFSRegressor
from frugalboost.estimators.fitted import NothingBoughtWarning
from frugalboost.page.contents import Contents
from frugalboost.page.page import error_text
from frugalboost.recipe.choosing import choose, effort_of
from frugalboost.recipe.columns import (
    Columns,
    as_fitted,
    as_numbers,
    kinds_of_frame,
    split_columns,
    target_values,
    weights_of,
)
from frugalboost.recipe.converting import is_text, repeated
from frugalboost.recipe.files import load_table
from frugalboost.recipe.forms import Form
from frugalboost.recipe.options import SILENT, Messages, Option, Rule, Sentence
from frugalboost.recipe.places import LIBSVM_TARGET, is_excel, is_path
from frugalboost.recipe.predicting import keep_forms, read_as_texts
from frugalboost.recipe.pricing import costs_of, kept_in_budget
from frugalboost.recipe.problems import Problem
from frugalboost.recipe.request import Request, Roles, Settings
from frugalboost.recipe.scores import unknown_score
from frugalboost.recipe.selection import Selection, Source
from frugalboost.recipe.splitting import tied
from frugalboost.recipe.task import Task, task_of
from frugalboost.recipe.text import LoadedTable
from frugalboost.report.contents import contents_of
from frugalboost.report.facts import Notice, NoticeKind
from frugalboost.tables.checking import check_X
from frugalboost.tables.sample import Sample

FEWEST_ROWS = 10


def select(
    table: Any,
    target: str | int | None = None,
    *,
    k: int | None = None,
    fewer: bool = False,
    mu: float | None = None,
    rule: str = "1se",
    sell: bool = True,
    costs: Any = None,
    bags: Any = None,
    budget: float | None = None,
    ids: str | int | Iterable[str | int] | None = (),
    weight: str | int | None = None,
    group: str | int | None = None,
    time: str | int | None = None,
    test: Any = None,
    task: str = "auto",
    scoring: str | None = None,
    trees: int = 500,
    depth: int | None = None,
    learning_rate: float = 0.1,
    leaf: int | None = None,
    splits: int | None = None,
    points: int | None = None,
    sample: int | None = None,
    thorough: bool = False,
    seed: int = 0,
    threads: int | None = None,
    device: str = "cpu",
    header: bool = True,
    sheet: str | None = None,
    verbose: int = 0,
) -> Selection:
    """Choose the features of a table that are worth paying for, and fit a model on them.

    What the command ``frugalboost select`` does, with the same options: it guesses the task, leaves out columns that
    can't be features, cross-validates a path of models, chooses one by a rule, tries to improve it by selling features
    back, and makes a report. The estimators give more control.

    Parameters
    ----------
    table : data frame, str or path
        A data frame of pandas, polars or Arrow, or a file: CSV, TSV, Excel, Parquet, Arrow/Feather or LIBSVM, a folder
        or a pattern of Parquet files. Numbers as people write them, dates and yes/no become numbers, other texts
        categories; ids and free text are left out.
    target : str, int or None, default=None
        The column to predict, by name; names that are whole numbers, as pandas has them, may be given as such. LIBSVM
        files bring their own.
    k : int or None, default=None
        Exactly this number of features (of bags, if there are bags).
    fewer : bool, default=False
        With ``k``: at most that many; the number with the lowest held-out loss.
    mu : float or None, default=None
        A fixed mu, what a price of 1 weighs, instead of a chosen one.
    rule : {"1se", "min", "paired"}, default="1se"
        Which model of the path is chosen: the cheapest within one standard error of the lowest error, the one with
        the lowest error, or the cheapest by differences split by split.
    sell : bool, default=True
        Whether to also try the same number of features, chosen by buying more and selling the weakest.
    costs : str, path, mapping, price object or None, default=None
        Prices: a CSV or TOML file, a mapping from names, or whatever estimators take as ``costs``.
    bags : str, path, mapping or None, default=None
        Features that come together: a CSV or TOML file, or a mapping from bags to lists of names.
    budget : float or None, default=None
        The highest total cost.
    ids : str, int, list of them, or None, default=()
        Columns that are not features, by name. None: there are no such columns.
    weight : str, int or None, default=None
        The column of weights, by name.
    group : str, int or None, default=None
        A column, by name, whose equal values keep rows together: they share a fold, as equal rows always do. It is not
        a feature. Rows without a value are a group of their own each.
    time : str, int or None, default=None
        A column of dates or numbers, by name: models are fitted on earlier rows and judged on later ones. It is not a
        feature.
    test : data frame, str, path or None, default=None
        Rows to measure errors on; they take no part in the choice.
    task : {"auto", "classification", "regression", "count"}, default="auto"
        The kind of target; "count" is for whole numbers from 0 up (Poisson loss).
    scoring : str or None, default=None
        Any score of scikit-learn by name. None: accuracy, ROC AUC where one of two classes is rare, RMSE, or Poisson
        deviance of counts.
    trees : int, default=500
        Maximum number of trees.
    depth : int or None, default=None
        Maximum depth of a tree. None: 4; with more columns than rows 1, and lines are tried.
    learning_rate : float, default=0.1
        Factor on every tree.
    leaf : int or None, default=None
        Minimum number of rows in a leaf. None: 20, fewer on small tables.
    splits : int or None, default=None
        Number of splits of cross-validation. None: 5.
    points : int or None, default=None
        Number of models on the path. None: 20, on large tables 12 or 8.
    sample : int or None, default=None
        Number of rows used to choose; 0: all. None: at most 50,000, on large tables fewer, down to 10,000.
    thorough : bool, default=False
        Fit every model of the path to the end, with 5 splits, 20 points and up to 50,000 rows unless others are given.
        Otherwise all of them grow few trees, and only those that may still be chosen grow more; with ``k`` or ``mu``
        and without ``points`` nothing but what was asked for is tried.
    seed : int, default=0
        Seed of the random splits.
    threads : int or None, default=None
        Number of threads; None means all cores. The result does not depend on it.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where trees are grown: "cuda" is an NVIDIA GPU, "auto" one where it can do the fit. The result is the same.
    header : bool, default=True
        Whether a CSV or Excel file begins with names.
    sheet : str or None, default=None
        The sheet of an Excel file. None: the first.
    verbose : int, default=0
        1 shows what was guessed and noticed, and on standard error how far the work is and how long the rest may take.

    Returns
    -------
    Selection
        The path, the choice, the fitted model and the report.

    Raises
    ------
    ValueError
        If something is wrong with the table or the options; one sentence says what.
    TypeError
        If ``table`` or ``test`` is neither a data frame nor a path, or is a lazy frame.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import frugalboost
    >>> table = load_breast_cancer(as_frame=True).frame
    >>> found = frugalboost.select(table, "target", k=2, trees=20, points=5, splits=2)
    >>> found.features
    ['worst radius', 'worst concave points']
    >>> found.predict(table)[:3]
    array([0, 0, 0])

    ``found.report`` shows itself in a notebook; ``found.save("run")`` writes the folder that the command would write.
    """
    given = dict(locals()) | {"ids": names_of(ids)}
    given |= {name: as_name(given[name]) for name in ("target", "weight", "group", "time")}
    settings = Settings(**{name: given[name] for name in Settings.__dataclass_fields__})
    asked = {name: given[name] for name in given.keys() & Request.__dataclass_fields__.keys()}
    request = Request(**asked, settings=settings, call=python_call(given))
    found = run(request, Messages(print) if verbose else SILENT)
    if not found.features:
        warnings.warn(str(nothing_bought(found.report.contents, settings)), NothingBoughtWarning, stacklevel=2)
    return found


def as_name(name: Any) -> Any:
    """Names are texts once a table is read; pandas also has whole numbers."""
    return str(int(name)) if isinstance(name, Integral) and not isinstance(name, bool) else name


def names_of(ids: Any) -> tuple[Any, ...]:
    """One name, some, or none as a tuple."""
    ids = as_name(ids)
    if ids is None or isinstance(ids, str):
        return () if ids is None else (ids,)
    if isinstance(ids, bytes) or not isinstance(ids, Iterable):
        raise Problem(Option("ids"), f" must be a name or a list of names, not {type(ids).__name__}.")
    return tuple(map(as_name, ids))


NOTHING_BOUGHT = Sentence(
    "The model is a constant: no feature is worth its price, or the prices, ",
    Option("budget"),
    " and ",
    Option("leaf"),
    " allow no feature.",
)


def nothing_bought(contents: Contents, settings: Settings) -> Sentence:
    """Say that the model is a constant, and what the rule has passed by."""
    chosen, points = contents["chosen"], [p for p in contents["points"] if p["n_features"] and p["error"] is not None]
    best = min(points, key=lambda point: point["error"], default=None)
    asked = settings.k is not None or settings.mu is not None or settings.rule == Rule.MIN
    if asked or best is None or not best["error"] < chosen["error"]:
        return NOTHING_BOUGHT
    lower = f" has the lowest mean {contents['measure']['title']}: {error_text(contents, best['error'])}, but splits "
    words = f" A model with {best['n_features']} feature{'s' if best['n_features'] > 1 else ''}{lower}differ by more: "
    return Sentence(*NOTHING_BOUGHT.parts, words, Option("rule", Rule.MIN.value), " takes it.")


def python_call(given: Mapping[str, Any]) -> dict[str, str]:
    """The call, for the report."""
    shown = []
    for name, parameter in inspect.signature(select).parameters.items():
        value, default = given[name], parameter.default
        unchanged = type(value) is type(default) and value == default
        if unchanged or name in ("threads", "device", "verbose"):  # these do not change the result
            continue
        if name in ("table", "test") and not is_path(value):
            text = name  # a data frame
        else:
            text = repr(os.fspath(value) if isinstance(value, os.PathLike) else value)
        shown.append(text if name in ("table", "target") else f"{name}={text}")
    return {"python": f"frugalboost.select({', '.join(shown)})"}


def run(request: Request, messages: Messages = SILENT, loaded: LoadedTable | None = None) -> Selection:
    """Read a table, choose features and collect the report.

    Parameters
    ----------
    request : Request
        What a user asks for.
    messages : Messages
        Where guesses and notices are shown.
    loaded : LoadedTable or None, default=None
        The table, if it has been read already.

    Returns
    -------
    Selection
        The path, the choice, the model and the report.
    """
    request.check()
    with shown(Part.READING) if request.settings.verbose else nullcontext() as display:
        if display is not None:
            messages = replace(messages, show=display.above(messages.show))
        return selection_from(request, messages, loaded)


def selection_from(request: Request, messages: Messages, loaded: LoadedTable | None) -> Selection:
    """The same for a request that is checked."""
    loaded = load_table(request.table, header=request.header, sheet=request.sheet) if loaded is None else loaded
    columns = split_columns(loaded, request.roles, messages, request.task)
    target = LIBSVM_TARGET if loaded.is_sparse else str(request.target)
    if len(columns.y) < FEWEST_ROWS:
        raise Problem(f"{loaded.source} has {len(columns.y)} rows; at least {FEWEST_ROWS} are needed.")
    messages.say(f"{loaded.source}: {counted(len(columns.y), 'row')}, {counted(len(columns.names), 'feature')}.")
    check_k(request.settings.k, len(columns.names))
    task = task_of(columns.y, target, request.task, request.scoring)
    check_scoring_name(task, columns.y)
    costs = costs_of(request.costs, request.bags, columns.names, by_number=loaded.is_sparse)
    settings, about_selling = kept_in_budget(request.settings, costs)
    for remark in (*task.remarks, *(n.text for n in columns.notices)):
        messages.say(remark)
    effort = effort_of(columns.X.shape, columns.y, task, request.settings)
    tell_of_sample(effort.rows, len(columns.y), messages)
    test, notices, about_test = test_rows(request, loaded, columns, task)
    # All fits below use the tables that are checked here; targets stay the user's own, for splitters and scorers.
    checker = GBFSClassifier() if task.is_classification else GBFSRegressor()
    rows = Sample(check_X(checker, columns.X, reset=True), columns.y, columns.weights)
    if test is not None:
        test = replace(test, X=check_X(checker, test.X, reset=False, what="the test rows"))
    rows, ties, about_groups = tied(rows, columns, request.roles)
    notices = [*notices, *([] if about_selling is None else [Notice(NoticeKind.PRICES, about_selling)])]
    with warnings.catch_warnings():  # of models that are only tried
        warnings.simplefilter("ignore", NothingBoughtWarning)
        findings = choose(rows, ties, task, settings, costs, test)
    reached(Part.REPORT)
    model = findings.choice.model
    keep_forms(model, columns.forms)
    checked, _ = model._like()._checked(rows.X, rows.y, rows.weights)
    contents = contents_of(
        findings,
        checked,
        title=f"{target}: the features worth paying for",
        about=about(request, loaded, target) | about_test,
        notices=[*columns.notices, *about_groups, *notices],
        settings=dict(request.call),
        names=columns.names,
    )
    for notice in contents["notices"][len(columns.notices) :]:
        messages.say(notice["text"])
    place = os.fspath(request.table) if is_path(request.table) else None
    source = Source(place, columns.names, loaded.is_sparse, request.header)
    return Selection(contents, model, source)


def counted(number: int, noun: str) -> str:
    """A number of things as text."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def check_k(k: int | None, n_features: int) -> None:
    """Raise Problem where more features are asked for than there are."""
    if k is not None and k > n_features:
        raise Problem(Option("k"), f" asks for {k} features, but the table has {n_features}.")


def tell_of_sample(size: int, n_rows: int, messages: Messages) -> None:
    """Say so if only a sample of the rows is used to choose."""
    if size < n_rows:
        words = (f"{size:,} of the rows, drawn at random, are used to choose (", Option("sample"))
        messages.say(Sentence(*words, "); the model is fitted on all."))


def check_scoring_name(task: Task, y: Any) -> None:
    """Raise Problem for a scorer that is unknown, with the nearest name, or that is not for such a target."""
    if task.scoring is not None and task.scoring not in get_scorer_names():
        raise unknown_score(task.scoring, get_scorer_names())
    if task.scoring == "roc_auc" and len(np.unique(y)) > 2:
        other = Option("scoring", "roc_auc_ovr")
        raise Problem("roc_auc is for two classes; for more, use ", other, ".")


def test_rows(
    request: Request, first: LoadedTable, columns: Columns, task: Task
) -> tuple[Sample | None, list[Notice], dict[str, str]]:
    """The test rows in the form of the table, notices about them, and what the report says about them."""
    if request.test is None:
        return None, [], {}
    kinds = {} if first.is_sparse else kinds_of_frame(columns.X)
    texts = [n for n, levels in kinds.items() if levels and isinstance(levels[0], str)]
    target = LIBSVM_TARGET if first.is_sparse else str(request.target)
    if columns.y.dtype.kind in "OUT":
        texts.append(target)
    sheet = request.sheet if is_excel(request.test) else None
    how: dict[str, Any] = {"header": request.header, "sheet": sheet, "codes": False}
    how["written"] = read_as_texts(columns.forms)
    loaded = load_table(request.test, what="test", texts=texts, like=first, **how)
    if loaded.is_sparse != first.is_sparse:
        raise Problem("The test file must be of the same kind as the table: both LIBSVM, or neither.")
    told: list[str] = []
    if loaded.is_sparse:
        rows = Sample(loaded.columns, loaded.target)
    else:
        loaded, told = converted_roles(request, loaded, columns, task)
        rows, also = dense_test_rows(request, loaded, kinds, columns.forms)
        told += also
    if task.is_classification and not loaded.is_sparse:
        rows = Sample(rows.X, as_known_classes(rows.y, columns.y, loaded.source), rows.weights)
    if not loaded.is_sparse and task.scoring == "roc_auc" and len(np.unique(rows.y)) < 2:
        words = f"{loaded.source} has rows of one class only, so ROC AUC is not defined there ("
        raise Problem(words, Option("scoring"), ").")
    notices = [Notice(NoticeKind.CONVERTED, text) for text in told]
    notices += [] if loaded.is_sparse else same_rows(columns.X, rows.X, loaded.source)
    where = os.fspath(request.test) if is_path(request.test) else loaded.origin
    return rows, notices, {"test_rows": f"{rows.X.shape[0]:,} in {where}"}


def converted_roles(
    request: Request, loaded: LoadedTable, columns: Columns, task: Task
) -> tuple[LoadedTable, list[str]]:
    """Target and weights of a test table as in the fit, and sentences about what could not be converted."""
    target = str(request.target)
    Roles(target, request.weight).check(loaded)
    told: list[str] = []
    for name in (n for n in (target, request.weight) if n is not None):
        column = loaded.columns.column(name)
        if name in columns.forms:
            numbers, sentence = repeated(name, column, columns.forms[name], loaded.source)
        elif name == target and is_text(column.type) and not task.is_classification:
            numbers, sentence = as_numbers(loaded, name)
        else:
            continue
        loaded = replace(loaded, columns=loaded.columns.set_column(loaded.names.index(name), name, numbers))
        told += [sentence] if sentence else []
    return loaded, told


def dense_test_rows(
    request: Request, loaded: LoadedTable, kinds: Any, forms: Mapping[str, Form]
) -> tuple[Sample, list[str]]:
    """Rows of a test table that have a target, and sentences about what could not be converted."""
    target = str(request.target)
    kept = replace(loaded, columns=loaded.columns.filter(loaded.columns.column(target).is_valid()))
    if not kept.n_rows:
        raise Problem(f"{loaded.source} has no rows with a value of {target!r}.")
    weights = None if request.weight is None else weights_of(kept.columns, request.weight)
    X, told = as_fitted(kept, kinds, forms)
    return Sample(X, target_values(kept.columns.column(target)), weights), told


def as_known_classes(y: Any, known: Any, source: str) -> Any:
    """The classes of a test file in the type of the table's; Problem for unknown ones."""
    place = {str(value): value for value in np.unique(known).tolist()}
    found = [text if text in place else text.strip() for text in map(str, y.tolist())]
    strange = next((value for value in found if value not in place), None)
    if strange is not None:
        raise Problem(f"{source} has a class {strange!r} that the table does not have.")
    return np.array([place[value] for value in found], dtype=known.dtype)


def same_rows(X: Any, X_test: Any, source: str) -> list[Notice]:
    """A notice where rows of the test file are also in the table."""
    own = set(row_keys(X).tolist())
    again = int(row_keys(X_test).isin(own).sum())
    if not again:
        return []
    text = f"{again:,} of the {len(X_test):,} rows of {source} have the same features as a row of the table."
    return [Notice(NoticeKind.ROWS, text)]


def row_keys(frame: Any) -> Any:
    """A number for each row that is the same for equal values, whatever their type."""
    import pandas as pd

    alike = {n: c.astype(object if c.dtype == "category" else "float64") for n, c in frame.items()}
    return pd.util.hash_pandas_object(pd.DataFrame(alike), index=False)


def about(request: Request, loaded: LoadedTable, target: str) -> dict[str, Any]:
    """Where the data came from, for the report."""
    found: dict[str, Any] = {"source": loaded.origin or loaded.source, "target": target}
    if request.weight:
        found["weights"] = request.weight
    found |= {role: name for role, name in (("groups", request.group), ("time", request.time)) if name}
    if request.ids:
        found["left_out_as_ids"] = list(request.ids)
    return found
