"""Lines: scores of bins against the oracle, which line wins, and what must not change them."""

import warnings

import numpy as np
import pytest
import reference
import reference_lines
from hypothesis import given, settings
from hypothesis import strategies as st
from same_trees import arrays_of, assert_same
from scipy import sparse, special
from test_families import assert_equal_models
from test_reference import LOSSES, fit_both

from frugalboost import GBFSClassifier, GBFSRegressor, _core

SEEDS = st.integers(0, 2**32 - 1)


def test_the_quantile_of_the_oracle_is_the_normal_one():
    p = np.concatenate([np.linspace(1e-6, 1 - 1e-6, 1001), 2.0 ** -np.arange(2, 60), 1 - 2.0 ** -np.arange(2, 50)])
    found = [reference_lines.normal_quantile(v) for v in p.tolist()]
    np.testing.assert_allclose(found, special.ndtri(p), rtol=2e-14, atol=1e-15)


# ------------------------------------------------------------------------------------------- scores


def scores_of(columns, cuts, categorical, weights, scale):
    """Scores by the core, column by column."""
    offsets = np.cumsum([0, *map(len, cuts)])
    X = np.column_stack(columns)
    binned = _core.BinnedMatrix(
        len(X), np.concatenate([np.zeros(0), *cuts]), offsets, np.array(categorical, dtype=np.uint8), None
    )
    binned.fill(_core.Table(X), np.arange(len(X)), 1)
    binned.list_sparse(1)
    binned.score_bins(weights, getattr(_core.LineScale, scale), 2)
    return np.split(binned.scores, (offsets + np.arange(len(offsets)))[1:-1])


@given(SEEDS, st.sampled_from(["ranks", "values"]))
def test_scores_agree_with_the_oracle(seed, scale):
    """Bins without rows at both ends and inside, missing values, weights, far outliers, nearly constant columns."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 300)), int(rng.integers(1, 12))
    columns, cuts = [], []
    for _ in range(d):
        size = 10.0 ** rng.choice([0, 0, 9, -9, 154, -154, 300, -300])
        own = np.unique(np.cumsum(rng.random(int(rng.integers(0, 12))) ** 4 + 1e-3) + rng.normal())
        column = rng.choice([*own, own[-1] + 1, own[0] - 1] if len(own) else [0.0], n)
        if rng.random() < 0.5:
            column = np.where(rng.random(n) < 0.97, column[0], column)
        if rng.random() < 0.5:
            column[rng.random(n) < rng.choice([0.1, 0.9, 1.0])] = np.nan
        columns.append(column * size)
        cuts.append(own * size)
    categorical = rng.random(d) < 0.2
    weights = 10.0 ** rng.uniform(-6, 6, n) if rng.random() < 0.4 else None
    units = reference.weight_units(weights, n)[0]
    found = scores_of(columns, cuts, categorical, weights, scale)
    for c in range(d):
        expected = reference_lines.Scale(columns[c], cuts[c].tolist(), units, scale).steps
        assert found[c].tolist() == ([0] * len(expected) if categorical[c] else expected)


@given(SEEDS, st.sampled_from(["ranks", "values"]))
def test_scores_are_standardised(seed, scale):
    """Mean 0 and variance 1 over the rows that are not missing, and in the order of values."""
    rng = np.random.default_rng(seed)
    column = np.concatenate([np.round(rng.normal(size=200), 1), np.full(20, np.nan)])
    cuts = np.array(reference.cut_points(column, [1] * 220, 255))
    scores = scores_of([column], [cuts], [0], None, scale)[0] / 1024
    steps = np.diff(scores)
    if scale == "values":  # those far out count as less far
        assert (steps >= 0).all()
        assert np.abs(scores).max() < 2.7  # a little more than 2.5, since what is cut lowers the variance
        steps = steps[np.abs(scores[1:] + scores[:-1]) < 4.8]
    assert (steps > 0).all()
    own = scores[np.searchsorted(cuts, column[:200])]
    assert own.mean() == pytest.approx(0, abs=1e-3)
    assert own.std() == pytest.approx(1, abs=2e-3)


def test_scores_of_two_values_do_not_depend_on_the_scale():
    column = np.array([0.0, 0, 0, 5])
    found = [scores_of([column], [np.array([2.5])], [0], None, scale)[0].tolist() for scale in ("ranks", "values")]
    assert found[0] == found[1] == [-591, 1774]  # -1 / sqrt(3) and sqrt(3)


# -------------------------------------------------------------------------------------------- ties


def fit_lines(X, y, **settings):
    options = reference.Options(**{"mu": 0.0, "min_samples_leaf": 1, "max_iter": 1, "base": "both", **settings})
    core, expected = fit_both(np.asarray(X, dtype=float), np.asarray(y, dtype=float), None, "squared_error", options)
    assert_same(core, expected, X)
    return core._model.ensemble


def test_a_line_comes_before_a_split_of_the_same_gain():
    """Between two values a line and a split are the same; the oracle and the core prefer the line."""
    x = np.array([0, 0, 1, 1.0])
    trees = fit_lines(x[:, None], [0, 0, 1, 1])
    assert trees.line[0] == 0
    assert len(trees.feature) == 1


def test_ties_of_lines_go_to_the_cheaper_then_the_lower_column():
    x = np.array([0, 1, 2, 3.0])
    X = np.column_stack([x, x, -x])
    assert fit_lines(X, x, base="lines").scales.feature.tolist() == [0]
    assert fit_lines(X, x, base="lines", prices=[2.0, 1.0, 1.0]).scales.feature.tolist() == [1]
    assert fit_lines(X, x, base="lines", prices=[2.0, 1.0, 0.5]).scales.feature.tolist() == [2]


def test_a_tie_of_lines_goes_to_the_owned_column():
    """Column 2 is bought first; later column 1, free but lower, has the same line as the owned one."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    X = np.column_stack([rng.normal(size=40), x, x])
    core, expected = fit_both(
        X, x, None, "squared_error", reference.Options(mu=0.01, prices=[1.0, 0.5, 0.2], base="lines", max_iter=9)
    )
    assert_same(core, expected, X)
    assert core.selected_features_.tolist() == [2]


