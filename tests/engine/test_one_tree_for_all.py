"""One tree for all classes: what it is made of, what decides its direction, and what must not."""

import warnings

import numpy as np
import pytest
import reference_direction
from same_trees import assert_same_bytes
from scipy import sparse
from sklearn.datasets import load_iris, make_classification

from frugalboost import GBFSClassifier, NothingBoughtWarning, load
from frugalboost.files import format as model_file

ONE, EACH = "multi_output_tree", "one_output_per_tree"


def table(classes=4, n=400, d=12, seed=0):
    return make_classification(
        n, d, n_informative=6, n_classes=classes, n_clusters_per_class=1, class_sep=1.5, random_state=seed
    )


def fitted(X, y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingBoughtWarning)
        return GBFSClassifier(**({"mu": 2e-3, "max_iter": 12, "multi_strategy": ONE} | settings)).fit(X, y)


def trees_of(model):
    """For each tree its arrays, by iteration and class."""
    found, outputs = model._model.ensemble, model._model.ensemble.n_outputs
    cut = [slice(a, b) for a, b in zip(found.tree_begin[:-1], found.tree_begin[1:])]
    return [[cut[i + k] for k in range(outputs)] for i in range(0, len(cut), outputs)]


def assert_same_models(a, b):
    assert_same_bytes(a._model.ensemble, b._model.ensemble)
    for name in ("bought", "raw_gain", "price_paid", "train_loss"):
        assert a.history_[name] == b.history_[name]


def test_the_trees_of_an_iteration_differ_in_values_only():
    model = fitted(*table())
    nodes = model._model.ensemble
    for first, *others in trees_of(model):
        for other in others:
            for name in ("feature", "left", "missing_left", "threshold", "gain", "weight"):
                np.testing.assert_array_equal(getattr(nodes, name)[first], getattr(nodes, name)[other])
    first, second = trees_of(model)[0][:2]
    assert (nodes.value[first] != nodes.value[second]).any()
    each = fitted(*table(), multi_strategy=EACH)
    assert any(
        not np.array_equal(each._model.ensemble.feature[a], each._model.ensemble.feature[b])
        for a, b, *_ in trees_of(each)
    )


def test_the_gain_of_a_purchase_is_that_of_its_split():
    model = fitted(*table(), max_depth=1, max_iter=1)
    assert model.history_["raw_gain"][1] == [pytest.approx(model._model.ensemble.gain.sum(), rel=1e-12)]


@pytest.mark.parametrize("base", ["lines", "both"])
def test_lines_belong_to_one_class(base):
    X, y = table()
    assert_same_models(*(fitted(X, y, base=base, multi_strategy=s) for s in (ONE, EACH)))


def test_two_classes_have_one_tree_anyway():
    X, y = table(classes=2)
    assert_same_models(*(fitted(X, y, multi_strategy=s) for s in (ONE, EACH)))


@pytest.mark.parametrize("init", ["prior", "zero"])
@pytest.mark.parametrize("unit", ["share", "absolute"])
@pytest.mark.parametrize("classes", [3, 5])
def test_from_mu_max_on_nothing_is_bought(init, unit, classes):
    X, y = table(classes)
    top = fitted(X, y, init=init, mu_unit=unit, mu=0.0, max_iter=1).mu_max_
    below = fitted(X, y, init=init, mu_unit=unit, mu=float(np.nextafter(top, 0)))
    assert top > 0
    assert unit == "absolute" or top <= 1
    assert fitted(X, y, init=init, mu_unit=unit, mu=top).n_features_selected_ == 0
    assert below.n_features_selected_ > 0
    assert below.mu_max_ == top


@pytest.mark.parametrize("screening", ["exact", "auto"])
@pytest.mark.parametrize("kind", ["dense", "levels", "sparse", "sampled"])
def test_screening_changes_nothing(screening, kind):
    rng = np.random.default_rng(1)
    X, y = make_classification(1500, 300, n_informative=8, n_redundant=0, n_classes=5, random_state=0)
    more = {"n_jobs": 1, "max_iter": 10, "mu": 1e-3}
    if kind == "levels":
        X[:, :20] = rng.integers(0, 6, (1500, 20)) + (y[:, None] % 3)
        more["categorical_features"] = list(range(20))
    if kind == "sparse":
        X[rng.random(X.shape) < 0.95] = 0.0
        X = sparse.csr_array(X)
    if kind == "sampled":
        more["new_features"] = 0.2
    assert_same_models(fitted(X, y, screening=screening, **more), fitted(X, y, screening="off", **more))


