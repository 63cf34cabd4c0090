"""The map of bags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from frugalboost.costs.cost import FeatureTable
from frugalboost.costs.owned_bags import named_bags, paid_for_bags, paying_bags
from frugalboost.page.words import number_text
from frugalboost.plotting.display import (
    GREY,
    INK,
    PALE,
    ROW,
    SMALL,
    Display,
    fitted_model,
    in_unit,
    shown_names,
    total_gains,
)
from frugalboost.tables.names import feature_names


class BagDisplay(Display):
    """A map of bags: a row for each bag, a cell for each of its features.

    Cells of bought features are coloured by their total gain and come first, the others are pale; what was paid for the
    bag stands beside it. A feature of several bags is coloured in the one that paid for it. Make it
    with :meth:`from_estimator`.

    Parameters
    ----------
    bags : sequence of str
        Names of the rows, from the top.
    gains : sequence of array-like
        For each bag the total gains of its features, NaN where a feature was not bought, or paid for by another bag.
    price : array-like of shape (n_rows,)
        What was paid for each bag, NaN where it is not owned.
    unit : str or None, default=None
        What a price of 1 is.
    n_bags, n_owned : int or None, default=None
        How many bags there are in all, and how many are owned; None: those of the rows.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor
    >>> from frugalboost.costs import Bags
    >>> from frugalboost.plotting import BagDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> bags = Bags({"person": ["age", "sex", "bmi", "bp"], "blood": ["s1", "s2", "s3", "s4", "s5", "s6"]})
    >>> display = BagDisplay.from_estimator(GBFSRegressor(mu=0.01, costs=bags, max_iter=20).fit(X, y))
    >>> display.bags, display.price
    (['blood', 'person'], array([1., 1.]))
    """

    def __init__(
        self,
        *,
        bags: Sequence[str],
        gains: Sequence[ArrayLike],
        price: ArrayLike,
        unit: str | None = None,
        n_bags: int | None = None,
        n_owned: int | None = None,
    ) -> None:
        self.bags = bags
        self.gains = [np.asarray(g, dtype=float) for g in gains]
        self.price = np.asarray(price, dtype=float)
        self.unit = unit
        self.n_bags = len(bags) if n_bags is None else n_bags
        self.n_owned = int((~np.isnan(self.price)).sum()) if n_owned is None else n_owned

    @classmethod
    def from_estimator(cls, estimator: Any, *, max_bags: int = 30, ax: Any = None) -> Self:
        """Draw the bags that a model bought from.

        Parameters
        ----------
        estimator : GBFSClassifier, GBFSRegressor, GBFSClassifierCV or GBFSRegressorCV
            Fitted with ``costs=Bags(...)``, or a sum with Bags in it.
        max_bags : int, default=30
            Maximum number of rows: owned bags first, in order of purchase.
        ax : matplotlib Axes or None, default=None
            Where to draw; None: a new figure, as high as the rows need.

        Returns
        -------
        BagDisplay
            Drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor
        >>> from frugalboost.costs import Bags
        >>> from frugalboost.plotting import BagDisplay
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = GBFSRegressor(budget=1, costs=Bags([0, 0, 0, 0, 1, 1, 1, 1, 2, 2]), max_iter=20).fit(X, y)
        >>> display = BagDisplay.from_estimator(model)
        >>> display.n_owned, display.n_bags
        (1, 3)
        """
        model = fitted_model(cls, estimator)
        table = FeatureTable(model.n_features_in_, model._names())
        bags, names = named_bags(model.costs, table, feature_names(model))
        features = model.selected_features_.tolist()
        paid = paid_for_bags(model._costs(), features, model._model.purchases.price.tolist())
        payer = np.full(model.n_features_in_, -1)
        payer[features] = paying_bags(model._costs(), features)
        rows = [*paid, *(i for i in range(len(names)) if i not in paid)][:max_bags]
        members = bags.bags(table)
        gains = np.where(model.support_, total_gains(model), np.nan)
        display = cls(
            bags=[names[i] for i in rows],
            gains=[np.where(payer[list(members[i])] == i, gains[list(members[i])], np.nan) for i in rows],
            price=[paid.get(i, np.nan) for i in rows],
            unit=model.cost_unit_,
            n_bags=len(names),
            n_owned=len(paid),
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None: a new figure, as high as the rows need.
        **style
            Passed to ``Axes.pcolormesh``.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``.

        Examples
        --------
        >>> import numpy as np
        >>> from frugalboost.plotting import BagDisplay
        >>> display = BagDisplay(bags=["blood", "scan"], gains=[[3.0, np.nan], [np.nan]], price=[20.0, np.nan])
        >>> [text.get_text() for text in display.plot().ax_.get_yticklabels()]
        ['blood', 'scan']
        """
        rows = len(self.bags)
        wide = min(max((len(g) for g in self.gains), default=1), _MOST_CELLS)
        ax = self._begin(ax, 3.4 + 0.2 * max(wide, 8), 1.0 + ROW * max(rows, 4))
        if not rows:
            return self._empty(ax)
        mesh = self._draw_cells(ax, wide, style)
        self._write_prices(ax, wide)
        ax.set_ylim(rows - 0.5, -0.5)
        ax.set_xlim(0, wide)
        ax.set_yticks(range(rows), shown_names(self.bags), fontsize=SMALL)
        ax.set_xticks([])
        ax.tick_params(axis="y", length=0)
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.set_xlabel(f"{self.n_owned} of {self.n_bags} bags owned" + (f", {rows} shown" if rows < self.n_bags else ""))
        if mesh is not None:
            high = {"shrink": min(1.0, 12 / max(rows, 4)), "anchor": (0.0, 1.0), "pad": 0.02, "aspect": 25}
            bar = self.figure_.colorbar(mesh, ax=ax, **high)
            bar.set_label("total gain")
            bar.outline.set_visible(False)
        return self

    def _draw_cells(self, ax: Any, wide: int, style: dict[str, Any]) -> Any:
        """Pale cells for all features, coloured ones for those bought; None where nothing was."""
        from matplotlib.colors import ListedColormap, LogNorm, Normalize

        cells = np.full((len(self.bags), wide), np.nan)
        for row, gains in enumerate(self.gains):
            shown = np.sort(-gains)[:wide]  # bought ones first, by gain; NaN goes to the end
            cells[row, : len(shown)] = -shown
        there = np.arange(wide) < np.array([len(g) for g in self.gains])[:, None]
        lines = np.arange(wide + 1), np.arange(len(self.bags) + 1) - 0.5
        white = {"edgecolors": "white", "linewidth": 1.5}
        ax.pcolormesh(*lines, np.where(there, 0.0, np.nan), cmap=ListedColormap([PALE]), **white)
        found = cells[cells > 0]
        if not len(found):
            return None
        low, high = found.min(), found.max()
        norm = LogNorm(low, high) if high > 10 * low else Normalize(0, high)
        looks = {"cmap": "viridis_r", "norm": norm} | white | style
        return ax.pcolormesh(*lines, np.where(np.isnan(cells), np.nan, np.fmax(cells, low)), **looks)

    def _write_prices(self, ax: Any, wide: int) -> None:
        """Write how many features are not shown, and the price, beside each row."""
        looks = {"va": "center", "fontsize": SMALL, "annotation_clip": False, "textcoords": "offset points"}
        more = [f"+{len(g) - wide}" if len(g) > wide else "" for g in self.gains]
        beside = 6 + 0.7 * SMALL * max(map(len, more))
        for row, (rest, price) in enumerate(zip(more, self.price, strict=True)):
            ax.annotate(rest, (wide, row), (3, 0), color=GREY, **looks)
            if not np.isnan(price):
                ax.annotate(number_text(price), (wide, row), (beside, 0), color=INK, **looks)
        if not np.isnan(self.price).all():
            looks["va"] = "bottom"
            ax.annotate(f"price{in_unit(self.unit)}", (wide, -0.5), (beside, 2), color=INK, **looks)


_MOST_CELLS = 40
