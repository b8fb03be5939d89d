"""Everything that convex hulls on an order graph need and nothing else does: loss, programmes, neighbours, task.

Constraints between all points of two convex hulls come down to one threshold an edge (Farkas). Given the scores the
edges do not know of each other, and within a level the rows that one of them sees on its wrong side stand side by
side once they are sorted: sums over them are differences of running sums.

References
----------
Fung, Rosales and Krishnapuram (2006), Learning rankings via convex hull separation. NIPS 18.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.optimize import linprog
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from ..losses import GradedRows, RiskAt
from ..order import Comparisons, CostTable, Grades, OrderGraph, OrderSum, shown
from ..solvers import (
    IDENTITY,
    Objective,
    Preconditioner,
    RowLooks,
    RowProblem,
    SolveResult,
    coarse_to_fine,
    interior_looks,
    newton_cg,
    some_rows,
)
from ..spaces import KernelSpace
from ..sweeps import Array, Floats, Ints, dot, sort_rows, use_compiled
from .base import read_order, refuse_no_pairs
from .ordinal_model import level_labels

# --------------------------------------------------------------------------------------------------
# Slacks: a threshold for every edge of an order graph, rows of either level on their own side of it.


@dataclass(frozen=True)
class LevelEdges:
    """Edges of an order graph by the numbers of their levels: ``high`` stands above ``low``."""

    low: Ints
    high: Ints
    weight: Floats

    def __len__(self) -> int:
        return len(self.low)


class _Views(NamedTuple):
    """Which level's rows see which edge, and the side of its threshold where they belong (+1: above)."""

    level: Ints
    edge: Ints
    side: Floats
    bounds: Ints
    """The views of level l stand at bounds[l]:bounds[l + 1]."""


@dataclass(frozen=True)
class EdgeSlacks:
    r"""One slack for each row and edge of its level, squared: smooth in the scores and in the thresholds.

    .. math:: R(s) = \sum_{e = (Q, P)} W_e \min_t \Bigl[ \sum_{i \in P} \omega_i (t - s_i)_+^2
              + \sum_{i \in Q} \omega_i (s_i - t + 1)_+^2 \Bigr]

    for level P above level Q. The Hessian is the curvature of the rows with a slack, less what each threshold gives
    way: a diagonal minus one rank an edge. O(n log n + edges · log n) for value and gradient, O(n + edges) a product.
    """

    edges: LevelEdges
    n_levels: int

    def at(self, scores: Floats, rows: GradedRows, near: Floats | None = None) -> tuple[RiskAt, Floats]:
        """Return the risk with its derivatives, the thresholds giving way, and the thresholds."""
        if not np.isfinite(scores).all():
            nothing = np.zeros_like(scores)
            return RiskAt(np.inf, nothing, lambda: nothing, np.zeros_like), np.full(len(self.edges), np.nan)
        found = _SortedByLevel(self, rows, scores)
        thresholds = found.best_thresholds()
        at, windows = found.windows(thresholds)
        hessian = _SlackHessian(self, found, windows)
        gradient, value = found.derivatives(at, windows)
        risk = RiskAt(
            value=value,
            gradient=found.to_rows(gradient, len(scores)),
            hessian_diagonal=lambda: found.to_rows(hessian.diagonal(), len(scores)),
            hessian_product=lambda u: found.to_rows(hessian.product(u[found.order]), len(scores)),
        )
        return risk, thresholds + found.centre

    def value(self, scores: Floats, rows: GradedRows, thresholds: Floats) -> float:
        """Return the risk at given thresholds."""
        total = 0.0
        for short, weight in self._slacks(scores, rows, thresholds):
            total += dot(weight * short, short)
        return total

    def curvature(self, scores: Floats, rows: GradedRows, thresholds: Floats) -> Floats:
        """Return ω times the second derivative of each row's loss in its score."""
        views, out = self.views, np.zeros(len(scores))
        for view, (short, weight) in enumerate(self._slacks(scores, rows, thresholds)):
            out[rows.level == views.level[view]] += 2.0 * weight * (short > 0)
        return out

    def _slacks(self, scores: Floats, rows: GradedRows, thresholds: Floats) -> list[tuple[Floats, Floats]]:
        """Return for each view the slacks of its rows, and what they weigh."""
        views, out = self.views, []
        for level, edge, side in zip(views.level, views.edge, views.side, strict=True):
            mine = rows.level == level
            reach = thresholds[edge] - (1.0 if side < 0 else 0.0)
            short = np.maximum(side * (reach - scores[mine]), 0.0)
            out.append((short, self.edges.weight[edge] * rows.weight[mine]))
        return out

    @cached_property
    def views(self) -> _Views:
        """Both levels of every edge see it, listed by level."""
        edges, n = self.edges, len(self.edges)
        level, edge = np.concatenate([edges.high, edges.low]), np.tile(np.arange(n), 2)
        side = np.repeat([1.0, -1.0], n)
        order = np.argsort(level, kind="stable")
        bounds = np.searchsorted(level[order], np.arange(self.n_levels + 1))
        return _Views(level[order], edge[order], side[order], bounds)


class _SlackWindows(NamedTuple):
    """For each view, the places of the rows that have a slack."""

    low: Ints
    high: Ints


