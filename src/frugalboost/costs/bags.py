"""Bags: features that are bought together."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from frugalboost import _core
from frugalboost.costs.cost import Cost, FeatureTable, check_list, check_most, check_price, has_default_index, limit
from frugalboost.costs.paying import bags_by_feature, flattened

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Bags(Cost):
    """The first feature of a bag pays the bag, the others become free.

    Parameters
    ----------
    groups : mapping or array-like
        A mapping from bag name to its features (names or column numbers), or one label per feature. A feature may be
        in several bags: it is free once any of them is owned, and otherwise pays the cheapest. A feature with the
        label None or NaN, or in no bag, is a bag of its own.
    prices : mapping, float or None, default=None
        Prices of bags by name, or one for all.
    default : float, default=1.0
        Price of bags that ``prices`` leaves out, and of features in no bag.
    most : float or None, default=None
        Maximum number of bags that may be owned; a feature in no bag counts as one.
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
                check_list(features, "Bags", f"the features of bag {bag!r}")
        else:
            simple = hasattr(self.groups, "__len__") and not isinstance(self.groups, str | set)
            if not simple or any(isinstance(label, list | set | dict) for label in self.groups):
                raise ValueError(
                    "Bags: groups must be a mapping from bag to features, such as {'a': [0, 1]}, or one label for each "
                    "feature."
                )

    @classmethod
    def from_one_hot(cls, names: Any, separator: str = "_", **settings: Any) -> Self:
        """Make a bag of all columns whose names agree up to the last separator.

        Parameters
        ----------
        names : sequence of str
            Column names such as "colour_red", "colour_blue", "age".
        separator : str, default="_"
            Between the name of the raw feature and its level. Columns that are not one-hot but share a beginning
            ("capital_gain", "capital_loss") fall into one bag as well: give labels instead where that is wrong.
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
            Fitted. One-hot encoders and discretizers, pipelines that end in one, and steps that treat columns one by
            one keep a bag for each raw feature; all columns of any other step are one bag.
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
        check_is_fitted(transformer)
        places = getattr(transformer, "output_indices_", {})  # absent where every step drops its columns
        labels: list[Hashable] = [None] * max((p.stop for p in places.values()), default=0)
        names = list(getattr(transformer, "feature_names_in_", range(transformer.n_features_in_)))
        for name, step, columns in transformer.transformers_:
            place = places.get(name, slice(0, 0))
            raw = [names[c] for c in _column_numbers(columns, names)]
            labels[place] = _labels_of_step(name, step, raw, place.stop - place.start)
        return cls(labels, **settings)

    def rules(self, table: FeatureTable) -> tuple[_core.PriceRule, ...]:
        """Resolve against a table."""
        members = self._members(table)
        unknown = [b for b in self.prices if b not in members] if hasattr(self.prices, "items") else []
        if unknown:
            raise ValueError(f"Bags: prices names {unknown[0]!r}, which is not a bag.")
        bags_of = bags_by_feature(self.bags(table))
        each = flattened([bags_of[f] for f in range(table.n)])
        return (_core.BagPrices(*each, self.bag_prices(table), limit(self.most)),)

    def bags(self, table: FeatureTable) -> tuple[tuple[int, ...], ...]:
        """Columns of each bag; a feature in no bag is a bag of one."""
        bags = [tuple(features) for features in self._members(table).values()]
        in_one = {f for bag in bags for f in bag}
        return (*bags, *((f,) for f in range(table.n) if f not in in_one))

    def bag_prices(self, table: FeatureTable) -> Floats:
        """Prices of these bags."""
        prices = [self._price(bag) for bag in self._members(table)]
        return np.array([*prices, *[float(self.default)] * (len(self.bags(table)) - len(prices))])

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
        if hasattr(self.groups, "items") and not has_default_index(self.groups):  # a Series by feature name
            for feature, label in self.groups.items():
                if not _is_missing(label):
                    members.setdefault(label, []).append(table.place(feature, "Bags"))
            return members
        labels = self.groups.tolist() if hasattr(self.groups, "tolist") else list(self.groups)
        if len(labels) != table.n:
            raise ValueError(f"Bags: {table.n} labels are needed, one for each feature; got {len(labels)}.")
        for f, label in enumerate(labels):
            if not _is_missing(label):
                members.setdefault(label, []).append(f)
        return members


def _is_missing(label: Any) -> bool:
    """None, NaN, and the NA of pandas, for which != is neither true nor false."""
    return label is None or type(label).__name__ == "NAType" or bool(label != label)


def _column_numbers(columns: Any, names: list[Any]) -> list[int]:
    """Column numbers from what a ColumnTransformer takes: names, numbers, slices and masks."""
    if isinstance(columns, slice):
        if isinstance(columns.start, str) or isinstance(columns.stop, str):
            start = 0 if columns.start is None else names.index(columns.start)
            stop = len(names) if columns.stop is None else names.index(columns.stop) + 1  # by name the end is included
            return list(range(start, stop))
        return list(range(len(names)))[columns]
    if isinstance(columns, str | int | np.integer):
        columns = [columns]
    columns = list(columns)
    if columns and all(isinstance(c, bool | np.bool_) for c in columns):
        return [i for i, chosen in enumerate(columns) if chosen]
    return [names.index(c) if isinstance(c, str) else range(len(names))[c] for c in columns]


def _labels_of_step(name: str, step: Any, raw: list[Any], wide: int) -> list[Hashable]:
    """The raw feature of each column of a step's output; one bag for all if it is unknown."""
    counts = _columns_of_each(step, raw)
    if counts is not None and sum(counts) == wide:
        return [label for label, count in zip(raw, counts, strict=True) for _ in range(count)]
    return [raw[0] if len(raw) == 1 else name] * wide


def _columns_of_each(step: Any, raw: list[Any]) -> list[int] | None:
    """How many columns each raw feature became; None where columns are mixed."""
    if isinstance(step, Pipeline):
        parts = [_columns_of_each(part, raw) for _, part in step.steps]
        kept = all(part == [1] * len(raw) for part in parts[:-1])
        return parts[-1] if kept else None
    if isinstance(step, OneHotEncoder):
        dropped = step.drop_idx_ if step.drop_idx_ is not None else [None] * len(raw)
        rare = getattr(step, "infrequent_categories_", [None] * len(raw))
        return [
            len(levels) - (len(r) - 1 if r is not None else 0) - (d is not None)
            for levels, r, d in zip(step.categories_, rare, dropped, strict=True)
        ]
    if isinstance(step, KBinsDiscretizer) and step.encode != "ordinal":
        return [int(n) for n in step.n_bins_]
    one_to_one = isinstance(step, OneToOneFeatureMixin | SimpleImputer | FunctionTransformer | str)
    return [1] * len(raw) if one_to_one else None
