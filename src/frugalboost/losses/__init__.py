"""Losses: by name, with their parameters, or written by the user.

The built-in losses are computed in the core; the objects here carry their parameters and the way from raw
predictions to predictions. A loss of your own is any object with these methods; ``value`` is optional, but
needed for the training loss and early stopping:

* ``start(y, sample_weight)``: the raw prediction that boosting starts from (one number per output);
* ``gradient(y, raw)`` and ``curvature(y, raw)``: first and second derivative of the loss with respect to the
  raw prediction, for every row; the curvature must not be negative;
* ``inverse_link(raw)``: from raw predictions to predictions;
* ``value(y, raw)``: the loss of every row.

With two classes ``y`` holds 0 and 1 and ``inverse_link`` gives the probability of the second. With K > 2 classes
``y`` holds 0 ... K-1 and raw predictions, derivatives and probabilities have shape (n_samples, K). With K columns of
numbers ``y`` has shape (n_samples, K) too, ``start`` gives K numbers, and ``value`` one number for each row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frugalboost import _core

Floats = NDArray[np.float64]


@runtime_checkable
class Loss(Protocol):
    """What a loss of your own must offer.

    Examples
    --------
    A loss whose gradient fades for large residuals (Cauchy's):

    >>> import numpy as np
    >>> from sklearn.datasets import make_regression
    >>> from frugalboost import GBFSRegressor
    >>> class Cauchy:
    ...     def start(self, y, sample_weight):
    ...         return np.median(y)
    ...     def gradient(self, y, raw):
    ...         r = raw - y
    ...         return r / (1 + r * r)
    ...     def curvature(self, y, raw):
    ...         r = raw - y
    ...         return 1 / (1 + r * r)
    ...     def inverse_link(self, raw):
    ...         return raw
    ...     def value(self, y, raw):
    ...         return 0.5 * np.log1p((raw - y) ** 2)
    >>> X, y = make_regression(200, 5, n_informative=2, random_state=0)
    >>> model = GBFSRegressor(loss=Cauchy(), max_iter=20).fit(X, y / y.std())
    >>> bool(model.history_["train_loss"][-1] < model.history_["train_loss"][0])
    True
    """

    def start(self, y: Floats, sample_weight: Floats) -> Any:
        """Return the raw prediction to start from."""

    def gradient(self, y: Floats, raw: Floats) -> ArrayLike:
        """Return the first derivative of the loss for every row."""

    def curvature(self, y: Floats, raw: Floats) -> ArrayLike:
        """Return the second derivative of the loss for every row, not negative."""

    def inverse_link(self, raw: Floats) -> Floats:
        """Return predictions from raw predictions."""


@dataclass(frozen=True)
class BuiltIn:
    """A loss that the core computes."""

    name: ClassVar[str]

    @property
    def parameter(self) -> float:
        """The parameter of the loss in the core; NaN without one."""
        return math.nan

    def check_domain(self, y: Floats, what: str) -> None:
        """Raise ValueError if the loss is not defined for y."""

    def check_target(self, y: Floats) -> None:
        """Raise ValueError if boosting can't start from y."""
        self.check_domain(y, "y")

    def inverse_link(self, raw: Floats) -> Floats:
        """Return predictions from raw predictions."""
        return raw


@dataclass(frozen=True)
class LogLoss(BuiltIn):
    """Logistic loss for two classes, multinomial for more.

    Examples
    --------
    >>> from frugalboost.losses import LogLoss
    >>> import numpy as np
    >>> LogLoss().inverse_link(np.array([0.0]))
    array([0.5])
    """

    name = "log_loss"

    def inverse_link(self, raw: Floats) -> Floats:
        """Return the probability of the second class, or of every class for more than two."""
        if raw.ndim == 1:
            small = exp(-np.abs(raw))
            larger = 1.0 / (1.0 + small)
            return np.where(raw > 0, larger, small * larger)  # the second is the probability for -raw
        scores = exp(raw - raw.max(axis=1, keepdims=True))
        total = np.zeros(len(raw))
        for part in np.sort(scores, axis=1).T:  # sorted: the same bits for every order of classes
            total += part
        return scores / total[:, None]


@dataclass(frozen=True)
class SquaredError(BuiltIn):
    """Half the squared residual.

    Examples
    --------
    >>> from frugalboost import GBFSRegressor
    >>> from frugalboost.losses import SquaredError
    >>> GBFSRegressor(loss=SquaredError())
    GBFSRegressor(loss=SquaredError())
    """

    name = "squared_error"


@dataclass(frozen=True)
class AbsoluteError(BuiltIn):
    """The absolute residual; leaves hold medians.

    Examples
    --------
    >>> from frugalboost.losses import AbsoluteError
    >>> AbsoluteError().name
    'absolute_error'
    """

    name = "absolute_error"


@dataclass(frozen=True)
class Quantile(BuiltIn):
    """Pinball loss: predicts a quantile of y.

    Parameters
    ----------
    level : float, default=0.5
        Which quantile, between 0 and 1.

    Examples
    --------
    >>> from frugalboost.losses import Quantile
    >>> Quantile(0.9)
    Quantile(level=0.9)
    """

    name = "quantile"
    level: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ValueError(f"Quantile: level is {self.level!r}; it must lie between 0 and 1.")

    @property
    def parameter(self) -> float:
        """The level."""
        return float(self.level)


@dataclass(frozen=True)
class Huber(BuiltIn):
    """Quadratic for small residuals, linear beyond ``delta``.

    Parameters
    ----------
    delta : float or None, default=None
        Where the loss turns linear, in units of y. None: the 0.9-quantile of ``|y - median(y)|``.

    Examples
    --------
    >>> from frugalboost.losses import Huber
    >>> Huber(1.5)
    Huber(delta=1.5)
    """

    name = "huber"
    delta: float | None = None

    def __post_init__(self) -> None:
        if self.delta is not None and not 0 < self.delta < math.inf:
            raise ValueError(f"Huber: delta is {self.delta!r}; it must be positive and finite, or None.")

    @property
    def parameter(self) -> float:
        """Delta, or NaN to find it from the data."""
        return math.nan if self.delta is None else float(self.delta)


@dataclass(frozen=True)
class Poisson(BuiltIn):
    """Counts, with a log link. The loss leaves out what depends on y alone.

    Examples
    --------
    >>> from frugalboost.losses import Poisson
    >>> import numpy as np
    >>> Poisson().inverse_link(np.array([0.0]))
    array([1.])
    """

    name = "poisson"

    def check_domain(self, y: Floats, what: str) -> None:
        """Raise ValueError for negative counts."""
        if (y < 0).any():
            raise ValueError(f"loss='poisson' needs {what} >= 0, and {what} has negative values.")

    def check_target(self, y: Floats) -> None:
        """Raise ValueError for negative counts and where all are zero."""
        self.check_domain(y, "y")
        if not (y > 0).any():
            raise ValueError("loss='poisson' needs at least one positive y, and all are zero.")

    def inverse_link(self, raw: Floats) -> Floats:
        """Return the expected count."""
        return exp(raw)


@dataclass(frozen=True)
class Gamma(BuiltIn):
    """Positive numbers whose spread grows in proportion to their mean, with a log link: amounts, times, prices.

    The loss leaves out what depends on y alone.

    Examples
    --------
    >>> from frugalboost.losses import Gamma
    >>> import numpy as np
    >>> Gamma().inverse_link(np.array([0.0]))
    array([1.])
    """

    name = "gamma"

    def check_domain(self, y: Floats, what: str) -> None:
        """Raise ValueError for numbers that are not positive."""
        if not (y > 0).all():
            raise ValueError(
                f"loss='gamma' needs {what} > 0, and {what} has zeros or negative values. Where zeros are meant, "
                "loss='tweedie' allows them."
            )

    def inverse_link(self, raw: Floats) -> Floats:
        """Return the expected number."""
        return exp(raw)


@dataclass(frozen=True)
class Tweedie(BuiltIn):
    """Sums of a random number of positive amounts, of which many are zero, with a log link: claims, rain, sales.

    The variance of y grows as its mean to the power of ``power``. The loss leaves out what depends on y alone.

    Parameters
    ----------
    power : float, default=1.5
        Between 1, which would be Poisson, and 2, which would be gamma.

    Examples
    --------
    >>> from frugalboost import GBFSRegressor
    >>> from frugalboost.losses import Tweedie
    >>> GBFSRegressor(loss=Tweedie(1.2))
    GBFSRegressor(loss=Tweedie(power=1.2))
    """

    name = "tweedie"
    power: float = 1.5

    def __post_init__(self) -> None:
        if not 1 < self.power < 2:
            raise ValueError(
                f"Tweedie: power is {self.power!r}; it must lie between 1 and 2. loss='poisson' is power 1, "
                "loss='gamma' power 2."
            )

    @property
    def parameter(self) -> float:
        """The power."""
        return float(self.power)

    def check_domain(self, y: Floats, what: str) -> None:
        """Raise ValueError for negative numbers."""
        if (y < 0).any():
            raise ValueError(f"loss='tweedie' needs {what} >= 0, and {what} has negative values.")

    def check_target(self, y: Floats) -> None:
        """Raise ValueError for negative numbers and where all are zero."""
        self.check_domain(y, "y")
        if not (y > 0).any():
            raise ValueError("loss='tweedie' needs at least one positive y, and all are zero.")

    def inverse_link(self, raw: Floats) -> Floats:
        """Return the expected number."""
        return exp(raw)


@dataclass(frozen=True)
class Cox(BuiltIn):
    """Cox's partial likelihood for times until an event; equal times as by Breslow.

    The loss of a row with an event is the logarithm of the hazard of all rows that are at risk then, as a mean over all
    rows, less its own. Predictions are logarithms of hazard ratios.

    Examples
    --------
    >>> from frugalboost.losses import Cox
    >>> Cox().name
    'cox'
    """

    name = "cox"


CLASSIFICATION: dict[str, type[BuiltIn]] = {"log_loss": LogLoss}
SURVIVAL: dict[str, type[BuiltIn]] = {"cox": Cox}
REGRESSION: dict[str, type[BuiltIn]] = {
    cls.name: cls for cls in (SquaredError, AbsoluteError, Quantile, Huber, Poisson, Gamma, Tweedie)
}


def resolve_loss(loss: object, known: dict[str, type[BuiltIn]]) -> BuiltIn | Loss:
    """Return the loss object for a name, or check one that the user made."""
    if isinstance(loss, str):
        if loss not in known:
            raise ValueError(
                f"loss={loss!r} is not known here. Choose one of {sorted(known)}, or pass an object of your own."
            )
        return known[loss]()
    if isinstance(loss, BuiltIn):
        if loss.name not in known:
            raise ValueError(f"loss={loss!r} is not for this estimator. Choose one of {sorted(known)}.")
        return loss
    if isinstance(loss, type):
        raise TypeError(f"loss={loss.__name__} is a class; pass an object of it: loss={loss.__name__}().")
    missing = [m for m in ("start", "gradient", "curvature", "inverse_link") if not callable(getattr(loss, m, None))]
    if missing:
        raise TypeError(
            f"loss={loss!r} lacks the method{'s' if len(missing) > 1 else ''} {', '.join(missing)}; "
            "see frugalboost.losses for what a loss of your own must offer."
        )
    return loss  # type: ignore[return-value]


def exp(values: Floats) -> Floats:
    """exp with the same bits on every machine."""
    flat = np.ascontiguousarray(values, dtype=np.float64).ravel()
    return np.asarray(_core.exp(flat)).reshape(values.shape)


def has_values(loss: BuiltIn | Loss) -> bool:
    """Whether a loss has values, which early stopping and selection need."""
    return isinstance(loss, BuiltIn) or callable(getattr(loss, "value", None))
