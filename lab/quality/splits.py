"""The ten tables of the quality benchmark, each cut into training, validation and test rows.

A split number is a seed. Tables with an official test part keep it, and only the cut between training and validation
rows varies; the others give 20 % of their rows to the test. Validation rows are a quarter as many as training rows.
Reads the data folder (FRUGALBOOST_DATA, or shared/data beside the checkout).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from lab.machine import data_folder

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
    "mnist3v8": 1,
    "isolet": 1,
    "kddcup99": 1,
}


@dataclass(frozen=True)
class Split:
    """One table, cut in three. Classes are 0 and 1."""

    name: str
    task: str  # "classification" or "regression"
    X_train: np.ndarray
    y_train: np.ndarray
    X_valid: np.ndarray
    y_valid: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


@dataclass(frozen=True)
class Table:
    """A whole table; `test` marks the official test rows, or is None where there are none."""

    X: np.ndarray
    y: np.ndarray
    test: np.ndarray | None = None


def splits(name: str) -> int:
    return SPLITS[name]


def sizes(n_columns: int) -> tuple[int, ...]:
    """The numbers of features asked for: a k that leaves nothing out asks nothing."""
    return tuple(k for k in KS if k < n_columns)


def load(name: str, split: int) -> Split:
    """Cut a table; the same name and split always give the same rows."""
    if name == "kddcup99":
        return kddcup99(split)
    table = mnist3v8() if name == "mnist3v8" else from_npz(name)
    task = "regression" if name == "california_housing" else "classification"
    rows = np.arange(len(table.y))
    classes = table.y if task == "classification" else None
    if table.test is None:
        rest, test = train_test_split(rows, test_size=0.2, stratify=classes, random_state=split)
    else:
        rest, test = rows[~table.test], rows[table.test]
    classes = None if classes is None else classes[rest]
    train, valid = train_test_split(rest, test_size=0.2, stratify=classes, random_state=split)
    return cut(name, task, table, train, valid, test)


def cut(name: str, task: str, table: Table, train: np.ndarray, valid: np.ndarray, test: np.ndarray) -> Split:
    X, y = table.X, table.y
    return Split(name, task, X[train], y[train], X[valid], y[valid], X[test], y[test])


def opened(file: str) -> Any:
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError("the data folder is absent: set FRUGALBOOST_DATA to its path")
    return np.load(folder / file, allow_pickle=True)


def as_float(X: np.ndarray) -> np.ndarray:
    """Double precision only where the file has it: the integers here all fit into single precision."""
    return X if X.dtype == np.float64 else X.astype(np.float32)


def from_npz(name: str) -> Table:
    data = opened(f"{name}.npz")
    y = data["y_binary"] if "y_binary" in data.files else data["y"]
    test = data["is_test"].astype(bool) if "is_test" in data.files else None
    y = y if name == "california_housing" else (y > 0).astype(np.int64)
    return Table(as_float(data["X"]), y, test)


def mnist3v8() -> Table:
    data = opened("mnist.npz")
    chosen = np.isin(data["y"], [3, 8])
    y = (data["y"][chosen] == 8).astype(np.int64)
    return Table(as_float(data["X"][chosen]), y, data["is_test"][chosen].astype(bool))


def kddcup99(split: int) -> Split:
    """Draw 80,000 training and 20,000 validation rows from the 10 percent file; the official test file."""
    known, test = one_hot("kddcup99_train10.parquet"), one_hot("kddcup99_test.parquet")
    rows = np.random.default_rng(split).permutation(len(known.y))
    train, valid = rows[:80_000], rows[80_000:100_000]
    X, y = known.X, known.y
    return Split("kddcup99", "classification", X[train], y[train], X[valid], y[valid], test.X, test.y)


def one_hot(file: str) -> Table:
    """Make the 122 columns that the schema lists; a level it does not know has no column."""
    import pandas  # only this table needs it

    folder = data_folder()
    if folder is None:
        raise FileNotFoundError("the data folder is absent: set FRUGALBOOST_DATA to its path")
    schema = json.loads((folder / "kddcup99_schema.json").read_text())
    frame = pandas.read_parquet(folder / file)
    parts = [frame[schema["numeric"]].to_numpy(np.float32)]
    for column, levels in schema["symbolic"].items():
        values = frame[column].astype(str).to_numpy(str)
        parts.append((values[:, None] == np.array(levels)).astype(np.float32))
    y = (frame["label"].astype(str) != "normal.").to_numpy(np.int64)
    return Table(np.hstack(parts), y)
