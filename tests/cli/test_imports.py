"""What is imported when: little for little, and nothing optional before it is used."""

import subprocess
import sys

import pytest

MORE = [pytest.param(given, marks=pytest.mark.slow) for given in (["--help"], ["select", "--k", "x"], ["selct"], [])]


@pytest.mark.parametrize("arguments", [["--version"], *MORE])
def test_little_is_imported_for_little(arguments):
    code = (
        "import sys; from frugalboost.cli import main; main(sys.argv[1:]);"
        "print(*[n for n in ('numpy', 'sklearn', 'pandas', 'pyarrow') if n in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == ""


STEPS = """
import sys

def absent(*names):
    found = sorted(set(names) & {name.partition(".")[0] for name in sys.modules} | set(names) & set(sys.modules))
    assert not found, found

import frugalboost
absent("numpy", "narwhals", "pandas", "polars", "pyarrow", "matplotlib", "lightgbm")
assert set(frugalboost.__all__) <= set(dir(frugalboost))
assert not hasattr(frugalboost, "nothing")

import numpy, scipy, sklearn.base, sklearn.feature_selection, sklearn.model_selection, joblib
before = {name.partition(".")[0] for name in sys.modules}
optional = {"pandas", "polars", "pyarrow", "matplotlib", "lightgbm"} - before
assert frugalboost.costs.Prices and frugalboost.GBFSClassifier and frugalboost.__version__
absent(*optional)

import frugalboost.plotting
absent("matplotlib", "altair")

from frugalboost import Selection, select
absent("typer", "click", "altair", "frugalboost.cli")

from frugalboost import *
assert load is frugalboost.load
from frugalboost import losses
absent("matplotlib", "lightgbm", "onnx", "shap", "typer", "altair")
"""


@pytest.mark.slow
def test_names_come_when_they_are_asked_for_and_nothing_optional_with_them():
    """One process for all of it: to start Python and import scikit-learn takes two seconds."""
    done = subprocess.run([sys.executable, "-c", STEPS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
