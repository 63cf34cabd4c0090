"""How a run may end: disks that are full or can't be written, kills at any moment, Ctrl-C in imports."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest
from run_tools import QUICK

from frugalboost.cli import main
from frugalboost.files import atomic_file, atomic_folder
from frugalboost.recipe import folder
from frugalboost.recipe.choosing import Settings
from frugalboost.recipe.problems import Problem
from frugalboost.recipe.select import Request, run
from frugalboost.report import Report

CALL = ["select", "table.csv", "-t", "bought", "--id", "amount", "--out", "run"]
POSIX = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


@pytest.fixture(scope="module")
def done(frame, tmp_path_factory):
    """A run that is done and must only be written."""
    path = tmp_path_factory.mktemp("done") / "table.csv"
    frame.to_csv(path, index=False)
    settings = Settings(trees=5, points=3, splits=2, depth=1)
    return run(Request(str(path), "bought", ids=("amount",), settings=settings))


@pytest.fixture
def at_once(table, done, monkeypatch):
    """The command, whose work is done already, in a folder of its own."""
    monkeypatch.setattr("frugalboost.recipe.select.run", lambda *_: done)
    monkeypatch.setattr(Report, "html", lambda self: "<!doctype html>" + "x" * 100_000)
    return table


def content(place):
    return {p.name: p.read_bytes() for p in Path(place).iterdir()}


def names(place="."):
    return sorted(p.name for p in Path(place).iterdir())


# ------------------------------------------------------------------------------------------------ what can't be written


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "The disk is full: there was no room for 'run'"),
        (errno.EDQUOT, "Your disk quota is used up: there was no room for 'run'"),
        (errno.EROFS, "'run' is on a read-only disk"),
        (errno.EACCES, "You have no permission to write 'run'. Change its permissions"),
        (errno.EIO, "'run' can't be written: Input/output error."),
    ],
)
@pytest.mark.parametrize("earlier", [False, True])
def test_what_can_not_be_written_leaves_all_as_it_was(at_once, monkeypatch, capsys, number, words, earlier):
    """The fault comes in the middle of each file in turn, in what makes the folder, and in what renames it."""
    if earlier:
        assert main(CALL) == 0
    before = (names(), content("run") if earlier else None)
    whole = Path.write_bytes

    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    for at in range(len(folder.OWN)):
        calls = []

        def half(self, data, at=at, calls=calls):
            calls.append(self)
            whole(self, data[: len(data) // 2] if len(calls) > at else data)
            if len(calls) > at:
                fail()

        with monkeypatch.context() as patched:
            patched.setattr(Path, "write_bytes", half)
            capsys.readouterr()
            assert main(CALL) == 2
        said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("frugalboost: ")]
        assert len(said) == 1
        assert words in said[0]
        assert said[0].endswith("--out.")
        assert (names(), content("run") if earlier else None) == before
    for where, what in ((Path, "mkdir"), (os, "rename")):
        with monkeypatch.context() as patched:
            patched.setattr(where, what, fail)
            patched.setattr(atomic_folder, "_exchange", lambda *_: False)
            assert main(CALL) == 2
        assert words in capsys.readouterr().err
        assert (names(), content("run") if earlier else None) == before
    assert main(CALL) == 0
    assert names("run") == sorted(folder.OWN)


@pytest.mark.parametrize("call", [["predict", "run", "table.csv"], ["report", "run"]])
@pytest.mark.parametrize("earlier", [False, True])
def test_files_of_other_commands_are_whole_or_not_there(at_once, monkeypatch, capsys, call, earlier):
    assert main(CALL) == 0
    call = [*call, "--out", "answer"]
    if earlier:
        Path("answer").write_bytes(b"as it was")
        Path("answer").chmod(0o600)
    before, whole = names(), Path.write_bytes

    def half(self, data):
        whole(self, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", half)
        assert main(call) == 2
    assert "The disk is full: there was no room for 'answer'" in capsys.readouterr().err
    assert names() == before
    assert not earlier or Path("answer").read_bytes() == b"as it was"
    assert main(call) == 0
    assert Path("answer").stat().st_size > 100
    if earlier:
        assert Path("answer").stat().st_mode & 0o777 == 0o600


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 2 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a disk can be mounted by root only")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
def test_a_disk_that_is_full(small_disk, table, done, monkeypatch, capsys):
    monkeypatch.setattr("frugalboost.recipe.select.run", lambda *_: done)
    run = small_disk / "run"
    call = [*CALL[:-1], str(run)]
    fill = small_disk / "fill"
    for kilobytes in (2040, 1900, 1500):  # nothing, the model, and half a report have room
        fill.write_bytes(bytes(kilobytes * 1024))
        assert main(call) == 2
        assert f"The disk is full: there was no room for {str(run)!r}" in capsys.readouterr().err
        assert names(small_disk) == ["fill"]
    fill.unlink()
    assert main(call) == 0
    before = content(run)
    for made in (["report", str(run), "--out", str(small_disk / "r.html")], call):
        fill.write_bytes(bytes(700 * 1024))
        assert main(made) == 2
        assert "The disk is full" in capsys.readouterr().err
        assert names(small_disk) == ["fill", "run"]
        assert content(run) == before
        fill.unlink()
    assert main([*call[:-1], str(small_disk)]) == 2  # another thing lies there: the run
    shutil.rmtree(run)
    assert main([*call[:-1], str(small_disk)]) == 0  # a disk can't be renamed, but be written to
    assert names(small_disk) == sorted(folder.OWN)


def test_other_things_in_a_folder_stay_there(at_once, capsys):
    assert main(CALL) == 0
    Path("run/notes.txt").write_text("mine")
    Path("run/more").mkdir()
    Path("run/more/file").write_text("mine too")
    Path("run").chmod(0o750)
    Path("link").symlink_to("run")
    for out in ("run", "link"):
        assert main([*CALL[:-1], out]) == 0
        assert Path("run/notes.txt").read_text() == "mine"
        assert Path("run/more/file").read_text() == "mine too"
        assert Path("run").stat().st_mode & 0o777 == 0o750
        assert names() == ["link", "run", "table.csv"]
    assert Path("link").is_symlink()


def test_the_working_directory_is_not_exchanged(at_once, monkeypatch):
    Path("here").mkdir()
    monkeypatch.chdir("here")
    before = os.stat(".").st_ino
    for _ in range(2):
        assert main(["select", "../table.csv", "-t", "bought", "--out", "."]) == 0
        assert os.stat(os.getcwd()).st_ino == before
        assert names() == sorted(folder.OWN)


def test_what_earlier_versions_left_unfinished_is_replaced(at_once, capsys):
    Path("run").mkdir()
    for name in ("selected.csv", "path.csv", "model.frugal", ".report.html.part"):
        Path("run", name).write_text("")
    assert main(CALL) == 0
    assert names("run") == sorted(folder.OWN)
    Path("run/run.json").unlink()
    Path("run/thesis.tex").write_text("")
    assert main(CALL) == 2
    assert "holds other files than those of a run" in capsys.readouterr().err
    for path in Path("run").iterdir():
        if path.name != "model.frugal":  # somebody's own, not what a run leaves
            path.unlink()
    assert main(CALL) == 2


# ---------------------------------------------------------------------------------------------------------------- kills


def killed_at(number, work):
    """Do something in a process that is killed when it touches files for the n-th time; whether it came to its end."""
    child = os.fork()
    if child == 0:
        left = [number]

        def hook(event, arguments):
            if event in ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "ctypes.call_function"):
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        work()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return not os.WIFSIGNALED(status)


@pytest.mark.slow
@POSIX
@pytest.mark.parametrize("exchange", [True, False])
@pytest.mark.parametrize("earlier", [False, True])
def test_killed_at_any_moment(at_once, done, monkeypatch, earlier, exchange):
    """The folder is the earlier one or the new one; the next run clears up, and loses nothing that is not its own."""
    if not exchange:
        monkeypatch.setattr(atomic_folder, "_exchange", lambda *_: False)
    moments, states = 0, set()
    while True:
        shutil.rmtree("run", ignore_errors=True)
        if earlier:
            Path("run").mkdir()
            for name in folder.OWN:
                Path("run", name).write_text("earlier")
            Path("run/notes.txt").write_text("mine")
        ended = killed_at(moments, lambda: folder.write(Path("run"), done.report.contents, done.model))
        folder.check_folder("run")  # as the next run begins
        assert names() == (["run", "table.csv"] if earlier or Path("run").exists() else ["table.csv"])
        if Path("run").exists():
            assert names("run") == sorted([*folder.OWN, *(["notes.txt"] if earlier else [])])
            kinds = {("earlier" if content("run")[name] == b"earlier" else "new") for name in folder.OWN}
            assert len(kinds) == 1
            states |= kinds
        if ended:
            break
        moments += 1
    assert moments > 8
    assert states == ({"earlier", "new"} if earlier else {"new"})
    folder.write(Path("run"), done.report.contents, done.model)
    assert names() == ["run", "table.csv"]


@POSIX
def test_files_killed_at_any_moment(table):
    for moment in range(100):
        Path("answer").write_text("earlier")
        ended = killed_at(moment, lambda: folder.replace("answer", "new"))
        assert Path("answer").read_text() in ("earlier", "new")
        if ended:
            break
        atomic_file.remove_left_behind(Path())
        assert names() == ["answer", "table.csv"]
    assert 2 < moment < 99


@POSIX
def test_work_of_a_living_process_is_left_alone(table):
    with atomic_folder._claimed(Path("run").absolute(), folder.OWN) as part:
        child = os.fork()
        if child == 0:
            atomic_folder.remove_stale("run", folder.OWN)
            os._exit(0)
        os.waitpid(child, 0)
        atomic_folder.remove_stale("run", folder.OWN)
        assert part.exists()
    assert names() == ["table.csv"]


@pytest.mark.slow
@POSIX
def test_a_killed_command_can_be_called_again(table):
    """The real thing, killed by the clock: while it imports, works, and writes."""
    call = [sys.executable, "-m", "frugalboost", *CALL, *QUICK, "-q"]
    for wait in (0.3, 1.5, 2.5, 3.2):
        process = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(wait)
        process.kill()
        process.wait()
        if Path("run").exists():
            assert names("run") == sorted(folder.OWN)
    subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
    assert names("run") == sorted(folder.OWN)
    assert names() == ["run", "table.csv"]


def test_models_and_reports_of_python_are_whole_too(at_once, done, monkeypatch):
    """The same writer is behind every file."""
    done.model.save("model.frugal")
    before = Path("model.frugal").read_bytes()
    whole = Path.write_bytes

    def half(self, data):
        whole(self, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match=r"No space left on device: '.*model.frugal'"):
        done.model.save("model.frugal")
    with pytest.raises(OSError, match="No space left on device"):
        Report(done.report.contents).save("report.html")
    assert names() == ["model.frugal", "table.csv"]
    assert Path("model.frugal").read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everything")
def test_folders_that_may_not_be_written(at_once, capsys):
    Path("locked").mkdir(mode=0o500)
    assert main([*CALL[:-1], "locked/run"]) == 2
    assert "You have no permission to write" in capsys.readouterr().err


def test_names_that_are_too_long_or_lead_through_files(at_once, capsys):
    for out in ("x" * 300, "table.csv/run", "a\0b"):
        assert main([*CALL[:-1], out]) == 2
        assert "unexpected" not in capsys.readouterr().err
    assert main([*CALL[:-1], "x" * 255]) == 0  # the longest name there may be
    assert main([*CALL[:-1], "é" * 127]) == 0
    with pytest.raises(Problem, match="is too long"):
        folder.replace("y" * 300, "")


# --------------------------------------------------------------------------------------------------------------- Ctrl-C


def commands():
    script = Path(sysconfig.get_path("scripts")) / "frugalboost"
    return {"module": [sys.executable, "-m", "frugalboost"], "script": [str(script)] if script.exists() else None}


@pytest.mark.slow
@POSIX
@pytest.mark.parametrize("wait", [0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3.0])
@pytest.mark.parametrize("kind", ["module", "script"])
def test_ctrl_c_at_any_time(table, kind, wait):
    """130 and no traceback, from the moment on at which a line of ours was read."""
    command = commands()[kind]
    if command is None:
        pytest.skip("the script is not installed beside this Python")
    environment = os.environ | {"PYTHONPROFILEIMPORTTIME": "1"}  # tells on standard error what was imported
    call = [*command, "select", table, "-t", "bought", "--trees", "3000", "--splits", "50"]
    process = subprocess.Popen(call, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(wait)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    if "frugalboost.cli.app" not in said and "stopped" not in said:
        pytest.skip("Python had not come to the line yet from which on Ctrl-C is ours")
    assert "Traceback" not in said
    assert process.returncode == 130
    assert names() == ["table.csv"]


INTERRUPTED = """
import os, signal, sys
def hook(event, arguments):
    if event == "import" and arguments[0] == {name!r}:
        os.kill(os.getpid(), signal.SIGINT)
