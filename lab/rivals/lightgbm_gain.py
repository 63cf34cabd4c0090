"""LightGBM on all columns, ranked by total gain; refit on the top k. What most people do."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lab.rivals.lightgbm_models import Boosted, refit_on_top, valid_loss
from lab.rivals.rows import Places, Rows, folds
from lab.rivals.sized import Model, Sized, Work

DEPTHS, FEW_TREES, LEAF, FOLDS = (1, 2, 3), 100, 5, 5  # of what learns from few rows


class LightGBMGain(Sized):
    """LightGBM ranks all columns by their total gain, and is trained anew on the top k.

    Parameters and attributes are those of ``lab.rivals.sized.Sized``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lab.rivals import LightGBMGain
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LightGBMGain(ks=(2, 5)).fit(X, y)
    >>> len(model.features(5))
    5
    """

    title: ClassVar[str] = "LightGBM, top gain"

    def _sized(self, work: Work) -> dict[int, Model]:
        gains = Boosted.fit(work.train, work.valid, self.task, self.seed).gains
        return refit_on_top(work, np.argsort(-gains, kind="stable"), self.task, self.seed)


class LightGBMGainFewRows(Sized):
    """The same for tables of few rows, none of which can be spared for early stopping: 100 trees, leaves of 5 rows.

    LightGBM with trees of depth 1, 2 and 3 ranks all columns by their total gain; for each k that depth is taken whose
    top k have the lowest log loss in 5-fold cross-validation. Validation rows are not looked at. Parameters and
    attributes are those of ``lab.rivals.sized.Sized``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lab.rivals import LightGBMGainFewRows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LightGBMGainFewRows(ks=(2, 5)).fit(X, y)
    >>> len(model.features(5))
    5
    """

    title: ClassVar[str] = "LightGBM, top gain, few rows"

    def _parts(self, rows: Rows, validation: Rows | None) -> tuple[Rows, Rows]:
        return rows.as_array(), rows

    def _sized(self, work: Work) -> dict[int, Model]:
        rankings = {d: np.argsort(-self._boosted(work.train, d).gains, kind="stable") for d in DEPTHS}
        return {k: self._best(work.train, {d: ranking[:k] for d, ranking in rankings.items()}) for k in work.ks}

    def _best(self, rows: Rows, tops: dict[int, Places]) -> Model:
        """The model of the depth with the lowest loss, each with the columns that it ranked first."""
        losses = {}
        for depth, columns in tops.items():
            parts = folds(rows.columns(columns), FOLDS, self.seed)
            losses[depth] = np.mean([valid_loss(self._boosted(a, depth).score(b.X), b, self.task) for a, b in parts])
        depth = min(losses, key=lambda d: losses[d])
        return self._boosted(rows.columns(tops[depth]), depth).on(tops[depth])

    def _boosted(self, rows: Rows, depth: int) -> Boosted:
        shape = {"max_depth": depth, "num_leaves": 2**depth, "min_data_in_leaf": LEAF}
        return Boosted.fit(rows, None, self.task, self.seed, FEW_TREES, **shape)
