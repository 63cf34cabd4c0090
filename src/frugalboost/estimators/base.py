"""What classifier and regressor share: settings, one fit, files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted

import frugalboost.estimators.saving as saving
from frugalboost import _core
from frugalboost._support.threads import threads_for
from frugalboost.costs import Cost, Costs
from frugalboost.estimators.explaining import ExplainingMixin
from frugalboost.estimators.fitted import publish, warn_if_nothing_bought, warn_of_selection
from frugalboost.estimators.made_of import MadeOfMixin
from frugalboost.estimators.notebook import NotebookMixin
from frugalboost.estimators.predicting import PredictingMixin
from frugalboost.estimators.selector import Selector
from frugalboost.estimators.watching import watch_of
from frugalboost.losses import BuiltIn, Loss, has_values, resolve_loss
from frugalboost.selection.final_fit import FitResult
from frugalboost.selection.fit import fit as fit_task
from frugalboost.tables import Table
from frugalboost.tables.by_name import known_columns
from frugalboost.tables.reading import read_table
from frugalboost.tables.sample import Checksums, Sample
from frugalboost.tables.sources import IteratedBatches, as_batches
from frugalboost.tables.targets import check_weights
from frugalboost.training.constraints import Constraints
from frugalboost.training.params import Params
from frugalboost.training.set_aside import DRAW
from frugalboost.training.task import FitTask
from frugalboost.training.warm_start import WarmStart

Floats = NDArray[np.float64]


@contextmanager
def unchanged_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """After bad input or Ctrl-C, restore the estimator as it was before."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


