"""Lines in the oracle: scores of bins, what a line gains, and its step.

A line adds ``value + slope * score`` to the raw prediction of a row. The score of a row is that of its bin, a whole
number of steps of 2**-10; that of a missing value is 0.
"""

from __future__ import annotations

from bisect import bisect_left
from copy import copy
from functools import cache
from itertools import accumulate, pairwise
from math import inf, isfinite, isnan, ldexp, sqrt

from reference_numbers import LEAF_BITS, integers, log, weighted_quantile

SCORE_BITS = 10
MOST_SCORE = 32767
MOST_DEVIATIONS = 2.5  # of values; those farther out count as this far
LEAST_DETERMINANT = 1e-12  # where rows with curvature have almost one score, no slope can be told

# Wichura's AS 241 (PPND16): numerator and denominator near the middle, in the arms and in the far arms, from the
# constant term on.
MIDDLE = (
    "3.3871328727963666080e0 1.3314166789178437745e2 1.9715909503065514427e3 1.3731693765509461125e4 "
    "4.5921953931549871457e4 6.7265770927008700853e4 3.3430575583588128105e4 2.5090809287301226727e3",
    "1.0 4.2313330701600911252e1 6.8718700749205790830e2 5.3941960214247511077e3 "
    "2.1213794301586595867e4 3.9307895800092710610e4 2.8729085735721942674e4 5.2264952788528545610e3",
)
ARMS = (
    "1.42343711074968357734e0 4.63033784615654529590e0 5.76949722146069140550e0 3.64784832476320460504e0 "
    "1.27045825245236838258e0 2.41780725177450611770e-1 2.27238449892691845833e-2 7.74545014278341407640e-4",
    "1.0 2.05319162663775882187e0 1.67638483018380384940e0 6.89767334985100004550e-1 "
    "1.48103976427480074590e-1 1.51986665636164571966e-2 5.47593808499534494600e-4 1.05075007164441684324e-9",
)
FAR_ARMS = (
    "6.65790464350110377720e0 5.46378491116411436990e0 1.78482653991729133580e0 2.96560571828504891230e-1 "
    "2.65321895265761230930e-2 1.24266094738807843860e-3 2.71155556874348757815e-5 2.01033439929228813265e-7",
    "1.0 5.99832206555887937690e-1 1.36929880922735805310e-1 1.48753612908506148525e-2 "
    "7.86869131145613259100e-4 1.84631831751005468180e-5 1.42151175831644588870e-7 2.04426310338993978564e-15",
)


def _ratio(polynomials, r):
    top, bottom = 0.0, 0.0
    for a, b in _numbers(polynomials):
        top = top * r + a
        bottom = bottom * r + b
    return top / bottom


@cache
def _numbers(polynomials):
    return [(float(a), float(b)) for a, b in zip(*(p.split() for p in polynomials))][::-1]


def normal_quantile(p):
    """The number below which a share p of the normal distribution lies."""
    q = p - 0.5
    if abs(q) <= 0.425:
        return q * _ratio(MIDDLE, 0.180625 - q * q)
    r = sqrt(-float(log(p if q < 0 else 1.0 - p)[0]))
    z = _ratio(ARMS, r - 1.6) if r <= 5.0 else _ratio(FAR_ARMS, r - 5.0)
    return -z if q < 0 else z


# ------------------------------------------------------------------------------------------- scores


def places_by_ranks(weights):
    """Normal quantiles of the middles of ranks. A bin without rows is between its neighbours, or like the last one."""
    total, filled = sum(weights), [b for b, w in enumerate(weights) if w > 0]
    below = [0, *accumulate(weights)]
    places = []
    for b in range(len(weights)):
        b = min(max(b, filled[0]), filled[-1])
        places.append(normal_quantile(float(2 * below[b] + weights[b]) / (2.0 * float(total))))
    return places


def places_by_values(cuts):
    """Middles of bins; the outermost bins are as wide as their neighbours."""
    if len(cuts) == 1:
        return [0.0, 1.0]
    middles = [0.5 * a + 0.5 * b for a, b in pairwise(cuts)]
    widths = [b - a for a, b in pairwise(cuts)]
    return [middles[0] - widths[0], *middles, middles[-1] + widths[-1]]


def centred(places, weights):
    """Places less their mean over the rows, and their standard deviation."""
    total, mean, variance = float(sum(weights)), 0.0, 0.0
    for w, v in zip(weights, places):
        mean += float(w) / total * v
    away = [v - mean for v in places]
    for w, v in zip(weights, away):
        variance += float(w) / total * (v * v)
    return away, sqrt(variance)


def cut_far_out(places, weights):
    """Places beyond 2.5 standard deviations from the mean count as 2.5."""
    away, deviation = centred(places, weights)
    return [min(max(v, -MOST_DEVIATIONS * deviation), MOST_DEVIATIONS * deviation) for v in away]


