"""Pictures and tables of how good predictions for held-out rows are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from frugalboost.page.contents import Contents
from frugalboost.page.effects import COLOURS
from frugalboost.page.svg import Scale, area, axes, box, curve, dot, line, picture, ticks, words
from frugalboost.page.words import number_text, with_sign

SIDE = 312  # of a square picture
LEFT, RIGHT, TOP, BOTTOM = 44, 290, 8, 246
MOST_ROWS = 40  # classes in a table
READABLE, FEW = 12, 4  # classes up to which cells have large numbers; up to which the matrix is beside a table
STRONGEST = 0.55  # how much colour a cell has at most: text over it stays readable

Part = dict[str, Any]


def parts_of(contents: Contents) -> list[Part]:
    """What is shown for held-out rows of the splits, and for test rows; none for runs of earlier versions."""
    quality = contents.get("quality") or {}
    found = [("splits", quality.get("held_out")), ("test", quality.get("test"))]
    return [part(name, own) for name, own in found if own]


def part(name: str, own: dict[str, Any]) -> Part:
    """Words, tables and pictures for some rows."""
    made: Part = {"name": name, "says": about(name, own), "own": own}
    if own["kind"] == "classes":
        return made | {
            "matrix": matrix(own),
            "right": percent(own["right"]),
            "rows": class_rows(own)[:MOST_ROWS],
            "more": max(0, len(own["classes"]) - MOST_ROWS),
            "confused": [
                pair | {"rows": f"{pair['rows']:,.0f}"} for pair in own["confused"] if len(own["classes"]) > 2
            ],
            "calibration": calibration_of_shares(own),
            "roc": roc(own),
            "many": len(own["classes"]) > READABLE,
            "few": len(own["classes"]) <= FEW,
        }
    return made | {
        "numbers": numbers(own),
        "residuals": residuals(own),
        "histogram": histogram(own),
        "calibration": calibration_of_counts(own),
    }


def about(name: str, own: dict[str, Any]) -> str:
    """Which predictions these are."""
    weighted = " Rows count by their weights." if own["weighted"] else ""
    if name == "test":
        return f"Predictions of the chosen model for the {own['rows']:,} test rows.{weighted}"
    again = f" of {own['rows']:,} rows" if own["rows"] < own["predictions"] else ""
    splits = f"in {own['splits']} split{'s' if own['splits'] > 1 else ''}"
    how = "with the chosen settings and the features that its split bought, fitted without that row"
    return f"{own['predictions']:,} predictions{again} {splits}, each by a model {how}.{weighted}"


def percent(value: float | None, digits: int = 1) -> str:
    """A share as text."""
    return "-" if value is None else f"{100 * value:.{digits}f} %"


# ------------------------------------------------------------------------------------------------ classes


def class_rows(own: dict[str, Any]) -> list[dict[str, str]]:
    """Errors of each class as text."""
    return [
        {
            "class": c["class"],
            "rows": f"{c['rows']:,}",
            "missed": percent(None if c["recall"] is None else 1 - c["recall"]),
            "recall": percent(c["recall"]),
            "precision": percent(c["precision"]),
            "auc": "-" if c["auc"] is None else f"{c['auc']:.3f}",
        }
        for c in own["classes"]
    ]


def matrix(own: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Rows of the confusion matrix: cells with their numbers and how strongly they are coloured."""
    if own["confusion"] is None:
        return None
    names, found = [c["class"] for c in own["classes"]], []
    for i, row in enumerate(own["confusion"]):
        total = sum(row)
        cells = [
            {
                "text": f"{value:.0f}" if value >= 0.5 else "",
                "kind": "right" if i == j else "wrong",
                "strength": f"{STRONGEST * math.sqrt(value / total):.2f}" if total > 0 and value > 0 else "0",
                "tip": f"{names[i]}, predicted {names[j]}: {number_text(value)} ({percent(value / (total or 1))})",
            }
            for j, value in enumerate(row)
        ]
        found.append({"class": names[i], "cells": cells})
    return found


def titled(x_title: str, y_title: str) -> str:
    """Names of both axes."""
    turned = f'<g transform="rotate(-90)">{words(-(TOP + BOTTOM) / 2, 10, y_title, "middle soft")}</g>'
    return words((LEFT + RIGHT) / 2, BOTTOM + 32, x_title, "middle soft") + turned


SHARES = [(0.0, "0"), (0.25, "25 %"), (0.5, "50 %"), (0.75, "75 %"), (1.0, "100 %")]


