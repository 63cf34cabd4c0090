"""SHA-256 and CPU time of models, to compare two versions: a change that should keep models must keep these lines.

python -m lab.speed.hashes > before.txt      # in one checkout, and again in the other
"""

from __future__ import annotations

import argparse
import hashlib
import time
import warnings
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from frugalboost import GBFSClassifier
from lab.data import load

TABLES = ("spam", "adult", "pcmac", "mnist3vs8")


def digest(model: GBFSClassifier) -> str:
    """SHA-256 of the trees and of what was bought."""
    found = hashlib.sha256(np.asarray(model.selected_features_).tobytes())
    for array in arrays_of(model._model.ensemble):
        found.update(array.tobytes())
    return found.hexdigest()


def arrays_of(record: Any) -> Iterator[np.ndarray]:
    """The arrays of a record and of the records in it."""
    for f in fields(record):
        value = getattr(record, f.name)
        if is_dataclass(value):
            yield from arrays_of(value)
        else:
            yield np.ascontiguousarray(value)


def main() -> None:
    """Fit each table with both kinds of screening, on one thread, and print a line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=TABLES, help="names of data sets")
    parser.add_argument("--times", action="store_true", help="add the CPU seconds of the fit")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in asked.tables:
        data = load(name)
        for screening in ("auto", "exact"):
            model = GBFSClassifier(1e-3, max_iter=50, screening=screening, n_jobs=1)
            begin = time.process_time()
            model.fit(data.X, data.y)
            seconds = f" {time.process_time() - begin:.3f}" if asked.times else ""
            print(f"{name} {screening} {digest(model)}{seconds}", flush=True)


if __name__ == "__main__":
    main()
