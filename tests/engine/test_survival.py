"""Times until an event: against lifelines, scikit-survival and numbers by hand, and what must not change a model."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import reference
from same_trees import assert_same_bytes
from scipy import optimize, sparse
from sklearn.base import clone
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer, r2_score
from sklearn.model_selection import GridSearchCV
from test_parts import in_parts, sorted_rows, task_of

from frugalboost import GBFSSurvival, NothingBoughtWarning, StabilitySelection, _core, gbfs_path, load
from frugalboost.costs import Bags
from frugalboost.export import to_lightgbm, to_onnx, to_shap
from frugalboost.files import format as model_file
from frugalboost.inspection import partial_dependence
from frugalboost.selection.concordance import concordance


def table(n=250, d=8, seed=0, digits=6):
    """The risk depends on two of the columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    time = np.round(rng.exponential(np.exp(-1.5 * X[:, 1] - X[:, 4])), digits) + 0.01
    watched = np.round(rng.exponential(2.0, n), digits) + 0.01
    return X, np.where(time <= watched, time, -watched)


def fitted(X, y, weights=None, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingBoughtWarning)
        return GBFSSurvival(**({"mu": 5e-3, "max_iter": 25, "max_depth": 3} | settings)).fit(X, y, weights)


def structured(y):
    return np.array(list(zip(y > 0, np.abs(y))), dtype=[("event", bool), ("time", float)])


def mean_loss(raw, y, weights=None):
    return _core.mean_loss(np.asarray(raw)[None], y, weights, y, weights, "cox", np.nan, 1)


# ------------------------------------------------------------------------------------------------ the loss


def by_hand(raw, y, weights=None):
    """The negative logarithm of the partial likelihood, equal times as by Breslow."""
    weights = np.ones(len(y)) if weights is None else weights
    total = 0.0
    for i in np.flatnonzero(y > 0):
        at_risk = np.abs(y) >= y[i]
        total += weights[i] * (np.log((weights * np.exp(raw))[at_risk].sum()) - raw[i])
    return total


