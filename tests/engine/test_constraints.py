"""Monotonic and interaction constraints: what a model promises, wherever a row lies and however the model was made.

That trees and lines are those of the oracle, to the bit, is the family "constrained" in ``test_families.py``, and on
the plain engine in ``test_naive_engine.py``.
"""

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import reference
import reference_constraints
from families import constrained, ordered, with_constraints
from hypothesis import event, given
from hypothesis import strategies as st
from same_trees import assert_same_bytes
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingRegressor
from test_parts import assert_same_model, fitted, in_parts, task_of
from test_reference import fit_both

from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor, gbfs_path, load
from frugalboost.costs import Bags, Neighbours, Prices

SEEDS = st.integers(0, 2**32 - 1)


def raw_of(model, X):
    names = getattr(model, "feature_names_in_", None)
    return np.asarray(model._raw(X if names is None else pd.DataFrame(X, columns=names)), dtype=float)


def grid_of(column, thresholds):
    """Values to move along: those of the column, thresholds, values beside both, and far ones."""
    known = np.unique(np.concatenate([column[~np.isnan(column)], thresholds[np.isfinite(thresholds)]]))
    beside = np.concatenate([np.nextafter(known, -np.inf), known, np.nextafter(known, np.inf)])
    return np.unique(np.clip(np.concatenate([beside, [-1e300, 1e300]]), -1.7e308, 1.7e308))


def assert_monotone(model, X, trends, seed=0, rows=12):
    """Moved along a column with a trend, no row's raw prediction goes the other way, not by the last bit."""
    rng, trees = np.random.default_rng(seed), model._model.ensemble
    own = X[rng.integers(0, len(X), rows)]
    mixed = np.column_stack([rng.permutation(column)[:rows] for column in X[rng.integers(0, len(X), 3 * rows)].T])
    checked = 0
    for f in np.flatnonzero(trends):
        values = grid_of(X[:, f], trees.threshold[trees.feature == f])
        for row in np.concatenate([own, mixed]):
            moved = np.repeat(row[None], len(values), axis=0)
            moved[:, f] = values
            steps = np.diff(raw_of(model, moved)) * trends[f]
            assert (steps >= 0).all(), (f, row, steps.min())
            checked += int((steps > 0).any())
    return checked


def ways(trees, tree):
    """The columns on the way to each leaf of a tree."""
    begin, end = trees.tree_begin[tree], trees.tree_begin[tree + 1]
    above = {begin: frozenset()}
    for node in range(begin, end):
        if trees.feature[node] < 0:
            yield above[node]
            continue
        for child in (0, 1):
            above[begin + trees.left[node] + child] = above[node] | {int(trees.feature[node])}


def assert_kept_apart(model, groups, d):
    trees, longest = model._model.ensemble, 0
    for tree in range(len(trees.tree_begin) - 1):
        for way in ways(trees, tree):
            longest = max(longest, len(way))
            if way:
                first, *rest = way
                assert reference_constraints.may_meet(groups, frozenset(rest), first, d) or not rest, way
    return longest


# ------------------------------------------------------------------------------------------- the promise


@pytest.mark.parametrize("draw", [constrained, ordered])
@given(seed=SEEDS)
def test_predictions_keep_the_trends(draw, seed):
    rng = np.random.default_rng(seed)
    X, y, weights, name, options = draw(rng)
    if not options.monotonic and not options.interactions:
        options = with_constraints(rng, options, X.shape[1], with_trends=name != "multinomial")
    model, _ = fit_both(X[:, :50], y, weights, name, _first_columns(options, 50))
    trends = np.array(options.monotonic or [0] * X.shape[1])[:50]
    moved = assert_monotone(model, X[:, :50], trends, seed, rows=4)
    event(f"{name}: {'moved' if moved else 'nothing moved'}")
    assert_kept_apart(model, _first_columns(options, 50).interactions, min(X.shape[1], 50))


def _first_columns(options, most):
    groups = options.interactions
    if isinstance(groups, list):
        groups = [{c for c in group if c < most} for group in groups]
    prices = options.prices[:most] if options.prices else None
    return replace(options, monotonic=options.monotonic[:most], interactions=groups, prices=prices)


