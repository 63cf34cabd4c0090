"""The page of the wide tables: errors, differences from the best rival, and at how many places ours is as good."""

from __future__ import annotations

import math
import statistics
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from lab.quality.page import OURS, Cell, Record, Results, about, table

KS = (2, 5, 10, 20, 50)
FINAL = range(1000, 1020)  # splits that no setting was chosen on

TITLES = {
    "l1": "L1 path",
    "l1_l2": "L1 path, then L2",
    "svm_rfe": "SVM-RFE",
    "forest": "forest, top importance",
    "mrmr": "mRMR, RBF SVM",
    "hsic": "HSIC Lasso, RBF SVM",
    "lightgbm": "LightGBM, top gain",
    "frugalboost": "frugalboost",
    "frugalboost_auto": 'frugalboost, base="auto"',
    "frugalboost_lines": 'frugalboost, base="lines"',
}

INTRO = """# Test error with at most k features, where columns outnumber rows

Made by `python -m lab.quality.wide`. Mean test error in % over random stratified 80/20 splits, which are the same for
all methods; settings of ours were chosen on other splits of these tables, seeds 0 to 19. Methods see the training rows
alone. The best of each column is bold; (n) is the number of features used where it is below k; s: seconds of
one processor per split, on a busy machine. Where a method has no model of at most k features it predicts the larger
class. '-': not run. Errors of an earlier version of ours on these splits had been seen before its last changes, which
were chosen on seeds 0 to 19 alone.

Colon, chowdary, singh and golub hold raw intensities (up to 17,000 and more): all methods get log2(max(x, 1)). Gravier
holds log ratios from -5 to 3 and is taken as it is, as are arcene, dexter and dorothea; the last two are sparse.
Dorothea has one row of class 1 in ten, so that plain error says little there; wrong rows of class 1 are in wide.json.

- L1 path: logistic regression with an L1 penalty, 150 penalties; of the models with at most k columns the one with the
  lowest log loss on inner splits.
- L1 path, then L2: the first k columns of that path, then logistic regression with an L2 penalty chosen by 5-fold log
  loss.
- SVM-RFE: a linear SVM (C = 1) drops a tenth of the columns at a time, from 100 on one by one; then a linear SVM, C by
  inner splits.
- forest: 500 trees rank by impurity, 500 are trained on the top k.
- mRMR, HSIC Lasso: then an SVM with a Gaussian kernel, C and gamma by inner splits. mRMR ranks the 10,000 columns with
  the largest F at most, HSIC Lasso those 2,000 of them whose kernels are most like that of the labels.
- LightGBM: 100 trees of depth 1, 2 or 3, leaves of at least 5 rows, rank by total gain; on the top k the depth with
  the lowest 5-fold log loss. Without early stopping, for which rows would have to be held out: so errors are lower.
- frugalboost: `GBFSClassifier(n_features_to_select=k)`, and the same with `base`; all else as it is by default.

Inner splits are five random ones of the training rows, a fifth held out.
"""

COUNTED = (
    "Of the places (table and k), those where the mean error is at most the best rival's plus one standard error of"
    " the best rival's mean; where the mean of the differences of the same splits is at most its own standard "
    "error; and where the mean error is not above the best rival's. The best rival is the one with the lowest mean "
    "error at this place, so it differs from place to place and is better than any one method."
)

EACH = (
    "Every method against the best of all others, among them ours (the plain call), on the tables that it was run on. "
    "The best of several means is another one from place to place."
)

Kept = dict[str, Any]


def page(kept: Kept, seeds: Sequence[int]) -> str:
    """The page of those runs whose split is one of the seeds."""
    records = [expanded(run, kept["tables"][run["d"]]) for run in kept["runs"] if run["s"] in seeds]
    results = Results(records, KS, {name: len(seeds) for name in kept["tables"]})
    lines = [
        INTRO,
        "## At how many places ours is as good as the best rival",
        "",
        *summary(results),
        "",
        *each(results),
        "",
    ]
    for data in results.data:
        lines += [f"## {data}", "", about(results, data), "", *table(results, data), "", *differences(results, data)]
    return "\n".join(lines).rstrip() + "\n"


