"""Error against the mean price of a prediction, where each row pays for the features that it looks at.

    python -m lab.quality.per_row            # about ten minutes on one core
    python -m lab.quality.per_row --times    # measures again how long the features of digits take
    python -m lab.quality.per_row --seeds 1 --strengths 4 --trees 30 --dry    # a look; writes nothing

Two tables. Adult as it was collected, with prices that were made up before any error was seen: 1 for what is asked in a
form, 2 to 4 for what takes a thought, 10 for what must be looked up in papers. MNIST 3 vs 8 with features that take
from a fifth of a microsecond to some hundred to compute; their prices are those times, as measured. Levels of adult are
numbered by how often they occur and taken as numbers by all, so that all methods see the same table.

All grow trees of depth 4. A method's strengths go from where nothing is bought to where almost nothing is paid; a fifth
of the training rows chooses among them: for each limit of the mean price the model with the lowest error within it.
Errors and prices are those of test rows. A prediction pays for the features on its own paths, once each, whatever the
method was told while it trained.

Reads the folder that FRUGALBOOST_DATA names; writes lab/results/quality/per_row.json and per_row.md, and
docs/images/per_row.png. Needs the extra "lab".
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from frugalboost import GBFSClassifier
from frugalboost.costs import PerRow, Prices
from lab.data import Folder, load
from lab.data.adult import adult_frame
from lab.output import IMAGES, QUALITY, save_figure, write_atomically, write_json
from lab.quality.timed_digits import computed, features, times

Floats = NDArray[np.float64]
DEPTH, RATE, LEAF = 4, 0.1, 20
COARSE = 7  # strengths that are tried first, far apart
ASKED = {  # what a value of adult costs
    "age": 1,
    "workclass": 2,
    "fnlwgt": 1,
    "education": 2,
    "education-num": 2,
    "marital-status": 1,
    "occupation": 3,
    "relationship": 1,
    "race": 1,
    "sex": 1,
    "capital-gain": 10,
    "capital-loss": 10,
    "hours-per-week": 4,
    "native-country": 1,
}
LIMITS = {"adult": (1, 2, 3, 5, 8, 12, 20, 30), "digits": (1, 3, 10, 30, 100, 300, 1000)}
UNITS = {"adult": "made prices", "digits": "microseconds"}


@dataclass(frozen=True)
class Problem:
    """A table with the price of each column, and its official parts."""

    X: Floats
    y: NDArray[np.int64]
    is_test: NDArray[np.bool_]
    prices: Floats


@dataclass(frozen=True)
class Fitted:
    """What a model says about some rows: whether it is wrong, and what each prediction costs."""

    wrong: Callable[[Floats, NDArray[np.int64]], float]
    cost: Callable[[Floats], float]


@dataclass(frozen=True)
class Strengths:
    """The models of a method by the strength of its prices; from ``top`` on it buys nothing, or next to nothing."""

    fit: Callable[[float], Fitted]
    top: float

    def models(self, number: int, X: Floats) -> list[Fitted]:
        """So many models whose mean prices on some rows lie apart: the widest gap is halved again and again."""
        found: dict[float, tuple[Fitted, float]] = {}

        def look(strength: float) -> None:
            model = self.fit(strength)
            found[strength] = model, model.cost(X)

        for strength in self.top * np.geomspace(0.7, 1e-6, min(number, COARSE)):
            look(strength)
        while len(found) < number:
            order = sorted(found)
            prices = np.array([found[strength][1] for strength in order])
            logs = np.log(np.maximum(prices, 0.5 * prices[prices > 0].min()))
            far = np.diff(np.log(order)) > 0.02  # closer than that is a jump, between which there is nothing
            widest = int(np.argmax(np.where(far, -np.diff(logs), -np.inf)))
            look(float(np.sqrt(order[widest] * order[widest + 1])))
        return [found[strength][0] for strength in sorted(found)]


# ------------------------------------------------------------------------------------------------------------- tables


def adult() -> Problem:
    frame, y, is_test = adult_frame()
    columns = []
    for name in frame:
        column = frame[name]
        if column.dtype.kind not in "iuf":
            often = column[~is_test].value_counts()
            column = column.astype(object).map({level: i for i, level in enumerate(often.index)}).fillna(len(often))
        columns.append(column.to_numpy(dtype=np.float64))
    prices = np.array([ASKED[name] for name in frame], dtype=np.float64)
    return Problem(np.column_stack(columns), (y == np.unique(y)[1]).astype(int), is_test, prices)


def digits(again: bool, path: Path) -> Problem:
    data = load("mnist3vs8")
    X, y = np.asarray(data.X, dtype=np.float64), np.unique(data.y, return_inverse=True)[1]
    functions = features(X[~data.is_test], y[~data.is_test])
    if again or not path.exists():
        write_json(path, times(functions, X))
    measured = json.loads(path.read_text())
    prices = np.array([measured[name] for name in functions])
    return Problem(computed(functions, X), y, np.asarray(data.is_test), prices)


# ------------------------------------------------------------------------------------------------------------ methods


def ours(costs: type[PerRow] | type[Prices]) -> Callable[..., Strengths]:
    def strengths(X: Floats, y: NDArray[np.int64], prices: Floats, trees: int) -> Strengths:
        settings = {"max_iter": trees, "max_depth": DEPTH, "learning_rate": RATE, "min_samples_leaf": LEAF, "n_jobs": 1}
        top = GBFSClassifier(1e-3, costs=costs(prices), **(settings | {"max_iter": 1})).fit(X, y).mu_max_

        def fit(mu: float) -> Fitted:
            model = GBFSClassifier(mu, costs=costs(prices), **settings).fit(X, y)
            return Fitted(
                lambda X, y: float(np.mean(model.predict(X) != y)), lambda X: float(model.prediction_cost(X).mean())
            )

        return Strengths(fit, top)

    return strengths


def lightgbm_lazy(X: Floats, y: NDArray[np.int64], prices: Floats, trees: int) -> Strengths:
    import lightgbm

    params = {
        "objective": "binary",
        "learning_rate": RATE,
        "max_depth": DEPTH,
        "num_leaves": 2**DEPTH,
        "min_data_in_leaf": LEAF,
        "num_threads": 1,
        "verbose": -1,
    }

    def fit(tradeoff: float) -> Fitted:
        own = params | {"cegb_tradeoff": tradeoff, "cegb_penalty_feature_lazy": prices.tolist()}
        model = lightgbm.train(own, lightgbm.Dataset(X, y), num_boost_round=trees)
        paths = [paths_of(tree["tree_structure"], len(prices)) for tree in model.dump_model()["tree_info"]]

        def cost(X: Floats) -> float:
            leaves = model.predict(X, pred_leaf=True).reshape(len(X), -1)
            looked = np.zeros((len(X), len(prices)), dtype=bool)
            for tree, column in zip(paths, leaves.T, strict=True):
                for leaf, used in tree.items():
                    looked[np.flatnonzero(column == leaf)] |= used
            return float((looked @ prices).mean())

        return Fitted(lambda X, y: float(np.mean((model.predict(X) > 0.5) != y)), cost)

    # A price is paid by number of rows, so that the gain of a row, at most 1, is what can be paid for it.
    return Strengths(fit, 1.0 / prices.min())


def paths_of(node: dict[str, Any], columns: int, used: frozenset[int] = frozenset()) -> dict[int, NDArray[np.bool_]]:
    """For each leaf the columns that are looked at on the way to it."""
    if "split_feature" not in node:
        return {node.get("leaf_index", 0): np.isin(np.arange(columns), list(used))}
    below = used | {node["split_feature"]}
    return paths_of(node["left_child"], columns, below) | paths_of(node["right_child"], columns, below)


def catboost_per_object(X: Floats, y: NDArray[np.int64], prices: Floats, trees: int) -> Strengths:
    """Trees that grow level by level: in CatBoost's symmetric ones every row looks at all features of a tree."""
    from catboost import CatBoostClassifier

    def fit(coefficient: float) -> Fitted:
        model = CatBoostClassifier(
            iterations=trees,
            depth=DEPTH,
            learning_rate=RATE,
            min_data_in_leaf=LEAF,
            grow_policy="Depthwise",
            per_object_feature_penalties=prices.tolist(),
            penalties_coefficient=coefficient,
            thread_count=1,
            verbose=0,
            random_seed=0,
            allow_writing_files=False,
        ).fit(X, y)
        with tempfile.TemporaryDirectory() as folder:
            model.save_model(f"{folder}/model.json", format="json")
            grown = json.loads(Path(f"{folder}/model.json").read_text())["trees"]

        def cost(X: Floats) -> float:
            looked = np.zeros((len(X), len(prices)), dtype=bool)
            for tree in grown:
                walk(tree, X, np.arange(len(X)), looked)
            return float((looked @ prices).mean())

        return Fitted(lambda X, y: float(np.mean(model.predict(X).astype(int) != y)), cost)

    return Strengths(fit, 1.0 / prices.min())