def made(n=600, d=6, seed=0):
    """The first column rises, the second falls, the third does both; the fourth only helps with the fifth."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(2)
    X[rng.random((n, d)) < 0.05] = np.nan
    Z = np.nan_to_num(X)
    y = np.where(Z[:, 0] > 0, 2.0, 0.0) - Z[:, 1] + Z[:, 2] ** 2 + 2.0 * (Z[:, 3] > 0) * (Z[:, 4] > 0)
    return X, y + rng.normal(size=n)


TRENDS = [1, -1, 1, 0, 0, -1]
REGRESSIONS = ("squared_error", "absolute_error", "huber", "quantile", "poisson")


def target_of(loss, y):
    return np.round(np.exp(np.clip(y / 3, -2, 2))) if loss == "poisson" else y


def fit(X, y, **settings):
    settings = {"mu": 1e-4, "max_iter": 40, "min_samples_leaf": 5, "monotonic_cst": TRENDS} | settings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GBFSRegressor(**settings).fit(X, y)


@pytest.mark.parametrize("loss", REGRESSIONS)
@pytest.mark.parametrize("base", ["trees", "lines", "both"])
def test_every_loss_keeps_the_trends(loss, base):
    X, y = made()
    for settings in ({"leaf_values": "gradient"}, {"max_depth": None, "min_samples_leaf": 1, "learning_rate": 0.5}):
        model = fit(X, target_of(loss, y), loss=loss, base=base, **settings)
        assert assert_monotone(model, X, TRENDS) > 10
        free = fit(X, target_of(loss, y), loss=loss, base=base, monotonic_cst=None, **settings)
        if base == "lines":  # each column has one slope, of the right sign here
            continue
        with pytest.raises(AssertionError):
            assert_monotone(free, X, TRENDS)


@pytest.mark.parametrize("base", ["trees", "both"])
def test_two_classes_keep_the_trend_of_the_second(base):
    X, y = made()
    names = np.array(["no", "yes"])[(y > np.median(y)).astype(int)]
    model = GBFSClassifier(1e-4, max_iter=40, monotonic_cst=TRENDS, base=base).fit(X, names)
    assert assert_monotone(model, X, TRENDS) > 10
    row = np.repeat(np.nan_to_num(X[:1]), 50, axis=0)
    row[:, 0] = np.linspace(-3, 3, 50)
    assert model.predict_proba(row)[-1, 1] > model.predict_proba(row)[0, 1]


# A model made in every way that fits again: on chosen features, in folds, on parts of the rows, continued.
WAYS = {
    "exactly three": {"n_features_to_select": 3},
    "at most four, lines and trees": {"n_features_to_select": 4, "fewer": True, "base": "auto", "max_iter": 20},
    "three by lines": {"n_features_to_select": 3, "base": "lines", "max_iter": 20},
    "refit": {"refit": True},
    "the better one": {"refit": "auto", "early_stopping": True, "random_state": 0},
    "averaged": {"refit": True, "average": 3},
    "early stopping": {"early_stopping": True, "random_state": 1},
    "sampled features": {"new_features": 0.5},
    "bags": {"costs": Bags([0, 0, 1, 1, 2, 2]), "mu": 1e-3},
    "neighbours": {"costs": Neighbours([[0, 1], [1, 2], [3, 4]], discount=0.5)},
    "prices": {"costs": Prices([1, 2, 0, 1, 1, 0]), "budget": 3.0},
    "never stops": {"stop": "never"},
    "from zero": {"init": "zero"},
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_a_model_keeps_constraints(way):
    X, y = made()
    groups = [[0, 1, 2], [2, 3, 5]]
    model = fit(X, y, interaction_cst=groups, **WAYS[way])
    assert model.n_features_selected_ >= 2
    assert assert_monotone(model, X, TRENDS) > 0
    assert_kept_apart(model, [set(g) for g in groups], X.shape[1])


def test_few_rows_and_many_columns_keep_trends():
    """A ridge of lines would be fitted here; its slopes have no trends, so it is not a candidate."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 90))
    y = X[:, :3].sum(axis=1) + 0.3 * rng.normal(size=60)
    trends = [-1, 1, 1, *([1, 0] * 43), 1]
    model = fit(X, y, monotonic_cst=trends, n_features_to_select=5, base="auto", max_iter=30)
    assert_monotone(model, X, trends)
    assert 0 not in model.selected_features_[:1]


