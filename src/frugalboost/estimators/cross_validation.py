"""Estimators that choose mu, or the number of features, by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from numbers import Integral, Real
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    RegressorMixin,
    _fit_context,
    clone,
    is_classifier,
)
from sklearn.metrics import check_scoring
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, check_cv
from sklearn.utils import check_random_state, indexable
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from frugalboost._support.progress import Stage, Work
from frugalboost.estimators.base import GBFSBase, unchanged_on_error
from frugalboost.estimators.classifier import GBFSClassifier
from frugalboost.estimators.docstrings import fill_in
from frugalboost.estimators.explaining import ExplainingMixin
from frugalboost.estimators.held_out import HeldOutRows
from frugalboost.estimators.notebook import NotebookMixin
from frugalboost.estimators.regressor import GBFSRegressor
from frugalboost.estimators.selector import Selector
from frugalboost.estimators.template import make_template, path_fitter
from frugalboost.selection.folds import grouped_splits
from frugalboost.selection.optimism import Blocks, Estimate, block_of_rows, estimate
from frugalboost.selection.path import check_mus, check_numbers, mu_grid
from frugalboost.selection.scoring import Scorer, best_score, score_name
from frugalboost.selection.splits import (
    Fold,
    Grid,
    Scored,
    Split,
    check_classes,
    chosen_index,
    held_out_scores,
    score_columns,
)
from frugalboost.tables.sample import Sample
from frugalboost.tables.sources import as_batches
from frugalboost.tables.targets import by_appearance, check_groups, check_weights

Floats = NDArray[np.float64]
SAME_NUMBER = 0.5  # features that models buy on average over the splits, to count as equally many
T = TypeVar("T", bound=type)


class GBFSCVBase(NotebookMixin, ExplainingMixin, Selector, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """What both classes share: splits, the rule, the fit on all rows, and delegation to the fitted estimator."""

    _kind: ClassVar[type[GBFSBase]]

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [GBFSBase, None],
        "mus": ["array-like", None],
        "n_mus": [Interval(Integral, 1, None, closed="left")],
        "eps": [Interval(Real, 0, 1, closed="neither")],
        "n_features_to_select": [Interval(Integral, 0, None, closed="left"), "array-like", None],
        "max_depths": ["array-like", None],
        "bases": ["array-like", None],
        "max_iters": ["array-like", None],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "rule": [StrOptions({"min", "1se", "paired"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: GBFSBase | None = None,
        *,
        mus: ArrayLike | None = None,
        n_mus: int = 20,
        eps: float = 1e-3,
        n_features_to_select: int | Sequence[int] | None = None,
        max_depths: Sequence[int | None] | None = None,
        bases: Sequence[str] | None = None,
        max_iters: Sequence[int] | None = None,
        cv: Any = None,
        scoring: Any = None,
        rule: str = "min",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.mus = mus
        self.n_mus = n_mus
        self.eps = eps
        self.n_features_to_select = n_features_to_select
        self.max_depths = max_depths
        self.bases = bases
        self.max_iters = max_iters
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------------------------------ fitting

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose by cross-validation, then fit on all rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            As for the estimators, in memory.
        y : array-like of shape (n_samples,)
            Class labels or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, for the fits and for the scores.
        groups : array-like of shape (n_samples,), default=None
            Rows of a group share a fold: in the splits, if ``cv`` is None or a splitter that keeps groups together, and
            in the folds that choose among features or base learners.

        Returns
        -------
        self
            Fitted.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor, GBFSRegressorCV
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = GBFSRegressorCV(GBFSRegressor(max_iter=50), n_mus=5, random_state=0).fit(X, y)
        >>> model.n_features_selected_
        10
        """
        if as_batches(X, y if isinstance(y, str) else None, for_fit=False) is not None:
            raise TypeError(
                f"{type(self).__name__} needs a table in memory, and X is a file or comes in batches. Choose mu with "
                "gbfs_path, or on some of the rows."
            )
        return self._fit_rows(Sample(X, y, sample_weight, groups))

    def _fit_rows(self, rows: Sample) -> Self:
        """Fit on rows that may have groups and times."""
        with unchanged_on_error(self):
            return self._choose(*self._search(rows))

    def _search(self, rows: Sample) -> tuple[GBFSBase, Sample]:
        """Score the candidates; the estimator and the checked rows for the fit on all rows."""
        template = self._template()
        sample = template._checked_rows(replace(rows, groups=check_groups(rows.groups, rows.y)))
        splits = self._splits(Sample(None, rows.y, groups=rows.groups), sample)
        grid = self._grid(template, sample)
        self._block_of_row = block_of_rows(len(sample), sample.groups)
        # Scores use the user's own targets, and weights without class weights.
        targets = Sample(None, indexable(rows.y)[0], check_weights(rows.weights, sample.table))
        self._try(template, sample, targets, splits, grid)
        return template, sample

    def _choose(self, template: GBFSBase, sample: Sample) -> Self:
        """Apply the rule to the results, then fit on all rows."""
        results = self.cv_results_
        self.best_index_ = chosen_index(results, self.rule)
        self.best_params_: dict[str, Any] = results["params"][self.best_index_]
        self.best_score_ = float(results["mean_test_score"][self.best_index_])
        found = self._estimate()
        self.corrected_score_, self.score_interval_ = found.score, (found.low, found.high)
        final = template.set_params(**self.best_params_, n_jobs=self.n_jobs)
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_  # of an earlier table
        self.estimator_ = final._fit_checked(sample)
        for name, value in vars(final).items():
            if name.endswith("_"):
                setattr(self, name, value)
        return self

    def _estimate(self, own: GBFSCVBase | None = None) -> Estimate:
        """The score to expect on new rows.

        ``own``: another search for as many features as were chosen here, whose choice is taken if it is better.
        """
        scores, candidates = self._held_out_scores, len(self.cv_results_["params"])
        rule, chosen, first = self.rule, self.best_index_, 0
        number = self.cv_results_["mean_n_features"]
        if own is not None:
            scores, first = scores.beside(own._held_out_scores), own.n_splits_
            chosen = candidates + own.best_index_

        def choose(found: Floats) -> int:
            at = chosen_index(self.cv_results_ | score_columns(found[:, :candidates]), rule)
            if not first or abs(number[at] - number[self.best_index_]) >= SAME_NUMBER:  # it was not tried for others
                return at
            more = found[:first, candidates:].mean(axis=0)
            if more.max() > found[:first, at].mean():
                return candidates + int(more.argmax())
            return at

        return estimate(scores, chosen, choose, self.scoring_ == "accuracy", best_score(self.scoring_))

    def _estimate_of(self, index: int) -> Estimate:
        """The same for a candidate that was not chosen by its score."""
        share, best = self.scoring_ == "accuracy", best_score(self.scoring_)
        return estimate(self._held_out_scores, index, lambda _: index, share, best)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: not what only a search needs that goes on."""
        state: dict[str, Any] = super().__getstate__()
        return {k: v for k, v in state.items() if k not in ("_held_out_scores", "_block_of_row")}

    def _choose_by(self, rule: str, rows: Sample) -> Self:
        """Apply another rule to the results of ``fit`` on the same rows: only the last fit is repeated."""
        with unchanged_on_error(self):
            self.rule = rule
            template = self._template()
            return self._choose(template, template._checked_rows(rows))

    def _template(self) -> GBFSBase:
        if self.estimator is not None and not isinstance(self.estimator, self._kind):
            raise TypeError(
                f"{type(self).__name__} needs a {self._kind.__name__} as estimator, not a "
                f"{type(self.estimator).__name__}."
            )
        template = make_template(self._kind() if self.estimator is None else self.estimator, [], {})
        if template.random_state is None and self.random_state is not None:
            template.random_state = check_random_state(self.random_state).randint(2**31 - 1)
        return template

    def _splits(self, targets: Sample, sample: Sample) -> list[Split]:
        """Training and held-out rows by the user's targets and groups; ``sample`` is the same rows, checked."""
        y, groups = targets.y, targets.groups
        cv, codes = self.cv, check_groups(groups, y)
        seed = check_random_state(self.random_state).randint(2**31 - 1) if cv is None else 0
        if cv is None and codes is not None:
            cv = grouped_splits(sample.y, codes, is_classifier(self), 5, seed)
        elif cv is None:
            kind = StratifiedShuffleSplit if is_classifier(self) else ShuffleSplit
            cv = kind(5, test_size=0.2, random_state=seed)
        splitter = check_cv(cv, y, classifier=is_classifier(self))
        labels = np.asarray(y)
        if isinstance(splitter, StratifiedShuffleSplit):  # it draws class after class, in the order of their names
            labels = by_appearance(labels)
        splits = list(splitter.split(np.zeros(len(sample)), labels, groups))
        if not splits:
            raise ValueError("cv gives no splits. A generator can be used only once: make it a list.")
        places = np.arange(len(sample))
        splits = [(places[train], places[test]) for train, test in splits]  # masks may be given too
        if is_classifier(self):
            for number, (train, _) in enumerate(splits):
                check_classes(sample, train, number)
        return splits

    def _grid(self, template: GBFSBase, sample: Sample) -> Grid:
        learners = self._learners(template)
        iterations = [None] if self.max_iters is None else sorted(set(self.max_iters))
        if not learners or not iterations:
            raise ValueError("max_depths, bases and max_iters must not be empty lists.")
        for learner, t in product(learners, iterations):
            own = clone(template).set_params(**learner, max_iter=template.max_iter if t is None else t)
            own._validate_params()
        if self.n_features_to_select is not None:
            if self.mus is not None:
                raise ValueError("mus and n_features_to_select can't both be tried: give one of them.")
            return Grid(
                "n_features_to_select", np.array(check_numbers(self.n_features_to_select)), learners, iterations
            )
        if self.mus is not None:
            return Grid("mu", check_mus(self.mus), learners, iterations)
        kinds = {learner.get("base", template.base): learner for learner in learners}
        mu_max = max(path_fitter(template._like(**own), sample, n_jobs=self.n_jobs).mu_max for own in kinds.values())
        return Grid("mu", mu_grid(mu_max, self.n_mus, self.eps), learners, iterations, mu_max)

    def _learners(self, template: GBFSBase) -> list[dict[str, Any]]:
        """Settings of the base learners to try; lines have no depth, so they are tried once."""
        depths = [template.max_depth] if self.max_depths is None else list(self.max_depths)
        if self.bases is None:
            return [{"max_depth": depth} for depth in depths]
        return [
            {"max_depth": depth, "base": base}
            for base in dict.fromkeys(self.bases)
            for depth in (depths[:1] if base == "lines" else depths)
        ]

    def _try(self, template: GBFSBase, sample: Sample, targets: Sample, splits: list[Split], grid: Grid) -> None:
        """Score every candidate on every split, one split after another."""
        table = []
        for number, split in enumerate(splits):
            rows: list[Scored] = []
            for part, fold in enumerate(self._folds(template, sample, targets, split, grid)):
                label, learners = f"split {number + 1}/{len(splits)}, fit", len(grid.learners)
                stage = Stage(Work.CROSS_VALIDATION, label, number * learners + part + 1, len(splits) * learners)
                rows += fold.rows(grid, bool(self.verbose), stage)
            table.append(rows)
        self._publish_results(table, grid.candidates(), score_name(template, self.scoring))

    def _folds(self, template: GBFSBase, sample: Sample, targets: Sample, split: Split, grid: Grid) -> Iterator[Fold]:
        """A split for each learner."""
        scorer = Scorer(check_scoring(template, scoring=self.scoring))
        train, test = split
        held_out, rows = sample.take(test), sample.take(train)
        shown = replace(targets.targets(test), X=held_out.X)
        name = score_name(template, self.scoring) if not callable(self.scoring) else None
        blocks = Blocks(self._block_of_row[test], shown.weights)
        for settings in grid.learners:
            own = template._like(**settings)
            fitter = path_fitter(own, rows, n_jobs=self.n_jobs)
            yield Fold(fitter, held_out, HeldOutRows(own, scorer, name, shown, blocks))

    def _publish_results(
        self, scored: Sequence[Sequence[Scored]], candidates: list[dict[str, Any]], scoring: str
    ) -> None:
        """``scored``: by split and candidate."""
        self.cv_results_ = results_of(scored, candidates)
        self._bought_in_splits = [[one.features for one in split] for split in scored]
        self._held_out_scores = held_out_scores(scored)
        self.scoring_ = scoring
        self.n_splits_ = len(scored)

    # --------------------------------------------------------------------------------------- delegation

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict with the model fitted on all rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes or numbers.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressorCV
        >>> X, y = load_diabetes(return_X_y=True)
        >>> GBFSRegressorCV(n_mus=3, random_state=0).fit(X, y).predict(X).shape
        (442,)
        """
        check_is_fitted(self)
        answer: NDArray[Any] = self.estimator_.predict(X)
        return answer

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")


def results_of(scored: Sequence[Sequence[Scored]], candidates: list[dict[str, Any]]) -> dict[str, Any]:
    """The results that rules judge, from scores by split and candidate."""
    table = np.array([[one.row for one in split] for split in scored], dtype=float)
    return {
        "params": candidates,
        **{f"param_{name}": np.array([c[name] for c in candidates], dtype=object) for name in candidates[0]},
        **score_columns(table[:, :, 0]),
        "mean_n_features": table[:, :, 1].mean(axis=0),
        "mean_price": table[:, :, 2].mean(axis=0),
        "mean_test_loss": table[:, :, 3].mean(axis=0),
        "mean_n_iter": table[:, :, 4].mean(axis=0),
    }


PARAMETERS = """\
estimator : %(estimator)s or None, default=None
    Settings of all fits; None: the defaults. Its mu is not used.
