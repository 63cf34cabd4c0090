"""docs/parameters.md, from the rows and the signatures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab.parameters.rows import OURS_ALONE, SECTIONS, Row
from lab.parameters.signatures import PARTS

HEAD = """# Parameters beside HistGradientBoosting, LightGBM and XGBoost

Every parameter of the others' estimators, and what it is here. Defaults are behind the names, two where classifier and
regressor differ. Written by `python -m lab.parameters` from signatures; `.ci/run` fails where a parameter of theirs or
ours is missing here. Versions: {versions}.

Of LightGBM's own parameters, which its estimators take as `**kwargs`, the main ones are here (native). XGBoost's None
stands for a default of the library.

A dash in the first column means that there is none, and the last column says why or what is done instead.
"""
REFERENCE = "The [reference](api/frugalboost.md) describes all of ours."
COLUMNS = "| here | HistGradientBoosting | LightGBM | XGBoost | note |\n|---|---|---|---|---|\n"


def page(ours: Mapping[str, str], kept: Mapping[str, Any]) -> str:
    """The whole page."""
    names = {"scikit-learn": "scikit-learn", "lightgbm": "LightGBM", "xgboost": "XGBoost"}
    versions = ", ".join(f"{names[distribution]} {kept[distribution]['version']}" for distribution in PARTS)
    parts = [HEAD.format(versions=versions)]
    for title, rows in SECTIONS.items():
        parts.append(f"## {title}\n\n{COLUMNS}" + "".join(_line(row, ours, kept) for row in rows))
    alone = "".join(f"| {_cell(name, ours[name])} | {told} |\n" for name, told in OURS_ALONE.items())
    parts.append(
        f"## Here alone\n\nThe [reference](api/frugalboost.md) describes all of ours.\n\n| here | what |\n|---|---|\n{alone}"
    )
    return "\n".join(parts)


def _line(row: Row, ours: Mapping[str, str], kept: Mapping[str, Any]) -> str:
    here = ", ".join(_cell(name, ours[name]) for name in row.names("ours")) or "-"
    cells = [here]
    for distribution, parts in PARTS.items():
        found = [_cell(name, kept[distribution][part][name], part) for part in parts for name in row.names(part)]
        cells.append(", ".join(found))
    return "| " + " | ".join([*cells, row.note]) + " |\n"


def _cell(name: str, default: str, part: str = "") -> str:
    return f"`{name}` (native)" if part == "native" else f"`{name}={default}`"
