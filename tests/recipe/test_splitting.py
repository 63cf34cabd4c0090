"""How select splits rows: equal rows and groups stay together, and times are respected."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.datasets import dump_svmlight_file

import frugalboost
from frugalboost.cli import main
from frugalboost.recipe import choosing
from frugalboost.recipe.problems import Problem
from frugalboost.recipe.splitting import group_codes, time_ranks
from frugalboost.tables import DenseTable
from frugalboost.tables.equal_rows import FEW_DIFFERENT, equal_rows, linked

QUICK = {"trees": 20, "points": 4, "splits": 3, "depth": 2}
QUICK_COMMAND = ["--trees", "20", "--points", "4", "--splits", "3", "--depth", "2", "--quiet"]
OURS = ("model.frugal", "selected.csv", "path.csv")

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_page")]


def made(n=200, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    right = frame["a"] + frame["b"] > 0
    frame["y"] = np.where(right ^ (rng.random(n) < 0.11), "yes", "no")
    return frame


@pytest.fixture
def seen(monkeypatch):
    """What was split, and how."""
    found, split = [], choosing.split
    monkeypatch.setattr(choosing, "split", lambda *args: found.append(split(*args)) or found[-1])
    return found


def split_of(selection):
    return selection.report.contents["measure"]["split"]


# -------------------------------------------------------------------------------------------------- equal rows


def test_equal_rows_do_not_make_errors_look_low():
    """Every row is there eight times, with the same wrong label: models that know rows by heart must not look good."""
    frame = pd.concat([made(300)] * 8, ignore_index=True)
    later = made(2000, seed=1)
    asked = {"trees": 200, "points": 4, "rule": "min", "depth": 6, "leaf": 1, "learning_rate": 0.3}
    found = frugalboost.select(frame, "y", test=later, **asked)
    assert found.choice.error > 11
    assert found.choice.error == pytest.approx(found.choice.test_error, abs=5)
    for point in found.path[1:]:
        assert point.error > 11
    assert "equal rows are in the same part" in split_of(found)
    assert any("2,100 of 2,400 rows repeat" in text and "never in both parts" in text for text in found.notices)


def test_tables_without_equal_rows_are_split_as_before(seen):
    found = frugalboost.select(made(), "y", **QUICK)
    assert split_of(found) == (
        "Errors are means over 3 random splits into 80 and 20 % of the rows, with the same share of each class."
    )
    assert seen[0].rows.groups is None
    held = np.concatenate([held for _, held in seen[0].cv])
    assert len(set(held)) == len(held)  # no row is held out twice before every row is once
    for train, held_out in seen[0].cv:
        assert sorted([*train, *held_out]) == list(range(len(made())))
        shares = [(seen[0].rows.y[part] == "yes").mean() for part in (train, held_out)]
        assert shares[0] == pytest.approx(shares[1], abs=0.03)


def test_columns_that_are_no_features_do_not_make_rows_differ(seen):
    frame = pd.concat([made(100)] * 2, ignore_index=True)
    frame["id"], frame["w"] = np.arange(200), np.linspace(1, 2, 200)
    frame.loc[100:, "y"] = np.random.default_rng(0).permutation(frame["y"][100:])
    frugalboost.select(frame, "y", ids="id", weight="w", **QUICK)
    for train, held_out in seen[0].cv:
        assert not set(train % 100) & set(held_out % 100)


def test_rows_that_are_equal_by_chance_are_split_as_they_are():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(3, size=(400, 2)), columns=["sex", "class"])
    frame["y"] = (frame["sex"] + frame["class"] + rng.normal(size=400) > 2).astype(int)
    found = frugalboost.select(frame, "y", **QUICK)
    assert "Equal rows are not kept together, because there are only 9 different ones." in split_of(found)
    assert any("may make errors look too low" in text for text in found.notices)
    assert found.features
    assert FEW_DIFFERENT > 9


def test_equal_rows_that_leave_no_splits_are_split_as_they_are():
    """Three different rows: where the one of class b is held out, nothing else is left to learn from."""
    frame = pd.DataFrame({"x": [0.0] * 4 + [1.0] * 4 + [2.0] * 4, "y": ["a"] * 8 + ["b"] * 4})
    found = frugalboost.select(frame, "y", trees=5, leaf=1, scoring="roc_auc")
    assert "because that would leave fewer than two splits" in split_of(found)


@pytest.mark.filterwarnings("ignore:The model is a constant")
@pytest.mark.parametrize("rare", [2, 3, 4, 7])
def test_a_rare_class_leaves_only_splits_that_the_score_can_judge(rare, seen):
    """ROC AUC is not defined where the held-out rows are of one class."""
    frame = made(60).assign(y=np.repeat(["a", "b"], [60 - rare, rare]))
    found = frugalboost.select(frame, "y", trees=5, points=3, scoring="roc_auc")
    assert seen[0].n_splits == min(rare, 5)
    assert all(len(set(seen[0].rows.y[held])) == 2 for _, held in seen[0].cv)
    assert (rare < 5) == (f"Of 5 splits, only {rare} could be used." in split_of(found))


def test_a_class_of_one_row_can_not_be_judged_by_roc_auc():
    frame = made(60).assign(y=np.repeat(["a", "b"], [59, 1]))
    with pytest.raises(Problem, match=r"fewer than two splits hold out rows of two classes.*Use another score"):
        frugalboost.select(frame, "y", trees=5, points=3, scoring="roc_auc")


def test_equal_rows_of_every_kind_of_table():
    X = np.array([[0.0, np.nan], [-0.0, np.nan], [1.0, 2.0]])
    assert equal_rows(DenseTable(X)).tolist() == [0, 0, 1]
    assert equal_rows(DenseTable(X[1:])) is None
    assert linked(np.array([0, 1, 2, 3]), np.array([0, 1, 1, 0])).tolist() == [0, 1, 1, 0]


def test_libsvm_files_have_equal_rows_too(tmp_path, monkeypatch, seen):
    monkeypatch.chdir(tmp_path)
    frame = pd.concat([made(60)] * 2, ignore_index=True)
    dump_svmlight_file(frame[list("abcd")].to_numpy(), (frame["y"] == "yes").astype(int), "a.svm", zero_based=False)
    assert "equal rows are in the same part" in split_of(frugalboost.select("a.svm", **QUICK))
    for asked in ({"group": "a"}, {"time": "a"}):
        with pytest.raises(Problem, match="no weights, ids, groups or times"):
            frugalboost.select("a.svm", **asked, **QUICK)


# ------------------------------------------------------------------------------------------------------ groups


def with_groups(n=240):
    frame = made(n)
    return frame.assign(
        patient=[f"p{i % 30}" for i in range(n)],
        when=pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n) // 2, unit="D"),
    )


def test_groups_share_a_fold_and_are_no_feature(seen):
    frame = with_groups()
    found = frugalboost.select(frame, "y", group="patient", **QUICK)
    assert len(seen[0].cv) == 3
    for train, held_out in seen[0].cv:
        assert not set(frame["patient"][train]) & set(frame["patient"][held_out])
        assert (frame["y"][held_out] == "yes").mean() == pytest.approx((frame["y"] == "yes").mean(), abs=0.1)
    assert "rows with the same 'patient' are in the same part" in split_of(found)
    assert "patient" not in found.model.feature_names_in_
    assert found.report.contents["about"]["groups"] == "patient"
    assert found.report.contents["settings"]["python"].count("group='patient'") == 1


def test_equal_rows_and_groups_are_kept_together_at_once(seen):
    frame = pd.concat([with_groups(120)] * 2, ignore_index=True)
    frame["patient"] = [f"p{i}" for i in range(120)] + [f"p{(i + 1) // 2 + 200}" for i in range(120)]
    frugalboost.select(frame, "y", group="patient", **QUICK)
    for train, held_out in seen[0].cv:
        assert not set(train % 120) & set(held_out % 120)
        assert not set(frame["patient"][train]) & set(frame["patient"][held_out])


def test_few_groups_give_few_splits_and_a_word():
    frame = with_groups().assign(site=lambda f: f["patient"].map(lambda p: "ABC"[int(p[1:]) % 3]))
    found = frugalboost.select(frame, "y", group="site", ids="patient", **QUICK | {"splits": 5})
    words = "Errors are means over 3 splits, each with one of 3 groups held out: rows with the same 'site'."
    assert split_of(found) == f"{words} Of 5 splits, only 3 could be made."


def test_rows_without_a_group_are_alone():
    column = pa.chunked_array([["a", None, "b"], ["a", None]])
    assert [x.tolist() if hasattr(x, "tolist") else x for x in group_codes(column, "g")] == [[0, 1, 2, 0, 3], 2]
    numbers = pa.chunked_array([[1.0, float("nan"), 1.0, None]])
    assert group_codes(numbers, "g")[0].tolist() == [0, 1, 0, 2]
    frame = with_groups()
    frame.loc[:4, "patient"] = None
    found = frugalboost.select(frame, "y", group="patient", **QUICK)
    assert "5 rows without a value of 'patient' are a group of their own each." in found.notices


def test_groups_hold_when_features_are_sold_back_and_on_all_rows(monkeypatch):
    from frugalboost.selection import importance

    together, folds = [], importance.stratified_folds

    def kept(rows, *rest):
        found = folds(rows, *rest)
        together.append(not any(set(rows.groups[train]) & set(rows.groups[held]) for train, held in found))
        return found

    monkeypatch.setattr(importance, "stratified_folds", kept)
    frugalboost.select(with_groups(), "y", group="patient", k=2, sample=200, **QUICK)
    assert len(together) >= 5  # each split, the sample, all rows
    assert all(together)


# -------------------------------------------------------------------------------------------------------- time


def test_time_is_respected_and_no_feature(seen):
    frame = with_groups().sample(frac=1, random_state=0, ignore_index=True)
    found = frugalboost.select(frame, "y", time="when", ids="patient", **QUICK)
    assert len(seen[0].cv) == 3
    for train, held_out in seen[0].cv:
        assert frame["when"][train].max() < frame["when"][held_out].min()
    assert split_of(found) == (
        "Errors are means over 3 splits in the order of 'when': models are fitted on earlier rows and judged on the "
        "next later ones."
    )
    assert not any("when" in text for text in found.notices)
    assert found.report.contents["about"]["time"] == "when"


def test_times_may_be_written_as_people_do(seen):
    frame = with_groups().sample(frac=1, random_state=0, ignore_index=True)
    written = frame.assign(when=frame["when"].dt.strftime("%d/%m/%Y"))
    found = frugalboost.select(written, "y", time="when", ids="patient", **QUICK)
    assert any("'when'" in text and "days" in text for text in found.notices)
    for train, held_out in seen[0].cv:
        assert frame["when"][train].max() < frame["when"][held_out].min()
    codes = {p: f"{1000 + i:,}" for i, p in enumerate(frame["patient"].unique())}
    groups = frame.assign(patient=frame["patient"].map(codes))
    found = frugalboost.select(groups, "y", group="patient", ids="when", **QUICK)
    assert not any("'patient'" in text and "became" in text for text in found.notices)


def test_numbers_are_split_so_too(seen):
    frame = pd.concat([with_groups(120)] * 2, ignore_index=True)
    frame["y"] = frame["a"] + frame["b"]
    frame["patient"] = np.arange(240) % 120 // 4
    for asked in ({}, {"group": "patient"}, {"time": "when"}, {"time": "when", "group": "patient", "k": 2}):
        ids = [name for name in ("patient", "when") if name not in asked.values()]
        found = frugalboost.select(frame, "y", ids=ids, **asked, **QUICK)
        assert found.features
        for train, held_out in seen[-1].cv:
            assert not set(train % 120) & set(held_out % 120)
            assert len(train)
            assert len(held_out)


def test_time_and_groups_at_once(seen):
    frame = with_groups().assign(patient=lambda f: np.arange(240) // 5)
    found = frugalboost.select(frame, "y", time="when", group="patient", **QUICK)
    for train, held_out in seen[0].cv:
        assert frame["when"][train].max() < frame["when"][held_out].min()
        assert not set(frame["patient"][train]) & set(frame["patient"][held_out])
    assert "rows with the same 'patient' are never in both parts" in split_of(found)


def test_what_changes_with_time_is_not_learnt_from_the_future():
    """Good and bad months by chance: a feature that rises with time knows a month only from rows of that month."""
    frame = made(600).assign(day=np.arange(600), meter=np.arange(600) * 0.7)
    frame["y"] = np.where(np.random.default_rng(0).random(20)[np.arange(600) // 30] > 0.5, "yes", "no")
    asked = {"trees": 50, "points": 4, "depth": 3, "k": 2}
    assert frugalboost.select(frame, "y", ids="day", **asked).choice.error < 10
    assert frugalboost.select(frame, "y", time="day", **asked).choice.error > 30


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["x", "y"] * 10, "holds texts, which have no order in time"),
        ([True, False] * 10, "holds bool values"),
        ([1.0, None] * 10, "has no value in 10 rows"),
        ([1, 2] * 10, "has 2 different values; at least 3"),
    ],
)
def test_times_that_can_not_be_ordered(column, words):
    with pytest.raises(Problem, match=words):
        time_ranks(pa.chunked_array([column]), "when")
    assert time_ranks(
        pa.chunked_array([pa.array(pd.to_datetime(["2024-02-01", "2024-01-01", "2025-01-01"]))]), "t"
    ).tolist() == [1, 0, 2]


WRONG = [
    ({"group": "patiant"}, "no column 'patiant' in table. Did you mean 'patient'"),
    ({"group": "y"}, "Column 'y' has two roles. Use it as one of target, weight, id, group and time."),
    ({"group": "one"}, "All rows have the same value of 'one'"),
    ({"group": "class"}, "Rows can't be split by 'class' (group): fewer than two splits have enough training rows"),
    (
        {"time": "sorted", "splits": 2},
        "Rows can't be split in the order of 'sorted' (time): fewer than two splits have enough",
    ),
    ({"time": "patient"}, "holds texts"),
    ({"time": 3.5}, "time must be a name, not float"),
]


@pytest.mark.parametrize(("asked", "words"), WRONG)
def test_what_can_not_be_done_is_told(asked, words):
    frame = with_groups().assign(one=1)
    frame["class"] = frame["y"]
    frame["sorted"] = (frame["y"] == "yes") * 1000 + np.arange(240)
    with pytest.raises(Problem) as told:
        frugalboost.select(frame, "y", **QUICK | asked)
    assert words in str(told.value)


# ------------------------------------------------------------------------------------------------- the command


@pytest.mark.parametrize("asked", [{"group": "patient"}, {"time": "when", "group": "patient"}])
def test_the_command_gives_the_same_bytes_in_any_order_and_with_any_threads(asked, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = with_groups(120).assign(patient=[f"p{i // 4}" for i in range(120)])
    frame = pd.concat([frame] * 2, ignore_index=True)
    frame.to_csv("a.csv", index=False)
    words = [word for name, value in asked.items() for word in (f"--{name}", value)]
    assert main(["select", "a.csv", "-t", "y", *words, "--out", "one", "--threads", "1", *QUICK_COMMAND]) == 0
    said = capsys.readouterr().out
    assert (
        main(
            [
                "select",
                *QUICK_COMMAND,
                "--threads",
                "2",
                *words[::-1][1::-1],
                *words[:-2],
                "--out",
                "two",
                "-t",
                "y",
                "a.csv",
            ]
        )
        == 0
    )
    frugalboost.select(frame, "y", **asked, **QUICK).save("three")
    for name in OURS:
        assert len({(Path(folder) / name).read_bytes() for folder in ("one", "two", "three")}) == 1
    told = json.loads(Path("one/run.json").read_text())["measure"]["split"]
    assert told in " ".join(said.split())
    assert "'patient'" in told


def test_early_errors_name_options_of_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with_groups().assign(one=1).to_csv("a.csv", index=False)
    assert main(["select", "a.csv", "-t", "y", "--group", "one", *QUICK_COMMAND]) == 2
    assert "All rows have the same value of 'one' (--group)" in capsys.readouterr().err
    assert main(["select", "a.csv", "-t", "y", "--group", "nobody", *QUICK_COMMAND]) == 2
    assert not Path("a_selected").exists()
