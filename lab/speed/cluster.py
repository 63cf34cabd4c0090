"""Fits on a cluster of processes on this machine: time, messages and memory, beside one machine and other boosters.

    python -m lab.speed.cluster              # 1,000,000 x 60 and 4,900,000 x 122; about half an hour on two cores
    python -m lab.speed.cluster --quick      # 20,000 x 20, ten trees; writes nothing
    python -m lab.speed.cluster --latency    # only how long one sum over all workers takes

Every worker has one thread. All boosters grow trees of depth 4 with 255 bins and a learning rate of 0.1 on the same
partitions, which are in the workers' memory; rows are all different. ``again`` says whether a second fit gives the same
model, ``other partitions`` whether one on twice as many partitions does, and ``killed`` what happens when a worker is
killed in the middle of a fit. Needs the extras "dask" and "lab". Results go to lab/results/speed/cluster.json and
cluster.md.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import os
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster

from frugalboost import GBFSClassifier
from frugalboost.cluster import exchange
from frugalboost.dask import DaskGBFSClassifier
from lab.machine import forget_peak, machine, process_bytes, timed, versions
from lab.output import SPEED, write_atomically, write_json

PATIENCE = 90.0  # seconds after a worker was killed
COLUMNS = ("who", "workers", "seconds", "messages", "megabytes", "peak_gb", "again", "other_partitions", "killed")


@dataclass(frozen=True)
class Shape:
    """A table that is made, piece by piece."""

    rows: int
    columns: int
    trees: int
    partitions: int = 8

    def piece(self, begin: int, end: int) -> np.ndarray:
        """Rows with their target in the last column; the same for any division into pieces of whole blocks."""
        block = self.rows // (2 * self.partitions)
        made = [self._block(b, block) for b in range(begin // block, end // block)]
        return np.concatenate(made)

    def _block(self, number: int, rows: int) -> np.ndarray:
        rng = np.random.default_rng(number)
        X = rng.normal(size=(rows, self.columns + 1)).astype(np.float32)
        score = X[:, 0] + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) + 0.5 * X[:, 4:8].sum(axis=1)
        X[:, -1] = score + rng.logistic(size=rows) > 1
        return X

    def arrays(self, partitions: int) -> tuple[da.Array, da.Array]:
        """Table and target as lazy arrays."""
        ends = [
            2 * self.partitions * p // partitions * (self.rows // (2 * self.partitions)) for p in range(partitions + 1)
        ]
        blocks = [
            da.from_delayed(dask.delayed(self.piece)(a, b), (b - a, self.columns + 1), np.float32)
            for a, b in pairwise(ends)
        ]
        whole = da.concatenate(blocks)
        return whole[:, :-1], whole[:, -1].astype(np.int64)


FULL = (Shape(1_000_000, 60, 200), Shape(4_900_000, 122, 100, 16))
QUICK = (Shape(20_000, 20, 10),)
OURS: dict[str, Any] = {"mu": 1e-4, "max_depth": 4, "random_state": 0}


@dataclass(frozen=True)
class Booster:
    """A booster on Dask: how it is fitted, and its model as bytes."""

    fit: Callable[[Client, Any, Any, int], Any]
    model: Callable[[Any], bytes]


def ours(client: Client, X: Any, y: Any, trees: int) -> Any:
    """Our estimator."""
    return DaskGBFSClassifier(**OURS, max_iter=trees).fit(X, y)


def saved(model: Any) -> bytes:
    """The file of a model."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        return (Path(folder) / "model").read_bytes()


def xgboost(client: Client, X: Any, y: Any, trees: int) -> Any:
    """XGBoost's estimator for Dask."""
    from xgboost import dask as dxgb

    model = dxgb.DaskXGBClassifier(n_estimators=trees, max_depth=4, learning_rate=0.1, max_bin=255, tree_method="hist")
    model.client = client
    return model.fit(X, y)


