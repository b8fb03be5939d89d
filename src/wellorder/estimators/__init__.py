"""The models, in scikit-learn's shape: one public class a file."""

from .rank_svm import RankSVM

__all__ = ["RankSVM"]
