"""Wrong calls of an engine's steps from Python raise; none reads memory that is not there."""

import numpy as np
import pytest
from naive_engine import NaiveEngine

from frugalboost import _core, engines
from frugalboost.losses import AbsoluteError, LogLoss, SquaredError


def rows(n=30, classes=False, scored=True, **more):
    rng = np.random.default_rng(0)
    binned = _core.BinnedMatrix(n, np.array([0.5, 1.5, 0.5]), np.array([0, 2, 3]), np.zeros(2, dtype=np.uint8), None)
    binned.fill(_core.Table(rng.integers(0, 3, (n, 2)).astype(float)), np.arange(n), 1)
    if scored:
        binned.score_bins(None, _core.LineScale.ranks, 1)
    y = rng.integers(0, 2, n).astype(float) if classes else rng.normal(size=n)
    return engines.EngineRows(binned, y, None, **more)


def made(train=None, validation=None, loss=None, outputs=1):
    return engines.make_engine(train or rows(), validation, loss or SquaredError(), outputs, _core.Params(), 1)


def ready(last="begin_level", **given):
    engine = made(**given)
    steps = {
        "predict": lambda: engine.predict([0.0]),
        "losses": engine.losses,
        "derive": engine.derive,
        "begin_trees": lambda: engine.begin_trees([]),
        "begin_level": lambda: engine.begin_level([0], False),
    }
    for name, step in steps.items():
        step()
        if name == last:
            break
    return engine


def _price():
    return _core.FeaturePrices(np.ones(2), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), 1.0, np.inf)


def _settings():
    return _core.Params(), _core.Constraints(), _core.Progress(), None


@pytest.mark.parametrize(
    ("last", "call"),
    [
        (None, lambda e: e.losses()),
        (None, lambda e: e.add_line(0, 0, 1.0, 1.0)),
        (None, lambda e: e.line_quantile(0, 0, 0.0, 0.5)),
        ("predict", lambda e: e.derive()),
        ("losses", lambda e: e.gradients(0)),
        ("losses", lambda e: e.begin_trees([])),
        ("losses", lambda e: e.probe(0)),
        ("derive", lambda e: e.tree_gradients(0)),
        ("derive", lambda e: e.root(0)),
        ("derive", lambda e: e.listed(0, [])),
        ("losses", lambda e: e.moved([0.0], [0.0])),
        ("losses", lambda e: e.score_gradients(0, [0])),
        ("losses", lambda e: e.line_sums(0, 0)),
        ("losses", lambda e: e.curvatures(0, [0])),
        ("derive", lambda e: (e.add_line(0, 0, 1.0, 1.0), e.derive())),  # the losses are not known
        ("derive", lambda e: e.begin_level([0], False)),
        ("derive", lambda e: e.split([], [0])),
        ("derive", lambda e: e.leaf_sums(0)),
        ("derive", lambda e: e.unseen([0], [0])),
        ("derive", lambda e: e.look(0, 0)),
        ("derive", lambda e: e.route([], [])),
        ("begin_trees", lambda e: e.cells(0, 0)),
        ("begin_trees", lambda e: e.best_split(0, 0)),
        ("begin_trees", lambda e: e.search("all", [0], False)),
    ],
)
def test_steps_out_of_order(last, call):
    with pytest.raises(ValueError, match="must first be asked to"):
        call(made() if last is None else ready(last))


