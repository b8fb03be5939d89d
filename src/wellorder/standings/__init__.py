"""Standings: which thing is best, how sure, and what moved the votes, from things compared two at a time."""

from .asking import predict_pairs as predict_pairs
from .checking import FitCheck, Gain, VoteScore, check_fit, evaluate_votes
from .pairs import chances_above, clearly_above, order_of, telling_pairs
from .rating import rate
from .standings import Standings

__all__ = [
    "FitCheck",
    "Gain",
    "Standings",
    "VoteScore",
    "chances_above",
    "check_fit",
    "clearly_above",
    "evaluate_votes",
    "order_of",
    "rate",
    "telling_pairs",
]
