"""Load a data set by its name."""

from __future__ import annotations

import os
import string
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lab.data import catalogue, fetching, kddcup
from lab.data.dataset import Dataset
from lab.data.files import Arrays, read_npz, read_smk
from lab.data.folder import Folder


def names() -> tuple[str, ...]:
    """All names that :func:`load` knows; besides mnist3vs8 it knows mnist<a>vs<b> for any two digits.

    Returns
    -------
    tuple of str
        The data sets of the paper, and others.

    Examples
    --------
    >>> from lab import data
    >>> data.names()[:5]
    ('pcmac', 'uspst', 'spam', 'isolet', 'mnist3vs8')
    """
    return tuple(catalogue.ABOUT)


def load(name: str, folder: str | os.PathLike[str] | None = None, *, fetch: bool = True) -> Dataset:
    """Load a data set from a folder of files or, where its file is missing, from the network.

    Parameters
    ----------
    name : str
        One of :func:`names`, or "mnist<a>vs<b>" for two digits, of which b is class 1.
    folder : path or None, default=None
        Where the files are: ``<name>.npz`` with arrays X and y, ``mnist.npz`` with all ten digits,
        ``SMK_CAN_187.mat``, and for kddcup99 two Parquet files and a schema. None: the folder that the environment
        variable FRUGALBOOST_DATA names, if it is set.
    fetch : bool, default=True
        Whether scikit-learn's fetchers may be asked for a table whose file is missing: spam, isolet, mnist, adult and
        california_housing. They keep what they fetched in scikit-learn's own data folder. A table that does not have
        the known numbers of rows, columns and rows of each class is refused.

    Returns
    -------
    Dataset
        The same for a file and for what was fetched, except for the order of rows within a part. Nothing in a file is
        run: arrays of Python objects are refused.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from lab import data
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> np.savez(folder / "spam.npz", X=np.eye(4), y=np.array([1, -1, 1, 1]))
    >>> data.load("spam", folder)
    Dataset('spam', 4 x 4, 1 of class 0, 3 of class 1)
    """
    catalogue.check(name)
    place = Folder.named(folder)
    found = [(place.find(files), files) for files in catalogue.files(name)]
    missing = [files for path, files in found if path is None]
    if missing:
        return _fetched(name, place.lack(missing[0]), fetch)
    paths = [path for path, _ in found if path is not None]
    if name == "kddcup99":
        arrays = kddcup.read(*paths)
    elif name == "smk_can_187":
        arrays = read_smk(paths[0])
    else:
        arrays = read_npz(paths[0])
    said = f' The file says: "{arrays["label_note"]}"' if "label_note" in arrays else ""
    try:
        return _made(name, arrays, said)
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(f"The file {str(paths[0])!r} does not hold what it should. {error}") from None


def _fetched(name: str, lack: str, fetch: bool) -> Dataset:
    source = fetching.source_of(name)
    if source is None:
        no_test = "what scikit-learn fetches of kddcup99 has no test part, which is only in files"
        why = no_test if name == "kddcup99" else "no table to fetch is known for it"
        raise FileNotFoundError(f"{lack} It can't be fetched: {why}.")
    if not fetch:
        raise FileNotFoundError(f"{lack} Or let scikit-learn fetch the table: load(..., fetch=True).")
    try:
        bunch = fetching.fetch(source)
    except (OSError, ValueError) as error:  # no network, no such table there, or it came damaged
        raise FileNotFoundError(f"{lack} scikit-learn was asked to fetch the table but failed: {error}.") from error
    where = f"OpenML, {source.title} version 1" if source.title else "where scikit-learn has it"
    return _made(name, fetching.arranged(name, source, bunch), f" Fetched from {where}.")


def _made(name: str, arrays: Arrays, origin: str) -> Dataset:
    X, y, labels = arrays["X"], arrays["y"], arrays.get("labels")
    is_test, weights, names = arrays.get("is_test"), arrays.get("weights"), arrays.get("feature_names")
    pair = catalogue.digits(name)
    if pair:
        chosen = np.isin(y, pair)
        X, y = X[chosen], np.where(y[chosen] == pair[1], 1, -1)
        is_test = None if is_test is None else is_test[chosen]
    elif name in ("uspst", "isolet"):
        if "y_binary" not in arrays:
            raise ValueError("It lacks the array 'y_binary'.")
        labels, y = _labels(name, y), arrays["y_binary"]
    groups = arrays.get("groups", arrays.get("groups_kmeans9_ours"))
    return Dataset(
        name,
        _floats(X),
        _targets(name, y),
        is_test=None if is_test is None else is_test.astype(bool),
        feature_names=None if names is None else [str(n) for n in names],
        groups=None if groups is None else groups.astype(np.int64),
        labels=labels,
        weights=weights,
        note=catalogue.about(name) + origin,
    )


def _floats(X: Any) -> Any:
    """Double precision only for what has it: small integers all fit into single precision."""
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X must hold numbers, not {X.dtype}.")
    precise = X.dtype.itemsize > 4 or (X.dtype.kind in "iu" and X.dtype.itemsize == 4)
    X = X.astype(np.float64 if precise else np.float32, copy=False)
    return X if sparse.issparse(X) else np.ascontiguousarray(X)


def _targets(name: str, y: NDArray[Any]) -> NDArray[Any]:
    if name in catalogue.REGRESSION:
        return y.astype(np.float64)
    if not np.isin(y, (-1, 1)).all():
        raise ValueError("The classes must be 1 and -1.")
    return np.asarray(y == 1, dtype=np.int64)


def _labels(name: str, y: NDArray[Any]) -> NDArray[Any]:
    if name == "uspst":
        return y.astype(np.int64)
    if not np.isin(y, range(1, 27)).all():
        raise ValueError("Letters must be numbered from 1 to 26.")
    letters: NDArray[Any] = np.array(list(string.ascii_uppercase))[y.astype(np.int64) - 1]
    return letters
