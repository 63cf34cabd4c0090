"""Check the margin of screening="auto" (docs/algorithm.md) against Chernoff's bound, over all splits on a grid.

    python -m lab.speed.screening_bound           # a few minutes on one core
    python -m lab.speed.screening_bound --long    # also samples of up to 100,000 rows; half an hour

A node has N rows with gradients in [0, 1] and the mean 1 - e, e <= 1/2 (the other half is its mirror image). A split
puts a share p of them on side L, whose mean is higher by delta, and a = sqrt(m p (1 - p)) delta is what its
sqrt(2 gain) should look like in a sample of m rows. The sample shows v instead. If k of its rows are in L, then for
every theta > 0

    P(v <= tau) <= exp(theta tau) sum over k of P(k) M_k(theta),        M_k: more than E exp(-theta v), given k.

Given k, both sides are random samples by themselves. Of all gradients in [0, 1] with the same means, those that are 0
or 1 have the largest E exp(-theta v), because it is convex in every gradient: so all terms can be computed. Here with
replacement, which is the limit of m << N, and without, for some N. From them follows the largest tau for which
P <= exp(-z^2 / 2) is known, and the margin z sigma must have been a - max(tau, 0). The largest sigma^2 over all splits
is compared with what the library takes: more than 1 would be a hole in the promise. Any theta gives a valid bound, so
that to try only some of them errs on the safe side; what a grid of splits can't see lies between its points.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, gammaln, logit, logsumexp

Array = np.ndarray
COMMON = (0.5, 0.47, 0.45, 0.42, 0.4, 0.37, 0.35, 0.32, 0.3, 0.27, 0.25, 0.22)
RARE = (0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001)
LEVELS = (5.5, 6.25, 7.0, 7.7)  # z: one column has 5.6, a million have 7.6
THETAS = np.geomspace(3, 40, 40)
UNLIKELY = 130.0  # values of k that are less likely than the likeliest by exp(this) change no digit


def margin(e: float, share: float = 0.0) -> float:
    """Return sigma^2 as cpp/engine/cpu/sampling.cpp has it, where gradients have the range 1."""
    return 1.001 * max((1 - share) / 4 + (0.5 - e) ** 2, (1 - share / 2) * (1 - e) / (2 + e))


def choose(n: Array | float, k: Array | float) -> Array:
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def steps(k: Array, m: float, theta: Array) -> tuple[Array, Array]:
    """Return what one row more at 1 adds to -theta v, on either side."""
    left = np.where(k > 0, np.sqrt((m - k) / (m * np.maximum(k, 1))), 0.0)
    right = np.where(k < m, np.sqrt(k / (m * np.maximum(m - k, 1))), 0.0)
    return -theta[:, None] * left, theta[:, None] * right


def likely(k: Array, log_p: Array) -> tuple[Array, Array]:
    kept = log_p > log_p.max() - UNLIKELY
    kept[[0, -1]] = True
    return k[kept], log_p[kept]


def with_replacement(m: int, p: float, left: float, right: float, theta: Array) -> Array:
    """Return log sum P(k) M_k for every theta; `left`, `right`: means of the sides."""
    k = np.arange(m + 1.0)
    k, log_p = likely(k, choose(m, k) + k * np.log(p) + (m - k) * np.log1p(-p))
    on_left, on_right = steps(k, m, theta)
    log_m = k * np.log1p(left * np.expm1(on_left)) + (m - k) * np.log1p(right * np.expm1(on_right))
    return logsumexp(log_p + log_m, axis=1)


def drawn(rows: int, ones: int, k: Array, step: Array) -> Array:
    """Return log E exp(step j), where j of k rows drawn out of `rows` are among the `ones`."""
    j = np.arange(max(0, k.min() - (rows - ones)), min(ones, k.max()) + 1.0)
    possible = (j <= k[:, None]) & (k[:, None] - j <= rows - ones)
    there, of = np.where(possible, j, 0.0), np.where(possible, k[:, None], 0.0)
    log_p = np.where(possible, choose(ones, there) + choose(rows - ones, of - there) - choose(rows, of), -np.inf)
    return np.stack([logsumexp(log_p + s[:, None] * j, axis=1) for s in step])


def without_replacement(m: int, rows: int, left: int, ones: int, ones_left: int, theta: Array) -> Array:
    right = rows - left
    k = np.arange(max(0, m - right), min(m, left) + 1.0)
    k, log_p = likely(k, choose(left, k) + choose(right, m - k) - choose(rows, m))
    on_left, on_right = steps(k, m, theta)
    log_m = drawn(left, ones_left, k, on_left) + drawn(right, ones - ones_left, m - k, on_right)
    return logsumexp(log_p + log_m, axis=1)


def sigma(a: float, z: float, log_sum: Callable[[Array], Array], theta: Array) -> float:
    if a < 0.4 * z:  # sigma can't be more than a / z, which is too little to matter
        return a / z
    tau = ((-z * z / 2 - log_sum(theta)) / theta).max()
    return (a - max(tau, 0.0)) / z


def in_the_limit(e: float, m: int, z: float, p: float, part: float) -> float:
    """Return sigma of a split with this part of the largest delta that leaves both means in [0, 1]."""
    delta = part * min(e / (1 - p), (1 - e) / p)
    left, right = min(1 - e + (1 - p) * delta, 1 - 1e-15), max(1 - e - p * delta, 0.0)
    return sigma(np.sqrt(m * p * (1 - p)) * delta, z, lambda theta: with_replacement(m, p, left, right, theta), THETAS)


def worst_in_the_limit(e: float, m: int, z: float) -> float:
    few = np.geomspace(1.0, m / 2, 24) / m
    found = []
    for p in np.concatenate([few, 1 - few[:-1]]):
        most = np.sqrt(m * p * (1 - p)) * min(e / (1 - p), (1 - e) / p)
        if most < 0.45 * z:
            continue
        parts = np.union1d(np.linspace(0.45 * z / most, 1, 12), np.geomspace(0.45, min(2.0, most / z), 12) * z / most)
        found += [(in_the_limit(e, m, z, p, part), p, min(part, 1 - 1e-6)) for part in parts]
    found.sort(reverse=True)
    best = found[0][0] if found else 0.0

    def loss(x: Array) -> float:
        p = float(np.clip(expit(x[0]), 0.05 / m, 1 - 0.05 / m))
        return -in_the_limit(e, m, z, p, float(expit(x[1])))

    for _, p, part in found[:2]:  # and what lies between the points of the grid
        near = minimize(loss, logit([p, part]), method="Nelder-Mead", options={"maxiter": 60, "xatol": 1e-3})
        best = max(best, -near.fun)
    return best


def worst_of_so_many(e: float, m: int, z: float, rows: int) -> float:
    few, ones = np.geomspace(4, rows / 2, 14), round((1 - e) * rows)
    best = 0.0
    for left in np.unique(np.concatenate([few, rows - few]).round().astype(int)):
        least, most = max(left * ones / rows, ones - (rows - left)), min(left, ones)
        for ones_left in np.unique(np.linspace(least, most, 14).round().astype(int)):
            delta = ones_left / left - (ones - ones_left) / (rows - left)
            a = np.sqrt(m * left / rows * (1 - left / rows)) * delta
            if delta <= 0 or ones - ones_left > rows - left or a < 0.45 * z:
                continue
            split = (m, rows, int(left), ones, int(ones_left))
            found = sigma(a, z, lambda theta, split=split: without_replacement(*split, theta), THETAS[2::3])
            best = max(best, found)
    return best


def most_of(shares: dict[float, float]) -> tuple[str, float]:
    e = max(shares, key=lambda e: shares[e])
    return f"most at e = {e}", shares[e]


def checks(long: bool) -> Iterator[tuple[str, float]]:
    for m in (32, 64, 96, 128, 200, 300, 1000, 4000, *((20_000, 100_000) if long else ())):
        for z in LEVELS:
            where, share = most_of({e: worst_in_the_limit(e, m, z) ** 2 / margin(e) for e in COMMON + RARE})
            yield f"m = {m:,}, z = {z}: {where}", share
    for z in LEVELS:  # as many rows as just leave a chance that none of the few is among them
        for more in (1.0, 1.01, 1.02, 1.05, 1.1):
            sizes = {e: round(more * z * z / (-2 * np.log1p(-e))) for e in RARE}
            shares = {e: worst_in_the_limit(e, m, z) ** 2 / margin(e) for e, m in sizes.items() if long or m < 5000}
            where, share = most_of(shares)
            yield f"{more} of the rows that have none of the few, z = {z}: {where}", share
    for rows in (100, 400, 3000, *((12_000,) if long else ())):
        for part in (0.125, 0.25, 0.5, *((0.75,) if rows < 1000 else ())):
            m = round(rows * part)
            tried = (COMMON + RARE)[::2]
            where, share = most_of({e: worst_of_so_many(e, m, 6.25, rows) ** 2 / margin(e, part) for e in tried})
            yield f"m = {m:,} of {rows:,}, z = 6.25: {where}", share


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true")
    most = 0.0
    for name, share in checks(parser.parse_args().long):
        print(f"{name}: {share:.5f} of the margin's square is needed", flush=True)
        most = max(most, share)
    print(f"{most:.5f} at most")
    return int(most > 1)


if __name__ == "__main__":
    raise SystemExit(main())
