"""What must stand above what: grades in groups, order graphs over their levels, comparisons, and their sums."""

from .comparisons import Comparisons, ComparisonSummary, check_outcomes, direction_share
from .consistent import ConsistentPairs, make_consistent
from .device_windows import DeviceWindows, make_windows
from .grades import Grades, Supervision, refuse_beside
from .graph import OrderGraph
from .listed import ListedPairs, draw_pairs
from .pairs import Balance, GradedPairs
from .sums import OrderSum, SumOfPairs
from .swaps import Ties, check_scores, right_weight, swapped_weight
from .weights import check_weights, refuse_lost_weights
from .windows import Windows

__all__ = [
    "Balance",
    "ComparisonSummary",
    "Comparisons",
    "ConsistentPairs",
    "DeviceWindows",
    "GradedPairs",
    "Grades",
    "ListedPairs",
    "OrderGraph",
    "OrderSum",
    "SumOfPairs",
    "Supervision",
    "Ties",
    "Windows",
    "check_outcomes",
    "check_scores",
    "check_weights",
    "direction_share",
    "draw_pairs",
    "make_consistent",
    "make_windows",
    "refuse_beside",
    "refuse_lost_weights",
    "right_weight",
    "swapped_weight",
]
