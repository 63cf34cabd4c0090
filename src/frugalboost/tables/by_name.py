"""Columns of a data frame found by name: extra ones are ignored, and those that a model does not need may be missing.

scikit-learn's rule is kept where it decides: a table with exactly the columns of the fit must have them in their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from frugalboost.tables import frames


def places_by_name(estimator: Any, X: Any) -> list[int] | None:
    """For each column of a data frame its place in the table of the fit, or -1; None where scikit-learn's rule holds.

    That is where columns have no names, where they are those of the fit and no others, and where one is missing that
    the model needs.
    """
    known, names = getattr(estimator, "feature_names_in_", None), _names_of(X)
    if known is None or names is None or not hasattr(estimator, "support_"):
        return None
    if names == known.tolist():
        return None
    needed, found = set(known[estimator.support_]), set(names)
    if not needed <= found or found == set(known):
        return None
    if not needed and not found < set(known):  # a constant predicts from any of the columns, but not from other ones
        return None
    place = {name: i for i, name in enumerate(known)}
    return [place.get(name, -1) for name in names]


def check_names(estimator: Any, X: Any, *, reset: bool) -> None:
    """Check names as scikit-learn does; its message is followed by what to do."""
    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    except ValueError as error:
        remedy = "" if reset else _remedy(estimator, X)
        if not remedy:
            raise
        raise ValueError(f"{str(error).rstrip()}\n{remedy}") from None


def _remedy(estimator: Any, X: Any) -> str:
    known, names = getattr(estimator, "feature_names_in_", None), _names_of(X)
    if known is None or names is None:
        return ""
    if set(names) == set(known):
        return "scikit-learn asks for this. in_order(X) of the estimator returns the table in that order."
    support = getattr(estimator, "support_", None)
    if support is None or not support.any():
        return ""
    needed = known[support]
    lacks = [name for name in needed if name not in set(names)]
    return f"Of these the model needs {_listed(list(needed))}. X lacks {_listed(lacks)}." if lacks else ""


def in_order(estimator: Any, X: Any) -> Any:
    """Return the columns of a data frame that the fit knew, in its order; see `Selector.in_order`."""
    known = getattr(estimator, "feature_names_in_", None)
    if known is None:
        raise ValueError("The columns of the table of the fit have no names, so there is no order to put others in.")
    frame, names = frames.as_frame(X, "X"), _names_of(X)
    if frame is None or names is None:
        raise TypeError("X is not a data frame whose columns have texts as names.")
    place = dict(zip(names, frame.columns, strict=True))
    lacks = [name for name in known[estimator.support_] if name not in place]
    if lacks:
        raise ValueError(f"X lacks columns that the model needs: {_listed(lacks)}.")
    return frame.select([place[name] for name in known if name in place]).to_native()


def known_columns(estimator: Any, X: Any) -> Any:
    """A data frame without the columns that the fit did not know, if it has all others; anything else as it is."""
    known, names = getattr(estimator, "feature_names_in_", None), _names_of(X)
    if known is None or names is None or not set(known) < set(names):
        return X
    frame = frames.as_frame(X, "X")
    return X if frame is None else frame.select(list(known)).to_native()


def _names_of(X: Any) -> list[str] | None:
    """The names of a data frame's columns, if all of them are texts, as scikit-learn takes them."""
    frame = frames.as_frame(X, "X")
    names = None if frame is None else list(frame.columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def _listed(names: list[Any]) -> str:
    shown = ", ".join(map(repr, map(str, names[:8])))
    return shown + (f" and {len(names) - 8:,} more" if len(names) > 8 else "")


def taken(X: Any, places: list[int], support: np.ndarray[Any, np.dtype[np.bool_]]) -> Any:
    """The columns of a data frame that a model selected, in the order of the fit; ``places`` as found by name."""
    frame = frames.as_frame(X, "X")
    assert frame is not None
    column = dict(zip(places, frame.columns, strict=True))
    return frame.select([column[place] for place in np.flatnonzero(support).tolist()]).to_native()
