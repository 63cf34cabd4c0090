"""Atomic writes: a file is written beside its target, flushed to the disk, then renamed.

The writer holds a lock on the temporary file. The system drops the lock when the process ends for any reason, so the
next save in the same folder recognises the files of a killed process, and removes them.
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
_WITHOUT_LOCKS = 3600.0  # without locks: seconds after which a temporary file counts as left behind


def write(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file; an old one is replaced when the new one is complete and on the disk.

    Links are followed, the mode and owner of an old file are kept, and a pipe or device is written to directly. An
    OSError names the path that was given. After an error no temporary file is left.
    """
    given, path = Path(path), Path(os.path.realpath(path))
    try:
        if given.exists() and not given.is_file():  # by the given name: the real path of a pipe does not exist
            given.write_bytes(content)  # a device; for a folder this raises an error
        elif path.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        else:
            _write_and_rename(path, content)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None


def _write_and_rename(path: Path, content: bytes) -> None:
    old = path.stat() if path.exists() else None
    if old is not None:
        with open(path, "r+b"):  # raises an error if it must not be written
            pass
    remove_left_behind(path.parent)
    part = path
    try:
        while True:
            part = path.with_name(f".frugalboost-{secrets.token_hex(8)}.part")
            with open(part, "xb", opener=_opener(old)) as file:
                if not _lock(file.fileno()) or not part.exists():
                    continue  # another process has removed it
                part.write_bytes(content)  # through its name: the open file holds the lock
                _copy_mode_and_owner(part, old)
                os.fsync(file.fileno())
                if sys.platform != "win32":
                    os.replace(part, path)  # while the lock is held
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
    """Create the file with the mode of the old one, so that it is never more readable."""
    mode = 0o666 if old is None else old.st_mode & 0o777
    return lambda path, flags: os.open(path, flags, mode)


def _copy_mode_and_owner(part: Path, old: os.stat_result | None) -> None:
    """Copy mode and owner of the old file."""
    if old is None:
        return
    if sys.platform != "win32":
        with suppress(OSError):  # only root can do that
            os.chown(part, old.st_uid, old.st_gid)
    os.chmod(part, old.st_mode & 0o7777)


def _sync(folder: Path) -> None:
    """Flush the folder, so that the new name is on the disk too."""
    with suppress(OSError):  # not every system lets a folder be opened
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _lock(number: int) -> bool:
    """Lock an open file; False if another process holds the lock."""
    if sys.platform != "win32":
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass  # a file system without locks
    return True


def remove_left_behind(folder: Path) -> None:
    """Remove temporary files whose writer has ended."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if LEFT_BEHIND.fullmatch(name):
                with suppress(OSError):
                    _remove_if_left(folder / name)


def _remove_if_left(part: Path) -> None:
    if sys.platform != "win32":
        with open(part, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an error if its writer still runs, or without locks
            part.unlink(missing_ok=True)
    elif time.time() - part.stat().st_mtime > _WITHOUT_LOCKS:
        part.unlink(missing_ok=True)