def expanded(run: Record, size: Record) -> Record:
    """A run as lab.quality.page has it."""
    at = zip(KS, run["w"], run.get("n", KS), strict=True)
    found = {
        str(k): {"n_features": n, "error": wrong / size["test"], "se": 0.0, "n_test": size["test"]}
        for k, wrong, n in at
    }
    about = {"title": TITLES[run["m"]], "task": "classification", "n_train": size["train"], "timed_out": False}
    about |= {"n_columns": size["columns"], "seconds": run["t"], "k": found}
    return {"data": run["d"], "method": run["m"], "split": run["s"]} | about


def ours_and_rivals(results: Results) -> tuple[list[str], list[str]]:
    ours = [m for m in results.methods if m.startswith(OURS)]
    return ours, [m for m in results.methods if m not in ours]


def places(results: Results, method: str) -> Iterator[tuple[str, int, str, Cell]]:
    """Where a method and some rival have errors: table and k, the best rival and its error."""
    _, rivals = ours_and_rivals(results)
    for data in results.data:
        for k in results.ks[data]:
            best = results.best(data, k, rivals)
            if best is not None and results.cells[data, method, k] is not None:
                yield data, k, *best


def paired(results: Results, data: str, k: int, method: str, rival: str) -> tuple[float, float]:
    """Mean difference of errors over the splits that both have, and its standard error."""
    found = [{r["split"]: r["k"][str(k)]["error"] for r in results.of(data, m)} for m in (method, rival)]
    apart = [found[0][split] - found[1][split] for split in sorted(found[0].keys() & found[1].keys())]
    if not apart:
        return math.nan, math.nan
    return statistics.mean(apart), statistics.stdev(apart) / math.sqrt(len(apart)) if len(apart) > 1 else 0.0


def summary(results: Results) -> list[str]:
    """Counts for each of ours."""
    lines = [
        *textwrap.wrap(COUNTED, 120),
        "",
        "| method | places | within one s.e. of the best rival | within one s.e. of the difference | not above it |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    ours, _ = ours_and_rivals(results)
    return lines + [f"| {results.title(m)} | " + " | ".join(map(str, counts(results, m))) + " |" for m in ours]


def each(results: Results) -> list[str]:
    """Every method against the best of the others: its mean error, and places within one standard error."""
    lines = [
        *textwrap.wrap(EACH, 120),
        "",
        "| method | tables | mean error, % | best of the others, % | places | within one s.e. of that best |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    _, rivals = ours_and_rivals(results)
    for method in [m for m in (*rivals, OURS) if m in results.methods]:
        others = [m for m in (*rivals, OURS) if m != method]
        found = []
        for data, k in ((name, k) for name in results.data for k in results.ks[name]):
            own, best = results.cells[data, method, k], results.best(data, k, others)
            if own is not None and best is not None:
                found.append((data, own.error, best[1].error, own.error <= best[1].error + best[1].se + 1e-12))
        if found:
            tables, own_errors, best_errors, within = zip(*found, strict=True)
            means = f"{100 * statistics.mean(own_errors):.1f} | {100 * statistics.mean(best_errors):.1f}"
            lines.append(f"| {results.title(method)} | {len(set(tables))} | {means} | {len(found)} | {sum(within)} |")
    return lines


def counts(results: Results, method: str) -> tuple[int, int, int, int]:
    """Places; those within the best rival's standard error; within that of the difference; not above the best rival."""
    found = []
    for data, k, rival, best in places(results, method):
        error, (apart, se) = results.cells[data, method, k].error, paired(results, data, k, method, rival)
        found.append((True, error <= best.error + best.se + 1e-12, apart <= se + 1e-12, error <= best.error + 1e-12))
    return tuple(sum(column) for column in zip(*found, strict=True)) if found else (0, 0, 0, 0)


def differences(results: Results, data: str) -> list[str]:
    """For each of ours the difference from the best rival at each k, with its standard error."""
    ours, _ = ours_and_rivals(results)
    ours = [m for m in ours if results.of(data, m)]
    if not ours:
        return []
    ks = results.ks[data]
    lines = ["Difference from the best rival on the same splits, in points, with its standard error:", ""]
    lines += ["| method | " + " | ".join(f"k={k}" for k in ks) + " |", "| --- |" + " ---: |" * len(ks)]
    for method in ours:
        at = {k: paired(results, data, k, method, rival) for d, k, rival, _ in places(results, method) if d == data}
        shown = [f"{100 * at[k][0]:+.1f} ({100 * at[k][1]:.1f})" if k in at else "-" for k in ks]
        lines.append(f"| {results.title(method)} | " + " | ".join(shown) + " |")
    return [*lines, ""]
