"""What the selectors share: the answer, one setting of LightGBM for all that refit with it, and losses."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np

from lab.quality.splits import Split

TREES = 500
DEPTH = 4
LEARNING_RATE = 0.1
PATIENCE = 20


@dataclass(frozen=True)
class Answer:
    """One model: the columns it really uses, and its prediction for the test rows."""

    features: np.ndarray
    prediction: np.ndarray


def late(deadline: float) -> bool:
    return time.monotonic() > deadline


def as_label(score: np.ndarray, task: str) -> np.ndarray:
    """Turn a probability of class 1 into a label; leave a regression's number alone."""
    return (score > 0.5).astype(np.int64) if task == "classification" else score


def valid_loss(split: Split, score: np.ndarray) -> float:
    """Log loss of probabilities, or RMSE, on the validation rows: what penalties are chosen by."""
    if split.task == "regression":
        return float(np.sqrt(np.mean((score - split.y_valid) ** 2)))
    score = np.clip(score, 1e-12, 1 - 1e-12)
    return float(-np.mean(np.where(split.y_valid == 1, np.log(score), np.log(1 - score))))


def lightgbm_fit(split: Split, columns: np.ndarray | None = None, **more: Any) -> lightgbm.Booster:
    """Boost on some columns (None: all), stopped early on the validation rows."""
    params = {
        "objective": "binary" if split.task == "classification" else "regression",
        "metric": "binary_logloss" if split.task == "classification" else "rmse",
        "learning_rate": LEARNING_RATE,
        "max_depth": DEPTH,
        "num_leaves": 2**DEPTH,
        "min_data_in_leaf": smallest_leaf(split),
        "num_threads": 1,
        "seed": 0,
        "verbosity": -1,
    }
    train = lightgbm.Dataset(taken(split.X_train, columns), split.y_train)
    valid = lightgbm.Dataset(taken(split.X_valid, columns), split.y_valid, reference=train)
    stop = lightgbm.early_stopping(PATIENCE, verbose=False)
    return lightgbm.train(params | more, train, TREES, valid_sets=[valid], callbacks=[stop])


def smallest_leaf(split: Split) -> int:
    """LightGBM's default of 20 rows, but fewer where it would forbid every split: colon has 39 training rows."""
    return min(20, len(split.y_train) // 10)


def taken(X: np.ndarray, columns: np.ndarray | None) -> np.ndarray:
    return X if columns is None else np.ascontiguousarray(X[:, columns])


def gains(model: lightgbm.Booster) -> np.ndarray:
    """Total gain of each column, over the trees that early stopping keeps."""
    return model.feature_importance("gain", iteration=model.best_iteration)


def used(model: lightgbm.Booster) -> np.ndarray:
    return np.flatnonzero(model.feature_importance("split", iteration=model.best_iteration))


def lightgbm_answer(split: Split, model: lightgbm.Booster, columns: np.ndarray | None = None) -> Answer:
    features = used(model) if columns is None else columns[used(model)]
    return Answer(features, as_label(model.predict(taken(split.X_test, columns)), split.task))


def refit_on_top(split: Split, ranking: np.ndarray, ks: Sequence[int], deadline: float) -> dict[int, Answer]:
    """Fit LightGBM anew on the first k columns of a ranking, for each k."""
    answers = {}
    for k in ks:
        if late(deadline):
            break
        columns = ranking[:k]
        answers[k] = lightgbm_answer(split, lightgbm_fit(split, columns), columns)
    return answers


@dataclass(frozen=True)
class Candidate:
    """A model off a penalty's path."""

    n_features: int
    loss: float
    answer: Callable[[], Answer]


def best_within(candidates: Sequence[Candidate], ks: Sequence[int]) -> dict[int, Answer]:
    """For each k, answer with the model of at most k features that has the lowest validation loss."""
    answers = {}
    for k in ks:
        fitting = [c for c in candidates if 0 < c.n_features <= k]
        if fitting:
            answers[k] = min(fitting, key=lambda c: c.loss).answer()
    return answers


def standardised(split: Split) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training, validation and test columns with mean 0 and variance 1 on the training rows; constant ones become 0."""
    mean, spread = split.X_train.mean(axis=0, dtype=np.float64), split.X_train.std(axis=0, dtype=np.float64)
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    train, valid, test = ((X - mean) * scale for X in (split.X_train, split.X_valid, split.X_test))
    return train, valid, test
