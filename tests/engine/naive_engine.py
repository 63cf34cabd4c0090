"""A second engine, plain and slow: Python's own integers, one row after another, no proofs.

It has the methods of ``cpp/engine/engine.hpp`` under the same names, so that the core grows trees on it as on the fast
one. Where both lead to the same bytes of model, the border between deciding and computing is one.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, ldexp, nan

import numpy as np
import reference
import reference_constraints
import reference_direction
import reference_draws
import reference_lines
import twins
from reference_constraints import Range

from frugalboost.losses import BuiltIn

UNSEEN, LEFT, RIGHT = 0, 1, 2
CURVATURE_BITS, COARSE_BITS = 23, 6  # of curvatures, and of scores after the point


def loss_of(loss, outputs):
    """The oracle's loss of the same name."""
    if not isinstance(loss, BuiltIn):
        return OwnLoss(loss, outputs)
    if loss.name == "log_loss":
        return reference.LogLoss() if outputs == 1 else reference.Multinomial(outputs)
    parameter = None if np.isnan(loss.parameter) else loss.parameter
    made = {
        "squared_error": reference.SquaredError,
        "absolute_error": reference.AbsoluteError,
        "quantile": lambda: reference.Quantile(parameter),
        "huber": lambda: reference.Huber(parameter),
        "poisson": reference.Poisson,
        "gamma": reference.Gamma,
        "tweedie": lambda: reference.Tweedie(parameter),
        "cox": reference.Cox,
    }
    if outputs > 1:
        return reference.SeveralOutputs([made[loss.name]() for _ in range(outputs)])
    return made[loss.name]()


class OwnLoss:
    """A user's loss in the oracle's terms."""

    step_limit, quantile = inf, None

    def __init__(self, loss, outputs):
        self.loss, self.outputs = loss, outputs

    def _raw(self, raw):
        return raw[0] if self.outputs == 1 else raw.T

    def start(self, y, units):
        return list(np.atleast_1d(self.loss.start(y, np.array(units, dtype=float))))

    def derivatives(self, y, raw):
        g, h = self.loss.gradient(y, self._raw(raw)), self.loss.curvature(y, self._raw(raw))
        shape = (len(y), self.outputs)
        return list(-np.reshape(g, shape).T), list(np.reshape(h, shape).T)

    def values(self, y, raw):
        return self.loss.value(y, self._raw(raw)) if hasattr(self.loss, "value") else np.full(len(y), nan)


class Rows:
    """Rows in bins, as lists."""

    def __init__(self, rows, outputs):
        columns = rows.X.shape[1]
        self.bins = [rows.X.bins(c).tolist() for c in range(columns)]
        self.y = np.asarray(rows.y, dtype=float)
        self.units, self.shift = reference.weight_units(rows.weights, len(self.y))
        self.before = None if rows.raw is None else np.array(rows.raw).reshape(outputs, -1)
        self.raw = np.zeros((outputs, len(self.y)))

    def mean(self, loss):
        loss.units = self.units  # a loss may depend on all rows and their weights
        values = loss.values(self.y, self.raw)
        if isinstance(loss, reference.SeveralOutputs):
            return loss.mean_of([reference.mean_on_grid(own, self.units) for own in values])
        return reference.mean_on_grid(values, self.units)

    def of(self, output):
        """What an output is to predict."""
        return reference.target_of(self.y, output)


