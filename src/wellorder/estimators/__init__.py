"""The models, in scikit-learn's shape: one public class a file."""

from .best_feature import BestFeature
from .rank_svm import RankSVM
from .ridge_ranker import RidgeRanker
from .svor import SVOR
from .swap_svm import SwapSVM

__all__ = ["SVOR", "BestFeature", "RankSVM", "RidgeRanker", "SwapSVM"]