from frugalboost.cli import main
sys.addaudithook(hook)
sys.argv = ["frugalboost", "select", "table.csv", "-t", "bought", "--trees", "5", "--points", "3", "--splits", "2"]
sys.exit(main())
"""
MODULES = ["typer", "frugalboost.cli.app", "numpy", "numpy.linalg", "sklearn.base", "pyarrow", "pandas", "jinja2"]


@pytest.mark.slow
@POSIX
@pytest.mark.parametrize("name", MODULES)
def test_ctrl_c_in_an_import(table, name):
    call = [sys.executable, "-c", INTERRUPTED.format(name=name)]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert done.stderr.count("stopped") == 1
    assert names() == ["table.csv"]


@pytest.mark.slow
@POSIX
def test_ctrl_c_that_is_ignored_stays_ignored(table):
    """As in the background of a script, or under nohup."""
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN);" + INTERRUPTED.format(name="sklearn.base")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


@POSIX
def test_an_interrupt_that_python_can_not_pass_on_still_stops(table):
    code = (
        "import os, signal, sys; from frugalboost.cli import interrupts\n"
        "interrupts.install(); interrupts.set_working(True)\n"
        "class A:\n    def __del__(self):\n        os.kill(os.getpid(), signal.SIGINT)\n        sum(range(1000))\n"
        "a = A(); del a; print('went on')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_package_gives_its_names_when_they_are_asked_for():
    code = (
        "import sys, frugalboost; assert 'numpy' not in sys.modules;"
        "assert set(frugalboost.__all__) <= set(dir(frugalboost));"
        "assert frugalboost.costs.Prices and frugalboost.GBFSClassifier and frugalboost.__version__;"
        "from frugalboost import *; assert load is frugalboost.load; from frugalboost import losses;"
        "assert not hasattr(frugalboost, 'nothing')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
