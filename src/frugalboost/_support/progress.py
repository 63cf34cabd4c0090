"""Progress: lines on a terminal or in a file, bars in a notebook, or a program's own display."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, TextIO


class Work(Enum):
    """Kinds of work whose pieces are counted."""

    PATH = "fit"
    CROSS_VALIDATION = "split"
    SUBSAMPLES = "subsample"
    FIRST_FEATURES = "features so far"  # errors of models with one feature, two, ...


@dataclass(frozen=True)
class Stage:
    """A part of the work whose pieces are counted together.

    Parameters
    ----------
    work : Work
        What kind of work it is part of.
    label : str, default=""
        The text for people; empty: the name of the kind. No code reads it.
    number, total : int, default=1
        This is stage ``number`` of ``total`` stages of equal length.

    Examples
    --------
    >>> from frugalboost._support.progress import Stage, Work
    >>> str(Stage(Work.PATH)), str(Stage(Work.CROSS_VALIDATION, "split 2/5, fit", 2, 5))
    ('fit', 'split 2/5, fit')
    """

    work: Work
    label: str = ""
    number: int = 1
    total: int = 1

    def __str__(self) -> str:
        return self.label or self.work.value


PATH = Stage(Work.PATH)


class Tally(Protocol):
    """Counts pieces of work that are done."""

    def step(self) -> None:
        """One more is done; called from any thread."""


class CountLine:
    """Prints how many pieces of work are done, and how long the rest may take.

    Parameters
    ----------
    total : int
        How many there are.
    what : str
        What one of them is called.

    Examples
    --------
    >>> from frugalboost._support.progress import CountLine
    >>> line = CountLine(1, "fit")
    >>> line.step()  # doctest: +NORMALIZE_WHITESPACE
    fit 1/1  0 s left
    """

    def __init__(self, total: int, what: str) -> None:
        self._total, self._what, self._done = total, what, 0
        self._begin = self._shown = time.monotonic()
        self._in_place = sys.stdout.isatty()
        self._lock = threading.Lock()

    def step(self) -> None:
        """One more is done."""
        with self._lock:
            self._done += 1
            now = time.monotonic()
            last = self._done == self._total
            if now - self._shown < (0.1 if self._in_place else 2.0) and not last:
                return
            self._shown = now
            left = (now - self._begin) / self._done * (self._total - self._done)
            text = f"{self._what} {self._done}/{self._total}  {left:.0f} s left"
            end = "\n" if last or not self._in_place else ""
            sys.stdout.write(f"{chr(13) if self._in_place else ''}{text:<60}{end}")
            sys.stdout.flush()


class CountBar:
    """The same as a bar of tqdm, for notebooks."""

    def __init__(self, total: int, what: str) -> None:
        self._bar = notebook_bar(total, what)
        self._lock = threading.Lock()
        self._left = total

    def step(self) -> None:
        """One more is done."""
        with self._lock:
            self._left -= 1
            self._bar.update()
            if self._left <= 0:
                self._bar.close()


def in_notebook() -> bool:
    """Whether output goes to a notebook that can show bars: IPython's kernel, with tqdm installed."""
    shell = sys.modules.get("IPython")
    if shell is None or type(shell.get_ipython()).__name__ != "ZMQInteractiveShell":
        return False
    try:
        import tqdm.auto  # noqa: F401
    except ImportError:
        return False
    return True


def notebook_bar(total: int, what: str, **options: Any) -> Any:
    """A bar of tqdm."""
    from tqdm.auto import tqdm

    return tqdm(total=total, desc=what, **options)


Maker = Callable[[int, Stage], Tally]
_maker: ContextVar[Maker | None] = ContextVar("frugalboost_tally", default=None)


def progress_counter(total: int, stage: Stage) -> Tally:
    """A counter: the one that :func:`counted_by` sets, else a bar in a notebook, else a line."""
    made = _maker.get()
    if made is not None:
        return made(total, stage)
    return CountBar(total, str(stage)) if in_notebook() else CountLine(total, str(stage))


def is_counted() -> bool:
    """Whether :func:`counted_by` is in force."""
    return _maker.get() is not None


@contextmanager
def counted_by(maker: Maker) -> Iterator[None]:
    """Let a program show progress in its own way.

    Parameters
    ----------
    maker : callable
        ``maker(total, stage)`` returns an object with a method ``step``; ``stage`` is a :class:`Stage`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import gbfs_path
    >>> from frugalboost._support.progress import counted_by
    >>> class Dots:
    ...     def __init__(self, total, stage):
    ...         print(total, stage)
    ...
    ...     def step(self):
    ...         pass
    >>> with counted_by(Dots):
    ...     path = gbfs_path(*load_diabetes(return_X_y=True), n_mus=3, max_iter=5, verbose=1)
    3 fit
    """
    token = _maker.set(maker)
    try:
        yield
    finally:
        _maker.reset(token)


class ProgressLine:
    """Prints iteration, loss, features, cost and time left; on a terminal in place, elsewhere every few seconds.

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
    >>> from frugalboost._support.progress import ProgressLine
    >>> line = ProgressLine(0, 2, every=0)
    >>> line(1, 0.5, 0.6, 3, 3.0)  # doctest: +ELLIPSIS
    iteration 1/2  loss 0.5000  validation 0.6000  features 3  cost 3  ... left
    """

    def __init__(self, first: int, last: int, stream: TextIO | None = None, every: float | None = None) -> None:
        self._first, self._last = first, last
        self._bar = notebook_bar(last - first, "iterations") if stream is None and in_notebook() else None
        self._stream = sys.stdout if stream is None else stream
        self._in_place = self._stream.isatty()
        self._every = every if every is not None else (0.1 if self._in_place else 2.0)
        self._begin = time.monotonic()
        self._shown = self._begin
        self._pending = ""

    def __call__(self, iteration: int, loss: float, validation_loss: float, features: int, cost: float) -> None:
        """Note one iteration; show it if enough time has passed."""
        now = time.monotonic()
        done = iteration - self._first
        left = (now - self._begin) / done * (self._last - iteration) if done > 0 else float("nan")
        parts = [f"iteration {iteration}/{self._last}"]
        if loss == loss:  # not NaN, as it is for a loss without values
            parts.append(f"loss {loss:.4f}")
        if validation_loss == validation_loss:
            parts.append(f"validation {validation_loss:.4f}")
        parts += [f"features {features}", f"cost {cost:g}"]
        if left == left:
            parts.append(f"{left:.0f} s left")
        self._pending = "  ".join(parts)
        if self._bar is not None:
            self._bar.set_postfix_str("  ".join(parts[1:]), refresh=False)
            self._bar.update(done - self._bar.n)
        elif now - self._shown >= self._every:
            self._show(now)

    def close(self, ending: str) -> None:
        """Show the last state and why boosting stopped."""
        if self._bar is not None:
            self._bar.set_postfix_str(ending)
            self._bar.close()
            return
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
    >>> from frugalboost._support.progress import SellingLine
    >>> line = SellingLine()
    >>> line(12)
    selling back: 12 features left
    """

    def __call__(self, left: int) -> None:
        """Print how many are left."""
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
    >>> from frugalboost._support.progress import ReadingLine
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
        """Print how many rows have been read."""
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
