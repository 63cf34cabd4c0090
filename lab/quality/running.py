"""Test error with at most k features, against other ways to select.

    python -m lab.quality                                 # all runs that have no result yet; hours
    python -m lab.quality --data spam --methods frugalboost --again
    python -m lab.quality --table                         # only write the table anew

Runs every selector of lab/quality/methods.py on every table of lab/quality/splits.py, one thread, each in a fresh
process with a time limit. Results go to lab/results/quality/quality.json after each one, the table to quality.md. Needs
the extra "lab"; a method whose package is absent is left out.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import math
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from lab.data import Folder
from lab.output import QUALITY, lines, write_atomically
from lab.quality.methods import METHODS, TITLES
from lab.quality.page import Record, page
from lab.quality.splits import KS, SPLITS, Split, cut, sizes
from lab.rivals import Selector
from lab.rivals.sized import Sized

JSON, TABLE = QUALITY / "quality.json", QUALITY / "quality.md"
LIMIT = {"colon": 40.0}  # seconds of one method on one split, where not --limit
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


Judge = Callable[[Split, np.ndarray], Record]


def judged(split: Split, prediction: np.ndarray) -> Record:
    """Classification error, or RMSE in standard deviations of y, each with its standard error over test rows."""
    y, n = split.y_test, len(split.y_test)
    if split.task == "classification":
        wrong = float(np.mean(prediction != y))
        return {"error": wrong, "se": math.sqrt(wrong * (1 - wrong) / n), "n_test": n}
    square = (prediction - y) ** 2
    draws = np.random.default_rng(0).integers(n, size=(200, n))
    spread = np.std(np.sqrt(square[draws].mean(axis=1)), ddof=1)
    return {"error": float(np.sqrt(square.mean()) / y.std()), "se": float(spread / y.std()), "n_test": n}


def run_method(method: str, data: str, number: int, limit: float, pipe: Any) -> None:
    """Run one method on one split, in a process of its own; send a record, or what package is missing."""
    split = cut(data, number)
    ks = sizes(split.X_train.shape[1])
    selector = METHODS[method](ks, split.task, limit)
    try:
        found, seconds = answers(selector, split, ks, limit)
    except ImportError as absent:
        pipe.send(str(absent))
        return
    rows, columns = split.X_train.shape
    title = TITLES.get(method, selector.title)
    about = {"title": title, "task": split.task, "n_train": rows, "n_columns": columns}
    late = len(found) < len(ks) and seconds > 0.75 * limit  # some leave a part of their time to final models
    pipe.send(about | {"k": found, "seconds": round(seconds, 2), "timed_out": late})


def answers(
    selector: Selector, split: Split, ks: Sequence[int], limit: float, judge: Judge = judged
) -> tuple[dict[str, Record], float]:
    """What a selector says for each size, where it has a model in time; and how many seconds it took."""
    begin = time.monotonic()
    selector.fit(split.X_train, split.y_train, validation=split.validation)
    found = {}
    for k in ks:
        if time.monotonic() - begin > limit and not isinstance(selector, Sized):  # those have their models already
            break
        if not selector.reaches(k):
            continue
        used = selector.used(k)
        if len(used) > k:
            raise ValueError(f"{selector.title} uses {len(used)} features on {split.name} where {k} are allowed")
        found[str(k)] = {"n_features": len(used)} | judge(split, selector.predict(split.X_test, k))
    return found, time.monotonic() - begin


def run(method: str, data: str, number: int, limit: float) -> Record | str:
    """Run in a new process, which is killed after one and a half times its limit; the record, or why it failed."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=run_method, args=(method, data, number, limit, theirs))
    process.start()
    theirs.close()
    key = {"method": method, "data": data, "split": number}
    try:
        if not ours.poll(1.5 * limit + 30):
            return key | {"title": method, "k": {}, "seconds": 1.5 * limit, "timed_out": True}
        said = ours.recv()
        return said if isinstance(said, str) else key | said
    except EOFError:
        return "failed: see the error above"
    finally:
        process.kill()
        process.join()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder, so that two runs can add to one file."""
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


def save_record(record: Record) -> None:
    """Add a record, or replace that of the same run; the file is written atomically."""
    with locked(QUALITY):
        records = [r for r in recorded() if identity(r) != identity(record)] + [record]
        records.sort(key=lambda r: (list(SPLITS).index(r["data"]), r["method"], r["split"]))
        write_atomically(JSON, lines(records) + "\n")


def timed_out_without_model(record: Record) -> bool:
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
        if number and any(timed_out_without_model(r) for r in recorded() if identity(r) == (data, method, 0)):
            print(f"{start}: left out, split 0 found no model within its time", flush=True)
            continue
        found = run(method, data, number, limit)
        if isinstance(found, str):
            print(f"{start}: {found}", flush=True)
            if " needs " in found:
                absent.add(method)
            continue
        save_record(found)
        print(f"{start}: {summary_of(found)}", flush=True)


def summary_of(record: Record) -> str:
    errors = ", ".join(f"k={k} {100 * v['error']:.2f} ({v['n_features']})" for k, v in record["k"].items())
    return f"{record['seconds']:.1f} s{', out of time' if record['timed_out'] else ''}; {errors or 'nothing'}"


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m lab.quality", description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=list(SPLITS), choices=list(SPLITS), metavar="NAME")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS), metavar="NAME")
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
