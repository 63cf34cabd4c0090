"""What a user asks for, and what can be checked before any table is read.

This module imports nothing slow: the command checks a call before it loads what reads tables and fits models.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from numbers import Integral, Real
from os import fspath
from typing import Any

from frugalboost.recipe.formulas import about_formulas
from frugalboost.recipe.options import LARGEST_SEED, Device, Option, Rule, TaskKind
from frugalboost.recipe.places import check_header, check_place, check_sheet, existing_file, is_path
from frugalboost.recipe.problems import Problem, listed, unknown
from frugalboost.recipe.scores import check_score
from frugalboost.recipe.text import LoadedTable


@dataclass(frozen=True)
class Settings:
    """What a user may set."""

    k: int | None = None
    mu: float | None = None
    rule: str = Rule.ONE_STANDARD_ERROR
    sell: bool = True
    budget: float | None = None
    trees: int = 500
    depth: int | None = None  # None: USUAL_DEPTH, or what is best of WIDE
    fewer: bool = False  # with k: at most that many
    learning_rate: float = 0.1
    leaf: int | None = None
    splits: int | None = None  # None: 5
    points: int | None = None  # None: 20, or as many as are not too much work
    sample: int | None = None  # rows to choose by; None: the same, 0: all
    thorough: bool = False  # a long search: every candidate is fitted to the end
    seed: int = 0
    threads: int | None = None
    device: str = "cpu"
    verbose: int = 0

    @property
    def no_path(self) -> bool:
        """Whether a mu or a number of features is asked for, and no path beside it: only that is tried."""
        asked = self.k is not None or self.mu is not None
        return asked and self.points is None and not self.thorough

    def check(self) -> None:
        """Raise Problem for settings that are out of bounds or don't go together."""
        self.check_together()
        for name, lowest in LOWEST.items():
            check_number(name, getattr(self, name), lowest)
        if self.seed > LARGEST_SEED:
            raise Problem(Option("seed"), f" must be at most {LARGEST_SEED}, not {self.seed}.")
        check_word("rule", self.rule, Rule)
        check_word("device", self.device, Device)

    def check_together(self) -> None:
        """Raise Problem for settings of which one would be ignored."""
        if self.k is not None and self.mu is not None:
            raise Problem(Option("k"), " and ", Option("mu"), " can't be used together: give one of them.")
        if self.fewer and self.k is None:
            raise Problem(Option("fewer"), " needs ", Option("k"), ": it allows fewer features than that.")
        if self.k is not None and not self.sell:
            why = " can't be used together: k features are found by buying more and selling the weakest. Drop "
            raise Problem(
                Option("k"), " and ", NO_SELL, why, NO_SELL, ", or limit the total cost with ", Option("budget"), "."
            )
        asked = next((name for name in ("k", "mu") if getattr(self, name) is not None), None)
        if asked is not None and self.rule in (Rule.MIN, Rule.PAIRED):
            why = " can't be used together: a rule chooses among the models of a path. Drop one of them."
            raise Problem(Option(asked), " and ", Option("rule", str(self.rule)), why)


NO_SELL = Option("sell", False)
LOWEST: dict[str, int | float] = {  # an int bound: the setting must be a whole number
    "k": 1,
    "mu": 0.0,
    "budget": 0.0,
    "trees": 1,
    "depth": 1,
    "learning_rate": 1e-6,
    "leaf": 1,
    "splits": 2,
    "points": 2,
    "sample": 0,
    "seed": 0,
    "threads": 1,
}


def check_number(name: str, value: Any, lowest: int | float) -> None:
    """Raise Problem for a setting that is not such a number; None means that it is not set."""
    if value is None and name not in ("trees", "learning_rate", "seed"):
        return
    whole = isinstance(lowest, int)
    if not isinstance(value, Integral if whole else Real) or isinstance(value, bool):
        raise Problem(Option(name), f" must be a {'whole ' if whole else ''}number, not {value!r}.")
    if not math.isfinite(value):
        raise Problem(Option(name), f" must be a finite number, not {value}.")
    if value < lowest:
        raise Problem(Option(name), f" must be at least {lowest:g}, not {value!r}.")


