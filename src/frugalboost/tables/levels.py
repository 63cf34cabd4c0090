"""The levels of categorical columns, and the bins they are in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Value = str | int | float
Codes = NDArray[np.int32]  # -1: missing, or not a known level
Vocabulary = Mapping[int, tuple[Value, ...]]  # of each categorical column its levels, ascending


@dataclass(frozen=True)
class CodedColumn:
    """A categorical column: for each row the position of its level in a list."""

    codes: NDArray[np.integer[Any]]  # -1: missing
    levels: Sequence[Any]

    def values(self, where: str) -> list[Value | None]:
        """The levels as texts or numbers, None for a missing value. ``where`` begins an error message."""
        found = [_plain(level, where) for level in self.levels]
        kinds = {isinstance(v, str) for v in found if v is not None}
        if len(kinds) > 1:
            raise ValueError(f"{where} has texts and numbers among its categories. Make them all texts.")
        return found

    def occurring(self, where: str) -> set[Value]:
        """The levels that rows have."""
        values = self.values(where)
        return {v for c in np.unique(self.codes).tolist() if c >= 0 and (v := values[c]) is not None}

    def in_terms_of(self, vocabulary: Sequence[Value], where: str) -> Codes:
        """Positions in another list of levels; -1 for levels that are not in it."""
        place = {value: i for i, value in enumerate(vocabulary)}
        values = self.values(where)
        if vocabulary and any(v is not None and isinstance(v, str) != isinstance(vocabulary[0], str) for v in values):
            kinds = ("numbers", "texts") if isinstance(vocabulary[0], str) else ("texts", "numbers")
            raise ValueError(f"{where} has categories that are {kinds[0]}; in fit they were {kinds[1]}.")
        there = [-1 if v is None else place.get(v, -1) for v in values]
        codes: Codes = np.array([*there, -1], dtype=np.int32)[self.codes]  # the last one is for -1
        return codes


def _plain(level: Any, where: str) -> Value | None:
    if isinstance(level, np.generic):
        level = level.item()
    if level is None or isinstance(level, str):
        return level
    if isinstance(level, bool | int):
        return int(level)
    if isinstance(level, float):
        if level != level:
            return None
        return int(level) if level.is_integer() else level
    raise ValueError(
        f"{where} has categories of type {type(level).__name__}, which a model can't store. Make them texts: "
        "astype(str).astype('category')."
    )


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of one column and the bins they are in."""

    values: tuple[Value, ...]  # ascending
    bins: NDArray[np.int16]  # of each level; -1: no training row had it, so it counts as missing

    @classmethod
    def from_weights(cls, values: Sequence[Value], masses: NDArray[np.float64], max_bins: int) -> Levels:
        """A bin for each level that has weight; with too many levels, the lightest share the last bin."""
        bins = np.full(len(values), -1, dtype=np.int16)
        seen = np.flatnonzero(masses > 0)
        if len(seen) <= max_bins:
            bins[seen] = np.arange(len(seen))
        else:
            order = seen[np.lexsort((seen, -masses[seen]))]
            bins[order[max_bins - 1 :]] = max_bins - 1
            bins[np.sort(order[: max_bins - 1])] = np.arange(max_bins - 1)
        return cls(tuple(values), bins)

    @property
    def cuts(self) -> NDArray[np.float64]:
        """Thresholds between the numbers of the bins."""
        return np.arange(max(int(self.bins.max(initial=-1)), 0), dtype=np.float64) + 0.5

    def binned(self, codes: Codes) -> NDArray[np.float32]:
        """Numbers of bins; NaN where missing or unknown."""
        known = np.append(self.bins, -1).astype(np.float32)
        known[known < 0] = np.nan
        column: NDArray[np.float32] = known[codes]
        return column
