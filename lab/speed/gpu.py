"""Fits on a GPU beside the CPU: seconds of binning, of the upload and of boosting, and whether the models are equal.

    python -m lab.speed.gpu                       # every size of the list; minutes, on a machine with a GPU
    python -m lab.speed.gpu --quick               # small sizes
    python -m lab.speed.gpu --sizes 4900000x122x500 --screening auto off --devices cuda
    python -m lab.speed.gpu --output results.json

Rows are made and distinct: 12 columns matter, the others are noise. The clock of "boosting" runs from an engine that
has its bins to the last tree; the engine is made before (upload), the bins before that (binning). The GPU is used once
before anything is timed. A line tells what was fitted, where, screening, seconds and the SHA-256 of the model.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from frugalboost import GBFSClassifier, _core, engines
from frugalboost.training import boosting
from lab.machine import timed
from lab.speed.hashes import digest

SIZES = (
    "10000x60x100",
    "100000x60x100",
    "1000000x60x100",
    "4900000x122x500",
    "10000000x100x500",
)
QUICK = ("2000x40x20", "20000x40x20")
MATTER = 12


def made(rows: int, columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows of normal numbers, and classes that depend on the first columns."""
    rng = np.random.default_rng(seed)
    X = np.empty((rows, columns), dtype=np.float32)
    for begin in range(0, rows, 1 << 18):
        part = X[begin : begin + (1 << 18)]
        rng.standard_normal(out=part, dtype=np.float32)
    weights = 1.0 / np.arange(1, MATTER + 1)
    signal = X[:, :MATTER] @ weights.astype(np.float32) + np.abs(X[:, 0] * X[:, 1])
    noise = rng.standard_normal(rows, dtype=np.float32)
    return X, (signal + noise > np.median(signal)).astype(np.int64)


def fit(X: Any, y: np.ndarray, **settings: Any) -> dict[str, Any]:
    """Seconds of the parts of a fit, and its model's SHA-256."""
    seconds: dict[str, float] = {}

    def clocked(name: str, call: Any) -> Any:
        def timed_call(*given: Any, **named: Any) -> Any:
            taken, found = timed(lambda: call(*given, **named))
            seconds[name] = seconds.get(name, 0.0) + taken
            return found

        return timed_call

    model = GBFSClassifier(**settings)
    core = mock.Mock(wraps=_core, boost=clocked("boosting", _core.boost))
    with (
        mock.patch.object(boosting, "_core", core),
        mock.patch.object(engines, "make_engine", clocked("upload", engines.make_engine)),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        whole, _ = timed(lambda: model.fit(X, y))
    rest = whole - seconds["boosting"] - seconds["upload"]
    return {**seconds, "binning": rest, "features": model.n_features_selected_, "model": digest(model)}


def warm_up() -> None:
    """The first call of a GPU takes a second."""
    X, y = made(1000, 13)
    fit(X, y, device="cuda", max_iter=3)


def main() -> None:
    """Fit each size on each device, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", help="rows x columns x trees")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--devices", nargs="+", default=["cuda", "cpu"])
    parser.add_argument("--screening", nargs="+", default=["auto", "off"])
    parser.add_argument("--mu", type=float, default=1e-4)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    if "cuda" in asked.devices:
        warm_up()
    results = []
    for size in asked.sizes or (QUICK if asked.quick else SIZES):
        rows, columns, trees = map(int, size.split("x"))
        X, y = made(rows, columns)
        for screening in asked.screening:
            for device in asked.devices * asked.repeat:
                found = fit(X, y, mu=asked.mu, max_iter=trees, screening=screening, device=device)
                results.append({"size": size, "device": device, "screening": screening, **found})
                print(
                    f"{size} {device} {screening}: boosting {found['boosting']:.3f} s, upload {found['upload']:.3f} s, "
                    f"binning {found['binning']:.3f} s, {found['features']} features, {found['model'][:16]}",
                    flush=True,
                )
                if asked.output:
                    asked.output.write_text(json.dumps({"cores": os.cpu_count(), "results": results}, indent=1))


if __name__ == "__main__":
    main()
