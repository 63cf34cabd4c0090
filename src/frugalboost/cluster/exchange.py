"""Sums over the workers of a fit: messages along a tree of workers, over Dask's own connections.

Worker ``p`` sends its values to worker ``(p - 1) // FANOUT``, which adds those of all its children to its own, sends
the sums on, and answers with the sums over all workers. The connections are those that Dask's workers move data with,
so they are encrypted where the cluster is, and no port is opened.
"""

from __future__ import annotations

import asyncio
import pickle
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from distributed import Worker, get_worker
from distributed.protocol import Serialize, to_serialize
from numpy.typing import NDArray

from frugalboost import _core

FANOUT = 8
OPERATION = "frugalboost_exchange"  # the name of our messages among those of Dask
TOPIC = "frugalboost"  # of what a fit tells the process that started it; the fit's name follows
Values = NDArray[np.int64] | NDArray[np.float64]
WORTH_A_FRAME = 2**15  # bytes; smaller values travel within the message
STOP = -1  # the number of a message that ends a fit


class StoppedError(RuntimeError):
    """A worker stops because another one did, or because the fit was ended."""


class ApartError(RuntimeError):
    """Workers of a fit make different calls, which is a defect."""


@dataclass
class Counts:
    """What a worker has exchanged with others."""

    exchanges: int = 0
    messages: int = 0  # sent by this worker, answers too
    bytes: int = 0  # of values sent by this worker
    seconds: float = 0.0  # waited for sums, in the fit's thread
    by_purpose: dict[str, list[int]] = field(default_factory=dict)  # exchanges and bytes of values of each purpose


@dataclass
class Message:
    """Values of one worker, and what they are."""

    what: str
    sums: NDArray[np.int64]
    most: NDArray[np.float64]  # numbers whose maxima are wanted

    @property
    def bytes(self) -> int:
        """The size of the values."""
        return self.sums.nbytes + self.most.nbytes

    def packed(self) -> tuple[str, Any, Any]:
        """The message as Dask sends it: large arrays without a copy."""
        return self.what, _packed(self.sums), _packed(self.most)

    @classmethod
    def unpacked(cls, what: str, sums: Any, most: Any) -> Message:
        """The message that was sent."""
        return cls(what, _unpacked(sums, np.int64), _unpacked(most, np.float64))

    def joined(self, other: Message) -> Message:
        """Sums and maxima of two workers."""
        if (self.what, self.sums.shape, self.most.shape) != (other.what, other.sums.shape, other.most.shape):
            raise ApartError(
                f"The workers of a fit have come apart: one adds up {self.what}, another {other.what}. The fit was "
                "ended on all of them. This is a defect of frugalboost: please report it."
            )
        return Message(self.what, self.sums + other.sums, np.maximum(self.most, other.most))


def _packed(values: Values) -> Any:
    return values.tobytes() if values.nbytes < WORTH_A_FRAME else to_serialize(values)


def _unpacked(values: Any, kind: type) -> Any:
    if isinstance(values, Serialize):  # between workers of one process nothing is sent
        return values.data
    return np.frombuffer(values, dtype=kind) if isinstance(values, bytes) else values


