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
