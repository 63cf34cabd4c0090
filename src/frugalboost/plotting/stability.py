"""Stability paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from frugalboost.costs.cost import FeatureTable
from frugalboost.costs.owned_bags import named_bags
from frugalboost.estimators.stability import StabilitySelection
from frugalboost.plotting.display import (
    GREY,
    INK,
    NOTHING,
    SMALL,
    Display,
    Floats,
    falling_mu,
    kind_of,
    legend_above,
    mu_label_of,
    positive_mus,
    shown_names,
    write_at_ends,
)
from frugalboost.tables.names import feature_names


class StabilityPathDisplay(Display):
    """How often features are bought, against mu: stable ones coloured and named, the others grey.

    Make it with :meth:`from_estimator`.

    Parameters
    ----------
    features : sequence of str
        Names of the features, or of the bags.
    mus : array-like of shape (n_mus,)
        Values of mu, falling.
    frequencies : array-like of shape (n_mus, n_features)
        The share of halves of the rows on which each was bought, for each mu.
    frequency : array-like of shape (n_features,)
        The share on which it was bought at any mu; this is what makes a feature stable.
    stable : array-like of bool of shape (n_features,)
        Which are stable.
    threshold : float
        The share from which they are.
    x_label : str, default="mu"
        Text at the axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from frugalboost import GBFSRegressor, StabilitySelection
    >>> from frugalboost.plotting import StabilityPathDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> stable = StabilitySelection(GBFSRegressor(max_iter=10), n_features=3, n_subsamples=10, random_state=0)
    >>> display = StabilityPathDisplay.from_estimator(stable.fit(X, y))
    >>> display.ax_.get_ylabel()
    'share of halves that bought it'
    """

    def __init__(
        self,
        *,
        features: Sequence[str],
        mus: ArrayLike,
        frequencies: ArrayLike,
        frequency: ArrayLike,
        stable: ArrayLike,
        threshold: float,
        x_label: str = "mu",
    ) -> None:
        self.features = features
        self.mus = np.asarray(mus, dtype=float)
        self.frequencies = np.asarray(frequencies, dtype=float)
        self.frequency = np.asarray(frequency, dtype=float)
        self.stable = np.asarray(stable, dtype=bool)
        self.threshold = threshold
        self.x_label = x_label

    @classmethod
    def from_estimator(cls, stability: StabilitySelection, *, bags: bool = False, ax: Any = None) -> Self:
        """Draw a stability selection.

        Parameters
        ----------
        stability : StabilitySelection
            Fitted.
        bags : bool, default=False
            Draw bags, where prices have them, instead of features.
        ax : matplotlib Axes or None, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        StabilityPathDisplay
            Drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from frugalboost import GBFSRegressor, StabilitySelection
        >>> from frugalboost.costs import Bags
        >>> from frugalboost.plotting import StabilityPathDisplay
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = GBFSRegressor(max_iter=10, costs=Bags(["person"] * 4 + ["blood"] * 6))
        >>> stable = StabilitySelection(model, n_features=1, n_subsamples=10, random_state=0).fit(X, y)
        >>> StabilityPathDisplay.from_estimator(stable, bags=True).features
        ['person', 'blood']
        """
        if not isinstance(stability, StabilitySelection):
            raise TypeError(f"StabilityPathDisplay draws a StabilitySelection, not {kind_of(stability)}.")
        check_is_fitted(stability)
        names, prefix = feature_names(stability), ""
        if bags:
            given = getattr(stability, "feature_names_in_", None)
            table = FeatureTable(stability.n_features_in_, None if given is None else tuple(given))
            names = named_bags(getattr(stability.estimator, "costs", None), table, names)[1]
            prefix = "bag_"
        display = cls(
            features=names,
            mus=stability.mus_,
            frequencies=getattr(stability, f"{prefix}frequencies_"),
            frequency=getattr(stability, f"{prefix}frequency_"),
            stable=getattr(stability, f"{prefix}support_"),
            threshold=stability.threshold,
            x_label=mu_label_of(stability.estimator),
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None, **style: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where; None: a new figure.
        **style
            Passed to ``Axes.plot`` for every stable feature.

        Returns
        -------
        self
            With ``ax_`` and ``figure_``.

        Examples
        --------
        >>> from frugalboost.plotting import StabilityPathDisplay
        >>> display = StabilityPathDisplay(
        ...     features=["age", "iron"], mus=[0.1, 0.01], frequencies=[[0.2, 0], [0.9, 0.3]], frequency=[0.9, 0.3],
        ...     stable=[True, False], threshold=0.75,
        ... )
        >>> [text.get_text() for text in display.plot().ax_.texts]
        ['any mu', 'age']
        """
        ax = self._begin(ax, 6.4, 4.2)
        falling_mu(ax, self.mus)
        along = positive_mus(self.mus)
        # Stability is about purchases at any mu: they are drawn at the right.
        end = along[-1] * (along[-1] / along[0]) ** 0.07 if len(along) > 1 else along[0] / 3
        self._draw_others(ax, along, end)
        if not self.frequency.any():
            ax.text(0.5, 0.5, NOTHING, transform=ax.transAxes, ha="center", va="center", color=INK)
        chosen: list[int] = np.flatnonzero(self.stable).tolist()
        chosen.sort(key=lambda j: -float(self.frequency[j]))
        lines = []
        for j in chosen:
            looks = {"linewidth": 1.8, "marker": "o" if len(along) == 1 else "", "markersize": 4} | style
            (line,) = ax.plot(along, self.frequencies[:, j], **looks)
            lines.append(line)
            ends = [self.frequencies[-1, j], self.frequency[j]]
            ax.plot([along[-1], end], ends, "-", color=line.get_color(), linewidth=0.8)
            ax.plot(end, self.frequency[j], "o", color=line.get_color(), markersize=5, zorder=4, clip_on=False)
        dashes = {"color": INK, "linewidth": 0.9, "linestyle": (0, (4, 3)), "zorder": 2}
        ax.axhline(self.threshold, label=f"threshold {self.threshold:g}", **dashes)
        ax.set(xlabel=self.x_label, ylabel="share of halves that bought it", ylim=(-0.02, 1.04))
        ax.set_xlim(along[0] if len(along) > 1 else 3 * along[0], end)
        below = {"xycoords": ax.get_xaxis_transform(), "textcoords": "offset points", "ha": "center", "va": "top"}
        ax.annotate("any mu", (end, 0), (0, -22), fontsize=SMALL, **below)
        legend_above(ax)
        write_at_ends(ax, end, self.frequency[chosen], shown_names([self.features[j] for j in chosen]), lines)
        return self

    def _draw_others(self, ax: Any, along: Floats, end: float) -> None:
        """Features that were bought on some halves, but are not stable."""
        from matplotlib.collections import LineCollection

        others = np.flatnonzero(~self.stable & (self.frequency > 0))
        if not len(others):  # an empty collection breaks the layout
            return
        lines = [np.column_stack([along, self.frequencies[:, j]]) for j in others]
        looks: dict[str, Any] = {"colors": GREY, "linewidths": 0.7, "alpha": 0.7, "zorder": 1}
        ax.add_collection(LineCollection(lines, label="not stable", **looks))
        dots: dict[str, Any] = {"color": GREY, "markersize": 2.5, "zorder": 1, "clip_on": False}
        ax.plot(np.full(len(others), end), self.frequency[others], "o", **dots)
