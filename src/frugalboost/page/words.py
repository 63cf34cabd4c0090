"""Numbers as the page and notebooks write them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

LONGEST = 1e15  # numbers from here on, and below SHORTEST, have an exponent
SHORTEST = 1e-6
Slope = float | list[float]  # of the one output, or of each class


def number_text(value: float, digits: int = 4) -> str:
    """A number as people write it: with separators between thousands, and no exponent unless it is extreme.

    Examples
    --------
    >>> from frugalboost.page.words import number_text
    >>> [number_text(value) for value in (170000.4, 60.5231, 0.00001234, 12.0)]
    ['170,000', '60.52', '0.00001234', '12']
    """
    size = abs(value)
    if 1000 <= size < LONGEST:
        places = max(0, digits - len(f"{size:.0f}"))
        text = f"{value:,.{places}f}"
        return text.rstrip("0").rstrip(".") if places else text
    short = f"{value:.{digits}g}"
    if "e" not in short or size < SHORTEST or size >= LONGEST:
        return short
    places = int(short.partition("e-")[2]) + len(short.partition("e")[0].replace(".", "").lstrip("-")) - 1
    return f"{value:.{places}f}"


def value_text(value: float, kind: str, digits: int = 4) -> str:
    """A value of a feature: a date, a time of day, or a number.

    Dates are days since 1970-01-01, times of day hours. Half days are not shown: they lie between dates.

    Examples
    --------
    >>> from frugalboost.page.words import value_text
    >>> value_text(14187.5, "date"), value_text(14187.25, "date"), value_text(13.5, "time"), value_text(13.5, "number")
    ('2008-11-04', '2008-11-04 06:00', '13:30', '13.5')
    """
    try:
        if kind == "date":
            when = datetime(1970, 1, 1) + timedelta(days=value)
            return f"{when:%Y-%m-%d}" if 2 * value == int(2 * value) else f"{when:%Y-%m-%d %H:%M}"
        if kind == "time":
            return f"{datetime(1970, 1, 1) + timedelta(hours=value):%H:%M}"
    except (OverflowError, ValueError):  # outside the years 1 to 9999, which only a file can say
        pass
    return number_text(value, digits)


def slope_text(slope: Slope | None, classes: Sequence[str]) -> str:
    """A slope with its sign; of several classes the steepest one, with the name of its class."""
    if slope is None:
        return ""
    if not isinstance(slope, list):
        return with_sign(slope)
    steepest = max(range(len(slope)), key=lambda k: abs(slope[k]))
    return f"{with_sign(slope[steepest])} ({classes[steepest]})"


def with_sign(value: float) -> str:
    """A number with its sign, in three digits."""
    return f"{'-' if value < 0 else '+'}{number_text(abs(value), 3)}"
