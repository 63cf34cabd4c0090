"""Predictions of a model for a table, as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from frugalboost.estimators.saving import load
from frugalboost.recipe.columns import as_fitted, kinds_of_model
from frugalboost.recipe.files import load_table
from frugalboost.recipe.folder import csv_text, model_file
from frugalboost.recipe.forms import Clock, Dates, Form, form_from
from frugalboost.recipe.options import SILENT, Messages, Option
from frugalboost.recipe.places import is_libsvm
from frugalboost.recipe.problems import Problem
from frugalboost.recipe.text import LoadedTable


def predictions(
    model: str,
    table: str,
    ids: Sequence[str],
    proba: bool,
    header: bool = True,
    threads: int | None = None,
    sheet: str | None = None,
    messages: Messages = SILENT,
) -> str:
    """Predict every row of a table.

    Parameters
    ----------
    model : str
        A model file, or the folder of a run.
    table : str
        As :func:`~frugalboost.recipe.files.load_table` takes it; only columns that were bought are needed.
    ids : sequence of str
        Columns to copy.
    proba : bool
        Whether to add the probability of every class.
    header : bool, default=True
        Whether CSV begins with names.
    threads : int or None, default=None
        None: all cores.
    sheet : str or None, default=None
        The sheet of an Excel file. None: the first.
    messages : Messages, default=SILENT
        Where values that could not be converted are told.

    Returns
    -------
    str
        CSV with a row for each row of the table.
    """
    fitted = load(model_file(model))
    fitted.set_params(n_jobs=threads)
    if proba and not is_classifier(fitted):
        raise Problem(Option("proba"), " is for classifiers, and this model predicts numbers.")
    X, copied, told = rows_for(fitted, table, ids, header, sheet)
    for sentence in told:
        messages.say(sentence)
    targets = range(1, getattr(fitted, "n_outputs_", 1) + 1)
    names = ["prediction"] if len(targets) == 1 else [f"prediction_{k}" for k in targets]
    heads = [*ids, *names, *(f"probability_{c}" for c in (fitted.classes_ if proba else ()))]
    if not X.shape[0]:
        return csv_text(heads, [])
    columns = [*copied, *np.atleast_2d(fitted.predict(X).T).tolist()]
    if proba:
        columns += fitted.predict_proba(X).T.tolist()
    return csv_text(heads, zip(*columns, strict=True))


Rows = tuple[Any, list[list[Any]], list[str]]


def rows_for(fitted: Any, table: Any, ids: Sequence[str], header: bool, sheet: str | None = None) -> Rows:
    """The columns that the model needs, those to copy, as they are in the file, and what could not be converted."""
    names = [str(n) for n in getattr(fitted, "feature_names_in_", [])]
    if is_libsvm(table):
        if ids:
            raise Problem("A LIBSVM file has no ids.")
        if not names or not all(n.isdigit() for n in names):
            raise Problem("This model was not fitted on a LIBSVM file.")
        del fitted.feature_names_in_  # a sparse matrix has no names
        return libsvm_rows(table, names), [], []
    if not names:
        raise Problem("This model was fitted on a table without names.")
    kinds, forms = kinds_of_model(fitted), kept_forms(fitted)
    texts = [n for n, levels in kinds.items() if levels and isinstance(levels[0], str)]
    wanted = list(dict.fromkeys([*kinds, *ids]))
    how: dict[str, Any] = {"written": read_as_texts(forms), "codes": False, "sheet": sheet}
    loaded = load_table(table, header=header, only=wanted or None, texts=[*texts, *ids], **how)
    X, told = as_fitted(loaded, kinds, forms) if kinds else (constant_rows(fitted, loaded.n_rows), [])
    return X, [loaded.columns.column(name).to_pylist() for name in ids], told


def read_as_texts(forms: Mapping[str, Form]) -> list[str]:
    """Columns of CSV that must come as texts, so that their form decides; of dates and times Arrow knows the usual."""
    return [name for name, form in forms.items() if not isinstance(form, Dates | Clock)]


def keep_forms(model: Any, forms: Mapping[str, Form]) -> None:
    """Let a model keep the forms of the columns that it has bought; its file holds them."""
    bought = kinds_of_model(model) if forms else {}
    model._forms = {name: form.to_dict() for name, form in forms.items() if name in bought} or None


def kept_forms(model: Any) -> dict[str, Form]:
    """The forms that a model keeps."""
    try:
        return {name: form_from(record) for name, record in (getattr(model, "_forms", None) or {}).items()}
    except (ValueError, TypeError):
        raise Problem("The model's record of how columns were converted is damaged, or from a later version.") from None


def libsvm_rows(table: Any, names: Sequence[str]) -> Any:
    """A sparse matrix of these columns."""
    return load_table(table, like=LoadedTable("", list(names), None)).columns


def constant_rows(fitted: Any, n: int) -> Any:
    """Rows for a model that needs no column."""
    import pandas as pd

    return pd.DataFrame({name: np.full(n, np.nan) for name in fitted.feature_names_in_[:1]})
