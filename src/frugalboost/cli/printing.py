"""Results as people and as programs read them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

from frugalboost.cli.messages import printable
from frugalboost.page.contents import Contents
from frugalboost.page.page import correction, error_text, last_step_text, lead
from frugalboost.page.prices import price_name
from frugalboost.page.words import number_text
from frugalboost.recipe.folder import path, selected_rows

MOST_SHOWN = 50


def table_text(contents: Contents, folder: Path) -> str:
    """The chosen features, one in a row."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    written = io.StringIO()
    terminal = sys.stdout.isatty()
    width = None if terminal else 160
    out = Console(file=written, force_terminal=terminal, width=width, highlight=False, soft_wrap=False)
    chosen, measure = contents["chosen"], contents["measure"]
    out.print(Text(printable(lead(contents))), style="bold")
    out.print(Text(printable(chosen["why"])))
    for sentence in filter(None, (correction(contents), measure["split"])):
        out.print(Text(printable(sentence)))
    if chosen["features"]:
        tested = chosen["test_error"] is not None
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        table.add_column("#", justify="right")
        table.add_column("feature", overflow="fold")
        when = "in iteration" if contents.get("made_of", {}).get("lines") else "in tree"
        for head in (
            price_name(contents),
            "gain %",
            when,
            f"{measure['title']} so far",
            *(["on test rows"] if tested else []),
        ):
            table.add_column(head, justify="right")
        for i, f in enumerate(chosen["features"][:MOST_SHOWN], start=1):
            errors = [error_text(contents, f["error"])] + ([error_text(contents, f["test_error"])] if tested else [])
            cells = [number_text(f["price"]), f"{f['gain']:.1f}", str(f["tree"]), *errors]
            table.add_row(str(i), Text(printable(contents["names"][f["name"]])), *cells)
        out.print()
        out.print(table)
        out.print()
        if len(chosen["features"]) > MOST_SHOWN:
            out.print(f"{len(chosen['features']) - MOST_SHOWN} more are in selected.csv.")
        if told := last_step_text(contents):
            out.print(Text(told))
        if tested:
            out.print(f"On the test rows: {measure['title']} {error_text(contents, chosen['test_error'])}.")
    out.print(Text(f"Written to {printable(str(folder))}: selected.csv, path.csv, model.frugal, report.html."))
    return written.getvalue()


def as_json(contents: Contents, folder: Path) -> str:
    """The same for programs."""

    def records(table: tuple[list[str], list[list[Any]]]) -> list[dict[str, Any]]:
        heads, rows = table
        return [dict(zip(heads, row, strict=True)) for row in rows]

    along = [row | {"features": json.loads(row["features"])} for row in records(path(contents))]
    chosen = contents["chosen"]
    found = {
        "n_features": chosen["n_features"],
        "price": chosen["price"],
        "error": chosen["error"],
        "standard_error": chosen["spread"],
        "expected_error": chosen["expected_error"],
        "expected_low": chosen["expected_low"],
        "expected_high": chosen["expected_high"],
        "test_error": chosen["test_error"],
        "constant_error": contents["constant_error"],
        "measure": contents["measure"],
        "why": chosen["why"],
        "task": contents["about"]["task"],
        "selected": records(selected_rows(contents)),
        "path": along,
        "notices": contents["notices"],
        "folder": str(folder),
    }
    return json.dumps(found, ensure_ascii=False, allow_nan=False, default=float, indent=1)
