"""Which engine does the work whose size is that of the table: the only place that knows where rows are.

An engine is made for one fit. ``make_engine`` returns the one for this machine's cores, or for its GPU. Any other
engine must have the methods in ``cpp/engine/engine.hpp`` and give the same numbers, which ``tests/engine`` checks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core
from frugalboost.engines.devices import device_for, why_not
from frugalboost.losses import BuiltIn, Loss
from frugalboost.tables.targets import columns_of, for_core

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Looks:
    """Which rows looked at which columns in an earlier fit."""

    columns: NDArray[np.int32]
    flags: NDArray[np.uint8]  # of all rows, column after column


@dataclass(frozen=True)
class EngineRows:
    """Rows in bins with their targets, and raw predictions to continue from, if there are any."""

    X: _core.BinnedMatrix
    y: Floats
    weights: Floats | None
    raw: Floats | None = None  # output after output
    looks: Looks | None = None  # where rows pay for what they look at, and boosting continues


def make_engine(
    train: EngineRows,
    validation: EngineRows | None,
    loss: BuiltIn | Loss,
    outputs: int,
    params: _core.Params,
    threads: int,
    part: _core.ThreadPart | None = None,
    device: str = "cpu",
) -> Any:
    """The engine of a fit.

    ``part``: the rows are one part of a table, other parts have the rest. ``device``: "cpu" or "cuda", or "auto".
    """
    engine = _core.CpuEngine(
        X=train.X,
        y=for_core(train.y),
        weights=train.weights,
        raw=train.raw,
        X_val=None if validation is None else validation.X,
        y_val=None if validation is None else for_core(validation.y),
        weights_val=None if validation is None else validation.weights,
        raw_val=None if validation is None else validation.raw,
        loss=loss.name if isinstance(loss, BuiltIn) else loss,
        loss_parameter=loss.parameter if isinstance(loss, BuiltIn) else np.nan,
        outputs=outputs,
        min_samples_leaf=params.min_samples_leaf,
        seed=params.seed,
        threads=threads,
        part=part,
        merge=params.subsample >= 1.0 and train.looks is None,  # equal rows are drawn, or have looked, one by one
        targets=len(columns_of(train.y)),
        device=device_for(device, why_not(loss, part)),
    )
    if train.looks is not None:
        engine.remember(train.looks.columns.tolist(), train.looks.flags)
    return engine
