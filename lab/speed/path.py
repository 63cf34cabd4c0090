"""Time of a whole path in cross-validation, in fits of LightGBM.

    python -m lab.speed.path

20 values of mu with 5 folds on spam, by GBFSClassifierCV, against one LightGBM fit of 500 trees of the same depth,
leaves, bins and rate; both on 2 threads, in turns in one process, medians of several. Results go to
lab/results/speed/path.json.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable

import lightgbm

from frugalboost import GBFSClassifier, GBFSClassifierCV, gbfs_path
from lab.machine import machine, timed
from lab.output import SPEED, write_json
from lab.speed.works import real

TREES, THREADS, TURNS = 500, 2, 5


def main() -> None:
    """Time in turns and write medians."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    X, y = real("spam")
    lgbm = {"max_depth": 4, "num_leaves": 16, "learning_rate": 0.1, "min_child_samples": 20, "max_bin": 255}

    def rival() -> object:
        model = lightgbm.LGBMClassifier(n_estimators=TREES, n_jobs=THREADS, verbose=-1, **lgbm)
        return model.fit(X, y)

    whole = GBFSClassifier(max_iter=TREES)
    stopped = GBFSClassifier(max_iter=TREES, early_stopping=True, random_state=0)
    calls: dict[str, Callable[[], object]] = {
        "one LightGBM fit, 500 trees": rival,
        "20 mu x 5 folds, 500 trees each": lambda: GBFSClassifierCV(whole, random_state=0, n_jobs=THREADS).fit(X, y),
        "20 mu x 5 folds, early stopping": lambda: GBFSClassifierCV(stopped, random_state=0, n_jobs=THREADS).fit(X, y),
        "a path of 20 mu, 500 trees each": lambda: gbfs_path(X, y, estimator=whole, n_jobs=THREADS),
        "exactly 10 features": lambda: GBFSClassifier(n_features_to_select=10, n_jobs=THREADS).fit(X, y),
    }
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(TURNS):
        for name, call in calls.items():
            if turn == 0 or not name.startswith("20 mu") or turn < 3:
                taken[name].append(timed(call)[0])
    median = {name: statistics.median(times) for name, times in taken.items()}
    one = median["one LightGBM fit, 500 trees"]
    result = {name: {"seconds": round(t, 3), "LightGBM fits": round(t / one, 2)} for name, t in median.items()}
    for name, row in result.items():
        print(f"{name:36} {row['seconds']:8.2f} s  {row['LightGBM fits']:6.1f} LightGBM fits")
    write_json(SPEED / "path.json", {"machine": machine(), "times": result})


if __name__ == "__main__":
    main()
