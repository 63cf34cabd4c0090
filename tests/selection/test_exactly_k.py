"""Lines where features are selected: who buys, what is fitted on them, and how many."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression

import frugalboost
from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor, NothingBoughtWarning, gbfs_path
from frugalboost.costs import Bags, Prices
from frugalboost.selection import averaging, base_learner, exactly_k, folds, importance
from frugalboost.selection.averaging import mean_of
from frugalboost.selection.ridge import L2S, fit_ridges, ridge_model

QUICK = {"max_iter": 60, "min_samples_leaf": 5}
pytestmark = pytest.mark.filterwarnings("ignore::frugalboost.WeakSelectionWarning")


def wide(n=80, d=300, seed=0, informative=4, noise=1.0):
    """Few rows, many columns, of which some add up to the answer."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, :informative].sum(axis=1) + noise * rng.normal(size=n)
    return X, score


def bytes_of(model):
    trees = model._model.ensemble
    arrays = (trees.feature, trees.threshold, trees.value, trees.slope, trees.line, trees.start)
    return b"".join(np.asarray(a).tobytes() for a in arrays)


def prepared(X, y, **more):
    """The task of a fit, prepared and with scores, as selection gets it."""
    seen = []

    def note(task, *rest):
        seen.append(task)
        raise StopIteration

    kind = GBFSClassifier if len(np.unique(y)) < 10 else GBFSRegressor
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("frugalboost.selection.fit.eliminate", note)
        with pytest.raises(StopIteration):
            kind(n_features_to_select=3, **QUICK, **more).fit(X, y)
    return exactly_k.with_scores(seen[0], 1)


# ------------------------------------------------------------------------------------------------ who buys


def test_few_rows_and_many_columns_are_a_case_for_lines():
    X, score = wide(informative=2, noise=0.5)
    model = GBFSClassifier(n_features_to_select=2).fit(X, score > 0)
    assert model.base_ != "trees"
    assert sorted(model.selected_features_.tolist()) == [0, 1]
    trees = GBFSClassifier(n_features_to_select=2, base="trees").fit(X, score > 0)
    new, answers = wide(1000, seed=1, informative=2, noise=0.5)
    assert model.score(new, answers > 0) > trees.score(new, answers > 0)


@pytest.mark.parametrize("n", [base_learner.ROWS_TO_JUDGE // 2, base_learner.ROWS_TO_JUDGE - 1, 400])
def test_folds_are_drawn_again_or_not_for_any_number_of_threads(n):
    """From ROWS_TO_JUDGE rows on, one round of folds is enough, and there is nothing to do in later ones."""
    for columns, more in ((n + 10, {}), (20, {"base": "lines", "fewer": True})):
        X, score = wide(n=n, d=columns)
        own = {"n_features_to_select": 2, **QUICK, **more}
        one, two = (GBFSRegressor(n_jobs=jobs, **own).fit(X, score) for jobs in (1, 2))
        assert bytes_of(one) == bytes_of(two)


def test_what_only_trees_can_see_is_left_to_trees():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 12))
    y = (X[:, 2] > 0) ^ (X[:, 5] > 0)  # no line says anything about it
    model = GBFSClassifier(n_features_to_select=2, max_iter=100).fit(X, y)
    assert model.base_ == "trees"
    assert sorted(model.selected_features_.tolist()) == [2, 5]
    assert model.score(X, y) > 0.98


def test_the_last_fit_of_a_straight_answer_has_lines():
    X, score = wide(600, 10, noise=2.0)
    model = GBFSRegressor(n_features_to_select=4, **QUICK).fit(X, score)
    assert model.base_ != "trees"
    trees = GBFSRegressor(n_features_to_select=4, base="trees", **QUICK).fit(X, score)
    new, answers = wide(2000, 10, seed=1, noise=2.0)
    assert model.score(new, answers) > trees.score(new, answers)


@pytest.mark.parametrize("base", ["trees", "lines", "both"])
def test_a_given_base_is_kept(base):
    X, score = wide()
    model = GBFSClassifier(n_features_to_select=5, base=base, **QUICK).fit(X, score > 0)
    assert model.n_features_selected_ == 5
    assert model.base_ in ({"both", "trees", "lines"} if base == "both" else {base})


def test_a_model_at_a_given_mu_is_the_papers():
    X, y = load_breast_cancer(return_X_y=True)
    auto, trees = (GBFSClassifier(mu=0.01, base=base, **QUICK).fit(X, y) for base in ("auto", "trees"))
    assert bytes_of(auto) == bytes_of(trees)


# --------------------------------------------------------------------------------------------- exactly, at most


