"""Solvers: a problem in, a typed result out."""

from .coarse_to_fine import coarse_to_fine
from .newton_cg import newton_cg
from .problem import Problem, SolveResult, make_problem

__all__ = ["Problem", "SolveResult", "coarse_to_fine", "make_problem", "newton_cg"]
