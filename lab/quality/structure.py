"""What prices with structure bring on real tables.

    python -m lab.quality.structure    # about a minute on 2 cores

Colon with genes in bags, MNIST 3 vs 8 with neighbouring pixels, adult with its 14 attributes as bags of 123
columns. Reads the folder that FRUGALBOOST_DATA names; writes lab/results/quality/structure.json and structure.md, and
pictures to docs/images. Needs the extra "lab".
"""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from scipy import ndimage
from sklearn.model_selection import train_test_split

from frugalboost import GBFSClassifier, NothingBoughtWarning
from frugalboost.costs import Bags, Cost, Neighbours
from lab.data import Dataset, Folder, load
from lab.output import IMAGES, QUALITY, save_figure, write_json


def colon(data: Dataset) -> list[dict[str, Any]]:
    """Ten random splits; at a mu where the plain model scatters over many bags."""
    X, y, bag = data.X, data.y, data.groups
    rows = []
    chosen = {}
    for name, costs in (("plain", None), ("bags at 10", Bags(bag, prices=10.0))):
        error, bags, genes = [], [], []
        chosen[name] = np.zeros((10, 9))
        for seed in range(10):
            X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed)
            model = GBFSClassifier(0.01, costs=costs, max_iter=100, max_depth=3, min_samples_leaf=3).fit(
                X_train, y_train
            )
            error.append(100 * (1 - model.score(X_test, y_test)))
            np.add.at(chosen[name][seed], bag[model.selected_features_] - 1, 1)
            bags.append(int((chosen[name][seed] > 0).sum()))
            genes.append(model.n_features_selected_)
        row = {"prices": name, "mu": 0.01, "genes": np.mean(genes), "bags": np.mean(bags), "most bags": max(bags)}
        rows.append(row | {"test error %": np.mean(error), "standard error": np.std(error, ddof=1) / 10**0.5})
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", sharey=True)
    for panel, (name, counts) in zip(panels, chosen.items(), strict=True):
        picture = panel.imshow(np.where(counts > 0, counts, np.nan), cmap="viridis", norm="log", vmin=1, vmax=60)
        panel.set(title=f"{name}", xlabel="bag", xticks=range(9), xticklabels=range(1, 10), yticks=[])
    panels[0].set_ylabel("ten splits")
    figure.colorbar(picture, label="genes bought")
    save_figure(figure, IMAGES / "colon_bags.png")
    return rows


def mnist(data: Dataset) -> list[dict[str, Any]]:
    """Pixels of 3 vs 8, with as many pixels in both forms."""
    X, y, test = data.X, data.y, data.is_test
    near = Neighbours((28, 28), discount=0.5, reach=1.5)
    with_neighbours = fitted(X[~test], y[~test], 0.002, near)
    k = with_neighbours.n_features_selected_
    plain = GBFSClassifier(1e-5, budget=k, max_iter=200).fit(X[~test], y[~test])
    same_mu = fitted(X[~test], y[~test], 0.002, None)
    rows = []
    figure, panels = plt.subplots(1, 2, figsize=(8, 4.8), layout="constrained")
    models = [
        ("plain, same mu", same_mu),
        ("plain, as many pixels", plain),
        ("neighbours at half price", with_neighbours),
    ]
    for name, model in models:
        chosen = model.support_.reshape(28, 28)
        regions = int(ndimage.label(chosen, structure=np.ones((3, 3)))[1])
        error = 100 * (1 - model.score(X[test], y[test]))
        rows.append(
            {"prices": name, "mu": model.mu_, "pixels": int(chosen.sum()), "regions": regions, "test error %": error}
        )
    for panel, (name, model), row in zip(panels, models[1:], rows[1:], strict=True):
        panel.imshow(X.mean(axis=0).reshape(28, 28), cmap="Greys", alpha=0.6)
        panel.imshow(np.where(model.support_.reshape(28, 28), 1.0, np.nan), cmap="autumn", alpha=0.85)
        panel.set_title(
            f"{name}\n{row['pixels']} pixels in {row['regions']} regions, error {row['test error %']:.2f} %",
            fontsize=10,
        )
        panel.set_axis_off()
    save_figure(figure, IMAGES / "mnist_neighbours.png")
    return rows


def adult(data: Dataset) -> list[dict[str, Any]]:
    """Raw attributes needed, one price per column against one per attribute."""
    X, y, attribute, test = data.X, data.y, data.groups, data.is_test
    rows = []
    for name, mu, costs in [
        ("plain", 0.0005, None),
        ("plain", 0.001, None),
        ("plain", 0.002, None),
        ("attributes at 3", 0.0005, Bags(attribute, prices=3.0)),
        ("attributes at 3", 0.001, Bags(attribute, prices=3.0)),
        ("attributes at 3", 0.002, Bags(attribute, prices=3.0)),
    ]:
        model = fitted(X[~test], y[~test], mu, costs, max_iter=300)
        attributes = len(np.unique(attribute[model.selected_features_]))
        error = 100 * (1 - model.score(X[test], y[test]))
        columns = model.n_features_selected_
        rows.append({"prices": name, "mu": mu, "columns": columns, "attributes": attributes, "test error %": error})
    return rows


def fitted(X: np.ndarray, y: np.ndarray, mu: float, costs: Cost | None, max_iter: int = 200) -> GBFSClassifier:
    return GBFSClassifier(mu, costs=costs, max_iter=max_iter).fit(X, y)


def table(rows: list[dict[str, Any]]) -> list[str]:
    def shown(value: Any) -> str:
        return value if isinstance(value, str) else f"{value:.4g}"

    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|---|" + "---:|" * (len(names) - 1)]
    return lines + ["| " + " | ".join(shown(row[n]) for n in names) + " |" for row in rows]


def main() -> int:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    if not Folder.set():
        print("no data: FRUGALBOOST_DATA must name the folder of the data files", file=sys.stderr)
        return 1
    matplotlib.use("Agg")
    warnings.simplefilter("ignore", NothingBoughtWarning)
    IMAGES.mkdir(exist_ok=True)
    studies = {"colon": colon, "mnist3vs8": mnist, "adult": adult}
    found = {name: study(load(name)) for name, study in studies.items()}
    page = ["# Prices with structure, on real tables", "", "Made by `python -m lab.quality.structure`.", ""]
    titles = {
        "colon": "Colon, genes in nine bags (our 9-means), means over ten random 80/20 splits, depth 3, 100 trees",
        "mnist3vs8": "MNIST 3 vs 8, 28 x 28 pixels, depth 4, 200 trees; regions touch at edges or corners",
        "adult": "Adult, 14 attributes as bags of 123 columns, depth 4, 300 trees",
    }
    for name, rows in found.items():
        page += [f"## {titles[name]}", "", *table(rows), ""]
    text = "\n".join(page)
    print(text)
    (QUALITY / "structure.md").write_text(text)
    write_json(QUALITY / "structure.json", found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