@pytest.mark.parametrize("k", [0, 1, 3, 7])
@pytest.mark.parametrize("base", ["auto", "lines", "both"])
@pytest.mark.filterwarnings("ignore::frugalboost.NothingBoughtWarning")
def test_exactly_k(base, k):
    X, score = wide(60, 90)
    model = GBFSClassifier(n_features_to_select=k, base=base, **QUICK).fit(X, score > 0)
    assert model.n_features_selected_ == k


@pytest.mark.slow
def test_fewer_stops_where_held_out_rows_say_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 40))
    y = (X[:, 2] > 0) ^ (X[:, 5] > 0)
    exactly = GBFSClassifier(n_features_to_select=20, **QUICK).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # fewer than the most that is allowed is what was asked for
        at_most = GBFSClassifier(n_features_to_select=20, fewer=True, **QUICK).fit(X, y)
    assert exactly.n_features_selected_ > 10
    assert 2 <= at_most.n_features_selected_ <= 5
    assert {2, 5} <= set(at_most.selected_features_.tolist())
    new = rng.normal(size=(2000, 40))
    answers = (new[:, 2] > 0) ^ (new[:, 5] > 0)
    assert at_most.score(new, answers) > exactly.score(new, answers)


@pytest.mark.slow
@pytest.mark.parametrize("base", ["auto", "lines", "trees"])
def test_fewer_never_means_more(base):
    X, score = wide(60, 100, informative=2, noise=0.3)
    path = gbfs_path(
        X, score, estimator=GBFSRegressor(fewer=True, base=base, **QUICK), n_features_to_select=[1, 2, 3, 8, 20]
    )
    counts = [m.n_features_selected_ for m in path.estimators]
    assert all(n <= k for n, k in zip(counts, [1, 2, 3, 8, 20]))
    assert counts[1] == 2
    losses = [round(float(m._model.train_loss), 12) for m in path.estimators]
    assert counts[-1] < 20
    assert len(set(zip(counts, losses))) == len(set(counts))  # the same number is the same model


@pytest.mark.filterwarnings("ignore::frugalboost.NothingBoughtWarning")
def test_noise_is_called_noise_by_lines_too():
    called = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 200)), rng.integers(2, size=60)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            GBFSClassifier(n_features_to_select=5, base="lines", **QUICK).fit(X, y)
        called += any(w.category is frugalboost.WeakSelectionWarning for w in said)
    assert called >= 5  # two standard errors leave some noise in


# ------------------------------------------------------------------------------------------ prices, kinds of tables


def test_bags_count_as_one_and_free_columns_come_along():
    X, score = wide(60, 90, informative=6)
    bags = {f"bag {i}": list(range(3 * i, 3 * i + 3)) for i in range(30)}
    model = GBFSClassifier(n_features_to_select=2, base="lines", costs=Bags(bags), **QUICK).fit(X, score > 0)
    assert {c // 3 for c in model.selected_features_.tolist()} == {0, 1}
    assert model.total_cost_ == 2.0


def test_a_budget_binds_lines_too():
    X, score = wide(60, 90)
    prices = np.ones(90)
    prices[0] = 100.0
    model = GBFSClassifier(n_features_to_select=3, costs=Prices(prices), budget=50.0, **QUICK).fit(X, score > 0)
    assert 0 not in model.selected_features_
    assert model.total_cost_ <= 50.0


@pytest.mark.parametrize("base", ["lines", "auto"])
def test_a_feature_must_be_worth_its_price_to_lines(base):
    """Of two columns that say nearly the same, the cheap one is bought, however dear the whole table is."""
    X, score = wide(n=200, informative=3, noise=0.3)
    rng = np.random.default_rng(1)
    X[:, 10:13] = X[:, :3] + 0.3 * rng.normal(size=(len(X), 3))  # nearly copies
    prices = np.ones(X.shape[1])
    prices[:3] = 20.0
    dear = GBFSClassifier(n_features_to_select=3, base=base, **QUICK).fit(X, score > 0)
    assert set(dear.selected_features_) & {0, 1, 2}
    for unit in (1.0, 1000.0, 1e-3):  # prices in cents, or in thousands
        model = GBFSClassifier(n_features_to_select=3, base=base, costs=Prices(unit * prices), **QUICK)
        model.fit(X, score > 0)
        assert set(model.selected_features_) == {10, 11, 12}
        assert model.total_cost_ == pytest.approx(3 * unit)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([2.0**-20, 8.0, 2.0**20]), st.sampled_from(["auto", "lines", "trees"]))
