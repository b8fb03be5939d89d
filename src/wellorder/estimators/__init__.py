"""The models, in scikit-learn's shape: one public class a file."""

from .best_feature import BestFeature
from .boosted_trees import BoostedTrees
from .compare_lp import CompareLP
from .compare_svm import CompareSVM
from .order_boost import OrderBoost
from .plug_in_ranker import PlugInRanker
from .proportional_odds import ProportionalOdds
from .rank_svm import RankSVM
from .ridge_ranker import RidgeRanker
from .svor import SVOR
from .swap_svm import SwapSVM
from .threshold_compare import ThresholdCompare

__all__ = [
    "SVOR",
    "BestFeature",
    "BoostedTrees",
    "CompareLP",
    "CompareSVM",
    "OrderBoost",
    "PlugInRanker",
    "ProportionalOdds",
    "RankSVM",
    "RidgeRanker",
    "SwapSVM",
    "ThresholdCompare",
]
