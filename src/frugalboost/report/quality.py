"""How good predictions for held-out rows are: errors of classes, calibration, ROC curves, residuals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score, roc_curve

from frugalboost.report.effects import rounded
from frugalboost.report.held_out import HeldOutPredictions

Floats = NDArray[np.float64]

MOST_SHOWN = 40  # classes of a whole confusion matrix
MOST_CONFUSED = 10  # pairs of classes that are listed
MOST_CURVES = 6  # classes with a ROC curve of their own
MOST_BINS, ROWS_OF_BIN = 10, 20  # of predictions, for calibration and bands of residuals
MOST_POINTS = 300  # residuals that are drawn one by one
FALSE_ALARMS = np.concatenate([[0.0], np.geomspace(0.002, 0.08, 16), np.linspace(0.1, 1.0, 31)])  # of kept ROC curves
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
OF_SIZE = (0.5, 0.9)  # of residuals without their sign
HISTOGRAM = 30
NORMAL = 1.96  # of 95 %


def quality_of(found: HeldOutPredictions | None, counts: bool = False) -> dict[str, Any] | None:
    """What a report says about predictions for held-out rows.

    Parameters
    ----------
    found : HeldOutPredictions or None
        Of the splits, or of test rows.
    counts : bool, default=False
        Whether the target is a count.

    Returns
    -------
    dict or None
        Plain lists and numbers; None without predictions.
    """
    if found is not None and not found.classes:  # an expected count may be too large for a number
        found = found.take(np.isfinite(found.predicted) & np.isfinite(found.truth))
    if found is None or not len(found):
        return None
    shared = {
        "predictions": len(found),
        "rows": len(np.unique(found.row)),
        "splits": len(np.unique(found.split)),
        "weighted": found.weights is not None,
    }
    return shared | (of_classes(found) if found.classes else of_numbers(found, counts))


# ------------------------------------------------------------------------------------------------ classes


def of_classes(found: HeldOutPredictions) -> dict[str, Any]:
    """Errors of every class; with probabilities calibration and ROC curves."""
    names = [str(c) for c in found.classes]
    matrix = confusion(found)
    own: dict[str, Any] = {
        "kind": "classes",
        "right": share(np.trace(matrix), matrix.sum()),
        "classes": per_class(found, matrix, names),
        "confusion": np.round(matrix, 1).tolist() if len(names) <= MOST_SHOWN else None,
        "confused": most_confused(matrix, names),
        "calibration": None,
        "roc": [],
    }
    if not found.has_probabilities:
        return own
    positive = range(1, 2) if len(names) == 2 else range(len(names))
    for k in positive:
        own["classes"][k]["auc"] = auc(found, k)
    if len(names) == 2:
        own["classes"][0]["auc"] = own["classes"][1]["auc"]
    if len(names) <= MOST_CURVES:
        own["roc"] = [curve | {"class": names[k]} for k in positive if (curve := roc(found, k)) is not None]
    right = found.truth.astype(np.intp) == (1 if len(names) == 2 else found.best)
    sure = found.predicted[:, 1] if len(names) == 2 else found.predicted.max(axis=1)
    own["calibration"] = {
        "of": names[1] if len(names) == 2 else None,
        "bins": calibration(found, sure, right.astype(np.float64), is_share=True),
    }
    return own


def confusion(found: HeldOutPredictions) -> Floats:
    """Rows of each class, by the class that was predicted."""
    k = len(found.classes)
    cell = found.truth.astype(np.intp) * k + found.best
    matrix: Floats = np.bincount(cell, weights=found.masses, minlength=k * k).reshape(k, k).astype(np.float64)
    return matrix


def per_class(found: HeldOutPredictions, matrix: Floats, names: list[str]) -> list[dict[str, Any]]:
    """How many rows of each class were found, and how many of those predicted were right."""
    rows = np.bincount(found.truth.astype(np.intp), minlength=len(names))
    return [
        {
            "class": name,
            "rows": int(rows[k]),
            "recall": share(matrix[k, k], matrix[k].sum()),
            "precision": share(matrix[k, k], matrix[:, k].sum()),
            "auc": None,
        }
        for k, name in enumerate(names)
    ]


def share(part: float, whole: float) -> float | None:
    """None of nothing."""
    return rounded(part / whole, 4) if whole > 0 else None


def most_confused(matrix: Floats, names: list[str]) -> list[dict[str, Any]]:
    """The pairs of classes with the most wrong predictions."""
    wrong = matrix - np.diag(np.diag(matrix))
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_CONFUSED]
    pairs = [divmod(int(place), len(names)) for place in order]
    return [
        {
            "class": names[a],
            "predicted": names[b],
            "rows": rounded(wrong[a, b], 6),
            "share": share(wrong[a, b], matrix[a].sum()),
        }
        for a, b in pairs
        if wrong[a, b] > 0
    ]


def of_splits(found: HeldOutPredictions, k: int) -> Iterator[tuple[Any, Floats, Floats]]:
    """Whether rows are of a class, their scores and weights: of each split, if all have both sides, else of all."""
    truth, scores, masses = found.truth == k, found.predicted[:, k], found.masses
    parts = [found.split == s for s in np.unique(found.split)]
    if not all(has_both(truth[part], masses[part]) for part in parts):
        parts = [np.ones(len(found), dtype=bool)]
    for part in parts:
        if has_both(truth[part], masses[part]):
            yield truth[part], scores[part], masses[part]


def has_both(truth: NDArray[np.bool_], masses: Floats) -> bool:
    """Whether there are rows with weight on both sides."""
    return bool(masses[truth].sum() > 0 and masses[~truth].sum() > 0)


def auc(found: HeldOutPredictions, k: int) -> float | None:
    """The mean area under the ROC curves of the splits."""
    areas = [roc_auc_score(t, p, sample_weight=w) for t, p, w in of_splits(found, k)]
    return rounded(float(np.mean(areas)), 4) if areas else None


def roc(found: HeldOutPredictions, k: int) -> dict[str, Any] | None:
    """The mean of the splits' curves at some shares of false alarms."""
    curves = []
    for truth, scores, masses in of_splits(found, k):
        false, true, _ = roc_curve(truth, scores, sample_weight=masses)
        last = len(false) - 1 - np.argmax(false[::-1] == 0)  # the curve rises at 0
        curves.append(np.interp(FALSE_ALARMS, false[last:], true[last:]))
    if not curves:
        return None
    return {
        "false": [rounded(v, 3) for v in FALSE_ALARMS],
        "true": [rounded(v, 3) for v in np.mean(curves, axis=0)],
        "auc": auc(found, k),
    }


