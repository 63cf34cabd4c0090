"""What each feature does: curves are mean predictions, directions are those of pairs of rows, the work is bounded."""

from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import frugalboost
from frugalboost import GBFSClassifier, GBFSRegressor, losses
from frugalboost.report import effects
from frugalboost.report.direction import direction_of
from frugalboost.report.effects import affordable, effects_of, first_iterations, owners, places_of, shown_values

TARGETS = ("number", "count", "two", "four")


def made(target, n=150, seed=0, missing=True, categories=True):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "few": rng.integers(0, 4, n), "tail": np.exp(3 * rng.normal(size=n))})
    kind = rng.choice(["oak", "ash", "elm", "fir"], n, p=[0.5, 0.3, 0.15, 0.05])
    score = X["a"] + 0.5 * X["few"] + (kind == "oak") + 0.3 * np.log(X["tail"]) + 0.2 * rng.normal(size=n)
    if categories:
        X["kind"] = pd.Categorical(kind)
    if missing:
        X.loc[::9, "a"] = np.nan
        if categories:
            X.loc[::11, "kind"] = None
    if target == "count":
        return X, rng.poisson(np.exp(0.4 * score))
    if target in ("two", "four"):
        ends = [0.5] if target == "two" else [0.25, 0.5, 0.75]
        return X, np.array(list("pqrs"))[np.digitize(score, np.quantile(score, ends))]
    return X, score


def fitted(target, X, y, weights=None, **settings):
    own = {"mu": 0.0, "max_iter": 15, "max_depth": 3, "min_samples_leaf": 5} | settings
    if target in ("two", "four"):
        return GBFSClassifier(**own).fit(X, y, weights)
    return GBFSRegressor(**own, loss=losses.Poisson() if target == "count" else "squared_error").fit(X, y, weights)


def with_value(X, name, value):
    """The table with one value in a column; None: missing."""
    if isinstance(X[name].dtype, pd.CategoricalDtype):
        return X.assign(**{name: pd.Categorical([value] * len(X), X[name].cat.categories)})
    return X.assign(**{name: np.nan if value is None else value})


def mean_prediction(model, X, weights, of):
    if of is None:
        return np.average(model.predict(X), weights=weights)
    place = model.classes_.tolist().index(of)
    return np.average(model.predict_proba(X)[:, place], weights=weights)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("base", ["trees", "both"])
@pytest.mark.parametrize("target", TARGETS)
def test_curves_are_mean_predictions_with_the_value_in_all_rows(target, base, weighted):
    X, y = made(target)
    weights = np.random.default_rng(1).integers(1, 5, len(X)).astype(float) if weighted else None
    model = fitted(target, X, y, weights, base=base)
    found = effects_of(model, model._like()._checked(X, y, weights)[0])
    assert {X.columns[own["column"]] for own in found} == set(X.columns[model.feature_importances_ > 0])
    assert len(found) >= 3
    for own in found:
        name = X.columns[own["column"]]
        for i, of in enumerate(own["of"]):
            expected = [mean_prediction(model, with_value(X, name, value), weights, of) for value in own["x"]]
            np.testing.assert_allclose(own["y"][i], expected, rtol=2e-3, atol=1e-4)  # rounded to four digits
            assert own["mean"][i] == pytest.approx(mean_prediction(model, X, weights, of), rel=1e-3)
            if own["missing"]:
                wanted = mean_prediction(model, with_value(X, name, None), weights, of)
                assert own["missing"]["y"][i] == pytest.approx(wanted, rel=1e-3, abs=1e-4)
        assert (own["missing"] is not None) == X[name].isna().any()
        apart = own["missing"]["share"] if own["missing"] and own["kind"] == "category" else 0
        assert sum(own["rows"]) + apart == pytest.approx(1, abs=0.02)