@pytest.mark.parametrize("digits", [0, 1, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_is_the_partial_likelihood(digits, weighted):
    _, y = table(digits=digits)
    rng = np.random.default_rng(1)
    raw, weights = 3 * rng.normal(size=len(y)), rng.integers(1, 4, len(y)).astype(float) if weighted else None
    size = len(y) if weights is None else weights.sum()
    events = (y > 0).sum() if weights is None else weights[y > 0].sum()
    expected = (by_hand(raw, y, weights) - events * np.log(size)) / size
    assert mean_loss(raw, y, weights) == pytest.approx(expected, rel=1e-12)


def test_the_loss_is_that_of_lifelines():
    lifelines = pytest.importorskip("lifelines")  # asks for pandas below 3, so it is not installed with the tests
    X, y = table()
    frame = pd.DataFrame(X).assign(time=np.abs(y), event=y > 0)
    theirs = lifelines.CoxPHFitter().fit(frame, "time", "event")
    raw = X @ theirs.params_.to_numpy()
    found = mean_loss(raw, y) * len(y) + (y > 0).sum() * np.log(len(y))
    assert found == pytest.approx(-theirs.log_likelihood_, rel=1e-9)


def test_the_loss_is_least_where_scikit_survival_says():
    linear = pytest.importorskip("sksurv.linear_model")
    X, y = table()
    cox = linear.CoxPHSurvivalAnalysis(ties="breslow").fit(X, structured(y))
    best = optimize.minimize(lambda b: mean_loss(X @ b, y), np.zeros(X.shape[1]), tol=1e-12)
    np.testing.assert_allclose(best.x, cox.coef_, atol=1e-4)


def test_gradients_are_derivatives_and_curvatures_no_less_than_the_second_ones():
    _, y = table(n=40, digits=1)
    raw = np.random.default_rng(0).normal(size=40)
    h = 1e-5

    def at(i, step):
        moved = raw.copy()
        moved[i] += step
        return by_hand(moved, y)

    first = np.array([(at(i, h) - at(i, -h)) / (2 * h) for i in range(40)])
    loss = reference.Cox()
    loss.start(y, [1] * 40)
    (g,), (curvature,) = loss.derivatives(y, raw[None])
    np.testing.assert_allclose(-g, first, atol=1e-8)
    second = np.array([(at(i, 1e-3) - 2 * at(i, 0) + at(i, -1e-3)) / 1e-6 for i in range(40)])
    assert (curvature >= second - 1e-4).all()
    assert abs(g.sum()) < 1e-12


# --------------------------------------------------------------------------------------------- concordance


@pytest.mark.parametrize("digits", [0, 1, 6])
@pytest.mark.parametrize("rounded", [False, True])
def test_concordance_is_that_of_scikit_survival(digits, rounded):
    metrics = pytest.importorskip("sksurv.metrics")
    for seed in range(5):
        _, y = table(n=80, digits=digits, seed=seed)
        risk = np.random.default_rng(seed).normal(size=80)
        risk = np.round(risk) if rounded else risk
        found = concordance(y, risk)
        assert found == pytest.approx(metrics.concordance_index_censored(y > 0, np.abs(y), risk)[0], abs=1e-12)


def test_concordance_counts_pairs():
    def slow(y, risk, w):
        right = pairs = 0.0
        for i in np.flatnonzero(y > 0):
            for j in range(len(y)):
                if np.abs(y[j]) > y[i] or y[j] == -y[i]:
                    pairs += w[i] * w[j]
                    right += w[i] * w[j] * ((risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j]))
        return right / pairs

    rng = np.random.default_rng(0)
    for _ in range(20):
        _, y = table(n=30, digits=int(rng.integers(0, 2)), seed=int(rng.integers(100)))
        risk, weights = np.round(rng.normal(size=30), 1), rng.integers(1, 4, 30).astype(float)
        assert concordance(y, risk, weights) == pytest.approx(slow(y, risk, weights), abs=1e-12)
        many = weights.astype(int)
        copies = concordance(np.repeat(y, many), np.repeat(risk, many))
        assert concordance(y, risk, weights) == pytest.approx(copies, abs=1e-12)


def test_concordance_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="No two rows can be compared"):
        concordance(np.array([-1.0, -2.0]), np.zeros(2))
    with pytest.raises(ValueError, match="No two rows can be compared"):
        concordance(np.array([1.0, 1.0]), np.zeros(2))
    with pytest.raises(ValueError, match="not finite"):
        concordance(np.array([1.0, 2.0]), np.array([np.nan, 0.0]))


# ---------------------------------------------------------------------------------------------- the model


def test_it_finds_what_the_risk_depends_on():
    X, y = table()
    model = fitted(X, y, mu=0.04)
    assert sorted(model.selected_features_) == [1, 4]
    new_X, new_y = table(seed=1)
    assert model.score(new_X, new_y) > 0.75
    lines = fitted(X, y, mu=0.06, base="lines", max_iter=200)
    assert [line["direction"] for line in lines.lines_] == ["positive", "positive"]


def test_forms_of_y():
    X, y = table()
    expected = fitted(X, y)._model.ensemble
    turned = np.array(list(zip(np.abs(y), y > 0)), dtype=[("time", np.float32), ("died", bool)])
    for form in (structured(y), y.tolist(), pd.Series(y)):
        assert_same_bytes(fitted(X, form)._model.ensemble, expected)
    assert fitted(X, turned).score(X, turned) == pytest.approx(fitted(X, y).score(X, structured(y)), abs=1e-3)