def calibration_of_shares(own: dict[str, Any]) -> dict[str, str] | None:
    """Predicted probabilities against what came true."""
    found = own["calibration"]
    if not found or not found["bins"]:
        return None
    across, up = Scale(0, 1, LEFT + 6, RIGHT), Scale(0, 1, BOTTOM, TOP)
    parts = [axes(across, up, SHARES, SHARES), line(across(0), up(0), across(1), up(1), "mean")]
    points = [(across(b["predicted"]), up(b["observed"])) for b in found["bins"]]
    for (x, _), b in zip(points, found["bins"], strict=True):
        parts.append(line(x, up(b["low"]), x, up(b["high"]), "bar c0"))
    parts.append(curve(points, "curve c0"))
    for (x, y), b in zip(points, found["bins"], strict=True):
        tip = f"predicted {percent(b['predicted'])}, true {percent(b['observed'])}, {b['rows']:,} rows"
        parts.append(dot(x, y, "fill c0", tip, 3.5))
    if found["of"] is not None:
        what, truth = f"predicted probability of {found['of']}", f"share of {found['of']}"
        words_below = "Of rows with such a probability, how many were of that class."
    else:
        what, truth = "probability of the predicted class", "share that is right"
        words_below = "Of rows with such a probability of the class that was predicted, how many were of that class."
    parts.append(titled(short(what), short(truth)))
    caption = f"Calibration. {words_below} Bars: intervals of 95 %. Dashed: as predicted."
    return {"picture": picture(SIDE, BOTTOM + 38, f"Calibration: {what} against {truth}", parts), "caption": caption}


