"""Prices with structure: against the oracle, and as objects."""

import functools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import reference
import reference_prices
from hypothesis import event, given
from hypothesis import strategies as st
from same_trees import assert_same
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OneHotEncoder, StandardScaler

import frugalboost
from frugalboost import GBFSClassifier, GBFSRegressor, _core
from frugalboost.costs import Bags, Function, Neighbours, Prices, Stage, Stages, Sum, resolve
from frugalboost.costs.paying import flattened
from frugalboost.training.draws import row_hashes

D = 6
PRICE = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, np.inf])
SHARE = st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0])  # taken off: nothing and everything too


def grown_dearer(owned, last, prices):
    return np.where(owned, prices, prices * 1.5 + 0.25 * last)


@st.composite
def plain(draw):
    prices = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, np.inf]), min_size=D, max_size=D))
    most = draw(st.sampled_from([None, 0, 1, 2]))
    return Prices(prices, most=most), reference_prices.fixed_prices(prices, np.inf if most is None else most)


@st.composite
def bags(draw):
    members = draw(st.lists(st.lists(st.integers(0, D - 1), unique=True, max_size=4), min_size=1, max_size=4))
    prices = draw(st.lists(PRICE, min_size=len(members), max_size=len(members)))
    default = draw(PRICE)
    most = draw(st.sampled_from([None, None, 0, 1, 2]))
    groups = {f"bag {b}": features for b, features in enumerate(members)}
    cost = Bags(groups, {f"bag {b}": p for b, p in enumerate(prices)}, default=default, most=most)
    bags_of = [[b for b, features in enumerate(members) if f in features] for f in range(D)]
    price_of = list(prices)
    for own in bags_of:
        if not own:
            own.append(len(price_of))
            price_of.append(default)
    return cost, reference_prices.bag_prices(bags_of, price_of, np.inf if most is None else most)


@st.composite
def neighbours(draw):
    edges = draw(st.lists(st.tuples(st.integers(0, D - 1), st.integers(0, D - 1)), min_size=1, max_size=8))
    discount = draw(SHARE)
    prices = draw(st.lists(PRICE, min_size=D, max_size=D))
    form = draw(st.sampled_from(["edges", "matrix"]))
    matrix = np.zeros((D, D))
    for a, b in edges:
        matrix[a, b] = matrix[b, a] = 1
    graph = list(edges) if form == "edges" else sparse.csr_matrix(matrix)
    near = [[g for g in range(D) if g != f and matrix[f, g]] for f in range(D)]
    return Neighbours(graph, discount, prices=prices), reference_prices.neighbour_prices(prices, near, 1.0 - discount)


@st.composite
def stages(draw):
    n = draw(st.integers(1, 3))
    price_of = draw(st.lists(PRICE, min_size=n, max_size=n))
    after = [draw(st.lists(st.integers(0, s - 1), unique=True, max_size=2)) if s else [] for s in range(n)]
    opens = [draw(st.lists(st.integers(0, D - 1), unique=True, max_size=3)) for _ in range(n)]
    outside = [f for f in range(D) if not any(f in o for o in opens)]  # needs that wait for nothing: no deadlock
    needs = [draw(st.lists(st.sampled_from(outside), unique=True, max_size=1)) if outside else [] for _ in range(n)]
    cheaper = [draw(st.dictionaries(st.integers(0, D - 1), SHARE, max_size=2)) for _ in range(n)]
    own = draw(st.lists(PRICE, min_size=D, max_size=D))
    cost = Stages(
        {f"s{s}": Stage(price_of[s], opens[s], [f"s{a}" for a in after[s]], needs[s], cheaper[s]) for s in range(n)},
        prices=own,
    )

    def way(s):
        return {s}.union(*[way(a) for a in after[s]])

    ways = [set().union(*[way(s) for s in range(n) if f in opens[s]]) for f in range(D)]
    factors = [[(g, 1.0 - share) for g, share in c.items()] for c in cheaper]
    return cost, reference_prices.stage_prices(own, ways, price_of, needs, factors)


@st.composite
def functions(draw):
    prices = draw(st.lists(PRICE, min_size=D, max_size=D))
    return Function(grown_dearer, prices), reference_prices.function_prices(prices, grown_dearer)


KINDS = {"plain": plain(), "bags": bags(), "neighbours": neighbours(), "stages": stages(), "function": functions()}


