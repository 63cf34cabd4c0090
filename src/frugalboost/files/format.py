"""Models in one file: arrays and JSON, no code.

The layout is that of safetensors: eight bytes of header length (little endian), a JSON header with the type, shape and
place of every array, then the arrays. ``__metadata__`` holds the format version, the model's description as JSON, and
a SHA-256 over description and arrays. The same model gives the same bytes.

A hostile file can have a correct checksum. Reading any file takes at most a few tens of times its size in memory:
arrays follow one another and fill the rest of the file, and nothing in the header or the description expands to much
more than its own length.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import struct
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost.files import atomic_file

FORMAT = "frugalboost"
FORMAT_VERSION = 2  # 2: categorical features

_DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I16": "<i2", "U8": "|u1"}
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
    atomic_file.write(path, struct.pack("<Q", len(head)) + head + body)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Read a model file; ModelFileError if it is not one. Nothing in it is ever run."""
    path = Path(path)
    content = path.read_bytes()
    try:
        head, body = _split(content)
        meta = head.pop("__metadata__", None)
        if not isinstance(meta, dict) or meta.get("format") != FORMAT:
            raise ModelFileError("its header does not name the format")
        _check_version(meta, path)
        text = meta.get("model")
        if not isinstance(text, str):
            raise ModelFileError("it has no description")
        if meta.get("sha256") != _digest(text, body):
            raise ModelFileError("its content does not match its checksum")
        arrays = _arrays(head, body)
        description = parsed(text)
        if not isinstance(description, dict):
            raise ModelFileError("its description is not a mapping")
        return description, arrays
    except NewerVersionError:
        raise
    except ModelFileError as error:
        raise ModelFileError(f"{path} is not a frugalboost model, or is damaged or incomplete: {error}.") from None


class NewerVersionError(ModelFileError):
    """A model file that was written by a newer version."""


def _check_version(meta: dict[str, Any], path: Path) -> None:
    version = meta.get("format_version")
    if not isinstance(version, str) or not re.fullmatch("[1-9][0-9]{0,8}", version):
        raise ModelFileError("the version of its format is not a number")
    if int(version) > FORMAT_VERSION:
        raise NewerVersionError(
            f"{path} was written by a newer frugalboost (format {version}; this one reads up to "
            f"{FORMAT_VERSION}). Upgrade frugalboost to load it."
        )


def _digest(text: str, body: bytes | memoryview) -> str:
    try:
        digest = hashlib.sha256(text.encode())
    except UnicodeEncodeError:
        raise ModelFileError("its description is not Unicode") from None
    digest.update(body)
    return digest.hexdigest()


def _split(content: bytes) -> tuple[dict[str, Any], memoryview]:
    if len(content) < 8:
        raise ModelFileError("it is too short")
    (length,) = struct.unpack("<Q", content[:8])
    if length > len(content) - 8:
        raise ModelFileError("it ends inside its header")
    view = memoryview(content)
    try:
        text = str(view[8 : 8 + length], "utf-8")
    except UnicodeDecodeError:
        raise ModelFileError("its header is not Unicode") from None
    head = _from_json(text, "header", _mapping)
    if not isinstance(head, dict):
        raise ModelFileError("its header is not a mapping")
    return head, view[8 + length :]


def _arrays(head: dict[str, Any], body: memoryview) -> Arrays:
    """The arrays, which must lie one after another and fill the body: each byte counts once."""
    places = {name: _place(name, entry) for name, entry in head.items()}
    at, arrays = 0, {}
    for name in sorted(places, key=lambda name: places[name][:2]):
        begin, end, kind = places[name]
        if begin != at or end > len(body):
            raise ModelFileError(f"array {_short(name)} does not follow the one before it, or runs out of the file")
        array = np.frombuffer(body[begin:end], dtype=kind)
        arrays[name] = array.astype(array.dtype.newbyteorder("="))  # a copy, since the file is not aligned
        at = end
    if at != len(body):
        raise ModelFileError("it has bytes that belong to no array")
    return arrays


def _place(name: str, entry: Any) -> tuple[int, int, str]:
    """Where an array begins and ends, and its type."""
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
        raise ModelFileError(f"the header of array {_short(name)} is incomplete")
    kind, shape, place = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(kind, str) or kind not in _DTYPES:
        raise ModelFileError(f"array {_short(name)} is of a type that models do not have")
    if not _are_counts(shape, 1) or not _are_counts(place, 2):
        raise ModelFileError(f"the length or the place of array {_short(name)} is not made of whole numbers")
    begin, end = place
    if end - begin != shape[0] * np.dtype(_DTYPES[kind]).itemsize:
        raise ModelFileError(f"array {_short(name)} does not fit its place")
    return begin, end, _DTYPES[kind]


def _are_counts(values: Any, number: int) -> bool:
    return isinstance(values, list) and len(values) == number and all(type(v) is int and v >= 0 for v in values)


def _short(name: str) -> str:
    """A name from a file, for a message."""
    return repr(name) if len(name) <= 60 else f"{name[:60]!r}..."


# Values that JSON lacks are written as a mapping with one key that starts with "$".

