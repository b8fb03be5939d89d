"""What must stand above what: grades in groups, and order graphs over their levels."""

from .grades import Grades, Supervision, check_weights
from .graph import OrderGraph
from .listed import ListedPairs, draw_pairs
from .pairs import Balance, GradedPairs
from .swaps import Ties, check_scores, swapped_weight
from .windows import Windows

__all__ = [
    "Balance",
    "GradedPairs",
    "Grades",
    "ListedPairs",
    "OrderGraph",
    "Supervision",
    "Ties",
    "Windows",
    "check_scores",
    "check_weights",
    "draw_pairs",
    "swapped_weight",
]
