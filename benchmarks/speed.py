"""Training time against LightGBM, growth in rows and columns, and memory per row.

    python -m benchmarks.speed            # everything, about 15 minutes on 2 cores
    python -m benchmarks.speed --quick    # a minute

Rivals run in one process, in turns, and medians are compared: on shared machines only ratios in one run mean anything.
LightGBM's penalty is tuned until it selects as many features as frugalboost (within 10 %), on the data that are timed.
Results go to benchmarks/results/speed.json and speed.md. Needs the extra "bench"; spam and MNIST are read from the
data folder (FRUGALBOOST_DATA, or shared/data beside the checkout) and left out where it is absent.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from benchmarks.rivals import lightgbm_cegb, lightgbm_plain, ours
from frugalboost.costs import Bags, Function, Neighbours, Prices

SETTING = {"depth": 4, "bins": 255, "min_leaf": 20, "threads": 2}
RIVALS = [ours, lightgbm_cegb, lightgbm_plain]
RESULTS = Path(__file__).parent / "results"


def data_folder() -> Path | None:
    given = os.environ.get("FRUGALBOOST_DATA")
    folder = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    return folder if folder.is_dir() else None


def synthetic(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(
        rows, columns, n_informative=min(20, columns // 2), n_redundant=min(10, columns // 4), random_state=0
    )
    return X.astype(np.float32), y.astype(np.float64)


def spam() -> tuple[np.ndarray, np.ndarray]:
    data = np.load(data_folder() / "spam.npz")
    return data["X"].astype(np.float64), (data["y"] > 0).astype(np.float64)


def mnist_3_8() -> tuple[np.ndarray, np.ndarray]:
    data = np.load(data_folder() / "mnist.npz", allow_pickle=True)
    chosen = ~data["is_test"].astype(bool) & np.isin(data["y"], [3, 8])
    return data["X"][chosen].astype(np.float64), (data["y"][chosen] == 8).astype(np.float64)


# name: table, trees, mu in absolute units, repeats, and the most of LightGBM CEGB's time that is allowed
WORK: dict[str, tuple[Callable[[], tuple[np.ndarray, np.ndarray]], int, float, int, float]] = {
    "1,000,000 x 60 dense": (lambda: synthetic(1_000_000, 60), 100, 256.0, 5, 1.3),
    "spam": (spam, 500, 4.0, 15, 1.5),
    "mnist 3 vs 8": (mnist_3_8, 300, 4.0, 7, 1.5),
}
QUICK: dict[str, tuple[Callable[[], tuple[np.ndarray, np.ndarray]], int, float, int, float]] = {
    "100,000 x 60 dense": (lambda: synthetic(100_000, 60), 50, 64.0, 3, 1.3),
    "spam": (spam, 200, 4.0, 5, 1.5),
}


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def matching_penalty(data: Any, setting: dict[str, Any], features: int) -> float:
    """Bisect LightGBM's penalty until it selects as many features, within 10 %."""
    low, high = 1e-3, 1e7
    penalty = 0.0
    for _ in range(16):
        penalty = (low * high) ** 0.5
        found = lightgbm_cegb.train(data, setting, penalty)
        if abs(found - features) <= 0.1 * features:
            break
        low, high = (penalty, high) if found > features else (low, penalty)
    return penalty