@pytest.mark.parametrize("base", ["trees", "lines", "both"])
@pytest.mark.parametrize("digits", [0, 6])
def test_order_of_rows_threads_units_and_copies_change_nothing(base, digits):
    X, y = table(digits=digits)
    settings = {"base": base, "max_iter": 10}
    expected = fitted(X, y, **settings)
    order = np.random.default_rng(0).permutation(len(y))
    for A, b, jobs in ((X[order], y[order], 2), (sparse.csc_array(X), y, 3), (X, 365.25 * y, 1)):
        other = fitted(A, b, **settings, n_jobs=jobs)
        assert_same_bytes(other._model.ensemble, expected._model.ensemble)
        assert other.history_["train_loss"] == expected.history_["train_loss"]
        assert other.baseline_hazard_.tobytes() == expected.baseline_hazard_.tobytes()
    weights = np.random.default_rng(1).integers(1, 4, len(y))
    weighted = fitted(X, y, weights, **settings)
    copies = fitted(np.repeat(X, weights, axis=0), np.repeat(y, weights), **settings)
    np.testing.assert_array_equal(weighted.predict(X), copies.predict(X))
    np.testing.assert_allclose(weighted.baseline_hazard_, copies.baseline_hazard_, rtol=1e-12)
    assert weighted.score(X, y, weights) == pytest.approx(
        copies.score(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    )


def test_a_shift_of_all_risks_and_large_risks_change_nothing():
    _, y = table()
    raw = np.random.default_rng(0).normal(size=len(y))
    assert mean_loss(raw + 300, y) == pytest.approx(mean_loss(raw, y), rel=1e-12)
    assert np.isfinite(mean_loss(raw * 300, y))


def test_survival_functions():
    baseline = pytest.importorskip("sksurv.linear_model.coxph").BreslowEstimator()
    X, y = table()
    model = fitted(X, y)
    theirs = baseline.fit(model.predict(X), y > 0, np.abs(y)).get_survival_function(model.predict(X[:5]))
    times = np.quantile(np.abs(y), [0.1, 0.5, 0.9])
    found = model.predict_survival_function(X[:5], times)
    np.testing.assert_allclose(found, [f(times) for f in theirs], rtol=1e-9)
    assert model.predict_survival_function(X).shape == (len(X), len(model.event_times_))
    assert (np.diff(model.predict_survival_function(X), axis=1) <= 0).all()
    ends = model.predict_survival_function(X[:1], [0.0, -1.0, 1e9])
    assert ends[0, 0] == ends[0, 1] == 1
    assert ends[0, 2] == model.predict_survival_function(X[:1])[0, -1]
    with pytest.raises(ValueError, match="times must be a list of numbers"):
        model.predict_survival_function(X, [[1.0]])


def test_so_many_features_and_prices():
    X, y = table()
    assert sorted(GBFSSurvival(n_features_to_select=2, max_iter=40).fit(X, y).selected_features_) == [1, 4]
    rng = np.random.default_rng(0)
    wide = np.column_stack([X[:80], rng.normal(size=(80, 300))])
    model = GBFSSurvival(n_features_to_select=2, max_iter=40).fit(wide, structured(y[:80]))
    assert {1, 4} == set(model.selected_features_)
    path = gbfs_path(X, y, estimator=GBFSSurvival(max_iter=10), n_mus=4)
    assert path.scoring == "concordance"
    assert path.train_score[-1] > 0.7
    with pytest.raises(ValueError, match="comes from a path"):
        path.estimators[-1].predict_survival_function(X)
    bags = fitted(X, y, costs=Bags([0, 0, 1, 1, 2, 2, 3, 3]), budget=2)
    assert bags.total_cost_ <= 2
    stable = StabilitySelection(GBFSSurvival(max_iter=10), n_subsamples=4, random_state=0).fit(X, y)
    assert stable.support_[[1, 4]].all()


def test_early_stopping():
    X, y = table()
    for scoring in (None, "concordance"):
        model = GBFSSurvival(max_iter=100, early_stopping=True, scoring=scoring).fit(X, y)
        judged = (
            model.history_["validation_loss"] if scoring is None else [-s for s in model.history_["validation_score"]]
        )
        assert judged[model.best_iteration_] == min(judged)
    held = table(seed=5)
    given = GBFSSurvival(max_iter=40, early_stopping=True).fit(X, y, X_val=held[0], y_val=structured(held[1]))
    assert given.history_["validation_loss"][given.best_iteration_] == pytest.approx(
        mean_loss(given.predict(held[0]), held[1])
    )
    rare = np.where(np.arange(len(y)) < 6, np.abs(y), -np.abs(y))  # six events: some must be among the rows set aside
    losses = fitted(X, rare, max_iter=3, early_stopping=True).history_["validation_loss"]
    assert losses[0] != 0


def own_score(model, X, y):
    return model.score(X, y)


NO_PAIRS = {
    "no event": lambda y: -np.abs(y),
    "only the last": lambda y: np.where(np.abs(y) == np.abs(y).max(), np.abs(y), -np.abs(y)),
    "all at once": lambda y: np.full(len(y), 3.0),
    "one row": lambda y: np.abs(y[:1]),
}


@pytest.mark.parametrize("name", NO_PAIRS)
@pytest.mark.parametrize("how", [{"n_mus": 3}, {"n_features_to_select": [1, 2]}], ids=["mus", "numbers"])
def test_a_path_whose_validation_rows_have_no_pair_has_no_score_there(name, how):
    X, y = table()
    X_val, y_val = table(n=40, seed=3)
    y_val = NO_PAIRS[name](y_val)
    path = gbfs_path(
        X, y, estimator=GBFSSurvival(max_iter=5), X_val=X_val[: len(y_val)], y_val=y_val, sample_weight_val=None, **how
    )
    assert np.isnan(path.validation_score).all()
    assert np.isfinite(path.train_score).all()
    last = path.estimators[-1]
    assert path.train_score[-1] == last.score(X, y)
    for given, there in ((X, y), (X_val[: len(y_val)], y_val)):
        own = gbfs_path(
            X,
            y,
            estimator=GBFSSurvival(max_iter=5),
            X_val=given,
            y_val=there,
            scoring=own_score,
            **how,
        )
        np.testing.assert_array_equal(np.isnan(own.validation_score), there is y_val)
    with pytest.raises(ValueError, match="No two rows can be compared"):
        last.score(X_val[: len(y_val)], y_val)


def test_a_path_of_few_events_set_aside_by_chance():
    X, y = table(n=60)
    for seed in range(4):
        few = np.where(np.arange(60) % 30 == 7, np.abs(y), -np.abs(y))
        model = GBFSSurvival(max_iter=3, early_stopping=True, random_state=seed)
        path = gbfs_path(X, few, estimator=model, n_mus=2)
        assert len(path) == 2


def test_a_path_of_training_rows_without_pairs():
    path = gbfs_path(table(n=60)[0], np.full(60, 3.0), estimator=GBFSSurvival(max_iter=3), n_mus=2)
    assert np.isnan(path.train_score).all()


@pytest.mark.parametrize("scoring", ["concordance", own_score])
@pytest.mark.parametrize("name", NO_PAIRS)
def test_a_fit_whose_validation_rows_have_no_pair_names_them(name, scoring):
    X, y = table()
    X_val, y_val = table(n=40, seed=3)
    y_val = NO_PAIRS[name](y_val)
    rows = {"X_val": X_val[: len(y_val)], "y_val": y_val}
    model = GBFSSurvival(max_iter=5, early_stopping=True, scoring=scoring)
    with pytest.raises(ValueError, match=r"scoring can't judge the validation rows: no two of them"):
        model.fit(X, y, **rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingBoughtWarning)
        model.set_params(scoring=None).fit(X, y, **rows)  # the loss needs no pairs


def test_concordance_is_a_score_of_paths():
    X, y = table()
    rows = {"X_val": X[:100], "y_val": y[:100], "estimator": GBFSSurvival(max_iter=10), "n_mus": 3}
    named, own = gbfs_path(X, y, scoring="concordance", **rows), gbfs_path(X, y, **rows)
    assert named.scoring == own.scoring == "concordance"
    np.testing.assert_array_equal(named.validation_score, own.validation_score)
    np.testing.assert_array_equal(named.train_score, own.train_score)
    assert named.train_score[-1] == named.estimators[-1].score(X, y)
    mine = gbfs_path(X, y, scoring=lambda model, X, y: -model.score(X, y), **rows)
    np.testing.assert_array_equal(mine.train_score, -own.train_score)


@pytest.mark.parametrize(
    "scoring", [*get_scorer_names(), "no such score", make_scorer(r2_score), get_scorer("roc_auc")]
)
def test_scores_of_other_targets_are_refused(scoring):
    """They would compare risks with times that have signs."""
    X, y = table(n=60)
    sentence = r"^scoring=.* compares predictions with targets, but GBFSSurvival predicts risks.*scoring='concordance'"
    for stops in (False, True):
        with pytest.raises(ValueError, match=sentence):
            GBFSSurvival(max_iter=2, early_stopping=stops, scoring=scoring).fit(X, y)
    with pytest.raises(ValueError, match=sentence):
        gbfs_path(X, y, estimator=GBFSSurvival(max_iter=2), n_mus=2, scoring=scoring)


def test_own_scores_are_taken():
    X, y = table(n=60)
    for scoring in (make_scorer(concordance), own_score):
        stop = {"max_iter": 3, "early_stopping": True, "random_state": 0}
        model = GBFSSurvival(**stop, scoring=scoring).fit(X, y)
        same = GBFSSurvival(**stop, scoring="concordance").fit(X, y)
        assert model.history_["validation_score"] == same.history_["validation_score"]


def test_a_continued_fit_files_and_pickles(tmp_path):
    X, y = table()
    long = fitted(X, y, warm_start=True, max_iter=12)
    short = fitted(X, y, warm_start=True, max_iter=5)
    short.set_params(max_iter=12).fit(X, y)
    assert_same_bytes(short._model.ensemble, long._model.ensemble)
    long.save(tmp_path / "model.frugal")
    for again in (load(tmp_path / "model.frugal"), pickle.loads(pickle.dumps(long)), copy.deepcopy(long)):
        np.testing.assert_array_equal(again.predict(X), long.predict(X))
        np.testing.assert_array_equal(again.predict_survival_function(X), long.predict_survival_function(X))
    again = load(tmp_path / "model.frugal").set_params(max_iter=15).fit(X, y)
    assert_same_bytes(again._model.ensemble, fitted(X, y, warm_start=True, max_iter=15)._model.ensemble)


@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        ([[1.0], [0.1, 0.2]], "another number of times"),
        ([[2.0, 1.0], [0.1, 0.2]], "do not ascend"),
        ([[1.0, 2.0], [0.2, 0.1]], "falls"),
        ([[0.0, 2.0], [0.1, 0.2]], "numbers that it can't have"),
        ([[1.0, "x"], [0.1, 0.2]], "two lists"),
        ("x", "two lists"),
    ],
)
def test_files_with_a_wrong_baseline(tmp_path, baseline, message):
    X, y = table()
    path = tmp_path / "model.frugal"
    fitted(X, y).save(path)
    description, arrays = model_file.read(path)
    model_file.write(path, description | {"baseline": baseline}, arrays)
    with pytest.raises(model_file.ModelFileError, match=message):
        load(path)


