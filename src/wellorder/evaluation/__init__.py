"""How far to trust an ordering: splits, searches, records, tests and leaderboards."""

from .comparing import Progress, compare
from .cross_validation import CrossValidation, cross_validate
from .doctor import examine
from .fitting import FittedTable, evaluate_table, fit_table
from .health import Finding, Health
from .leaderboard import Leaderboard, LeftOut, Protocol, Standing, make_leaderboard
from .methods import METHODS, Method, Size, find_method
from .ordering import OrderedItems, OrderedList, order_items
from .records import Curve, Record, RecordFile, SwapTable, read_records
from .searching import OutOfTime, SearchResult, search
from .significance import (
    corrected_resampled_test,
    critical_difference,
    friedman,
    holm,
    mean_interval,
    nemenyi,
)
from .splits import Split, comparison_folds, folds, hold_outs
from .swaps import bin_grades, swap_table
from .tasks import ComparisonTask, GradedTask, Task, make_task
from .trials import run_trial, trial_key

__all__ = [
    "METHODS",
    "ComparisonTask",
    "CrossValidation",
    "Curve",
    "Finding",
    "FittedTable",
    "GradedTask",
    "Health",
    "Leaderboard",
    "LeftOut",
    "Method",
    "OrderedItems",
    "OrderedList",
    "OutOfTime",
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
    "compare",
    "comparison_folds",
    "corrected_resampled_test",
    "critical_difference",
    "cross_validate",
    "evaluate_table",
    "examine",
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
    "read_records",
    "run_trial",
    "search",
    "swap_table",
    "trial_key",
]
