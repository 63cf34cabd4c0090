"""The rivals: each finds what matters, and all answer alike."""

import sys
import warnings
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC

from lab import rivals
from lab.rivals import (
    MRMR,
    Boruta,
    CatBoostSelect,
    Frugalboost,
    FrugalboostForward,
    FrugalboostPlain,
    GroupLasso,
    HSICLasso,
    L1Logistic,
    Lasso,
    LassoNet,
    LightGBMCEGB,
    LightGBMElimination,
    LightGBMGain,
    LightGBMGainFewRows,
    RandomForestSelection,
    RelaxedL1,
    Selector,
    SVMElimination,
    TunedSVM,
)
from lab.rivals import hsic_lasso as hsic_module
from lab.rivals import l1_logistic as l1_module
from lab.rivals import mrmr as mrmr_module
from lab.rivals import svm_rfe as rfe_module
from lab.rivals.hsic_kernels import cut, kernels, label_kernel, lasso_order, most_relevant
from lab.rivals.optional import needed
from lab.rivals.paths import WEAKER, Standard
from lab.rivals.relaxed_l1 import shrunk
from lab.rivals.rows import Rows, random_splits, standardised
from lab.rivals.svm_rfe import weights as svm_weights

for package in ("skglm", "pyHSICLasso", "lightgbm"):  # numba takes a second to import: one process alone does
    if find_spec(package) is None:
        pytest.skip(f"needs {package}", allow_module_level=True)
# In one process: numba compiles for a quarter of a minute.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("rivals")]

RNG = np.random.default_rng(0)
ROWS, COLUMNS, CONSTANT = 160, 12, 11
X = RNG.normal(size=(ROWS, COLUMNS))
X[:, CONSTANT] = 3.0
Y = np.where(X[:, 4] + X[:, 5] - 1.5 * X[:, 8] + 0.3 * RNG.normal(size=ROWS) > 0.2, "yes", "no")
LABELS = (Y == "yes").astype(np.int64)
MATTER = {4, 5, 8}
GROUPS = np.arange(COLUMNS) // 2
SIZES = (1, 2, 3, 4, 7)

KINDS = {
    "l1": L1Logistic(splits=2),
    "forest": RandomForestSelection(trees=60, tuning_trees=10, splits=2),
    "mrmr": MRMR(splits=2),
    "hsic": HSICLasso(splits=2),
    "group": GroupLasso(GROUPS, splits=2),
    "relaxed": RelaxedL1(splits=2),
    "svm_rfe": SVMElimination(splits=2),
    "mrmr, lightgbm": MRMR(final="lightgbm"),
    "gain": LightGBMGain(SIZES),
    "gain, few rows": LightGBMGainFewRows(SIZES),
    "elimination": LightGBMElimination(SIZES),
    "cegb": LightGBMCEGB(SIZES),
    "ours": Frugalboost(SIZES),
    "ours, forward": FrugalboostForward(SIZES),
    "ours, plain": FrugalboostPlain(SIZES),
}
PACKAGES = {  # those that need a package which is not in the extra "test"
    "catboost": (CatBoostSelect(SIZES), "catboost"),
    "boruta": (Boruta(SIZES, iterations=20), "boruta"),
    "lassonet": (LassoNet(SIZES), "torch"),
}
KINDS |= {name: kind for name, (kind, package) in PACKAGES.items() if find_spec(package)}
every = pytest.mark.parametrize("name", KINDS)
ranked = pytest.mark.parametrize("name", ["forest", "mrmr", "hsic", "relaxed", "svm_rfe"])
weighted = pytest.mark.parametrize("name", ["l1", "forest"])


@pytest.fixture(scope="module")
def fitted():
    """Each of them, fitted once."""
    return {name: clone(kind).fit(X, Y) for name, kind in KINDS.items()}


def rows(table=X, labels=LABELS):
    return Rows(table, labels, np.ones(len(labels)))


def weights_of(model):
    weights = np.zeros(COLUMNS)
    weights[model.columns] = model.weights
    return weights


# ------------------------------------------------------------------------------------------ one interface