mus : array-like or None, default=None
    Values of mu to try, in the estimator's ``mu_unit``. None: ``n_mus`` values from mu_max down to ``eps * mu_max``,
    each the same factor smaller.
n_mus : int, default=20
    How many. In each split they are the same shares of that split's own mu_max.
eps : float, default=1e-3
    The smallest mu as a share of mu_max.
n_features_to_select : int, sequence of int or None, default=None
    Numbers of features to try instead of mus: buy many, then sell the weakest back. With a single number only
    ``max_depths`` and ``max_iters`` are chosen.
max_depths : sequence of int or None, default=None
    Depths to try with each; None: the estimator's.
bases : sequence of str or None, default=None
    Values of ``base`` to try with each, such as ``["trees", "lines"]``; None: the estimator's.
max_iters : sequence of int or None, default=None
    Numbers of iterations to try with each. Over mu they need no further fits: the longest is cut. None: the
    estimator's.
cv : int, splitter, iterable or None, default=None
    Any splitter of scikit-learn. None: 5 random splits into 80 and 20 percent, as in the paper, stratified for classes.
    If ``fit`` gets ``groups``, rows of a group are in the same part, and with fewer groups there are fewer splits.
scoring : str, callable or None, default=None
    Any scorer of scikit-learn; None is the estimator's own, %(score)s.
