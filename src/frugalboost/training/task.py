"""The description of a fit: rows, settings, loss, prices and bins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from frugalboost import _core
from frugalboost.costs import Resolved
from frugalboost.losses import BuiltIn, Loss
from frugalboost.tables import Levels
from frugalboost.tables.sample import Sample
from frugalboost.training.binning import Thresholds
from frugalboost.training.constraints import Constraints
from frugalboost.training.params import Params


@dataclass(frozen=True)
class FitTask:
    """One fit, from the settings of an estimator to the input of the core.

    ``training.fit.prepare`` sets rows aside and fills in the bins; this is done once, even if many fits follow.
    """

    train: Sample
    validation: Sample | None
    loss: BuiltIn | Loss
    outputs: int
    costs: Resolved
    params: Params
    budget: float = np.inf
    constraints: Constraints = field(default_factory=Constraints)
    names: tuple[str, ...] | None = None  # of the features
    classes: bool = False  # y holds the numbers of classes
    bins: _core.BinnedMatrix | None = None  # of the training rows; None: not prepared yet
    validation_bins: _core.BinnedMatrix | None = None
    thresholds: Thresholds | None = None  # between the bins of the whole table
    levels: Mapping[int, Levels] = field(default_factory=dict)  # of the categorical columns
    same_bins: bool = False  # the bins have the thresholds of an earlier model
    part: _core.ThreadPart | None = None  # the rows are a part of a table; None: all of it
    runs_on: str = ""  # the name of the device, where not only the CPU was allowed

    @property
    def binned(self) -> _core.BinnedMatrix:
        """The training rows in bins."""
        assert self.bins is not None, "The task was not prepared."
        return self.bins
