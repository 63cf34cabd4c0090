"""Tables from text: CSV in any dialect, from a file or from standard input.

This module imports nothing slower than pyarrow: the command reads such a table, and looks for the columns that the user
has named, before it loads what fits models.
"""

from __future__ import annotations

import csv
import io
import re
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import fspath
from pathlib import Path
from typing import Any

from frugalboost.recipe.options import Option, Sentence
from frugalboost.recipe.places import (
    COMPRESSED,
    STANDARD_INPUT,
    FileKind,
    existing_file,
    is_archive,
    is_path,
    kind_of,
    member_of,
    name_of,
)
from frugalboost.recipe.problems import Problem, unknown

NULLS = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "#N/A", "?", "-nan", "<NA>"]
BLOCK = 64 * 2**20  # bytes; a row must fit into one
DELIMITERS = (",", ";", "\t", "|")
MAYBE_COMMAS = re.compile(r"-?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?")
SURE_COMMAS = re.compile(r"-?(0,\d+|[\d.]+,(\d{1,2}|\d{4,})|[\d.]*\.\d{3},\d+|\d{4,},\d+)")
MAYBE_THOUSANDS = re.compile(r"0|-?[1-9]\d{0,2}(\.\d{3})?")
NAMED_DELIMITER = re.compile(rb'"?sep=([,;\t|])"?\r?\n')
PADDED = re.compile(rb'[,;\t|"\n ]0\d')  # a field that may be a whole number with a leading zero


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
    point: str = ""  # the decimal mark of its numbers, where it is known
    uncomputed: Mapping[str, int] = field(default_factory=dict)  # of columns of Excel: formulas without a result
    doubtful: Mapping[str, str] = field(default_factory=dict)  # columns whose points may part thousands; an example

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
    place: Any,
    *,
    header: bool = True,
    only: Sequence[str] | None = None,
    texts: Sequence[str] = (),
    codes: bool = True,
) -> LoadedTable:
    """Read a table that is text; parameters as for :func:`~frugalboost.recipe.files.load_table`."""
    place = fspath(place)
    if place == "-":
        return read_text(sys.stdin.buffer.read(), STANDARD_INPUT, Dialect(",", header, tuple(texts), codes=codes), only)
    dialect = Dialect(kind_of(place).value, header, tuple(texts), codes=codes)
    loaded = read_text(decompressed(existing_file(place)), name_of(place), dialect, only)
    return replace(loaded, origin=Path(place).name) if is_archive(place) else loaded


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written."""

    delimiter: str
    header: bool = True
    texts: tuple[str, ...] = ()
    point: str = "."
    first_line: int = 1  # the number of the first line that is no comment
    codes: bool = True  # whether whole numbers with leading zeros are texts

    def texts_for_arrow(self) -> list[str]:
        """The names of ``texts`` while Arrow reads, which calls columns without names f0, f1 and so on."""
        if self.header:
            return list(self.texts)
        numbers = [name.removeprefix("column ") for name in self.texts]
        return [f"f{int(number) - 1}" for number in numbers if number.isdecimal()]


def read_text(content: bytes, source: str, dialect: Dialect, only: Sequence[str] | None) -> LoadedTable:
    """CSV in any dialect, guessed from the first lines."""
    content, remarks, comments = in_utf8(content, source)
    if named := NAMED_DELIMITER.match(content):  # as Excel takes it
        content, comments = content[named.end() :], comments + 1
        delimiter = named[1].decode()
    else:
        delimiter = find_delimiter(content.split(b"\n", 1)[0].decode("utf-8"), dialect.delimiter)
    if not content.strip():
        raise Problem(f"{source} is empty.")
    dialect = replace(dialect, delimiter=delimiter, first_line=1 + comments)
    table = parsed(content, source, dialect)
    if dialect.delimiter != "," and has_decimal_commas(table, dialect.texts):
        dialect = replace(dialect, point=",")
        table = parsed(content, source, dialect)
        remarks.append(f"{source} has decimal commas.")
    table = with_codes(table, content, source, dialect, remarks)
    names, unnamed = table.column_names, frozenset[str]()
    if dialect.header:
        names, unnamed = checked_names(names, source)
    else:
        names = [f"column {i + 1}" for i in range(len(names))]
    if dialect.header and all(re.fullmatch(r"\s*[-+]?[\d.]+([eE][-+]?\d+)?\s*", n) for n in names):
        words = f"The first line of {source} holds only numbers and was read as names. Is "
        remarks.append(Sentence(words, Option("header", False), " missing?"))
    doubtful = {names[i]: text for i, text in doubtful_points(table, content, source, dialect).items()}
    loaded = LoadedTable(
        source, names, table.rename_columns(names), remarks=remarks, unnamed=unnamed, doubtful=doubtful
    )
    loaded = replace(loaded, point="," if dialect.point == "," else "")
    return loaded if only is None else with_columns(loaded, only)


def in_utf8(content: bytes, source: str) -> tuple[bytes, list[str | Sentence], int]:
    """The content in UTF-8, without byte order mark and leading comments; remarks about changes; lines of comments."""
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
        content = from_windows(content).encode("utf-8")
        remarks.append(f"{source} is not UTF-8; it was read as Latin-1 (Windows-1252).")
    if content.startswith(b"#"):
        remarks.append(f"Lines at the beginning of {source} that start with # were read as comments.")
    comments = 0
    while content.startswith(b"#"):
        content, comments = content.partition(b"\n")[2], comments + 1
    if not content.strip():
        raise Problem(f"{source} is empty.")
    return content, remarks, comments


def from_windows(content: bytes) -> str:
    """Text as Windows writes it in the west, which has a euro sign; Latin-1 where it can't be that."""
    try:
        return content.decode("cp1252")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def find_delimiter(line: str, likely: str) -> str:
    """The usual one for its ending, unless another splits the first line into more pieces, quotes apart."""
    bare = re.sub(r'"[^"]*"', "", line)
    return max((likely, *DELIMITERS), key=lambda d: bare.count(d))


