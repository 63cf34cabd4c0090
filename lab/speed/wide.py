"""Very wide tables: what `new_features="auto"` saves and costs, and a million columns.

    python -m lab.speed.wide            # about 3 minutes on 2 cores
    python -m lab.speed.wide --quick    # 2 splits, 50,000 columns; writes nothing

microarray_chowdary and dorothea, ten splits, 300 trees, all features against a sample of them, in turns: seconds of
boosting and of the whole fit (binning takes the same time in both), errors on the 30 % of rows held out, and their
differences split by split. Results go to lab/results/speed/wide.json and wide.md. The two tables are read from the
folder that FRUGALBOOST_DATA names, and left out where it names none.
"""

from __future__ import annotations

import argparse
import resource
import warnings
from typing import Any
from unittest import mock

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from frugalboost import GBFSClassifier, _core
from frugalboost.training import boosting
from lab.data import Folder, load
from lab.machine import machine, timed
from lab.output import SPEED, write_json

THREADS = 2
MUS = (1e-3, 1e-2, 3e-2)


def table(name: str) -> tuple[Any, np.ndarray]:
    data = load(name)
    return data.X.astype(np.float64), data.y


def fit(X: Any, y: np.ndarray, mu: float, share: str, seed: int) -> tuple[GBFSClassifier, float, float]:
    """The model, seconds of the fit, and seconds of boosting alone."""
    boosted: list[float] = []

    def boost(**given: Any) -> Any:
        seconds, grown = timed(lambda: _core.boost(**given))
        boosted.append(seconds)
        return grown

    model = GBFSClassifier(mu, max_iter=300, min_samples_leaf=5, new_features=share, random_state=seed, n_jobs=THREADS)
    watched = mock.Mock(wraps=_core, boost=boost)
    with mock.patch.object(boosting, "_core", watched), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, _ = timed(lambda: model.fit(X, y))
    return model, seconds, boosted[0]


def compare(name: str, mu: float, splits: int) -> dict[str, Any]:
    """All features and a sample, in turns, over splits."""
    X, y = table(name)
    runs: dict[str, list[tuple[float, float, float, int]]] = {"all": [], "auto": []}
    cut = StratifiedShuffleSplit(splits, test_size=0.3, random_state=0).split(np.zeros(len(y)), y)
    for seed, (train, test) in enumerate(cut):
        for share, found in runs.items():
            model, whole, boost = fit(X[train], y[train], mu, share, seed)
            found.append((boost, whole, 1 - model.score(X[test], y[test]), model.n_features_selected_))
    both = {share: np.array(found) for share, found in runs.items()}
    difference = both["auto"][:, 2] - both["all"][:, 2]
    result = {
        "table": name,
        "rows": X.shape[0],
        "columns": X.shape[1],
        "mu": mu,
        "splits": splits,
        "boosting_seconds": {share: float(np.median(found[:, 0])) for share, found in both.items()},
        "fit_seconds": {share: float(np.median(found[:, 1])) for share, found in both.items()},
        "error": {share: float(found[:, 2].mean()) for share, found in both.items()},
        "features": {share: float(found[:, 3].mean()) for share, found in both.items()},
        "error_difference": float(difference.mean()),
        "standard_error": float(difference.std(ddof=1) / np.sqrt(splits)),
    }
    print(row(result), flush=True)
    return result


def million(columns: int) -> dict[str, Any]:
    """200 dense rows, of which a dozen columns tell the class."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, columns), dtype=np.float32)
    y = (X[:, :12].sum(axis=1) > 0).astype(int)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    model, whole, boost = fit(X, y, 1e-2, "auto", 0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {
        "rows": 200,
        "columns": columns,
        "boosting_seconds": boost,
        "fit_seconds": whole,
        "features": model.n_features_selected_,
        "table_gb": X.nbytes / 1e9,
        "peak_gb_before": before,
        "peak_gb": peak,
    }


def row(r: dict[str, Any]) -> str:
    """One line of the table."""
    seconds, whole = r["boosting_seconds"], r["fit_seconds"]
    return (
        f"| {r['table']} | {r['mu']} | {seconds['all']:.3f} | {seconds['auto']:.3f} "
        f"| **{seconds['all'] / seconds['auto']:.1f}** | {whole['all'] / whole['auto']:.1f} "
        f"| {r['features']['all']:.1f} | {r['features']['auto']:.1f} "
        f"| {100 * r['error']['all']:.1f} | {100 * r['error']['auto']:.1f} "
        f"| {100 * r['error_difference']:+.1f} ({100 * r['standard_error']:.1f}) |"
    )


def page(result: dict[str, Any]) -> str:
    """The results to read."""
    wide = result["million"]
    head = [
        "# Very wide tables",
        "",
        f"Made by `python -m lab.speed.wide` on {result['machine']['cores']} cores ({result['machine']['cpu']}), "
        f"{THREADS} threads, 300 trees, at least 5 rows a leaf; medians and means over ten splits, errors on 30 % held "
        "out.",
        "",
        "| table | mu | boosting, s: all | auto | ratio | ratio of whole fits | features: all | auto | error, %: all "
        "| auto | difference (its standard error) |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    tail = [
        "",
        f'{wide["rows"]} x {wide["columns"]:,} dense, `new_features="auto"`: {wide["boosting_seconds"]:.1f} s of '
        f"boosting 300 trees, {wide['fit_seconds']:.1f} s with binning, {wide['features']} features, peak memory "
        f"{wide['peak_gb']:.1f} GB, of which {wide['table_gb']:.1f} GB are the table itself.",
    ]
    return "\n".join([*head, *map(row, result["splits"]), *tail]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="2 splits, fewer columns; writes nothing")
    quick = parser.parse_args().quick
    names = ["microarray_chowdary", "dorothea"] if Folder.set() else []
    result = {
        "machine": machine(),
        "million": million(50_000 if quick else 1_000_000),
        "splits": [compare(name, mu, 2 if quick else 10) for name in names for mu in MUS],
    }
    print(page(result))
    if not quick:
        write_json(SPEED / "wide.json", result)
        (SPEED / "wide.md").write_text(page(result))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
