"""One trial: a method, searched and fitted on the training part of one split, judged on its test part."""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import __version__
from .leaderboard import Protocol
from .methods import Method, Size
from .records import Record
from .searching import OutOfTime, search
from .splits import Split
from .tasks import Task, TrainingPart, feasible_folds

OUT_OF_TIME = "out of time: "
"""How the problem of a trial starts that might do better with more time."""

_FAILURES = (ValueError, MemoryError, ArithmeticError, np.linalg.LinAlgError)
_ANY_SIZE = Size("grades", 100, 10, 1_000, 100)


def run_trial(
    task: Task, name: str, method: Method, split: Split, protocol: Protocol, *, seconds: float = math.inf, key: str = ""
) -> Record:
    """Search, fit and judge one method on one split.

    A fit that fails, or whose search does not finish within ``seconds``, gives a record that says so.
    """
    started = time.perf_counter()
    base = Record(
        key or trial_key(task.fingerprint(), name, method, split, protocol),
        task.name,
        name,
        split.repeat,
        split.fold,
        protocol.seed,
        len(split.train),
        len(split.test),
        metrics={},
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            part = task.training_part(split.train)
            params = _search(method, part, protocol, split, lambda: seconds - (time.perf_counter() - started))
            searched = time.perf_counter()
            model = method.make().set_params(**params).fit(part.X, part.y)
            fitted = time.perf_counter()
            judgement = task.judge(task.scores(model, part, split.test), split.test, protocol.metrics)
        except OutOfTime:
            took = time.perf_counter() - started
            problem = f"{OUT_OF_TIME}its search did not finish within its share of {seconds:.1f} s"
            return replace(base, metrics=_undefined(protocol), search_seconds=took, problem=problem)
        except _FAILURES as error:
            took = time.perf_counter() - started
            return replace(base, metrics=_undefined(protocol), search_seconds=took, problem=str(error))
    coef = getattr(model, "coef_", None) if len(part.features) else None
    linear = coef is not None and len(coef) == len(part.features)
    return replace(
        base,
        metrics=judgement.metrics,
        params=params,
        search_seconds=searched - started,
        fit_seconds=fitted - searched,
        predict_seconds=time.perf_counter() - fitted,
        swaps=judgement.swaps,
        curve=judgement.curve,
        weights=tuple(np.asarray(coef, dtype=float).tolist()) if linear else None,
        features=part.features if linear else None,
        notes=tuple(sorted({str(warning.message) for warning in caught})),
    )


def _search(
    method: Method, part: TrainingPart, protocol: Protocol, split: Split, left: Callable[[], float]
) -> dict[str, Any]:
    grid = method.grid(part.size)
    if not grid:
        return {}
    # the seed of a search depends on its split alone: methods are searched on the same folds
    seed = int(np.random.SeedSequence([protocol.seed, split.repeat, split.fold]).generate_state(1)[0])
    found = search(
        method.make(),
        grid,
        part.X,
        part.y,
        metric=protocol.metric,
        cv=[(fold.train, fold.test) for fold in feasible_folds(part.y, protocol.inner_folds, 1, seed)],
        deadline=left,
        refit=False,
    )
    return dict(found.best_params)


def _undefined(protocol: Protocol) -> dict[str, float]:
    return dict.fromkeys(protocol.metrics, math.nan)


def trial_key(fingerprint: str, name: str, method: Method, split: Split, protocol: Protocol) -> str:
    """Digest everything that a result depends on."""
    parts = (
        fingerprint,
        name,
        repr(method.make()),
        method.grid(_ANY_SIZE),
        __version__,
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
