"""Numbers as the page and notebooks write them."""

from __future__ import annotations

from collections.abc import Sequence

Slope = float | list[float]  # of the one output, or of each class


def slope_text(slope: Slope | None, classes: Sequence[str]) -> str:
    """A slope with its sign; of several classes the steepest one, with the name of its class."""
    if slope is None:
        return ""
    if not isinstance(slope, list):
        return f"{slope:+.3g}"
    steepest = max(range(len(slope)), key=lambda k: abs(slope[k]))
    return f"{slope[steepest]:+.3g} ({classes[steepest]})"
