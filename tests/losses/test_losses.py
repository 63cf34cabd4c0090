"""Losses: derivatives against finite differences, the project's own exp and log, and losses of a user's own."""

import warnings

import numpy as np
import pytest
import reference
from own_losses import OwnSquare
from sklearn._loss.loss import HalfGammaLoss, HalfPoissonLoss, HalfTweedieLoss
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import mean_tweedie_deviance

from frugalboost import GBFSClassifier, GBFSRegressor, NothingBoughtWarning, _core
from frugalboost.losses import Huber, LogLoss, Quantile, Tweedie


def test_exp_and_log_are_right_to_the_last_bits():
    x = np.concatenate([np.linspace(-700, 700, 100_001), np.linspace(-1, 1, 100_001)])
    np.testing.assert_allclose(_core.exp(x), np.exp(x), rtol=5e-16)
    v = np.concatenate([np.exp(np.linspace(-300, 300, 100_001)), np.linspace(0.5, 2, 100_001)])
    np.testing.assert_allclose(_core.log(v), np.log(v), rtol=1e-15, atol=1e-16)
    np.testing.assert_array_equal(_core.exp(x), reference.exp(x))
    np.testing.assert_array_equal(_core.log(v), reference.log(v))
    assert _core.exp(np.array([-1e9]))[0] < 1e-300
    assert np.isfinite(_core.exp(np.array([1e9]))[0])


