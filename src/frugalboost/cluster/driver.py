"""One fit on a cluster, as the process that starts it sees it: places rows, answers questions, notices what is lost."""

from __future__ import annotations

import logging
import pickle
import queue
import time
import uuid
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import cloudpickle
import dask
from distributed import Client, Future, get_client

import frugalboost
from frugalboost._support.progress import ProgressLine
from frugalboost.cluster import exchange
from frugalboost.cluster.exchange import StoppedError
from frugalboost.cluster.part import Job, Outcome, run_part
from frugalboost.training.fit import ENDINGS
from frugalboost.training.model import Model

LOOK = 0.2  # seconds between looks at workers
PATIENCE = 10.0  # seconds that workers have to end
RETURN = 6.0  # seconds in which a worker may come back if all are lost; nannies start them again
MOST_LOSSES = 10  # workers lost one after another, before a fit gives up
LOG = logging.getLogger("frugalboost")


class ClusterError(RuntimeError):
    """A fit on a cluster could not be finished.

    Examples
    --------
    >>> from frugalboost.dask import ClusterError
    >>> issubclass(ClusterError, RuntimeError)
    True
    """


class LostWorkerWarning(UserWarning):
    """A worker was lost during a fit, which has gone on with the others. The model is the same.

    Examples
    --------
    >>> from frugalboost.dask import LostWorkerWarning
    >>> issubclass(LostWorkerWarning, UserWarning)
    True
    """


class LostWorkers(Exception):
    """Some workers of a fit are gone; the others have kept a model."""

    kept: Model | None = None


@dataclass
class Report:
    """What a fit on a cluster has taken."""

    workers: int = 0
    partitions: int = 0
    exchanges: int = 0  # sums over all workers
    messages: int = 0  # between workers, answers too
    bytes: int = 0  # of values in messages
    seconds_waited: float = 0.0  # for sums, by the worker that waited least
    kept_iterations: int = 0  # that were not done again after the last loss
    lost_workers: list[str] = field(default_factory=list)
    by_purpose: dict[str, list[int]] = field(default_factory=dict)  # exchanges, and bytes of values each worker brings


def client_for(client: Client | None) -> Client:
    """The client given, or the current one."""
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise ValueError(
                "There is no Dask client. Make one before fit: client = dask.distributed.Client(address), or Client() "
                "for a cluster on this machine."
            ) from None
    if client.asynchronous:
        raise ValueError("The Dask client is asynchronous, but fit waits. Use Client(..., asynchronous=False).")
    return client


