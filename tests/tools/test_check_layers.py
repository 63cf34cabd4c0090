"""tools/check_layers finds each kind of fault in a small tree, and none in ours."""

import io
import subprocess
import sys
from contextlib import redirect_stdout
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "check_layers"

GOOD = {
    "src/frugalboost/__init__.py": (
        "from frugalboost._support import loading\n_HOMES = {'fit': 'training.fit', 'Table': 'tables'}\n"
    ),
    "src/frugalboost/_support/__init__.py": "",
    "src/frugalboost/_support/loading.py": "",
    "src/frugalboost/tables/__init__.py": "from frugalboost.tables.kinds import Table\n",
    "src/frugalboost/tables/kinds.py": "from frugalboost import _core\nfrom frugalboost._support import loading\n",
    "src/frugalboost/training/__init__.py": "",
    "src/frugalboost/training/fit.py": "from frugalboost.tables import Table\ndef f():\n    import pandas\n",
    "src/frugalboost/cli/__init__.py": "import typer\ndef main():\n    from frugalboost.training import fit\n",
    "src/frugalboost/__main__.py": "",
    "src/frugalboost/tables/names.py": "",
    "src/frugalboost/cli/app2.py": "from frugalboost.cli.app import x\n",
    "src/frugalboost/cli/app3.py": "from frugalboost.cli import options\n",
    "src/frugalboost/cli/options.py": "",
    "src/frugalboost/cli/app.py": "import frugalboost\nfrom frugalboost import __version__\nx = frugalboost.fit(1).y\n",
    "src/frugalboost/report/__init__.py": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas\nfrom frugalboost import fit\n"
    ),
    "cpp/support/a.hpp": "#include <vector>\n",
    "cpp/bind/module.cpp": '#include <nanobind/nanobind.h>\n#include "engine/cpu/cpu.cpp"\n',
    "cpp/README.md": '#include "nothing.hpp"\n',
    "cpp/engine/engine.hpp": '#include "support/a.hpp"\n',
    "cpp/engine/cpu/cpu.cpp": '#include "engine/engine.hpp"\n',
    "cpp/grow/grower.cpp": (
        '#include "engine/engine.hpp"  // not "engine/cpu", and no Row\n#include "support/a.hpp"\n'
        '/* not\n#include "engine/cpu/cpu.hpp"\nX.rows() */\nint n = engine.table().rows; const char* s = "// X";\n'
        "void f() {\n  for (int k : nodes) g(k);\n  g(engine.table().rows);\n}\n"
    ),
}
# Cycles that only close when something is called, or for a type checker. The room may import late.
LATE_CYCLES = (
    ("app.py", "def f():\n    from frugalboost.cli.app2 import g", "cycle: cli.app -> cli.app2 -> cli.app"),
    ("app.py", "if TYPE_CHECKING:\n    from frugalboost.cli.app2 import g", "cycle: cli.app -> cli.app2 -> cli.app"),
    ("app.py", "def f():\n    import_module('frugalboost.cli.app2')", "cycle: cli.app -> cli.app2 -> cli.app"),
    (
        "app.py",
        "def f():\n    i.import_module(name='frugalboost.cli.app2')",
        "cycle: cli.app -> cli.app2 -> cli.app",
    ),
    ("__init__.py", "def main():\n    from frugalboost.cli.app3 import app", "A cycle: cli -> cli.app3 -> cli."),
    ("__init__.py", "def f():\n    from frugalboost import __main__", "cli imports __main__, which is above"),
    (
        "__init__.py",
        "if TYPE_CHECKING:\n    from frugalboost import __main__",
        "cli imports __main__, which is above",
    ),
    ("__init__.py", "f = import_module('frugalboost.__main__')", "cli imports __main__, which is above"),
)
ENDINGS = ("hpp", "h", "hh", "ipp", "inl", "cc", "cxx", "c", "cu", "cuh")


@cache
def tool():
    """The tool as a module; that it runs as a command is seen on our own tree."""
    loader = SourceFileLoader("check_layers", str(TOOL))
    module = module_from_spec(spec_from_loader("check_layers", loader))
    loader.exec_module(module)
    return module


def check(folder, changes, *options):
    for name, text in (GOOD | changes).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    said = io.StringIO()
    with redirect_stdout(said):
        code = tool().main(["--root", str(folder), *options])
    return code, said.getvalue()


