r"""One ranker for each two levels, all of them in one go.

Ranker r minimises ½‖w_r‖² + C·n_r/ΣW_r · Σ W_ij ℓ(w_rᵀ(x_i − x_j)) over the rows of its two levels. None has to do
with another, so that their sum is one problem, over rows stacked one ranker below the other: its sorts and sweeps are
few and long, and each product with X serves all rankers. Divided by C·n_r, every ranker's part is of the same size,

    ½‖v_r‖² + (1/ΣW_r) Σ W_ij ℓ(√(C·n_r) · v_rᵀ(x_i − x_j)),     w_r = √(C·n_r) · v_r,

so that a tolerance means the same to each. The Hessian is blocks along a diagonal: one product with a whole column of X
gives that column of all blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np

from ..losses import LOSSES
from ..order import Balance, GradedPairs, OrderGraph
from ..order.pairs import make_pairs
from ..spaces import near_zero
from ..spaces.stacked import StackedSpace
from ..sweeps import Array, Floats, Ints
from .newton_cg import newton_cg
from .preconditioning import Preconditioner
from .problem import Problem, SolveResult

_RATIO = 8
"""Each sample has this many times fewer rows than the next."""

_FEWEST_ROWS = 1_000
_ROWS_PER_COEF = 10
"""A sample has at least so many rows, and so many for each column."""

MOST_COLUMNS = 100
"""Up to this many columns the Hessian's blocks cost less than the products that they save."""

MOST_STACKED = 50_000
"""Up to this many rows stacking pays, as it saves calls; beyond, what is swept over should fit into the cache."""


class _Settings(TypedDict):
    tol: float
    max_iter: int


@dataclass(frozen=True)
class Stack:
    """Rows of two levels each, one ranker below the other, and their pairs."""

    space: StackedSpace
    pairs: GradedPairs
    """With a weight of 1/ΣW_r on the pairs of each ranker."""
    n_pairs: Array
    """Of each ranker."""
    mass: Floats
    """n_r: the summed weight of each ranker's rows that are in a pair."""
    ranker: Ints
    """Of each row of the stack."""

    @property
    def problem(self) -> Problem:
        """The sum of all rankers' objectives."""
        return Problem(self.space, self.pairs, LOSSES["squared_hinge"], 1.0)

    def curvature(self, coef: Floats) -> Array:
        """Return Xᵀ H X of each ranker, H being the Hessian of its mean loss in the scores."""
        product = self.problem.risk(self.space.scores(coef)).hessian_product
        with np.errstate(over="ignore", invalid="ignore"):
            columns = [self.space.column(k) for k in range(self.space.width)]
            # H sees differences only: shifted to zero, a column far from it keeps its digits
            return self.space.blocks([product(column - column.mean()) for column in columns])

    def preconditioner(self, curvature: Array) -> Preconditioner:
        """Invert I + scale² · curvature, block by block."""
        with np.errstate(over="ignore", invalid="ignore"):
            hessian = np.eye(self.space.width) + self.space.scale[:, None, None] ** 2 * curvature
        wrong = np.flatnonzero(~np.isfinite(hessian).all(axis=(0, 2)))
        if wrong.size:
            raise ValueError(
                f"column {wrong[0]} of X holds values so large that their squares overflow; scale the columns of X "
                "(StandardScaler)"
            )
        # columns of very different size must not cost digits; none can be below one but by rounding
        size = np.sqrt(np.maximum(np.diagonal(hessian, axis1=1, axis2=2), 1.0))
        unit = size[:, :, None] * size[:, None, :]
        inverse = np.linalg.inv(hessian / unit) / unit
        inverse = 0.5 * (inverse + inverse.transpose(0, 2, 1))
        n, d = len(inverse), self.space.width
        return Preconditioner(lambda residual: (inverse @ residual.reshape(n, d, 1)).ravel(), resembles=True)


@dataclass(frozen=True)
class Rows:
    """Graded rows, and which two levels each ranker is for."""

    X: Any
    level: Ints
    group: Ints | None
    weight: Floats | None
    balance: Balance
    ends: list[tuple[int, int]]
    compiled: bool | None = None
    """Which form of the sweeps to use; None: by size. A sample of large data keeps theirs."""

    @property
    def n_stacked(self) -> int:
        """How many rows there are once they are stacked."""
        sizes = np.bincount(self.level[self.level >= 0], minlength=1 + int(np.max(self.ends)))
        return int(sizes[np.array(self.ends)].sum())

    def sample(self, size: int, rng: np.random.Generator) -> Rows:
        """Draw about so many rows, every level among them where there are few."""
        graph = OrderGraph.full(range(int(self.level.max(initial=0)) + 1))
        pairs = make_pairs(self.level, self.group, self.weight, graph, self.balance, compiled=self.compiled)
        rows, some = pairs.sample(size, rng)
        group = None if self.group is None else self.group[rows]
        return Rows(
            self.X[rows], self.level[rows], group, some.row_weight, self.balance, self.ends, compiled=some.compiled
        )