def lightgbm(client: Client, X: Any, y: Any, trees: int) -> Any:
    """LightGBM's estimator for Dask."""
    from lightgbm import DaskLGBMClassifier

    options = {"max_depth": 4, "num_leaves": 16, "learning_rate": 0.1, "max_bin": 255, "verbose": -1}
    return DaskLGBMClassifier(n_estimators=trees, client=client, tree_learner="data", **options).fit(X, y)


BOOSTERS = {
    "frugalboost": Booster(ours, saved),
    "xgboost": Booster(xgboost, lambda m: bytes(m.get_booster().save_raw("json"))),
    "lightgbm": Booster(lightgbm, lambda m: m.booster_.model_to_string().encode()),
}


@contextmanager
def cluster_of(workers: int) -> Iterator[Client]:
    """Processes of one thread each."""
    options = {"dashboard_address": None, "memory_limit": 0, "silence_logs": logging.CRITICAL}
    with LocalCluster(n_workers=workers, threads_per_worker=1, **options) as cluster, Client(cluster) as client:
        yield client


def in_memory(shape: Shape, partitions: int) -> tuple[da.Array, da.Array]:
    """The arrays, in the memory of workers."""
    X, y = dask.persist(*shape.arrays(partitions))
    dask.distributed.wait([X, y])
    return X, y


def alone(shape: Shape) -> tuple[dict[str, Any], bytes]:
    """The same fit on one machine, with one thread."""
    X, y = dask.compute(*shape.arrays(shape.partitions), scheduler="sync")
    forget_peak()
    seconds, model = timed(lambda: GBFSClassifier(**OURS, max_iter=shape.trees, n_jobs=1).fit(X, y))
    row = {"who": "frugalboost, one machine", "workers": 0, "seconds": seconds, "peak_gb": process_bytes("VmHWM") / 1e9}
    return row, saved(model)


def measured(name: str, shape: Shape, workers: int, expected: bytes | None) -> dict[str, Any]:
    """One booster on a cluster of its own."""
    booster, digest = BOOSTERS[name], lambda model: hashlib.sha256(BOOSTERS[name].model(model)).hexdigest()
    with cluster_of(workers) as client:
        X, y = in_memory(shape, shape.partitions)
        booster.fit(client, X, y, 2)  # loads libraries
        client.run(forget_peak)
        seconds, model = timed(lambda: booster.fit(client, X, y, shape.trees))
        peak = max(client.run(process_bytes, "VmHWM").values()) / 1e9
        row = {"who": name, "workers": workers, "seconds": seconds, "peak_gb": peak}
        if name == "frugalboost":
            assert booster.model(model) == expected, "the model differs from the one of one machine"
            row |= {"messages": model.cluster_["messages"], "megabytes": model.cluster_["bytes"] / 1e6}
            row |= {"by_purpose": model.cluster_["by_purpose"]}
        if workers > 1:
            row["again"] = digest(booster.fit(client, X, y, shape.trees)) == digest(model)
            row["other_partitions"] = digest(
                booster.fit(client, *in_memory(shape, 2 * shape.partitions), shape.trees)
            ) == digest(model)
    return row


