"""Gradient Boosted Feature Selection in plain numpy: slow, obvious, and the oracle of the core.

Nothing here is shared with the package. Every step is written the long way (masks over rows, one
candidate split at a time), so that a reader can hold it against the paper. Two things look unusual and
are part of the definition, because a model must be the same to the last bit on every machine:

* Gradients enter the sums as integers (``q``), and so do weights, so sums do not depend on order.
* ``exp`` and ``log`` are spelled out in basic operations (``reference_numbers``).

What lines are drawn on and how far they go is in ``reference_lines``; which of them are made is decided here. On what
one tree for all classes is searched is in ``reference_direction``, and what constraints allow in
``reference_constraints``.
"""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from math import frexp, inf, isinf, ldexp

import numpy as np
from reference_constraints import Range, SplitLimits, in_order, may_meet
from reference_direction import combined, direction, number_of, row_keys
from reference_draws import drawn_columns, drawn_rows, number_of_columns
from reference_lines import Scale, full_line, line_gain, line_slope
from reference_numbers import GRADIENT_BITS, LEAF_BITS, WEIGHT_BITS, exp, integers, log, weighted_quantile
from reference_prices import fixed_prices

FREE = SplitLimits()
LOSS_BITS, LOSS_STEP = 50, 4  # with weights, their 36 bits more

# ------------------------------------------------------------------------------ exact sums, weights


def relative_weights(weights):
    """Weights with a mean below 1 that are no numbers of equal rows are relative: they get a mean of 1."""
    units = weight_units(np.asarray(weights, dtype=float), len(weights))[0]
    counting = [float(w) for w, u in zip(weights, units) if u > 0]
    mean = float(sum(map(Fraction, counting))) / len(counting)
    if len(set(counting)) == 1:
        mean = counting[0]
    if mean >= 1 or all(w == int(w) for w in counting):
        return np.asarray(weights, dtype=float)
    return np.asarray(weights, dtype=float) / mean


def weight_units(weights, n):
    """Weights as integers and their exponent; without weights every row counts 1."""
    if weights is None:
        return [1] * n, 0
    fine, fine_shift = integers(np.asarray(weights, dtype=float), LEAF_BITS)
    shift = WEIGHT_BITS - frexp(ldexp(float(sum(fine)), -fine_shift))[1]
    return [int(v) for v in np.rint(np.ldexp(np.asarray(weights, dtype=float), shift))], shift


def exact_mean(values, units):
    fixed, shift = integers(np.asarray(values, dtype=float), LEAF_BITS)
    return ldexp(float(sum(u * v for u, v in zip(units, fixed))), -shift) / float(sum(units))


