"""A random forest ranks the features, and another is trained on the best of them."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils._param_validation import Interval

from lab.rivals.baseline import POSITIVE, Baseline
from lab.rivals.ranked import Ranked
from lab.rivals.rows import Floats, Places, Rows, random_splits

LEAVES = (1, 5, 20)


class RandomForestSelection(Ranked):
    """scikit-learn's random forest: one ranks by impurity, another one is trained on the top k.

    Parameters
    ----------
    trees : int, default=2000
        Trees of either forest.
    min_samples_leaf : int or None, default=None
        The fewest rows of a leaf. None: 1, 5 or 20, for each forest whichever has the lowest mean error on a fifth of
        the rows held out, over random splits; among equals the smallest.
    min_weight_fraction_leaf : float, default=0.0
        The least share of all weights that a leaf must have.
    tuning_trees : int, default=200
        Trees of the forests on those splits.
    splits : int, default=5
        How many random splits.
    n_jobs : int or None, default=1
        Threads, as in scikit-learn. The result does not depend on it.
    seed : int, default=0
        Decides forests and splits.

    Attributes
    ----------
    ranking_ : ndarray of int
        Columns by falling importance; those of importance 0 are left out.
    importances_ : ndarray of shape (n_features,)
        Of the first forest: the share of each column in what splits did for impurity.
    min_samples_leaf_ : int
        Of the first forest.
    classes_, n_features_in_ : ndarray, int
        As in :class:`Baseline`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lab.rivals import RandomForestSelection
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestSelection(trees=50, tuning_trees=10, splits=2).fit(X, y)
    >>> forest.features(2).shape
    (2,)
    >>> bool((forest.predict(X, 2) == y).mean() > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Baseline._parameter_constraints,
        "trees": [POSITIVE],
        "min_samples_leaf": [POSITIVE, None],
        "min_weight_fraction_leaf": [Interval(Real, 0, 0.5, closed="both")],
        "tuning_trees": [POSITIVE],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        trees: int = 2000,
        min_samples_leaf: int | None = None,
        min_weight_fraction_leaf: float = 0.0,
        tuning_trees: int = 200,
        splits: int = 5,
        n_jobs: int | None = 1,
        seed: int = 0,
    ) -> None:
        self.trees = trees
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.tuning_trees = tuning_trees
        self.splits = splits
        self.n_jobs = n_jobs
        self.seed = seed

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Rank the features.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Numbers, none of them missing; a sparse matrix stays sparse.
        y : array-like of shape (n_samples,)
            Two labels, of any kind.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, which count in forests and in errors.

        Returns
        -------
        self
            Fitted.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from lab.rivals import RandomForestSelection
        >>> forest = RandomForestSelection(trees=50, min_samples_leaf=5)
        >>> forest.fit(*load_breast_cancer(return_X_y=True)).min_samples_leaf_
        5
        """
        return self._fit_rows(X, y, sample_weight)

    def _ranked(self, rows: Rows) -> Places:
        forest = self._trained(rows)
        self.min_samples_leaf_ = forest.min_samples_leaf
        self.importances_: Floats = forest.feature_importances_
        order: Places = np.argsort(-self.importances_, kind="stable")
        return order[: np.count_nonzero(self.importances_)]

    def _trained(self, rows: Rows) -> RandomForestClassifier:
        leaf = self.min_samples_leaf or self._best_leaf(rows)
        return self._forest(self.trees, leaf, rows)

    def _best_leaf(self, rows: Rows) -> int:
        errors: list[list[float]] = []
        for train, held_out in random_splits(rows, self.splits, self.seed):
            forests = (self._forest(self.tuning_trees, leaf, train) for leaf in LEAVES)
            errors.append([1 - forest.score(held_out.X, held_out.labels, held_out.weight) for forest in forests])
        return LEAVES[int(np.mean(errors, axis=0).argmin())]

    def _forest(self, trees: int, leaf: int, rows: Rows) -> RandomForestClassifier:
        forest = RandomForestClassifier(
            trees,
            min_samples_leaf=leaf,
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            n_jobs=self.n_jobs,
            random_state=self.seed,
        )
        forest.fit(rows.X, rows.labels, rows.weight)
        return forest.set_params(n_jobs=1)  # in threads, predictions of trees are added up in any order
