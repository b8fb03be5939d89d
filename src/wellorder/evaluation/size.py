"""How much there is to learn from: what grids and objections of methods go by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Supervision: TypeAlias = Literal["grades", "comparisons"]
Grid: TypeAlias = Mapping[str, list[Any]]


@dataclass(frozen=True)
class Size:
    """How much there is to learn from, in one training part."""

    supervision: Supervision
    n_rows: int
    """Graded rows, or items."""
    n_features: int
    """Once encoded."""
    n_pairs: int
    largest_group: int
    n_levels: int
    """Different grades; none in comparisons."""
    has_features: bool = True
    """Whether anything is known of the items but their names."""
