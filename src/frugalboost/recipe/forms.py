"""Forms: how people write the values of a column, and which numbers they mean.

A form is a short record that a model keeps as JSON, so that a prediction reads a column as the fit has read it.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from math import isinf
from typing import Any, ClassVar

SYMBOLS = "$€£¥₹₽₩₺₪฿₫₴₦₱₡₲₵₸¢"
# fmt: off
CODES = (
    "USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "AUD", "CAD", "NZD", "SEK", "NOK", "DKK", "PLN", "CZK",
    "HUF", "RUB", "BRL", "MXN", "ZAR", "KRW", "SGD", "HKD", "TRY", "Fr", "Fr.", "Rs", "Rs.", "kr", "kr.", "zł",
    "Kč", "Ft",
)
# fmt: on
_BEFORE = rf"(?:[A-Z]{{0,3}}[{SYMBOLS}]|{'|'.join(map(re.escape, sorted(CODES, key=len, reverse=True)))})"
_WRITTEN = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+])?\s*(?P<before>{_BEFORE})?\s*(?P<inner>[-+])?"
    r"(?P<body>[\d.,][\d.,' ]*(?:[eE][-+]?\d+)?)"
    r"(?P<after>\+|[^\d\s.,'()+-][^\d\s,'()]{0,9})?(?P<close>\))?"
)
_LOOKALIKES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2019": "'", "\u2212": "-"})
STYLES = ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))  # decimal and thousands marks

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TIME = (
    r"(?:(?:T|,?\s+)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"\s?(?P<half>[AaPp][Mm])?\s?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?)?"
)
_YEAR = r"(?P<year>\d{4}|\d\d)"
_DATES = {
    "ymd": re.compile(r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?:(?P=mark)(?P<day>\d{1,2}))?" + _TIME),
    "dmy": re.compile(
        rf"(?P<day>\d{{1,2}})(?P<mark>[-/. ]|\. )(?P<month>\d{{1,2}}|[A-Za-z]{{3,9}})\.?(?P=mark){_YEAR}" + _TIME
    ),
    "mdy": re.compile(
        rf"(?P<month>\d{{1,2}}|[A-Za-z]{{3,9}})\.?(?P<mark>[-/ ])(?P<day>\d{{1,2}})(?:,\s?|(?P=mark)){_YEAR}" + _TIME
    ),
}
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?\s?(?P<half>[AaPp][Mm])?"
)
_EPOCH = datetime(1970, 1, 1)
DAY = 86_400_000_000  # microseconds
HOUR = DAY // 24

YES, NO = ("yes", "y", "true", "t"), ("no", "n", "false", "f")


class Decimals(StrEnum):
    """Digits after the decimal mark; three of them may as well be thousands, if the mark stands between these."""

    NONE = ""
    SOME = "some"
    THREE = "three"


@dataclass(frozen=True)
class Form(ABC):
    """How the values of a column are written."""

    name: ClassVar[str]
    missing: tuple[str, ...] = ()  # texts of the fit that are not written so; they count as missing

    @abstractmethod
    def number(self, text: str) -> float | None:
        """The number that a text means; None where it is not of this form."""

    @abstractmethod
    def typed(self, column: Any) -> Any:
        """Numbers of a column of Arrow that is not made of texts; None where its type does not go with the form."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What the column holds, for a message."""

    def others(self) -> list[Form]:
        """Forms of the same kind that read some texts as other numbers."""
        return []

    def to_dict(self) -> dict[str, Any]:
        """As JSON keeps it."""
        return {"form": self.name, **{k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}}


