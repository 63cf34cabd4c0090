"""What all price objects share: immutable, comparable, addable, resolved against a table when fitted."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from frugalboost import _core
from frugalboost.costs.paying import Payer, bags_by_feature, flattened

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FeatureTable:
    """The columns of a table: how many, and their names if they have any."""

    n: int
    names: tuple[str, ...] | None = None

    def place(self, feature: Any, where: str) -> int:
        """Column number of a feature given by name or number; ValueError with the nearest name otherwise."""
        if isinstance(feature, str):
            if self.names is None:
                raise ValueError(
                    f"{where}: feature {feature!r} is given by name, but the columns of X have no names. Pass a data "
                    "frame with texts as names, or use column numbers."
                )
            if feature not in self._places:
                near = difflib.get_close_matches(feature, self.names, n=1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise ValueError(f"{where}: X has no feature {feature!r}.{hint}")
            return self._places[feature]
        if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
            if not 0 <= feature < self.n:
                raise ValueError(f"{where}: there is no feature number {feature}; X has {self.n}.")
            return int(feature)
        raise ValueError(f"{where}: {feature!r} is neither a feature name nor a column number.")

    def label(self, place: int) -> str:
        """The name of a column in a message."""
        return repr(self.names[place]) if self.names is not None else f"number {place}"

    def by_feature(self, values: Any, default: float, where: str) -> Floats:
        """One number for each feature, from a mapping (by name or number), one number per feature, or a single one."""
        if values is None:
            return np.full(self.n, float(default))
        if isinstance(values, int | float | np.number) and not isinstance(values, bool):
            out = np.full(self.n, float(values))
        elif hasattr(values, "items") and not has_default_index(values):
            out = np.full(self.n, float(default))
            for feature, value in values.items():
                out[self.place(feature, where)] = number(value, f"{where}: the price of feature {feature!r}")
        else:
            out = self._by_position(values, where)
        self.check_prices(out, where)
        return out

    def _by_position(self, values: Any, where: str) -> Floats:
        try:
            out = np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{where}: prices must be numbers, one for each feature.") from None
        if out.shape != (self.n,):
            raise ValueError(f"{where}: {self.n} prices are needed, one for each feature; got shape {out.shape}.")
        return out

    def check_prices(self, prices: Floats, where: str) -> None:
        """Raise ValueError that names the first feature whose price is negative or NaN."""
        for j in np.flatnonzero(~(prices >= 0)).tolist():
            raise ValueError(f"{where}: the price of feature {self.label(j)} is {prices[j]:g}. {PRICE_IS}")

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.names or ())}


PRICE_IS = "A price must be zero (free), positive, or infinity (never)."


def has_default_index(values: Any) -> bool:
    """A pandas Series whose index just counts is an array; any other is a mapping from names."""
    return not isinstance(values, Mapping) and list(values.keys()) == list(range(len(values)))


def number(value: Any, what: str) -> float:
    """Return a price as a float; ``what`` begins the error message."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{what} is {value!r}, not a number.") from None


def check_price(value: Any, what: str) -> None:
    """Raise ValueError if a price is negative, NaN or not a number."""
    if not number(value, what) >= 0:
        raise ValueError(f"{what} is {value!r}. {PRICE_IS}")


def check_most(most: float | None, where: str) -> None:
    """Raise ValueError for a limit that is negative or NaN."""
    if most is not None and not number(most, f"{where}: most") >= 0:
        raise ValueError(f"{where}: most is {most!r}; it must be zero or positive, or None for no limit.")


def check_given(values: Any, where: str) -> None:
    """Check prices given by position, by name or as one number, without a table."""
    if values is None:
        return
    if hasattr(values, "items"):
        for feature, price in values.items():
            check_price(price, f"{where}: the price of feature {feature!r}")
    elif isinstance(values, int | float | np.number):
        check_price(values, f"{where}: the price of every feature")
    else:
        check_list(values, where, "prices")
        for j, price in enumerate(values):
            check_price(price, f"{where}: the price of feature number {j}")


