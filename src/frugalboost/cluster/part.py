"""What each worker of a fit does: read its rows, check and bin them, and boost together with the others."""

from __future__ import annotations

import hashlib
import pickle
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from distributed import Client, Future, get_client, get_worker, secede
from numpy.typing import NDArray

from frugalboost import _core
from frugalboost._support.threads import threads_for
from frugalboost.cluster.exchange import ApartError, Member, StoppedError, here, this_member
from frugalboost.cluster.partitions import Partitions
from frugalboost.losses import BuiltIn
from frugalboost.selection.final_fit import FitResult
from frugalboost.tables.by_name import known_columns
from frugalboost.tables.parts import of_all
from frugalboost.tables.reading import read_part
from frugalboost.tables.sample import Checksums, Sample
from frugalboost.tables.sources import Batch, Batches, rows_of
from frugalboost.training.fit import FIRST_STAGE, fit_in_stages, prepare
from frugalboost.training.model import Model
from frugalboost.training.params import Params
from frugalboost.training.warm_start import WarmStart

ROW_BYTES, ROW_BYTES_OUTPUT = 60, 30  # beside bins: targets, lists of rows, gradients and predictions
EVERY = 0.5  # seconds between two messages about progress
LOOK = 0.2  # seconds between looks whether the fit was ended, while a partition is read


@dataclass(frozen=True)
class Job:
    """What one worker needs to know."""

    fit: str
    estimator: Any
    params: Params
    train: Partitions
    validation: Partitions | None
    verbose: bool = False
    kept: Model | None = None  # by workers that are left of an attempt before


@dataclass(frozen=True)
class Outcome:
    """What the first worker sends back."""

    result: FitResult
    warm: WarmStart
    fitted_on: Checksums
    attributes: dict[str, Any]  # of the estimator: names, classes, categories


def run_part(packed: bytes) -> tuple[Outcome | None, dict[str, Any]]:
    """Do one worker's share of a fit. Returns the outcome, on the first worker, and what was exchanged."""
    job: Job = pickle.loads(packed)
    member = this_member(job.fit)
    member.running = True
    secede()  # the worker's threads read partitions meanwhile
    try:
        member.check()
        outcome = _outcome(job, member)
    except StoppedError:
        raise
    except BaseException as error:
        member.stop_all(f"{type(error).__name__} on worker {get_worker().address}: {error}")
        raise
    finally:
        member.running = False
    return outcome if member.part == 0 else None, asdict(member.counts)


def _outcome(job: Job, member: Member) -> Outcome:
    estimator = job.estimator
    part = member.as_part()
    train, validation = _samples(job, member, part)
    _check_memory(train, estimator._outputs)
    warm = getattr(estimator, "_warm_start", None) if estimator.warm_start else None
    task, threads = replace(estimator._task(train, validation), params=job.params, part=part), _threads(estimator)
    if warm is not None:
        warm.check(task)
    task = prepare(task, threads, warm)
    first_stage = FIRST_STAGE if len(member.addresses) > 1 else task.params.max_iter  # alone there is no one to be left
    observer = Telling(member) if job.verbose and member.part == 0 else None
    model, warm = fit_in_stages(task, threads, warm, job.kept, member.keep, first_stage, observer)
    result = FitResult(model)
    _compare(result, part)
    names = ("n_features_in_", "feature_names_in_", "categories_", "classes_")
    attributes = {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}
    return Outcome(result, warm, train.checksums(part), attributes)


class Telling:
    """Tells the process that started the fit about iterations, now and then."""

    def __init__(self, member: Member) -> None:
        self._member, self._told = member, float("-inf")

    def __call__(self, iteration: int, loss: float, validation_loss: float, features: int, cost: float) -> None:
        """Note one iteration."""
        if time.monotonic() - self._told > EVERY:
            self._told = time.monotonic()
            self._member.tell("iteration", record=[iteration, loss, validation_loss, features, cost])


def _samples(job: Job, member: Member, part: _core.CarriedPart) -> tuple[Sample, Sample | None]:
    estimator = job.estimator
    train = estimator._sample(*read_part(estimator, PartitionBatches(job.train, member), part, reset=True), part)
    if job.validation is None:
        return train, None
    batches = PartitionBatches(job.validation, member, estimator)
    read = read_part(estimator, batches, part, reset=False, what="X_val")
    validation = estimator._validation_rows(*read, part)
    if isinstance(estimator._loss, BuiltIn):
        estimator._loss.check_domain(validation.y, "y_val")
    return train, validation


