"""What all charts share: altair, colours, numbers."""

from __future__ import annotations

from typing import Any

BLUE, ORANGE, GREEN = "#3b7cb8", "#d5642a", "#2a9273"  # readable on white and on black, and to the colour-blind
NUMBER = ",.4~r"  # four digits, separators between thousands, no exponent
LARGE, LARGEST, SMALL = 1e6, 1e17, 1e-4  # large numbers have a letter for thousands, very large and small an exponent


def library() -> Any:
    """altair, or an error that says how to install it."""
    try:
        import altair
    except ImportError:
        raise ImportError("Reports need altair and vl-convert-python: pip install 'frugalboost[report]'.") from None
    return altair


def data(rows: list[dict[str, Any]]) -> Any:
    """Data embedded in the chart. Lists would be copied at every step of making it."""
    return library().Data(values=tuple(rows))


def axis_format(largest: float) -> str:
    """How numbers at an axis are written, the largest of which is given."""
    if LARGE <= largest < LARGEST:
        return ".3~s"
    return ".2~e" if largest >= LARGEST or 0 < largest < SMALL else NUMBER
