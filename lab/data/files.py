"""Arrays from files of numpy and MATLAB, without running anything in them."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import loadmat

Arrays = dict[str, Any]  # X may be sparse

_KEYS = ("X", "y", "y_binary", "is_test", "feature_names", "groups", "groups_kmeans9_ours", "label_note")
_CSR = ("data", "indices", "indptr", "shape", "format")
_SMK_SHAPE = (187, 19993)


def read_npz(path: Path) -> Arrays:
    """Read the arrays that a data set is made of; others in the file are left alone."""
    try:
        if not zipfile.is_zipfile(path):
            raise ValueError("it is not a zip archive")
        with np.load(path, allow_pickle=False) as file:
            found = {key: _array(file, key) for key in (*_KEYS, *_CSR) if key in file}
    except (OSError, EOFError, ValueError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"The file {str(path)!r} is damaged, or no .npz file that numpy wrote: {error}.") from None
    refused = [key for key, array in found.items() if array is None]
    if refused:
        raise ValueError(
            f"The array {refused[0]!r} in the file {str(path)!r} holds Python objects. To read them could run whatever "
            "code the file brings, so they are refused: save numbers and texts instead."
        )
    arrays: Arrays = dict(found)
    if "indptr" in arrays:
        arrays["X"] = _sparse([arrays.pop(key, None) for key in _CSR], path)
    for key in ("X", "y"):
        if key not in arrays:
            raise ValueError(f"The file {str(path)!r} lacks the array {key!r}.")
    return arrays


def _array(file: Any, key: str) -> NDArray[Any] | None:
    """One array of the file; None: it holds Python objects."""
    try:
        array = file[key]
    except ValueError as error:
        if "allow_pickle" in str(error):
            return None
        raise
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{key!r} is not an array")
    return array


def _sparse(parts: list[Any], path: Path) -> Any:
    data, indices, indptr, shape, form = parts
    try:
        if form is None or form.item() not in (b"csr", "csr"):
            raise ValueError("it is not in CSR format")
        X = sparse.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
        X.check_format(full_check=True)  # a place outside of the table would be read as memory
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"The sparse table in the file {str(path)!r} is damaged: {error}.") from None
    return X


def read_smk(path: Path) -> Arrays:
    """Read SMK-CAN-187 as scikit-feature has it, a MATLAB file with X and Y."""
    try:
        file = loadmat(path, variable_names=["X", "Y"])
        X, raw = file["X"], np.asarray(file["Y"]).ravel()
    except Exception as error:  # whatever a damaged file makes of the reader
        raise ValueError(
            f"The file {str(path)!r} can't be read as a MATLAB file (up to version 7) with X and Y: {error}."
        ) from None
    if X.shape != _SMK_SHAPE:
        raise ValueError(f"X in the file {str(path)!r} has the shape {X.shape}, not {_SMK_SHAPE} as SMK-CAN-187 has.")
    if raw.dtype.kind not in "iuf" or set(raw.tolist()) not in ({1, 2}, {-1, 1}):
        raise ValueError(f"Y in the file {str(path)!r} should hold the classes 1 and 2, or 1 and -1.")
    return {"X": X.toarray() if sparse.issparse(X) else X, "y": np.where(raw == 1, 1, -1)}
