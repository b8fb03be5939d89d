"""What a comparison is about to do: which methods, how many trials at a time, how much memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import joblib
import polars as pl
import scipy.sparse as sp

from ..memory import available_bytes
from ..sweeps.dispatch import THREADS_FROM
from ..writing import write_bytes
from .leaderboard import LeftOut, Memory
from .methods import METHODS, find_method
from .splits import Split
from .tasks import ComparisonTask, GradedTask

_ROOM = 0.8
"""The part of the free memory that several processes may take together."""


@dataclass(frozen=True)
class Plan:
    """What a comparison is about to do, for whoever shows it before the first fit."""

    data: str
    methods: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    n_folds: int
    n_repeats: int
    metric: str
    greater_is_better: bool
    time_budget: float | None
    """Seconds by the clock."""
    n_jobs: int
    """How many trials run side by side."""
    memory: Memory
    free_bytes: float | None
    """What the system has left; None where it does not say."""


def choose_methods(
    task: GradedTask | ComparisonTask, methods: Sequence[str] | None, first: Split
) -> tuple[list[str], list[LeftOut], Memory]:
    """Choose the methods that suit the data, and estimate what the heaviest of them needs.

    Methods that were named are only left out where they cannot work.
    """
    part = task.training_part(first.train)
    matrix, free = _bytes(part.X), available_bytes()
    data = _bytes(task.table.items.X if isinstance(task, ComparisonTask) else task.table.X) + matrix
    chosen: dict[str, int] = {}
    left_out = []
    for name in dict.fromkeys(METHODS if methods is None else methods):
        method = find_method(name)
        needed = data + method.memory(part.size, matrix)
        if task.supervision not in method.takes:
            left_out.append(LeftOut(name, f"it does not learn from {task.supervision}"))
        elif methods is None and (objection := method.objection(part.size)) is not None:
            left_out.append(LeftOut(name, objection))
        elif methods is None and free is not None and needed > free:
            left_out.append(LeftOut(name, _no_room(needed, free)))
        else:
            chosen[name] = needed
    heaviest = max(chosen, key=lambda name: chosen[name]) if chosen else None
    return list(chosen), left_out, Memory(data, heaviest, 0 if heaviest is None else chosen[heaviest])


def _no_room(needed: int, free: float) -> str:
    return (
        f"it needs about {write_bytes(needed)} of memory, and {write_bytes(free)} are free; "
        "name the method to have it tried all the same"
    )


def decide_jobs(n_jobs: int | None, memory: Memory, n_rows: int) -> tuple[int, bool]:
    """Return how many trials to run side by side, and whether the caller has said so.

    None: what ``joblib.parallel_config`` says, if anybody has set it. Otherwise as many as there are processors, fewer
    where they would not all fit into memory, and one for many rows, as a fit then uses all processors itself.
    """
    if n_jobs is not None:
        if n_jobs == 0:
            raise ValueError("n_jobs must not be 0; 1 runs everything in this process, -1 on all processors")
        return int(joblib.effective_n_jobs(n_jobs)), True
    configured = int(joblib.effective_n_jobs(None))
    if configured > 1:
        return configured, True
    if n_rows >= THREADS_FROM:
        return 1, False
    free = available_bytes()
    room = int(_ROOM * free / max(memory.needed, 1)) if free is not None else 1
    return max(min(int(joblib.cpu_count()), room), 1), False


def _bytes(X: Any) -> int:
    """Return what a matrix or a frame takes."""
    if isinstance(X, pl.DataFrame):
        return int(X.estimated_size())
    if sp.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)
