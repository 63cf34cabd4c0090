"""Files that are whole at any time: written beside, flushed to the disk, then moved into place.

While a file is being written its writer holds a lock on it. The system drops the lock when a process ends, however it
ends, so whoever saves next in the same folder can tell what a killed process left behind, and removes it.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

LEFT_BEHIND = re.compile(r"\.frugalboost-[0-9a-f]{16}\.part")
_WITHOUT_LOCKS = 3600.0  # seconds after which a part is taken to be left behind where there are no locks


def write(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file, or put a new one in the place of an old one once it is complete and on the disk.

    Links are followed, an old file's mode and owner are kept, and what is not a file (a pipe) is written to as it is.
    An OSError names the path that was asked for. Nothing else is left behind, whatever goes wrong.
    """
    given, path = Path(path), Path(os.path.realpath(path))
    try:
        if given.exists() and not given.is_file():  # by its own name: that of a pipe leads nowhere
            given.write_bytes(content)  # a device, or a folder, which is an error that says so
        elif path.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        else:
            _swap(path, content)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None


def _swap(path: Path, content: bytes) -> None:
    old = path.stat() if path.exists() else None
    if old is not None:
        with open(path, "r+b"):  # may it be written?
            pass
    remove_left_behind(path.parent)
    part = path
    try:
        while True:
            part = path.with_name(f".frugalboost-{secrets.token_hex(8)}.part")
            with open(part, "xb", opener=_opener(old)) as file:
                if not _lock(file.fileno()) or not part.exists():
                    continue  # someone who tidies up was faster
                part.write_bytes(content)  # by its name: the open file is the lock
                _dress(part, old)
                os.fsync(file.fileno())
                if sys.platform != "win32":
                    os.replace(part, path)  # before the lock is gone
            if sys.platform == "win32":
                os.replace(part, path)  # an open file can't be moved there
            break
    except BaseException:
        if part != path:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        raise
    _sync(path.parent)


def _opener(old: os.stat_result | None) -> Callable[[str, int], int]:
    """What is to be private is private from the start."""
    mode = 0o666 if old is None else old.st_mode & 0o777
    return lambda path, flags: os.open(path, flags, mode)


def _dress(part: Path, old: os.stat_result | None) -> None:
    """Give the new file what the old one had."""
    if old is None:
        return
    if sys.platform != "win32":
        with suppress(OSError):  # only root may
            os.chown(part, old.st_uid, old.st_gid)
    os.chmod(part, old.st_mode & 0o7777)


def _sync(folder: Path) -> None:
    """Bring the new name to the disk too."""
    with suppress(OSError):  # not every system lets a folder be opened
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _lock(number: int) -> bool:
    """Lock an open file; False where another process has."""
    if sys.platform != "win32":
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass  # a file system without locks
    return True


def remove_left_behind(folder: Path) -> None:
    """Remove parts whose writer is gone."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if LEFT_BEHIND.fullmatch(name):
                with suppress(OSError):
                    _remove_if_left(folder / name)


def _remove_if_left(part: Path) -> None:
    if sys.platform != "win32":
        with open(part, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an error where its writer lives, or locks do not exist
            part.unlink(missing_ok=True)
    elif time.time() - part.stat().st_mtime > _WITHOUT_LOCKS:
        part.unlink(missing_ok=True)
