"""All rivals on one table: penalties that give as many features, then measurements in turns, then medians."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from lab.machine import machine
from lab.output import ROOT, write_json
from lab.rivals.boosters import CEGB, COMPARED, OURS, SAMPLED, installed, lightgbm_cegb, ours
from lab.speed.penalties import matching_mu, matching_penalty, near
from lab.speed.works import SETTING, Work

Record = dict[str, Any]
Runs = dict[str, list[Record]]


def write(work: Work, folder: Path) -> tuple[int, ...]:
    """Put the table on disk, all of it: nothing shall be written back while others are timed."""
    X, y = work.load()
    for name, values in (("X", X), ("y", y)):
        with open(folder / f"{name}.npy", "wb") as file:
            np.save(file, values)
            os.fsync(file.fileno())
    return X.shape


def tuned(folder: Path, work: Work, setting: Record, start: dict[str, float], part: int) -> dict[str, float]:
    """Penalties that suit the table's every part-th row, scaled to all of them: gains grow with the rows."""
    X = np.ascontiguousarray(np.load(folder / "X.npy", mmap_mode="r")[::part])
    y = np.load(folder / "y.npy")[::part]
    data = ours.bin(X, y, setting)
    mu = start[OURS] / part
    if work.features is None:
        features = ours.train(data, setting, mu)
    else:
        mu, features = matching_mu(data, setting, work.features, mu)
    data = lightgbm_cegb.bin(X, y, setting)
    penalty, _ = matching_penalty(data, setting, features, start[CEGB] / part)
    return {OURS: mu * part, CEGB: penalty * part}


def measured(folder: Path, rival: str, setting: Record, penalty: float, trainings: int) -> Record:
    """Run lab/speed/measure.py in a fresh process."""
    asked = {"folder": str(folder), "rival": rival, "setting": setting, "penalty": penalty, "trainings": trainings}
    command = [sys.executable, "-W", "ignore", "-m", "lab.speed.measure", json.dumps(asked)]
    threads = {"OMP_NUM_THREADS": str(setting["threads"])}  # scikit-learn knows no other way
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT, env={**os.environ, **threads}
    )
    record: Record = json.loads(done.stdout.splitlines()[-1])
    return record


def same_numbers_of_features(runs: Runs, wanted: int | None) -> bool:
    """Whether ours has the wanted number of features, and LightGBM CEGB as many as ours."""
    found = runs[OURS][0]["features"]
    return (wanted is None or near(found, wanted)) and near(runs[CEGB][0]["features"], found)


def run_rounds(
    folder: Path, work: Work, setting: Record, penalty: dict[str, float], rivals: list[str], strict: bool
) -> Runs | None:
    """Every rival once in a round; None where strict and the first round shows that the penalties don't suit."""
    runs: Runs = {rival: [] for rival in rivals}
    for turn in range(work.rounds):
        for rival in rivals:
            if turn >= (work.rounds if rival in COMPARED else work.other_rounds):
                continue
            price = penalty.get(OURS if rival == SAMPLED else rival, 0.0)
            runs[rival].append(measured(folder, rival, setting, price, work.trainings))
            if strict and turn == 0 and rival == CEGB and not same_numbers_of_features(runs, work.features):
                return None
    return runs


def median(runs: list[Record], key: str) -> float | None:
    values = [run[key] for run in runs]
    return None if None in values else statistics.median(values)


def summary(runs: list[Record]) -> Record:
    keys = ("seconds", "binning_seconds", "seconds_with_binning", "peak_bytes", "bytes_beside_table")
    return {
        "name": runs[0]["name"],
        "features": runs[0]["features"],
        **{key: median(runs, key) for key in keys},
        "runs": runs,
    }


def compare(
    work: Work,
    setting: Record,
    known: dict[str, float] | None = None,
    left_out: tuple[str, ...] = (),
    sampled: bool = False,
) -> Record:
    """Measure all rivals but those left out. Known penalties are tried as they are, and tuned where they don't suit.

    Where `sampled`, ours is measured with a sample of the new features too, with the same mu.
    """
    setting = {**setting, "trees": work.trees}
    left_out = (*work.left_out, *left_out)
    rivals = [r for r in installed() if r not in left_out and (sampled or r != SAMPLED)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows, columns = write(work, folder)
        guess = {OURS: work.mu, CEGB: 10 * work.mu}
        penalty = known or tuned(folder, work, setting, guess, work.part)
        doubtful = known is not None or work.part > 1
        runs = run_rounds(folder, work, setting, penalty, rivals, strict=doubtful)
        if runs is None:
            penalty = tuned(folder, work, setting, penalty, 1)
            runs = run_rounds(folder, work, setting, penalty, rivals, strict=False)
    assert runs is not None
    return {
        "rows": rows,
        "columns": columns,
        "trees": work.trees,
        "features_wanted": work.features,
        "at_least": work.at_least,
        "penalty": penalty,
        "left_out": [rival for rival in left_out if rival in installed()],
        "rivals": {rival: summary(found) for rival, found in runs.items()},
    }


def ratio(entry: Record, key: str) -> float:
    """LightGBM CEGB's time / ours."""
    return float(entry["rivals"][CEGB][key] / entry["rivals"][OURS][key])


def summary_text(name: str, entry: Record) -> str:
    lines = [f"{name}: {entry['trees']} trees"]
    for r in entry["rivals"].values():
        seconds = "   -   " if r["seconds"] is None else f"{r['seconds']:7.3f}"
        lines.append(
            f"  {r['name']:18} {seconds} s, with binning {r['seconds_with_binning']:7.3f} s, "
            f"{r['features']:4} features, peak {r['peak_bytes'] / 1e6:6.0f} MB, "
            f"{r['bytes_beside_table'] / 1e6:6.0f} MB beside the table"
        )
    alone, whole = ratio(entry, "seconds"), ratio(entry, "seconds_with_binning")
    least = f" (at least {entry['at_least']:g})" if entry["at_least"] else ""
    lines.append(f"  LightGBM CEGB / ours: {alone:.2f}{least}, with binning {whole:.2f}")
    return "\n".join(lines)


class Results:
    """A file of entries, in parts; it is written after each of them, or never where the path is None."""

    def __init__(self, path: Path | None, setting: Record, some: bool) -> None:
        self.path = path
        self.old: Record = json.loads(path.read_text()) if path is not None and path.exists() else {}
        self.new: Record = {"machine": machine(), "setting": setting}
        if some and self.old:
            if any(self.old[key] != self.new[key] for key in self.new):
                raise SystemExit(f"{path} comes from another machine, package or setting: run without --only")
            self.new = json.loads(json.dumps(self.old))

    def penalty(self, part: str, name: str) -> dict[str, float] | None:
        """What was found the last time."""
        entry = self.old.get(part, {}).get(name)
        return entry["penalty"] if entry else None

    def put(self, part: str, name: str, entry: Record) -> None:
        """Add an entry and show it."""
        self.new.setdefault(part, {})[name] = entry
        print(summary_text(name, entry), flush=True)
        if self.path is not None:
            write_json(self.path, self.new)


def parsed(about: str, names: list[str]) -> argparse.Namespace:
    """Options of the scripts that compare."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=f"some of: {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="tiny tables; writes nothing")
    parser.add_argument("--reuse", action="store_true", help="try the penalties of the last run first")
    parser.add_argument("--threads", type=int, default=SETTING["threads"])
    return parser.parse_args()
