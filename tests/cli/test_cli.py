"""The command line and the examples in the docstrings."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys

import pytest
from run_tools import run

import frugalboost
from frugalboost import costs
from frugalboost.cli import main

MODULES = [
    m.name
    for m in pkgutil.walk_packages(frugalboost.__path__, "frugalboost.")
    if not m.name.endswith(("__main__", "_core"))
]
# Examples that fit many models, draw, or compile.
SLOW = ("cross_validation", "recipe.select", "recipe.selection", "notebook", "purchases", "report", "stability")


def of_module(name):
    return pytest.param(name, marks=[pytest.mark.slow] if name.endswith(SLOW) else [])


def test_demo_lists_what_was_bought(capsys):
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[3].split()[1:5] == ["row", "6,", "column", "4"]
    frugal, everything = (float(e) for e in re.findall(r"([\d.]+) % ±", shown[-1]))
    assert frugal < everything + 1  # what the demo is about: as good with a fifth of the pixels
    bought, _, used = (int(n) for n in re.findall(r"(\d+) (?:of|pixels)", shown[-1]))
    assert bought <= 64 / 5 < used
    assert f"{frugal} %" in shown[-3]  # with all that was bought
    assert main(["demo", "--mu", "5"]) == 0
    assert "nothing: from mu =" in capsys.readouterr().out


def test_the_module_is_the_command():
    out = subprocess.run([sys.executable, "-m", "frugalboost", "--version"], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == f"frugalboost {frugalboost.__version__}"


def test_wrong_calls(capsys):
    assert main([]) == 2
    assert "Usage" in "".join(capsys.readouterr())
    assert main(["demo", "--mu", "-1"]) == 2
    assert "--mu" in capsys.readouterr().err
    assert main(["demonstrate"]) == 2


def test_completion_is_there(capsys):
    assert main(["--help"]) == 0
    assert "--install-completion" in capsys.readouterr().out


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_error():
    read, write = os.pipe()
    os.close(read)
    assert run(["demo"], stdout=write) == (0, "", "")
    os.close(write)


def test_without_typer_a_sentence_says_what_to_install(monkeypatch, capsys):
    for name in [n for n in sys.modules if n.startswith("frugalboost.cli.")]:
        if name != "frugalboost.cli.demo":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "typer", None)
    assert main(["demo"]) == 2
    assert "pip install 'frugalboost[cli]'" in capsys.readouterr().err


@pytest.mark.parametrize("name", [of_module(m) for m in MODULES])
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module)
    assert result.failed == 0


def test_every_public_name_has_an_example():
    public = {f"frugalboost.{n}": getattr(frugalboost, n) for n in frugalboost.__all__}
    objects = [n for n in costs.__all__ if n not in ("Costs", "FeatureTable", "Resolved")]
    public |= {f"frugalboost.costs.{n}": getattr(costs, n) for n in objects}
    for name, thing in public.items():
        assert ">>>" in (thing.__doc__ or ""), name
        assert "<parameters>" not in thing.__doc__, name


@pytest.mark.parametrize(("name", "home"), [("datasets", "lab.data"), ("baselines", "lab.rivals")])
def test_what_left_the_package_says_where_it_is(name, home):
    with pytest.raises(AttributeError, match=f"in a checkout of the repository it is {home}"):
        getattr(frugalboost, name)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(f"frugalboost.{name}")
