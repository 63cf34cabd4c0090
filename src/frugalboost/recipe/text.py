"""Tables from text: CSV in any dialect, from a file or from standard input.

This module imports nothing slower than pyarrow: the command reads such a table, and looks for the columns that the user
has named, before it loads what fits models.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from os import fspath
from pathlib import Path
from typing import Any

from frugalboost.recipe.options import Option, Sentence
from frugalboost.recipe.places import COMPRESSED, STANDARD_INPUT, FileKind, existing_file, is_path, kind_of
from frugalboost.recipe.problems import Problem, unknown

NULLS = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "#N/A", "?", "-nan", "<NA>"]
BLOCK = 64 * 2**20  # bytes; a row must fit into one
DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class LoadedTable:
    """A table as it was read."""

    source: str  # its name in messages
    names: list[str]
    columns: Any  # pyarrow.Table, or a sparse matrix
    target: Any = None  # of LIBSVM files, which bring their own
    remarks: list[str | Sentence] = field(default_factory=list)
    unnamed: frozenset[str] = frozenset()  # names that were made up for columns without one
    origin: str | None = None  # where it came from, for a report; None: ``source`` says it

    @property
    def is_sparse(self) -> bool:
        """Whether it came from a LIBSVM file."""
        return self.target is not None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.columns.shape[0])


def is_text_file(place: Any) -> bool:
    """Whether a table is text: a file by its ending, or standard input."""
    return is_path(place) and (fspath(place) == "-" or kind_of(fspath(place)) in (FileKind.COMMAS, FileKind.TABS))


def load_text(
    place: Any, *, header: bool = True, only: Sequence[str] | None = None, texts: Sequence[str] = ()
) -> LoadedTable:
    """Read a table that is text; parameters as for :func:`~frugalboost.recipe.files.load_table`."""
    place = fspath(place)
    if place == "-":
        return read_text(sys.stdin.buffer.read(), STANDARD_INPUT, Dialect(",", header, tuple(texts)), only)
    dialect = Dialect(kind_of(place).value, header, tuple(texts))
    return read_text(decompressed(existing_file(place)), Path(place).name, dialect, only)


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written."""

    delimiter: str
    header: bool = True
    texts: tuple[str, ...] = ()
    point: str = "."


def read_text(content: bytes, source: str, dialect: Dialect, only: Sequence[str] | None) -> LoadedTable:
    """CSV in any dialect, guessed from the first lines."""
    content, remarks = in_utf8(content, source)
    first = content.split(b"\n", 1)[0].decode("utf-8")
    dialect = replace(dialect, delimiter=find_delimiter(first, dialect.delimiter))
    table = parsed(content, source, dialect)
    if dialect.delimiter != "," and has_decimal_commas(table, dialect.texts):
        table = parsed(content, source, replace(dialect, point=","))
        remarks.append(f"{source} has decimal commas.")
    names, unnamed = table.column_names, frozenset[str]()
    if dialect.header:
        names, unnamed = checked_names(names, source)
    else:
        names = [f"column {i + 1}" for i in range(len(names))]
    if dialect.header and all(re.fullmatch(r"\s*[-+]?[\d.]+([eE][-+]?\d+)?\s*", n) for n in names):
        words = f"The first line of {source} holds only numbers and was read as names. Is "
        remarks.append(Sentence(words, Option("header", False), " missing?"))
    loaded = LoadedTable(source, names, table.rename_columns(names), remarks=remarks, unnamed=unnamed)
    return loaded if only is None else with_columns(loaded, only)


def in_utf8(content: bytes, source: str) -> tuple[bytes, list[str | Sentence]]:
    """The content in UTF-8, without byte order mark and leading comments, and remarks about changes."""
    remarks: list[str | Sentence] = []
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            content = content.decode("utf-16").encode("utf-8")
        except UnicodeDecodeError:
            raise Problem(f"{source} begins like UTF-16, but is not, or is incomplete. Save it as UTF-8.") from None
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        content = content.decode("latin-1").encode("utf-8")
        remarks.append(f"{source} is not UTF-8; it was read as Latin-1.")
    if content.startswith(b"#"):
        remarks.append(f"Lines at the beginning of {source} that start with # were read as comments.")
    while content.startswith(b"#"):
        content = content.partition(b"\n")[2]
    if not content.strip():
        raise Problem(f"{source} is empty.")
    return content, remarks