class _SortedByLevel:
    """Rows sorted by level, then by score, with running sums of weights and weighted scores.

    Scores and thresholds in here are counted from their centre: sums of numbers far from zero lose their digits.
    """

    def __init__(self, slacks: EdgeSlacks, rows: GradedRows, scores: Floats) -> None:
        self._slacks = slacks
        counts = np.bincount(rows.level + 1, minlength=slacks.n_levels + 1)[1:]
        self._bounds = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        self.order = sort_rows(scores, rows.level, self._bounds, compiled=use_compiled(len(scores)))
        self.scores = scores[self.order]
        self.centre = float(self.scores.mean())
        self.scores -= self.centre
        self.weight = rows.weight[self.order]
        self.mass, self.moment = _running(self.weight), _running(self.weight * self.scores)

    def windows(self, thresholds: Floats) -> tuple[Floats, _SlackWindows]:
        """Return each view's reach, where its rows' slacks begin, and which of its rows have one."""
        views, bounds = self._slacks.views, self._bounds
        above = views.side > 0
        at = thresholds[views.edge] - np.where(above, 0.0, 1.0)
        cut = np.empty(len(at), np.int64)
        for level in range(self._slacks.n_levels):
            mine = slice(views.bounds[level], views.bounds[level + 1])
            here = self.scores[bounds[level] : bounds[level + 1]]
            cut[mine] = bounds[level] + np.searchsorted(here, at[mine])
        first, last = bounds[views.level], bounds[views.level + 1]
        return at, _SlackWindows(np.where(above, first, cut), np.where(above, cut, last))

    def _short(self, at: Floats, windows: _SlackWindows) -> tuple[Floats, Floats]:
        """Return each view's Σ ω · slack, and the weight of the rows that have one."""
        low, high = windows
        mass = self.mass[high] - self.mass[low]
        side = self._slacks.views.side
        return np.maximum(side * (at * mass - (self.moment[high] - self.moment[low])), 0.0), mass

    def best_thresholds(self) -> Floats:
        """Return where the slacks of each edge's two levels pull alike; the middle, where there are none.

        The slope in t is piecewise linear and rises, from below the lowest row of the upper level to above the highest
        of the lower one: Newton's steps end after a few, kept between two ends.
        """
        edges, views, n = self._slacks.edges, self._slacks.views, len(self._slacks.edges)
        low = self.scores[self._bounds[edges.high]]
        high = self.scores[self._bounds[edges.low + 1] - 1] + 1.0
        low, high = np.minimum(low, high), np.maximum(low, high)  # high below low: no slack between, nor any slope
        t: Floats = 0.5 * (low + high)
        smallest = 1e-15 * float(self.mass[-1])
        # invariant: each edge's slope is not above zero at low, nor below zero at high; t lies between
        for step in range(200):
            short, mass = self._short(*self.windows(t))
            slope = np.bincount(views.edge, views.side * short, n)
            bend = np.bincount(views.edge, mass, n)
            low, high = np.where(slope < 0, t, low), np.where(slope > 0, t, high)
            middle = 0.5 * (low + high)
            done = (np.abs(slope) <= smallest) | (middle <= low) | (middle >= high)
            if done.all():
                break
            newton = t - slope / np.where(bend > 0, bend, 1.0)
            # a bisection every eighth step: Newton's alone may creep towards a kink from one side
            usable = (bend > 0) & (newton >= low) & (newton <= high) & (step % 8 != 7)
            new = np.where(done, t, np.where(usable, newton, middle))
            if (new == t).all():
                break
            t = new
        return t

    def derivatives(self, at: Floats, windows: _SlackWindows) -> tuple[Floats, float]:
        """Return ∂R/∂s in the sorted order, and R."""
        views, n = self._slacks.views, len(self.order)
        edge_weight = self._slacks.edges.weight[views.edge]
        short, _ = self._short(at, windows)
        pull = _spread(windows, edge_weight, n)  # Σ W over the views in which a row has a slack
        reach = _spread(windows, edge_weight * at, n)  # and Σ W · reach
        gradient = 2.0 * self.weight * (self.scores * pull - reach)
        # slack = side · (reach − s), so that Σ slack² is Σ side · reach · slack + ½ sᵀ∂R/∂s: no sum of s² needed
        value = 0.5 * dot(self.scores, gradient) + dot(edge_weight * views.side * at, short)
        return gradient, max(value, 0.0)

    def to_rows(self, values: Floats, n_rows: int) -> Floats:
        """Return values of the sorted rows as values of all rows; zero where a row takes no part."""
        out = np.zeros(n_rows)
        out[self.order] = values
        return out


class _SlackHessian:
    """The Hessian in the scores, in the sorted order.

    With D_e the diagonal of 2 ω over the rows that have a slack at edge e, it is
    Σ_e W_e (D_e − D_e 1 1ᵀ D_e / 1ᵀD_e 1):
    when the scores move, the threshold moves by their mean over these rows, and what it moves by costs nothing.
    """

    def __init__(self, slacks: EdgeSlacks, found: _SortedByLevel, windows: _SlackWindows) -> None:
        n = len(slacks.edges)
        self._windows = windows
        self._edge = slacks.views.edge
        self._edge_weight = slacks.edges.weight[self._edge]
        self._weight = 2.0 * found.weight
        mass = np.bincount(self._edge, 2.0 * (found.mass[windows.high] - found.mass[windows.low]), n)
        self._share = 1.0 / np.where(mass > 0, mass, np.inf)  # no slack at an edge: its threshold does not move
        self._own = self._weight * _spread(windows, self._edge_weight, len(found.order))

    def product(self, v: Floats) -> Floats:
        """Return H v."""
        running = _running(self._weight * v)
        seen = running[self._windows.high] - running[self._windows.low]
        moved = (np.bincount(self._edge, seen, len(self._share)) * self._share)[self._edge]
        return self._own * v - self._weight * _spread(self._windows, self._edge_weight * moved, len(v))

    def diagonal(self) -> Floats:
        """Return H's diagonal."""
        given = _spread(self._windows, self._edge_weight * self._share[self._edge], len(self._own))
        return self._own - self._weight**2 * given


def _running(values: Floats) -> Floats:
    out = np.empty(len(values) + 1)
    out[0] = 0.0
    np.cumsum(values, out=out[1:])
    return out


