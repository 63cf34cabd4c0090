"""What a model predicts with some features hidden: a row goes both ways at their splits, by weight. Plain recursion."""

import itertools
import math

import numpy as np


def conditional(model, row, known):
    """Raw predictions, one per output; levels are positions in ``categories_``."""
    trees = model._model.ensemble
    raw = trees.start.astype(float).copy()
    for t in range(model.best_iteration_ * trees.n_outputs):
        raw[t % trees.n_outputs] += _below(model, int(trees.tree_begin[t]), 0, row, known)
    return raw


def _below(model, root, node, row, known):
    trees = model._model.ensemble
    at = root + node
    column = int(trees.feature[at])
    if column < 0:
        return trees.value[at] + _on_line(trees, at, row, known)
    left = int(trees.left[at])
    ways = [_below(model, root, left + side, row, known) for side in (0, 1)]
    if column in known:
        return ways[0 if goes_left(model, at, row[column]) else 1]
    weights = trees.weight[root + left : root + left + 2]
    return float(np.dot(ways, weights) / weights.sum())


def goes_left(model, node, value):
    trees, levels = model._model.ensemble, model._model.levels
    place = int(trees.level_set[node])
    if place < 0:
        return bool(trees.missing_left[node]) if np.isnan(value) else value <= trees.threshold[node]
    found = levels[int(trees.feature[node])]
    if not (value >= 0 and value == int(value) and value < len(found.values)):
        return bool(trees.missing_left[node])
    b = int(found.bins[int(value)])
    return bool(trees.missing_left[node]) if b < 0 else bool(trees.sets[32 * place + b // 8] >> (b % 8) & 1)


def _on_line(trees, node, row, known):
    """Scores have a mean of zero, so a line over a hidden feature adds its constant alone."""
    scale = int(trees.line[node])
    if scale < 0 or int(trees.scales.feature[scale]) not in known:
        return 0.0
    value = row[trees.scales.feature[scale]]
    if np.isnan(value):
        return 0.0
    return trees.slope[node] * trees.scales.scores_of(scale)[np.searchsorted(trees.scales.cuts_of(scale), value)]


def shapley(model, row):
    """Shapley values of all coalitions, by features and outputs, and what is predicted when nothing is known."""
    d = model.n_features_in_
    value = {
        known: conditional(model, row, known)
        for size in range(d + 1)
        for known in map(frozenset, itertools.combinations(range(d), size))
    }
    phi = np.zeros((d, len(value[frozenset()])))
    for known, without in value.items():
        for j in set(range(d)) - known:
            share = math.factorial(len(known)) * math.factorial(d - len(known) - 1) / math.factorial(d)
            phi[j] += share * (value[known | {j}] - without)
    return phi, value[frozenset()]
