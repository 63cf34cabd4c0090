"""Test error with at most k features, against other ways to select.

    python -m lab.quality                                 # whatever is not in the results yet; hours
    python -m lab.quality --data spam --methods frugalboost --again
    python -m lab.quality --table                         # only write the table anew

Runs every module of lab/rivals/selectors on every table of lab/quality/splits.py, one thread, each in a fresh
process with a time limit. Results go to lab/results/quality/quality.json after each one, the table to quality.md. Needs
the extra "lab"; a method whose package is absent is left out.
"""

from __future__ import annotations

import argparse
import fcntl
import importlib
import json
import math
import multiprocessing
import os
import pkgutil
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lab.data import Folder
from lab.output import QUALITY, rounded, write_whole
from lab.quality.splits import KS, SPLITS, Split, cut, sizes
from lab.rivals import selectors

JSON, TABLE = QUALITY / "quality.json", QUALITY / "quality.md"
FIRST = ["lightgbm_gain", "lightgbm_rfe", "lightgbm_cegb", "catboost_select"]  # the rest by name
LIMIT = {"colon": 40.0}  # seconds of one method on one split, where not --limit
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

OURS = "frugalboost"  # every method whose name begins so is ours, not a rival

INTRO = """# Test error with at most k features

Made by `python -m lab.quality`. Every method fits on the training rows alone; the validation rows (a quarter as
many) only stop it early or choose between its models. One thread. Mean of 5 random splits on spam, uspst, madelon and
pcmac, of 20 on colon; one split elsewhere. The best of each column is bold; (n) is the number of features used where it
is below k; 'none': no model with so few features was found; 'time': not within the time limit; '-': not run; s: seconds
per split, on a busy machine.

Boosters: 500 trees, learning rate 0.1, early stopping after 20 rounds. The rivals' have depth 4 and LightGBM's leaves
of at least 20 rows (a tenth of the rows where that is less). CatBoost has the better of two rankings, the forest the
best of three leaf sizes, penalised models the best penalty, all on the validation rows. "frugalboost, k features" has
the better of depths 4 and 6, the best size up to k, leaves of at least 5 rows, and is the mean of 5 such models; on
colon, whose 10 validation rows can't choose, depth 4, exactly k features and 100 trees. "frugalboost, path of mu" is
the forward part alone: the best of 40 mu, depth 4, one model, nothing sold or refitted.

Test errors of these very splits were looked at while settings were settled: frugalboost's rule of selling (on uspst,
madelon, spam, pcmac), leaf size, depths and averaging; the forest's leaf sizes, the grid of the L1 model and
LassoNet's step. So small differences mean little.
"""

Record = dict[str, Any]


def methods() -> list[str]:
    found = sorted(m.name for m in pkgutil.iter_modules(selectors.__path__) if m.name != "common")
    return [m for m in FIRST if m in found] + [m for m in found if m not in FIRST]


def error(split: Split, prediction: np.ndarray) -> tuple[float, float]:
    """Classification error, or RMSE in standard deviations of y, each with its standard error over test rows."""
    y, n = split.y_test, len(split.y_test)
    if split.task == "classification":
        wrong = float(np.mean(prediction != y))
        return wrong, math.sqrt(wrong * (1 - wrong) / n)
    square = (prediction - y) ** 2
    draws = np.random.default_rng(0).integers(n, size=(200, n))
    spread = np.std(np.sqrt(square[draws].mean(axis=1)), ddof=1)
    return float(np.sqrt(square.mean()) / y.std()), float(spread / y.std())


def one(method: str, data: str, number: int, limit: float, pipe: Any) -> None:
    """Run one method on one split, in a process of its own; send a record, or the name of a missing package."""
    try:
        module = importlib.import_module(f"lab.rivals.selectors.{method}")
    except ModuleNotFoundError as absent:
        pipe.send(absent.name)
        return
    split = cut(data, number)
    ks = sizes(split.X_train.shape[1])
    begin = time.monotonic()
    answers = module.run(split, ks, begin + limit)
    seconds = time.monotonic() - begin
    found = {}
    for k, answer in sorted(answers.items()):
        if len(answer.features) > k:
            raise ValueError(f"{method} uses {len(answer.features)} features on {data} where {k} are allowed")
        wrong, spread = error(split, answer.prediction)
        found[str(k)] = {"n_features": len(answer.features), "error": wrong, "se": spread, "n_test": len(split.y_test)}
    rows, columns = split.X_train.shape
    about = {"title": module.NAME, "task": split.task, "n_train": rows, "n_columns": columns}
    late = len(found) < len(ks) and seconds > 0.75 * limit  # some leave a part of their time to final models
    pipe.send(about | {"k": found, "seconds": round(seconds, 2), "timed_out": late})