def check_list(values: Any, where: str, what: str) -> None:
    """Raise ValueError for a text, or for an iterator, which can be read only once."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ValueError(f"{where}: {what} must be a list, not {values!r}.")
    if hasattr(values, "__next__"):
        raise ValueError(f"{where}: {what} can be read only once; make it a list.")


def limit(most: float | None) -> float:
    """The limit as the core wants it."""
    return float("inf") if most is None else float(most)


@dataclass(frozen=True)
class Resolved:
    """Prices of the features of one table, ready for the core."""

    rules: tuple[_core.PriceRule, ...]
    start: Floats  # before anything is bought
    cost: Cost
    given: bool  # False: costs=None, so each price is 1
    structured: bool  # an object or a function, not a plain list
    bags: tuple[tuple[int, ...], ...] | None = None  # columns that are bought and sold together; None: no bags
    bag_prices: Floats | None = None  # of these bags; None: all the same
    row_prices: Floats | None = None  # finite, paid for each row that looks at a feature; None: there are none

    @cached_property
    def bags_of(self) -> dict[int, list[int]]:
        """The bags of each feature; empty without bags."""
        return bags_by_feature(self.bags or ())

    @cached_property
    def overlap(self) -> bool:
        """Whether a feature is in several bags."""
        return any(len(bags) > 1 for bags in self.bags_of.values())

    def on(self, columns: NDArray[np.integer[Any]]) -> Resolved:
        """Prices of these columns alone when all are owned: only rows pay."""
        n = len(columns)
        free = _core.FeaturePrices(np.zeros(n), *flattened([]), 1.0, np.inf)
        by_row = None if self.row_prices is None else self.row_prices[columns]
        start = np.zeros(n) if by_row is None else by_row
        return Resolved((free,), start, self.cost, False, self.structured, row_prices=by_row)

    def payer(self) -> Payer:
        """A new payer, which says which bag pays for each feature."""
        return Payer(self.bags_of, self.bag_prices)

    def count(self, order: NDArray[np.integer[Any]]) -> int:
        """How many bags (without bags: features) are owned after these purchases, in this order."""
        payer = self.payer()
        return len({payer.buy(f) for f in order.tolist()})

    def at_most(self, number: int) -> Resolved:
        """The same prices with a limit on the number of bags (without bags: of features)."""
        n = len(self.start)
        rule: _core.PriceRule
        if self.bags is None:
            rule = _core.FeaturePrices(np.zeros(n), *flattened([]), 1.0, float(number))
        else:  # a second rule that only counts bags, by the same prices
            ranks = np.zeros(len(self.bags)) if self.bag_prices is None else self.bag_prices
            bags_of = flattened([self.bags_of[f] for f in range(n)])
            rule = _core.BagPrices(*bags_of, ranks, float(number), only_counts=True)
        return replace(self, rules=(*self.rules, rule))

    @property
    def key(self) -> str:
        """A text that is the same for equal prices."""
        return self.cost.key


class Cost(ABC):
    """Prices that may depend on what is owned.

    Objects are immutable; ``a + b`` adds prices, ``==`` compares them, ``get_params`` lets a grid search vary them
    (``costs__discount=[0.1, 0.5]``).

    Examples
    --------
    >>> from frugalboost.costs import Bags, Prices
    >>> Prices({"a": 2.0}) + Bags({"left": ["a", "b"]})
    Prices(values={'a': 2.0}) + Bags(groups={'left': ['a', 'b']})
    """

    unit: str | None = None
    __array_ufunc__ = None  # numpy leaves array + Cost to us
    _from_plain: ClassVar[Callable[[Any], Cost]]  # as_cost of resolve.py, which knows the classes made from this one

    @abstractmethod
    def rules(self, table: FeatureTable) -> tuple[_core.PriceRule, ...]:
        """Resolve against a table: names to columns, prices checked."""

    def bags(self, table: FeatureTable) -> tuple[tuple[int, ...], ...] | None:
        """Columns that are bought together; None without bags."""
        return None

    def bag_prices(self, table: FeatureTable) -> Floats | None:
        """Prices of these bags, which decide which bag a feature of several bags pays; None if all are the same."""
        return None

    def row_prices(self, table: FeatureTable) -> Floats | None:
        """Prices that each row pays that looks at a feature for the first time; None if there are none."""
        return None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments that this object was made with.

        Parameters
        ----------
        deep : bool, default=True
            Ignored; price objects have no nested parameters.

        Returns
        -------
        dict
            By name.

        Examples
        --------
        >>> from frugalboost.costs import Neighbours
        >>> Neighbours((2, 2), discount=0.3).get_params()["discount"]
        0.3
        """
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def replaced(self, **changes: Any) -> Self:
        """Return a copy with other arguments.

        Parameters
        ----------
        **changes
            By name.

        Returns
        -------
        Cost
            The changed copy.

        Examples
        --------
        >>> from frugalboost.costs import Prices
        >>> Prices([1, 2]).replaced(unit="ms")
        Prices(values=[1, 2], unit='ms')
        """
        return replace(self, **changes)  # type: ignore[type-var]

    def __add__(self, other: Any) -> Sum:
        return Sum((*_terms(self), *_terms(Cost._from_plain(other))))

    def __radd__(self, other: Any) -> Sum:
        return Cost._from_plain(other) + self if not (isinstance(other, int) and other == 0) else Sum(_terms(self))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        shown = []
        for f in fields(self):  # type: ignore[arg-type]
            value = getattr(self, f.name)
            if comparable(value) != comparable(f.default):
                shown.append(f"{f.name}={_short(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    def key(self) -> str:
        """A text that is the same for equal prices."""
        return repr(self._key())

    def _key(self) -> Hashable:
        return (type(self).__name__, *(comparable(v) for v in self.get_params().values()))


@dataclass(frozen=True, eq=False, repr=False)
class Sum(Cost):
    """Several prices added up; made by ``+``.

    Parameters
    ----------
    terms : tuple of Cost
        What is added.

    Examples
    --------
    >>> from frugalboost.costs import Prices, Sum
    >>> isinstance(Prices([1, 2]) + Prices([3, 4]), Sum)
    True
    """

    terms: tuple[Cost, ...]

    def __post_init__(self) -> None:
        if not self.terms or not all(isinstance(t, Cost) for t in self.terms):
            raise ValueError("Sum: terms must be a tuple of price objects; add them with +.")
        if len({t.unit for t in self.terms if t.unit is not None}) > 1:
            units = sorted({t.unit for t in self.terms if t.unit is not None})
            raise ValueError(f"Prices in {' and '.join(units)} can't be added; give them one unit.")

    @property
    def unit(self) -> str | None:  # type: ignore[override]
        """The unit of the terms that have one."""
        return next((t.unit for t in self.terms if t.unit is not None), None)

    def rules(self, table: FeatureTable) -> tuple[_core.PriceRule, ...]:
        """Resolve every term."""
        return tuple(rule for term in self.terms for rule in term.rules(table))

    def bags(self, table: FeatureTable) -> tuple[tuple[int, ...], ...] | None:
        """Bags of the first term that has any."""
        return next((bags for bags in (term.bags(table) for term in self.terms) if bags is not None), None)

    def bag_prices(self, table: FeatureTable) -> Floats | None:
        """Prices of the bags of that term."""
        return next((term.bag_prices(table) for term in self.terms if term.bags(table) is not None), None)

    def row_prices(self, table: FeatureTable) -> Floats | None:
        """Prices per row of all terms, added up."""
        found = [prices for term in self.terms if (prices := term.row_prices(table)) is not None]
        with np.errstate(over="ignore"):
            return np.sum(found, axis=0) if found else None

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.terms))


