"""Stages: steps that must be passed before features can be bought."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from frugalboost import _core
from frugalboost.costs.cost import Cost, FeatureTable, check_given, check_list, check_price, comparable
from frugalboost.costs.paying import flattened


@dataclass(frozen=True, eq=False)
class Stage:
    """One step: what it costs, which features it opens, and what must come before.

    Parameters
    ----------
    price : float, default=0.0
        Paid once, with the first feature that needs the stage.
    opens : sequence, default=()
        Features, by name or number, that can be bought only through this stage.
    after : sequence of str or str, default=()
        Stages that must be passed before; they are paid along with this one.
    needs : sequence, default=()
        Features that must be owned before; until then the stage is closed.
    cheaper : mapping, default={}
        By what share the open stage lowers the own price of features: ``{"second assay": 0.5}``.

    Examples
    --------
    >>> from frugalboost.costs import Stage
    >>> Stage(30.0, opens=["iron", "sugar"]).price
    30.0
    """

    price: float = 0.0
    opens: Sequence[Any] = ()
    after: Sequence[str] | str = ()
    needs: Sequence[Any] = ()
    cheaper: Mapping[Any, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_price(self.price, "Stage: price")
        check_list(self.opens, "Stage", "opens")
        check_list(self.needs, "Stage", "needs")
        for feature, share in self.cheaper.items():
            if not 0 <= share <= 1:
                raise ValueError(
                    f"Stage: the share taken off feature {feature!r} is {share!r}; it must be between 0 and 1."
                )

    @property
    def before(self) -> tuple[str, ...]:
        """Names of the stages that must be passed before."""
        return (self.after,) if isinstance(self.after, str) else tuple(self.after)

    def __eq__(self, other: object) -> bool:
        return comparable(self) == comparable(other)

    def __hash__(self) -> int:
        return hash(comparable(self))


@dataclass(frozen=True, eq=False, repr=False)
class Stages(Cost):
    """A feature costs its own price and that of every stage before it that is not open yet.

    Parameters
    ----------
    stages : mapping from str to Stage
        The stages by name.
    prices : array-like, mapping, float or None, default=None
        Own prices of features; those that a mapping leaves out cost 1. None: nothing for features behind a stage, 1 for
        the others.
    unit : str or None, default=None
        What a price of 1 is; for reports.

    Examples
    --------
    A sample is drawn once; the second assay on it costs less than the first.

    >>> from frugalboost.costs import Stage, Stages
    >>> costs = Stages(
    ...     {
    ...         "sample": Stage(30.0),
    ...         "first assay": Stage(10.0, opens=["iron"], after="sample", cheaper={"sugar": 0.5}),
    ...         "second assay": Stage(0.0, opens=["sugar"], after="sample"),
    ...     },
    ...     prices={"sugar": 8.0, "iron": 0.0},
    ... )
    >>> sorted(costs.stages)
    ['first assay', 'sample', 'second assay']
    """

    stages: Mapping[str, Stage]
    prices: Any = None
    unit: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.stages, Mapping) or not all(isinstance(s, Stage) for s in self.stages.values()):
            raise ValueError("Stages: give a mapping from names to Stage objects.")
        for name, stage in self.stages.items():
            for earlier in stage.before:
                if earlier not in self.stages:
                    raise ValueError(f"Stages: stage {name!r} comes after {earlier!r}, which does not exist.")
        check_given(self.prices, "Stages")
        self._with_earlier()

    def _with_earlier(self) -> dict[str, set[str]]:
        """Every stage and all before it."""
        found: dict[str, set[str]] = {}

        def with_earlier(name: str, path: tuple[str, ...]) -> set[str]:
            if name in path:
                circle = " after ".join(repr(s) for s in (*path[path.index(name) :], name))
                raise ValueError(f"Stages: {circle} is a cycle.")
            if name not in found:
                earlier = (with_earlier(stage, (*path, name)) for stage in self.stages[name].before)
                found[name] = {name}.union(*earlier)
            return found[name]

        for name in self.stages:
            with_earlier(name, ())
        return found

    def rules(self, table: FeatureTable) -> tuple[_core.PriceRule, ...]:
        """Resolve against a table."""
        number = {name: i for i, name in enumerate(self.stages)}
        before = self._with_earlier()
        needed: list[set[int]] = [set() for _ in range(table.n)]
        for name, stage in self.stages.items():
            for f in _places(table, stage.opens, name):
                needed[f] |= {number[s] for s in before[name]}
        own = table.by_feature(self.prices, 1.0, "Stages")
        if self.prices is None:
            own[[f for f, stages in enumerate(needed) if stages]] = 0.0
        waits = [_places(table, stage.needs, name) for name, stage in self.stages.items()]
        _check_reachable(table, needed, waits)
        cheaper = [_places(table, stage.cheaper, name) for name, stage in self.stages.items()]
        factors = [1.0 - float(share) for stage in self.stages.values() for share in stage.cheaper.values()]
        stage_prices = np.array([float(stage.price) for stage in self.stages.values()])
        rule = _core.StagePrices(
            own,
            *flattened([sorted(stages) for stages in needed]),
            stage_prices,
            *flattened(waits),
            *flattened(cheaper),
            np.array(factors, dtype=np.float64),
        )
        return (rule,)


def _check_reachable(table: FeatureTable, needed: list[set[int]], waits: list[list[int]]) -> None:
    """Raise ValueError if stages need features that need those stages."""
    reached: set[int] = set()
    while True:
        now = {f for f, stages in enumerate(needed) if all(reached.issuperset(waits[s]) for s in stages)}
        if now == reached:
            break
        reached = now
    for f in sorted(set(range(table.n)) - reached):
        raise ValueError(
            f"Stages: feature {table.label(f)} can never be bought: its stages need features that need it."
        )


def _places(table: FeatureTable, features: Iterable[Any], stage: str) -> list[int]:
    return [table.place(f, f"Stages: stage {stage!r}") for f in features]