rule : {"min", "1se", "paired"}, default="min"
    "min": the best mean score. "1se": the cheapest model whose mean score is within one standard error of the best.
    "paired": the same with the standard error of the difference from the best, split by split; use it if "1se" buys
    too little because splits differ much more than models.
n_jobs : int or None, default=None
    Threads; None means all cores. The model does not depend on it.
random_state : int, RandomState or None, default=None
    Decides the random splits where ``cv`` is None.
verbose : int, default=0
    1 shows a line of progress.
"""

ATTRIBUTES = """\
estimator_ : %(estimator)s
    Fitted on all rows with the parameters chosen. Its fitted attributes (``support_``, ``selected_features_``,
    ``total_cost_``, ``mu_``, ``history_`` and all others) are attributes of this object too.
best_params_ : dict
    The parameters chosen.
best_index_ : int
    Their place in ``cv_results_``.
best_score_ : float
    Their mean score over the splits. It is flattered by the choice: the best of many was the best on these rows.
corrected_score_ : float
    The score that can be expected on new rows: the choice is repeated on rows drawn with replacement, and what is
    chosen is scored on the others (bootstrap bias-corrected cross-validation; no further fits).
score_interval_ : tuple of two floats
    An interval of 95 %% for it.
cv_results_ : dict of arrays
    For each candidate "params", scores of each split, "mean_test_score", "std_test_score", "se_test_score" (of the
    mean), "mean_n_features", "mean_price" (total cost), "mean_test_loss" and "mean_n_iter".
