"""Which rows are set aside for the validation loss: a random, stratified share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core
from frugalboost.training.draws import draw_rows, row_hashes, sum_over_parts

# How rows are drawn. It is kept with each model, since a continued fit must set the same rows aside: change it
# whenever other rows would be drawn.
DRAW = "rows by hash"


def set_aside(
    y: NDArray[np.float64],
    classes: int,
    fraction: float,
    seed: int,
    part: _core.ThreadPart | None = None,
) -> NDArray[np.bool_]:
    """Whether each row is set aside. ``classes``: the number of classes in y; 0: y is not a class.

    Examples
    --------
    >>> import numpy as np
    >>> from frugalboost.training.set_aside import set_aside
    >>> y = np.repeat([0.0, 1.0], [30, 10])
    >>> held = set_aside(y, 2, 0.2, seed=0)
    >>> np.bincount(y[held].astype(int))
    array([6, 2])
    """
    members = [y == k for k in range(classes)] if classes else [np.ones(len(y), dtype=bool)]
    sizes = sum_over_parts(np.array([m.sum() for m in members], dtype=np.int64), part)
    rows = int(sizes.sum())
    held = int(np.ceil(fraction * rows))
    _check(rows, held, sizes[sizes > 0], fraction, bool(classes))
    hashes = row_hashes(len(y), seed, part)
    wanted = _shares(sizes, held, [hashes[m] for m in members], part)
    out = np.zeros(len(y), dtype=bool)
    for member, chosen in zip(members, draw_rows([hashes[m] for m in members], wanted, part)):
        out[np.flatnonzero(member)[chosen]] = True
    return out


def _check(rows: int, held: int, sizes: NDArray[np.int64], fraction: float, stratified: bool) -> None:
    why, smaller = None, min(held, rows - held)
    if held >= rows:
        why = "No rows would be left to fit."
    elif stratified and sizes.min() < 2:
        why = "A class has a single row, which can't be in both parts."
    elif stratified and smaller < len(sizes):
        why = f"One part would have {_counted(smaller)}, fewer than the {len(sizes)} classes."
    if why is not None:
        raise ValueError(
            f"early_stopping: {_counted(rows)} can't be split with validation_fraction={fraction:g}. {why}"
        )


def _counted(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows} rows"


def _shares(
    sizes: NDArray[np.int64], held: int, hashes: list[NDArray[np.uint64]], part: _core.ThreadPart | None
) -> NDArray[np.int64]:
    """How many rows of each class: its share, rounded, but at least one row in both parts.

    After rounding down, rows are added to the class that is furthest below its share, or taken from the one that is
    furthest above, until the sum is right. Of equal classes it is the one that has the row drawn first, so that the
    names of classes decide nothing.
    """
    rows = int(sizes.sum())
    first = np.array([h.min(initial=np.iinfo(np.uint64).max) for h in hashes], dtype=np.uint64)
    if part is not None:
        first = np.min([np.frombuffer(b, dtype=np.uint64) for b in part.gather(first.tobytes())], axis=0)
    order = np.argsort(first)
    size = sizes[order]
    fewest, most = np.minimum(size, 1), np.maximum(size - 1, 0)
    share = np.clip(size * held // rows, fewest, most)
    while share.sum() != held:
        step = 1 if share.sum() < held else -1
        free = share < most if step == 1 else share > fewest
        missing = step * (size * held - share * rows)
        share[np.argmax(np.where(free, missing, np.iinfo(np.int64).min))] += step
    wanted = np.empty_like(share)
    wanted[order] = share
    return wanted
