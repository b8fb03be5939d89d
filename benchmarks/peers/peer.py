"""What a peer is: a method by name, and how its work is started."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import metadata
from importlib.util import find_spec
from typing import Any, Literal

from ..shapes import Result, Rows

Task = Literal["order", "compare", "rate", "measure", "read"]

PAIRS = "squared hinge over every pair"
SAMPLED = "squared hinge over drawn pairs"
TIES = "hinge with a margin for ties"


@dataclass(frozen=True)
class Settings:
    """What a workload asks of every method alike."""

    C0: float = 0.0
    """Weight of the mean loss over pairs; of each comparison, for comparisons; zero where nothing is weighed."""
    gamma: float | None = None
    """Width of the kernel."""
    alpha: float = 1.0
    """Penalty of ridge regression: as in the other sitting, where that was one."""
    metric: str = ""
    trees: int = 100
    leaves: int = 31


class UnsuitableError(Exception):
    """A method cannot take a workload; the message says why."""


@dataclass(frozen=True)
class Peer:
    """One method: ``start`` imports and prepares, unmeasured; what it returns does the work, on the clock."""

    name: str
    task: Task
    start: Callable[[Any, Settings], Callable[[], Result]]
    package: str = ""
    """What to install; empty: wellorder itself and what it needs."""
    module: str = ""
    """What is imported, where that has another name."""
    minimises: str = ""
    """The objective, where it is one that others have too."""
    warm_rows: int = 200
    """Work on so many rows comes first, off the clock: compilers and lazy imports."""
    ours: bool = False
    reference: bool = False
    """Shows where the optimum is or what a pass over the data costs; takes no part in the race."""

    def absence(self) -> str | None:
        """Say why the method cannot be run here, or None."""
        if self.package and find_spec(self.module or self.package.replace("-", "_")) is None:
            return f"{self.package} is not installed (pip install 'wellorder[bench]')"
        return None

    def version(self) -> str:
        """Say which version of its package is measured."""
        return f"{self.package} {metadata.version(self.package)}" if self.package else ""


Start = Callable[[Any, Settings], Callable[[], Result]]

_FOLDS = 5
_VALUES = 20


def searched(start: Start) -> Start:
    """Return the same method with its weight searched for: each value on each fold, then the best on all rows."""

    def start_search(rows: Rows, settings: Settings) -> Callable[[], Result]:
        import numpy as np

        from wellorder.metrics import swapped_pairs

        fold = np.random.default_rng(0).permutation(len(rows.y)) % _FOLDS
        values = np.logspace(-1, 5, _VALUES).tolist()
        start(rows.head(50), replace(settings, C0=1.0))  # what it imports

        def work() -> Result:
            errors = {}
            for C0 in values:
                weighed = replace(settings, C0=C0)
                errors[C0] = 0.0
                for k in range(_FOLDS):
                    fitted = start(Rows(rows.X[fold != k], rows.y[fold != k], None), weighed)()
                    assert fitted.scores is not None
                    errors[C0] += swapped_pairs(rows.y[fold == k], fitted.scores(rows.X[fold == k]))
            return start(rows, replace(settings, C0=min(errors, key=errors.__getitem__)))()

        return work

    return start_search


def n_threads() -> int:
    """Count the processors that the job may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def level_numbers(y: Any) -> Any:
    """Return the levels as 0, 1, …, for those who take nothing else; refuse continuous grades."""
    import numpy as np

    levels, number = np.unique(y, return_inverse=True)
    if len(levels) > 100:
        raise UnsuitableError(f"takes levels, not {len(levels):,} different grades")
    return number


def sizes_of_lists(groups: Any, n: int) -> Any:
    """Return the length of each list, for rows that stand list by list."""
    import numpy as np

    if groups is None:
        return np.array([n])
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    return np.diff(np.append(starts, n))


def dense(X: Any) -> Any:
    """Refuse sparse rows: made dense, they would not fit into memory."""
    if hasattr(X, "indptr"):
        raise UnsuitableError("takes no sparse rows")
    return X


def as_table(lists: Any) -> tuple[Any, Any]:
    """Put lists of one length below each other."""
    import numpy as np

    if lists.groups is None:
        raise UnsuitableError("measures many lists, not one")
    width = int(np.searchsorted(lists.groups, lists.groups[0], "right"))
    whole = len(lists.y) // width * width
    return lists.y[:whole].reshape(-1, width).astype(float), lists.scores[:whole].reshape(-1, width)
