"""Predictions of a model for a table, as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from frugalboost.estimators.saving import load
from frugalboost.recipe.columns import as_fitted, kinds_of_model
from frugalboost.recipe.files import LoadedTable, existing_file, is_libsvm, load_table
from frugalboost.recipe.folder import MODEL, csv_text
from frugalboost.recipe.options import Option
from frugalboost.recipe.problems import Problem


def predictions(
    model: str, table: str, ids: Sequence[str], proba: bool, header: bool = True, threads: int | None = None
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

    Returns
    -------
    str
        CSV with a row for each row of the table.
    """
    fitted = load(model_file(model))
    fitted.set_params(n_jobs=threads)
    if proba and not is_classifier(fitted):
        raise Problem(Option("proba"), " is for classifiers, and this model predicts numbers.")
    X, copied = rows_for(fitted, table, ids, header)
    heads = [*ids, "prediction", *(f"probability_{c}" for c in (fitted.classes_ if proba else ()))]
    if not X.shape[0]:
        return csv_text(heads, [])
    columns = [*copied, fitted.predict(X).tolist()]
    if proba:
        columns += fitted.predict_proba(X).T.tolist()
    return csv_text(heads, zip(*columns, strict=True))


def model_file(model: str) -> Path:
    """The file of a model, which may be named by the folder of its run."""
    file = Path(model).expanduser()
    if file.is_dir() and not (file / MODEL).is_file():
        raise Problem(f"There is no model in the folder {str(file)!r}.")
    return file / MODEL if file.is_dir() else existing_file(model)


def rows_for(fitted: Any, table: Any, ids: Sequence[str], header: bool) -> tuple[Any, list[list[Any]]]:
    """The columns that the model needs, and those to copy, as they are in the file."""
    names = [str(n) for n in getattr(fitted, "feature_names_in_", [])]
    if is_libsvm(table):
        if ids:
            raise Problem("A LIBSVM file has no ids.")
        if not names or not all(n.isdigit() for n in names):
            raise Problem("This model was not fitted on a LIBSVM file.")
        del fitted.feature_names_in_  # a sparse matrix has no names
        return libsvm_rows(table, names), []
    if not names:
        raise Problem("This model was fitted on a table without names.")
    kinds = kinds_of_model(fitted)
    texts = [n for n, levels in kinds.items() if levels and isinstance(levels[0], str)]
    wanted = list(dict.fromkeys([*kinds, *ids]))
    loaded = load_table(table, header=header, only=wanted or None, texts=[*texts, *ids])
    X = as_fitted(loaded, kinds) if kinds else constant_rows(fitted, loaded.n_rows)
    return X, [loaded.columns.column(name).to_pylist() for name in ids]


def libsvm_rows(table: Any, names: Sequence[str]) -> Any:
    """A sparse matrix of these columns."""
    return load_table(table, like=LoadedTable("", list(names), None)).columns


def constant_rows(fitted: Any, n: int) -> Any:
    """Rows for a model that needs no column."""
    import pandas as pd

    return pd.DataFrame({name: np.full(n, np.nan) for name in fitted.feature_names_in_[:1]})