@st.composite
def structured(draw):
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3))
    event(" + ".join(sorted(set(kinds))))
    drawn = [draw(KINDS[kind]) for kind in kinds]
    cost = drawn[0][0]
    for other, _ in drawn[1:]:
        cost = cost + other
    return cost, [rule for _, rule in drawn]


@given(
    structured(),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.002, 0.01, 0.05]),
    st.sampled_from([np.inf, 0.0, 0.5, 3.0]),
    st.sampled_from(["trees", "both", "lines"]),
)
def test_every_kind_of_price_agrees_with_the_reference(prices, seed, mu, budget, base):
    cost, rules = prices
    rng = np.random.default_rng(seed)
    X = np.round(2 * rng.normal(size=(50, D))) / 2  # prices are what matters here: few thresholds, many ties
    y = X @ rng.normal(size=D) + 0.3 * rng.normal(size=50)
    settings = {"max_iter": 4, "max_depth": 3, "min_samples_leaf": 2, "base": base}
    options = reference.Options(mu=mu, rules=rules, budget=budget, **settings)
    settings["budget"] = None if np.isinf(budget) else budget
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        core = GBFSRegressor(mu, costs=cost, n_jobs=2, **settings).fit(X, y)
    expected = reference.fit(X, y, options, reference.SquaredError())
    assert_same(core, expected, X)
    np.testing.assert_array_equal(core._model.purchases.price, list(expected.owned.values()))


@given(bags(), st.permutations(range(D)), st.sampled_from([np.inf, 0.0, 1.0, 3.0]), st.integers(0, 3))
def test_the_bag_that_pays_is_that_of_the_ledger(drawn, order, budget, most):
    """Python counts bags and what was paid for them as the core does, whatever bags overlap and cost."""
    cost = drawn[0].replaced(most=None)
    costs = resolve(cost, D, None)
    limited = costs.at_most(most)
    for some, room in ((costs, np.inf), (limited, most)):
        had, paid = _core.buy_all(list(some.rules), np.array(order, dtype=np.int32), budget)
        payer, total, new = costs.payer(), 0.0, []
        for f, price in zip(had.tolist(), paid.tolist(), strict=True):
            owned = list(payer.owned)
            bag = payer.buy(f)
            assert f in costs.bags[bag]
            assert price == (0.0 if bag in owned else costs.bag_prices[bag])
            new += [bag] if bag not in owned else []
            total += price
        assert list(payer.owned) == new
        assert costs.count(had) == len(new) <= room
        assert total <= budget
        for f in set(order) - set(had.tolist()):  # what was not had costs too much, or there is no room
            bag = payer.bag_of(f)
            assert bag not in payer.owned
            assert costs.bag_prices[bag] + total > budget or costs.bag_prices[bag] == np.inf or len(new) + 1 > room


@given(bags(), structured(), st.permutations(range(D)), st.sampled_from([np.inf, 0.0, 1.0, 3.0]), st.integers(0, 3))
def test_the_bag_that_pays_is_that_of_the_ledger_in_sums(drawn, others, order, budget, most):
    """Neighbours, stages, limits and other bags change what is bought and when, not which bag pays for it."""
    costs = resolve(drawn[0] + others[0], D, None)
    had, _ = _core.buy_all(list(costs.at_most(most).rules), np.array(order, dtype=np.int32), budget)
    assert costs.count(had) <= most
    # Bags in the order of their prices, each with a price of its own: what the ledger is paid names the bag.
    ranks = np.empty(len(costs.bags))
    ranks[np.argsort(costs.bag_prices, kind="stable")] = np.arange(1, len(ranks) + 1)
    rule = _core.BagPrices(*flattened([costs.bags_of[f] for f in range(D)]), ranks, np.inf)
    again, paid = _core.buy_all([rule], had)
    assert again.tolist() == had.tolist()
    payer = costs.payer()
    for f, rank in zip(had.tolist(), paid.tolist(), strict=True):
        owned = list(payer.owned)
        bag = payer.buy(f)
        assert rank == (0 if bag in owned else ranks[bag])


def bought_in_order(cost, order, n):
    had, paid = _core.buy_all(list(resolve(cost, n, None).rules), np.array(order, dtype=np.int32))
    return dict(zip(had.tolist(), paid.tolist(), strict=True))


