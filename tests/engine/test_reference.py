"""The core against the oracle: every split, purchase, raw gain, leaf and prediction, to the last bit."""

import warnings

import numpy as np
import pytest
import reference
from hypothesis import event, given
from hypothesis import strategies as st
from same_trees import assert_same

from frugalboost import GBFSClassifier, GBFSRegressor, GBFSSurvival
from frugalboost.costs import PerRow, Prices
from frugalboost.losses import Huber, Quantile, Tweedie

LOSSES = {
    "log_loss": (GBFSClassifier, "log_loss", reference.LogLoss),
    "squared_error": (GBFSRegressor, "squared_error", reference.SquaredError),
    "absolute_error": (GBFSRegressor, "absolute_error", reference.AbsoluteError),
    "quantile": (GBFSRegressor, Quantile(0.3), lambda: reference.Quantile(0.3)),
    "huber": (GBFSRegressor, "huber", reference.Huber),
    "huber_delta": (GBFSRegressor, Huber(0.7), lambda: reference.Huber(0.7)),
    "poisson": (GBFSRegressor, "poisson", reference.Poisson),
    "cox": (GBFSSurvival, "cox", reference.Cox),
    "gamma": (GBFSRegressor, "gamma", reference.Gamma),
    "tweedie": (GBFSRegressor, Tweedie(1.2), lambda: reference.Tweedie(1.2)),
}

SEVERAL = [name for name in LOSSES if name not in ("log_loss", "cox")]  # may have several columns of y


