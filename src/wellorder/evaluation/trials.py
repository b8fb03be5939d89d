"""One trial: a method, searched and fitted on the training part of one split, judged on its test part."""

from __future__ import annotations

import hashlib
import math
import platform
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from .. import __version__
from ..deadline import TimeIsUp, deadline
from ..methods import Method
from ..metrics import Metric
from ..order import Comparisons
from ..samples import Sample
from ..sweeps import THREADS_FROM, Floats, one_blas_thread
from ..writing import write_seconds
from .evidence import keep_parts
from .judging import rule_of, wants_probabilities
from .leaderboard import Protocol
from .methods import grid_of, make_seeded
from .records import MOST_HELD_OUT, Record, plain
from .searching import choose_params, sample_part, sample_size
from .splits import Split
from .tasks import Task, TrainingPart

# --------------------------------------------------------------------------------------------------
# Which versions computed a result.


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """Return (package, version) of everything that a number may depend on."""
    packages = ("numpy", "scipy", "scikit-learn", "polars")
    return (
        ("wellorder", __version__),
        ("Python", platform.python_version()),
        *((package, version(package)) for package in packages),
    )


# --------------------------------------------------------------------------------------------------
# What a trial needs of the whole process: its warnings heard, one BLAS thread.
#
# Trials may run in threads side by side: the first of them sets the process up, and the last one leaves it as it was.


_notes: ContextVar[list[str] | None] = ContextVar("notes", default=None)
_NOT_FOR_USERS = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Warnings meant for authors of libraries, which Python hides too; which trial meets them depends on what is loaded
first."""


class _Shared:
    """A state of the process: entered by the first thread that needs it, left by the last."""

    def __init__(self, enter: Callable[[], AbstractContextManager[Any]]) -> None:
        self._enter = enter
        self._lock = threading.Lock()
        self._inside = 0
        self._stack = ExitStack()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if self._inside == 0:
                self._stack.enter_context(self._enter())
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._stack.close()


@contextmanager
def _listening() -> Iterator[None]:
    def note(message: Warning | str, *_: Any, **__: Any) -> None:
        notes = _notes.get()
        if notes is not None:
            notes.append(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for kind in _NOT_FOR_USERS:
            warnings.simplefilter("ignore", kind)
        warnings.showwarning = note
        yield


_everybody_listens = _Shared(_listening)


def steady_sums(n_rows: int) -> AbstractContextManager[object]:
    """Keep BLAS to one thread where rows are few, so that a score has the same digits on every machine's cores."""
    return one_blas_thread(when=n_rows < THREADS_FROM)


@contextmanager
def hear_warnings() -> Iterator[list[str]]:
    """Collect what this thread is warned of, and show none of it; what libraries warn their authors of is left out.

    Other threads that silence warnings silence the whole process meanwhile: beside them, some may be missed.
    """
    mine: list[str] = []
    token = _notes.set(mine)
    try:
        with _everybody_listens():
            yield mine
    finally:
        _notes.reset(token)


# --------------------------------------------------------------------------------------------------
# The trial.


OUT_OF_TIME = "out of time: "
OUT_OF_MEMORY = "out of memory: "
"""Prefixes of a record's `problem` that mark failures worth retrying with more time or memory."""

WORKER_ENDED = (
    "the process that ran it was ended, most likely for want of memory; run fewer trials side by side, or leave it out"
)
"""The whole `problem` of a trial whose process was killed, which is worth retrying as well."""

_NO_TIME = 0.1
"""A fit that had fewer seconds than this is said to have had no time."""

FAILURES = (ValueError, MemoryError, ArithmeticError)
"""What a fit may raise where data and method do not agree; ``LinAlgError`` is a ``ValueError``."""