def run(method: str, data: str, number: int, limit: float) -> Record | str:
    """Give a fresh process its time and half as much again to end by itself; the record, or why there is none."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=one, args=(method, data, number, limit, theirs))
    process.start()
    theirs.close()
    key = {"method": method, "data": data, "split": number}
    try:
        if not ours.poll(1.5 * limit + 30):
            return key | {"title": method, "k": {}, "seconds": 1.5 * limit, "timed_out": True}
        said = ours.recv()
        return f"needs the package {said}, which is not installed" if isinstance(said, str) else key | said
    except EOFError:
        return "failed: see the error above"
    finally:
        process.kill()
        process.join()


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a lock on the folder, so that two runs can add to one file."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def recorded() -> list[Record]:
    return json.loads(JSON.read_text()) if JSON.exists() else []


def identity(record: Record) -> tuple[str, str, int]:
    return record["data"], record["method"], record["split"]


def keep(record: Record) -> None:
    """Add a record, in place of an older one of the same run; the file is whole at every moment."""
    with held(QUALITY):
        records = [r for r in recorded() if identity(r) != identity(record)] + [record]
        records.sort(key=lambda r: (list(SPLITS).index(r["data"]), r["method"], r["split"]))
        write_whole(JSON, "[\n" + ",\n".join(json.dumps(rounded(r)) for r in records) + "\n]\n")


def hopeless(record: Record) -> bool:
    return record["timed_out"] and not record["k"]


def work(arguments: argparse.Namespace) -> list[tuple[str, str, int]]:
    """The runs asked for and not yet recorded, table by table."""
    done = set() if arguments.again else {identity(r) for r in recorded()}
    wanted = [(d, m, s) for d in arguments.data for m in arguments.methods for s in range(SPLITS[d])]
    return [key for key in wanted if key not in done]


def measure(arguments: argparse.Namespace) -> None:
    absent: set[str] = set()
    todo = work(arguments)
    for position, (data, method, number) in enumerate(todo, 1):
        if method in absent:
            continue
        start = f"[{position}/{len(todo)}] {data} {number} {method}"
        limit = arguments.limit or LIMIT.get(data, 400.0)
        if number and any(hopeless(r) for r in recorded() if identity(r) == (data, method, 0)):
            print(f"{start}: left out, split 0 gave nothing in its time", flush=True)
            continue
        found = run(method, data, number, limit)
        if isinstance(found, str):
            print(f"{start}: {found}", flush=True)
            if found.startswith("needs"):
                absent.add(method)
            continue
        keep(found)
        print(f"{start}: {told(found)}", flush=True)


def told(record: Record) -> str:
    errors = ", ".join(f"k={k} {100 * v['error']:.2f} ({v['n_features']})" for k, v in record["k"].items())
    return f"{record['seconds']:.1f} s{', out of time' if record['timed_out'] else ''}; {errors or 'nothing'}"


@dataclass(frozen=True)
class Cell:
    """One method's error at one k on one table, over its splits."""

    error: float
    se: float
    n_features: float


def cell(records: Sequence[Record], k: int) -> Cell | None:
    """Mean over splits; a k that one split misses is missing."""
    found = [r["k"].get(str(k)) for r in records]
    if not found or any(f is None for f in found):
        return None
    errors = [f["error"] for f in found]
    several = len(errors) > 1
    se = statistics.stdev(errors) / math.sqrt(len(errors)) if several else found[0]["se"]
    return Cell(statistics.mean(errors), se, statistics.mean(f["n_features"] for f in found))


class Results:
    """Records by table and method."""

    def __init__(self, records: Sequence[Record], ks: Sequence[int], splits: dict[str, int]) -> None:
        self.records, self.splits = records, splits
        self.data = [d for d in splits if any(r["data"] == d and r["k"] for r in records)]
        # alike ones together, ours last
        self.methods = sorted({r["method"] for r in records}, key=lambda m: (m.startswith(OURS), m))
        self.titles = {r["method"]: r["title"] for r in records if r["k"]}
        self.ks = {d: [k for k in ks if any(str(k) in r["k"] for r in self.of(d))] for d in self.data}
        self.cells = {(d, m, k): cell(self.of(d, m), k) for d in self.data for m in self.methods for k in self.ks[d]}

    def of(self, data: str, method: str | None = None) -> list[Record]:
        """Records of one table, of one method or of all."""
        return [r for r in self.records if r["data"] == data and method in (None, r["method"])]

    def title(self, method: str) -> str:
        """What tables call a method; its file's name where it never answered."""
        return self.titles.get(method, method)

    def best(self, data: str, k: int, methods: Sequence[str]) -> tuple[str, Cell] | None:
        """The method with the lowest error among some, and its cell."""
        found = [(m, c) for m in methods if (c := self.cells[data, m, k])]
        return min(found, key=lambda pair: pair[1].error, default=None)


def page(records: Sequence[Record], ks: Sequence[int], splits: dict[str, int]) -> str:
    results = Results(records, ks, splits)
    lines = [INTRO]
    for data in results.data:
        lines += [f"## {data}", "", about(results, data), "", *table(results, data), ""]
    lines += ["## Mean rank", "", *ranks(results, ks), ""]
    for method in [m for m in results.methods if m.startswith(OURS)]:
        lines += [f"## Where {results.title(method)} is worse than the best rival", "", *verdict(results, method), ""]
    return "\n".join(lines).rstrip() + "\n"


