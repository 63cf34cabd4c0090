"""Recursive elimination with LightGBM: drop the fifth of the columns with the least gain, refit, repeat."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lab.rivals.lightgbm_models import fit_on, next_size
from lab.rivals.sized import Model, Sized, Work

DROP = 0.2


class LightGBMElimination(Sized):
    """LightGBM, trained anew after the fifth of the columns with the least gain was dropped, down to the smallest k.

    Parameters and attributes are those of ``lab.rivals.sized.Sized``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lab.rivals import LightGBMElimination
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LightGBMElimination(ks=(2, 5)).fit(X, y)
    >>> len(model.features(5))
    5
    """

    title: ClassVar[str] = "LightGBM, elimination"

    def _sized(self, work: Work) -> dict[int, Model]:
        found: dict[int, Model] = {}
        columns = np.arange(work.n_columns)
        while not work.late:
            model = fit_on(work, columns, self.task, self.seed)
            if len(columns) in work.ks:
                found[len(columns)] = model.on(columns)
            keep = next_size(len(columns), work.ks, DROP)
            if keep == 0:
                break
            columns = columns[np.sort(np.argsort(-model.gains, kind="stable")[:keep])]
        return found
