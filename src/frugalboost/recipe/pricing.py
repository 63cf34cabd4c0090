"""Prices and bags from files, CSV or TOML, or as Python objects."""

from __future__ import annotations

import csv
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from frugalboost.costs import Bags, Cost, Prices
from frugalboost.costs.resolve import as_cost, has_row_prices
from frugalboost.recipe.options import Option
from frugalboost.recipe.places import existing_file
from frugalboost.recipe.problems import Problem, listed, unknown
from frugalboost.recipe.request import Settings
from frugalboost.recipe.text import find_delimiter, reason_of

Table = dict[str, Any]


def costs_of(costs: Any, bags: Any, names: Sequence[str], by_number: bool = False) -> Cost | None:
    r"""Prices from files, or as estimators take them.

    Parameters
    ----------
    costs : str, path, mapping, price object or None
        CSV with columns feature and price, or TOML with a table [prices], and optionally ``default``, ``unit``,
        ``free`` and ``never``; it may also have [bags] and [bag_prices]. Or prices by name, or whatever the
        estimators take as ``costs``.
    bags : str, path, mapping, Bags or None
        CSV with columns feature and bag, and optionally price; or TOML with [bags] and [bag_prices]. Or the features
        of each bag, or whatever :class:`~frugalboost.costs.Bags` takes as ``groups``.
    names : sequence of str
        Features of the table.
    by_number : bool, default=False
        The table has no names: use column numbers.

    Returns
    -------
    Cost or None
        None if nothing is given.

    Examples
    --------
    >>> import os, tempfile
    >>> from frugalboost.recipe.pricing import costs_of
    >>> path = os.path.join(tempfile.mkdtemp(), "prices.toml")
    >>> with open(path, "w") as file:
    ...     _ = file.write('unit = "euro"\n[prices]\nmri = 300\n')
    >>> costs_of(path, None, ["age", "mri"])
    Prices(values={'mri': 300.0}, unit='euro')
    >>> costs_of({"mri": 300}, {"scans": ["mri", "ct"]}, ["age", "ct", "mri"])
    Prices(values={'mri': 300}, default=0.0) + Bags(groups={'scans': ['mri', 'ct']})
    """
    try:
        if is_by_name(costs) and is_by_name(bags):
            return by_name(costs, bags, names, by_number)
        own = by_name(costs, None, names, by_number, beside_bags=bags is not None) if is_by_name(costs) else costs
        terms = [] if own is None else [as_cost(own)]
        if is_by_name(bags):
            bags = by_name(None, bags, names, by_number)
        terms += [] if bags is None else [bags if isinstance(bags, Cost) else Bags(bags)]
        return sum(terms[1:], terms[0]) if terms else None
    except Problem:
        raise
    except ValueError as error:
        raise Problem(str(error)) from None


def kept_in_budget(settings: Settings, costs: Cost | None) -> tuple[Settings, str | None]:
    """The settings without selling back where that can't keep the budget, and a sentence that says so.

    Raises Problem where ``k`` asks for it.
    """
    if settings.budget is None or not has_row_prices(costs):
        return settings, None
    why = "the budget also limits what rows pay (PerRow), which is known only after the fit on the features left."
    if settings.k is not None:
        words = f" can't be used together with prices per row: {why} Drop one of them."
        raise Problem(Option("k"), " and ", Option("budget"), words)
    if settings.mu is not None or not settings.sell:
        return settings, None
    return replace(settings, sell=False), f"Selling features back was not tried: {why}"


def is_by_name(given: Any) -> bool:
    """Whether names are given that can be checked against the table: None, a file, or a mapping by names."""
    if isinstance(given, Mapping):
        return all(isinstance(key, str) for key in given) and not any(
            isinstance(feature, int)
            for features in given.values()
            if isinstance(features, list)
            for feature in features
        )
    return given is None or isinstance(given, str | os.PathLike)


