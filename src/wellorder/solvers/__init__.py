"""Solvers: a problem in, a typed result out."""

from .boosting import BoostResult, Rounds, Validation
from .bump_boosting import boost_bumps
from .coarse_to_fine import coarse_to_fine
from .cutting_plane import cutting_plane
from .learner_boosting import Learners, boost_learner
from .newton_cg import newton_cg
from .ordinal import OrdinalProblem, ordinal_svm
from .problem import Problem, RowProblem, SolveResult, make_problem
from .proportional_odds import maximum_likelihood
from .tree_boosting import TreeShape, boost_trees

__all__ = [
    "BoostResult",
    "Learners",
    "OrdinalProblem",
    "Problem",
    "Rounds",
    "RowProblem",
    "SolveResult",
    "TreeShape",
    "Validation",
    "boost_bumps",
    "boost_learner",
    "boost_trees",
    "coarse_to_fine",
    "cutting_plane",
    "make_problem",
    "maximum_likelihood",
    "newton_cg",
    "ordinal_svm",
]