def compare(name: str, work: tuple[Any, int, float, int, float]) -> dict[str, Any]:
    """Time all rivals on one table, in turns."""
    load, trees, mu, repeats, allowed = work
    X, y = load()
    setting = {**SETTING, "trees": trees}
    binning = {rival.NAME: timed(partial(rival.bin, X, y, setting)) for rival in RIVALS}
    binned = {rival: data for rival, (_, data) in binning.items()}
    shape = X.shape
    features = ours.train(binned[ours.NAME], setting, mu)
    penalty = matching_penalty(binned[lightgbm_cegb.NAME], setting, features)
    penalties = {ours.NAME: mu, lightgbm_cegb.NAME: penalty, lightgbm_plain.NAME: 0.0}
    seconds: dict[str, list[float]] = {rival.NAME: [] for rival in RIVALS}
    used = {}
    for _ in range(repeats):
        for rival in RIVALS:
            spent, used[rival.NAME] = timed(partial(rival.train, binned[rival.NAME], setting, penalties[rival.NAME]))
            seconds[rival.NAME].append(spent)
    median = {rival: statistics.median(values) for rival, values in seconds.items()}
    result = {
        "work": name,
        "rows": shape[0],
        "columns": shape[1],
        "trees": trees,
        "repeats": repeats,
        "penalty": penalties,
        "features": used,
        "seconds": median,
        "all_seconds": seconds,
        "binning_seconds": {rival: spent for rival, (spent, _) in binning.items()},
        "ratio_to_cegb": median[ours.NAME] / median[lightgbm_cegb.NAME],
        "allowed": allowed,
    }
    print(f"{name}: ours / CEGB = {result['ratio_to_cegb']:.2f} (at most {allowed})", flush=True)
    return result


def growth(shapes: list[tuple[int, int]], trees: int) -> list[dict[str, Any]]:
    """Our time for growing tables, mu scaled with the rows so that the model stays alike."""
    found = []
    for rows, columns in shapes:
        X, y = synthetic(rows, columns)
        setting = {**SETTING, "trees": trees}
        data = ours.bin(X, y, setting)
        runs = [timed(partial(ours.train, data, setting, 2.56e-4 * rows))[0] for _ in range(3)]
        seconds = statistics.median(runs)
        found.append({"rows": rows, "columns": columns, "trees": trees, "seconds": seconds})
        print(f"{rows} x {columns}: {seconds:.3f} s", flush=True)
    return found


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
import ctypes, gc, sys, numpy as np
from benchmarks.rivals import ours
from benchmarks.speed import SETTING, synthetic

def kilobytes(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))

