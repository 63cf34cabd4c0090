"""Error against number of features, for every selector: what several of the paper's figures show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from experiments.cells import Result
from experiments.ours import Effort, best_path, paper_path
from frugalboost import baselines

KS = (2, 5, 10, 20, 50, 100)
OURS = ("paper", "best")
TITLES = {
    "paper": "GBFS, as in the paper",
    "best": "GBFS, newton leaves and selling back",
    "l1": "L1 logistic regression",
    "forest": "random forest",
    "mrmr": "mRMR, RBF SVM",
    "hsic": "HSIC Lasso, RBF SVM",
    "group": "group lasso",
}
COLOURS = {
    "paper": "#c44e52",
    "best": "#8c1d40",
    "l1": "#4c72b0",
    "forest": "#55a868",
    "mrmr": "#8172b2",
    "hsic": "#ccb974",
    "group": "#64b5cd",
}

Point = dict[str, Any]
Judge = Callable[[Any, int | None], float]  # the error of a model (and k, for a baseline)


def sizes(n_columns: int, quick: bool = False) -> tuple[int, ...]:
    """The numbers of features asked for; one that leaves nothing out asks nothing."""
    return tuple(k for k in (KS[1:4:2] if quick else KS) if k < n_columns)


def rival(method: str, seed: int, quick: bool) -> baselines.Baseline:
    """A selector that is not ours."""
    trees = {"trees": 100, "tuning_trees": 20} if quick else {"trees": 2000, "tuning_trees": 50}
    makers: dict[str, Callable[[], baselines.Baseline]] = {
        "l1": lambda: baselines.L1Logistic(seed=seed, count=max(KS)),
        "forest": lambda: baselines.RandomForestSelection(seed=seed, **trees),
        "mrmr": lambda: baselines.MRMR(seed=seed, count=max(KS)),
        "hsic": lambda: baselines.HSICLasso(seed=seed, count=max(KS)),
    }
    return makers[method]()


def test_error(X: np.ndarray, y: np.ndarray) -> Judge:
    """Judge models by their own predictions."""

    def judge(model: Any, k: int | None) -> float:
        answer = model.predict(X) if k is None else model.predict(X, k)
        return float(np.mean(answer != y))

    return judge


def points(
    method: str,
    X: np.ndarray,
    y: np.ndarray,
    ks: Sequence[int],
    seed: int,
    quick: bool,
    judge: Judge,
    effort: Effort | None = None,
) -> list[Point]:
    """Fit a selector and judge it at each number of features; `effort` is that of the paper's form."""
    if method == "paper":
        models = paper_path(X, y, seed, Effort.of(quick) if quick or effort is None else effort)
        found = [(model, {"mu": model.mu_, "depth": model.max_depth, "trees": model.max_iter}) for model in models]
        return [point(judge(m, None), m.selected_features_, **about) for m, about in found]
    if method == "best":
        path = best_path(X, y, ks, seed, quick)
        return [point(judge(model, None), model.selected_features_, k=k) for k, model in path.items()]
    model = rival(method, seed, quick).fit(X, y)
    return [point(judge(model, k), model.features(k), k=k) for k in ks]


def point(error: float, features: np.ndarray, **about: Any) -> Point:
    """One model; names of columns are kept, so that what was selected can be looked at."""
    chosen = [int(f) for f in features]
    return {**about, "n_features": len(chosen), "error": error, "features": chosen if len(chosen) <= 200 else None}


def mean_curve(results: Iterable[Result]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean number of features, mean error and its standard error over the splits; a point for each k or mu."""
    by_place = list(zip(*(result["points"] for result in results), strict=True))
    features = np.array([np.mean([p["n_features"] for p in place]) for place in by_place])
    errors = np.array([np.mean([p["error"] for p in place]) for place in by_place])
    spread = [
        np.std([p["error"] for p in place], ddof=1) / len(place) ** 0.5 if len(place) > 1 else 0.0 for place in by_place
    ]
    return features, errors, np.array(spread)


def draw_curves(axes: Axes, results: Sequence[Result], title: str) -> None:
    """One line for each method; bars are standard errors over the splits."""
    for method in TITLES:
        own = [r for r in results if r["method"] == method]
        if not own:
            continue
        features, errors, spread = mean_curve(own)
        order = np.argsort(features, kind="stable")
        order = order[features[order] >= 0.5]
        axes.errorbar(
            features[order],
            100 * errors[order],
            100 * spread[order],
            label=TITLES[method],
            color=COLOURS[method],
            marker="o" if method in OURS else ".",
            markersize=4,
            linewidth=1.8 if method in OURS else 1.1,
            linestyle="--" if method == "paper" else "-",
            capsize=2,
        )
    axes.set(title=title, xlabel="features", ylabel="test error, %", xscale="log")
    axes.grid(alpha=0.25)


def best_within(results: Sequence[Result], method: str, k: int) -> float | None:
    """The mean over splits of the error with at most k features: the largest model that is small enough."""
    errors = []
    for result in (r for r in results if r["method"] == method):
        fitting = [p for p in result["points"] if 0 < p["n_features"] <= k]
        if not fitting:
            return None
        errors.append(max(fitting, key=lambda p: p["n_features"])["error"])
    return float(np.mean(errors)) if errors else None


def table(results: Sequence[Result], ks: Sequence[int]) -> list[str]:
    """Errors in percent with at most k features, as a Markdown table; the best of a column is bold."""
    rows = {m: [best_within(results, m, k) for k in ks] for m in TITLES if any(r["method"] == m for r in results)}
    lines = ["| test error, % | " + " | ".join(f"{k}" for k in ks) + " | seconds |", "|---|" + "---:|" * (len(ks) + 1)]
    lowest = [min((row[i] for row in rows.values() if row[i] is not None), default=None) for i in range(len(ks))]
    for method, row in rows.items():
        shown = [cell(value, low) for value, low in zip(row, lowest, strict=True)]
        seconds = np.mean([r["seconds"] for r in results if r["method"] == method])
        lines.append(f"| {TITLES[method]} | " + " | ".join(shown) + f" | {seconds:.0f} |")
    return lines


def cell(value: float | None, lowest: float | None) -> str:
    if value is None:
        return "-"
    text = f"{100 * value:.2f}"
    return f"**{text}**" if value == lowest else text
