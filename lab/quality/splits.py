"""The ten tables of the quality benchmark, each cut into training, validation and test rows.

A split number is a seed. Tables with an official test part keep it, and only the cut between training and validation
rows varies; the others give 20 % of their rows to the test. Validation rows are a quarter as many as training rows.
Tables are read from the folder that FRUGALBOOST_DATA names.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import train_test_split

from lab.data import Dataset, load

KS = (2, 5, 10, 20, 50, 100)

# how many random splits: one test part of 13 rows says nothing, so colon has many; 400 to 900 rows say little
SPLITS = {
    "spam": 5,
    "uspst": 5,
    "madelon": 5,
    "pcmac": 5,
    "california_housing": 1,
    "adult": 1,
    "colon": 20,
    "mnist3vs8": 1,
    "isolet": 1,
    "kddcup99": 1,
}


@dataclass(frozen=True)
class Split:
    """One table, cut in three, or in two. Classes are 0 and 1."""

    name: str
    task: str  # "classification" or "regression"
    X_train: np.ndarray
    y_train: np.ndarray
    X_valid: np.ndarray | None  # None: whatever is chosen is chosen on the training rows
    y_valid: np.ndarray | None
    X_test: np.ndarray
    y_test: np.ndarray

    @property
    def validation(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Rows by which a selector may choose, where there are some of their own."""
        return None if self.X_valid is None or self.y_valid is None else (self.X_valid, self.y_valid)


def sizes(n_columns: int) -> tuple[int, ...]:
    """The numbers of features asked for: a k that leaves nothing out asks nothing."""
    return tuple(k for k in KS if k < n_columns)


def cut(name: str, split: int) -> Split:
    """Cut a table; the same name and split always give the same rows."""
    data = load(name)
    train, valid, test = kddcup_rows(data, split) if name == "kddcup99" else rows_of(data, split)
    X, y = data.X, data.y
    return Split(name, data.task, X[train], y[train], X[valid], y[valid], X[test], y[test])


def rows_of(data: Dataset, split: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training, validation and test rows; classes have the same shares in all three."""
    classes = data.y if data.task == "classification" else None
    rows = np.arange(data.n_samples)
    if data.is_test is None:
        rest, test = train_test_split(rows, test_size=0.2, stratify=classes, random_state=split)
    else:
        rest, test = data.split(split)
    classes = None if classes is None else classes[rest]
    train, valid = train_test_split(rest, test_size=0.2, stratify=classes, random_state=split)
    return train, valid, test


def kddcup_rows(data: Dataset, split: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw 80,000 training and 20,000 validation rows from the 10 percent file; the official test rows."""
    known, test = data.split(split)
    rows = known[np.random.default_rng(split).permutation(len(known))]
    return rows[:80_000], rows[80_000:100_000], test
