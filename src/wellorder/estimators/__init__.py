"""The models, in scikit-learn's shape, each with the methods that it brings to ``fit`` and ``compare``.

A new one is a file of its own, an import and a name in ``__all__`` here, and its place in ``METHODS``.
"""

from . import (
    baselines,
    boosted_trees,
    compare_svm,
    convex_hull_ranker,
    cox_ranker,
    multiple_hyperplane_ranker,
    nested_ranker,
    order_boost,
    order_ensemble,
    plug_in_ranker,
    proportional_odds,
    rank_boost,
    rank_svm,
    svor,
    swap_svm,
    threshold_compare,
)
from .base import list_scores as list_scores
from .baselines import BestFeature, RidgeRanker
from .boosted_trees import BoostedTrees
from .boosting import BoostRows as BoostRows, BoostTask as BoostTask, RowRisk as RowRisk
from .compare_lp import CompareLP
from .compare_model import CompareModel as CompareModel
from .compare_svm import CompareSVM
from .convex_hull_ranker import ConvexHullRanker
from .cox_ranker import CoxRanker
from .kernel_model import KernelModel as KernelModel
from .monotone import NotMonotoneError as NotMonotoneError, keeps_monotone as keeps_monotone
from .multiple_hyperplane_ranker import MultipleHyperplaneRanker
from .nested_ranker import NestedRanker
from .order_boost import OrderBoost
from .order_ensemble import OrderEnsemble
from .plug_in_ranker import PlugInRanker
from .propensities import click_propensities as click_propensities
from .proportional_odds import ProportionalOdds
from .rank_boost import RankBoost
from .rank_svm import RankSVM
from .svor import SVOR
from .swap_svm import SwapSVM
from .threshold_compare import ThresholdCompare

__all__ = [
    "SVOR",
    "BestFeature",
    "BoostedTrees",
    "CompareLP",
    "CompareSVM",
    "ConvexHullRanker",
    "CoxRanker",
    "MultipleHyperplaneRanker",
    "NestedRanker",
    "OrderBoost",
    "OrderEnsemble",
    "PlugInRanker",
    "ProportionalOdds",
    "RankBoost",
    "RankSVM",
    "RidgeRanker",
    "SwapSVM",
    "ThresholdCompare",
]

METHODS = {
    name: method
    for module in (
        rank_svm,
        swap_svm,
        svor,
        convex_hull_ranker,
        proportional_odds,
        plug_in_ranker,
        order_boost,
        rank_boost,
        multiple_hyperplane_ranker,
        nested_ranker,
        compare_svm,
        threshold_compare,
        order_ensemble,
        boosted_trees,
        cox_ranker,
        baselines,
    )
    for name, method in module.METHODS.items()
}
"""In the order in which they are run and listed."""
