"""Slots: what a room needs from a room above it, and so must not import.

The lower room calls a slot. The package fills it in `frugalboost/__init__.py`, which Python runs before any other
module of the package, so that no order of imports finds it empty. What fills a slot imports its room when it is called.
"""

TYPE_CHECKING = False  # the command runs this before it can handle Ctrl-C, so not even typing is imported
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Slot:
    """A function that a lower room calls and an upper room has."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._filling: Callable[..., Any] | None = None

    def fill(self, filling: "Callable[..., Any]") -> None:
        """Say which function is called."""
        self._filling = filling

    def __call__(self, *arguments: "Any", **options: "Any") -> "Any":
        if self._filling is None:
            raise RuntimeError(f"Nothing was said to {self._what}.")
        return self._filling(*arguments, **options)


report_on = Slot("make a report on an estimator")
plot_path = Slot("draw a path")
to_shap = Slot("make a model for shap")
