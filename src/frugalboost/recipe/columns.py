"""From a table as it was read to features, target, weights and ids; notices name columns converted or left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.recipe.converting import (
    converted,
    counted,
    counts_as_missing,
    is_text,
    other_reading,
    repeated,
    sentences,
    with_numbers,
)
from frugalboost.recipe.forms import Dates, Decimals, Form, Numbers, YesNo
from frugalboost.recipe.formulas import about_formulas
from frugalboost.recipe.guessing import guessed_form, nearly_numbers
from frugalboost.recipe.options import SILENT, Messages, TaskKind
from frugalboost.recipe.places import LIBSVM_TARGET
from frugalboost.recipe.problems import Problem, listed, unknown
from frugalboost.recipe.request import Roles
from frugalboost.recipe.task import MOST_CLASSES
from frugalboost.recipe.text import LoadedTable
from frugalboost.report.facts import Notice, NoticeKind, counts_rows

MOST_LEVELS = 1_000  # of a column of texts; with more, and most of them rare, it is free text or an id
LOOKED_AT = 2_000  # rows of a column of texts that say whether many are numbers
RARE = 0.5  # levels per row above which a column of texts is not a category


@dataclass(frozen=True)
class Columns:
    """The parts of a table."""

    X: Any  # pandas.DataFrame or sparse matrix
    y: NDArray[Any]
    weights: NDArray[np.float64] | None
    names: list[str]
    notices: list[Notice] = field(default_factory=list)
    dropped_rows: int = 0
    forms: Mapping[str, Form] = field(default_factory=dict)  # of columns, also the target, that were converted
    group: Any = None  # columns of Arrow
    time: Any = None


def split_columns(loaded: LoadedTable, roles: Roles, messages: Messages = SILENT, task: str = TaskKind.AUTO) -> Columns:
    """Cut a table into its parts, for a fit.

    Parameters
    ----------
    loaded : Loaded
        As it was read.
    roles : Roles
        Which columns are not features.
    messages : Messages, default=SILENT
        How options are spelled in notices.
    task : str, default="auto"
        The kind of target that was asked for: texts that are numbers may be classes.

    Returns
    -------
    Columns
        With notices about columns that were converted or left out.
    """
    remarks = [Notice(NoticeKind.READ, messages.spelled(words)) for words in loaded.remarks]
    if loaded.is_sparse:
        if set(roles.named) - {LIBSVM_TARGET}:
            raise Problem(f"A LIBSVM file has one target, {LIBSVM_TARGET!r}, and no weights, ids, groups or times.")
        return Columns(loaded.columns, loaded.target, None, loaded.names, remarks)
    roles.check(loaded)
    target = str(roles.target)
    loaded, trimmed = without_spaces(loaded, [n for n in loaded.names if n not in roles.ids])
    remarks += trimmed
    left = [target, roles.group, *roles.ids]
    if roles.time is not None and not is_text(loaded.columns.column(roles.time).type):
        left.append(roles.time)  # it has an order as it is
    names = [n for n in loaded.names if n not in left]
    found = converted(loaded, [target, *names] if is_amount(loaded, target, task) else names)
    remarks += [Notice(NoticeKind.CONVERTED, text) for text in [*sentences(found), *doubts(loaded, [target, *names])]]
    loaded = with_numbers(loaded, found)
    table, dropped = with_target(loaded, target)
    y = target_values(table.column(target))
    weights = weights_of(table, roles.weight) if roles.weight else None
    X, notices = features(table, [n for n in names if n not in roles.named], loaded.unnamed)
    if dropped:
        text = f"{dropped:,} rows without a value of {target!r} were left out."
        remarks.append(Notice(NoticeKind.ROWS, text))
    forms = {own.name: own.form for own in found}
    group, time = (None if name is None else table.column(name) for name in (roles.group, roles.time))
    return Columns(X, y, weights, list(X.columns), [*remarks, *notices], dropped, forms, group, time)


def without_spaces(loaded: LoadedTable, names: Iterable[str]) -> tuple[LoadedTable, list[Notice]]:
    """The table whose texts have no spaces around them, and a notice where two texts differed in nothing else."""
    from pyarrow import compute

    changed = []
    for name in names:
        column = loaded.columns.column(name)
        if not is_text(column.type):
            continue
        bare = compute.utf8_trim_whitespace(column.cast("string"))
        if len(bare.unique()) == len(column.unique()):
            continue
        at = loaded.columns.column_names.index(name)
        loaded = replace(loaded, columns=loaded.columns.set_column(at, name, bare))
        changed.append(name)
    text = f"Spaces around values of {listed(changed, 5)} were removed: some differed in nothing else."
    return loaded, [Notice(NoticeKind.CONVERTED, text)] if changed else []


def is_amount(loaded: LoadedTable, target: str, task: str) -> bool:
    """Whether the texts of a target are numbers; where they may be classes, these keep their own names."""
    column = loaded.columns.column(target)
    if task == TaskKind.CLASSIFICATION or not is_text(column.type):
        return False
    texts = counted(column)
    guess = guessed_form(texts)
    if guess is None or isinstance(guess.form, YesNo):
        return False
    may_be_classes = len(texts) <= MOST_CLASSES and len(texts) <= sum(texts.values()) / 2
    if task == TaskKind.AUTO and may_be_classes:
        return False
    if isinstance(guess.form, Dates):
        raise Problem(f"The target {target!r} holds dates; it must be numbers or classes, such as days until an event.")
    return True


def with_target(loaded: LoadedTable, target: str) -> tuple[Any, int]:
    """The rows that have a target, and how many do not."""
    column = loaded.columns.column(target)
    known = column.is_valid() if column.null_count else None
    if known is None:
        table, dropped = loaded.columns, 0
    else:
        table, dropped = loaded.columns.filter(known), column.null_count
    if not table.num_rows:
        raise Problem(f"No row of {loaded.source} has a value of {target!r}.")
    return table, dropped


def target_values(column: Any) -> NDArray[Any]:
    """Targets as numbers or texts."""
    import pyarrow

    if pyarrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pyarrow.types.is_decimal(column.type):
        column = column.cast(pyarrow.float64())
    if is_text(column.type):
        column = column.cast(pyarrow.string())
    kinds = pyarrow.types
    if any(test(column.type) for test in (kinds.is_temporal, kinds.is_nested, kinds.is_binary, kinds.is_large_binary)):
        raise Problem(f"The target holds {column.type} values; it must be numbers or classes.")
    array: NDArray[Any] = column.to_numpy()
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise Problem("The target has values that are not finite. Remove these rows.")
    return array


def weights_of(table: Any, name: str) -> NDArray[np.float64]:
    """Weights as numbers."""
    column = table.column(name)
    try:
        weights: NDArray[np.float64] = np.asarray(column.to_numpy(), dtype=np.float64)
    except (TypeError, ValueError):
        raise Problem(f"The column of weights {name!r} does not hold numbers.") from None
    if column.null_count or not (weights >= 0).all() or not np.isfinite(weights).all() or not weights.sum() > 0:
        raise Problem(f"Weights must be zero or positive, not all zero, and not missing; see column {name!r}.")
    return weights


def features(table: Any, names: Sequence[str], unnamed: Set[str] = frozenset()) -> tuple[Any, list[Notice]]:
    """A data frame of numbers and categories, and why other columns were left out."""
    import pyarrow

    kept, notices = {}, []
    for name in names:
        column = usable(table.column(name))
        if not isinstance(column, Unusable) and name in unnamed and counts_rows(column.to_numpy()):
            text = "it has no name and only numbers the rows, like the index that pandas writes."
            column = Unusable(Reason.ROW_NUMBERS, text)
        if isinstance(column, Unusable):
            notices.append(Notice(NoticeKind.LEFT_OUT, f"{name!r} was left out: {column.text}"))
        else:
            kept[name] = column
            if had_infinity(table.column(name)):
                notices.append(Notice(NoticeKind.INFINITY, f"Infinite values of {name!r} count as missing."))
    if not kept:
        raise Problem("No column can be used as a feature.")
    frame = pyarrow.table(kept).to_pandas(split_blocks=True)
    return frame, notices


class Reason(Enum):
    """Why a column can't be a feature."""

    EMPTY = auto()
    DATES = auto()
    ROW_NUMBERS = auto()
    NUMBERS_AS_TEXTS = auto()
    FREE_TEXT = auto()
    OTHER_TYPE = auto()


