"""The values of features at which a model is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats.mstats import mquantiles

from frugalboost.estimators.base import GBFSBase
from frugalboost.tables import frames
from frugalboost.tables.sources import as_batches

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Grid:
    """Values of some features, and all their combinations."""

    columns: list[int]  # of the table of the fit
    values: list[NDArray[Any]]  # as the user reads them: numbers, or levels
    numbers: list[Floats]  # as trees read them: levels are positions in ``categories_``, NaN where they are missing

    def points(self) -> Floats:
        """All combinations, one in a row; the last feature changes fastest."""
        mesh = np.meshgrid(*self.numbers, indexing="ij")
        return np.stack([axis.ravel() for axis in mesh], axis=1)


@dataclass(frozen=True)
class Axes:
    """How values are chosen where the user gives none."""

    percentiles: tuple[float, float]
    resolution: int

    def __post_init__(self) -> None:
        low, high = self.percentiles
        if not 0 <= low < high <= 1:
            raise ValueError(f"percentiles={self.percentiles!r} must be two shares of 1, the smaller one first.")
        if self.resolution < 2:
            raise ValueError(f"grid_resolution={self.resolution!r} must be at least 2.")

    def of_numbers(self, found: Floats, where: str) -> Floats:
        """The values that occur where they are few, otherwise values at equal distances. Missing ones are left out."""
        found = found[~np.isnan(found)]
        if not len(found):
            raise ValueError(f"{where} has missing values only. Give its values as custom_values.")
        different: Floats = np.unique(found)
        if len(different) < self.resolution:
            return different
        low, high = mquantiles(found, prob=self.percentiles)
        if np.isclose(low, high):
            raise ValueError(
                f"{where} has nearly the same value at both percentiles. Give percentiles that are further apart, or "
                "its values as custom_values."
            )
        return np.linspace(low, high, self.resolution)


def make_grid(model: GBFSBase, X: Any, columns: list[int], axes: Axes, given: Mapping[int, Any]) -> Grid:
    """Return values for some columns: those that the user gives, or those of a table."""
    values: list[NDArray[Any]] = []
    numbers: list[Floats] = []
    for column in columns:
        where = _where(model, column)
        levels = model.categories_.get(column)
        if column in given:
            own = _vector(given[column], where)
        elif levels is not None:
            own = _vector(levels, where)
        else:
            own = axes.of_numbers(_read(model, X, column, where), where)
        values.append(own)
        numbers.append(_numbers(own, where) if levels is None else _positions(own, levels))
    return Grid(columns, values, numbers)


def _where(model: GBFSBase, column: int) -> str:
    names = model._names()
    return f"Feature {names[column]!r}" if names else f"Feature number {column}"


def _vector(values: Any, where: str) -> NDArray[Any]:
    kind = object if any(isinstance(v, str) or v is None for v in values) else None
    found = np.asarray(values, dtype=kind)
    if found.ndim != 1 or not len(found):
        raise ValueError(f"{where}: custom_values must be a list of values, not an array of shape {found.shape}.")
    return found


def _numbers(values: NDArray[Any], where: str) -> Floats:
    try:
        return np.array([np.nan if v is None else v for v in values.tolist()], dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{where} holds numbers; {values.tolist()[:3]!r} in custom_values are none.") from None


def _positions(values: NDArray[Any], levels: Sequence[Any]) -> Floats:
    """Positions of levels; what is not among them counts as missing, as in predictions."""
    place = {level: i for i, level in enumerate(levels)}
    return np.array([place.get(v, np.nan) for v in values.tolist()], dtype=np.float64)


def _read(model: GBFSBase, X: Any, column: int, where: str) -> Floats:
    """A column of numbers from any table; from a data frame by name, where the fit had names."""
    if X is None:
        raise ValueError(f"{where} has no values: give X, from which they are taken, or custom_values.")
    if as_batches(X, for_fit=False) is not None:
        raise TypeError("X is a file or comes in batches; give a table in memory, or custom_values.")
    frame, names = frames.as_frame(X, "X"), model._names()
    if frame is None:
        return _read_array(X, column, model.n_features_in_, where)
    places = {str(name): i for i, name in enumerate(frame.columns)}
    if names is not None and names[column] not in places:
        raise ValueError(f"X has no column {names[column]!r}.")
    if names is None and len(places) != model.n_features_in_:
        raise ValueError(f"X has {len(places)} columns; the model was fitted on {model.n_features_in_}.")
    place = column if names is None else places[names[column]]
    field = frames.Field(frame.get_column(frame.columns[place]), frame.columns[place], where)
    return np.asarray(field.read(as_category=False), dtype=np.float64)


def _read_array(X: Any, column: int, n_columns: int, where: str) -> Floats:
    if not sparse.issparse(X):
        X = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
    if X.ndim != 2 or X.shape[1] != n_columns:
        raise ValueError(f"X has the shape {X.shape}; the model was fitted on {n_columns} columns.")
    if sparse.issparse(X):
        return np.asarray(X.tocsc()[:, [column]].toarray(), dtype=np.float64)[:, 0]
    return _numbers(X[:, column], where)