@pytest.mark.parametrize(
    "loss",
    [
        reference.LogLoss(),
        reference.Multinomial(3),
        reference.SquaredError(),
        reference.Huber(0.8),
        reference.Poisson(),
        reference.Gamma(),
        reference.Tweedie(1.3),
    ],
    ids=lambda loss: type(loss).__name__,
)
def test_derivatives_are_those_of_the_value(loss):
    """The oracle's formulas (which the core is held to, bit for bit) against finite differences."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2 if loss.outputs == 1 else 3, 50).astype(float)
    raw = rng.normal(size=(loss.outputs, 50))
    loss.start(y, [1] * 50)
    g, h = loss.derivatives(y, raw)
    step = 1e-5
    for k in range(loss.outputs):
        up, down = raw.copy(), raw.copy()
        up[k] += step
        down[k] -= step
        np.testing.assert_allclose(-g[k], (loss.values(y, up) - loss.values(y, down)) / (2 * step), atol=1e-6)
        if not isinstance(loss, reference.Huber):  # its curvature is that of a bound from above
            slope = (loss.derivatives(y, up)[0][k] - loss.derivatives(y, down)[0][k]) / (2 * step)
            np.testing.assert_allclose(h[k], -slope, atol=1e-6)


def test_probabilities_add_up():
    raw = np.array([[700.0, 0.0, -700.0], [1.0, 2.0, 3.0]])
    np.testing.assert_allclose(LogLoss().inverse_link(raw).sum(axis=1), 1.0)
    np.testing.assert_allclose(LogLoss().inverse_link(np.array([-800.0, 0.0, 800.0])), [0.0, 0.5, 1.0], atol=1e-300)


class OwnLogistic:
    """Two or more classes; raw has one column per class for more than two."""

    def start(self, y, sample_weight):
        counts = np.bincount(y.astype(int), weights=sample_weight)
        return np.log(counts[1] / counts[0]) if len(counts) == 2 else np.log(counts / counts.sum())

    def inverse_link(self, raw):
        if raw.ndim == 1:
            return 1 / (1 + np.exp(-raw))
        p = np.exp(raw - raw.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    def gradient(self, y, raw):
        p = self.inverse_link(raw)
        return p - (y if raw.ndim == 1 else np.eye(raw.shape[1])[y.astype(int)])

    def curvature(self, y, raw):
        p = self.inverse_link(raw)
        return p * (1 - p)


def test_custom_loss_gives_the_built_in_model():
    X, y = load_diabetes(return_X_y=True)
    own = GBFSRegressor(loss=OwnSquare(), max_iter=20).fit(X, y)
    built_in = GBFSRegressor(max_iter=20).fit(X, y)
    np.testing.assert_allclose(own.predict(X), built_in.predict(X), rtol=1e-6)
    np.testing.assert_allclose(own.history_["train_loss"], built_in.history_["train_loss"])
    assert list(own.selected_features_) == list(built_in.selected_features_)
    stopped = GBFSRegressor(loss=OwnSquare(), max_iter=200, early_stopping=True, random_state=0).fit(X, y)
    assert stopped.stop_reason_ == "early_stopping"


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_custom_loss_for_classes(load):
    X, y = load(return_X_y=True)
    own = GBFSClassifier(loss=OwnLogistic(), max_iter=15).fit(X, y)
    built_in = GBFSClassifier(max_iter=15).fit(X, y)
    np.testing.assert_allclose(own.predict_proba(X), built_in.predict_proba(X), rtol=1e-4, atol=1e-6)
    assert list(own.selected_features_) == list(built_in.selected_features_)
    assert np.isnan(own.history_["train_loss"]).all()  # no method 'value'
    with pytest.raises(ValueError, match="give your loss a method 'value'"):
        GBFSClassifier(loss=OwnLogistic(), early_stopping=True).fit(X, y)


class Sideways(OwnLogistic):
    """One row per class instead of one per table row: the right count in the wrong shape."""

    def gradient(self, y, raw):
        return super().gradient(y, raw).T


def test_custom_loss_of_the_wrong_shape():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="'gradient' gave 450 numbers where 150 rows of 3 were expected"):
        GBFSClassifier(loss=Sideways()).fit(X, y)


class Broken(OwnSquare):
    def __init__(self, **answers):
        self.answers = answers

    def gradient(self, y, raw):
        return self.answers.get("gradient", raw - y)

    def curvature(self, y, raw):
        answer = self.answers.get("curvature", 1.0)
        if isinstance(answer, Exception):
            raise answer
        return np.full(len(y), answer)


@pytest.mark.parametrize(
    ("answers", "error", "message"),
    [
        ({"gradient": np.zeros(3)}, ValueError, "'gradient' gave 3 numbers where 442 were expected"),
        ({"gradient": np.full(442, np.nan)}, ValueError, "'gradient' gave a number that is not finite"),
        ({"gradient": "steep"}, TypeError, "'gradient' gave something that is not an array of numbers"),
        ({"curvature": -1.0}, ValueError, "curvature that is negative"),
        ({"curvature": ZeroDivisionError("my own mistake")}, ZeroDivisionError, "my own mistake"),
    ],
)
def test_mistakes_in_a_custom_loss_are_told(answers, error, message):
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(error, match=message):
        GBFSRegressor(loss=Broken(**answers)).fit(X, y)


def test_incomplete_or_unknown_losses_are_refused():
    X, y = load_diabetes(return_X_y=True)

    class NoLink:
        gradient = curvature = start = OwnSquare.gradient

    with pytest.raises(TypeError, match=r"loss=OwnSquare is a class; pass an object of it: loss=OwnSquare\(\)"):
        GBFSRegressor(loss=OwnSquare).fit(X, y)
    with pytest.raises(TypeError, match="lacks the method inverse_link"):
        GBFSRegressor(loss=NoLink()).fit(X, y)
    with pytest.raises(ValueError, match="loss='log_loss' is not known here"):
        GBFSRegressor(loss="log_loss").fit(X, y)
    with pytest.raises(ValueError, match="not for this estimator"):
        GBFSRegressor(loss=LogLoss()).fit(X, y)
    with pytest.raises(ValueError, match="between 0 and 1"):
        Quantile(1.5)
    with pytest.raises(ValueError, match="positive and finite"):
        Huber(-1)
    with pytest.raises(ValueError, match="negative values"):
        GBFSRegressor(loss="poisson").fit(X, y - 200)
    with pytest.raises(ValueError, match="at least one positive y"):
        GBFSRegressor(loss="poisson").fit(X, np.zeros(442))
    with pytest.raises(ValueError, match=r"loss='gamma' needs y > 0.* loss='tweedie' allows them"):
        GBFSRegressor(loss="gamma").fit(X, np.maximum(y - 100, 0))
    with pytest.raises(ValueError, match=r"loss='gamma' needs y_val > 0"):
        GBFSRegressor(loss="gamma").fit(X, y, X_val=X, y_val=np.zeros(442))
    with pytest.raises(ValueError, match=r"loss='tweedie' needs y >= 0"):
        GBFSRegressor(loss="tweedie").fit(X, y - 200)
    with pytest.raises(ValueError, match=r"loss='tweedie' needs at least one positive y"):
        GBFSRegressor(loss="tweedie").fit(X, np.zeros(442))
    for power in (1, 2, 0, -1.5, np.nan):
        with pytest.raises(ValueError, match=r"must lie between 1 and 2\. loss='poisson' is power 1"):
            Tweedie(power)


@pytest.mark.parametrize(("name", "power"), [("gamma", 2), ("tweedie", 1.5), (Tweedie(1.1), 1.1)])
def test_gamma_and_tweedie_lower_the_deviance(name, power):
    """Half the mean deviance of scikit-learn is the recorded loss plus what depends on y alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    mean = np.exp(1.0 + X[:, 1] - 0.5 * (X[:, 2] > 0))
    y = mean * rng.gamma(2.0, 0.5, 3000)
    if power < 2:
        y *= rng.random(3000) < 0.6
    model = GBFSRegressor(loss=name, max_iter=60, mu=0.01).fit(X[:2000], y[:2000])
    assert set(model.selected_features_) == {1, 2}
    deviance = [mean_tweedie_deviance(y[:2000], p, power=power) for p in model.staged_predict(X[:2000])]
    losses = np.array(model.history_["train_loss"])[1:]
    np.testing.assert_allclose(np.diff(losses), np.diff(deviance) / 2, atol=1e-9)
    held = [np.full(1000, y[:2000].mean()), model.predict(X[2000:])]
    constant, ours = (mean_tweedie_deviance(y[2000:], p, power=power) for p in held)
    assert ours < 0.75 * constant


