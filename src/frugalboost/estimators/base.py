"""What classifier and regressor share: settings, one fit, fitted attributes, raw predictions, files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from frugalboost import _core
from frugalboost._support.threads import threads_for
from frugalboost.costs import Cost, Costs, Resolved, resolve
from frugalboost.estimators.notebook import Shown
from frugalboost.estimators.selector import Selector
from frugalboost.files import persistence
from frugalboost.losses import BuiltIn, Loss, has_values, resolve_loss
from frugalboost.selection import backward as selection
from frugalboost.selection.backward import Outcome
from frugalboost.tables import Levels, Table
from frugalboost.tables.batched import Batched
from frugalboost.tables.checking import check_X
from frugalboost.tables.checksum import Seen, seen_of
from frugalboost.tables.reading import Targets, read_table
from frugalboost.tables.sample import Rows
from frugalboost.tables.sources import Iterated, as_batches
from frugalboost.tables.targets import check_weights
from frugalboost.training import fit as fitting
from frugalboost.training.params import Params

Floats = NDArray[np.float64]


class NothingBoughtWarning(UserWarning):
    """No feature was worth its price: the model is a constant.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor, NothingBoughtWarning
    >>> X, y = load_diabetes(return_X_y=True)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = GBFSRegressor(mu=1.0).fit(X, y)
    >>> caught[0].category is NothingBoughtWarning, model.n_features_selected_
    (True, 0)
    """


class WeakSelectionWarning(UserWarning):
    """The features selected predict no better than a constant on rows that took no part in choosing them.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from frugalboost import GBFSRegressor, WeakSelectionWarning
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 5)), rng.normal(size=60)  # there is nothing to be found
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = GBFSRegressor(n_features_to_select=2, max_iter=20).fit(X, y)
    >>> caught[0].category is WeakSelectionWarning
    True
    """


@contextmanager
def unchanged_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """Bad input, or Ctrl-C, leaves an estimator as it was."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


@dataclass(frozen=True)
class Checked:
    """What fit was given, checked and turned into what the core reads."""

    train: Rows
    validation: Rows | None
    loss: BuiltIn | Loss
    outputs: int