def run_trial(
    task: Task,
    name: str,
    method: Method,
    split: Split,
    protocol: Protocol,
    *,
    seconds: float = math.inf,
    one_fit: float = 0.0,
    key: str = "",
) -> Record:
    """Search, fit and judge one method on one split.

    A search or a fit that ends early, as ``seconds`` are over, is judged by the best that it has, and the record says
    so. One that fails, or has nothing by then, gives a record that says why. Where a fit is known to
    take long (``one_fit`` seconds) beside that, there is no search.
    """
    key = key or trial_key(task, name, method, split, protocol)
    started = time.perf_counter()
    seed = trial_seed(protocol, split)

    def left() -> float:
        return seconds - (time.perf_counter() - started)

    with hear_warnings() as heard:
        try:
            judged = protocol.measures
            model = _make(method, seed, protocol)
            part = task.training_part(split.train, model)
            with deadline(left) as searching:
                params = _search(task, method, model, part, split, protocol, left, one_fit)
            searched = time.perf_counter()
            with deadline(left) as fitting:
                part.fit(model.set_params(**params))
            fitted = time.perf_counter()
            scores = task.scores(model, part, split.test)
            rule = rule_of(model, task.order)
            foretold = task.foretold(model, part, split.test) if wants_probabilities(judged) else None
            judgement = task.judge(scores, split.test, judged, foretold, **rule)
            if fitting.stopped and judgement.orders_nothing:  # where it began: it has nothing yet
                raise TimeIsUp
            parts = keep_parts(judged[0], task.order, split.test, scores, foretold, **rule)
        except Exception as error:  # whatever a method fails of, the others are compared
            took = time.perf_counter() - started
            problem = _write_problem(error, seconds, protocol.time_budget)
            return replace(failed_record(task, name, split, protocol, key, problem), search_seconds=took)
    stopped = searching.stopped or fitting.stopped or fitting.shortened
    coef = getattr(model, "coef_", None) if len(part.features) else None
    linear = coef is not None and len(coef) == len(part.features)
    return replace(
        _record(task, name, split, protocol, key),
        metrics=judgement.metrics,
        params=plain(params),
        search_seconds=searched - started,
        fit_seconds=fitted - searched,
        predict_seconds=time.perf_counter() - fitted,
        swaps=judgement.swaps,
        curve=judgement.curve,
        weights=tuple(np.asarray(coef, dtype=float).tolist()) if linear else None,
        features=part.features if linear else None,
        held_out=_held_out(task, scores, split),
        parts=parts,
        orders_nothing=judgement.orders_nothing,
        stopped=stopped,
        allowed_seconds=seconds if stopped else 0.0,
        unfinished=fitting.stopped,
        notes=tuple(sorted(set(heard))),
    )


def _search(
    task: Task,
    method: Method,
    model: Any,
    part: TrainingPart,
    split: Split,
    protocol: Protocol,
    left: Callable[[], float],
    one_fit: float,
) -> dict[str, Any]:
    """Choose a model's parameters by folds of the training part alone."""
    metric = protocol.measures[0]
    return choose_params(
        model,
        grid_of(method, part.size, metric),
        part,
        n_folds=protocol.inner_folds,
        seed=trial_seed(protocol, split),
        metric=metric,
        deadline=left,
        most=method.most_searched,
        one_fit=one_fit,
        times=None if task.times is None else task.times[split.train],
    )


PILOT_ROWS = 1_000
"""Rows of the sample that is fitted to find out how long a method takes."""

_PILOT_FITS = 3
"""Fits to that sample, if there is time: the first may wait for a compiler, and any of them for other processes."""

_WAITED = 1.5
"""A fit that took this many times its limit must have waited for something else."""


@dataclass(frozen=True)
class Pilot:
    """About what a method takes on a split, as if time rose with the rows."""

    one_fit: float
    seconds: float
    """Seconds with its search; infinite if not even the fit to the sample was finished."""

    @property
    def is_whole(self) -> bool:
        """Whether the fit to the sample was done; ``one_fit`` is else less than one takes."""
        return self.seconds < math.inf


def pilot_seconds(task: Task, method: Method, split: Split, protocol: Protocol, seconds: float) -> Pilot:
    """Return about what a method takes on a split, by fits to a sample in so many seconds.

    Zero where the fit fails: so will the trial, and say why.
    """
    seed = trial_seed(protocol, split)
    with hear_warnings():
        try:
            model = _make(method, seed, protocol)
            part = task.training_part(split.train, model)
            sample = sample_part(part, seed, PILOT_ROWS)
            took, is_whole = _time_of_fit(model, sample, seconds)
            grid = grid_of(method, part.size, protocol.measures[0])
        except Exception:  # whatever it is, the trial meets it as well
            return Pilot(0.0, 0.0)
    n_searched = len(ParameterGrid(grid)) * (protocol.inner_folds - 1) if grid else 0
    one_fit = took * len(part) / len(sample)
    return Pilot(one_fit, one_fit * (1 + n_searched) if is_whole else math.inf)


def _make(method: Method, seed: int, protocol: Protocol) -> Any:
    """Make a method's estimator that can be judged by the metrics, goes by the first, and keeps what is monotone."""
    judged = protocol.measures
    model = make_seeded(method, seed, judged[0], foretelling=wants_probabilities(judged) is not None)
    return model.set_params(monotone=dict(protocol.monotone)) if protocol.monotone else model