Costs: TypeAlias = "Cost | ArrayLike | Mapping[str, float] | Callable[..., ArrayLike] | None"


def _terms(cost: Cost) -> tuple[Cost, ...]:
    return cost.terms if isinstance(cost, Sum) else (cost,)


def comparable(value: Any) -> Hashable:
    """A form of an argument that can be compared and hashed."""
    if isinstance(value, Cost):
        return value._key()
    if is_dataclass(value) and not isinstance(value, type):
        return (type(value).__name__, *(comparable(getattr(value, f.name)) for f in fields(value)))
    if sparse.issparse(value) or (isinstance(value, np.ndarray) and value.ndim == 2):
        coo = sparse.coo_array(value)
        return ("matrix", coo.shape, tuple(sorted(zip(*map(np.ndarray.tolist, coo.coords), coo.data.tolist()))))
    if hasattr(value, "edges"):
        edges = value.edges() if callable(value.edges) else value.edges
        return ("edges", tuple(sorted(repr(tuple(edge)[:2]) for edge in edges)))
    if hasattr(value, "items"):
        return ("mapping", tuple(sorted(((repr(k), comparable(v)) for k, v in value.items()), key=repr)))
    if isinstance(value, set | frozenset):
        return ("set", tuple(sorted(map(repr, value))))
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return ("list", tuple(map(comparable, value)))
    if isinstance(value, float) and value != value:
        return "NaN"
    return value if isinstance(value, Hashable) else id(value)


def _short(value: Any) -> str:
    if sparse.issparse(value):
        return f"<sparse {'x'.join(map(str, value.shape))}>"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if callable(value) and hasattr(value, "__qualname__"):
        return str(value.__qualname__)
    text = repr(value)
    if len(text) <= 120:
        return text
    return f"{text[:100]}..." + (f" ({len(value)} in all){text[-1]}" if hasattr(value, "__len__") else "")