class GBFSBase(Shown, Selector, BaseEstimator):  # type: ignore[misc]
    """What classifier and regressor share."""

    mu: float
    mu_unit: str
    costs: Costs
    budget: float | None
    learning_rate: float
    max_iter: int
    max_depth: int | None
    min_samples_leaf: float
    l2_regularization: float
    max_bins: int
    categorical_features: Any
    bins_folder: str | os.PathLike[str] | None
    loss: str | BuiltIn | Loss
    leaf_values: str
    init: str
    stop: str
    screening: str
    new_features: float | str
    n_features_to_select: int | None
    refit: bool | str
    average: int
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    tol: float
    warm_start: bool
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    verbose: int

    _fitted_on: Seen | None  # None: the model comes from a file of an earlier version
    _losses: ClassVar[dict[str, type[BuiltIn]]]  # the built-in losses for this kind of target

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "mu": [Interval(Real, 0, None, closed="left")],
        "mu_unit": [StrOptions({"share", "absolute"})],
        "costs": ["array-like", HasMethods("items"), Cost, callable, None],
        "budget": [Interval(Real, 0, None, closed="both"), None],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_leaf": [Interval(Real, 0, None, closed="neither")],
        "l2_regularization": [Interval(Real, 0, None, closed="left")],
        "max_bins": [Interval(Integral, 2, 255, closed="both")],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "bins_folder": [str, os.PathLike, None],
        "leaf_values": [StrOptions({"newton", "gradient"})],
        "init": [StrOptions({"prior", "zero"})],
        "stop": [StrOptions({"paid", "never"})],
        "screening": [StrOptions({"auto", "exact", "off"})],
        "new_features": [StrOptions({"all", "auto"}), Interval(Real, 0, 1, closed="right")],
        "loss": [str, BuiltIn, HasMethods(["gradient", "curvature"])],
        "n_features_to_select": [Interval(Integral, 0, None, closed="left"), None],
        "refit": ["boolean", StrOptions({"auto"})],
        "average": [Interval(Integral, 1, None, closed="left")],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def _store(self, arguments: dict[str, Any]) -> None:
        """Set every parameter of ``__init__``, untouched, as scikit-learn wants it."""
        for name in self._get_param_names():
            setattr(self, name, arguments[name])

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of price objects: ``set_params(costs__discount=0.3)``.

        Parameters
        ----------
        **params
            By name.

        Returns
        -------
        self
            The estimator.

        Examples
        --------
        >>> from frugalboost import GBFSClassifier
        >>> from frugalboost.costs import Neighbours
        >>> GBFSClassifier(costs=Neighbours((8, 8))).set_params(costs__discount=0.3).costs
        Neighbours(graph=(8, 8), discount=0.3)
        """
        inside = {k.removeprefix("costs__"): params.pop(k) for k in list(params) if k.startswith("costs__")}
        costs = params.get("costs", self.costs)
        if inside:  # price objects are immutable: a changed copy takes the place
            if not isinstance(costs, Cost):
                raise ValueError(f"costs={costs!r} has no parameters of its own to set.")
            unknown = sorted(set(inside) - set(costs.get_params()))
            if unknown:
                raise ValueError(
                    f"{costs!r} has no parameter {unknown[0]!r}. To vary a part of a sum, vary the whole object: "
                    "{'costs': [..., ...]}."
                )
            params["costs"] = costs.replaced(**inside)
        super().set_params(**params)
        return self

    # ------------------------------------------------------------------------------------------ fitting

    def _encoded_target(self, y: Any) -> Floats:
        raise NotImplementedError

    def _validation_rows(self, X_val: Any, y_val: Any, sample_weight_val: Any) -> Rows | None:
        in_batches = X_val is not None and y_val is None and isinstance(as_batches(X_val, for_fit=False), Iterated)
        if (X_val is None) != (y_val is None) and not in_batches:
            raise ValueError("X_val and y_val belong together: give both or neither.")
        if X_val is None:
            if sample_weight_val is not None:
                raise ValueError("sample_weight_val is given without X_val and y_val.")
            return None
        X_val, y_val, weights = read_table(self, X_val, y_val, sample_weight_val, reset=False, what="X_val")
        check_consistent_length(X_val, y_val)
        try:
            target = self._encoded_target(y_val)
        except ValueError as error:
            raise ValueError(f"y_val: {error}") from None
        return Rows(X_val, target, check_weights(weights, X_val, "sample_weight_val"))

    def _fit_checked(self, checked: Checked) -> Self:
        memory = getattr(self, "_memory", None) if self.warm_start else None
        job = self._job(checked.loss, checked.outputs)
        outcome, self._memory = fitting.run(job, checked.train, checked.validation, memory)
        self._publish(outcome)
        self._fitted_on = seen_of(checked.train)
        self._warn_if_nothing_bought(weighted=checked.train.weights is not None)
        self._warn_of_selection(outcome)
        return self

    def _job(self, loss: BuiltIn | Loss, outputs: int) -> fitting.Job:
        if self.early_stopping and not has_values(loss):
            raise ValueError("early_stopping=True needs the loss of every row: give your loss a method 'value'.")
        if self.warm_start and (self.n_features_to_select is not None or self.refit):
            raise ValueError(
                "warm_start=True can't go on from a model that was refitted on its chosen features alone: "
                "leave out n_features_to_select and refit, or warm_start."
            )
        names = self._names()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1)) if self.early_stopping else None
        folds_seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        return fitting.Job(
            params=Params.of(self, folds_seed),
            loss=loss,
            outputs=outputs,
            names=names,
            costs=self._costs(),
            budget=np.inf if self.budget is None else float(self.budget),
            max_bins=int(self.max_bins),
            bins_folder=self._checked_folder(),
            validation_fraction=float(self.validation_fraction),
            stratify=isinstance(self, ClassifierMixin),
            seed=seed,
            folds_seed=folds_seed,
            number=None if self.n_features_to_select is None else int(self.n_features_to_select),
            refit=self.refit,
            last=selection.Last(int(self.average), folds_seed),
            remember=bool(self.warm_start),
            verbose=bool(self.verbose),
            threads=threads_for(self.n_jobs),
        )

    def _checked_folder(self) -> str | None:
        if self.bins_folder is None:
            return None
        folder = os.fspath(self.bins_folder)
        if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
            raise ValueError(f"bins_folder={folder!r} is not a folder that can be written to.")
        return folder

    def _like(self, **params: Any) -> Self:
        """An unfitted copy that knows the table which this one has checked."""
        copy: Self = clone(self).set_params(**params)
        for name in ("n_features_in_", "feature_names_in_", "categories_", "classes_"):
            if hasattr(self, name):
                setattr(copy, name, getattr(self, name))
        return copy

    def _holding(self, outcome: Outcome, seed: int | None, seen: Seen, **params: Any) -> Self:
        """A fitted copy that holds a model."""
        copy = self._like(**params)
        copy._fitted_on = seen
        copy._memory = fitting.Memory(outcome.model, self._loss, self._names(), seed)
        copy._publish(outcome)
        return copy

    def _names(self) -> tuple[str, ...] | None:
        return tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None

    def _publish(self, outcome: Outcome) -> None:
        """Set the fitted attributes; Omega is the one at the best iteration."""
        model = outcome.model
        self.refit_scores_, self.selling_ = outcome.scores, outcome.selling
        best = model.best_iteration
        bought = model.purchases
        self._model = model
        self.n_iter_ = model.n_iterations
        self.best_iteration_ = best
        self.stop_reason_ = model.ending
        self.mu_ = float(self.mu)
        self.mu_max_ = model.mu_max
        self.selected_features_ = model.bought_until(best).astype(np.intp)
        self.n_features_selected_ = len(self.selected_features_)
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[self.selected_features_] = True
        self.total_cost_ = float(model.curve.cost[best])
        self.prediction_cost_ = float(model.curve.prediction_cost[best])
        self.cost_unit_ = self.costs.unit if isinstance(self.costs, Cost) else None
        self.feature_importances_ = model.ensemble.gain_shares(self.n_features_in_, best)
        order = np.argsort(bought.iteration, kind="stable")
        place = np.searchsorted(bought.iteration[order], np.arange(model.n_iterations + 2)).tolist()
        when = [order[begin:end] for begin, end in pairwise(place)]
        self.history_ = {
            "iteration": list(range(model.n_iterations + 1)),
            "train_loss": model.curve.train_loss.tolist(),
            "validation_loss": model.curve.validation_loss.tolist(),
            "n_features": model.curve.n_features.tolist(),
            "price_paid": model.curve.cost.tolist(),
            "prediction_price": model.curve.prediction_cost.tolist(),
            "bought": [bought.feature[w].tolist() for w in when],
            "raw_gain": [bought.gain[w].tolist() for w in when],
        }

    def _warn_if_nothing_bought(self, weighted: bool) -> None:
        trees = self._model.ensemble
        # Of the rows that the last tree was grown on; the mean of models that all stopped at once has no tree.
        total = float(trees.weight[trees.tree_begin[-2]]) if len(trees.tree_begin) > 1 else np.inf
        if total < 2 * self.min_samples_leaf:
            what = "of total weight is" if weighted else "rows are"
            remedy = "Lower it, or bring more rows"
            if weighted:
                remedy = "Rescale sample_weight, or lower it (fractions are allowed)"
            message = (
                f"No split is possible: {total:g} {what} less than two leaves of "
                f"min_samples_leaf={self.min_samples_leaf}. {remedy}."
            )
        elif self.n_features_to_select == 0:
            message = "n_features_to_select=0, so the model is a constant."
        elif self.best_iteration_ == 0:
            message = (
                "No iteration was better on the validation rows than a constant, so the model is a constant and "
                "nothing is selected. Are the validation rows like the training rows?"
            )
        elif self.n_features_selected_ == 0 and self.mu_max_ == 0:
            message = (
                "No split gains anything, so the model is a constant: y is constant, or every feature that the prices "
                "and the budget allow is."
            )
        elif self.n_features_selected_ == 0:
            message = (
                f"No feature was worth its price, so the model is a constant: mu={self.mu:g} with mu_unit="
                f"{self.mu_unit!r}; from mu_max_={self.mu_max_:.4g} on nothing is bought. Lower mu"
                f"{'' if self.budget is None else ', or raise budget'}."
            )
        else:
            return
        category = NothingBoughtWarning if self.n_features_selected_ == 0 else UserWarning
        warnings.warn(message, category, stacklevel=5)  # the line that called fit

    def _warn_of_selection(self, outcome: Outcome) -> None:
        """Say where so many features could not be had, or are not worth having."""
        if self.n_features_to_select is None or self.n_features_selected_ == 0:
            return
        owned = self._costs().count(self.selected_features_)
        if owned < self.n_features_to_select:
            warnings.warn(
                f"n_features_to_select={self.n_features_to_select}, but only {owned} gain anything in the model, or "
                "can be had at these prices and this budget.",
                UserWarning,
                stacklevel=5,
            )
        if outcome.says_little:
            warnings.warn(
                "The features selected say little: on rows held out in the folds they predict no better than a "
                "constant, as far as can be told. See selling_.",
                WeakSelectionWarning,
                stacklevel=5,
            )

    def _costs(self) -> Resolved:
        return resolve(self.costs, self.n_features_in_, self._names())

    # --------------------------------------------------------------------------------------- predicting

    def _raw(self, X: Any) -> Floats:
        """Raw predictions: a vector, or one column per class for more than two classes."""
        check_is_fitted(self)
        batches = None if isinstance(X, Table) else as_batches(X, for_fit=False)
        if batches is not None:
            parts = [self._raw(batch.X) for batch in batches.read(self._columns_to_read())]
            if not parts:
                raise ValueError("X has no rows: there is nothing to predict from.")
            return np.concatenate(parts)
        table = check_X(self, X, reset=False)
        if isinstance(table, Batched):
            raw = np.empty((self._model.ensemble.n_outputs, len(table)))
            for piece, places in table.pieces("predicting"):
                raw[:, places] = self._raw_of(piece)
            return _by_rows(raw)
        return _by_rows(self._raw_of(table))

    def _raw_of(self, table: Table) -> Floats:
        values = table.source(self._model.levels)
        return self._model.ensemble.raw(values, self.best_iteration_, threads_for(self.n_jobs))

    def _targets_of(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
        """Targets and weights for a score, from where X comes from if they are there."""
        batches = as_batches(X, y, sample_weight)
        if batches is None:
            return y, sample_weight
        names = self._columns_to_read() if batches.can_choose_columns else None
        targets = Targets("X")
        for number, batch in enumerate(batches.read(names)):
            targets.add(number, batch)
        return targets.joined()

    def _columns_to_read(self) -> list[str] | None:
        """Names of the columns that predictions look at, where columns have names; at least one, to count rows."""
        names = self._names()
        return None if names is None else [n for n, s in zip(names, self.support_, strict=True) if s] or [names[0]]

    def _staged_raw(self, X: Any) -> Iterator[Floats]:
        check_is_fitted(self)
        values = self._values(X)
        for raw in self._model.ensemble.staged_raw(values, self.best_iteration_, threads_for(self.n_jobs)):
            yield _by_rows(raw.copy())

    def _values(self, X: Any) -> _core.Source:
        """A table's values as the trees look at them."""
        if not isinstance(X, Table) and as_batches(X, for_fit=False) is not None:
            raise TypeError("X is a file or comes in batches; this method needs a table in memory.")
        return check_X(self, X, reset=False).source(self._model.levels)

    @property
    def _levels(self) -> dict[int, Levels]:
        """Of each categorical feature its levels and their bins."""
        return dict(self._model.levels)

    @property
    def _loss(self) -> BuiltIn | Loss:
        return resolve_loss(self.loss, self._losses)

    def prediction_cost(self, X: Any) -> Floats:
        """Return what each row's prediction costs when a feature is fetched only once a tree looks at it.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The price, by the rules of ``costs``, of the features that the row's paths look at. Where a function sets
            prices, those that were paid in training are added.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = GBFSRegressor(max_iter=3, costs=[5.0] + [1.0] * 9).fit(X, y)
        >>> bool((model.prediction_cost(X) <= model.total_cost_).all())
        True
        """
        check_is_fitted(self)
        return self._model.path_prices(self._values(X), self._costs(), self.best_iteration_, threads_for(self.n_jobs))[
            0
        ]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    # ------------------------------------------------------------------------------------------ on disk

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file: arrays and JSON, nothing that runs.

        The file is written beside its place, brought to the disk and then moved there, so that at any time there is
        the old one or the new one, whole. How a fit is run on a machine (``n_jobs``, ``verbose``, ``bins_folder``,
        ``screening``) is left out.

        Parameters
        ----------
        path : str or path
            Where to write. An existing file is replaced; its mode is kept, and a link is followed.

        Examples
        --------
        >>> import tempfile, os
        >>> from sklearn.datasets import load_diabetes
        >>> import frugalboost
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = frugalboost.GBFSRegressor(max_iter=10).fit(X, y)
        >>> path = os.path.join(tempfile.mkdtemp(), "model.frugal")
        >>> model.save(path)
        >>> bool((frugalboost.load(path).predict(X) == model.predict(X)).all())
        True
        """
        check_is_fitted(self)
        persistence.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, loss: Any = None) -> Self:
        """Read a model that ``save`` wrote. Nothing in the file is run.

        How a fit is run on a machine (``n_jobs``, ``verbose``, ``bins_folder``, ``screening``) is not taken from a
        file, whatever it says: the model has the defaults.

        Parameters
        ----------
        path : str or path
            The file.
        loss : object, default=None
            The loss object, for a model that was fitted with one of your own; a file can't hold it.

        Returns
        -------
        estimator
            Fitted, as it was saved.

        Examples
        --------
        See :meth:`save`.
        """
        estimator: Self = persistence.load_as(cls, path, loss=loss)
        return estimator


def _by_rows(raw: Floats) -> Floats:
    """From one row per output to what users expect."""
    return raw[0] if len(raw) == 1 else np.ascontiguousarray(raw.T)
