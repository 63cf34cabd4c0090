"""Progress bars with the time left, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from frugalboost._support.progress import Stage, Work, counted_by

TITLES = {
    Work.PATH: "the path",
    Work.CROSS_VALIDATION: "cross-validation",
}  # other kinds use the same words as progress lines


class Silent:
    """Shows no progress."""

    def __init__(self, total: int, stage: Stage) -> None:
        """Ignore total and stage."""

    def step(self) -> None:
        """One more is done."""


class BarStep:
    """Moves one bar."""

    def __init__(self, progress: Any, task: Any) -> None:
        self._progress, self._task = progress, task

    def step(self) -> None:
        """One more is done."""
        self._progress.advance(self._task)


class Bars:
    """One bar for each kind of work; cross-validation has a new one for each search."""

    def __init__(self, progress: Any) -> None:
        self._progress = progress
        self._tasks: dict[Work, Any] = {}
        self._totals: dict[Work, int] = {}

    def count(self, total: int, stage: Stage) -> BarStep:
        """Count the pieces of one stage."""
        work, anew = stage.work, stage.work is Work.CROSS_VALIDATION and stage.number == 1
        if anew or work not in self._tasks:
            self._tasks[work] = self._progress.add_task(TITLES.get(work, work.value), total=0)
            self._totals[work] = 0
        if work is not Work.CROSS_VALIDATION:
            self._totals[work] += total
        elif anew:  # all stages have the length of the first: the total is known from the start
            self._totals[work] = total * stage.total
        self._progress.update(self._tasks[work], total=self._totals[work])
        return BarStep(self._progress, self._tasks[work])


@contextmanager
def progress_bars(quiet: bool) -> Iterator[None]:
    """Show bars on standard error while work is done, if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        with counted_by(Silent):
            yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        Progress(*columns, console=Console(stderr=True), transient=True) as progress,
        counted_by(Bars(progress).count),
    ):
        yield