def parsed(content: bytes, source: str, dialect: Dialect, only: Sequence[str] = ()) -> Any:
    """The table in a dialect; ``only``: some of its columns."""
    pyarrow = arrow()
    from pyarrow import csv as reading

    longest = max((len(line) for line in content.splitlines()[:2]), default=0)
    try:
        return reading.read_csv(
            pyarrow.BufferReader(in_memory_of_arrow(content)),
            read_options=reading.ReadOptions(
                block_size=max(BLOCK, 4 * longest), autogenerate_column_names=not dialect.header, use_threads=True
            ),
            parse_options=reading.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=b'"' in content),
            convert_options=reading.ConvertOptions(
                null_values=NULLS,
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
                decimal_point=dialect.point,
                column_types={name: pyarrow.string() for name in dialect.texts_for_arrow()},
                include_columns=list(only),
            ),
        )
    except pyarrow.ArrowException as error:
        why = ragged_line(content, dialect.delimiter, dialect.first_line) or first_line(error)
        raise Problem(f"{source} can't be read as CSV: {why}") from None


def ragged_line(content: bytes, delimiter: str, first: int = 1) -> str | None:
    r"""What is wrong with the first line that has more or fewer fields than the one before all others.

    Examples
    --------
    >>> from frugalboost.recipe.text import ragged_line
    >>> ragged_line(b"a,b\n1,2\n3\n", ",")
    'line 3 has 1 field, but line 1 has 2. Is something missing?'
    """
    text = content.decode("utf-8")
    if not any(d in text.split("\n", 1)[0] for d in DELIMITERS):  # a title: what parts fields is in later lines
        delimiter = max((delimiter, *DELIMITERS), key=text.count)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    expected, head, start = 0, first, first
    try:
        for fields in lines:
            if fields and not expected:
                expected, head = len(fields), start
            elif fields and len(fields) != expected:
                counted = f"{len(fields)} field{'s' if len(fields) > 1 else ''}"
                hint = f"A field with {delimiter!r} in it must be in double quotes."
                hint = hint if len(fields) > expected else "Is something missing?"
                if expected == 1:
                    hint = f"If line {head} is a title, remove it: names come first."
                return f"line {start} has {counted}, but line {head} has {expected}. {hint}"
            start = first + lines.line_num
    except csv.Error:
        return None
    return None


def in_memory_of_arrow(content: bytes) -> Any:
    """A copy in Arrow's own memory: a thread of Arrow may free it while Python exits, which would abort the process."""
    buffer = arrow().allocate_buffer(len(content))
    memoryview(buffer).cast("B")[:] = content
    return buffer


