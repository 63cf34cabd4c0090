"""The adult data in two forms: the columns of a9a, and the table as it was collected.

LIBSVM's form, a9a, has no names of columns, so those of its 14 attributes are written down here.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.data.folder import Folder

# Quantiles of numbers, and levels, in the order of the columns.
LEVELS = {
    "age": "[17,25] [26,32] [33,40] [41,49] [50,90]",
    "workclass": "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked",
    "fnlwgt": "[12285,106637] [106648,158656] [158662,196337] [196338,259865] [259873,1490400]",
    "education": "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters "
    "1st-4th 10th Doctorate 5th-6th Preschool",
    "education-num": "[1,8] [9,9] [10,10] [11,12] [13,16]",
    "marital-status": "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent "
    "Married-AF-spouse",
    "occupation": "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
    "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv Armed-Forces",
    "relationship": "Wife Own-child Husband Not-in-family Other-relative Unmarried",
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
    "sex": "Female Male",
    "capital-gain": "[0,0] [114,99999]",
    "capital-loss": "[0,0] [155,4356]",
    "hours-per-week": "[1,34] [35,39] [40,40] [41,47] [48,99]",
    "native-country": "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India "
    "Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland "
    "France Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand "
    "Yugoslavia El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands",
}


def names() -> list[str]:
    """Names such as ``sex=Female`` and ``age in [17,25]``."""
    return [
        f"{attribute} in {level}" if level.startswith("[") else f"{attribute}={level}"
        for attribute, levels in LEVELS.items()
        for level in levels.split()
    ]


def groups() -> NDArray[np.int64]:
    """For each column the number of its attribute."""
    return np.repeat(np.arange(len(LEVELS)), [len(levels.split()) for levels in LEVELS.values()])


def adult_frame(folder: str | os.PathLike[str] | None = None) -> tuple[Any, NDArray[Any], NDArray[np.bool_]]:
    """Read adult as it was collected, from ``adult_raw.parquet``: numbers, and texts as categories.

    Parameters
    ----------
    folder : path or None, default=None
        Where the file is, as in :func:`load`.

    Returns
    -------
    X : pandas.DataFrame
        14 attributes; "?" is a missing value.
    y : ndarray of shape (n_samples,)
        The income, as the file has it.
    is_test : ndarray of bool
        Which rows are the official test part.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from lab.data import adult_frame
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> raw = pd.DataFrame({"age": [20, 60], "sex": ["Male", "?"], "income": [0, 1], "is_test": [False, True]})
    >>> raw.to_parquet(folder / "adult_raw.parquet")
    >>> X, y, is_test = adult_frame(folder)
    >>> X["sex"].isna().tolist()
    [False, True]
    """
    import pandas as pd

    place = Folder.named(folder)
    path = place.find(["adult_raw.parquet"])
    if path is None:
        raise FileNotFoundError(place.lack(["adult_raw.parquet"]))
    raw = pd.read_parquet(path)
    X = raw.drop(columns=["income", "is_test"])
    texts = [c for c in X if X[c].dtype.kind not in "iuf"]
    X = X.assign(**{c: X[c].where(X[c] != "?").astype("category") for c in texts})
    return X, raw["income"].to_numpy(), raw["is_test"].to_numpy(dtype=bool)