def test_losses_with_a_log_link_are_those_of_scikit_learn():
    """The same formulas, up to what depends on y alone."""
    rng = np.random.default_rng(0)
    y, raw = rng.gamma(2.0, size=40), rng.normal(size=40)
    for ours, theirs in (
        (reference.Poisson(), HalfPoissonLoss()),
        (reference.Gamma(), HalfGammaLoss()),
        (reference.Tweedie(1.3), HalfTweedieLoss(power=1.3)),
    ):
        g, h = theirs.gradient_hessian(y, raw)
        found = ours.derivatives(y, raw[None])
        np.testing.assert_allclose(-found[0][0], g, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found[1][0], h, rtol=1e-9)
        rest = ours.values(y, raw[None]) - theirs.loss(y, raw)
        np.testing.assert_allclose(rest, ours.values(y, 0 * raw[None]) - theirs.loss(y, 0 * raw), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", ["absolute_error", Quantile(0.9), Quantile(0.2), Huber(1.0), "huber", "squared_error"])
@pytest.mark.parametrize("few", [0, 3])
def test_a_start_far_from_y_is_only_a_start(loss, few):
    """All gradients are equal at first, or all but a few: constants must bring predictions to where y is."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = 100 + 10 * X[:, 0]
    y[:few] = -1.0
    settings = {"mu": 1e-2, "loss": loss, "learning_rate": 0.5, "max_iter": 100}
    prior, zero = (GBFSRegressor(init=init, **settings).fit(X, y) for init in ("prior", "zero"))
    assert zero.selected_features_[0] == prior.selected_features_[0] == 0
    assert zero.mu_max_ == pytest.approx(prior.mu_max_, rel=1e-6)
    assert zero._model.impurity == pytest.approx(prior._model.impurity, rel=1e-6)
    assert zero.history_["train_loss"][-1] < 1.5 * prior.history_["train_loss"][-1]
    nothing = {**settings, "mu": 4 * zero.mu_max_, "max_iter": 500}  # on the way to the best constant more may pay
    with pytest.warns(NothingBoughtWarning):
        constant = GBFSRegressor(init="zero", **nothing).fit(X, y)
    assert constant.stop_reason_ == "converged"


def test_a_constant_target_is_reached_from_zero():
    X = np.random.default_rng(0).normal(size=(100, 2))
    for loss in ("absolute_error", "huber", "squared_error"):
        with pytest.warns(NothingBoughtWarning):
            model = GBFSRegressor(loss=loss, init="zero", max_iter=500).fit(X, np.full(100, 7.0))
        np.testing.assert_allclose(model.predict(X), 7.0, rtol=1e-4)


@pytest.mark.parametrize("loss", ["absolute_error", Quantile(0.9), "huber"])
@pytest.mark.parametrize("kind", ["counts", "two values", "constant"])
@pytest.mark.parametrize("l2", [0.0, 1.0, 1e4])
def test_constants_alone_come_to_an_end(loss, kind, l2):
    """Tied targets: shorter and shorter steps never reach the value at which their gradients would change."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 6))
    y = rng.poisson(np.exp(X[:, 0])).astype(float)
    y = {"counts": y, "two values": (y > 1).astype(float), "constant": np.full(600, 3.0)}[kind]
    with pytest.warns(NothingBoughtWarning):
        model = GBFSRegressor(
            mu=1e4, init="zero", loss=loss, max_iter=3000, l2_regularization=0.0 if loss == "huber" else l2
        ).fit(X, y)
    assert model.stop_reason_ == "converged"
    assert model.n_iter_ < 300


def test_a_penalty_on_leaves_ends_no_fit():
    """With l2 full steps are short, which does not mean that nothing is left to do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    model = GBFSRegressor(loss="squared_error", init="zero", l2_regularization=100, max_iter=800).fit(X, 100 + X[:, 0])
    assert abs(model.predict(X).mean() - 100) < 5


def test_a_continued_fit_knows_mu_max_from_all_of_its_opening():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 5))
    y = X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=400) + 100
    settings = {"mu": 50.0, "init": "zero", "loss": Quantile(0.9), "min_samples_leaf": 5}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingBoughtWarning)
        begun = GBFSRegressor(max_iter=5, warm_start=True, **settings).fit(X, y).set_params(max_iter=500).fit(X, y)
        whole = GBFSRegressor(max_iter=500, **settings).fit(X, y)
    assert begun.mu_max_ == whole.mu_max_