@every
def test_it_finds_what_matters(name, fitted):
    k = 4 if name == "group" else 3
    assert set(fitted[name].features(k)) >= MATTER
    error = (fitted[name].predict(X, k) != Y).mean()
    assert error < 0.1
    assert error < (fitted[name].predict(X, 2) != Y).mean()


@every
@pytest.mark.parametrize("k", [0, 1, 2, 3, 7, COLUMNS, 1000])
def test_at_most_k_columns_that_differ(name, k, fitted):
    found = fitted[name].features(k)
    assert found.dtype == np.int64
    assert len(found) <= k
    assert len(set(found)) == len(found)
    assert CONSTANT not in found
    assert set(found) <= set(range(COLUMNS))
    found[:] = -1  # what is given away is a copy
    assert (fitted[name].features(k) >= 0).all()


@every
def test_labels_are_those_that_were_given(name, fitted):
    model = fitted[name]
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.n_features_in_ == COLUMNS
    found = model.predict(X, 4)
    assert found.dtype == Y.dtype
    assert set(found) == {"no", "yes"}


@every
def test_without_features_the_larger_class_is_predicted(name, fitted):
    larger = "yes" if (Y == "yes").mean() > 0.5 else "no"
    assert fitted[name].predict(X[:7], 0).tolist() == [larger] * 7


@every
def test_predictions_come_from_the_features_alone(name, fitted):
    used = fitted[name].features(4)
    other = np.random.default_rng(1).normal(size=X.shape)
    other[:, used] = X[:, used]
    np.testing.assert_array_equal(fitted[name].predict(other, 4), fitted[name].predict(X, 4))


@every
def test_the_same_seed_gives_the_same_answer_and_says_nothing(name, fitted, capfd):
    """Nor does it touch numpy's random state."""
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = clone(KINDS[name]).fit(X, Y)
        again.predict(X, 3)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
    assert capfd.readouterr() == ("", "")
    for k in (1, 4):
        np.testing.assert_array_equal(again.features(k), fitted[name].features(k))
        np.testing.assert_array_equal(again.predict(X, k), fitted[name].predict(X, k))


@every
def test_a_sparse_table_is_the_same_table(name):
    table = np.where(np.abs(X) > 0.5, X, 0.0)
    dense, sparse = clone(KINDS[name]).fit(table, Y), clone(KINDS[name]).fit(csr_matrix(table), Y)
    np.testing.assert_array_equal(sparse.features(4), dense.features(4))
    np.testing.assert_array_equal(sparse.predict(csr_array(table), 4), dense.predict(table, 4))
    np.testing.assert_array_equal(sparse.predict(table, 4), dense.predict(csr_matrix(table), 4))


@every
def test_nothing_varies(name):
    model = clone(KINDS[name]).fit(np.ones((ROWS, COLUMNS)), Y)
    assert len(model.features(5)) == 0
    assert len(set(model.predict(X, 5))) == 1


@every
def test_clone_and_parameters(name):
    kind = KINDS[name]
    other = clone(kind).set_params(seed=7)
    assert other.get_params()["seed"] == 7
    assert isinstance(other, Selector)
    assert {key: str(value) for key, value in other.set_params(seed=0).get_params().items()} == {
        key: str(value) for key, value in kind.get_params().items()
    }
    assert kind.largest_rows is None or kind.largest_rows > 1000


@every
def test_bad_input_is_refused_with_a_sentence(name):
    model = clone(KINDS[name])
    with pytest.raises(NotFittedError, match=r"is not fitted yet\. Call 'fit'"):
        model.features(3)
    with pytest.raises(NotFittedError, match=r"is not fitted yet\. Call 'fit'"):
        model.predict(X, 3)
    with pytest.raises(ValueError, match=r"tells two classes apart; y has 3: 0, 1, 2\."):
        model.fit(X, np.arange(ROWS) % 3)
    with pytest.raises(ValueError, match=r"tells two classes apart; y has 1: no\."):
        model.fit(X, np.full(ROWS, "no"))
    with pytest.raises(ValueError, match="Class yes has 1 row; each class needs at least 2"):
        model.fit(X, np.where(np.arange(ROWS) == 0, "yes", "no"))
    with pytest.raises(ValueError, match="There are 9 rows; at least 10 are needed"):
        model.fit(X[:9], np.arange(9) % 2)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 2, np.nan, X), Y)
    assert not hasattr(model, "classes_")
    for parameter in {"splits", "seed"} & set(model.get_params()):
        with pytest.raises(ValueError, match=f"'{parameter}' parameter"):
            clone(model).set_params(**{parameter: -1}).fit(X, Y)


