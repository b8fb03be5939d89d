"""How far to trust an ordering: splits, searches, records, tests and leaderboards."""

from .by_query import by_query, randomisation_test
from .comparing import compare
from .comparison_run import Progress
from .cross_validation import CrossValidation, cross_validate
from .doctor import examine
from .explaining import explain
from .explanation import Contribution, Explanation
from .fitting import FittedTable, evaluate_table, fit_table
from .health import Finding, Health
from .leaderboard import Leaderboard, LeftOut, Memory, Protocol, Standing, make_leaderboard
from .methods import METHODS, Method, find_method
from .ordering import OrderedItems, OrderedList, order_items
from .plan import Plan
from .records import Curve, Record, RecordFile, SwapTable, read_records
from .runs import RUN_METRICS, evaluate_run
from .search_graph import GraphSearch, GraphTrial, search_graph
from .searching import OutOfTime, SearchResult, search
from .significance import (
    corrected_resampled_test,
    critical_difference,
    friedman,
    holm,
    mean_interval,
    nemenyi,
)
from .size import Size
from .splits import Split, comparison_folds, folds, hold_outs
from .swaps import bin_grades, swap_table
from .tasks import ComparisonTask, GradedTask, Task, make_task
from .trials import run_trial, trial_key

__all__ = [
    "METHODS",
    "RUN_METRICS",
    "ComparisonTask",
    "Contribution",
    "CrossValidation",
    "Curve",
    "Explanation",
    "Finding",
    "FittedTable",
    "GradedTask",
    "GraphSearch",
    "GraphTrial",
    "Health",
    "Leaderboard",
    "LeftOut",
    "Memory",
    "Method",
    "OrderedItems",
    "OrderedList",
    "OutOfTime",
    "Plan",
    "Progress",
    "Protocol",
    "Record",
    "RecordFile",
    "SearchResult",
    "Size",
    "Split",
    "Standing",
    "SwapTable",
    "Task",
    "bin_grades",
    "by_query",
    "compare",
    "comparison_folds",
    "corrected_resampled_test",
    "critical_difference",
    "cross_validate",
    "evaluate_run",
    "evaluate_table",
    "examine",
    "explain",
    "find_method",
    "fit_table",
    "folds",
    "friedman",
    "hold_outs",
    "holm",
    "make_leaderboard",
    "make_task",
    "mean_interval",
    "nemenyi",
    "order_items",
    "randomisation_test",
    "read_records",
    "run_trial",
    "search",
    "search_graph",
    "swap_table",
    "trial_key",
]
