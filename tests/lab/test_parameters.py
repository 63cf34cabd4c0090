"""docs/parameters.md is true: every parameter of the others and of ours is there, and nothing else."""

import copy
from dataclasses import replace

import pytest

from lab.parameters.__main__ import NATIVE, PAGE, ROWS, main
from lab.parameters.checking import drift, faults
from lab.parameters.page import page
from lab.parameters.rows import OURS_ALONE, Row
from lab.parameters.signatures import PARTS, defaults, installed, kept, ours, ours_in_fit


def found(rows=ROWS, alone=OURS_ALONE, own=None, in_fit=None, signatures=None):
    own = ours() if own is None else own
    in_fit = ours_in_fit() if in_fit is None else in_fit
    return faults(rows, alone, own, in_fit, kept() if signatures is None else signatures)


def test_the_page_is_up_to_date(capsys):
    assert main(["--check"]) == 0, capsys.readouterr().out
    assert PAGE.read_text() == page(ours(), kept())


def test_every_parameter_is_on_the_page():
    text = PAGE.read_text()
    for distribution, parts in PARTS.items():
        for part in parts:
            for name, default in kept()[distribution][part].items():
                after = " (native)" if part == "native" else "" if default == "None" else f" {default}"
                assert f"`{name}`{after}" in text
    for name, default in ours().items():
        assert f"| `{name}`" + ("" if default == "None" else f" {default}") + " |" in text


@pytest.mark.parametrize("part", [part for parts in PARTS.values() for part in parts])
def test_a_new_or_lost_parameter_of_theirs_is_a_fault(part):
    signatures = copy.deepcopy(kept())
    own = next(signatures[d][part] for d, parts in PARTS.items() if part in parts)
    own["brand_new"] = "1"
    lost = next(iter(own))
    del own[lost]
    first, second = found(signatures=signatures)
    assert "'brand_new' is in no row of lab/parameters/rows.py" in first
    assert f"{lost!r} is in lab/parameters/rows.py, but there is none" in second


def test_a_new_or_lost_parameter_of_ours_is_a_fault():
    own = ours() | {"brand_new": "1"}
    assert found(own=own) == ["Our 'brand_new' is in no row of lab/parameters/rows.py, nor in OURS_ALONE."]
    del own["brand_new"], own["max_bins"], own["budget"]
    first, second = found(own=own)
    assert first == "'max_bins' is no parameter of ours any more (max_bins, max_bin, max_bin)."
    assert second == "'budget' is in OURS_ALONE of lab/parameters/rows.py, but no parameter."


def test_what_is_not_yet_there_must_be_entered_when_it_is():
    rows = [*ROWS, Row("not yet", later="brand_new")]
    assert found(rows) == []
    assert "'brand_new' is a parameter of ours now" in found(rows, own=ours() | {"brand_new": "1"})[0]
    assert "'brand_new' is a parameter of ours now" in found(rows, in_fit=ours_in_fit() | {"brand_new"})[0]


def test_rows_that_say_nothing_or_twice():
    assert "says neither what we have nor why not" in found([*ROWS, Row("")])[0]
    again = replace(next(row for row in ROWS if row.xgb), ours="", later="", hist="", lgbm="", native="", note="none")
    assert any("is in 2 rows of" in sentence for sentence in found([*ROWS, again]))
    assert "but also in a row" in found(alone=OURS_ALONE | {"max_bins": "again"})[0]


def test_the_same_version_must_agree_and_another_one_only_tells():
    before = kept()
    now = copy.deepcopy(before)
    now["lightgbm"]["lgbm"] |= {"brand_new": "1", "num_leaves": "32"}
    del now["lightgbm"]["lgbm"]["subsample"]
    wrong, notes = drift(before, now | {"xgboost": None})
    assert not notes
    assert [sentence.split(": ")[1] for sentence in wrong] == [
        "'brand_new' is new, unlike in signatures.json.",
        "'subsample' is gone, unlike in signatures.json.",
        "the default of 'num_leaves' is 32, unlike in signatures.json.",
    ]
    now["lightgbm"]["version"] = "99"
    wrong, notes = drift(before, now)
    assert not wrong
    assert len(notes) == 3
    assert "LightGBM 99, since" in notes[0]
    assert "--read" in notes[0]


def test_what_is_kept_is_what_the_installed_libraries_say():
    """Unless they are of other versions, which only a person can follow."""
    for distribution in PARTS:
        now = installed(distribution, NATIVE)
        if now is not None and now["version"] == kept()[distribution]["version"]:
            assert now == kept()[distribution]


def test_defaults_of_two_classes_are_both_told():
    class One:
        def __init__(self, a=1, *, b="x", **more):
            pass

    class Two:
        def __init__(self, a=1, *, b="y", c=None):
            pass

    assert defaults(One, Two) == {"a": "1", "b": '"x" or "y"', "c": "None"}
