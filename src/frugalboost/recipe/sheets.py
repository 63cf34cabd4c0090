"""Tables from Excel files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from typing import Any

from frugalboost.recipe.formulas import by_column, uncomputed_cells
from frugalboost.recipe.options import Option, Sentence
from frugalboost.recipe.problems import Problem, unknown
from frugalboost.recipe.text import NULLS, LoadedTable, arrow, checked_names, with_columns

ERRORS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")  # what a formula may leave
WIDE_ENOUGH = 3  # columns of a table from which on a row with a single cell above it is a title


def read_workbook(
    content: bytes, source: str, *, sheet: str | None, header: bool, only: Sequence[str] | None, texts: Sequence[str]
) -> LoadedTable:
    """A sheet of an Excel file; the first one, unless another is named.

    Parameters
    ----------
    content : bytes
        Of the file.
    source : str
        Its name in messages.
    sheet : str or None
        The name of the sheet.
    header : bool
        Whether the first row that is not empty holds names.
    only, texts : sequence of str
        Columns to keep, and columns whose cells are texts whatever they hold.

    Returns
    -------
    LoadedTable
        Numbers, dates and truths as they are in the cells; of formulas what Excel has computed.
    """
    rows, uncomputed, remarks = cells_of(content, source, sheet)
    with_formulas = {row for row, _ in uncomputed}
    filled = [i for i, row in enumerate(rows) if i in with_formulas or any(not is_empty(cell) for cell in row)]
    if not filled:
        raise Problem(f"{source} is empty.")
    used = [i + 1 for row in filled for i, cell in enumerate(rows[row]) if not is_empty(cell)]
    width = max([*used, *(column + 1 for _, column in uncomputed)])
    names, unnamed = [f"column {i + 1}" for i in range(width)], frozenset[str]()
    if header:
        filled = after_titles(rows, filled, width, source, remarks)
        heads = (rows[filled[0]] + (None,) * width)[:width]
        names, unnamed = checked_names(["" if cell is None else as_text(cell) for cell in heads], source)
        filled = filled[1:]
    columns = [[rows[row][i] if i < len(rows[row]) else None for row in filled] for i in range(width)]
    table = arrow().table({n: as_column(c, n in texts) for n, c in zip(names, columns, strict=True)})
    missed = by_column(uncomputed, filled, names)
    loaded = LoadedTable(source, names, table, remarks=remarks, unnamed=unnamed, uncomputed=missed)
    return loaded if only is None else with_columns(loaded, only)


def after_titles(
    rows: Sequence[tuple[Any, ...]], filled: list[int], width: int, source: str, remarks: list[str | Sentence]
) -> list[int]:
    """Rows from the names on: a row with a single cell above a table of three or more columns is a title."""
    named = 0
    while width >= WIDE_ENOUGH and named < len(filled) - 1 and len(cells := in_row(rows[filled[named]])) == 1:
        words = f"Row {filled[named] + 1} of {source} holds nothing but {as_text(cells[0])!r}"
        remarks.append(f"{words}: it was taken for a title, and names were looked for below it.")
        named += 1
    return filled[named:] if len(in_row(rows[filled[named]])) > 1 else filled


def in_row(row: Sequence[Any]) -> list[Any]:
    """The cells of a row that hold something."""
    return [cell for cell in row if not is_empty(cell)]


Cells = tuple[list[tuple[Any, ...]], list[tuple[int, int]], list[str | Sentence]]


def cells_of(content: bytes, source: str, sheet: str | None) -> Cells:
    """The rows of a sheet, its formulas without a result, and a remark where there are other sheets."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise ImportError("Reading Excel files needs openpyxl: pip install 'frugalboost[excel]'.") from None
    try:
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError):
        raise Problem(f"{source} can't be read as an Excel file. Is it damaged, or does it have a password?") from None
    names = [own.title for own in book.worksheets]
    if sheet is not None and sheet not in names:
        raise unknown("sheet", sheet, names, source)
    if not names:
        raise Problem(f"{source} has no sheet with cells.")
    taken = names[0] if sheet is None else sheet
    remarks: list[str | Sentence] = []
    if sheet is None and len(names) > 1:
        remarks.append(Sentence(f"{source} has {len(names)} sheets; {taken!r} was read (", Option("sheet"), ")."))
    return list(book[taken].iter_rows(values_only=True)), uncomputed_cells(book[taken]), remarks


def is_empty(cell: Any) -> bool:
    """Whether a cell holds no value."""
    return cell is None or (isinstance(cell, str) and (cell.strip() in NULLS or cell in ERRORS))


def as_column(cells: Sequence[Any], texts: bool) -> Any:
    """The cells of a column in one type; texts where they have several."""
    import pyarrow

    values = [None if is_empty(cell) else cell for cell in cells]
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} and not texts:
        return pyarrow.array(as_numbers(values))
    if kinds <= {datetime, date} and not texts:
        whole = [as_moment(value) for value in values]
        return pyarrow.array(whole, pyarrow.timestamp("us"))
    if len(kinds) == 1 and kinds <= {bool, str, time} and not texts:
        return pyarrow.array(values)
    return pyarrow.array([None if value is None else as_text(value) for value in values], pyarrow.string())


def as_numbers(values: Iterable[Any]) -> list[Any]:
    """Whole numbers where all of them are; Excel knows only floats."""
    found = list(values)
    small = all(v is None or (v == int(v) and abs(v) < 2**53) for v in found if v is None or abs(v) != float("inf"))
    return [None if v is None else int(v) for v in found] if small else [None if v is None else float(v) for v in found]


def as_moment(value: Any) -> datetime | None:
    """A date as the beginning of that day."""
    return value if value is None or isinstance(value, datetime) else datetime(value.year, value.month, value.day)


def as_text(cell: Any) -> str:
    """A cell as it would be written in CSV."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime) and not (cell.hour or cell.minute or cell.second or cell.microsecond):
        cell = cell.date()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        cell = int(cell)
    return str(cell)
