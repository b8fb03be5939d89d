"""Standings: which thing is best, how sure, and what moved the votes, from things compared two at a time."""

from .checking import FitCheck, Gain, check_fit
from .rating import rate
from .standings import Standings

__all__ = ["FitCheck", "Gain", "Standings", "check_fit", "rate"]