def test_sklearn_agrees():
    from sklearn.inspection import partial_dependence

    X, y = made("number", missing=False, categories=False)
    X = X.astype(float)
    model = fitted("number", X, y)
    for own in effects_of(model, model._like()._checked(X, y, None)[0]):
        grid = {own["column"]: np.array(own["x"])}
        theirs = partial_dependence(model, X, [own["column"]], method="brute", custom_values=grid)
        np.testing.assert_allclose(own["y"][0], theirs["average"][0], rtol=2e-3)


def test_sparse_tables_have_the_same_effects():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(200, 6)) * (rng.random((200, 6)) < 0.3)
    y = dense[:, 1] - 2 * dense[:, 4] + 0.1 * rng.normal(size=200)
    found = []
    for X in (dense, sparse.csr_matrix(dense), sparse.csc_matrix(dense)):
        model = fitted("number", X, y)
        found.append(effects_of(model, model._like()._checked(X, y, None)[0]))
    assert found[0] == found[1] == found[2]
    assert {own["column"]: own["direction"] for own in found[0]}[4] == "falls"


def test_names_of_classes_do_not_matter_and_the_largest_changes_are_shown():
    X, y = made("four")
    found = []
    for names in (dict(zip("pqrs", "pqrs", strict=True)), dict(zip("pqrs", [3, 1, 4, 0], strict=True))):
        new = np.array([names[v] for v in y])
        model = fitted("four", X, new)
        back = {str(v): k for k, v in names.items()}
        for own in effects_of(model, model._like()._checked(X, new, None)[0]):
            assert len(own["of"]) == effects.MOST_CLASSES
            swings = [max(y) - min(y) for y in own["y"]]
            assert swings == sorted(swings, reverse=True)
            found.append({back[c]: np.array(sorted(y)) for c, y in zip(own["of"], own["y"], strict=True)})
    half = len(found) // 2
    for one, other in zip(found[:half], found[half:], strict=True):
        for name in one.keys() & other.keys():
            np.testing.assert_allclose(one[name], other[name], atol=1e-3)


def test_many_features_many_classes_and_many_rows_are_bounded(monkeypatch):
    X, y = made("four", n=1000)
    model = fitted("four", X, y)
    trees = first_iterations(model)
    own = trees.with_columns(places_of(np.arange(4), 4))
    features = [0, 1, 2, 3]
    per_feature = np.bincount(owners(own)[:, 1], minlength=4)
    for work in (10**4, 10**5, 10**6, 10**7):
        monkeypatch.setattr(effects, "WORK", work)
        n_values, n_rows, n_features = affordable(own, features)
        cost = per_feature[features[:n_features]].sum() * (n_values + 1) * n_rows
        assert cost <= work or n_features == 1
        assert effects.LEAST_ROWS <= n_rows <= effects.MOST_ROWS
        found = effects_of(model, model._like()._checked(X, y, None)[0])
        assert len(found) == n_features
        assert max(len(one["x"]) for one in found) <= n_values + 2
    assert n_features == 4


def test_a_model_without_trees_has_no_effects():
    X, y = made("number")
    with pytest.warns(UserWarning, match="constant"):
        model = fitted("number", X, y, mu=1e9)
    assert effects_of(model, model._like()._checked(X, y, None)[0]) == []


# ----------------------------------------------------------------------------------------------------- where rows are


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=300), st.integers(3, 25))
def test_values_that_are_shown_are_there(numbers, most):
    known = np.sort(np.array(numbers, dtype=float))
    values = shown_values(known, most)
    assert set(values.tolist()) <= set(known.tolist())
    assert (np.diff(values) > 0).all()
    assert len(values) <= most + 2
    if len(set(numbers)) <= most:
        assert set(values.tolist()) == set(known.tolist())
    elif len(set(numbers)) > 1:
        assert len(values) > 1


def test_a_column_without_values():
    X, y = made("number", categories=False)
    X["gone"] = np.nan
    model = fitted("number", X, y)
    assert 3 not in [own["column"] for own in effects_of(model, model._like()._checked(X, y, None)[0])]


