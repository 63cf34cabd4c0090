"""The models that the slider of a page stops at: those of the path, and the chosen one where it is none of them."""

from __future__ import annotations

from typing import Any

from frugalboost.page.contents import Contents

MOST_LISTED = 500  # features of one model that are listed


def stops_of(contents: Contents) -> list[dict[str, Any]]:
    """Models in the order of the slider, each with "chosen".

    A model that was found by selling back, asked for, or fitted on all rows after a choice on some, is not on the path.
    It stands after the models of the path that have no more features. Without a path it is the only one.

    Examples
    --------
    >>> from frugalboost.page.stops import stops_of
    >>> few, many = {"n_features": 1, "features": [0]}, {"n_features": 3, "features": [0, 1, 2]}
    >>> chosen = {"index": None, "n_features": 2, "features": [{"name": 4, "gain": 30.0}, {"name": 0, "gain": 70.0}]}
    >>> for stop in stops_of({"points": [few, many], "chosen": chosen}):
    ...     print(stop["features"], stop["chosen"])
    [0] False
    [0, 4] True
    [0, 1, 2] False
    """
    points, chosen = contents["points"], contents["chosen"]
    stops = [point | {"chosen": i == chosen["index"], "on_path": True} for i, point in enumerate(points)]
    if chosen["index"] is not None:
        return stops
    own = as_stop(chosen)
    if len(points) == 1:
        return [own]
    at = next((i for i, point in enumerate(points) if point["n_features"] > own["n_features"]), len(points))
    return [*stops[:at], own, *stops[at:]]


def as_stop(chosen: dict[str, Any]) -> dict[str, Any]:
    """The chosen model as the models of the path are described; its features by gain."""
    by_gain = sorted(chosen["features"], key=lambda f: -f["gain"])[:MOST_LISTED]
    return {
        **chosen,
        "value": None,  # a mu means something else there
        "features": [f["name"] for f in by_gain],
        "gains": [round(f["gain"], 3) for f in by_gain],
        "chosen": True,
        "on_path": False,
    }


def start_of(stops: list[dict[str, Any]]) -> int:
    """Where the slider starts: at the chosen model."""
    return next((i for i, stop in enumerate(stops) if stop["chosen"]), 0)
