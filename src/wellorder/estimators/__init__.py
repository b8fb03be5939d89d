"""The models, in scikit-learn's shape: one public class a file."""

from .base import list_scores as list_scores
from .baselines import BestFeature, RidgeRanker
from .boosted_trees import BoostedTrees
from .compare_lp import CompareLP
from .compare_model import CompareModel as CompareModel
from .compare_svm import CompareSVM
from .convex_hull_ranker import ConvexHullRanker
from .kernel_model import KernelModel as KernelModel
from .multiple_hyperplane_ranker import MultipleHyperplaneRanker
from .nested_ranker import NestedRanker
from .order_boost import OrderBoost
from .order_ensemble import OrderEnsemble
from .plug_in_ranker import PlugInRanker
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
