"""One trial: a method, searched and fitted on the training part of one split, judged on its test part."""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ..order import Comparisons
from ..sweeps import Floats
from .judging import threshold_of
from .leaderboard import Protocol
from .methods import Method, make_seeded
from .nested import choose_params
from .records import MOST_HELD_OUT, Record, plain
from .searching import OutOfTime
from .splits import Split
from .tasks import Task
from .versions import versions

OUT_OF_TIME = "out of time: "
OUT_OF_MEMORY = "out of memory: "
"""How the problem of a trial starts that might do better another time."""

_FAILURES = (ValueError, MemoryError, ArithmeticError, np.linalg.LinAlgError)


def run_trial(
    task: Task, name: str, method: Method, split: Split, protocol: Protocol, *, seconds: float = math.inf, key: str = ""
) -> Record:
    """Search, fit and judge one method on one split.

    A fit that fails, or whose search does not finish within ``seconds``, gives a record that says so.
    """
    key = key or trial_key(task, name, method, split, protocol)
    started = time.perf_counter()
    base = Record(
        key,
        task.name,
        name,
        split.repeat,
        split.fold,
        protocol.seed,
        task.n_judged(split.train),
        task.n_judged(split.test),
        metrics={},
    )
    seed = trial_seed(protocol, split)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            part = task.training_part(split.train)
            model = make_seeded(method, seed)
            params = choose_params(
                model,
                method.grid(part.size),
                part,
                n_folds=protocol.inner_folds,
                seed=seed,
                metric=protocol.metric,
                deadline=lambda: seconds - (time.perf_counter() - started),
            )
            searched = time.perf_counter()
            model.set_params(**params).fit(part.X, part.y)
            fitted = time.perf_counter()
            scores = task.scores(model, part, split.test)
            judgement = task.judge(scores, split.test, protocol.metrics, threshold_of(model))
        except OutOfTime:
            took = time.perf_counter() - started
            share = f"its search did not finish within its share of {seconds:.1f} s"
            problem = f"{OUT_OF_TIME}{share}; raise the time budget, or name fewer methods"
            return replace(base, metrics=_undefined(protocol), search_seconds=took, problem=problem)
        except _FAILURES as error:
            took = time.perf_counter() - started
            problem = (OUT_OF_MEMORY if isinstance(error, MemoryError) else "") + str(error)
            return replace(base, metrics=_undefined(protocol), search_seconds=took, problem=problem)
    coef = getattr(model, "coef_", None) if len(part.features) else None
    linear = coef is not None and len(coef) == len(part.features)
    return replace(
        base,
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
        notes=tuple(sorted({str(warning.message) for warning in caught})),
    )


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


def _undefined(protocol: Protocol) -> dict[str, float]:
    return dict.fromkeys(protocol.metrics, math.nan)


def trial_key(task: Task, name: str, method: Method, split: Split, protocol: Protocol) -> str:
    """Digest everything that a result depends on: data, split, method, grid, protocol and versions."""
    parts = (
        task.fingerprint(),
        name,
        sorted((parameter, repr(value)) for parameter, value in method.make().get_params().items()),
        _grid(task, method, split),
        versions(),
        split.train.tobytes(),
        split.test.tobytes(),
        protocol.inner_folds,
        protocol.seed,
        protocol.metric,
        protocol.metrics,
    )
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
        digest.update(b"\0")
    return f"{name}/{split.repeat}.{split.fold}/{digest.hexdigest()}"


def _grid(task: Task, method: Method, split: Split) -> Any:
    try:
        return method.grid(task.training_part(split.train).size)
    except _FAILURES as error:
        return str(error)  # the trial will fail of the same, and say so in its record
