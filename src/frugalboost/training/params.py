"""The settings of a fit as one frozen object, passed whole from the estimator down to the core."""

from __future__ import annotations

from ast import literal_eval
from dataclasses import dataclass
from typing import Any

from sklearn.utils import check_random_state

from frugalboost import _core
from frugalboost._support.threads import LARGEST_INT
from frugalboost.training.parameters import PARAMETERS, kept

_KEPT = tuple(p for p in PARAMETERS if p.kept is not None)
_FOR_CORE = tuple(p for p in _KEPT if p.to_core is not None)
# Read once: in Python 3.11.7 and before, two threads that parse at the same time may end in a SystemError.
_DEFAULTS = {p.name: literal_eval(p.default) for p in _KEPT}


@dataclass(frozen=True)
class Params:
    """What a fit needs to know; names and meanings are those of the estimators."""

    # Written by tools/write_signatures from training/parameters.py.
    mu: float
    mu_unit: str
    learning_rate: float
    max_iter: int
    max_depth: int
    max_leaf_nodes: int | None
    multi_strategy: str
    base: str
    line_scale: str
    min_samples_leaf: float
    l2_regularization: float
    max_bins: int
    bins_folder: str | None
    leaf_values: str
    init: str
    stop: str
    screening: str
    new_features: float
    subsample: float
    max_features: float
    n_features_to_select: int | None
    fewer: bool
    refit: bool | str
    average: int
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    tol: float
    warm_start: bool
    device: str
    # End of what tools/write_signatures wrote.
    seed: int = 0  # decides folds, and what new_features and screening draw
    validation_seed: int | None = None  # decides which rows are set aside; None: none are

    @classmethod
    def from_estimator(cls, estimator: Any) -> Params:
        """Take the settings of an estimator, which has checked them."""
        state = estimator.random_state
        validation_seed = int(check_random_state(state).randint(LARGEST_INT)) if estimator.early_stopping else None
        seed = 0 if state is None else int(check_random_state(state).randint(LARGEST_INT))
        # A setting that only the other estimator has means nothing to this one.
        settings = {p.name: kept(p, getattr(estimator, p.name, _DEFAULTS[p.name])) for p in _KEPT}
        return cls(**settings, seed=seed, validation_seed=validation_seed)

    def to_core(self) -> _core.Params:
        """Return the settings that the core knows as its record."""
        core = _core.Params()
        for parameter in _FOR_CORE:
            assert parameter.to_core is not None
            setattr(core, parameter.name, parameter.to_core(getattr(self, parameter.name)))
        core.seed = self.seed
        return core

    def key(self) -> str:
        """A text that is the same for settings with which the core does the same, apart from max_iter."""
        settings = {p.name: getattr(self, p.name) for p in _FOR_CORE if p.name != "max_iter"}
        return repr({**settings, "seed": self.seed})
