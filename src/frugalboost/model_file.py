"""Models in one file: arrays and JSON, nothing that runs.

The layout is that of safetensors: eight bytes of header length (little endian), a JSON header with the type, shape and
place of every array, then the arrays. ``__metadata__`` holds the format version, the model's description as JSON, and
a SHA-256 over description and arrays. The same model gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.writing import write_file

FORMAT = "frugalboost"
FORMAT_VERSION = 2  # 2: categorical features

_DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "|u1"}
_NAMES = {np.dtype(v): k for k, v in _DTYPES.items()}
Arrays = dict[str, NDArray[Any]]


class ModelFileError(ValueError):
    """A file that is not a model, is damaged, or was made by a newer version.

    Examples
    --------
    >>> import frugalboost, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "notes.txt"
    >>> _ = path.write_text("not a model at all")
    >>> try:
    ...     frugalboost.load(path)
    ... except frugalboost.ModelFileError as error:
    ...     print("is not a frugalboost model" in str(error))
    True
    """


def write(path: str | os.PathLike[str], description: dict[str, Any], arrays: Arrays) -> None:
    """Write a model file; an existing file is replaced only when the new one is complete."""
    text = json.dumps(encode(description), sort_keys=True, allow_nan=False)
    header: dict[str, Any] = {}
    blocks, at = [], 0
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        block = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        header[name] = {
            "dtype": _NAMES[np.dtype(array.dtype)],
            "shape": list(array.shape),
            "data_offsets": [at, at + len(block)],
        }
        blocks.append(block)
        at += len(block)
    body = b"".join(blocks)
    header["__metadata__"] = {
        "format": FORMAT,
        "format_version": str(FORMAT_VERSION),
        "model": text,
        "sha256": _digest(text, body),
    }
    head = json.dumps(header, sort_keys=True).encode()
    head += b" " * (-len(head) % 8)
    write_file(path, struct.pack("<Q", len(head)) + head + body)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Read a model file. Raises ModelFileError where it is not one, and never runs anything from it."""
    path = Path(path)
    content = path.read_bytes()
    try:
        head, body = _split(content)
        meta = head.pop("__metadata__")
        if not isinstance(meta, dict) or meta.get("format") != FORMAT:
            raise ModelFileError("its header does not name the format")
        _check_version(meta, path)
        if meta["sha256"] != _digest(meta["model"], body):
            raise ModelFileError("its content does not match its checksum")
        description = decode(json.loads(meta["model"]))
        if not isinstance(description, dict):
            raise ModelFileError("its description is not a mapping")
        return description, {name: _array(name, entry, body) for name, entry in head.items()}
    except NewerVersionError:
        raise
    except (
        ModelFileError,
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
        OverflowError,
        MemoryError,
    ) as error:
        reason = str(error) if isinstance(error, ModelFileError) else "its header is damaged"
        raise ModelFileError(f"{path} is not a frugalboost model, or is damaged or cut short: {reason}.") from None


class NewerVersionError(ModelFileError):
    """A model file that was written by a newer version."""


def _check_version(meta: dict[str, str], path: Path) -> None:
    version = int(meta["format_version"])
    if version > FORMAT_VERSION:
        raise NewerVersionError(
            f"{path} was written by a newer frugalboost (format {version}; this one reads up to "
            f"{FORMAT_VERSION}). Upgrade frugalboost to load it."
        )


def _digest(text: str, body: bytes) -> str:
    digest = hashlib.sha256(text.encode())
    digest.update(body)
    return digest.hexdigest()


def _split(content: bytes) -> tuple[dict[str, Any], bytes]:
    if len(content) < 8:
        raise ModelFileError("it is too short")
    (length,) = struct.unpack("<Q", content[:8])
    if length > len(content) - 8:
        raise ModelFileError("it ends inside its header")
    head = json.loads(content[8 : 8 + length].decode())
    if not isinstance(head, dict) or "__metadata__" not in head:
        raise ModelFileError("it has no description")
    return head, content[8 + length :]


def _array(name: str, entry: dict[str, Any], body: bytes) -> NDArray[Any]:
    dtype = np.dtype(_DTYPES[entry["dtype"]])
    shape = entry["shape"]
    begin, end = entry["data_offsets"]
    numbers = [*shape, begin, end]
    if any(not isinstance(v, int) or isinstance(v, bool) or v < 0 for v in numbers):
        raise ModelFileError(f"the place of array {name!r} is not made of numbers")
    if end > len(body) or end - begin != math.prod(shape) * dtype.itemsize:
        raise ModelFileError(f"array {name!r} does not fit its place")
    return np.frombuffer(body[begin:end], dtype=dtype).reshape(shape).astype(dtype.newbyteorder("="))


# Values that JSON lacks are written as a mapping with one key that starts with "$".


def encode(value: Any) -> Any:
    """Return a value in plain JSON types; TypeError where there is no safe form for it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": str(value)}
    if isinstance(value, list | tuple):
        return [encode(v) for v in value]
    if isinstance(value, np.ndarray):
        return {"$array": [value.dtype.str, encode(value.tolist())]}
    if isinstance(value, dict):
        if all(isinstance(k, str) and not k.startswith("$") for k in value):
            return {k: encode(v) for k, v in value.items()}
        return {"$map": [[encode(k), encode(v)] for k, v in value.items()]}
    raise TypeError(f"a value of type {type(value).__name__} can't be saved: {value!r}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def decode(value: Any) -> Any:
    """Return what ``encode`` was given."""
    if isinstance(value, list):
        return [decode(v) for v in value]
    if isinstance(value, dict):
        if "$float" in value:
            return float(value["$float"])
        if "$array" in value:
            kind, items = value["$array"]
            if not re.fullmatch(r"[<|](b1|[iu][1248]|f[48]|O|U\d+)", kind):
                raise ModelFileError("an array is of a type that models do not have")
            items = decode(items)
            if not isinstance(items, list) or len(items) * max(map(len, filter(_is_text, items)), default=0) > 10**8:
                raise ModelFileError("an array is too large")  # numpy gives every text the room of the longest
            return np.array(items, dtype=str if "U" in kind else np.dtype(kind))
        if "$map" in value:
            return {decode(k): decode(v) for k, v in value["$map"]}
        return {k: decode(v) for k, v in value.items()}
    return value