def _spread(windows: _SlackWindows, amount: Floats, n: int) -> Array:
    """Add an amount to all places low:high, for many such windows at once."""
    steps = np.zeros(n + 1)
    np.add.at(steps, windows.low, amount)
    np.subtract.at(steps, windows.high, amount)
    return np.cumsum(steps[:n], out=steps[:n])


# --------------------------------------------------------------------------------------------------
# Squared slacks an edge by Newton's method; scores may also have to be smooth over a graph of neighbours.


_STRONG = 1e6
"""From this bound on the Hessian on, a kernel problem is worth a preconditioner, at a product with the Hessian for each
row: 450 to 1,800 rows of five levels took 2 to 15 times as long with one at ν ≤ 100, and half the time at 10,000."""

_MOST_BENT = 2_000
"""There is no preconditioner where more rows than this have slacks."""

_STEPS = 3
"""Newton steps with one preconditioner: by then, other rows have slacks."""


@dataclass(frozen=True)
class SmoothProblem(RowProblem):
    """Minimise ½‖f‖² + strength · R(s) + ½ sᵀLs, with R a sum over rows, and L a graph's Laplacian times its weight."""

    laplacian: sp.csr_array

    def risk(self, scores: Floats) -> RiskAt:
        """Evaluate R(s) + sᵀLs / (2 · strength)."""
        risk, share = super().risk(scores), 1.0 / self.strength
        rough = share * (self.laplacian @ scores)
        return RiskAt(
            value=risk.value + 0.5 * dot(scores, rough),
            gradient=risk.gradient + rough,
            hessian_diagonal=lambda: risk.hessian_diagonal() + share * self.laplacian.diagonal(),
            hessian_product=lambda u: risk.hessian_product(u) + share * (self.laplacian @ u),
        )

    def sample(self, size: int, rng: np.random.Generator) -> None:
        """Draw nothing: the neighbours of a sample are others."""
        return None


def squared_slacks(problem: RowProblem, *, tol: float, max_iter: int) -> SolveResult:
    """Minimise a smooth problem of rows and thresholds, the thresholds minimised out.

    Linear ones go from coarse to fine. With a kernel, each round has a preconditioner that is exact where it starts.
    """
    space = problem.space
    if not isinstance(space, KernelSpace):
        try:
            with np.errstate(over="raise", invalid="raise"):
                return coarse_to_fine(problem, tol=tol, max_iter=max_iter)
        except FloatingPointError:
            raise ValueError("X holds values so large that sums of their squares overflow; scale its columns") from None
    start: Floats | None = None
    n_iter = n_products = 0
    while True:
        most = min(_STEPS, max_iter - n_iter)
        preconditioner = _bent_rows(problem, space, start)
        found = newton_cg(problem, start=start, preconditioner=preconditioner, tol=tol, max_iter=most)
        n_iter += found.n_iter
        n_products += found.n_products
        start = found.coef
        if found.converged or found.n_iter < most or n_iter >= max_iter:
            return replace(found, n_iter=n_iter, n_products=n_products)


def _bent_rows(problem: Objective, space: KernelSpace, start: Floats | None) -> Preconditioner:
    """Invert the Hessian over the rows that bend; there is no other curvature but the identity's."""
    scores = np.zeros(space.n_rows) if start is None else space.scores(start)
    risk = problem.risk(scores)
    diagonal = problem.strength * risk.hessian_diagonal()
    rows = np.flatnonzero(diagonal > 0)
    if not 0 < len(rows) <= _MOST_BENT:
        return IDENTITY
    lines = space.lines(rows)
    if dot(diagonal[rows], lines[:, rows].diagonal().astype(float)) < _STRONG:
        return IDENTITY
    unit = np.zeros(space.n_rows)
    bent = np.empty((len(rows), len(rows)))
    # invariant: unit is zero; a product with the Hessian for each of these few rows gives the whole of it
    for place, row in enumerate(rows):
        unit[row] = 1.0
        bent[:, place] = risk.hessian_product(unit)[rows]
        unit[row] = 0.0
    bent *= problem.strength
    try:
        return some_rows(lines, rows, bent)
    except np.linalg.LinAlgError:  # a kernel that is none
        return IDENTITY


# --------------------------------------------------------------------------------------------------
# Quadratic programmes of many slacks, by the QP library.


_MOST_DENSE = 6_000
"""Up to so many variables, a table of constraints that is mostly full is solved as a dense one."""

_FULL = 0.1


class ProgrammeSolution(NamedTuple):
    """The variables, the duality gap, the steps taken, and whether the solver ended well."""

    x: Floats
    gap: float
    n_iter: int
    converged: bool


def sparse_qp(
    P: sp.csc_matrix, c: Floats, G: sp.csc_matrix, h: Floats, lowest: Floats, *, tol: float, max_iter: int
) -> ProgrammeSolution:
    """Minimise ½ xᵀPx + cᵀx over Gx ≤ h and x ≥ lowest (−∞: no bound); all of ``P`` is given, both triangles."""
    import piqp

    dense = len(c) <= _MOST_DENSE and G.nnz > _FULL * G.shape[0] * G.shape[1]
    solver = piqp.DenseSolver() if dense else piqp.SparseSolver()
    settings = solver.settings
    settings.eps_abs = settings.eps_rel = 1e-8
    settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = min(1e-8, 1e-3 * tol)
    settings.max_iter = max_iter
    if dense:
        solver.setup(P.toarray(order="F"), c, G=G.toarray(order="F"), h_u=h, x_l=lowest)
    else:
        solver.setup(P, c, G=G, h_u=h, x_l=lowest)
    status, info = solver.solve(), solver.result.info
    x = np.nan_to_num(np.asarray(solver.result.x, dtype=float))
    return ProgrammeSolution(x, abs(float(info.duality_gap)), int(info.iter), bool(status == piqp.PIQP_SOLVED))