@pytest.mark.parametrize(
    "call",
    [
        lambda e: e.predict([]),
        lambda e: e.predict([0.0, 1.0]),
        lambda e: e.predict_as_before(),
        lambda e: e.moved([0.0, 1.0], [0.0]),
        lambda e: e.gradients(7),
        lambda e: e.impurity(7),
        lambda e: e.gradient_move(7),
        lambda e: e.tree_gradients(1),
        lambda e: e.begin_trees([1, -1]),
        lambda e: e.begin_trees([2]),
        lambda e: e.begin_trees([-2]),
        lambda e: e.cells(9, 0),
        lambda e: e.cells(0, 9),
        lambda e: e.best_split(9, 0),
        lambda e: e.best_split(0, 9),
        lambda e: e.search("all", [9], False),
        lambda e: e.search("some", [0], False),
        lambda e: e.own([99]),
        lambda e: e.offer([99]),
        lambda e: e.listed(0, [0]),
        lambda e: e.listed(0, [99]),
        lambda e: e.listed(7, []),
        lambda e: e.split([], [5]),
        lambda e: e.split([(5, 0, [True])], []),
        lambda e: e.split([(0, 5, [True])], []),
        lambda e: e.unseen([5], [0]),
        lambda e: e.unseen([0], [5]),
        lambda e: e.look(5, 0),
        lambda e: e.look(0, 5),
        lambda e: e.looked([5]),
        lambda e: e.remember([0], np.zeros(29, dtype=np.uint8)),
        lambda e: e.remember([5], np.zeros(30, dtype=np.uint8)),
        lambda e: e.route([(0, 0, [True])], []),  # all rows were drawn
        lambda e: e.route([(0, 5, [True])], []),
        lambda e: e.route([], [5]),
        lambda e: _core.boost(e, [_price()], np.inf, *_settings(), 1, row_prices=np.ones(3)),
        lambda e: _core.boost(e, [_price()], np.inf, *_settings(), 1, row_prices=np.array([1.0, np.inf])),
        lambda e: _core.boost(e, [_price()], np.inf, *_settings(), 1, row_prices=np.array([1.0, -1.0])),
        lambda e: e.leaf_sums(7),
        lambda e: e.leaf_quantiles(7, 0.5),
        lambda e: e.begin_level([5], False),
        lambda e: e.score_sums([0, 2]),
        lambda e: e.score_gradients(1, [0]),
        lambda e: e.score_gradients(0, [2]),
        lambda e: e.line_sums(1, 0),
        lambda e: e.line_sums(0, 2),
        lambda e: e.line_quantile(1, 0, 0.0, 0.5),
        lambda e: e.line_quantile(0, 2, 0.0, 0.5),
        lambda e: e.curvatures(1, [0]),
        lambda e: e.curvatures(0, [2]),
        lambda e: e.add_line(1, 0, 0.0, 0.5),
        lambda e: e.add_line(0, 2, 0.0, 0.5),
        lambda e: _core.fit_ridge(e, [2], [1.0], [], 1),
        lambda e: _core.fit_ridge(e, [0], [1.0], [0.0, 0.0], 1),
        lambda e: _core.fit_one_step(e, [2], 1.0, [], 1),
        lambda e: _core.fit_one_step(e, [0], 1.0, [0.0, 0.0], 1),
    ],
)
def test_wrong_numbers(call):
    with pytest.raises((ValueError, IndexError)):
        call(ready())


LINES = [
    lambda e: e.score_sums([0]),
    lambda e: e.score_gradients(0, [0]),
    lambda e: e.line_sums(0, 0),
    lambda e: e.line_quantile(0, 0, 0.0, 0.5),
    lambda e: e.curvatures(0, [0]),
    lambda e: e.add_line(0, 0, 0.0, 0.5),
    lambda e: _core.fit_ridge(e, [0], [1.0], [], 1),
    lambda e: _core.fit_one_step(e, [0], 1.0, [], 1),
]


@pytest.mark.parametrize("call", LINES)
def test_lines_need_scores(call):
    call(ready())
    with pytest.raises(ValueError, match="The bins have no scores"):
        call(ready(train=rows(scored=False)))


def test_scores_for_every_bin():
    X = rows().X
    assert len(X.scores) == 5
    for number in (0, 4, 6):
        with pytest.raises(ValueError, match="a score for every bin"):
            X.scores = np.zeros(number, dtype=np.int16)
    with pytest.raises(ValueError, match="a weight for every row"):
        X.score_bins(np.ones(29), _core.LineScale.ranks, 1)


def test_a_ridge_needs_curvature():
    with pytest.raises(ValueError, match="no curvature"):
        _core.fit_ridge(made(loss=AbsoluteError()), [0], [1.0], [], 1)
    with pytest.raises(ValueError, match="no curvature"):
        _core.fit_one_step(made(loss=AbsoluteError()), [0], 1.0, [], 1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"train": rows(raw=np.zeros(3))}, "Raw predictions of training rows"),
        ({"train": rows(raw=np.zeros(30)), "validation": rows(raw=np.zeros(3))}, "Raw predictions of validation"),
        ({"train": rows(), "loss": LogLoss(), "outputs": 1}, "a class that does not exist"),
    ],
)
def test_rows_that_do_not_fit(given, message):
    with pytest.raises(ValueError, match=message):
        made(**given)


