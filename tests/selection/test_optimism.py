"""What a choice among many models flatters the chosen one by, and the interval for new rows."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtrit
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, get_scorer, make_scorer

import frugalboost
from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor, GBFSRegressorCV
from frugalboost.recipe import splitting
from frugalboost.selection.optimism import (
    MOST_BLOCKS,
    Blocks,
    HeldOutScores,
    SplitScores,
    block_of_rows,
    estimate,
    interval,
)
from frugalboost.selection.row_scores import BY_PROBABILITY, OF_CLASSES, OF_NUMBERS, row_scores
from frugalboost.selection.scoring import best_score
from frugalboost.selection.splits import chosen_index

NAMES = [*OF_CLASSES, *BY_PROBABILITY, "roc_auc", *sorted(set(OF_NUMBERS) - {"R²"})]
FORMS = {  # in which a user may hold the same targets
    "array": lambda y: y,
    "column": lambda y: y[:, None],
    "objects": lambda y: y.astype(object),
    "column of objects": lambda y: y.astype(object)[:, None],
    "list": lambda y: y.tolist(),
    "series": pd.Series,
    "frame": pd.DataFrame,
}


class Fixed:
    """A fitted model whose predictions are given."""

    def __init__(self, raw, classes):
        self.raw, self.classes_ = raw, np.arange(classes)
        self._estimator_type = "classifier" if classes else "regressor"

    def __sklearn_tags__(self):
        tags = frugalboost.GBFSClassifier().__sklearn_tags__()
        tags.estimator_type = self._estimator_type
        return tags

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return self.raw[:, 0]

    def predict_proba(self, X):
        if len(self.classes_) == 2:
            one = 1 / (1 + np.exp(-self.raw[:, 0]))
            return np.column_stack([1 - one, one])
        shares = np.exp(self.raw)
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)] if len(self.classes_) else self.raw[:, 0]


def drawn_case(seed, name):
    """A model, its rows, and weights, some of them far apart."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 40))
    classes = 0 if name in OF_NUMBERS else 2 if name == "roc_auc" else int(rng.integers(2, 5))
    raw = np.round(rng.normal(size=(n, max(classes, 1))), int(rng.integers(1, 6)))  # often equal
    y = rng.integers(0, classes, n) if classes else rng.normal(size=n)
    y[:classes] = np.arange(classes)
    if name == "neg_mean_poisson_deviance":
        y, raw = np.floor(np.abs(2 * y)), np.exp(raw)
    weights = rng.choice([1.0, 3.0, 0.25, 100.0], n) if rng.random() < 0.7 else None
    return Fixed(raw, classes), np.zeros((n, 1)), y, weights


