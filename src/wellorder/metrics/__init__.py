"""How good an ordering is: pure functions of grades and scores, and their names."""

from .registry import METRICS, Metric, Scorer, parse, scorer
from .swapped import swapped_pairs

__all__ = ["METRICS", "Metric", "Scorer", "parse", "scorer", "swapped_pairs"]