def test_everything_and_nothing_can_be_taken_off():
    chain = [(0, 1), (1, 2)]
    assert bought_in_order(Neighbours(chain, 1.0, prices=3.0), [0, 1, 2], 3) == {0: 3.0, 1: 0.0, 2: 0.0}
    assert bought_in_order(Neighbours(chain, 0.0, prices=3.0), [0, 1, 2], 3) == {0: 3.0, 1: 3.0, 2: 3.0}
    for share, second in ((1.0, 0.0), (0.0, 2.0), (1, 0.0), (0, 2.0)):
        stage = Stages({"s": Stage(1.0, opens=[0], cheaper={1: share})}, prices=2.0)
        assert bought_in_order(stage, [0, 1], 2) == {0: 3.0, 1: second}


def test_what_is_never_sold_stays_so_where_everything_is_taken_off():
    """Zero times infinity is not a price."""
    never = Neighbours([(0, 1), (1, 2)], 1.0, prices=[1.0, np.inf, 1.0])
    assert bought_in_order(never, [0, 1, 2], 3) == {0: 1.0, 2: 1.0}
    behind = Stages({"s": Stage(1.0, opens=[0], cheaper={1: 1.0})}, prices=[1.0, np.inf])
    assert bought_in_order(behind, [0, 1], 2) == {0: 2.0}
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = GBFSRegressor(0.0, costs=never, max_iter=5, min_samples_leaf=2).fit(X, X.sum(axis=1))
    assert sorted(model.selected_features_) == [0, 2]


def test_features_without_a_bag_stand_alone_in_every_form():
    labels = pd.Series({"a": np.nan, "b": np.nan, "c": "x", "d": "x", "e": None, "f": pd.NA}, dtype=object)
    costs = resolve(Bags(labels), 6, list("abcdef"))
    assert costs.bags == ((2, 3), (0,), (1,), (4,), (5,))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_continued_and_threaded_fits_are_the_same(kind, tmp_path):
    """State of the ledger is rebuilt from the purchases; copies are fresh for every fit."""
    X, y = load_diabetes(return_X_y=True)
    X = X[:, :D]
    cost = {
        "plain": Prices(np.arange(D) + 1.0),
        "bags": Bags([0, 0, 1, 1, None, 2], prices={0: 2.0}),
        "neighbours": Neighbours((2, 3), 0.5),
        "stages": Stages({"a": Stage(2.0, [0, 1]), "b": Stage(1.0, [2], after="a", cheaper={5: 0.5})}),
        "function": Function(grown_dearer),
    }[kind]
    settings = {"mu": 0.0005, "costs": cost}
    long = GBFSRegressor(max_iter=30, **settings).fit(X, y)
    pieces = GBFSRegressor(warm_start=True, max_iter=1, **settings)
    for max_iter in (1, 2, 10, 30):
        pieces.set_params(max_iter=max_iter).fit(X, y)
    assert repr(long.history_) == repr(pieces.history_)
    assert long.n_features_selected_ >= 3
    files = []
    for n_jobs in (1, 2, 7):
        GBFSRegressor(max_iter=30, n_jobs=n_jobs, **settings).fit(X, y).save(tmp_path / "model")
        files.append((tmp_path / "model").read_bytes())
    assert files[0] == files[1] == files[2]
    loaded = frugalboost.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), long.predict(X))
    paid = dict(zip(long._model.purchases.feature.tolist(), long._model.purchases.price.tolist(), strict=True))
    assert [loaded.costs[f] for f in paid] == list(paid.values())


TABLE = pd.DataFrame(
    {
        "colour": list("rgbrgbrrgk"),
        "size": list("smlsmlsmls"),
        "sex": list("mfxfmfmfmf"),
        "age": np.arange(10.0),
        "weight": np.arange(10.0)[::-1],
    }
)
C, S = "colour", "size"


