"""What kinds of prices cost in time, and what training takes in memory per row.

    python -m lab.speed.overheads            # about a minute on 2 cores
    python -m lab.speed.overheads --quick    # small tables; writes nothing

Results go to lab/results/speed/overheads.json and overheads.md. Needs Linux.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np

from frugalboost.costs import Bags, Function, Neighbours, Prices
from lab.machine import machine, timed
from lab.output import ROOT, SPEED, write_json
from lab.rivals.boosters import ours
from lab.speed.works import SETTING, synthetic


def phi(owned: np.ndarray, last: int, prices: np.ndarray) -> np.ndarray:
    return prices


def prices(rows: int) -> list[dict[str, Any]]:
    """What kinds of prices cost in time where 100 features are bought: free ones, so that the models are the same."""
    X, y = synthetic(rows, 300)
    setting = {**SETTING, "trees": 100}
    data = ours.bin(X, y, setting)
    at_most = Prices(0.0, most=100)
    kinds = {
        "plain": at_most,
        "bags": at_most + Bags(np.arange(300) // 3, prices=0.0),
        "neighbours": at_most + Neighbours((15, 20), prices=0.0),
        "Python function": at_most + Function(phi, prices=0.0),
    }
    seconds: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(7):
        for name, costs in kinds.items():
            seconds[name].append(timed(partial(ours.train, data, {**setting, "costs": costs}, 0.0))[0])
    plain = statistics.median(seconds["plain"])
    found = []
    for name, values in seconds.items():
        ratio = statistics.median(v / p for v, p in zip(values, seconds["plain"], strict=True))
        found.append({"prices": name, "seconds": statistics.median(values), "ratio": ratio})
        print(f"prices, {name}: {statistics.median(values):.3f} s, {ratio:.3f} x plain ({plain:.3f} s)", flush=True)
    return found


def given_prices(rows: int) -> dict[str, float]:
    """A plain list of prices against none at all: the same model, and what asking for prices costs."""
    X, y = synthetic(rows, 60)
    setting = {**SETTING, "trees": 100}
    data = ours.bin(X, y, setting)
    none, ones = [], []
    for _ in range(9):
        none.append(timed(partial(ours.train, data, setting, 6.4e-4 * rows))[0])
        ones.append(timed(partial(ours.train, data, {**setting, "costs": np.ones(60)}, 6.4e-4 * rows))[0])
    ratio = statistics.median(b / a for a, b in zip(none, ones, strict=True))
    print(f"prices given / none: {ratio:.3f}", flush=True)
    return {"none": statistics.median(none), "given": statistics.median(ones), "ratio": ratio}


MEMORY_SCRIPT = """
import ctypes, gc, sys
from lab.machine import forget_peak, process_bytes
from lab.rivals.boosters import ours
from lab.speed.works import SETTING, synthetic

rows, columns = int(sys.argv[1]), int(sys.argv[2])
X, y = synthetic(rows, columns)
setting = {**SETTING, "trees": 3}
data = ours.bin(X, y, setting)
small = ours.bin(X[:1000], y[:1000], setting)
ours.train(small, setting, 1.0)  # threads and code are loaded
del X, small
gc.collect()
ctypes.CDLL(None).malloc_trim(0)  # freed memory goes back to the system and is not counted
forget_peak()
before = process_bytes("VmRSS")
ours.train(data, setting, 2.56e-4 * rows)
print(process_bytes("VmHWM") - before)
"""


def memory(rows: int, columns: int) -> dict[str, Any]:
    """Bytes a row that training takes beside the binned matrix; histograms are told apart by their size."""
    command = [sys.executable, "-c", MEMORY_SCRIPT, str(rows), str(columns)]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    taken = int(out.stdout)
    histograms = 4 * columns * 255 * 16  # the root and what lies below it, two words a cell
    per_row = (taken - histograms) / rows
    print(f"memory {rows} x {columns}: {per_row:.0f} bytes a row beside histograms", flush=True)
    return {"rows": rows, "columns": columns, "bytes": taken, "histogram_bytes": histograms, "bytes_a_row": per_row}


def page(result: dict[str, Any]) -> str:
    """The results as a page to read."""
    about, given = result["machine"], result["given_prices"]
    lines = [
        "# Prices and memory",
        "",
        f"Made by `python -m lab.speed.overheads` on {about['cores']} cores ({about['cpu']}, "
        f"{about['instruction_set']} kernels), {SETTING['threads']} threads, depth {SETTING['depth']}, "
        f"{SETTING['bins']} bins, at least {SETTING['min_leaf']} rows a leaf.",
        "",
        "Kinds of prices, 20,000 x 300, 100 trees, 100 features bought (seconds, and beside plain prices):",
        "",
        "| prices | seconds | ratio |",
        "|---|---:|---:|",
        *(f"| {p['prices']} | {p['seconds']:.3f} | {p['ratio']:.3f} |" for p in result["prices"]),
        "",
        f"A plain list of prices against none, 100,000 x 60, 100 trees: {given['ratio']:.3f} times the time.",
        "",
        "Memory of training beside the binned matrix and the histograms (some 24 bytes are copies of bins: owned "
        "columns, packed, and a sample of an eighth of the rows):",
        "",
        "| rows | columns | bytes a row |",
        "|---:|---:|---:|",
        *(f"| {m['rows']:,} | {m['columns']} | {m['bytes_a_row']:.0f} |" for m in result["memory"]),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small tables; writes nothing")
    options = parser.parse_args()
    scale = 10 if options.quick else 1
    result: dict[str, Any] = {
        "machine": machine(),
        "setting": SETTING,
        "prices": prices(20_000 // scale),
        "given_prices": given_prices(100_000 // scale),
        "memory": [memory(n // scale, 60) for n in (1_000_000, 4_000_000)],
    }
    print(page(result))
    if not options.quick:
        write_json(SPEED / "overheads.json", result)
        (SPEED / "overheads.md").write_text(page(result))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
