"""What a run leaves behind: a folder with the features, the path, the model and the report."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from jinja2 import TemplateError

from frugalboost.base import GBFSBase
from frugalboost.report import Report
from frugalboost.report.contents import Contents
from frugalboost.run.problems import Problem

SELECTED, PATH, MODEL, REPORT, RUN = "selected.csv", "path.csv", "model.frugal", "report.html", "run.json"


def ready(place: str | os.PathLike[str]) -> Path:
    """A place for a folder: a new one, an empty one, or one that an earlier run made. Nothing is made yet."""
    folder = Path(place).expanduser()
    if folder.exists() and not folder.is_dir():
        raise Problem(f"{str(folder)!r} is a file; --out must name a folder.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / RUN).exists():
        raise Problem(f"The folder {str(folder)!r} holds other things than a run. Name another one with --out.")
    nearest = next(p for p in (folder, *folder.absolute().parents) if p.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError:
        raise Problem(f"Nothing can be written to {str(nearest)!r}. Name another folder with --out.") from None
    return folder


def write(folder: Path, contents: Contents, model: GBFSBase) -> None:
    """Write all files; each appears whole or not at all.

    Parameters
    ----------
    folder : Path
        Where.
    contents : dict
        Of the report.
    model : GBFSClassifier or GBFSRegressor
        The chosen one.
    """
    report = Report(contents)
    page, record = report.html(), report.to_json()  # what fails leaves nothing behind
    folder.mkdir(parents=True, exist_ok=True)
    replace(folder / SELECTED, csv_text(*selected(contents)))
    replace(folder / PATH, csv_text(*path(contents)))
    model.save(folder / MODEL)
    replace(folder / REPORT, page)
    replace(folder / RUN, record)


def replace(place: Path, text: str) -> None:
    """Write a file that is whole at any time."""
    beside = place.with_name(f".{place.name}.part")
    beside.write_text(text, encoding="utf-8", newline="")
    os.replace(beside, place)


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows as CSV; None is an empty cell."""
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([["" if v is None else v for v in row] for row in rows])
    return out.getvalue()


Rows = tuple[list[str], list[list[Any]]]


def rounded(value: float | None) -> float | None:
    """As many digits as say something."""
    return None if value is None else float(f"{value:.6g}")


def selected(contents: Contents) -> Rows:
    """The chosen features in order of purchase."""
    names = contents["names"]
    heads = ["order", "feature", "kind", "price", "gain_percent", "tree", "error_so_far", "test_error_so_far"]
    rows = [
        [
            i,
            names[f["name"]],
            f["kind"],
            f["price"],
            rounded(f["gain"]),
            f["tree"],
            rounded(f["error"]),
            rounded(f["test_error"]),
        ]
        for i, f in enumerate(contents["chosen"]["features"], start=1)
    ]
    return heads, rows


def path(contents: Contents) -> Rows:
    """Every model of the path; its features, by gain, as a JSON list."""
    names = contents["names"]
    heads = [contents["parameter"], "n_features", "price", "error", "standard_error", "test_error", "trees", "depth"]
    rows = [
        [
            p["value"],
            p["n_features"],
            p["price"],
            rounded(p["error"]),
            rounded(p["spread"]),
            rounded(p["test_error"]),
            p["trees"],
            p.get("depth"),
            json.dumps([names[f] for f in p["features"]], ensure_ascii=False),
        ]
        for p in contents["points"]
    ]
    return [*heads, "features"], rows


def page_of_run(place: str | os.PathLike[str]) -> str:
    """The page of a run, made anew."""
    try:
        return read(place).html()
    except (KeyError, IndexError, TypeError, AttributeError, TemplateError):
        raise Problem(f"{RUN} in {str(place)!r} is damaged.") from None


def read(place: str | os.PathLike[str]) -> Report:
    """The report of a run, from its folder.

    Parameters
    ----------
    place : str or path
        The folder, or its run.json.

    Returns
    -------
    Report
        As it was. Nothing in the file is run.
    """
    path = Path(place).expanduser()
    file = path / RUN if path.is_dir() else path
    if not file.is_file():
        raise Problem(f"There is no run in {str(path)!r}: {RUN} is not there.")
    try:
        return Report.from_json(file.read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError):
        raise Problem(f"{str(file)!r} is not the record of a run, or is damaged.") from None
