"""Atomic writes of folders: a folder appears when it is complete, or not at all.

A folder is written beside its target under a temporary name and renamed when it is complete. The writer holds a lock,
which the system drops when the process ends, so the folders of killed processes can be recognised.
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
with contextlib.suppress(ImportError):  # not on Windows: there nothing is locked or removed
    import fcntl

PART, OLD = ".part", ".old"  # what is being written, and what was there before
_LONGEST = 50  # characters of a name that are used in temporary names
_EXCHANGE, _HERE = 2, -100  # of Linux's renameat2


@contextmanager
def atomic_folder(path: str | os.PathLike[str], own: tuple[str, ...]) -> Iterator[Path]:
    """Yield a folder to write into; it replaces the target when the block ends without an error.

    ``own`` are the files of such a folder, the one that completes it last. Other files of the target stay.
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
            _move_into_place(part, place, own)


def remove_stale(path: str | os.PathLike[str], own: tuple[str, ...]) -> None:
    """Remove what killed processes left behind, and restore a folder that they had moved away."""
    place = Path(os.path.realpath(path))
    for folder in (place.parent, place):
        with contextlib.suppress(OSError):
            for left in [p for p in folder.iterdir() if p.name.startswith(_stem(place)) and p.suffix in (PART, OLD)]:
                with contextlib.suppress(OSError):
                    _remove_stale_one(left, place, own)


def is_left_over(name: str, own: tuple[str, ...]) -> bool:
    """Whether a name is that of an unfinished file."""
    earlier = name.endswith(PART) and any(name.startswith((f".{file}.", f"{file}.")) for file in own)
    return earlier or LEFT_BEHIND.fullmatch(name) is not None


# ------------------------------------------------------------------------------------------------------- one at a time


@contextmanager
def _claimed(place: Path, own: tuple[str, ...]) -> Iterator[Path]:
    """A new locked folder beside the target; it is removed at the end if it still exists."""
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
        with contextlib.suppress(FileNotFoundError):  # another process has removed it before it was locked
            lock = os.open(part, os.O_RDONLY)
            if _locked(lock) is not False and os.path.samestat(os.fstat(lock), os.stat(part)):
                return part, lock
            os.close(lock)


def _locked(lock: int) -> bool | None:
    """Lock an open file; False if another process holds the lock, None on a disk without locks."""
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
    """Remove a file, or a folder that contains only our own files."""
    if not part.is_dir():
        part.unlink(missing_ok=True)
        return
    for file in part.iterdir():
        if file.name in own or is_left_over(file.name, own):
            file.unlink()
    part.rmdir()


# ------------------------------------------------------------------------------------------------------------- folders


def _replaceable(place: Path) -> bool:
    """Whether a folder can be replaced by renaming: not a mount point or the working directory."""
    beside = os.access(place.parent, os.W_OK | os.X_OK)
    return beside and not os.path.ismount(place) and not Path.cwd().is_relative_to(place)


def _move_into_place(part: Path, place: Path, own: tuple[str, ...]) -> None:
    if not place.exists():
        os.rename(part, place)
        return
    shutil.copymode(place, part)
    if _exchange(part, place):
        _carry_over(part, place, own)
        return
    old = part.with_suffix(OLD)  # for a moment neither exists; remove_stale() repairs that
    os.rename(place, old)
    try:
        os.rename(part, place)
    except BaseException:
        os.rename(old, place)
        raise
    _carry_over(old, place, own)
    _remove(old, own)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step, if the system can."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    return bool(rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0)


def _carry_over(old: Path, place: Path, own: tuple[str, ...]) -> None:
    """Move other files of the old folder to the new one."""
    for file in old.iterdir():
        if file.name not in own and not is_left_over(file.name, own) and not os.path.lexists(place / file.name):
            os.rename(file, place / file.name)


def _remove_stale_one(left: Path, place: Path, own: tuple[str, ...]) -> None:
    """Remove one stale file or folder, unless its process still runs."""
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
