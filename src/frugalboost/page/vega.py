"""What all charts share: altair, colours, numbers."""

from __future__ import annotations

from typing import Any

BLUE, ORANGE, GREEN = "#3b7cb8", "#d5642a", "#2a9273"  # readable on white and on black, and to the colour-blind
NUMBER = ",.4~r"  # four digits, separators between thousands, no exponent


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
