"""Write the page, or check it."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from lab.parameters.checking import drift, faults
from lab.parameters.page import page
from lab.parameters.rows import OURS_ALONE, SECTIONS
from lab.parameters.signatures import KEPT, PARTS, installed, kept, ours, ours_in_fit

PAGE = Path(__file__).resolve().parents[2] / "docs" / "parameters.md"
ROWS = [row for rows in SECTIONS.values() for row in rows]
NATIVE = [name for row in ROWS for name in row.names("native")]


def read() -> None:
    """Keep the signatures of the installed libraries; those of others stay."""
    before = kept() if KEPT.exists() else {}
    now = {distribution: installed(distribution, NATIVE) for distribution in PARTS}
    after = {name: found if found is not None else before[name] for name, found in now.items()}
    KEPT.write_text(json.dumps(after, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """0 where all is well."""
    parser = argparse.ArgumentParser(prog="python -m lab.parameters", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; 1 where something is missing or out of date"
    )
    parser.add_argument("--read", action="store_true", help="take the signatures of the installed libraries first")
    given = parser.parse_args(arguments)
    if given.read:
        read()
    found = faults(ROWS, OURS_ALONE, ours(), ours_in_fit(), kept())
    wrong, notes = drift(kept(), {distribution: installed(distribution, NATIVE) for distribution in PARTS})
    found += wrong
    if not found:
        text = page(ours(), kept())
        if given.check and (not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text):
            found.append("docs/parameters.md is out of date: python -m lab.parameters")
        elif not given.check:
            PAGE.write_text(text, encoding="utf-8")
    for sentence in [*notes, *found]:
        print(sentence)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
