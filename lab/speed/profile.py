"""Where training time goes: shares of stages, by Linux perf, on one thread.

    pip install -Cinstall.strip=false .        # so that functions have names
    python -m lab.speed.profile "1,000,000 x 60" adult pcmac

Prints a table. Works are those of lab.speed, with their first guess of mu.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from lab.rivals.boosters import ours
from lab.speed.works import SETTING, WORKS

# What a function belongs to, by the first pattern that its name matches.
STAGES = {
    "histograms of dense columns": (
        r"add_(one_word|weighted|some|flat|folded|joint|in_turns)|Histograms::|GroupSearch::(build|finish)"
    ),
    "best splits from histograms": r"scan|GroupSearch",
    "sparse columns": r"SparseSearch|SparseColumns|search_sparse|listed",
    "losses and derivatives": r"logistic|log_sum_exp|softmax|weighted_mean|LogLoss|LossSum|sum_on_grid",
    "gradients as integers": r"GridGradients|to_grid|largest",
    "leaves": r"leaf|in_block",
    "rows of nodes": r"partition|left_bits|gather|OrderedRows|memmove|Placed",
    "proofs": r"RootBounds|difference|squares|RowSample|possible|rule_out|most_gain|fast_move",
    "equal rows": r"merge|hashes_of|all_equal|Numbering",
}


def report(run: Path) -> dict[str, float]:
    """Percent of the samples by stage."""
    text = subprocess.run(
        ["perf", "report", "-i", str(run), "--stdio", "--no-children"], capture_output=True, text=True, check=True
    ).stdout
    shares: dict[str, float] = defaultdict(float)
    for line in text.splitlines():
        found = re.match(r"\s*([\d.]+)%\s+\S+\s+\S+\s+\[.\]\s+(.*)", line)
        if found is None:
            continue
        stage = next((s for s, pattern in STAGES.items() if re.search(pattern, found[2])), "all else")
        shares[stage] += float(found[1])
    return shares


def profiled(name: str) -> tuple[float, dict[str, float]]:
    """Train once under perf; seconds and shares."""
    work = WORKS[name]
    X, y = work.load()
    setting = {**SETTING, "trees": work.trees, "threads": 1}
    data = ours.bin(X, y, setting)
    del X
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "perf.data"
        perf = subprocess.Popen(
            ["perf", "record", "-o", str(run), "-F", "500", "-p", str(os.getpid())], stderr=subprocess.DEVNULL
        )
        time.sleep(0.5)  # until it listens
        begin = time.perf_counter()
        ours.train(data, setting, work.mu)
        seconds = time.perf_counter() - begin
        perf.send_signal(signal.SIGINT)
        perf.wait()
        return seconds, report(run)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("works", nargs="+", choices=list(WORKS), metavar="work")
    names = parser.parse_args().works
    found = {name: profiled(name) for name in names}
    print("| percent of the time | " + " | ".join(names) + " |")
    print("|---|" + "---:|" * len(names))
    for stage in [*STAGES, "all else"]:
        print(f"| {stage} | " + " | ".join(f"{shares.get(stage, 0):.0f}" for _, shares in found.values()) + " |")
    print("| seconds, one thread | " + " | ".join(f"{seconds:.2f}" for seconds, _ in found.values()) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