def test_layout_and_constant_columns_decide_nothing():
    rng = np.random.default_rng(0)
    X, y = table(n=600)
    X[:, 3:9][rng.random((600, 6)) < 0.97] = 0.0  # kept as lists of rows
    expected = fitted(X, y)
    assert_same_models(fitted(sparse.csr_array(X), y), expected)
    assert_same_models(fitted(np.asfortranarray(X), y), expected)
    wider = fitted(np.column_stack([X, np.full(len(y), 3.0)]), y)
    assert_same_bytes(wider._model.ensemble, expected._model.ensemble)


def test_the_seed_decides_directions():
    X, y = table()
    first, again, other = (fitted(X, y, random_state=s) for s in (0, 0, 1))
    assert_same_models(first, again)
    assert first._model.ensemble.feature.tobytes() != other._model.ensemble.feature.tobytes()
    assert_same_models(fitted(X, y), fitted(X, y, random_state=None))


@pytest.mark.parametrize("early_stopping", [False, True])
def test_a_continued_fit_is_one_long_fit(early_stopping):
    X, y = table()
    more = {"early_stopping": early_stopping, "n_iter_no_change": 50, "random_state": 3, "warm_start": True}
    half = fitted(X, y, max_iter=7, **more)
    assert_same_models(half.set_params(max_iter=15).fit(X, y), fitted(X, y, max_iter=15, **more))


def test_classes_that_nothing_tells_apart():
    """Every class has the same rows: all sums along random signs are equal, and so are the classes."""
    X = np.tile(np.arange(8.0)[:, None], (3, 2))
    y = np.repeat([0, 1, 2], 8)
    model = fitted(X, y, mu=0.0, min_samples_leaf=1)
    np.testing.assert_allclose(model.predict_proba(X), 1 / 3, atol=1e-9)


def test_a_direction_is_a_random_projection():
    """Along it the squared length of gradients is on average that of all of them, divided by their number."""
    rng = np.random.default_rng(0)
    gs = rng.normal(size=(6, 50))
    units, keys = [1] * 50, [int(k) for k in rng.integers(0, 2**63, 50)]
    q = [reference_direction.integers(g, 26) for g in gs]
    lengths, seen = [], set()
    for iteration in range(400):
        signs = reference_direction.signs_of(
            reference_direction.probe(q, keys, units, reference_direction.number_of(0, iteration))
        )
        found, shift = reference_direction.combined(list(gs), signs)
        lengths.append(np.sum(np.ldexp(np.array(found, float), -shift) ** 2))
        seen.add(tuple(signs))
    assert np.mean(lengths) == pytest.approx(np.sum(gs**2) / 6, rel=0.15)
    assert len(seen) > 55  # of 64


def test_files_of_versions_that_knew_one_way_only(tmp_path):
    X, y = load_iris(return_X_y=True)
    path = tmp_path / "model"
    fitted(X, y).save(path)
    assert load(path).multi_strategy == ONE
    description, arrays = model_file.read(path)
    del description["params"]["multi_strategy"]
    model_file.write(path, description, arrays)
    assert load(path).multi_strategy == EACH


@pytest.mark.parametrize("rows", [np.r_[0:10, 50:60, 100:110], np.arange(150)], ids=["30", "150"])
def test_even_classes_are_split_whatever_the_seed(rows):
    """Random signs of rows may cancel in every class; then others are drawn."""
    from sklearn.datasets import load_iris

    X, y = (part[rows] for part in load_iris(return_X_y=True))
    for seed in range(160):
        model = GBFSClassifier(0.0, multi_strategy=ONE, max_iter=1, min_samples_leaf=2, random_state=seed).fit(X, y)
        assert len(model.selected_features_)
        assert model.mu_max_ > 0
