"""How far to trust an ordering: splits, searches, records, tests and leaderboards."""

from ..methods import Grid as Grid, Method, Size
from .across import MeansAcross as MeansAcross, means_across as means_across
from .attribution import scores_rows_alone as scores_rows_alone
from .board_run import Plan, Progress
from .board_view import BoardView, Cell as Cell, is_share as is_share, verdict as verdict, view_board, view_so_far
from .comparing import compare
from .cross_validation import CrossValidation, cross_validate
from .doctor import Finding, Health, examine
from .explaining import (
    Contribution,
    Explanation,
    cut as cut,
    cut_apart as cut_apart,
    explain,
    find_row,
    write_value as write_value,
)
from .fitting import (
    Chances,
    FittedTable,
    OrderedItems,
    OrderedList,
    chances_of,
    evaluate_table,
    fit_rise as fit_rise,
    fit_table,
    held_out_chances as held_out_chances,
    order_held_out as order_held_out,
    order_items,
)
from .graph_search import GraphSearch, GraphTrial, search_graph
from .judging import (
    KEPT_LEVELS as KEPT_LEVELS,
    bin_grades,
    comparison_roc_curve as comparison_roc_curve,
    ndcg_curve as ndcg_curve,
    pool_swaps as pool_swaps,
    swap_table,
)
from .leaderboard import (
    Leaderboard,
    LeftOut,
    Memory,
    Protocol,
    Standing,
    make_leaderboard,
    make_standing as make_standing,
)
from .learning_curves import LearningCurve, learning_curve, table_curve as table_curve
from .mattering import ColumnImportance, Importance, importance
from .methods import METHODS, find_method, grid_of as grid_of, make_seeded as make_seeded
from .queries import RUN_METRICS, RunDifference, by_query, compare_runs, evaluate_run, randomisation_test
from .readable import html_row as html_row
from .records import Curve, Json as Json, Record, RecordFile, SwapTable, plain as plain, read_records
from .searching import GridPoint as GridPoint, OutOfTime, SearchResult, search
from .significance import (
    TOLD_APART as TOLD_APART,
    corrected_resampled_test,
    critical_difference,
    friedman,
    holm,
    known_mean as known_mean,
    mean_interval,
    nemenyi,
)
from .splits import Split, comparison_folds, feasible_folds as feasible_folds, folds, hold_outs, time_cuts
from .tasks import AnyTable as AnyTable, Task, TrainingPart as TrainingPart, make_task
from .telling import Telling, tell_apart
from .trials import (
    FAILURES as FAILURES,
    hear_warnings as hear_warnings,
    run_trial,
    trial_key,
    trial_seed as trial_seed,
    versions as versions,
)

__all__ = [
    "METHODS",
    "RUN_METRICS",
    "BoardView",
    "Chances",
    "ColumnImportance",
    "Contribution",
    "CrossValidation",
    "Curve",
    "Explanation",
    "Finding",
    "FittedTable",
    "GraphSearch",
    "GraphTrial",
    "Health",
    "Importance",
    "Leaderboard",
    "LearningCurve",
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
    "RunDifference",
    "SearchResult",
    "Size",
    "Split",
    "Standing",
    "SwapTable",
    "Task",
    "Telling",
    "bin_grades",
    "by_query",
    "chances_of",
    "compare",
    "compare_runs",
    "comparison_folds",
    "corrected_resampled_test",
    "critical_difference",
    "cross_validate",
    "evaluate_run",
    "evaluate_table",
    "examine",
    "explain",
    "find_method",
    "find_row",
    "fit_table",
    "folds",
    "friedman",
    "hold_outs",
    "holm",
    "importance",
    "learning_curve",
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
    "tell_apart",
    "time_cuts",
    "trial_key",
    "view_board",
    "view_so_far",
]