class ClusterFit:
    """One fit.

    Parameters
    ----------
    client : Client
        The cluster.
    job : Job
        What all workers do; its partitions are all that there are.
    functions : sequence of callable
        Users' functions of prices, called here.
    """

    def __init__(self, client: Client, job: Job, functions: Sequence[Callable[..., Any]]) -> None:
        self._client, self._job, self._functions = client, job, functions
        self._answers: dict[bytes, bytes] = {}  # what functions have said, in case a fit begins again
        self.report = Report(partitions=len(job.train))

    def run(self) -> Outcome:
        """Fit, on the workers that are left if some are lost."""
        while True:
            workers = self._workers()
            try:
                return Attempt(self._client, self._job, workers, self._answer).run(self.report)
            except LostWorkers as lost:
                self._tell_losses(lost.args[0])
                self._job = replace(self._job, kept=lost.kept)
                self.report.kept_iterations = 0 if lost.kept is None else lost.kept.n_iterations

    def _workers(self) -> list[str]:
        """As many workers as have partitions."""
        found = self._usable()
        if not found and self.report.lost_workers:  # a nanny may be starting one again
            end = time.monotonic() + RETURN
            while not found and time.monotonic() < end:
                time.sleep(LOOK)
                found = self._usable()
        if not found:
            lost = f" Lost: {', '.join(self.report.lost_workers)}." if self.report.lost_workers else ""
            raise ClusterError(f"The cluster has no workers.{lost} Start some: dask worker ADDRESS.")
        return sorted(found)[: max(1, len(self._job.train))]

    def _usable(self) -> list[str]:
        """The workers that there are, of those that ``dask.annotate(workers=...)`` allows."""
        asked = dask.get_annotations().get("workers")
        allowed = [asked] if isinstance(asked, str) else asked
        return [w for w in _alive(self._client) if allowed is None or w in allowed]

    def _tell_losses(self, lost: list[str]) -> None:
        if not self.report.lost_workers:
            warnings.warn(
                f"Worker {', '.join(lost)} was lost during the fit, which goes on with those that are left. The model "
                "will be the same.",
                LostWorkerWarning,
                stacklevel=6,
            )
        else:
            LOG.warning("Worker %s was lost too; the fit goes on with those that are left.", ", ".join(lost))
        self.report.lost_workers += lost
        if len(self.report.lost_workers) >= MOST_LOSSES:
            raise ClusterError(
                f"{len(self.report.lost_workers)} workers were lost during the fit, which was given up. The logs of "
                "workers say why; too little memory is the usual reason."
            )

    def _answer(self, packed: bytes) -> bytes:
        """Call a user's function of prices, once for each question."""
        if packed not in self._answers:
            number, owned, last, prices = pickle.loads(packed)
            self._answers[packed] = cloudpickle.dumps(self._functions[number](owned, last, prices))
        return self._answers[packed]


def _alive(client: Client) -> dict[str, int]:
    """The workers that there are, with their numbers of threads."""
    try:
        found: dict[str, int] = client.nthreads()
    except (OSError, RuntimeError) as error:
        raise ClusterError(f"The scheduler can't be reached any more: {error}") from None
    return found