def _time_of_fit(model: Any, sample: Sample, seconds: float) -> tuple[float, bool]:
    """Return what the quickest of some fits took, and whether it was done.

    The first may wait for a compiler, or for what it loads, and so there is another; but not where it was cut short,
    unless it has taken much longer than it was told to: that was waiting, too.
    """
    quickest, whole, spent = math.inf, False, 0.0
    for number in range(_PILOT_FITS):
        started = time.perf_counter()
        with deadline(lambda started=started: started + seconds - time.perf_counter()) as end:  # type: ignore[misc]
            sample.fit(clone(model))
        took = time.perf_counter() - started
        if took < quickest:
            quickest, whole = took, not (end.stopped or end.shortened)
        waited = took > _WAITED * seconds
        spent += 0.0 if waited else took
        if spent + quickest > seconds and not waited and not (number == 0 and whole):
            break
    return quickest, whole


def _write_problem(error: Exception, seconds: float, budget: float | None) -> str:
    """Say what a fit of so many seconds failed of; an error that is no word to a person is named."""
    if isinstance(error, TimeIsUp):
        whole = "the time" if budget is None else f"the {budget:g} s"
        had = f"did not finish within its share of {whole}, {write_seconds(seconds)} a split"
        if seconds < _NO_TIME:
            had = f"had next to none of {whole}"
        return f"{OUT_OF_TIME}it {had}; raise the time budget, or name fewer methods"
    if isinstance(error, MemoryError):
        return f"{OUT_OF_MEMORY}{error}"
    return str(error) if isinstance(error, FAILURES) and str(error) else f"{type(error).__name__}: {error}"


def is_late(record: Record) -> bool:
    """Say whether a trial was out of time."""
    return (record.problem or "").startswith(OUT_OF_TIME)


def is_fault(record: Record) -> bool:
    """Say whether a trial failed of anything but time, which is no fault of the method."""
    return record.problem is not None and not is_late(record)


def failed_record(task: Task, name: str, split: Split, protocol: Protocol, key: str, problem: str) -> Record:
    """Return the record of a trial that came to nothing."""
    undefined = dict.fromkeys(protocol.metrics, math.nan)
    return replace(_record(task, name, split, protocol, key), metrics=undefined, problem=problem)


def _record(task: Task, name: str, split: Split, protocol: Protocol, key: str) -> Record:
    """Return a record without results."""
    sizes = task.n_judged(split.train), task.n_judged(split.test)
    return Record(key, task.name, name, split.repeat, split.fold, protocol.seed, *sizes, metrics={})


def trial_seed(protocol: Protocol, split: Split) -> int:
    """Return the seed of a trial; it depends on the split alone: all methods are searched on the same folds."""
    return int(np.random.SeedSequence([protocol.seed, split.repeat, split.fold]).generate_state(1)[0])


def _held_out(task: Task, scores: Floats, split: Split) -> tuple[float, ...] | None:
    """Return what a closer look at single rows or comparisons needs; None where it would be too much to keep."""
    if split.repeat or len(task.order) > MOST_HELD_OUT:
        return None
    if isinstance(task.order, Comparisons):
        scores = scores[task.order.right[split.test]] - scores[task.order.left[split.test]]
    return tuple(np.asarray(scores, dtype=float).tolist())


def trial_key(task: Task, name: str, method: Method, split: Split, protocol: Protocol) -> str:
    """Digest everything that a result depends on: data, split, method, grid, protocol and versions."""
    parts = (
        task.fingerprint(),
        name,
        _params(method),
        _grid(task, method, split, protocol.measures[0]),
        versions(),
        split.train.tobytes(),
        split.test.tobytes(),
        protocol.inner_folds,
        protocol.seed,
        protocol.metric,
        protocol.metrics,
        *((str(each), each.greater_is_better, _code(each.definition.function)) for each in protocol.own_metrics),
        *((protocol.monotone,) if protocol.monotone else ()),
    )
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
        digest.update(b"\0")
    return f"{name}/{split.repeat}.{split.fold}/{digest.hexdigest()}"


def _code(function: Any) -> Any:
    """Return what tells two functions of one name apart, as far as can be seen: their code and its constants."""
    code = getattr(getattr(function, "function", function), "__code__", None)  # `metrics.make` wraps what it is given
    return type(function).__qualname__ if code is None else (code.co_code, repr(code.co_consts), code.co_names)


def _params(method: Method) -> Any:
    try:
        return sorted((parameter, repr(value)) for parameter, value in method.make().get_params().items())
    except Exception as error:  # the trial will fail of the same, and say so in its record
        return str(error)


def _grid(task: Task, method: Method, split: Split, metric: Metric) -> Any:
    try:
        part = task.training_part(split.train)
        grid, size = grid_of(method, part.size, metric), sample_size(part, method.most_searched)
        return (grid, size) if size < len(part) else grid
    except FAILURES as error:
        return str(error)  # the trial will fail of the same, and say so in its record
