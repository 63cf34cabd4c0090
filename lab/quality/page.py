"""The page of the quality benchmark: tables, ranks, and every place where ours is worse than the best rival."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

TIE = 1e-6  # means of rounded errors that were equal
OURS = "frugalboost"  # every method whose name begins so is ours, not a rival

INTRO = """# Test error with at most k features

Made by `python -m lab.quality`. Every method fits on the training rows alone; the validation rows (a quarter as
many) only stop it early or choose between its models. One thread. Mean of 5 random splits on spam, uspst, madelon and
pcmac, of 20 on colon; one split elsewhere. The best of each column is bold; (n) is the number of features used where it
is below k; 'none': no model with so few features was found; 'time': not within the time limit; '-': not run; s: seconds
per split, on a busy machine.

Boosters: 500 trees, learning rate 0.1, early stopping after 20 rounds. The rivals' have depth 4 and LightGBM's leaves
of at least 20 rows (a tenth of the rows where that is less). CatBoost has the better of two rankings, the forest the
best of three leaf sizes, penalised models the best penalty, all on the validation rows. "frugalboost, k features" has
the better of depths 4 and 6, the best size up to k, leaves of at least 5 rows, and is the mean of 5 such models; on
colon, whose 10 validation rows can't choose, depth 4, exactly k features and 100 trees. "frugalboost, path of mu" is
the forward part alone: the best of 40 mu, depth 4, one model, nothing sold or refitted. "frugalboost, as it is" is the
plain call `n_features_to_select=k`: exactly k features, all else by default, and validation rows are not looked at.

Test errors of these very splits were looked at while settings were settled: frugalboost's rule of selling (on uspst,
madelon, spam, pcmac), leaf size, depths and averaging; the forest's leaf sizes, the grid of the L1 model and
LassoNet's step. So small differences mean little.
"""

Record = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One method's error at one k on one table, over its splits."""

    error: float
    se: float
    n_features: float


def cell(records: Sequence[Record], k: int) -> Cell | None:
    """Mean over splits; a k that one split misses is missing."""
    found = [r["k"].get(str(k)) for r in records]
    if not found or any(f is None for f in found):
        return None
    errors = [f["error"] for f in found]
    several = len(errors) > 1
    se = statistics.stdev(errors) / math.sqrt(len(errors)) if several else found[0]["se"]
    return Cell(statistics.mean(errors), se, statistics.mean(f["n_features"] for f in found))


class Results:
    """Records by table and method."""

    def __init__(self, records: Sequence[Record], ks: Sequence[int], splits: dict[str, int]) -> None:
        self.records, self.splits = records, splits
        self.data = [d for d in splits if any(r["data"] == d and r["k"] for r in records)]
        # alike ones together, ours last
        self.methods = sorted({r["method"] for r in records}, key=lambda m: (m.startswith(OURS), m))
        self.titles = {r["method"]: r["title"] for r in records if r["k"]}
        self.ks = {d: [k for k in ks if any(str(k) in r["k"] for r in self.of(d))] for d in self.data}
        self.cells = {(d, m, k): cell(self.of(d, m), k) for d in self.data for m in self.methods for k in self.ks[d]}

    def of(self, data: str, method: str | None = None) -> list[Record]:
        """Records of one table, of one method or of all."""
        return [r for r in self.records if r["data"] == data and method in (None, r["method"])]

    def title(self, method: str) -> str:
        """What tables call a method; its file's name where it never answered."""
        return self.titles.get(method, method)

    def best(self, data: str, k: int, methods: Sequence[str]) -> tuple[str, Cell] | None:
        """The method with the lowest error among some, and its cell."""
        found = [(m, c) for m in methods if (c := self.cells[data, m, k])]
        return min(found, key=lambda pair: pair[1].error, default=None)


def page(records: Sequence[Record], ks: Sequence[int], splits: dict[str, int]) -> str:
    results = Results(records, ks, splits)
    lines = [INTRO]
    for data in results.data:
        lines += [f"## {data}", "", about(results, data), "", *table(results, data), ""]
    ours = [m for m in results.methods if m.startswith(OURS)]
    rivals = [m for m in results.methods if not m.startswith(OURS)]
    for method in ours:
        lines += [f"## Mean rank of {results.title(method)}", "", *ranks(results, ks, [method, *rivals]), ""]
    for method in ours:
        lines += [f"## Where {results.title(method)} is worse than the best rival", "", *verdict(results, method), ""]
    return "\n".join(lines).rstrip() + "\n"


