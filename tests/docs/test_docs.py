"""Code blocks of all pages run and print what is shown, links lead somewhere, and the reference is complete."""

import contextlib
import importlib
import io
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import make_classification

from frugalboost.cli import main

ROOT = Path(__file__).resolve().parents[2]
MADE = ("_build", "gallery", "generated")  # by sphinx
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "lab" / "results").rglob("*.md")),
    *(p for p in sorted((ROOT / "docs").rglob("*.md")) if not set(MADE) & set(p.relative_to(ROOT).parts)),
]
# A block of Python, and a block of text right below it: what it prints.
BLOCK = re.compile(r"^```(python|bash)\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", flags=re.DOTALL | re.MULTILINE)
FENCES = {"python", "bash", "text", "{include}", "{literalinclude}", "{toctree}", "{eval-rst}"}

# Pages that fit many models, or start processes.
SLOW = {
    "README.md",
    "docs/command_line.md",
    "docs/export.md",
    "docs/guide/bags.md",
    "docs/guide/cluster.md",
    "docs/guide/clusters.md",
    "docs/guide/large_data.md",
    "docs/guide/pick_k.md",
    "docs/selection.md",
    "docs/start.md",
}
QUICK = "--trees 20 --points 5 --splits 2"


def of_page(page):
    name = page.relative_to(ROOT).as_posix()
    return pytest.param(page, id=name, marks=[pytest.mark.slow] if name in SLOW else [])


every_page = pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())


@pytest.mark.parametrize("page", [of_page(p) for p in PAGES])
def test_blocks_run(page, tmp_path, monkeypatch):
    """One after another, as a reader would run them, who has tables of their own."""
    monkeypatch.chdir(tmp_path)
    table = make_classification(60, 4, random_state=0)
    frame = pd.DataFrame(table[0], columns=list("abcd")).assign(ill=table[1])
    for name in ("train.csv", "new.csv"):
        frame.to_csv(name, index=False)
    text, space = page.read_text(), {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        kind, code, shown = block.groups()
        lines_above, printed = text.count("\n", 0, block.start(2)), io.StringIO()
        if kind == "bash":
            printed.write(output_of(code if shown else in_short(code)))
        else:
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * lines_above + code, str(page), "exec"), space)
        assert shown is None or lines_of(printed.getvalue()) == lines_of(shown)


def in_short(commands):
    """What must only run may do so with few trees; what is shown must be computed as it is written."""
    return re.sub(r"^frugalboost select ", f"frugalboost select {QUICK} ", commands, flags=re.MULTILINE)


def output_of(commands):
    """What our own commands print; blocks with other ones install things or take long, and are not run.

    They run in this process, which has loaded all they need. That the command starts is tested in tests/cli.
    """
    lines = commands.splitlines()
    if not all(line.startswith("frugalboost ") for line in lines):
        return ""
    printed = io.StringIO()
    for line in lines:
        with contextlib.redirect_stdout(printed):
            assert main(shlex.split(line, comments=True)[1:]) == 0, line
    return printed.getvalue()


def lines_of(text):
    return [line.rstrip() for line in text.strip().splitlines()]


@every_page
def test_no_block_escapes(page):
    """Whatever the tests do not know would never be run: another name for Python, a fence in a list."""
    fences = re.findall(r"^( *)(```+|~~~+)(.*)$", page.read_text(), flags=re.MULTILINE)
    assert len(fences) % 2 == 0
    assert {(indent, ticks) for indent, ticks, _ in fences} <= {("", "```")}
    assert {info.split()[0] for _, _, info in fences[::2]} <= FENCES


def anchors(page):
    """What a heading is called in a link to it."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_page
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", page.read_text()):
        if not target.startswith("http"):
            file = page.parent / target if target else page
            assert file.exists(), target
            assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


def test_every_page_of_results_is_on_the_site():
    results = {p.name for p in (ROOT / "lab" / "results").rglob("*.md")}
    assert {p.name for p in (ROOT / "docs" / "results").glob("*.md")} == results | {"index.md"}


def described():
    """The objects listed on the pages of the reference."""
    for page in (ROOT / "docs" / "api").glob("*.md"):
        module = None
        for line in page.read_text().splitlines():
            if found := re.match(r"\.\. (?:auto|current)module:: (.*)", line):
                module = importlib.import_module(found[1])
            elif found := re.match(r"   (\w+)$", line):
                yield getattr(module, found[1])


@pytest.mark.parametrize("name", ["", ".costs", ".dask", ".export", ".inspection", ".losses", ".plotting", ".report"])
def test_every_public_name_is_in_the_reference(name):
    module = importlib.import_module(f"frugalboost{name}")
    public = getattr(module, "__all__", None) or [
        n for n, o in vars(module).items() if isinstance(o, type) and o.__module__ == module.__name__ and n != "BuiltIn"
    ]
    known = {id(o) for o in described()}
    missing = [n for n in public if id(getattr(module, n)) not in known]
    assert missing == (["Costs"] if name == ".costs" else [])  # the name of a type, told in a sentence


def test_readme_shows_what_the_demo_prints():
    from frugalboost.cli import demo_report

    shown = re.search(r"\$ frugalboost demo\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL).group(1)
    assert shown.split() == demo_report(0.003, 0).split()
