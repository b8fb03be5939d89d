"""Standings: which thing is best, how sure, and what moved the votes, from things compared two at a time."""

from .rating import rate
from .standings import Standings

__all__ = ["Standings", "rate"]
