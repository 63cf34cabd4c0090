"""How people write numbers, dates and yes/no: what a text means, and which form a whole column has."""

import json
import math
from collections import Counter
from datetime import date, datetime, time, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frugalboost.recipe.converting import converted, repeated, sentences
from frugalboost.recipe.forms import STYLES, Clock, Dates, Numbers, YesNo, form_from
from frugalboost.recipe.guessing import Evidence, contradicted_by, guessed_form
from frugalboost.recipe.problems import Problem
from frugalboost.recipe.text import LoadedTable


def form_of(*texts, **evidence):
    found = guessed_form(Counter(texts), Evidence(**evidence))
    return None if found is None else found.form


def loaded(point="", **columns):
    table = pa.table(columns)
    return LoadedTable("t.csv", table.column_names, table, point=point)


# ------------------------------------------------------------------------------------------------------ single texts


@pytest.mark.parametrize(
    ("form", "text", "number"),
    [
        (Numbers(), "31,400.0", 31400),
        (Numbers(), "1,234,567", 1234567),
        (Numbers(), "12,34,567", 1234567),
        (Numbers(), " 12 ", 12),
        (Numbers(), "-1,200", -1200),
        (Numbers(), "\u22121200", -1200),
        (Numbers(), "(1,200)", -1200),
        (Numbers(), "1.5e3", 1500),
        (Numbers(), ".5", 0.5),
        (Numbers(), "1,2,3", None),
        (Numbers(), "12,34", None),
        (Numbers(), "0,123", None),
        (Numbers(), "007", None),
        (Numbers(), "13T", None),
        (Numbers(), "(12", None),
        (Numbers(), "", None),
        (Numbers(), ".", None),
        (Numbers(), "inf", None),
        (Numbers(), "1e999", None),
        (Numbers(unit="$"), "$1,200", 1200),
        (Numbers(unit="$"), "-$5", -5),
        (Numbers(unit="$"), "$-5", -5),
        (Numbers(unit="$"), "1,200", 1200),
        (Numbers(unit="$"), "€5", None),
        (Numbers(unit="€"), "5 €", 5),
        (Numbers(unit="US$"), "US$ 5", 5),
        (Numbers(unit="%"), "12%", 12),
        (Numbers(unit="%"), "12.5 %", 12.5),
        (Numbers(unit="%"), "0.12", None),
        (Numbers(unit="kg"), "3 KG", None),
        (Numbers(unit="usd"), "3 USD", 3),
        (Numbers(unit="kg"), "3 g", None),
        (Numbers(point=",", groups="."), "1.234,5", 1234.5),
        (Numbers(point=",", groups="."), "1.5", None),
        (Numbers(point=",", groups=" "), "1\u202f234,5", 1234.5),
        (Numbers(groups="'"), "1\u2019234.5", 1234.5),
        (Dates(order="dmy"), "31/12/1970", 364),
        (Dates(order="dmy"), "31.12.1970", 364),
        (Dates(order="dmy"), "2 Jan 1970", 1),
        (Dates(order="dmy"), "02-January-1970", 1),
        (Dates(order="dmy"), "12/31/1970", None),
        (Dates(order="dmy"), "1970-12-31", 364),
        (Dates(order="dmy"), "2/1/70", 1),
        (Dates(order="dmy"), "1.2.70", None),
        (Dates(order="mdy"), "Jan 2, 1970", 1),
        (Dates(order="mdy"), "1/2/1970 6:00 PM", 1.75),
        (Dates(order="mdy"), "1/2/1970 13:00 PM", None),
        (Dates(), "1970-01-02T12:00:00Z", 1.5),
        (Dates(), "1970-01-02 00:00+12:00", 0.5),
        (Dates(), "1970-02", 31),
        (Dates(), "1970-02-30", None),
        (Dates(), "0000-01-01", None),
        (Dates(order="dmy"), "2 Abc 1970", None),
        (Clock(), "6:30:36", 6.51),
        (Clock(), "12:15 am", 0.25),
        (Clock(), "24:00", None),
        (YesNo(), "YES", 1),
        (YesNo(), " f", 0),
        (YesNo(), "0", 0),
        (YesNo(), "maybe", None),
    ],
)
def test_what_a_text_means(form, text, number):
    assert form.number(text) == number


