"""LightGBM with a penalty on the first use of a feature (CEGB), over a path of penalties."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lab.rivals.lightgbm_models import Boosted, valid_loss
from lab.rivals.sized import Candidate, Model, Sized, Work, best_within

GRID = 20
BISECTIONS = 2


class LightGBMCEGB(Sized):
    """LightGBM's ``cegb_penalty_feature_coupled``, the same for every column, from the root's whole gain downwards.

    A grid leaves gaps between the numbers of features, so a few penalties are added by bisection where no model of the
    grid uses exactly k. Among models of at most k features the one with the lowest validation loss is taken.

    Parameters and attributes are those of ``lab.rivals.sized.Sized``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lab.rivals import LightGBMCEGB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LightGBMCEGB(ks=(2, 5)).fit(X, y)
    >>> 0 < len(model.features(5)) <= 5
    True
    """

    title: ClassVar[str] = "LightGBM, CEGB"

    def _sized(self, work: Work) -> dict[int, Model]:
        top = self._root_gain(work)
        found: dict[float, Candidate] = {}
        for penalty in np.geomspace(top, 1e-4 * top, GRID) if top > 0 else ():
            if work.late:
                break
            found[penalty] = self._fitted(work, penalty)
            if len(found[penalty].model.columns) > 2 * max(work.ks):
                break  # smaller penalties only buy more
        for k in work.ks:
            for _ in range(BISECTIONS):
                between = gap(found, k)
                if between is None or work.late:
                    break
                found[between] = self._fitted(work, between)
        return best_within(list(found.values()), work.ks)

    def _root_gain(self, work: Work) -> float:
        """Gain of the best first split: a larger penalty buys nothing."""
        first = Boosted.fit(work.train, work.valid, self.task, self.seed).booster.dump_model(num_iteration=1)
        return float(first["tree_info"][0]["tree_structure"].get("split_gain", 0.0))

    def _fitted(self, work: Work, penalty: float) -> Candidate:
        each = [penalty] * work.n_columns
        model = Boosted.fit(work.train, work.valid, self.task, self.seed, cegb_penalty_feature_coupled=each)
        return Candidate(model.on(), valid_loss(model.score(work.valid.X), work.valid, self.task))


def gap(found: dict[float, Candidate], k: int) -> float | None:
    """A penalty between the smallest that buys at most k and its neighbour that buys more; None where k is met."""
    sizes = {penalty: len(candidate.model.columns) for penalty, candidate in found.items()}
    within = [penalty for penalty, size in sizes.items() if size <= k]
    if not within or k in sizes.values():
        return None
    low = min(within)
    more = [penalty for penalty, size in sizes.items() if size > k and penalty < low]
    return float(np.sqrt(low * max(more))) if more else None