def by_name(
    costs: Any, bags: Any, names: Sequence[str], by_number: bool = False, beside_bags: bool = False
) -> Cost | None:
    """Prices from files and mappings, all of whose names must be in the table."""
    prices, groups = prices_given(costs), bags_given(bags)
    known = set(names)
    for given, what, features in (
        (costs, "costs", [*prices.get("prices", {}), *prices.get("free", ()), *prices.get("never", ())]),
        (costs, "costs", members(prices)),
        (bags, "bags", members(groups)),
    ):
        where = what if isinstance(given, Mapping) else given
        for name in features:
            if name not in known and not (by_number and left_out(name, names)):
                raise unknown("feature", str(name), names, f"the table, but {where} mentions it")
    if by_number:
        prices, groups = numbered(prices, names), numbered(groups, names)
    return combined(prices, groups, beside_bags)


def prices_given(costs: Any) -> Table:
    """Prices of features, as a TOML file would have them."""
    if costs is None:
        return {}
    return {"prices": dict(costs)} if isinstance(costs, Mapping) else read_prices(os.fspath(costs))


def bags_given(bags: Any) -> Table:
    """Bags of features, as a TOML file would have them."""
    if bags is None:
        return {}
    return {"bags": dict(bags)} if isinstance(bags, Mapping) else read_bags(os.fspath(bags))


def combined(prices: Table, groups: Table, beside_bags: bool = False) -> Cost | None:
    """One object from both files; ``beside_bags``: bags will be added to it."""
    if prices.get("bags") and groups.get("bags"):
        words = ("There are bags in the file of ", Option("costs"), " and in that of ", Option("bags"))
        raise Problem(*words, ": remove one of them.")
    bags_from = groups if groups.get("bags") else prices
    bags = bags_from.get("bags")
    given = any(key in prices for key in ("prices", "free", "never", "default"))
    unit = prices.get("unit", groups.get("unit"))
    parts: list[Cost] = []
    if given or not bags:
        if not prices:
            return None
        # Together with bags, a feature has no price of its own unless one is given.
        default = prices.get("default", 0.0 if bags or beside_bags else 1.0)
        free, never = prices.get("free", ()), prices.get("never", ())
        parts.append(Prices(prices.get("prices", {}), default=default, free=free, never=never, unit=unit))
    if bags:
        parts.append(Bags(bags, prices=bags_from.get("bag_prices") or None, unit=unit))
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


def left_out(name: str, names: Sequence[str]) -> bool:
    """Whether a name may be a column of a LIBSVM file that no row mentions."""
    return name.isascii() and name.isdigit() and int(name) < int(names[-1])


def numbered(table: Table, names: Sequence[str]) -> Table:
    """The same with column numbers instead of names, without columns that no row mentions."""
    place = {name: i for i, name in enumerate(names)}
    changed = dict(table)
    if "prices" in table:
        changed["prices"] = {place[n]: price for n, price in table["prices"].items() if n in place}
    for key in ("free", "never"):
        if key in table:
            changed[key] = [place[n] for n in table[key] if n in place]
    if "bags" in table:
        bags = {bag: [place[n] for n in features if n in place] for bag, features in table["bags"].items()}
        changed["bags"] = {bag: features for bag, features in bags.items() if features or not table["bags"][bag]}
        dropped = table["bags"].keys() - changed["bags"].keys()
        changed["bag_prices"] = {b: price for b, price in table.get("bag_prices", {}).items() if b not in dropped}
    return changed


def members(table: Table) -> list[str]:
    """Features that are in bags."""
    return [name for features in table.get("bags", {}).values() for name in features]


KEYS = ("prices", "default", "unit", "free", "never", "bags", "bag_prices")