def test_paths_and_cross_validation_keep_trends():
    X, y = made(300)
    estimator = GBFSRegressor(max_iter=10, monotonic_cst=TRENDS, min_samples_leaf=5)
    for model in gbfs_path(X, y, estimator=estimator, n_mus=4).estimators:
        assert model.monotonic_cst == TRENDS
        assert_monotone(model, X, TRENDS)
    search = GBFSClassifierCV(GBFSClassifier(max_iter=10, monotonic_cst=TRENDS), mus=[1e-2, 1e-3], cv=3)
    assert_monotone(search.fit(X, y > 0).estimator_, X, TRENDS)


# ---------------------------------------------------------------------------------------- what is offered


def test_a_forbidden_effect_is_not_bought_at_any_price():
    """Column 0 explains nearly all, in the forbidden way; only "missing against present" is left of it."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = -5.0 * X[:, 0] + 0.5 * X[:, 1] + 0.1 * rng.normal(size=300)
    settings = {"costs": [0.0, 1.0, 1.0], "max_iter": 5, "max_depth": 1, "mu": 1e-4}
    assert 0 in fit(X, y, monotonic_cst=None, **settings).selected_features_
    model = fit(X, y, monotonic_cst=[1, 0, 0], **settings)
    assert 0 not in model.selected_features_
    assert model.mu_max_ < fit(X, y, monotonic_cst=None, **(settings | {"costs": None})).mu_max_
    y = np.where(np.arange(300) % 3 == 0, 3.0, y)
    X[::3, 0] = np.nan
    tree = fit(X, y, monotonic_cst=[1, 0, 0], **settings)._model.ensemble
    assert tree.threshold[tree.feature == 0].tolist() == [np.inf] * int((tree.feature == 0).sum()) != []


def test_a_purchase_elsewhere_makes_no_forbidden_split_possible():
    """Column 1 gains most below column 0, where it may not be; bought in the next tree, it still may not."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (400, 3)).astype(float)
    y = 4.0 * X[:, 0] + 3.0 * X[:, 0] * X[:, 1] + X[:, 2] + 0.01 * rng.normal(size=400)
    model = fit(X, y, monotonic_cst=None, interaction_cst=[[0, 2], [1, 2]], max_iter=20, max_depth=3)
    assert set(model.selected_features_) == {0, 1, 2}
    assert assert_kept_apart(model, [{0, 2}, {1, 2}], 3) == 2
    free = fit(X, y, monotonic_cst=None, max_iter=20, max_depth=3)
    with pytest.raises(AssertionError):
        assert_kept_apart(free, [{0, 2}, {1, 2}], 3)


@pytest.mark.parametrize(
    ("given", "longest"), [("no_interactions", 1), ("pairwise", 2), ([[0, 1, 2]], 3), ([range(5), [5]], 3)]
)
def test_words_and_groups(given, longest):
    X, y = made()
    given = given if isinstance(given, str) else [set(group) for group in given]
    for settings in ({}, {"screening": "exact"}, {"new_features": 0.7}):
        model = fit(X, y, monotonic_cst=None, interaction_cst=given, max_depth=3, **settings)
        assert assert_kept_apart(model, given, 6) == longest


def test_columns_in_no_group_are_a_group():
    X, y = made()
    listed = fit(X, y, monotonic_cst=None, interaction_cst=[[0, 1]])
    whole = fit(X, y, monotonic_cst=None, interaction_cst=[(0, 1), {2, 3, 4, 5}])
    assert_same_bytes(listed._model.ensemble, whole._model.ensemble)
    assert_same_bytes(
        fit(X, y, interaction_cst=[range(6)])._model.ensemble, fit(X, y, interaction_cst=None)._model.ensemble
    )


