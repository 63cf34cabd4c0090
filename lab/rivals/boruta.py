"""Boruta (the package of that name): which columns matter more than shuffled copies of all of them."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from lab.rivals.lightgbm_models import fit_on
from lab.rivals.optional import needed
from lab.rivals.rows import Places, Rows
from lab.rivals.selector import CLASSIFICATION, POSITIVE
from lab.rivals.sized import KS, Model, Sized, Work

DEPTH = 5


class Boruta(Sized):
    """A random forest of depth 5 confirms columns; LightGBM is trained on those.

    Boruta itself says how many features matter, so there is one model: for each k that is not less. It is for two
    classes.

    Parameters
    ----------
    ks : sequence of int, default=(2, 5, 10, 20, 50, 100)
        The numbers of features that will be asked for; ``len(confirmed_)`` is always among them.
    iterations : int, default=100
        How many forests it grows.
    seconds : None
        It can't be stopped early.
    seed : int, default=0
        Decides the forests and the validation rows where none are given.

    Attributes
    ----------
    confirmed_ : ndarray of int
        The columns that matter.
    classes_, n_features_in_ : ndarray, int
        As in :class:`Selector`.

    Examples
    --------
    >>> from lab.rivals import Boruta
    >>> Boruta(iterations=20).title
    'Boruta, then LightGBM'
    """

    title: ClassVar[str] = "Boruta, then LightGBM"
    _parameter_constraints: ClassVar[dict[str, Any]] = {**Sized._parameter_constraints, "iterations": [POSITIVE]}

    def __init__(self, ks: Any = KS, *, iterations: int = 100, seconds: None = None, seed: int = 0) -> None:
        super().__init__(ks, task=CLASSIFICATION, seconds=seconds, seed=seed)
        self.iterations = iterations

    def _learn(self, rows: Rows, validation: Rows | None) -> None:
        self.confirmed_: Places = np.zeros(0, dtype=np.int64)
        super()._learn(rows, validation)

    def _sized(self, work: Work) -> dict[int, Model]:
        forest = RandomForestClassifier(max_depth=DEPTH, n_jobs=1, class_weight="balanced")
        package, columns = needed("boruta", "Boruta", "Boruta"), np.arange(work.n_columns)
        search = package.BorutaPy(forest, n_estimators="auto", max_iter=self.iterations, random_state=self.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search.fit(work.train.X, work.train.labels)
        self.confirmed_ = columns[search.support_]
        if not len(self.confirmed_):
            return {}
        return {len(self.confirmed_): fit_on(work, self.confirmed_, self.task, 0).on(self.confirmed_)}

    def _at(self, k: int) -> Model | None:
        return self._models.get(len(self.confirmed_)) if k >= len(self.confirmed_) else None
