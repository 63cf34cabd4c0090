"""LightGBM with a penalty on the first use of a feature (CEGB), over a path of penalties.

A grid leaves gaps between the numbers of features, so a few penalties are added by bisection where no model of the grid
uses exactly k.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from lab.quality.splits import Split
from lab.rivals.selectors.common import (
    Answer,
    Candidate,
    best_within,
    late,
    lightgbm_answer,
    lightgbm_fit,
    used,
    valid_loss,
)

NAME = "LightGBM, CEGB"
GRID = 20
BISECTIONS = 2


def run(split: Split, ks: Sequence[int], deadline: float) -> dict[int, Answer]:
    """Sweep the penalty from the root's whole gain downwards."""
    top = root_gain(split)
    found: dict[float, Candidate] = {}
    for penalty in np.geomspace(top, 1e-4 * top, GRID):
        if late(deadline):
            break
        found[penalty] = fitted(split, penalty)
        if found[penalty].n_features > 2 * max(ks):
            break  # smaller penalties only buy more
    for k in ks:
        for _ in range(BISECTIONS):
            between = gap(found, k)
            if between is None or late(deadline):
                break
            found[between] = fitted(split, between)
    return best_within(list(found.values()), ks)


def root_gain(split: Split) -> float:
    """Gain of the best first split: a larger penalty buys nothing."""
    first = lightgbm_fit(split).dump_model(num_iteration=1)["tree_info"][0]["tree_structure"]
    return float(first["split_gain"])


def fitted(split: Split, penalty: float) -> Candidate:
    model = lightgbm_fit(split, cegb_penalty_feature_coupled=[penalty] * split.X_train.shape[1])
    loss = valid_loss(split, model.predict(split.X_valid))
    return Candidate(len(used(model)), loss, partial(lightgbm_answer, split, model))


def gap(found: dict[float, Candidate], k: int) -> float | None:
    """A penalty between the smallest that buys at most k and its neighbour that buys more; None where k is met."""
    within = [penalty for penalty, model in found.items() if model.n_features <= k]
    if not within or any(model.n_features == k for model in found.values()):
        return None
    low = min(within)
    more = [penalty for penalty, model in found.items() if model.n_features > k and penalty < low]
    return float(np.sqrt(low * max(more))) if more else None