scoring_ : str
    Name of the score.
n_splits_ : int
    Number of splits.
"""


def described(estimator: str, score: str) -> Callable[[T], T]:
    """Fill ``<parameters>`` and ``<attributes>`` in a class's docstring."""
    words = {"estimator": estimator, "score": score}
    return fill_in(PARAMETERS % words, ATTRIBUTES % words)


@described("GBFSClassifier", "accuracy")
class GBFSClassifierCV(ClassifierMixin, GBFSCVBase):  # type: ignore[misc]
    """A classifier whose mu, or number of features, is chosen by cross-validation.

    Every split has its own bins and buys its own features; held-out rows are only scored. The last fit is on all rows.

    Parameters
    ----------
    <parameters>

    Attributes
    ----------
    <attributes>
    classes_ : ndarray
        The class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from frugalboost import GBFSClassifier, GBFSClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = GBFSClassifierCV(GBFSClassifier(max_iter=50), n_mus=6, rule="1se", random_state=0)
    >>> search.fit(X, y).n_features_selected_
    9
    """

    _kind = GBFSClassifier

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of every class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from frugalboost import GBFSClassifierCV
        >>> X, y = load_iris(return_X_y=True)
        >>> GBFSClassifierCV(n_mus=3, random_state=0).fit(X, y).predict_proba(X).shape
        (150, 3)
        """
        check_is_fitted(self)
        answer: Floats = self.estimator_.predict_proba(X)
        return answer

    def decision_function(self, X: Any) -> Floats:
        """Return raw predictions.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            As ``GBFSClassifier.decision_function``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from frugalboost import GBFSClassifierCV
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> GBFSClassifierCV(n_mus=3, random_state=0).fit(X, y).decision_function(X).shape
        (569,)
        """
        check_is_fitted(self)
        answer: Floats = self.estimator_.decision_function(X)
        return answer


@described("GBFSRegressor", "R2")
class GBFSRegressorCV(RegressorMixin, GBFSCVBase):  # type: ignore[misc]
    """A regressor whose mu, or number of features, is chosen by cross-validation.

    Every split has its own bins and buys its own features; held-out rows are only scored. The last fit is on all rows.

    Parameters
    ----------
    <parameters>

    Attributes
    ----------
    <attributes>

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor, GBFSRegressorCV
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> quick = GBFSRegressor(max_iter=50)
    >>> search = GBFSRegressorCV(quick, n_features_to_select=[1, 2, 3, 5], rule="1se", random_state=0)
    >>> search.fit(X, y).get_feature_names_out()
    array(['sex', 'bmi', 'bp', 's3', 's5'], dtype=object)
    """

    _kind = GBFSRegressor

    def __sklearn_tags__(self) -> Any:
        """Several columns of y are allowed."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
