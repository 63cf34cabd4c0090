"""What may be something else than it looks like is told, or refused: formulas, points, lost zeros, titles."""

import io
import re
import warnings
import zipfile
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frugalboost
from frugalboost.recipe.columns import as_fitted, split_columns
from frugalboost.recipe.converting import repeated
from frugalboost.recipe.files import load_table
from frugalboost.recipe.forms import STYLES, Numbers, form_from
from frugalboost.recipe.guessing import guessed_form
from frugalboost.recipe.problems import Problem
from frugalboost.recipe.request import Roles
from frugalboost.recipe.text import LoadedTable

openpyxl = pytest.importorskip("openpyxl")
QUICK = {"trees": 10, "points": 3, "splits": 2}

# --------------------------------------------------------------------------------------------------------- formulas


def book(path, rows, computed=()):
    """A file whose texts that begin with = are formulas; ``computed``: results by place, as Excel keeps them."""
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    content = io.BytesIO()
    made.save(content)
    with zipfile.ZipFile(content) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            for place, (kind, value) in dict(computed).items() if name.endswith("sheet1.xml") else ():
                before = rf'<c r="{place}"[^>]*>(<f>[^<]*</f>)<v ?/?>(</v>)?</c>'
                text, n = re.subn(before, rf'<c r="{place}"{kind}>\1<v>{value}</v></c>', text.decode())
                assert n == 1
                text = text.encode()
            new.writestr(name, text)
    return path


def table_with_formulas(n=40, target="={i}*2"):
    rows = [["a", "b", "y"]]
    return rows + [[i % 7, f"=A{i + 2}+1", i % 2 if target is None else target.format(i=i)] for i in range(n)]


def test_formulas_without_a_result_are_told_with_their_columns(tmp_path):
    place = book(tmp_path / "t.xlsx", table_with_formulas(target=None))
    loaded = load_table(place)
    assert loaded.uncomputed == {"b": 40}
    columns = split_columns(loaded, Roles("y"))
    told = [notice.text for notice in columns.notices]
    assert any("40 formulas of 'b' in t.xlsx have no result, since nobody has computed them" in text for text in told)
    assert any("'b' was left out: every value is missing" in text for text in told)


@pytest.mark.parametrize("role", ["target", "weight", "group", "time"])
def test_a_role_without_results_is_an_error(role, tmp_path):
    place = book(tmp_path / "t.xlsx", table_with_formulas(target=None))
    asked = {"target": "y"} | {role: "b"}
    with pytest.raises(Problem, match=r"The .* can't be read: 40 formulas of 'b' in t.xlsx have no result"):
        frugalboost.select(place, **asked)
    if role == "target":
        with pytest.raises(Problem, match=r"Open the file in Excel or LibreOffice, and save it"):
            frugalboost.select(table_frame(), "b", test=place, **QUICK)


def table_frame(n=40):
    return pd.DataFrame(
        {"a": [i % 7 for i in range(n)], "b": [i % 7 + 1 for i in range(n)], "y": [i % 2 for i in range(n)]}
    )


def test_formulas_with_results_are_silent(tmp_path):
    rows = [["a", "b"], [1, "=A2"], [2, "=A3"], [3, '=""']]
    computed = {"B2": ("", "1"), "B3": ("", "2"), "B4": (' t="str"', "")}
    loaded = load_table(book(tmp_path / "t.xlsx", rows, computed))
    assert loaded.uncomputed == {}
    assert loaded.columns.column("b").to_pylist() == [1, 2, None]


def test_a_prediction_tells_of_formulas_in_columns_that_it_needs(tmp_path):
    frame = table_frame(200).assign(y=lambda t: t.b > 4, other=1.5)
    found = frugalboost.select(frame[["b", "other", "y"]], "y", **QUICK)
    rows = [["a", "b", "other"], *([1, f"=A{i + 2}", "=1"] for i in range(5))]
    with pytest.warns(UserWarning, match=r"5 formulas of 'b' in n.xlsx have no result"):
        found.predict(book(tmp_path / "n.xlsx", rows))


@given(places=st.sets(st.tuples(st.integers(1, 6), st.integers(0, 3)), max_size=12))
def test_any_places_of_formulas_are_counted(places, tmp_path_factory):
    rows = [[*"abcd"]] + [["=1+1" if (i, j) in places else i * j + 1 for j in range(4)] for i in range(1, 7)]
    loaded = load_table(book(tmp_path_factory.mktemp("f") / "t.xlsx", rows))
    assert loaded.uncomputed == dict(sorted(Counter("abcd"[j] for _, j in places).items()))
    assert loaded.n_rows == 6


# ------------------------------------------------------------------------------------------------------------ titles


@pytest.mark.parametrize("titles", [["Report 2024"], ["Report", "of the clinic"]])
@pytest.mark.parametrize("gap", [0, 1])
def test_titles_above_a_table_are_skipped_and_told(titles, gap, tmp_path):
    rows = [*([t, None, None] for t in titles), *([[None] * 3] * gap), ["a", "b", "y"], [1, 2, 3], [4, 5, 6]]
    loaded = load_table(book(tmp_path / "t.xlsx", rows))
    assert loaded.names == ["a", "b", "y"]
    assert loaded.n_rows == 2
    assert [str(r).split(":")[0] for r in loaded.remarks] == [
        f"Row {i + 1} of t.xlsx holds nothing but {t!r}" for i, t in enumerate(titles)
    ]


