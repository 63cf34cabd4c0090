"""How deep trees should be where columns outnumber rows.

    python -m lab.quality.depths            # about 5 minutes on one core
    python -m lab.quality.depths --quick    # one split each; writes nothing

Test errors of `n_features_to_select` with 100 trees of each depth, ten random 80/20 splits, logarithms of intensities.
Results go to lab/results/quality/depths.json and depths.md. Tables are read from the
folder that FRUGALBOOST_DATA names.
"""

from __future__ import annotations

import argparse
import textwrap
from typing import Any

import numpy as np

from frugalboost import GBFSClassifier, gbfs_path
from lab.data import Folder, load, logarithms
from lab.machine import machine
from lab.output import QUALITY, write_json

TABLES = ("colon", "microarray_singh", "microarray_chowdary")
DEPTHS, KS, SPLITS, TREES, LEAF = (1, 2, 4), (2, 5, 10, 20, 50), 10, 100, 5

Row = dict[str, Any]


def measured(name: str, depth: int, seed: int) -> Row:
    """Errors at each number of features on one split."""
    table = load(name)
    train, test = table.split(seed)
    X = logarithms(table.X)
    model = GBFSClassifier(max_depth=depth, max_iter=TREES, min_samples_leaf=LEAF, random_state=seed)
    path = gbfs_path(X[train], table.y[train], estimator=model, n_features_to_select=list(KS), n_jobs=1)
    errors = [float(np.mean(m.predict(X[test]) != table.y[test])) for m in path.estimators]
    return {"data": name, "depth": depth, "split": seed, "shape": list(table.X.shape), "errors": errors}


def page(rows: list[Row]) -> str:
    """A table for people."""
    splits = len({r["split"] for r in rows})
    about = (
        f"Made by `python -m lab.quality.depths`. Test error in % of `n_features_to_select=k` with {TREES} trees of "
        f"each depth, at least {LEAF} rows in a leaf; logarithms of intensities, mean over {splits} random "
        "80/20 splits."
    )
    lines = ["# How deep, where columns outnumber rows", "", *textwrap.wrap(about, 120), ""]
    lines += ["| table | depth | " + " | ".join(f"k = {k}" for k in KS) + " |", "|---|---:|" + "---:|" * len(KS)]
    for name in TABLES:
        for depth in DEPTHS:
            own = [r for r in rows if (r["data"], r["depth"]) == (name, depth)]
            if own:
                n, d = own[0]["shape"]
                errors = 100 * np.mean([r["errors"] for r in own], axis=0)
                lines.append(f"| {name}, {n} x {d:,} | {depth} | " + " | ".join(f"{e:.1f}" for e in errors) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser("python -m lab.quality.depths", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one split each; writes nothing")
    quick = parser.parse_args().quick
    if not Folder.set():
        raise SystemExit("No data: FRUGALBOOST_DATA must name the folder of the data files.")
    rows = []
    for name in TABLES:
        for seed in range(1 if quick else SPLITS):
            rows += [measured(name, depth, seed) for depth in DEPTHS]
        print(f"{name}: done", flush=True)
    if quick:
        print(page(rows))
        return
    write_json(QUALITY / "depths.json", {"machine": machine(), "rows": rows})
    (QUALITY / "depths.md").write_text(page(rows))


if __name__ == "__main__":
    main()
