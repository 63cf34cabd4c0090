"""Tables from Excel files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from typing import Any

from frugalboost.recipe.options import Option, Sentence
from frugalboost.recipe.problems import Problem, unknown
from frugalboost.recipe.text import NULLS, LoadedTable, arrow, checked_names, with_columns

ERRORS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")  # what a formula may leave


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
    rows, remarks = cells_of(content, source, sheet)
    filled = [row for row in rows if any(not is_empty(cell) for cell in row)]
    if not filled:
        raise Problem(f"{source} is empty.")
    width = max(i + 1 for row in filled for i, cell in enumerate(row) if not is_empty(cell))
    names, unnamed = [f"column {i + 1}" for i in range(width)], frozenset[str]()
    if header:
        heads = (filled[0] + (None,) * width)[:width]
        names, unnamed = checked_names(["" if cell is None else as_text(cell) for cell in heads], source)
        filled = filled[1:]
    columns = [[row[i] if i < len(row) else None for row in filled] for i in range(width)]
    table = arrow().table({n: as_column(c, n in texts) for n, c in zip(names, columns, strict=True)})
    loaded = LoadedTable(source, names, table, remarks=remarks, unnamed=unnamed)
    return loaded if only is None else with_columns(loaded, only)


def cells_of(content: bytes, source: str, sheet: str | None) -> tuple[list[tuple[Any, ...]], list[str | Sentence]]:
    """The rows of a sheet, and a remark where there are others."""
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
    return list(book[taken].iter_rows(values_only=True)), remarks


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