def test_exports_are_of_the_risk():
    lightgbm, onnxruntime = pytest.importorskip("lightgbm"), pytest.importorskip("onnxruntime")
    shap = pytest.importorskip("shap")
    X, y = table()
    model = fitted(X, y)
    own, expected = model.transform(X), model.predict(X)
    np.testing.assert_allclose(lightgbm.Booster(model_str=to_lightgbm(model)).predict(own), expected, rtol=1e-12)
    (found,) = onnxruntime.InferenceSession(to_onnx(model).SerializeToString()).run(None, {"X": own})
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-6)
    explained = shap.TreeExplainer(to_shap(model, features="all"))
    np.testing.assert_allclose(explained.shap_values(X).sum(axis=1) + explained.expected_value, expected, atol=1e-9)
    assert partial_dependence(model, X, [1])["average"].shape[0] == 1


def test_constraints():
    X, y = table()
    model = fitted(X, y, monotonic_cst=[0, 1] + [0] * 6)
    ends = [model.predict(np.column_stack([X[:, :1], np.full(len(X), v), X[:, 2:]])) for v in (-1.0, 1.0)]
    assert (ends[1] >= ends[0]).all()


def test_a_table_in_parts_is_an_error():
    X, y = table()
    task, deal = sorted_rows(task_of(GBFSSurvival(max_iter=2), X, y), np.arange(len(y)) % 2)
    with pytest.raises(Exception, match=r"compares the times of all rows|other part"):
        in_parts(task, deal)


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: np.where(y > 1, 0.0, y), "times of 0"),
        (lambda y: np.where(y > 1, np.nan, y), "NaN"),
        (lambda y: np.where(y > 1, np.inf, y), "infinity"),
        (lambda y: -np.abs(y), "y has no event"),
        (lambda y: np.column_stack([y > 0, np.abs(y)]), "two columns"),
        (lambda y: pd.DataFrame({"time": np.abs(y), "event": y > 0}), "two columns"),
        (lambda y: np.column_stack([y, y, y]), "3 columns"),
        (lambda y: structured(y - 5 * (y > 0)), "zero or negative"),
        (lambda y: np.array(list(zip(y, y)), dtype=[("a", float), ("b", float)]), "structured array of 'a', 'b'"),
        (lambda y: y[1:], "inconsistent numbers of samples"),
    ],
)
def test_bad_targets(change, message):
    X, y = table()
    if message == "zero or negative":
        y = np.abs(y)
        bad = structured(y)
        bad["time"][3] = 0
    else:
        bad = change(y)
    model = fitted(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match=message):
        model.fit(X, bad)
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize(
    "weights",
    [
        np.ones(251),
        np.ones(249),
        np.ones((250, 1)),
        np.ones((2, 250)),
        -np.ones(250),
        np.where(np.arange(250) == 3, -1.0, 1.0),
        np.where(np.arange(250) == 3, np.nan, 1.0),
        np.where(np.arange(250) == 3, np.inf, 1.0),
        np.zeros(250),
        np.full(250, 1e308),
        ["a"] * 250,
        "name",
    ],
    ids=["more", "fewer", "column", "rows", "negative", "one negative", "nan", "inf", "zero", "large", "words", "name"],
)
def test_a_score_refuses_the_weights_that_a_fit_refuses(weights):
    X, y = table()
    model = fitted(X, y)
    with pytest.raises((TypeError, ValueError)) as told:
        fitted(X, y, weights)
    with pytest.raises(told.type) as found:
        model.score(X, y, weights)
    assert str(found.value) == str(told.value)


