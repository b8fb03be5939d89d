"""The models, in scikit-learn's shape: one public class a file."""

from .best_feature import BestFeature
from .rank_svm import RankSVM
from .ridge_ranker import RidgeRanker

__all__ = ["BestFeature", "RankSVM", "RidgeRanker"]
