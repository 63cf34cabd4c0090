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
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from frugalboost._support.parallel import Check, run_parallel
from frugalboost._support.progress import Stage, Work
from frugalboost.estimators.base import GBFSBase, unchanged_on_error
from frugalboost.estimators.selector import Selector
from frugalboost.estimators.template import make_template, path_fitter
from frugalboost.selection.folds import in_order
from frugalboost.selection.path import PathFitter, check_mus, mu_grid
from frugalboost.selection.purchase_order import PurchaseOrder, is_affordable
from frugalboost.training.boosting import boost
from frugalboost.training.task import FitTask

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class StabilitySelection(Selector, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features that are bought in most of many random halves of the rows.

    On each half the path of mu is followed down until ``n_features`` features are bought; what is bought once, stays. A
    feature is selected when the share of halves that bought it reaches the threshold. The expected number of features
    selected by mistake is then at most ``q ** 2 / ((2 * threshold - 1) * p)``, with q features bought per half out of p
    (Meinshausen and Bühlmann 2010; it holds where noise features are exchangeable and are not chosen more often than at
    random).

    Parameters
    ----------
    estimator : GBFSClassifier, GBFSRegressor or None, default=None
        Settings of all fits. None: a regressor where y holds fractions, or floats of more than 20 values, else a
        classifier. Purchases come early: ``max_iter=50`` is usually enough, and much faster than the default.
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
    frequency_ : ndarray of shape (n_features,)
        The share of halves that bought each feature.
    frequencies_ : ndarray of shape (n_mus, n_features)
        The same for each mu: stability paths.
    mus_ : ndarray
        The values of mu, falling.
    support_ : ndarray of shape (n_features,)
        Which features are stable; where the estimator has a budget that does not allow all of them, the most frequent
        ones that it allows.
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
            template = make_template(self.estimator, y, {"early_stopping": False})
            sample, _ = template._checked(X, y, sample_weight)
            self.n_features_in_ = template.n_features_in_
            if "feature_names_in_" in vars(self):
                delattr(self, "feature_names_in_")  # of an earlier table
            if hasattr(template, "feature_names_in_"):
                self.feature_names_in_ = template.feature_names_in_
            self._follow(path_fitter(template, sample, n_jobs=self.n_jobs))
            return self

    def _follow(self, fitter: PathFitter) -> None:
        """Follow the path on every half and count."""
        task, bags = fitter.task, fitter.task.costs.bags
        choices = self.n_features_in_ if bags is None else len(bags)
        most = self.n_features or max(1, int(np.sqrt(self.max_false * (2 * self.threshold - 1) * choices)))
        self.mus_ = mu_grid(fitter.mu_max, self.n_mus, self.eps) if self.mus is None else check_mus(self.mus)
        halves = self._halves(task)
        works = [partial(_path_on, task, places, self.mus_, most) for places in halves]
        found = run_parallel(works, fitter.threads, bool(self.verbose), Stage(Work.SUBSAMPLES))
        chosen, owned = (np.array(part) for part in zip(*found, strict=True))
        self.bags_ = bags
        self.frequencies_ = chosen.mean(axis=0)
        self.frequency_ = self.frequencies_[-1]
        self.support_ = self._paid(self.frequency_ >= self.threshold, task)
        self.bag_frequency_ = self.bag_frequencies_ = self.bag_support_ = None
        if bags is not None:
            self.bag_frequencies_ = owned.mean(axis=0)
            self.bag_frequency_ = self.bag_frequencies_[-1]
            self.bag_support_ = self.bag_frequency_ >= self.threshold
        self.n_features_per_subsample_ = q = float((chosen if bags is None else owned)[:, -1].sum(axis=1).mean())
        self.error_bound_ = q**2 / ((2 * self.threshold - 1) * choices)
        if self.n_features is None and self.error_bound_ > self.max_false:
            warnings.warn(
                f"With {choices} to choose from, the bound can't be as low as max_false={self.max_false:g}: it is "
                f"{self.error_bound_:.2g} with one purchase on each half. Raise the threshold.",
                UserWarning,
                stacklevel=6,
            )
        if not chosen.any():
            warnings.warn(
                "Nothing was bought on any half of the rows: no feature gains anything there, or min_samples_leaf="
                f"{task.params.min_samples_leaf:g} is too large for {len(task.train) // 2} rows.",
                UserWarning,
                stacklevel=6,
            )

    def _paid(self, stable: Flags, task: FitTask) -> Flags:
        """The stable features that the budget allows: the most frequent first, then the cheaper, then the lower."""
        if np.isinf(task.budget):
            return stable
        order = np.lexsort((task.costs.start, -self.frequency_))
        affordable = PurchaseOrder.in_order(task, order[stable[order]]).order
        if len(affordable) < stable.sum():
            warnings.warn(
                f"{int(stable.sum())} features are stable, but only {len(affordable)} of them, the most frequent, "
                f"can be bought together within budget={task.budget:g}.",
                UserWarning,
                stacklevel=7,
            )
        paid = np.zeros_like(stable)
        paid[affordable] = True
        return paid

    def _halves(self, task: FitTask) -> list[NDArray[np.int64]]:
        """Complementary halves, each with the distribution of y."""
        rng = check_random_state(self.random_state)
        halves: list[NDArray[np.int64]] = []
        for _ in range((self.n_subsamples + 1) // 2):
            order = in_order(task.train.y, rng.permutation(len(task.train)), task.outputs)
            first = np.zeros(len(order), dtype=bool)
            # Of every two neighbours in y one goes to each half, by the toss of a coin.
            toss = rng.randint(2, size=(len(order) + 1) // 2)
            first[np.minimum(2 * np.arange(len(toss)) + toss, len(order) - 1)] = True
            halves += [np.sort(order[first]), np.sort(order[~first])]
        return halves[: self.n_subsamples]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "support_")


def _path_on(
    task: FitTask, places: NDArray[np.int64], mus: Floats, most: int, check: Check | None, threads: int
) -> tuple[Flags, Flags]:
    """Which features, and which bags, are bought on some rows down to each mu, the first `most` of all."""
    part = replace(task, train=task.train.take(places), bins=task.binned.take(None, places, threads), validation=None)
    bought = _LimitedPurchases(task, most)
    chosen = np.zeros((len(mus), len(task.costs.start)), dtype=bool)
    owned = np.zeros((len(mus), len(task.costs.bags or ())), dtype=bool)
    for i, mu in enumerate(mus):
        if not bought.full:
            model = boost(replace(part, params=replace(part.params, mu=float(mu))), None, check, threads)
            for feature in model.purchases.feature.tolist():
                bought.buy(feature)
        chosen[i, sorted(bought.features)] = True
        if task.costs.bags is not None:
            owned[i, sorted(bought.bags)] = True
    return chosen, owned


class _LimitedPurchases:
    """Buys at most a given number of features, or of bags with everything in them, within the budget."""

    def __init__(self, task: FitTask, most: int) -> None:
        self.features: list[int] = []  # in order of purchase
        self.full = False  # a further purchase was refused
        self._task, self._most, self._payer = task, most, task.costs.payer()

    @property
    def bags(self) -> list[int]:
        """The bags that paid; without bags, the features."""
        return list(self._payer.owned)

    def buy(self, feature: int) -> None:
        """Buy a feature, if the limit and the budget allow it."""
        if feature in self.features:
            return
        if self._payer.bag_of(feature) not in self._payer.owned and len(self._payer.owned) >= self._most:
            self.full = True
        elif is_affordable(self._task, [*self.features, feature]):
            self.features.append(feature)
            self._payer.buy(feature)
