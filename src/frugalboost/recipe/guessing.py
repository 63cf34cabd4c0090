"""The form of a column, guessed from all of its texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from frugalboost.recipe.forms import (
    NO,
    STYLES,
    YES,
    Clock,
    Dates,
    Decimals,
    Form,
    Numbers,
    YesNo,
    is_currency,
    split_number,
)

NEARLY_ALL = 0.95  # of the texts that are not missing; with fewer of them the column keeps its texts
LOOKED_AT = 200  # texts that say which forms are tried on all
HALF = 0.5  # of texts that are numbers, from which on a message says why the others keep a column from being one
KEPT = 20  # texts of another form that a model knows as missing
_PADDED = re.compile(r"\s*0\d+\s*")  # a postcode, say


@dataclass(frozen=True)
class Evidence:
    """What other columns of the table say where one could be read in two ways; "": nothing."""

    point: str = ""
    order: str = ""


NOTHING = Evidence()


@dataclass(frozen=True)
class Guess:
    """A form, and what does not go with it."""

    form: Form
    other: Mapping[str, int]  # texts that are not of this form, and how often they occur
    rival: Form | None = None  # another form that reads just as many texts, but as other numbers
    evidence: Evidence = NOTHING  # what the column says about others


def guessed_form(texts: Mapping[str, int], evidence: Evidence = NOTHING) -> Guess | None:
    """The form of a column; None where fewer than 95 of 100 texts have one and the same form.

    Parameters
    ----------
    texts : mapping of str to int
        All texts of the column that are not missing, and how often each occurs.
    evidence : Evidence
        What other columns say.

    Returns
    -------
    Guess or None
        The form that reads most texts.

    Examples
    --------
    >>> from frugalboost.recipe.guessing import guessed_form
    >>> guessed_form({"1,200": 3, "950": 2}).form.number("1,200")
    1200.0
    >>> guessed_form({"13/05/2024": 1, "02/03/2024": 1}).form.order
    'dmy'
    >>> guessed_form({"01234": 5, "12345": 5}) is None
    True
    """
    if not texts:
        return None
    some = list(texts)[:: max(1, len(texts) // LOOKED_AT)]
    found: list[tuple[int, Form]] = []
    for form in candidates(texts, some, evidence):
        if 2 * sum(form.number(text) is not None for text in some) >= len(some):
            found.append((sum(n for text, n in texts.items() if form.number(text) is not None), form))
    best = max((number for number, _ in found), default=0)
    if best < NEARLY_ALL * sum(texts.values()) or not best:
        return None
    equal = [form for number, form in found if number == best]
    form = equal[0]
    other = {text: n for text, n in texts.items() if form.number(text) is None}
    known = tuple(sorted(other, key=lambda text: (-other[text], text))[:KEPT])
    rival = next((also for also in equal[1:] if differ(form, also, texts)), None)
    if isinstance(form, Numbers):
        form = replace(form, decimals=most_decimals(form, texts))
    return Guess(replace(form, missing=known), other, rival, evidence_of(equal))


def most_decimals(form: Numbers, texts: Iterable[str]) -> str:
    """Three if a text has as many, else some if one has any."""
    found = {form.decimals_of(text) for text in texts}
    return next((str(kind) for kind in (Decimals.THREE, Decimals.SOME) if kind in found), str(Decimals.NONE))


def candidates(texts: Mapping[str, int], some: Sequence[str], evidence: Evidence) -> Iterator[Form]:
    """All forms that are tried; of two that read the same texts the first is taken."""
    words = {text.strip().lower() for text in some}
    if not words.isdisjoint(YES) and not words.isdisjoint(NO):
        yield YesNo()
    units = {unit for text in some if (split := split_number(text)) is not None for unit in [split[1]]}
    if units:
        unit = usual_unit(texts) if units != {""} else ""
        for point, groups in sorted(STYLES, key=lambda style: style[0] != (evidence.point or ".")):
            yield Numbers(point=point, groups=groups, unit=unit)
    if any(any(mark in text for mark in "-/. ") and any(c.isdigit() for c in text) for text in some):
        for order in sorted(("ymd", "dmy", "mdy"), key=lambda order: order != evidence.order):
            yield Dates(order=order)
    if any(":" in text for text in some):
        yield Clock()


def usual_unit(texts: Mapping[str, int]) -> str:
    """The unit beside most numbers; a currency need not be beside all of them."""
    counted: Counter[str] = Counter()
    for text, n in texts.items():
        if (split := split_number(text)) is not None:
            counted[split[1]] += n
    money = [(n, unit) for unit, n in counted.items() if is_currency(unit)]
    rest = [(n, unit) for unit, n in counted.items() if not is_currency(unit)]
    most = max(rest, default=(0, ""))
    return max(money)[1] if money and (not most[1] or max(money)[0] > most[0]) else most[1]


def nearly_numbers(texts: Mapping[str, int]) -> str | None:
    """What keeps texts, most of which are numbers, from being read as such, about "it"; None for other texts.

    Examples
    --------
    >>> from frugalboost.recipe.guessing import nearly_numbers
    >>> nearly_numbers({"70 kg": 5, "154 lb": 4})
    "its numbers have several units, such as 'kg' and 'lb'. In one unit they are read as numbers."
    >>> nearly_numbers({"1.5": 8, "unknown": 2})
    "only 80% of its values are numbers; 'unknown' is none. Empty such cells, and it is read as numbers."
    >>> nearly_numbers({"12345": 5, "09601": 1}) is None  # postcodes
    True
    """
    unit, total = usual_unit(texts), sum(texts.values())
    split = {text: found for text in texts if (found := split_number(text)) is not None}
    forms = {unit: Numbers(unit=unit) for _, unit, _ in split.values()}
    numbers = {t for t, (_, own, _) in split.items() if any(f.number(t) is not None for f in forms[own].others())}
    if sum(texts[text] for text in numbers) < HALF * total or any(map(_PADDED.fullmatch, texts)):
        return None
    units = sorted({split[text][1] for text in numbers} - {unit}) if unit else []
    units = [other for other in units if other or not is_currency(unit)]
    if units:
        other = repr(units[0]) if units[0] else "none at all"
        return f"its numbers have several units, such as {unit!r} and {other}. In one unit they are read as numbers."
    others = {text: n for text, n in texts.items() if text not in numbers}
    if not others:
        return None
    share = 1 - sum(others.values()) / total
    most = max(others, key=lambda text: others[text])
    return f"only {share:.0%} of its values are numbers; {most!r} is none. Empty such cells, and it is read as numbers."


def differ(form: Form, other: Form, texts: Mapping[str, int]) -> bool:
    """Whether two forms read a text as different numbers."""
    both = ((form.number(text), other.number(text)) for text in texts)
    return any(a is not None and b is not None and a != b for a, b in both)


def contradicted_by(form: Form, texts: Mapping[str, int]) -> Form | None:
    """A form of the same kind that reads more of the texts than the given one, and some of them as other numbers."""

    def read_by(one: Form) -> int:
        return sum(n for text, n in texts.items() if one.number(text) is not None)

    known = read_by(form)
    if known == sum(texts.values()):
        return None
    return next((other for other in form.others() if read_by(other) > known and differ(form, other, texts)), None)


def evidence_of(equal: Sequence[Form]) -> Evidence:
    """What a column says about others: that on which all forms that read it agree."""
    points = {form.point if isinstance(form, Numbers) else "" for form in equal}
    orders = {form.order if isinstance(form, Dates) else "" for form in equal} - {"ymd"}
    return Evidence(points.pop() if len(points) == 1 else "", orders.pop() if len(orders) == 1 else "")


def joined(found: Sequence[Evidence]) -> Evidence:
    """What all columns say together; nothing where they disagree."""
    points, orders = {e.point for e in found} - {""}, {e.order for e in found} - {""}
    return Evidence(points.pop() if len(points) == 1 else "", orders.pop() if len(orders) == 1 else "")
