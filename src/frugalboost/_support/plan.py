"""A plan of long work: its parts, how far it has come, and how long the rest may take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum

from frugalboost._support.progress import Stage, Tally, Work

LARGEST_FIRST = (Work.PATH, Work.CROSS_VALIDATION)  # fits at small mu come first, and take longer
GUESS = 0.05  # a guess of a part's length counts as much as this share of the part, measured
OVERDUE = 0.25  # the same if all that is measured is that the piece in hand takes longer than was thought
MOST = 0.99  # shown before all is done


class Part(Enum):
    """Parts of a plan, with the words that say what is being done."""

    READING = "reading the table"
    SEARCH = "cross-validation"
    SELLING = "selling back"
    ALL_ROWS = "fit on all rows"
    PATH = "path on all rows"
    STEPS = "error with each feature"
    REPORT = "report"


@dataclass(frozen=True)
class Estimate:
    """What is known about a part beforehand.

    Parameters
    ----------
    part : Part
        Which one.
    work : float
        How much work it is, in any unit that all parts of a plan share.
    after : float, default=0.0
        How much of it comes after the pieces that are counted.
    pieces : int, default=0
        The number of pieces that will be counted, if it is not announced at once.
    """

    part: Part
    work: float
    after: float = 0.0
    pieces: int = 0


@dataclass(frozen=True)
class Standing:
    """How far the work is.

    Parameters
    ----------
    label : str
        What is being done.
    share : float
        How much of the time has passed, from 0 to 1; it never falls.
    left : float or None
        Seconds left; None: it can't be told yet.
    """

    label: str
    share: float
    left: float | None


class _Running:
    """The part that is being done: which share of it, and since when."""

    def __init__(self, estimate: Estimate, begin: float) -> None:
        self.estimate, self.begin, self.moved = estimate, begin, begin
        self.share = 0.0  # of the pieces that are counted
        self.next = 1.0  # the share when the piece in hand is done
        self._announced = 0

    def announce(self, total: int, stage: Stage, now: float) -> Callable[[int], float]:
        """Pieces that will be counted; the answer tells the part's share when some of them are done.

        The share falls if there is more to do than was announced before, and jumps if stages were left out.
        """
        if stage.total > 1:  # stages of equal length
            first, length = (stage.number - 1) / stage.total, 1 / stage.total
        else:
            expected = max(self.estimate.pieces, self._announced + total, 1)
            first, length = self._announced / expected, total / expected
            self._announced += total

        def share(done: int) -> float:
            x = min(done / total, 1.0)
            return min(1.0, first + length * (x * (1.5 - 0.5 * x) if stage.work in LARGEST_FIRST else x))

        self.move(share(0), share(1), now)
        return share

    def move(self, share: float, following: float, now: float) -> None:
        """So much is done now, and so much when the next piece is."""
        self.share, self.next, self.moved = share, following, now

    def worked(self) -> float:
        """How much of the estimated work is done, by the pieces; nothing where none were counted."""
        return self.estimate.work * (1.0 if self.share >= 1.0 else self.done())

    def done(self) -> float:
        """The share of the whole part, with what comes after its pieces."""
        return self._whole(self.share)

    def in_hand(self) -> float:
        """The share of the whole part that is being worked on."""
        return (self._whole(self.next) if self.share < 1.0 else 1.0) - self.done()

    def _whole(self, share: float) -> float:
        whole = self.estimate.work
        return share * (1.0 - min(self.estimate.after / whole, 1.0)) if whole > 0 else share


class Plan:
    """Work in several parts, of which each is estimated; says how far it is and how long the rest may take.

    Estimates only say how parts compare. Seconds come from what is done: a part that runs is judged by its own pieces,
    and by its estimate as long as few are done; those to come are judged by all that went before. Parts may be left out
    or end early.

    Parameters
    ----------
    estimates : iterable of Estimate, default=()
        The parts in their order; more can be given with ``expect``.
    clock : callable, default=time.monotonic
        Tells the time in seconds.

    Examples
    --------
    >>> from frugalboost._support.plan import Estimate, Part, Plan
    >>> from frugalboost._support.progress import Stage, Work
    >>> now = [0.0]
    >>> plan = Plan([Estimate(Part.SEARCH, 30), Estimate(Part.STEPS, 10)], clock=lambda: now[0])
    >>> plan.begin(Part.SEARCH)
    >>> tally = plan.count(6, Stage(Work.SUBSAMPLES))
    >>> for _ in range(3):
    ...     now[0] += 5
    ...     tally.step()
    >>> plan.standing()
    Standing(label='cross-validation', share=0.375, left=25.0)
    """

    def __init__(self, estimates: Iterable[Estimate] = (), clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.RLock()
        self._begin = clock()
        self._to_come = list(estimates)
        self._running: _Running | None = None
        self._worked, self._spent = 0.0, 0.0  # estimated work of parts that are over, and the seconds they took
        self._share = 0.0

    def expect(self, *estimates: Estimate) -> None:
        """Add parts, or better estimates of parts that are still to come; one that has begun keeps its estimate."""
        with self._lock:
            for new in estimates:
                places = [i for i, known in enumerate(self._to_come) if known.part is new.part]
                if places:
                    self._to_come[places[0]] = new
                elif self._running is None or self._running.estimate.part is not new.part:
                    self._to_come.append(new)

    def begin(self, part: Part) -> None:
        """A part begins: parts before it are over, whether they were done or not."""
        with self._lock:
            if self._running is not None and self._running.estimate.part is part:
                return
            self._end_part()
            places = [i for i, known in enumerate(self._to_come) if known.part is part]
            estimate = self._to_come[places[0]] if places else Estimate(part, 0.0)
            del self._to_come[: places[0] + 1 if places else 0]
            self._running = _Running(estimate, self._clock())

    def end(self) -> None:
        """All is done."""
        with self._lock:
            self._to_come.clear()
            self._share = 1.0

    def count(self, total: int, stage: Stage) -> Tally:
        """Count pieces of the part that has begun; what :func:`~frugalboost.progress.counted_by` takes."""
        with self._lock:
            return _PlanTally(self, self._running, total, stage)

    def standing(self) -> Standing:
        """How far the work is now."""
        with self._lock:
            now = self._clock()
            left = self._left(now)
            passed = now - self._begin
            if left is not None and passed > 0:
                self._share = max(self._share, min(MOST, passed / (passed + left)))
            label = "" if self._running is None else self._running.estimate.part.value
            return Standing(label, self._share, left)

    def _moved(self, running: _Running, share: float, following: float) -> None:
        """A piece is done."""
        with self._lock:
            if running is self._running and share > running.share:
                running.move(share, following, self._clock())

    def _end_part(self) -> None:
        """Learn from the part that is over how long work takes; one that ended early counts as far as it went."""
        if self._running is not None:
            self._worked += self._running.worked()
            self._spent += self._clock() - self._running.begin if self._running.worked() else 0.0
        self._running = None

    def _left(self, now: float) -> float | None:
        """Seconds left: those of the running part, and of parts to come by the pace so far."""
        running, worked, spent, own_left = self._running, self._worked, self._spent, 0.0
        if running is not None and running.estimate.work > 0:
            length = self._length(running, now)
            if length is None:
                return None
            after_this = 1.0 - running.done() - running.in_hand()
            own_left = max((1.0 - running.done()) * length - (now - running.moved), after_this * length, 0.0)
            worked, spent = worked + running.estimate.work, spent + length
        if worked <= 0:
            return None
        return own_left + sum(estimate.work for estimate in self._to_come) * spent / worked

    def _length(self, running: _Running, now: float) -> float | None:
        """The seconds that the running part takes in all."""
        passed, done = running.moved - running.begin, running.done()
        so_far, with_this = now - running.begin, done + running.in_hand()
        if self._worked > 0:
            guess = running.estimate.work * self._spent / self._worked
            measured = (passed + GUESS * guess) / (done + GUESS)
            return max(measured, (so_far + OVERDUE * guess) / (with_this + OVERDUE))
        return max(passed / done, so_far / with_this) if done > 0 else None


class _PlanTally:
    """Counts pieces of one stage of a part."""

    def __init__(self, plan: Plan, running: _Running | None, total: int, stage: Stage) -> None:
        self._plan, self._running, self._done = plan, running, 0
        self._share = None if running is None else running.announce(max(total, 1), stage, plan._clock())

    def step(self) -> None:
        """One more is done."""
        with self._plan._lock:
            self._done += 1
            if self._running is not None and self._share is not None:
                self._plan._moved(self._running, self._share(self._done), self._share(self._done + 1))


_followed: ContextVar[Plan | None] = ContextVar("frugalboost_plan", default=None)


@contextmanager
def followed(plan: Plan) -> Iterator[None]:
    """Let the work that follows tell a plan which part it has reached."""
    token = _followed.set(plan)
    try:
        yield
    finally:
        _followed.reset(token)


def reached(part: Part) -> None:
    """Tell the plan that is followed, if there is one, that a part begins."""
    plan = _followed.get()
    if plan is not None:
        plan.begin(part)


def foresee(*estimates: Estimate) -> None:
    """Tell the plan that is followed, if there is one, how much work parts will be."""
    plan = _followed.get()
    if plan is not None:
        plan.expect(*estimates)
