"""Test error with few features, on tables with more columns than rows.

    python -m lab.quality.wide                                         # all runs on the final splits; hours
    python -m lab.quality.wide --splits tuning --methods frugalboost   # settings are chosen on these splits alone
    python -m lab.quality.wide --splits tuning --show                  # print their page; run nothing, write nothing
    python -m lab.quality.wide --page                                  # only write the page anew

Every method fits on 80 % of the rows and is judged on the others, one thread. Runs that have a result are left out.
Results go to lab/results/quality/wide.json after each run, so that several processes can add to it, and those of the
final splits to few_rows.md. Tables are read from the folder that FRUGALBOOST_DATA names. Needs the extra "lab".
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from frugalboost import GBFSClassifier
from lab.data import Folder, load, logarithms
from lab.output import QUALITY, lines, write_atomically
from lab.quality.page import Record
from lab.quality.running import answers, locked
from lab.quality.splits import Split
from lab.quality.wide_page import FINAL, KS, page
from lab.rivals import (
    MRMR,
    FrugalboostPlain,
    HSICLasso,
    L1Logistic,
    LightGBMGainFewRows,
    RandomForestSelection,
    RelaxedL1,
    Selector,
    SVMElimination,
)

JSON, PAGE = QUALITY / "wide.json", QUALITY / "few_rows.md"
FAMILIES = {"tuning": range(20), "final": FINAL}

# name in results: the table's own
TABLES = {
    "colon": "colon",
    "chowdary": "microarray_chowdary",
    "singh": "microarray_singh",
    "golub": "microarray_golub",
    "gravier": "microarray_gravier",
    "arcene": "arcene",
    "dexter": "dexter",
    "dorothea": "dorothea",
}
INTENSITIES = ("colon", "chowdary", "singh", "golub")  # up to 17,000 and more; gravier has log ratios from -5 to 3
RARE = ("dorothea",)  # one class in ten: errors of that class are kept, too

METHODS: dict[str, Callable[[], Selector]] = {
    "l1": lambda: L1Logistic(count=max(KS), judged_by="loss", first=60),
    "l1_l2": lambda: RelaxedL1(count=max(KS)),
    "svm_rfe": lambda: SVMElimination(count=max(KS)),
    "forest": lambda: RandomForestSelection(trees=500, min_samples_leaf=1),
    "mrmr": lambda: MRMR(count=max(KS)),
    "hsic": lambda: HSICLasso(count=max(KS), most_columns=2000),
    "lightgbm": lambda: LightGBMGainFewRows(KS),
    "frugalboost": lambda: FrugalboostPlain(KS),
    "frugalboost_auto": lambda: FrugalboostPlain(KS, base="auto"),
    "frugalboost_lines": lambda: FrugalboostPlain(KS, base="lines"),
}


def table(data: str) -> tuple[Any, np.ndarray]:
    """Columns and classes, as all methods get them."""
    found = load(TABLES[data])
    return (logarithms(found.X) if data in INTENSITIES else found.X), found.y


def cut(data: str, X: Any, y: np.ndarray, seed: int) -> Split:
    """Cut a fifth of the rows off, with the classes in proportion; there are no validation rows."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed)
    return Split(data, "classification", X[train], y[train], None, None, X[test], y[test])


def counted(split: Split, prediction: np.ndarray) -> Record:
    """How many test rows are wrong, and how many of class 1."""
    wrong = prediction != split.y_test
    return {"wrong": int(wrong.sum()), "of_class_1": int(wrong[split.y_test == 1].sum())}


def run(method: str, split: Split, seed: int) -> Record:
    """Fit one method and ask it for each k; where it has no model it predicts the larger class. Keys are short."""
    begin = time.process_time()
    found, _ = answers(METHODS[method](), split, KS, math.inf, counted)
    seconds = float(f"{time.process_time() - begin:.2g}")
    usual = np.full(len(split.y_test), int(np.bincount(split.y_train).argmax()))
    every = [found.get(str(k), {"n_features": 0} | counted(split, usual)) for k in KS]
    record = {"d": split.name, "m": method, "s": seed, "w": [a["wrong"] for a in every], "t": seconds}
    features = [a["n_features"] for a in every]
    return record | ({"n": features} if features != list(KS) else {}) | rare(split, every)


