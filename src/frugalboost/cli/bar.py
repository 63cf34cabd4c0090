"""A bar with the time left, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Silent:
    """Counts nothing."""

    def __init__(self, total: int, what: str) -> None:
        """Take note of nothing."""

    def step(self) -> None:
        """One more is done."""


class Counted:
    """One piece of work of a bar."""

    def __init__(self, progress: Any, task: Any) -> None:
        self._progress, self._task = progress, task

    def step(self) -> None:
        """One more is done."""
        self._progress.advance(self._task)


@contextmanager
def shown(quiet: bool, splits: int) -> Iterator[None]:
    """Show bars on standard error while work is done, if that is a terminal."""
    from frugalboost._support.progress import counted_by

    if quiet or not sys.stderr.isatty():
        with counted_by(Silent):
            yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        tasks: dict[str, Any] = {}

        def count(total: int, what: str) -> Counted:
            if what.startswith("split"):  # the splits of one search are one piece of work
                if what.startswith("split 1/"):
                    tasks["split"] = progress.add_task("cross-validation", total=total * splits)
                return Counted(progress, tasks["split"])
            name = {"fit": "the path"}.get(what, what)
            if name not in tasks:
                tasks[name] = progress.add_task(name, total=0)
            return more(tasks[name], total)

        def more(task: Any, total: int) -> Counted:
            progress.update(task, total=(progress.tasks[progress.task_ids.index(task)].total or 0) + total)
            return Counted(progress, task)

        with counted_by(count):
            yield
