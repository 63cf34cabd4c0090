"""LightGBM on all columns, ranked by total gain; refit on the top k. What most people do."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lab.rivals.lightgbm_models import Boosted, refit_on_top
from lab.rivals.sized import Model, Sized, Work


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
