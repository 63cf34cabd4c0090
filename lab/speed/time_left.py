"""Whether the progress bar of frugalboost.select tells the truth: what it said, and what came.

    python -m lab.speed.time_left
    python -m lab.speed.time_left --quick --only "made, 2,000 x 20" spam

The time left that the bar shows is written down all the time, on one thread, with CPU seconds as the clock, so that a
busy machine does not matter. The first table has the whole time that it predicted (time passed and time left) as a
share of the true one, when a tenth, a quarter, half and three quarters of the true time had passed. The second has the
parts of the work: estimated, and measured in the same unit, where the search counts as estimated.

Real tables are read from the folder that FRUGALBOOST_DATA names, and left out where it names none. Results go to
lab/results/speed/time_left.md.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification, make_regression

import frugalboost
from frugalboost._support.display import Shown
from frugalboost._support.plan import Estimate, Part, Plan, Standing, followed
from frugalboost.progress import counted_by
from lab.data import Folder, load
from lab.output import SPEED, write_atomically

QUICK = {"trees": 100, "splits": 3, "points": 10}
WHEN = (0.1, 0.25, 0.5, 0.75)
Table = tuple[Any, Any]


def real(name: str) -> Callable[[], Table]:
    """A data set of the lab."""
    return lambda: (load(name).X, load(name).y)


TABLES: dict[str, Callable[[], Table]] = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "made, 2,000 x 20": lambda: make_classification(2000, 20, n_informative=6, random_state=0),
    "made, 300 x 1,000": lambda: make_classification(300, 1000, n_informative=6, random_state=0),
    "made, 10,000 x 50, numbers": lambda: make_regression(10_000, 50, n_informative=10, noise=20.0, random_state=0),
    "made, 5,000 x 30, 4 classes": lambda: make_classification(
        5000, 30, n_informative=8, n_classes=4, n_clusters_per_class=1, random_state=0
    ),
}
REAL = {name: real(name) for name in ("spam", "colon", "madelon", "california_housing")}


class Recorder:
    """Writes down what a bar would show."""

    every = first = 0.1

    def __init__(self) -> None:
        self.said: list[tuple[float, Standing]] = []

    def show(self, standing: Standing) -> None:
        """Note it."""
        self.said.append((time.process_time(), standing))

    def clear(self) -> None:
        """Nothing is in the way."""

    def close(self, standing: Standing) -> None:
        """Note the end."""


class NotedPlan(Plan):
    """A plan that keeps when parts began, and how much work they were thought to be."""

    def __init__(self) -> None:
        super().__init__(clock=time.process_time)
        self.began: list[tuple[Part, float]] = []
        self.thought: dict[Part, float] = {}

    def begin(self, part: Part) -> None:
        """Note when."""
        self.began.append((part, time.process_time()))
        super().begin(part)

    def expect(self, *estimates: Estimate) -> None:
        """Note the first estimate."""
        for estimate in estimates:
            self.thought.setdefault(estimate.part, estimate.work)
        super().expect(*estimates)


def watched(X: Any, y: Any, **options: Any) -> tuple[Recorder, NotedPlan, float, float]:
    """What was said during a run, its plan, and when it began and ended."""
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]).assign(target=np.asarray(y))
    plan, recorder = NotedPlan(), Recorder()
    begin = time.process_time()
    plan.begin(Part.READING)
    display = Shown(plan, recorder)
    with warnings.catch_warnings(), followed(plan), counted_by(plan.count):
        warnings.simplefilter("ignore")
        frugalboost.select(frame, "target", **options, verbose=1, threads=1)
    display.close()
    return recorder, plan, begin, time.process_time()


def predicted(recorder: Recorder, begin: float, end: float) -> list[str]:
    """The whole time that was predicted at several times, as a share of the true one; "-": nothing was said yet."""
    cells = []
    for when in WHEN:
        said = [(t, s) for t, s in recorder.said if t - begin <= when * (end - begin)]
        left = said[-1][1].left if said else None
        cells.append("-" if left is None else f"{(said[-1][0] - begin + left) / (end - begin):.2f}")
    return cells


def parts(plan: NotedPlan, end: float) -> dict[Part, str]:
    """Work as estimated, and as measured where the search counts as estimated."""
    ends = [t for _, t in plan.began[1:]] + [end]
    took: dict[Part, float] = {}
    for (part, since), until in zip(plan.began, ends, strict=True):
        took[part] = took.get(part, 0.0) + until - since
    unit = took[Part.SEARCH] / plan.thought[Part.SEARCH]
    return {part: f"{plan.thought.get(part, 0.0):.0f} / {took.get(part, 0.0) / unit:.0f}" for part in Part}


def write(first: list[str], second: list[str], quick: bool) -> None:
    """Write both tables as far as they are."""
    words = (__doc__ or "").partition("\n\n")[2].partition("\n\n")[2].partition("\n\nReal")[0]
    how = f"Made by `python -m lab.speed.time_left{' --quick' if quick else ''}`."
    lines = ["# The time left", "", how, words, "", *first, "", *second, ""]
    write_atomically(SPEED / "time_left.md", "\n".join(lines))


def main() -> int:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = TABLES | (REAL if Folder.set() else {})
    parser.add_argument("--only", nargs="+", choices=list(known), metavar="NAME", help=f"some of: {', '.join(known)}")
    parser.add_argument("--quick", action="store_true", help="fewer trees, splits and points")
    asked = parser.parse_args()
    first = [f"| table | seconds | {' | '.join(f'at {when:.0%}' for when in WHEN)} |", "|---|---:|---:|---:|---:|---:|"]
    own = [part for part in Part if part is not Part.READING]
    second = [f"| table | {' | '.join(part.value for part in own)} |", "|---|" + "---:|" * len(own)]
    for name in asked.only or known:
        recorder, plan, begin, end = watched(*known[name](), **(QUICK if asked.quick else {}))
        first.append(f"| {name} | {end - begin:.0f} | {' | '.join(predicted(recorder, begin, end))} |")
        compared = parts(plan, end)
        second.append(f"| {name} | {' | '.join(compared[part] for part in own)} |")
        print(first[-1], second[-1], sep="\n", flush=True)
        write(first, second, asked.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
