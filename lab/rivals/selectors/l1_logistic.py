"""L1 logistic regression (the lasso, in regression) on standardised columns, over a path of penalties."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, lasso_path
from sklearn.svm import l1_min_c

from lab.quality.splits import Split
from lab.rivals.selectors.common import Answer, Candidate, as_label, best_within, late, standardised, valid_loss

NAME = "L1 linear model"
GRID = 30
WEAKER = np.concatenate([np.linspace(1.01, 1.25, 7), np.geomspace(1.3, 1000, GRID)])  # fine where the first enter


def run(split: Split, ks: Sequence[int], deadline: float) -> dict[int, Answer]:
    """Sweep from the strongest penalty until models are far larger than any k."""
    train, valid, test = standardised(split)
    path = logistic(split, train, ks, deadline) if split.task == "classification" else lasso(split, train)
    link = expit if split.task == "classification" else np.asarray
    candidates = []
    for weights, intercept in path:
        loss = valid_loss(split, link(valid @ weights + intercept))
        answer = partial(answered, split, test, weights, intercept, link)
        candidates.append(Candidate(np.count_nonzero(weights), loss, answer))
    return best_within(candidates, ks)


def answered(split: Split, test: np.ndarray, weights: np.ndarray, intercept: float, link: object) -> Answer:
    return Answer(np.flatnonzero(weights), as_label(link(test @ weights + intercept), split.task))


def logistic(split: Split, X: np.ndarray, ks: Sequence[int], deadline: float) -> list[tuple[np.ndarray, float]]:
    path = []
    for C in l1_min_c(X, split.y_train, loss="log") * WEAKER:
        if late(deadline):
            break
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = LogisticRegression(l1_ratio=1, solver="liblinear", C=C, tol=1e-3, random_state=0)
            model.fit(X, split.y_train)
        path.append((model.coef_[0], float(model.intercept_[0])))
        if np.count_nonzero(model.coef_) > 2 * max(ks):
            break
    return path


def lasso(split: Split, X: np.ndarray) -> list[tuple[np.ndarray, float]]:
    mean = float(split.y_train.mean())
    _, weights, _ = lasso_path(X, split.y_train - mean, alphas=3 * GRID)
    return [(column, mean) for column in weights.T]