# --------------------------------------------------------------------------------------------------
# The dual of a quadratic programme of hulls: one variable a constraint, which is less where coefficients are many.


_MOST_CONSTRAINTS = 6_000
"""Most constraints for which the dual's dense matrix is held, and its factor: each has as many rows and columns."""

_COEF_PER_CONSTRAINT = 1 / 6
"""The dual is used above this ratio of coefficients to constraints (measured: Gaussian kernels, 200 to 1,000 rows)."""


class HullBlocks(NamedTuple):
    """Minimise ½ uᵀBu + Σ cost · y² (or y ≥ 0) over coefficients u, thresholds t and slacks y: Au + Tt − My ≤ h."""

    A: Array
    B: Floats | Array
    """A table, or its diagonal."""
    T: sp.csc_matrix
    M: sp.csr_matrix
    """One entry of one in each line of a slack; none in a line between thresholds."""
    cost: Floats
    h: Floats
    is_absolute: bool


def dual_pays(n_constraints: int, n_coef: int) -> bool:
    """Say whether the dual is small enough to hold, and less work."""
    return n_constraints <= _MOST_CONSTRAINTS and n_coef > _COEF_PER_CONSTRAINT * n_constraints


def dual_qp(blocks: HullBlocks, nu: float, *, tol: float, max_iter: int) -> ProgrammeSolution:
    r"""Solve by multipliers λ ≥ 0 of the constraints; u = −B⁻¹Aᵀλ, and the thresholds are multipliers of Tᵀλ = 0.

    .. math:: \min_λ \tfrac12 λ^\top A B^{-1} A^\top λ + \tfrac14 \sum (M^\top λ)^2 / cost + h^\top λ

    or, for absolute slacks, with Mᵀλ ≤ cost in the place of the second term. The slacks returned are zero: the
    caller knows how large they must be.
    """
    import piqp

    A, B, T, M, cost, h, is_absolute = blocks
    # half = B^(−½) Aᵀ, so that A B⁻¹ Aᵀ = halfᵀ half is symmetric to the last bit, and u = −B^(−½) half λ
    if B.ndim == 1:
        half = (A / np.sqrt(B)).T
    else:
        lower = cholesky(B, lower=True)
        half = solve_triangular(lower, A.T, lower=True)
    P = half.T @ half
    # λ is counted in units, since the solver's tolerances are for numbers near one: λ = unit · μ, all over unit
    unit = min(nu, 1.0 / max(float(P.diagonal().mean()), 1e-300))
    P *= unit
    upper = np.full(len(h), np.inf)
    joint = np.zeros(len(cost), dtype=bool)  # slacks that several constraints share: Mᵀλ ≤ cost is then a constraint
    if is_absolute:  # a slack of one constraint alone: 0 ≤ λ ≤ cost is a bound, which costs the solver nothing
        joint = np.bincount(M.indices, minlength=len(cost)) > 1
        lines = np.flatnonzero(np.diff(M.indptr))
        upper[lines] = cost[M.indices] / unit
    else:
        P += unit * (M @ sp.diags_array(0.5 / cost) @ M.T).toarray()
    used = np.flatnonzero(np.diff(T.indptr))  # a threshold that stands in no constraint would make 0 = 0
    solver = piqp.DenseSolver()
    settings = solver.settings
    settings.eps_abs = settings.eps_rel = 1e-8
    settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = min(1e-8, 1e-3 * tol)
    settings.max_iter = max_iter
    among = {} if not joint.any() else {"G": M[:, joint].T.toarray(order="F"), "h_u": cost[joint] / unit}
    solver.setup(
        np.asfortranarray(P),
        h,
        A=T[:, used].T.toarray(order="F"),
        b=np.zeros(len(used)),
        x_l=np.zeros(len(h)),
        x_u=upper,
        **among,
    )
    status, found = solver.solve(), solver.result
    pulled = -unit * (half @ np.nan_to_num(np.asarray(found.x)))
    coef = pulled / np.sqrt(B) if B.ndim == 1 else solve_triangular(lower.T, pulled)
    thresholds = np.zeros(T.shape[1])
    thresholds[used] = -np.nan_to_num(np.asarray(found.y))
    x = np.concatenate([coef, thresholds, np.zeros(len(cost))])
    gap = unit * abs(float(found.info.duality_gap))
    return ProgrammeSolution(x, gap, int(found.info.iter), bool(status == piqp.PIQP_SOLVED))


# --------------------------------------------------------------------------------------------------
# Convex hulls as a quadratic or linear programme: slacks a row, absolute slacks, the 1-norm.
#
# Size n + d + edges, never n²: a row has one slack (or one for each edge of its level), not one for each partner.


Slacks: TypeAlias = Literal["edge", "row"]
SlackLoss: TypeAlias = Literal["squared", "absolute"]

_MOST_ENTRIES = 60_000_000
"""Of the constraints' table: some ten GB in the solver."""

_MOST_WORK = 5e10
"""Constraints times columns²: some minutes in the solver."""

_PLAIN = 1e4
"""A ν so large that f = 0 is clearly not the best, unless it is for every ν; columns have size one, rows weight one."""

_SMALLEST = 1e-140
"""A column whose values differ by less counts as constant: the squares of its coefficient would overflow."""


@dataclass(frozen=True)
class HullProgramme:
    r"""Minimise the regulariser plus ν Σ ω · slack (or slack²) over linear scores s = Z u and thresholds.

    The regulariser is ½‖u‖² + ½ uᵀQu, or ‖u‖₁.
    """

    Z: Any
    """Dense or CSR."""
    rows: GradedRows
    slacks: EdgeSlacks
    nu: float
    kind: Slacks
    loss: SlackLoss
    sparse_coef: bool = False
    """Whether the regulariser is ‖u‖₁."""
    quadratic: Array | None = None
    """Q."""


