"""The whole trade-off: one model for each mu, or for each number of features, from one binned table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, validate_params

from frugalboost._support.slots import plot_path
from frugalboost.estimators.base import GBFSBase
from frugalboost.estimators.notebook import html_table
from frugalboost.estimators.template import make_template, path_fitter
from frugalboost.selection.concordance import NoPairsError
from frugalboost.selection.final_fit import FitResult
from frugalboost.selection.path import PathFitter, check_mus, check_numbers, mu_grid
from frugalboost.selection.scoring import Scorer, score_name, scorer_of
from frugalboost.tables.sample import Checksums, Sample
from frugalboost.tables.targets import check_groups
from frugalboost.training.task import FitTask

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
        How many features each model uses, and their total cost.
    best_iteration : ndarray
        How many iterations each model keeps.
    train_loss, validation_loss : ndarray
        Mean losses at that iteration; NaN without validation rows.
    train_score, validation_score : ndarray
        Scores by ``scoring``, higher is better; NaN without validation rows, and where rows have no score: those of a
        model of survival of which no two can be compared.
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
        """The total cost of the features of each model."""
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
        """Names of all columns, or their numbers if the table has no names."""
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
            Only among models with at most this number of features,
        most_price : float, default=inf
            and at most this total cost.

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
                f"No model of this path has at most {most_features:g} features and a cost of at most {most_price:g}."
            )
        loss = self.validation_loss if not np.isnan(self.validation_loss).any() else self.train_loss
        if np.isnan(loss).any():
            raise ValueError("The losses of this path's models are not known: give your loss a method 'value'.")
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
        """Draw loss or score against the number or the cost of features.

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
        return plot_path(self, **options)


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
    groups: ArrayLike | None = None,
    X_val: Any = None,
    y_val: ArrayLike | None = None,
    sample_weight_val: ArrayLike | None = None,
    scoring: str | Callable[..., float] | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    **params: Any,
) -> SelectionPath:
    """Fit a model for each mu, starting from the mu at which nothing is bought, or for each number of features.

    The table is binned once and shared; fits run side by side.

    Parameters
    ----------
    X, y : array-like or data frame, array-like
        As for the estimators.
    estimator : GBFSClassifier, GBFSRegressor, GBFSSurvival or None, default=None
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
    groups : array-like of shape (n_samples,), default=None
        Rows of a group share a fold, where folds choose among features or base learners.
    scoring : str, callable or None, default=None
        Any scorer of scikit-learn; for survival "concordance" or a function of your own. None is the estimator's own:
        accuracy, R2 or concordance, which is NaN for rows of which no two can be compared.
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
            "X is read from files or comes in batches, so the kind of model can't be guessed. Pass "
            "estimator=GBFSClassifier() or estimator=GBFSRegressor()."
        )
    template = make_template(estimator, y, params)
    if mus is not None and n_features_to_select is not None:
        raise ValueError("mus and n_features_to_select can't be used together: give one of them.")
    scorer = scorer_of(template, scoring)  # a wrong name is told before anything is fitted
    train, validation = template._checked(X, y, sample_weight, X_val, y_val, sample_weight_val)
    train = replace(train, groups=check_groups(groups, train.y))
    fitter = path_fitter(template, train, validation, n_jobs)
    parameter = "mu" if n_features_to_select is None else "n_features_to_select"
    values: NDArray[Any]
    if n_features_to_select is not None:
        numbers = check_numbers(n_features_to_select)
        values, results = np.array(numbers), fitter.by_number(numbers, verbose)
    else:
        values = mu_grid(fitter.mu_max, n_mus, eps) if mus is None else check_mus(mus)
        results = fitter.by_mu(values, verbose)
    path = _path_of(template, fitter, results, values, parameter, train.checksums())
    weighted = sample_weight is not None or (y is None and train.weights is not None)  # batches have their own
    weighted_validation = sample_weight_val is not None or (
        validation is not None and y_val is None and validation.weights is not None
    )
    name = score_name(template, scoring)
    return _scored(replace(path, scoring=name), template, fitter.task, scorer, weighted, weighted_validation)


def _path_of(
    template: GBFSBase,
    fitter: PathFitter,
    results: Sequence[FitResult],
    values: NDArray[Any],
    parameter: str,
    fitted_on: Checksums,
) -> SelectionPath:
    """A path of fitted estimators, without scores."""
    seed = fitter.task.params.validation_seed
    estimators = tuple(
        template._with_model(result, seed, fitted_on, **{parameter: value.item()})
        for result, value in zip(results, values, strict=True)
    )
    unknown = np.full(len(estimators), np.nan)
    return SelectionPath(parameter, values, results[0].model.mu_max, estimators, unknown, unknown, "")


def _scored(
    path: SelectionPath, template: GBFSBase, task: FitTask, scorer: Scorer, weighted: bool, weighted_validation: bool
) -> SelectionPath:
    """The same path with scores on the training and on the validation rows."""
    # Class weights are used in the fit, not in the score.
    weighted = weighted and getattr(template, "class_weight", None) is None
    on_train = [_score(scorer, model, task.train, weighted) for model in path.estimators]
    on_validation = path.validation_score
    if task.validation is not None:
        by_weight = weighted or weighted_validation
        on_validation = np.array([_score(scorer, m, task.validation, by_weight) for m in path.estimators])
    return replace(path, train_score=np.array(on_train), validation_score=on_validation)


def _score(scorer: Scorer, model: GBFSBase, rows: Sample, weighted: bool) -> float:
    """A score; NaN where there is none, which chance may bring about where events are few."""
    try:
        return scorer.on_checked(model, rows, weighted)
    except NoPairsError:
        return float("nan")
