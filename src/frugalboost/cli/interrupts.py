"""Ctrl-C at any moment: exit code 130 and no traceback.

Reading numpy, scikit-learn and others takes a second or two. An interrupt inside of an import may be lost there, or
come out as another error, so it ends the process at once; what little was begun is put away by the next run. While the
command works, it is Python's own KeyboardInterrupt. Before `listen` is called, some hundredths of a second after the
start, Ctrl-C is Python's own affair.
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
_working = False  # whether somebody waits for KeyboardInterrupt


def install() -> None:
    """From now on Ctrl-C ends this process quietly, unless its parent wants it to be ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _on_interrupt)
        sys.unraisablehook = _on_unraisable


def set_working(begins: bool) -> None:
    """Say that KeyboardInterrupt is waited for, or no longer."""
    global _working
    _working = begins


def ignore() -> None:
    """All is done but what Python puts away at its end: too late to stop."""
    if signal.getsignal(signal.SIGINT) is _on_interrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _on_interrupt(number: int, frame: FrameType | None) -> None:
    if not _working or _is_importing(frame):
        _exit_at_once()
    set_working(False)  # who presses it again does not want to wait
    raise KeyboardInterrupt


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _on_unraisable(what: Any) -> None:
    """Where Python can't pass an error on, as in a callback, an interrupt must not be swallowed."""
    if what.exc_type is KeyboardInterrupt:
        _exit_at_once()
    sys.__unraisablehook__(what)


def _exit_at_once() -> None:
    words = b"\nfrugalboost: stopped.\n"
    with contextlib.suppress(OSError):  # nobody listens
        os.write(2, b"\x1b[?25h" + words if os.isatty(2) else words)  # bars hide the cursor
    os._exit(INTERRUPTED)
