"""A data set: the table, the targets, and what else is known of rows and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import train_test_split

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table with its targets, as :func:`lab.data.load` gives it.

    Parameters
    ----------
    name : str
        What it is called.
    X : ndarray or CSR array of shape (n_samples, n_features)
        The table, float32 or float64.
    y : ndarray of shape (n_samples,)
        Classes 0 and 1 as int64, or floats where numbers are to be predicted.
    is_test : ndarray of bool or None, default=None
        Which rows are the official test part; None if there is no such part.
    feature_names : list of str or None, default=None
        Names of the columns. They need not be distinct: those of colon are genes, some of which occur twice.
    groups : ndarray of int or None, default=None
        For each column the bag it belongs to, as ``frugalboost.costs.Bags`` takes it.
    labels : ndarray or None, default=None
        The classes before they were made two: the digits of uspst, the letters of isolet, the kinds of kddcup99.
    weights : ndarray of float or None, default=None
        What each row should weigh; None where all weigh the same.
    note : str, default=""
        What the classes mean and what to mind.

    Examples
    --------
    >>> import numpy as np
    >>> from lab.data import Dataset
    >>> data = Dataset("toy", X=np.eye(10), y=np.arange(10) % 2)
    >>> data
    Dataset('toy', 10 x 10, 5 of class 0, 5 of class 1)
    >>> train, test = data.split(seed=0)
    >>> data.X[train].shape, data.y[test].tolist()
    ((8, 10), [0, 1])
    """

    name: str
    X: Any
    y: NDArray[Any]
    is_test: NDArray[np.bool_] | None = None
    feature_names: list[str] | None = None
    groups: NDArray[np.int64] | None = None
    labels: NDArray[Any] | None = None
    weights: NDArray[np.float64] | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if getattr(self.X, "ndim", 0) != 2 or self.X.dtype not in (np.float32, np.float64):
            raise ValueError(f"Data set {self.name!r}: X must be a table of float32 or float64 with rows and columns.")
        if sparse.issparse(self.X) and self.X.format != "csr":
            raise ValueError(f"Data set {self.name!r}: a sparse X must be in CSR format, not {self.X.format!r}.")
        rows, columns = self.X.shape
        of_rows = {"y": self.y, "is_test": self.is_test, "labels": self.labels, "weights": self.weights}
        of_columns = {"feature_names": self.feature_names, "groups": self.groups}
        for one, length, all_values in (("row", rows, of_rows), ("column", columns, of_columns)):
            for what, values in all_values.items():
                if values is not None and np.shape(values) != (length,):
                    raise ValueError(
                        f"Data set {self.name!r}: {what} must have one value for each {one} of X, {length} in all, but "
                        f"has the shape {np.shape(values)}."
                    )
        self._check_values()

    def _check_values(self) -> None:
        if self._are_numbers:
            if not np.isfinite(self.y).all():
                raise ValueError(f"Data set {self.name!r}: y has values that are not finite.")
        elif not np.isin(self.y, (0, 1)).all():
            raise ValueError(f"Data set {self.name!r}: y must hold the classes 0 and 1, or floats.")
        tests = self.is_test
        if tests is not None and (tests.dtype != np.bool_ or tests.all() or not tests.any()):
            raise ValueError(
                f"Data set {self.name!r}: is_test must be True for the test rows and False for the training rows, and "
                "there must be rows of both. Give None if there is no official test part."
            )
        if self.weights is not None and not (np.isfinite(self.weights) & (self.weights >= 0)).all():
            raise ValueError(f"Data set {self.name!r}: weights must be finite and not negative.")

    @property
    def n_samples(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """How many columns there are."""
        return int(self.X.shape[1])

    @property
    def task(self) -> str:
        """What is predicted: "classification" for two classes, "regression" for numbers."""
        return "regression" if self._are_numbers else "classification"

    @property
    def _are_numbers(self) -> bool:
        return self.y.dtype.kind == "f"

    def split(self, seed: int, test_size: float = 0.2) -> tuple[Places, Places]:
        """Training rows and test rows: the official ones, or random ones if there is no official part.

        Parameters
        ----------
        seed : int
            The same seed draws the same rows. An official split takes no notice of it.
        test_size : float, default=0.2
            Share of the rows that go to the test part, rounded down, where the split is not official.

        Returns
        -------
        train_rows, test_rows : ndarray of int
            Numbers of rows. Drawn rows have the classes in the same shares in both parts.

        Examples
        --------
        >>> import numpy as np
        >>> from lab.data import Dataset
        >>> data = Dataset("toy", X=np.eye(4), y=np.array([0, 1, 1, 0]), is_test=np.array([False, False, False, True]))
        >>> train, test = data.split(seed=0)
        >>> train.tolist(), test.tolist()
        ([0, 1, 2], [3])
        """
        rows = np.arange(self.n_samples)
        if self.is_test is not None:
            return rows[~self.is_test], rows[self.is_test]
        classes = None if self._are_numbers else self.y
        size = int(test_size * self.n_samples)  # rounded down as in the paper's tables
        train, test = train_test_split(rows, test_size=size, stratify=classes, random_state=seed)
        return train, test

    def __repr__(self) -> str:
        if self._are_numbers:
            about = f"y from {self.y.min():.4g} to {self.y.max():.4g}" if len(self.y) else "no rows"
        else:
            about = f"{np.sum(self.y == 0)} of class 0, {np.sum(self.y == 1)} of class 1"
        tests = "" if self.is_test is None else f", {self.is_test.sum()} test rows"
        return f"Dataset({self.name!r}, {self.n_samples} x {self.n_features}, {about}{tests})"
