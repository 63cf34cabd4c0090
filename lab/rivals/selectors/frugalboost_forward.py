"""frugalboost's forward part alone: a path of 40 mu; of all models with at most k features the best on validation."""

from __future__ import annotations

from collections.abc import Sequence

from lab.quality.splits import Split
from lab.rivals.selectors.common import DEPTH, Answer
from lab.rivals.selectors.frugalboost import answer, fitted_path

NAME = "frugalboost, path of mu"


def run(split: Split, ks: Sequence[int], deadline: float) -> dict[int, Answer]:
    """In-model: nothing is sold, nothing is refitted."""
    path = fitted_path(split, DEPTH, n_mus=40, eps=1e-4)
    return {k: answer(split, [path], k) for k in ks}
