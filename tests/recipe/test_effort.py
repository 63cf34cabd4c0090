"""How much work `frugalboost.select` does: its limit, only what is asked for, and the long search."""

import json

import numpy as np
import pandas as pd
import pytest

import frugalboost
from frugalboost.cli import main
from frugalboost.estimators import cross_validation, racing
from frugalboost.recipe import choosing, splitting
from frugalboost.recipe.choosing import Settings, effort_of
from frugalboost.recipe.effort import ENOUGH, MOST, PER_MILLION, SMALLEST_SAMPLE, Effort, Size, effort_for
from frugalboost.recipe.task import task_of
from frugalboost.selection import path

QUICK = {"trees": 20, "splits": 2, "depth": 2}
SHORT = {"trees": 120, "splits": 2, "depth": 2}  # two stages: 48, and 120 trees


def made(rows=160, columns=5, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    score = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=rows)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(columns)])
    frame["y"] = score
    if classes:
        frame["y"] = [f"c{i}" for i in np.digitize(score, np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]))]
    return frame


# -------------------------------------------------------------------------------------------------------- the limit


@pytest.mark.parametrize("rows", [10, 600, 5_000, 20_000, 100_000, 1_000_000])
@pytest.mark.parametrize("columns", [4, 30, 100, 3_000])
@pytest.mark.parametrize("outputs", [1, 7])
def test_the_limit_is_kept_unless_too_little_would_be_left(rows, columns, outputs):
    size = Size(rows, columns, outputs)
    found = effort_for(size, None, None, None)
    assert found.splits == 5
    assert found.points in (8, 12, 20)
    assert min(rows, SMALLEST_SAMPLE) <= found.rows <= min(rows, 50_000)
    smallest = Effort(min(rows, SMALLEST_SAMPLE), 5, 8)
    assert found == smallest or size.seconds(found) <= min(MOST, ENOUGH + PER_MILLION * rows * columns / 1e6)


def test_small_tables_are_searched_as_before():
    for size in (Size(10, 4), Size(600, 4, 7), Size(5_000, 30)):
        assert effort_for(size, None, None, None) == Effort(size.rows, 5, 20)


@pytest.mark.parametrize("thorough", [False, True])
def test_what_is_given_is_obeyed(thorough):
    size = Size(1_000_000, 500, 7)
    assert effort_for(size, 123_456, 9, 31, thorough) == Effort(123_456, 9, 31)
    assert effort_for(size, 0, 9, 31, thorough).rows == 1_000_000
    assert effort_for(size, None, 9, None, thorough).splits == 9
    assert effort_for(size, None, None, 31, thorough).points == 31


def test_how_many_rows_choose():
    y = np.arange(300_000) % 10
    classes, numbers = task_of(y, "y"), task_of(y + 0.5, "y", "regression")
    shape, long = (300_000, 3), {"thorough": True}
    assert effort_of(shape, y, numbers, Settings(**long)) == Effort(50_000, 5, 20)
    assert effort_of(shape, y % 2, classes, Settings(**long)) == Effort(50_000, 5, 20)
    assert effort_of(shape, y, classes, Settings(**long)) == Effort(10_000, 5, 20)
    assert effort_of(shape, y, classes, Settings(sample=0)).rows == 300_000
    assert effort_of(shape, y, classes, Settings(sample=77)).rows == 77
    assert effort_of((300_000, 300), y % 2, classes, Settings()).rows < 50_000
    assert effort_of((300, 5_000), y[:300] % 2, classes, Settings(mu=0.01)).points == 1


# ------------------------------------------------------------------------------------------ only what is asked for


@pytest.fixture
def fits(monkeypatch):
    """Counts fits of the path, and backward eliminations."""
    counted = {"path": [], "eliminations": []}
    forward, eliminate = path.forward, path.eliminate
    monkeypatch.setattr(path, "forward", lambda task, *rest: counted["path"].append(task) or forward(task, *rest))
    selling = lambda task, numbers, *rest: counted["eliminations"].append(numbers) or eliminate(task, numbers, *rest)  # noqa: E731
    monkeypatch.setattr(path, "eliminate", selling)
    return counted


def test_a_mu_is_the_only_one_that_is_tried(fits):
    found = frugalboost.select(made(), "y", mu=0.02, **QUICK)
    assert {task.params.mu for task in fits["path"]} == {0.02}
    assert len(fits["path"]) == 2
    assert fits["eliminations"] == []
    assert [point.mu for point in found.path] == [0.02]
    assert found.path[0].features  # by gain, the choice's in order of purchase
    assert set(found.path[0].features) == set(found.features)
    assert found.path[0].error == found.choice.error