def _check_memory(train: Sample, outputs: int) -> None:
    """Raise MemoryError if a worker's share will not fit."""
    worker = get_worker()
    limit = worker.memory_manager.memory_limit
    rows, columns = train.table.shape
    needed = rows * (-(-columns // 8) * 8 + ROW_BYTES + ROW_BYTES_OUTPUT * outputs)
    if train.table.in_pieces and limit and needed > limit:
        raise MemoryError(
            f"The share of worker {worker.address}, {rows:,} rows x {columns:,} columns, needs about "
            f"{needed / 1e9:.3g} GB in bins, and the worker may use {limit / 1e9:.3g} GB. Use more workers or larger "
            "ones (memory_limit), or set bins_folder to keep bins in files."
        )


def _threads(estimator: Any) -> int:
    """As many as the worker has, unless the user asks for another number."""
    return int(get_worker().state.nthreads) if estimator.n_jobs is None else threads_for(estimator.n_jobs)


def _compare(result: FitResult, part: _core.CarriedPart) -> None:
    """All workers must have the same model: each has computed all of it from the same sums."""
    model = result.model
    digest = hashlib.sha256()
    for record in (model.ensemble, model.purchases, model.curve):
        for value in vars(record).values():
            digest.update(np.ascontiguousarray(value).tobytes() if isinstance(value, np.ndarray) else b"")
    if len(set(of_all(digest.hexdigest(), part))) > 1:
        raise ApartError("The workers of a fit have grown different models. This is a defect of frugalboost.")


class PartitionBatches(Batches):
    """A worker's partitions as batches; at most two are in memory at a time, the next one being read ahead.

    ``known_to``: an estimator whose columns are taken from data frames that have more.
    """

    def __init__(self, partitions: Partitions, member: Member, known_to: Any = None) -> None:
        self._partitions, self._member, self._known_to = partitions, member, known_to
        self._targets: dict[int, tuple[Any, Any]] = {}  # of partitions that were read
        self.can_choose_columns = partitions.some is not None

    def read(self, columns: Sequence[str] | None = None) -> Iterator[Batch]:
        """All partitions that have rows."""
        client, each = get_client(), self._partitions.each
        futures = self._begin(client, 0, columns) if each else []
        for i in range(len(each)):
            values = [self._value(f) for f in futures]
            futures.clear()  # while one partition is worked on, the next is read, and no other is in memory
            if i + 1 < len(each):
                futures = self._begin(client, i + 1, columns)
            if i not in self._targets:
                *values, y, weights = values
                self._targets[i] = (_vector(y), _vector(weights))
            batch = self._batch(i, values, columns)
            values.clear()
            if len(batch.y):
                yield batch
            del batch

    def _begin(self, client: Client, i: int, columns: Sequence[str] | None) -> list[Future]:
        """Let the worker compute what is needed of a partition."""
        partition = self._partitions.each[i]
        wanted = [] if columns is not None and not columns else [partition.X if columns is None else partition.some]
        if i not in self._targets:
            wanted += [partition.y, partition.weights]
        address = get_worker().address
        return [
            client.compute(w, workers=[address], allow_other_workers=False, retries=0) if w is not None else None
            for w in wanted
        ]

    def _value(self, future: Future | None) -> Any:
        if future is None:
            return None
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        while not done.wait(LOOK):
            self._member.check()
        self._member.check()
        return future.result()

    def _batch(self, i: int, values: list[Any], columns: Sequence[str] | None) -> Batch:
        y, weights = self._targets[i]
        X = values[0] if values else np.empty((len(y), 0))
        if rows_of(X) != len(y):
            raise ValueError(f"A partition of X has {rows_of(X)} rows, but that of y has {len(y)}.")
        if columns is None and self._known_to is not None:
            X = known_columns(self._known_to, X)
        return Batch(X, y, weights)


def _vector(values: Any) -> NDArray[Any] | None:
    if values is None:
        return None
    array: NDArray[Any] = np.asarray(values)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


class AskedPrices:
    """Stands for a user's function of prices on the workers: the process that started the fit is asked.

    The first worker asks, and shares the answer.
    """

    def __init__(self, number: int, shown: str) -> None:
        self._number, self._shown = number, shown

    def __repr__(self) -> str:  # by which a continued fit knows that prices are the same
        return self._shown

    def __call__(self, owned: NDArray[np.bool_], last: int, prices: NDArray[np.float64]) -> Any:
        """Return the new prices."""
        member, answer = here(), b""
        if member.part == 0:
            question = pickle.dumps((self._number, owned, int(last), prices))
            answer = member.ask("prices", question=question)
        return pickle.loads(member.as_part().gather(answer)[0])
