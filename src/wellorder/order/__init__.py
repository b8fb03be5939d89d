"""What must stand above what: grades in groups, order graphs over their levels, comparisons, and their sums."""

from .columns import (
    as_objects,
    check_weights,
    encode_groups,
    exact_numbers,
    has_hash,
    in_order,
    is_missing,
    number_objects,
    own_order,
    read_column,
    refuse_lost_weights,
)
from .comparisons import Comparisons, ComparisonSummary, check_outcomes, direction_share
from .consistent import ConsistentPairs, make_consistent
from .grades import Grades, Supervision, refuse_beside
from .graph import NAMED, CostTable, Full, OrderGraph, Scale, as_graph, separable, shown, violation
from .pairs import Balance, CellPairs, Cells, GradedPairs, ListedPairs, draw_pairs, make_pairs, product_exponents
from .sums import Kind, OrderSum, SumOfPairs
from .windows import AnyWindows, DeviceWindows, Ties, Windows, check_scores, make_windows, right_weight, swapped_weight

__all__ = [
    "NAMED",
    "AnyWindows",
    "Balance",
    "CellPairs",
    "Cells",
    "ComparisonSummary",
    "Comparisons",
    "ConsistentPairs",
    "CostTable",
    "DeviceWindows",
    "Full",
    "GradedPairs",
    "Grades",
    "Kind",
    "ListedPairs",
    "OrderGraph",
    "OrderSum",
    "Scale",
    "SumOfPairs",
    "Supervision",
    "Ties",
    "Windows",
    "as_graph",
    "as_objects",
    "check_outcomes",
    "check_scores",
    "check_weights",
    "direction_share",
    "draw_pairs",
    "encode_groups",
    "exact_numbers",
    "has_hash",
    "in_order",
    "is_missing",
    "make_consistent",
    "make_pairs",
    "make_windows",
    "number_objects",
    "own_order",
    "product_exponents",
    "read_column",
    "refuse_beside",
    "refuse_lost_weights",
    "right_weight",
    "separable",
    "shown",
    "swapped_weight",
    "violation",
]
