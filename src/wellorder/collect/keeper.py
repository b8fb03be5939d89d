"""The one thread that touches the collection, and writes what waits together."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from .collection import Collection, RefusedError
from .store import Store

T = TypeVar("T")

_TOGETHER = 256
"""Requests that share a transaction at most."""


class Keeper:
    """Does to a collection what others ask for, in turn.

    What has come while the disk was busy is written in one transaction: fifty judges who press a key in the same moment
    wait for the disk once, not fifty times. A result is handed out only when it is on the disk. If a transaction fails,
    nobody's result is, and the collection is read anew.
    """

    def __init__(self, store: Store, collection: Collection) -> None:
        self._store, self._collection = store, collection
        self._is_ahead = False
        self._waiting: SimpleQueue[tuple[Callable[[Collection], Any], Future[Any]] | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="keeper", daemon=True)
        self._thread.start()

    def ask(self, work: Callable[[Collection], T]) -> Future[T]:
        """Have this done to the collection; the future has the result once it is on the disk."""
        future: Future[T] = Future()
        self._waiting.put((work, future))
        return future

    def close(self) -> None:
        """Write what waits, close the database and end."""
        self._waiting.put(None)
        self._thread.join()
        self._store.close()

    def _run(self) -> None:
        is_open = True
        while is_open:
            batch = [self._waiting.get()]
            while len(batch) < _TOGETHER:
                try:
                    batch.append(self._waiting.get_nowait())
                except Empty:
                    break
            is_open = None not in batch
            self._do([each for each in batch if each is not None])

    def _do(self, batch: list[tuple[Callable[[Collection], Any], Future[Any]]]) -> None:
        batch = [
            (work, future) for work, future in batch if future.set_running_or_notify_cancel()
        ]  # none ends from now on
        done: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            if self._is_ahead:
                self._collection.read()
                self._is_ahead = False
            with self._store.transaction():
                for work, future in batch:
                    try:
                        done.append((future, work(self._collection), None))
                    except RefusedError as error:
                        done.append((future, None, error))
        except Exception as error:
            done = [(future, None, error) for _, future in batch]
            self._is_ahead = True  # of the disk, what the collection holds in memory
        for future, result, problem in done:
            if problem is None:
                future.set_result(result)
            else:
                future.set_exception(problem)
