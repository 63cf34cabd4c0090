"""Logistic regression that takes columns group by group."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lab.rivals.optional import needed
from lab.rivals.paths import Linear, Path, Standard
from lab.rivals.rows import Floats, Places, Rows, dense

CLOSE = 1e-3  # a fit ends when no slope is off by more than this share of the penalty


class GroupLasso(Path):
    """Logistic regression with a group lasso penalty (skglm), over a path of penalties.

    All columns of a group are used or none; a group of n columns weighs the square root of n. The path goes from the
    penalty at which the first group enters down to a thousandth of it. Columns are standardised, constant ones are left
    out, and a sparse matrix is made dense. Among models of at most k features the one with the lowest mean error on a
    fifth of the rows held out is taken, over random splits, with the same penalty. The first fit in a process takes
    some ten seconds more, since skglm compiles its loops.

    Parameters
    ----------
    groups : array-like of shape (n_features,)
        The group of each column: a label of any kind.
    count : int or None, default=None
        The most features that will be asked for: the path ends at a model of more than twice as many. None: it is
        followed to the end.
    splits : int, default=5
        How many random splits. 0: none, and the model for k is the largest of at most k features.
    seed : int, default=0
        Decides the splits.

    Attributes
    ----------
    path_ : list of (int, float)
        The number of features and the mean error on held-out rows (NaN without splits) of each model; the first has no
        feature.
    classes_, n_features_in_ : ndarray, int
        As in :class:`Selector`.

    Examples
    --------
    >>> import numpy as np
    >>> from lab.rivals import GroupLasso
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = X[:, 2] + X[:, 3] > 0
    >>> model = GroupLasso(["a", "a", "b", "b", "c", "c"], splits=2).fit(X, y)
    >>> model.groups_used(3)
    ['b']
    >>> sorted(model.features(3).tolist())
    [2, 3]
    >>> model.features(1)
    array([], dtype=int64)
    """

    title: ClassVar[str] = "group lasso"
    _parameter_constraints: ClassVar[dict[str, Any]] = {**Path._parameter_constraints, "groups": ["array-like"]}

    def __init__(self, groups: Any, *, count: int | None = None, splits: int = 5, seed: int = 0) -> None:
        self.groups = groups
        self.count = count
        self.splits = splits
        self.seed = seed

    def groups_used(self, k: int) -> list[Hashable]:
        """Return the groups that the model of at most k features uses.

        Parameters
        ----------
        k : int
            The most features, not groups, that it may use.

        Returns
        -------
        list
            Labels of groups; the one with the largest weight first.

        Examples
        --------
        >>> import numpy as np
        >>> from lab.rivals import GroupLasso
        >>> X = np.random.default_rng(0).normal(size=(200, 6))
        >>> GroupLasso([0, 0, 1, 1, 2, 2], splits=2).fit(X, X[:, 2] > 0).groups_used(2)
        [1]
        """
        check_is_fitted(self, "classes_")
        return list(dict.fromkeys(self._names[self._codes[column]] for column in self.features(k)))

    def _learn(self, rows: Rows, validation: Rows | None) -> None:
        labels: list[Hashable] = self.groups.tolist() if hasattr(self.groups, "tolist") else list(self.groups)
        if len(labels) != rows.X.shape[1]:
            raise ValueError(f"groups has {len(labels)} labels; X has {rows.X.shape[1]} columns, and each needs one.")
        self._names: list[Hashable] = list(dict.fromkeys(labels))
        numbers = {name: i for i, name in enumerate(self._names)}
        self._codes: Places = np.array([numbers[label] for label in labels])
        super()._learn(Rows(dense(rows.X), rows.labels, rows.weight), validation)

    def _largest_penalty(self, standard: Standard) -> float:
        slopes, groups = standard.slopes(), self._groups(standard.columns)
        return float(max(np.linalg.norm(slopes[group]) / np.sqrt(len(group)) for group in groups))

    def _groups(self, columns: Places) -> list[Places]:
        """Places of each group among these columns; a group without any of them must not reach skglm."""
        codes = self._codes[columns]
        return [np.flatnonzero(codes == code) for code in np.unique(codes)]

    def _followed(self, standard: Standard, penalties: Floats) -> Iterator[Linear]:
        skglm = needed("skglm", "skglm", "GroupLasso")
        datafits, blocks = needed("skglm.datafits.group", "skglm", "GroupLasso"), skglm.penalties.block_separable
        groups = self._groups(standard.columns)
        order = np.concatenate(groups).astype(np.int32)
        ends = np.cumsum([0, *map(len, groups)]).astype(np.int32)
        sizes = np.sqrt([len(group) for group in groups])
        Z = np.asfortranarray(standard.rows.X)
        signs = np.where(standard.rows.labels == 1, 1.0, -1.0)
        weights, raw = np.zeros(Z.shape[1] + 1), np.zeros(len(Z))
        for penalty in penalties / len(Z):  # skglm takes the mean of the loss
            solver = skglm.solvers.GroupProxNewton(fit_intercept=True, tol=CLOSE * penalty, max_pn_iter=100)
            start = weights.copy(), raw.copy()
            penalised = blocks.WeightedGroupL2(penalty, sizes, ends, order)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that it does not use a matrix of one column in the fastest way
                found = solver.solve(Z, signs, datafits.LogisticGroup(ends, order), penalised, *start)[0]
            if np.isfinite(found).all():
                weights, raw = found, Z @ found[:-1] + found[-1]
            yield standard.linear(weights[:-1], float(weights[-1]))