# ------------------------------------------------------------------------------------------- calibration


def bins_of(found: HeldOutPredictions, by: Floats) -> list[NDArray[np.intp]]:
    """Predictions in bins of as many rows each, equal ones together; few bins of few rows."""
    rows = len(np.unique(found.row))
    number = max(1, min(MOST_BINS, rows // ROWS_OF_BIN))
    edges = np.unique(np.quantile(by, np.linspace(0, 1, number + 1)[1:-1])) if number > 1 else np.zeros(0)
    place = np.searchsorted(edges, by, side="left")
    return [own for b in range(len(edges) + 1) if len(own := np.flatnonzero(place == b))]


def calibration(found: HeldOutPredictions, said: Floats, truth: Floats, is_share: bool) -> list[dict[str, Any]]:
    """In bins of predictions: their mean, and the mean of the truth with an interval of 95 % for shares."""
    bins, masses = [], found.masses
    for own in bins_of(found, said):
        mass = masses[own]
        if not mass.sum() > 0:
            continue
        observed = float(np.average(truth[own], weights=mass))
        rows = len(np.unique(found.row[own]))  # a row that is held out twice is not two
        bins.append(
            {
                "predicted": rounded(np.average(said[own], weights=mass), 4),
                "observed": rounded(observed, 4),
                "rows": rows,
                **(interval(observed, rows) if is_share else {}),
            }
        )
    return bins


def interval(observed: float, rows: int) -> dict[str, float]:
    """Wilson's interval of a share."""
    z = NORMAL**2 / rows
    middle = (observed + z / 2) / (1 + z)
    half = NORMAL * np.sqrt(observed * (1 - observed) / rows + z / (4 * rows)) / (1 + z)
    return {"low": rounded(max(0.0, middle - half), 4), "high": rounded(min(1.0, middle + half), 4)}


# ----------------------------------------------------------------------------------------------- numbers


def of_numbers(found: HeldOutPredictions, counts: bool) -> dict[str, Any]:
    """Residuals (truth minus prediction): against predictions, and how they are distributed."""
    residuals, masses = found.truth - found.predicted, found.masses
    size = np.abs(residuals)
    low, high = np.quantile(residuals, [0.005, 0.995])
    histogram, edges = np.histogram(residuals, bins=HISTOGRAM, range=(low, high) if low < high else None)
    own: dict[str, Any] = {
        "kind": "counts" if counts else "numbers",
        "mean_error": rounded(np.average(residuals, weights=masses), 4),
        "mean_absolute_error": rounded(np.average(size, weights=masses), 4),
        "rmse": rounded(np.sqrt(np.average(residuals**2, weights=masses)), 4),
        "quantiles": {f"{q:g}": rounded(v, 4) for q, v in zip(QUANTILES, quantiles(residuals, masses), strict=True)},
        "absolute": {f"{q:g}": rounded(v, 4) for q, v in zip(OF_SIZE, quantiles(size, masses, OF_SIZE), strict=True)},
        "histogram": {"from": rounded(edges[0], 6), "to": rounded(edges[-1], 6), "rows": histogram.tolist()},
        "bands": bands(found, residuals),
        "points": points(found, residuals),
        "calibration": None,
    }
    if counts:
        own["calibration"] = {"of": None, "bins": calibration(found, found.predicted, found.truth, is_share=False)}
    return own


def quantiles(values: Floats, masses: Floats, at: tuple[float, ...] = QUANTILES) -> Floats:
    """Weighted: the smallest values with at least these shares of the weight up to them."""
    order = np.argsort(values, kind="stable")
    order = order[masses[order] > 0]
    sums = np.cumsum(masses[order])
    places = np.searchsorted(sums, np.array(at) * sums[-1] * (1 - 1e-12))
    found: Floats = values[order][np.minimum(places, len(order) - 1)]
    return found


def bands(found: HeldOutPredictions, residuals: Floats) -> list[dict[str, Any]]:
    """In bins of predictions the range of nine in ten residuals, of one half, and the median."""
    made, masses = [], found.masses
    for own in bins_of(found, found.predicted):
        if masses[own].sum() > 0:
            said = found.predicted[own]
            made.append(
                {
                    "predicted": rounded(np.median(said), 5),
                    "residuals": [rounded(v, 4) for v in quantiles(residuals[own], masses[own])],
                }
            )
    return made


def points(found: HeldOutPredictions, residuals: Floats) -> list[list[float]]:
    """Some predictions with their residuals, evenly through the list."""
    some = np.unique(np.linspace(0, len(found) - 1, min(MOST_POINTS, len(found))).round().astype(np.intp))
    return [[rounded(found.predicted[i], 4), rounded(residuals[i], 4)] for i in some.tolist()]
