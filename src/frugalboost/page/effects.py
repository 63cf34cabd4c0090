"""Pictures of what each chosen feature does."""

from __future__ import annotations

import math
from typing import Any

from frugalboost.page.charts import classes_of
from frugalboost.page.contents import Contents
from frugalboost.page.svg import LETTER, Scale, area, axes, box, cropped, curve, dot, line, picture, ticks, words
from frugalboost.page.words import number_text, value_text

WIDE, HIGH = 320, 150
LEFT, RIGHT, TOP, BOTTOM = 46, 312, 8, 104  # of the curve
ROWS_HIGH = 16  # of the histogram of rows below it
MISSING = 46  # room for the point of missing values
LEVEL, LEVELS_LEFT = 17, 108  # height of a bar, room for names of levels
GAP = 8  # between numbers of an axis
DAYS = 3  # an axis of so many days shows no times
FEW = 12  # values up to which each has a dot
COLOURS = 7
ARROWS = {
    "rises": "↗",
    "falls": "↘",
    "up then down": "↗↘",
    "down then up": "↘↗",
    "flat": "→",
    "no clear direction": "↝",
}


def cards_of(contents: Contents) -> list[dict[str, Any]]:
    """Names, pictures and words of the features with the largest gains; none for runs of earlier versions."""
    effects = [own for own in contents.get("effects") or [] if own["y"]]
    if not effects:
        return []
    known = {f["name"]: f for f in contents["chosen"]["features"]}
    shared, look = span(effects), Look(contents)
    return [
        {
            "name": contents["names"][own["name"]],
            "pictures": [look.picture(own, shared, "same"), look.picture(own, span([own]), "own")],
            "arrow": ARROWS.get(own["direction"], ""),
            "says": look.sentence(own),
            "classes": [(look.colour(own, i), name) for i, name in enumerate(own["of"])] if look.several else [],
            "feature": known[own["name"]],
            "notes": notes(own),
        }
        for own in effects
    ]


def what_is_shown(contents: Contents) -> str:
    """What the pictures show, in a sentence."""
    classes, target = classes_of(contents), contents["about"].get("target")
    if len(classes) == 2:
        what = f"predicted probability of {classes[1]}"
    elif classes:
        what = "predicted probability of the classes for which it changes most"
    else:
        counts = contents["about"]["task"] == "counts"
        what = ("predicted rate" if counts else "prediction") + (f" of {target}" if target else "")
    dashed = "" if len(classes) > 2 else " Dashed: the mean prediction."
    return f"The mean {what} if all rows had this value of the feature and kept their other values.{dashed}"


def span(effects: list[dict[str, Any]]) -> tuple[float, float]:
    """The range of all curves, a little wider."""
    values = [v for own in effects for y in own["y"] for v in y]
    values += [v for own in effects for v in own["mean"]]
    values += [v for own in effects if own["missing"] for v in own["missing"]["y"]]
    low, high = min(values), max(values)
    more = 0.06 * (high - low) or 0.5 * abs(high) or 1.0
    return low - more, high + more


def notes(own: dict[str, Any]) -> list[str]:
    """What a picture can't show."""
    found = []
    if own["missing"]:
        found.append(f"{own['missing']['share']:.1%} missing".replace("%", " %"))
    if own.get("other_levels"):
        number = own["other_levels"]
        found.append(f"{number} more level{'s' if number > 1 else ''} with fewer rows")
    if own.get("unit"):
        found.append("axis stretched")
    return found


def rough_percent(share: float) -> str:
    """A share of rows as text."""
    return f"{100 * share:.0f} %" if share == 0 or share >= 0.01 else "< 1 %"