def test_the_unit_of_prices_does_not_matter(seed, unit, base):
    X, score = wide(n=50, d=70, seed=seed)
    prices = np.random.default_rng(seed).choice([1.0, 2.0, 5.0], X.shape[1])
    how = {"n_features_to_select": 3, "base": base, "max_iter": 10, "min_samples_leaf": 5}
    one = GBFSClassifier(costs=Prices(prices), **how).fit(X, score > 0)
    other = GBFSClassifier(costs=Prices(unit * prices), mu=one.mu / unit, **how).fit(X, score > 0)
    assert bytes_of(one) == bytes_of(other)


def test_lines_at_a_mu_pay_like_trees():
    X, score = wide(60, 90)
    free = GBFSRegressor(base="lines", mu=0.0, budget=5, **QUICK).fit(X, score)
    assert free.n_features_selected_ == free.total_cost_ == 5
    paid = GBFSRegressor(base="lines", mu=free.mu_max_, **QUICK)
    with pytest.warns(NothingBoughtWarning):
        assert paid.fit(X, score).n_features_selected_ == 0
    below = GBFSRegressor(base="lines", mu=float(np.nextafter(free.mu_max_, 0)), **QUICK).fit(X, score)
    assert below.n_features_selected_ >= 1


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile", "poisson"])
@pytest.mark.parametrize("base", ["auto", "lines"])
def test_every_loss(loss, base):
    X, y = load_diabetes(return_X_y=True)
    wider = np.column_stack([X, np.random.default_rng(0).normal(size=(len(X), 500))])[:120]
    model = GBFSRegressor(loss=loss, n_features_to_select=3, base=base, **QUICK).fit(wider, y[:120])
    assert model.n_features_selected_ == 3
    assert min(model.selected_features_) < 10


@pytest.mark.slow
def test_three_classes_weights_missing_values_and_sparse_columns():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    wider = np.column_stack([X, rng.normal(size=(150, 200)) * (rng.random((150, 200)) < 0.1)])
    weights = rng.uniform(0.5, 2.0, 150)
    model = GBFSClassifier(n_features_to_select=2, **QUICK)
    dense = model.fit(wider, y, weights)
    assert dense.score(wider, y) > 0.9
    proba = dense.predict_proba(wider)
    assert np.allclose(proba.sum(axis=1), 1.0)
    sparse = GBFSClassifier(n_features_to_select=2, **QUICK).fit(sp.csr_matrix(wider), y, weights)
    assert bytes_of(sparse) == bytes_of(dense)
    holes = wider.copy()
    holes[::7, 2] = np.nan
    assert GBFSClassifier(n_features_to_select=2, **QUICK).fit(holes, y, weights).score(holes, y) > 0.85


def test_categories_have_no_lines():
    rng = np.random.default_rng(0)
    X, score = wide(60, 90)
    X[:, 5] = rng.integers(3, size=60)
    score += 5 * (X[:, 5] == 1)
    model = GBFSRegressor(n_features_to_select=3, base="lines", categorical_features=[5], **QUICK).fit(X, score)
    assert 5 not in model.selected_features_
    y = np.random.default_rng(1).normal(size=400) + 5 * (np.arange(400) % 3 == 1)
    table = np.column_stack([np.arange(400) % 3, np.random.default_rng(2).normal(size=(400, 3))])
    mixed = GBFSRegressor(n_features_to_select=2, categorical_features=[0], **QUICK).fit(table, y)
    assert 0 in mixed.selected_features_  # which a ridge could not use
    assert 0 not in mixed._model.ensemble.scales.feature


# ------------------------------------------------------------------------------------------ same bytes, files, CV


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"base": "lines"}, {"fewer": True}, {"average": 3}], ids=str)
def test_same_bytes_for_any_number_of_threads_and_memory_order(more):
    X, score = wide(70, 120)
    y = score > 0
    models = [
        GBFSClassifier(n_features_to_select=4, n_jobs=jobs, **QUICK, **more).fit(table, y)
        for jobs, table in ((1, X), (2, np.asfortranarray(X)), (3, X))
    ]
    assert len({bytes_of(m) for m in models}) == 1


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["exp", "cube", "scale"]))
def test_a_column_on_another_scale_is_the_same_column(seed, how):
    X, score = wide(50, 60, seed=seed)
    change = {"exp": np.exp, "cube": lambda v: v**3, "scale": lambda v: 8 * v + 1}[how]
    models = [
        GBFSRegressor(n_features_to_select=3, base="lines", line_scale="ranks", **QUICK).fit(table, score)
        for table in (X, change(X))
    ]
    assert models[0].selected_features_.tolist() == models[1].selected_features_.tolist()
    assert np.array_equal(models[0].predict(X), models[1].predict(change(X)))


