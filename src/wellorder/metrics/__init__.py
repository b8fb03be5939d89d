"""How good an ordering is: pure functions of grades and scores, and their names."""

from .cascade import expected_reciprocal_rank
from .comparisons import ComparisonROC, VoteValues as VoteValues, comparison_auc, comparison_error, comparison_roc
from .influence import (
    Difference,
    Influence as Influence,
    covariance,
    few_factor as few_factor,
    influence_of as influence_of,
    influence_of_probabilities as influence_of_probabilities,
    paired_test,
    semidefinite as semidefinite,
    unequal_few as unequal_few,
)
from .own import make
from .pairs import (
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
from .probabilities import (
    Reliability,
    comparison_brier,
    comparison_log_loss,
    comparison_reliability,
    comparison_rps,
    log_loss,
    ranked_probability_score,
)
from .push import p_norm_push
from .registry import (
    COMPARISON_METRICS,
    GRADE_PROBABILITY_METRICS,
    METRICS,
    PROBABILITY_METRICS,
    TIME_METRICS,
    AnyMetric as AnyMetric,
    Definition,
    Metric,
    find_definition,
    is_ours as is_ours,
    parse,
)
from .retrieval import (
    ListValues as ListValues,
    Retrieved as Retrieved,
    average_precision,
    ndcg,
    precision_at,
    reciprocal_rank,
)
from .scorers import Scorer, scorer
from .survival import concordance, cumulative_auc

__all__ = [
    "COMPARISON_METRICS",
    "GRADE_PROBABILITY_METRICS",
    "METRICS",
    "PROBABILITY_METRICS",
    "TIME_METRICS",
    "ComparisonROC",
    "Definition",
    "Difference",
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
    "comparison_rps",
    "concordance",
    "covariance",
    "cumulative_auc",
    "expected_reciprocal_rank",
    "find_definition",
    "kendall_tau",
    "log_loss",
    "make",
    "misranking_cost",
    "ndcg",
    "order_error_rates",
    "p_norm_push",
    "pair_costs",
    "paired_test",
    "parse",
    "precision_at",
    "ranked_probability_score",
    "reciprocal_rank",
    "scorer",
    "swapped_pairs",
    "wmw",
]