def find_delimiter(line: str, likely: str) -> str:
    """The usual one for its ending, unless another splits the first line into more pieces, quotes apart."""
    bare = re.sub(r'"[^"]*"', "", line)
    return max((likely, *DELIMITERS), key=lambda d: bare.count(d))


def parsed(content: bytes, source: str, dialect: Dialect) -> Any:
    """The table in a dialect."""
    pyarrow = arrow()
    from pyarrow import csv

    longest = max((len(line) for line in content.splitlines()[:2]), default=0)
    try:
        return csv.read_csv(
            pyarrow.BufferReader(in_memory_of_arrow(content)),
            read_options=csv.ReadOptions(
                block_size=max(BLOCK, 4 * longest), autogenerate_column_names=not dialect.header, use_threads=True
            ),
            parse_options=csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=b'"' in content),
            convert_options=csv.ConvertOptions(
                null_values=NULLS,
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
                decimal_point=dialect.point,
                column_types={name: pyarrow.string() for name in dialect.texts},
            ),
        )
    except pyarrow.ArrowException as error:
        raise Problem(f"{source} can't be read as CSV: {first_line(error)}") from None


def in_memory_of_arrow(content: bytes) -> Any:
    """A copy in Arrow's own memory: a thread of Arrow may free it while Python exits, which would abort the process."""
    buffer = arrow().allocate_buffer(len(content))
    memoryview(buffer).cast("B")[:] = content
    return buffer


def has_decimal_commas(table: Any, texts: Sequence[str]) -> bool:
    """Whether a column of texts looks like numbers with a comma."""
    import pyarrow

    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.type == pyarrow.string() and name not in texts:
            values = [v for v in column.slice(0, 200).to_pylist() if v is not None]
            if values and all(re.fullmatch(r"\s*-?\d+,\d+\s*", v) or v.lstrip("-").isdigit() for v in values):
                return any("," in v for v in values)
    return False


def checked_names(names: Sequence[str], source: str) -> tuple[list[str], frozenset[str]]:
    """Unique names, and which of them were made up for empty ones, as pandas writes for its index."""
    found = [n.strip() or f"unnamed {i + 1}" for i, n in enumerate(names)]
    twice = next((n for i, n in enumerate(found) if n in found[:i]), None) if len(set(found)) < len(found) else None
    if twice is not None:
        raise Problem(f"{source} has two columns named {twice!r}. Give every column a name of its own.")
    return found, frozenset(new for new, given in zip(found, names, strict=True) if not given.strip())


def with_columns(loaded: LoadedTable, only: Sequence[str]) -> LoadedTable:
    """Only some columns."""
    for name in only:
        if name not in loaded.names:
            raise unknown("column", name, loaded.names, loaded.source)
    return replace(loaded, names=list(only), columns=loaded.columns.select(list(only)))


def decompressed(path: Path) -> bytes:
    """The bytes of a file that may be compressed."""
    pyarrow = arrow()
    try:
        if path.suffix.lower() not in COMPRESSED:
            return path.read_bytes()
        # Opened here, since Arrow takes no names that are not UTF-8.
        with path.open("rb") as file, pyarrow.CompressedInputStream(file, COMPRESSED[path.suffix.lower()]) as stream:
            content: bytes = stream.read()
            return content
    except (OSError, pyarrow.ArrowException) as error:
        raise Problem(f"{path.name} can't be read: {reason_of(error)}") from None


def arrow() -> Any:
    """pyarrow, or an error that says how to install it."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError("Reading tables needs pyarrow and pandas: pip install 'frugalboost[cli]'.") from None
    return pyarrow


def reason_of(error: BaseException) -> str:
    """What an error says, without the number and the path of system errors."""
    known = isinstance(error, OSError) and error.strerror
    return f"{known}." if known else first_line(error)


def first_line(error: BaseException) -> str:
    """What an error says, without its details."""
    return str(error).strip().split("\n")[0].rstrip(".") + "."
