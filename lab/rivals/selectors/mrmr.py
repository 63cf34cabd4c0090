"""mRMR: the largest F statistic over the mean absolute correlation with what is chosen; LightGBM on the top k."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lab.quality.splits import Split
from lab.rivals.selectors.common import Answer, refit_on_top, standardised

NAME = "mRMR, then LightGBM"


def run(split: Split, ks: Sequence[int], deadline: float) -> dict[int, Answer]:
    """Rank once, refit for each k."""
    return refit_on_top(split, ranked(standardised(split)[0], split.y_train, max(ks)), ks, deadline)


def ranked(Z: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """Choose greedily; with two classes the F statistic of a column is that of its correlation with the label."""
    n = len(y)
    r2 = np.minimum((Z.T @ ((y - y.mean()) / y.std()) / n) ** 2, 1 - 1e-12)
    relevance = r2 * (n - 2) / (1 - r2)
    chosen: list[int] = []
    redundancy = np.zeros(Z.shape[1])
    for step in range(count):
        score = relevance / np.maximum(redundancy / step, 1e-3) if step else relevance.copy()
        score[chosen] = -1.0
        chosen.append(int(np.argmax(score)))
        redundancy += np.abs(Z.T @ Z[:, chosen[-1]]) / n
    return np.array(chosen)