def test_a_tree_in_order_passes(tmp_path):
    code, said = check(tmp_path, {}, "--graph")
    assert code == 0, said
    assert "training     -> tables" in said
    assert "engine/cpu   -> engine" in said


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("tables/kinds.py", "from frugalboost.training.fit import f", "tables imports training.fit, which is above it"),
        ("tables/kinds.py", "from ..training import fit", "tables imports training.fit, which is above it"),
        ("tables/kinds.py", "import frugalboost.training.fit", "tables imports training.fit, which is above it"),
        (
            "tables/kinds.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from frugalboost.training.fit import f",
            "tables imports training.fit, which is above it",
        ),
        ("losses/__init__.py", "from frugalboost.tables.kinds import Table", "which is beside it"),
        ("tables/kinds.py", "def f():\n    from frugalboost._support import loading", "kinds.py:2: imports frug"),
        ("tables/kinds.py", "def f():\n    import numpy", "imports numpy late, a package that is always there"),
        ("tables/kinds.py", "from frugalboost import fit", "tables imports training.fit, which is above it"),
        ("tables/kinds.py", "from .. import fit", "tables imports training.fit, which is above it"),
        ("tables/kinds.py", "def f():\n    from frugalboost import fit", "kinds.py:2: tables imports training.fit"),
        ("tables/kinds.py", "from frugalboost import *", "uses * of the package"),
        ("tables/kinds.py", "from frugalboost import attic", "uses attic of the package, which has no line in _HOMES"),
        ("tables/kinds.py", "from frugalboost import Table", "A cycle: tables -> tables.kinds -> tables."),
        (
            "tables/kinds.py",
            "import frugalboost\nfrugalboost.training.fit.f()",
            "kinds.py:2: tables imports training.fit",
        ),
        (
            "tables/kinds.py",
            "def f():\n    fb.fit\nimport frugalboost as fb",
            "kinds.py:2: tables imports training.fit",
        ),
        ("tables/kinds.py", "import frugalboost._support.loading\nfrugalboost.cli", "kinds.py:2: tables imports cli"),
        ("tables/kinds.py", "import frugalboost\ngetattr(frugalboost, 'fit')", "uses the package itself as a value"),
        (
            "tables/kinds.py",
            "import importlib\nimportlib.import_module('frugalboost.cli')",
            "kinds.py:2: import_module",
        ),
        (
            "tables/kinds.py",
            "import importlib as i\ni.import_module(name='frugalboost.cli')",
            "kinds.py:2: import_module",
        ),
        (
            "tables/kinds.py",
            "from importlib import import_module as im\nim('frugal' + 'boost')",
            "kinds.py:1: import_mod",
        ),
        ("tables/kinds.py", "f = __import__", "__import__ can import any module unseen"),
        ("tables/kinds.py", "exec('import frugalboost.cli')", "exec can import any module unseen"),
        ("tables/kinds.py", "import pandas", "imports pandas at the top, an optional package"),
        (
            "tables/kinds.py",
            "try:\n    import polars as pl\nexcept ImportError:\n    pl = None",
            "imports polars at the",
        ),
        ("report/__init__.py", "import matplotlib.pyplot as plt", "imports matplotlib at the top"),
        ("export/__init__.py", "from onnx import helper", "imports onnx at the top"),
        ("training/fit.py", "import typer", "imports typer at the top"),
        (
            "tables/kinds.py",
            "import typing\nif typing.TYPE_CHECKING:\n    x = 1\nelse:\n    import pyarrow",
            "kinds.py:5: imports pyarrow at the top",
        ),
        ("tables/kinds.py", "from frugalboost.tables import Table", "A cycle: tables -> tables.kinds -> tables."),
        ("tables/kinds.py", "from frugalboost.tables import names", "A cycle: tables -> tables.kinds -> tables."),
        *((f"cli/{name}", text, fault) for name, text, fault in LATE_CYCLES),
        ("attic/__init__.py", "", "the room 'attic' is not in the table"),
    ],
)
def test_faults_of_the_package(name, text, fault, tmp_path):
    changes = {f"src/frugalboost/{name}": text}
    code, said = check(tmp_path, changes, "--python")
    assert code == 1
    assert fault in said
    assert check(tmp_path, changes, "--cpp")[0] == 0


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("grow/grower.cpp", '#include "engine/cpu/cpu.hpp"', "grower.cpp:1: grow includes engine/cpu/cpu.hpp"),
        ("grow/grower.cpp", '// why\n#  include "engine/other.hpp"', "grower.cpp:2: grow includes engine/other.hpp"),
        ("grow/grower.cpp", '#include"engine/cpu/cpu.hpp"', "grow includes engine/cpu/cpu.hpp"),
        ("grow/grower.cpp", '/* why */ #include "engine/cpu/cpu.hpp"', "grow includes engine/cpu/cpu.hpp"),
        ("grow/grower.cpp", '#include \\\n"engine/cpu/cpu.hpp"', "grower.cpp:1: grow includes engine/cpu/cpu.hpp"),
        (
            "grow/grower.cpp",
            "#include<engine/engine.hpp>",
            "grow includes <engine/engine.hpp>: write files of the core in",
        ),
        ("grow/grower.cpp", '#include "grow/../engine/engine.hpp"', "write the path from the folder of the core"),
        ("grow/grower.cpp", "#include <./support/a.hpp>", "write the path from the folder of the core"),
        ("grow/grower.cpp", '#import "engine/engine.hpp"', '#import "engine/engine.hpp": write #include'),
        ("grow/grower.cpp", '#include_next "engine/engine.hpp"', "write #include"),
        ("grow/grower.cpp", '#define H "engine/cpu/cpu.hpp"\n#include H', "grower.cpp:2: #include H: write the path"),
        ("grow/grower.cpp", '#include "engine/together.hpp"', "grow includes engine/together.hpp"),
        *((f"grow/x.{end}", '#include "engine/cpu/a.hpp"', f"x.{end}:1: grow includes") for end in ENDINGS),
        (
            "grow/grower.cpp",
            "#include <nanobind/nanobind.h>",
            "grow includes nanobind/nanobind.h: only bind knows Python",
        ),
        ("support/a.hpp", "#include<Python.h>", "support includes Python.h: only bind knows Python"),
        ("grow/grower.cpp", "void f() {\n  g(X.rows());\n}", "grower.cpp:2: grow mentions '.rows('"),
        ("grow/grower.cpp", "void f(const BinnedMatrix& X);", "grow mentions 'BinnedMatrix'"),
        ("grow/grower.cpp", "class CpuEngine;", "grow mentions 'CpuEngine'"),
        ("grow/grower.cpp", "for (Row r : all) {}", "grow mentions 'Row'"),
        (
            "grow/grower.cpp",
            "for (int r = 0; r < table.rows; ++r) {}",
            "grow mentions 'for (int r = 0; r < table.rows'",
        ),
        ("support/a.hpp", '#include "data/types.hpp"', "support includes data/types.hpp"),
        ("engine/engine.hpp", '#include "engine/cpu/cpu.hpp"', "engine includes engine/cpu/cpu.hpp"),
        ("engine/together.hpp", '#include "grow/grower.hpp"', "engine includes grow/grower.hpp"),
        ("attic/a.hpp", "", "cpp/attic/a.hpp: its room is not in the table"),
        ("support/a.hpp", '#include "support/b.hpp"', "A cycle: support/a.hpp -> support/b.hpp -> support/a.hpp."),
    ],
)
def test_faults_of_the_core(name, text, fault, tmp_path):
    changes = {"cpp/support/b.hpp": '#include "support/a.hpp"\n', f"cpp/{name}": text}
    code, said = check(tmp_path, changes, "--cpp")
    assert code == 1
    assert fault in said
    assert check(tmp_path, changes, "--python")[0] == 0


def test_our_tree_has_no_faults():
    done = subprocess.run([sys.executable, str(TOOL)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_root_takes_part_in_cycles(tmp_path):
    """It is above all rooms, and the command, which asks it for the version, must not be in it."""
    root = GOOD["src/frugalboost/__init__.py"]
    for more in ("from frugalboost.cli import app\n", "def f():\n    import frugalboost.cli.app\n"):
        code, said = check(tmp_path, {"src/frugalboost/__init__.py": root + more}, "--python")
        assert code == 1
        assert "A cycle: __init__ -> cli.app -> __init__." in said
