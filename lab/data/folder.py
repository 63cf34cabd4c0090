"""The folder of files: who named it, and what is in it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "FRUGALBOOST_DATA"


@dataclass(frozen=True)
class Folder:
    """Where files are looked for; without a path, nowhere."""

    path: Path | None
    named_by: str

    @classmethod
    def named(cls, given: str | os.PathLike[str] | None) -> Folder:
        """The folder that an argument names, or else the environment variable."""
        named_by = "the argument folder" if given is not None else f"the environment variable {VARIABLE}"
        found = os.environ.get(VARIABLE) if given is None else os.fspath(given)
        if not found and given is None:
            return cls(None, "nobody")
        path = Path(found or "").expanduser()
        if not found or not path.is_dir():
            raise NotADirectoryError(f"There is no folder {found!r}, which is named by {named_by}.")
        return cls(path, named_by)

    @classmethod
    def set(cls) -> bool:
        """Whether the environment variable names a folder; without one, tables of files are left out."""
        return cls.named(None).path is not None

    def find(self, names: Sequence[str]) -> Path | None:
        """A file that has any of the names."""
        if self.path is None:
            return None
        return next((self.path / name for name in names if (self.path / name).is_file()), None)

    def lack(self, names: Sequence[str]) -> str:
        """Say that none of the names is there, and what to do."""
        file = " or ".join(names)
        if self.path is None:
            said = f"The file {file} is needed, and no folder was named in which it could be."
        else:
            said = f"There is no file {file} in the folder {str(self.path)!r}, which is named by {self.named_by}."
        return f"{said} Name its folder by load(..., folder=...) or by the environment variable {VARIABLE}."
