"""Data sets of the paper, and some that replace those that are not available: from files, or fetched by scikit-learn.

* :func:`names`: what there is.
* :func:`load`: one of them, from a folder of files or, where a network exists, by scikit-learn's fetchers.
* :func:`adult_frame`: adult as it was collected, with categories.
* :class:`Dataset`: table, targets and what else is known, with ``split`` into training and test rows.
* :class:`Folder`: where files are looked for; ``Folder.set()`` tells whether FRUGALBOOST_DATA names a folder.
* :func:`logarithms`: of raw intensities of genes.
* :func:`make_nonlinear`: the paper's first picture, made anew.

The paper is Xu, Huang, Weinberger, Zheng: Gradient Boosted Feature Selection, KDD 2014. Nothing in a file is ever run.
"""

from lab.data.adult import adult_frame
from lab.data.dataset import Dataset
from lab.data.folder import Folder
from lab.data.intensities import logarithms
from lab.data.loading import load, names
from lab.data.synthetic import make_nonlinear

__all__ = ["Dataset", "Folder", "adult_frame", "load", "logarithms", "make_nonlinear", "names"]
