"""CPU seconds that the command takes to say something small, and that imports take, before and after a change.

    python -m lab.speed.starting BEFORE/bin/python NOW/bin/python
    python -m lab.speed.starting BEFORE/bin/python NOW/bin/python --rounds 15

Both are interpreters of environments with a version of frugalboost each; they take turns, in fresh processes, in a
folder with one small CSV file. Medians of CPU seconds, user and system. Results go to
lab/results/speed/starting.md.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from lab.machine import machine
from lab.output import SPEED, write_atomically

ROUNDS = 7
COMMANDS = {
    "the version": "--version",
    "help": "--help",
    "help on select": "select --help",
    "an unknown command": "selct",
    "an unknown option": "select table.csv --targt y",
    "a wrong number": "select table.csv --target y --k 0",
    "k and mu together": "select table.csv --target y --k 2 --mu 1",
    "an unknown score": "select table.csv --target y --scoring accuracies",
    "a table that is not there": "select tabel.csv --target y",
    "prices that are not there": "select table.csv --target y --costs prices.csv",
    "no target": "select table.csv",
    "a target that is not in the table": "select table.csv --target z",
    "a model that is not there": "predict model.frugal table.csv",
    "a run that is not there": "report run",
}
IMPORTS = {
    "nothing": "pass",
    "import frugalboost": "import frugalboost",
    "from frugalboost import GBFSClassifier": "from frugalboost import GBFSClassifier",
    "import sklearn.ensemble": "import sklearn.ensemble",
}
CASES = {name: ["-m", "frugalboost", *words.split()] for name, words in COMMANDS.items()} | {
    f"`{name}`" if name != "nothing" else "Python alone": ["-c", code] for name, code in IMPORTS.items()
}


def cpu_seconds(python: str, arguments: list[str], folder: str) -> float:
    """User and system seconds of a process that ends by itself."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([python, *arguments], capture_output=True, check=False, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def medians(pythons: tuple[str, str], arguments: list[str], rounds: int, folder: str) -> tuple[float, float]:
    """Of both interpreters, which take turns; a first round, which reads files from disk, does not count."""
    found: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + 1):
        for which in (0, 1):
            spent = cpu_seconds(pythons[which], arguments, folder)
            if turn:
                found[which].append(spent)
    return statistics.median(found[0]), statistics.median(found[1])


def main() -> int:
    """Measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="interpreter with the earlier version")
    parser.add_argument("now", help="interpreter with the later version")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="processes of each version")
    asked = parser.parse_args()
    pythons = os.path.abspath(asked.before), os.path.abspath(asked.now)  # links to interpreters must stay as they are
    lines = ["| CPU seconds | call | before | now |", "|---|---|---:|---:|"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "table.csv").write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(20)))
        for name, arguments in CASES.items():
            before, now = medians(pythons, arguments, asked.rounds, folder)
            call = f"`frugalboost {COMMANDS[name]}`" if name in COMMANDS else ""
            lines.append(f"| {name} | {call} | {before:.2f} | {now:.2f} |")
            print(lines[-1], flush=True)
    words = "What `python -m lab.speed.starting BEFORE NOW` measured: medians of CPU seconds of whole processes."
    here = machine()
    about = f"On {here['cpu']}, with scikit-learn {here['scikit-learn']} and numpy {here['numpy']}."
    write_atomically(SPEED / "starting.md", "\n".join(["# Starting up", "", words, "", *lines, "", about, ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