@dataclass(frozen=True)
class Unusable:
    """A column that can't be a feature."""

    reason: Reason
    text: str  # a sentence about "it"


def usable(column: Any) -> Any:
    """A column as numbers or categories, or Unusable."""
    import pyarrow
    from pyarrow import types

    kind = column.type
    if types.is_null(kind):
        return Unusable(Reason.EMPTY, "every value is missing.")
    if types.is_temporal(kind) or (types.is_dictionary(kind) and types.is_temporal(kind.value_type)):
        text = "it holds durations. Turn them into numbers that mean something, such as days."
        return Unusable(Reason.DATES, text)
    if types.is_boolean(kind):
        return column.cast(pyarrow.int8()).cast(pyarrow.float64())
    if types.is_decimal(kind) or (types.is_integer(kind) and column.null_count):
        return column.cast(pyarrow.float64(), safe=False)
    if types.is_dictionary(kind) and not is_text(kind.value_type):
        return usable(column.cast(kind.value_type))
    if is_text(kind) or types.is_dictionary(kind):
        return usable_texts(column)
    if types.is_floating(kind):
        return without_infinity(column)
    return column if types.is_integer(kind) else Unusable(Reason.OTHER_TYPE, f"it holds {kind} values.")


def usable_texts(column: Any) -> Any:
    """A column of texts as categories, unless it is an id, free text, or numbers among texts."""
    import pyarrow
    from pyarrow import types

    if is_text(column.type):
        column = column.cast(pyarrow.string())
    coded = column if types.is_dictionary(column.type) else column.dictionary_encode()
    levels = len(coded.unify_dictionaries().chunk(0).dictionary) if coded.num_chunks else 0
    present = len(column) - column.null_count
    if (
        levels > RARE * present
        and levels > 20
        and (text := nearly_numbers(counted(column.slice(0, LOOKED_AT)))) is not None
    ):
        return Unusable(Reason.NUMBERS_AS_TEXTS, text)
    if levels > RARE * present and levels > 20:
        text = f"it has {levels:,} different texts in {present:,} rows, so it is an id or free text."
        return Unusable(Reason.FREE_TEXT, text)
    if levels > MOST_LEVELS and levels > present / 20:
        return Unusable(Reason.FREE_TEXT, f"it has {levels:,} different texts, so it is an id or free text.")
    return coded