def test_names_are_not_taken_for_titles(tmp_path):
    for rows in ([["a", "b"], [1, 2]], [[None, "y"], [1, 2]], [["a"], [1], [2]], [["a", None, None], [1, None, None]]):
        loaded = load_table(book(tmp_path / "t.xlsx", rows))
        assert loaded.remarks == []
        assert loaded.n_rows == len(rows) - 1


# ------------------------------------------------------------------------------------------------------------ points


def read_new(fitted, *texts):
    form = guessed_form(Counter(fitted)).form
    form = form_from(form.to_dict())  # as a model keeps it
    return repeated("price", pa.chunked_array([list(texts)]), form, "new.csv")


def test_points_that_the_fit_has_not_shown_are_refused():
    with pytest.raises(
        Problem, match=r"'\$90\.000' could mean 90 or 90000; numbers had no decimals .* Write 90000, or 90"
    ):
        read_new(["$51,179", "$950"], "$90.000", "$12")
    with pytest.raises(Problem, match=r"'90,000 €' could mean 90 or 90000"):
        read_new(["51.179.000 €", "950 €"], "90,000 €")


@pytest.mark.parametrize("more", ["$90.5", "$90.0001", "$0.125", "$1,090.125"])
def test_a_number_that_shows_what_points_are_decides(more):
    numbers, told = read_new(["$51,179", "$950"], "$90.000", more)
    assert numbers.to_pylist()[0] == 90
    assert told is None


def test_decimals_of_the_fit_decide():
    numbers, told = read_new(["$51,179.50", "$950"], "$90.000")
    assert numbers.to_pylist() == [90]
    assert "could mean 90 or 90000; it was read as 90, as the decimals of the fit suggest" in told
    assert read_new(["$51.125", "$1,179.500", "$950"], "$90.000")[1] is None


@given(
    amounts=st.lists(st.integers(0, 10**7), min_size=1, max_size=20),
    fitted=st.lists(st.integers(0, 10**7), min_size=1, max_size=20),
    style=st.sampled_from(STYLES[:2]),
    kept=st.sampled_from(STYLES[:2]),
)
def test_no_whole_amount_is_read_as_another(amounts, fitted, style, kept):
    """Whole numbers with either mark between thousands: read as they are, or refused."""
    form = Numbers(point=kept[0], groups=kept[1], unit="$", decimals="")
    texts = ["$" + f"{v:,}".replace(",", style[1]) for v in amounts]
    try:
        numbers, _ = repeated("price", pa.chunked_array([texts]), form, "new.csv")
    except Problem:
        assert style != kept
        return
    assert numbers.to_pylist() == amounts