def test_saved_and_pickled(tmp_path):
    X, score = wide(60, 90)
    for more in ({}, {"base": "lines"}, {"base": "both"}):
        model = GBFSClassifier(n_features_to_select=4, **QUICK, **more).fit(X, score > 0)
        model.save(tmp_path / "model.frugal")
        for again in (frugalboost.load(tmp_path / "model.frugal"), pickle.loads(pickle.dumps(model))):
            assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
            assert again.base_ == model.base_
            only = again.transform(X)
            assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
            assert only.shape == (60, 4)


def test_cross_validation_tries_bases():
    X, score = wide(80, 120)
    search = GBFSClassifierCV(
        GBFSClassifier(**QUICK), n_mus=4, bases=["trees", "lines"], max_depths=[1, 2], cv=3, random_state=0
    ).fit(X, score > 0)
    tried = {(p["base"], p["max_depth"]) for p in search.cv_results_["params"]}
    assert tried == {("trees", 1), ("trees", 2), ("lines", 1)}
    assert search.best_params_["base"] == "lines"
    assert search.estimator_.base_ == "lines"
    with pytest.raises(ValueError, match="empty"):
        GBFSClassifierCV(bases=[]).fit(X, score > 0)


# ---------------------------------------------------------------------------------------------------- the pieces


def test_the_mean_of_lines_and_trees_is_their_mean():
    X, score = wide(80, 6)
    task = prepared(X, (score > 0).astype(int))
    lines = ridge_model(task, np.arange(6), float(L2S[4]), 1)
    trees = base_learner.boost(replace(task, params=replace(task.params, mu=0.0, base="trees")), None, None, 1)
    mean = mean_of([lines, trees], task, 1)
    raw = [m.ensemble.raw(task.binned, m.best_iteration, 1) for m in (lines, trees, mean)]
    assert np.allclose(0.5 * raw[0] + 0.5 * raw[1], raw[2], atol=1e-12)
    assert mean.curve.train_loss[-1] == pytest.approx(
        mean.ensemble.loss_of(raw[2], task.train, task.train, task.loss, 1)
    )


def test_ridges_are_those_of_scikit_learn():
    X, score = wide(80, 6)
    y = (score > 0).astype(int)
    task = prepared(X, y)
    Z = (
        np.column_stack([np.asarray(task.binned.scores).reshape(6, -1)[c][task.binned.bins(c)] for c in range(6)])
        / 1024
    )
    for l2, ridge in zip(L2S[2:7], fit_ridges(task, np.arange(6), L2S[2:7], 1)):
        rival = LogisticRegression(C=1 / (l2 * 80), tol=1e-8, max_iter=1000).fit(Z, y)
        assert np.allclose(ridge.slopes, rival.coef_, atol=1e-4)
        assert np.allclose(ridge.start, rival.intercept_, atol=1e-4)


def test_held_out_losses_choose_one_setting_for_all_folds():
    found = base_learner.HeldOut([np.array([3.0, 1.0, 2.0]), np.array([3.0, 2.5])])
    assert found.best == 1
    assert found.losses.tolist() == [1.0, 2.5]
    assert found.loss == 1.75


def test_numbers_to_try_go_up_to_the_one_allowed():
    assert exactly_k.sizes_up_to([1]) == [1]
    assert exactly_k.sizes_up_to([20]) == [1, 2, 3, 4, 6, 8, 11, 16, 20]
    assert exactly_k.sizes_up_to([0, 5, 7]) == [1, 2, 3, 4, 5, 6, 7]


# ------------------------------------------------------------------------------------------ refit at a mu


def test_refit_auto_learns_what_to_fit():
    """A straight answer is refitted by lines, a crooked one by trees."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    how = {"mu": 0.02, "refit": "auto", "early_stopping": True, "random_state": 0}
    straight = GBFSRegressor(**how).fit(X, X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=300))
    assert straight.refit_scores_["kept"] == "refit"
    assert len(straight.lines_) == 2
    crooked = GBFSRegressor(**how).fit(X, np.sign(X[:, 0]) * np.sign(X[:, 1]) + 0.1 * rng.normal(size=300))
    assert crooked.base_ == "trees"
    trees = GBFSRegressor(base="trees", **how).fit(X, X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=300))
    assert trees.base_ == "trees"


@pytest.mark.parametrize("base", ["lines", "both"])
def test_a_refit_keeps_its_base(base):
    X, score = wide(n=120, d=8)
    model = GBFSRegressor(mu=0.02, base=base, refit=True, **QUICK).fit(X, score)
    assert model.base_ in ({"lines"} if base == "lines" else {"lines", "both"})
    assert len(model.lines_)


# ---------------------------------------------------------------------------------- tables with nothing to buy


def nothing_for_lines(kind):
    """More columns than rows, in which lines can buy nothing, and settings."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 80))
    if kind == "categories":
        return rng.integers(3, size=(60, 80)), {"categorical_features": list(range(80))}
    if kind == "constants":
        return np.ones((60, 80)), {}
    if kind == "budget":
        return X, {"costs": Prices(np.full(80, 2.0)), "budget": 1.0}
    return X, {"costs": Prices(np.full(80, np.inf))}


