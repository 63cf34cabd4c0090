"""Every program of the lab tells what it does when asked, instead of starting to work."""

import importlib
import inspect
from pathlib import Path

import pytest

import lab

pytest.importorskip("lightgbm")

ROOT = Path(lab.__file__).parent
WITHOUT_OPTIONS = {"lab.speed.measure"}  # started by lab.speed.compare, never by hand


def programs():
    for path in sorted(ROOT.rglob("*.py")):
        if 'if __name__ == "__main__":' in path.read_text():
            name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
            if name not in WITHOUT_OPTIONS:
                yield name


@pytest.mark.parametrize("name", list(programs()))
def test_programs_tell_what_they_do(name, monkeypatch, capsys):
    module = importlib.import_module(name)
    assert "parse" in inspect.getsource(module.main)  # or it would start to work here
    monkeypatch.setattr("sys.argv", [name, "--help"])
    with pytest.raises(SystemExit, match="0"):
        module.main()
    shown = capsys.readouterr().out
    assert shown.startswith("usage: ")
    assert module.__doc__.splitlines()[0].split()[0] in shown