@every
@pytest.mark.parametrize("k", [-1, 2.0, True, "3"])
def test_bad_k_is_refused(name, k, fitted):
    with pytest.raises(ValueError, match="a whole number, zero or more"):
        fitted[name].features(k)


@every
def test_tables_of_another_width_are_refused(name, fitted):
    with pytest.raises(ValueError, match=f"expecting {COLUMNS} features"):
        fitted[name].predict(X[:, :4], 2)


@ranked
def test_models_are_kept(name, fitted, monkeypatch):
    first = fitted[name].predict(X, 3)
    monkeypatch.setattr(fitted[name], "_trained", None)
    np.testing.assert_array_equal(fitted[name].predict(X, 3), first)


def test_every_public_name_has_an_example():
    for name in rivals.__all__:
        assert ">>>" in getattr(rivals, name).__doc__


NEEDS = [(KINDS["hsic"], "pyHSICLasso"), (KINDS["group"], "skglm"), *PACKAGES.values()]


@pytest.mark.parametrize(("kind", "module"), NEEDS, ids=[module for _, module in NEEDS])
def test_a_package_that_is_not_there_is_named(kind, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r'needs .*: pip install ("frugalboost\[lab\]"|lassonet)'):
        clone(kind).fit(X, Y)


def test_a_package_that_switches_warnings_off_does_not_get_its_way(monkeypatch):
    pytest.importorskip("mrmr")
    for module in [m for m in sys.modules if m.partition(".")[0] == "mrmr"]:
        monkeypatch.delitem(sys.modules, module)
    before = list(warnings.filters)
    needed("mrmr", "mrmr-selection", "MRMR")
    assert warnings.filters == before


# ------------------------------------------------------------------------------------------ numbers, validation rows

