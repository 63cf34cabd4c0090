"""What frugalboost does, on a data set bundled with scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frugalboost

FOLDS, TREES = 5, 200
DIGITS = (3, 8)
SIDE = 8  # of an image, in pixels

Floats = NDArray[np.float64]


def demo_report(mu: float, seed: int) -> str:
    """Tell handwritten digits apart, and show which pixels were bought and what they are good for.

    Parameters
    ----------
    mu : float
        What a price of 1 weighs, as a share of the impurity before the first tree.
    seed : int
        Decides which images are held out together.

    Returns
    -------
    str
        A readable table. Pixels are those that are bought on all images; errors are those of cross-validation, in which
        every fold buys for itself.

    Examples
    --------
    >>> from frugalboost.cli import demo_report
    >>> print(demo_report(0.05, 0).splitlines()[0])
    Handwritten 3s and 8s: 357 images of 8 x 8 pixels. Errors are of 5-fold cross-validation.
    """
    from sklearn.datasets import load_digits
    from sklearn.model_selection import StratifiedKFold

    images = load_digits()
    chosen = np.isin(images.target, DIGITS)
    X, y = images.data[chosen], images.target[chosen]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    model = fitted(X, y, mu=mu)
    by_fold = [errors(X, y, mu, train, held, model.n_features_selected_) for train, held in folds.split(X, y)]
    so_far = np.array([found[:-1] for found in by_fold])  # by fold and number of purchases, from 0
    everything = np.array([found[-1] for found in by_fold])
    lines = [
        f"Handwritten {DIGITS[0]}s and {DIGITS[1]}s: {len(y)} images of {SIDE} x {SIDE} pixels. "
        f"Errors are of {FOLDS}-fold cross-validation.",
        "",
        *purchases(model, so_far),
        "",
        f"{model.n_features_selected_} of {X.shape[1]} pixels: error {mean_of(so_far[:, -1])}. "
        f"Without prices: {fitted(X, y, mu=0.0).n_features_selected_} pixels, {mean_of(everything)}.",
    ]
    return "\n".join(lines)


def fitted(X: Floats, y: NDArray[Any], **settings: Any) -> frugalboost.GBFSClassifier:
    """A model of the demo."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", frugalboost.NothingBoughtWarning)
        model: frugalboost.GBFSClassifier = frugalboost.GBFSClassifier(max_iter=TREES, **settings).fit(X, y)
        return model


def errors(
    X: Floats, y: NDArray[Any], mu: float, train: NDArray[np.intp], held: NDArray[np.intp], number: int
) -> list[float]:
    """Held-out errors in percent: with the first 0, 1, 2, ... purchases of these rows, the whole model, no prices."""

    def error(**settings: Any) -> float:
        return 100 * (1 - float(fitted(X[train], y[train], **settings).score(X[held], y[held])))

    bought = fitted(X[train], y[train], mu=mu).selected_features_
    found = []
    for k in range(number):
        only_these = np.full(X.shape[1], np.inf)
        only_these[bought[:k]] = 0.0
        found.append(error(costs=only_these))
    return [*found, error(mu=mu), error(mu=0.0)]


def purchases(model: frugalboost.GBFSClassifier, so_far: Floats) -> list[str]:
    """A line for each pixel that was bought."""
    if model.n_features_selected_ == 0:
        return [f"    nothing: from mu = {model.mu_max_:.3f} on, no pixel is worth its price"]
    owned, shares = model.history_["n_features"], 100 * model.feature_importances_
    lines = [f"    {'bought':<18}{'in tree':>8}{'share of gain':>15}{'error with pixels so far':>27}"]
    for k, pixel in enumerate(model.selected_features_, start=1):
        name = f"row {pixel // SIDE + 1}, column {pixel % SIDE + 1}"
        tree = next(i for i, n in enumerate(owned) if n >= k)
        lines.append(f"{k:>3} {name:<18}{tree:>8}{shares[pixel]:>13.1f} %{so_far[:, k].mean():>25.1f} %")
    return lines


def mean_of(by_fold: Floats) -> str:
    """A mean with its standard error."""
    return f"{by_fold.mean():.1f} % ± {by_fold.std(ddof=1) / np.sqrt(len(by_fold)):.1f} %"
