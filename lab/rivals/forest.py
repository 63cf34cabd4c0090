"""A random forest ranks the features, and another is trained on the best of them."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.utils._param_validation import Interval

from lab.rivals.ranked import Ranked
from lab.rivals.rows import Floats, Places, Rows, judged
from lab.rivals.selector import CLASSIFICATION, POSITIVE, TASK, Selector

LEAVES = (1, 5, 20)


class RandomForestSelection(Ranked):
    """scikit-learn's random forest: one ranks by impurity, another one is trained on the top k.

    Parameters
    ----------
    trees : int, default=2000
        Trees of either forest.
    min_samples_leaf : int or None, default=None
        The fewest rows of a leaf. None: 1, 5 or 20, for each forest whichever has the lowest mean error on a fifth of
        the rows held out, over random splits, or on the validation rows; among equals the smallest.
    min_weight_fraction_leaf : float, default=0.0
        The least share of all weights that a leaf must have.
    tuning_trees : int, default=200
        Trees of the forests on those splits.
    splits : int, default=5
        How many random splits.
    task : {"classification", "regression"}, default="classification"
        What is predicted. In regression a node looks at a third of the columns, as is usual there.
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
        As in :class:`Selector`.

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
        **Selector._parameter_constraints,
        "trees": [POSITIVE],
        "min_samples_leaf": [POSITIVE, None],
        "min_weight_fraction_leaf": [Interval(Real, 0, 0.5, closed="both")],
        "tuning_trees": [POSITIVE],
        "task": [TASK],
        "n_jobs": [Integral, None],
    }
    title: ClassVar[str] = "random forest, top importance"
    weighted: ClassVar[bool] = True

    def __init__(
        self,
        *,
        trees: int = 2000,
        min_samples_leaf: int | None = None,
        min_weight_fraction_leaf: float = 0.0,
        tuning_trees: int = 200,
        splits: int = 5,
        task: str = CLASSIFICATION,
        n_jobs: int | None = 1,
        seed: int = 0,
    ) -> None:
        self.trees = trees
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.tuning_trees = tuning_trees
        self.splits = splits
        self.task = task
        self.n_jobs = n_jobs
        self.seed = seed

    def _ranked(self, rows: Rows, validation: Rows | None) -> Places:
        forest = self._trained(rows, validation)
        self.min_samples_leaf_ = forest.min_samples_leaf
        self.importances_: Floats = forest.feature_importances_
        order: Places = np.argsort(-self.importances_, kind="stable")
        return order[: np.count_nonzero(self.importances_)]

    def _trained(self, rows: Rows, validation: Rows | None) -> Any:
        leaf = self.min_samples_leaf or self._best_leaf(rows, validation)
        return self._forest(self.trees, leaf, rows)

    def _best_leaf(self, rows: Rows, validation: Rows | None) -> int:
        errors: list[list[float]] = []
        for train, held_out in judged(rows, validation, self.splits, self.seed):
            forests = (self._forest(self.tuning_trees, leaf, train) for leaf in LEAVES)
            errors.append([1 - forest.score(held_out.X, held_out.labels, held_out.weight) for forest in forests])
        return LEAVES[int(np.mean(errors, axis=0).argmin())]

    def _forest(self, trees: int, leaf: int, rows: Rows) -> Any:
        kind = partial(RandomForestRegressor, max_features=1 / 3) if self._regresses else RandomForestClassifier
        forest = kind(
            trees,
            min_samples_leaf=leaf,
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            n_jobs=self.n_jobs,
            random_state=self.seed,
        )
        forest.fit(rows.X, rows.labels, rows.weight)
        return forest.set_params(n_jobs=1)  # in threads, predictions of trees are added up in any order
