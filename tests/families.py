"""Families of small tables, each around a kind of fault that once was there. A table is drawn from a seed.

``tests/engine/test_families.py`` tries some of each; ``python tests/attack.py`` many thousands.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import reference

LOSSES = (
    "log_loss",
    "squared_error",
    "absolute_error",
    "quantile",
    "huber",
    "huber_delta",
    "poisson",
    "multinomial",
    "gamma",
    "tweedie",
    "cox",
)
LOG_LINK = ("poisson", "gamma", "tweedie")


def settings(rng, d, **given):
    """Options drawn at random, but for those that are given."""
    prices = rng.choice([1.0, 0.5, 2.0, 0.0, np.inf], d, p=[0.4, 0.2, 0.2, 0.15, 0.05])
    options = reference.Options(
        mu=float(rng.choice([1e-3, 0.01, 0.0, 0.03, 0.1])),
        prices=prices.tolist() if rng.random() < 0.4 else None,
        budget=float(rng.choice([np.inf, np.inf, 1.0, 2.5])),
        learning_rate=float(rng.choice([0.1, 0.5, 1.0])),
        max_iter=int(rng.integers(1, 5)),
        max_depth=int(rng.integers(1, 4)),
        min_samples_leaf=float(rng.choice([1, 2, 3, 5])),
        l2=float(rng.choice([0.0, 0.0, 1.0])),
        max_bins=int(rng.choice([255, 255, 3, 10])),
        leaf_values=str(rng.choice(["newton", "gradient"])),
        init=str(rng.choice(["prior", "zero"])),
        stop=str(rng.choice(["paid", "paid", "paid", "never"])),
        base=str(rng.choice(["trees", "both", "lines"])),
        line_scale=str(rng.choice(["ranks", "values"])),
        multi_strategy=str(rng.choice(["one_output_per_tree", "multi_output_tree"])),
        subsample=float(rng.choice([1.0, 1.0, 0.7, 0.3])),
        max_features=[None, None, 0.4, "sqrt", 2][rng.integers(5)],
    )
    if rng.random() < 0.3:
        options.row_prices = rng.choice([1.0, 0.5, 0.0, 3.0], d, p=[0.4, 0.3, 0.2, 0.1]).tolist()
    return replace(options, **given)


def numbers(rng, n, d):
    """Columns of several kinds, some with missing values."""
    kinds = [
        lambda: rng.normal(size=n),
        lambda: rng.integers(0, 4, n).astype(float),
        lambda: np.round(rng.normal(size=n), 1),
        lambda: (rng.random(n) < 0.5).astype(float),
    ]
    X = np.column_stack([kinds[rng.integers(len(kinds))]() for _ in range(d)])
    if rng.random() < 0.4:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X


def target(rng, X, name, signal=None):
    """A target that depends on the columns, fit for a loss."""
    n = len(X)
    score = np.nan_to_num(X[:, 0] if signal is None else signal) + 0.5 * rng.normal(size=n)
    if name in ("log_loss", "multinomial"):
        classes = 2 if name == "log_loss" else int(rng.integers(3, 6))
        y = np.clip(np.digitize(score, np.quantile(score, np.arange(1, classes) / classes)), 0, classes - 1)
        y[:classes] = np.arange(classes)
        return y
    if name == "poisson":
        y = rng.poisson(np.exp(np.clip(score, -2, 2))).astype(float)
        y[0] = 1.0
        return y
    if name == "cox":
        y = np.round(np.exp(np.clip(score, -3, 3)), int(rng.choice([0, 1, 6]))) + 0.1
        y[1:] *= np.where(rng.random(n - 1) < 0.4, -1.0, 1.0)
        return y
    if name in ("gamma", "tweedie"):
        y = np.exp(np.clip(score, -3, 3)) * rng.gamma(2.0, 0.5, n) + 1e-3
        if name == "tweedie":
            y[1:][rng.random(n - 1) < 0.4] = 0.0
        return np.round(y, 2) + 0.01 * (name == "gamma") if rng.random() < 0.3 else y
    return score


def levels(rng):
    """Categories with rare levels, some lighter than a leaf; large gradients on a few rows."""
    n, d = int(rng.integers(12, 45)), int(rng.integers(1, 4))
    shares = rng.dirichlet(np.full(int(rng.integers(2, 9)), 0.4), size=d)
    X = np.column_stack([rng.choice(len(p), n, p=p).astype(float) for p in shares] + [numbers(rng, n, 2)])
    if rng.random() < 0.3:
        X[rng.random(n) < 0.2, 0] = np.nan
    name = str(rng.choice(LOSSES))
    y = target(rng, X, name, X[:, rng.integers(d)] + X[:, -1])
    if name in ("squared_error", "absolute_error", "huber", "quantile"):
        y = y + np.where(X[:, 0] == rng.integers(0, 6), rng.choice([0.0, -100.0, 30.0]), 0.0)
    weights = rng.integers(1, 4, n).astype(float) if rng.random() < 0.3 else None
    options = settings(rng, d + 2, categorical=tuple(range(d)), min_samples_leaf=float(rng.choice([1, 3, 5, 8])))
    return X, y, weights, name, options


def powers(rng):
    """Gradients at and just below powers of two, where rounding brings them to the very end of the grid."""
    n, d = int(rng.integers(8, 40)), 3
    X = rng.integers(0, 3, (n, d)).astype(float)
    near = 1.0 - float(rng.choice([0.0, 2.0**-53, 1e-9, 2.0**-27, 2.0**-26, 1e-6]))
    size = near * 2.0 ** int(rng.integers(-60, 60))
    signs = np.where(X[:, 0] + X[:, 1] * rng.integers(0, 2) > 1, 1.0, -1.0)
    y = size * np.where(rng.random(n) < 0.2, rng.choice([0.5, 0.25, -1.0, 0.0], n), signs)
    name = str(rng.choice(["squared_error", "squared_error", "absolute_error", "quantile", "huber"]))
    weights = 2.0 ** rng.integers(0, 4, n) if rng.random() < 0.3 else None
    return X, y, weights, name, settings(rng, d, init=str(rng.choice(["zero", "prior"])), mu=1e-3)


def weighted(rng):
    """Weights from 1e-8 to 1e8, equal ones, those of classes, and those that add up to 1; pure nodes."""
    n, d = int(rng.integers(8, 40)), int(rng.integers(2, 5))
    X = numbers(rng, n, d)
    name = str(rng.choice(LOSSES))
    y = target(rng, X, name)
    if name in ("log_loss", "squared_error") and rng.random() < 0.5:  # one column says it all
        y = (np.nan_to_num(X[:, 0]) > np.median(np.nan_to_num(X[:, 0]))).astype(int)
        y[:2] = [0, 1]
    weights = {
        "wide": lambda: 10.0 ** rng.uniform(-8, 8, n),
        "narrow": lambda: rng.random(n) + 0.5,
        "equal": lambda: np.full(n, rng.choice([0.3, 7.7, 1e-8, 1e8, 2.0**-985])),
        "classes": lambda: np.where(y > np.median(y), *rng.random(2) * 3 + 0.1),
        "shares": lambda: rng.dirichlet(np.ones(n)),
        "few": lambda: np.where(rng.random(n) < 0.5, 0.0, rng.random(n)),
    }[str(rng.choice(["wide", "narrow", "equal", "classes", "shares", "few"]))]()
    weights[:5] = np.maximum(weights[:5], 0.5 * (weights.max() or 1.0))  # all of few may be none
    leaf = float(rng.choice([1e-9, 1.0, 2.0]))
    return X, y, weights, name, settings(rng, d, min_samples_leaf=leaf, mu=float(rng.choice([0.0, 1e-3, 0.03])))


def light(rng):
    """Rows that weigh next to nothing, with losses so large that they count: those of the others must still be seen."""
    n, d = int(rng.integers(8, 40)), int(rng.integers(2, 5))
    X = numbers(rng, n, d)
    name = str(rng.choice(["squared_error", "absolute_error", "quantile", "huber", "huber_delta", *LOG_LINK]))
    y = target(rng, X, name)
    weights = 2.0 ** rng.uniform(-float(rng.choice([0.0, 4.0, 20.0])), 1.0, n)
    weights[:5] = np.maximum(weights[:5], 1.0)
    rows = rng.choice(np.arange(5, n), int(rng.integers(1, 3)), replace=False)
    weights[rows] = 2.0 ** -rng.uniform(12.0, 33.0, len(rows))  # below 2^-36 they would be left out
    loss = 10.0 ** rng.uniform(-2.0, 2.0) / weights[rows]  # with its weight, from a hundredth of a row to a hundred
    if name in LOG_LINK:
        y[rows] = np.maximum(np.minimum(np.round(loss), 1e6), 1.0 if name == "gamma" else 0.0)
    else:
        y[rows] += rng.choice([-1.0, 1.0], len(rows)) * (np.sqrt(loss) if name == "squared_error" else loss)
    leaf = (
        float(rng.choice([1e-9, 1.0, 2.0])) if name not in LOG_LINK else 2.0
    )  # alone, its step leaves the range of exp
    return X, y, weights, name, settings(rng, d, min_samples_leaf=leaf, mu=float(rng.choice([0.0, 1e-3, 0.03])))


def rare(rng):
    """Two-valued columns of which few rows, or none, have the second value, and what they say matters."""
    n, d = int(rng.integers(15, 60)), int(rng.integers(2, 18))
    X = np.zeros((n, d))
    for column in X.T:
        column[rng.choice(n, int(rng.integers(0, 5)), replace=False)] = rng.choice([1.0, -1.0, 7.0])
    if rng.random() < 0.3:
        X[rng.random(X.shape) < 0.03] = np.nan
    name = str(rng.choice(LOSSES))
    y = target(rng, X, name, 3.0 * np.nan_to_num(X[:, :2]).sum(axis=1))
    return X, y, None, name, settings(rng, d, min_samples_leaf=float(rng.choice([1, 2, 3])))


def losses(rng):
    """Every loss with every start and kind of leaf, on targets near zero and far from it."""
    n, d = int(rng.integers(8, 40)), int(rng.integers(1, 4))
    X = numbers(rng, n, d)
    name = str(rng.choice(LOSSES))
    y = target(rng, X, name)
    if name not in ("log_loss", "multinomial", "cox", *LOG_LINK):
        y = y * rng.choice([1.0, 1e-3, 1e4]) + rng.choice([0.0, 100.0, -1e6])
        y = np.round(y) if rng.random() < 0.3 else y
        if rng.random() < 0.05:
            y = np.full(n, y[0])
    weights = rng.random(n) + 0.1 if rng.random() < 0.3 else None
    return X, y, weights, name, settings(rng, d, max_iter=int(rng.integers(2, 9)))


def classes(rng):
    """Several classes, some of them twins: equally many rows with equal values."""
    n, d = int(rng.integers(4, 14)), int(rng.integers(1, 5))
    X = numbers(rng, n, d)
    y = np.digitize(np.nan_to_num(X[:, 0]) + 0.3 * rng.normal(size=n), [0.0])
    X, y = np.concatenate([X, X]), np.concatenate([y, y + rng.integers(1, 3)])
    if rng.random() < 0.5:
        y[rng.integers(len(y))] = y.max() + 1
    order = rng.permutation(len(y))
    X, y = X[order], np.unique(y, return_inverse=True)[1][order]
    if y.max() < 2:
        y[:3] = [0, 1, 2]
    weights = rng.integers(1, 4, len(y)).astype(float) if rng.random() < 0.3 else None
    return X, y, weights, "multinomial", settings(rng, d)


def lines(rng):
    """More columns than rows: many lines that nearly gain the same, copies, mirror images, far outliers."""
    n, d = int(rng.integers(6, 25)), int(rng.choice([3, 40, 300, 700], p=[0.5, 0.3, 0.15, 0.05]))
    X = numbers(rng, n, min(d, 40))
    while X.shape[1] < d:  # noisy copies
        X = np.column_stack([X, X + rng.normal(size=X.shape) * rng.choice([0.0, 0.1, 3.0])])[:, :d]
    X[:, rng.integers(d)] *= -1.0
    X[:, rng.integers(d)] *= rng.choice([1e200, 1e-200, 1e9, 1e300])
    X[rng.integers(n), rng.integers(d)] = rng.choice([1e6, -1e12])
    name = str(rng.choice(LOSSES))
    y = target(rng, X, name, np.clip(X[:, : min(d, 4)], -3, 3).sum(axis=1))
    weights = rng.random(n) * 3 + 0.1 if rng.random() < 0.3 else None
    base = "lines" if d > 40 else str(rng.choice(["lines", "both"]))
    return X, y, weights, name, settings(rng, d, base=base, max_iter=int(rng.integers(1, 9)))


def with_constraints(rng, options, d, with_trends=True):
    """Trends of some columns, and groups that may meet; ``with_trends``: columns may have trends."""
    chances = float(rng.choice([0.5, 0.9]))
    signs = rng.choice([-1, 0, 1], d, p=[chances / 2, 1.0 - chances, chances / 2])
    signs[list(options.categorical)] = 0
    groups = [set(rng.choice(d, int(rng.integers(1, d + 1)), replace=False).tolist()) for _ in range(rng.integers(4))]
    kind = rng.choice(["all", "pairwise", "no_interactions", "groups"], p=[0.4, 0.15, 0.15, 0.3])
    return replace(
        options,
        monotonic=tuple(signs.tolist()) if with_trends and signs.any() else (),
        interactions={"all": None, "groups": groups}.get(kind, str(kind)),
    )


def constrained(rng):
    """Tables of all other families, with constraints; deeper trees, in which bounds meet."""
    family = (levels, light, powers, weighted, rare, losses, classes, lines, ordered, ordered)[rng.integers(10)]
    X, y, weights, name, options = family(rng)
    options = with_constraints(rng, options, X.shape[1], with_trends=name != "multinomial")
    return X, y, weights, name, replace(options, max_depth=int(rng.integers(1, 6)))


def ordered(rng):
    """Few columns with strong effects, against some of which constraints go; deep trees of small leaves."""
    n, d = int(rng.integers(20, 70)), int(rng.integers(1, 5))
    X = numbers(rng, n, d)
    name = str(rng.choice(LOSSES))
    effects = rng.choice([-2.0, 0.0, 1.0, 3.0], d)
    y = target(rng, X, name, np.nan_to_num(X) @ effects + np.sin(3.0 * np.nan_to_num(X[:, 0])))
    weights = rng.random(n) * 3 + 0.1 if rng.random() < 0.3 else None
    base = str(rng.choice(["trees", "trees", "both", "lines"]))
    leaf = float(rng.choice([1, 2])) if name not in LOG_LINK else 3.0
    return X, y, weights, name, settings(rng, d, base=base, min_samples_leaf=leaf, mu=float(rng.choice([0.0, 1e-3])))


def best_first(rng):
    """Tables of all other families, whose trees grow best first, some with constraints."""
    family = (levels, light, powers, weighted, rare, losses, classes, lines, ordered, constrained)[rng.integers(10)]
    X, y, weights, name, options = family(rng)
    leaves, depth = int(rng.choice([2, 3, 4, 6, 100])), int(rng.choice([2, 4, 2**31 - 1]))
    return X, y, weights, name, replace(options, max_leaf_nodes=leaves, max_depth=depth)


FAMILIES = {
    f.__name__: f for f in (levels, light, powers, weighted, rare, losses, classes, lines, constrained, best_first)
}


def table(family, seed):
    """X, y, weights, the loss's name and the options."""
    X, y, weights, name, options = FAMILIES[family](np.random.default_rng([seed, sorted(FAMILIES).index(family)]))
    if name in LOG_LINK and options.init == "zero":
        options = replace(options, learning_rate=0.1)  # exp of large steps leaves the range of numbers
    return X, y, weights, name, options