def read_toml(path: Path) -> Table:
    """Read a TOML file; Problem for unknown keys."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Problem(f"{path.name} is not a TOML file: {error}") from None
    except OSError as error:
        raise Problem(f"{path.name} can't be read: {reason_of(error)}") from None
    strange = next((key for key in table if key not in KEYS), None)
    if strange is not None:
        raise unknown("key", strange, KEYS, path.name)
    check_shapes(table, path.name)
    for key in ("prices", "bag_prices"):
        if key in table:
            table[key] = {k: number(v, f"{path.name}: {key}.{k}") for k, v in table[key].items()}
    if "default" in table:
        table["default"] = number(table["default"], f"{path.name}: default")
    return table


SHAPES = {
    "prices": (dict, "a table of prices"),
    "bag_prices": (dict, "a table of prices"),
    "bags": (dict, "a table of lists"),
    "free": (list, "a list of features"),
    "never": (list, "a list of features"),
    "unit": (str, "a text"),
}


def check_shapes(table: Table, source: str) -> None:
    """Raise Problem for a key with a value of the wrong type."""
    for key, (kind, words) in SHAPES.items():
        if key in table and not isinstance(table[key], kind):
            raise Problem(f"{source}: {key} must be {words}.")
    lists = [*((f"bag {n!r}", v) for n, v in table.get("bags", {}).items())]
    lists += [(key, table[key]) for key in ("free", "never") if key in table]
    for what, features in lists:
        if not isinstance(features, list) or not all(isinstance(f, str) for f in features):
            raise Problem(f"{source}: {what} must be a list of features.")


def read_prices(place: str) -> Table:
    """Prices of features."""
    path = existing_file(place)
    if path.suffix.lower() == ".toml":
        return read_toml(path)
    found: dict[str, float] = {}
    for row in read_rows(path, ("feature", "price")):
        if row["feature"] in found:
            raise Problem(f"{path.name} has two prices of {row['feature']!r}.")
        found[row["feature"]] = number(row["price"], f"{path.name}: {row['feature']}")
    return {"prices": found}


def read_bags(place: str) -> Table:
    """Bags of features."""
    path = existing_file(place)
    if path.suffix.lower() == ".toml":
        return read_toml(path)
    found: dict[str, list[str]] = {}
    prices: dict[str, float] = {}
    for row in read_rows(path, ("feature", "bag")):
        if row["bag"]:
            found.setdefault(row["bag"], []).append(row["feature"])
            if row.get("price"):
                prices[row["bag"]] = number(row["price"], f"{path.name}: bag {row['bag']}")
    return {"bags": found, "bag_prices": prices}


def read_rows(path: Path, needed: Sequence[str]) -> list[dict[str, str]]:
    """Rows of a small CSV file, with the columns that are needed."""
    try:
        return rows_in(path, needed)
    except UnicodeDecodeError:
        raise Problem(f"{path.name} is not UTF-8. Save it as UTF-8.") from None
    except (csv.Error, OSError) as error:
        raise Problem(f"{path.name} can't be read as CSV: {reason_of(error)}") from None


def rows_in(path: Path, needed: Sequence[str]) -> list[dict[str, str]]:
    """The same, without translating errors."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        first = file.readline()
        file.seek(0)
        delimiter = find_delimiter(first, ",")
        reader = csv.DictReader(file, skipinitialspace=True, delimiter=delimiter)
        heads = [h.strip().lower() for h in reader.fieldnames or ()]
        missing = next((name for name in needed if name not in heads), None)
        if missing is not None:
            raise Problem(f"{path.name} has no column {missing!r}; its first line must name {listed(list(needed))}.")
        reader.fieldnames = heads
        return [{k: (v or "").strip() for k, v in row.items() if k is not None} for row in reader]


def number(value: Any, where: str) -> float:
    """A price; "inf" and "never" mean that the feature can't be bought."""
    try:
        if isinstance(value, bool):
            raise ValueError
        text = str(value).strip()
        return float("inf") if text.lower() == "never" else float(text.replace(",", ".", 1))
    except (TypeError, ValueError):
        raise Problem(f"{where} has the price {value!r}, which is not a number.") from None
