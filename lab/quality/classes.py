"""Many classes: a tree for each, one tree for all of them, and LightGBM.

    python -m lab.quality.classes            # about 10 minutes on one core
    python -m lab.quality.classes --quick    # few rows; writes nothing

Test errors of `n_features_to_select` at several numbers of features, and CPU seconds of the search for all of them.
Results go to lab/results/quality/classes.json and classes.md. Tables are read from the folder that FRUGALBOOST_DATA
names.
"""

from __future__ import annotations

import argparse
import textwrap
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from frugalboost import GBFSClassifier, gbfs_path
from lab.data import Folder, load
from lab.data.files import read_npz
from lab.machine import machine
from lab.output import QUALITY, write_json

KS, ROWS, QUICK_ROWS, TREES, DEPTH, PATIENCE = (5, 10, 20, 50), 2_000, 500, 300, 4, 20
LEAST, LEAST_KEPT = 100, 10  # rows of a class in the whole table, and in what is drawn of it
STRATEGIES = {"one_output_per_tree": "a tree for each class", "multi_output_tree": "one tree for all"}
LIGHTGBM = "LightGBM, top gain"

Table = tuple[Any, NDArray[Any]]
Row = dict[str, Any]


def letters() -> Table:
    """Isolet with its 26 letters."""
    table = load("isolet")
    return table.X, np.asarray(table.labels)


def kinds() -> Table:
    """The training part of kddcup99 with those kinds of connections that have 100 rows or more."""
    table = load("kddcup99")
    training, kind = ~np.asarray(table.is_test), np.asarray(table.labels)
    names, counts = np.unique(kind[training], return_counts=True)
    chosen = training & np.isin(kind, names[counts >= LEAST])
    return table.X[chosen], kind[chosen]


def digits() -> Table:
    """All ten digits of mnist."""
    path = Folder.named(None).find(["mnist.npz"])
    if path is None:
        raise SystemExit("There is no file mnist.npz in the folder of the data files.")
    arrays = read_npz(path)
    return arrays["X"].reshape(len(arrays["y"]), -1).astype(np.float32), arrays["y"]


def made() -> Table:
    """Seven classes of two clusters each; 15 columns matter, 15 repeat them, 70 are noise."""
    X, y = make_classification(
        20_000, 100, n_informative=15, n_redundant=15, n_classes=7, n_clusters_per_class=2, random_state=0
    )
    return X, y


TABLES: dict[str, Callable[[], Table]] = {
    "made, 7 classes": made,
    "kddcup99, kinds": kinds,
    "mnist, 10 digits": digits,
    "isolet, 26 letters": letters,
}


def ours(strategy: str, train: Table, test: Table) -> tuple[list[float], float]:
    """Errors and CPU seconds of our path."""
    model = GBFSClassifier(
        multi_strategy=strategy, base="trees", max_iter=TREES, max_depth=DEPTH, early_stopping=True, random_state=0
    )
    begin = time.process_time()
    path = gbfs_path(*train, estimator=model, n_features_to_select=list(KS), n_jobs=1)
    seconds = time.process_time() - begin
    return [float(np.mean(m.predict(test[0]) != test[1])) for m in path.estimators], seconds


def lightgbms(train: Table, test: Table) -> tuple[list[float], float]:
    """LightGBM ranks all columns by total gain, and is trained anew on the first k."""
    X, X_valid, y, y_valid = train_test_split(*train, test_size=0.1, stratify=train[1], random_state=0)

    def fitted(columns: NDArray[np.intp]) -> Any:
        model = lightgbm.LGBMClassifier(
            n_estimators=TREES,
            max_depth=DEPTH,
            num_leaves=2**DEPTH,
            n_jobs=1,
            random_state=0,
            verbosity=-1,
            importance_type="gain",
        )
        stop = lightgbm.early_stopping(PATIENCE, verbose=False)
        return model.fit(X[:, columns], y, eval_X=X_valid[:, columns], eval_y=y_valid, callbacks=[stop])

    begin = time.process_time()
    order = np.argsort(-fitted(np.arange(X.shape[1])).feature_importances_, kind="stable")
    models = {k: fitted(order[:k]) for k in KS}
    seconds = time.process_time() - begin
    return [float(np.mean(m.predict(test[0][:, order[:k]]) != test[1])) for k, m in models.items()], seconds


def measured(name: str, rows: int) -> list[Row]:
    """What all of them reach on one table."""
    X, y = TABLES[name]()
    kept = np.random.default_rng(0).permutation(len(y))[: 2 * rows]
    names, counts = np.unique(y[kept], return_counts=True)
    kept = kept[np.isin(y[kept], names[counts >= LEAST_KEPT])]
    train, test = train_test_split(kept, train_size=min(rows, len(kept) * 3 // 4), stratify=y[kept], random_state=0)
    parts = (X[train], y[train]), (X[test], y[test])
    about = {"data": name, "rows": len(train), "columns": X.shape[1], "classes": len(np.unique(y[train]))}
    methods: dict[str, Callable[[Table, Table], tuple[list[float], float]]]
    methods = {title: partial(ours, strategy) for strategy, title in STRATEGIES.items()} | {LIGHTGBM: lightgbms}
    found = []
    for title, method in methods.items():
        errors, seconds = method(*parts)
        found.append(about | {"method": title, "errors": errors, "seconds": seconds})
        print(f"{name}, {title}: errors {np.round(errors, 4).tolist()}, {seconds:.0f} s", flush=True)
    return found


def page(rows: list[Row]) -> str:
    """A table for people."""
    about = (
        "Made by `python -m lab.quality.classes`. Test error in % of trees with exactly k features, and CPU seconds of "
        "the search for all four k: `n_features_to_select` with `multi_strategy` one_output_per_tree (a tree for each "
        "class) or multi_output_tree (one tree for all), and LightGBM trained anew on the k columns of the largest "
        f"total gain. {TREES} iterations at most, depth {DEPTH}, a tenth of the rows set aside for early stopping, one "
        f"split, at most {ROWS:,} training rows."
    )
    lines = ["# Many classes", "", *textwrap.wrap(about, 120), ""]
    lines += ["| table | trees | " + " | ".join(f"k = {k}" for k in KS) + " | seconds |"]
    lines += ["|---|---|" + "---:|" * (len(KS) + 1)]
    for r in rows:
        table = f"{r['data']}, {r['rows']:,} x {r['columns']}"
        errors = " | ".join(f"{100 * e:.1f}" for e in r["errors"])
        lines.append(f"| {table} | {r['method']} | {errors} | {r['seconds']:.0f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure all tables and write both files."""
    parser = argparse.ArgumentParser("python -m lab.quality.classes", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few rows; writes nothing")
    quick = parser.parse_args().quick
    if not Folder.set():
        raise SystemExit("No data: FRUGALBOOST_DATA must name the folder of the data files.")
    rows: list[Row] = []
    for name in TABLES:
        rows += measured(name, QUICK_ROWS if quick else ROWS)
        if not quick:
            write_json(QUALITY / "classes.json", {"machine": machine(), "rows": rows})
            (QUALITY / "classes.md").write_text(page(rows))
    if quick:
        print(page(rows))


if __name__ == "__main__":
    main()
