"""Numbers of the oracle: exp and log from basic operations, numbers as integers, quantiles."""

from __future__ import annotations

from math import frexp

import numpy as np

GRADIENT_BITS = 26  # the largest |gradient| of a tree becomes 2**26
WEIGHT_BITS = 36  # all weights together become at most 2**36
LEAF_BITS = 60  # leaf sums are taken on a much finer grid


# ---------------------------------------------------------------- exp and log from basic operations


def exp(x):
    x = np.clip(np.asarray(x, dtype=np.float64), -708.0, 709.0)
    magic = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer
    shifted = x * 1.4426950408889634 + magic
    k = shifted - magic
    r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10
    series = np.full_like(r, 1.0 / 6227020800.0)
    for factorial in (
        479001600.0,
        39916800.0,
        3628800.0,
        362880.0,
        40320.0,
        5040.0,
        720.0,
        120.0,
        24.0,
        6.0,
        2.0,
    ):
        series = series * r + 1.0 / factorial
    series = series * r + 1.0
    series = series * r + 1.0
    bits = series.view(np.int64) + (k.astype(np.int64) << 52)
    return bits.view(np.float64)


def log(x):
    """Natural logarithm of positive, normal numbers."""
    x = np.atleast_1d(np.asarray(x, dtype=np.float64))
    bits = x.view(np.int64)
    # the exponent is chosen so that the mantissa lies in [sqrt(1/2), sqrt(2))
    exponent = (bits - 0x3FE6A09E667F3BCD) >> 52
    mantissa = (bits - (exponent << 52)).view(np.float64)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    z = s * s
    series = np.full_like(z, 1.0 / 23.0)
    for odd in (21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0):
        series = series * z + 1.0 / odd
    e = exponent.astype(np.float64)
    return e * 0.6931471803691238 + (2.0 * s + (2.0 * s * z * series + e * 1.9082149292705877e-10))


# ----------------------------------------------------------------------------- integers and quantiles


def integers(values, bits):
    """Values as integers: the largest magnitude becomes at most 2**bits. Returns them and the exponent."""
    largest = float(np.max(np.abs(values), initial=0.0))
    shift = bits - frexp(largest)[1] if largest > 0 else 0
    return [int(v) for v in np.rint(np.ldexp(values, shift))], shift


def weighted_quantile(values, units, level):
    """Smallest value with at least ``level`` of the weight at or below it; the mean of two where it falls between."""
    pairs = sorted((float(v), u) for v, u in zip(values, units) if u > 0)
    target = level * float(sum(u for _, u in pairs))
    below = 0
    for i, (v, u) in enumerate(pairs):
        below += u
        if float(below) >= target:
            if float(below) == target and i + 1 < len(pairs):
                return 0.5 * v + 0.5 * pairs[i + 1][0]
            return v
    return pairs[-1][0] if pairs else 0.0
