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
    why = None
    if held >= rows:
        why = "No rows would be left to fit."
    elif stratified and sizes.min() < 2:
        why = "A class has a single row, which can't be in both parts."
    elif stratified and min(held, rows - held) < len(sizes):
        why = f"{min(held, rows - held)} rows in one part are fewer than the {len(sizes)} classes."
    if why is not None:
        raise ValueError(f"early_stopping: {rows} rows can't be split with validation_fraction={fraction:g}. {why}")


def _shares(
    sizes: NDArray[np.int64], held: int, hashes: list[NDArray[np.uint64]], part: _core.ThreadPart | None
) -> NDArray[np.int64]:
    """How many rows of each class. What is left after rounding down goes to the largest remainders; of equal ones to
    the class that has the row drawn first, so that the names of classes decide nothing.
    """
    rows = int(sizes.sum())
    whole = sizes * held // rows
    remainder = sizes * held - whole * rows
    first = np.array([h.min(initial=np.iinfo(np.uint64).max) for h in hashes], dtype=np.uint64)
    if part is not None:
        first = np.min([np.frombuffer(b, dtype=np.uint64) for b in part.gather(first.tobytes())], axis=0)
    order = sorted(range(len(sizes)), key=lambda k: (-int(remainder[k]), int(first[k])))
    for k in order[: held - int(whole.sum())]:
        whole[k] += 1
    return whole
