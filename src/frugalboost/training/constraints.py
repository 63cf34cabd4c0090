"""What ``monotonic_cst`` and ``interaction_cst`` say of a table: trends of columns, and which columns may meet."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core

_CORE_NAMES = {None: "all", "no_interactions": "none", "pairwise": "pairs", "groups": "groups"}


@dataclass(frozen=True)
class Constraints:
    """Constraints on the columns of a table."""

    trends: tuple[int, ...] = ()  # -1, 0 or 1 for each column; empty: no column has one
    interactions: str | None = None  # "no_interactions", "pairwise", "groups" or None
    groups: tuple[tuple[int, ...], ...] = ()  # of columns; together they have every column

    def __bool__(self) -> bool:
        return bool(self.trends) or self.interactions is not None

    @classmethod
    def resolve(
        cls,
        monotonic_cst: Any,
        interaction_cst: Any,
        n_features: int,
        names: Sequence[str] | None,
        categorical: Collection[int] = (),
    ) -> Constraints:
        """Resolve the two parameters against a table; ``categorical`` columns can't have a trend."""
        trends = _trends(monotonic_cst, n_features, names)
        for column in categorical:
            if trends and trends[column]:
                what = f"column {column}" if names is None else repr(names[column])
                raise ValueError(f"monotonic_cst: {what} is categorical, and its values have no order. Give it 0.")
        interactions, groups = _interactions(interaction_cst, n_features, names)
        return cls(trends, interactions, groups)

    def on(self, columns: NDArray[np.int64]) -> Constraints:
        """The constraints on some columns of the table, which are numbered anew."""
        place = {c: i for i, c in enumerate(columns.tolist())}
        trends = tuple(self.trends[c] for c in place) if self.trends else ()
        groups = {tuple(sorted(place[c] for c in group if c in place)) for group in self.groups}
        kept = tuple(sorted(group for group in groups if group))
        return Constraints(trends if any(trends) else (), self.interactions, kept)

    def to_core(self) -> _core.Constraints:
        """The core's record of them."""
        core = _core.Constraints()
        core.trends = list(self.trends)
        core.interactions = getattr(_core.Interactions, _CORE_NAMES[self.interactions])
        core.groups = [list(group) for group in self.groups]
        return core


# ------------------------------------------------------------------------------------------ monotonic_cst


def _trends(given: Any, n_features: int, names: Sequence[str] | None) -> tuple[int, ...]:
    """A trend for each column; none if all are 0."""
    if given is None:
        return ()
    found = [0] * n_features
    if hasattr(given, "items"):
        for name, value in given.items():
            found[_named(name, names, "monotonic_cst")] = _trend(value, f"monotonic_cst[{name!r}]")
    else:
        values = list(np.asarray(given, dtype=object).ravel())
        if np.ndim(given) != 1 or len(values) != n_features:
            raise ValueError(
                f"monotonic_cst must have one entry for each of the {n_features} columns of X, or be a mapping from "
                f"names of columns; it has the shape {np.shape(given)}."
            )
        found = [_trend(value, f"monotonic_cst[{i}]") for i, value in enumerate(values)]
    return tuple(found) if any(found) else ()


def _trend(value: Any, what: str) -> int:
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
        for trend in (-1, 0, 1):
            if value == trend:
                return trend
    raise ValueError(f"{what} is {value!r}; a trend is -1 (falling), 0 (none) or 1 (rising).")


# ---------------------------------------------------------------------------------------- interaction_cst


def _interactions(
    given: Any, n_features: int, names: Sequence[str] | None
) -> tuple[str | None, tuple[tuple[int, ...], ...]]:
    if given is None or isinstance(given, str):
        return given, ()
    if isinstance(given, bytes) or not isinstance(given, Collection | np.ndarray) or hasattr(given, "items"):
        raise ValueError(
            'interaction_cst must be "pairwise", "no_interactions" or a list of groups of columns, such as '
            f"[[0, 1], [2]]; it is {given!r}."
        )
    groups = [_group(group, n_features, names) for group in given]
    listed = set().union(*groups)
    groups.append(set(range(n_features)) - listed)
    return "groups", tuple(sorted({tuple(sorted(group)) for group in groups if group}))


def _group(given: Any, n_features: int, names: Sequence[str] | None) -> set[int]:
    if isinstance(given, str | bytes) or not isinstance(given, Collection | np.ndarray):
        raise ValueError(
            f"interaction_cst: a group is a list of positions or names of columns, not {given!r}. Put it in brackets."
        )
    return {_column(one, n_features, names) for one in given}


def _column(given: Any, n_features: int, names: Sequence[str] | None) -> int:
    if isinstance(given, str):
        return _named(given, names, "interaction_cst")
    if isinstance(given, bool | np.bool_) or not isinstance(given, Integral):
        raise ValueError(f"interaction_cst: {given!r} is neither the position nor the name of a column.")
    column = int(given)
    if not 0 <= column < n_features:
        raise ValueError(f"interaction_cst: there is no column {column}; X has the columns 0 to {n_features - 1}.")
    return column


def _named(name: Any, names: Sequence[str] | None, parameter: str) -> int:
    if names is None:
        raise ValueError(f"{parameter} names the column {name!r}, but X has no names of columns. Pass a data frame.")
    found = [i for i, own in enumerate(names) if own == name]
    if len(found) != 1:
        raise ValueError(f"{parameter}: X has {'two columns' if found else 'no column'} called {name!r}.")
    return found[0]