def test_a_score_takes_the_weights_that_a_fit_takes():
    X, y = table()
    model = fitted(X, y)
    plain = model.score(X, y)
    for weights in (None, 1, 2.0, np.ones(250), [1] * 250, pd.Series(np.ones(250), index=np.arange(250)[::-1])):
        fitted(X, y, weights)
        assert model.score(X, y, weights) == pytest.approx(plain, abs=1e-12)
    some = np.arange(250) % 2
    assert model.score(X, y, some) == pytest.approx(model.score(X[1::2], y[1::2]), abs=1e-12)


@pytest.mark.parametrize("rows", [0, 1, 10, 249])
def test_a_score_needs_a_time_for_each_row(rows):
    X, y = table()
    model = fitted(X, y)
    for few in ((X, y[:rows]), (X[:rows], y), (X, structured(y)[:rows])):
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples|0 sample"):
            model.score(*few)


def test_extremes():
    X, y = table(n=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingBoughtWarning)
        assert GBFSSurvival().fit(X[:1], [2.0]).predict(X[:1]) == [0.0]
        tied = GBFSSurvival(max_iter=5).fit(X, np.full(60, 3.0))
        np.testing.assert_array_equal(tied.predict(X), np.zeros(60))
        assert tied.event_times_.tolist() == [3.0]
    one = fitted(X, np.where(np.arange(60) == 7, np.abs(y), -np.abs(y)))
    assert np.isfinite(one.predict(X)).all()
    every = fitted(X, np.abs(y))
    assert every.score(X, np.abs(y)) > 0.7
    far = fitted(X, y * 1e300)
    assert_same_bytes(far._model.ensemble, fitted(X, y)._model.ensemble)


def test_inside_searches_batches_and_the_package():
    X, y = table()
    search = GridSearchCV(GBFSSurvival(max_iter=10), {"mu": [0.01, 10.0]}, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingBoughtWarning)
        assert search.fit(X, y).best_params_ == {"mu": 0.01}
    batches = [(X[:100], y[:100]), (X[100:], y[100:])]
    found = fitted(batches, None)
    assert_same_bytes(found._model.ensemble, fitted(X, y)._model.ensemble)
    np.testing.assert_array_equal(found.baseline_hazard_, fitted(X, y).baseline_hazard_)
    assert found.score(batches) == fitted(X, y).score(X, y)
    assert repr(clone(found)) == "GBFSSurvival(max_depth=3, max_iter=25, mu=0.005)"


def test_what_there_is_not():
    X, y = table()
    with pytest.raises(ValueError, match="no reports on survival"):
        fitted(X, y).report(X, y)
    with pytest.raises(ValueError, match="is not known here"):
        GBFSSurvival(loss="squared_error").fit(X, y)
