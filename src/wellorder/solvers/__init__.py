"""Solvers: a problem in, a typed result out."""

from .boosting import BoostResult, Rounds, Validation
from .bump_boosting import boost_bumps
from .coarse_to_fine import coarse_to_fine
from .compare_lp import MarginSolution, max_margin
from .convex_hull import SmoothProblem, squared_slacks
from .cutting_plane import cutting_plane
from .flipped import FlippedSolution, flipped_kernel_svm, flipped_svm, refuse_many_flipped
from .hull_qp import HullProgramme, HullSolution, SlackLoss, Slacks, cost_of_nothing, made_plain, solve_hulls
from .interior import explicit_svm
from .learner_boosting import Learners, boost_learner
from .newton_cg import newton_cg
from .nonnegative import nonnegative_newton
from .on_device import solve_on_device
from .ordinal import OrdinalProblem, ordinal_svm
from .partitioned import PartitionedProblem, pose_problem
from .problem import Problem, RowProblem, SolveResult, make_problem
from .proportional_odds import maximum_likelihood
from .ties import TieProblem, tied_svm
from .tree_boosting import LONGEST_LIST, TreeShape, boost_trees, lambdarank_trees, regression_trees

__all__ = [
    "LONGEST_LIST",
    "BoostResult",
    "FlippedSolution",
    "HullProgramme",
    "HullSolution",
    "Learners",
    "MarginSolution",
    "OrdinalProblem",
    "PartitionedProblem",
    "Problem",
    "Rounds",
    "RowProblem",
    "SlackLoss",
    "Slacks",
    "SmoothProblem",
    "SolveResult",
    "TieProblem",
    "TreeShape",
    "Validation",
    "boost_bumps",
    "boost_learner",
    "boost_trees",
    "coarse_to_fine",
    "cost_of_nothing",
    "cutting_plane",
    "explicit_svm",
    "flipped_kernel_svm",
    "flipped_svm",
    "lambdarank_trees",
    "made_plain",
    "make_problem",
    "max_margin",
    "maximum_likelihood",
    "newton_cg",
    "nonnegative_newton",
    "ordinal_svm",
    "pose_problem",
    "refuse_many_flipped",
    "regression_trees",
    "solve_hulls",
    "solve_on_device",
    "squared_slacks",
    "tied_svm",
]
