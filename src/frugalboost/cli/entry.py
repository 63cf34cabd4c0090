"""Where the command starts: Ctrl-C first, everything else when it is needed."""

from __future__ import annotations

import sys

import frugalboost.cli.interrupts as interrupts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, default=None
        Without the program's name; None takes them from the command line.

    Returns
    -------
    int
        0 where all went well, 2 for a wrong call or bad input, 3 where nothing is worth its price, 130 after Ctrl-C.

    Examples
    --------
    >>> from frugalboost.cli import main
    >>> main(["demo", "--mu", "0.05"])  # doctest: +ELLIPSIS
    Handwritten 3s and 8s: 357 images...
    0
    """
    if arguments is not None:
        return _run(list(arguments))
    interrupts.install()
    code = _run(None)
    interrupts.ignore()
    return code


def _run(arguments: list[str] | None) -> int:
    try:
        from frugalboost.cli.app import app
        from frugalboost.cli.messages import discard_output, open_streams, say
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("typer", "rich", "click"):
            raise
        print("The command line needs typer: pip install 'frugalboost[cli]'.", file=sys.stderr)
        return 2
    if arguments is None:
        open_streams()
    try:
        app(arguments, prog_name="frugalboost")
    except KeyboardInterrupt:
        return interrupts.INTERRUPTED
    except OSError as error:  # help that can't be shown
        discard_output()
        say(f"frugalboost: {error.strerror or error}.")
        return 2
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 2
    return 0