def check_word(name: str, value: Any, known: type[StrEnum]) -> None:
    """Raise Problem for a setting that is not one of the known words."""
    words = [word.value for word in known]
    if value not in words:
        raise Problem(Option(name), f" must be one of {', '.join(map(repr, words))}, not {value!r}.")


ROLES = {"target": "target", "weight": "column of weights", "group": "column of groups", "time": "column of times"}


@dataclass(frozen=True)
class Roles:
    """Which columns are not features."""

    target: str | None
    weight: str | None = None
    ids: Sequence[str] = ()
    group: str | None = None
    time: str | None = None

    @property
    def named(self) -> list[str]:
        """All of these columns."""
        return [n for n in (self.target, self.weight, *self.ids, self.group, self.time) if n is not None]

    def check(self, loaded: LoadedTable) -> None:
        """Raise Problem for a target that is missing, a column that does not exist, or has two roles."""
        if self.target is None:
            there = f"There are {listed(loaded.names)}."
            raise Problem(Option("target"), f" is missing: name the column to predict. {there}")
        roles = self.named
        for name in roles:
            if name not in loaded.names:
                raise Problem(str(unknown("column", name, loaded.names, loaded.source)) + hint_about_names(loaded))
        twice = next((n for i, n in enumerate(roles) if n in roles[:i]), None)
        if twice is not None:
            raise Problem(f"Column {twice!r} has two roles. Use it as one of target, weight, id, group and time.")
        needed = (self.target, self.weight, self.group, self.time)
        missed = {name: n for name, n in loaded.uncomputed.items() if name in needed}
        if missed:
            role = next(role for role in ("target", "weight", "group", "time") if getattr(self, role) in missed)
            told = about_formulas({getattr(self, role): missed[getattr(self, role)]}, loaded.source)
            raise Problem(f"The {ROLES[role]} can't be read: {told}")


def hint_about_names(loaded: LoadedTable) -> str:
    """What may be wrong with a table that lacks a column: its delimiter, or titles above the names."""
    if loaded.is_sparse or (len(loaded.names) > 1 and 2 * len(loaded.unnamed) < len(loaded.names)):
        return ""
    if len(loaded.names) == 1:
        parted = "fields are parted by commas, semicolons, tabs or vertical bars, and the first line holds their names"
        return f" {loaded.source} has one column; {parted}."
    return " Most columns have no name: if there are titles above the names, remove them."


@dataclass(frozen=True)
class Request:
    """What a user asks for."""

    table: Any
    target: str | None = None
    weight: str | None = None
    ids: Sequence[str] = ()
    group: str | None = None
    time: str | None = None
    test: Any = None
    costs: Any = None
    bags: Any = None
    task: str = TaskKind.AUTO
    scoring: str | None = None
    header: bool = True
    sheet: str | None = None
    settings: Settings = field(default_factory=Settings)
    call: Mapping[str, str] = field(default_factory=dict)  # the call, for the report: "command" or "python"

    def check(self) -> None:
        """Raise Problem for errors that do not depend on the table."""
        self.settings.check()
        check_word("task", self.task, TaskKind)
        if isinstance(self.target, list | tuple) and len(self.target) > 1:
            several = "GBFSRegressor.fit(X, Y) takes several columns of numbers."
            raise Problem(Option("target"), f" names {len(self.target)} columns, and a search is for one. {several}")
        for name in ("target", "weight", "group", "time", "scoring", "sheet"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise Problem(Option(name), f" must be a name, not {type(value).__name__}.")
        for value in self.ids:
            if not isinstance(value, str):
                raise Problem(Option("ids"), f" must be a name or a list of names, not of {type(value).__name__}.")
        check_score(self.scoring)
        for table in (self.table, self.test):
            check_place(table)
        check_sheet(self.sheet, self.table)
        check_header(self.header, self.table)
        for file in (self.costs, self.bags):
            if is_path(file):
                existing_file(fspath(file))

    @property
    def roles(self) -> Roles:
        """Which columns are not features."""
        return Roles(self.target, self.weight, self.ids, self.group, self.time)