def had_infinity(column: Any) -> bool:
    """Whether a column of floats has infinite values."""
    from pyarrow import types

    return bool(types.is_floating(column.type) and np.isinf(column.to_numpy()).any())


def without_infinity(column: Any) -> Any:
    """Infinity, which a division by zero leaves behind, is a missing value."""
    import pyarrow

    array = column.to_numpy()
    if not np.isinf(array).any():
        return column
    return pyarrow.chunked_array([pyarrow.array(np.where(np.isinf(array), np.nan, array))])


Kinds = Mapping[str, Sequence[Any] | None]  # of each column its levels; None: numbers


def kinds_of_model(model: Any) -> Kinds:
    """The columns that a model looks at, as it knows them."""
    return {
        str(name): model.categories_.get(place)
        for place, name in enumerate(model.feature_names_in_)
        if model.support_[place]
    }


def kinds_of_frame(frame: Any) -> Kinds:
    """The columns of a data frame."""
    levels = {n: getattr(t, "categories", None) for n, t in frame.dtypes.items()}
    return {str(n): None if own is None else own.tolist() for n, own in levels.items()}


def as_fitted(loaded: LoadedTable, kinds: Kinds, forms: Mapping[str, Form]) -> tuple[Any, list[str]]:
    """The columns of another table as they were in fit.

    Parameters
    ----------
    loaded : Loaded
        As it was read.
    kinds : mapping
        Of each column its levels, or None where it holds numbers.
    forms : mapping
        Of columns that were converted in fit.

    Returns
    -------
    DataFrame or sparse matrix, list of str
        These columns, and sentences about values that could not be converted.
    """
    import pyarrow

    if loaded.is_sparse:
        return loaded.columns, []
    kept: dict[str, Any] = {}
    told = doubts(loaded, kinds)
    for name, levels in kinds.items():
        if name not in loaded.names:
            raise unknown("column", name, loaded.names, loaded.source)
        column, sentence = loaded.columns.column(name), None
        if levels is not None:
            column, padded = with_zeros(name, as_levels(column, levels), levels, loaded.source)
            told += padded
            sentence = told_of_new_levels(name, column, levels, loaded.source)
        elif name in forms:
            column, sentence = repeated(name, column, forms[name], loaded.source)
        else:
            column, sentence = as_numbers(loaded, name)
        kept[name] = column
        told += [sentence] if sentence else []
    return pyarrow.table(kept).to_pandas(split_blocks=True), told


def doubts(loaded: LoadedTable, names: Iterable[str]) -> list[str]:
    """Sentences about columns that may hold something else than was read: formulas, points between thousands."""
    own = list(names)
    missed = {name: n for name, n in loaded.uncomputed.items() if name in own}
    told = [about_formulas(missed, loaded.source)] if missed else []
    marks = {name: example for name, example in loaded.doubtful.items() if name in own}
    return [*told, about_points(marks, loaded.source)] if marks else told


