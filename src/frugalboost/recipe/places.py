"""Where tables are: kinds of files, by their endings, and whether they are there.

This module imports nothing slow: the command looks for its files before it loads what reads them.
"""

from __future__ import annotations

import glob
import os
from enum import Enum
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from frugalboost.recipe.problems import Problem, unknown

LIBSVM_TARGET = "label"
STANDARD_INPUT = "standard input"  # its name in messages
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}


class FileKind(Enum):
    """The kind of a file."""

    COMMAS = ","
    TABS = "\t"
    PARQUET = "parquet"
    ARROW = "arrow"
    LIBSVM = "libsvm"


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
}


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
    """The kind of a file, by its ending."""
    name = place.lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    if Path(place).is_dir():
        return FileKind.PARQUET
    suffix = Path(name).suffix
    if suffix not in ENDINGS:
        if not glob.glob(place):
            existing_file(place)
        raise Problem(f"{place!r} has no known ending. Known endings are {', '.join(ENDINGS)} (also .gz).")
    return ENDINGS[suffix]


def is_path(table: Any) -> bool:
    """Whether a table is given as a path."""
    return isinstance(table, str | PathLike)


def is_libsvm(table: Any) -> bool:
    """Whether a table is a LIBSVM file."""
    return is_path(table) and fspath(table) != "-" and kind_of(fspath(table)) is FileKind.LIBSVM


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