@pytest.mark.parametrize(
    ("step", "columns", "labels"),
    [
        (OneHotEncoder(), [C, S], [C] * 4 + [S] * 3),
        (OneHotEncoder(drop="first"), slice(0, 2), [C] * 3 + [S] * 2),
        (OneHotEncoder(drop="if_binary"), slice(C, S), [C] * 4 + [S] * 3),
        (OneHotEncoder(min_frequency=3), [0, 1], [C] * 3 + [S] * 3),
        (OneHotEncoder(max_categories=2), [True, True, False, False, False], [C] * 2 + [S] * 2),
        (
            make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(drop="first")),
            [S, C],
            [S] * 2 + [C] * 3,
        ),
        (StandardScaler(), np.array([False, False, False, True, True]), ["age", "weight"]),
        (KBinsDiscretizer(3), [-2, -1], ["age"] * 3 + ["weight"] * 3),
        (PCA(2), ["age", "weight"], ["step", "step"]),
        (CountVectorizer(token_pattern="."), "sex", ["sex"] * 3),
        (FunctionTransformer(np.log1p), ["age"], ["age"]),
        ("passthrough", ["age", "weight"], ["age", "weight"]),
        ("drop", ["age"], []),
    ],
    ids=str,
)
def test_bags_of_a_column_transformer(step, columns, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        steps = ColumnTransformer([("step", step, columns)]).fit(TABLE)
    assert Bags.from_column_transformer(steps).groups == labels


def test_bags_from_names():
    assert Bags.from_one_hot(["colour_red", "colour_blue", "age"]) == Bags(["colour", "colour", "age"])
    by_name = Bags(pd.Series({"scan": "a", "sugar": "b", "iron": pd.NA, "age": "d"}), prices={"a": 10})
    assert resolve(by_name, 4, ["age", "iron", "sugar", "scan"]).start.tolist() == [1.0, 1.0, 1.0, 10.0]


def test_image_neighbours():
    near = resolve(Neighbours((3, 4), 0.5), 12, None)
    assert near.start.tolist() == [1.0] * 12
    model = GBFSRegressor(0.0, costs=Neighbours((3, 4), 0.5, reach=1.5), max_iter=1, max_depth=1, min_samples_leaf=1)
    X = np.random.default_rng(0).normal(size=(50, 12))
    model.fit(X, X[:, 5])  # the pixel in the middle: eight neighbours
    again = model.set_params(costs=Neighbours((3, 4), 0.5, reach=1.5), max_iter=3).fit(X, X[:, 5] + X[:, 0])
    assert again.total_cost_ in (1.5, 2.0)
    volume = Neighbours((2, 2, 3), 0.9).rules(frugalboost.costs.FeatureTable(12))
    assert len(volume) == 1


class Graph:
    """What networkx offers: an attribute ``edges`` that can be walked, with data or without."""

    def __init__(self, edges):
        self.edges = edges


def test_graphs_of_every_form_are_the_same():
    pairs = [(0, 1), (1, 2), (4, 5)]
    matrix = np.zeros((D, D))
    for a, b in pairs:
        matrix[a, b] = 3.0  # any weight is an edge
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, D))
    y = X.sum(axis=1)
    named = pd.DataFrame(X, columns=list("abcdef"))
    forms = [pairs, matrix, sparse.coo_matrix(matrix), Graph(pairs), Graph([(a, b, {"weight": 2}) for a, b in pairs])]
    histories = {
        repr(GBFSRegressor(0.001, costs=Neighbours(form, 0.7, reach=2), max_iter=20).fit(X, y).history_)
        for form in forms
    }
    by_name = Neighbours([("a", "b"), ("b", "c"), ("e", "f")], 0.7, reach=2)
    histories.add(repr(GBFSRegressor(0.001, costs=by_name, max_iter=20).fit(named, y).history_))
    assert len(histories) == 1
    one_hop = GBFSRegressor(0.001, costs=Neighbours(pairs, 0.7, reach=1), max_iter=20).fit(X, y)
    assert repr(one_hop.history_) not in histories  # two hops reach from 0 to 2


OBJECTS = [
    Prices([1.0, 2.0]),
    Prices({"a": 2.0}, default=0.5, free=["b"], never=[3], most=2, unit="ms"),
    Bags({"x": [0, 1], "y": ["c"]}, prices={"x": 2.0}),
    Bags(np.array([0, 0, 1])),
    Neighbours((2, 3), 0.25, 1.5),
    Neighbours(sparse.eye_array(3).tocsr(), 0.5),
    Stages({"a": Stage(1.0, [0]), "b": Stage(2.0, [1], after="a", needs=[0], cheaper={1: 0.5})}),
    Function(grown_dearer),
    Prices([1.0, 2.0]) + Bags([0, 0]),
    grown_dearer + Prices([1.0, 2.0]),
]


