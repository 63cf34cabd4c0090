"""Which features are chosen again and again when the rows change a little."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, _fit_context
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from frugalboost.base import GBFSBase, unchanged_on_error
from frugalboost.boosting import Task, boost
from frugalboost.data import refuse_sparse
from frugalboost.parallel import Check, side_by_side
from frugalboost.path import Course, check_mus, make_estimator, mu_grid
from frugalboost.threads import threads_for

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class StabilitySelection(SelectorMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features that are bought in most of many random halves of the rows.

    On each half the path of mu is followed down until ``n_features`` features are bought. A feature is selected when
    the share of halves that bought it reaches the threshold. The expected number of features selected by mistake is
    then at most ``q ** 2 / ((2 * threshold - 1) * p)``, with q features bought per half out of p (Meinshausen and
    Bühlmann 2010; it holds where noise features are exchangeable and are not chosen more often than at random).

    Parameters
    ----------
    estimator : GBFSClassifier, GBFSRegressor or None, default=None
        Settings of all fits. None: a regressor where y holds fractions, or floats of more than
        20 values, else a classifier.
    threshold : float, default=0.75
        The share of halves from which a feature counts as stable; above 0.5.
    max_false : float, default=1.0
        How many features may be selected by mistake, by the bound; decides ``n_features`` where that is None.
    n_features : int or None, default=None
        How many features (bags, where prices have bags) are bought on each half at most.
    n_subsamples : int, default=100
        How many halves: two complementary ones of each random cut (Shah and Samworth 2013).
    mus : array-like or None, default=None
        Values of mu. None: ``n_mus`` values from mu_max down to ``eps * mu_max``.
    n_mus : int, default=20
        How many.
    eps : float, default=1e-3
        The smallest mu as a share of mu_max.
    n_jobs : int or None, default=None
        Threads; None means all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Decides the halves.
    verbose : int, default=0
        1 shows a line of progress.

    Attributes
    ----------
    frequency_ : ndarray of shape (n_features_in_,)
        The share of halves that bought each feature.
    frequencies_ : ndarray of shape (n_mus, n_features_in_)
        The same for each mu: stability paths.
    mus_ : ndarray
        The values of mu, falling.
    support_ : ndarray of shape (n_features_in_,)
        Which features are stable.
    bags_ : tuple of tuples or None
        Columns of each bag, where prices have bags; None otherwise.
    bag_frequency_, bag_frequencies_, bag_support_ : ndarray or None
        The same for bags.
    n_features_per_subsample_ : float
        The mean number of features (bags) bought per half: q.
    error_bound_ : float
        The expected number of features (bags) selected by mistake is at most this.
    n_features_in_, feature_names_in_ : int, ndarray
        Of the table.

    Examples
    --------
    >>> import numpy as np
    >>> from frugalboost import GBFSRegressor, StabilitySelection
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 30))
    >>> y = X[:, 3] - X[:, 7] + 0.5 * rng.normal(size=200)
    >>> stable = StabilitySelection(GBFSRegressor(max_iter=20), n_subsamples=20, random_state=0).fit(X, y)
    >>> np.flatnonzero(stable.support_)
    array([3, 7])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [GBFSBase, None],
        "threshold": [Interval(Real, 0.5, 1, closed="right")],
        "max_false": [Interval(Real, 0, None, closed="neither")],
        "n_features": [Interval(Integral, 1, None, closed="left"), None],
        "n_subsamples": [Interval(Integral, 2, None, closed="left")],
        "mus": ["array-like", None],
        "n_mus": [Interval(Integral, 1, None, closed="left")],
        "eps": [Interval(Real, 0, 1, closed="neither")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: GBFSBase | None = None,
        *,
        threshold: float = 0.75,
        max_false: float = 1.0,
        n_features: int | None = None,
        n_subsamples: int = 100,
        mus: ArrayLike | None = None,
        n_mus: int = 20,
        eps: float = 1e-3,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.max_false = max_false
        self.n_features = n_features
        self.n_subsamples = n_subsamples
        self.mus = mus
        self.n_mus = n_mus
        self.eps = eps
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit on many halves of the rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers; NaN is a value of its own.
        y : array-like of shape (n_samples,)
            Class labels or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights.

        Returns
        -------
        self
            Fitted.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor, StabilitySelection
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> stable = StabilitySelection(GBFSRegressor(max_iter=20), n_features=3, n_subsamples=20, random_state=0)
        >>> stable.fit(X, y).get_feature_names_out()
        array(['bmi', 'bp', 's5'], dtype=object)
        """
        with unchanged_on_error(self):
            template = make_estimator(self.estimator, y, {"early_stopping": False})
            checked = template._checked(X, y, sample_weight)
            self.n_features_in_ = template.n_features_in_
            if hasattr(template, "feature_names_in_"):
                self.feature_names_in_ = template.feature_names_in_
            course = Course(template, checked, threads_for(self.n_jobs))
            self._follow(course)
            return self

    def _follow(self, course: Course) -> None:
        """Follow the path on every half and count."""
        task, bags = course.task, course.task.costs.bags
        choices = self.n_features_in_ if bags is None else len(bags)
        most = self.n_features or max(1, int(np.sqrt(self.max_false * (2 * self.threshold - 1) * choices)))
        self.mus_ = mu_grid(course.mu_max, self.n_mus, self.eps) if self.mus is None else check_mus(self.mus)
        halves = self._halves(task)
        works = [partial(_path_on, task, places, self.mus_, most) for places in halves]
        chosen = np.array(side_by_side(works, course.threads, bool(self.verbose), "subsample"))
        self.bags_ = bags
        self.frequencies_ = chosen.mean(axis=0)
        self.frequency_ = chosen.any(axis=1).mean(axis=0)
        self.support_ = self.frequency_ >= self.threshold
        by_choice = chosen
        self.bag_frequency_ = self.bag_frequencies_ = self.bag_support_ = None
        if bags is not None:
            by_choice = np.stack([chosen[:, :, list(bag)].any(axis=2) for bag in bags], axis=2)
            self.bag_frequencies_ = by_choice.mean(axis=0)
            self.bag_frequency_ = by_choice.any(axis=1).mean(axis=0)
            self.bag_support_ = self.bag_frequency_ >= self.threshold
        self.n_features_per_subsample_ = q = float(by_choice.any(axis=1).sum(axis=1).mean())
        self.error_bound_ = q**2 / ((2 * self.threshold - 1) * choices)
        if not chosen.any():
            warnings.warn(
                "Nothing was bought on any half of the rows: no feature gains anything there, or min_samples_leaf="
                f"{course.template.min_samples_leaf:g} is too many rows for {len(task.train) // 2} of them.",
                UserWarning,
                stacklevel=6,
            )

    def _halves(self, task: Task) -> list[NDArray[np.int64]]:
        """Complementary halves, each with the distribution of y."""
        rng = check_random_state(self.random_state)
        halves: list[NDArray[np.int64]] = []
        for _ in range((self.n_subsamples + 1) // 2):
            shuffled = rng.permutation(len(task.train))
            order = shuffled[np.argsort(task.train.y[shuffled], kind="stable")]
            first = np.zeros(len(order), dtype=bool)
            # Of every two neighbours in y one goes to each half, by the toss of a coin.
            toss = rng.randint(2, size=(len(order) + 1) // 2)
            first[np.minimum(2 * np.arange(len(toss)) + toss, len(order) - 1)] = True
            halves += [np.sort(order[first]), np.sort(order[~first])]
        return halves[: self.n_subsamples]

    def transform(self, X: Any) -> Any:
        """Return only the stable columns.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray or data frame
            As :meth:`set_output` says.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor, StabilitySelection
        >>> X, y = load_diabetes(return_X_y=True)
        >>> stable = StabilitySelection(GBFSRegressor(max_iter=20), n_features=3, n_subsamples=20, random_state=0)
        >>> stable.fit(X, y).transform(X).shape
        (442, 3)
        """
        refuse_sparse(X, "X")
        return super().transform(X)

    def _get_support_mask(self) -> Flags:
        check_is_fitted(self)
        support: Flags = self.support_
        return support

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "support_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = False
        tags.target_tags.required = True
        return tags


def _path_on(
    task: Task, places: NDArray[np.int64], mus: Floats, most: int, check: Check | None, threads: int
) -> NDArray[np.bool_]:
    """Which features each mu buys on some rows.

    From the first mu on that buys more than `most`, what was bought before, filled up with what is bought first now.
    """
    part = replace(task, train=task.train.at(places), binned=task.binned.take(None, places, threads), validation=None)
    chosen = np.zeros((len(mus), len(task.costs.start)), dtype=bool)
    for i, mu in enumerate(mus):
        model = boost(replace(part, params=replace(part.params, mu=float(mu))), None, check, threads)
        bought = model.purchases.feature
        if len(_first(bought, most, task)) < len(bought):
            before = np.flatnonzero(chosen[i - 1]) if i else bought[:0]
            chosen[i:, _first(np.concatenate([before, bought]).astype(np.int32), most, task)] = True
            break
        chosen[i, bought] = True
    return chosen


def _first(bought: NDArray[np.int32], most: int, task: Task) -> NDArray[np.int32]:
    """Features in order of purchase, as long as they make up at most so many features or bags."""
    if task.costs.bags is None:
        return bought[np.sort(np.unique(bought, return_index=True)[1])][:most]
    bags_of: dict[int, set[int]] = {}
    for i, bag in enumerate(task.costs.bags):
        for c in bag:
            bags_of.setdefault(c, set()).add(i)
    owned: set[int] = set()
    for place, feature in enumerate(bought.tolist()):
        if not owned & bags_of[feature]:
            if len(owned) == most:
                return bought[:place]
            owned.add(min(bags_of[feature]))
    return bought
