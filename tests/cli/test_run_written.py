"""`frugalboost select` and `predict` on tables as people write them: money, dates, yes/no, Excel, zip, counts."""

import gzip
import json
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from run_tools import select
from sklearn.exceptions import DataConversionWarning

import frugalboost
from frugalboost.cli import main
from frugalboost.page.words import number_text
from frugalboost.recipe.columns import Roles, split_columns
from frugalboost.recipe.files import load_table
from frugalboost.recipe.options import Rule
from frugalboost.recipe.problems import Problem
from frugalboost.recipe.request import Settings
from frugalboost.recipe.select import nothing_bought
from frugalboost.recipe.task import task_of

pytestmark = pytest.mark.usefixtures("no_page")


def numbers(n=200, seed=0):
    """A table of plain numbers."""
    rng = np.random.default_rng(seed)
    plain = pd.DataFrame(
        {
            "size": rng.uniform(500, 5000, n).round(1),
            "rate": rng.uniform(0, 20, n).round(1),
            "built": rng.integers(0, 20_000, n),
            "garden": rng.integers(0, 2, n),
        }
    )
    worth = plain["size"] * 60 - plain["rate"] * 3000 + plain["built"] * 5 + plain["garden"] * 40_000
    return plain.assign(price=worth.round(2))


def written(plain):
    """The same as people write it."""
    days = pd.Timestamp("1970-01-01") + pd.to_timedelta(plain["built"], "D")
    return pd.DataFrame(
        {
            "size": [f"{v:,.1f} m²" for v in plain["size"]],
            "rate": [f"{v}%" for v in plain["rate"]],
            "built": days.dt.strftime("%d/%m/%Y"),
            "garden": np.where(plain["garden"] == 1, "yes", "no"),
            "price": [f"${v:,.2f}" for v in plain["price"]],
        }
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys):
    return capsys.readouterr().err


# ------------------------------------------------------------------------------------------------- the same numbers


@pytest.mark.slow
def test_a_written_table_gives_the_model_of_its_numbers(folder, capsys):
    plain = numbers()
    plain.to_csv("plain.csv", index=False)
    written(plain).to_csv("written.csv", index=False)
    found = {}
    for name in ("plain", "written"):
        assert select(f"{name}.csv", "-t", "price", "--test", f"{name}.csv", "--json") == 0
        found[name] = json.loads(capsys.readouterr().out)
    assert {f["feature"]: f.pop("kind") for f in found["written"]["selected"]}["built"] == "date"
    assert {f.pop("kind") for f in found["plain"]["selected"]} <= {"number", "category"}
    for key in ("selected", "path", "test_error"):
        assert found["plain"][key] == found["written"][key]
    assert {n["kind"] for n in found["written"]["notices"]} >= {"converted"}
    assert "converted" not in {n["kind"] for n in found["plain"]["notices"]}
    answers = {}
    for name in ("plain", "written"):
        assert main(["predict", f"{name}_selected", f"{name}.csv"]) == 0
        answers[name] = capsys.readouterr().out
    assert answers["plain"] == answers["written"]


@pytest.mark.slow
def test_frames_and_all_files_are_read_alike(folder, capsys):
    frame = written(numbers())
    frame.to_csv("a.csv", index=False)
    frame.to_parquet("a.parquet")
    frame.to_excel("a.xlsx", index=False)
    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.write("a.csv", "inside/a.csv")
        archive.writestr("__MACOSX/a.csv", "")
        archive.writestr("README.txt", "Read me.")
    models = []
    for place in (frame, "a.csv", "a.parquet", "a.xlsx", "a.zip"):
        found = frugalboost.select(place, "price", trees=20, points=5, splits=2, depth=2)
        found.save("run")
        models.append(Path("run/model.frugal").read_bytes())
        assert sum("holds" in text or " is yes or no" in text for text in found.notices) == 5
        np.testing.assert_array_equal(found.predict(frame), found.predict("a.xlsx"))
    assert len(set(models)) == 1


