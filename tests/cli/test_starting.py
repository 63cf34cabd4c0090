"""What is loaded for what: the command answers quickly because it does not load what it does not need."""

import subprocess
import sys

import pytest
from sklearn.metrics import get_scorer_names

from frugalboost.recipe.scores import KNOWN, KNOWN_UNTIL

SLOW = ("sklearn", "scipy", "pandas", "altair", "vl_convert", "matplotlib", "rich", "frugalboost._core")
READING = ("numpy", "pyarrow")  # what reads a CSV table
CODE = """
import sys
from frugalboost.cli import main
sys.argv[:] = ["frugalboost", *sys.argv[1:]]
code = main()
print(code, *[name for name in {names!r} if name in sys.modules])
"""


def loaded_by(arguments, folder):
    """The exit code, and which of the slow modules are loaded when the command has ended; in a fresh process."""
    code = f"import sys; sys.argv[:1] = ['-m']\n{CODE.format(names=SLOW + READING)}"
    call = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(call, capture_output=True, text=True, check=True, cwd=folder)
    ending, *loaded = done.stdout.splitlines()[-1].split()
    return int(ending), loaded, done.stderr


def slow(*arguments):
    return pytest.param(list(arguments), marks=pytest.mark.slow)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "table.csv").write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(20)))
    return tmp_path


@pytest.mark.parametrize("arguments", [["--version"], slow("--help"), slow("select", "--help")])
def test_little_is_loaded_for_little(arguments, folder):
    assert loaded_by(arguments, folder)[:2] == (0, [])


@pytest.mark.parametrize(
    "arguments",
    [
        ["select", "tabel.csv", "--target", "y"],
        slow(),
        slow("selct"),
        slow("select", "table.csv", "--targt", "y"),
        slow("select", "table.csv", "--target", "y", "--k", "many"),
        slow("select", "table.csv", "--target", "y", "--k", "0"),
        ["select", "table.csv", "--target", "y", "--k", "2", "--mu", "1"],
        slow("select", "table.csv", "--target", "y", "--mu", "inf"),
        slow("select", "table.csv", "--target", "y", "--rule", "best"),
        pytest.param(
            ["select", "table.csv", "--target", "y", "--scoring", "accuracies"],
            marks=pytest.mark.skipif(
                bool(set(get_scorer_names()) - set(KNOWN)), reason="a later scikit-learn, which must be asked"
            ),
        ),
        slow("select", "table.xlsx", "--target", "y"),
        slow("select", "none-*.parquet", "--target", "y"),
        slow("select", "table.csv", "--target", "y", "--test", "later.csv"),
        slow("select", "table.csv", "--target", "y", "--costs", "prices.toml"),
        slow("select", "table.csv", "--target", "y", "--bags", "bags.csv"),
        slow("select", "table.csv", "--target", "y", "--out", "table.csv"),
        slow("predict", "model.frugal", "table.csv"),
        slow("predict", "table.csv", "tabel.csv"),
        slow("report", "run"),
    ],
)
def test_a_wrong_call_is_told_before_anything_slow_is_loaded(arguments, folder):
    ending, loaded, said = loaded_by(arguments, folder)
    assert (ending, loaded) == (2, [])
    assert said
    assert sorted(p.name for p in folder.iterdir()) == ["table.csv"]


@pytest.mark.parametrize("arguments", [[], slow("--target", "z"), slow("--target", "y", "--id", "z")])
def test_columns_of_a_csv_table_are_looked_for_before_models_are_loaded(arguments, folder):
    ending, loaded, said = loaded_by(["select", "table.csv", *arguments], folder)
    assert ending == 2
    assert set(loaded) <= set(READING)
    assert "'x', 'y'" in said


def test_scores_are_those_of_scikit_learn():
    """A version that is said to be known has no other names; names that it lacks are found by asking it."""
    import sklearn

    installed = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    if installed > KNOWN_UNTIL:
        pytest.skip("a later version than those whose names are known")
    assert set(get_scorer_names()) <= set(KNOWN)
    if installed == KNOWN_UNTIL:
        assert set(KNOWN) == set(get_scorer_names())


def test_a_package_that_is_imported_loads_the_core_alone(folder):
    code = f"import sys, frugalboost; print(*[name for name in {SLOW + READING!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    assert done.stdout.split() == ["frugalboost._core"]
