"""Tables from files (CSV, TSV, Excel, Parquet, Arrow, LIBSVM; CSV from standard input) or from data frames."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from os import fspath
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from frugalboost.recipe.options import Sentence
from frugalboost.recipe.places import (
    FileKind,
    check_sheet,
    existing_file,
    is_archive,
    is_path,
    kind_of,
    name_of,
    parquet_files,
)
from frugalboost.recipe.problems import Problem, unknown
from frugalboost.recipe.sheets import read_workbook
from frugalboost.recipe.text import (
    LoadedTable,
    arrow,
    checked_names,
    decompressed,
    first_line,
    is_text_file,
    load_text,
    reason_of,
    with_columns,
)
from frugalboost.tables.frames import as_frame
from frugalboost.tables.sources import ArrowBatches, dataset_of


def load_table(
    place: Any,
    *,
    what: str = "table",
    header: bool = True,
    only: Sequence[str] | None = None,
    texts: Sequence[str] = (),
    written: Sequence[str] = (),
    codes: bool = True,
    sheet: str | None = None,
    like: LoadedTable | None = None,
) -> LoadedTable:
    r"""Read a table.

    Parameters
    ----------
    place : str, path or data frame
        A file, "-" for CSV from standard input, a folder of Parquet files, or a pattern such as "part-*.parquet". The
        ending says what is in it: .csv, .tsv, .txt, .xlsx, .parquet, .feather, .arrow, .svm or .libsvm; .gz may follow.
        A .zip file holds one table of text or of Excel.
        Or a data frame of pandas, polars, Arrow, or whatever narwhals knows.
    what : str, default="table"
        The name of a data frame in messages.
    header : bool, default=True
        Whether the first line of a CSV file holds names.
    only : sequence of str or None, default=None
        Columns to read; all of them must exist.
    texts : sequence of str, default=()
        Columns of a CSV file that hold texts even if they look like numbers: "007" stays a text.
    written : sequence of str, default=()
        Columns of a CSV file that are read by a form, and so come as texts. Other files have types.
    codes : bool, default=True
        Whether whole numbers with leading zeros, such as postcodes, are texts.
    sheet : str or None, default=None
        The sheet of an Excel file. None: the first.
    like : Loaded or None, default=None
        A LIBSVM file whose columns this one should have; columns that it does not mention are zero.

    Returns
    -------
    Loaded
        The columns and their names.

    Examples
    --------
    >>> import os, tempfile
    >>> from frugalboost.recipe.files import load_table
    >>> path = os.path.join(tempfile.mkdtemp(), "a.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("age;sex\n12;f\n13;m\n")
    >>> load_table(path).names
    ['age', 'sex']
    """
    if not is_path(place):
        return from_frame(place, what, only)
    place = fspath(place)
    kind = None if place == "-" else kind_of(place)
    if kind is FileKind.EXCEL:
        how: dict[str, Any] = {"sheet": sheet, "header": header, "only": only, "texts": texts}
        loaded = read_workbook(decompressed(existing_file(place)), name_of(place), **how)
        return replace(loaded, origin=Path(place).name) if is_archive(place) else loaded
    check_sheet(sheet, place)
    if is_text_file(place):
        return load_text(place, header=header, only=only, texts=[*texts, *written], codes=codes)
    if kind is FileKind.LIBSVM:
        return read_libsvm(existing_file(place), None if like is None else like.names)
    read = read_parquet if kind is FileKind.PARQUET else read_feather
    return read(place, only)


# ------------------------------------------------------------------------------------------- data frames


def from_frame(table: Any, what: str, only: Sequence[str] | None) -> LoadedTable:
    """A data frame of any library. The index of pandas is not a column."""
    pyarrow = arrow()
    frame = as_frame(table, what)
    if frame is None:
        kind = type(table).__name__
        raise TypeError(f"{what} is of type {kind}. Give a data frame (pandas, polars, Arrow) or the path of a file.")
    native = frame.to_native()
    library = type(native).__module__.partition(".")[0]
    try:
        if library == "pandas":
            columns = pyarrow.Table.from_pandas(native, preserve_index=False)
        else:
            columns = frame.to_arrow()
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        raise Problem(f"{what} can't be read: {first_line(error)} Leave the column out, or change its type.") from None
    names = [str(n) for n in frame.columns]
    loaded = LoadedTable(what, names, columns.rename_columns(names), origin=f"data frame ({library})")
    return loaded if only is None else with_columns(loaded, only)


# ------------------------------------------------------------------------------------------- other kinds


def read_parquet(place: str, only: Sequence[str] | None) -> LoadedTable:
    """A file, a folder or a pattern."""
    arrow()
    found = parquet_files(place)
    source = Path(place).name or repr(place)
    loaded: LoadedTable = read_or_explain(
        source, lambda: columns_of(source, ArrowBatches(dataset_of(found), None, None, False), only)
    )
    return loaded


def columns_of(source: str, batches: Any, only: Sequence[str] | None) -> LoadedTable:
    """All columns of files, or some."""
    names = [str(n) for n in batches.names]
    for name in only or ():
        if name not in names:
            raise unknown("column", name, names, source)
    wanted = names if only is None else list(only)
    return LoadedTable(source, wanted, batches._dataset.to_table(columns=wanted))


def read_feather(place: str, only: Sequence[str] | None) -> LoadedTable:
    """Arrow files and streams."""
    path = existing_file(place)
    pyarrow = arrow()

    def read() -> Any:
        with pyarrow.memory_map(str(path)) as file:
            try:
                return pyarrow.ipc.open_file(file).read_all()
            except pyarrow.ArrowInvalid:
                file.seek(0)
                return pyarrow.ipc.open_stream(file).read_all()

    table = read_or_explain(path.name, read)
    index = [c for c in (table.schema.pandas_metadata or {}).get("index_columns", []) if isinstance(c, str)]
    names, unnamed = checked_names([str(n) for n in table.column_names], path.name)
    table = table.rename_columns(names).drop_columns(index)
    loaded = LoadedTable(path.name, [n for n in names if n not in index], table, unnamed=unnamed)
    return loaded if only is None else with_columns(loaded, only)


def read_or_explain(source: str, read: Callable[[], Any]) -> Any:
    """Read a file; an error becomes one sentence."""
    import pyarrow

    try:
        return read()
    except Problem:
        raise
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise Problem(f"{source} can't be read: {reason_of(error)}") from None


def read_libsvm(path: Path, known: Sequence[str] | None) -> LoadedTable:
    """Lines of a label and pairs of column and value; columns are called by their numbers.

    Columns that no row mentions are zero everywhere and left out: a short file may mention column 1,000,000,000.
    ``known``: the columns of the first file.
    """
    try:
        X, y = load_svmlight_file(str(path), zero_based=True)
    except (ValueError, OverflowError, OSError) as error:
        why = libsvm_fault(path) or first_line(error)
        raise Problem(f"{path.name} can't be read as LIBSVM: {why}") from None
    if not X.shape[0]:
        raise Problem(f"{path.name} is empty.")
    if not np.isfinite(y).all():
        row = int(np.argmin(np.isfinite(y))) + 1
        raise Problem(f"{path.name} has labels that are not finite numbers, the first in row {row}.")
    mentioned = np.unique(X.indices)
    remarks: list[str | Sentence] = []
    if known is None:
        known = [str(i) for i in mentioned]
        beside = int(mentioned.max(initial=0)) + (0 in mentioned) - len(known)
        if beside:
            remarks.append(f"{beside:,} columns of {path.name} that no row mentions were left out.")
    if not known:
        raise Problem(f"{path.name} has no columns: no row mentions any.")
    whole = np.round(y).astype(np.int64) if (np.abs(y) < 2**53).all() else y
    target = whole if (whole == y).all() else y
    return LoadedTable(
        path.name, list(known), aligned_columns(X, mentioned, known, path.name), target=target, remarks=remarks
    )


def aligned_columns(X: Any, mentioned: Any, known: Sequence[str], source: str) -> Any:
    """The known columns, in their order; columns that the first file does not mention are dropped."""
    numbers = np.array([int(n) for n in known], dtype=np.int64)
    first, last = int(numbers[0]) and 1, int(numbers[-1])  # files may count from 1 or from 0
    strange = mentioned[(mentioned < first) | (mentioned > last)]
    if len(strange):
        raise Problem(f"{source} has a column {strange[-1]}; in the first file they were {first} to {last}.")
    places = np.searchsorted(numbers, X.indices)
    there = numbers[places] == X.indices
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return sparse.csr_matrix((X.data[there], (rows[there], places[there])), shape=(X.shape[0], len(numbers)))


def libsvm_fault(path: Path) -> str | None:
    """What is wrong in the first line that can't be read, if it is a common mistake."""
    for number, line in enumerate(decompressed(path).splitlines(), start=1):
        last = -1
        for pair in line.partition(b"#")[0].split()[1:]:
            name, colon, value = pair.partition(b":")
            where = f"line {number} has {pair.decode('utf-8', 'backslashreplace')[:40]!r}"
            if name == b"qid" and colon:
                continue
            if not colon or not re.fullmatch(rb"[-+]?\d+", name):
                return f"{where}, which is not a column's number, a colon and a value."
            column = int(name[:20])
            if not 0 <= column < 2**31:
                return f"{where}; numbers of columns must be 0 to {2**31 - 1}."
            if column <= last:
                return f"{where} after column {last}; the columns of a line must ascend."
            try:
                float(value)
            except ValueError:
                return f"{where}, whose value is not a number."
            last = column
        try:
            float((line.partition(b"#")[0].split() or [b"0"])[0])
        except ValueError:
            return f"line {number} does not begin with a number, the label."
    return None
