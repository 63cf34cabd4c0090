"""Where the command writes if --out is not given."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from frugalboost.recipe.folder import RUN
from frugalboost.recipe.options import Option
from frugalboost.recipe.places import ARCHIVE, COMPRESSED, ENDINGS, LIBSVM_TARGET, origin_of
from frugalboost.recipe.problems import OUT, Problem


def default_folder(table: str) -> str:
    """A folder in the working directory, named after the table."""
    if table == "-":
        return "frugalboost_selected"
    name = Path(table).name
    for ending in (ARCHIVE, *COMPRESSED):
        name = name.removesuffix(ending)
    name = name.removesuffix(Path(name).suffix) if Path(name).suffix.lower() in ENDINGS else name
    return f"{name.replace('*', '').strip('-_') or 'frugalboost'}_selected"


def check_earlier(folder: Path, table: str, target: str | None, *, named: bool, say: Callable[[str], None]) -> None:
    """Raise Problem if the default folder holds a run of another table or target; if --out named it, only say so."""
    place, target = origin_of(table, folder), target or LIBSVM_TARGET
    try:
        known = json.loads((folder / RUN).read_bytes())
        about = known["about"]
        same_table = known["settings"].get("table", place) == place and about["source"] == os.path.basename(place)
        other = about["target"] != target or not same_table
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return  # there is no earlier run, or it is damaged
    if not other:
        return
    what = f"the run of {about['source']} with the target {about['target']!r}"
    if not named:
        words = f"The folder {str(folder)!r} holds {what}. Name another one with "
        raise Problem(words, OUT, ", or replace it with ", Option("out", str(folder)), ".")
    say(f"This will replace {what} in {str(folder)!r}.")