def test_no_interactions_of_additive_effects_cost_nothing():
    """Where effects add up, trees that may not mix columns fit as well."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (2000, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
    apart = fit(X[:1000], y[:1000], monotonic_cst=None, interaction_cst="no_interactions", max_iter=200, max_depth=2)
    assert apart.score(X[1000:], y[1000:]) > 0.98


@pytest.mark.parametrize("depth", [1, 3, 6])
def test_as_good_as_scikit_learn(depth):
    X, y = made(3000, seed=1)
    Z, z = made(3000, seed=2)
    settings = {"learning_rate": 0.1, "max_iter": 60, "max_depth": depth}
    ours = fit(X, y, min_samples_leaf=20, mu=0.0, **settings)
    theirs = HistGradientBoostingRegressor(
        **settings, min_samples_leaf=20, monotonic_cst=TRENDS, max_leaf_nodes=None, early_stopping=False
    ).fit(X, y)
    assert ours.score(Z, z) > theirs.score(Z, z) - 0.01


# --------------------------------------------------------------------------------------------- same bytes


@pytest.mark.parametrize("base", ["trees", "both"])
@pytest.mark.parametrize("interactions", [None, [[0, 1], [2, 3, 4]]])
def test_threads_parts_and_forms_of_a_table_change_nothing(base, interactions, tmp_path):
    X, y = made(900)
    X[:, 5] = np.where(np.random.default_rng(5).random(900) < 0.03, X[:, 5], 0.0)  # a sparse column
    settings = {"interaction_cst": interactions, "base": base, "max_iter": 15}
    one = fit(X, y, n_jobs=1, **settings)
    others = [
        fit(X, y, n_jobs=7, **settings),
        fit(np.asfortranarray(X), y, **settings),
        fit(pd.DataFrame(X, columns=list("abcdef")), y, **_by_name(settings)),
        fit(sparse.csr_array(X), y, **settings),
        fit([(X[:400], y[:400]), (X[400:], y[400:])], None, **settings),
        fit(X, y, **(settings | {"screening": "exact"})),
        fit(X, y, **(settings | {"screening": "off"})),
    ]
    for other in others:
        assert_same_bytes(other._model.ensemble, one._model.ensemble)
        assert other.history_["bought"] == one.history_["bought"] or "a" in other.history_["bought"]
    model = GBFSRegressor(1e-4, min_samples_leaf=5, monotonic_cst=TRENDS, **settings)
    task = task_of(model, X, y)
    for parts in (2, 3):
        for found in in_parts(task, np.arange(len(y)) * parts // len(y)):
            assert_same_model(found, fitted(task))


def _by_name(settings):
    names = list("abcdef")
    groups = settings["interaction_cst"]
    groups = groups if groups is None else [[names[c] for c in group] for group in groups]
    by_name = {n: v for n, v in zip(names, TRENDS) if v or n == "d"}
    return settings | {"interaction_cst": groups, "monotonic_cst": by_name}


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_screening_of_wide_tables_changes_nothing(weighted):
    """Enough rows and columns for screening by a sample, and sparse columns."""
    rng = np.random.default_rng(4)
    n, d = 21_000, 300
    X = rng.normal(size=(n, d)).astype(np.float32)
    X[:, 200:] = np.where(rng.random((n, 100)) < 0.04, X[:, 200:], 0.0)
    y = X[:, :6] @ [3, -2, 2, 1, 1, -1] + X[:, 0] * X[:, 3] + 2 * X[:, 210] + rng.normal(size=n)
    trends = rng.choice([-1, 0, 1], d).tolist()
    weights = rng.random(n) + 0.5 if weighted else None
    settings = {"mu": 1e-3, "max_iter": 12, "monotonic_cst": trends, "interaction_cst": [range(7), range(5, d)]}
    models = [GBFSRegressor(screening=s, **settings).fit(X, y, weights) for s in ("off", "exact", "auto")]
    assert models[0].n_features_selected_ > 3
    for model in models[1:]:
        assert_same_bytes(model._model.ensemble, models[0]._model.ensemble)
        assert model.history_["bought"] == models[0].history_["bought"]


def test_zeros_are_no_constraints():
    X, y = made()
    assert_same_bytes(fit(X, y, monotonic_cst=[0] * 6)._model.ensemble, fit(X, y, monotonic_cst=None)._model.ensemble)


# --------------------------------------------------------------------------- continued, saved, described


def test_a_continued_fit_is_one_long_fit():
    X, y = made()
    settings = {"interaction_cst": "pairwise", "warm_start": True}
    short = fit(X, y, max_iter=10, **settings)
    for iterations in (20, 40):
        short.set_params(max_iter=iterations).fit(X, y)
    assert_same_bytes(short._model.ensemble, fit(X, y, max_iter=40, interaction_cst="pairwise")._model.ensemble)


@pytest.mark.parametrize("change", [{"monotonic_cst": None}, {"interaction_cst": "pairwise"}])
@pytest.mark.parametrize("from_file", [False, True])
def test_other_constraints_can_not_be_continued(change, from_file, tmp_path):
    X, y = made()
    model = fit(X, y, max_iter=3, warm_start=True)
    if from_file:
        model.save(tmp_path / "model")
        model = load(tmp_path / "model")
    before = model._model
    with pytest.raises(ValueError, match="another monotonic_cst or interaction_cst"):
        model.set_params(max_iter=6, **change).fit(X, y)
    assert model._model is before
    model.set_params(monotonic_cst=tuple(TRENDS), interaction_cst=None).fit(X, y)
    assert model.n_iter_ == 6


@pytest.mark.parametrize(
    ("monotonic", "groups"),
    [
        (TRENDS, "pairwise"),
        (np.array(TRENDS), [{0, 3}, (1, np.int64(2))]),
        (pd.Series(TRENDS, list("abcdef")), [{"a", "b"}, ["c"]]),
        ({"a": 1, "b": np.int8(-1), "c": 0}, "no_interactions"),
    ],
)
def test_files_bring_constraints_back(monotonic, groups, tmp_path):
    X, y = made()
    table = pd.DataFrame(X, columns=list("abcdef"))
    model = fit(table, y, max_iter=5, monotonic_cst=monotonic, interaction_cst=groups, warm_start=True)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    for one in (model, again):
        one.set_params(max_iter=15).fit(table, y)
    assert_same_bytes(model._model.ensemble, again._model.ensemble)
    trends = [dict(monotonic).get(n, 0) for n in "abcdef"] if hasattr(monotonic, "items") else TRENDS
    assert_monotone(again, X, trends)


def test_exports_predict_the_same():
    lightgbm = pytest.importorskip("lightgbm")
    from frugalboost.export import to_lightgbm

    X, y = made()
    model = fit(X, y, interaction_cst="pairwise", base="both")
    booster = lightgbm.Booster(model_str=to_lightgbm(model, features="all"))
    np.testing.assert_allclose(booster.predict(X), model.predict(X), rtol=1e-12)


def test_categories_beside_trends():
    rng = np.random.default_rng(6)
    X, y = made()
    X[:, 3] = rng.integers(0, 5, len(X))
    y = y + np.array([0.0, 3.0, -2.0, 1.0, 5.0])[X[:, 3].astype(int)]
    model = fit(X, y, categorical_features=[3])
    assert 3 in model.selected_features_
    assert assert_monotone(model, X, TRENDS) > 10


# ------------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"monotonic_cst": [1, 0]}, "one entry for each of the 6 columns"),
        ({"monotonic_cst": [[1, 0, 0, 0, 0, 0]]}, "one entry for each of the 6 columns"),
        ({"monotonic_cst": [2, 0, 0, 0, 0, 0]}, r"monotonic_cst\[0\] is 2; a trend is -1"),
        ({"monotonic_cst": [0, 0.5, 0, 0, 0, 0]}, r"monotonic_cst\[1\] is 0.5"),
        ({"monotonic_cst": [0, np.nan, 0, 0, 0, 0]}, r"monotonic_cst\[1\] is nan"),
        ({"monotonic_cst": [True, 0, 0, 0, 0, 0]}, r"monotonic_cst\[0\] is True"),
        ({"monotonic_cst": ["1", 0, 0, 0, 0, 0]}, r"monotonic_cst\[0\] is '1'"),
        ({"monotonic_cst": {"a": 1, "z": 1}}, "no column called 'z'"),
        ({"monotonic_cst": {"a": "up"}}, r"monotonic_cst\['a'\] is 'up'"),
        ({"monotonic_cst": "up"}, "monotonic_cst"),
        ({"monotonic_cst": [0, 0, 0, 1, 0, 0], "categorical_features": [3]}, "'d' is categorical"),
        ({"interaction_cst": "triples"}, "interaction_cst"),
        ({"interaction_cst": [0, 1]}, "Put it in brackets"),
        ({"interaction_cst": ["a", "b"]}, "Put it in brackets"),
        ({"interaction_cst": [[0, 6]]}, "there is no column 6"),
        ({"interaction_cst": [[-1]]}, "there is no column -1"),
        ({"interaction_cst": [["z"]]}, "no column called 'z'"),
        ({"interaction_cst": [[0.0]]}, "neither the position nor the name"),
        ({"interaction_cst": [[True]]}, "neither the position nor the name"),
    ],
)
def test_errors_are_sentences(settings, message):
    X, y = made(60)
    X[:, 3] = np.arange(60) % 3
    table, model = pd.DataFrame(X, columns=list("abcdef")), GBFSRegressor(max_iter=2, **settings)
    with pytest.raises(ValueError, match=message):
        model.fit(table, y)
    assert not hasattr(model, "n_iter_")


def test_names_need_a_data_frame():
    X, y = made(60)
    for settings in ({"monotonic_cst": {"a": 1}}, {"interaction_cst": [["a"]]}):
        with pytest.raises(ValueError, match="X has no names of columns"):
            GBFSRegressor(**settings).fit(X, y)


def test_more_than_two_classes_have_no_trend():
    X, y = made(200)
    y = np.digitize(y, [-1, 1])
    with pytest.raises(ValueError, match="monotonic_cst is for two classes"):
        GBFSClassifier(monotonic_cst=TRENDS).fit(X, y)
    for strategy in ("one_output_per_tree", "multi_output_tree"):
        model = GBFSClassifier(
            1e-3, max_iter=10, interaction_cst="no_interactions", multi_strategy=strategy, min_samples_leaf=5
        ).fit(X, y)
        assert assert_kept_apart(model, "no_interactions", 6) == 1


# ------------------------------------------------------------------------------------- the oracle's parts


def test_leaf_values_in_order_are_touched_only_where_they_are_not():
    node = reference.Node

    def leaf(value, weight):
        return node(None, value=value, weight=weight)

    def split(feature, *children):
        weight = sum(c.weight for c in children)
        return node(None, feature=feature, threshold=0.0, children=children, weight=weight)

    root = split(0, split(1, leaf(0.0, 9.0), leaf(10.0, 1.0)), split(1, leaf(5.0, 5.0), leaf(6.0, 5.0)))
    reference_constraints.in_order(root, [1, 0])
    assert [x.value for x in reference_constraints.leaves(root)] == [0.0, 5.0, 5.0, 6.0]
    root = split(0, leaf(3.0, 1.0), leaf(1.0, 3.0))
    reference_constraints.in_order(root, [1, 0])
    assert [x.value for x in reference_constraints.leaves(root)] == [2.0, 2.0]
    reference_constraints.in_order(root := split(0, leaf(3.0, 1.0), leaf(1.0, 3.0)), [-1, 0])
    assert [x.value for x in reference_constraints.leaves(root)] == [3.0, 1.0]


@given(seed=SEEDS)
def test_the_constrained_gain_is_what_the_squares_lose(seed):
    """The formula against 1/2 sum w (g - value)^2 before and after the split, written down as it is."""
    rng = np.random.default_rng(seed)
    gl, gr = (int(v) for v in rng.integers(-1000, 1000, 2))
    wl, wr = (int(v) for v in rng.integers(1, 100, 2))
    ends = np.sort(rng.normal(scale=20, size=2))
    limits = reference_constraints.SplitLimits(int(rng.integers(-1, 2)), reference_constraints.Range(*ends))
    factor = 0.5 / (wl + wr)
    gain = limits.gain(gl, wl, gr, wr, factor, reference.split_gain(gl, wl, gr, wr, factor), True)
    left, right, here = limits.range.value(gl, wl), limits.range.value(gr, wr), limits.range.value(gl + gr, wl + wr)
    if gain is None:
        assert left == right or (right - left) * limits.trend < 0
        return

    def half_squares(g, w, value):
        return 0.5 * w * value * value - g * value

    before = half_squares(gl + gr, wl + wr, here)
    after = half_squares(gl, wl, left) + half_squares(gr, wr, right)
    assert gain == pytest.approx(before - after, rel=1e-9, abs=1e-9 * (1 + abs(before)))
    assert gain <= reference.split_gain(gl, wl, gr, wr, factor) * (1 + 1e-12)


def test_grids_are_ascending():
    assert all(a < b for a, b in pairwise(grid_of(np.array([1.0, np.nan, 3.0]), np.array([2.0, np.inf]))))
