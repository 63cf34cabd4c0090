"""The paper's first picture: classes that no linear model can tell apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def make_nonlinear(n_samples: int = 1000, *, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Make one square of points amid eight others, given by x and y, and a feature that adds nothing: z = (x + y) / 2.

    Any two of the three features determine the third, and no linear model tells the classes apart. Points lie on a grid
    of 0.05, so that each value of a feature has a bin of its own.

    Parameters
    ----------
    n_samples : int, default=1000
        How many rows, every second one in the square in the middle.
    seed : int, default=0
        Other seeds give other samples.

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
        x, y and z.
    y : ndarray of shape (n_samples,)
        1 in the middle, 0 around it.

    Examples
    --------
    >>> from frugalboost import GBFSClassifier
    >>> from lab.data import make_nonlinear
    >>> X, y = make_nonlinear()
    >>> model = GBFSClassifier(mu=0.01, max_iter=50).fit(X, y)
    >>> sorted(model.selected_features_.tolist())
    [0, 1]
    >>> X_test, y_test = make_nonlinear(seed=1)
    >>> model.score(X_test, y_test)
    1.0
    """
    rng = np.random.default_rng(seed)
    labels = np.arange(n_samples) % 2
    place = np.where(labels == 1, 4, rng.choice([0, 1, 2, 3, 5, 6, 7, 8], n_samples))  # of nine squares, row by row
    x, y = (2.0 * (at - 1) + rng.integers(-8, 9, n_samples) / 20 for at in (place % 3, place // 3))
    return np.column_stack([x, y, (x + y) / 2]), labels
