"""What must not depend on the order of rows: trees, recorded losses, when boosting stops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_trees import assert_same_bytes
from sklearn.base import clone

from frugalboost import GBFSClassifier, GBFSRegressor, _core, load


def made(rng, n=2000):
    X = rng.normal(size=(n, 5))
    return X, X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)


MODELS = {
    "log loss": (GBFSClassifier(), lambda y: (y > 0).astype(int)),
    "classes": (GBFSClassifier(), lambda y: np.digitize(y, [-1, 0, 1])),
    "a tree for each class": (
        GBFSClassifier(multi_strategy="one_output_per_tree"),
        lambda y: np.digitize(y, [-1, 0, 1]),
    ),
    "squared": (GBFSRegressor(), lambda y: y),
    "large": (GBFSRegressor(), lambda y: 1e6 + 1e3 * y),
    "absolute": (GBFSRegressor(loss="absolute_error"), lambda y: y),
    "huber": (GBFSRegressor(loss="huber"), lambda y: y),
    "poisson": (GBFSRegressor(loss="poisson"), lambda y: np.round(np.exp(np.clip(y, -2, 2)))),
    "gamma": (GBFSRegressor(loss="gamma"), lambda y: np.exp(np.clip(y, -2, 2))),
    "tweedie": (GBFSRegressor(loss="tweedie"), lambda y: np.maximum(np.exp(np.clip(y, -2, 2)) - 0.5, 0.0)),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("base", ["trees", "both", "lines"])
def test_losses_do_not_depend_on_the_order_of_rows(name, weighted, base):
    rng = np.random.default_rng(1)
    X, y = made(rng)
    target = MODELS[name][1]
    model = clone(MODELS[name][0]).set_params(mu=1e-3, max_iter=25, base=base)
    weights = rng.random(len(y)) + 0.5 if weighted else None
    held = slice(0, 500)

    def fit(train, validation):
        def w(rows):
            return None if weights is None else weights[rows]

        return model.set_params(early_stopping=True, n_iter_no_change=5, tol=1e-4).fit(
            X[train],
            target(y)[train],
            w(train),
            X_val=X[validation],
            y_val=target(y)[validation],
            sample_weight_val=w(validation),
        )

    rows, others = np.arange(500, len(y)), np.arange(len(y))[held]
    first = fit(rows, others)
    seen = (first.history_["train_loss"], first.history_["validation_loss"], first.best_iteration_)
    trees = first._model.ensemble
    for _ in range(3):
        again = fit(rng.permutation(rows), rng.permutation(others))
        assert (again.history_["train_loss"], again.history_["validation_loss"], again.best_iteration_) == seen
        assert_same_bytes(again._model.ensemble, trees)


@given(st.lists(st.floats(2.0**-40, 2.0**40), min_size=2, max_size=30), st.randoms())
@settings(max_examples=settings.default.max_examples // 2)
def test_the_grid_of_weights_does_not_depend_on_their_order(weights, random):
    """Added as doubles in another order, a sum can fall on the other side of a power of two."""
    total = sum(weights)
    weights = np.array([*weights, 2.0 ** np.ceil(np.log2(total)) - total])
    weights = weights[weights > 0]
    shuffled = weights.copy()
    random.shuffle(shuffled)
    assert _core.weight_shift(shuffled) == _core.weight_shift(weights)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.3, 0.6, "auto"])
@pytest.mark.parametrize("steps", [(30, 60), (7, 20, 45, 60), (1, 2, 60)])
def test_a_continued_fit_that_samples_features_is_one_long_fit(share, steps):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 700 if share == "auto" else 40))
    y = X[:, :8].sum(axis=1) + rng.normal(size=300)
    options = {"mu": 1e-3, "new_features": share, "max_depth": 3, "random_state": 4}
    whole = GBFSRegressor(max_iter=steps[-1], **options).fit(X, y)
    model = GBFSRegressor(max_iter=steps[0], warm_start=True, **options).fit(X, y)
    for number in steps[1:]:
        model.set_params(max_iter=number).fit(X, y)
    for name in ("feature", "threshold", "gain", "value"):
        ours, theirs = getattr(model._model.ensemble, name), getattr(whole._model.ensemble, name)
        np.testing.assert_array_equal(ours, theirs)
    assert model.history_["train_loss"] == whole.history_["train_loss"]


def test_a_continued_fit_from_a_file_draws_on(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 40))
    y = X[:, :8].sum(axis=1) + rng.normal(size=300)
    options = {"mu": 1e-3, "new_features": 0.3, "max_depth": 3, "random_state": 4}
    whole = GBFSRegressor(max_iter=60, **options).fit(X, y)
    half = GBFSRegressor(max_iter=30, warm_start=True, **options).fit(X, y)
    half.save(tmp_path / "half.frugal")
    model = load(tmp_path / "half.frugal").set_params(max_iter=60).fit(X, y)
    assert model._model.ensemble.value.tobytes() == whole._model.ensemble.value.tobytes()


@pytest.mark.parametrize("base", ["lines", "both"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("steps", [(1, 2, 25), (13, 25)])
def test_a_continued_fit_with_lines_is_one_long_fit(base, name, steps, tmp_path):
    """Also from a file."""
    X, y = made(np.random.default_rng(5), n=300)
    y = MODELS[name][1](y)
    model = clone(MODELS[name][0]).set_params(mu=1e-3, base=base, max_depth=2)
    whole = clone(model).set_params(max_iter=steps[-1]).fit(X, y)
    first = clone(model).set_params(max_iter=steps[0], warm_start=True).fit(X, y)
    first.save(tmp_path / "first.frugal")
    loaded = load(tmp_path / "first.frugal")
    for found in (first, loaded):
        for number in steps[1:]:
            found.set_params(max_iter=number).fit(X, y)
        assert_same_bytes(found._model.ensemble, whole._model.ensemble)
        assert_same_bytes(found._model.purchases, whole._model.purchases)
        assert found.history_["train_loss"] == whole.history_["train_loss"]


def test_a_light_row_with_a_large_loss_does_not_hide_the_others():
    """Its loss decides the grid on which all are added; the others must still count in full."""
    rng = np.random.default_rng(7)
    X, y = made(rng)
    y[0], weights = 1e7, np.full(len(y), 2.0)
    weights[0] = 2e-7
    loss = GBFSRegressor(mu=0.0, max_iter=1).fit(X, y, sample_weight=weights).history_["train_loss"][0]
    units = np.rint(np.ldexp(weights, _core.weight_shift(weights)))
    mean = np.average(y, weights=units)
    assert loss == pytest.approx(np.average(0.5 * (y - mean) ** 2, weights=units), rel=1e-9)
    assert np.average(0.5 * (y - mean)[1:] ** 2) > 1e-4 * loss  # what the others contribute can be seen
    held = slice(0, 1000)
    model = GBFSRegressor(mu=1e-3, max_iter=40, early_stopping=True).fit(
        X[1000:], y[1000:], X_val=X[held], y_val=y[held], sample_weight_val=weights[held]
    )
    assert model.best_iteration_ > 10