def standardised(places, weights):
    """Places with mean 0 and variance 1 over the rows, in whole steps; zeros where there is no variance."""
    away, deviation = centred(places, weights)
    step = 2.0**SCORE_BITS / deviation if deviation != 0 else inf
    if not isfinite(step):
        return [0] * len(places)
    return [round(min(max(v * step, -float(MOST_SCORE)), float(MOST_SCORE))) for v in away]


def bin_scores(cuts, weights, scale):
    """The scores of a column's bins, from the weight of each."""
    if sum(w > 0 for w in weights) < 2:
        return [0] * len(weights)
    places = places_by_ranks(weights) if scale == "ranks" else cut_far_out(places_by_values(cuts), weights)
    return standardised(places, weights)


def bin_of(value, cuts):
    """The first bin whose cut is not below the value; None where it is missing."""
    return None if isnan(value) else bisect_left(cuts, value)


class Scale:
    """What the lines of one column are drawn on."""

    def __init__(self, column, cuts, units, kind):
        self.cuts = cuts
        column = [float(v) for v in column]
        weights = [0] * (len(cuts) + 1)
        for v, u in zip(column, units):
            if not isnan(v):
                weights[bin_of(v, cuts)] += u
        self.steps = bin_scores(cuts, weights, kind)
        self.rows = [self.of(v) for v in column]
        self._add_up(units)

    def weighted(self, units):
        """The same scores, of rows with other weights."""
        out = copy(self)
        out._add_up(units)
        return out

    def _add_up(self, units):
        self.sum = sum(u * z for u, z in zip(units, self.rows))
        self.squares = sum(u * z * z for u, z in zip(units, self.rows))
        self.spread = sum(units) * self.squares - self.sum * self.sum

    def of(self, value):
        """In whole steps."""
        b = bin_of(value, self.cuts)
        return 0 if b is None else self.steps[b]

    def score(self, value):
        return ldexp(float(self.of(value)), -SCORE_BITS)


def line_gain(scale, q, shift, units, unit_shift):
    """1/2 (sum w g (z - mean))^2 / sum w (z - mean)^2, from whole numbers; None: there is no line."""
    if scale is None or not scale.spread:
        return None
    weight = sum(units)
    product = sum(u * v * z for u, v, z in zip(units, q, scale.rows))
    along = float(weight * product - sum(u * v for u, v in zip(units, q)) * scale.sum)
    factor = ldexp(0.5, -2 * shift - unit_shift) / float(weight)
    return along * (along / float(scale.spread)) * factor


def line_slope(scale, q, units):
    """A whole number with the sign of the slope of the least squares line through the gradients."""
    product = sum(u * v * z for u, v, z in zip(units, q, scale.rows))
    return sum(units) * product - sum(u * v for u, v in zip(units, q)) * scale.sum


# --------------------------------------------------------------------------------------------- step


def line_sums(scores, g, h, units):
    """Sums of w g, w g z, w h, w h z and w h z^2 over all rows; scores in steps."""
    gi, g_shift = integers(g, LEAF_BITS)
    hi, h_shift = integers(h, LEAF_BITS)

    def add(values, shift, power):
        total = sum(u * v * z**power for u, v, z in zip(units, values, scores))
        return ldexp(ldexp(float(total), -shift), -power * SCORE_BITS)

    return [add(gi, g_shift, 0), add(gi, g_shift, 1), *(add(hi, h_shift, power) for power in (0, 1, 2))]


def line_quantile(scores, residuals, units, level):
    """The slope that is best for these residuals: a quantile of residual / score; rows count by their |score|."""
    ratios, weights, above, below = [], [], 0, 0
    for r, u, z in zip(residuals, units, scores):
        if z:
            ratios.append(r / ldexp(float(z), -SCORE_BITS))
            weights.append(u * abs(z))
            above, below = above + u * z * (z > 0), below - u * z * (z < 0)
    if not ratios:
        return 0.0
    share = (float(above) * level + float(below) * (1.0 - level)) / float(above + below)
    return weighted_quantile(ratios, weights, share)


def full_line(data, scale, g, h, residuals, loss, options):
    """Intercept and slope before the learning rate."""
    if loss.quantile is not None:
        intercept = weighted_quantile(residuals, data.units, loss.quantile)
        return intercept, line_quantile(scale.rows, residuals - intercept, data.units, loss.quantile)
    sg, sgz, sh, shz, shzz = line_sums(scale.rows, g, h, data.units)
    added = ldexp(options.l2, data.unit_shift)
    if options.leaf_values == "gradient":
        sh, shz = float(sum(data.units)), ldexp(float(scale.sum), -SCORE_BITS)
        shzz, added = ldexp(float(scale.squares), -2 * SCORE_BITS), 0.0
    a, b = sh + added, shzz + added
    determinant = a * b - shz * shz
    if not determinant > LEAST_DETERMINANT * a * b:
        return 0.0, 0.0
    steps = (b * sg - shz * sgz) / determinant, (a * sgz - shz * sg) / determinant
    return tuple(min(max(step, -loss.step_limit), loss.step_limit) for step in steps)