def about(results: Results, data: str) -> str:
    first = next(r for r in results.of(data) if r["k"])
    what = "classification error, %" if first["task"] == "classification" else "RMSE / standard deviation of y, in %"
    n_test = next(iter(first["k"].values()))["n_test"]
    text = f"{what}; {first['n_train']} training rows, {n_test} test rows, {first['n_columns']} features"
    count = results.splits[data]
    return text + (f"; mean of {count} random splits" if count > 1 else "")


def table(results: Results, data: str) -> list[str]:
    ks = results.ks[data]
    lines = ["| method | " + " | ".join(f"k={k}" for k in ks) + " | s |", "| --- |" + " ---: |" * (len(ks) + 1)]
    for method in results.methods:
        records = results.of(data, method)
        shown = [text(results, data, method, k) for k in ks]
        seconds = f"{statistics.mean(r['seconds'] for r in records):.0f}" if records else "-"
        part = f" ({len(records)} splits)" if 0 < len(records) < results.splits[data] else ""
        lines.append(f"| {results.title(method)}{part} | " + " | ".join([*shown, seconds]) + " |")
    return lines


def text(results: Results, data: str, method: str, k: int) -> str:
    found = results.cells[data, method, k]
    if found is None:
        records = results.of(data, method)
        return "-" if not records else "time" if any(r["timed_out"] for r in records) else "none"
    best = results.best(data, k, results.methods)
    shown = f"{100 * found.error:.2f}"
    shown = f"**{shown}**" if best and shown == f"{100 * best[1].error:.2f}" else shown
    return shown if found.n_features >= k else f"{shown} ({round(found.n_features, 1):g})"


def ranks(results: Results, ks: Sequence[int]) -> list[str]:
    """Mean rank per k over tables; equal errors share their mean rank, a missing answer is last."""
    ks = [k for k in ks if any(k in results.ks[d] for d in results.data)]
    lines = ["Over the tables that have this k, among all methods; 1 is best, a missing answer is last.", ""]
    lines += ["| method | " + " | ".join(f"k={k}" for k in ks) + " | all |", "| --- |" + " ---: |" * (len(ks) + 1)]
    means = {
        m: [statistics.mean(rank(results, d, m, k) for d in results.data if k in results.ks[d]) for k in ks]
        for m in results.methods
    }
    for method, row in sorted(means.items(), key=lambda pair: statistics.mean(pair[1])):
        shown = [f"{value:.1f}" for value in [*row, statistics.mean(row)]]
        lines.append(f"| {results.title(method)} | " + " | ".join(shown) + " |")
    return lines


def rank(results: Results, data: str, method: str, k: int) -> float:
    found = results.cells[data, method, k]
    if found is None:
        return float(len(results.methods))
    others = [c.error for m in results.methods if m != method and (c := results.cells[data, m, k])]
    return 1 + sum(e < found.error for e in others) + 0.5 * sum(e == found.error for e in others)


def verdict(results: Results, method: str) -> list[str]:
    """Every place where a method of ours loses clearly, with numbers."""
    rivals = [m for m in results.methods if not m.startswith(OURS)]
    lines, places = [], 0
    for data in results.data:
        for k in results.ks[data] if results.of(data, method) else []:
            best = results.best(data, k, rivals)
            if best is None:
                continue
            places += 1
            line = loss(results.cells[data, method, k], best[1])
            if line:
                lines.append(f"- {data}, k={k}: {line} of {results.title(best[0])}")
    many = "worse by more than 10 % of the best rival's error and by more than that error's standard error"
    return [f"At {len(lines)} of {places} places (table and k) {many}.", "", *lines]


def loss(found: Cell | None, best: Cell) -> str:
    """What is lost against the best rival; empty where it is within 10 % or one standard error."""
    if found is None:
        return f"no answer, against {100 * best.error:.2f} (s.e. {100 * best.se:.2f})"
    if found.error - best.error <= max(0.1 * best.error, best.se):
        return ""
    more = 100 * (found.error / best.error - 1) if best.error else math.inf
    return f"{100 * found.error:.2f} against {100 * best.error:.2f} (s.e. {100 * best.se:.2f}, {more:+.0f} %)"


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=list(SPLITS), choices=list(SPLITS), metavar="NAME")
    parser.add_argument("--methods", nargs="+", default=methods(), choices=methods(), metavar="NAME")
    parser.add_argument("--limit", type=float, help="seconds per method and split (400; colon 40)")
    parser.add_argument("--again", action="store_true", help="run what is recorded too, and replace it")
    parser.add_argument("--table", action="store_true", help="only write the table")
    return parser.parse_args()


def main() -> int:
    arguments = parsed()
    if not arguments.table:
        if not Folder.set():
            print("no data: FRUGALBOOST_DATA must name the folder of the data files", file=sys.stderr)
            return 1
        os.environ.update(dict.fromkeys(THREADS, "1"))
        measure(arguments)
    TABLE.write_text(page(recorded(), KS, SPLITS))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
