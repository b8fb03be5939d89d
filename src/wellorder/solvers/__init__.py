"""Solvers: a problem in, a typed result out."""

from .boosting import (
    STEP_RULES,
    BoostResult,
    Learners,
    Proposal as Proposal,
    Rounds,
    Validation,
    boost as boost,
    boost_bumps,
    boost_learner,
    boost_steps,
    diagonal_step,
)
from .interior import InteriorSolution, RowLooks, interior_looks
from .newton import IDENTITY, Preconditioner, diagonal, diagonal_of, invert, newton_cg, some_rows
from .partitioned import PartitionedProblem, pose_problem
from .planes import cutting_plane, gap_between, smooth_ever_less, solver_for
from .problem import Objective, Point, Problem, RowProblem, SolveResult, make_problem
from .signed import signed_newton
from .stages import COARSE_TOL, coarse_to_fine, landmark_count
from .tree_boosting import LONGEST_LIST, TreeShape, boost_trees, lambdarank_trees, regression_trees

__all__ = [
    "COARSE_TOL",
    "IDENTITY",
    "LONGEST_LIST",
    "STEP_RULES",
    "BoostResult",
    "InteriorSolution",
    "Learners",
    "Objective",
    "PartitionedProblem",
    "Point",
    "Preconditioner",
    "Problem",
    "Rounds",
    "RowLooks",
    "RowProblem",
    "SolveResult",
    "TreeShape",
    "Validation",
    "boost_bumps",
    "boost_learner",
    "boost_steps",
    "boost_trees",
    "coarse_to_fine",
    "cutting_plane",
    "diagonal",
    "diagonal_of",
    "diagonal_step",
    "gap_between",
    "interior_looks",
    "invert",
    "lambdarank_trees",
    "landmark_count",
    "make_problem",
    "newton_cg",
    "pose_problem",
    "regression_trees",
    "signed_newton",
    "smooth_ever_less",
    "solver_for",
    "some_rows",
]
