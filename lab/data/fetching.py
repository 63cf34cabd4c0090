"""Tables that scikit-learn can fetch, in the form in which files have them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from urllib.parse import unquote

import numpy as np
import sklearn.datasets
from numpy.typing import NDArray

from lab.data import adult
from lab.data.catalogue import digits
from lab.data.files import Arrays


@dataclass(frozen=True)
class Source:
    """A table to fetch, and what must come."""

    title: str  # at OpenML, version 1; "" is one that scikit-learn fetches from elsewhere
    shape: tuple[int, int]
    rows: tuple[tuple[int, ...], ...] = ()  # of each class, ascending; two parts where the last rows are the test part
    precision: type[np.floating[Any]] = np.float32


SOURCES = {
    "spam": Source("spambase", (4601, 57), ((2788, 1813),), np.float64),
    "isolet": Source("isolet", (7797, 617), ((240,) * 5 + (238,) + (240,) * 20, (60,) * 12 + (59,) + (60,) * 13)),
    "mnist": Source(
        "mnist_784",
        (70000, 784),
        (
            (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949),
            (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009),
        ),
    ),
    "adult": Source("a9a", (48842, 123), ((24720, 7841), (12435, 3846))),
    "california_housing": Source("", (20640, 8), precision=np.float64),
}


def source_of(name: str) -> Source | None:
    """What would be fetched for a data set; None: nothing is known that is identical."""
    return SOURCES.get("mnist" if digits(name) else name)


def fetch(source: Source) -> Any:
    """Get the table from the network, or from where scikit-learn keeps what it fetched before."""
    if not source.title:
        return sklearn.datasets.fetch_california_housing()
    parser = "auto" if find_spec("pandas") else "liac-arff"  # the faster one needs pandas
    return sklearn.datasets.fetch_openml(source.title, version=1, as_frame=False, parser=parser)


def arranged(name: str, source: Source, fetched: Any) -> Arrays:
    """The arrays that the file would hold, after a look at what came."""
    X, y = fetched.data, fetched.target
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    if X.shape != source.shape:
        raise _changed(name, f"the shape {X.shape}", str(source.shape))
    X = X.astype(source.precision)
    if not source.rows:
        return {"X": X, "y": np.asarray(y, dtype=np.float64), "feature_names": list(fetched.feature_names)}
    y = _numbers(name, y)
    begin = 0
    for part in source.rows:
        classes, counts = np.unique(y[begin : begin + sum(part)], return_counts=True)
        if tuple(counts.tolist()) != part:
            where = f"rows {begin} to {begin + sum(part) - 1}"
            raise _changed(name, f"classes of {_listed(counts)} rows in {where}", _listed(part))
        begin += sum(part)
    arrays: Arrays = {"X": X, "y": y if len(classes) > 2 else np.where(y == classes[1], 1, -1)}
    if len(source.rows) == 2:
        arrays["is_test"] = np.arange(len(y)) >= sum(source.rows[0])
    return arrays | _besides(name, X, y, fetched)


def _besides(name: str, X: NDArray[Any], y: NDArray[np.int64], fetched: Any) -> Arrays:
    """What a file has besides table and classes."""
    if name == "spam":  # OpenML writes a semicolon as %3B
        return {"feature_names": [unquote(str(n)) for n in fetched.feature_names]}
    if name == "isolet":
        return {"y_binary": np.where(y > 13, 1, -1)}
    if name == "adult":
        groups = adult.groups()
        if not np.isin(X, (0, 1)).all() or any(X[:, groups == g].sum(axis=1).max() > 1 for g in range(14)):
            raise _changed(name, "columns in another order", "14 attributes with one column of each row set at most")
        return {"feature_names": adult.names(), "groups": groups}
    return {}


def _numbers(name: str, y: Any) -> NDArray[np.int64]:
    """Classes, which come as texts, some in quotes."""
    try:
        return np.array([int(float(str(label).strip("'\""))) for label in np.asarray(y).ravel()])
    except ValueError:
        raise _changed(name, "classes that are no numbers", "numbers") from None


def _changed(name: str, found: str, expected: str) -> ValueError:
    return ValueError(
        f"What scikit-learn fetched for {name!r} is not the known table: it has {found}; expected: {expected}. Load it "
        "from a file: load(..., folder=...)."
    )


def _listed(counts: Any) -> str:
    return ", ".join(str(int(c)) for c in counts)