class Round:
    """One exchange: what children have sent, and the answer that they wait for."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.arrived: dict[int, Message] = {}
        self.complete: asyncio.Future[None] = loop.create_future()
        self.total: asyncio.Future[Message] = loop.create_future()

    def fail(self, error: Exception) -> None:
        """End everyone who waits."""
        for future in (self.complete, self.total):
            if not future.done():
                future.set_exception(error)
                future.exception()  # so that asyncio does not complain where no one waits


class Member:
    """A worker's place in a fit. ``exchange`` and ``leave`` are what the core calls, on the fit's thread."""

    def __init__(self, worker: Worker, fit: str, part: int, addresses: Sequence[str], fanout: int = FANOUT) -> None:
        self.fit, self.part, self.addresses = fit, part, list(addresses)
        self.counts = Counts()
        self.stopped: str | None = None
        self.running = False  # whether a thread works for it
        self.kept: Any = None  # the model so far, which all workers have
        self.key: str | None = None  # of the task whose thread that is
        self._worker, self._loop = worker, worker.loop.asyncio_loop
        self._parent = None if part == 0 else self.addresses[(part - 1) // fanout]
        self._children = [c for c in range(part * fanout + 1, part * fanout + fanout + 1) if c < len(self.addresses)]
        self._rounds: dict[int, Round] = {}
        self._number = 0
        self._waiting: Future[Any] | None = None
        self._task: asyncio.Task[None] | None = None
        self._answers: dict[int, Future[Any]] = {}
        self._lock = threading.Lock()

    # ------------------------------------------------------------------------------------- on the fit's thread

    def exchange(self, sums: NDArray[np.int64], most: NDArray[np.float64], what: str) -> None:
        """Replace whole numbers by their sums, and other numbers by their maxima, over all workers."""
        begin = time.perf_counter()
        own = Message(what, sums.copy(), most.copy())  # where the fit is ended, the core does not wait until it is sent
        done: Future[Message] = Future()
        with self._lock:
            self.check()
            self._waiting = done
        number, self._number = self._number, self._number + 1
        self._loop.call_soon_threadsafe(self._begin, number, own, done)
        total = done.result()
        sums[:], most[:] = total.sums, total.most
        self._waiting = None
        self.counts.exchanges += 1
        self.counts.seconds += time.perf_counter() - begin
        tally = self.counts.by_purpose.setdefault(what, [0, 0])
        tally[0] += 1
        tally[1] += own.bytes

    def leave(self) -> None:
        """End the fit on all other workers; of the reasons given the first one counts."""
        if self.stopped is None:
            self.stop_all(f"Worker {self._worker.address} has stopped")

    def stop_all(self, reason: str) -> None:
        """End the fit here and on all other workers."""
        self._loop.call_soon_threadsafe(self.stop, reason)
        for address in self.addresses:
            if address != self._worker.address:
                asyncio.run_coroutine_threadsafe(self._tell_stop(address, reason), self._loop)

    def as_part(self) -> _core.CarriedPart:
        """What the core needs to know of it."""
        return _core.CarriedPart(self.part, len(self.addresses), self)

    def keep(self, model: Any) -> None:
        """Keep the model so far, for a fit that goes on without some of the workers."""
        self.kept = model

    def check(self) -> None:
        """Raise StoppedError if the fit was ended."""
        if self.stopped is not None:
            raise StoppedError(self.stopped)

    def tell(self, what: str, **content: Any) -> None:
        """Send a message to the process that started the fit."""
        self._worker.log_event(f"{TOPIC}-{self.fit}", {"what": what, "part": self.part, **content})

    def ask(self, what: str, **content: Any) -> Any:
        """Send a question to the process that started the fit, and wait for the answer."""
        self.check()
        answer: Future[Any] = Future()
        with self._lock:
            number = len(self._answers)
            self._answers[number] = answer
            if self.stopped is not None:
                raise StoppedError(self.stopped)
        self.tell(what, number=number, **content)
        return answer.result()

    # -------------------------------------------------------------------------------------- on the event loop

    def _begin(self, number: int, own: Message, done: Future[Message]) -> None:
        task = None if self.key is None else self._worker.state.tasks.get(self.key)
        if self.key is not None and (task is None or task.state in ("cancelled", "released", "forgotten")):
            self.stop_all("The process that started the fit has gone")
        self._task = asyncio.ensure_future(self._run(number, own, done))

    async def _run(self, number: int, own: Message, done: Future[Message]) -> None:
        try:
            total = await self._total(number, own)
        except Exception as error:
            if not done.done():
                done.set_exception(error)
            self.stop(str(error) or type(error).__name__)
        else:
            if not done.done():
                done.set_result(total)

    async def _total(self, number: int, own: Message) -> Message:
        here = self._round(number)
        if self._children:
            await here.complete
        total = reduce(Message.joined, here.arrived.values(), own)
        if self._parent is not None:
            total = await self._send_up(number, total)
        del self._rounds[number]
        for _ in self._children:
            self._count(total)
        if not here.total.done():
            here.total.set_result(total)
        return total

    async def _send_up(self, number: int, message: Message) -> Message:
        assert self._parent is not None
        self._count(message)
        call = getattr(self._worker.rpc(self._parent), OPERATION)
        try:
            answer = await call(fit=self.fit, part=self.part, number=number, message=message.packed())
        except OSError as error:
            raise StoppedError(f"Worker {self._parent} can't be reached any more ({error})") from None
        if answer is None:
            raise StoppedError(f"Worker {self._parent} knows nothing of the fit")
        if "stopped" in answer:
            raise StoppedError(answer["stopped"])
        return Message.unpacked(*answer["total"])

    async def arrive(self, part: int, number: int, message: Message) -> Message:
        """Take the values of a child; return the sums over all workers when they are known."""
        if self.stopped is not None:
            raise StoppedError(self.stopped)
        here = self._round(number)
        here.arrived[part] = message
        if len(here.arrived) == len(self._children) and not here.complete.done():
            here.complete.set_result(None)
        return await asyncio.shield(here.total)

    def stop(self, reason: str) -> None:
        """End the fit on this worker: everything that waits gets an error."""
        with self._lock:
            if self.stopped is None:
                self.stopped = reason
            error = StoppedError(self.stopped)
            for future in (self._waiting, *self._answers.values()):
                if future is not None and not future.done():
                    future.set_exception(error)
        for here in list(self._rounds.values()):
            here.fail(error)
        if self._task is not None and not self._task.done() and self._task is not asyncio.current_task():
            self._task.cancel()

    def answered(self, number: int, answer: Any) -> None:
        """Take the answer to a question."""
        future = self._answers.get(number)
        if future is not None and not future.done():
            future.set_result(answer)

    def _round(self, number: int) -> Round:
        if number not in self._rounds:
            self._rounds[number] = Round(self._loop)
        return self._rounds[number]

    def _count(self, message: Message) -> None:
        self.counts.messages += 1
        self.counts.bytes += message.bytes

    async def _tell_stop(self, address: str, reason: str) -> None:
        try:
            call = getattr(self._worker.rpc(address), OPERATION)
            await call(fit=self.fit, part=self.part, number=STOP, message=(reason, b"", b""))
        except OSError:
            pass  # it is lost, which the process that started the fit sees too


# ------------------------------------------------------------------------------------------- members of a worker


class Members:
    """The places in fits that a worker has, by the names of the fits."""

    NAME = "frugalboost"  # among the extensions of a Dask worker

    def __init__(self, worker: Worker) -> None:
        self.places: dict[str, Member] = {}
        worker.handlers[OPERATION] = self.on_message

    @classmethod
    def of(cls, worker: Worker) -> Members:
        """Those of a worker."""
        if cls.NAME not in worker.extensions:
            worker.extensions[cls.NAME] = cls(worker)
        members: Members = worker.extensions[cls.NAME]
        return members

    async def on_message(self, fit: str, part: int, number: int, message: tuple[str, Any, Any]) -> dict[str, Any]:
        """Answer a message of another worker."""
        member = self.places.get(fit)
        if member is None:
            return {"stopped": "The fit has ended"}
        if number == STOP:
            member.stop(message[0])
            return {}
        try:
            total = await member.arrive(part, number, Message.unpacked(*message))
            return {"total": total.packed()}
        except StoppedError as error:
            return {"stopped": str(error)}


_HERE = threading.local()


def here() -> Member:
    """The place in a fit that this thread works for."""
    member: Member = _HERE.member
    return member


def this_member(fit: str) -> Member:
    """The place in a fit of the worker whose task this thread runs; the thread works for it from now on."""
    member = Members.of(get_worker()).places.get(fit)
    if member is None:
        raise StoppedError("The fit has ended")
    member.key = get_worker().get_current_task()
    _HERE.member = member
    return member


# These run on the event loop of a worker, sent there by the process that started the fit.


def join_fit(fit: str, addresses: Sequence[str], fanout: int, dask_worker: Worker) -> None:
    """Give a worker its place in a fit."""
    part = list(addresses).index(dask_worker.address)
    Members.of(dask_worker).places[fit] = Member(dask_worker, fit, part, addresses, fanout)


def stop_fit(fit: str, reason: str, dask_worker: Worker) -> None:
    """End a fit on a worker."""
    member = Members.of(dask_worker).places.get(fit)
    if member is not None:
        member.stop(reason)


def still_running(fit: str, dask_worker: Worker) -> bool:
    """Whether a worker's thread still works for a fit."""
    member = Members.of(dask_worker).places.get(fit)
    return member is not None and member.running


def kept_by(fit: str, dask_worker: Worker) -> bytes | None:
    """The model that a worker has kept."""
    member = Members.of(dask_worker).places.get(fit)
    return None if member is None or member.kept is None else pickle.dumps(member.kept)


def forget_fit(fit: str, dask_worker: Worker) -> None:
    """Remove a worker's place in a fit."""
    Members.of(dask_worker).places.pop(fit, None)


def give_answer(fit: str, number: int, answer: object, dask_worker: Worker) -> None:
    """Answer a question of a worker."""
    member = Members.of(dask_worker).places.get(fit)
    if member is not None:
        member.answered(number, answer)
