"""LassoNet (the package `lassonet`): a network with a sparse skip layer, over its path of penalties.

The path chooses the columns; as its authors do, a network without penalty is then trained on those alone.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from lassonet import LassoNetClassifier, LassoNetRegressor

from lab.quality.splits import Split
from lab.rivals.selectors.common import Answer, late, standardised

NAME = "LassoNet"
BATCH = 256
PATH = 0.8  # of the time is for the path, the rest for the final networks


class OutOfTime(Exception):
    """The only way to leave the package's path early."""


def run(split: Split, ks: Sequence[int], deadline: float) -> dict[int, Answer]:
    """Walk the path, then refit on the chosen columns of each k."""
    torch.set_num_threads(1)
    train, valid, test = (X.astype(np.float32) for X in standardised(split))
    now = time.monotonic()
    chosen = path(split, train, valid, ks, now + PATH * (deadline - now))
    answers = {}
    for k, columns in sorted(chosen.items()):
        if late(deadline):
            break
        model = network(split)
        model.path(
            train[:, columns],
            target(split, split.y_train),
            X_val=valid[:, columns],
            y_val=target(split, split.y_valid),
            lambda_seq=[],
        )
        answers[k] = Answer(columns, prediction(split, model, test[:, columns]))
    return answers


def path(split: Split, train: np.ndarray, valid: np.ndarray, ks: Sequence[int], deadline: float) -> dict[int, Any]:
    """For each k, the columns of the model on the path with at most k of them and the lowest validation loss."""
    best: dict[int, float] = {}
    chosen: dict[int, np.ndarray] = {}

    def note(model: Any, history: list[Any]) -> None:
        columns = np.flatnonzero(history[-1].selected.numpy())
        for k in ks:
            if 0 < len(columns) <= k and history[-1].val_loss < best.get(k, np.inf):
                best[k], chosen[k] = history[-1].val_loss, columns
        if late(deadline):
            raise OutOfTime

    labels, checks = target(split, split.y_train), target(split, split.y_valid)
    with warnings.catch_warnings(), contextlib.suppress(OutOfTime):
        warnings.simplefilter("ignore")
        network(split).path(train, labels, X_val=valid, y_val=checks, callback=note)
    return chosen


def network(split: Split) -> Any:
    kind = LassoNetClassifier if split.task == "classification" else LassoNetRegressor
    return kind(
        hidden_dims=(100,),
        batch_size=BATCH,
        verbose=0,
        random_state=0,
        torch_seed=0,
        device="cpu",
    )


def target(split: Split, y: np.ndarray) -> np.ndarray:
    """Labels as they are, numbers standardised as a network likes them."""
    if split.task == "classification":
        return y
    return ((y - split.y_train.mean()) / split.y_train.std()).astype(np.float32)[:, None]


def prediction(split: Split, model: Any, X: np.ndarray) -> np.ndarray:
    found = np.asarray(model.predict(X)).ravel()
    return found if split.task == "classification" else found * split.y_train.std() + split.y_train.mean()
