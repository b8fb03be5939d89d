"""Trials one after the other in this process, or side by side in others: wherever joblib's backend sends them."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from joblib import Parallel, delayed

from ..methods import Method
from ..sweeps import Array, one_thread
from .leaderboard import Protocol
from .records import Record
from .splits import Split
from .tasks import AnyTable, Task, make_task
from .trials import WORKER_ENDED, failed_record, run_trial, steady_sums

PATIENCE = 2.0
"""Seconds of work that are done in this process before others are started, as starting them takes about as long."""


@dataclass(frozen=True)
class Trial:
    """A method on a split, and where its record is kept."""

    name: str
    method: Method
    split: Split
    key: str
    prepared: float = 0.0
    """Seconds that computing the key took: the first key of a split encodes the training part for all methods."""
    one_fit: float = 0.0
    """About how long one fit to the training part takes; 0 if unknown."""


class TrialPool:
    """Runs trials, ``n_jobs`` of them at a time.

    Parameters
    ----------
    task : Task
    protocol : Protocol
    n_jobs : int
        1: all in this process. More: through ``joblib.Parallel``, by whatever backend is configured.
    patience : float
        Seconds of work in this process before others are started.
    """

    def __init__(self, task: Task, protocol: Protocol, n_jobs: int, patience: float = 0.0) -> None:
        self._task, self._protocol, self.n_jobs = task, protocol, n_jobs
        self._patience = patience if n_jobs > 1 else float("inf")
        self._parcel: Array | None = None
        self._under_way: dict[str, tuple[Trial, float]] = {}

    @property
    def n_under_way(self) -> int:
        """Count the trials that have begun and are not done."""
        return len(self._under_way)

    def run(self, trials: Sequence[Trial], allow: Callable[[Trial], float | None]) -> Generator[Record]:
        """Run trials, begun in their order, and yield their records as they come.

        ``allow`` is asked before each is begun, perhaps by another thread: it returns the seconds the trial may take,
        or None to pass it over.
        """
        waiting = deque(trials)
        while waiting and self._patience > 0:
            trial = waiting.popleft()
            seconds = allow(trial)
            if seconds is None:
                continue
            began = time.perf_counter()
            self._under_way[trial.key] = trial, seconds
            try:
                record = run_trial(
                    self._task,
                    trial.name,
                    trial.method,
                    trial.split,
                    self._protocol,
                    seconds=seconds,
                    one_fit=trial.one_fit,
                    key=trial.key,
                )
            finally:
                del self._under_way[trial.key]
            yield record
            self._patience -= time.perf_counter() - began
        while waiting:
            yield from self._side_by_side(waiting, allow)

    def _side_by_side(self, waiting: deque[Trial], allow: Callable[[Trial], float | None]) -> Iterator[Record]:
        """Run all that wait; where a process dies, what it may have died of is tried again, one by one."""

        def jobs() -> Iterator[Any]:
            while waiting:
                trial = waiting.popleft()
                seconds = allow(trial)
                if seconds is not None:
                    self._under_way[trial.key] = trial, seconds
                    yield self._job(trial, seconds)

        try:
            yield from self._parallel(jobs(), self.n_jobs)
        except Exception as error:
            if not _is_death(error):
                raise
            suspects = list(self._under_way.values())
            self._under_way.clear()
            for trial, seconds in suspects:
                yield self._alone(trial, seconds)
        finally:
            self._under_way.clear()

    def _alone(self, trial: Trial, seconds: float) -> Record:
        """Run one trial in a process of its own; if that dies too, say so in the record."""
        began = time.perf_counter()
        self._under_way[trial.key] = trial, seconds
        try:
            (record,) = self._parallel(iter([self._job(trial, seconds)]), 2)  # with one job, joblib would run it here
        except Exception as error:
            if not _is_death(error):
                raise
            took = time.perf_counter() - began
            record = replace(
                failed_record(self._task, trial.name, trial.split, self._protocol, trial.key, WORKER_ENDED),
                search_seconds=took,
            )
        finally:
            self._under_way.pop(trial.key, None)
        return record

    def _parallel(self, jobs: Iterator[Any], n_jobs: int) -> Iterator[Record]:
        records = None
        try:
            with _shielded():  # the processes are started here
                parallel = Parallel(n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=n_jobs)
                records = parallel(jobs)
            for record in records:
                self._under_way.pop(record.key, None)
                yield record
        finally:
            if records is not None:
                records.close()  # ends what is still under way

    def _job(self, trial: Trial, seconds: float) -> Any:
        if self._parcel is None:
            self._parcel = np.frombuffer(pickle.dumps(self._task.table, protocol=5), dtype=np.uint8)
            _tasks[self._task.fingerprint()] = self._task
        home = os.getpid()
        return delayed(_run_elsewhere)(
            self._parcel, self._task.fingerprint(), home, trial, self._protocol, seconds, self.n_jobs
        )


_tasks: WeakValueDictionary[str, Task] = WeakValueDictionary()
"""The tasks of this process, by fingerprint: threads find them here."""
_unpacked: dict[str, Task] = {}
"""The task that was last sent to this process."""
_unpacking = threading.Lock()


def _run_elsewhere(
    parcel: Array, fingerprint: str, home: int, trial: Trial, protocol: Protocol, seconds: float, n_jobs: int
) -> Record:
    """Run a trial in whatever process or thread this is.

    The table comes as an array of bytes: joblib maps large arrays into the memory of its processes, and Dask sends
    them to each worker once.
    """
    if os.getppid() == home:
        _end_with(home)
    task = _tasks.get(fingerprint) or _unpack(parcel, fingerprint)
    # threads share the process with the one that sent them, which has seen to BLAS
    with one_thread(), nullcontext() if os.getpid() == home else steady_sums(len(task.order)):
        return run_trial(
            task,
            trial.name,
            trial.method,
            trial.split,
            protocol,
            seconds=seconds,
            one_fit=trial.one_fit,
            key=trial.key,
        )


def _unpack(parcel: Array, fingerprint: str) -> Task:
    with _unpacking:
        if fingerprint not in _unpacked:
            table: AnyTable = pickle.loads(np.ascontiguousarray(parcel).data)
            _unpacked.clear()
            _unpacked[fingerprint] = make_task(table)
        return _unpacked[fingerprint]


_watched: set[int] = set()


def _end_with(home: int) -> None:
    """Let this process end when the one that started it is gone: nobody else would end it in the midst of a fit."""
    if home in _watched:
        return
    _watched.add(home)

    def watch() -> None:
        while os.getppid() == home:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="wellorder-watch").start()


@contextmanager
def _shielded() -> Iterator[None]:
    """Keep Ctrl-C from processes that are started inside: they inherit it; this one is told when it is done."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _is_death(error: BaseException) -> bool:
    """Say whether an error means that a process is gone; Dask's has a name of its own."""
    return isinstance(error, BrokenProcessPool) or type(error).__name__ == "KilledWorker"