_MOST_EXACT = 100_000
"""Up to so many entries HiGHS ends in a corner of a linear programme, with exact zeros, in no time."""


class HullSolution(NamedTuple):
    """Coefficients, one threshold an edge, and how the solver got there."""

    coef: Floats
    thresholds: Floats
    objective: float
    gap: float
    n_iter: int
    converged: bool


class _Inequalities(NamedTuple):
    """Inequalities side · (reach_c − s_row) ≤ slack: where c is a column of thresholds, less one for side −1."""

    row: Ints
    column: Ints
    side: Floats
    slack: Ints
    cost: Floats
    """What each slack costs, but for ν."""


def solve_hulls(programme: HullProgramme, *, tol: float, max_iter: int) -> HullSolution:
    """Solve by the QP library; by HiGHS where all is linear."""
    size, centre = _scale(programme.Z)
    active = np.flatnonzero(programme.rows.level >= 0)
    Z = programme.Z[active]
    Z = sp.csr_array(Z @ sp.diags_array(1.0 / size)) if sp.issparse(Z) else (np.asarray(Z, float) - centre) / size
    state = _Statement(programme, Z, programme.rows.level[active], programme.rows.weight[active], size)
    x, gap, n_iter, converged = state.solve(tol, max_iter)
    scaled, thresholds = state.read(x)
    coef = scaled / size
    thresholds = thresholds + float(centre @ coef)  # scores of columns that are not centred are higher by as much
    return HullSolution(coef, thresholds, state.objective(x), gap, n_iter, converged)


_MOST_INSIDE = 4_000
"""Rows up to which a kernel's programme is solved here, which holds a factor beside the kernel."""

_NEGATIVE = 1e-6
"""Eigenvalues that are below zero by more than this part of the largest are no rounding: there is no kernel."""


def kernel_hulls(
    K: Floats,
    rows: GradedRows,
    slacks: EdgeSlacks,
    nu: float,
    kind: Slacks,
    loss: SlackLoss,
    *,
    tol: float,
    max_iter: int,
) -> HullSolution | None:
    """Solve a kernel's programme with the function's own norm; None where it is too large, or does not end well.

    A step's equations are as many as rows, not as constraints, and the kernel is used as it is: no eigenvalues.
    """
    active = np.flatnonzero(rows.level >= 0)
    if len(active) > _MOST_INSIDE:
        return None
    own = np.asarray(K, dtype=float)[np.ix_(active, active)]
    if not _is_kernel(own):
        return None
    lower: Ints = np.empty(0, np.int64)
    upper = lower
    level, weight, r, edges = rows.level[active], rows.weight[active], rows.n_levels, slacks.edges
    if kind == "edge":
        cuts = _edge_cuts(slacks, [np.flatnonzero(level == each) for each in range(r)], weight)
        margin, n_columns = np.where(cuts.side < 0, 1.0, 0.0), len(edges)
    else:  # here the thresholds are each level's ends, and an edge keeps the ends of its levels apart
        cuts = _row_cuts(slacks, level, weight)
        margin, n_columns, lower, upper = np.zeros(len(cuts.row)), 2 * r, r + edges.low, edges.high
    looks = RowLooks(
        cuts.row,
        cuts.column,
        cuts.side,
        margin,
        cuts.slack,
        nu * cuts.cost,
        n_columns,
        lower,
        upper,
        np.ones(len(lower)),
        loss == "squared",
    )
    found = interior_looks(own, looks, tol=min(1e-8, 1e-3 * tol), max_iter=max_iter)
    if not found.converged:
        return None
    coef = np.zeros(len(rows.level))
    coef[active] = found.coef
    ends = found.thresholds
    thresholds = ends if kind == "edge" else 0.5 * (ends[edges.high] + ends[r + edges.low] + 1.0)
    return HullSolution(coef, thresholds, found.objective, found.gap, found.n_iter, True)


def _is_kernel(K: Floats) -> bool:
    """Say whether no eigenvalue is below zero, as far as rounding allows; the largest is bounded by sums of lines."""
    shifted = K.copy()
    shifted.flat[:: len(K) + 1] += _NEGATIVE * float(np.abs(K).sum(axis=1).max())
    try:
        cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True


