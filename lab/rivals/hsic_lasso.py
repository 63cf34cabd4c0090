"""HSIC lasso: which columns' kernels add up to the kernel of the labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import Any, ClassVar

import numpy as np

from lab.rivals.hsic_kernels import Singles, cut, entered, lasso_order, most_relevant
from lab.rivals.mrmr import statistic
from lab.rivals.optional import needed
from lab.rivals.ranked import RankedForSVM
from lab.rivals.rows import Places, Rows, dense, standardised, varied
from lab.rivals.selector import POSITIVE

MOST_BYTES = 2 * 10**9  # of kernels, in single precision
WHOLE = 200  # rows up to which kernels are computed in full
BLOCK, SHUFFLES = 20, 3
PER_KEPT = 5  # columns whose kernels are looked at, for each that takes part


class HSICLasso(RankedForSVM):
    """HSIC lasso: the ranking of pyHSICLasso, then an SVM (:class:`TunedSVM`) on the top k.

    The kernel of the labels is approached by a sum of Gaussian kernels of single columns, with weights that are not
    negative and have an L1 penalty; columns are ranked in the order in which they enter the path, so that the top k are
    those that pyHSICLasso gives when asked for k, except where a column leaves the path again. Kernels are whole up to
    200 rows, and above, or where they would take more than 2 GB, cut into blocks of 20 rows of three shuffles. Where
    that is too much as well, only the columns most like the labels take part. pyHSICLasso holds the kernels twice. A
    sparse table is made dense.

    pyHSICLasso fails on numpy 2 where a matrix is singular, and stops early now and then. Where it fails, or ranks
    fewer features than could be, the same path is followed by scikit-learn's ``lars_path_gram``.

    Parameters
    ----------
    count : int, default=100
        How many features are ranked at most. There are fewer where the path ends before.
    most_columns : int or None, default=None
        Where more columns vary, only those most like the labels take part, out of the five times as many with the
        largest F statistic: on tables of many columns a tenth of the time for the same ranking, or nearly. None: as
        many as memory allows.
    splits : int, default=5
        Random splits on which the SVM's settings are chosen.
    tuning_rows : int, default=2000
        Rows on which they are chosen, at most.
    seed : int, default=0
        Decides splits, and shuffles where it is not pyHSICLasso, whose own are always the same, that follows the path.

    Attributes
    ----------
    ranking_ : ndarray of int
        Columns in the order in which they entered.
    solver_ : {"pyHSICLasso", "lars_path_gram"}
        What followed the path.
    classes_, n_features_in_ : ndarray, int
        As in :class:`Selector`.

    Examples
    --------
    >>> import numpy as np
    >>> from lab.rivals import HSICLasso
    >>> X = np.random.default_rng(0).normal(size=(150, 10))
    >>> y = np.where(X[:, 4] ** 2 + X[:, 7] > 1, "yes", "no")
    >>> model = HSICLasso(count=3, splits=2).fit(X, y)
    >>> sorted(model.features(2).tolist())
    [4, 7]
    >>> bool((model.predict(X, 2) == y).mean() > 0.9)
    True
    """

    title: ClassVar[str] = "HSIC lasso, then an SVM"
    largest_rows: ClassVar[int | None] = 10_000
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankedForSVM._parameter_constraints,
        "most_columns": [POSITIVE, None],
    }

    def __init__(
        self,
        *,
        count: int = 100,
        most_columns: int | None = None,
        splits: int = 5,
        tuning_rows: int = 2000,
        seed: int = 0,
    ) -> None:
        super().__init__(count=count, splits=splits, tuning_rows=tuning_rows, seed=seed)
        self.most_columns = most_columns

    def _ranked(self, rows: Rows, validation: Rows | None) -> Places:
        package = needed("pyHSICLasso", "pyHSICLasso", "HSICLasso")
        self.solver_, columns = "pyHSICLasso", varied(rows.X)
        if len(columns) == 0:
            return columns
        if self.most_columns is not None and len(columns) > PER_KEPT * self.most_columns:
            F = statistic(dense(rows.X[:, columns]), rows.labels)
            columns = columns[np.sort(np.argsort(-F, kind="stable")[: PER_KEPT * self.most_columns])]
        Z = standardised(rows.X[:, columns]).astype(np.float32)
        n, d = Z.shape
        whole = n <= WHOLE and 4 * n * n * d <= MOST_BYTES
        size, shuffles = (n, 1) if whole else (min(BLOCK, n), SHUFFLES)
        blocks = cut(n, size, shuffles, self.seed)
        room = max(1, MOST_BYTES // (4 * n * size * shuffles))
        room = room if self.most_columns is None else min(room, self.most_columns)
        if d > room:
            kept = most_relevant(Z, rows.labels, blocks, room)
            columns, Z = columns[kept], Z[:, kept]
        count = min(self.count, Z.shape[1])
        order = _asked(package, Z, rows.labels, count, size, shuffles)
        if len(order) < count:
            own = lasso_order(Z, rows.labels, blocks, count)
            if len(own) > len(order):
                order, self.solver_ = own, "lars_path_gram"
        return columns[order]


def _asked(package: object, Z: Singles, labels: Places, count: int, size: int, shuffles: int) -> Places:
    """The order that the package finds; nothing where it fails."""
    lasso = package.HSICLasso()  # type: ignore[attr-defined]
    try:
        with _quiet():
            lasso.input(Z, labels)
            lasso.classification(count, B=size, M=shuffles, max_neighbors=0, n_jobs=1)
            return entered(lasso.path)[:count]
    except Exception:
        return np.zeros(0, dtype=np.int64)


@contextmanager
def _quiet() -> Iterator[None]:
    """Nothing is shown, and numpy's global random state is as before."""
    state = np.random.get_state()  # noqa: NPY002
    try:
        with redirect_stdout(StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