@st.composite
def columns(draw, n):
    """A column: continuous, few values, duplicated, constant, or mostly missing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(
        st.sampled_from(["normal", "few", "normal", "few", "levels", "binary", "constant", "tiny steps", "huge"])
    )
    column = {
        "normal": lambda: rng.normal(size=n),
        "few": lambda: rng.integers(0, 4, n).astype(float),
        "levels": lambda: rng.integers(0, 9, n).astype(float),
        "binary": lambda: rng.integers(0, 2, n).astype(float),
        "constant": lambda: np.full(n, 3.0),
        "tiny steps": lambda: 1.0 + rng.integers(0, 5, n) * 2.0**-52,
        "huge": lambda: rng.normal(size=n) * 1e300,
    }[kind]()
    missing = draw(st.sampled_from([0.0, 0.2, 0.0, 0.2, 1.0]))
    column[rng.random(n) < missing] = np.nan
    return column


def row_prices(d):
    prices = st.lists(st.sampled_from([1.0, 0.5, 0.0, 3.0]), min_size=d, max_size=d)
    return st.one_of(st.none(), st.none(), prices)


@st.composite
def problems(draw):
    """A table with ties, duplicates and missing values, a target, weights, prices and settings."""
    n = draw(st.sampled_from([30, 12, 50, 20, 5, 2, 3]))
    X = np.column_stack([draw(columns(n)) for _ in range(draw(st.sampled_from([3, 5, 1, 2, 12, 17])))])
    if draw(st.booleans()):
        X = np.column_stack([X, X[:, 0], -X[:, 0]])
    if draw(st.booleans()):  # the same as another column in one half of the rows: ties with what is owned
        half = np.where(X[:, -1] > np.nanmedian(X[:, -1]) if not np.isnan(X[:, -1]).all() else False, X[:, -1], -9.0)
        X = np.column_stack([half, X])
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    name = draw(st.sampled_from([*LOSSES, "multinomial", "log_loss", "squared_error"]))
    score = np.nan_to_num(np.clip(X, -3, 3)).sum(axis=1) + rng.normal(size=n)
    if name in ("log_loss", "multinomial"):
        classes = 2 if name == "log_loss" else min(draw(st.integers(3, 5)), n)
        name = "log_loss" if classes == 2 else "multinomial"
        y = np.clip(np.round(score).astype(int) % classes, 0, classes - 1)
        y[:classes] = np.arange(classes)[:n]
    elif name == "poisson":
        y = rng.poisson(np.exp(np.clip(score, -2, 2))).astype(float)
        y[0] = 1.0
    elif name == "cox":
        y = np.round(np.exp(np.clip(score, -3, 3)), draw(st.sampled_from([0, 1, 6]))) + 0.1
        y[1:] *= np.where(rng.random(n - 1) < draw(st.sampled_from([0.0, 0.5, 0.9])), -1.0, 1.0)
    elif name in ("gamma", "tweedie"):
        y = np.maximum(np.exp(np.clip(score, -3, 3)) - (0.3 if name == "tweedie" else 0.0), 0.0)
        y[0] = 1.0
    else:
        y = score if draw(st.booleans()) else np.round(score)
    if name in SEVERAL and draw(st.sampled_from([False, False, True])):
        others = [y, y[rng.permutation(n)], np.full(n, y[0]), np.round(y + rng.random(n), 1) + 1.0]
        picked = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
        y = np.column_stack([y, *(others[k] * draw(st.sampled_from([1.0, 1e-3, 1e4])) for k in picked)])
    kind = draw(st.sampled_from(["none", "none", "integers", "reals", "wide"]))
    weights = {
        "none": None,
        "integers": rng.integers(0, 4, n).astype(float),
        "reals": rng.random(n) * 3,
        "wide": 10.0 ** rng.integers(-14, 1, n),
    }[kind]
    if weights is not None:
        weights[:5] = np.maximum(weights[:5], 1.0)
    prices = draw(
        st.lists(st.sampled_from([1.0, 0.5, 1.0, 0.0, 2.0, np.inf]), min_size=X.shape[1], max_size=X.shape[1])
    )
    options = reference.Options(
        mu=draw(st.sampled_from([1e-3, 0.01, 0.0, 0.03, 0.1, 0.5])),
        mu_unit=draw(st.sampled_from(["share", "share", "absolute"])),
        prices=prices if draw(st.booleans()) else None,
        budget=draw(st.sampled_from([np.inf, np.inf, 1.0, 2.5])),
        learning_rate=draw(st.sampled_from([0.1, 0.5, 1.0])),
        max_iter=draw(st.sampled_from([4, 3, 2, 1])),
        max_depth=draw(st.sampled_from([3, 4, 2, 1])),
        min_samples_leaf=draw(st.sampled_from([2, 1, 3, 5])),
        l2=draw(st.sampled_from([0.0, 1.0])),
        max_bins=draw(st.sampled_from([255, 255, 2, 3, 5, 10])),
        leaf_values=draw(st.sampled_from(["newton", "gradient"])),
        init=draw(st.sampled_from(["prior", "zero"])),
        stop=draw(st.sampled_from(["paid", "paid", "never"])),
        categorical=tuple(draw(st.sets(st.integers(0, X.shape[1] - 1)))) if draw(st.booleans()) else (),
        multi_strategy=draw(st.sampled_from(["one_output_per_tree", "multi_output_tree"])),
        base=draw(st.sampled_from(["trees", "both", "lines"])),
        line_scale=draw(st.sampled_from(["ranks", "values"])),
        subsample=draw(st.sampled_from([1.0, 1.0, 0.6, 0.2])),
        max_features=draw(st.sampled_from([None, None, 0.5, 1, 2, "sqrt", "log2"])),
        row_prices=draw(row_prices(X.shape[1])),
    )
    return X, y, weights, name, options


def costs_of(options, d):
    if options.row_prices is None:
        return options.prices
    return Prices([1.0] * d if options.prices is None else options.prices) + PerRow(options.row_prices)


def fit_both(X, y, weights, name, options):
    if name == "multinomial":
        cls, loss, make = GBFSClassifier, "log_loss", lambda: reference.Multinomial(int(y.max()) + 1)
    else:
        cls, loss, make = LOSSES[name]
    if y.ndim == 2:
        own = make
        make = lambda: reference.SeveralOutputs([own() for _ in range(y.shape[1])])  # noqa: E731
    core = cls(
        options.mu,
        mu_unit=options.mu_unit,
        costs=costs_of(options, X.shape[1]),
        budget=None if np.isinf(options.budget) else options.budget,
        learning_rate=options.learning_rate,
        max_iter=options.max_iter,
        max_depth=options.max_depth,
        max_leaf_nodes=options.max_leaf_nodes,
        min_samples_leaf=options.min_samples_leaf,
        l2_regularization=options.l2,
        max_bins=options.max_bins,
        loss=loss,
        leaf_values=options.leaf_values,
        init=options.init,
        stop=options.stop,
        categorical_features=list(options.categorical),
        base=options.base,
        line_scale=options.line_scale,
        monotonic_cst=options.monotonic or None,
        interaction_cst=options.interactions,
        subsample=options.subsample,
        max_features=options.max_features,
        **({} if cls is GBFSSurvival else {"multi_strategy": options.multi_strategy}),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        core.fit(X, y, sample_weight=weights)
    return core, reference.fit(X, y, options, make(), weights)


@given(problems())
def test_core_agrees_with_reference(problem):
    X, y, weights, name, options = problem
    core, expected = fit_both(X, y, weights, name, options)
    # shown by pytest --hypothesis-show-statistics: how much really happens in the drawn problems
    event(f"features bought: {core.n_features_selected_}")
    event(f"splits: {'none' if core.n_features_selected_ == 0 else 'some'}")
    event(f"lines with base={options.base}: {'some' if (core._model.ensemble.line >= 0).any() else 'none'}")
    assert_same(core, expected, X)


@pytest.mark.parametrize("name", [*LOSSES, "multinomial"])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_loss_on_one_table(name, weighted):
    """A fixed table on which every loss really splits, so that none is only tried where nothing happens."""
    rng = np.random.default_rng(7)
    X = np.round(rng.normal(size=(60, 4)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    score = np.nan_to_num(X[:, 0] + 2 * (X[:, 1] > 0)) + 0.1 * rng.normal(size=60)
    y = {
        "log_loss": (score > 1).astype(int),
        "multinomial": np.digitize(score, [0, 1, 2]),
        "poisson": rng.poisson(np.exp(np.clip(score, -2, 2))).astype(float),
        "gamma": np.exp(score),
        "tweedie": np.maximum(np.exp(score) - 0.8, 0.0),
    }.get(name, score)
    weights = rng.random(60) * 2 if weighted else None
    options = reference.Options(mu=0.005, max_iter=6, max_depth=3, min_samples_leaf=3, max_bins=20)
    core, expected = fit_both(X, y, weights, name, options)
    assert core.n_features_selected_ >= 2
    assert_same(core, expected, X)


def fit_regression(X, y, **settings):
    options = reference.Options(**{"mu": 0.0, "min_samples_leaf": 1, "max_iter": 1, "init": "zero", **settings})
    core, expected = fit_both(np.asarray(X, dtype=float), np.asarray(y, dtype=float), None, "squared_error", options)
    assert_same(core, expected, X)
    return core._model.ensemble


def test_tie_goes_to_the_owned_feature():
    """Below the root both columns split alike; column 1 is owned by then, column 0 comes first by number."""
    x = np.array([0, 0, 1, 1, 2, 2.0])
    trees = fit_regression(np.column_stack([np.where(x > 0, x, 1.0), x]), [-9, -9, 1, 1, 3, 3], max_depth=2)
    assert list(trees.feature[trees.feature >= 0]) == [1, 1]


def test_tie_goes_to_the_cheaper_then_the_lower_column():
    x = np.array([0, 0, 1, 1.0])
    X = np.column_stack([x, x, x])
    assert fit_regression(X, x, max_depth=1, prices=[2.0, 1.0, 1.0]).feature[0] == 1
    assert fit_regression(X, x, max_depth=1).feature[0] == 0


def test_tie_goes_to_the_lower_threshold_and_missing_right():
    assert fit_regression([[0], [1], [2]], [-1, 0, 1], max_depth=1).threshold[0] == 0.5
    x = [[0], [0], [1], [1], [np.nan], [np.nan]]
    assert fit_regression(x, [-1, -1, 1, 1, -1, 1], max_depth=1).missing_left[0] == 0


def test_reference_gain_is_the_textbook_formula():
    rng = np.random.default_rng(0)
    for _ in range(100):
        gl, gr = (int(v) for v in rng.integers(-100, 100, 2))
        wl, wr = (int(v) for v in rng.integers(1, 100, 2))
        textbook = 0.5 * (gl**2 / wl + gr**2 / wr - (gl + gr) ** 2 / (wl + wr))
        assert reference.split_gain(gl, wl, gr, wr, 0.5 / (wl + wr)) == pytest.approx(textbook, rel=1e-9, abs=1e-9)
