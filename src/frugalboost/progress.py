"""The line that tells how far a fit has come."""

from __future__ import annotations

import sys
import time
from typing import TextIO


class ProgressLine:
    """Prints iteration, loss, features, price and time left; on a terminal in place, elsewhere now and then.

    Parameters
    ----------
    first, last : int
        Iterations done before, and the most there will be.
    stream : file, default=sys.stdout
        Where to write.
    every : float, default=None
        Seconds between two lines; None means 0.1 on a terminal and 2 elsewhere.

    Examples
    --------
    >>> from frugalboost.progress import ProgressLine
    >>> line = ProgressLine(0, 2, every=0)
    >>> line(1, 0.5, 0.6, 3, 3.0)  # doctest: +ELLIPSIS
    iteration 1/2  loss 0.5000  validation 0.6000  features 3  price 3  ... left
    """

    def __init__(self, first: int, last: int, stream: TextIO | None = None, every: float | None = None) -> None:
        self._first, self._last = first, last
        self._stream = sys.stdout if stream is None else stream
        self._in_place = self._stream.isatty()
        self._every = every if every is not None else (0.1 if self._in_place else 2.0)
        self._begin = time.monotonic()
        self._shown = self._begin
        self._pending = ""

    def __call__(self, iteration: int, loss: float, validation_loss: float, features: int, price: float) -> None:
        """Take note of one iteration; shows it where enough time has passed."""
        now = time.monotonic()
        done = iteration - self._first
        left = (now - self._begin) / done * (self._last - iteration) if done > 0 else float("nan")
        parts = [f"iteration {iteration}/{self._last}"]
        if loss == loss:  # not NaN, as it is for a loss without values
            parts.append(f"loss {loss:.4f}")
        if validation_loss == validation_loss:
            parts.append(f"validation {validation_loss:.4f}")
        parts += [f"features {features}", f"price {price:g}"]
        if left == left:
            parts.append(f"{left:.0f} s left")
        self._pending = "  ".join(parts)
        if now - self._shown >= self._every:
            self._show(now)

    def close(self, ending: str) -> None:
        """Show the last state and why boosting stopped."""
        if self._pending:
            self._show(time.monotonic())
        seconds = time.monotonic() - self._begin
        self._stream.write(f"{chr(10) if self._in_place else ''}{ending} ({seconds:.1f} s)\n")
        self._stream.flush()

    def _show(self, now: float) -> None:
        self._shown = now
        self._stream.write(f"\r{self._pending:<100}" if self._in_place else f"{self._pending}\n")
        self._stream.flush()
        self._pending = ""


class SellingLine:
    """Prints how many features are left while features are sold back.

    Examples
    --------
    >>> from frugalboost.progress import SellingLine
    >>> line = SellingLine()
    >>> line(12)
    selling back: 12 features left
    """

    def __call__(self, left: int) -> None:
        """So many are left."""
        sys.stdout.write(f"selling back: {left} features left\n")
        sys.stdout.flush()


class ReadingLine:
    """Prints how many rows of a table that comes in batches have been read.

    Parameters
    ----------
    what : str
        What the rows are read for.
    rows, size : int or None
        How many there are, and how many bytes their files have, where known.

    Examples
    --------
    >>> from frugalboost.progress import ReadingLine
    >>> line = ReadingLine("binning", 2_000_000, 31_000_000, every=0)
    >>> line(500_000)
    binning: 500,000 of 2,000,000 rows (25 %, files of 31.0 MB)
    """

    def __init__(self, what: str, rows: int | None, size: int | None, every: float | None = None) -> None:
        self._what, self._rows, self._size = what, rows, size
        self._in_place = sys.stdout.isatty()
        self._every = every if every is not None else (0.1 if self._in_place else 2.0)
        self._shown = time.monotonic() - self._every

    def __call__(self, read: int) -> None:
        """So many rows have been read."""
        last = read == self._rows
        if time.monotonic() - self._shown < self._every and not last:
            return
        self._shown = time.monotonic()
        text = f"{self._what}: {read:,} rows"
        if self._rows:
            size = ""
            if self._size is not None:
                size = (
                    f", files of {self._size / 1e6:.1f} MB"
                    if self._size > 1e6
                    else f", files of {self._size // 1000} kB"
                )
            text = f"{self._what}: {read:,} of {self._rows:,} rows ({100 * read // self._rows} %{size})"
        end = "\n" if last or not self._in_place else ""
        sys.stdout.write(f"\r{text:<100}{end}" if self._in_place else f"{text}\n")
        sys.stdout.flush()