@dataclass(frozen=True)
class Numbers(Form):
    """Numbers with marks between thousands, decimal points or commas, and a unit before or after them.

    A currency may be missing beside some of the numbers; other units may not. 12 % is 12.

    Examples
    --------
    >>> from frugalboost.recipe.forms import Numbers
    >>> Numbers(unit="$").number("$1,200.50"), Numbers(point=",", groups=".").number("1.200,50")
    (1200.5, 1200.5)
    >>> Numbers().number("1,2,3"), Numbers().number("007")
    (None, None)
    """

    name: ClassVar[str] = "numbers"
    point: str = "."
    groups: str = ","
    unit: str = ""
    decimals: str = field(default="", compare=False)  # the Decimals that numbers of the fit had

    def number(self, text: str) -> float | None:
        """The number without marks and unit."""
        found = split_number(text)
        if found is None or not self._has_unit(found[1]):
            return None
        body, _, negative = found
        if not _BODIES[self.point, self.groups].fullmatch(body):
            return None
        value = float(body.replace(self.groups, "").replace(self.point, "."))
        return None if isinf(value) else -value if negative else value

    def decimals_of(self, text: str) -> str:
        """Which decimals a text has: none, some, or as many as there are digits between marks of thousands."""
        split = split_number(text)
        if split is None or self.number(text) is None or self.point not in split[0]:
            return Decimals.NONE
        ambiguous = re.fullmatch(rf"[1-9]\d{{0,2}}{re.escape(self.point)}\d{{3}}", split[0])
        return Decimals.THREE if ambiguous else Decimals.SOME

    def _has_unit(self, unit: str) -> bool:
        """Whether a unit is the same: mW is not MW, but usd is USD."""
        if is_currency(self.unit):
            return not unit or unit.casefold() == self.unit.casefold()
        return unit == self.unit

    def others(self) -> list[Form]:
        """The same with other marks."""
        return [replace(self, point=point, groups=groups) for point, groups in STYLES]

    def typed(self, column: Any) -> Any:
        """Numbers are numbers, unless their unit is missed."""
        from pyarrow import types

        kind = column.type
        if self.unit and not is_currency(self.unit):
            return None
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
            return None
        return column.cast("float64", safe=False)

    @property
    def words(self) -> str:
        """Numbers, and what is beside them."""
        unit = "" if not self.unit else f" with {self.unit!r}"
        return f"numbers{unit}" + (" and decimal commas" if unit else " with decimal commas") * (self.point == ",")


def split_number(text: str) -> tuple[str, str, bool] | None:
    """Digits and marks, unit, and whether it is negative, also as (1,200); None for other texts."""
    found = _WRITTEN.fullmatch(text.translate(_LOOKALIKES).strip())
    if found is None or bool(found["open"]) != bool(found["close"]):
        return None
    if (found["before"] and found["after"]) or (found["sign"] and found["inner"]):
        return None
    negative = "-" in (found["sign"], found["inner"]) or bool(found["open"])
    return found["body"].strip(), found["before"] or found["after"] or "", negative


def is_currency(unit: str) -> bool:
    """Whether a unit is one of money."""
    return bool(unit) and (unit[-1] in SYMBOLS or unit.casefold() in {code.casefold() for code in CODES})


def _body(point: str, groups: str) -> re.Pattern[str]:
    p, g = re.escape(point), re.escape(groups)
    grouped = rf"[1-9]\d{{0,2}}(?:{g}\d{{3}})+"
    if groups == ",":
        grouped += r"|[1-9]\d?(?:,\d\d)+,\d{3}"  # as in India
    return re.compile(rf"(?:(?:{grouped}|0|[1-9]\d*)(?:{p}\d*)?|{p}\d+)(?:[eE][-+]?\d+)?")


_BODIES = {style: _body(*style) for style in STYLES}