def test_two_names_of_one_score():
    assert OF_NUMBERS["R²"] is OF_NUMBERS["r2"]


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 2**32 - 1), form=st.sampled_from(sorted(FORMS)))
@settings(max_examples=40, deadline=None)
def test_rows_add_up_to_scikit_learns_score(name, seed, form):
    model, X, y, weights = drawn_case(seed, name)
    score = get_scorer(name)(model, X, y, sample_weight=weights)
    found = row_scores(name, model, X, FORMS[form](y), weights)
    np.testing.assert_allclose(np.average(found, weights=weights), score, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_a_row_tells_how_the_score_changes_with_its_weight(name, seed):
    model, X, y, weights = drawn_case(seed, name)
    weights = np.ones(len(y)) if weights is None else weights
    found, scorer, step = row_scores(name, model, X, y, weights), get_scorer(name), 1e-6 * weights.sum()
    score = scorer(model, X, y, sample_weight=weights)
    for i in range(3):
        more = weights.copy()
        more[i] += step
        slope = (scorer(model, X, y, sample_weight=more) - score) / 1e-6
        scale = 1 + np.abs(found).max()
        np.testing.assert_allclose(slope / scale, (found[i] - score) / scale, atol=1e-4)


def test_scores_that_rows_do_not_tell():
    model, X, y, _ = drawn_case(0, "accuracy")
    assert row_scores("f1", model, X, y, None) is None
    assert row_scores("roc_auc", Fixed(np.zeros((3, 3)), 3), X[:3], np.arange(3), None) is None
    assert row_scores("r2", model, X, np.zeros((len(y), 2)), None) is None
    constant = row_scores("r2", Fixed(np.zeros((3, 1)), 0), X[:3], np.ones(3), None)
    np.testing.assert_array_equal(constant, 0.0)


# ------------------------------------------------------------------------------------------------------- blocks


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_groups_stay_in_one_block_and_means_add_up(seed):
    rng = np.random.default_rng(seed)
    n, most = int(rng.integers(1, 60)), int(rng.integers(1, 12))
    groups = rng.integers(0, rng.integers(1, 40), n)
    of_row = block_of_rows(n, groups, most)
    assert len(np.unique(of_row)) == min(most, len(np.unique(groups)))
    for group in np.unique(groups):
        assert len(np.unique(of_row[groups == group])) == 1
    rows, weights = rng.normal(size=n), rng.choice([0.0, 0.5, 2.0], n) + 1e-3
    for blocks in (Blocks(of_row, weights), Blocks(of_row, weights).put_together(3)[0]):
        assert len(blocks.numbers) == len(blocks.totals) == len(blocks.means(rows))
        np.testing.assert_allclose(blocks.totals @ blocks.means(rows), weights @ rows)


def test_many_rows_become_few_blocks_of_even_size():
    sizes = np.bincount(block_of_rows(10 * MOST_BLOCKS, None))
    np.testing.assert_array_equal(sizes, 10)


def of_rows(right, splits=5, weights=None):
    """Held-out scores: each row in one split."""
    n = right.shape[1]
    parts = [np.arange(i, n, splits) for i in range(splits)]
    w = np.ones(n) if weights is None else weights
    return HeldOutScores([SplitScores(p, w[p], right[:, p]) for p in parts])


def best_of(found):
    return int(np.nanmean(found, axis=0).argmax())


# ----------------------------------------------------------------------------------------------------- estimate


def test_the_best_of_many_guesses_is_no_better_than_a_guess():
    rng, expected, measured, held = np.random.default_rng(0), [], [], []
    for _ in range(60):
        right = (rng.random((100, 80)) < 0.5).astype(float)
        chosen = int(right.mean(axis=1).argmax())
        found = estimate(of_rows(right), chosen, best_of, True, 1.0)
        expected.append(found.score)
        measured.append(right[chosen].mean())
        held.append(found.low <= 0.5 <= found.high)
    assert np.mean(measured) > 0.61  # too good to be true
    assert abs(np.mean(expected) - 0.5) < 0.015
    assert np.mean(held) >= 0.9


def test_a_clear_winner_is_not_corrected():
    rng = np.random.default_rng(0)
    right = (rng.random((50, 400)) < 0.5).astype(float)
    right[7] = rng.random(400) < 0.9
    found = estimate(of_rows(right), 7, best_of, True, 1.0)
    assert found.score == pytest.approx(right[7].mean(), abs=1e-12)
    assert found.candidates == 1  # no draw chose another one


def test_intervals_hold_a_rate_that_was_not_chosen():
    rng, held = np.random.default_rng(0), []
    for rate in np.repeat([0.02, 0.1, 0.4], 100):
        right = (rng.random((1, 100)) < 1 - rate).astype(float)
        found = estimate(of_rows(right), 0, lambda _: 0, True, 1.0)
        held.append(found.low <= 1 - rate <= found.high)
    assert 0.93 <= np.mean(held) <= 0.995


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_sums_are_exact_in_any_order(seed):
    rng = np.random.default_rng(seed)
    n, weights = 40, np.exp(rng.normal(scale=5, size=40))
    scores = rng.normal(size=(3, n)) * 10.0 ** rng.integers(-30, 30)
    times = rng.integers(0, 5, (6, n)).astype(float)
    order = rng.permutation(n)
    plain = HeldOutScores([SplitScores(np.arange(n), weights, scores)]).drawn(times)
    # Blocks are named by number, so another order of them must not matter.
    names = np.argsort(order)
    other = HeldOutScores([SplitScores(names, weights, scores)])
    again = other.drawn(times[:, order])
    np.testing.assert_array_equal(plain, again)
    by_hand = (times * weights) @ scores.T / ((times * weights).sum(axis=1) + 1e-300)[:, None]
    filled = (times * weights).sum(axis=1) > 0
    np.testing.assert_allclose(plain[filled, 0], by_hand[filled], rtol=1e-8, atol=1e-9 * np.abs(scores).max())


def test_candidates_of_another_search_stand_beside_the_first_splits():
    right = np.arange(40.0).reshape(4, 10)
    one, other = of_rows(right[:3]), of_rows(right[3:])
    both = one.beside(HeldOutScores(other.splits[:2])).drawn(np.ones((1, 10)))[0]
    np.testing.assert_array_equal(both[:, :3], one.drawn(np.ones((1, 10)))[0])
    np.testing.assert_array_equal(both[:2, 3], other.drawn(np.ones((1, 10)))[0][:2, 0])
    assert np.isnan(both[2:, 3]).all()


@pytest.mark.parametrize("share", [True, False])
def test_ends_of_the_interval_are_possible_scores(share):
    for score in (0.0, 0.01, 0.5, 1.0):
        for spread in (0.0, 0.01, 3.0):
            low, high = interval(score, spread, 10, share, 1.0)
            assert low <= score <= high <= 1.0
            assert low >= 0 or not share
    assert interval(1.0, 0.0, 1000, True, 1.0)[0] > interval(1.0, 0.0, 10, True, 1.0)[0] > 0.6


@given(
    score=st.one_of(st.floats(0, 1), st.floats(0, 1e-3), st.floats(1 - 1e-3, 1), st.sampled_from([0.0, 1.0])),
    spread=st.one_of(st.floats(0, 0.6), st.floats(0, 1e-3), st.just(1e-17)),
    n=st.integers(2, 3000),
)
def test_the_interval_of_a_share_is_never_much_wider_than_its_spread_and_its_rows_allow(score, spread, n):
    """A spread of nearly nothing must not make it wide, however near 0 or 1 the share is."""
    low, high = interval(score, spread, n, True, 1.0)
    assert 0 <= low <= score <= high <= 1
    t = stdtrit(max(1, n - 1), 0.975)
    own_low, own_high = interval(score, 0.0, n, True, 1.0)
    assert own_low - low <= t * spread + 1e-12
    assert high - own_high <= t * spread + 1e-12
    wider = interval(score, spread + 0.01, n, True, 1.0)
    assert wider[0] <= low + 1e-12
    assert wider[1] >= high - 1e-12


def test_no_mistake_on_held_out_rows_is_nearly_none_on_new_ones():
    rng = np.random.default_rng(5)
    table = pd.DataFrame(rng.normal(size=(150, 3)), columns=["a", "b", "c"])
    found = frugalboost.select(table.assign(y=np.where(table["a"] > 0, "ill", "well")), "y", trees=30, threads=1)
    low, high = found.choice.interval
    assert low < 1e-9
    assert high < 6


# ----------------------------------------------------------------------------------------- searches and select


def noise(n=60, d=30, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), np.arange(n) % 2


def test_searches_tell_the_score_to_expect():
    X, y = noise()
    search = GBFSClassifierCV(GBFSClassifier(max_iter=20), n_mus=8, max_iters=[2, 5, 20], random_state=0).fit(X, y)
    assert search.best_score_ > search.corrected_score_ > 0.3
    low, high = search.score_interval_
    assert low < 0.5 < high
    again = pickle.loads(pickle.dumps(search))
    assert again.score_interval_ == search.score_interval_
    assert not hasattr(again, "_held_out_scores")
    X, y = load_breast_cancer(return_X_y=True)
    clear = GBFSRegressorCV(GBFSRegressor(max_iter=20), mus=[0.001], random_state=0).fit(X, y)
    assert clear.corrected_score_ == pytest.approx(clear.best_score_, abs=0.03)  # splits overlap
    assert clear.score_interval_[0] < clear.best_score_ < clear.score_interval_[1] <= best_score("r2")


def test_any_scorer_gets_an_interval():
    X, y = load_breast_cancer(return_X_y=True)

    def fitted(scoring):
        return GBFSClassifierCV(GBFSClassifier(max_iter=5), n_mus=4, scoring=scoring, random_state=0).fit(X, y)

    named, own = fitted("accuracy"), fitted(make_scorer(accuracy_score))
    assert own.corrected_score_ == pytest.approx(named.corrected_score_, abs=0.02)
    width = np.ptp(named.score_interval_)
    assert width / 3 < np.ptp(own.score_interval_) < 3 * width


@pytest.mark.parametrize("target", ["classes", "numbers"])
def test_the_headline_is_that_of_new_rows(target):
    X, y = noise(80, 40)
    frame = pd.DataFrame(X).assign(y=y if target == "classes" else X[:, 0] + X[:, 1] ** 2)
    found = frugalboost.select(frame, "y", trees=60, rule="min", threads=1)
    same = frugalboost.select(frame, "y", trees=60, rule="min", threads=2)
    assert found.choice == same.choice
    choice, text = found.choice, repr(found)
    low, high = choice.interval
    assert low <= choice.expected_error <= high
    assert f"on new rows about {choice.expected_error:.1f} %" in text or target == "numbers"
    assert "95 % interval" in text
    if target == "classes":  # pure noise
        assert choice.error < choice.expected_error
        assert low < 50 < high


@given(seed=st.integers(0, 2**32 - 1), wanted=st.integers(2, 12), classes=st.booleans())
@settings(max_examples=30, deadline=None)
def test_every_row_is_held_out_as_often_as_others(seed, wanted, classes):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 60))
    y = rng.integers(0, 3, n) if classes else rng.normal(size=n)
    task = type("Task", (), {"is_classification": classes, "scoring": None})
    rows = frugalboost.tables.sample.Sample(None, y)
    found = splitting.random_splits(rows, splitting.Ties(), task, wanted, seed % 1000)
    held = np.bincount(np.concatenate([held for _, held in found.cv]), minlength=n)
    assert found.n_splits == wanted
    assert held.max() - held.min() <= 1
    for train, out in found.cv:
        np.testing.assert_array_equal(np.sort(np.r_[train, out]), np.arange(n))


def test_the_rule_is_repeated_not_the_best_score():
    """Draws choose by the rule of the search."""
    X, y = load_breast_cancer(return_X_y=True)
    search = GBFSClassifierCV(GBFSClassifier(max_iter=10), n_mus=8, rule="1se", random_state=0).fit(X, y)
    results = search.cv_results_
    assert search.best_index_ == chosen_index(results, "1se") != chosen_index(results, "min")
    assert search.corrected_score_ < results["mean_test_score"].max()
