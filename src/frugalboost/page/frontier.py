"""The models that have the lowest error so far, and places for the names of lines; no drawing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from frugalboost.page.contents import Contents
from frugalboost.page.stops import start_of, stops_of

Row = dict[str, Any]
FAR = 1e6  # an error that is so much smaller than another is as good as 0
WIDE = 30  # from so many times the smallest on, an axis across is logarithmic, but shows 0


def models_of(contents: Contents, x: str) -> list[Row]:
    """The models of a chart, in the order of the slider; ``x``: "n_features" or "price".

    Without a path they are those with the first of the chosen features, and the slider is at none of them.
    """
    stops = stops_of(contents)
    rows = first_features(contents, x) if len(stops) == 1 else [of_stop(i, p, x) for i, p in enumerate(stops)]
    rows = [row for row in rows if row["error"] is not None]
    best = {id(row) for row in lowest_so_far(bought(contents, rows))}
    return [row | {"best": id(row) in best} for row in rows]


def of_stop(i: int, stop: dict[str, Any], x: str) -> Row:
    """A model of the slider."""
    own = {"i": i, "x": stop[x], "error": stop["error"], "test": stop["test_error"], "value": stop["value"]}
    return own | {"features": stop["n_features"], "price": stop["price"], "mean": stop.get("mean_features")}


def first_features(contents: Contents, x: str) -> list[Row]:
    """Models with the first of the chosen features, as far as their errors are known, and the chosen one."""
    chosen, rows, paid = contents["chosen"], [], 0.0
    for k, feature in enumerate(chosen["features"], start=1):
        paid += feature["price"]
        if feature["error"] is not None:
            known = None if contents["prices"].get("by_row") else paid  # what rows pay is not the sum of prices
            rows.append({"features": k, "price": known, "error": feature["error"], "test": feature["test_error"]})
    own = {"features": chosen["n_features"], "price": chosen["price"], "error": chosen["error"]}
    rows = [row | {"i": None} for row in rows if row["features"] < own["features"]]
    rows.append(own | {"test": chosen["test_error"], "i": start_of(stops_of(contents))})
    place = "features" if x == "n_features" else "price"
    return [row | {"x": row[place], "value": None} for row in rows]


def chosen_of(contents: Contents, x: str) -> Row:
    """The chosen model in a chart; a click on it moves the slider there."""
    chosen = contents["chosen"]
    error, spread = chosen["error"], chosen["spread"] or 0.0
    place = {"x": chosen[x], "error": error, "features": chosen["n_features"], "i": start_of(stops_of(contents))}
    low = max(error - spread, 0.1 * error) if error > 0 else error - spread  # positive, for a logarithmic axis
    return place | {"low": low, "high": error + spread}


def lowest_so_far(rows: Sequence[Row]) -> list[Row]:
    """The models that have a lower error than any with no more features, or that costs no more.

    Examples
    --------
    >>> from frugalboost.page.frontier import lowest_so_far
    >>> rows = [{"x": x, "error": error} for x, error in ((0, 9), (2, 5), (2, 4), (3, 6), (5, 3))]
    >>> [(row["x"], row["error"]) for row in lowest_so_far(rows)]
    [(0, 9), (2, 4), (5, 3)]
    """
    found: list[Row] = []
    for row in sorted(rows, key=lambda row: (row["x"], row["error"])):
        if not found or row["error"] < found[-1]["error"]:
            found.append(row)
    return found


def bought(contents: Contents, rows: Sequence[Row]) -> list[Row]:
    """The models whose error can be that of their features: one without any is a constant, and no better.

    At a mu at which all rows buy nothing, some splits may have bought a feature, and their error is lower.
    """
    constant = contents["constant_error"]
    if constant is None:
        return list(rows)
    limit = constant - 1e-9 * abs(constant)
    return [row for row in rows if row["features"] or row["error"] >= limit] or list(rows)


def stairs(contents: Contents, rows: Sequence[Row]) -> list[Row]:
    """The corners of the lines of the lowest errors: from a constant, which has no features, to the right edge."""
    best, constant = lowest_so_far(bought(contents, rows)), contents["constant_error"]
    corners = [{"x": row["x"], "error": row["error"], "test": row["test"]} for row in best]
    if best and best[0]["x"] > 0 and constant is not None and constant >= best[0]["error"]:
        corners.insert(0, {"x": 0, "error": constant, "test": None})
    most = max(row["x"] for row in rows)
    if corners[-1]["x"] < most:
        corners.append(corners[-1] | {"x": most})
    return corners


class Across:
    """The horizontal axis: from 0 to the largest, logarithmic but for 0 if that is far from the smallest."""

    def __init__(self, places: Sequence[float], whole: bool) -> None:
        self.most = max(max(places), 1e-300) if max(places) > 0 else 1.0
        self.unit = min((x for x in places if x > 0), default=self.most)
        self.bent = self.most > WIDE * self.unit
        self.whole = whole

    def share(self, x: float) -> float:
        """How far from the left edge, as a share of the width."""
        return math.log1p(x / self.unit) / math.log1p(self.most / self.unit) if self.bent else x / self.most

    def ticks(self) -> list[float]:
        """Round numbers; the browser leaves out those whose labels would touch."""
        if not self.bent:
            step = round_step(self.most / 10)
            return steps(0.0, self.most, max(step, 1.0) if self.whole else step)
        return [0.0, *(t for t in decades(self.unit, self.most, (1, 2, 5)) if not self.whole or t >= 1)]


class Upwards:
    """The vertical axis: room for all errors, and below them for a name; logarithmic if errors differ much."""

    def __init__(self, errors: Sequence[float], height: int, above: int, below: int) -> None:
        low, high = min(errors), max(errors)
        self.height, self.lowest = height, low
        self.bent = low > 0 and 3 * low < high < FAR * low
        begin, end = self._of(low), self._of(high)
        one = (end - begin or abs(end) or 1.0) / (height - above - below)  # of a pixel
        self._begin, self._end = begin - below * one, end + above * one

    def _of(self, error: float) -> float:
        return math.log(error) if self.bent else error

    @property
    def domain(self) -> list[float]:
        """The errors at both ends."""
        ends = [self._begin, self._end]
        return [math.exp(end) for end in ends] if self.bent else ends

    def place(self, error: float) -> float:
        """Pixels from the top."""
        return self.height * (self._end - self._of(error)) / (self._end - self._begin)

    def ticks(self, apart: int = 26) -> list[float]:
        """Round numbers whose labels do not touch; none is below 0 where errors are not."""
        low, high = self.domain
        if not self.bent:
            found = steps(low, high, round_step((high - low) * apart / self.height))
            return [t for t in found if t >= 0 or self.lowest < 0]
        kept: list[float] = []
        for sizes in ((1,), (5,), (2,), (3,), (7,), (4, 6, 8), (1.5, 2.5)):
            for t in decades(low, high, sizes):
                if low <= t and all(abs(self.place(t) - self.place(other)) >= apart for other in kept):
                    kept.append(t)
        return sorted(kept)


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, ... that is not below.

    Examples
    --------
    >>> from frugalboost.page.frontier import round_step
    >>> [round_step(least) for least in (0.3, 1, 3, 600)]
    [0.5, 1.0, 5.0, 1000.0]
    """
    power = 10.0 ** math.floor(math.log10(least))
    return next(float(f"{m * power:.6g}") for m in (1, 2, 5, 10, 20) if m * power >= least * (1 - 1e-9))


def steps(low: float, high: float, step: float) -> list[float]:
    """Multiples of a step."""
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.9g}") for k in range(first, last + 1)]


def decades(low: float, high: float, sizes: Sequence[float]) -> list[float]:
    """Such sizes in every power of 10 from about low to high."""
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    found = (float(f"{size * 10.0**power:.6g}") for power in powers for size in sizes)
    return [t for t in found if low * (1 - 1e-9) <= t <= high]


def spread_out(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places near the given ones, which rise, at least a gap apart and between low and high.

    Examples
    --------
    >>> from frugalboost.page.frontier import spread_out
    >>> spread_out([10, 100, 104, 114], 20, 0, 200)
    [10.0, 86.0, 106.0, 126.0]
    """
    groups: list[list[float]] = []  # neighbours that would touch share a mean
    for i, place in enumerate(places):
        groups.append([place - i * gap])
        while len(groups) > 1 and mean(groups[-2]) >= mean(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    most = max(low, high - (len(places) - 1) * gap)
    level = [min(max(mean(group), low), most) for group in groups for _ in group]
    return [float(own + i * gap) for i, own in enumerate(level)]


def mean(values: Sequence[float]) -> float:
    """Their mean."""
    return sum(values) / len(values)