def test_a_number_of_features_is_the_only_one_that_is_tried(fits):
    found = frugalboost.select(made(), "y", k=2, **QUICK)
    assert len(fits["path"]) == 2  # they tell how many trees
    assert all(task.params.mu == 0 for task in fits["path"])
    assert fits["eliminations"] == [[2], [2]]  # one for each split
    assert [point.n_features for point in found.path] == [2]
    assert found.features == ["x0", "x1"] or found.features == ["x1", "x0"]


@pytest.mark.parametrize("asked", [{"k": 2}, {"mu": 0.02}])
@pytest.mark.parametrize("more", [{"points": 4}, {"thorough": True}])
def test_a_path_beside_it_can_be_asked_for(asked, more):
    found = frugalboost.select(made(), "y", **asked, **more, **QUICK)
    assert len(found.path) == more.get("points", 20)
    assert found.choice.n_features == 2 or "mu" in asked


@pytest.mark.parametrize("asked", [("--k", "2"), ("--mu", "0.02")])
def test_reports_without_a_path(asked, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    made().to_csv("a.csv", index=False)
    command = ["select", "a.csv", "-t", "y", "--trees", "20", "--splits", "2", *asked, "--json"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["path"]) == 1
    page = (tmp_path / "a_selected" / "report.html").read_text()
    assert '<div class="slider" hidden>' in page
    assert "No other numbers of features were tried." in page
    assert main([*command, "--points", "3"]) == 0
    capsys.readouterr()
    page = (tmp_path / "a_selected" / "report.html").read_text()
    assert '<div class="slider">' in page
    assert "Each point is a model;" in page


# ------------------------------------------------------------------------------------------------- the long search


def test_thorough_fits_every_candidate_to_the_end(monkeypatch):
    made_searches = []
    fit = cross_validation.GBFSCVBase._fit_rows
    monkeypatch.setattr(
        cross_validation.GBFSCVBase, "_fit_rows", lambda self, rows: made_searches.append(self) or fit(self, rows)
    )
    frugalboost.select(made(), "y", thorough=True, points=3, **SHORT)
    assert not any(isinstance(search, racing.Racing) for search in made_searches)
    assert len(made_searches[0].cv_results_["params"]) == 3 * 4
    made_searches.clear()
    frugalboost.select(made(), "y", points=3, **SHORT)
    assert all(isinstance(search, racing.Racing) for search in made_searches)


def test_thorough_is_an_option_of_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    made().to_csv("a.csv", index=False)
    quick = ("--trees", "10", "--splits", "2", "--depth", "1")
    assert main(["select", "a.csv", "-t", "y", "--thorough", *quick, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["path"]) == 20
    frugalboost.select(made(), "y", thorough=True, trees=10, splits=2, depth=1).save("python")
    for name in ("path.csv", "selected.csv"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "a_selected" / name).read_bytes()


# ------------------------------------------------------------------------------------------------------ odd tables


def few_of_a_class():
    frame = made(120)
    frame.loc[:2, "y"] = "rare"
    return frame


def with_bags_and_prices():
    return {"bags": {"a": ["x0", "x2"], "b": ["x1"]}, "costs": {"x0": 2.0}, "budget": 4.0}


ODD = {
    "ten rows": (made(10, 4), {}),
    "seven classes": (made(200, 4, 7), {}),
    "sorted rows": (made().sort_values("y"), {}),
    "weights": (made().assign(w=np.linspace(0.1, 2, 160)), {"weight": "w"}),
    "few rows of a class": (few_of_a_class(), {}),
    "numbers": (made(classes=0), {}),
    "bags, prices, a budget": (made(), with_bags_and_prices()),
    "auc": (made(), {"scoring": "roc_auc"}),
    "log loss, min": (made(), {"scoring": "neg_log_loss", "rule": "min"}),
    "paired": (made(), {"rule": "paired"}),
    "wide": (made(40, 60), {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_odd_tables(name, tmp_path):
    frame, how = ODD[name]
    found = [frugalboost.select(frame, "y", **SHORT, **how, threads=n) for n in (1, 3)]
    for i, selection in enumerate(found):
        selection.save(tmp_path / str(i))
    for file in ("model.frugal", "path.csv", "selected.csv"):
        assert (tmp_path / "0" / file).read_bytes() == (tmp_path / "1" / file).read_bytes()
    assert all(np.isfinite(point.error) for point in found[0].path)
    assert found[0].path[0].n_features == 0
    assert len(found[0].path) == 20
    if "budget" in how:
        assert found[0].choice.price <= how["budget"]
    if len(frame) > 100 and name != "few rows of a class":
        assert {"x0", "x1"} & set(found[0].features)


def test_a_constant_is_chosen_where_nothing_is_to_be_found():
    frame = made(60)
    frame["y"] = np.random.default_rng(1).permutation(frame["y"])
    with pytest.warns(frugalboost.NothingBoughtWarning):
        found = frugalboost.select(frame, "y", budget=0.5, **SHORT)
    assert found.features == []


# ------------------------------------------------------------------------------------------- nothing is done twice


def test_what_splits_bought_is_known(monkeypatch):
    """Errors so far need no purchase again, and the chosen model of the path is not fitted again."""
    from frugalboost.report import steps

    monkeypatch.setattr(steps, "purchases_on", lambda *_: pytest.fail("It was bought in cross-validation."))
    for how in ({}, {"k": 2}, {"mu": 0.02}, {"sell": False}, {"sample": 100}):
        assert frugalboost.select(made(), "y", **QUICK, **how).features


def test_known_purchases_are_those_that_would_be_made_again(monkeypatch):
    from frugalboost.report import steps

    asked = []
    steps_of = steps.steps_of

    def compared(search, model, rows, scorer, mu_given, bought):
        asked.append((search, model, rows, mu_given, bought))
        return steps_of(search, model, rows, scorer, mu_given, bought)

    monkeypatch.setattr("frugalboost.report.findings.steps_of", compared)
    for how in ({"sell": False}, {"k": 2}, {"mu": 0.02}):
        frugalboost.select(made(seed=3), "y", **SHORT, **how)
        search, model, rows, mu_given, bought = asked.pop()
        for (train, _), own in zip(steps.splits_of(search, rows), bought, strict=True):
            again = steps.purchases_on(model, rows.take(train), search.mus is None and not mu_given, 1)
            np.testing.assert_array_equal(own, again)


@pytest.mark.parametrize(("splits", "expected"), [(None, 3), (4, 4)])
def test_selling_uses_some_of_the_splits_unless_they_are_given(splits, expected, monkeypatch):
    found = []
    sold_back = choosing.selling
    monkeypatch.setattr(choosing, "FEW_ROWS", 300)
    monkeypatch.setattr(choosing, "selling", lambda *args, **more: found.append(sold_back(*args, **more)) or found[-1])
    monkeypatch.setattr(racing, "LEAST_SPLITS", 99)  # never give up
    frame = made(300)
    selection = frugalboost.select(frame, "y", trees=20, depth=2, points=4, splits=splits)
    assert found[0].n_splits_ == expected
    every = splitting.grouped_splits(frame["y"].to_numpy(), np.arange(len(frame)), True, 5, 0)
    for (train, _), (other, _) in zip(found[0].cv, every, strict=False):
        np.testing.assert_array_equal(train, other)
    if "selling" in selection.why:
        assert f"over {expected} splits" in selection.why


def test_selling_gives_up_early(monkeypatch):
    """With splits that say it is worse, neither the other splits nor all rows are searched."""
    asked = []
    refitted = choosing.refitted

    def losing(search, rows, rival=None, **changes):
        asked.append(rival)
        return refitted(search, rows, None if rival is None else rival + 1.0, **changes)

    monkeypatch.setattr(choosing, "refitted", losing)
    monkeypatch.setattr(choosing, "FEW_ROWS", 160)
    eliminations = []
    eliminate = path.eliminate
    monkeypatch.setattr(path, "eliminate", lambda *args: eliminations.append(1) or eliminate(*args))
    found = frugalboost.select(made(), "y", trees=20, splits=5, depth=2, points=4)
    assert len(asked) == 1
    assert len(eliminations) == racing.LEAST_SPLITS
    assert "sold" not in found.why
    monkeypatch.setattr(choosing, "FEW_ROWS", 161)  # too few rows to tell from two splits
    eliminations.clear()
    frugalboost.select(made(), "y", trees=20, splits=5, depth=2, points=4)
    assert len(eliminations) >= 5
