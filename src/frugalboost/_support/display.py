"""Shows a plan while it is worked on: a bar on a terminal or in a notebook, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TextIO

from frugalboost._support.plan import Part, Plan, Standing, followed
from frugalboost._support.progress import counted_by, in_notebook, is_counted, notebook_bar

WIDEST, NARROWEST = 40, 8  # of a bar, in characters
LABEL = max(len(part.value) for part in Part)


class Display(Protocol):
    """Shows how far the work is."""

    every: float  # seconds between two pictures
    first: float  # seconds before the first one

    def show(self, standing: Standing) -> None:
        """Show it."""

    def clear(self) -> None:
        """Make room for other output."""

    def close(self, standing: Standing) -> None:
        """Show nothing more."""


class TerminalBar:
    """A bar on one line of a terminal, drawn in place, without colours.

    Parameters
    ----------
    stream : file
        The terminal.

    Examples
    --------
    >>> from frugalboost._support.display import bar_text
    >>> from frugalboost._support.plan import Standing
    >>> bar_text(Standing("cross-validation", 0.25, 95.0), 60, "=-")
    'cross-validation         ====-------------  25 %  2 min left'
    """

    every, first = 0.2, 0.5

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._drawn = stream, 0
        self._marks = "━─" if can_write(stream, "━─") else "#-"

    def show(self, standing: Standing) -> None:
        """Draw over the last one."""
        text = bar_text(standing, width_of(self._stream), self._marks)
        self._write(f"\r{text}{' ' * (self._drawn - len(text))}")
        self._drawn = len(text)

    def clear(self) -> None:
        """Leave an empty line, with the cursor at its beginning."""
        if self._drawn:
            self._write(f"\r{' ' * min(self._drawn, width_of(self._stream))}\r")
        self._drawn = 0

    def close(self, standing: Standing) -> None:
        """Leave nothing behind."""
        self.clear()

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # closed: the work goes on
            self._stream.write(text)
            self._stream.flush()


class Lines:
    """A line every ten seconds, for pipes, files and terminals that can do no more."""

    every, first = 10.0, 10.0

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def show(self, standing: Standing) -> None:
        """Write a line."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(f"{line_text(standing)}\n")
            self._stream.flush()

    def clear(self) -> None:
        """Lines stand in nobody's way."""

    def close(self, standing: Standing) -> None:
        """There is nothing to do."""


class NotebookBar:
    """A bar of tqdm."""

    every, first = 0.5, 0.5

    def __init__(self) -> None:
        self._bar: Any = None

    def show(self, standing: Standing) -> None:
        """Move the bar."""
        if self._bar is None:
            self._bar = notebook_bar(100, "", bar_format="{desc} {bar} {percentage:.0f} %{postfix}")
        self._bar.set_description_str(standing.label, refresh=False)
        self._bar.set_postfix_str(left_text(standing.left), refresh=False)
        self._bar.n = round(100 * standing.share)
        self._bar.refresh()

    def clear(self) -> None:
        """It has a place of its own."""

    def close(self, standing: Standing) -> None:
        """Show the last state."""
        if self._bar is not None:
            self.show(standing)
            self._bar.close()


def can_write(stream: TextIO, text: str) -> bool:
    """Whether a stream's encoding has these characters."""
    try:
        text.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def width_of(stream: TextIO) -> int:
    """Characters that fit into a line; the last one stays free, where terminals begin a new line."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return max(1, (columns or 80) - 1)


def bar_text(standing: Standing, width: int, marks: str) -> str:
    """What is being done, a bar, per cent and the time left, in one line; what does not fit is left out."""
    percent, left = f"{100 * standing.share:3.0f} %", left_text(standing.left)
    right = f"{percent}  {left}" if left else percent
    bar = min(WIDEST, width - LABEL - len(right) - 3)
    if bar >= NARROWEST:
        full = round(bar * standing.share)
        return f"{standing.label:<{LABEL}}  {marks[0] * full}{marks[1] * (bar - full)} {right}"
    right = right.strip()
    if len(standing.label) + 2 + len(right) <= width:
        return f"{standing.label}  {right}"
    return right[:width] if len(right) <= width else percent.strip()[:width]


def line_text(standing: Standing) -> str:
    """The same as a line of a file; only what is being done, as long as no more is known."""
    if not standing.share and standing.left is None:
        return standing.label
    left = left_text(standing.left)
    return f"{standing.label}: {100 * standing.share:.0f} %" + (f", {left}" if left else "")


def left_text(seconds: float | None) -> str:
    """The time left, rounded up to what can be known; nothing if nothing is known.

    Examples
    --------
    >>> from frugalboost._support.display import left_text
    >>> [left_text(seconds) for seconds in (None, 0.2, 4.2, 41, 95, 4000, 10_000)]
    ['', '1 s left', '5 s left', '45 s left', '2 min left', '67 min left', '2 h 50 min left']
    """
    if seconds is None:
        return ""
    if seconds < 90:
        return f"{max(1, math.ceil(seconds)) if seconds <= 10 else 5 * math.ceil(seconds / 5)} s left"
    minutes = math.ceil(seconds / 60)
    if minutes < 100:
        return f"{minutes} min left"
    tens = math.ceil(minutes / 10)
    return f"{tens // 6} h {10 * (tens % 6)} min left"


def display_for(stream: TextIO) -> Display:
    """A bar where it can be drawn, else lines."""
    if in_notebook():
        return NotebookBar()
    return TerminalBar(stream) if stream.isatty() and os.environ.get("TERM") != "dumb" else Lines(stream)


class Shown:
    """A plan that is shown again and again, by a thread of its own, until it is closed.

    Parameters
    ----------
    plan : Plan
        What is worked on.
    display : Display
        Where it is shown.
    """

    def __init__(self, plan: Plan, display: Display) -> None:
        self.plan, self._display = plan, display
        self._lock, self._over = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="frugalboost-progress", daemon=True)
        self._thread.start()

    def above(self, show: Callable[[str], None]) -> Callable[[str], None]:
        """A function that shows a text as ``show`` does, but not in the middle of a bar."""

        def shown(text: str) -> None:
            with self._lock:
                self._display.clear()
                show(text)

        return shown

    def close(self) -> None:
        """Show nothing more."""
        self._over.set()
        self._thread.join()
        self._display.close(self.plan.standing())

    def _run(self) -> None:
        wait = self._display.first
        while not self._over.wait(wait):
            begin = time.monotonic()
            with self._lock:
                self._display.show(self.plan.standing())
            wait = max(0.0, self._display.every - (time.monotonic() - begin))


@contextmanager
def shown(first: Part, stream: TextIO | None = None) -> Iterator[Shown | None]:
    """Show one bar for the work of the block, which begins with a part and tells which others it reaches.

    Nothing is shown if another block around this one does so already, or if the user counts in another way.
    """
    stream = sys.stderr if stream is None else stream
    if is_counted() or stream is None:  # a program may have no such stream
        yield None
        return
    plan = Plan()
    plan.begin(first)
    display = Shown(plan, display_for(stream))
    try:
        with followed(plan), counted_by(plan.count):
            yield display
        plan.end()
    finally:
        display.close()
