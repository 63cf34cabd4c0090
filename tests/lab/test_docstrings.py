"""Examples in the docstrings of data sets and rivals run."""

import doctest
import importlib
import pkgutil
from importlib.util import find_spec

import pytest

import lab.data
import lab.rivals

for package in ("skglm", "pyHSICLasso", "lightgbm"):
    if find_spec(package) is None:
        pytest.skip(f"needs {package}", allow_module_level=True)

# Rivals in one process: numba compiles for a quarter of a minute.
RIVALS = [pytest.mark.slow, pytest.mark.xdist_group("rivals")]


def modules(package, marks):
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if not module.ispkg:
            yield pytest.param(module.name, marks=marks)


@pytest.mark.parametrize("name", [*modules(lab.data, []), *modules(lab.rivals, RIVALS)])
def test_examples_in_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_public_name_of_the_data_has_an_example():
    for name in set(lab.data.__all__) - {"Folder"}:
        assert ">>>" in getattr(lab.data, name).__doc__, name
