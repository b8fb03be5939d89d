"""The models, in scikit-learn's shape: one public class a file."""

from .best_feature import BestFeature
from .order_boost import OrderBoost
from .plug_in_ranker import PlugInRanker
from .proportional_odds import ProportionalOdds
from .rank_svm import RankSVM
from .ridge_ranker import RidgeRanker
from .svor import SVOR
from .swap_svm import SwapSVM

__all__ = ["SVOR", "BestFeature", "OrderBoost", "PlugInRanker", "ProportionalOdds", "RankSVM", "RidgeRanker", "SwapSVM"]
