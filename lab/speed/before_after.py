"""CPU seconds of whole fits with two installed versions, in turns, to see whether a change keeps the speed.

    python -m lab.speed.before_after BEFORE/bin/python NOW/bin/python
    python -m lab.speed.before_after BEFORE/bin/python NOW/bin/python --only pcmac weighted --rounds 15

Both are interpreters of environments with a version of frugalboost each. They take turns, in fresh processes of one
thread, so that both meet the same load of the machine. A process fits a small table several times, and its fastest fit
counts. Minima tell most on a busy machine.
Real tables are read from the folder that FRUGALBOOST_DATA names, and left out where it names none. Writes nothing.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification

from lab.data import Folder, load

MU, ROUNDS = 1e-3, 9

# Runs in both versions: public names only. A small fit first, so that no import is timed.
FIT = """
import sys, time, warnings
import numpy as np
from frugalboost import GBFSClassifier
warnings.simplefilter("ignore")
folder, mu, trees = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
X, y, w = (np.load(f"{folder}/{name}.npy") for name in "Xyw")
few = np.arange(100.0)
GBFSClassifier(max_iter=2, n_jobs=1).fit(few[:, None], few > 50)
spent = []
while len(spent) < 5 and sum(spent) < 1:
    model = GBFSClassifier(mu, max_iter=trees, n_jobs=1)
    begin = time.process_time()
    model.fit(X, y, sample_weight=w if len(w) else None)
    spent.append(time.process_time() - begin)
print(min(spent))
"""


@dataclass(frozen=True)
class Fit:
    """A table and how many trees are fitted to it."""

    load: Callable[[], tuple[np.ndarray, np.ndarray]]
    trees: int = 100
    weighted: bool = False
    reads_data: bool = False


def made(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(rows, columns, n_informative=20, n_redundant=10, random_state=0)
    return X.astype(np.float32), y


def real(name: str) -> Fit:
    def read() -> tuple[np.ndarray, np.ndarray]:
        data = load(name)
        return data.X, data.y

    return Fit(read, reads_data=True)


FITS = {
    **{name: real(name) for name in ("spam", "adult", "pcmac", "mnist3vs8")},
    "100,000 x 200": Fit(lambda: made(100_000, 200)),
    "weighted": Fit(lambda: made(100_000, 60), weighted=True),
    "1,000,000 x 60": Fit(lambda: made(1_000_000, 60), trees=30),
}


def write(fit: Fit, folder: Path) -> None:
    """Put X, y and weights on disk; no weights are an empty list."""
    X, y = fit.load()
    w = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if fit.weighted else np.empty(0)
    for name, values in (("X", X), ("y", y), ("w", w)):
        np.save(folder / f"{name}.npy", values)


def seconds(python: str, folder: Path, trees: int) -> float:
    """CPU seconds of the fastest fit in a fresh process of that interpreter."""
    command = [python, "-c", FIT, str(folder), str(MU), str(trees)]
    # From the folder of the table: a package in the current one would be imported instead of the installed one.
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    return float(done.stdout)


def in_turns(pythons: tuple[str, str], fit: Fit, rounds: int) -> tuple[list[float], list[float]]:
    found: tuple[list[float], list[float]] = ([], [])
    with tempfile.TemporaryDirectory() as name:
        write(fit, Path(name))
        for turn in range(rounds):
            for which in (0, 1) if turn % 2 == 0 else (1, 0):
                found[which].append(seconds(pythons[which], Path(name), fit.trees))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="interpreter with the earlier version")
    parser.add_argument("now", help="interpreter with the later version")
    parser.add_argument("--only", nargs="+", choices=list(FITS), metavar="NAME", help=f"some of: {', '.join(FITS)}")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="processes of each version")
    asked = parser.parse_args()
    pythons = os.path.abspath(asked.before), os.path.abspath(asked.now)  # links to interpreters must stay as they are
    print("| CPU seconds | minimum before | now | ratio | median before | now | ratio |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in asked.only or FITS:
        if FITS[name].reads_data and not Folder.set():
            continue
        before, now = in_turns(pythons, FITS[name], asked.rounds)
        cells = []
        for of in (min, statistics.median):
            a, b = of(before), of(now)
            cells += [f"{a:.3f}", f"{b:.3f}", f"{b / a:.3f}"]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