def test_points_between_thousands_in_a_file_with_semicolons_are_asked_about(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("price;size;y\n" + "".join(f"{10 + i}.{i:03d};{i};{i % 2}\n" for i in range(40)))
    assert load_table(file).doubtful == {"price": "10.000"}
    told = [n.text for n in split_columns(load_table(file), Roles("y")).notices]
    assert any("'price' of t.csv: '10.000' was read as 10, with a decimal point. If points" in text for text in told)
    assert any("write 10000" in text for text in told)
    _, said = as_fitted(load_table(file), {"price": None}, {})
    assert any("'10.000' was read as 10" in text for text in said)
    assert as_fitted(load_table(file), {"size": None}, {})[1] == []


@pytest.mark.parametrize(
    "text",
    [
        "a,y\n10.000,1\n",  # commas part fields: points are decimal
        "a;y\n10.000;1\n7.5;2\n",  # the column shows it
        "a;b;y\n10.000;0.5;1\n",  # another column shows it
        "a;y\n10.000;1\n12500;2\n",  # thousands have no mark
        "a;b;y\n10.000;1,5;1\n",  # commas are decimal: nothing to ask
        "a;y\n0.125;1\n",
        "a;y\n1.0e3;1\n",
        "a;a;y\n10.000;1;1\n",
    ],
)
def test_points_that_are_clear_are_not_asked_about(text, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    try:
        assert load_table(tmp_path / "t.csv").doubtful == {}
    except Problem as error:
        assert "two columns named" in str(error)  # noqa: PT017


# ------------------------------------------------------------------------------------------------------- lost zeros


def new_codes(column, levels):
    table = pa.table({"zip": column})
    return as_fitted(LoadedTable("new.xlsx", ["zip"], table), {"zip": levels}, {})


@pytest.mark.parametrize("column", [[1234, 99999, 1], ["1234", "99999", "1"], pa.array([1234.0, 99999.0, 1.0])])
def test_zeros_that_excel_has_taken_are_given_back_and_told(column):
    frame, told = new_codes(column, ["01234", "20095", "99999"])
    assert frame["zip"].tolist() == ["01234", "99999", "1"]
    assert told[0] == (
        "1 of 3 values of 'zip' in new.xlsx was read as the codes of the fit: its leading zeros were lost, "
        "as in '1234' for '01234'."
    )
    assert "such as '1', was not there when the model was fitted" in told[1]


@pytest.mark.parametrize("levels", [["1234", "01234"], ["12345", "20095"], ["01a", "02b"], ["", "01"], [1234, 20095]])
def test_other_levels_are_left_alone(levels):
    assert new_codes(["1234"], levels)[0]["zip"].tolist() == ["1234"]


@given(codes=st.sets(st.integers(0, 9999), min_size=2, max_size=30), missing=st.booleans())
def test_codes_survive_a_way_through_numbers(codes, missing):
    levels = sorted(f"{code:04d}" for code in codes)
    column = [*codes, None] if missing else [*codes]
    frame, told = new_codes(pa.array(column), levels)
    assert frame["zip"].dropna().tolist() == [f"{code:04d}" for code in codes]
    assert len(told) == any(code < 1000 for code in codes)


def test_a_prediction_from_excel_is_that_from_csv(tmp_path):
    rng = np.random.default_rng(0)
    codes = [f"0{c}" if c < 50 else f"{c}0" for c in rng.choice([10, 20, 30, 60, 70], 400)]
    frame = pd.DataFrame({"zip": codes, "y": [c.startswith("02") or c == "600" for c in codes]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = frugalboost.select(tmp_path / "t.csv", "y", **QUICK)
    frame[["zip"]].astype(int).to_excel(tmp_path / "n.xlsx", index=False)
    with pytest.warns(UserWarning, match="leading zeros were lost"):
        from_excel = found.predict(tmp_path / "n.xlsx")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (found.predict(tmp_path / "t.csv") == from_excel).all()


# ------------------------------------------------------------------------------------------------- spaces and heads


@pytest.mark.parametrize("kind", ["csv", "xlsx", "frame"])
def test_texts_that_differ_in_spaces_alone_are_the_same(kind, tmp_path):
    rng = np.random.default_rng(0)
    clean = pd.DataFrame({"city": rng.choice(["Bonn", "Kiel"], 300), "a": rng.normal(size=300).round(2)})
    clean["y"] = np.where((clean.city == "Bonn") ^ (rng.random(300) < 0.1), "good", "bad")
    spaced = clean.assign(**{n: clean[n] + pd.Series(rng.choice(["", " ", "  "], 300)) for n in ("city", "y")})

    def place(frame, name):
        if kind == "frame":
            return frame
        getattr(frame, {"csv": "to_csv", "xlsx": "to_excel"}[kind])(tmp_path / f"{name}.{kind}", index=False)
        return tmp_path / f"{name}.{kind}"

    one = frugalboost.select(place(clean, "a"), "y", **QUICK)
    other = frugalboost.select(place(spaced, "b"), "y", test=place(spaced, "b"), **QUICK)
    assert other.model.classes_.tolist() == ["bad", "good"]
    assert other.choice.error == one.choice.error
    assert any("Spaces around values of 'city', 'y' were removed" in text for text in other.notices)
    assert not any("Spaces" in text for text in one.notices)
    for table in (clean, spaced):  # without a warning about new categories
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert (one.predict(table) == other.predict(clean)).all()


def test_spaces_that_all_texts_have_are_left():
    frame = pd.DataFrame({"a": range(100), "y": [" p", " q"] * 50})
    found = frugalboost.select(frame, "y", **QUICK | {"k": 1})
    assert found.model.classes_.tolist() == [" p", " q"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_line_that_tells_excel_the_delimiter_is_obeyed(delimiter, end, tmp_path):
    text = end.join([f"sep={delimiter}", delimiter.join(["a, x", "b; z", "c"]), delimiter.join("123"), ""])
    quoted = text.replace("a, x", '"a, x"').replace("b; z", '"b; z"')
    (tmp_path / "t.csv").write_bytes(quoted.encode())
    assert load_table(tmp_path / "t.csv").names == ["a, x", "b; z", "c"]
    (tmp_path / "e.csv").write_text(f"sep={delimiter}\n")
    with pytest.raises(Problem, match=r"e\.csv is empty"):
        load_table(tmp_path / "e.csv")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Report 2024\na;b;y\n1;2;3\n", "vertical bars, and the first line holds their names."),
        ("Report 2024\na;b;y\n1,5;2,5;3\n", "line 2 has 3 fields, but line 1 has 1. If line 1 is a title, remove it"),
        (
            "Report;;\n;;\na;b;y\n1;2;3\n",
            "Most columns have no name: if there are titles above the names, remove",
        ),
        (
            "a b y\n1 2 3\n",
            "t.csv has one column; fields are parted by commas, semicolons, tabs or vertical bars",
        ),
        ("a,b,z\n1,2,3\n", "There are 'a', 'b', 'z'."),
    ],
)
def test_tables_whose_names_are_not_where_they_should_be(text, words, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(Problem) as caught:
        frugalboost.select(tmp_path / "t.csv", "y")
    assert words in str(caught.value)
