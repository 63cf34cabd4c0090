"""tools/check_layers finds each kind of fault in a small tree, and none in ours of Python."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "check_layers"

GOOD = {
    "src/frugalboost/__init__.py": "from frugalboost._support import loading\n",
    "src/frugalboost/_support/__init__.py": "",
    "src/frugalboost/_support/loading.py": "",
    "src/frugalboost/tables/__init__.py": "from frugalboost.tables.kinds import Table\n",
    "src/frugalboost/tables/kinds.py": "from frugalboost import _core\nfrom frugalboost._support import loading\n",
    "src/frugalboost/training/__init__.py": "",
    "src/frugalboost/training/fit.py": "from frugalboost.tables import Table\ndef f():\n    import pandas\n",
    "src/frugalboost/cli/__init__.py": "def main():\n    from frugalboost.training import fit\n",
    "cpp/support/a.hpp": "#include <vector>\n",
    "cpp/engine/engine.hpp": '#include "support/a.hpp"\n',
    "cpp/engine/cpu/cpu.cpp": '#include "engine/engine.hpp"\n',
    "cpp/grow/grower.cpp": '#include "engine/engine.hpp"\n#include "support/a.hpp"\n',
}


def check(folder, changes, *options):
    for name, text in (GOOD | changes).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run(
        [sys.executable, str(TOOL), "--root", str(folder), *options], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


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
        (
            "tables/kinds.py",
            "import importlib\nimportlib.import_module('frugalboost.cli')",
            "imports frugalboost.cli late",
        ),
        (
            "tables/kinds.py",
            "x = 1\nimport importlib\nimportlib.import_module(f'frugalboost.{x}')",
            "kinds.py:3: imports",
        ),
        ("tables/kinds.py", "from frugalboost.tables import Table", "A cycle: tables -> tables.kinds -> tables."),
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


def test_our_package_has_no_faults():
    done = subprocess.run([sys.executable, str(TOOL), "--python"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
