"""Convex hulls as a quadratic or linear programme: slacks a row, absolute slacks, the 1-norm.

Size n + d + edges, never n²: a row has one slack (or one for each edge of its level), not one for each partner.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from ..losses import EdgeSlacks, GradedRows
from ..sweeps import Array, Floats, Ints
from .hull_dual import HullBlocks, dual_pays, dual_qp
from .sparse_qp import ProgrammeSolution, sparse_qp

Slacks: TypeAlias = Literal["edge", "row"]
SlackLoss: TypeAlias = Literal["squared", "absolute"]

_MOST_ENTRIES = 60_000_000
"""Of the constraints' table: some ten GB in the solver."""

_MOST_WORK = 5e10
"""Constraints times columns²: some minutes in the solver."""

_PLAIN = 1e4
"""A ν for columns of size one and rows of weight one, at which it is plain to see whether f = 0 is the best."""

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


class _Cuts(NamedTuple):
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
    coef, thresholds = state.read(x)
    return HullSolution(
        coef / size, thresholds + float(centre @ (coef / size)), state.objective(x), gap, n_iter, converged
    )


class _Statement:
    """The programme in numbers: variables [u (in one or two parts), thresholds, slacks]."""

    def __init__(self, programme: HullProgramme, Z: Any, level: Ints, weight: Floats, size: Floats) -> None:
        self._programme, self._size = programme, size
        self._d, self._n_coef = Z.shape[1], Z.shape[1] * (2 if programme.sparse_coef else 1)
        by_level = [np.flatnonzero(level == each) for each in range(programme.rows.n_levels)]
        if programme.kind == "edge":
            self._n_thresholds, cuts = len(programme.slacks.edges), _edge_cuts(programme.slacks, by_level, weight)
        else:
            self._n_thresholds, cuts = 2 * len(by_level), _row_cuts(programme.slacks, level, weight)
        self._cost, self._slack = programme.nu * cuts.cost, cuts.slack
        refuse_large(len(cuts.row), Z)
        self._G, self._h = self._inequalities(Z, cuts)

    def _inequalities(self, Z: Any, cuts: _Cuts) -> tuple[sp.csc_matrix, Floats]:
        """State Σ side · (t_c − s_row) − slack ≤ side 1[side < 0], and the distance between levels."""
        n, signs = len(cuts.row), sp.diags_array(-cuts.side)
        scores = sp.csr_array(signs @ sp.csr_array(Z[cuts.row]))
        place = np.arange(n)
        thresholds = sp.csr_array((cuts.side, (place, cuts.column)), shape=(n, self._n_thresholds))
        slacks = sp.csr_array((np.full(n, -1.0), (place, cuts.slack)), shape=(n, len(self._cost)))
        coef = [scores, -scores] if self._programme.sparse_coef else [scores]
        G = sp.hstack([*coef, thresholds, slacks])
        h = np.where(cuts.side < 0, -1.0, 0.0)
        if self._programme.kind == "row":  # here the thresholds are each level's ends, and U counts without the one
            h = np.zeros(n)
            edges, r = self._programme.slacks.edges, self._n_thresholds // 2
            each = np.arange(len(edges))
            apart = sp.csr_array(
                (np.repeat([-1.0, 1.0], len(edges)), (np.tile(each, 2), np.concatenate([edges.high, r + edges.low]))),
                shape=(len(edges), 2 * r),
            )
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
        """State it for the dual."""
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
        """Solve it; of a linear programme the corner, where it is small."""
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
        coef, fixed = self.read(x)[0], np.append(x[: -len(self._cost)], np.zeros(len(self._cost)))
        if self._programme.sparse_coef:  # no part of a coefficient is paid twice, or below zero
            fixed[: self._n_coef] = np.maximum(np.append(coef, -coef), 0.0)
        slack = np.zeros(len(self._cost))
        np.maximum.at(slack, self._slack, (self._G @ fixed - self._h)[: len(self._slack)])
        paid = slack**2 if self._programme.loss == "squared" else slack
        regulariser = 0.5 * float(fixed @ (self._quadratic_cost() @ fixed)) + float(self._linear_cost @ fixed)
        return regulariser + float(self._cost @ paid)


def _edge_cuts(slacks: EdgeSlacks, by_level: list[Ints], weight: Floats) -> _Cuts:
    """One slack for each row and edge of its level."""
    views = slacks.views
    row = np.concatenate([by_level[level] for level in views.level])
    view = np.repeat(np.arange(len(views.level)), [len(by_level[level]) for level in views.level])
    edge = views.edge[view]
    return _Cuts(row, edge, views.side[view], np.arange(len(row)), slacks.edges.weight[edge] * weight[row])


def _row_cuts(slacks: EdgeSlacks, level: Ints, weight: Floats) -> _Cuts:
    """One slack a row: column k is the largest threshold below level k, column r + k the least above, less one."""
    r = slacks.n_levels
    has_below, has_above = (np.bincount(ends, minlength=r) > 0 for ends in (slacks.edges.high, slacks.edges.low))
    lower, upper = np.flatnonzero(has_below[level]), np.flatnonzero(has_above[level])
    row = np.concatenate([lower, upper])
    column = np.concatenate([level[lower], r + level[upper]])
    return _Cuts(row, column, np.repeat([1.0, -1.0], [len(lower), len(upper)]), row, weight)


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