@given(st.floats(-1e9, 1e9).map(lambda x: round(x, 2)), st.sampled_from(STYLES), st.sampled_from(["", "$", "%"]))
def test_a_number_that_is_written_is_read(value, style, unit):
    point, groups = style
    text = f"{value:,.2f}".replace(",", "\0").replace(".", point).replace("\0", groups)
    form = Numbers(point=point, groups=groups, unit=unit)
    assert form.number(f"{text} {unit}") == value
    assert form_from(json.loads(json.dumps(form.to_dict()))) == form


@given(st.datetimes(datetime(1000, 1, 1), datetime(2999, 1, 1)), st.sampled_from(["ymd", "dmy", "mdy"]))
def test_a_date_that_is_written_is_read(when, order):
    written = {"ymd": "%Y-%m-%d", "dmy": "%d/%m/%Y", "mdy": "%m/%d/%Y"}[order]
    text = when.strftime(f"{written} %H:%M:%S.%f").replace(f"{when:%Y}", f"{when.year:04d}")
    days = (when - datetime(1970, 1, 1)) / timedelta(days=1)
    assert math.isclose(Dates(order=order).number(text), days, rel_tol=1e-15, abs_tol=1e-9)


@given(st.text(st.sampled_from("0123456789.,'$%-/: eTkg()yn"), max_size=14))
def test_no_text_is_an_error(text):
    for form in (Numbers(), Numbers(point=",", groups="."), Dates(), Dates(order="mdy"), Clock(), YesNo()):
        number = form.number(text)
        assert number is None or math.isfinite(number)
    guessed_form({text: 1})


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"form": "code", "missing": []},
        {"form": "numbers", "missing": [], "point": ".", "groups": "."},
        {"form": "numbers", "missing": [], "point": ",", "groups": ",", "unit": ""},
        {"form": "dates", "missing": [], "order": "ydm"},
        {"form": "dates", "missing": "no", "order": "ymd"},
        {"form": "yes or no", "missing": [1]},
        {"form": "yes or no", "missing": [], "more": ""},
        {"form": "yes or no", "missing": None},
    ],
)
def test_records_that_are_no_forms(record):
    with pytest.raises(ValueError, match="not a form"):
        form_from(record)


# --------------------------------------------------------------------------------------------------- whole columns


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["1,200", "950"], Numbers()),
        (["1,234", "0,567"], Numbers(point=",", groups=".")),  # a group can't begin with zero
        (["12,5", "1.234,5"], Numbers(point=",", groups=".")),
        (["1.234", "1.234.567"], Numbers(point=",", groups=".")),
        (["$1,200", "950"], Numbers(unit="$")),
        (["12%", "5.5 %"], Numbers(unit="%")),
        (["12 kg", "7 kg"], Numbers(unit="kg")),
        (["1,000+", "50+"], Numbers(unit="+")),
        (["12%", "0.5"], None),
        (["12 kg", "500 g"], None),
        (["$5", "€5"], None),
        (["13T", "21R"], None),
        (["1,2,4", "1"], None),
        (["01234", "98765"], None),
        (["person 1", "person 2"], None),
        (["1.2.10", "1.3.4"], None),
        (["10-20", "20-30"], None),
        (["13/05/2024", "02/03/2024"], Dates(order="dmy")),
        (["05/13/2024", "02/03/2024"], Dates(order="mdy")),
        (["02.03.2024"], Dates(order="dmy")),
        (["2024-05-13", "2024-05-14 10:30"], Dates()),
        (["2024-05-13", "31/12/2024"], Dates(order="dmy")),
        (["9:05", "17:30"], Clock()),
        (["Yes", "no"], YesNo()),
        (["y", "N"], YesNo()),
        (["true", "false"], YesNo()),
        (["yes", "yes"], None),
        (["yes", "no", "maybe"], None),
        (["m", "f"], None),
        (["red", "blue"], None),
        ([], None),
    ],
)
def test_the_form_of_a_column(texts, form):
    assert form_of(*texts) == form
    assert form_of(*reversed(texts)) == form
    assert form_of(*(texts * 50)) == form


def test_nearly_all_is_95_of_100():
    numbers = [f"1,{100 + i}" for i in range(95)]
    assert form_of(*numbers, *["unknown"] * 5) == Numbers(missing=("unknown",))
    assert form_of(*numbers[:94], *["unknown"] * 6) is None
    assert form_of(*numbers[:10], "unknown") is None
    assert form_of(*numbers[:19], "unknown") is not None
    assert form_of(*["yes", "no"] * 20, "?!") == YesNo(missing=("?!",))


