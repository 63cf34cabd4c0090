"""The columns of a9a: LIBSVM's form of adult has no names, so those of its 14 attributes are written down here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