def when_killed(name: str, shape: Shape, seconds: float) -> str:
    """What a fit does when a worker's process is killed in its middle; in a process of its own, which it may end."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(kill_one, name, shape, seconds).result()
        except BrokenProcessPool:
            return "ends the process that called fit"


def kill_one(name: str, shape: Shape, seconds: float) -> str:
    """Kill a worker in the middle of a fit that takes so long, and say what comes of it."""
    warnings.simplefilter("ignore")
    booster, ended = BOOSTERS[name], []
    with cluster_of(2) as client:
        X, y = in_memory(shape, shape.partitions)
        before = booster.model(booster.fit(client, X, y, shape.trees))

        def run() -> None:
            try:
                ended.append(booster.fit(client, X, y, shape.trees))
            except BaseException as error:
                ended.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        time.sleep(seconds / 2)
        begin, victim = time.perf_counter(), sorted(client.nthreads())[-1]
        os.kill(client.run(os.getpid, workers=[victim])[victim], signal.SIGKILL)
        thread.join(PATIENCE)
        took = time.perf_counter() - begin
    if not ended:
        return f"not ended {PATIENCE:.0f} s later"
    if isinstance(ended[0], BaseException):
        return f"{type(ended[0]).__name__} after {took:.1f} s"
    return f"{'the same' if booster.model(ended[0]) == before else 'another'} model {took:.1f} s later"


def sums(fit: str, number: int, size: int) -> float:
    """Milliseconds of one sum over all workers, the median of many."""
    member = exchange.this_member(fit)
    values, nothing, took = np.ones(size // 8, dtype=np.int64), np.zeros(0), []
    for _ in range(number):
        seconds, _ = timed(lambda: member.exchange(values, nothing, "a measurement"))
        values[:] = 1
        took.append(seconds)
    return float(np.median(took) * 1e3)


def latency(number: int = 200) -> list[dict[str, float]]:
    """How long a sum over two and over five workers takes, for several sizes in bytes."""
    rows = []
    for workers in (2, 5):
        with cluster_of(workers) as client:
            places = sorted(client.nthreads())
            for size in (480, 20_000, 160_000, 1_600_000):
                client.run(exchange.join_fit, "latency", places, exchange.FANOUT)
                tasks = [
                    client.submit(sums, "latency", number, size, workers=[w], allow_other_workers=False, pure=False)
                    for w in places
                ]
                rows.append({"workers": workers, "bytes": size, "milliseconds": float(np.median(client.gather(tasks)))})
    return rows


def page(results: list[dict[str, Any]], sums_of: list[dict[str, float]], about: dict[str, Any]) -> str:
    """The results as a page."""
    lines = ["# On a cluster", "", (__doc__ or "").split("\n\n", 2)[2].strip(), ""]
    for shape in dict.fromkeys(r["shape"] for r in results):
        lines += [
            f"## {shape}",
            "",
            "| " + " | ".join(c.replace("_", " ") for c in COLUMNS) + " |",
            "|" + "---|" * len(COLUMNS),
        ]
        lines += [
            "| " + " | ".join(shown(row.get(c)) for c in COLUMNS) + " |" for row in results if row["shape"] == shape
        ]
        lines.append("")
    lines += ["## One sum over all workers", "", "| workers | bytes | ms |", "|---|---|---|"]
    lines += [f"| {r['workers']} | {r['bytes']:,} | {r['milliseconds']:.2f} |" for r in sums_of]
    return "\n".join([*lines, "", ", ".join(f"{k} {v}" for k, v in about.items()), ""])


def shown(value: Any) -> str:
    """A cell of a table."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.3g}" if isinstance(value, float) else f"{value}"


def main() -> None:
    """Measure, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--latency", action="store_true")
    parser.add_argument("--shapes", type=int, default=len(FULL), help="how many of the tables, the smallest first")
    parser.add_argument("--only", choices=BOOSTERS, nargs="+", default=list(BOOSTERS))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    sums_of = latency(20 if asked.quick else 200)
    for row in sums_of:
        print(row, flush=True)
    if asked.latency:
        return
    about = machine() | versions(("dask", "distributed"))
    results: list[dict[str, Any]] = []

    def keep(row: dict[str, Any]) -> None:
        """What is there so far; a run takes long."""
        results.append(row)
        print({k: v for k, v in row.items() if k != "by_purpose"}, flush=True)
        if not asked.quick:
            write_json(SPEED / "cluster.json", {"machine": about, "sums": sums_of, "results": results})
            write_atomically(SPEED / "cluster.md", page(results, sums_of, about))

    for shape in QUICK if asked.quick else FULL[: asked.shapes]:
        title = f"{shape.rows:,} x {shape.columns}, {shape.trees} trees, {shape.partitions} partitions"
        row, expected = alone(shape)
        keep({"shape": title, **row})
        for name in asked.only:
            for workers in (1, 2):
                row = measured(name, shape, workers, expected)
                if workers > 1:
                    row["killed"] = when_killed(name, shape, row["seconds"])
                keep({"shape": title, **row})


if __name__ == "__main__":
    main()