def has_decimal_commas(table: Any, texts: Sequence[str]) -> bool:
    """Whether a column of texts is surely numbers with a decimal comma; in 1,234 it may part thousands."""
    import pyarrow

    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.type != pyarrow.string() or name in texts:
            continue
        values = [v.strip() for v in column.slice(0, 200).to_pylist() if v is not None]
        if values and all(map(MAYBE_COMMAS.fullmatch, values)) and any(map(SURE_COMMAS.fullmatch, values)):
            return True
    return False


def doubtful_points(table: Any, content: bytes, source: str, dialect: Dialect) -> dict[int, str]:
    """Columns in which every point may part thousands, as 90.000 in a file with semicolons; an example of each.

    Nothing if a number of another column shows what points are.
    """
    import pyarrow

    names = table.column_names
    if dialect.delimiter == "," or dialect.point == "," or len(set(names)) < len(names):
        return {}
    found = [i for i, kind in enumerate(table.schema.types) if pyarrow.types.is_floating(kind)]
    if not found or not all(may_be_thousands(table.column(i).drop_null().to_numpy()) for i in found):
        return {}
    known = tuple(names[i] if dialect.header else f"column {i + 1}" for i in found)
    raw = parsed(content, source, replace(dialect, texts=known), [names[i] for i in found])
    written = {i: [t.strip() for t in raw.column(names[i]).drop_null().unique().to_pylist()] for i in found}
    if not all(MAYBE_THOUSANDS.fullmatch(text) for texts in written.values() for text in texts):
        return {}
    return {
        i: next(text for text in texts if "." in text) for i, texts in written.items() if any("." in t for t in texts)
    }


def may_be_thousands(values: Any) -> bool:
    """Whether numbers have at most three digits before and three after the point."""
    thousandths = values * 1000
    return bool((abs(values) < 1000).all() and (abs(thousandths - thousandths.round()) < 1e-6).all())


def with_codes(table: Any, content: bytes, source: str, dialect: Dialect, remarks: list[str | Sentence]) -> Any:
    """The table in which whole numbers with leading zeros, such as postcodes, are texts as they were written."""
    import pyarrow

    names = table.column_names
    whole = [i for i, kind in enumerate(table.schema.types) if pyarrow.types.is_integer(kind)]
    if not whole or not dialect.codes or len(set(names)) < len(names) or not PADDED.search(content):
        return table
    known = {i: names[i] if dialect.header else f"column {i + 1}" for i in whole}
    raw = parsed(content, source, replace(dialect, texts=tuple(known.values())), [names[i] for i in whole])
    for i, name in known.items():
        column = raw.column(names[i])
        if are_codes(column):
            example = next(v.strip() for v in column.to_pylist() if v is not None and is_padded(v))
            remarks.append(f"{name.strip()!r} has leading zeros, as in {example!r}, so its values are texts.")
            table = table.set_column(i, names[i], column)
    return table


def is_padded(text: str) -> bool:
    """Whether a whole number has a leading zero."""
    return len(text.strip()) > 1 and text.strip().startswith("0")


def are_codes(column: Any) -> bool:
    """Whether whole numbers are codes: all are of the same length, or at least 1 in 100 has a leading zero."""
    counts = {v["values"]: v["counts"] for v in column.value_counts().to_pylist() if v["values"] is not None}
    padded = sum(n for text, n in counts.items() if is_padded(text))
    if not padded:
        return False
    return len({len(text.strip()) for text in counts}) == 1 or padded >= sum(counts.values()) / 100


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
        if is_archive(str(path)):
            return unzipped(path)
        if path.suffix.lower() not in COMPRESSED:
            return path.read_bytes()
        # Opened here, since Arrow takes no names that are not UTF-8.
        with path.open("rb") as file, pyarrow.CompressedInputStream(file, COMPRESSED[path.suffix.lower()]) as stream:
            content: bytes = stream.read()
            return content
    except (OSError, pyarrow.ArrowException) as error:
        raise Problem(f"{path.name} can't be read: {reason_of(error)}") from None


def unzipped(path: Path) -> bytes:
    """The bytes of the one table in a zip file."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.read(member_of(str(path)))
    except RuntimeError:
        raise Problem(f"{path.name} needs a password. Unpack it first.") from None
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise Problem(f"{path.name} can't be unpacked: {first_line(error)}") from None


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