def mean_on_grid(values, units):
    """The mean of losses, added on a grid of integers that follows from the largest."""
    largest = float(np.max(np.abs(values), initial=0.0))
    if not largest < inf:
        return largest
    bits = LOSS_BITS + (WEIGHT_BITS if any(u != 1 for u in units) else 0)
    shift = 0 if largest == 0 else bits + -(-frexp(largest)[1] // LOSS_STEP) * -LOSS_STEP
    total = sum(u * int(np.rint(np.ldexp(v, shift))) for u, v in zip(units, values))
    return ldexp(float(total), -shift) / float(sum(units))


# ------------------------------------------------------------------------------------------- losses


class LogLoss:
    """Two classes, y in {0, 1}."""

    step_limit = 36.0
    quantile = None
    outputs = 1

    def start(self, y, units):
        ones = sum(u for u, v in zip(units, y) if v == 1)
        zeros = sum(units) - ones
        odds = float(log(float(max(ones, zeros)) / float(min(ones, zeros)))[0])
        return [odds if ones >= zeros else -odds]

    def derivatives(self, y, raw):
        e = exp(-np.abs(raw[0]))
        most = 1.0 / (1.0 + e)
        least = e * most
        one, zero = np.where(raw[0] > 0, most, least), np.where(raw[0] > 0, least, most)
        return [np.where(y == 1, zero, -one)], [most * least]  # swapped classes swap signs, to the bit

    def values(self, y, raw):
        f = raw[0]
        return (np.maximum(f, 0.0) - y * f) + log(1.0 + exp(-np.abs(f)))


class Multinomial:
    step_limit = 36.0
    quantile = None

    def __init__(self, classes):
        self.outputs = classes

    def start(self, y, units):
        total = float(sum(units))
        shares = [float(sum(u for u, v in zip(units, y) if v == k)) / total for k in range(self.outputs)]
        return [float(log(max(s, 2.0**-52))[0]) for s in shares]

    def _log_sum(self, raw):
        top = np.max(raw, axis=0)
        total = np.zeros(raw.shape[1], dtype=np.int64)  # as whole numbers: the order of classes does not matter
        for k in range(self.outputs):
            total = total + np.rint(exp(raw[k] - top) * 2.0**50).astype(np.int64)
        return top + log(total.astype(float) * 2.0**-50)

    def derivatives(self, y, raw):
        log_sum = self._log_sum(raw)
        p = [exp(raw[k] - log_sum) for k in range(self.outputs)]
        g = [np.where(y == k, 1.0, 0.0) - p[k] for k in range(self.outputs)]
        return g, [v * (1.0 - v) for v in p]

    def values(self, y, raw):
        own = raw[y.astype(int), np.arange(len(y))]
        return self._log_sum(raw) - own


class SquaredError:
    step_limit = inf
    quantile = None
    outputs = 1

    def start(self, y, units):
        return [exact_mean(y, units)]

    def derivatives(self, y, raw):
        return [y - raw[0]], [np.ones(len(y))]

    def values(self, y, raw):
        r = y - raw[0]
        return 0.5 * r * r


class Quantile:
    step_limit = inf
    outputs = 1

    def __init__(self, level=0.5):
        self.quantile = level

    def start(self, y, units):
        return [weighted_quantile(y, units, self.quantile)]

    def derivatives(self, y, raw):
        r = y - raw[0]
        return [np.where(r > 0, self.quantile, np.where(r < 0, self.quantile - 1.0, 0.0))], [np.ones(len(y))]

    def values(self, y, raw):
        r = y - raw[0]
        return np.where(r > 0, self.quantile * r, (self.quantile - 1.0) * r)


class AbsoluteError(Quantile):
    def derivatives(self, y, raw):
        return [np.sign(y - raw[0])], [np.ones(len(y))]

    def values(self, y, raw):
        return np.abs(y - raw[0])


class Huber:
    """Quadratic near zero, linear beyond delta; delta is a quantile of the first absolute residuals."""

    step_limit = inf
    quantile = None
    outputs = 1

    def __init__(self, delta=None):
        self.delta = delta

    def start(self, y, units):
        median = weighted_quantile(y, units, 0.5)
        self.used = self.delta
        if self.delta is None:
            self.used = weighted_quantile(np.abs(y - median), units, 0.9) or float(np.max(np.abs(y - median))) or 1.0
        return [median]

    def derivatives(self, y, raw):
        r = y - raw[0]
        a = np.abs(r)
        with np.errstate(divide="ignore", invalid="ignore"):
            curvature = np.where(a <= self.used, 1.0, self.used / a)
        return [np.where(a <= self.used, r, np.where(r > 0, self.used, -self.used))], [curvature]

    def values(self, y, raw):
        r = y - raw[0]
        a = np.abs(r)
        return np.where(a <= self.used, 0.5 * r * r, self.used * (a - 0.5 * self.used))


class Poisson:
    step_limit = 10.0
    quantile = None
    outputs = 1

    def start(self, y, units):
        return [float(log(exact_mean(y, units))[0])]

    def derivatives(self, y, raw):
        mean = exp(raw[0])
        return [y - mean], [mean]

    def values(self, y, raw):
        return exp(raw[0]) - y * raw[0]


class Gamma(Poisson):
    def derivatives(self, y, raw):
        ratio = y * exp(-raw[0])
        return [ratio - 1.0], [ratio]

    def values(self, y, raw):
        return y * exp(-raw[0]) + raw[0]


class Tweedie(Poisson):
    def __init__(self, power=1.5):
        self.two, self.one = 2.0 - power, 1.0 - power

    def derivatives(self, y, raw):
        mean, own = exp(self.two * raw[0]), y * exp(self.one * raw[0])
        return [own - mean], [self.two * mean - self.one * own]

    def values(self, y, raw):
        return exp(self.two * raw[0]) / self.two - y * exp(self.one * raw[0]) / self.one


class Cox:
    """Times until an event, negative where there was none; equal times as by Breslow."""

    step_limit = 10.0
    quantile = None
    outputs = 1

    def start(self, y, units):
        self.units = units
        return [0.0]

    def _at_risk(self, y, raw):
        """The share of each row in the largest risk, and for each time the weighted shares of those with that time or a
        later one."""
        shares = [max(1, int(v)) for v in np.rint(np.ldexp(exp(raw[0] - np.max(raw[0])), 60))]
        times = sorted(set(np.abs(y).tolist()))
        weights, later = {}, 0
        for t in reversed(times):
            later += sum(u * s for u, s, own in zip(self.units, shares, np.abs(y)) if own == t)
            weights[t] = ldexp(float(later), -60)
        return np.array([ldexp(float(s), -60) for s in shares]), times, weights

    def derivatives(self, y, raw):
        shares, times, weights = self._at_risk(y, raw)
        hazard, total = {}, 0.0
        for t in times:
            total += float(sum(u for u, own in zip(self.units, y) if own == t)) / weights[t]
            hazard[t] = total
        h = shares * np.array([hazard[abs(t)] for t in y.tolist()])
        return [np.where(y > 0, 1.0, 0.0) - h], [h]

    def values(self, y, raw):
        _, _, weights = self._at_risk(y, raw)
        logs = {t: float(log(w / float(sum(self.units)))[0]) + float(np.max(raw[0])) for t, w in weights.items()}
        return np.where(y > 0, np.array([logs[abs(t)] for t in y.tolist()]) - raw[0], 0.0)


class SeveralOutputs:
    """A loss of its own for each column of y. Where outputs are compared or added up they are on a common scale, which
    is found at the best constant: gradients are divided by their spread, losses by what a step of that size changes."""

    def __init__(self, own):
        self.own, self.outputs = own, len(own)
        self.step_limit, self.quantile = own[0].step_limit, own[0].quantile

    def start(self, y, units):
        start, self.search_scales, self.loss_scales = [], [], []
        for loss, column in zip(self.own, y.T):
            start += loss.start(column, units)
            raw = np.full((1, len(column)), start[-1])
            g, h = (found[0] for found in loss.derivatives(column, raw))
            q, shift = integers(g, GRADIENT_BITS)
            first, second = (sum(u * v**power for u, v in zip(units, q)) for power in (1, 2))
            total = float(sum(units))
            variance = ldexp(float(second * sum(units) - first * first), -2 * shift) / (total * total)
            unit = 0.0
            if loss.quantile is not None:
                unit = mean_on_grid(loss.values(column, raw), units)
            elif exact_mean(h, units) > 0:
                unit = variance / exact_mean(h, units)
            self.search_scales.append(1.0 / np.sqrt(variance) if variance > 0 else 0.0)
            self.loss_scales.append(1.0 / unit if variance > 0 and unit > 0 else 0.0)
        return start

    def derivatives(self, y, raw):
        found = [loss.derivatives(column, own[None]) for loss, column, own in zip(self.own, y.T, raw)]
        return [g[0] for g, _ in found], [h[0] for _, h in found]

    def values(self, y, raw):
        """Of each output; their mean is taken last."""
        return [loss.values(column, own[None]) for loss, column, own in zip(self.own, y.T, raw)]

    def mean_of(self, means):
        """The loss from those of all outputs, in any order."""
        total = 0.0
        for mean in sorted(scale * mean for scale, mean in zip(self.loss_scales, means)):
            total += mean
        return total / float(self.outputs)


def for_search(loss, gs):
    """The gradients of all outputs as splits and lines are searched on them."""
    scales = getattr(loss, "search_scales", None)
    return gs if scales is None else [scale * g for scale, g in zip(scales, gs)]


def target_of(y, k):
    """What output k is to predict."""
    return y[:, k] if y.ndim == 2 else y


# ------------------------------------------------------------------------------------------ binning


def level_of_row(number):
    """How many zeros the hash of a row's number begins with."""
    v = (number + 1) * 0x9E3779B97F4A7C15 % 2**64
    v = (v ^ (v >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    v = (v ^ (v >> 27)) * 0x94D049BB133111EB % 2**64
    v ^= v >> 31
    return min(64 - v.bit_length(), 16)


def rows_for_thresholds(column, sampled_from):
    """Rows from the level on that leaves few enough of them, or from a lower one that has enough values."""
    level = 0
    while sampled_from * 2**level < len(column):
        level += 1
    levels = [level_of_row(r) for r in range(len(column))]
    listed = [v != 0 and not np.isnan(v) for v in column]
    while level > 0 and sum(yes for yes, of_row in zip(listed, levels) if of_row >= level) < max(sampled_from // 4, 1):
        level -= 1
    return [of_row >= level for of_row in levels]


def cut_points(column, units, max_bins, sampled_from=200_000):
    """Thresholds between bins: one bin per value where they fit, else bins of about equal weight in a sample."""
    column, units = zip(*[(v, u) for v, u in zip(column, units) if u > 0])
    if len(column) > sampled_from and len({float(v) for v in column if not np.isnan(v)}) > max_bins:
        used = rows_for_thresholds(column, sampled_from)
        column, units = [v for v, yes in zip(column, used) if yes], [u for u, yes in zip(units, used) if yes]
    pairs = sorted((float(v), u) for v, u in zip(column, units) if not np.isnan(v))
    values, masses = [], []
    for v, u in pairs:
        if values and values[-1] == v:
            masses[-1] += u
        else:
            values.append(v)
            masses.append(u)
    last_of_bin = range(len(values) - 1)
    if len(values) > max_bins:
        last_of_bin = _equal_weight_bins(masses, max_bins)
    cuts = []
    for i in last_of_bin:
        a, b = values[i], values[i + 1]
        middle = 0.5 * a + 0.5 * b
        cuts.append(middle if a <= middle < b else a)
    return cuts


def bins_of_levels(column, units, max_bins):
    """A bin for each level; where there are too many, the lightest share the last bin."""
    mass = {}
    for v, u in zip(column.tolist(), units):
        if not np.isnan(v) and u > 0:
            mass[v] = mass.get(v, 0) + u
    own = sorted(mass)
    if len(mass) > max_bins:
        own = sorted(sorted(mass, key=lambda v: (-mass[v], v))[: max_bins - 1])
    return {v: float(own.index(v)) if v in own else float(max_bins - 1) for v in mass}


def _equal_weight_bins(masses, max_bins):
    """Indices of the last value of every bin but the last. A value heavier than a bin stands alone."""
    total = float(sum(masses))
    heavy = [float(m) * max_bins >= total for m in masses]
    light_left = sum(m for m, h in zip(masses, heavy) if not h)
    light_bins = max(max_bins - sum(heavy), 1)
    ends, inside = [], 0
    for i, mass in enumerate(masses[:-1]):
        if len(ends) == max_bins - 1:
            break
        inside += mass
        aim = float(light_left) / light_bins
        full = heavy[i] or float(inside) >= aim or (heavy[i + 1] and float(inside) >= 0.5 * aim)
        if full:
            ends.append(i)
            if heavy[i]:
                light_left -= inside - mass
            else:
                light_left -= inside
                light_bins = max(light_bins - 1, 1)
            inside = 0
    return ends


# ------------------------------------------------------------------------------------------- ledger


@dataclass
class Ledger:
    """What is owned, what was paid, what everything costs now.

    With prices per row a feature costs more than its price: what the rows of a node pay that have not looked at it.
    """

    rules: list
    budget: float = inf
    owned: dict = field(default_factory=dict)  # feature -> price paid, in order of purchase
    row_prices: list | None = None
    units: np.ndarray | None = None  # weights of all rows
    looked: dict = field(default_factory=dict)  # feature -> which rows have looked at it

    def price(self, f):
        if f in self.owned:
            return 0.0
        total = 0.0
        for rule in self.rules:
            total += rule(list(self.owned))[f]
        return total

    def unseen(self, f, rows):
        """The weight of these rows that have not looked at a feature that is paid by row."""
        if self.row_prices is None or self.row_prices[f] == 0:
            return 0
        return int(self.units @ (rows & ~self.looked.get(f, np.zeros(len(rows), bool))))

    def price_at(self, f, rows):
        price, unseen = self.price(f), self.unseen(f, rows)
        return price if unseen == 0 else price + self.row_prices[f] * (float(unseen) / float(self.units.sum()))

    def look(self, f, rows):
        self.looked[f] = self.looked.get(f, np.zeros(len(rows), bool)) | rows

    def paid_by_rows(self):
        total = 0.0
        for f in self.owned:
            if f in self.looked and self.row_prices is not None and self.row_prices[f] > 0:
                total += self.row_prices[f] * (float(self.units @ self.looked[f]) / float(self.units.sum()))
        return total

    def paid(self):
        total = 0.0
        for price in self.owned.values():
            total += price
        return total + self.paid_by_rows()

    def can_buy(self, f, rows):
        if f in self.owned and self.unseen(f, rows) == 0:
            return True
        price = self.price_at(f, rows)
        return not isinf(price) and self.paid() + price <= self.budget * (1.0 + 1e-9)


# --------------------------------------------------------------------------------------------- tree


@dataclass
class Options:
    mu: float = 1e-3
    mu_unit: str = "share"
    prices: list | None = None
    row_prices: list | None = None  # paid for each row that looks at a feature
    rules: list | None = None  # instead of prices
    budget: float = inf
    learning_rate: float = 0.1
    max_iter: int = 10
    max_depth: int = 4
    max_leaf_nodes: int | None = None  # None: level by level
    min_samples_leaf: int = 20
    l2: float = 0.0
    max_bins: int = 255
    leaf_values: str = "newton"
    init: str = "prior"
    stop: str = "paid"
    categorical: tuple = ()  # columns whose values are levels
    multi_strategy: str = "one_output_per_tree"
    seed: int = 0
    base: str = "trees"
    line_scale: str = "values"
    monotonic: tuple = ()  # -1, 0 or 1 for each column; empty: no constraints
    interactions: object = None  # sets of columns, "pairwise" or "no_interactions"
    subsample: float = 1.0
    max_features: float | int | str | None = None

    def trend(self, f):
        return self.monotonic[f] if self.monotonic else 0


@dataclass
class Node:
    rows: np.ndarray  # which drawn training rows are here (mask)
    passing: np.ndarray | None = None  # all training rows that come here
    output: int = 0  # whose tree this is
    root: bool = False
    feature: int = -1
    threshold: float = inf
    levels_left: frozenset | None = None  # bins of a categorical column that go left
    missing_left: bool = False
    gain: float = 0.0
    children: tuple | None = None
    value: float = 0.0
    line: int = -1  # at a root: the column of a line in place of the tree
    slope: float = 0.0
    weight: float = 0.0
    range: Range = field(default_factory=Range)  # of its mean gradient
    path: frozenset = frozenset()  # the columns that were split on above it

    @property
    def does_something(self):
        return self.children is not None or self.line >= 0


@dataclass
class Split:
    gain: float
    feature: int
    threshold: float
    missing_left: bool
    left: np.ndarray
    place: float = 0.0  # among the splits of its column
    levels_left: frozenset | None = None
    line: bool = False  # no split but a line


class Data:
    def __init__(self, X, y, weights, max_bins, categorical=(), line_scale=None):
        keep = np.ones(len(y), bool)
        if weights is not None:  # rows so light that they are none beside the others are left out
            weights = relative_weights(weights)
            keep = np.array(weight_units(weights, len(y))[0]) > 0
        self.X, self.y = np.asarray(X, dtype=float)[keep], np.asarray(y, dtype=float)[keep]
        weights = None if weights is None or (weights == 1).all() else weights[keep]
        self.units, self.unit_shift = weight_units(weights, len(self.y))
        self.weights = np.array(self.units, dtype=np.int64)
        self.level_bins = {f: bins_of_levels(self.X[:, f], self.units, max_bins) for f in categorical}
        for f, bins in self.level_bins.items():
            self.X[:, f] = [bins.get(v, np.nan) for v in self.X[:, f].tolist()]
        self.cuts = [cut_points(c, self.units, max_bins) for c in self.X.T]
        self.scales = []  # without lines
        if line_scale is not None:
            self.scales = [
                None if f in categorical else Scale(self.X[:, f], self.cuts[f], self.units, line_scale)
                for f in range(self.X.shape[1])
            ]

    def only(self, rows):
        """The same table in which other rows weigh nothing."""
        out = copy(self)
        out.units = [u if yes else 0 for u, yes in zip(self.units, rows)]
        out.weights = np.array(out.units, dtype=np.int64)
        out.scales = [None if scale is None else scale.weighted(out.units) for scale in self.scales]
        return out

    def bins(self):
        """The number of each row's bin in every column; missing values are in the bin after those of values."""
        found = []
        for column, cuts in zip(self.X.T, self.cuts):
            inside = np.searchsorted(cuts, column, side="left")
            found.append([int(b) for b in np.where(np.isnan(column), len(cuts) + 1, inside)])
        return found


def split_gain(gl, wl, gr, wr, factor):
    """1/2 (GL^2/WL + GR^2/WR - G^2/W), in a form that treats both sides alike. Whole numbers in: products are exact
    and rounded once, so that what cancels cancels to zero."""
    numerator = float(gl * wr) - float(gr * wl)
    return (numerator * numerator) / (float(wl) * float(wr)) * factor


def sums_of_sides(data, q, left, right):
    """Gradients and weights on both sides. 64 bits hold them: |q| <= 2**26, and all weights are 2**36 at most."""
    pull = data.weights * np.asarray(q)
    return int(pull @ left), int(data.weights @ left), int(pull @ right), int(data.weights @ right)


def best_split_of_column(data, q, factor, rows, f, min_weight, limits=FREE):
    """The best raw split of one node on one column: lowest threshold first, missing right before left."""
    column = data.X[:, f]
    missing = np.isnan(column)
    cuts = list(data.cuts[f]) + ([inf] if missing.any() else [])
    sides = (False, True) if missing.any() else (False,)
    best = None
    for cut in cuts:
        for missing_left in sides:
            left = rows & np.where(missing, missing_left, column <= cut)
            gl, wl, gr, wr = sums_of_sides(data, q, left, rows & ~left)
            if wl < min_weight or wr < min_weight:
                continue
            gain = split_gain(gl, wl, gr, wr, factor)
            if limits.any:
                gain = limits.gain(gl, wl, gr, wr, factor, gain, cut < inf) or 0.0
            if gain > 0 and (best is None or gain > best.gain):
                if not (rows & missing).any():  # nothing learned about missing: the heavier side
                    missing_side = wl >= wr
                else:
                    missing_side = missing_left
                best = Split(gain, f, cut, bool(missing_side), left, cut)
    return best


def best_split_of_levels(data, q, factor, rows, f, min_weight, limits=FREE):
    """Levels in the order of their mean gradients; those too light for a leaf are taken together."""
    column = data.X[:, f]
    missing = np.isnan(column)
    members, light = [], []
    for b in sorted(set(column[rows & ~missing].tolist())):
        weight = int(data.weights @ (rows & (column == b)))
        if weight >= min_weight:
            members.append([b])
        elif weight > 0:
            light.append(b)
    members += [light] if light else []

    def mean(bins):
        inside = np.flatnonzero(rows & np.isin(column, bins))
        return Fraction(sum(data.units[i] * int(q[i]) for i in inside), sum(data.units[i] for i in inside)), min(bins)

    members.sort(key=mean)
    best = None
    for k in range(len(members)):
        bins_left = [b for bins in members[: k + 1] for b in bins]
        for missing_left in (False, True) if (rows & missing).any() else (False,):
            left = rows & np.where(missing, missing_left, np.isin(column, bins_left))
            gl, wl, gr, wr = sums_of_sides(data, q, left, rows & ~left)
            if wl < min_weight or wr < min_weight:
                continue
            gain = split_gain(gl, wl, gr, wr, factor)
            if limits.any:
                gain = limits.gain(gl, wl, gr, wr, factor, gain, False) or 0.0
            if gain > 0 and (best is None or gain > best.gain):
                missing_side = missing_left if (rows & missing).any() else wl >= wr
                absent = set(data.level_bins[f].values()) - {b for bins in members for b in bins}
                all_left = frozenset(bins_left) | (absent if missing_side else set())
                best = Split(gain, f, inf, bool(missing_side), left, k, all_left)
    return best


def column_splits(data, q, shift, node, options):
    """The best raw split of every column, or None where none is allowed."""
    rows, columns = node.rows, data.X.shape[1]
    total, q = int(data.weights @ rows), np.array(q, dtype=np.int64)
    if total == 0:
        return []
    min_weight = ldexp(options.min_samples_leaf, data.unit_shift)
    factor = ldexp(0.5, -2 * shift - data.unit_shift) / float(total)
    return [
        (best_split_of_levels if f in data.level_bins else best_split_of_column)(
            data, q, factor, rows, f, min_weight, SplitLimits(options.trend(f), node.range)
        )
        if may_meet(options.interactions, node.path, f, columns)
        else None
        for f in range(columns)
    ]


def column_lines(data, q, shift, options):
    """The line on every column that gains something, with a slope that is allowed."""
    lines = []
    for f, scale in enumerate(data.scales):
        gain = line_gain(scale, q, shift, data.units, data.unit_shift)
        allowed = options.trend(f) * (line_slope(scale, q, data.units) if gain else 0) >= 0
        if gain is not None and gain > 0 and allowed:
            lines.append(Split(gain, f, inf, False, np.zeros(0, bool), line=True))
    return lines


def offers(data, q, shift, node, options):
    """What a node may be made: split on any column, and a root also a line."""
    found = [] if options.base == "lines" else column_splits(data, q, shift, node, options)
    return found + (column_lines(data, q, shift, options) if options.base != "trees" and node.root else [])


def preference(split, node, node_index, ledger, mu):
    """Sort key: the largest net gain, then owned, cheap, low column, a line, low threshold, low node."""
    price = ledger.price_at(split.feature, node.passing)
    net = split.gain - mu * price if price > 0 else split.gain  # mu may be infinite
    return (-net, split.feature not in ledger.owned, price, split.feature, not split.line, split.place, node_index)


def best_of_level(level, open_nodes, splits, ledger, mu, stop):
    choices = []
    for i in open_nodes:
        for s in splits[i]:
            if s is not None and ledger.can_buy(s.feature, level[i].passing):
                choices.append((preference(s, level[i], i, ledger, mu), i, s))
    if not choices:
        return None
    key, i, s = min(choices, key=lambda c: c[0])
    if stop == "paid" and not -key[0] > 0:
        return None
    return i, s


def equal_offers(level, made, split, open_nodes, splits, ledger, mu):
    """The same offer for the same column in other trees, one of each: they go together, whatever prices do next."""
    key, outputs, found = preference(split, level[made], 0, ledger, mu), {level[made].output}, {}
    for j in open_nodes:
        best = best_of_level(level, [j], splits, ledger, mu, "never")
        if level[j].output in outputs or best is None:
            continue
        if preference(best[1], level[j], 0, ledger, mu) == key:
            outputs.add(level[j].output)
            found[j] = best[1]
    return found


def accepted(level, i, split, open_nodes, splits, ledger, mu, purchases):
    """What is split now: the best offer, and equal ones of other trees, so that their order does not matter.

    All are paid. Offers that change no price are equal only to others that do not.
    """
    made = {i: split}
    f = split.feature
    equal = equal_offers(level, i, split, open_nodes, splits, ledger, mu)
    if f not in ledger.owned:
        purchases.append((f, split.gain))
        ledger.owned[f] = ledger.price(f)
    ledger.look(f, level[i].passing)
    for j, other in equal.items():
        if ledger.can_buy(f, level[j].passing):  # the budget may not allow what all of them pay
            ledger.look(f, level[j].passing)
            made[j] = other
    return made


def children_of(data, q, node, split, options):
    """Both children, with what constraints ask of them."""
    left, right = split.left, node.rows & ~split.left
    gl, wl, gr, wr = sums_of_sides(data, q, left, right)
    parts_values = split.levels_left is None and split.threshold < inf
    trend = options.trend(split.feature) if parts_values else 0
    ranges = node.range.children(trend, (gl, wl), (gr, wr))
    path = node.path | {split.feature}
    weights = ldexp(float(wl), -data.unit_shift), ldexp(float(wr), -data.unit_shift)
    go_left = np.array([goes_left(split, row) for row in data.X])
    passing = node.passing & go_left, node.passing & ~go_left
    return tuple(
        Node(rows, all_rows, output=node.output, weight=weight, range=own, path=path)
        for rows, all_rows, weight, own in zip((left, right), passing, weights, ranges)
    )


def make(data, gradients, node, split, options):
    """Split a node, or make it a line."""
    if split.line:
        node.line, node.gain = split.feature, split.gain
        return
    node.feature, node.threshold, node.missing_left = split.feature, split.threshold, split.missing_left
    node.gain, node.levels_left = split.gain, split.levels_left
    node.children = children_of(data, gradients[node.output][0], node, split, options)


def usable(data, gradients, node, columns, options):
    """The offers of a node for columns that the trees of this iteration may use."""
    found = offers(data, *gradients[node.output], node, options)
    return [split for split in found if split is not None and split.feature in columns]


def grow_best_first(data, gradients, ledger, mu, options, purchases, drawn, columns):
    """Trees of at most so many leaves: of all open leaves the one whose best offer is worth most now is split next.

    Returns what ``grow`` returns. Leaves are numbered as they come; equal offers go to the lower number.
    """
    leaves = [Node(drawn.copy(), np.ones_like(drawn), k, root=True) for k in range(len(gradients))]
    roots, counts, depth = list(leaves), [1] * len(leaves), dict.fromkeys(range(len(leaves)), 0)
    splits = [usable(data, gradients, node, columns, options) for node in leaves]
    root_splits, closed = list(splits), set()
    while True:
        open_leaves = [
            i
            for i, node in enumerate(leaves)
            if i not in closed and depth[i] < options.max_depth and counts[node.output] < options.max_leaf_nodes
        ]
        found = best_of_level(leaves, open_leaves, splits, ledger, mu, options.stop)
        if found is None:
            return roots, root_splits
        made = accepted(leaves, *found, open_leaves, splits, ledger, mu, purchases)
        for j in sorted(made):
            closed.add(j)
            make(data, gradients, leaves[j], made[j], options)
            counts[leaves[j].output] += 1
            for child in leaves[j].children or ():
                depth[len(leaves)] = depth[j] + 1
                leaves.append(child)
                splits.append(usable(data, gradients, child, columns, options))


def grow(data, gradients, ledger, mu, options, purchases, drawn, columns):
    """The trees of all outputs side by side, level by level, so that the order of outputs decides nothing.

    ``gradients``: for each tree the integers and their exponent. Purchases change the prices for the rest of these
    very trees. ``drawn``: the rows that they see, ``columns``: those that they may use. Returns the roots and, for
    each, the best raw split of every column.
    """
    roots = [Node(drawn.copy(), np.ones_like(drawn), k, root=True) for k in range(len(gradients))]
    level, root_splits = list(roots), None
    for _ in range(options.max_depth):
        splits = [usable(data, gradients, node, columns, options) for node in level]
        root_splits = splits if root_splits is None else root_splits
        open_nodes, chosen = list(range(len(level))), {}
        while open_nodes:
            found = best_of_level(level, open_nodes, splits, ledger, mu, options.stop)
            if found is None:
                break
            made = accepted(level, *found, open_nodes, splits, ledger, mu, purchases)
            chosen |= made
            open_nodes = [j for j in open_nodes if j not in made]
        for i in sorted(chosen):
            make(data, gradients, level[i], chosen[i], options)
        level = [child for node in level if node.children for child in node.children]
        if not level:
            break
    return roots, root_splits


def breadth_first(root):
    nodes = [root]
    for node in nodes:
        if node.children:
            nodes.extend(node.children)
    return nodes


def set_leaf_values(data, root, g, h, raw, loss, options, y=None):
    y = data.y if y is None else y
    gi, g_shift = integers(g, LEAF_BITS)
    hi, h_shift = integers(h, LEAF_BITS)
    for node in breadth_first(root):
        if node.children:
            continue
        rows = np.flatnonzero(node.rows)
        if loss.quantile is not None:
            units = [data.units[i] for i in rows]
            value = weighted_quantile((y - raw)[rows], units, loss.quantile)
        else:
            top = ldexp(float(sum(data.units[i] * gi[i] for i in rows)), -g_shift)
            if options.leaf_values == "newton":
                bottom = ldexp(float(sum(data.units[i] * hi[i] for i in rows)), -h_shift)
                bottom = bottom + ldexp(options.l2, data.unit_shift)
            else:
                bottom = float(sum(data.units[i] for i in rows))
            value = top / bottom if bottom > 0 else 0.0
            value = min(max(value, -loss.step_limit), loss.step_limit)
        node.value = value
    if options.monotonic:
        in_order(root, options.monotonic)
    for node in breadth_first(root):
        if not node.children:
            node.value = options.learning_rate * node.value


def add_tree(data, root, raw):
    """Add the value of its leaf to every row, also to those that the tree did not see."""
    for i, row in enumerate(data.X):
        raw[i] += leaf_of(root, row).value


def goes_left(split, row):
    """The side of a row, also of one that was not drawn, by a split or a node."""
    v = row[split.feature]
    left = v <= split.threshold if split.levels_left is None else v in split.levels_left
    return bool(split.missing_left if np.isnan(v) else left)


def leaf_of(root, row):
    node = root
    while node.children:
        node = node.children[0 if goes_left(node, row) else 1]
    return node


def set_line(data, root, g, h, raw, loss, options, y=None):
    y = data.y if y is None else y
    intercept, slope = full_line(data, data.scales[root.line], g, h, y - raw, loss, options)
    if options.trend(root.line) * slope < 0:  # the step goes another way than the gradients: only its constant
        set_leaf_values(data, root, g, h, raw, loss, options, y)
        return
    root.value, root.slope = options.learning_rate * intercept, options.learning_rate * slope


# ----------------------------------------------------------------------------------------- boosting


@dataclass
class Model:
    start: list
    trees: list  # one list of roots (one per output) for each iteration
    owned: dict
    purchases: list  # for each iteration: [(feature, raw gain), ...]
    raw: np.ndarray
    mu: float
    mu_max: float
    impurity: float
    train_loss: list
    converged: bool
    level_bins: dict = field(default_factory=dict)
    scales: list = field(default_factory=list)
    cost: list = field(default_factory=lambda: [0.0])  # paid before the first iteration and after each


def half_variance(q, shift, units, unit_shift):
    """1/2 sum w (g - mean)^2."""
    w = sum(units)
    s1 = sum(u * v for u, v in zip(units, q))
    s2 = sum(u * v * v for u, v in zip(units, q))
    return ldexp(float(s2 * w - s1 * s1), -2 * shift - unit_shift) / float(w) * 0.5


def settled(data, raw, loss, gradients_at, rate, first_loss):
    """In an iteration without a split: would nothing ever change? Constants lead to where a full step of all does."""
    gs, hs = loss.derivatives(data.y, raw)
    there, moved = raw.copy(), False
    for k in range(loss.outputs):
        constant = Node(np.ones(len(data.y), bool))
        y = target_of(data.y, k)
        set_leaf_values(data, constant, gs[k], hs[k], raw[k], loss, Options(learning_rate=1.0), y)
        moved = moved or not np.array_equal(raw[k] + rate * constant.value, raw[k])
        there[k] += (1.0 - 2.0**-20) * constant.value  # rows at its very end have other gradients: never reached
    if not moved:
        return True
    before, after = mean_loss(loss, data, raw), mean_loss(loss, data, there)
    same_loss = not before - after > max(1e-3 * abs(before), 1e-9 * abs(first_loss))
    return same_loss and alike(data, gradients_at(raw), gradients_at(there))


def alike(data, here, there):
    """Do gradients differ between rows in the same way here and there, to 1 % of their spread?"""
    for (old, old_shift), (new, new_shift) in zip(here, there):
        if len(set(old)) == len(set(new)) == 1:
            continue
        step, old_step = Fraction(2) ** -new_shift, Fraction(2) ** -old_shift
        changes = [b * step - a * old_step for a, b in zip(old, new)]
        total = sum(data.units)
        mean = sum(u * c for u, c in zip(data.units, changes)) / total
        move = sum(u * (c - mean) ** 2 for u, c in zip(data.units, changes)) / Fraction(2) ** data.unit_shift
        if move > Fraction(1e-4) * 2 * Fraction(half_variance(new, new_shift, data.units, data.unit_shift)):
            return False
    return True


def mean_loss(loss, data, raw):
    values, units = loss.values(data.y, raw), np.array(data.units, dtype=float)
    if isinstance(loss, SeveralOutputs):
        return loss.mean_of([float(np.dot(own, units) / sum(data.units)) for own in values])
    return float(np.dot(values, units) / sum(data.units))


def searched(gs, gradients, iteration, data, keys, options):
    """The gradients of each tree: those of its output, or the sum of all with signs for the one tree of all."""
    if keys is None:
        return gradients
    signs = direction(gradients, keys, data.units, number_of(options.seed, iteration), cancel=data.y.ndim == 1)
    return [combined(gs, signs)]


def copies(root, outputs):
    """The tree of all outputs as one for each, among which its gains are divided."""
    roots = [deepcopy(root) for _ in range(outputs)]
    for node in (node for root in roots for node in breadth_first(root)):
        node.gain /= outputs
    return roots


def fit(X, y, options, loss, weights=None):
    line_scale = None if options.base == "trees" else options.line_scale
    data = Data(X, y, weights, options.max_bins, options.categorical, line_scale)
    d = data.X.shape[1]
    rules = options.rules or [fixed_prices([1.0] * d if options.prices is None else options.prices)]
    ledger = Ledger(rules, options.budget, row_prices=options.row_prices, units=data.weights)
    first_prices = [ledger.price_at(f, np.ones(len(data.y), bool)) for f in range(d)]
    for_all = loss.outputs > 1 and options.multi_strategy == "multi_output_tree" and options.base == "trees"
    keys = row_keys(data.bins()) if for_all else None
    best = loss.start(data.y, data.units)
    start = [0.0] * loss.outputs if options.init == "zero" else best

    def gradients_at(raw):
        return [integers(g, GRADIENT_BITS) for g in for_search(loss, loss.derivatives(data.y, raw)[0])]

    def ratios_of(splits):
        return [
            s.gain / first_prices[s.feature]
            for s in splits
            if s is not None and 0 < first_prices[s.feature] < inf
            if first_prices[s.feature] <= options.budget * (1.0 + 1e-9)
        ]

    at_best = np.repeat(np.array(best)[:, None], len(data.y), axis=1)
    impurity = 0.0
    for part in sorted(half_variance(q, shift, data.units, data.unit_shift) for q, shift in gradients_at(at_best)):
        impurity += part
    raw = np.repeat(np.array(start)[:, None], len(data.y), axis=1)
    mu = options.mu * impurity if options.mu_unit == "share" else options.mu
    first_loss = mean_loss(loss, data, raw)
    model = Model(
        start, [], ledger.owned, [], raw, mu, 0.0, impurity, [first_loss], False, data.level_bins, data.scales
    )
    if options.init == "zero" and not alike(data, gradients_at(raw), gradients_at(at_best)):
        # Constants lead to the best one, and something may be bought on the way.
        gs = for_search(loss, loss.derivatives(data.y, at_best)[0])
        for q, shift in searched(gs, gradients_at(at_best), 0, data, keys, options):
            splits = offers(data, q, shift, Node(np.ones(len(data.y), bool), root=True), options)
            model.mu_max = max([model.mu_max, *ratios_of(splits)])
    opening, split = True, False  # nothing has been split so far
    allowed = number_of_columns(options.max_features, d)
    for iteration in range(options.max_iter):
        # All rows and columns until something is split, and after an iteration without a split: boosting may end then.
        everything = opening or not split or (options.subsample == 1 and allowed == d)
        drawn, seen, columns = np.ones(len(data.y), bool), data, set(range(d))
        if not everything:
            columns = drawn_columns(options.seed, iteration, options.max_features, d)
            drawn = drawn_rows(options.seed, iteration, options.subsample, len(data.y))
            seen = data.only(drawn)
        gs, hs = loss.derivatives(data.y, raw)
        # Until something is split, the direction of the one tree of all outputs stays the same.
        gradients = searched(for_search(loss, gs), gradients_at(raw), 0 if opening else iteration, data, keys, options)
        purchases = []
        grow_trees = grow if options.max_leaf_nodes is None else grow_best_first
        trees, root_splits = grow_trees(seen, gradients, ledger, mu, options, purchases, drawn, columns)
        if opening and root_splits:
            model.mu_max = max([model.mu_max, *(ratio for splits in root_splits for ratio in ratios_of(splits))])
        split = any(root.does_something for root in trees)
        opening = opening and not split
        converged = (
            everything
            and not split
            and settled(data, raw, loss, gradients_at, options.learning_rate, model.train_loss[0])
        )
        trees = copies(trees[0], loss.outputs) if for_all else trees
        for k, root in enumerate(trees):
            step, y = set_leaf_values if root.line < 0 else set_line, target_of(data.y, k)
            step(seen, root, gs[k], hs[k], raw[k], loss, options, y)
        for k, root in enumerate(trees):
            if root.line >= 0:
                raw[k] += [root.value + root.slope * ldexp(float(z), -10) for z in data.scales[root.line].rows]
                continue
            add_tree(data, root, raw[k])
        model.trees.append(trees)
        model.purchases.append(purchases)
        model.cost.append(ledger.paid())
        model.train_loss.append(mean_loss(loss, data, raw))
        model.converged = converged
        if converged:
            break
    if options.mu_unit == "share" and impurity > 0:
        model.mu_max /= impurity
    return model


def predict_raw(model, X):
    """Raw predictions, one row per output."""
    X = np.array(X, dtype=float)
    for f, bins in model.level_bins.items():  # a level that no training row had is missing
        X[:, f] = [bins.get(v, np.nan) for v in X[:, f].tolist()]
    raw = np.repeat(np.array(model.start)[:, None], len(X), axis=1)
    for trees in model.trees:
        for k, root in enumerate(trees):
            for i, row in enumerate(X):
                line = root.slope * model.scales[root.line].score(row[root.line]) if root.line >= 0 else 0.0
                raw[k, i] += leaf_of(root, row).value + line
    return raw