def test_sorted_columns_are_seen_whole():
    """The value that decides is the last one."""
    early = [f"{day:02d}/{month:02d}/{year}" for year in range(1990, 2020) for month in range(1, 13) for day in (1, 12)]
    assert form_of(*early, "12/13/2020") == Dates(order="mdy")
    assert form_of(*early, "13/12/2020") == Dates(order="dmy")
    assert form_of(*[f"1,{i}" for i in range(100, 999)], "1,5") == Numbers(point=",", groups=".")


def test_two_ways_to_read_are_decided_by_other_columns():
    either = ["01/02/2024", "03/04/2024"]
    assert guessed_form(Counter(either)).rival == Dates(order="mdy")
    assert form_of(*either) == Dates(order="dmy")
    assert form_of(*either, order="mdy") == Dates(order="mdy")
    found = converted(loaded(a=either, b=["01/13/2024", "01/14/2024"]), ["a", "b"])
    assert [own.form for own in found] == [Dates(order="mdy")] * 2
    assert not any(own.has_oddities for own in found)
    found = converted(loaded(a=["1,234", "2,345"], b=["0,5", "1,25"]), ["a", "b"])
    assert found[0].numbers.to_pylist() == [1.234, 2.345]
    assert converted(loaded(a=["1,234"], point=","), ["a"])[0].numbers.to_pylist() == [1.234]
    assert converted(loaded(a=["1,234"]), ["a"])[0].numbers.to_pylist() == [1234]


# ------------------------------------------------------------------------------------------------------- whole tables


def test_each_conversion_is_told():
    table = loaded(
        price=["$1,200", "$950.5"],
        when=["31/12/2024", "01/01/2025"],
        may=["02/01/2024", None],
        smoker=["no", "Yes"],
        flag=[True, None],
        also=[False, True],
        day=pa.array([1, 2], pa.date32()),
        colour=["red", "blue"],
        number=[1, 2],
    )
    found = converted(table, table.names)
    assert [own.name for own in found] == ["price", "when", "may", "smoker", "flag", "also", "day"]
    assert sentences(found) == [
        "'price' holds numbers with '$': '$950.5' is 950.5.",
        "'when', 'may' hold dates with the day first; they became days since 1970-01-01: '31/12/2024' is 20088.",
        "'smoker' is Yes or no: 'Yes' is 1, 'no' is 0.",
        "'flag', 'also' are true or false: true is 1, false is 0.",
        "'day' holds dates; they became days since 1970-01-01.",
    ]
    assert found[2].numbers.to_pylist() == [19724.0, None]
    assert found[4].numbers.to_pylist() == [1.0, None]


def test_what_is_odd_is_told():
    (found,) = converted(loaded(a=["1,234"] * 39 + ["soon"]), ["a"])
    (said,) = sentences([found])
    assert said == (
        "'a' holds numbers: '1,234' is 1234. '1,234' could also mean 1.234; if it does, write it so. "
        "1 of its 40 values counts as missing, such as 'soon'."
    )
    (found,) = converted(loaded(a=["01/02/2024"]), ["a"])
    assert "'01/02/2024' could also have the month first; if so, write dates as yyyy-mm-dd." in sentences([found])[0]


def test_missing_texts_are_neither_for_nor_against():
    (found,) = converted(loaded(a=["12", " ", "NA", "", None, "n/a", "13"]), ["a"])
    assert found.numbers.to_pylist() == [12, None, None, None, None, None, 13]
    assert not found.other
    (found,) = converted(loaded(a=["$1,200.50", "$ -", "-", "—"]), ["a"])
    assert found.numbers.to_pylist() == [1200.5, None, None, None]
    assert converted(loaded(a=["+", "-", "+"]), ["a"]) == []
    assert converted(loaded(a=["", "NA"], b=pa.array([None, None], pa.string())), ["a", "b"]) == []


def test_chunks_and_layouts_of_texts_do_not_matter():
    texts = pa.chunked_array([["1,200", "x"], [], ["7"] * 40, ["1,200"]])
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        (found,) = converted(loaded(a=texts.cast(kind)), ["a"])
        assert found.numbers.to_pylist() == [1200, None, *[7] * 40, 1200]
    assert converted(loaded(a=texts.dictionary_encode()), ["a"]) == []  # its user has called it a category