class Attempt:
    """A fit on certain workers, all of which must stay."""

    def __init__(self, client: Client, job: Job, workers: list[str], answer: Callable[[bytes], bytes]) -> None:
        self._client, self._workers, self._answer = client, workers, answer
        self._job = replace(job, fit=f"{job.fit}-{uuid.uuid4().hex[:8]}")
        self._told: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._topic = f"{exchange.TOPIC}-{self._job.fit}"
        done = 0 if job.kept is None else job.kept.n_iterations
        self._line = ProgressLine(done, job.params.max_iter) if job.verbose else None

    def run(self, report: Report) -> Outcome:
        """Start all workers, and wait for them."""
        self._client.subscribe_topic(self._topic, lambda event: self._told.put(event[1]))
        futures: list[Future] = []
        try:
            self._join()
            futures = self._submit()
            self._wait(futures)
            outcome = self._collect(futures, report)
            if self._line is not None:
                self._line.close(f"stopped: {ENDINGS[outcome.result.model.ending]}")
            return outcome
        except BaseException as error:
            self._end(f"The fit was ended: {type(error).__name__}")
            if isinstance(error, LostWorkers):
                error.kept = self._kept()
            raise
        finally:
            for future in futures:
                future.release()
            self._client.unsubscribe_topic(self._topic)
            self._on_all(exchange.forget_fit, self._job.fit)

    def _join(self) -> None:
        """Tell all workers who takes part."""
        answers = self._on_all(_version)
        lost = [w for w in self._workers if w not in answers]
        if lost:
            raise LostWorkers(lost)
        for worker, version in answers.items():
            if version != frugalboost.__version__:
                raise ClusterError(
                    f"Worker {worker} has {version if isinstance(version, str) else 'no frugalboost'}, and this "
                    f"process frugalboost {frugalboost.__version__}. Install the same version on all workers."
                )
        self._on_all(exchange.join_fit, self._job.fit, self._workers, exchange.FANOUT)

    def _submit(self) -> list[Future]:
        job, parts = self._job, len(self._workers)
        train = job.train.shares(parts)
        validation = [None] * parts if job.validation is None else job.validation.shares(parts)
        return [
            self._client.submit(
                run_part,
                cloudpickle.dumps(replace(job, train=train[p], validation=validation[p])),
                key=f"{self._topic}-{p}",
                workers=[worker],
                allow_other_workers=False,
                retries=0,
                pure=False,
            )
            for p, worker in enumerate(self._workers)
        ]

    def _wait(self, futures: list[Future]) -> None:
        """Until all are done; answers questions meanwhile."""
        looked = 0.0
        while True:
            try:
                told = self._told.get(timeout=LOOK / 4)
                self._hear(told)
                continue
            except queue.Empty:
                pass
            if all(f.status == "finished" for f in futures):
                return
            failed = [f for f in futures if f.status in ("error", "lost", "cancelled")]
            if failed or time.monotonic() - looked > LOOK:
                looked = time.monotonic()
                self._look(futures)

    def _look(self, futures: list[Future]) -> None:
        """Raise an error if a worker is gone or has failed."""
        alive = _alive(self._client)
        lost = [w for w in self._workers if w not in alive]
        if lost:
            raise LostWorkers(lost)
        errors = [f.exception() for f in futures if f.status == "error"]
        own = [e for e in errors if not isinstance(e, StoppedError)]
        if own:
            raise own[0]
        if any(f.status in ("lost", "cancelled") for f in futures):
            raise ClusterError("Tasks of the fit were cancelled on the cluster.")
        if errors and len(errors) == len(futures):
            raise ClusterError(f"The fit was ended on the cluster: {errors[0]}.")

    def _hear(self, told: dict[str, Any]) -> None:
        if told["what"] == "iteration" and self._line is not None:
            self._line(*told["record"])
        if told["what"] == "prices":
            answer = self._answer(told["question"])
            self._on([self._workers[told["part"]]], exchange.give_answer, self._job.fit, told["number"], answer)

    def _collect(self, futures: list[Future], report: Report) -> Outcome:
        outcome: Outcome | None = None
        report.workers, waited = len(futures), []
        for p, future in enumerate(futures):
            try:
                found, counts = future.result(timeout=PATIENCE)
            except Exception:
                self._look(futures)
                raise
            outcome = found if p == 0 else outcome
            report.exchanges = counts["exchanges"]
            report.messages += counts["messages"]
            report.bytes += counts["bytes"]
            report.by_purpose = counts["by_purpose"]
            waited.append(counts["seconds"])
        report.seconds_waited = min(waited)
        assert outcome is not None
        return outcome

    def _end(self, reason: str) -> None:
        """End the fit on all workers, and wait until it has."""
        end = time.monotonic() + PATIENCE
        self._on_all(exchange.stop_fit, self._job.fit, reason)
        while time.monotonic() < end:
            if not any(v is True for v in self._on_all(exchange.still_running, self._job.fit).values()):
                return
            time.sleep(LOOK / 4)
        LOG.warning("Workers still compute for a fit that was ended; they will stop at their next sum.")

    def _kept(self) -> Model | None:
        """What workers that are left have kept: the longest of their models."""
        packed = [p for p in self._on_all(exchange.kept_by, self._job.fit).values() if isinstance(p, bytes)]
        models: list[Model] = [pickle.loads(p) for p in packed]
        return max(models, key=lambda model: model.n_iterations, default=self._job.kept)

    def _on_all(self, function: Callable[..., Any], *args: Any) -> dict[str, Any]:
        return self._on(self._workers, function, *args)

    def _on(self, workers: list[str], function: Callable[..., Any], *args: Any) -> dict[str, Any]:
        """Run a function on the event loops of those workers that are left."""
        try:
            alive = _alive(self._client)
            left = [w for w in workers if w in alive]
            found: dict[str, Any] = self._client.run(function, *args, workers=left, on_error="return") if left else {}
        except (ClusterError, OSError, RuntimeError):
            return {}
        return {w: v for w, v in found.items() if not isinstance(v, OSError)}


def _version() -> str:
    return frugalboost.__version__
