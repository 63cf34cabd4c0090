"""The whole trade-off: one model for each mu, or for each number of features, from one binned table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils._param_validation import Interval, validate_params
from sklearn.utils.multiclass import type_of_target

from frugalboost._support.parallel import Check, side_by_side
from frugalboost._support.progress import SellingLine
from frugalboost._support.threads import threads_for
from frugalboost.estimators.base import Checked, GBFSBase
from frugalboost.estimators.classifier import GBFSClassifier, GBFSRegressor
from frugalboost.estimators.notebook import html_table
from frugalboost.selection import backward as selection
from frugalboost.selection.backward import Outcome
from frugalboost.selection.scoring import Scorer
from frugalboost.tables.checksum import Seen, seen_of
from frugalboost.training import fit as fitting
from frugalboost.training.boosting import Task, boost

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class SelectionPath:
    """Models from few features to many, with their losses and scores.

    Made by :func:`gbfs_path`. All arrays have one entry per model, in the order of ``values``.

    Attributes
    ----------
    parameter : {"mu", "n_features_to_select"}
        What varies along the path.
    values : ndarray
        Its values: mu falling, or the number of features rising.
    mu_max : float
        The smallest mu at which nothing is bought.
    estimators : tuple of estimators
        The fitted models.
    n_features, price : ndarray
        How many features each model uses, and what was paid for them.
    best_iteration : ndarray
        How many iterations each model keeps.
    train_loss, validation_loss : ndarray
        Mean losses at that iteration; NaN without validation rows.
    train_score, validation_score : ndarray
        Scores by ``scoring``, higher is better; NaN without validation rows.
    scoring : str
        Name of the score.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import gbfs_path
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> path = gbfs_path(X, y, n_mus=3, eps=0.01, max_iter=50)
    >>> path.n_features
    array([0, 2, 8])
    >>> path.features[1].tolist()
    ['s5', 'bmi']
    """

    parameter: str
    values: Floats
    mu_max: float
    estimators: tuple[GBFSBase, ...]
    train_score: Floats
    validation_score: Floats
    scoring: str

    def __len__(self) -> int:
        return len(self.estimators)

    def __repr__(self) -> str:
        used = self.n_features
        span = f"{used.min()} to {used.max()} features" if len(used) else "no models"
        return f"<SelectionPath of {len(self)} models by {self.parameter}: {span}>"

    def _repr_html_(self) -> str:
        """In a notebook: a row for each model."""
        columns = {name: array for name, array in self._columns().items() if not np.isnan(array).all()}
        rows = [[f"{array[i]:.4g}" for array in columns.values()] for i in range(len(self))]
        return html_table(repr(self).strip("<>"), list(columns), rows)

    @property
    def n_features(self) -> NDArray[np.int64]:
        """How many features each model uses."""
        return np.array([model.n_features_selected_ for model in self.estimators], dtype=np.int64)

    @property
    def price(self) -> Floats:
        """What was paid for them."""
        return np.array([model.total_cost_ for model in self.estimators])

    @property
    def best_iteration(self) -> NDArray[np.int64]:
        """How many iterations each model keeps."""
        return np.array([model.best_iteration_ for model in self.estimators], dtype=np.int64)

    @property
    def train_loss(self) -> Floats:
        """Mean loss on the training rows."""
        return self._at_best("train_loss")

    @property
    def validation_loss(self) -> Floats:
        """Mean loss on the validation rows."""
        return self._at_best("validation_loss")

    def _at_best(self, name: str) -> Floats:
        return np.array([model.history_[name][model.best_iteration_] for model in self.estimators])

    @property
    def feature_names(self) -> NDArray[Any]:
        """Names of all columns, or their numbers where the table has none."""
        first = self.estimators[0]
        names = getattr(first, "feature_names_in_", None)
        return np.arange(first.n_features_in_) if names is None else np.asarray(names)

    @property
    def features(self) -> list[NDArray[Any]]:
        """For each model the features it uses, by name where the table has names, in order of purchase."""
        return [self.feature_names[model.selected_features_] for model in self.estimators]

    @property
    def supports(self) -> NDArray[np.bool_]:
        """Which feature is in which model: one row per model, one column per feature."""
        return np.array([model.support_ for model in self.estimators])

    def best(self, *, most_features: float = np.inf, most_price: float = np.inf) -> GBFSBase:
        """Return the model with the lowest validation loss (training loss without validation rows).

        Parameters
        ----------
        most_features : float, default=inf
            Only among models with at most so many features,
        most_price : float, default=inf
            and at most this price.

        Returns
        -------
        estimator
            Fitted.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import gbfs_path
        >>> X, y = load_diabetes(return_X_y=True)
        >>> path = gbfs_path(X, y, n_mus=5, early_stopping=True, random_state=0)
        >>> path.best(most_features=3).n_features_selected_
        2
        """
        allowed = (self.n_features <= most_features) & (self.price <= most_price)
        if not allowed.any():
            raise ValueError(
                f"No model of this path has at most {most_features:g} features and a price of at most {most_price:g}."
            )
        loss = self.validation_loss if not np.isnan(self.validation_loss).any() else self.train_loss
        if np.isnan(loss).any():
            raise ValueError("The loss of this path's models is not known: give your loss a method 'value'.")
        return self.estimators[int(np.argmin(np.where(allowed, loss, np.inf)))]

    def curve(self, index: int) -> dict[str, list[Any]]:
        """Return the state of one model after each iteration.

        Parameters
        ----------
        index : int
            Which model.

        Returns
        -------
        dict of lists
            ``history_`` of that model.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import gbfs_path
        >>> X, y = load_diabetes(return_X_y=True)
        >>> curve = gbfs_path(X, y, n_mus=3, max_iter=5).curve(-1)
        >>> curve["iteration"]
        [0, 1, 2, 3, 4, 5]
        """
        history: dict[str, list[Any]] = self.estimators[index].history_
        return history

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists and numbers, ready for JSON.

        Returns
        -------
        dict
            One list per attribute, one entry per model; "curves" holds the iterations of each.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import gbfs_path
        >>> X, y = load_diabetes(return_X_y=True)
        >>> gbfs_path(X, y, n_mus=3, eps=0.01, max_iter=50).to_dict()["n_features"]
        [0, 2, 8]
        """
        columns = {name: array.tolist() for name, array in self._columns().items()}
        return {
            "parameter": self.parameter,
            "mu_max": self.mu_max,
            "scoring": self.scoring,
            **columns,
            "features": [features.tolist() for features in self.features],
            "curves": [self.curve(i) for i in range(len(self))],
        }

    def to_frame(self, curves: bool = False) -> Any:
        """Return a pandas data frame.

        Parameters
        ----------
        curves : bool, default=False
            One row per iteration of each model instead of one row per model.

        Returns
        -------
        pandas.DataFrame
            The path.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import gbfs_path
        >>> X, y = load_diabetes(return_X_y=True)
        >>> gbfs_path(X, y, n_mus=3, eps=0.01, max_iter=50).to_frame()[["n_features", "price"]]
           n_features  price
        0           0    0.0
        1           2    2.0
        2           8    8.0
        """
        import pandas as pd

        if not curves:
            frame = pd.DataFrame(self._columns())
            frame["features"] = self.features
            return frame
        parts = [pd.DataFrame(self.curve(i)).assign(**{self.parameter: v}) for i, v in enumerate(self.values)]
        frame = pd.concat(parts, ignore_index=True)
        return frame[[self.parameter, *(c for c in frame if c != self.parameter)]]

    def _columns(self) -> dict[str, NDArray[Any]]:
        names = [
            "n_features",
            "price",
            "best_iteration",
            "train_loss",
            "validation_loss",
            "train_score",
            "validation_score",
        ]
        return {self.parameter: self.values} | {name: getattr(self, name) for name in names}

    def plot(self, **options: Any) -> Any:
        """Draw loss or score against the number or price of features.

        Parameters
        ----------
        **options
            Passed to :meth:`~frugalboost.plotting.SelectionPathDisplay.from_path`.

        Returns
        -------
        SelectionPathDisplay
            With ``ax_`` and ``figure_``.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import gbfs_path
        >>> X, y = load_diabetes(return_X_y=True)
        >>> display = gbfs_path(X, y, n_mus=3, max_iter=10).plot()
        """
        from frugalboost.plotting import SelectionPathDisplay

        return SelectionPathDisplay.from_path(self, **options)


