"""Whole fits, binning included, of frugalboost and LightGBM CEGB, on an idle machine and beside other processes.

    python -m lab.speed.busy                         # idle, and beside two busy processes; a few minutes on 2 cores
    python -m lab.speed.busy --load 0                # idle only: the last steps of the speed that is asked for
    python -m lab.speed.busy --load 0 1 2 4 --only "1,000,000 x 60" --rounds 5 --threads 1

A busy process goes through 64 MB of memory over and over, so it takes a core and shares the caches. Libraries take
turns in fresh processes, and medians are compared. The load is measured: how much of a core each busy process got while
fits ran. CPU seconds are of all threads, and show what waiting hides. Penalties are those of the last run of lab.speed,
so that both libraries buy about as many features. Needs the extra "lab" and Linux. A run of everything (no --only, no
other threads) writes lab/results/speed/busy.json, which docs/speed.md shows.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from lab.machine import machine
from lab.output import SPEED, write_json
from lab.rivals.boosters import CEGB, OURS
from lab.speed.compare import Record, Results, measured, write
from lab.speed.works import SETTING, WORKS, Work

ASKED = {
    "1,000,000 x 60": (WORKS["1,000,000 x 60"], 3.0),
    "1,000,000 x 500": (replace(WORKS["1,000,000 x 500"], trees=30), 8.0),
}
BUSY = """
import os
import numpy as np
values, parent = np.zeros(8_000_000), os.getppid()
print("ready", flush=True)
while os.getppid() == parent:  # not longer than what it disturbs
    values += 1.0
"""


def cpu_seconds(process: subprocess.Popen[str]) -> float:
    """What a running process has used so far, by its own clock ticks."""
    ticks = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / 100


@contextmanager
def load(processes: int) -> Iterator[list[subprocess.Popen[str]]]:
    """So many busy processes, ended afterwards."""
    started = [
        subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE, text=True) for _ in range(processes)
    ]
    try:
        for process in started:
            assert process.stdout is not None
            process.stdout.readline()
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


def in_turns(
    folder: Path, work: Work, setting: Record, penalty: dict[str, float], rounds: int, busy: int
) -> tuple[dict[str, list[Record]], float]:
    """Fits of both libraries, and the share of a core that a busy process got."""
    runs: dict[str, list[Record]] = {OURS: [], CEGB: []}
    with load(busy) as others:
        used, begin = [cpu_seconds(p) for p in others], time.perf_counter()
        for turn in range(rounds):
            for rival in (OURS, CEGB) if turn % 2 == 0 else (CEGB, OURS):
                runs[rival].append(measured(folder, rival, setting, penalty[rival], 1))
        passed = time.perf_counter() - begin
        shares = [(cpu_seconds(p) - before) / passed for p, before in zip(others, used, strict=True)]
    return runs, statistics.mean(shares) if shares else 0.0


def result(name: str, busy: int, share: float, runs: dict[str, list[Record]], least: float) -> Record:
    """Medians of both libraries, by key of a run."""
    found = {
        key: {rival: statistics.median(run[key] for run in runs[rival]) for rival in (OURS, CEGB)}
        for key in ("seconds_with_binning", "cpu_seconds")
    }
    return {"work": name, "trees": ASKED[name][0].trees, "busy": busy, "share": share, "asked": least, **found}


def row(found: Record) -> str:
    """A line of the table."""
    cells = [found["work"], f"{found['busy']} ({found['share']:.2f})" if found["busy"] else "none"]
    for key in ("seconds_with_binning", "cpu_seconds"):
        ours, theirs = found[key][OURS], found[key][CEGB]
        cells += [f"{ours:.2f}", f"{theirs:.2f}", f"**{theirs / ours:.2f}**"]
    return "| " + " | ".join([*cells, f"{found['asked']:g}"]) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--load", nargs="+", type=int, default=[0, 2], metavar="N", help="numbers of busy processes")
    parser.add_argument("--only", nargs="+", choices=list(ASKED), metavar="NAME", help=f"some of: {', '.join(ASKED)}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=SETTING["threads"])
    asked = parser.parse_args()
    known = Results(SPEED / "speed.json", SETTING, some=False)
    rows = []
    print("| whole fit | busy processes (of a core) | seconds | LightGBM CEGB | ratio | CPU s | CEGB | ratio | asked |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    for name in asked.only or ASKED:
        work, least = ASKED[name]
        setting = {**SETTING, "threads": asked.threads, "trees": work.trees}
        penalty = known.penalty("works", name) or {OURS: work.mu, CEGB: 10 * work.mu}
        with tempfile.TemporaryDirectory() as folder:
            write(work, Path(folder))
            for busy in asked.load:
                runs, share = in_turns(Path(folder), work, setting, penalty, asked.rounds, busy)
                rows.append(result(name, busy, share, runs, least))
                print(row(rows[-1]), flush=True)
    if asked.only is None and asked.threads == SETTING["threads"]:
        write_json(SPEED / "busy.json", {"machine": machine(), "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
