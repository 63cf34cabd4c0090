"""Checksums of tables that do not depend on how the values are stored or divided into batches.

A checksum covers the first rows, up to 1,024 of them or a quarter of a million values, and one in 32 of the others:
different tables usually differ in many rows, and this takes little time. Equal numbers of different types are equal, as
are 0.0 and -0.0, and all missing values.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from frugalboost.tables.levels import Value

Bits = NDArray[np.uint64]

FIRST, FIRST_VALUES, ONE_IN = 1024, 2**18, 32
_MISSING = np.uint64(0x7FF8_0000_0000_0001)
_GOLDEN = np.uint64(0x9E37_79B9_7F4A_7C15)


class HasRows(Protocol):
    """What a table needs for a checksum."""

    shape: tuple[int, int]

    def __len__(self) -> int: ...

    def row_bits(self, rows: NDArray[Any]) -> Bits:
        """A hash of 64 bits for each of some rows."""


def of_rows(table: HasRows, at: int) -> int:
    """The checksum of a piece of a table that begins at a row; those of all pieces add up."""
    numbers = np.arange(at, at + len(table), dtype=np.uint64)
    first = max(2, min(FIRST, FIRST_VALUES // max(1, table.shape[1])))
    rows = np.flatnonzero((numbers < first) | (numbers * _GOLDEN < np.uint64(2**64 // ONE_IN)))
    return _sum(_mixed(table.row_bits(rows) ^ _mixed(numbers[rows]))) if len(rows) else 0


def of_vector(values: NDArray[Any], at: int = 0) -> int:
    """The checksum of one number for each row, or of several, from a row on; those of all pieces add up."""
    values = values.ravel()
    return _sum(_mixed(value_bits(values) ^ _mixed(np.arange(at, at + len(values), dtype=np.uint64))))


def combined(one: int, other: int) -> int:
    """The checksum of two pieces."""
    return (one + other) % 2**64


def value_bits(values: NDArray[Any]) -> Bits:
    """Numbers as 64 bits each; zero is zero."""
    with np.errstate(invalid="ignore"):  # NaN of the signalling kind
        numbers = values.astype(np.float64) + 0.0  # -0.0 is 0.0
    bits: Bits = numbers.view(np.uint64)
    bits[np.isnan(numbers)] = _MISSING
    bits ^= bits >> np.uint64(32)  # otherwise the signs of an even number of columns would cancel
    return bits


def level_bits(codes: NDArray[Any], levels: Sequence[Value]) -> Bits:
    """Categories as 64 bits each, independent of their codes."""
    digests = [
        hashlib.blake2b(repr(level).encode("utf-8", "surrogatepass"), digest_size=8).digest() for level in levels
    ]
    known = np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
    found: Bits = np.append(known, _MISSING)[codes]  # -1, missing, is the last one
    return found


def column_factors(columns: NDArray[Any]) -> Bits:
    """An odd number for each column, so that the same value counts differently in other columns."""
    return _mixed(columns.astype(np.uint64)) | np.uint64(1)


def _mixed(bits: Bits) -> Bits:
    bits = bits + _GOLDEN
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
    return bits ^ (bits >> np.uint64(31))


def _sum(bits: Bits) -> int:
    return int(np.add.reduce(bits))