@validate_params(  # type: ignore[untyped-decorator]
    {
        "mus": ["array-like", None],
        "n_mus": [Interval(Integral, 1, None, closed="left")],
        "eps": [Interval(Real, 0, 1, closed="neither")],
        "n_features_to_select": ["array-like", None],
        "scoring": [str, callable, None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    },
    prefer_skip_nested_validation=True,
)
def gbfs_path(
    X: Any,
    y: ArrayLike | None = None,
    *,
    estimator: GBFSBase | None = None,
    mus: ArrayLike | None = None,
    n_mus: int = 20,
    eps: float = 1e-3,
    n_features_to_select: Sequence[int] | None = None,
    sample_weight: ArrayLike | None = None,
    X_val: Any = None,
    y_val: ArrayLike | None = None,
    sample_weight_val: ArrayLike | None = None,
    scoring: str | Callable[..., float] | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    **params: Any,
) -> SelectionPath:
    """Fit a model for each mu, from the mu at which nothing is bought down; or for each number of features.

    The table is binned once and shared; fits run side by side.

    Parameters
    ----------
    X, y : array-like or data frame, array-like
        As for the estimators.
    estimator : GBFSClassifier, GBFSRegressor or None, default=None
        Settings of all fits. None: a regressor where y holds fractions, or floats of more than
        20 values, else a classifier.
    mus : array-like or None, default=None
        Values of mu, in the estimator's ``mu_unit``. None: ``n_mus`` values from mu_max down to ``eps * mu_max``, each
        the same factor smaller.
    n_mus : int, default=20
        How many.
    eps : float, default=1e-3
        The smallest mu as a share of mu_max.
    n_features_to_select : sequence of int or None, default=None
        Numbers of features instead of mus: buy many, then sell the weakest back, and keep a model of each size.
    sample_weight, X_val, y_val, sample_weight_val : default=None
        As for ``fit`` of the estimators.
    scoring : str, callable or None, default=None
        Any scorer of scikit-learn; None is the estimator's own, accuracy or R2.
    n_jobs : int or None, default=None
        Threads; None means all cores. The models do not depend on it.
    verbose : int, default=0
        1 shows a line of progress.
    **params
        Parameters of the estimator, such as ``max_iter``.

    Returns
    -------
    SelectionPath
        The models with their losses and scores.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from frugalboost import gbfs_path
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> path = gbfs_path(X, y, n_mus=5, max_iter=50)
    >>> path.n_features
    array([ 0,  1,  3,  7, 14])
    """
    if estimator is None and (y is None or isinstance(y, str)):
        raise ValueError(
            "X is read from files or comes in batches: say which kind of model is wanted, estimator=GBFSClassifier() "
            "or GBFSRegressor()."
        )
    model = make_estimator(estimator, y, params)
    if mus is not None and n_features_to_select is not None:
        raise ValueError("mus and n_features_to_select can't both be followed: give one of them.")
    checked = model._checked(X, y, sample_weight, X_val, y_val, sample_weight_val)
    threads = threads_for(n_jobs)
    course = Course(model, checked, threads)
    path = course.by_number(n_features_to_select, verbose) if n_features_to_select is not None else None
    if path is None:
        path = course.by_mu(mu_grid(course.mu_max, n_mus, eps) if mus is None else check_mus(mus), verbose)
    rows, held = checked.train, checked.validation
    weighted = sample_weight is not None or (y is None and rows.weights is not None)  # batches bring their own
    weighted_validation = sample_weight_val is not None or (
        held is not None and y_val is None and held.weights is not None
    )
    return course.scored(path, scoring, weighted, weighted_validation)


def make_estimator(estimator: GBFSBase | None, y: Any, params: dict[str, Any]) -> GBFSBase:
    """Return a fresh estimator with checked parameters; its kind follows from y where none is given."""
    if estimator is None:
        estimator = GBFSRegressor() if _looks_continuous(y) else GBFSClassifier()
    elif not isinstance(estimator, GBFSBase):
        raise TypeError(f"estimator must be a GBFSClassifier or GBFSRegressor, not {type(estimator).__name__}.")
    model: GBFSBase = clone(estimator).set_params(**params, warm_start=False)
    model._validate_params()
    if model.n_features_to_select is not None:
        raise ValueError(
            "n_features_to_select of the estimator does not go with a path, a search or subsamples: give it to "
            "gbfs_path or to the CV class itself."
        )
    return model


def _looks_continuous(y: ArrayLike) -> bool:
    """Fractions, or floats of more than 20 values, which are hardly class labels."""
    values = np.asarray(y)
    if type_of_target(values, input_name="y").startswith("continuous"):
        return True
    return values.dtype.kind == "f" and len(np.unique(values)) > 20


def mu_grid(mu_max: float, n_mus: int, eps: float) -> Floats:
    """Values of mu from mu_max down, each the same factor smaller; only zero where nothing gains anything."""
    if not mu_max > 0:
        return np.zeros(1)
    return mu_max * np.geomspace(1.0, eps, n_mus) if n_mus > 1 else np.array([mu_max])


def check_mus(mus: ArrayLike) -> Floats:
    """Return values of mu, falling; ValueError where one is negative or no number."""
    values = np.unique(np.asarray(mus, dtype=np.float64).ravel())[::-1]
    if not len(values) or not (values >= 0).all():
        raise ValueError(f"mus must be a list of numbers that are zero or positive, not {mus!r}.")
    return values


def check_numbers(numbers: Any) -> list[int]:
    """Return numbers of features, rising; ValueError where one is no whole number or negative."""
    values = np.unique(np.asarray(numbers).ravel())
    if not len(values) or values.dtype.kind not in "iu" or values.min() < 0:
        raise ValueError(f"n_features_to_select must be whole numbers from 0 on, not {numbers!r}.")
    return [int(v) for v in values]


class Course:
    """One binned table and the fits on it that a path is made of."""

    def __init__(self, template: GBFSBase, checked: Checked, threads: int) -> None:
        self.template, self.threads = template, threads
        self.job = replace(template._job(checked.loss, checked.outputs), threads=threads)
        self.prepared = fitting.prepare(self.job, checked.train, checked.validation)
        self._rows = checked.train

    @cached_property
    def seen(self) -> Seen:
        """What the rows are known by."""
        return seen_of(self._rows)

    @property
    def task(self) -> Task:
        """What is fitted, at the template's mu."""
        return self.prepared.task

    @cached_property
    def mu_max(self) -> float:
        """The smallest mu at which nothing is bought: known after one iteration."""
        first = replace(self.task, params=replace(self.task.params, max_iter=1, early_stopping=False))
        return boost(first, None, None, self.threads).mu_max

    def outcomes(
        self, parameter: str, values: Iterable[Any], check: Check | None, threads: int, max_iter: int | None = None
    ) -> list[Outcome]:
        """Fit for each mu one after another, or sell back to each number of features."""
        task = self.task
        if max_iter is not None:
            task = replace(task, params=replace(task.params, max_iter=int(max_iter)))
        if parameter == "mu":
            return [self._fit_at(task, float(mu), check, threads) for mu in values]
        numbers = [int(k) for k in values]
        sold = selection.sell_back(task, numbers, self.job.folds_seed, self.job.last, check, threads)
        return [sold[k] for k in numbers]

    def _fit_at(self, task: Task, mu: float, check: Check | None, threads: int) -> Outcome:
        task = replace(task, params=replace(task.params, mu=mu))
        return selection.forward(task, self.job.refit, self.job.last, check, threads)

    def by_mu(self, mus: Floats, verbose: int) -> SelectionPath:
        """Fit for each mu side by side; the smallest, which take longest, begin."""
        works = [partial(self._fit_at, self.task, float(mu)) for mu in mus[::-1]]
        return self.path_of("mu", mus, side_by_side(works, self.threads, bool(verbose))[::-1])

    def by_number(self, numbers: Any, verbose: int) -> SelectionPath:
        """Buy many features, then sell them back."""
        ks = check_numbers(numbers)
        tell = SellingLine() if verbose else None
        sold = selection.sell_back(self.task, ks, self.job.folds_seed, self.job.last, None, self.threads, tell)
        return self.path_of("n_features_to_select", np.array(ks), [sold[k] for k in ks])

    def path_of(self, parameter: str, values: NDArray[Any], outcomes: Sequence[Outcome]) -> SelectionPath:
        """A path of fitted estimators, without scores."""
        estimators = tuple(self.fitted(o, **{parameter: v.item()}) for o, v in zip(outcomes, values, strict=True))
        none = np.full(len(estimators), np.nan)
        return SelectionPath(parameter, values, outcomes[0].model.mu_max, estimators, none, none, "")

    def fitted(self, outcome: Outcome, **params: Any) -> GBFSBase:
        """A fitted estimator that holds a model."""
        return self.template._holding(outcome, self.prepared.seed, self.seen, **params)

    def scored(self, path: SelectionPath, scoring: Any, weighted: bool, weighted_validation: bool) -> SelectionPath:
        """The same path with scores on the training and on the validation rows."""
        scorer = Scorer(check_scoring(self.template, scoring=scoring))
        # Weights of classes are for the fit, not for the score.
        weighted = weighted and getattr(self.template, "class_weight", None) is None
        none = np.full(len(path), np.nan)
        train, validation = self.task.train, self.task.validation
        on_train = [scorer.on_rows(model, train, weighted) for model in path.estimators]
        on_validation = none
        if validation is not None:
            scores = [scorer.on_rows(model, validation, weighted or weighted_validation) for model in path.estimators]
            on_validation = np.array(scores)
        name = score_name(self.template, scoring)
        return replace(path, train_score=np.array(on_train), validation_score=on_validation, scoring=name)


def score_name(estimator: GBFSBase, scoring: Any) -> str:
    """What a score is called in tables and figures."""
    if scoring is None:
        return "accuracy" if is_classifier(estimator) else "R²"
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
