"""Error against number of features, for every selector: what several of the paper's figures show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isclose
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullLocator

from lab.paper import ours
from lab.paper.cells import Result
from lab.paper.ours import Best, Effort, best_path, default_path, paper_path
from lab.paper.pages import Claim, percent
from lab.rivals import MRMR, HSICLasso, L1Logistic, RandomForestSelection, Selector

KS = (2, 5, 10, 20, 50, 100)
OURS = ("paper", "best", "lines")
FOREST = {"trees": 2000, "tuning_trees": 50}
PAPER, BEST = Effort(), Best()
SETTINGS = ours.SETTINGS | {"ks": KS, "forest": FOREST}
TITLES = {
    "paper": "GBFS, as in the paper",
    "best": "GBFS, newton leaves and selling back",
    "lines": "ours: lines or trees, chosen by held-out rows",
    "l1": "L1 logistic regression",
    "forest": "random forest",
    "mrmr": "mRMR, RBF SVM",
    "hsic": "HSIC Lasso, RBF SVM",
    "group": "group lasso",
}
COLOURS = {
    "paper": "#c44e52",
    "best": "#8c1d40",
    "lines": "#222222",
    "l1": "#4c72b0",
    "forest": "#55a868",
    "mrmr": "#8172b2",
    "hsic": "#ccb974",
    "group": "#64b5cd",
}

TIE = 1e-6  # means of rounded errors that were equal

Point = dict[str, Any]
Judge = Callable[[Any, int | None], float]  # the error of a model (and k, for a baseline)


def sizes(n_columns: int, quick: bool = False) -> tuple[int, ...]:
    """The numbers of features asked for; one that leaves nothing out asks nothing."""
    return tuple(k for k in (KS[1:4:2] if quick else KS) if k < n_columns)


def rival(method: str, seed: int, quick: bool, splits: int = 5) -> Selector:
    """A selector that is not ours. Without splits L1 gives its largest model of at most k features."""
    trees = {"trees": 100, "tuning_trees": 20} if quick else FOREST
    splits, count = (min(splits, 1), 20) if quick else (splits, max(KS))
    makers: dict[str, Callable[[], Selector]] = {
        "l1": lambda: L1Logistic(seed=seed, count=count, splits=splits),
        "forest": lambda: RandomForestSelection(seed=seed, **trees),
        "mrmr": lambda: MRMR(seed=seed, count=count),
        "hsic": lambda: HSICLasso(seed=seed, count=count),
    }
    return makers[method]()


def by_prediction(X: np.ndarray, y: np.ndarray) -> Judge:
    """Judge models by their own predictions."""

    def judge(model: Any, k: int | None) -> float:
        answer = model.predict(X) if k is None else model.predict(X, k)
        return float(np.mean(answer != y))

    return judge


def fitted(
    method: str,
    X: np.ndarray,
    y: np.ndarray,
    ks: Sequence[int],
    seed: int,
    quick: bool,
    judge: Judge,
    effort: Effort = PAPER,
    l1_splits: int = 5,
    best: Best = BEST,
) -> Result:
    """Fit a selector and judge it at each number of features; `effort` is that of the paper's form."""
    if method == "paper":
        models = paper_path(X, y, seed, ours.QUICK[0] if quick else effort)
        found = [(model, {"mu": model.mu_, "depth": model.max_depth, "trees": model.max_iter}) for model in models]
        return {"points": [point(judge(m, None), m.selected_features_, **about) for m, about in found]}
    if method in ("best", "lines"):
        form = ours.QUICK[1] if quick else best
        path = best_path(X, y, ks, seed, form) if method == "best" else default_path(X, y, ks)
        return {"points": [point(judge(model, None), model.selected_features_, k=k) for k, model in path.items()]}
    model = rival(method, seed, quick, l1_splits).fit(X, y)
    points = [point(judge(model, k), model.features(k), k=k) for k in ks]
    return {"points": points} | ({"solver": model.solver_} if isinstance(model, HSICLasso) else {})


def point(error: float, features: np.ndarray, **about: Any) -> Point:
    """One model; what it selected is kept, so that it can be looked at."""
    chosen = [int(f) for f in features]
    return {**about, "n_features": len(chosen), "error": error, "features": chosen if len(chosen) <= 200 else None}


RULE = "interpolated to that size (beyond a rival's largest model that one's, below its smallest it takes no part)"


def solvers(results: Sequence[Result]) -> str:
    """Which implementation of HSIC Lasso was used; completes a sentence."""
    used = [r["solver"] for r in results if "solver" in r]
    by_package = sum(s == "pyHSICLasso" for s in used)
    if by_package == len(used):
        return "HSIC Lasso is pyHSICLasso's."
    own = "ours: the same kernels, the path by scikit-learn's lars_path_gram."
    if not by_package:
        return f"HSIC Lasso is, as pyHSICLasso fails or stops early, {own}"
    return (
        f"HSIC Lasso is pyHSICLasso's in {by_package} of {len(used)} cells; in the others, where that package fails or "
        f"stops early, {own}"
    )