@pytest.mark.slow
def test_test_rows_are_converted_as_the_table_is(folder, capsys):
    plain = numbers()
    plain.to_csv("plain.csv", index=False)
    written(plain).to_csv("written.csv", index=False)
    plain.assign(price=[f"{v:,.2f}" for v in plain["price"]]).to_csv("target.csv", index=False)
    assert select("plain.csv", "-t", "price", "--test", "target.csv", "--json") == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["test_error"] is not None
    assert "'price' holds numbers: " in shown.err
    assert select("written.csv", "-t", "price", "--test", "plain.csv") == 2
    assert "Column 'size' of plain.csv can't be used: its values, such as " in told(capsys)


@pytest.mark.slow
def test_predict_repeats_the_conversion(folder, capsys):
    frame = written(numbers())
    frame.to_csv("t.csv", index=False)
    assert select("t.csv", "-t", "price", "--rule", "min", "--no-sell", "--out", "run") == 0
    new = frame.drop(columns="price")[:30]
    new.to_csv("new.csv", index=False)
    capsys.readouterr()

    def answers(table):
        table.to_csv("other.csv", index=False)
        code = main(["predict", "run", "other.csv"])
        shown = capsys.readouterr()
        return shown.out if code == 0 else shown.err, shown.err

    usual, _ = answers(new)
    # dates all with days up to 12, capitals, ISO dates, no thousands: the same
    assert answers(new.assign(garden=new["garden"].str.upper().str[:1])) == (usual, "")
    iso = pd.to_datetime(new["built"], format="%d/%m/%Y")
    assert answers(new.assign(built=iso)) == (usual, "")
    assert answers(new.assign(size=new["size"].str.replace(",", ""))) == (usual, "")
    early = new.assign(built="03/04/2001")
    assert answers(early) == answers(new.assign(built="2001-04-03"))
    # a few others are missing, and that is told; many are an error
    odd = new.assign(rate=["soon", *new["rate"][1:]])
    assert "1 of 30 values of 'rate' in other.csv, such as 'soon', counts as missing" in answers(odd)[1]
    assert answers(odd)[0].splitlines()[2:] == usual.splitlines()[2:]
    shares = new.assign(rate=new["rate"].str.rstrip("%").astype(float) / 100)
    assert "Column 'rate' of other.csv can't be used" in answers(shares)[1]
    american = new.assign(built=iso.dt.strftime("%m/%d/%Y"))
    assert "it held dates with the day first when the model was fitted." in answers(american)[1]


