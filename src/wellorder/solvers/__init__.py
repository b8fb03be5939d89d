"""Solvers: a problem in, a typed result out."""

from .coarse_to_fine import coarse_to_fine
from .cutting_plane import cutting_plane
from .newton_cg import newton_cg
from .ordinal import OrdinalProblem, ordinal_svm
from .problem import Problem, SolveResult, make_problem

__all__ = [
    "OrdinalProblem",
    "Problem",
    "SolveResult",
    "coarse_to_fine",
    "cutting_plane",
    "make_problem",
    "newton_cg",
    "ordinal_svm",
]
