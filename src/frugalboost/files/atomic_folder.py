"""Folders that appear whole or not at all, however the process that writes them ends.

A folder is written beside its place under a name of its own and renamed when it is complete. Who writes holds a lock,
which the system gives back when a process dies: so what a killed one left behind can be told from work in progress.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from frugalboost.files.atomic_file import LEFT_BEHIND

fcntl: Any = None
with contextlib.suppress(ImportError):  # not on Windows, where nothing is locked and nothing tidied
    import fcntl

PART, OLD = ".part", ".old"  # what is being written, and what was there before
_LONGEST = 50  # characters of a name that are kept in the names beside it, which must not become too long
_EXCHANGE, _HERE = 2, -100  # of Linux's renameat2


@contextmanager
def atomic_folder(path: str | os.PathLike[str], own: tuple[str, ...]) -> Iterator[Path]:
    """Give a folder to write into, which takes the place of another when all is written.

    ``own`` are the files that may be in it, the one that makes it complete last. Others that were there stay there.
    """
    place = Path(os.path.realpath(path))
    place.parent.mkdir(parents=True, exist_ok=True)
    in_place = place.is_dir() and not _replaceable(place)
    with _claimed(place / place.name if in_place else place, own) as part:
        yield part
        if in_place:
            for name in own:
                os.replace(part / name, place / name)
        else:
            _take_the_place(part, place, own)


def remove_stale(path: str | os.PathLike[str], own: tuple[str, ...]) -> None:
    """Remove what processes left behind that died while they wrote a folder, and put back what they moved."""
    place = Path(os.path.realpath(path))
    for folder in (place.parent, place):
        with contextlib.suppress(OSError):
            for left in [p for p in folder.iterdir() if p.name.startswith(_stem(place)) and p.suffix in (PART, OLD)]:
                with contextlib.suppress(OSError):
                    _tidied(left, place, own)


def is_left_over(name: str, own: tuple[str, ...]) -> bool:
    """Whether a name in a folder is one that only unfinished work has."""
    earlier = name.endswith(PART) and any(name.startswith((f".{file}.", f"{file}.")) for file in own)
    return earlier or LEFT_BEHIND.fullmatch(name) is not None


# ------------------------------------------------------------------------------------------------------- one at a time


@contextmanager
def _claimed(place: Path, own: tuple[str, ...]) -> Iterator[Path]:
    """A new folder beside a place; what is left of it afterwards is removed."""
    part, lock = _made(place)
    try:
        yield part
    finally:
        with contextlib.suppress(OSError):
            _remove(part, own)
        if lock is not None:
            os.close(lock)


def _made(place: Path) -> tuple[Path, int | None]:
    while True:
        part = place.with_name(f"{_stem(place)}{secrets.token_hex(4)}{PART}")
        part.mkdir()
        if fcntl is None:
            return part, None
        with contextlib.suppress(FileNotFoundError):  # another process, which tidies, was faster than our lock
            lock = os.open(part, os.O_RDONLY)
            if _locked(lock) is not False and os.path.samestat(os.fstat(lock), os.stat(part)):
                return part, lock
            os.close(lock)


def _locked(lock: int) -> bool | None:
    """Lock an open file; False where another process has it, None where its disk knows no locks."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _stem(place: Path) -> str:
    return f".{place.name[:_LONGEST]}."


def _remove(part: Path, own: tuple[str, ...]) -> None:
    """Remove a file, or a folder in which there is nothing but our own files."""
    if not part.is_dir():
        part.unlink(missing_ok=True)
        return
    for file in part.iterdir():
        if file.name in own or is_left_over(file.name, own):
            file.unlink()
    part.rmdir()


# ------------------------------------------------------------------------------------------------------------- folders


def _replaceable(place: Path) -> bool:
    """Whether a folder may be exchanged as a whole: not one that is mounted, or that we stand in."""
    beside = os.access(place.parent, os.W_OK | os.X_OK)
    return beside and not os.path.ismount(place) and not Path.cwd().is_relative_to(place)


def _take_the_place(part: Path, place: Path, own: tuple[str, ...]) -> None:
    if not place.exists():
        os.rename(part, place)
        return
    shutil.copymode(place, part)
    if _exchange(part, place):
        _carry_over(part, place, own)
        return
    old = part.with_suffix(OLD)  # elsewhere there is a moment in which neither is there; tidy() knows of it
    os.rename(place, old)
    try:
        os.rename(part, place)
    except BaseException:
        os.rename(old, place)
        raise
    _carry_over(old, place, own)
    _remove(old, own)


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change places in one step, where the system can."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    return bool(rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0)


def _carry_over(old: Path, place: Path, own: tuple[str, ...]) -> None:
    """What else was in a folder stays in it."""
    for file in old.iterdir():
        if file.name not in own and not is_left_over(file.name, own) and not os.path.lexists(place / file.name):
            os.rename(file, place / file.name)


def _tidied(left: Path, place: Path, own: tuple[str, ...]) -> None:
    """Remove one thing that was left behind, unless its owner lives."""
    if fcntl is None:
        return
    lock = os.open(left, os.O_RDONLY | os.O_NONBLOCK)
    try:
        if not _locked(lock):
            return
        if left.suffix == OLD and not place.exists():
            os.rename(left, place)
            return
        if left.is_dir() and place.is_dir():
            _carry_over(left, place, own)
        _remove(left, own)
    finally:
        os.close(lock)