class Look:
    """How the numbers of one report are drawn."""

    def __init__(self, contents: Contents) -> None:
        self._classes = classes_of(contents)
        self.several = len(self._classes) > 2

    def number(self, value: float) -> str:
        """A prediction as text."""
        if not self._classes:
            return number_text(value, 3)
        return f"{100 * min(1.0, max(0.0, value)):.1f}".removesuffix(".0") + " %"

    def colour(self, own: dict[str, Any], i: int) -> int:
        """The number of a curve's colour: each class has its own where there are few."""
        few = len(self._classes) <= COLOURS
        return self._classes.index(own["of"][i]) if self.several and few else i

    def sentence(self, own: dict[str, Any]) -> str:
        """The direction and the range of a curve."""
        y, way = own["y"][0], own["direction"]
        low, high = self.number(min(y)), self.number(max(y))
        if own["kind"] == "category":
            first, last = (cropped(own["x"][y.index(end)], 24) for end in (min(y), max(y)))
            how = f"lowest for {first} ({low}), highest for {last} ({high})"
        elif way in ("rises", "falls"):
            ends = (y[0], y[-1]) if (y[-1] > y[0]) == (way == "rises") else (min(y), max(y))  # few rows may turn it
            how = f"{way}, {self.number(ends[0])} to {self.number(ends[1])}"
        else:
            how = f"{way}, between {low} and {high}"
        return f"{own['of'][0]}: {how}" if self.several else how

    def picture(self, own: dict[str, Any], ends: tuple[float, float], kind: str) -> str:
        """A curve over a number, or bars of levels."""
        return self._levels(own, ends, kind) if own["kind"] == "category" else self._curve(own, ends, kind)

    def _curve(self, own: dict[str, Any], ends: tuple[float, float], kind: str) -> str:
        end = RIGHT - (MISSING if own["missing"] else 0)
        across = Scale(own["x"][0], own["x"][-1], LEFT, end, own.get("center", 0.0), own.get("unit"))
        up = Scale(*ends, BOTTOM, TOP)
        parts = [axes(across, up, [], [(t, self.number(t)) for t in ticks(*ends)])]
        parts += [self._rows(own, across), *self._values(own, across)]
        if not self.several:
            parts.append(line(LEFT, up(own["mean"][0]), end, up(own["mean"][0]), "mean"))
        for i, y in reversed(list(enumerate(own["y"]))):
            points = [(across(v), up(p)) for v, p in zip(own["x"], y, strict=True)]
            colour = self.colour(own, i)
            parts.append(curve(points, f"curve c{colour}"))
            if len(points) <= FEW:
                tips = [f"{value_text(v, own['kind'])}: {self.number(p)}" for v, p in zip(own["x"], y, strict=True)]
                parts += [dot(x, p, f"fill c{colour}", tip) for (x, p), tip in zip(points, tips, strict=True)]
            if own["missing"]:
                said = own["missing"]["y"][i]
                parts.append(dot(RIGHT - 16, up(said), f"ring c{colour}", f"missing: {self.number(said)}", 4))
        if own["missing"]:
            parts.append(words(RIGHT - 16, BOTTOM + ROWS_HIGH + 15, "missing", "middle"))
        return picture(WIDE, HIGH - 8, self.sentence(own), parts, kind)

    def _rows(self, own: dict[str, Any], across: Scale) -> str:
        """Where the rows are."""
        counts = own["histogram"]
        most, wide = max(counts, default=0) or 1, (across.end - across.begin) / max(1, len(counts))
        base = float(BOTTOM + ROWS_HIGH + 2)
        points = [(across.begin, base)]
        for i, count in enumerate(counts):
            y = base - (max(1.0, ROWS_HIGH * count / most) if count else 0.0)
            points += [(across.begin + wide * i, y), (across.begin + wide * (i + 1), y)]
        return area([*points, (across.end, base)], "rows")

    def _values(self, own: dict[str, Any], across: Scale) -> list[str]:
        """Numbers or dates below: both ends, and what is between if there is room."""
        y, whole = BOTTOM + ROWS_HIGH + 15, own["kind"] == "date" and own["x"][-1] - own["x"][0] >= DAYS
        shown = (own["x"][0], own["deciles"][5], own["x"][-1])
        first, median, last = (value_text(math.floor(v) if whole else v, own["kind"]) for v in shown)
        found = [words(across.begin, y, first, "begin")]
        if own["x"][-1] == own["x"][0]:
            return found
        found.append(words(across.end, y, last, "end"))
        middle, half = across(own["deciles"][5]), LETTER * len(median) / 2 + GAP
        if across.begin + LETTER * len(first) + half < middle < across.end - LETTER * len(last) - half:
            found.append(words(middle, y, median, "middle"))
            found.append(line(middle, BOTTOM, middle, BOTTOM + ROWS_HIGH + 2, "axis"))
        return found

    def _levels(self, own: dict[str, Any], ends: tuple[float, float], kind: str) -> str:
        names, n = list(own["x"]), len(own["x"])
        ys, shares = [list(y) for y in own["y"]], [rough_percent(share) for share in own["rows"]]
        if own["missing"]:
            names.append("missing")
            shares.append(rough_percent(own["missing"]["share"]))
            for y, value in zip(ys, own["missing"]["y"], strict=True):
                y.append(value)
        across, base = Scale(*ends, LEVELS_LEFT, RIGHT - 34), TOP + LEVEL * len(names)
        marks = [(t, self.number(t)) for t in ticks(*ends)]
        parts = [axes(across, Scale(0, 1, base, TOP), marks, [])]
        if not self.several:
            parts.append(line(across(own["mean"][0]), TOP, across(own["mean"][0]), base, "mean"))
        for k, name in enumerate(names):
            top = TOP + LEVEL * k
            parts.append(words(LEVELS_LEFT - 6, top + 12, cropped(name, 16), "end apart" if k >= n else "end", name))
            parts.append(words(RIGHT, top + 12, shares[k], "end soft"))
            for i in range(len(ys)):
                tip, place = f"{name}: {self.number(ys[i][k])}", across(ys[i][k])
                colour = self.colour(own, i)
                if self.several:
                    parts.append(dot(place, top + 8, f"fill c{colour}", f"{own['of'][i]}, {tip}", 4))
                else:
                    middle = across(own["mean"][0])
                    bar = "outline" if k >= n else "fill"
                    parts.append(box(middle, top + 2.5, place - middle, LEVEL - 5, f"{bar} c{colour}", tip))
        return picture(WIDE, base + 22, self.sentence(own), parts, kind)