def walk(node: dict[str, Any], X: Floats, rows: NDArray[np.int64], looked: NDArray[np.bool_]) -> None:
    if "split" not in node or not len(rows):
        return
    column = node["split"]["float_feature_index"]
    looked[rows, column] = True
    right = X[rows, column].astype(np.float32) > np.float32(node["split"]["border"])
    walk(node["left"], X, rows[~right], looked)
    walk(node["right"], X, rows[right], looked)


METHODS: dict[str, Callable[..., Strengths]] = {
    "frugalboost, PerRow": ours(PerRow),
    "frugalboost, Prices": ours(Prices),
    "LightGBM, lazy": lightgbm_lazy,
    "CatBoost, per object": catboost_per_object,
}


# ------------------------------------------------------------------------------------------------------------ running


def runs(name: str, problem: Problem, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """The points of all methods and splits: error and mean price on the rows that choose, and on the test rows."""
    X, y = problem.X, problem.y
    own = np.flatnonzero(~problem.is_test)
    found = []
    for seed in range(arguments.seeds):
        train, choose = train_test_split(own, test_size=0.2, stratify=y[own], random_state=seed)
        for method, strengths in METHODS.items():
            begin = time.perf_counter()
            own_strengths = strengths(X[train], y[train], problem.prices, arguments.trees)
            for point in own_strengths.models(arguments.strengths, X[choose]):
                test = problem.is_test
                found.append(
                    {
                        "data": name,
                        "seed": seed,
                        "method": method,
                        "error": 100 * point.wrong(X[choose], y[choose]),
                        "price": point.cost(X[choose]),
                        "test_error": 100 * point.wrong(X[test], y[test]),
                        "test_price": point.cost(X[test]),
                    }
                )
            print(f"{name} {seed} {method}: {time.perf_counter() - begin:.0f} s", flush=True)
    return found


def chosen(points: list[dict[str, Any]], data: str, method: str, limit: float) -> list[dict[str, Any]]:
    """For each split the model with the lowest error among those within the limit; none where nothing was bought."""
    out = []
    for seed in sorted({p["seed"] for p in points}):
        own = [p for p in points if (p["data"], p["method"], p["seed"]) == (data, method, seed)]
        within = [p for p in own if 0 < p["price"] <= limit]
        if within:
            out.append(min(within, key=lambda p: (p["error"], p["price"])))
    return out


def page(points: list[dict[str, Any]], spread: dict[str, tuple[float, float]]) -> str:
    lines = [
        "# Error against the mean price of a prediction",
        "",
        "Made by `python -m lab.quality.per_row`. Test error in %, mean over splits, of the model that a fifth of the",
        "training rows chooses within each limit; in brackets its mean price of a prediction on test rows. -: in some",
        "split no model is within the limit.",
    ]
    seeds = len({p["seed"] for p in points})
    for data, limits in LIMITS.items():
        low, high = spread[data]
        lines += ["", f"## {data}: {UNITS[data]}, {low:.3g} to {high:.3g} a feature; {seeds} splits", ""]
        lines += ["| limit | " + " | ".join(METHODS) + " |", "|---:|" + "---:|" * len(METHODS)]
        for limit in limits:
            cells = []
            for method in METHODS:
                best = chosen(points, data, method, limit)
                if len(best) < seeds:
                    cells.append("-")
                    continue
                error, price = (np.mean([p[f"test_{what}"] for p in best]) for what in ("error", "price"))
                cells.append(f"{error:.2f} ({price:.3g})")
            lines.append(f"| {limit} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def draw(points: list[dict[str, Any]]) -> None:
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    for panel, data in zip(panels, LIMITS, strict=True):
        for method in METHODS:
            own = [p for p in points if (p["data"], p["method"]) == (data, method) and p["test_price"] > 0]
            own.sort(key=lambda p: p["test_price"])
            panel.plot([p["test_price"] for p in own], [p["test_error"] for p in own], "o", ms=3, label=method)
        panel.set(
            title=data, xlabel=f"mean price of a prediction ({UNITS[data]})", ylabel="test error, %", xscale="log"
        )
    panels[0].legend(fontsize=8)
    IMAGES.mkdir(exist_ok=True)
    save_figure(figure, IMAGES / "per_row.png")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2, help="splits into rows that train and rows that choose")
    parser.add_argument("--strengths", type=int, default=14, help="models of each method and split")
    parser.add_argument("--trees", type=int, default=100, help="trees of each model")
    parser.add_argument("--times", action="store_true", help="measure the times of features again")
    parser.add_argument("--dry", action="store_true", help="only print")
    return parser.parse_args()


def main() -> int:
    arguments = parsed()
    if not Folder.set():
        print("no data: FRUGALBOOST_DATA must name the folder of the data files", file=sys.stderr)
        return 1
    matplotlib.use("Agg")
    warnings.simplefilter("ignore")
    problems = {"adult": adult(), "digits": digits(arguments.times, QUALITY / "per_row_times.json")}
    points = [point for name, problem in problems.items() for point in runs(name, problem, arguments)]
    text = page(points, {name: (p.prices.min(), p.prices.max()) for name, p in problems.items()})
    print(text)
    if not arguments.dry:
        write_json(QUALITY / "per_row.json", points)
        write_atomically(QUALITY / "per_row.md", text)
        draw(points)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
