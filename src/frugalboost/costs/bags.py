"""Bags: features that come together."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from frugalboost import _core
from frugalboost.costs.cost import Cost, FeatureTable, check_most, check_price, limit, lists


@dataclass(frozen=True, eq=False, repr=False)
class Bags(Cost):
    """The first feature of a bag pays the bag, the others become free.

    Parameters
    ----------
    groups : mapping or array-like
        A mapping from bag name to its features (names or column numbers), or one label per feature. A feature may be
        in several bags: it is free once any of them is owned, and otherwise pays the cheapest. None, NaN and features
        in no bag stand alone.
    prices : mapping, float or None, default=None
        Prices of bags by name, or one for all.
    default : float, default=1.0
        Price of bags that ``prices`` leaves out, and of features that stand alone.
    most : float or None, default=None
        The most bags that may be owned, whatever they cost; a feature that stands alone is a bag.
    unit : str or None, default=None
        What a price of 1 is; for reports.

    Examples
    --------
    >>> from frugalboost.costs import Bags
    >>> Bags({"blood": ["iron", "sugar"], "scan": ["size", "shape"]}, prices={"scan": 20.0})
    Bags(groups={'blood': ['iron', 'sugar'], 'scan': ['size', 'shape']}, prices={'scan': 20.0})
    """

    groups: Any
    prices: Any = None
    default: float = 1.0
    most: float | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        check_price(self.default, "Bags: default")
        check_most(self.most, "Bags")
        if hasattr(self.prices, "items"):
            for bag, price in self.prices.items():
                check_price(price, f"Bags: the price of bag {bag!r}")
        elif self.prices is not None:
            check_price(self.prices, "Bags: prices")
        if isinstance(self.groups, Mapping):
            for bag, features in self.groups.items():
                if isinstance(features, str) or not hasattr(features, "__iter__"):
                    raise ValueError(f"Bags: the features of bag {bag!r} must be a list, not {features!r}.")
        elif isinstance(self.groups, str) or np.ndim(self.groups) != 1:
            raise ValueError("Bags: groups must be a mapping from bag to features, or one label for each feature.")

    @classmethod
    def from_one_hot(cls, names: Any, separator: str = "_", **settings: Any) -> Self:
        """Make a bag of all columns whose names agree up to the last separator.

        Parameters
        ----------
        names : sequence of str
            Column names such as "colour_red", "colour_blue", "age".
        separator : str, default="_"
            Between the name of the raw feature and its level.
        **settings
            Other arguments of :class:`Bags`.

        Returns
        -------
        Bags
            One bag for each raw feature.

        Examples
        --------
        >>> from frugalboost.costs import Bags
        >>> Bags.from_one_hot(["colour_red", "colour_blue", "age"])
        Bags(groups=['colour', 'colour', 'age'])
        """
        return cls([str(name).rpartition(separator)[0] or str(name) for name in names], **settings)

    @classmethod
    def from_column_transformer(cls, transformer: Any, **settings: Any) -> Self:
        """Make a bag of the columns that one raw feature became in a fitted ColumnTransformer.

        Parameters
        ----------
        transformer : sklearn.compose.ColumnTransformer
            Fitted. One-hot encoders are known by their categories; of other steps, those that keep the number of
            columns are followed, and all columns of the rest are one bag.
        **settings
            Other arguments of :class:`Bags`.

        Returns
        -------
        Bags
            One label for each column of the transformer's output.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklearn.compose import make_column_transformer
        >>> from sklearn.preprocessing import OneHotEncoder
        >>> from frugalboost.costs import Bags
        >>> table = pd.DataFrame({"colour": ["red", "blue"], "age": [1, 2]})
        >>> steps = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough").fit(table)
        >>> Bags.from_column_transformer(steps)
        Bags(groups=['colour', 'colour', 'age'])
        """
        labels: list[Hashable] = [None] * len(transformer.get_feature_names_out())
        names_in = list(getattr(transformer, "feature_names_in_", []))
        for name, step, columns in transformer.transformers_:
            place = transformer.output_indices_[name]
            wide = place.stop - place.start
            if wide:
                raw = [names_in[c] if isinstance(c, int | np.integer) and names_in else c for c in columns]
                raw = [str(c) if isinstance(c, str) else c for c in raw]
                labels[place] = _labels_of_step(name, step, raw, wide)
        return cls(labels, **settings)

    def rules(self, table: FeatureTable) -> tuple[_core.PriceRule, ...]:
        """Resolve against a table."""
        members = self._members(table)
        unknown = [b for b in self.prices if b not in members] if hasattr(self.prices, "items") else []
        if unknown:
            raise ValueError(f"Bags: there is no bag {unknown[0]!r} to put a price on.")
        bags_of: list[list[int]] = [[] for _ in range(table.n)]
        bag_prices = []
        for number, (bag, features) in enumerate(members.items()):
            bag_prices.append(self._price(bag))
            for f in features:
                bags_of[f].append(number)
        for alone in (own for own in bags_of if not own):
            alone.append(len(bag_prices))
            bag_prices.append(float(self.default))
        return (_core.BagPrices(*lists(bags_of), np.array(bag_prices), limit(self.most)),)

    def _price(self, bag: Hashable) -> float:
        if hasattr(self.prices, "items"):
            return float(self.prices.get(bag, self.default))
        return float(self.default if self.prices is None else self.prices)

    def _members(self, table: FeatureTable) -> dict[Hashable, list[int]]:
        members: dict[Hashable, list[int]] = {}
        if isinstance(self.groups, Mapping):
            for bag, features in self.groups.items():
                members[bag] = sorted({table.place(f, f"Bags: bag {bag!r}") for f in features})
            return members
        labels = self.groups.tolist() if hasattr(self.groups, "tolist") else list(self.groups)
        if len(labels) != table.n:
            raise ValueError(f"Bags: {table.n} labels are needed, one for each feature; got {len(labels)}.")
        for f, label in enumerate(labels):
            if label is not None and label == label:
                members.setdefault(label, []).append(f)
        return members


def _labels_of_step(name: str, step: Any, raw: list[Any], wide: int) -> list[Hashable]:
    if hasattr(step, "categories_"):
        dropped = getattr(step, "drop_idx_", None)
        counts = [len(c) - (dropped is not None and dropped[i] is not None) for i, c in enumerate(step.categories_)]
        if sum(counts) == wide:
            return [label for label, count in zip(raw, counts, strict=True) for _ in range(count)]
    return list(raw) if len(raw) == wide else [name] * wide