def mean_curve(results: Sequence[Result]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean number of features, mean error and its standard error over the splits; a point for each k or mu."""
    places = list(zip(*(result["points"] for result in results), strict=True))
    features = np.array([np.mean([p["n_features"] for p in place]) for place in places])
    errors = np.array([[p["error"] for p in place] for place in places])
    spread = errors.std(axis=1, ddof=1) / errors.shape[1] ** 0.5 if errors.shape[1] > 1 else np.zeros(len(errors))
    return features, errors.mean(axis=1), spread


def of(results: Sequence[Result], method: str) -> list[Result]:
    return [r for r in results if r["method"] == method]


def draw_curves(axes: Axes, results: Sequence[Result], title: str) -> None:
    """One line for each method; bars are standard errors over the splits, where there are several."""
    for method in TITLES:
        own = of(results, method)
        if not own:
            continue
        features, errors, spread = mean_curve(own)
        order = np.argsort(features, kind="stable")
        order = order[features[order] >= 0.5]
        axes.errorbar(
            features[order],
            100 * errors[order],
            100 * spread[order] if len(own) > 1 else None,
            label=TITLES[method],
            color=COLOURS[method],
            marker="o" if method in OURS else ".",
            markersize=4,
            linewidth=1.8 if method in OURS else 1.1,
            linestyle="--" if method == "paper" else "-",
            capsize=2,
        )
    axes.set(title=title, ylabel="test error, %")
    by_features(axes)


def by_features(axes: Axes) -> None:
    """Numbers of features from left to right, 1, 2, 5, 10 and so on."""
    axes.set(xlabel="features", xscale="log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(alpha=0.25)


def shared_legend(figure: Figure, panels: np.ndarray) -> None:
    """One legend below all panels; the error is named at the left only."""
    labels = {text: handle for panel in panels.flat for handle, text in zip(*panel.get_legend_handles_labels())}
    figure.legend(labels.values(), labels.keys(), loc="outside lower center", ncols=3, fontsize=9)
    for panel in panels[:, 1:].flat:
        panel.set_ylabel(None)


def against_rivals(said: str, results: Sequence[Result], form: str, rivals: Sequence[str], margin: float) -> Claim:
    """Whether a form of ours is no worse than the best rival, by more than a margin, at each of its own sizes.

    A rival's error at a size between its own is interpolated along the logarithm. Only splits that all have count.
    """
    splits = [{r["split"] for r in of(results, m)} for m in (form, *rivals)]
    common = set.intersection(*splits)
    if not common:
        return Claim(said, "not compared with all of them yet", None)
    curves = {m: mean_curve([r for r in of(results, m) if r["split"] in common]) for m in (form, *rivals)}
    worse, at = [], []
    for size, error in zip(*curves[form][:2], strict=True):
        others = {m: e for m in rivals if (e := interpolated(curves[m], size)) is not None}
        if size < 0.5 or not others:
            continue
        at.append(f"{size:.3g}")
        best = min(others, key=others.__getitem__)
        if error > others[best] + margin:
            worse.append(
                f"{percent(error)} against {percent(others[best])} ({TITLES[best].split(',')[0]}) at {size:.3g}"
            )
    if not at:
        return Claim(said, "no sizes in common", None)
    return Claim(said, "; ".join(worse) or f"at {', '.join(at)} features", not worse)


def interpolated(curve: tuple[np.ndarray, np.ndarray, np.ndarray], size: float) -> float | None:
    """The error at a size: beyond the largest model of a curve that model's, before the smallest none."""
    features, errors, _ = curve
    used = features >= 0.5
    if not used.any() or size < features[used].min():
        return None
    order = np.argsort(features[used], kind="stable")
    return float(np.interp(np.log(size), np.log(features[used][order]), errors[used][order]))


def best_within(results: Sequence[Result], method: str, k: int) -> tuple[float, float] | None:
    """The mean over splits of the error with at most k features, and of their number: the largest model that fits."""
    found = []
    for result in of(results, method):
        fitting = [p for p in result["points"] if p["n_features"] <= k]
        if not fitting:
            return None
        largest = max(fitting, key=lambda p: p["n_features"])
        found.append((largest["error"], largest["n_features"]))
    if not found:
        return None
    error, features = np.mean(found, axis=0)
    return float(error), float(features)


def table(
    results: Sequence[Result], ks: Sequence[int], seconds: bool = True, titles: dict[str, str] = TITLES
) -> list[str]:
    """Errors in percent with at most k features, as a Markdown table; the best of a column is bold."""
    rows = {m: [best_within(results, m, k) for k in ks] for m in titles if of(results, m)}
    head = [f"{k}" for k in ks] + (["seconds"] if seconds else [])
    lines = ["| test error, % (features) | " + " | ".join(head) + " |", "|---|" + "---:|" * len(head)]
    lowest = [min((row[i][0] for row in rows.values() if row[i] is not None), default=None) for i in range(len(ks))]
    for method, row in rows.items():
        texts = [shown(value, k, low) for value, k, low in zip(row, ks, lowest, strict=True)]
        if seconds:
            texts.append(f"{np.mean([r['seconds'] for r in of(results, method)]):.0f}")
        lines.append(f"| {titles[method]} | " + " | ".join(texts) + " |")
    return lines


def shown(value: tuple[float, float] | None, k: int, lowest: float | None) -> str:
    if value is None or value[1] < 0.5:  # models without features
        return "-"
    error, features = value
    text = f"**{100 * error:.2f}**" if isclose(error, lowest or 0.0, rel_tol=TIE, abs_tol=TIE) else f"{100 * error:.2f}"
    return text if round(features, 1) == k else f"{text} ({features:.3g})"
