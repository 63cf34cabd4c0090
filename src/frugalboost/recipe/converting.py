"""Columns that people have written, as numbers: guessed for a fit, and repeated for a prediction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from frugalboost.recipe.forms import Clock, Dates, Decimals, Form, Numbers, YesNo
from frugalboost.recipe.guessing import Evidence, Guess, contradicted_by, guessed_form, joined
from frugalboost.recipe.problems import Problem
from frugalboost.recipe.text import NULLS, LoadedTable, arrow

MOST_OTHER = 0.2  # of the values of a new table that may be written in another way; they count as missing
NAMED = 5  # columns that a sentence names


@dataclass(frozen=True)
class Conversion:
    """A column that was turned into numbers."""

    name: str
    form: Form
    numbers: Any  # a chunked array of floats
    texts: Mapping[str, int] | None = None  # None: it had a type of its own
    other: Mapping[str, int] | None = None  # texts of no such form, which count as missing
    rival: Form | None = None  # another form that reads the texts as well

    @property
    def has_oddities(self) -> bool:
        """Whether a sentence of its own must be said about it."""
        return bool(self.other) or self.rival is not None


def converted(loaded: LoadedTable, names: Iterable[str]) -> list[Conversion]:
    """Turn columns into numbers where nearly all of their texts have one form.

    Parameters
    ----------
    loaded : LoadedTable
        As it was read.
    names : iterable of str
        Columns to look at.

    Returns
    -------
    list of Conversion
        Of the columns that were converted.
    """
    texts: dict[str, dict[str, int]] = {}
    found: dict[str, Conversion] = {}
    for name in names:
        column = decoded(loaded.columns.column(name))
        if is_text(column.type):
            texts[name] = counted(column)
        elif (form := form_of_type(column.type)) is not None:
            found[name] = Conversion(name, form, form.typed(column))
    guesses = guessed_together(texts, loaded.point)
    for name, guess in guesses.items():
        numbers = read_texts(loaded.columns.column(name), guess.form)
        found[name] = Conversion(name, guess.form, numbers, texts[name], guess.other, guess.rival)
    return [found[name] for name in names if name in found]


def guessed_together(texts: Mapping[str, Mapping[str, int]], point: str) -> dict[str, Guess]:
    """The forms of columns; one that could be read in two ways is read like the others of the table."""
    guesses = {name: guess for name, own in texts.items() if (guess := guessed_form(own)) is not None}
    evidence = joined([Evidence(point), *(guess.evidence for guess in guesses.values())])
    for name, guess in guesses.items():
        if guess.rival is not None:
            again = guessed_form(texts[name], evidence)
            settled = evidence.point if isinstance(guess.form, Numbers) else evidence.order
            guesses[name] = guess if again is None else replace(again, rival=None if settled else again.rival)
    return guesses


def decoded(column: Any) -> Any:
    """Values of a dictionary that are not texts, in their own type; texts in one are categories."""
    from pyarrow import types

    coded = types.is_dictionary(column.type) and not is_text(column.type.value_type)
    return column.cast(column.type.value_type) if coded else column


def form_of_type(kind: Any) -> Form | None:
    """The form of a column that has a type: dates, times and truths."""
    from pyarrow import types

    if types.is_boolean(kind):
        return YesNo()
    if types.is_date(kind) or types.is_timestamp(kind):
        return Dates()
    return Clock() if types.is_time(kind) else None


def is_text(kind: Any) -> bool:
    """Texts of any layout."""
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def counted(column: Any) -> dict[str, int]:
    """How often each text occurs; missing ones do not."""
    pairs = column.cast("string").value_counts()
    values, counts = pairs.field("values").to_pylist(), pairs.field("counts").to_pylist()
    return {text: n for text, n in zip(values, counts, strict=True) if not is_missing(text)}


def is_missing(text: str | None) -> bool:
    """Whether a text stands for no value: the usual words, or neither letters nor digits, as a dash in a column."""
    return text is None or text.strip() in NULLS or not any(c.isalnum() for c in text)


def read_texts(column: Any, form: Form) -> Any:
    """Texts as numbers; what is not of the form is missing."""
    import pyarrow

    coded = column.cast("string").dictionary_encode().unify_dictionaries()
    chunks = []
    for chunk in coded.chunks:
        values = [None if is_missing(text) else form.number(text) for text in chunk.dictionary.to_pylist()]
        chunks.append(pyarrow.array(values, pyarrow.float64()).take(chunk.indices))
    return pyarrow.chunked_array(chunks, pyarrow.float64())


def with_numbers(loaded: LoadedTable, conversions: Iterable[Conversion]) -> LoadedTable:
    """The table with its converted columns."""
    numbers = {own.name: own.numbers for own in conversions}
    columns = [numbers.get(name, column) for name, column in zip(loaded.names, loaded.columns.columns, strict=True)]
    return replace(loaded, columns=arrow().Table.from_arrays(columns, names=loaded.names))


# ------------------------------------------------------------------------------------------------------- new tables


def repeated(name: str, column: Any, form: Form, source: str) -> tuple[Any, str | None]:
    """A column of a new table, read as in the fit, and a sentence about values that could not be."""
    from pyarrow import types

    if types.is_null(column.type):
        return column.cast("float64"), None
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    numbers = form.typed(column)
    if numbers is not None:
        return numbers, None
    if not is_text(column.type):
        if not isinstance(form, YesNo):
            raise Problem(f"Column {name!r} of {source} holds {column.type} values, but {held(form)}.")
        column = column.cast("string")
    texts = {text: n for text, n in counted(column).items() if text not in form.missing}
    other = {text: n for text, n in texts.items() if form.number(text) is None}
    if (rival := contradicted_by(form, texts)) is not None:
        example = next(text for text in other if rival.number(text) is not None)
        shows = f"{example.strip()!r} shows that it holds {rival.words}"
        raise Problem(f"Column {name!r} of {source} can't be used: {shows}, but {held(form)}.")
    told = [told_of_others(name, other, sum(texts.values()), form, source), told_of_three(name, texts, form, source)]
    return read_texts(column, form), " ".join(filter(None, told)) or None


def told_of_three(name: str, texts: Mapping[str, int], form: Form, source: str) -> str | None:
    """A sentence where all decimals may be thousands; Problem where the fit has shown no decimals at all."""
    if not isinstance(form, Numbers) or form.decimals == Decimals.THREE:
        return None
    marked = {text: kind for text in texts if (kind := form.decimals_of(text)) != Decimals.NONE}
    if not marked or Decimals.SOME in marked.values():
        return None
    text, _ = next(iter(marked.items()))
    small = form.number(text) or 0.0
    both = f"{text.strip()!r} could mean {small:.15g} or {1000 * small:.15g}"
    if form.decimals == Decimals.SOME:
        return f"In {name!r} of {source} {both}; it was read as {small:.15g}, as the decimals of the fit suggest."
    kept = f"numbers had no decimals when the model was fitted. Write {1000 * small:.15g}, or {small:.15g}"
    raise Problem(f"Column {name!r} of {source} can't be used: {both}; {kept}, without a mark before three digits.")


def told_of_others(name: str, other: Mapping[str, int], rows: int, form: Form, source: str) -> str | None:
    """A sentence about values of another form; Problem where they are many."""
    if not other:
        return None
    n, example = sum(other.values()), max(other, key=lambda text: other[text])
    if n > MOST_OTHER * rows:
        many = f"{n:,} of {rows:,} values, such as {example!r}," if n < rows else f"its values, such as {example!r},"
        way = f"{'is' if n == 1 < rows else 'are'} written in another way"
        raise Problem(f"Column {name!r} of {source} can't be used: {many} {way}; {held(form)}.")
    few = f"{n:,} of {rows:,} values of {name!r} in {source}, such as {example!r},"
    return f"{few} {counts_as_missing(n)}; {held(form)}."


def held(form: Form) -> str:
    """What a column held, for a message."""
    return f"it held {form.words} when the model was fitted"


# --------------------------------------------------------------------------------------------------------- sentences


def sentences(conversions: Sequence[Conversion]) -> list[str]:
    """What was converted, and how: one sentence for columns of the same form."""
    alike: dict[tuple[Form, bool], list[Conversion]] = {}
    told = []
    for own in conversions:
        if own.has_oddities:
            told.append(" ".join([about([own]), *oddities(own)]))
        else:
            alike.setdefault((own.form, own.texts is None), []).append(own)
    return [*map(about, alike.values()), *told]


def about(same: Sequence[Conversion]) -> str:
    """A sentence about columns of the same form, with an example."""
    first, one = same[0], len(same) == 1
    names = ", ".join(repr(own.name) for own in same[:NAMED])
    names += f" and {len(same) - NAMED} more" if len(same) > NAMED else ""
    if isinstance(first.form, YesNo):
        return f"{names} {'is' if one else 'are'} {yes_and_no(first)}."
    became = {Dates: "became days since 1970-01-01", Clock: "became hours since midnight"}.get(type(first.form), "")
    holds = f"{names} {'holds' if one else 'hold'} {first.form.words}"
    text, number = example_of(first)
    shown = f"{text!r} is {number:.15g}" if isinstance(first.form, Numbers) else f"{text!r} is {number:.8g}"
    if isinstance(first.form, Numbers):
        return f"{holds}: {shown}."
    return f"{holds}; they {became}{f': {shown}' if text else ''}."


def yes_and_no(own: Conversion) -> str:
    """Which text is 1."""
    if own.texts is None:
        return "true or false: true is 1, false is 0"
    yes = next((t for t in own.texts if own.form.number(t) == 1), "yes")
    no = next((t for t in own.texts if own.form.number(t) == 0), "no")
    return f"{yes.strip()} or {no.strip()}: {yes.strip()!r} is 1, {no.strip()!r} is 0"


def example_of(own: Conversion) -> tuple[str, float]:
    """A text and its number: the longest, which shows most marks."""
    known = {text: number for text in own.texts or {} if (number := own.form.number(text)) is not None}
    text = max(known, key=lambda text: (len(text.strip()), text), default="")
    return text.strip(), known.get(text, 0.0)


def oddities(own: Conversion) -> list[str]:
    """Sentences about texts of another form, and about another way to read them."""
    found = []
    if own.rival is not None:
        found.append(other_reading(own, own.rival))
    if own.other:
        n, rows = sum(own.other.values()), sum((own.texts or {}).values())
        common = max(own.other.items(), key=lambda pair: pair[1])[0]
        found.append(f"{n:,} of its {rows:,} values {counts_as_missing(n)}, such as {common!r}.")
    return found


def counts_as_missing(n: int) -> str:
    """One counts, two count."""
    return f"count{'s' if n == 1 else ''} as missing"


def other_reading(own: Conversion, rival: Form) -> str:
    """What a text could mean besides."""
    both = ((text, own.form.number(text), rival.number(text)) for text in own.texts or {})
    text, _, other = next(found for found in both if None not in found and found[1] != found[2])
    if isinstance(own.form, Numbers):
        return f"{text.strip()!r} could also mean {other:.15g}; if it does, write it so."
    first = "month" if isinstance(own.form, Dates) and own.form.order == "dmy" else "day"
    return f"{text.strip()!r} could also have the {first} first; if so, write dates as yyyy-mm-dd."