@pytest.mark.parametrize("base", ["auto", "lines"])
@pytest.mark.parametrize("kind", ["categories", "constants", "budget", "not for sale"])
@pytest.mark.filterwarnings("ignore")
def test_lines_that_can_buy_nothing(kind, base):
    X, more = nothing_for_lines(kind)
    y = np.random.default_rng(1).normal(size=60)
    model = GBFSRegressor(n_features_to_select=2, base=base, **more, **QUICK).fit(X, y)
    assert len(model.selected_features_) == (2 if kind == "categories" and base == "auto" else 0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [40, 300])
def test_fewer_with_several_numbers(n):
    """None among them too; and what one number gets does not depend on the others."""
    X, score = wide(n=n, d=60, informative=5, noise=0.2)
    how = {"estimator": GBFSRegressor(fewer=True, max_iter=20, min_samples_leaf=5)}
    path = gbfs_path(X, score, n_features_to_select=[0, 5, 7], **how)
    alone = gbfs_path(X, score, n_features_to_select=[5], **how)
    found = [len(m.selected_features_) for m in path.estimators]
    assert found[0] == 0
    assert found[1] <= 5
    assert found[2] <= 7
    assert found[1] == len(alone.estimators[0].selected_features_)


def test_mu_max_is_in_the_unit_of_mu():
    X, score = wide()
    how = {"base": "lines", **QUICK}
    for unit in ("share", "absolute"):
        asked = GBFSRegressor(n_features_to_select=2, mu_unit=unit, **how).fit(X, 100 * score)
        plain = GBFSRegressor(0.001, mu_unit=unit, **how).fit(X, 100 * score)
        assert asked.mu_max_ == pytest.approx(plain.mu_max_, rel=1e-6)


@pytest.mark.parametrize("kind", ["array", "sparse"])
@pytest.mark.parametrize("way", ["fit", "refit", "average", "path"])
def test_repeated_rows_are_held_out_together(kind, way, monkeypatch):
    """Folds that divide equal rows judge models on rows that they have seen."""
    rng = np.random.default_rng(3)
    X, y = np.repeat(rng.normal(size=(60, 5)), 3, axis=0), np.repeat(rng.integers(0, 2, 60), 3)
    row, seen = np.repeat(np.arange(60), 3), []

    def spy(rows, *args, **more):
        found = folds.stratified_folds(rows, *args, **more)
        seen.extend(found)
        return found

    for module in (base_learner, importance, averaging):
        monkeypatch.setattr(module, "stratified_folds", spy)
    given = X if kind == "array" else sp.csr_array(X)
    number = {"n_features_to_select": 2} if way in ("fit", "path") else {}
    extra = {"refit": {"refit": "auto"}, "average": {"refit": True, "average": 3}}.get(way, {})
    model = GBFSClassifier(**QUICK, **extra, **({} if way == "path" else number))
    if way == "path":
        gbfs_path(given, y, estimator=model, n_features_to_select=[2])
    else:
        model.fit(given, y, **({"X_val": X[::3], "y_val": y[::3]} if way == "refit" else {}))
    assert seen
    for train, held in seen:
        assert not set(row[train]) & set(row[held])


def test_repeated_rows_in_batches_are_held_out_together_too():
    """Equal rows may lie in different batches; the model is that of the table in memory."""
    rng = np.random.default_rng(0)
    X = np.tile(rng.normal(size=(80, 4)), (2, 1))
    y = X[:, 0] + X[:, 1] + np.tile(rng.normal(size=80), 2)
    settings = {"n_features_to_select": 2, "max_iter": 20, "random_state": 0}
    whole = GBFSRegressor(**settings).fit(X, y)
    read = GBFSRegressor(**settings).fit(lambda: iter([(X[:50], y[:50]), (X[50:], y[50:])]))
    assert bytes_of(read) == bytes_of(whole)
