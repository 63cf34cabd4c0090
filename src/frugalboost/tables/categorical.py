"""Which columns are categorical: what ``categorical_features`` means for a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def categorical_columns(asked: Any, names: Sequence[str] | None, by_dtype: Sequence[int], number: int) -> list[int]:
    """Column numbers, ascending. ``by_dtype`` are the columns whose type says that they are categorical."""
    if asked is None:
        return []
    if isinstance(asked, str):
        if asked == "from_dtype":
            return list(by_dtype)
        raise ValueError(
            f"categorical_features={asked!r} is not known: give 'from_dtype', or a list of names, positions or bools."
        )
    wanted = np.asarray(asked).tolist() if not isinstance(asked, list | tuple) else list(asked)
    wanted = [v.item() if isinstance(v, np.generic) else v for v in wanted] if isinstance(wanted, list) else [None]
    if not wanted:
        return []
    kinds = {type(v) for v in wanted}
    if kinds == {bool}:
        if len(wanted) != number:
            raise ValueError(f"categorical_features has {len(wanted)} booleans, but X has {number} columns.")
        return np.flatnonzero(wanted).tolist()
    if kinds == {int}:
        outside = [v for v in wanted if not 0 <= v < number]
        if outside:
            raise ValueError(f"categorical_features names column {outside[0]}, but X has columns 0 to {number - 1}.")
        return sorted(set(wanted))
    if kinds == {str}:
        return _by_name(wanted, names)
    raise ValueError("categorical_features must be 'from_dtype', or a list of names, of positions, or of booleans.")


def _by_name(wanted: list[Any], names: Sequence[str] | None) -> list[int]:
    if names is None:
        raise ValueError(
            f"categorical_features names {wanted[0]!r}, but the columns of X have no names. Give positions instead."
        )
    place = {name: i for i, name in enumerate(names)}
    for name in wanted:
        if name not in place:
            raise ValueError(f"categorical_features names {name!r}, which is not a column of X.")
    return sorted({place[name] for name in wanted})
