"""Parallel fits in threads of this process: they share binned tables, and the core releases Python's lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from frugalboost._support.progress import PATH, Stage, Tally, progress_counter

T = TypeVar("T")
Check = Callable[..., None]
Work = Callable[[Check | None, int], T]


class Cancelled(BaseException):
    """Ends a fit whose result is no longer needed; not an Exception, so that a user's loss or price can't catch it."""


def run_parallel(work: Sequence[Work[T]], threads: int, verbose: bool = False, stage: Stage = PATH) -> list[T]:
    """Run functions in parallel and return their results in order.

    Parameters
    ----------
    work : sequence of callables
        Each is called with ``check`` (or None), which it must pass to the core as observer so that the fit can be
        stopped, and with the number of threads it may use.
    threads : int
        The number of threads for all of them together.
    verbose : bool, default=False
        Show a line of progress.
    stage : Stage, default=PATH
        What the pieces of work belong to.

    Returns
    -------
    list
        Results in the order of ``work``. The first error ends the rest and is raised; so does Ctrl-C.

    Examples
    --------
    >>> from frugalboost._support.parallel import run_parallel
    >>> run_parallel([lambda check, threads: 1, lambda check, threads: 2], threads=2)
    [1, 2]
    """
    line = progress_counter(len(work), stage) if verbose else None
    if threads == 1 or len(work) <= 1:
        results = []
        for function in work:
            results.append(function(None, threads))
            if line:
                line.step()
        return results
    return _in_threads(work, threads, line)


def _in_threads(work: Sequence[Work[T]], threads: int, line: Tally | None) -> list[T]:
    cancelled = threading.Event()

    def check(*_: object) -> None:
        if cancelled.is_set():
            raise Cancelled

    workers = min(threads, len(work))
    each = max(1, threads // workers)
    with ThreadPoolExecutor(workers) as pool:
        futures: list[Future[T]] = [pool.submit(function, check, each) for function in work]
        try:
            if line:
                for future in futures:
                    future.add_done_callback(lambda _: line.step())
            while wait(futures, timeout=0.2, return_when=FIRST_EXCEPTION).not_done:  # a signal is never missed for long
                if any(future.done() and future.exception() is not None for future in futures):
                    break
            for future in futures:
                if future.done() and future.exception() is not None:
                    future.result()
        except BaseException:
            cancelled.set()
            for future in futures:
                future.cancel()
            raise
    return [future.result() for future in futures]


def call_both(first: Check | None, second: Check | None) -> Check | None:
    """One observer that calls two."""
    if first is None or second is None:
        return first or second

    def call(*arguments: object) -> None:
        first(*arguments)
        second(*arguments)

    return call