@pytest.mark.parametrize("cost", OBJECTS, ids=repr)
def test_objects_are_values(cost):
    again = pickle.loads(pickle.dumps(cost))
    assert again == cost
    assert hash(again) == hash(cost)
    assert cost != Prices([9.0])
    assert repr(again) == repr(cost)
    copied = clone(GBFSRegressor(costs=cost)).costs
    assert copied == cost
    name = next(iter(cost.get_params()))
    with pytest.raises(AttributeError):
        setattr(cost, name, None)
    if not isinstance(cost, Sum):
        assert cost.replaced(unit="s").unit == "s"


def test_a_grid_search_can_vary_prices():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :6]
    search = GridSearchCV(
        GBFSClassifier(0.01, max_iter=5, costs=Neighbours((2, 3))), {"costs__discount": [0.1, 0.9], "mu": [0.01]}, cv=2
    ).fit(X, y)
    assert search.best_params_["costs__discount"] in (0.1, 0.9)
    assert search.best_estimator_.costs.discount == search.best_params_["costs__discount"]
    with pytest.raises(ValueError, match="has no parameter 'dicsount'"):
        search.estimator.set_params(costs__dicsount=1)
    with pytest.raises(ValueError, match="no parameters to set"):
        GBFSClassifier(costs=[1.0]).set_params(costs__discount=1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Prices({"a": -1}), "price of feature 'a' is -1"),
        (lambda: Prices(default=np.nan), "default is nan"),
        (lambda: Prices(most=-1), "most is -1"),
        (lambda: Bags({"x": "abc"}), "features of bag 'x' must be a list"),
        (lambda: Bags("one-hot"), "groups must be a mapping"),
        (lambda: Bags([0, 1], prices={0: -2}), "price of bag 0 is -2"),
        (lambda: Neighbours((2, 2), 1.01), "discount is 1.01; it must be between 0 and 1"),
        (lambda: Neighbours((2, 2), -0.01), "discount is -0.01"),
        (lambda: Neighbours((2, 2), np.nan), "discount is nan"),
        (lambda: Neighbours((2, 2), reach=0), "reach is 0"),
        (lambda: Neighbours((2, 2, 2, 2)), "not the shape of an image"),
        (lambda: Stages({"a": 3}), "mapping from names to Stage"),
        (lambda: Stages({"a": Stage(after="b")}), "comes after 'b', which does not exist"),
        (lambda: Stages({"a": Stage(after="b"), "b": Stage(after="a")}), "'a' after 'b' after 'a' is a cycle"),
        (lambda: Stage(-1.0), "price is -1"),
        (lambda: Stage(opens="abc"), "opens must be a list"),
        (lambda: Prices([1.0, -1.0]), "price of feature number 1 is -1"),
        (lambda: Prices(free="age"), "free must be a list, not 'age'"),
        (lambda: Prices(never=iter([1])), "never can be read only once"),
        (lambda: Bags({"a": (i for i in range(3))}), "features of bag 'a' can be read only once"),
        (lambda: Bags([{0, 1}, {2}]), r"a mapping from bag to features, such as \{'a': \[0, 1\]\}"),
        (lambda: Neighbours(zip([0], [1])), "edges can be read only once"),
        (lambda: Neighbours((2, 2), prices={"a": -1}), "price of feature 'a' is -1"),
        (lambda: Neighbours((2, 2), discount="half"), "discount is 'half', not a number"),
        (lambda: Sum(()), "add them with"),
        (lambda: Stage(cheaper={"x": 2}), "share taken off feature 'x' is 2"),
        (lambda: Function(3), "is not callable"),
        (lambda: Prices(unit="ms") + Prices(unit="euro"), "Prices in euro and ms can't be added"),
    ],
)
def test_mistakes_are_told_when_an_object_is_made(make, message):
    with pytest.raises(ValueError, match=message):
        make()


