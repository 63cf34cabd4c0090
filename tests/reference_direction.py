"""The oracle's direction among outputs: one tree for all classes is searched on a sum of their gradients with signs."""

from __future__ import annotations

import numpy as np
from reference_numbers import GRADIENT_BITS, integers

STEP, WORD = 0x9E3779B97F4A7C15, 2**64 - 1
SUM_BITS = 40
MOST_PROBES = 16


def mixed(v):
    """A hash of 64 bits."""
    v &= WORD
    v = ((v ^ (v >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    v = ((v ^ (v >> 27)) * 0x94D049BB133111EB) & WORD
    return v ^ (v >> 31)


def row_keys(bins):
    """A key of each row, from its bins in all columns alone; the first bin of a column counts nothing."""
    rows = len(bins[0]) if len(bins) else 0
    return [sum(mixed((256 * c + b[i]) * STEP) for c, b in enumerate(bins) if b[i] > 0) & WORD for i in range(rows)]


def number_of(seed, iteration):
    return mixed(mixed(seed + STEP) + iteration * STEP)


def probe(gradients, keys, units, number):
    """For each output the sum of its gradients along a random sign for each row."""
    z = [-1 if mixed(key + number) & 1 else 1 for key in keys]
    return [sum(u * v * s for u, v, s in zip(units, q, z)) for q, _ in gradients]


def signs_of(sums):
    return [(s > 0) - (s < 0) for s in sums]


def direction(gradients, keys, units, number, cancel=True):
    """A sign for each output. If gradients cancel, signs that are all alike would leave nothing: others are drawn."""
    for _ in range(MOST_PROBES):
        signs = signs_of(probe(gradients, keys, units, number))
        if not cancel or {1, -1} <= set(signs):
            break
        number = mixed(number + STEP)
    return signs


def combined(gs, signs):
    """The gradients along the direction of these signs, on the integer grid of a tree, in any order of outputs."""
    largest = max(float(np.max(np.abs(g), initial=0.0)) for g in gs)
    shift = integers(np.array([largest]), SUM_BITS)[1]
    total = [0] * len(gs[0])
    for g, sign in zip(gs, signs):
        total = [t + sign * int(v) for t, v in zip(total, np.rint(np.ldexp(g, shift)))]
    length = np.sqrt(float(max(1, sum(sign != 0 for sign in signs))))
    return integers(np.ldexp(np.array(total, dtype=float), -shift) / length, GRADIENT_BITS)
