"""The papers whose experiments can be run again, by name. A new one is one file and a line here."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol


class Reproduction(Protocol):
    """What running a paper's experiments again gives."""

    def lines(self) -> list[str]:
        """Return the paper's table and ours, side by side, as Markdown lines."""

    def picture(self, path: str | os.PathLike[str]) -> None:
        """Draw the same."""


class Reproduce(Protocol):
    """Runs a paper's experiments again, some of them with ``quick``.

    Parameters
    ----------
    data : path
        The folder with the data sets.
    quick : bool, default=False
        Fewer repetitions.
    records : path, optional
        Where to keep a JSON line a fit, and to go on from.
    n_jobs : int, default=-1
        Processes; all processors unless given.
    progress : callable, optional
        Called with what is done, what is planned, and what was last.
    """

    def __call__(
        self,
        data: str | os.PathLike[str],
        *,
        quick: bool = False,
        records: str | os.PathLike[str] | None = None,
        n_jobs: int = -1,
        progress: Callable[[int, int, str], None] | None = None,
    ) -> Reproduction:
        """Run."""
        ...


@dataclass(frozen=True)
class Paper:
    """One paper's experiments."""

    title: str
    home: str
    """The module with its ``reproduce``."""

    @property
    def reproduce(self) -> Reproduce:
        """The function that runs it."""
        function: Reproduce = import_module(self.home).reproduce
        return function


PAPERS = {
    "swapped-pairs": Paper("Learning to order by minimising swapped pairs", "wellorder.papers.swapped_pairs"),
    "hyperplanes": Paper("Multiple hyperplane ranker", "wellorder.papers.hyperplanes"),
    "convex-hulls": Paper("Ranking by convex hulls on an order graph", "wellorder.papers.convex_hulls"),
    "multipartite": Paper(
        "Statistical optimality in multipartite ranking and ordinal regression", "wellorder.papers.multipartite"
    ),
    "comparisons": Paper("Support vector comparison machines", "wellorder.papers.comparisons"),
    "leaderboards": Paper("Every method on the papers' data sets (ours)", "wellorder.papers.leaderboards"),
}
