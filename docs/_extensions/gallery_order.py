"""The order of the gallery: as one learns, not as the alphabet has it."""

from __future__ import annotations

from pathlib import Path

FIRST = (
    "rank_a_list.py",
    "rank_within_queries.py",
    "grades_with_costs.py",
    "order_graph.py",
    "judge_model_answers.py",
    "compare_methods.py",
    "explain_a_pair.py",
    "pictures.py",
)
"""Others follow by name."""


class AsOneLearns:
    """A sort key for sphinx-gallery, which makes one for each folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, filename: str) -> tuple[int, str]:
        """Return the place of an example."""
        name = Path(filename).name
        return (FIRST.index(name) if name in FIRST else len(FIRST), name)