def rare(split: Split, every: list[Record]) -> Record:
    """Wrong rows of class 1, where that class is rare."""
    return {"c": [a["of_class_1"] for a in every]} if split.name in RARE else {}


def recorded() -> dict[str, Any]:
    """What is kept: the tables' sizes, and the runs."""
    kept = json.loads(JSON.read_text()) if JSON.exists() else {}
    runs = [{"d": data} | run for data, found in kept.items() for run in found["runs"]]
    return {"tables": {data: found["size"] for data, found in kept.items()}, "runs": runs}


def as_text(kept: dict[str, Any]) -> str:
    """The same as a file has it: runs below their tables, a line for each."""
    parts = []
    for data in [d for d in TABLES if d in kept["tables"]]:
        own = [r for r in kept["runs"] if r["d"] == data]
        own.sort(key=lambda r: (list(METHODS).index(r["m"]), r["s"]))
        runs = lines({key: value for key, value in r.items() if key != "d"} for r in own)
        parts.append(f'"{data}": {{"size": {json.dumps(kept["tables"][data])}, "runs": {runs}}}')
    return "{" + ",\n".join(parts) + "}\n"


def identity(run: Record) -> tuple[str, str, int]:
    return run["d"], run["m"], run["s"]


def save(record: Record, split: Split) -> None:
    """Add a run, or replace the same one; the file is written atomically."""
    rows, columns = split.X_train.shape
    size = {"train": rows, "test": len(split.y_test), "class_1": int(split.y_test.sum()), "columns": columns}
    with locked(QUALITY):
        kept = recorded()
        runs = [r for r in kept["runs"] if identity(r) != identity(record)] + [record]
        write_atomically(JSON, as_text({"tables": kept["tables"] | {split.name: size}, "runs": runs}))


def todo(arguments: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    """The runs asked for and not yet recorded, table by table."""
    seeds = FAMILIES[arguments.splits][: arguments.count]
    for data in arguments.data:
        for method in arguments.methods:
            for seed in seeds:
                key = data, method, seed
                if arguments.again or key not in {identity(r) for r in recorded()["runs"]}:
                    yield key


def measure(arguments: argparse.Namespace) -> None:
    """Run what is to do. Errors are not shown: nobody should see those of final splits before settings are settled."""
    warnings.simplefilter("ignore")  # that selections are weak, on so few rows
    now, X, y = "", None, np.zeros(0)
    for data, method, seed in todo(arguments):
        if data != now:
            now, (X, y) = data, table(data)
        split = cut(data, X, y, seed)
        try:
            record = run(method, split, seed)
        except Exception as failure:  # the other runs go on
            print(f"{data} {method} {seed}: failed; {type(failure).__name__}: {failure}", flush=True)
            continue
        save(record, split)
        print(f"{data} {method} {seed}: {record['t']:g} s", flush=True)


def known(methods: list[str]) -> list[str]:
    """Those of the methods that this version has; of the others it is said that they are left out."""
    absent = [m for m in methods if m in ("frugalboost_auto", "frugalboost_lines")]
    if not absent or "base" in GBFSClassifier().get_params():
        return methods
    print(f"left out: {', '.join(absent)}; GBFSClassifier has no parameter 'base' in this version", flush=True)
    return [m for m in methods if m not in absent]


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m lab.quality.wide", description=__doc__.splitlines()[0])
    parser.add_argument("--splits", choices=list(FAMILIES), default="final", help="which random splits (final)")
    parser.add_argument("--count", type=int, default=20, help="how many of these splits (20)")
    parser.add_argument("--data", nargs="+", default=list(TABLES), choices=list(TABLES), metavar="NAME")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS), metavar="NAME")
    parser.add_argument("--again", action="store_true", help="run what is recorded too, and replace it")
    parser.add_argument("--show", action="store_true", help="print the page of these splits; run and write nothing")
    parser.add_argument("--page", action="store_true", help="only write the page")
    return parser.parse_args()


def main() -> int:
    arguments = parsed()
    if arguments.show:
        print(page(recorded(), FAMILIES[arguments.splits]))
        return 0
    if not arguments.page:
        if not Folder.set():
            print("no data: FRUGALBOOST_DATA must name the folder of the data files", file=sys.stderr)
            return 1
        arguments.methods = known(arguments.methods)
        measure(arguments)
    PAGE.write_text(page(recorded(), FINAL))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