def stack_rows(rows: Rows, C: float) -> Stack | None:
    """Stack the rows, ranker by ranker; None where some ranker has no pair."""
    used = np.unique(rows.ends).tolist()
    members = {level: np.flatnonzero(rows.level == level) for level in used}
    sizes = np.array([[len(members[end]) for end in pair] for pair in rows.ends])
    number = np.concatenate([members[end] for pair in rows.ends for end in pair])
    level = np.repeat(np.tile(np.array([0, 1], np.int32), len(sizes)), sizes.ravel())
    ranker = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes.sum(axis=1))
    group: Array = ranker
    if rows.group is not None:
        group = ranker.astype(np.int64) * (int(rows.group.max(initial=0)) + 1) + rows.group[number]
        group = np.unique(group, return_inverse=True)[1].astype(np.int32)
    weight = None if rows.weight is None else rows.weight[number]
    pairs = make_pairs(level, group, weight, OrderGraph.full(range(2)), rows.balance, compiled=rows.compiled)
    cells = pairs.cells
    assert cells.pairs is not None  # two levels are no ladder
    of_group = np.zeros(cells.n_groups, np.int32)
    of_group[cells.group[cells.of_row[pairs.active]]] = ranker[pairs.active]
    counted = cells.count[cells.pairs.low] * cells.count[cells.pairs.high]
    n_pairs = np.bincount(of_group[cells.group[cells.pairs.low]], counted, minlength=len(sizes)).astype(np.int64)
    if not n_pairs.all():
        return None
    factor = np.ones(cells.n_groups) if pairs.group_factor is None else pairs.group_factor
    total = np.bincount(of_group, factor * cells.group_totals()[0], minlength=len(sizes))
    pairs = replace(pairs, group_factor=factor / total[of_group])
    in_pairs = None if weight is None else weight[pairs.active]
    mass = np.bincount(ranker[pairs.active], in_pairs, minlength=len(sizes)).astype(float)
    ends = [(used.index(low), used.index(high)) for low, high in rows.ends]
    space = StackedSpace([rows.X[members[level]] for level in used], ends, np.sqrt(C * mass))
    return Stack(space, pairs, n_pairs, mass, ranker)


def solve_side_by_side(rows: Rows, C: float, *, tol: float, max_iter: int) -> tuple[list[SolveResult], Array]:
    """Solve the problem of every ranker to a relative accuracy of ``tol``; return also its number of pairs.

    From coarse to fine: a sample gives the start and the shape of the Hessian.
    """
    rows = replace(rows, X=near_zero(rows.X)[0])
    n_rankers, d = len(rows.ends), int(rows.X.shape[1])
    settings: _Settings = {"tol": tol / n_rankers, "max_iter": max_iter}  # all of a gap may be one ranker's
    stacks, rng = [stack_rows(rows, C)], np.random.default_rng(0)  # the sample decides the path, never the answer
    size = int(np.count_nonzero(rows.level >= 0)) // _RATIO
    while size >= max(_FEWEST_ROWS, _ROWS_PER_COEF * d):
        rows = rows.sample(size, rng)
        stacks.append(stack_rows(rows, C))
        size //= _RATIO
    known = [stack for stack in stacks if stack is not None]
    w = np.zeros((n_rankers, d))
    curvature = known[-1].curvature(w.ravel())
    for stack in reversed(known):
        start = (w / stack.space.scale[:, None]).ravel()
        result = newton_cg(stack.problem, start=start, preconditioner=stack.preconditioner(curvature), **settings)
        w = stack.space.scale[:, None] * result.coef.reshape(w.shape)
        if stack is known[-1]:
            curvature = stack.curvature(result.coef)
    return _parted(known[0], result, C), known[0].n_pairs


def _parted(stack: Stack, result: SolveResult, C: float) -> list[SolveResult]:
    """Give each ranker its own part of what was found.

    The gradient of a ranker's high rows is −2 Σ W (1 − d) over the pairs with d < 1, all of it: so the risk of each
    ranker, Σ W (1 − d) + ½ sᵀg, is known without another sweep.
    """
    scores = stack.space.scores(result.coef)
    gradient = stack.problem.risk(scores).gradient
    n = len(stack.mass)
    high = stack.pairs.level == 1
    risk = 0.5 * np.bincount(stack.ranker, scores * gradient - np.where(high, gradient, 0.0), minlength=n)
    v = result.coef.reshape(n, -1)
    unit = C * stack.mass
    objective = unit * (0.5 * np.sum(v * v, axis=1) + risk)
    return [
        replace(result, coef=np.sqrt(unit[r]) * v[r], objective=float(objective[r]), gap=float(unit[r] * result.gap))
        for r in range(n)
    ]
