"""Where tables are: kinds of files, by their endings, and whether they are there.

This module imports nothing slow: the command looks for its files before it loads what reads them.
"""

from __future__ import annotations

import glob
import os
import zipfile
from enum import Enum
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from frugalboost.recipe.options import Option
from frugalboost.recipe.problems import Problem, listed, unknown

LIBSVM_TARGET = "label"
STANDARD_INPUT = "standard input"  # its name in messages
ARCHIVE = ".zip"
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}


class FileKind(Enum):
    """The kind of a file."""

    COMMAS = ","
    TABS = "\t"
    PARQUET = "parquet"
    ARROW = "arrow"
    LIBSVM = "libsvm"
    EXCEL = "excel"


ENDINGS = {
    ".csv": FileKind.COMMAS,
    ".txt": FileKind.COMMAS,
    ".data": FileKind.COMMAS,
    ".tsv": FileKind.TABS,
    ".tab": FileKind.TABS,
    ".parquet": FileKind.PARQUET,
    ".pq": FileKind.PARQUET,
    ".feather": FileKind.ARROW,
    ".arrow": FileKind.ARROW,
    ".ipc": FileKind.ARROW,
    ".svm": FileKind.LIBSVM,
    ".libsvm": FileKind.LIBSVM,
    ".svmlight": FileKind.LIBSVM,
    ".xlsx": FileKind.EXCEL,
    ".xlsm": FileKind.EXCEL,
}
WITHOUT_NAMES = (FileKind.COMMAS, FileKind.TABS, FileKind.EXCEL, FileKind.LIBSVM)  # or maybe without
IN_ARCHIVES = (FileKind.COMMAS, FileKind.TABS, FileKind.EXCEL)
BESIDE_TABLES = (".txt", ".data")  # endings that a description in an archive has, too


def check_place(table: Any) -> None:
    """Raise Problem for a path that can't be a table: nothing is there, or its ending is not known."""
    if not is_path(table) or fspath(table) == "-":
        return
    place = fspath(table)
    if kind_of(place) is FileKind.PARQUET:
        parquet_files(place)
    else:
        existing_file(place)


def kind_of(place: str) -> FileKind:
    """The kind of a file, by its ending; of an archive, that of the table in it."""
    if Path(place).is_dir():
        return FileKind.PARQUET
    if is_archive(place):
        return ENDINGS[Path(member_of(place)).suffix.lower()]
    name = place.lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    suffix = Path(name).suffix
    if suffix == ".xls":
        existing_file(place)
        raise Problem(f"{place!r} is a file of an old Excel. Save it as .xlsx or .csv.")
    if suffix not in ENDINGS:
        if not glob.glob(place):
            existing_file(place)
        raise Problem(f"{place!r} has no known ending. Known endings are {', '.join(ENDINGS)} (also .gz and .zip).")
    return ENDINGS[suffix]


def is_archive(place: str) -> bool:
    """Whether a file is a zip file, by its ending."""
    return place.lower().endswith(ARCHIVE)


def member_of(place: str) -> str:
    """The name of the one table in a zip file; Problem where there is none, or are several."""
    path = existing_file(place)
    try:
        with zipfile.ZipFile(path) as archive:
            names = [n for n in archive.namelist() if not is_hidden(n)]
    except (zipfile.BadZipFile, OSError):
        raise Problem(f"{path.name} is not a zip file, or is damaged.") from None
    tables = [n for n in names if ENDINGS.get(Path(n).suffix.lower()) in IN_ARCHIVES]
    tables = [n for n in tables if Path(n).suffix.lower() not in BESIDE_TABLES] or tables
    if not tables:
        there = f"In it: {listed(names)}." if names else "It is empty."
        raise Problem(
            f"{path.name} holds no table (CSV, TSV or Excel). {there} Unpack it, and give a file that is one."
        )
    if len(tables) > 1:
        raise Problem(f"{path.name} holds {len(tables)} tables: {listed(tables)}. Unpack it, and name one of them.")
    return tables[0]


def is_hidden(name: str) -> bool:
    """Whether a member of an archive is a folder, or what a system has left there."""
    return name.endswith("/") or name.startswith("__MACOSX/") or Path(name).name.startswith(".")


def name_of(place: str) -> str:
    """The name of a file in messages; of an archive also that of the table in it."""
    name = Path(place).name
    return f"{Path(member_of(place)).name} in {name}" if is_archive(place) else name


def is_path(table: Any) -> bool:
    """Whether a table is given as a path."""
    return isinstance(table, str | PathLike)


def is_libsvm(table: Any) -> bool:
    """Whether a table is a LIBSVM file."""
    return is_path(table) and fspath(table) != "-" and kind_of(fspath(table)) is FileKind.LIBSVM


def is_excel(table: Any) -> bool:
    """Whether a table is an Excel file."""
    return is_path(table) and fspath(table) != "-" and kind_of(fspath(table)) is FileKind.EXCEL


def check_sheet(sheet: str | None, table: Any) -> None:
    """Raise Problem for a sheet of a table that has none."""
    if sheet is not None and not is_excel(table):
        name = repr(Path(fspath(table)).name) if is_path(table) else "a data frame"
        raise Problem(Option("sheet"), f" is for Excel files, and {name} is none.")


def check_header(header: bool, table: Any) -> None:
    """Raise Problem for a table without names, where it is of a kind that has them."""
    if header or (is_path(table) and (fspath(table) == "-" or kind_of(fspath(table)) in WITHOUT_NAMES)):
        return
    name = repr(Path(fspath(table)).name) if is_path(table) else "a data frame"
    raise Problem(Option("header", False), f" is for CSV and Excel files; {name} has names. Leave it out.")


def existing_file(place: str) -> Path:
    """The path of a file; Problem if it does not exist."""
    path = Path(place).expanduser()
    if path.is_file():
        return path
    folder = path.parent
    if path.exists():
        raise Problem(f"{place!r} is {'a folder' if path.is_dir() else 'not a file'}; a file is needed here.")
    if folder.is_dir():
        try:
            names = sorted(p.name for p in folder.iterdir())
        except OSError:
            names = []  # it may not be listed
        raise unknown("file", path.name, names, f"the folder {str(folder)!r}")
    raise Problem(f"There is no file {place!r}, and no folder {str(folder)!r}.")


def parquet_files(place: str) -> Any:
    """A file, a folder, or the files that a pattern matches; Problem if there is none."""
    if glob.has_magic(place) and not Path(place).exists():
        found = sorted(glob.glob(place, recursive=True))
        if not found:
            raise Problem(f"No file has a name like {place!r}.")
        return found
    if not Path(place).is_dir():
        existing_file(place)
    return place


def origin_of(table: str, folder: Path) -> str:
    """The path of a table relative to a folder; it tells runs of different tables apart."""
    if table == "-":
        return STANDARD_INPUT
    place = os.path.realpath(os.path.expanduser(table))
    try:
        return os.path.relpath(place, os.path.realpath(folder.parent))
    except ValueError:  # on another drive
        return place