@pytest.mark.slow
def test_python_warns_of_values_that_can_not_be_converted(folder):
    frame = written(numbers())
    found = frugalboost.select(frame, "price", trees=20, points=5, splits=2, rule="min", sell=False)
    assert "rate" in found.features
    with pytest.warns(DataConversionWarning, match="'soon', counts as missing"):
        found.predict(frame.assign(rate=["soon", *frame["rate"][1:]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found.predict(frame)
    with pytest.raises(Problem, match="written in another way"):
        found.predict(frame.assign(rate="soon"))


@pytest.mark.slow
def test_thousands_that_are_new(folder, capsys):
    """A column of small numbers had no separators when the model was fitted."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 900, 100)
    pd.DataFrame({"x": x, "y": x * 2.5}).to_csv("t.csv", index=False)
    assert select("t.csv", "-t", "y", "--k", "1") == 0
    Path("new.csv").write_text('x\n"1,047.5"\n998\n')
    capsys.readouterr()
    assert main(["predict", "t_selected", "new.csv"]) == 0
    shown = capsys.readouterr()
    first, second = map(float, shown.out.split()[1:])
    assert first == second > 1500
    assert "'x' holds numbers: '1,047.5' is 1047.5." in shown.err
    Path("new.csv").write_text('x\n"1,047"\n998\n')
    assert main(["predict", "t_selected", "new.csv"]) == 2
    said = "can't be used: '1,047' could also mean 1.047; if it does, write it so. Otherwise leave out the separator."
    assert said in told(capsys)
    Path("new.csv").write_text("x;z\n1.047,5;0,5\n998;0,7\n")  # a file with decimal commas
    assert main(["predict", "t_selected", "new.csv"]) == 0
    assert capsys.readouterr().out == shown.out
    Path("new.csv").write_text("x\n12 kg\n")
    assert main(["predict", "t_selected", "new.csv"]) == 2
    said = (
        "Column 'x' of new.csv can't be used: its values, such as '12 kg', are written in another way; it held numbers"
    )
    assert said in told(capsys)


@pytest.mark.slow
def test_a_model_of_decimal_commas_reads_typed_numbers(folder, capsys):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 5000, 100).round(2)
    german = [f"{v:,.2f} €".replace(",", "_").replace(".", ",").replace("_", ".") for v in x]
    pd.DataFrame({"x": german, "y": x * 2}).to_csv("t.csv", index=False, sep=";")
    assert select("t.csv", "-t", "y", "--k", "1", "--test", "t.csv") == 0
    pd.DataFrame({"x": x}).to_excel("new.xlsx", index=False)
    pd.DataFrame({"x": x}).to_parquet("new.parquet")
    capsys.readouterr()
    answers = []
    for name in ("t.csv", "new.xlsx", "new.parquet"):
        assert main(["predict", "t_selected", name]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1] == answers[2]
    pd.DataFrame({"x": x}).to_csv("points.csv", index=False)
    assert main(["predict", "t_selected", "points.csv"]) == 2
    assert "it held numbers with '€' and decimal commas when the model was fitted" in told(capsys)


# ------------------------------------------------------------------------------------------------------- dialects


def read(text, name="t.csv", **how):
    Path(name).write_text(text)
    return load_table(name, **how)


def test_commas_between_thousands_are_not_decimal_commas(folder):
    table = read("id\ta\tb\n1\t537\t2,288\n2\t325\t1,047\n3\t98\t194\n", "t.tsv")
    columns = split_columns(table, Roles("id"))
    assert columns.X["b"].tolist() == [2288, 1047, 194]
    table = read("a;b;y\n0,5;2,288;1\n1,5;1,047;2\n2;1,5;3\n")
    columns = split_columns(table, Roles("y"))
    assert columns.X["b"].tolist() == [2.288, 1.047, 1.5]
    table = read("a;b;y\n0,5;2.288;1\n1,5;1.047;2\n2;950;3\n")
    columns = split_columns(table, Roles("y"))
    assert columns.X["a"].tolist() == [0.5, 1.5, 2]
    assert columns.X["b"].tolist() == [2288, 1047, 950]


def test_the_euro_sign_of_windows(folder):
    Path("t.csv").write_bytes("preis;y\n1.200,50 €;1\n7 €;2\n".encode("cp1252"))
    columns = split_columns(load_table("t.csv"), Roles("y"))
    assert columns.X["preis"].tolist() == [1200.5, 7]
    Path("t.csv").write_bytes(b"a,b\n\x81\xdf,2\n")  # not of Windows
    assert load_table("t.csv").columns.column("a").to_pylist() == ["\x81ß"]


def test_codes_with_leading_zeros_stay_texts(folder):
    rows = "".join(f"0{i % 3}234,{i + 1},0{i % 9}.5,{i % 7}\n" for i in range(40))
    table = read("zip,n,x,y\n" + rows)
    assert table.columns.column("zip").to_pylist()[:2] == ["00234", "01234"]
    assert table.remarks == ["'zip' has leading zeros, as in '00234', so its values are texts."]
    columns = split_columns(table, Roles("y"))
    assert columns.X["zip"].cat.categories.tolist() == ["00234", "01234", "02234"]
    assert columns.X["n"].dtype.kind == columns.X["x"].dtype.kind.replace("f", "i") == "i"
    assert load_table("t.csv", codes=False).columns.column("zip").to_pylist()[:2] == [234, 1234]
    typo = read("a,y\n" + "".join(f"{i},1\n" for i in range(10, 300)) + "07,1\n")
    assert typo.columns.column("a").to_pylist()[-1] == 7
    fixed = read("a,y\n" + "".join(f"{i},1\n" for i in range(10, 99)) + "07,1\n")
    assert fixed.columns.column("a").to_pylist()[-1] == "07"


def test_codes_without_a_header_and_beside_other_texts(folder):
    table = read("01,1\n02,2\n10,3\n", header=False)
    assert table.names == ["column 1", "column 2"]
    assert table.columns.column(0).to_pylist() == ["01", "02", "10"]
    assert table.remarks == ["'column 1' has leading zeros, as in '01', so its values are texts."]
    table = load_table("t.csv", header=False, texts=["column 2"], codes=False)
    assert [str(kind) for kind in table.columns.schema.types] == ["int64", "string"]
    with pytest.raises(Problem, match="two columns named 'a'"):
        read("a,a\n01,1\n")


def test_numbers_among_texts_are_told(folder):
    sizes = [*(f'"{i},{i + 100}"' for i in range(1, 80)), *(f"varies {i}" for i in range(21))]
    sizes = [f'{size[:-1]} MB"' if size.startswith('"') else size for size in sizes]
    table = read("size,x,y\n" + "".join(f"{size},{i % 9},{i % 7}\n" for i, size in enumerate(sizes)))
    (notice,) = split_columns(table, Roles("y")).notices
    assert notice.text == (
        "'size' was left out: only 79% of its values are numbers; 'varies 0' is none. Empty such cells, and it is "
        "read as numbers."
    )


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (
            [f"{50 + i} {'kg' if i % 2 else 'lb'}" for i in range(200)],
            "several units, such as 'lb' and 'kg'",
        ),
        ([f"{'$' if i % 2 else '€'}{i}" for i in range(200)], "several units"),
        ([f"{i % 9 + 1}{i:04d}" if i % 10 else f"0{i:04d}" for i in range(200)], "it is an id or free text"),
        (
            [f"{i}.200,50" if i % 8 else "unbekannt" for i in range(200)],
            "only 88% of its values are numbers; 'unbekannt'",
        ),
    ],
)
def test_advice_on_numbers_among_texts_destroys_nothing(folder, texts, said):
    table = read("a,x,y\n" + "".join(f'"{text}",{i % 9},{i % 7}\n' for i, text in enumerate(texts)))
    assert said in " ".join(notice.text for notice in split_columns(table, Roles("y")).notices)


def test_a_target_of_numbers_among_texts_says_what_is_in_the_way(folder):
    table = read("x,y\n" + "".join(f'{i % 9},"{"unknown" if i % 8 == 0 else f"{i + 1},345.6"}"\n' for i in range(200)))
    with pytest.raises(Problem, match=r"too many for classes. If it holds numbers: only 88% .* 'unknown' is none"):
        task_of(split_columns(table, Roles("y")).y, "y")


# -------------------------------------------------------------------------------------------------------- targets


@pytest.mark.parametrize(
    ("texts", "task", "kind", "first"),
    [
        ([f"{i},400.0" for i in range(10, 40)], "auto", "regression", 10400.0),
        ([f"${i},200" for i in range(10, 40)], "auto", "regression", 10200.0),
        ([f"{i}%" for i in range(30)], "auto", "regression", 0.0),
        (["$10", "$20"] * 15, "auto", "classification", "$10"),
        (["$10", "$20"] * 15, "regression", "regression", 10.0),
        ([f"{i},400" for i in range(10, 25)] * 2, "classification", "classification", "10,400"),
        (["yes", "no"] * 15, "auto", "classification", "yes"),
        (["1", "2", "x"] * 10, "auto", "classification", "1"),
    ],
)
def test_targets_as_people_write_them(texts, task, kind, first):
    frame = pd.DataFrame({"x": range(30), "y": texts})
    columns = split_columns(load_table(frame), Roles("y"), task=task)
    assert columns.y[0] == first
    assert task_of(columns.y, "y", task).kind == kind


def test_a_target_with_a_few_texts_among_its_numbers():
    texts = [f"1,{100 + i}" for i in range(97)] + ["sold"] * 3
    columns = split_columns(load_table(pd.DataFrame({"x": range(100), "y": texts})), Roles("y"))
    assert (len(columns.y), columns.dropped_rows) == (97, 3)
    said = [notice.text for notice in columns.notices]
    assert "3 of its 100 values count as missing, such as 'sold'." in said[0]
    assert said[1] == "3 rows without a value of 'y' were left out."


def test_a_target_of_dates(folder, capsys):
    frame = pd.DataFrame({"x": range(30), "y": [f"{i + 1:02d}/05/2024" for i in range(30)]})
    with pytest.raises(Problem, match="The target 'y' holds dates"):
        split_columns(load_table(frame), Roles("y"))
    few = frame.assign(y=["01/05/2024", "02/05/2024"] * 15)
    assert split_columns(load_table(few), Roles("y")).y[0] == "01/05/2024"


# ---------------------------------------------------------------------------------------------------------- counts


@pytest.mark.slow
def test_counts(folder, capsys):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    pd.DataFrame({"x": x, "z": rng.normal(size=300), "visits": rng.poisson(np.exp(1.5 + 0.8 * x))}).to_csv("t.csv")
    assert select("t.csv", "-t", "visits", "--json") == 0
    assert "regression. (--task count if they are counts.)" in told(capsys)
    assert select("t.csv", "-t", "visits", "--task", "count", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["task"] == "counts"
    assert found["measure"]["title"] == "Poisson deviance"
    assert [row["feature"] for row in found["selected"]] == ["x"]
    assert found["error"] < 0.5 * found["constant_error"]
    model = frugalboost.load("t_selected/model.frugal")
    assert model.loss == "poisson"
    assert main(["predict", "t_selected", "t.csv"]) == 0
    answers = np.array([float(line) for line in capsys.readouterr().out.split()[1:]])
    assert (answers > 0).all()


@pytest.mark.parametrize(("y", "words"), [([-1, 2] * 20, "-1"), ([0.5, 2] * 20, "0.5")])
def test_what_is_no_count(y, words):
    with pytest.raises(Problem, match=f"has a value {words}; counts are 0, 1, 2 and so on"):
        task_of(np.array(y), "y", "count")


def test_hints_at_counts():
    def said(y):
        return str(task_of(np.array(y), "y").remarks[0])

    assert "task='count' if they are counts" in said([0, 1, 2, 3] * 10)
    assert "task='count' if they are counts" in said(list(range(40)))
    assert "count" not in said([-1, 0, 1] * 10)
    assert "count" not in said([0, 1] * 10)
    assert "count" not in said(list(range(100_000, 100_040)))
    assert "count" not in said(np.linspace(0, 1, 40))


# ------------------------------------------------------------------------------------------------- files and messages


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "zip"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b,y\n1,2,0\n1,2,3,4\n", "line 3 has 4 fields, but line 1 has 3. A field with ',' in it must be in"),
        ("a,b,y\n1,2,0\n1\n", "line 3 has 1 field, but line 1 has 3. Is something missing?"),
        ('# about\na,b,y\n"1\n2",2,0\n\n1,2\n', "line 6 has 2 fields, but line 2 has 3"),
        ("a;b;y\r\n1;2;0\r\n1;2;0;5\r\n", "line 3 has 4 fields, but line 1 has 3. A field with ';'"),
    ],
)
def test_ragged_lines_are_named(folder, capsys, text, words, ending):
    if ending == "zip":
        with zipfile.ZipFile("t.zip", "w") as archive:
            archive.writestr("in.csv", text)
    else:
        Path(f"t.{ending}").write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    assert main(["select", f"t.{ending}", "-t", "y"]) == 2
    said = told(capsys)
    assert words in said
    name = "in.csv in t.zip" if ending == "zip" else f"t.{ending}"
    assert said.startswith(f"frugalboost: {name} can't be read as CSV: ")


def test_archives_with_no_table_or_several(folder, capsys):
    for names, words in [
        ([], "t.zip holds no table (CSV, TSV or Excel). It is empty."),
        (["a.pdf", "b.parquet"], "t.zip holds no table (CSV, TSV or Excel). In it: 'a.pdf', 'b.parquet'."),
        (["a.csv", "b.csv"], "t.zip holds 2 tables: 'a.csv', 'b.csv'. Unpack it, and name one of them."),
    ]:
        with zipfile.ZipFile("t.zip", "w") as archive:
            for name in names:
                archive.writestr(name, "a,y\n1,2\n")
        assert main(["select", "t.zip", "-t", "y"]) == 2
        assert words in told(capsys)
    Path("t.zip").write_text("a,y\n1,2\n")
    assert main(["select", "t.zip", "-t", "y"]) == 2
    assert "t.zip is not a zip file, or is damaged." in told(capsys)
    assert list(folder.iterdir()) == [folder / "t.zip"]


def test_excel_files(folder, capsys, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "first"
    for row in [
        [None, None],
        ["n", "mixed", "when", "flag", "code", None],
        [1, 1.5, pd.Timestamp("1970-01-03").to_pydatetime(), True, "007", None],
        [None, None],
        [2, "2,000", None, False, "008", None],
        [3.0, "#N/A", pd.Timestamp("1970-01-04 12:00").to_pydatetime(), None, "9", None],
    ]:
        sheet.append(row)
    book.create_sheet("second").append(["a", "b"])
    book.save("t.xlsx")
    table = load_table("t.xlsx")
    assert table.names == ["n", "mixed", "when", "flag", "code"]
    assert [str(remark) for remark in table.remarks] == ["t.xlsx has 2 sheets; 'first' was read (sheet)."]
    assert table.columns.column("n").to_pylist() == [1, 2, 3]
    assert table.columns.column("code").to_pylist() == ["007", "008", "9"]
    columns = split_columns(table, Roles("n"))
    assert columns.X["mixed"].tolist()[:2] == [1.5, 2000]
    assert columns.X["when"].tolist()[::2] == [2, 3.5]
    assert columns.X["flag"].tolist()[:2] == [1, 0]
    assert load_table("t.xlsx", sheet="second").names == ["a", "b"]
    assert load_table("t.xlsx", header=False).names[:2] == ["column 1", "column 2"]
    for call, words in [
        (["t.xlsx", "--sheet", "frist"], "There is no sheet 'frist' in t.xlsx. Did you mean 'first'?"),
        (["t.csv", "--sheet", "first"], "--sheet is for Excel files, and 't.csv' is none."),
        (["bad.xlsx"], "bad.xlsx can't be read as an Excel file. Is it damaged, or does it have a password?"),
        (["old.xls"], "'old.xls' is a file of an old Excel. Save it as .xlsx or .csv."),
    ]:
        for name in ("t.csv", "bad.xlsx", "old.xls"):
            Path(name).write_text("n,b\n1,2\n")
        assert main(["select", *call, "-t", "n"]) == 2
        assert words in told(capsys)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert main(["select", "t.xlsx", "-t", "n"]) == 2
    assert "Reading Excel files needs openpyxl: pip install 'frugalboost[excel]'." in told(capsys)


def test_default_folders_of_new_endings():
    from frugalboost.cli.folders import default_folder

    assert [default_folder(f"a.b{ending}") for ending in (".zip", ".csv.zip", ".xlsx", ".csv.gz")] == [
        "a.b_selected"
    ] * 4


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (170000.4, "170,000"),
        (1234567, "1,234,567"),
        (-999.96, "-1000"),
        (60.5231, "60.52"),
        (12.0, "12"),
        (0, "0"),
        (0.00001234, "0.00001234"),
        (0.0001, "0.0001"),
        (1.7e-9, "1.7e-09"),
        (3e15, "3e+15"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_are_written_as_people_do(value, text):
    assert number_text(value) == text


def test_what_the_rule_has_passed_by():
    def said(**asked):
        points = [{"n_features": n, "error": error} for n, error in ((0, 2e5), (3, 1.7e5), (9, 1.9e5))]
        measure = {"title": "RMSE", "unit": ""}
        contents = {"chosen": {"error": 2e5}, "points": points, "measure": measure}
        return str(nothing_bought(contents, Settings(**asked)))

    assert said().endswith(
        " A model with 3 features has the lowest mean RMSE: 170,000, but splits differ by more: rule='min' takes it."
    )
    assert "rule" not in said(rule=Rule.MIN)
    assert "rule" not in said(k=2)


@pytest.mark.slow
def test_the_rule_that_is_hinted_at_buys(folder, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    table = pd.DataFrame(X, columns=list("abcdef")).assign(y=1e5 * (0.35 * X[:, 0] + rng.normal(size=60)))
    table.to_csv("t.csv", index=False)
    call = ["select", "t.csv", "-t", "y", "--trees", "20", "--points", "5", "--splits", "3", "--json"]
    assert main(call) == 3
    hint = told(capsys).splitlines()[-1]
    assert hint.endswith(": --rule min takes it.")
    assert main([*call, "--rule", "min"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert f"A model with {found['n_features']} features has the lowest mean RMSE: {found['error']:,.0f}," in hint


@pytest.mark.parametrize("commas", [True, False])
def test_values_that_show_other_marks_are_not_read_as_thousands(folder, commas):
    """865.097 beside 783.46 is not 865097, though most values could be thousands."""

    def mark(text, point):
        return text.replace(",", "_").replace(".", ",").replace("_", ".") if point == "," else text

    rng = np.random.default_rng(1)
    x = rng.uniform(1, 3000, 120)
    own, other = (",", ".") if commas else (".", ",")
    frame = pd.DataFrame({"x": [mark(f"{v:,.2f}", own) for v in x], "y": x.round(2)})
    found = frugalboost.select(frame, "y", trees=5, points=3, sell=False)
    new = pd.DataFrame({"x": [mark(f"{v:.3f}", other) for v in rng.uniform(100, 900, 40)]})
    new.loc[3, "x"] = mark("783.46", other)
    with pytest.raises(Problem, match="shows that it holds numbers"):
        found.predict(new)


def test_units_in_other_cases_are_other_units(folder):
    rng = np.random.default_rng(0)
    power = [f"{v:.0f} {unit}" for v, unit in zip(rng.uniform(1, 900, 60), ["mW", "MW"] * 30, strict=True)]
    frame = pd.DataFrame({"power": power, "z": rng.normal(size=60), "y": rng.normal(size=60)})
    frame.to_csv("t.csv", index=False)
    columns = split_columns(load_table("t.csv"), Roles("y"))
    assert not columns.forms
    money = frame.assign(power=[f"{text[:-3]} {['usd', 'USD'][i % 2]}" for i, text in enumerate(power)])
    money.to_csv("t.csv", index=False)
    assert split_columns(load_table("t.csv"), Roles("y")).forms["power"].unit.lower() == "usd"


def test_categories_that_are_new_are_told(folder, capsys):
    frame = pd.DataFrame({"c": ["low", "mid", "high"] * 40})
    frame["y"] = frame["c"].map({"low": 1.0, "mid": 5.0, "high": 9.0}) + np.linspace(0, 0.1, 120)
    frame.to_csv("t.csv", index=False)
    assert select("t.csv", "-t", "y", "--rule", "min", "--no-sell", "--out", "run") == 0
    for values, said in (
        (["Low", "mid", "Low"], "2 of 3 values of 'c' in new.csv, such as 'Low', were not there when the model was"),
        (["mid", "other"], "1 of 2 values of 'c' in new.csv, such as 'other', was not there when the model was"),
        (["mid", "", "low"], ""),
    ):
        pd.DataFrame({"c": values}).to_csv("new.csv", index=False)
        capsys.readouterr()
        assert main(["predict", "run", "new.csv"]) == 0
        shown = capsys.readouterr().err
        assert said in shown if said else shown == ""