@dataclass(frozen=True)
class Dates(Form):
    """Dates, as days since 1970-01-01; with a time of day, as fractions of days. 1970-01-31 is clear in every order.

    Examples
    --------
    >>> from frugalboost.recipe.forms import Dates
    >>> Dates(order="dmy").number("02/01/1970"), Dates(order="mdy").number("02/01/1970")
    (1.0, 31.0)
    >>> Dates().number("1970-01-02 12:00"), Dates().number("1970-02-30")
    (1.5, None)
    """

    name: ClassVar[str] = "dates"
    order: str = "ymd"

    def number(self, text: str) -> float | None:
        """Days since 1970-01-01."""
        found = _DATES[self.order].fullmatch(text.strip()) or _DATES["ymd"].fullmatch(text.strip())
        if found is None or not _is_date(found):
            return None
        try:
            when = datetime(_year(found["year"]), _month(found["month"]), int(found["day"] or 1))
            when += _time_of(found) - _zone(found["zone"])
        except (ValueError, OverflowError):
            return None
        return float(((when - _EPOCH) // timedelta(microseconds=1)) / DAY)

    def others(self) -> list[Form]:
        """The same in another order."""
        return [replace(self, order=order) for order in _DATES]

    def typed(self, column: Any) -> Any:
        """Dates and timestamps; where these have a time zone, in UTC."""
        import pyarrow
        from pyarrow import compute, types

        if not (types.is_date(column.type) or types.is_timestamp(column.type)):
            return None
        whole = column.cast(pyarrow.timestamp("us"), safe=False).cast(pyarrow.int64())
        return compute.divide(whole.cast("float64", safe=False), float(DAY))

    @property
    def words(self) -> str:
        """Dates, and their order."""
        return {"ymd": "dates", "dmy": "dates with the day first", "mdy": "dates with the month first"}[self.order]


def _is_date(found: re.Match[str]) -> bool:
    """Whether it is not a version number: a short year goes with slashes, a name, or two digits everywhere."""
    short = len(found["year"]) == 2 and found["mark"] != "/" and not found["month"].isalpha()
    return not short or (len(found["day"]) == 2 and len(found["month"]) == 2)


def _year(text: str) -> int:
    year = int(text)
    return year if len(text) == 4 else year + (1900 if year >= 69 else 2000)


def _month(text: str) -> int:
    return int(text) if text.isdigit() else MONTHS.index(text[:3].lower()) + 1


def _time_of(found: re.Match[str]) -> timedelta:
    """The time of day."""
    parts = found.groupdict()
    if parts["hour"] is None:
        return timedelta()
    hour, half = int(parts["hour"]), (parts.get("half") or "").lower()
    if half:
        if not 1 <= hour <= 12:
            raise ValueError("no such hour")
        hour = hour % 12 + 12 * (half == "pm")
    micro = int(((parts["fraction"] or "") + "000000")[:6])
    at = datetime(1970, 1, 1, hour, int(parts["minute"]), int(parts["second"] or 0), micro)
    return at - _EPOCH


def _zone(text: str | None) -> timedelta:
    if text is None or not text[-1].isdigit():
        return timedelta()
    offset = datetime.strptime(text.replace(":", ""), "%z").tzinfo or UTC
    return offset.utcoffset(None) or timedelta()


@dataclass(frozen=True)
class Clock(Form):
    """Times of day, as hours since midnight.

    Examples
    --------
    >>> from frugalboost.recipe.forms import Clock
    >>> Clock().number("13:30"), Clock().number("25:00")
    (13.5, None)
    """

    name: ClassVar[str] = "times"

    def number(self, text: str) -> float | None:
        """Hours since midnight."""
        found = _CLOCK.fullmatch(text.strip())
        try:
            return None if found is None else (_time_of(found) // timedelta(microseconds=1)) / HOUR
        except ValueError:
            return None

    def typed(self, column: Any) -> Any:
        """Times of day."""
        import pyarrow
        from pyarrow import compute, types

        if not types.is_time(column.type):
            return None
        whole = column.cast(pyarrow.time64("us"), safe=False).cast(pyarrow.int64())
        return compute.divide(whole.cast("float64"), float(HOUR))

    @property
    def words(self) -> str:
        """Times."""
        return "times of day"


@dataclass(frozen=True)
class YesNo(Form):
    """Yes is 1 and no is 0, also as y and n, true and false, t and f, in capitals or not.

    Examples
    --------
    >>> from frugalboost.recipe.forms import YesNo
    >>> [YesNo().number(text) for text in ("Yes", "n", "TRUE", "maybe")]
    [1.0, 0.0, 1.0, None]
    """

    name: ClassVar[str] = "yes or no"

    def number(self, text: str) -> float | None:
        """1 or 0."""
        word = text.strip().lower()
        if word in YES or word in ("1", "1.0"):
            return 1.0
        return 0.0 if word in NO or word in ("0", "0.0") else None

    def typed(self, column: Any) -> Any:
        """Truths."""
        from pyarrow import types

        return column.cast("int8").cast("float64") if types.is_boolean(column.type) else None

    @property
    def words(self) -> str:
        """Yes or no."""
        return "yes or no"


FORMS: dict[str, type[Form]] = {form.name: form for form in (Numbers, Dates, Clock, YesNo)}
_CHOICES: Mapping[str, Sequence[str]] = {
    "order": tuple(_DATES),
    "point": (".", ","),
    "groups": (",", ".", " ", "'"),
    "decimals": ("", "some", "three"),
}


def form_from(record: Mapping[str, Any]) -> Form:
    """A form from JSON; ValueError where it is not one.

    Examples
    --------
    >>> from frugalboost.recipe.forms import Numbers, form_from
    >>> form_from(Numbers(unit="%").to_dict()) == Numbers(unit="%")
    True
    """
    given = dict(record)
    kind = FORMS.get(str(given.pop("form", None)))
    if kind is Numbers:
        given.setdefault("decimals", str(Decimals.THREE))  # a file from before they were kept: nothing is asked
    if kind is None or given.keys() != {f.name for f in fields(kind)}:
        raise ValueError("not a form")
    missing = given.pop("missing")
    if not isinstance(missing, list) or not all(isinstance(v, str) for v in (*missing, *given.values())):
        raise ValueError("not a form")
    if any(value not in _CHOICES[key] for key, value in given.items() if key in _CHOICES):
        raise ValueError("not a form")
    if (given.get("point", "."), given.get("groups", ",")) not in STYLES:
        raise ValueError("not a form")
    return kind(missing=tuple(missing), **given)
