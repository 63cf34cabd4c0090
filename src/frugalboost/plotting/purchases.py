"""Gains against prices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from frugalboost.plotting.display import (
    COLOURS,
    GREY,
    SMALL,
    Display,
    Floats,
    check_option,
    fitted_model,
    in_unit,
    legend_above,
    shown_names,
    total_gains,
    whole_numbers,
    write_beside,
)
from frugalboost.tables.names import feature_names


class PurchaseDisplay(Display):
    """What each feature cost and what it gained: when it was bought, and in all splits since.

    Make it with :meth:`from_estimator`.

    Parameters
    ----------
    features : sequence of str
        Names of the features, in order of purchase.
    price : array-like of shape (n_bought,)
        What was paid for each.
    first_gain : array-like of shape (n_bought,)
        Raw gain of the split that bought it.
    total_gain : array-like of shape (n_bought,)
        Raw gain of all its splits.
    mu : float or None, default=None
        The gain that a price of 1 requires; None: gains did not have to exceed prices.
    unit : str or None, default=None
        What a price of 1 is.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor
    >>> from frugalboost.plotting import PurchaseDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> prices = {"age": 0.1, "sex": 0.1, "bmi": 0.5, "bp": 2.0}
    >>> display = PurchaseDisplay.from_estimator(GBFSRegressor(mu=0.01, costs=prices, max_iter=20).fit(X, y))
    >>> bool((display.first_gain > display.mu * display.price).all())
    True
    """

    def __init__(
        self,
        *,
        features: Sequence[str],
        price: ArrayLike,
        first_gain: ArrayLike,
        total_gain: ArrayLike,
        mu: float | None = None,
        unit: str | None = None,
    ) -> None:
        self.features = features
        self.price = np.asarray(price, dtype=float)
        self.first_gain = np.asarray(first_gain, dtype=float)
        self.total_gain = np.asarray(total_gain, dtype=float)
        self.mu = mu
        self.unit = unit

    @classmethod
    def from_estimator(cls, estimator: Any, *, x: str | None = None, ax: Any = None) -> Self:
        """Draw what a model bought.

        Parameters
        ----------
        estimator : GBFSClassifier, GBFSRegressor, GBFSClassifierCV or GBFSRegressorCV
            Fitted. Of one with cross-validation the last fit, on all rows, is drawn.
        x : {"price", "order"} or None, default=None
            What lies along the axis. None: the price, or the order of purchase where most features cost the same.
        ax : matplotlib Axes or None, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        PurchaseDisplay
            Drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> from frugalboost.plotting import PurchaseDisplay
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> PurchaseDisplay.from_estimator(GBFSRegressor(mu=0.02, max_iter=20).fit(X, y)).ax_.get_xlabel()
        'order of purchase (each price 1)'
        """
        fitted = fitted_model(cls, estimator)
        model, order = fitted._model, fitted.selected_features_
        # The gains of a refitted model, or with stop="never", did not have to exceed prices.
        refitted = fitted.selling_ is not None or (fitted.refit_scores_ or {}).get("kept") == "refit"
        free = refitted or fitted.stop == "never"
        names, bought = feature_names(fitted), len(order)
        display = cls(
            features=[names[j] for j in order],
            price=model.purchases.price[:bought],
            first_gain=model.purchases.gain[:bought],
            total_gain=total_gains(fitted)[order],
            mu=None if free else fitted.mu_ * (model.impurity if fitted.mu_unit == "share" else 1.0),
            unit=fitted.cost_unit_,
        )
        return display.plot(x=x, ax=ax)

    def plot(self, *, x: str | None = None, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        x : {"price", "order"} or None, default=None
            What lies along the axis. None: the price, or the order of purchase where most features cost the same.
        ax : matplotlib Axes or None, default=None
            Where; None: a new figure.
        **style
            Passed to ``Axes.scatter``.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``.

        Examples
        --------
        >>> from frugalboost.plotting import PurchaseDisplay
        >>> display = PurchaseDisplay(
        ...     features=["age", "iron"], price=[1, 5], first_gain=[3, 9], total_gain=[4, 30], mu=1.0, unit="euro"
        ... )
        >>> display.plot().ax_.get_xlabel()
        'price paid (euro)'
        """
        if x is not None:
            check_option("x", x, ["price", "order"])
        by_price = (not self._alike()) if x is None else x == "price"
        named = not by_price and len(self.features) <= 30  # there is room for all names below the axis
        longest = max(map(len, shown_names(self.features)), default=0) if named else 0
        ax = self._begin(ax, 6.0, 4.0 + 0.06 * longest)
        ax.set(xlabel=self._x_label(by_price), ylabel="raw gain")
        if not len(self.features):
            return self._empty(ax)
        along: Floats = self.price if by_price else np.arange(1.0, len(self.features) + 1)
        self._draw_points(ax, along, style)
        self._scale(ax, by_price)
        if self.mu:
            self._draw_mu(ax, along, self.mu, by_price)
        legend_above(ax)
        if named:
            ax.set_xticks(along, shown_names(self.features), rotation=90, fontsize=SMALL)
        else:
            big = np.argsort(-self.total_gain, kind="stable")[:12].tolist()
            write_beside(ax, along, self.first_gain, self.total_gain, self.features, big)
        return self

    def _alike(self) -> bool:
        """Most prices are the same: along an axis of prices the points would lie one above the other."""
        counts = np.unique(self.price, return_counts=True)[1]
        return len(counts) == 1 or (len(self.price) > 3 and counts.max() > len(self.price) / 2)

    def _x_label(self, by_price: bool) -> str:
        if by_price:
            return f"price paid{in_unit(self.unit)}"
        equal = len(self.price) and (self.price == self.price[0]).all()
        each = f" (each price {self.price[0]:g}{' ' + self.unit if self.unit else ''})" if equal else ""
        return f"order of purchase{each}"

    def _draw_points(self, ax: Any, along: Floats, style: dict[str, Any]) -> None:
        ax.set_yscale("log")
        ax.vlines(along, self.first_gain, self.total_gain, color=GREY, linewidth=0.8, zorder=1)
        looks: dict[str, Any] = {"s": 28, "linewidths": 1.2, "zorder": 3} | style
        blue = COLOURS[0]
        ax.scatter(along, self.total_gain, **({"color": blue, "label": "all its splits"} | looks))
        hollow = {"facecolors": "white", "edgecolors": blue, "label": "the split that bought it"}
        ax.scatter(along, self.first_gain, **(hollow | looks))

    def _scale(self, ax: Any, by_price: bool) -> None:
        gains = np.concatenate([self.first_gain, self.total_gain])
        gains = gains[gains > 0]
        if len(gains):
            ax.set_ylim(gains.min() / 2.5, gains.max() * 2.5)
        if not by_price:
            whole_numbers(ax.xaxis)
            ax.set_xlim(0.4, len(self.price) + 0.6)
        elif self.price.min() > 0 and self.price.max() > 50 * self.price.min():
            ax.set_xscale("log")
            ax.margins(x=0.1)
        else:
            top = self.price.max() or 1.0
            ax.set_xlim(-0.06 * top, 1.12 * top)

    def _draw_mu(self, ax: Any, along: Floats, mu: float, by_price: bool) -> None:
        """The gain that was required: a line over all prices, or one, or a dash at each purchase."""
        looks = {"color": COLOURS[1], "label": "mu * price, to be exceeded"}
        if by_price:
            low, high = ax.get_xlim()
            prices = np.geomspace(low, high, 300) if low > 0 else np.linspace(1e-6 * high, high, 300)
            ax.plot(prices, mu * prices, linewidth=1.2, scalex=False, scaley=False, **looks)
            return
        paid = self.price > 0
        if (self.price == self.price[0]).all() and paid[0]:
            ax.axhline(mu * self.price[0], linewidth=1.2, **looks)
        else:
            ax.hlines(mu * self.price[paid], along[paid] - 0.35, along[paid] + 0.35, linewidth=2, **looks)
        low, high = ax.get_ylim()
        needed = mu * self.price[paid]
        ax.set_ylim(min(low, needed.min(initial=low) / 2), max(high, needed.max(initial=high) * 1.5))
