"""Checks of users' times until an event."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.tables.targets import check_y

Floats = NDArray[np.float64]
_FORMS = (
    "Give times with a minus sign where there was no event, np.where(event, time, -time), or a structured array of "
    "event (bool) and time, such as that of sksurv.util.Surv.from_arrays(event, time)."
)


def check_y_survival(y: Any) -> Floats:
    """Return times, negative where a row was watched so long without an event.

    Examples
    --------
    >>> import numpy as np
    >>> from frugalboost.tables.survival import check_y_survival
    >>> check_y_survival(np.array([(True, 2.0), (False, 3.0)], dtype=[("event", bool), ("time", float)]))
    array([ 2., -3.])
    """
    fields = getattr(getattr(y, "dtype", None), "names", None)
    if fields:
        return _of_fields(np.asarray(y), fields)
    if getattr(y, "ndim", None) == 2 and y.shape[1] == 2:
        raise ValueError(f"y has two columns, and which of them is the time is not known. {_FORMS}")
    signed = check_y(y)
    if signed.ndim > 1:
        raise ValueError(f"y has {signed.shape[1]} columns. {_FORMS}")
    if (signed == 0).any():
        raise ValueError(
            "y has times of 0, which have no sign and at which nobody was watched yet. Leave these rows out, or give "
            "them a small positive time."
        )
    return signed


def _of_fields(y: NDArray[Any], fields: tuple[str, ...]) -> Floats:
    kinds = [y.dtype[name].kind for name in fields]
    if y.ndim != 1 or sorted(k == "b" for k in kinds) != [False, True] or not set(kinds) <= set("biuf"):
        raise ValueError(f"y is a structured array of {', '.join(f'{n!r}' for n in fields)}. {_FORMS}")
    event = y[fields[kinds.index("b")]]
    time = check_y(y[next(n for n, k in zip(fields, kinds, strict=True) if k != "b")])
    if not (time > 0).all():
        raise ValueError("y has times that are zero or negative; the time of each row must be positive.")
    return np.where(event, time, -time)
