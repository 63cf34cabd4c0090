"""The names in the glossary are those of the code."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = sorted(set(re.findall(r"`([^`]+)`", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))))


def sources(folder, *endings):
    return "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / folder).rglob("*") if p.suffix in endings)


CODE = sources("src/frugalboost", ".py", ".pyi") + sources("cpp", ".hpp", ".cpp")


@pytest.mark.parametrize("name", NAMES)
def test_names_exist(name):
    if "/" in name or name.endswith((".hpp", ".csv", ".json")):
        assert re.fullmatch(r"(path\.csv|run\.json)", name) or list(
            (ROOT / "cpp").rglob(name.partition("/")[2] or name)
        )
        return
    for word in re.findall(r"[A-Za-z_]\w+", name):
        assert re.search(rf"\b{word}\b", CODE), word
