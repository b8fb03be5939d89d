"""Ratings of players or items from comparisons with ties, streamed in time order: never looking ahead."""

from .davidson import Davidson
from .elo import Elo
from .glicko import Glicko, Glicko2
from .history import FEATURES, MatchFeatures, match_features
from .ranker import METHODS as METHODS, RatingRanker
from .system import Before, RatingSystem, Uncertainty

__all__ = [
    "FEATURES",
    "Before",
    "Davidson",
    "Elo",
    "Glicko",
    "Glicko2",
    "MatchFeatures",
    "RatingRanker",
    "RatingSystem",
    "Uncertainty",
    "match_features",
]
