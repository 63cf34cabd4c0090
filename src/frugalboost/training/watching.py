"""What users ask for after every iteration: a score of the validation rows, and functions of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.tables.sample import Sample
from frugalboost.training.task import FitTask

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Iteration:
    """The state of a fit after an iteration, as callbacks get it."""

    iteration: int
    train_loss: float
    validation_loss: float  # NaN: no validation rows
    validation_score: float  # NaN: no ``scoring``, or no validation rows
    features: tuple[int, ...]  # bought so far, in order
    cost: float  # of all of them


@dataclass(frozen=True)
class Watch:
    """What follows one fit. ``score`` gets checked rows and their raw predictions, one row per output."""

    score: Callable[[Sample, Floats], float] | None = None
    callbacks: Sequence[Callable[[Iteration], Any]] = ()


class Judge:
    """Called by the core after every iteration; the first call is for the state before the first."""

    def __init__(self, watch: Watch, engine: Any, task: FitTask, first: int) -> None:
        self._watch, self._engine, self._task, self._first = watch, engine, task, first
        self._scores: list[float] = []

    @property
    def gives_scores(self) -> bool:
        """Whether scores judge iterations, and not losses."""
        return self._watch.score is not None and self._task.validation is not None

    @property
    def scores(self) -> Floats | None:
        """So far, that of the first state too."""
        return np.array(self._scores) if self.gives_scores else None

    def __call__(
        self, iteration: int, train_loss: float, validation_loss: float, bought: list[int], cost: float
    ) -> tuple[float | None, bool]:
        """Return what stands for the validation loss, if anything does, and whether boosting stops."""
        score = self._score(iteration) if self.gives_scores else None
        if iteration == self._first:
            return None if score is None else -score, False
        known = float("nan") if score is None else score
        record = Iteration(iteration, train_loss, validation_loss, known, tuple(bought), cost)
        answers = [callback(record) for callback in self._watch.callbacks]  # all of them, also after one that stops
        return None if score is None else -score, any(answer is True or answer is np.True_ for answer in answers)

    def _score(self, iteration: int) -> float:
        rows = self._task.validation
        assert rows is not None
        assert self._watch.score is not None
        raw = np.reshape(self._engine.validation_raw(), (self._task.outputs, len(rows)))
        score = self._watch.score(rows, raw)
        if not np.isfinite(score):
            raise ValueError(
                f"scoring gave {score} for the validation rows after iteration {iteration}, which can't be compared. "
                "Choose another score, or rows for which it is defined."
            )
        self._scores.append(score)
        return score