SCORE = X[:, 4] + X[:, 5] - 1.5 * X[:, 8] + 0.1 * np.random.default_rng(1).normal(size=ROWS)
NUMBERS = {
    "lasso": Lasso(splits=2),
    "forest": RandomForestSelection(trees=60, tuning_trees=10, splits=2, task="regression"),
    "mrmr": MRMR(task="regression"),
    "gain": LightGBMGain(SIZES, task="regression"),
    "elimination": LightGBMElimination(SIZES, task="regression"),
    "cegb": LightGBMCEGB(SIZES, task="regression"),
    "ours": Frugalboost(SIZES, task="regression"),
    "ours, forward": FrugalboostForward(SIZES, task="regression"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_predicted(name):
    model = clone(NUMBERS[name]).fit(X, SCORE)
    assert set(model.features(3)) == MATTER
    errors = [np.mean((model.predict(X, k) - SCORE) ** 2) for k in (0, 1, 3)]
    assert errors[0] == pytest.approx(np.var(SCORE))
    assert errors[0] > errors[1] > 2 * errors[2]
    assert not hasattr(model, "classes_")


def test_the_lasso_is_optimal():
    """Slopes of the loss are the penalty for columns in the model and less for others."""
    model, standard = Lasso(splits=0).fit(X, SCORE), Standard.of(rows(labels=SCORE))
    place = 40
    penalty, found = model._largest_penalty(standard) / model._weaker[place - 1], model._models[place]
    slopes = standard.rows.X.T @ (SCORE - found.raw(X))
    inside = np.isin(standard.columns, found.columns)
    assert 0 < inside.sum() < len(inside)
    np.testing.assert_allclose(np.abs(slopes[inside]), penalty, rtol=0.01)
    assert np.abs(slopes[~inside]).max() <= 1.01 * penalty


@every
def test_validation_rows_are_used_and_checked(name):
    kind = KINDS[name]
    model = clone(kind).fit(X[:110], Y[:110], validation=(X[110:], Y[110:]))
    assert len(model.features(4))
    assert (model.predict(X[110:], 4) != Y[110:]).mean() < 0.35
    with pytest.raises(ValueError, match="The validation rows have 3 columns; X has 12"):
        clone(kind).fit(X, Y, validation=(X[:, :3], Y))
    with pytest.raises(ValueError, match="have the label maybe, which the training rows do not have"):
        clone(kind).fit(X, Y, validation=(X[:4], np.array(["no", "yes", "no", "maybe"])))


def test_validation_rows_choose():
    """With validation rows whose labels are wrong, whatever is chosen by them gets worse."""
    for kind in (L1Logistic(), L1Logistic(judged_by="loss")):
        good, bad = (clone(kind).fit(X[:110], Y[:110], validation=(X[110:], labels)) for labels in (Y[110:], WRONG))
        assert (good.predict(X, 9) != Y).mean() < (bad.predict(X, 9) != Y).mean()
    leaves = {
        RandomForestSelection(trees=20, tuning_trees=20)
        .fit(X[:110], Y[:110], validation=(X[110:], v))
        .min_samples_leaf_
        for v in (Y[110:], WRONG)
    }
    assert len(leaves) == 2


WRONG = np.where(Y[110:] == "yes", "no", "yes")


@every
def test_where_there_is_no_model_it_says_so(name, fitted):
    assert fitted[name].reaches(COLUMNS)
    assert not fitted[name].reaches(0)
    assert set(fitted[name].used(4)) <= set(fitted[name].features(4))


@pytest.mark.parametrize("kind", [LightGBMGain, LightGBMElimination, LightGBMCEGB])
def test_nothing_is_begun_after_the_time(kind):
    model = kind(SIZES, seconds=0.0).fit(X, Y)
    assert not any(model.reaches(k) for k in SIZES)
    assert set(model.predict(X, 4)) == {max(("yes", "no"), key=Y.tolist().count)}


def test_a_size_between_those_asked_for_is_answered_by_the_smaller_one():
    model = LightGBMGain((2, 7)).fit(X, Y)
    assert model.features(5).tolist() == model.features(2).tolist()
    assert len(model.features(1)) == 0


def test_weights_are_refused_where_they_would_not_count():
    with pytest.raises(TypeError, match="LightGBMGain takes no sample_weight"):
        LightGBMGain().fit(X, Y, sample_weight=np.ones(ROWS))


# ------------------------------------------------------------------------------------------ weights


@weighted
def test_a_row_without_weight_is_no_row(name):
    kind = clone(KINDS[name])
    weight = np.where(np.arange(ROWS) < 100, 1.0, 0.0)
    part, whole = clone(kind).fit(X[:100], Y[:100]), clone(kind).fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(whole.features(4), part.features(4))
    np.testing.assert_array_equal(whole.predict(X, 4), part.predict(X, 4))


@weighted
def test_weights_count(name):
    """Only rows with weight tell which column matters."""
    first, second = np.arange(ROWS) % 2 == 0, np.arange(ROWS) % 2 == 1
    y = np.where(first, X[:, 0] > 0, X[:, 1] > 0)
    kind = clone(KINDS[name])
    for column, heavy in ((0, first), (1, second)):
        assert kind.fit(X, y, sample_weight=np.where(heavy, 1.0, 0.01)).features(1).tolist() == [column]


def test_a_weight_of_two_is_two_rows():
    weight = np.where(X[:, 0] > 0, 2.0, 1.0)
    twice = np.repeat(np.arange(ROWS), weight.astype(int))
    light = L1Logistic(splits=1).fit(X, Y, sample_weight=weight)
    heavy = L1Logistic(splits=1).fit(X[twice], Y[twice])
    for a, b in zip(light._models, heavy._models, strict=True):
        np.testing.assert_allclose(weights_of(a), weights_of(b), rtol=0.01, atol=0.01)


def test_bad_weights_are_refused():
    with pytest.raises(ValueError, match="sample_weight has negative values"):
        L1Logistic().fit(X, Y, sample_weight=-np.ones(ROWS))


# ------------------------------------------------------------------------------------------ paths


@pytest.mark.parametrize("name", ["l1", "group"])
def test_the_path_and_what_is_chosen_from_it(name, fitted):
    model = fitted[name]
    assert len(model.path_) == len(WEAKER) + 1
    assert model.path_[0] == (0, pytest.approx(min(LABELS.mean(), 1 - LABELS.mean()), abs=0.02))
    assert model.path_[-1][0] == COLUMNS - 1
    for k in (1, 3, 4, 9):
        lowest = min(error for n, error in model.path_ if n <= k)
        place = max(i for i, (n, error) in enumerate(model.path_) if n <= k and error == lowest)
        np.testing.assert_array_equal(model.features(k), model._models[place].columns)
        np.testing.assert_array_equal(model.predict(X, k), model.classes_[model._models[place].predict(X)])


def test_errors_of_the_path_are_those_of_the_splits(fitted):
    model = fitted["l1"]
    place = 50
    penalty = model._largest_penalty(Standard.of(rows())) / WEAKER[place]
    errors = []
    for train, held_out in random_splits(rows(), model.splits, model.seed):
        standard = Standard.of(train)
        (found,) = model._followed(standard, [penalty])
        errors.append((found.predict(held_out.X) != held_out.labels).mean())
        assert len(held_out.labels) == ROWS / 5
    assert model.path_[place + 1][1] == pytest.approx(np.mean(errors))


def test_without_splits_the_largest_model_is_taken():
    model = L1Logistic(splits=0).fit(X, Y)
    counts = [n for n, _ in model.path_]
    assert np.isnan([error for _, error in model.path_]).all()
    for k in (0, 1, 3, 7, X.shape[1]):
        assert len(model.features(k)) == max(n for n in counts if n <= k)


def test_where_no_model_is_small_enough_there_is_none():
    """A twin enters with its column, so that no model has one column."""
    twins = np.column_stack([LABELS + 0.1 * X[:, 0]] * 2)
    model = L1Logistic(judged_by="loss", splits=2).fit(twins, Y)
    model.path_ = [(n if n == 0 else 2, error) for n, error in model.path_]
    assert not model.reaches(1)
    assert len(set(model.predict(twins, 1))) == 1


def test_further_penalties_where_the_first_columns_enter():
    plain, more = L1Logistic(splits=0).fit(X, Y), L1Logistic(splits=0, first=20).fit(X, Y)
    assert len(more.path_) == len(plain.path_) + 20
    assert more._weaker[0] == pytest.approx(1.0005)
    assert (np.diff(more._weaker) > 0).all()
    assert {n for n, _ in plain.path_[:20]} <= {n for n, _ in more.path_}


def test_the_path_ends_after_count():
    short = L1Logistic(count=2, splits=2).fit(X, Y)
    assert short.path_[-1][0] > 4
    assert all(n <= 4 for n, _ in short.path_[:-1])
    np.testing.assert_array_equal(short.features(2), L1Logistic(splits=2).fit(X, Y).features(2))


def test_a_fit_that_begins_with_few_columns_is_the_same(monkeypatch):
    """Others join as they are needed."""
    table = np.random.default_rng(2).normal(size=(80, 60))
    y = table[:, 3] + table[:, 30] - table[:, 59] > 0.5
    for wide in (table, csr_matrix(np.where(np.abs(table) > 0.7, table, 0.0))):
        monkeypatch.setattr(l1_module, "WORKING", 1000)
        whole = L1Logistic(splits=0).fit(wide, y)
        monkeypatch.setattr(l1_module, "WORKING", 2)
        grown = L1Logistic(splits=0).fit(wide, y)
        for a, b in list(zip(whole._models, grown._models, strict=True))[:50]:
            assert np.sum(np.abs(a.raw(wide) - b.raw(wide)) > 0.02) == 0
        assert set(grown.features(5)) == set(whole.features(5))


def test_the_relaxed_path_ranks_by_entry_and_shrinks(fitted):
    path, model = L1Logistic(splits=0).fit(X, Y), fitted["relaxed"]
    entry = {c: next(i for i, m in enumerate(path._models) if c in m.columns) for c in model.ranking_}
    assert list(entry.values()) == sorted(entry.values())
    assert len(entry) == COLUMNS - 1
    weak, strong = (np.abs(shrunk(rows(X[:, [4, 5, 8]]), C).weights).sum() for C in (1e-4, 100.0))
    assert weak < 0.1 * strong


def test_elimination_keeps_what_a_linear_svm_needs(monkeypatch):
    table = np.random.default_rng(3).normal(size=(100, 40))
    y = (table[:, 7] - table[:, 33] > 0).astype(np.int64)
    slow = SVC(kernel="linear").fit(standardised(table), y)
    np.testing.assert_allclose(svm_weights(standardised(table), y), slow.coef_[0], atol=1e-6)
    monkeypatch.setattr(rfe_module, "SINGLE", 10)  # a tenth at a time first
    model = SVMElimination(count=6).fit(table, y)
    assert set(model.features(2)) == {7, 33}
    assert len(model.ranking_) == 6
    model.predict(table, 2)
    assert model._models[2].kernel == "linear"


def test_groups_of_one_column_are_the_lasso(fitted):
    alone = GroupLasso(list(range(COLUMNS)), splits=2).fit(X, Y)
    for a, b in list(zip(fitted["l1"]._models, alone._models, strict=True))[:70]:
        assert a.intercept == pytest.approx(b.intercept, abs=0.05)
        np.testing.assert_allclose(weights_of(a), weights_of(b), atol=0.03)


def test_group_lasso_is_optimal(fitted):
    model, standard = fitted["group"], Standard.of(rows())
    penalties = model._largest_penalty(standard) / WEAKER
    Z, place = standard.rows.X, 45
    found = model._models[place + 1]
    chance = 1 / (1 + np.exp(-(X[:, found.columns] @ found.weights + found.intercept)))
    slopes = Z.T @ (chance - LABELS)
    groups = GROUPS[standard.columns]
    for group in np.unique(groups):
        steep, size = np.linalg.norm(slopes[groups == group]), np.sqrt((groups == group).sum())
        if group in model._codes[found.columns]:
            assert steep == pytest.approx(penalties[place] * size, rel=0.01)
        else:
            assert steep <= penalties[place] * size * 1.01
    assert 0 < len(found.columns) < COLUMNS - 1


def test_groups_are_taken_as_a_whole(fitted):
    model = fitted["group"]
    assert model.features(1).tolist() == []
    for k in (2, 4, 6):
        used = model.groups_used(k)
        assert set(model.features(k)) == {c for c in range(COLUMNS) if GROUPS[c] in used} - {CONSTANT}
    assert set(model.groups_used(4)) == {2, 4}
    assert model.groups_used(0) == []


def test_groups_have_labels_of_any_kind():
    labels = ["a", 1, None, ("b", 2), "a", "a", 1, None, "c", "c", "c", "d"]
    model = GroupLasso(labels, splits=2).fit(X, Y)
    assert set(model.groups_used(COLUMNS)) <= set(labels)
    assert "c" in model.groups_used(7)
    with pytest.raises(ValueError, match="groups has 3 labels; X has 12 columns, and each needs one"):
        GroupLasso([1, 2, 3]).fit(X, Y)
    with pytest.raises(NotFittedError):
        GroupLasso([1, 2, 3]).groups_used(2)


def test_a_group_that_is_constant_in_a_split_does_no_harm():
    """skglm mixes groups up when one of them is all 0."""
    table = X.copy()
    table[:, :2] = 0.0
    table[0, :2] = 1.0  # constant wherever row 0 is held out
    model = GroupLasso(GROUPS).fit(table, Y)
    assert set(model.features(4)) >= MATTER
    assert min(error for n, error in model.path_ if n == 4) < 0.15


# ------------------------------------------------------------------------------------------ rankings


def test_the_forest():
    forest = RandomForestSelection(trees=40, tuning_trees=10, splits=2).fit(X, Y)
    assert forest.min_samples_leaf_ in (1, 5, 20)
    assert forest.importances_[CONSTANT] == 0
    np.testing.assert_array_equal(forest.importances_[forest.ranking_], np.sort(forest.importances_)[::-1][:-1])
    fixed = RandomForestSelection(trees=40, min_samples_leaf=7, min_weight_fraction_leaf=0.1).fit(X, Y)
    assert fixed.min_samples_leaf_ == 7
    fixed.predict(X, 2)
    trained = fixed._models[2]
    assert (trained.n_estimators, trained.min_samples_leaf, trained.min_weight_fraction_leaf) == (40, 7, 0.1)
    threads = clone(fixed).set_params(n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(threads.importances_, fixed.importances_)


@pytest.mark.filterwarnings("ignore:.*constant", "ignore:invalid value")
def test_mrmr_is_the_packages(fitted):
    pandas, mrmr = pytest.importorskip("pandas"), pytest.importorskip("mrmr")
    theirs = mrmr.mrmr_classif(pandas.DataFrame(X), pandas.Series(LABELS), COLUMNS, n_jobs=1, show_progress=False)
    assert fitted["mrmr"].ranking_.tolist() == theirs


def test_mrmr_takes_twins_last():
    table = np.column_stack([X[:, 8], X[:, 8] + 1e-3 * X[:, 0], X[:, 4]])
    assert MRMR().fit(table, X[:, 8] + 0.8 * X[:, 4] > 0).features(3).tolist()[1] == 2


def test_mrmr_reckons_with_columns_that_tell_classes_apart():
    assert MRMR().fit(np.column_stack([LABELS, LABELS]), Y).features(4).tolist() == [0, 1]


def test_mrmr_on_very_wide_tables_looks_at_the_most_relevant(monkeypatch, fitted):
    monkeypatch.setattr(mrmr_module, "MOST_COLUMNS", 4)
    few = MRMR().fit(X, Y)
    assert len(few.ranking_) == 4
    assert few.features(1).tolist() == fitted["mrmr"].features(1).tolist()


def test_count():
    assert len(MRMR(count=3).fit(X, Y).features(10)) == 3
    assert len(HSICLasso(count=3).fit(X, Y).features(10)) == 3


# ------------------------------------------------------------------------------------------ HSIC lasso


def test_hsic_lasso_sees_what_is_not_linear():
    y = X[:, 6] ** 2 + 0.7 * X[:, 2] > 0.8
    assert set(HSICLasso(count=4).fit(X, y).features(2)) == {2, 6}


@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_top_k_are_what_the_package_gives_for_k(k, fitted, capfd):
    package = pytest.importorskip("pyHSICLasso")
    lasso = package.HSICLasso()
    lasso.input(standardised(np.delete(X, CONSTANT, axis=1)), LABELS)
    lasso.classification(k, B=0, n_jobs=1, max_neighbors=0)
    assert set(fitted["hsic"].features(k)) == set(lasso.get_index())


@pytest.mark.parametrize("fails", ["raises", "stops"])
def test_where_the_package_fails_our_own_takes_over(fails, fitted, monkeypatch, capfd):
    assert fitted["hsic"].solver_ == "pyHSICLasso"

    def broken(lasso, *args, **settings):
        print("about to fail")
        np.random.seed(0)  # noqa: NPY002
        if fails == "raises":
            raise AttributeError("module 'numpy.linalg' has no attribute 'linalg'")
        lasso.path = np.eye(COLUMNS - 1)[:, :2]

    monkeypatch.setattr("pyHSICLasso.HSICLasso.classification", broken)
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    own = HSICLasso(splits=2).fit(X, Y)
    assert own.solver_ == "lars_path_gram"
    np.testing.assert_array_equal(own.ranking_, fitted["hsic"].ranking_)
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002
    assert capfd.readouterr().out == ""


def test_whole_kernels_give_the_same_order_as_the_package():
    rng = np.random.default_rng(5)
    table = rng.normal(size=(80, 40))
    y = np.abs(table[:, 1]) + table[:, 2] + 0.5 * table[:, 3] > 1
    found = HSICLasso(count=8).fit(table, y)
    assert found.solver_ == "pyHSICLasso"
    own = lasso_order(standardised(table).astype(np.float32), y.astype(np.int64), cut(80, 80, 1, 0), 8)
    np.testing.assert_array_equal(own, found.ranking_)


def test_only_the_columns_most_like_the_labels_take_part(fitted):
    few = HSICLasso(most_columns=5, splits=2).fit(X, Y)
    assert len(few.ranking_) == 5
    assert set(HSICLasso(most_columns=1).fit(X, Y).ranking_) <= MATTER  # out of the five with the largest F
    assert few.features(3).tolist() == fitted["hsic"].features(3).tolist()


def test_blocks():
    rng = np.random.default_rng(6)
    table = rng.normal(size=(410, 15))
    y = table[:, 1] ** 2 + table[:, 2] > 1
    found = HSICLasso(count=5).fit(table, y)
    assert set(found.features(2)) == {1, 2}
    blocks = cut(410, 20, 3, 0)
    assert len(blocks) == 60
    assert {len(block) for block in blocks} == {20}
    assert len(np.unique(np.concatenate(blocks[:20]))) == 400
    Z = standardised(table).astype(np.float32)
    assert set(lasso_order(Z, y.astype(np.int64), blocks, 5)[:2]) == {1, 2}


def test_kernels_are_centred_and_of_length_one():
    Z = standardised(X[:, :3]).astype(np.float32)
    for block_size in (ROWS, 20):
        blocks = cut(ROWS, block_size, 2, 0)
        K = kernels(Z, blocks)
        np.testing.assert_allclose(np.linalg.norm(K, axis=1), 1, rtol=1e-5)
        np.testing.assert_allclose(K[:, : block_size**2].sum(axis=1), 0, atol=1e-3)
        assert (K @ K.T > 0).all()
        assert np.linalg.norm(label_kernel(LABELS, blocks)) == pytest.approx(1, rel=1e-5)
    x = Z[:, 0].astype(np.float64)
    H = np.eye(ROWS) - 1 / ROWS
    slow = H @ np.exp(-((x[:, None] - x) ** 2) / 2) @ H
    whole = kernels(Z, cut(ROWS, ROWS, 1, 0))[0].reshape(ROWS, ROWS)
    np.testing.assert_allclose(whole, slow / np.linalg.norm(slow), atol=1e-6)


def test_tables_too_large_for_memory_are_cut_to_what_matters(monkeypatch):
    monkeypatch.setattr(hsic_module, "MOST_BYTES", 4 * ROWS * 60 * 5)  # five columns in blocks
    found = HSICLasso(count=4).fit(X, Y)
    assert set(found.features(3)) == MATTER
    blocks = cut(ROWS, 20, 3, 0)
    Z = standardised(X).astype(np.float32)
    five = most_relevant(Z, LABELS, blocks, 5)
    assert set(found.ranking_) <= set(five)
    relevance = kernels(Z, blocks) @ label_kernel(LABELS, blocks)
    assert relevance[five].min() >= np.delete(relevance, five).max()


# ------------------------------------------------------------------------------------------ SVM


def test_the_svm_learns_a_circle():
    y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 > 1.4, "out", "in")
    svm = TunedSVM().fit(X[:120, :2], y[:120])
    assert svm.score(X[120:, :2], y[120:]) > 0.85
    assert svm.C_ in (1, 10, 100)
    assert svm.gamma_ * 2 in (0.1, 1, 10)
    np.testing.assert_array_equal(svm.predict(csr_matrix(X[:, :2])), svm.predict(X[:, :2]))


def test_the_svm_is_tuned_on_a_sample_and_fitted_on_all_rows():
    svm = TunedSVM(tuning_rows=50)
    sample = svm._sample(rows())
    assert len(sample.labels) == 50
    assert sample.labels.mean() == pytest.approx(LABELS.mean(), abs=0.02)
    svm.fit(X, Y)
    assert svm._svc.shape_fit_ == (ROWS, COLUMNS)
    assert clone(svm).get_params() == {"kernel": "rbf", "seed": 0, "splits": 5, "tuning_rows": 50}


def test_the_svm_chooses_the_lowest_error_and_the_smoothest_among_equals():
    far = np.repeat([[-1.0], [1.0]], 20, axis=0)
    svm = TunedSVM().fit(far, np.repeat([0, 1], 20))
    assert (svm.C_, svm.gamma_) == (1.0, 0.1)


def test_the_svm_refuses_bad_input():
    with pytest.raises(NotFittedError):
        TunedSVM().predict(X)
    with pytest.raises(ValueError, match="y has only one class, no; an SVM needs at least two"):
        TunedSVM().fit(X, np.full(ROWS, "no"))
    with pytest.raises(ValueError, match="There are 9 rows"):
        TunedSVM().fit(X[:9], Y[:9])