def about(results: Results, data: str) -> str:
    first = next(r for r in results.of(data) if r["k"])
    what = "classification error, %" if first["task"] == "classification" else "RMSE / standard deviation of y, in %"
    n_test = next(iter(first["k"].values()))["n_test"]
    text = f"{what}; {first['n_train']} training rows, {n_test} test rows, {first['n_columns']} features"
    count = results.splits[data]
    return text + (f"; mean of {count} random splits" if count > 1 else "")


def table(results: Results, data: str) -> list[str]:
    ks = results.ks[data]
    lines = ["| method | " + " | ".join(f"k={k}" for k in ks) + " | s |", "| --- |" + " ---: |" * (len(ks) + 1)]
    for method in results.methods:
        records = results.of(data, method)
        shown = [text(results, data, method, k) for k in ks]
        seconds = f"{statistics.mean(r['seconds'] for r in records):.0f}" if records else "-"
        part = f" ({len(records)} splits)" if 0 < len(records) < results.splits[data] else ""
        lines.append(f"| {results.title(method)}{part} | " + " | ".join([*shown, seconds]) + " |")
    return lines


def text(results: Results, data: str, method: str, k: int) -> str:
    found = results.cells[data, method, k]
    if found is None:
        records = results.of(data, method)
        return "-" if not records else "time" if any(r["timed_out"] for r in records) else "none"
    best = results.best(data, k, results.methods)
    shown = f"{100 * found.error:.2f}"
    shown = f"**{shown}**" if best and shown == f"{100 * best[1].error:.2f}" else shown
    return shown if found.n_features >= k else f"{shown} ({round(found.n_features, 1):g})"


def ranks(results: Results, ks: Sequence[int], methods: Sequence[str]) -> list[str]:
    """Mean rank per k over tables; equal errors share their mean rank, a missing answer is last."""
    data = [d for d in results.data if results.of(d, methods[0])]
    ks = [k for k in ks if any(k in results.ks[d] for d in data)]
    lines = ["Beside the rivals, over the tables that have this k; 1 is best, a missing answer is last.", ""]
    lines += ["| method | " + " | ".join(f"k={k}" for k in ks) + " | all |", "| --- |" + " ---: |" * (len(ks) + 1)]
    means = {
        m: [statistics.mean(rank(results, methods, d, m, k) for d in data if k in results.ks[d]) for k in ks]
        for m in methods
    }
    for method, row in sorted(means.items(), key=lambda pair: statistics.mean(pair[1])):
        shown = [f"{value:.1f}" for value in [*row, statistics.mean(row)]]
        lines.append(f"| {results.title(method)} | " + " | ".join(shown) + " |")
    return lines


def rank(results: Results, methods: Sequence[str], data: str, method: str, k: int) -> float:
    """The place of a method among some of them."""
    found = results.cells[data, method, k]
    if found is None:
        return float(len(methods))
    others = [c.error for m in methods if m != method and (c := results.cells[data, m, k])]
    even = sum(math.isclose(e, found.error, abs_tol=TIE) for e in others)
    return 1 + sum(e < found.error - TIE for e in others) + 0.5 * even


def verdict(results: Results, method: str) -> list[str]:
    """Every place where a method of ours loses clearly, with numbers."""
    rivals = [m for m in results.methods if not m.startswith(OURS)]
    lines, places = [], 0
    for data in results.data:
        for k in results.ks[data] if results.of(data, method) else []:
            best = results.best(data, k, rivals)
            if best is None:
                continue
            places += 1
            line = loss(results.cells[data, method, k], best[1])
            if line:
                lines.append(f"- {data}, k={k}: {line} of {results.title(best[0])}")
    many = "worse by more than 10 % of the best rival's error and by more than that error's standard error"
    return [f"At {len(lines)} of {places} places (table and k) {many}.", "", *lines]


def loss(found: Cell | None, best: Cell) -> str:
    """What is lost against the best rival; empty where it is within 10 % or one standard error."""
    if found is None:
        return f"no answer, against {100 * best.error:.2f} (s.e. {100 * best.se:.2f})"
    if found.error - best.error <= max(0.1 * best.error, best.se):
        return ""
    more = 100 * (found.error / best.error - 1) if best.error else math.inf
    return f"{100 * found.error:.2f} against {100 * best.error:.2f} (s.e. {100 * best.se:.2f}, {more:+.0f} %)"