class _Statement:
    """The programme in numbers: variables [u (in one or two parts), thresholds, slacks]."""

    def __init__(self, programme: HullProgramme, Z: Any, level: Ints, weight: Floats, size: Floats) -> None:
        self._programme, self._size = programme, size
        self._d = Z.shape[1]
        self._n_coef = self._d * (2 if programme.sparse_coef else 1)  # ‖u‖₁ is linear in a positive and a negative part
        by_level: list[Ints] = [np.flatnonzero(level == each) for each in range(programme.rows.n_levels)]
        if programme.kind == "edge":
            self._n_thresholds = len(programme.slacks.edges)
            cuts = _edge_cuts(programme.slacks, by_level, weight)
        else:
            self._n_thresholds = 2 * len(by_level)
            cuts = _row_cuts(programme.slacks, level, weight)
        self._cost = programme.nu * cuts.cost
        self._slack = cuts.slack
        refuse_large(len(cuts.row), Z)
        self._G, self._h = self._inequalities(Z, cuts)

    def _inequalities(self, Z: Any, cuts: _Inequalities) -> tuple[sp.csc_matrix, Floats]:
        """State Σ side · (t_c − s_row) − slack ≤ side 1[side < 0], and the distance between levels."""
        n, signs = len(cuts.row), sp.diags_array(-cuts.side)
        scores = sp.csr_array(signs @ sp.csr_array(Z[cuts.row]))
        place = np.arange(n)
        thresholds = sp.csr_array((cuts.side, (place, cuts.column)), shape=(n, self._n_thresholds))
        slacks = sp.csr_array((np.full(n, -1.0), (place, cuts.slack)), shape=(n, len(self._cost)))
        coef = [scores, -scores] if self._programme.sparse_coef else [scores]
        G = sp.hstack([*coef, thresholds, slacks])
        h = np.where(cuts.side < 0, -1.0, 0.0)
        if (
            self._programme.kind == "row"
        ):  # the thresholds are the ends of levels: the one stands between two levels, not here
            h = np.zeros(n)
            edges, r = self._programme.slacks.edges, self._n_thresholds // 2
            # an edge keeps the ends of its levels apart: U_low − L_high ≤ −1
            line = np.tile(np.arange(len(edges)), 2)
            column = np.concatenate([edges.high, r + edges.low])
            sign = np.repeat([-1.0, 1.0], len(edges))
            apart = sp.csr_array((sign, (line, column)), shape=(len(edges), 2 * r))
            before, after = (sp.csr_array((len(edges), width)) for width in (self._n_coef, len(self._cost)))
            G = sp.vstack([G, sp.hstack([before, apart, after])])
            h = np.concatenate([h, np.full(len(edges), -1.0)])
        return sp.csc_matrix(G), h

    @property
    def _linear_cost(self) -> Floats:
        coef = np.tile(1.0 / self._size, 2) if self._programme.sparse_coef else np.zeros(self._d)
        slack = self._cost if self._programme.loss == "absolute" else np.zeros(len(self._cost))
        return np.concatenate([coef, np.zeros(self._n_thresholds), slack])

    def _norm(self) -> Floats | Array:
        """Return the table (or its diagonal) of ½‖u‖² + ½ uᵀQu, in coefficients of scaled columns."""
        if self._programme.quadratic is None:
            return np.asarray((1.0 / self._size) ** 2)
        return np.asarray((np.eye(self._d) + self._programme.quadratic) / np.outer(self._size, self._size))

    def _blocks(self) -> HullBlocks:
        """State the programme for the dual."""
        middle = self._n_coef + self._n_thresholds
        A, T, slacks = self._G[:, : self._n_coef], self._G[:, self._n_coef : middle], self._G[:, middle:]
        is_absolute = self._programme.loss == "absolute"
        return HullBlocks(A.toarray(), self._norm(), T, sp.csr_matrix(-slacks), self._cost, self._h, is_absolute)

    def _quadratic_cost(self) -> sp.csc_matrix:
        programme = self._programme
        if programme.sparse_coef:
            coef: Any = sp.csr_array((self._n_coef, self._n_coef))
        else:
            norm = self._norm()
            coef = sp.diags_array(norm) if norm.ndim == 1 else norm
        squared = programme.loss == "squared"
        slack = sp.diags_array(2.0 * self._cost if squared else np.zeros(len(self._cost)))
        blocks = [coef, sp.csr_array((self._n_thresholds, self._n_thresholds)), slack]
        return sp.csc_matrix(sp.block_diag(blocks))

    def solve(self, tol: float, max_iter: int) -> ProgrammeSolution:
        """Solve the programme; a small linear one to a corner, whose zeros are exact."""
        cost = self._linear_cost
        lowest = np.full(len(cost), -np.inf)
        if self._programme.sparse_coef:
            lowest[: self._n_coef] = 0.0
        if self._programme.loss == "absolute":  # squared slacks are not negative by themselves
            lowest[self._n_coef + self._n_thresholds :] = 0.0
        if self._programme.sparse_coef and self._programme.loss == "absolute" and self._G.nnz <= _MOST_EXACT:
            bounds = np.column_stack([lowest, np.full(len(cost), np.inf)])
            found = linprog(cost, A_ub=self._G, b_ub=self._h, bounds=bounds, method="highs")
            if found.x is None:
                raise RuntimeError(f"the linear programme was not solved: {found.message}")
            return ProgrammeSolution(found.x, 0.0, int(found.nit), True)
        if not sp.issparse(self._programme.Z) and not self._programme.sparse_coef and dual_pays(len(self._h), self._d):
            found = dual_qp(self._blocks(), self._programme.nu, tol=tol, max_iter=max_iter)
            if found.converged:
                return found
        unit = self._programme.nu  # the solver's tolerances are for costs around one
        P = self._quadratic_cost() / unit
        found = sparse_qp(P, cost / unit, self._G, self._h, lowest, tol=tol, max_iter=max_iter)
        return found._replace(gap=unit * found.gap)

    def read(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the coefficients (of scaled columns), and one threshold an edge."""
        coef, ends = x[: self._d], x[self._n_coef : self._n_coef + self._n_thresholds]
        if self._programme.sparse_coef:
            coef = coef - x[self._d : self._n_coef]
            coef = np.where(np.abs(coef) <= 1e-7 * np.abs(coef).max(initial=0.0), 0.0, coef)
        if self._programme.kind == "edge":
            return coef, ends
        edges, r = self._programme.slacks.edges, self._n_thresholds // 2
        return coef, 0.5 * (ends[edges.high] + ends[r + edges.low] + 1.0)  # anything between would do

    def objective(self, x: Floats) -> float:
        """Return the objective, each slack as large as the thresholds make it."""
        coef = self.read(x)[0]
        fixed = np.append(x[: -len(self._cost)], np.zeros(len(self._cost)))  # without the slacks that the solver found
        if self._programme.sparse_coef:  # no part of a coefficient is paid twice, or below zero
            fixed[: self._n_coef] = np.maximum(np.append(coef, -coef), 0.0)
        slack = np.zeros(len(self._cost))
        short = (self._G @ fixed - self._h)[: len(self._slack)]
        np.maximum.at(slack, self._slack, short)  # a slack is the largest of what its constraints need
        paid = slack**2 if self._programme.loss == "squared" else slack
        regulariser = 0.5 * float(fixed @ (self._quadratic_cost() @ fixed)) + float(self._linear_cost @ fixed)
        return regulariser + float(self._cost @ paid)


def _edge_cuts(slacks: EdgeSlacks, by_level: list[Ints], weight: Floats) -> _Inequalities:
    """One slack for each row and edge of its level."""
    views = slacks.views
    row = np.concatenate([by_level[level] for level in views.level])
    view = np.repeat(np.arange(len(views.level)), [len(by_level[level]) for level in views.level])
    edge = views.edge[view]
    return _Inequalities(row, edge, views.side[view], np.arange(len(row)), slacks.edges.weight[edge] * weight[row])


def _row_cuts(slacks: EdgeSlacks, level: Ints, weight: Floats) -> _Inequalities:
    """One slack a row: column k is the largest threshold below level k, column r + k the least above, less one."""
    r = slacks.n_levels
    has_below, has_above = (np.bincount(ends, minlength=r) > 0 for ends in (slacks.edges.high, slacks.edges.low))
    lower, upper = np.flatnonzero(has_below[level]), np.flatnonzero(has_above[level])
    row = np.concatenate([lower, upper])
    column = np.concatenate([level[lower], r + level[upper]])
    return _Inequalities(row, column, np.repeat([1.0, -1.0], [len(lower), len(upper)]), row, weight)


def _scale(Z: Any) -> tuple[Floats, Floats]:
    """Return each column's size, so that the solver's tolerances fit it, and its centre (zero if sparse)."""
    if sp.issparse(Z):
        largest = np.asarray(abs(Z).max(axis=0).toarray(), dtype=float).ravel()
        return np.where(largest > _SMALLEST, largest, 1.0), np.zeros(Z.shape[1])
    centre = np.mean(Z, axis=0, dtype=float)
    largest = np.abs(np.asarray(Z, dtype=float) - centre).max(axis=0, initial=0.0)
    return np.where(largest > _SMALLEST, largest, 1.0), centre


def refuse_large(n_cuts: int, Z: Any) -> None:
    """Refuse a programme that the solver would hold in memory for hours."""
    per_row = Z.nnz / max(Z.shape[0], 1) if sp.issparse(Z) else Z.shape[1]
    entries = n_cuts * (per_row + 2)
    if entries > _MOST_ENTRIES or n_cuts * per_row**2 > _MOST_WORK:
        raise ValueError(
            f"a programme of {n_cuts:,} constraints with {entries:,.0f} entries is too large; slacks='edge' with "
            "loss='squared' and penalty='l2' (or 'laplacian') needs none; n_components=100 makes a kernel's small"
        )


def made_plain(programme: HullProgramme) -> HullProgramme:
    """Return a programme that f = 0 solves just where it solves the given one for every ν, but well scaled.

    f = 0 is the best for every ν where no direction lets the slacks fall: the size of columns and what the
    regulariser makes of them do not matter.
    """
    size, _ = _scale(programme.Z)
    Z = sp.csr_array(programme.Z @ sp.diags_array(1.0 / size)) if sp.issparse(programme.Z) else programme.Z / size
    weight = float(programme.rows.weight[programme.rows.level >= 0].mean())
    return replace(programme, Z=Z, nu=_PLAIN / weight, sparse_coef=False, quadratic=None)


def cost_of_nothing(programme: HullProgramme) -> float:
    """Return the least objective of u = 0, which scores all rows alike: then a level's rows have one slack.

    An edge's two slacks add up to one at least. Apart they share it out by the levels' weights; together, one a
    level, they make a programme of as many variables as levels.
    """
    edges, mass = programme.slacks.edges, programme.rows.mass
    low, high, nu, squared = mass[edges.low], mass[edges.high], programme.nu, programme.loss == "squared"
    if programme.kind == "edge":
        return nu * float(edges.weight @ (low * high / (low + high) if squared else np.minimum(low, high)))
    each, n = np.arange(len(edges)), len(mass)
    G = sp.csc_matrix((np.full(2 * len(edges), -1.0), (np.tile(each, 2), np.append(edges.low, edges.high))))
    G.resize(len(edges), n)
    h, lowest = np.full(len(edges), -1.0), np.zeros(n)
    if squared:
        y = sparse_qp(sp.csc_matrix(sp.diags_array(2.0 * mass)), lowest, G, h, lowest, tol=1e-8, max_iter=200).x
        return nu * float(mass @ y**2)
    return nu * float(linprog(mass, A_ub=G, b_ub=h, method="highs").fun)


# --------------------------------------------------------------------------------------------------
# Graphs of nearest neighbours among rows, and their Laplacians: what rows without a grade have to say.


def neighbour_laplacian(X: Any, rows: Ints, n_neighbors: int, *, is_kernel: bool = False) -> sp.csr_array:
    r"""Return L with fᵀLf = Σ_{i<j} a_ij (f_i − f_j)², a_ij = (1/2k) · (how often i and j name each other).

    Each of the ``rows`` names its k nearest others, so that its own terms add up to a mean over them; all other rows
    are outside the graph. Distances are Euclidean; from a kernel matrix, those of its own geometry,
    K_ii + K_jj − 2 K_ij.
    """
    k = min(n_neighbors, len(rows) - 1)
    if is_kernel:
        squares = X.diagonal()[rows]
        distances = np.maximum(squares[:, None] + squares - 2.0 * np.asarray(X)[np.ix_(rows, rows)], 0.0)
        nearest = NearestNeighbors(n_neighbors=k, metric="precomputed").fit(distances).kneighbors_graph()
    else:
        nearest = kneighbors_graph(X if len(rows) == X.shape[0] else X[rows], k)
    named = sp.coo_array(nearest)
    shape: tuple[int, int] = (X.shape[0], X.shape[0])
    weight = np.full(named.nnz, 0.5 / k)
    one_way = sp.csr_array((weight, (rows[named.row], rows[named.col])), shape=shape)
    near = one_way + one_way.T
    degree: Array = np.asarray(near.sum(axis=1)).ravel()
    return sp.csr_array(sp.diags_array(degree) - near)


def kernel_columns(K: Floats, rows: Ints, weight: Array) -> tuple[Array, sp.csr_array]:
    """Return features Z = K over some rows, and B with v = B u: ‖u‖² is then Σ v_i² / weight_i over these rows.

    A row of weight two has the same share as two rows of weight one.
    """
    root = np.sqrt(weight[rows])
    back = sp.csr_array((root, (rows, np.arange(len(rows)))), shape=(K.shape[0], len(rows)))
    return np.asarray(K, dtype=float)[:, rows] * root, back


def kernel_features(K: Floats) -> tuple[Array, Array]:
    """Return features Z with ZZᵀ = K, and B with v = B u for the function that scores s = Z u = K v.

    ‖u‖² is then the function's own norm vᵀKv. Directions that floating point cannot tell from nothing are left out.
    """
    value, vector = np.linalg.eigh(np.asarray(K, dtype=float))
    largest = max(float(value.max(initial=0.0)), 0.0)
    if value.min(initial=0.0) < -1e-6 * largest:
        raise ValueError(
            f"the kernel matrix has the eigenvalue {value.min():g} beside {largest:g}: it is not positive "
            "semidefinite, and no kernel"
        )
    kept = value > 1e-12 * largest
    root = np.sqrt(value[kept])
    return vector[:, kept] * root, vector[:, kept] / root


# --------------------------------------------------------------------------------------------------
# What a convex-hull ranker learns from: rows of levels, and the edges between those levels.


_MOST_LEVELS = 1_000


class HullTask(NamedTuple):
    """Rows with the levels that have an edge numbered, and one threshold to find for each edge."""

    rows: GradedRows
    slacks: EdgeSlacks
    edge_labels: Array
    """(lower, higher) of each edge, in the user's own labels."""
    weighed: Ints
    """The rows that have a positive weight, graded or not."""
    n_groups: int

    @property
    def weights_edges(self) -> bool:
        """Whether some edge counts otherwise than once."""
        return bool((self.slacks.edges.weight != 1.0).any())


def read_hulls(
    y: Any, groups: Any, sample_weight: Any, order: Any, levels: Iterable[Hashable] | None, n_rows: int
) -> HullTask:
    """Read grades and their order graph; ``Grades`` with an order of their own go before the default, the full one."""
    if isinstance(y, Comparisons | OrderSum):
        raise ValueError(f"ConvexHullRanker takes grades, one a row, not {type(y).__name__}; RankSVM takes comparisons")
    grades = read_order(y, groups, sample_weight, order, levels, "pairs")
    assert isinstance(grades, Grades)
    if len(grades) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y has {len(grades)}"
        )
    weight = grades.row_weights
    active = (grades.level >= 0) & (weight > 0)
    present = np.unique(grades.level[active])
    if len(present) < 2:
        refuse_no_pairs(grades, 0)
    if len(present) > _MOST_LEVELS:
        raise ValueError(
            f"y has {len(present):,} levels, and ConvexHullRanker keeps a threshold for each edge between them; bin "
            f"the grades (at most {_MOST_LEVELS:,} levels, better ten), or use RankSVM, which takes any number"
        )
    low, high, edge_weight = _edges(grades, present, is_chain=isinstance(order, str) and order == "chain")
    if not len(low):
        refuse_no_pairs(grades.in_one_group(), 0)
    joined = np.unique(np.concatenate([low, high]))
    number = np.full(len(level_labels(grades)) + 1, -1, np.int32)
    number[joined] = np.arange(len(joined))
    level = np.where(active, number[grades.level], np.int32(-1))  # a level of −1 reads the last entry
    edges = LevelEdges(number[low].astype(np.int64), number[high].astype(np.int64), edge_weight)
    return HullTask(
        GradedRows(level, weight, len(joined)),
        EdgeSlacks(edges, len(joined)),
        level_labels(grades)[np.column_stack([low, high])],
        np.flatnonzero(weight > 0),
        grades.n_groups,
    )


