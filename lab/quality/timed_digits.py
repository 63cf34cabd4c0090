"""Features of digits that take very different times to compute, and the time that each takes.

A pixel is looked up in a fraction of a microsecond; finding the best of 25 shifts of a mean image takes a thousand
times as long. Each feature is a function of one image and computed by itself, as if a prediction asked for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Floats = NDArray[np.float64]
Feature = Callable[[Floats], float]
SIDE = 28
ROUNDS, IMAGES = 15, 40  # the time of a feature is the least of so many rounds over so many images


def pixel(image: Floats, row: int, column: int) -> float:
    return float(image[row, column])


def block(image: Floats, row: int, column: int) -> float:
    return float(image[row : row + 4, column : column + 4].mean())


def row_sum(image: Floats, row: int) -> float:
    return float(image[row].sum())


def column_sum(image: Floats, column: int) -> float:
    return float(image[:, column].sum())


def crossings(image: Floats, row: int) -> float:
    """How often a row of pixels goes from dark to light or back."""
    return float(np.count_nonzero(np.diff(image[row] > 100)))


def edges(image: Floats, row: int, column: int, axis: int) -> float:
    """Mean size of the steps along one axis in a part of the image."""
    return float(np.abs(np.diff(image[row : row + 7, column : column + 7], axis=axis)).mean())


def moment(image: Floats, p: int, q: int) -> float:
    at = np.arange(SIDE) / SIDE
    mass = image.sum() + 1e-9
    x, y = (image.sum(axis=0) @ at) / mass, (image.sum(axis=1) @ at) / mass
    return float(((at - y) ** p) @ image @ ((at - x) ** q) / mass)


def distance(image: Floats, mean: Floats) -> float:
    return float(np.square(image - mean).sum())


def shifted_distance(image: Floats, mean: Floats) -> float:
    """The same for the best of 25 shifts."""
    padded = np.pad(image, 2)
    return min(float(np.square(padded[r : r + SIDE, c : c + SIDE] - mean).sum()) for r in range(5) for c in range(5))


def holes(image: Floats) -> float:
    return float(ndimage.label(image <= 100)[1] - 1)


def parts(image: Floats) -> float:
    return float(ndimage.label(image > 100, structure=np.ones((3, 3)))[1])


def features(X: Floats, y: NDArray[np.int64]) -> dict[str, Feature]:
    """All features by name; mean images, with which some compare, are those of the rows given, for training."""
    means = {label: X[y == label].mean(axis=0).reshape(SIDE, SIDE) for label in np.unique(y).tolist()}
    found: dict[str, Feature] = {}
    for r in range(5, 24, 3):
        for c in range(6, 23, 3):
            found[f"pixel {r} {c}"] = partial(pixel, row=r, column=c)
    for r in range(4, 24, 4):
        for c in range(4, 24, 4):
            found[f"block {r} {c}"] = partial(block, row=r, column=c)
    for i in range(6, 23, 2):
        found[f"row {i}"] = partial(row_sum, row=i)
        found[f"column {i}"] = partial(column_sum, column=i)
        found[f"crossings {i}"] = partial(crossings, row=i)
    for r in (3, 10, 17):
        for c in (3, 10, 17):
            for axis in (0, 1):
                found[f"edges {r} {c} {axis}"] = partial(edges, row=r, column=c, axis=axis)
    for p, q in ((2, 0), (1, 1), (0, 2), (2, 1), (1, 2), (3, 0), (0, 3)):
        found[f"moment {p} {q}"] = partial(moment, p=p, q=q)
    for label, mean in means.items():
        found[f"distance {label}"] = partial(distance, mean=mean)
        found[f"best shift {label}"] = partial(shifted_distance, mean=mean)
    return found | {"holes": holes, "parts": parts}


def computed(functions: dict[str, Feature], X: Floats) -> Floats:
    images = X.reshape(-1, SIDE, SIDE)
    return np.array([[f(image) for f in functions.values()] for image in images])


def times(functions: dict[str, Feature], X: Floats) -> dict[str, float]:
    """Microseconds that each feature takes for one image.

    The least of several rounds, so that other work on the machine counts little.
    """
    images = list(X[:IMAGES].reshape(-1, SIDE, SIDE))
    least = dict.fromkeys(functions, np.inf)
    for _ in range(ROUNDS):
        for name, f in functions.items():
            begin = time.perf_counter()
            for image in images:
                f(image)
            least[name] = min(least[name], (time.perf_counter() - begin) / IMAGES * 1e6)
    return least
