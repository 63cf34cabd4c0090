"""Recursive elimination with LightGBM: drop the fifth of the columns with the least gain, refit, repeat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lab.quality.splits import Split
from lab.rivals.selectors.common import Answer, gains, late, lightgbm_answer, lightgbm_fit

NAME = "LightGBM, elimination"
DROP = 0.2


def run(split: Split, ks: Sequence[int], deadline: float) -> dict[int, Answer]:
    """Eliminate down to the smallest k, halting at every k on the way."""
    answers: dict[int, Answer] = {}
    columns = np.arange(split.X_train.shape[1])
    while not late(deadline):
        model = lightgbm_fit(split, columns)
        if len(columns) in ks:
            answers[len(columns)] = lightgbm_answer(split, model, columns)
        keep = next_size(len(columns), ks)
        if keep == 0:
            break
        columns = columns[np.sort(np.argsort(-gains(model), kind="stable")[:keep])]
    return answers


def next_size(now: int, ks: Sequence[int]) -> int:
    """A fifth fewer, at least one fewer, and no further than the next k; 0 when no k is left."""
    below = max((k for k in ks if k < now), default=0)
    return max(below, now - max(1, int(DROP * now))) if below else 0
