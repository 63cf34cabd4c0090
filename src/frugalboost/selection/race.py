"""A search over mu as a race: all candidates grow few trees, and only those that may still be chosen grow more.

Every fit is continued where it was left, so a model is the same as that of one long fit. All splits of a candidate go
on together: each one that is listed was scored on every split.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frugalboost._support.parallel import Check, run_parallel
from frugalboost._support.progress import Stage, Work
from frugalboost.selection.splits import Fold, Grid, Scored, Trial, chosen_index

Floats = NDArray[np.float64]

FIRST_TREES = 50  # before that nothing is decided
LEADING, CHEAPER = (3, 3), (6, 2)  # of so many that run one goes on, and at least so many: the best, and cheaper ones
TO_COME = 2.0  # what a candidate may still gain, in units of what it gained since it had about half as many trees
LONG = 2.0  # stages in which the number of trees grows by more than this factor have a look in the middle


@dataclass(eq=False)
class Runner:
    """A candidate: a learner with a mu, in every split."""

    learner: int
    value: int  # its place in the grid
    trials: list[Trial | None]  # of each split
    scored: dict[int, list[Scored]] = field(default_factory=dict)  # by number of iterations, of each split

    def add(self, iterations: Sequence[int], found: Sequence[tuple[list[Scored], Trial]]) -> None:
        """Take over the scores of each split at these numbers of iterations, and the state of its fit."""
        self.trials = [trial for _, trial in found]
        for i, t in enumerate(iterations):
            self.scored[t] = [scored[i] for scored, _ in found]

    @property
    def may_go_on(self) -> bool:
        """Whether any of its fits has not converged, and more trees have lowered the held-out loss."""
        if all(trial is not None and trial.result.model.ending == "converged" for trial in self.trials):
            return False
        before, now = self.last_two()
        return bool(_mean(now, LOSS) < _mean(before, LOSS))

    def last_two(self) -> tuple[list[Scored], list[Scored]]:
        """The last scores, and those before."""
        rows = list(self.scored.values())
        return rows[-2] if len(rows) > 1 else rows[-1], rows[-1]

    @property
    def price(self) -> tuple[float, float]:
        """Mean cost and number of features."""
        last = self.last_two()[1]
        return _mean(last, COST), _mean(last, FEATURES)


SCORE, FEATURES, COST, LOSS = range(4)  # columns of a row of results


def _mean(rows: Sequence[Scored], column: int) -> float:
    return float(np.mean([one.row[column] for one in rows]))


class Race:
    """The candidates of a grid over mu on all splits.

    Parameters
    ----------
    folds : sequence of sequences of Fold
        By split and learner.
    grid : Grid
        The candidates; its numbers of iterations are where fits may stop.
    rule : str
        The rule that will choose.
    results : callable
        ``results(scored, candidates)`` makes the results that rules judge, from scores by split and candidate.
    """

    def __init__(
        self,
        folds: Sequence[Sequence[Fold]],
        grid: Grid,
        rule: str,
        results: Callable[[list[list[Scored]], list[dict[str, Any]]], dict[str, Any]],
    ) -> None:
        self._folds, self._grid, self._rule, self._results = folds, grid, rule, results
        places = product(range(len(grid.learners)), range(len(grid.values)))
        self.runners = [Runner(learner, value, [None] * len(folds)) for learner, value in places]

    def run(self, threads: int, verbose: bool) -> None:
        """Grow trees until the choice is clear."""
        running = self.runners
        for stage in stages([t for t in self._grid.iterations if t is not None]):
            self._grow(running, stage, threads, verbose)
            running = self._still_open(running)
            if not running:
                return

    def _grow(self, running: Sequence[Runner], iterations: list[int], threads: int, verbose: bool) -> None:
        """Grow the trees of one stage for all candidates and splits side by side."""
        works = [
            partial(self._in_split, runner, split, iterations)
            for runner in running[::-1]  # the smallest mu take longest
            for split in range(len(self._folds))
        ]
        stage = Stage(Work.CROSS_VALIDATION, f"up to {iterations[-1]} trees, fit")
        found = run_parallel(works, threads, verbose, stage)
        splits = len(self._folds)
        for i, runner in enumerate(running[::-1]):
            runner.add(iterations, found[i * splits : (i + 1) * splits])

    def _in_split(
        self, runner: Runner, split: int, iterations: list[int], check: Check | None, threads: int
    ) -> tuple[list[Scored], Trial]:
        fold, value = self._folds[split][runner.learner], self._grid.values[runner.value]
        return fold.go_on(runner.trials[split], value, self._grid, iterations, check, threads)

    def _still_open(self, running: list[Runner]) -> list[Runner]:
        """Those that may become the best or, by the rule, the choice with more trees; about half of them."""
        scored, candidates = self.table()
        results = self._results(scored, candidates)
        best, choice = chosen_index(results, "min"), chosen_index(results, self._rule)
        mean = results["mean_test_score"]
        top, allowed = mean[best], mean[best] - results["se_test_score"][best]
        price = (results["mean_price"][choice], results["mean_n_features"][choice])
        own = [split[best].row[SCORE] for split in scored]
        still = [(may_reach(r, own), r) for r in running if r.may_go_on]
        leading = _by_score_and_loss([(could, r) for could, r in still if could >= top])[: _kept(LEADING, running)]
        cheaper = [(could, r) for could, r in still if could >= allowed and r.price < price and r not in leading]
        if self._rule != "min":
            leading += _by_score_and_loss(cheaper)[: _kept(CHEAPER, running)]
        return [r for r in running if r in leading]  # in the order of the grid

    def table(self) -> tuple[list[list[Scored]], list[dict[str, Any]]]:
        """Scores by split and candidate of all candidates that were tried, and their parameters."""
        columns: list[list[Scored]] = []
        candidates = []
        for runner in self.runners:
            value = {self._grid.parameter: self._grid.values[runner.value].item()}
            for t, rows in runner.scored.items():
                if t not in self._grid.iterations:  # it was only looked at
                    continue
                columns.append(rows)
                candidates.append(value | self._grid.learners[runner.learner] | {"max_iter": t})
        return [list(split) for split in zip(*columns, strict=True)], candidates


def stages(iterations: Sequence[int]) -> list[list[int]]:
    """Numbers of iterations at which the candidates are scored, stage by stage.

    The first stage has at least FIRST_TREES, if there are as many, and a look before its end.

    Examples
    --------
    >>> from frugalboost.selection.race import stages
    >>> stages([50, 100, 200, 500])
    [[25, 50], [100], [200], [350], [500]]
    """
    early = [t for t in iterations if t < FIRST_TREES]
    late = [t for t in iterations if t >= FIRST_TREES]
    if not late:
        return [early]
    found = [[*(early or [late[0] // 2]), late[0]]]
    for before, t in pairwise(late):
        found += [[(before + t) // 2], [t]] if t > LONG * before else [[t]]
    return found


def may_reach(runner: Runner, best: Sequence[float]) -> float:
    """The mean score that a candidate may reach with more trees, by what the last ones gained.

    ``best``: scores of the best candidate so far. The difference from it is known but for its standard error.
    """
    before, now = runner.last_two()
    gained = max(_mean(now, SCORE) - _mean(before, SCORE), 0.0)
    lost = np.array(best) - [one.row[SCORE] for one in now]
    spread = lost.std(ddof=1) / np.sqrt(len(lost)) if len(lost) > 1 else 0.0
    return float(np.nan_to_num(_mean(now, SCORE) + TO_COME * gained + spread, nan=-np.inf))


def _kept(share: tuple[int, int], running: Sequence[Runner]) -> int:
    return max(share[1], -(-len(running) // share[0]))


def _by_score_and_loss(runners: Sequence[tuple[float, Runner]]) -> list[Runner]:
    """In the order of what they may reach and of their held-out losses together: scores such as accuracy are coarse."""
    by_score = np.argsort(np.argsort([-could for could, _ in runners], kind="stable"), kind="stable")
    by_loss = np.argsort(np.argsort([_mean(r.last_two()[1], LOSS) for _, r in runners], kind="stable"), kind="stable")
    return [runners[i][1] for i in np.argsort(by_score + by_loss, kind="stable")]