def _edges(grades: Grades, present: Ints, *, is_chain: bool) -> tuple[Ints, Ints, Array]:
    """Return the edges between levels, all of which have rows, by the levels' places.

    Orders by name are orders of the levels that are there: a declared level without rows leaves no gap in a chain.
    """
    graph = grades.graph
    if is_chain:
        return present[:-1], present[1:], np.ones(len(present) - 1)
    if isinstance(graph.structure, CostTable):
        _refuse_empty_levels(graph, present)
    weights = graph.take(present).weights
    low, high = np.nonzero(weights)
    return present[low], present[high], weights[low, high]


def _refuse_empty_levels(graph: OrderGraph, present: Ints) -> None:
    """Refuse a graph with an edge to a level that no row has: what follows through it would be lost without a word."""
    assert isinstance(graph.structure, CostTable)
    entries = graph.structure.matrix.tocoo()
    empty = np.setdiff1d(np.union1d(entries.row, entries.col), present)
    if len(empty):
        name = graph.levels[int(empty[0])]
        raise ValueError(
            f"the order graph has an edge to the level {name!r}, which no row with a positive weight has (there are "
            f"rows of {shown(graph.take(present).labels)}); leave it out: graph.restrict(levels), or, to keep what "
            "follows through it, graph.transitive_closure().restrict(levels).transitive_reduction()"
        )
