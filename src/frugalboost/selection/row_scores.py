"""What each held-out row adds to a score: numbers whose weighted mean over the rows is the score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Way = Callable[[NDArray[Any], NDArray[Any], Floats], Floats]  # of targets, predictions and weights that add up to 1


def row_scores(name: str, estimator: Any, X: Any, y: Any, weights: Floats | None) -> Floats | None:
    """Return a number for each row, with the score as their weighted mean.

    Scores such as accuracy are such means. For others a row has the score plus its influence: by how much the score
    rises for each unit of weight that the row gains, so that the weighted mean with slightly other weights is nearly
    the score with them.

    Parameters
    ----------
    name : str
        Of a score.
    estimator : estimator
        Fitted.
    X, y : table and array-like
        Held-out rows.
    weights : ndarray or None
        Of the rows.

    Returns
    -------
    ndarray or None
        None: not known for this score, or for targets such as these.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from frugalboost.selection.row_scores import row_scores
    >>> X, y = np.zeros((4, 1)), np.array([0, 0, 0, 1])
    >>> row_scores("accuracy", DummyClassifier().fit(X, y), X, y, None)
    array([1., 1., 1., 0.])
    """
    y = np.asarray(y)
    if y.ndim > 1:  # a column, as scikit-learn takes with a warning
        if y.shape[1] != 1:
            return None
        y = y[:, 0]
    share = np.full(len(y), 1 / len(y)) if weights is None else weights / weights.sum()
    if name in OF_NUMBERS:
        return OF_NUMBERS[name](y.astype(np.float64), np.asarray(estimator.predict(X)), share)
    if name in OF_CLASSES:
        return OF_CLASSES[name](y, np.asarray(estimator.predict(X)), share)
    if name in BY_PROBABILITY:
        codes = np.searchsorted(estimator.classes_, y)
        return BY_PROBABILITY[name](codes, estimator.predict_proba(X), share)
    if name == "roc_auc" and len(getattr(estimator, "classes_", ())) == 2:
        return of_roc_auc(y == estimator.classes_[1], estimator.decision_function(X), share)
    return None


def of_accuracy(y: NDArray[Any], predicted: NDArray[Any], share: Floats) -> Floats:
    """1 where it is right."""
    right: Floats = np.asarray(y == predicted, dtype=np.float64)
    return right


def of_balanced_accuracy(y: NDArray[Any], predicted: NDArray[Any], share: Floats) -> Floats:
    """The mean of the shares of each class that are right."""
    right = (y == predicted).astype(np.float64)
    _, codes = np.unique(y, return_inverse=True)
    size = np.bincount(codes, weights=share)
    recall = np.bincount(codes, weights=share * right) / size
    found: Floats = recall.mean() + (right - recall[codes]) / (len(size) * size[codes])
    return found


def of_squared_error(y: NDArray[Any], predicted: NDArray[Any], share: Floats) -> Floats:
    """Minus the squared error."""
    found: Floats = -np.square(y - predicted)
    return found


def of_root_of_squared_error(y: NDArray[Any], predicted: NDArray[Any], share: Floats) -> Floats:
    """Minus its root."""
    square = -of_squared_error(y, predicted, share)
    root = np.sqrt(share @ square)
    found: Floats = -(root + square / root) / 2 if root > 0 else np.zeros(len(square))
    return found


def of_absolute_error(y: NDArray[Any], predicted: NDArray[Any], share: Floats) -> Floats:
    """Minus the absolute error."""
    found: Floats = -np.abs(y - predicted)
    return found


def of_explained_share(y: NDArray[Any], predicted: NDArray[Any], share: Floats) -> Floats:
    """The share of the variance that is explained, R²."""
    square, around = -of_squared_error(y, predicted, share), np.square(y - share @ y)
    variance = share @ around
    if not variance > 0:  # one row, or equal ones: scikit-learn's score is 1 or 0 there
        return np.full(len(square), float(not square.any()))
    left: Floats = 1 - square / variance + (share @ square) * (around - variance) / variance**2
    return left


def of_poisson_deviance(y: NDArray[Any], predicted: NDArray[Any], share: Floats) -> Floats:
    """Minus the Poisson deviance."""
    ratio = np.where(y > 0, y / predicted, 1.0)
    found: Floats = -2 * (y * np.log(ratio) - y + predicted)
    return found


def of_log_loss(codes: NDArray[Any], probability: Floats, share: Floats) -> Floats:
    """The logarithm of the probability of the class that was there."""
    tiny = np.finfo(probability.dtype).eps
    found: Floats = np.log(np.clip(probability[np.arange(len(codes)), codes], tiny, 1 - tiny))
    return found


def of_roc_auc(positive: NDArray[np.bool_], raw: Floats, share: Floats) -> Floats:
    """The area under the ROC curve, with the share of rows of the other class that a row is on the right side of."""
    _, place = np.unique(raw, return_inverse=True)
    total = np.array([share[~positive].sum(), share[positive].sum()])
    if not total.all():
        return np.full(len(share), np.nan)
    below = [np.bincount(place, weights=share * (positive == c), minlength=place.max() + 1) for c in (False, True)]
    before = [np.cumsum(weight) - weight / 2 for weight in below]  # half of those with the same prediction
    right = np.where(positive, before[0][place] / total[0], 1 - before[1][place] / total[1])
    area = float((share * right)[positive].sum() / total[1])
    found: Floats = area + (right - area) / total[positive.astype(np.intp)]
    return found


OF_CLASSES: dict[str, Way] = {"accuracy": of_accuracy, "balanced_accuracy": of_balanced_accuracy}
OF_NUMBERS: dict[str, Way] = {
    "R²": of_explained_share,
    "r2": of_explained_share,
    "neg_mean_squared_error": of_squared_error,
    "neg_root_mean_squared_error": of_root_of_squared_error,
    "neg_mean_absolute_error": of_absolute_error,
    "neg_mean_poisson_deviance": of_poisson_deviance,
}
BY_PROBABILITY: dict[str, Way] = {"neg_log_loss": of_log_loss}