def test_other_bins_for_validation():
    other = _core.BinnedMatrix(5, np.array([0.7]), np.array([0, 1, 1]), np.zeros(2, dtype=np.uint8), None)
    with pytest.raises(ValueError, match="different bins"):
        made(validation=engines.EngineRows(other, np.zeros(5), None))


def boosted(engine, base=_core.Base.trees, constraints=None, **progress):
    begun = _core.Progress()
    for name, value in progress.items():
        setattr(begun, name, value)
    params = _core.Params()
    params.max_iter, params.min_samples_leaf, params.base = 2, 2.0, base
    prices = _core.FeaturePrices(np.ones(2), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), 1.0, np.inf)
    return _core.boost(engine, [prices], np.inf, params, constraints or _core.Constraints(), begun, None, 1)


@pytest.mark.parametrize(
    "progress",
    [
        {"start": [0.0], "features": [0, 1], "prices": [1.0], "gains": [1.0]},
        {"start": [0.0], "features": [9], "prices": [1.0], "gains": [1.0]},
    ],
)
def test_progress_that_does_not_fit(progress):
    with pytest.raises(ValueError, match=r"One price and one gain|does not exist"):
        boosted(made(train=rows(raw=np.zeros(30))), **progress)


@pytest.mark.parametrize(
    ("record", "outputs", "message"),
    [
        ({"trends": [1]}, 1, "One trend per column"),
        ({"trends": [1, 2]}, 1, "A trend is -1, 0 or 1"),
        ({"trends": [1, 0]}, 3, "no common trend"),
        ({"groups": [[1, 0]]}, 1, "not sorted"),
        ({"groups": [[0, 7]]}, 1, "no such column"),
    ],
)
def test_constraints_that_do_not_fit(record, outputs, message):
    constraints = _core.Constraints()
    for name, value in record.items():
        setattr(constraints, name, value)
    more = {"train": rows(classes=True), "loss": LogLoss(), "outputs": 3} if outputs > 1 else {}
    with pytest.raises(ValueError, match=message):
        boosted(made(**more), constraints=constraints)


def test_constraints_of_a_level():
    engine = ready(train=rows(100))
    for call in (lambda: engine.constrain([1]), lambda: engine.constrain([1, 3]), lambda: engine.confine([])):
        with pytest.raises(ValueError, match=r"per column|-1, 0 or 1|per node"):
            call()
    with pytest.raises(ValueError, match="must first be asked to"):
        made().confine([(0.0, 1.0)])
    free = engine.best_split(0, 0)
    engine.confine([(0.0, 0.0)])
    assert engine.best_split(0, 0)[0] < 0 < free[0]  # no value is left to be another


class TooMany(NaiveEngine):
    """An engine that gives one thing too many, or too few."""

    def __init__(self, name, more):
        super().__init__(rows(), None, SquaredError(), 1, _core.Params(), 1)
        self.params.min_samples_leaf = 2
        inner = getattr(self, name)

        def changed(*given):
            answer = inner(*given)
            if name == "table":
                return answer | {"thresholds": answer["thresholds"][:-1]}
            if name == "search":
                return [splits + splits[:1] if more else splits[:-1] for splits in answer]
            return [*answer, answer[-1]] if more else answer[:-1]

        setattr(self, name, changed)


@pytest.mark.parametrize("name", ["search", "begin_level", "split", "leaf_sums", "table"])
@pytest.mark.parametrize("more", [True, False])
def test_a_python_engine_that_answers_wrongly(name, more):
    with pytest.raises((ValueError, RuntimeError, IndexError), match=r"The engine must give|range"):
        boosted(TooMany(name, more))


@pytest.mark.parametrize("name", ["score_sums", "score_gradients", "line_sums", "curvatures"])
@pytest.mark.parametrize("more", [True, False])
def test_a_python_engine_that_answers_wrongly_about_lines(name, more):
    engine = TooMany(name, more)
    with pytest.raises(ValueError, match="The engine must give one answer for every column"):
        _core.fit_ridge(engine, [0, 1], [0.1], [], 1) if name == "curvatures" else boosted(engine, _core.Base.lines)
