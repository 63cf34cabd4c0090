"""Tables from files (CSV, TSV, Parquet, Arrow and Feather, LIBSVM; CSV from standard input) or from data frames."""

from __future__ import annotations

import glob
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from frugalboost.recipe.options import Option, Sentence
from frugalboost.recipe.problems import Problem, unknown
from frugalboost.tables.frames import as_frame
from frugalboost.tables.sources import ArrowBatches, _dataset

LIBSVM_TARGET = "label"
STANDARD_INPUT = "standard input"  # its name in messages
NULLS = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "#N/A", "?", "-nan", "<NA>"]
BLOCK = 64 * 2**20  # bytes; a row must fit into one
DELIMITERS = (",", ";", "\t", "|")
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}


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


def load_table(
    place: Any,
    *,
    what: str = "table",
    header: bool = True,
    only: Sequence[str] | None = None,
    texts: Sequence[str] = (),
    like: LoadedTable | None = None,
) -> LoadedTable:
    r"""Read a table.

    Parameters
    ----------
    place : str, path or data frame
        A file, "-" for CSV from standard input, a folder of Parquet files, or a pattern such as "part-*.parquet". The
        ending says what is in it: .csv, .tsv, .txt, .parquet, .feather, .arrow, .svm or .libsvm; .gz may follow.
        Or a data frame of pandas, polars, Arrow, or whatever narwhals knows.
    what : str, default="table"
        The name of a data frame in messages.
    header : bool, default=True
        Whether the first line of a CSV file holds names.
    only : sequence of str or None, default=None
        Columns to read; all of them must exist.
    texts : sequence of str, default=()
        Columns of a CSV file that hold texts even if they look like numbers: "007" stays a text.
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
    if place == "-":
        return read_text(sys.stdin.buffer.read(), STANDARD_INPUT, Dialect(",", header, tuple(texts)), only)
    kind = kind_of(place)
    if kind is FileKind.LIBSVM:
        return read_libsvm(existing_file(place), None if like is None else like.names)
    if kind in (FileKind.COMMAS, FileKind.TABS):
        dialect = Dialect(kind.value, header, tuple(texts))
        return read_text(decompressed(existing_file(place)), Path(place).name, dialect, only)
    read = read_parquet if kind is FileKind.PARQUET else read_feather
    return read(place, only)


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


# ------------------------------------------------------------------------------------------------ CSV


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
    found: Any = place
    if glob.has_magic(place) and not Path(place).exists():
        found = sorted(glob.glob(place, recursive=True))
        if not found:
            raise Problem(f"No file has a name like {place!r}.")
    elif not Path(place).is_dir():
        existing_file(place)
    source = Path(place).name or repr(place)
    loaded: LoadedTable = read_or_explain(
        source, lambda: columns_of(source, ArrowBatches(_dataset(found), None, None, False), only)
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
