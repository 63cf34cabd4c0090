"""An experiment is made of cells: one method on one cut of one table. Each finished cell is kept at once."""

from __future__ import annotations

import json
import os
import platform
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from frugalboost import NothingBoughtWarning
from lab.machine import versions
from lab.output import lines, rounded, write_atomically

PACKAGES = ("frugalboost", "numpy", "scipy", "scikit-learn", "skglm", "pyHSICLasso", "mrmr-selection")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

Result = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One method on one cut of one table. The split is the seed of everything that is drawn."""

    data: str
    method: str
    split: int = 0

    def __str__(self) -> str:
        return f"{self.data}, {self.method}, split {self.split}"


@dataclass(frozen=True)
class RunOptions:
    """What a worker needs beside the cell."""

    folder: str | None  # of the data
    quick: bool


Work = Callable[[Cell, RunOptions], Result]


class Store:
    """The finished cells of one experiment, in one JSON file that is written anew after each of them.

    Results of other settings are put aside under another name, never overwritten.
    """

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        self.path = path
        self._settings = json.loads(json.dumps(settings, default=float))  # as a file gives them back
        self._versions: list[dict[str, str]] = []  # what cells were made with; each has the number of its own
        self._results: dict[Cell, Result] = {}
        if path.exists() and not self._read():
            print(f"  the results in {path} were made with other settings", flush=True)

    def __contains__(self, cell: Cell) -> bool:
        return cell in self._results

    def results(self, cells: Iterable[Cell]) -> list[Result]:
        """Those of the cells that are finished, in the order of the cells."""
        return [self._results[cell] for cell in cells if cell in self._results]

    def put(self, cell: Cell, result: Result) -> None:
        """Store a result, and the results of other runs meanwhile, in a file that is written atomically."""
        if self.path.exists() and not self._read():
            aside = next(p for i in range(1, 1000) if not (p := self.path.with_suffix(f".{i}.json")).exists())
            os.replace(self.path, aside)
        if (now := made_with()) not in self._versions:
            self._versions.append(now)
        self._results[cell] = rounded(asdict(cell) | {"versions": self._versions.index(now)} | result)
        cells = sorted(self._results, key=lambda c: (c.data, c.method, c.split))
        about = json.dumps({"settings": self._settings, "versions": self._versions})
        write_atomically(self.path, f'{about[:-1]}, "cells": {lines(self._results[c] for c in cells)}}}\n')

    def _read(self) -> bool:
        """Take what the file has; False where it was made with other settings."""
        try:
            kept = json.loads(self.path.read_text())
        except ValueError as error:
            raise SystemExit(f"{self.path} is not a file of results ({error}). Move it away.") from None
        if kept["settings"] != self._settings:
            return False
        self._versions = kept["versions"]
        self._results |= {cell_of(result): result for result in kept["cells"]}
        return True


def cell_of(result: Result) -> Cell:
    return Cell(result["data"], result["method"], result["split"])


def made_with() -> dict[str, str]:
    """What results are made with."""
    here = {"python": platform.python_version(), "machine": f"{platform.machine()}, {os.cpu_count()} cores"}
    return here | versions(PACKAGES)


def run_all(
    cells: Sequence[Cell], work: Work, order: RunOptions, store: Store, jobs: int, again: bool = False
) -> list[tuple[str, str]]:
    """Run the cells that are not in the store (`again`: all), some at a time, each on one thread; return what failed.

    Failures come with reasons. Whatever ends the run loses only the cells under way. A worker that is killed takes only
    those along, too.
    """
    missing = [cell for cell in cells if again or cell not in store]
    line = ProgressLine(len(cells), len(cells) - len(missing))
    failures: list[tuple[str, str]] = []
    one_thread()
    waiting, under_way = iter(missing), dict[Future[Result | str], Cell]()
    pool = new_pool(jobs)
    try:
        while True:
            while len(under_way) < jobs and (cell := next(waiting, None)) is not None:
                under_way[pool.submit(timed, work, cell, order)] = cell
            if not under_way:
                return failures
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                cell = under_way.pop(future)
                result = outcome(future)
                if isinstance(result, str):
                    failures.append((str(cell), result))
                elif not result.get("absent"):  # data that is missing now may be there another time
                    store.put(cell, result)
                line.step(cell, failed=isinstance(result, str))
                if result == KILLED:
                    pool.shutdown(wait=False, cancel_futures=True)
                    pool = new_pool(jobs)
    finally:
        for process in list((pool._processes or {}).values()):  # else they would finish their cells first
            process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)


KILLED = "a worker was killed while this cell or one beside it ran, perhaps for want of memory"


def outcome(future: Future[Result | str]) -> Result | str:
    try:
        return future.result()
    except BrokenProcessPool:
        return KILLED


def new_pool(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))


def one_thread() -> None:
    """Workers inherit it: cells run side by side, and their times can be compared."""
    for name in THREADS:
        os.environ[name] = "1"


def timed(work: Work, cell: Cell, order: RunOptions) -> Result | str:
    """Run one cell in a worker; a failure comes back as its last line, and in full on standard error."""
    begin = processor_seconds()
    warnings.simplefilter("ignore", NothingBoughtWarning)  # some mu are meant to be too large
    try:
        result = work(cell, order)
    except FileNotFoundError as error:  # no data: the sentence says it all
        return str(error)
    except Exception as error:
        traceback.print_exc()
        return f"{type(error).__name__}: {error}"
    return {"seconds": round(processor_seconds() - begin, 3)} | result


def processor_seconds() -> float:
    """Of this process and its finished children: a busy machine changes it little, and a cell has one thread."""
    return sum(os.times()[:4])


class ProgressLine:
    """How many cells are done, and how long the rest may take."""

    def __init__(self, total: int, done: int) -> None:
        self._total, self._before, self._done = total, done, done
        self._begin = time.monotonic()
        if done:
            print(f"  {done} of {total} cells were finished before", flush=True)

    def step(self, cell: Cell, failed: bool) -> None:
        """One more is done."""
        self._done += 1
        each = (time.monotonic() - self._begin) / (self._done - self._before)
        left = each * (self._total - self._done)
        said = "FAILED" if failed else "done"
        clock = f"{left / 60:.0f} min left" if left > 120 else f"{left:.0f} s left"
        print(f"  {self._done}/{self._total}  {cell}: {said}; {clock}", flush=True)