FRAME = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 4)), columns=["age", "iron", "sugar", "scan"])


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (Prices(free=["irn"]), "X has no feature 'irn'. Did you mean 'iron'?"),
        (Prices(never=[7]), "no feature number 7; X has 4"),
        (Bags([0, 1]), "4 labels are needed, one for each feature; got 2"),
        (Bags({"b": ["iron", "sugr"]}), "bag 'b': X has no feature 'sugr'. Did you mean 'sugar'?"),
        (Bags({"b": ["iron"]}, prices={"c": 1.0}), "prices names 'c', which is not a bag"),
        (Neighbours((2, 3)), "has 6 pixels; X has 4"),
        (Neighbours(np.zeros((3, 3))), r"the matrix has shape \(3, 3\); X has 4"),
        (Neighbours([("age", "iorn")]), "X has no feature 'iorn'. Did you mean 'iron'?"),
        (Neighbours(["age"]), "'age' is not an edge"),
        (Stages({"s": Stage(opens=["scn"])}), "stage 's': X has no feature 'scn'"),
        (Stages({"s": Stage(opens=["scan"], needs=["scan"])}), "feature 'scan' can never be bought"),
        (
            Stages({"s": Stage(opens=["scan"], needs=["iron"]), "t": Stage(opens=["iron"], needs=["scan"])}),
            "feature 'iron' can never be bought",
        ),
        (Function(lambda owned, last, prices: None), "phi returned None"),
        (Bags, "costs=Bags is a class"),
        (
            Function(lambda owned, last, prices: prices[:2]),
            r"after feature '\w+' was bought, phi returned prices of shape \(2,\)",
        ),
        (Function(lambda owned, last, prices: prices - 5), "the price of feature '.*' is -4"),
        (Function(lambda owned, last, prices: prices * np.nan), "the price of feature '.*' is nan"),
        (Function(lambda owned, last, prices: "free"), "phi returned a str, not an array"),
        (lambda owned, last, prices: 1 / 0, "division by zero"),
    ],
)
def test_mistakes_are_told_when_a_table_is_seen(cost, message):
    model = GBFSRegressor(0.0, costs=cost, max_iter=3)
    with pytest.raises((ValueError, ZeroDivisionError), match=message):
        model.fit(FRAME, FRAME.sum(axis=1))
    assert not hasattr(model, "n_iter_")


def test_stages_open_once_and_wait_for_what_they_need():
    y = FRAME["iron"] + FRAME["sugar"] + 0.5 * FRAME["scan"]
    lab = Stages(
        {"sample": Stage(3.0, opens=["iron", "sugar"]), "scanner": Stage(1.0, opens=["scan"], needs=["sugar"])}
    )
    model = GBFSRegressor(0.001, costs=lab, max_iter=50, min_samples_leaf=5).fit(FRAME, y)
    bought = [FRAME.columns[f] for f in model.selected_features_]
    prices = dict(zip(bought, model._model.purchases.price.tolist(), strict=True))
    first, second = (n for n in bought if n in ("iron", "sugar"))
    assert (prices[first], prices[second]) == (3.0, 0.0)
    assert bought.index("scan") > bought.index("sugar")
    assert prices["scan"] == 1.0