def short(text: str, most: int = 44) -> str:
    """A text that fits below a picture."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def roc(own: dict[str, Any]) -> dict[str, Any] | None:
    """Share of a class that is found against false alarms."""
    if not own["roc"]:
        return None
    across, up = Scale(0, 1, LEFT + 6, RIGHT), Scale(0, 1, BOTTOM, TOP)
    parts = [axes(across, up, SHARES, SHARES), line(across(0), up(0), across(1), up(1), "mean")]
    names = [c["class"] for c in own["classes"]]
    several = len(own["roc"]) > 1
    for one in own["roc"]:
        colour = names.index(one["class"]) % COLOURS if several else 0
        points = [(across(0), up(0)), *((across(f), up(t)) for f, t in zip(one["false"], one["true"], strict=True))]
        parts.append(curve(points, f"curve c{colour}"))
    parts.append(titled("false alarms: share of the others", "share of the class that is found"))
    said = [(names.index(one["class"]) % COLOURS, one["class"], f"{one['auc']:.3f}") for one in own["roc"]]
    mean = " Mean curve of the splits." if own["splits"] > 1 else ""
    what = "each class against the others" if several else f"{own['roc'][0]['class']} against {names[0]}"
    caption = f"ROC, {what}.{mean}"
    if not several:
        caption += f" Area under it: {said[0][2]}."
    label = "ROC curves, " + ", ".join(f"{name} {area_}" for _, name, area_ in said)
    return {
        "picture": picture(SIDE, BOTTOM + 38, label, parts),
        "caption": caption,
        "legend": said if several else [],
    }


# ------------------------------------------------------------------------------------------------ numbers


def numbers(own: dict[str, Any]) -> list[tuple[str, str]]:
    """Errors in words and numbers."""
    q = own["quantiles"]
    return [
        ("mean error", with_sign(own["mean_error"])),
        ("mean absolute error", number_text(own["mean_absolute_error"])),
        ("root mean squared error", number_text(own["rmse"])),
        ("half of all errors are below", number_text(own["absolute"]["0.5"])),
        ("nine in ten errors are below", number_text(own["absolute"]["0.9"])),
        ("median of truth - prediction", with_sign(q["0.5"])),
        ("middle half of truth - prediction", f"{with_sign(q['0.25'])} to {with_sign(q['0.75'])}"),
        ("nine in ten of truth - prediction", f"{with_sign(q['0.05'])} to {with_sign(q['0.95'])}"),
    ]


def labelled(values: list[float], text: Callable[[float], str] = number_text) -> list[tuple[float, str]]:
    """Ticks with their numbers."""
    return [(value, text(value)) for value in values]


def residuals(own: dict[str, Any]) -> dict[str, str]:
    """Residuals against predictions, with bands."""
    said, off = zip(*own["points"], strict=True)
    bands = own["bands"]
    low, high = spread([*off, *(v for band in bands for v in band["residuals"])])
    first, last = spread([*said, *(band["predicted"] for band in bands)])
    across, up = Scale(first, last, LEFT + 12, RIGHT), Scale(low, high, BOTTOM, TOP)
    parts = [axes(across, up, labelled(ticks(first, last)), labelled(ticks(low, high)))]
    middles = [across(band["predicted"]) for band in bands]
    if len(bands) > 1:
        for inner, outer, kind in ((0, 4, "band wide"), (1, 3, "band")):
            lower = [(x, up(band["residuals"][inner])) for x, band in zip(middles, bands, strict=True)]
            upper = [(x, up(band["residuals"][outer])) for x, band in zip(middles, bands, strict=True)]
            parts.append(area([*lower, *upper[::-1]], kind))
    parts += [dot(across(p), up(r), "faint", radius=2) for p, r in own["points"]]
    if len(bands) > 1:
        parts.append(curve([(x, up(b["residuals"][2])) for x, b in zip(middles, bands, strict=True)], "curve c0"))
    if low < 0 < high:
        parts.append(line(across.begin, up(0), across.end, up(0), "mean"))
    parts.append(titled("prediction", "truth - prediction"))
    some = f" {len(own['points'])} of the predictions as points." if len(own["points"]) < own["predictions"] else ""
    about_bands = " Bands: half of the rows, and nine in ten; line: the median." if len(bands) > 1 else ""
    return {
        "picture": picture(SIDE, BOTTOM + 38, "Residuals against predictions", parts),
        "caption": f"Residuals against predictions.{about_bands}{some}",
    }


def spread(values: list[float]) -> tuple[float, float]:
    """The ends of an axis: some points far out are at its edge."""
    ordered = sorted(values)
    few = len(ordered) // 200
    low, high = ordered[few], ordered[len(ordered) - 1 - few]
    more = 0.04 * (high - low) or 0.5 * abs(high) or 1.0
    return low - more, high + more


def histogram(own: dict[str, Any]) -> dict[str, str]:
    """How residuals are distributed."""
    first, last, counts = own["histogram"]["from"], own["histogram"]["to"], own["histogram"]["rows"]
    across, up = Scale(first, last, LEFT, RIGHT), Scale(0, max([*counts, 1]) * 1.05, BOTTOM, TOP)
    parts = [axes(across, up, labelled(ticks(first, last)), labelled(ticks(0, max([*counts, 1]))))]
    wide = (last - first) / len(counts)
    for i, count in enumerate(counts):
        x, end = across(first + i * wide), across(first + (i + 1) * wide)
        tip = f"{number_text(first + i * wide)} to {number_text(first + (i + 1) * wide)}: {count:,}"
        parts.append(box(x + 0.5, up(count), max(0.5, end - x - 1), BOTTOM - up(count), "fill c0", tip))
    if first < 0 < last:
        parts.append(line(across(0), TOP, across(0), BOTTOM, "mean"))
    parts.append(titled("truth - prediction", "predictions"))
    return {
        "picture": picture(SIDE, BOTTOM + 38, "Distribution of residuals", parts),
        "caption": "How residuals are distributed; the outermost 0.5 % on both sides are left out.",
    }


def calibration_of_counts(own: dict[str, Any]) -> dict[str, str] | None:
    """Mean counts against predicted rates."""
    found = own["calibration"]
    if not found or len(found["bins"]) < 2:
        return None
    values = [b[name] for b in found["bins"] for name in ("predicted", "observed")]
    low, high = 0.0, 1.05 * max(values)
    across, up = Scale(low, high, LEFT, RIGHT), Scale(low, high, BOTTOM, TOP)
    marks = labelled(ticks(low, high))
    parts = [axes(across, up, marks, marks), line(across(low), up(low), across(high), up(high), "mean")]
    points = [(across(b["predicted"]), up(b["observed"])) for b in found["bins"]]
    parts.append(curve(points, "curve c0"))
    for (x, y), b in zip(points, found["bins"], strict=True):
        tip = f"predicted {number_text(b['predicted'])}, true {number_text(b['observed'])}, {b['rows']:,} rows"
        parts.append(dot(x, y, "fill c0", tip, 3.5))
    parts.append(titled("predicted rate", "mean count"))
    return {
        "picture": picture(SIDE, BOTTOM + 38, "Calibration: mean counts against predicted rates", parts),
        "caption": "Calibration: of rows with such a predicted rate, the mean count. Dashed: as predicted.",
    }
