"""Binning: thresholds are found once and can be used for other rows."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core
from frugalboost.tables import Levels, SparseTable, Table
from frugalboost.tables.batched import MOST_CELLS, SAMPLED_FROM
from frugalboost.tables.parts import first_row
from frugalboost.training.draws import sum_over_parts

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Thresholds:
    """The upper limits of the bins of all columns; columns follow one another in ``cuts``.

    A value is in the first bin whose cut is not below it. Missing values have a bin of their own. For a categorical
    column, ``levels`` has the bin of each level. ``scores``: of all bins, for lines.
    """

    cuts: Floats
    offsets: NDArray[np.int64]
    levels: Mapping[int, Levels] = field(default_factory=dict)
    scores: NDArray[np.int16] | None = None  # None: no lines were wanted yet

    @classmethod
    def find(
        cls,
        X: Table,
        weights: Floats | None,
        max_bins: int,
        threads: int,
        most_cells: int = MOST_CELLS,
        levels: Mapping[int, Levels] | None = None,
        part: _core.ThreadPart | None = None,
        sampled_from: int = SAMPLED_FROM,
    ) -> Thresholds:
        """Find thresholds: one bin per value if there are few values, else bins of about equal weight.

        ``levels``: given if earlier trees refer to their bins. ``part``: other parts of the table have more rows, and
        the same vocabulary. ``sampled_from``: in a table of more rows, weights of bins are those of a sample.
        """
        masses = {c: np.zeros(len(values)) for c, values in X.vocabulary.items()}
        finder = X.finder(weights is not None)
        if finder is None and not X.in_pieces and part is None:
            cuts, offsets = _of_whole(X, weights, max_bins, masses, threads, (most_cells, sampled_from))
        else:
            if finder is None:
                rows = int(sum_over_parts(np.array([len(X)]), part)[0])
                finder = _core.ThresholdFinder(X.shape[1] - len(masses), most_cells, sampled_from, rows)
                _summarise(X, weights, finder, masses, threads, part)
            if part is not None:
                finder.add_parts(part)
                masses = {
                    c: sum_over_parts(mass.astype(np.int64), part).astype(np.float64) for c, mass in masses.items()
                }
            cuts, offsets = finder.thresholds(max_bins, threads)
        if not levels:
            levels = {c: Levels.from_weights(X.vocabulary[c], mass, max_bins) for c, mass in masses.items()}
        return cls(*_with_levels(np.asarray(cuts), np.asarray(offsets), levels, X), levels)

    def bin(
        self, X: Table, threads: int, folder: str | None = None, part: _core.ThreadPart | None = None
    ) -> _core.BinnedMatrix:
        """Return the table in bins of one byte, in memory or in a file that is mapped into memory."""
        if isinstance(X, SparseTable):
            return _core.BinnedMatrix(X.numbers(), self.cuts, self.offsets, self._categorical, threads, part)
        rows, columns = X.shape
        memory = None if folder is None else _mapped(-(-columns // 8) * 8 * rows, folder)
        binned = _core.BinnedMatrix(rows, self.cuts, self.offsets, self._categorical, memory)
        for piece, places in X.pieces("binning"):
            values = piece.source(self.levels)
            assert isinstance(values, _core.Table)
            binned.fill(values, places, threads)
        binned.list_sparse(threads, part)
        return binned

    @property
    def _categorical(self) -> NDArray[np.uint8]:
        flags = np.zeros(len(self.offsets) - 1, dtype=np.uint8)
        flags[list(self.levels)] = 1
        return flags


def _of_whole(
    X: Table, weights: Floats | None, max_bins: int, masses: dict[int, Floats], threads: int, limits: tuple[int, int]
) -> tuple[Floats, NDArray[np.int64]]:
    """Thresholds of a table in memory, and the weights of the levels of its categorical columns."""
    shift = _shift(weights)
    _weigh_levels(X, weights, shift, masses)
    if X.shape[1] == len(masses):
        return np.zeros(0), np.zeros(1, dtype=np.int64)
    return _core.thresholds_of(X.numbers(), weights, shift, max_bins, *limits, threads)


def _summarise(
    X: Table,
    weights: Floats | None,
    finder: _core.ThresholdFinder,
    masses: dict[int, Floats],
    threads: int,
    part: _core.ThreadPart | None,
) -> None:
    """One pass over the rows: the values of columns, and the weights of the levels of categorical ones."""
    shift, first = _shift(weights, part), first_row(len(X), part)
    for piece, rows in X.pieces("finding thresholds"):
        own = None if weights is None else weights[rows]
        if X.shape[1] > len(masses):
            finder.add(piece.numbers(), rows + first, own, shift, threads)
        _weigh_levels(piece, own, shift, masses)


def _shift(weights: Floats | None, part: _core.ThreadPart | None = None) -> int:
    return 0 if weights is None else _core.weight_shift(weights, part)


def _weigh_levels(piece: Table, weights: Floats | None, shift: int, masses: dict[int, Floats]) -> None:
    units = None if weights is None else np.rint(np.ldexp(weights, shift))
    for c, mass in masses.items():
        codes = piece.codes(c)
        known = codes >= 0
        mass += np.bincount(codes[known], None if units is None else units[known], len(mass))


def _with_levels(
    cuts: Floats, offsets: NDArray[np.int64], levels: Mapping[int, Levels], X: Table
) -> tuple[Floats, NDArray[np.int64]]:
    """Put the cuts of categorical columns between those of the others."""
    if not levels:
        return cuts, offsets
    numeric = iter(np.split(cuts, offsets[1:-1]) if len(offsets) > 1 else [])
    columns = [levels[c].cuts if c in levels else next(numeric) for c in range(X.shape[1])]
    ends = np.cumsum([0, *(len(c) for c in columns)]).astype(np.int64)
    return np.concatenate([np.zeros(0), *columns]), ends


def _mapped(size: int, folder: str) -> NDArray[np.uint8]:
    """Memory in an unnamed file, which the system removes when it is no longer used."""
    with tempfile.TemporaryFile(dir=folder) as file:
        try:  # reserve all of it now: a full disk would end the process later
            os.posix_fallocate(file.fileno(), 0, max(size, 1))
        except AttributeError:  # not on this system
            file.truncate(max(size, 1))
        except OSError as error:
            raise OSError(f"bins_folder={folder!r} has no room for {size / 1e6:.0f} MB: {error.strerror}.") from None
        return np.memmap(file, dtype=np.uint8, mode="r+", shape=(max(size, 1),))
