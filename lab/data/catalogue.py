"""What is known of each data set before it is read: its name, its files, and what to mind."""

from __future__ import annotations

import re

REGRESSION = ("california_housing", "gglasso_bardet")

_STAND_IN = "Not in the paper: a table with far more columns than rows, to stand in for smk_can_187."
_EXTRA = "Not in the paper."
_NO_SPLIT = "The paper's own split is not known: rows are drawn at random."

ABOUT = {
    "pcmac": "Word counts of newsgroup articles, without the words. y is 1 for PC hardware and 0 for Mac hardware, "
    f"which was inferred from the sizes of the classes. {_NO_SPLIT}",
    "uspst": "Grey levels of 16 x 16 pixels; labels are the digits. y is 1 for 5 to 9 and 0 for 0 to 4, a grouping "
    "of ours: the paper does not tell its own. The images exist in two scalings of grey; these are those of "
    f"zip.test in ElemStatLearn, and which ones the paper used is not known. {_NO_SPLIT}",
    "spam": f"y is 1 for spam. Rows of a class lie together: shuffle them before they are cut. {_NO_SPLIT}",
    "isolet": "Spoken letters; labels are the letters. y is 1 for N to Z and 0 for A to M, a grouping of ours: the "
    "paper does not tell its own. Test rows are isolet5, as in the paper.",
    "mnist3vs8": "Grey levels of 28 x 28 pixels, row after row. Test rows are the official ones.",
    "adult": "LIBSVM's a9a: 14 attributes as 123 columns of 0 and 1; groups tell which columns belong together. y "
    "is 1 for an income above 50,000 dollars. The paper counts one row more in each part, 32,562 and 16,282; there "
    "are 32,561 and 16,281.",
    "kddcup99": "Network connections; 38 numbers and 3 symbolic attributes as 122 columns, named service=http and "
    "so on, in single precision. y is 1 for attacks; labels are their kinds. NOT all of the paper's 4,898,431 "
    "training rows: the official file of 10 percent. A training row weighs as many rows of the full file as it "
    "stands for, by the published number of each kind; a test row weighs 1. The service icmp, of two test rows, has "
    "no column. Most rows occur many times.",
    "colon": "Raw intensities of genes: take logarithms where scales matter. y is 1 for tumours. groups are 9 "
    "clusters of genes by our own k-means, NOT those of Ma, Song and Huang (2007) that the paper used. Some names "
    "of genes occur twice or more.",
    "microarray_chowdary": f"y is 1 for breast tumours, 0 for colon tumours. {_STAND_IN}",
    "microarray_singh": f"y is 1 for prostate tumours, 0 for normal tissue. {_STAND_IN}",
    "microarray_golub": f"Leukaemia; y is 1 for AML, 0 for ALL. {_STAND_IN}",
    "microarray_gravier": f"Breast cancer; y is 1 for a poor outcome. {_STAND_IN}",
    "smk_can_187": "Gene expression of smokers with and without lung cancer. y is 1 for raw class 1 and 0 for the "
    f"other, as in other tables of that collection; the file does not tell what they mean. {_NO_SPLIT}",
    "relathe": "Word counts of newsgroup articles on atheism and religion, without the words; which class is which "
    f"is not told. {_EXTRA}",
    "madelon": "Made by a program: 20 of the 500 columns matter. Training and validation part of NIPS 2003 in one "
    f"table. {_EXTRA}",
    "arcene": f"Mass spectra; y is 1 for cancer. Training and validation part of NIPS 2003 in one table. {_EXTRA}",
    "dexter": f"Words of texts, as a sparse table. Only the training part of NIPS 2003. {_EXTRA}",
    "dorothea": "Molecules, as a sparse table of 0 and 1; y is 1 for active ones. Only the training part of NIPS "
    f"2003, without the columns that are zero in it: columns do not have their original numbers. {_EXTRA}",
    "california_housing": f"y is the median house value in 100,000 dollars. {_EXTRA}",
    "gglasso_bardet": "y is the expression of the gene TRIM32 in rats; 20 genes as 5 columns each, which are the "
    f"groups. {_EXTRA}",
    "gglasso_colon": "The colon data reduced to 20 genes as 5 columns each, which are the groups; y is 1 for the "
    f"larger class, as in the package it comes from. {_EXTRA}",
}

_SEVERAL_FILES = {
    "kddcup99": (("kddcup99_train10.parquet",), ("kddcup99_test.parquet",), ("kddcup99_schema.json",)),
    "smk_can_187": (("SMK_CAN_187.mat", "SMK-CAN-187.mat"),),
}


def digits(name: str) -> tuple[int, int] | None:
    """The two digits that a name such as mnist3vs8 tells apart."""
    found = re.fullmatch("mnist([0-9])vs([0-9])", name)
    return (int(found[1]), int(found[2])) if found else None


def files(name: str) -> tuple[tuple[str, ...], ...]:
    """The files that are needed; each may have any of several names."""
    return _SEVERAL_FILES.get(name, (("mnist.npz" if digits(name) else f"{name}.npz",),))


def about(name: str) -> str:
    """What the classes mean and what to mind."""
    pair = digits(name)
    return f"y is 1 for the digit {pair[1]}, 0 for {pair[0]}. {ABOUT['mnist3vs8']}" if pair else ABOUT[name]


def check(name: str) -> None:
    """Raise an error for a name that stands for nothing."""
    pair = digits(name) if isinstance(name, str) else None
    if pair and pair[0] == pair[1]:
        raise ValueError(f"{name!r} names the same digit twice, so there is nothing to tell apart.")
    if not pair and not (isinstance(name, str) and name in ABOUT):
        raise ValueError(
            f"There is no data set {name!r}. There are {', '.join(ABOUT)}, and mnist<a>vs<b> for any two digits."
        )
