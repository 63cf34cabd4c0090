"""Run the paper's experiments again.

    python -m lab.paper all --data DIR --out results      # hours on 2 cores; may be stopped and run again
    python -m lab.paper all --data DIR --quick            # a minute each, to see that all works
    python -m lab.paper benchmark --only spam uspst       # one experiment, some tables
    python -m lab.paper page                              # docs/paper.md and its figures from the kept results

Each finished cell (a method on a cut of a table) is kept at once in OUT/NAME.json; what is there is not run again,
unless --again says so or the settings have changed. Needs the extra "lab".
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import matplotlib

from lab.output import DOCS, IMAGES, PAPER
from lab.paper.cells import Cell, RunOptions, Store, cell_of, run_all
from lab.paper.pages import write
from lab.paper.texts import INTRODUCTION

NAMES = (
    "synthetic",
    "colon",
    "benchmark",
    "kddcup",
    "same_classifier",
    "wide",
    "mnist_pairs",
    "times",
    "never_stopping",
)


def main() -> int:
    options = parsed()
    matplotlib.use("Agg")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that workers are ended, too
    if options.names == ["page"]:
        return page(options.out or PAPER, RunOptions(folder_of(options.data), False))
    names = NAMES if "all" in options.names else tuple(options.names)
    out = options.out or (Path(tempfile.mkdtemp()) if options.quick else PAPER)
    order = RunOptions(folder_of(options.data), options.quick)
    check_filters(names, options)
    try:
        failures = [failure for name in names for failure in run_experiment(name, out, order, options)]
    except KeyboardInterrupt:
        again = "" if options.quick and options.out is None else ", and the same command goes on from there"
        print(f"stopped; finished cells are in {out}{again}", file=sys.stderr)
        return 130
    if any(out.glob("*.json")):
        print(f"results are in {out}")
    return report_failures(failures, order.folder)


def report_failures(failures: list[tuple[str, str]], folder: str | None) -> int:
    """Print what failed, each reason once, and return the exit status."""
    for reason in dict.fromkeys(why for _, why in failures):
        cells = [cell for cell, why in failures if why == reason]
        more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
        print(f"failed: {cells[0]}{more}: {reason}", file=sys.stderr)
    if failures and folder is None and "FRUGALBOOST_DATA" not in os.environ:
        print("The folder of the data files can be named here by --data DIR.", file=sys.stderr)
    return 1 if failures else 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m lab.paper", description=__doc__.split("\n")[0])
    parser.add_argument(
        "names",
        nargs="+",
        choices=("all", "page", *NAMES),
        metavar="NAME",
        help=f"all, page, or some of {', '.join(NAMES)}",
    )
    parser.add_argument("--data", help="the folder of the data files (default: FRUGALBOOST_DATA)")
    parser.add_argument("--out", type=Path, help="where results are kept (default: lab/results/paper)")
    parser.add_argument("--quick", action="store_true", help="small forms of about a minute each")
    parser.add_argument("--only", nargs="+", metavar="TABLE", help="only cells of these tables")
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help="only cells of these methods")
    parser.add_argument("--again", action="store_true", help="run finished cells again, too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="cells side by side (default: all cores)")
    options = parser.parse_args()
    if "page" in options.names and len(options.names) > 1:
        parser.error("page stands alone: it writes the page from the kept results.")
    if "page" in options.names and (options.quick or options.only or options.methods or options.again):
        parser.error("page is written from all kept results: it takes --data and --out only.")
    if options.jobs < 1:
        parser.error(f"--jobs is {options.jobs}; there must be at least one.")
    return options


def folder_of(given: str | None) -> str | None:
    """The data folder; one that is named must be there."""
    if given is not None and not Path(given).is_dir():
        raise SystemExit(f"--data names {given!r}, which is not a folder.")
    return given


def check_filters(names: Sequence[str], options: argparse.Namespace) -> None:
    """What --only and --methods name must be there, in one of the experiments at least."""
    cells = [cell for name in names for cell in experiment(name).cells(options.quick)]
    for flag, asked, known in (
        ("--only", options.only, {cell.data for cell in cells}),
        ("--methods", options.methods, {method_of(cell) for cell in cells}),
    ):
        for value in asked or ():
            if value not in known:
                raise SystemExit(f"{flag} names {value!r}; here are only {', '.join(sorted(known))}.")


def method_of(cell: Cell) -> str:
    """The method without its settings."""
    return cell.method.split(" ")[0]


def run_experiment(name: str, out: Path, order: RunOptions, options: argparse.Namespace) -> list[tuple[str, str]]:
    """Run one experiment and draw its figures."""
    module = experiment(name)
    print(f"{name}: {module.TITLE}", flush=True)
    store = opened(module, name, out, order.quick)
    cells = [c for c in module.cells(order.quick) if wanted(c, options)]
    failures = run_all(cells, module.run, order, store, options.jobs, options.again)
    kept = store.results(module.cells(order.quick))
    if kept:
        module.draw(kept, out, order)
    return [(f"{name}, {cell}", why) for cell, why in failures]


def wanted(cell: Cell, options: argparse.Namespace) -> bool:
    table = options.only is None or cell.data in options.only
    return table and (options.methods is None or method_of(cell) in options.methods)


def experiment(name: str) -> ModuleType:
    return importlib.import_module(f"lab.paper.{name}")


def opened(module: ModuleType, name: str, out: Path, quick: bool) -> Store:
    return Store(out / f"{name}{'.quick' if quick else ''}.json", module.SETTINGS)


def page(out: Path, order: RunOptions) -> int:
    """Write docs/paper.md from what is kept."""
    images, written = IMAGES, DOCS / "paper.md"
    if not any((out / f"{name}.json").exists() for name in NAMES):
        raise SystemExit(f"{out} has no results to write a page from; {written} stays as it was.")
    sections, missing = [], []
    for name in NAMES:
        module = experiment(name)
        cells = module.cells(False)
        kept = opened(module, name, out, False).results(cells)
        found = {cell_of(result) for result in kept}
        open_cells = [c for c in cells if c not in found and c.data not in getattr(module, "OPTIONAL", ())]
        if open_cells:
            missing.append(f"{name} (without {len(open_cells)} of its cells)")
        if kept:
            try:
                module.draw(kept, images, order)
            except FileNotFoundError as error:  # a figure that shows the data, too
                print(f"{name}: its figure stays as it was. {error}", file=sys.stderr)
            sections.append(module.section(kept))
    unfinished = f"\nUnfinished: {', '.join(missing)}.\n" if missing else ""
    write(written, INTRODUCTION + unfinished, sections)
    print(f"written: {written}, and figures in {images}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
