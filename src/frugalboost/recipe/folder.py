"""The folder of a run: the features, the path, the model and the report."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frugalboost.files import atomic_file
from frugalboost.files.atomic_folder import atomic_folder, is_left_over, remove_stale
from frugalboost.page.contents import Contents
from frugalboost.recipe.options import Option
from frugalboost.recipe.places import existing_file
from frugalboost.recipe.problems import OUT, Problem, writing
from frugalboost.report import Report

if TYPE_CHECKING:  # the command looks at folders before it loads what fits models
    from frugalboost.estimators.base import GBFSBase

SELECTED, PATH, MODEL, REPORT, RUN = "selected.csv", "path.csv", "model.frugal", "report.html", "run.json"
OWN = (SELECTED, PATH, MODEL, REPORT, RUN)  # the last one marks a folder as a run


def check_folder(place: str | os.PathLike[str]) -> Path:
    """Check that a folder is new, empty, or that of an earlier run, and can be written. Nothing is created yet."""
    folder = Path(place).expanduser()
    with writing(folder):
        remove_stale(folder, OWN)
        if folder.exists() and not folder.is_dir():
            raise Problem(f"{str(folder)!r} is a file; ", Option("out"), " must name a folder.")
        if folder.is_dir() and not holds_a_run(folder) and not is_empty_or_unfinished(folder):
            words = f"The folder {str(folder)!r} holds other files than those of a run. Name another one with "
            raise Problem(words, OUT, ".")
        nearest = next(p for p in (folder, *folder.absolute().parents) if p.exists())
        if not nearest.is_dir():
            words = f"{str(nearest)!r} is a file and can't contain a folder. Name another one with "
            raise Problem(words, OUT, ".")
        with tempfile.TemporaryFile(dir=nearest):
            pass
    return folder


def holds_a_run(folder: Path) -> bool:
    """Whether a folder is one that a run made."""
    return (folder / RUN).is_file()


def is_empty_or_unfinished(folder: Path) -> bool:
    """Whether a folder is empty, or holds only files of an unfinished run of an earlier version."""
    found = [p.name for p in folder.iterdir()]
    unfinished = [name for name in found if name == SELECTED or is_left_over(name, OWN)]
    return not found or (bool(unfinished) and all(name in OWN or is_left_over(name, OWN) for name in found))


def write(folder: Path, contents: Contents, model: GBFSBase) -> None:
    """Write all files; the folder is as it was until all of them are written.

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
    texts = {
        SELECTED: csv_text(*selected_rows(contents)),
        PATH: csv_text(*path(contents)),
        REPORT: report.html(),
        RUN: report.to_json(),
    }
    with writing(folder), atomic_folder(folder, OWN) as part:
        model.save(part / MODEL)
        for name, text in texts.items():
            atomic_file.write(part / name, as_bytes(text))


def as_bytes(text: str) -> bytes:
    """UTF-8; bytes of file names that are not UTF-8 are written as escapes."""
    return text.encode("utf-8", "backslashreplace")


def replace(place: str | os.PathLike[str], text: str, inputs: Sequence[str | os.PathLike[str]] = ()) -> None:
    """Replace a file in one step; Problem if it is one of the inputs."""
    path = Path(place).expanduser()
    with writing(path):
        for source in inputs:
            if path.exists() and os.path.exists(source) and os.path.samefile(path, source):
                raise Problem(Option("out"), f" names {str(path)!r}, which is an input. Name another file.")
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "", str(path))
        atomic_file.write(path, as_bytes(text))


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows as CSV; None is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([["" if v is None else v for v in row] for row in rows])
    return out.getvalue()


Rows = tuple[list[str], list[list[Any]]]


def rounded(value: float | None) -> float | None:
    """Round to six digits."""
    return None if value is None else float(f"{value:.6g}")


def selected_rows(contents: Contents) -> Rows:
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


def model_file(model: str) -> Path:
    """The file of a model, which may be named by the folder of its run."""
    file = Path(model).expanduser()
    if file.is_dir() and not (file / MODEL).is_file():
        raise Problem(f"There is no model in the folder {str(file)!r}.")
    return file / MODEL if file.is_dir() else existing_file(model)


def record_of(place: str | os.PathLike[str]) -> Path:
    """The path of run.json, for a folder or for run.json itself."""
    path = Path(place).expanduser()
    return path / RUN if path.is_dir() else path


def report_of(place: str | os.PathLike[str]) -> Path:
    """Where the report of a run is."""
    return record_of(place).with_name(REPORT)


def page_of_run(place: str | os.PathLike[str]) -> str:
    """The page of a run, made anew."""
    from jinja2 import TemplateError

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
    file = record_of(place)
    if not file.is_file():
        raise Problem(f"There is no run in {os.fspath(place)!r}: it has no {RUN}.")
    try:
        return Report.from_json(file.read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError):
        raise Problem(f"{str(file)!r} is not the record of a run, or is damaged.") from None
