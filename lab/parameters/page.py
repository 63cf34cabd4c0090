"""docs/parameters.md, from the rows and the signatures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab.parameters.rows import OURS_ALONE, SECTIONS, Row
from lab.parameters.signatures import PARTS

HEAD = """# Parameters beside those of others

Every parameter of the estimators of HistGradientBoosting, LightGBM and XGBoost, and what it is here. Defaults other
than None are behind the names, two where classifier and regressor differ. Written by `python -m lab.parameters` from
signatures; `.ci/run` fails where a parameter of theirs or ours is missing here. Versions: {versions}.

Of LightGBM's own parameters, which its estimators take as `**kwargs`, the main ones are here (native). XGBoost chooses
most of its defaults itself.

A dash in the first column means that there is none, and the second column says why or what is done instead.
"""
REFERENCE = "The [reference](api/frugalboost.md) describes all of ours."
COLUMNS = "| here | note | HistGradientBoosting | LightGBM | XGBoost |\n|---|---|---|---|---|\n"


def page(ours: Mapping[str, str], kept: Mapping[str, Any]) -> str:
    """The whole page."""
    names = {"scikit-learn": "scikit-learn", "lightgbm": "LightGBM", "xgboost": "XGBoost"}
    versions = ", ".join(f"{names[distribution]} {kept[distribution]['version']}" for distribution in PARTS)
    parts = [HEAD.format(versions=versions)]
    for title, rows in SECTIONS.items():
        parts.append(f"## {title}\n\n{COLUMNS}" + "".join(_line(row, ours, kept) for row in rows))
    alone = "".join(f"| {_cell(name, ours[name])} | {told} |\n" for name, told in OURS_ALONE.items())
    parts.append(f"## Here alone\n\n{REFERENCE}\n\n| here | what |\n|---|---|\n{alone}")
    return "\n".join(parts)


def _line(row: Row, ours: Mapping[str, str], kept: Mapping[str, Any]) -> str:
    here = ", ".join(_cell(name, ours[name]) for name in row.names("ours")) or "-"
    cells = [here, row.note]
    for distribution, parts in PARTS.items():
        found = [_cell(name, kept[distribution][part][name], part) for part in parts for name in row.names(part)]
        cells.append(", ".join(found))
    return "| " + " | ".join(cells) + " |\n"


def _cell(name: str, default: str, part: str = "") -> str:
    """The default stands beside the name, so that a narrow column can break between them; None is left out."""
    if part == "native":
        return f"`{name}` (native)"
    return f"`{name}`" + ("" if default == "None" else f" {default}")