@pytest.mark.parametrize(
    ("form", "column", "numbers"),
    [
        (Numbers(), ["1,200", "950"], [1200, 950]),
        (Numbers(), [3, None], [3, None]),
        (Numbers(unit="$"), [3.5], [3.5]),
        (Numbers(missing=("soon",)), ["soon"], [None]),
        (Dates(order="dmy"), [datetime(1970, 1, 2, 12)], [1.5]),
        (Clock(), ["6:30"], [6.5]),
        (Clock(), [time(6, 30)], [6.5]),
        (Clock(), pa.array([6 * 3600 + 1800], pa.int32()).cast(pa.time32("s")), [6.5]),
        (Dates(), pa.array([1], pa.date32()), [1]),
        (Dates(), pa.array([43_200 * 10**9], pa.timestamp("ns", "Europe/Berlin")), [0.5]),
        (YesNo(), ["y", "TRUE", "0"], [1, 1, 0]),
        (YesNo(), [1, 0], [1, 0]),
        (YesNo(), [True, None], [1, None]),
        (YesNo(), [None, None], [None, None]),
        (Numbers(), [*["1"] * 4, "?!"], [1, 1, 1, 1, None]),
    ],
)
def test_a_new_column_is_read_as_in_the_fit(form, column, numbers):
    assert repeated("a", pa.chunked_array([pa.array(column)]), form, "new.csv")[0].to_pylist() == numbers


@pytest.mark.parametrize(
    ("form", "column", "words"),
    [
        (Numbers(unit="%"), [0.12], "holds double values, but it held numbers with '%' when the model was fitted"),
        (
            Numbers(unit="%"),
            ["0.12"],
            "its values, such as '0.12', are written in another way; it held numbers with '%'",
        ),
        (Numbers(), ["1.234,5", "7"], "1 of 2 values, such as '1.234,5', is written in another way"),
        (Dates(order="dmy"), ["12/31/2024"], "it held dates with the day first"),
        (Dates(), [3], "holds int64 values, but it held dates"),
        (YesNo(), ["ja"], "it held yes or no"),
    ],
)
def test_a_new_column_of_another_form_is_an_error(form, column, words):
    with pytest.raises(Problem) as caught:
        repeated("a", pa.chunked_array([pa.array(column)]), form, "new.csv")
    assert words in str(caught.value)
    assert "Column 'a' of new.csv" in str(caught.value)


def test_a_few_new_values_of_another_form_are_told():
    _, said = repeated("a", pa.chunked_array([["1"] * 9 + ["soon"]]), Numbers(), "new.csv")
    few = "1 of 10 values of 'a' in new.csv, such as 'soon', counts as missing"
    assert said == f"{few}; it held numbers when the model was fitted."


@given(
    values=st.lists(st.floats(0, 2e6).map(lambda v: round(v, 3)), min_size=1, max_size=30),
    written=st.sampled_from(STYLES),
    kept=st.sampled_from(STYLES),
    digits=st.integers(0, 3),
    junk=st.booleans(),
)
def test_no_other_marks_are_misread_where_a_value_shows_them(values, written, kept, digits, junk):
    """Where the kept form can't read a text of the true one, it is either contradicted or reads no text wrongly."""
    true, form = (Numbers(point=point, groups=groups) for point, groups in (written, kept))
    swap = {",": true.groups, ".": true.point}
    texts = ["".join(swap.get(c, c) for c in f"{v:,.{digits}f}") for v in values]
    counts = Counter(texts)
    shown = any(form.number(text) is None for text in counts)
    wrong = any(form.number(text) not in (None, true.number(text)) for text in counts)
    if junk:
        counts["soon"] = 1
    found = contradicted_by(form, counts)
    assert (found is not None) == (shown and wrong)


@given(
    days=st.lists(st.dates(date(1970, 1, 1), date(2030, 1, 1)), min_size=1, max_size=30),
    kept=st.sampled_from(["dmy", "mdy"]),
)
def test_no_other_order_of_dates_is_misread_where_a_date_shows_it(days, kept):
    form, other = Dates(order=kept), "%m/%d/%Y" if kept == "dmy" else "%d/%m/%Y"
    counts = Counter(day.strftime(other) for day in days)
    shown = any(form.number(text) is None for text in counts)
    wrong = any(form.number(day.strftime(other)) not in (None, (day - date(1970, 1, 1)).days) for day in days)
    assert (contradicted_by(form, counts) is not None) == (shown and wrong)
