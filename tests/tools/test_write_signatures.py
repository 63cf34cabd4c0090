"""What tools/write_signatures writes follows the table of parameters, and drift is found."""

import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from frugalboost import GBFSClassifier, GBFSRegressor, _core
from frugalboost.training import parameters
from frugalboost.training.params import Params

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "write_signatures"
PACKAGE = ROOT / "src" / "frugalboost"
FILES = ("training/parameters.py", "training/params.py", "estimators/base.py", "estimators/classifier.py")


def write(*options):
    done = subprocess.run([sys.executable, str(TOOL), *options], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def copy(tmp_path):
    for name in (*FILES, "estimators/regressor.py", "estimators/survival.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(PACKAGE / name, tmp_path / name)
    return tmp_path


def test_our_signatures_follow_the_table():
    assert write("--check") == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        (
            "training/parameters.py",
            '"0.1",\n        "float",\n        [Interval(Real, 0, None',
            '"0.2",\n "float",\n [Interval(Real, 0, None',
        ),
        ("estimators/classifier.py", "max_iter: int = 500", "max_iter: int = 400"),
        ("estimators/regressor.py", "max_depth: int | None = 4,\n", ""),
        ("estimators/survival.py", "max_depth: int | None = 4,\n", ""),
        ("training/params.py", "    tol: float\n", ""),
        ("estimators/base.py", "    mu_unit: str\n", "    mu_unit: int\n"),
    ],
)
def test_drift_is_found_and_mended(name, before, after, copy):
    assert write("--check", "--package", str(copy))[0] == 0
    path = copy / name
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))
    code, said = write("--check", "--package", str(copy))
    assert code == 1
    assert "does not follow the table" in said
    assert write("--package", str(copy))[0] == 0
    assert write("--check", "--package", str(copy)) == (0, "")


def test_a_new_parameter_needs_one_entry(copy):
    path = copy / "training/parameters.py"
    entry = (
        '    Parameter("depth_cost", "float", "0.0", "float", [], "Each level costs.", kept="float", to_core=_same),\n'
    )
    path.write_text(path.read_text().replace("PARAMETERS = (\n", f"PARAMETERS = (\n{entry}"))
    assert write("--package", str(copy))[0] == 0
    for name in FILES[2:]:
        assert "depth_cost: float" in (copy / name).read_text()
    assert "    depth_cost: float\n" in (copy / "training/params.py").read_text()


def test_a_block_without_markers_is_an_error(copy):
    (copy / "estimators/base.py").write_text("")
    code, said = write("--package", str(copy))
    assert code != 0
    assert "estimators/base.py must have the markers" in said


@pytest.mark.parametrize(("cls", "kind"), [(GBFSClassifier, "classifier"), (GBFSRegressor, "regressor")])
def test_defaults_descriptions_and_constraints_are_those_of_the_table(cls, kind):
    signature = inspect.signature(cls.__init__).parameters
    table = list(parameters.of(kind))
    assert [p.name for p in table] == list(signature)[1:]
    for parameter in table:
        assert eval(parameter.default) == signature[parameter.name].default
        assert f"    {parameter.name} : {parameter.type}, default={parameter.default}\n" in cls.__doc__
    assert cls._parameter_constraints == {p.name: p.allowed for p in table}
    cls()._validate_params()


def test_every_setting_of_the_core_comes_from_the_table():
    ours = {p.name for p in parameters.PARAMETERS if p.to_core is not None}
    core = {name for name in dir(_core.Params) if not name.startswith("_")}
    assert ours | {"seed"} == core


def test_settings_reach_the_core():
    model = GBFSClassifier(0.5, screening="auto", new_features="auto", max_depth=None, random_state=3, stop="never")
    core = Params.from_estimator(model).to_core()
    assert (core.mu, core.new_features, core.max_depth) == (0.5, -1.0, 2**31 - 1)
    assert core.screening == _core.Screening.probable
    assert core.stop == _core.Stop.never
    assert core.seed == Params.from_estimator(model).seed > 0
