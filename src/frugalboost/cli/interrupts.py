"""Ctrl-C at any moment: exit code 130 and no traceback.

Importing numpy, scikit-learn and others takes a second or two. An interrupt during an import may be lost there, or
appear as another error, so it ends the process at once; the next run removes unfinished files. While the command works,
an interrupt is Python's own KeyboardInterrupt. Before `install` is called, in the first hundredths of a second, Python
handles Ctrl-C.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

INTERRUPTED = 130
_working = False  # whether KeyboardInterrupt is caught


def install() -> None:
    """From now on Ctrl-C ends this process without a traceback, unless the parent process ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _on_interrupt)
        sys.unraisablehook = _on_unraisable


def set_working(working: bool) -> None:
    """Say whether KeyboardInterrupt is caught from now on."""
    global _working
    _working = working


def ignore() -> None:
    """Ignore Ctrl-C while Python exits: the work is done."""
    if signal.getsignal(signal.SIGINT) is _on_interrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _on_interrupt(number: int, frame: FrameType | None) -> None:
    if not _working or _is_importing(frame):
        _exit_at_once()
    set_working(False)  # a second Ctrl-C ends the process at once
    raise KeyboardInterrupt


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _on_unraisable(what: Any) -> None:
    """End the process if an interrupt arrives where Python can't raise it, as in a destructor."""
    if what.exc_type is KeyboardInterrupt:
        _exit_at_once()
    sys.__unraisablehook__(what)


def _exit_at_once() -> None:
    with contextlib.suppress(OSError):  # standard error may be closed
        os.write(2, b"\nfrugalboost: stopped.\n")
    os._exit(INTERRUPTED)