def test_a_bag_limit_counts_bags():
    X, y = load_breast_cancer(return_X_y=True)
    model = GBFSClassifier(0.0, costs=Bags(np.arange(30) // 10, most=1), max_iter=30).fit(X, y)
    assert len(np.unique(model.selected_features_ // 10)) == 1
    assert model.n_features_selected_ > 1
    assert model.total_cost_ == 1.0
    two = GBFSClassifier(0.0, costs=Bags(np.arange(30) // 10), budget=2, max_iter=30).fit(X, y)
    assert len(np.unique(two.selected_features_ // 10)) == 2


def test_price_of_a_prediction():
    """Depth one: the first tree looks at one feature, and which features a row pays for can be counted by hand."""
    X, y = load_diabetes(return_X_y=True)
    prices = np.arange(10) + 1.0
    model = GBFSRegressor(0.0005, costs=Prices(prices, unit="ms"), max_iter=40, max_depth=2).fit(X, y)
    trees = model._model.ensemble
    by_hand = []
    for row in X:
        seen = set()
        for t in range(40):
            node = root = trees.tree_begin[t]
            while trees.feature[node] >= 0:
                seen.add(int(trees.feature[node]))
                node = root + trees.left[node] + (row[trees.feature[node]] > trees.threshold[node])
        by_hand.append(prices[sorted(seen)].sum())
    np.testing.assert_allclose(model.prediction_cost(X), by_hand)
    drawn = np.argsort(row_hashes(len(X), 0, None))[:200]  # some rows, by chance
    assert model.prediction_cost_ == pytest.approx(np.mean(np.array(by_hand)[drawn]))
    assert model.prediction_cost_ == pytest.approx(np.mean(by_hand), rel=0.03)
    assert model.prediction_cost_ <= model.total_cost_ == prices[model.support_].sum()
    assert model.cost_unit_ == "ms"
    assert model.history_["prediction_price"][0] == 0
    assert model.history_["prediction_price"][-1] == model.prediction_cost_
    assert (np.diff(model.history_["prediction_price"]) >= 0).all()
    assert np.isnan(GBFSRegressor(max_iter=2).fit(X, y).prediction_cost_)


@pytest.mark.parametrize(
    "costs",
    [
        Bags({"gate": [0], "scan": [1, 2]}, prices={"gate": 1, "scan": 100}),
        Stages({"gate": Stage(1, [0]), "scanner": Stage(100, [1, 2])}),
    ],
    ids=["bags", "stages"],
)
def test_price_of_a_prediction_follows_the_rules(costs):
    """Every row looks at the gate and at one feature of the scan, whichever: it pays for the scan in any case."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 3))
    y = np.where(X[:, 0] > 0, 3 + X[:, 1], -3 + X[:, 2])
    model = GBFSRegressor(1e-4, costs=costs, max_iter=1, max_depth=2, min_samples_leaf=5).fit(X, y)
    assert set(model.prediction_cost(X)) == {101.0}
    assert model.prediction_cost_ == 101.0


def test_a_loaded_model_does_not_go_on_with_other_prices(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    settings = {"mu": 0.0005, "warm_start": True, "max_depth": 1}
    bags = Bags([0, 0, 0, 0, 1, 1, 2, 2, 3, 3], prices=3.0, unit="ms")
    model = GBFSRegressor(costs=bags, max_iter=3, **settings).fit(X, y)
    model.save(tmp_path / "model")
    loaded = frugalboost.load(tmp_path / "model")
    assert loaded.cost_unit_ == "ms"
    with pytest.raises(ValueError, match=r"Set it again: set_params\(costs=...\)"):
        loaded.set_params(max_iter=30).fit(X, y)
    loaded.set_params(costs=bags, max_iter=30).fit(X, y)
    assert repr(loaded.history_) == repr(model.set_params(max_iter=30).fit(X, y).history_)


def test_odd_arguments_compare_and_show():
    def with_table(owned, last, prices, table):
        return prices

    assert "partial" in repr(Function(functools.partial(with_table, table={i: i for i in range(100)})))
    a, b = Stage(1, np.array([0]), cheaper={1: 0.5, 2: 0.5}), Stage(1, (0,), cheaper={2: 0.5, 1: 0.5})
    assert Stages({"s": a}) == Stages({"s": b})
    assert hash(a) == hash(b)
    assert Prices({1: 2.0}) != Prices({"1": 2.0})
    assert Bags({"a": {8, 0}}) == Bags({"a": {0, 8}})
    assert Bags([np.nan, 0]) == pickle.loads(pickle.dumps(Bags([np.nan, 0])))
    assert isinstance(np.ones(4) + Bags([0, 0, 1, 1]), Sum)
    assert sum([Prices([1.0]), Bags([0])]) == Prices([1.0]) + Bags([0])


def test_names_are_found_quickly_and_must_be_unique():
    names = [f"gene {i}" for i in range(20_000)]
    assert resolve(dict.fromkeys(names, 2.0), 20_000, names).start.sum() == 40_000
    with pytest.raises(ValueError, match="two columns of X have the same name"):
        resolve({"a": 5.0}, 2, ["a", "a"])


def test_a_function_prices_predictions_at_what_was_paid():
    """Not called for every row, and safe to copy on any thread."""
    calls = []

    def counted(owned, last, prices):
        calls.append(last)
        return prices + 1

    X, y = load_diabetes(return_X_y=True)
    model = GBFSRegressor(0.0005, costs=Function(counted) + Bags(np.arange(10) // 2), max_iter=30, n_jobs=2).fit(X, y)
    assert calls == model.selected_features_.tolist()
    cost = model.prediction_cost(X)
    assert len(calls) == model.n_features_selected_
    assert 0 < cost.min() <= cost.max() == pytest.approx(model.total_cost_)