class NaiveEngine:
    def __init__(self, train, validation, loss, outputs, params, threads, part=None, device="cpu"):
        assert part is None
        self.X, self.params = train.X, params
        self.loss = loss_of(loss, outputs)
        self.train = Rows(train, outputs)
        self.validation = None if validation is None else Rows(validation, outputs)
        self.trends = []
        self.drawn, self.seen = list(range(len(self.train.y))), self.train.units  # rows, and units of all rows
        self.pools = {"all": list(range(train.X.shape[1])), "offered": [], "owned": []}
        self.seen_by = {}  # column -> rows that have looked at it
        if train.looks is not None:
            for c, flags in zip(train.looks.columns.tolist(), train.looks.flags.reshape(-1, len(self.train.y))):
                self.seen_by[c] = set(np.flatnonzero(flags).tolist())

    # ------------------------------------------------------------------------------------------- what is known

    def table(self):
        columns = []
        for c in range(self.X.shape[1]):
            bins = len(self.X.cuts(c)) + 1
            missing = bins in self.train.bins[c]
            columns.append((bins, missing, self.X.is_categorical(c), False, 0, c))
        return {
            "rows": len(self.train.y),
            "weight": sum(self.train.units),
            "weight_shift": self.train.shift,
            "weighted": any(u != 1 for u in self.train.units),
            "targets": 1 if self.train.y.ndim == 1 else self.outputs(),
            "columns": columns,
            "thresholds": [self.X.cuts(c).tolist() for c in range(self.X.shape[1])],
            "scores": self.X.scores.tolist(),
        }

    def outputs(self):
        return self.loss.outputs

    def step_limit(self):
        return self.loss.step_limit

    def leaf_quantile(self):
        return -1.0 if self.loss.quantile is None else self.loss.quantile

    def scale(self, output):
        if not isinstance(self.loss, reference.SeveralOutputs):
            return 1.0, 1.0
        return float(self.loss.search_scales[output]), float(self.loss.loss_scales[output] / self.loss.outputs)

    def constrain(self, trends):
        self.trends = trends

    def confine(self, ranges):
        self.ranges = [reference_constraints.Range(*r) for r in ranges]

    # --------------------------------------------------------------------------------------------- predictions

    def best_constant(self):
        return [float(v) for v in self.loss.start(self.train.y, self.train.units)]

    def predict(self, constants):
        for rows in (self.train, self.validation):
            if rows is not None:
                rows.raw = np.repeat(np.array(constants)[:, None], len(rows.y), axis=1)

    def predict_as_before(self):
        for rows in (self.train, self.validation):
            if rows is not None:
                rows.raw = rows.before.copy()

    def losses(self):
        return self.train.mean(self.loss), nan if self.validation is None else self.validation.mean(self.loss)

    def validation_raw(self):
        return self.validation.raw.ravel()

    def derive(self):
        self.loss.units = self.train.units
        self.g, self.h = self.loss.derivatives(self.train.y, self.train.raw)
        self.q = self._on_grid(self.g)

    def _on_grid(self, gs):
        return [reference.integers(g, reference.GRADIENT_BITS) for g in reference.for_search(self.loss, gs)]

    def gradients(self, output):
        return self._facts(*self.q[output])

    def _facts(self, q, shift):
        return shift, sum(u * v for u, v in zip(self.train.units, q)), min(q), max(q)

    def impurity(self, output):
        return reference.half_variance(*self.q[output], self.train.units, self.train.shift)

    def moved(self, full, step):
        here, units = self.train.raw, self.train.units
        steps = np.array(step)[:, None]
        if np.array_equal(here + steps, here):
            return False, 0.0, []
        self.train.raw = here + np.array(full)[:, None]
        self.loss.units = self.train.units
        loss = self.train.mean(self.loss)
        outputs = []
        there = self._on_grid(self.loss.derivatives(self.train.y, self.train.raw)[0])
        for (q, shift), (old, old_shift) in zip(there, self.q):
            changes = [b * Fraction(2) ** -shift - a * Fraction(2) ** -old_shift for a, b in zip(old, q)]
            mean = sum(u * c for u, c in zip(units, changes)) / sum(units)
            squares = sum(u * (c - mean) ** 2 for u, c in zip(units, changes)) / Fraction(2) ** self.train.shift
            impurity = reference.half_variance(q, shift, units, self.train.shift)
            outputs.append((min(q) == max(q), impurity, float(squares)))
        self.train.raw = here
        return True, loss, outputs

    # --------------------------------------------------------------------------------------------------- trees

    def begin_trees(self, signs, key=0, share=1.0):
        scaled = reference.for_search(self.loss, self.g)
        self.tree_q = [reference_direction.combined(scaled, signs)] if signs else self.q
        rows = range(len(self.train.y))
        self.drawn = [i for i in rows if share == 1 or reference_draws.is_drawn(key, i, share)]
        kept = set(self.drawn)
        self.seen = [u if i in kept else 0 for i, u in enumerate(self.train.units)]
        self.level = [(k, self.drawn) for k in range(len(self.tree_q))]
        self.others = [[i for i in rows if i not in kept] for _ in self.level]  # rows of each node that are not drawn
        self.leaves = [[] for _ in self.tree_q]

    def tree_gradients(self, tree):
        return self._facts(*self.tree_q[tree])

    def root(self, tree):
        return self._sums((tree, self.drawn))

    def probe(self, number):
        keys = reference_direction.row_keys(self.train.bins)
        return reference_direction.probe(self.q, keys, self.train.units, number)

    def _leaves_of(self, output):
        """Rows of each leaf of an output's tree, or of the one for all."""
        return self.leaves[output if len(self.leaves) > 1 else 0]

    def gradient_move(self, output):
        return inf

    def _sums(self, node):
        output, rows = node
        q, units = self.tree_q[output][0], self.train.units
        weight = sum(units[i] for i in rows)
        return len(rows), weight, sum(units[i] * q[i] for i in rows), sum(units[i] * q[i] ** 2 for i in rows)

    def begin_level(self, open_nodes, squares):
        return [self._sums(node) for node in self.level]

    def split(self, rules, leaves):
        for n in leaves:
            output, rows = self.level[n]
            self.leaves[output].append(rows)
        children = []
        for node, column, goes_left in rules:
            output, rows = self.level[node]
            left = [b for b, is_left in enumerate(goes_left) if is_left]
            children += [(output, side) for side in twins.partition(rows, self.train.bins[column], left)]
        done = {*leaves, *(node for node, _, _ in rules)}
        self.level = children + [node for n, node in enumerate(self.level) if n not in done]
        return [self._sums(node) for node in children]

    # --------------------------------------------------------------------------------------------------- looks

    def keep_looks(self):
        pass

    def looked(self, columns):
        return [self._weight(self.seen_by.get(c, ())) for c in columns]

    def _weight(self, rows):
        return sum(self.train.units[i] for i in rows)

    def _rows_of(self, node):
        drawn = self.level[node][1]
        return drawn if len(self.drawn) == len(self.train.y) else drawn + self.others[node]

    def unseen(self, nodes, columns):
        found = []
        for rows in map(self._rows_of, nodes):
            found.append(self._weight(rows))
            found += [self._weight(i for i in rows if i not in self.seen_by.get(c, ())) for c in columns]
        return found

    def look(self, node, column):
        self.seen_by.setdefault(column, set()).update(self._rows_of(node))

    def route(self, rules, leaves):
        children = []
        for node, column, goes_left in rules:
            left = [b for b, is_left in enumerate(goes_left) if is_left]
            children += twins.partition(self.others[node], self.train.bins[column], left)
        done = {*leaves, *(node for node, _, _ in rules)}
        self.others = children + [rows for n, rows in enumerate(self.others) if n not in done]

    def columns(self, pool):
        return self.pools[pool]

    def own(self, columns):
        self.pools["owned"] = self.pools["owned"] + columns

    def offer(self, columns):
        self.pools["offered"] = columns

    # -------------------------------------------------------------------------------------------------- splits

    def _histogram(self, node, column):
        output, rows = self.level[node]
        cells = len(self.X.cuts(column)) + 2
        return twins.histogram(self.train.bins[column], rows, self.tree_q[output][0], self.train.units, cells)

    def cells(self, node, column):
        return [v for cell in zip(*self._histogram(node, column)) for v in cell]

    def best_split(self, node, column):
        gradient, weight = self._histogram(node, column)
        output = self.level[node][0]
        least = ldexp(self.params.min_samples_leaf, self.train.shift)
        factor = ldexp(0.5, -2 * self.tree_q[output][1] - self.train.shift) / float(sum(weight))
        if self.X.is_categorical(column):
            gradient, weight = in_order(gradient, weight, least)
        best = twins.scan(gradient, weight, least, factor, self._gain(node, column, len(weight) - 1))
        side = {"unseen": UNSEEN, "left": LEFT, "right": RIGHT}[best.missing]
        return best.gain, max(len(best.left) - 1, 0), side, inf

    def _gain(self, node, column, values):
        """The gain of a split by the constraints of a node; 0: it is not allowed."""
        trend = self.trends[column] if self.trends else 0
        limits = reference_constraints.SplitLimits(trend, self.ranges[node] if self.trends else Range())

        def gain(left, right, factor, values_left):
            free = twins.free_gain(left, right, factor)
            return limits.gain(*left, *right, factor, free, values_left < values) or 0.0

        return gain if limits.any else None

    def search(self, pool, nodes, deeper):
        return [[self.best_split(n, c) for c in self.pools[pool]] for n in nodes]

    def listed(self, tree, columns):
        return [(inf, inf) for _ in columns]

    # -------------------------------------------------------------------------------------------------- leaves

    def leaf_sums(self, output):
        g, g_shift = reference.integers(self.g[output], reference.LEAF_BITS)
        h, h_shift = reference.integers(self.h[output], reference.LEAF_BITS)
        found = [twins.leaf_sums(rows, g, h, self.train.units) for rows in self._leaves_of(output)]
        return [(ldexp(float(a), -g_shift), ldexp(float(b), -h_shift), float(w)) for a, b, w in found]

    def leaf_quantiles(self, output, level):
        residuals = self.train.of(output) - self.train.raw[output]
        units = self.train.units
        return [
            reference.weighted_quantile([residuals[i] for i in rows], [units[i] for i in rows], level) if rows else 0.0
            for rows in self._leaves_of(output)
        ]

    def add_tree(self, output, tree, values):
        for rows, value in zip(self._leaves_of(output), values):
            self.train.raw[output, rows] += value
        if self.validation is not None:
            for i in range(len(self.validation.y)):
                self.validation.raw[output, i] += tree["value"][self._leaf_of(tree, self.validation, i)]
        for i in set(range(len(self.train.y))) - set(self.drawn):
            self.train.raw[output, i] += tree["value"][self._leaf_of(tree, self.train, i)]

    def _leaf_of(self, tree, rows, row):
        node = 0
        while (column := tree["feature"][node]) >= 0:
            found = rows.bins[column][row]
            if found == len(self.X.cuts(column)) + 1:
                left = bool(tree["missing_left"][node])
            elif tree["level_set"][node] >= 0:
                left = bool(tree["sets"][32 * tree["level_set"][node] + found // 8] >> (found % 8) & 1)
            else:
                left = found <= tree["bin"][node]
            node = tree["left"][node] + (not left)
        return node

    # --------------------------------------------------------------------------------------------------- lines

    def _scores(self, column, rows=None):
        """The score of every row, in steps; that of a missing value is 0."""
        begin = sum(len(self.X.cuts(c)) + 1 for c in range(column))
        own = [*self.X.scores[begin : begin + len(self.X.cuts(column)) + 1].tolist(), 0]
        return [own[b] for b in (rows or self.train).bins[column]]

    def score_sums(self, columns):
        units, found = self.seen, [self._scores(c) for c in columns]
        return [(sum(u * z for u, z in zip(units, zs)), sum(u * z * z for u, z in zip(units, zs))) for zs in found]

    def score_gradients(self, output, columns):
        q, units = self.q[output][0], self.seen
        return [sum(u * v * z for u, v, z in zip(units, q, self._scores(c))) for c in columns]

    def line_sums(self, output, column):
        return reference_lines.line_sums(self._scores(column), self.g[output], self.h[output], self.seen)

    def line_quantile(self, output, column, intercept, level):
        residuals = self.train.of(output) - self.train.raw[output] - intercept
        return reference_lines.line_quantile(self._scores(column), residuals, self.seen, level)

    def curvatures(self, output, columns):
        """Scores are rounded to 6 bits after the point, curvatures to 23 bits."""
        h, shift = reference.integers(self.h[output], CURVATURE_BITS)
        less = reference_lines.SCORE_BITS - COARSE_BITS
        z = [[2**COARSE_BITS] * len(h)] + [[(v + 2 ** (less - 1)) >> less for v in self._scores(c)] for c in columns]
        h = [u * v for u, v in zip(self.seen, h)]
        sums = [sum(a * b * c for a, b, c in zip(h, z[i], z[j])) for i in range(len(z)) for j in range(i + 1)]
        return [ldexp(ldexp(float(v), -shift), -2 * COARSE_BITS) for v in sums]

    def add_line(self, output, column, value, slope):
        for rows in (self.train, self.validation):
            if rows is not None:
                rows.raw[output] += [value + slope * (z / 1024) for z in self._scores(column, rows)]


def in_order(gradient, weight, least):
    """Cells of groups of levels, lowest mean gradient first, instead of cells of levels; missing values stay last."""
    groups = twins.level_groups(gradient, weight, least)
    found = [twins.sums(gradient, weight, group) for group in groups] + [(gradient[-1], weight[-1])]
    return [g for g, _ in found], [w for _, w in found]
