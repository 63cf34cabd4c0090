"""LightGBM on all columns, ranked by total gain; refit on the top k. What most people do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lab.quality.splits import Split
from lab.rivals.selectors.common import Answer, gains, lightgbm_fit, refit_on_top

NAME = "LightGBM, top gain"


def run(split: Split, ks: Sequence[int], deadline: float) -> dict[int, Answer]:
    """Rank once, refit for each k."""
    ranking = np.argsort(-gains(lightgbm_fit(split)), kind="stable")
    return refit_on_top(split, ranking, ks, deadline)