def test_an_axis_is_stretched_where_rows_are_crowded():
    X, y = made("number")
    model = fitted("number", X, y)
    found = {X.columns[own["column"]]: own for own in effects_of(model, model._like()._checked(X, y, None)[0])}
    assert found["tail"]["unit"] > 0
    assert "unit" not in found["a"]
    assert "unit" not in found["few"]
    assert sum(found["few"]["histogram"]) == len(X)


# ---------------------------------------------------------------------------------------------------------- direction

curves = st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 9)), min_size=1, max_size=12)


def naive(curve, rows):
    up = down = 0.0
    for i in range(len(curve)):
        for j in range(i + 1, len(curve)):
            change = (curve[j] - curve[i]) * rows[i] * rows[j]
            up, down = up + max(change, 0), down - min(change, 0)
    return up / (up + down) if up + down > 0 else 0.5


@given(curves)
def test_directions_are_those_of_pairs_of_rows(pairs):
    curve, rows = (np.array(values, dtype=float) for values in zip(*pairs, strict=True))
    said = direction_of(curve, rows)
    assert said.rising == pytest.approx(naive(curve, rows))
    opposite = {"rises": "falls", "falls": "rises", "up then down": "down then up", "down then up": "up then down"}
    assert direction_of(-curve, rows).words == opposite.get(said.words, said.words)
    assert direction_of(1000 + 3.5 * curve, 7 * rows).words == said.words
    seen = rows > 0
    if seen.any():  # where there are no rows, a curve says nothing
        assert direction_of(curve[seen], rows[seen]).words == said.words
    steps = np.diff(curve[seen])
    if len(steps) and (steps >= 0).all() and steps.any():
        assert said.words == "rises"
    if len(set(curve[seen].tolist())) <= 1:
        assert said.words == "flat"


@pytest.mark.parametrize(
    ("curve", "words"),
    [
        ([0, 1, 2, 3], "rises"),
        ([3, 2, 2, 0], "falls"),
        ([0, 2, 4, 2, 0], "up then down"),
        ([4, 1, 0, 1, 3], "down then up"),
        ([0, 3, 0, 3, 0], "no clear direction"),
        ([0, 5, 10, 9.5, 10], "rises"),  # a small dent
        ([1, 1, 1], "flat"),
        ([2], "flat"),
    ],
)
def test_directions_in_words(curve, words):
    assert direction_of(np.array(curve, dtype=float), np.full(len(curve), 1 / len(curve))).words == words


def test_few_rows_far_out_do_not_turn_a_curve():
    curve = np.array([0.0, 1.0, 2.0, 3.0, 0.0])
    assert direction_of(curve, np.array([0.25, 0.25, 0.25, 0.249, 0.001])).words == "rises"
    assert direction_of(curve, np.full(5, 0.2)).words != "rises"


def test_dates_and_times_are_written_as_such():
    rng = np.random.default_rng(0)
    days, minutes = rng.integers(0, 400, 300), rng.integers(0, 1440, 300)
    when = [f"{date(2021, 3, 1) + timedelta(days=int(d)):%d/%m/%Y}" for d in days]
    y = 3 * (days > 200) + 2 * (minutes > 720) + 0.1 * rng.standard_normal(300)
    table = pd.DataFrame({"when": when, "clock": [f"{m // 60:02d}:{m % 60:02d}" for m in minutes], "y": y})
    report = frugalboost.select(table, "y").report
    kinds = {report.contents["names"][f["name"]]: f["kind"] for f in report.contents["chosen"]["features"]}
    assert kinds == {"when": "date", "clock": "time"}
    split = next(n["text"] for n in report.contents["tree"] if n["feature"] == "when")
    assert split.startswith("≤ 2021-09-1"), split  # day 200 is 2021-09-17, the bin below ends some days before it
    page = report.html()
    assert "2021-03-0" in page
    assert "18,7" not in page  # no days since 1970