class GBFSBase(NotebookMixin, ExplainingMixin, MadeOfMixin, PredictingMixin, Selector, BaseEstimator):  # type: ignore[misc]
    """What classifier and regressor share."""

    # Written by tools/write_signatures from training/parameters.py.
    mu: float
    mu_unit: str
    costs: Costs
    budget: float | None
    learning_rate: float
    max_iter: int
    max_depth: int | None
    max_leaf_nodes: int | None
    base: str
    line_scale: str
    min_samples_leaf: float
    l2_regularization: float
    max_bins: int
    categorical_features: Any
    monotonic_cst: Any
    interaction_cst: Any
    bins_folder: str | os.PathLike[str] | None
    loss: str | BuiltIn | Loss
    leaf_values: str
    init: str
    stop: str
    screening: str
    new_features: float | str
    subsample: float
    max_features: float | int | str | None
    n_features_to_select: int | None
    fewer: bool
    refit: bool | str
    average: int
    early_stopping: bool
    scoring: str | Callable[..., float] | None
    callbacks: Sequence[Callable[..., Any]] | None
    validation_fraction: float
    n_iter_no_change: int
    tol: float
    warm_start: bool
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    device: str
    verbose: int
    # End of what tools/write_signatures wrote.

    _fitted_on: Checksums | None  # None: the model comes from a file of an earlier version
    _forms: dict[str, dict[str, Any]] | None  # how the recipe has read columns; None: it has converted none
    _losses: ClassVar[dict[str, type[BuiltIn]]]  # the built-in losses for this kind of target
    _warm_start: WarmStart  # what a continued fit needs

    def _store(self, arguments: dict[str, Any]) -> None:
        """Set every parameter of ``__init__``, untouched, as scikit-learn wants it."""
        for name in self._get_param_names():
            setattr(self, name, arguments[name])

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Pickles of earlier versions lack later parameters, which then have their defaults."""
        known = signature(type(self).__init__).parameters.values()
        defaults = {p.name: p.default for p in known if p.default is not p.empty}
        super().__setstate__({**defaults, **state})

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
        if inside:  # price objects are immutable, so a changed copy replaces them
            if not isinstance(costs, Cost):
                raise ValueError(f"costs={costs!r} has no parameters to set.")
            unknown = sorted(set(inside) - set(costs.get_params()))
            if unknown:
                raise ValueError(
                    f"{costs!r} has no parameter {unknown[0]!r}. To change a term of a sum, replace the whole object: "
                    "{'costs': [..., ...]}."
                )
            params["costs"] = costs.replaced(**inside)
        super().set_params(**params)
        return self

    # ------------------------------------------------------------------------------------------ fitting

    def _checked(
        self,
        X: Any,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> tuple[Sample, Sample | None]:
        """Check training and validation rows, once."""
        raise NotImplementedError

    def _sample(self, X: Table, y: Any, sample_weight: Any, part: _core.ThreadPart | None = None) -> Sample:
        """Training rows with checked targets and weights. ``part``: other parts of the table have more rows."""
        raise NotImplementedError

    def _encoded_target(self, y: Any) -> Floats:
        raise NotImplementedError

    @property
    def _outputs(self) -> int:
        """Trees in one iteration."""
        return 1

    @property
    def _loss(self) -> BuiltIn | Loss:
        return resolve_loss(self.loss, self._losses)

    def _validation_sample(self, X_val: Any, y_val: Any, sample_weight_val: Any) -> Sample | None:
        in_batches = (
            X_val is not None and y_val is None and isinstance(as_batches(X_val, for_fit=False), IteratedBatches)
        )
        if (X_val is None) != (y_val is None) and not in_batches:
            raise ValueError("X_val and y_val belong together: give both, or give neither.")
        if X_val is None:
            if sample_weight_val is not None:
                raise ValueError("sample_weight_val is given without X_val and y_val.")
            return None
        X_val = known_columns(self, X_val)
        return self._validation_rows(*read_table(self, X_val, y_val, sample_weight_val, reset=False, what="X_val"))

    def _validation_rows(self, X: Table, y: Any, weights: Any, part: _core.ThreadPart | None = None) -> Sample:
        check_consistent_length(X, y)
        try:
            target = self._encoded_target(y) if part is None or len(y) else np.zeros(0)  # of a part without rows
        except (TypeError, ValueError) as error:
            raise type(error)(f"y_val: {error}") from None
        return Sample(X, target, check_weights(weights, X, "sample_weight_val", part))

    def _fit_checked(self, train: Sample, validation: Sample | None = None) -> Self:
        warm = getattr(self, "_warm_start", None) if self.warm_start else None
        task, threads = self._task(train, validation), threads_for(self.n_jobs)
        result, self._warm_start = fit_task(task, threads, warm, bool(self.verbose), watch_of(self))
        publish(self, result)
        self._fitted_on, self._forms = train.checksums(), None
        warn_if_nothing_bought(self, weighted=train.weights is not None)
        warn_of_selection(self, result)
        return self

    def _checked_rows(self, rows: Sample) -> Sample:
        """Check rows; they keep their groups and times."""
        return self._checked(rows.X, rows.y, rows.weights)[0].tied_as(rows)

    def _fit_rows(self, rows: Sample) -> Self:
        """Fit as ``fit`` does, on rows that may have groups and times: folds of the fit keep to them."""
        with unchanged_on_error(self):
            return self._fit_checked(self._checked_rows(rows))

    def _task(self, train: Sample, validation: Sample | None = None) -> FitTask:
        """The fit that these settings describe, on checked rows."""
        loss = self._loss
        if self.early_stopping and self.scoring is None and not has_values(loss):
            raise ValueError(
                "early_stopping=True needs the loss of every row: give your loss a method 'value', or set scoring."
            )
        if self.warm_start and (self.n_features_to_select is not None or self.refit):
            raise ValueError(
                "warm_start=True can't continue a model that was refitted on its chosen features alone: leave out "
                "n_features_to_select and refit, or warm_start."
            )
        return FitTask(
            train,
            validation,
            loss,
            self._outputs,
            self._costs(),
            Params.from_estimator(self),
            budget=np.inf if self.budget is None else float(self.budget),
            constraints=self._constraints(train.table.vocabulary),
            names=self._names(),
            classes=isinstance(self, ClassifierMixin),
        )

    def _constraints(self, categorical: Collection[int] = ()) -> Constraints:
        found = Constraints.resolve(
            self.monotonic_cst, self.interaction_cst, self.n_features_in_, self._names(), categorical
        )
        if found.trends and self._outputs > 1:
            raise ValueError(self._no_common_trend())
        return found

    def _no_common_trend(self) -> str:
        """Why there can't be a ``monotonic_cst``."""
        return (
            f"monotonic_cst is for two classes, whose probabilities rise and fall together; y has {self._outputs}. "
            "Leave it out, or fit one class against the others."
        )

    def _like(self, **params: Any) -> Self:
        """An unfitted copy that knows the table of this estimator."""
        copy: Self = clone(self).set_params(**params)
        for name in ("n_features_in_", "feature_names_in_", "categories_", "classes_", "n_outputs_"):
            if hasattr(self, name):
                setattr(copy, name, getattr(self, name))
        return copy

    def _with_model(self, result: FitResult, seed: int | None, fitted_on: Checksums | None, **params: Any) -> Self:
        """A fitted copy with another model. ``seed`` decided which rows were set aside."""
        copy = self._like(**params)
        copy._fitted_on = fitted_on
        copy._warm_start = WarmStart(
            result.model,
            self._loss,
            self._names(),
            seed,
            paid_by_row=copy._costs().row_prices is not None,
            constraints=copy._constraints(),
            draw=DRAW,
        )
        publish(copy, result)
        return copy

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    # ------------------------------------------------------------------------------------------ on disk

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file: arrays and JSON, no code.

        The file is replaced in one step, so that at any time it is the complete old one or the complete new one.
        Settings of a machine (``n_jobs``, ``device``, ``verbose``, ``bins_folder``, ``screening``) are not saved.

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
        saving.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, loss: Any = None) -> Self:
        """Read a model that ``save`` wrote. Nothing in the file is run.

        Settings of a machine (``n_jobs``, ``device``, ``verbose``, ``bins_folder``, ``screening``) are never taken
        from a file: the model has the defaults.

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
        estimator: Self = saving.load_as(cls, path, loss=loss)
        return estimator
