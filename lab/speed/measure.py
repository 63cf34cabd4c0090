"""One rival on one table, in a process of its own, so that its memory is its own. Prints a line of JSON.

The table is read from X.npy and y.npy in a folder. The process is bound to as many cores as it has threads: not every
library can be told how many threads it may bin with. Runs on Linux. Called by lab/speed/compare.py.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lab.machine import forget_peak, process_bytes, timed

ENOUGH = 3.0  # seconds of training after which it is not repeated


def bind(threads: int) -> None:
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[-threads:])


def measure(
    folder: Path, rival: str, setting: dict[str, Any], penalty: float, trainings: int = 1
) -> dict[str, str | float | None]:
    """Bin once, train a few times. Seconds without binning are None where they can't be told apart."""
    module = importlib.import_module(f"lab.rivals.boosters.{rival}")
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    forget_peak()
    loaded = process_bytes("VmRSS")
    cpu = time.process_time()
    binning, data = timed(partial(module.bin, X, y, setting))
    seconds: list[float] = []
    while len(seconds) < trainings and sum(seconds) < ENOUGH:
        spent, features = timed(partial(module.train, data, setting, penalty))
        if not seconds:
            cpu = time.process_time() - cpu
        seconds.append(spent)
    peak = process_bytes("VmHWM")
    training = statistics.median(seconds)
    return {
        "name": module.NAME,
        "features": features,
        "seconds": training if module.BINS_APART else None,
        "binning_seconds": binning if module.BINS_APART else None,
        "seconds_with_binning": binning + training,
        "cpu_seconds": cpu,  # of all threads, for binning and training once
        "peak_bytes": peak,
        "bytes_beside_table": max(0, peak - loaded),  # the kernel counts a peak a few pages late
    }


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    bind(asked["setting"]["threads"])
    print(json.dumps(measure(Path(asked.pop("folder")), **asked)))
