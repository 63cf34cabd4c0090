"""frugalboost with a sample of the new features for each tree, as users ask for by new_features="auto"."""

from __future__ import annotations

from typing import Any

from lab.rivals.boosters import ours

NAME = "frugalboost, new_features=auto"
BINS_APART = True
bin = ours.bin


def train(data: dict[str, Any], setting: dict[str, Any], penalty: float) -> int:
    """Boost with the same mu."""
    return ours.train(data, {**setting, "new_features": -1.0}, penalty)
