"""Selectors that make a model for each of the sizes that were asked for before the fit."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils._param_validation import Interval

from lab.rivals.rows import Places, Rows, judged, varied
from lab.rivals.selector import CLASSIFICATION, SEED, TASK, Selector

KS = (2, 5, 10, 20, 50, 100)

# Boosters as all methods here use them, so that they differ in what they select alone.
TREES = 500
DEPTH = 4
LEARNING_RATE = 0.1
PATIENCE = 20


@dataclass(frozen=True)
class Model:
    """A model of a few columns, which it really uses; it predicts from the whole table."""

    columns: Places
    predict: Callable[[Any], NDArray[Any]]  # class numbers, or numbers in regression


@dataclass(frozen=True)
class Work:
    """What there is to do: the rows, the sizes, and until when."""

    train: Rows
    valid: Rows  # to stop early and to choose by
    ks: Sequence[int]
    deadline: float

    @property
    def late(self) -> bool:
        """Whether nothing more should be begun."""
        return time.monotonic() > self.deadline

    @property
    def n_columns(self) -> int:
        """How many columns the table has."""
        return int(self.train.X.shape[1])


class Sized(Selector):
    """Has a model for each of the sizes in ``ks``; any other k is answered by the next smaller one.

    Parameters
    ----------
    ks : sequence of int, default=(2, 5, 10, 20, 50, 100)
        The numbers of features that will be asked for.
    task : {"classification", "regression"}, default="classification"
        What is predicted.
    seconds : float or None, default=None
        Nothing more is begun after this time; sizes that were not reached have no features. None: no limit.
    seed : int, default=0
        Decides the validation rows where none are given, and whatever the method draws.

    Attributes
    ----------
    classes_, n_features_in_ : ndarray, int
        As in :class:`Selector`.
    """

    _numbers: ClassVar[Any] = [np.float64, np.float32]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "ks": ["array-like"],
        "task": [TASK],
        "seconds": [Interval(Real, 0, None, closed="left"), None],
        "seed": [SEED],
    }

    _keeps_sparse: ClassVar[bool] = False  # whether models take a sparse table
    _models: dict[int, Model]

    def __init__(
        self,
        ks: Sequence[int] = KS,
        *,
        task: str = CLASSIFICATION,
        seconds: float | None = None,
        seed: int = 0,
    ) -> None:
        self.ks = ks
        self.task = task
        self.seconds = seconds
        self.seed = seed

    @abstractmethod
    def _sized(self, work: Work) -> dict[int, Model]:
        """A model for each size; one that can't be reached, or not in time, is left out."""

    def _learn(self, rows: Rows, validation: Rows | None) -> None:
        deadline = np.inf if self.seconds is None else time.monotonic() + self.seconds
        train, valid = self._parts(rows, validation)
        work = Work(train, valid, sorted(int(k) for k in self.ks), deadline)
        self._models = self._sized(work) if len(varied(train.X)) else {}

    def _parts(self, rows: Rows, validation: Rows | None) -> tuple[Rows, Rows]:
        """Rows to train on, and rows to stop early and to choose by."""
        train, valid = next(judged(rows, validation, 1, self.seed))
        return train.as_array(), valid.as_array()

    def _at(self, k: int) -> Model | None:
        asked = max((size for size in self.ks if size <= k), default=0)
        return self._models.get(int(asked))

    def reaches(self, k: int) -> bool:
        """Return whether there is a model for k, as in :class:`Selector`; it may have bought nothing."""
        self.features(k)  # checks k, and that there was a fit
        return self._at(k) is not None

    def _features(self, k: int) -> Places:
        model = self._at(k)
        return np.zeros(0, dtype=np.int64) if model is None else model.columns.astype(np.int64)

    def _predicted(self, X: Any, k: int) -> NDArray[Any]:
        model = self._at(k)
        assert model is not None  # or there would be no features, and no question
        return model.predict(X.toarray() if issparse(X) and not self._keeps_sparse else X)


@dataclass(frozen=True)
class Candidate:
    """A model off a penalty's path, and how well it does on the validation rows."""

    model: Model
    loss: float


def best_within(candidates: Sequence[Candidate], ks: Sequence[int]) -> dict[int, Model]:
    """For each k, the model of at most k features that has the lowest validation loss."""
    found = {}
    for k in ks:
        fitting = [c for c in candidates if 0 < len(c.model.columns) <= k]
        if fitting:
            found[k] = min(fitting, key=lambda c: c.loss).model
    return found
