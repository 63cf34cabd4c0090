"""What is published: only what was built and tested, by a tag that names the version."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = (ROOT / ".github" / "workflows" / "wheels.yml").read_text()


def jobs():
    """The lines of each job."""
    after = WORKFLOW.split("\njobs:\n")[1]
    parts = re.split(r"^  (\w+):", after, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def run(tool, *arguments, **environment):
    command = [sys.executable, str(ROOT / "tools" / tool), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    return done.returncode, (done.stdout + done.stderr).strip()


def test_publishing_waits_for_all_other_jobs_and_for_a_tag():
    publish = jobs()["publish"]
    needed = re.search(r"needs: \[(.*)\]", publish)[1].split(", ")
    assert set(needed) == jobs().keys() - {"publish"}
    assert "if: github.event_name == 'push' && startsWith(github.ref, 'refs/tags/v')" in publish
    assert "name: pypi" in publish


def test_only_publishing_may_identify_itself_and_nothing_runs_there_but_pinned_actions():
    assert [name for name, lines in jobs().items() if "id-token" in lines] == ["publish"]
    assert "run:" not in jobs()["publish"]
    assert "secrets." not in WORKFLOW
    used = re.findall(r"uses: (\S+)(.*)", WORKFLOW)
    assert len(used) > 5
    for action, comment in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), action


@pytest.mark.parametrize(
    ("tag", "heading", "words"),
    [
        ("v1.2.3", "## 1.2.3 (2027-01-31)", None),
        ("1.2.3", "## 1.2.3 (2027-01-31)", "the tag must be 'v1.2.3'"),
        ("v1.2.4", "## 1.2.4 (2027-01-31)", "the tag must be 'v1.2.3'"),
        ("v1.2.3", "## 1.2.2 (2027-01-31)", "must begin with a section '## 1.2.3 (yyyy-mm-dd)'"),
        ("v1.2.3", "## 1.2.3 (unreleased)", "calls 1.2.3 'unreleased'"),
        ("v1.2.3", "## 1.2.3", "calls 1.2.3 'undated'"),
        ("v1.2.3", "", "must begin with a section"),
    ],
)
def test_a_tag_names_the_version(tag, heading, words, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}\n\nFirst.\n\n## 1.0.0 (2026-01-01)\n")
    code, said = run("check_version", tag, tmp_path)
    assert (code, said) == (0, "") if words is None else (code == 1 and words in said)


def test_the_version_is_that_of_the_package():
    import frugalboost

    code, said = run("check_version", f"v{frugalboost.__version__}")
    assert code == 0 or "unreleased" in said


def test_what_a_root_needs_is_told_before_anything_is_built(tmp_path):
    code, said = run("check_wheel", PATH=str(tmp_path)) if not os.path.exists("/usr/sbin/debootstrap") else (1, "")
    assert code == 1
    assert "debootstrap is missing" in said or not said
    fake = tmp_path / "debootstrap"
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    if os.geteuid() != 0:
        code, said = run("check_wheel", PATH=f"{tmp_path}:{os.environ['PATH']}")
        assert code == 1
        assert "needs the rights of root" in said


def test_the_wheels_are_those_that_the_docs_name():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    least = project["project"]["requires-python"].removeprefix(">=").replace(".", "")
    assert f"cp{least}-*" in project["tool"]["cibuildwheel"]["build"].split()
    assert project["tool"]["scikit-build"]["wheel"]["py-api"] == "cp312"
    tests = re.findall(r"\{project\}/(\S+)", project["tool"]["cibuildwheel"]["test-command"])
    assert tests
    assert all((ROOT / name).is_file() for name in tests)
    assert json.dumps(tests)
