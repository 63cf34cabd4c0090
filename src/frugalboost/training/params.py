"""The settings of a fit as one frozen object, passed whole from the estimator down to the core."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from frugalboost import _core

_ENUMS = {
    "mu_unit": _core.MuUnit,
    "leaf_values": _core.LeafValues,
    "init": _core.Init,
    "stop": _core.Stop,
    "screening": _core.Screening,
}
_NAMES = {"auto": "probable"}  # where the core has another word for it
_SHARES = {"all": 1.0, "auto": -1.0}
LARGEST_INT = 2**31 - 1  # the core counts in 32 bits; more of anything than that is no limit at all


@dataclass(frozen=True)
class Params:
    """What the boosting loop needs to know; names and meanings are those of the estimators."""

    mu: float
    mu_unit: str
    learning_rate: float
    max_iter: int
    max_depth: int
    min_samples_leaf: float
    l2_regularization: float
    leaf_values: str
    init: str
    stop: str
    early_stopping: bool
    n_iter_no_change: int
    tol: float
    screening: str = "off"
    new_features: float = 1.0  # share of the columns that a tree may buy; negative: chosen by their number
    seed: int = 0  # decides which

    @classmethod
    def of(cls, estimator: Any, seed: int) -> Params:
        """Take the settings of an estimator, which has checked them."""
        types: dict[str, Any] = {"float": float, "int": _int, "bool": bool, "str": str}
        names = [f for f in fields(cls) if f.name not in ("new_features", "seed")]
        plain = {f.name: types[str(f.type)](getattr(estimator, f.name)) for f in names}
        share = estimator.new_features
        return cls(**plain, new_features=_SHARES[share] if isinstance(share, str) else float(share), seed=seed)

    def to_core(self) -> _core.Params:
        """Return the same settings as the core's record."""
        core = _core.Params()
        for field in fields(self):
            value = getattr(self, field.name)
            enum = _ENUMS.get(field.name)
            value = _NAMES.get(value, value) if enum else value
            setattr(core, field.name, getattr(enum, value) if enum else value)
        return core


def _int(value: int | None) -> int:
    """None sets no limit."""
    return LARGEST_INT if value is None else min(int(value), LARGEST_INT)