def about_points(doubtful: Mapping[str, str], source: str) -> str:
    """A sentence about numbers whose points may part thousands."""
    example = next(iter(doubtful.values()))
    names = listed(list(doubtful), 5)
    whole = example.replace(".", "")
    read = f"{names} of {source}: {example!r} was read as {float(example):.15g}, with a decimal point."
    return f"{read} If points stand between thousands there, write {whole}."


def with_zeros(name: str, column: Any, levels: Sequence[Any], source: str) -> tuple[Any, list[str]]:
    """Codes whose leading zeros were lost, as Excel does to postcodes, with them again; and a sentence about it.

    Only where all levels of the fit are digits of one length, and the code with its zeros is one of them.
    """
    import pyarrow

    known = set(levels)
    lengths = {len(level) if isinstance(level, str) and level.isascii() and level.isdigit() else 0 for level in levels}
    if len(lengths) != 1 or 0 in lengths or not any(level.startswith("0") for level in levels):
        return column, []
    (length,) = lengths
    found = column.unify_dictionaries().combine_chunks()
    texts = found.dictionary.to_pylist()
    codes = [text.strip().zfill(length) if text is not None and text.strip().isdecimal() else "" for text in texts]
    short = [code in known and len(text.strip()) < length for code, text in zip(codes, texts, strict=True)]
    used = found.indices.drop_null().to_pylist()
    n = sum(short[i] for i in used)
    if not n:
        return column, []
    whole = [code if own else text for code, text, own in zip(codes, texts, short, strict=True)]
    column = pyarrow.chunked_array([pyarrow.array(whole, pyarrow.string()).take(found.indices).dictionary_encode()])
    example = next(texts[i].strip() for i in used if short[i])
    were, lost = ("was", "its leading zeros were lost") if n == 1 else ("were", "their leading zeros were lost")
    words = f"{n:,} of {len(used):,} values of {name!r} in {source} {were} read as the codes of the fit: {lost}, "
    told = f"{words}as in {example!r} for {example.zfill(length)!r}."
    return column, [told]


def as_numbers(loaded: LoadedTable, name: str) -> tuple[Any, str | None]:
    """A column that held numbers in fit, and a sentence where people have written them in another way."""
    import pyarrow

    column = loaded.columns.column(name)
    if pyarrow.types.is_null(column.type):
        return column.cast("float64"), None
    if is_text(column.type):
        # Plain numbers may well have had three decimals.
        form = replace(Numbers(point=",", groups=".") if loaded.point == "," else Numbers(), decimals=Decimals.THREE)
        numbers, said = repeated(name, column, form, loaded.source)
        found = converted(loaded, [name])
        if found and found[0].rival is not None:
            why = f"{other_reading(found[0], found[0].rival)} Otherwise leave out the separator."
            raise Problem(f"Column {name!r} of {loaded.source} can't be used: {why}")
        return numbers, said or next(iter(sentences(found)), None)
    numbers = usable(column)
    if isinstance(numbers, Unusable) or pyarrow.types.is_dictionary(numbers.type):
        held = f"it holds {column.type} values, but held numbers when the model was fitted."
        raise Problem(f"Column {name!r} of {loaded.source} can't be used: {held}")
    return numbers, None


def told_of_new_levels(name: str, column: Any, levels: Sequence[Any], source: str) -> str | None:
    """A sentence about categories that were not there in fit."""
    counts = column.combine_chunks().dictionary_decode().drop_null().value_counts()
    found = dict(zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True))
    known = set(levels)
    new = {level: n for level, n in found.items() if level not in known and level == level}
    if not new:
        return None
    n, rows, example = sum(new.values()), sum(found.values()), max(new, key=lambda level: new[level])
    were, they = ("was", "it") if n == 1 else ("were", "they")
    few = f"{n:,} of {rows:,} values of {name!r} in {source}, such as {example!r}, {were} not there when the model was"
    return f"{few} fitted; {they} {counts_as_missing(n)}."


def as_levels(column: Any, levels: Sequence[Any]) -> Any:
    """Categories as they were in fit: texts, or numbers."""
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if is_text(column.type) or (levels and isinstance(levels[0], str)):
        column = column.cast(pyarrow.string())
        known = set(levels)
        coded = column.dictionary_encode().unify_dictionaries().combine_chunks()
        found = coded.dictionary.to_pylist()
        texts = [text.strip() if text not in known and text.strip() in known else text for text in found]
        column = pyarrow.chunked_array([pyarrow.array(texts, pyarrow.string()).take(coded.indices)])
    return column.dictionary_encode()