def test_a_split_wins_where_no_line_fits():
    x = np.arange(-20.0, 21)
    trees = fit_lines(x[:, None], np.abs(x) > 10, max_iter=1)
    assert trees.feature[0] == 0
    assert (trees.line < 0).all()


def test_base_lines_without_a_column_for_lines():
    """Only categories and constants: nothing is bought."""
    X = np.column_stack([np.arange(40) % 3, np.full(40, 2.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GBFSRegressor(base="lines", categorical_features=[0], max_iter=5).fit(X, np.arange(40) % 3)
    assert model.n_features_selected_ == 0
    assert model.stop_reason_ == "converged"


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [*LOSSES, "multinomial"])
@pytest.mark.parametrize("base", ["lines", "both"])
def test_every_loss_draws_lines(name, weighted, base):
    rng = np.random.default_rng(7)
    X = np.round(rng.normal(size=(60, 4)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    score = np.nan_to_num(X[:, 0] - X[:, 1]) + 0.1 * rng.normal(size=60)
    y = {
        "log_loss": (score > 0).astype(int),
        "multinomial": np.digitize(score, [-1, 0, 1]),
        "poisson": rng.poisson(np.exp(np.clip(score, -2, 2))).astype(float),
        "gamma": np.exp(score),
        "tweedie": np.maximum(np.exp(score) - 0.8, 0.0),
        "cox": np.where(rng.random(60) < 0.7, 1.0, -1.0) * np.exp(score),
    }.get(name, score)
    weights = rng.random(60) * 2 if weighted else None
    for scale in ("ranks", "values"):
        options = reference.Options(
            mu=1e-4, max_iter=8, max_depth=2, base=base, line_scale=scale, max_bins=20, learning_rate=0.5
        )
        core, expected = fit_both(X, y, weights, name, options)
        assert_same(core, expected, X)
        assert core.n_features_selected_ >= 2
        assert (core._model.ensemble.slope != 0).any()


@pytest.mark.slow
@given(SEEDS)
@settings(max_examples=8)
def test_bounds_on_lines_of_many_columns(seed):
    """More columns than are looked at together, over many iterations: gains of earlier ones rule out most."""
    rng = np.random.default_rng(seed)
    n, d = 12, 600
    X = np.round(rng.normal(size=(n, d)), 1)
    name = str(rng.choice(["squared_error", "log_loss", "multinomial", "absolute_error"]))
    y = X[:, :3].sum(axis=1) + rng.normal(size=n)
    if name in ("log_loss", "multinomial"):
        y = np.argsort(np.argsort(y)) % (2 if name == "log_loss" else 3)
    options = reference.Options(
        mu=float(rng.choice([0.0, 1e-3, 0.02])), max_iter=8, learning_rate=0.3, base="lines", min_samples_leaf=1
    )
    core, expected = fit_both(X, y, None, name, options)
    assert_same(core, expected, X)


# ------------------------------------------------------------------------------------- invariances


def table(rng, name, n=80):
    X = np.round(rng.normal(size=(n, 4)), 1)
    X[:, 2] = rng.integers(0, 2, n)
    X[rng.random(X.shape) < 0.1] = np.nan
    score = np.nan_to_num(X[:, 0] - X[:, 1] + X[:, 2]) + 0.3 * rng.normal(size=n)
    if name == "poisson":
        return X, np.floor(np.exp(score)) + (np.arange(n) == 0)
    if name in ("gamma", "tweedie"):
        return X, np.maximum(np.exp(score) - (0.5 if name == "tweedie" else 0.0), 0.0)
    if name in ("log_loss", "multinomial"):
        return X, np.digitize(score, np.quantile(score, [0.5] if name == "log_loss" else [0.3, 0.6]))
    return X, score


TRANSFORMS = {
    "cube": lambda x: x**3,
    "exp": np.exp,
    "ranks": lambda x: np.where(np.isnan(x), np.nan, np.searchsorted(np.unique(x[~np.isnan(x)]), x)),
    "line": lambda x: 7.0 * x - 1000.0,
}


def model_of(name, **settings):
    kind, loss = (GBFSClassifier, "log_loss") if name == "multinomial" else LOSSES[name][:2]
    return kind(loss=loss, **{"mu": 1e-3, "max_iter": 6, "min_samples_leaf": 3, "max_depth": 2} | settings)


@given(SEEDS, st.sampled_from([*LOSSES, "multinomial"]), st.sampled_from(sorted(TRANSFORMS)), st.booleans())
def test_ranks_do_not_know_the_unit_of_a_column(seed, name, transform, weighted):
    rng = np.random.default_rng(seed)
    X, y = table(rng, name)
    moved = X.copy()
    moved[:, 0] = TRANSFORMS[transform](X[:, 0])
    weights = rng.random(len(y)) + 0.1 if weighted else None
    for base in ("lines", "both"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            how = {"base": base, "line_scale": "ranks"}
            one, other = (model_of(name, **how).fit(Z, y, sample_weight=weights) for Z in (X, moved))
        assert one._raw(X).tobytes() == other._raw(moved).tobytes()
        np.testing.assert_array_equal(one._model.ensemble.slope, other._model.ensemble.slope)
        assert one.history_["bought"] == other.history_["bought"]


def test_values_do_know_the_unit_of_a_column():
    """The test above can fail."""
    rng = np.random.default_rng(0)
    X, y = table(rng, "squared_error")
    moved = X.copy()
    moved[:, 0] = X[:, 0] ** 3
    one, other = (model_of("squared_error", base="lines", line_scale="values").fit(Z, y) for Z in (X, moved))
    assert np.abs(one.predict(X) - other.predict(moved)).max() > 0.01


@given(SEEDS, st.sampled_from([*LOSSES, "multinomial"]), st.integers(-60, 60))
def test_values_do_not_know_powers_of_two(seed, name, power):
    rng = np.random.default_rng(seed)
    X, y = table(rng, name)
    moved = X.copy()
    moved[:, 0] *= 2.0**power
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = (model_of(name, base="lines", line_scale="values").fit(Z, y) for Z in (X, moved))
    assert one._raw(X).tobytes() == other._raw(moved).tobytes()


@pytest.mark.slow
@given(SEEDS, st.sampled_from([*LOSSES, "multinomial"]), st.booleans(), st.sampled_from(["ranks", "values"]))
@settings(max_examples=40)
def test_sparse_tables_are_dense_tables(seed, name, weighted, scale):
    rng = np.random.default_rng(seed)
    X, y = table(rng, name, 150)
    rare = np.where(rng.random((150, 8)) < 0.05, rng.integers(1, 4, (150, 8)), 0.0)
    X = np.nan_to_num(np.column_stack([X, rare]))
    weights = rng.random(150) + 0.1 if weighted else None
    for base in ("lines", "both"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            models = [
                model_of(name, base=base, line_scale=scale).fit(form(X), y, sample_weight=weights)
                for form in (np.asarray, sparse.csr_array, sparse.csc_array)
            ]
        for model in models[1:]:
            assert_equal_models(model, models[0])
            assert model._raw(sparse.csr_array(X)).tobytes() == models[0]._raw(X).tobytes()


@given(SEEDS)
@settings(max_examples=30)
def test_a_mirrored_column_has_the_mirrored_line(seed):
    """A falling line is a rising one on the mirrored column."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=50)
    y = x + rng.normal(size=50)
    one, other = (model_of("squared_error", base="lines").fit(v[:, None], y) for v in (x, -x))
    np.testing.assert_allclose(one.predict(x[:, None]), other.predict(-x[:, None]), rtol=1e-9)


def test_predictions_of_training_and_validation_rows_are_those_of_boosting():
    rng = np.random.default_rng(3)
    X, y = table(rng, "squared_error", 300)
    for base in ("lines", "both"):
        model = model_of("squared_error", base=base, max_iter=20, early_stopping=True, n_iter_no_change=20)
        model.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
        for rows, name in ((slice(0, 200), "train_loss"), (slice(200, 300), "validation_loss")):
            losses = [0.5 * np.mean((y[rows] - p) ** 2) for p in model.staged_predict(X[rows])]
            np.testing.assert_allclose(losses, model.history_[name][1 : len(losses) + 1], rtol=1e-9)


@pytest.mark.parametrize("base", ["lines", "both"])
def test_files_keep_lines(base, tmp_path):
    rng = np.random.default_rng(4)
    X, y = table(rng, "multinomial", 200)
    model = model_of("multinomial", base=base).fit(X, y)
    model.save(tmp_path / "a.frugal")
    loaded = type(model).load(tmp_path / "a.frugal")
    found = arrays_of(loaded._model.ensemble)
    for name, expected in arrays_of(model._model.ensemble).items():
        assert np.asarray(found[name]).tobytes() == np.asarray(expected).tobytes(), name
    assert loaded.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