_KINDS = re.compile(r"[<|](?:b1|[iu][1248]|f[248]|O|U([0-9]{1,9}))")
_ITEMS: dict[str, tuple[type, ...]] = {
    "b": (bool,),
    "i": (int,),
    "u": (int,),
    "f": (float,),
    "U": (str,),
    "O": (str, int, float, bool),
}


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
        return {"$array": _encoded_array(value)}
    if isinstance(value, dict):
        if all(isinstance(k, str) and not k.startswith("$") for k in value):
            return {k: encode(v) for k, v in value.items()}
        return {"$map": [[encode(k), encode(v)] for k, v in value.items()]}
    raise TypeError(f"a value of type {type(value).__name__} can't be saved: {value!r}")


def _encoded_array(array: NDArray[Any]) -> list[Any]:
    kind, items = array.dtype.newbyteorder("<").str, array.tolist()
    if array.ndim != 1 or not _KINDS.fullmatch(kind):
        raise TypeError(f"an array of type {array.dtype} and shape {array.shape} can't be saved")
    if array.dtype.kind == "U" and array.nbytes > _room(sum(map(len, items))):
        raise TypeError("a few of its texts are much longer than the others, so the array would be too large")
    return [kind, encode(items)]


def _room(characters: int) -> int:
    """Bytes that arrays of texts may take: numpy stores every text with the length of the longest."""
    return 2**24 + 32 * characters


class _Room:
    """The bytes that are left for arrays of texts."""

    def __init__(self, characters: int) -> None:
        self.left = _room(characters)

    def take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise ModelFileError("an array of texts would be too large")


def parsed(text: str) -> Any:
    """Return what ``encode`` was given, from the JSON of what it returned."""
    return _from_json(text, "description", partial(_decoded, room=_Room(len(text))))


def _check_density(text: str, what: str) -> None:
    """Refuse texts that are mostly brackets: an empty list is two characters, but a hundred bytes in memory."""
    most = 1000 + len(text) // 5  # json.dumps writes "[1], " for the smallest list that a model has
    if _brackets(text) > most:  # rare: names may contain brackets
        unescaped = text.replace("\\\\", "").replace('\\"', "")
        if sum(map(_brackets, unescaped.split('"')[::2])) > most:
            raise ModelFileError(f"its {what} has more lists and mappings in it than a model's")


def _brackets(text: str) -> int:
    return text.count("[") + text.count("{")


def _from_json(text: str, what: str, mapping: Any) -> Any:
    _check_density(text, what)
    try:
        return json.loads(text, object_pairs_hook=mapping, parse_constant=_no_constant)
    except ModelFileError:
        raise
    except (ValueError, RecursionError, MemoryError):
        raise ModelFileError(f"its {what} is not JSON, or is nested too deeply") from None


def _no_constant(name: str) -> Any:
    raise ModelFileError(f"it holds {name} where JSON has no such number")


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ModelFileError("a name occurs twice in a mapping")
    return found


def _decoded(pairs: list[tuple[str, Any]], room: _Room) -> Any:
    """A mapping, or the value that it stands for. What is inside it has been decoded already."""
    found = _mapping(pairs)
    mark = next((k for k in found if k.startswith("$")), None)
    if mark is None:
        return found
    value = found[mark]
    if len(found) > 1:
        raise ModelFileError(f"there is something beside {_short(mark)}")
    if mark == "$float" and isinstance(value, str) and value in ("nan", "inf", "-inf"):
        return float(value)
    if mark == "$array" and isinstance(value, list) and len(value) == 2:
        return _decoded_array(value[0], value[1], room)
    if mark == "$map" and isinstance(value, list):
        return _decoded_map(value)
    raise ModelFileError(f"a value marked {_short(mark)} is not one that models have")


def _decoded_map(pairs: list[Any]) -> dict[Any, Any]:
    if not all(isinstance(p, list) and len(p) == 2 for p in pairs):
        raise ModelFileError("a mapping is not made of pairs")
    if not all(p[0] is None or isinstance(p[0], str | int | float) for p in pairs):
        raise ModelFileError("a key of a mapping is neither text nor number")
    return _mapping([(k, v) for k, v in pairs])


def _decoded_array(kind: Any, items: Any, room: _Room) -> NDArray[Any]:
    named = _KINDS.fullmatch(kind) if isinstance(kind, str) else None
    if named is None or not isinstance(items, list):
        raise ModelFileError("an array is of a type that models do not have")
    if not all(type(v) in _ITEMS[kind[1]] for v in items):
        raise ModelFileError("an array holds something of another type than its own")
    if kind[1] == "U":
        width = int(named[1])
        room.take(4 * width * len(items))
        if max(map(len, items), default=0) > width:
            raise ModelFileError("an array of texts has one that is too long for it")
    try:
        with np.errstate(over="ignore"):
            array = np.array(items, dtype=np.dtype(kind))
    except (OverflowError, ValueError):
        raise ModelFileError("an array holds a number that is too large for its type") from None
    if kind[1] == "f" and not np.array_equal(array.astype(np.float64), np.array(items), equal_nan=True):
        raise ModelFileError("an array holds a number that is too large for its type")
    return array
