"""The papers whose experiments can be run again, by name. A new one is one folder and a line here."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..evaluation import Record
    from .running import PaperPart


@dataclass(frozen=True)
class Paper:
    """One paper's experiments."""

    title: str
    home: str
    """The package with its ``PARTS``, its ``picture`` and, in ``PICTURED``, the parts that the picture is drawn of."""

    @property
    def parts(self) -> Mapping[str, PaperPart]:
        """Its experiments, by name, in the order of its page."""
        parts: Mapping[str, PaperPart] = import_module(self.home).PARTS
        return parts

    @property
    def pictured(self) -> tuple[str, ...]:
        """The parts that its picture is drawn of."""
        names: tuple[str, ...] = import_module(self.home).PICTURED
        return names

    @property
    def picture(self) -> Callable[[Mapping[str, Sequence[Record]], str | os.PathLike[str]], None]:
        """The function that draws its picture, given records by part and where to."""
        function: Callable[[Mapping[str, Sequence[Record]], str | os.PathLike[str]], None] = import_module(
            self.home
        ).picture
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
