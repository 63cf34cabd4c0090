"""Tables of every kind: memory and time of sparse text, of a table read from disk, of categories, binning, predictions.

    python -m lab.speed.tables            # everything, about 5 minutes on 2 cores
    python -m lab.speed.tables --only text categories

Each part runs in a process of its own, so that its peak memory is its own. Results go to lab/results/speed/tables.json
and tables.md. Needs the extra "lab"; kddcup99 and adult are read from the folder that FRUGALBOOST_DATA names, and left
out where it names none.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from frugalboost import GBFSClassifier
from frugalboost.tables import DenseTable
from frugalboost.training.binning import Thresholds
from lab.data import Folder, adult_frame, load
from lab.machine import machine, timed
from lab.output import SPEED, write_json

THREADS = 2


def peak_gb() -> float:
    """The most memory that this process ever had, files mapped into it included."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


# ------------------------------------------------------------------------------------------------ sparse text


def text(rows: int = 100_000, columns: int = 1_000_000, words: int = 100, trees: int = 100) -> dict[str, Any]:
    """Counts of words, a few of which tell the class; a word's frequency falls as in real text."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    word = np.minimum((columns * rng.random((rows, words)) ** 3).astype(np.int32), columns - 1)
    count = rng.integers(1, 5, (rows, words)).astype(np.float32)
    shape = (rows, columns)
    X = sparse.csr_array((count.ravel(), word.ravel(), np.arange(0, rows * words + 1, words)), shape=shape)
    X.sum_duplicates()
    score = X[:, :30].sum(axis=1) - 1.5 * X[:, 30:80].sum(axis=1)
    y = (score + rng.normal(size=rows) > np.median(score)).astype(int)
    before = peak_gb()
    seconds, model = timed(lambda: GBFSClassifier(1e-3, max_iter=trees, n_jobs=THREADS).fit(X, y))
    return {
        "rows": rows,
        "columns": columns,
        "stored": int(X.nnz),
        "trees": trees,
        "features": model.n_features_selected_,
        "seconds": seconds,
        "peak_gb_before": before,
        "peak_gb": peak_gb(),
        "at_most_gb": 8.0,
    }


# ---------------------------------------------------------------------------------------- larger than memory


def write_kddcup99(folder: Path, times: int) -> None:
    """The 10 percent file as 122 columns, tiled: one Parquet file for each copy."""
    import pandas as pd

    data = load("kddcup99")
    X = pd.DataFrame(data.X[~data.is_test], columns=data.feature_names)
    levels = [name for name in X if "=" in name]
    table = X.astype(dict.fromkeys(levels, np.uint8)).assign(attack=data.y[~data.is_test].astype(np.uint8))
    for i in range(times):
        table.to_parquet(folder / f"part{i}.parquet", index=False, row_group_size=100_000)


def disk(times: int = 10, trees: int = 20) -> dict[str, Any] | None:
    """kddcup99 tiled, read from Parquet files by a process that does nothing else."""
    if not Folder.set():
        return None
    with tempfile.TemporaryDirectory() as folder:
        making = [sys.executable, "-c", f"from lab.speed.tables import *; write_kddcup99(Path({folder!r}), {times})"]
        subprocess.run(making, check=True)
        size = sum(f.stat().st_size for f in Path(folder).iterdir())
        model = GBFSClassifier(1e-3, max_iter=trees, n_jobs=THREADS)
        seconds, _ = timed(lambda: model.fit(folder, "attack"))
        peak = peak_gb()
        predicting, labels = timed(lambda: model.predict(folder))
    return {
        "rows": len(labels),
        "columns": model.n_features_in_,
        "file_mb": size / 1e6,
        "trees": trees,
        "features": model.n_features_selected_,
        "seconds": seconds,
        "predict_seconds": predicting,
        "peak_gb": peak,
        "at_most_gb": 3.0,
    }


# -------------------------------------------------------------------------------------------------- categories


def categories() -> dict[str, Any] | None:
    """adult_raw with categories and one-hot, for several prices: error on the official test rows."""
    import pandas as pd

    if not Folder.set():
        return None
    X, y, test = adult_frame()
    texts = list(X.select_dtypes("category"))
    forms = {"categories": X, "one-hot": pd.get_dummies(X, columns=texts)}
    found = []
    for mu in (1e-2, 3e-3, 1e-3, 3e-4, 1e-4):
        row: dict[str, Any] = {"mu": mu}
        for name, table in forms.items():
            seconds, model = timed(
                lambda table=table, mu=mu: GBFSClassifier(mu, n_jobs=THREADS).fit(table[~test], y[~test])
            )
            error = 1 - model.score(table[test], y[test])
            row[name] = {"features": model.n_features_selected_, "error": error, "seconds": seconds}
        found.append(row)
    return {"columns": {name: table.shape[1] for name, table in forms.items()}, "runs": found}


# ----------------------------------------------------------------------------------- binning and predictions


def against_lightgbm(rows: int = 1_000_000, columns: int = 60, trees: int = 100, repeats: int = 5) -> dict[str, Any]:
    """Seconds to bin a table, and to predict from it, in turns with LightGBM."""
    import lightgbm

    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + np.sin(3 * X[:, 3]) + X[:, 4:20].sum(axis=1) / 4 > rng.normal(size=rows)) * 1
    table, quiet = DenseTable(X), {"verbose": -1, "num_threads": THREADS}
    part = slice(0, rows // 5)
    model = GBFSClassifier(3e-4, max_iter=trees, n_jobs=THREADS).fit(X[part], y[part])
    settings = {"objective": "binary", "num_leaves": 16, "max_depth": 4, **quiet}
    booster = lightgbm.train(settings, lightgbm.Dataset(X[part], y[part]), trees)

    def bin_ours() -> None:
        Thresholds.find(table, None, 255, THREADS).bin(table, THREADS)

    works = {
        "binning": (bin_ours, lambda: lightgbm.Dataset(X, y, params=quiet).construct()),
        "predicting": (
            lambda: model.decision_function(X),
            lambda: booster.predict(X, raw_score=True, num_threads=THREADS),
        ),
    }
    out: dict[str, Any] = {"rows": rows, "columns": columns, "trees": trees, "features": model.n_features_selected_}
    for name, rivals in works.items():
        seconds = [[timed(work)[0] for work in rivals] for _ in range(repeats)]
        ours, theirs = (statistics.median(s) for s in zip(*seconds, strict=True))
        out[name] = {"ours": ours, "lightgbm": theirs, "speed_ratio": theirs / ours}
    return out


# ----------------------------------------------------------------------------------------------------- a page

PARTS = {"text": text, "disk": disk, "categories": categories, "against_lightgbm": against_lightgbm}


def page(result: dict[str, Any]) -> str:
    """The results as a page to read."""
    about = result["machine"]
    lines = [
        "# Tables of every kind",
        "",
        f"Made by `python -m lab.speed.tables` on {about['cores']} cores ({about['cpu']}), {THREADS} threads.",
        "",
        "| table | trees | features | seconds | peak memory, GB | at most |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    if t := result.get("text"):
        lines.append(
            f"| sparse text, {t['rows']:,} x {t['columns']:,}, {t['stored']:,} stored | {t['trees']} | {t['features']} "
            f"| {t['seconds']:.1f} | {t['peak_gb']:.2f} | {t['at_most_gb']:.0f} |"
        )
    if t := result.get("disk"):
        lines.append(
            f"| kddcup99 tiled, {t['rows']:,} x {t['columns']}, from Parquet ({t['file_mb']:.0f} MB) | {t['trees']} | "
            f"{t['features']} | {t['seconds']:.1f} | {t['peak_gb']:.2f} | {t['at_most_gb']:.0f} |"
        )
    if t := result.get("categories"):
        lines += [
            "",
            f"adult_raw, 500 trees: {t['columns']['categories']} columns with categories, {t['columns']['one-hot']} "
            "one-hot. Features bought, and error on the test rows:",
            "",
            "| mu | categories | error | one-hot | error |",
            "|---:|---:|---:|---:|---:|",
        ]
        for r in t["runs"]:
            cells = [f"{r[k]['features']} | {100 * r[k]['error']:.2f} %" for k in ("categories", "one-hot")]
            lines.append(f"| {r['mu']:g} | {' | '.join(cells)} |")
    if t := result.get("against_lightgbm"):
        lines += [
            "",
            f"{t['rows']:,} x {t['columns']}, seconds, medians, in turns with LightGBM {about['lightgbm']} "
            f"(predictions: {t['trees']} trees of depth 4; ours looks at {t['features']} columns):",
            "",
            "| work | frugalboost | LightGBM | how many times as fast |",
            "|---|---:|---:|---:|",
        ]
        for name in ("binning", "predicting"):
            w = t[name]
            lines.append(f"| {name} | {w['ours']:.2f} | {w['lightgbm']:.2f} | **{w['speed_ratio']:.1f}** |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(PARTS), help="some parts; what is known of others stays")
    parser.add_argument("--part", choices=list(PARTS), help=argparse.SUPPRESS)  # in a process of its own
    options = parser.parse_args()
    if options.part:
        print(json.dumps(PARTS[options.part]()))
        return 0
    path = SPEED / "tables.json"
    result = json.loads(path.read_text()) if options.only and path.exists() else {}
    result["machine"] = machine()
    for name in options.only or PARTS:
        command = [sys.executable, "-W", "ignore", "-m", "lab.speed.tables", "--part", name]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        result[name] = json.loads(done.stdout.splitlines()[-1])
        print(name, result[name], flush=True)
    write_json(path, result)
    (SPEED / "tables.md").write_text(page(result))
    print(page(result))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