rows, columns = int(sys.argv[1]), int(sys.argv[2])
X, y = synthetic(rows, columns)
setting = {**SETTING, "trees": 3}
data = ours.bin(X, y, setting)
small = ours.bin(X[:1000], y[:1000], setting)
ours.train(small, setting, 1.0)  # threads and code are loaded
del X, small
gc.collect()
ctypes.CDLL(None).malloc_trim(0)  # freed memory goes back to the system and is not counted
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")  # forget the highest memory so far
before = kilobytes("VmRSS")
ours.train(data, setting, 2.56e-4 * rows)
print((kilobytes("VmHWM") - before) * 1024)
"""


def memory(rows: int, columns: int) -> dict[str, Any]:
    """Bytes a row that training takes beside the binned matrix; histograms are told apart by their size."""
    out = subprocess.run(
        [sys.executable, "-c", MEMORY_SCRIPT, str(rows), str(columns)], capture_output=True, text=True, check=True
    )
    taken = int(out.stdout)
    histograms = 4 * columns * 255 * 16  # the root and what lies below it, two words a cell
    per_row = (taken - histograms) / rows
    print(f"memory {rows} x {columns}: {per_row:.0f} bytes a row beside histograms", flush=True)
    return {"rows": rows, "columns": columns, "bytes": taken, "histogram_bytes": histograms, "bytes_a_row": per_row}


def machine() -> dict[str, Any]:
    cpu = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), cpu)
    packages = {name: version(name) for name in ("frugalboost", "lightgbm", "numpy", "scikit-learn")}
    return {"cpu": cpu, "cores": os.cpu_count(), "instruction_set": ours.instruction_set(), **packages}


def table(result: dict[str, Any]) -> str:
    """The results as a page to read."""
    lines = [
        "# Training time",
        "",
        "Made by `python -m benchmarks.speed`"
        f" on {result['machine']['cores']} cores ({result['machine']['cpu']}, {result['machine']['instruction_set']} "
        f"kernels), LightGBM {result['machine']['lightgbm']}. {SETTING['threads']} threads each, depth "
        f"{SETTING['depth']}, {SETTING['bins']} bins, at least {SETTING['min_leaf']} rows a leaf; rivals in turns in "
        "one process, medians. Seconds; features in brackets.",
        "",
        "| work | trees | " + " | ".join(r.NAME for r in RIVALS) + " | ours / CEGB | at most |",
        "|---|---:|" + "---:|" * len(RIVALS) + "---:|---:|",
    ]
    for w in result["work"]:
        cells = " | ".join(f"{w['seconds'][r.NAME]:.3f} ({w['features'][r.NAME]})" for r in RIVALS)
        lines.append(f"| {w['work']} | {w['trees']} | {cells} | **{w['ratio_to_cegb']:.2f}** | {w['allowed']} |")
    lines += [
        "",
        "Binning, seconds, once:",
        "",
        "| work | " + " | ".join(r.NAME for r in RIVALS[:2]) + " |",
        "|---|---:|---:|",
    ]
    for w in result["work"]:
        lines.append(f"| {w['work']} | " + " | ".join(f"{w['binning_seconds'][r.NAME]:.2f}" for r in RIVALS[:2]) + " |")
    for axis in ("rows", "columns"):
        lines += [
            "",
            f"Growth in {axis} (frugalboost):",
            "",
            "| rows | columns | trees | seconds | ns a row, column and tree |",
            "|---:|---:|---:|---:|---:|",
        ]
        for g in result[f"growth_in_{axis}"]:
            unit = g["seconds"] / (g["rows"] * g["columns"] * g["trees"]) * 1e9
            lines.append(f"| {g['rows']:,} | {g['columns']:,} | {g['trees']} | {g['seconds']:.3f} | {unit:.2f} |")
    lines += [
        "",
        "Kinds of prices, 20,000 x 300, 100 trees, 100 features bought (seconds, and beside plain prices):",
        "",
    ]
    lines += ["| prices | seconds | ratio |", "|---|---:|---:|"]
    lines += [f"| {p['prices']} | {p['seconds']:.3f} | {p['ratio']:.3f} |" for p in result["prices"]]
    given = result["given_prices"]
    lines += ["", f"A plain list of prices against none, 100,000 x 60, 100 trees: {given['ratio']:.3f} times the time."]
    lines += [
        "",
        "Memory of training beside the binned matrix and the histograms (some 24 bytes are copies of bins: owned "
        "columns, packed, and a sample of an eighth of the rows):",
        "",
        "| rows | columns | bytes a row |",
        "|---:|---:|---:|",
    ]
    lines += [f"| {m['rows']:,} | {m['columns']} | {m['bytes_a_row']:.0f} |" for m in result["memory"]]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small tables; writes nothing")
    options = parser.parse_args()
    work = QUICK if options.quick else WORK
    if data_folder() is None:
        print("the data folder is absent: spam and MNIST are left out")
        work = {name: w for name, w in work.items() if "dense" in name}
    scale = 10 if options.quick else 1
    result: dict[str, Any] = {
        "machine": machine(),
        "setting": SETTING,
        "work": [compare(name, w) for name, w in work.items()],
        "growth_in_rows": growth([(n // scale, 60) for n in (10_000, 30_000, 100_000, 300_000, 1_000_000)], 50),
        "growth_in_columns": growth([(100_000 // scale, d) for d in (10, 30, 100, 300, 1000)], 50),
        "prices": prices(20_000 // scale),
        "given_prices": given_prices(100_000 // scale),
        "memory": [memory(n // scale, 60) for n in (1_000_000, 4_000_000)],
    }
    page = table(result)
    print(page)
    if not options.quick:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "speed.json").write_text(json.dumps(result, indent=1) + "\n")
        (RESULTS / "speed.md").write_text(page)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
