"""How good an ordering is: pure functions of grades and scores, and their names."""

from .comparisons import (
    ComparisonROC,
    Reliability,
    comparison_auc,
    comparison_brier,
    comparison_error,
    comparison_log_loss,
    comparison_reliability,
    comparison_roc,
)
from .concordance import (
    auc_consecutive,
    auc_ovo,
    auc_pairs,
    kendall_tau,
    misranking_cost,
    order_error_rates,
    pair_costs,
    swapped_pairs,
    wmw,
)
from .push import p_norm_push
from .registry import COMPARISON_METRICS, METRICS, Definition, Metric, Scorer, find_definition, parse, scorer
from .retrieval import average_precision, ndcg, precision_at, reciprocal_rank

__all__ = [
    "COMPARISON_METRICS",
    "METRICS",
    "ComparisonROC",
    "Definition",
    "Metric",
    "Reliability",
    "Scorer",
    "auc_consecutive",
    "auc_ovo",
    "auc_pairs",
    "average_precision",
    "comparison_auc",
    "comparison_brier",
    "comparison_error",
    "comparison_log_loss",
    "comparison_reliability",
    "comparison_roc",
    "find_definition",
    "kendall_tau",
    "misranking_cost",
    "ndcg",
    "order_error_rates",
    "p_norm_push",
    "pair_costs",
    "parse",
    "precision_at",
    "reciprocal_rank",
    "scorer",
    "swapped_pairs",
    "wmw",
]
