"""Support vector ordinal regression over a kernel: the method of multipliers, each step of Newton's solved exactly.

Narrow corners make Newton's steps short: most rows that will be inside a corner start on one side of it or the
other. Here corners stay wide, and are moved instead: around multipliers θ̂ the hinge (v)_+ becomes

    max over 0 ≤ θ ≤ 1 of θ v − δ/2 (θ − θ̂)²

and the θ found are the next stage's θ̂. What that tends to is the minimum of the hinge itself, for any δ.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from ..losses import OrdinalRows
from ..losses.ordinal_shifted import ListedLooks, ShiftedAt
from ..spaces import Function, KernelSpace
from ..sweeps import Floats, dot
from .problem import Objective, SolveResult
from .rounding import gap_between

logger = logging.getLogger(__name__)

_WIDTH = 0.2
"""How wide corners are at first, in units of the margin."""

_SLOW = 0.25
"""A stage that leaves more than this share of the gap is followed by one with corners half as wide."""

_NARROWEST = 1e-6

_LEFT = 0.1
"""A stage ends when what it has left to gain is for certain below this share of the duality gap."""

_MOST_BENT = 4_000
"""Where more rows than this are inside corners, a step's linear system is too large to be solved exactly."""

_FLATTER = 0.3
"""A line search ends where the slope is at most this share of what it was."""

_SUFFICIENT = 1e-4
"""A step is taken when it gives at least this share of the decrease that its slope promises."""


class _At(NamedTuple):
    f: Function
    risk: ShiftedAt
    objective: float


class _Candidate(NamedTuple):
    f: Function
    done: bool
    """Whether the stage has led far enough."""


class _End(NamedTuple):
    """Where a stage has led."""

    at: _At
    candidate: Function
    """The function to hand back: the one reached, or −strength times the gradient of the risk there."""
    n_iter: int
    stuck: bool


def by_multipliers(
    problem: Objective,
    space: KernelSpace,
    rows: OrdinalRows,
    *,
    start: Floats | None,
    tol: float,
    max_iter: int,
) -> SolveResult:
    """Minimise until the duality gap is below ``tol`` times the objective.

    Gives up, not converged, where too many rows are inside corners, or where the kernel is none. The bound is the
    dual's value: Σ ω θ + ⟨gradient, s⟩ lies below the risk, whatever the θ that balance at each threshold.
    """
    looks = ListedLooks(rows)
    best, bound, gap = problem.first(start), -np.inf, np.inf
    f, thresholds = best.f, np.zeros(rows.n_levels - 1)
    centre, width = np.zeros(len(looks)), _WIDTH
    n_iter = 0
    while np.isfinite(best.objective) and n_iter < max_iter and width >= _NARROWEST:
        stage = _Stage(space, looks, problem.strength, centre, width)
        at, candidate, steps, stuck = stage.solve(f, thresholds, tol, max_iter - n_iter)
        n_iter += steps
        # scores afresh: those that were carried along have gathered rounding
        f, dual = (Function(space, coef) for coef in (at.f.coef, -problem.strength * at.risk.gradient))
        bound = max(bound, problem.strength * at.risk.plane - 0.5 * dual.square)
        point = problem.at(f if candidate is at.f else dual)
        fine = point.objective - bound <= tol * abs(point.objective)
        if point.objective < best.objective or (fine and not best.f.coef.any()):  # zero orders nothing
            best = point
        before, gap = gap, max(gap_between(best, bound), 0.0)
        logger.debug("corner %.2g: objective %.8g, gap %.2g, %d steps", width, best.objective, gap, n_iter)
        if stuck or gap <= tol * abs(best.objective) or gap == np.inf:
            break
        centre, thresholds = at.risk.multipliers, at.risk.thresholds
        width *= 0.5 if gap > _SLOW * before else 1.0
    converged = bool(gap <= tol * abs(best.objective))
    return SolveResult(best.f.coef, best.objective, gap, max(n_iter, 1), 2 * n_iter, converged)


@dataclass(frozen=True)
class _Stage:
    """A smooth problem: corners of one width around given multipliers."""

    space: KernelSpace
    looks: ListedLooks
    strength: float
    centre: Floats
    width: float

    def solve(self, f: Function, near: Floats, tol: float, max_iter: int) -> _End:
        """Take Newton's steps until little is left to gain, of the hinge's gap or of its tolerated one."""
        at = self._at(f, near)
        n_iter = 0
        while True:
            gradient = Function(self.space, at.f.coef + self.strength * at.risk.gradient)
            candidate, done = self._candidate(at, gradient, tol)
            if done or n_iter == max_iter:
                return _End(at, candidate, n_iter, stuck=False)
            step = self._newton_step(at, gradient)
            if step is None:
                return _End(at, candidate, n_iter, stuck=True)
            slope = self.space.inner(gradient.coef, step)
            if -slope <= 1e-15 * abs(at.objective):  # rounding hides any further decrease
                return _End(at, candidate, n_iter, stuck=False)
            new = self._search_line(at, step, slope)
            if new is None:
                return _End(at, candidate, n_iter, stuck=n_iter == 0)
            at = new
            n_iter += 1

    def _at(self, f: Function, near: Floats) -> _At:
        risk = self.looks.at(f.scores, self.centre, self.width, near)
        return _At(f, risk, 0.5 * f.square + self.strength * risk.value)

    def _candidate(self, at: _At, gradient: Function, tol: float) -> _Candidate:
        """Choose what would be handed back, and say whether the stage may end.

        Good enough is the function that the dual stands for, since it rests on few rows. Zero orders nothing.
        """
        dual = at.f.plus(-1.0, gradient)
        bound = self.strength * at.risk.plane - 0.5 * dual.square
        dual_value, value = (
            0.5 * f.square + self.strength * self.looks.hinge(f.scores, at.risk.thresholds) for f in (dual, at.f)
        )
        use_dual = dual_value - bound <= tol * dual_value or dual_value <= value or not at.f.coef.any()
        chosen = dual_value if use_dual else value
        little = _LEFT * (min(dual_value, value) - bound)
        return _Candidate(dual if use_dual else at.f, chosen - bound <= tol * chosen or 0.5 * gradient.square <= little)

    def _newton_step(self, at: _At, gradient: Function) -> Function | None:
        """Solve (I + C H K) p = −g; None where that cannot be.

        Only bent rows are in H, so that p = −g + c with c on them alone. There H = D − Σ d dᵀ/Σd, one d for each
        block of thresholds and D their sum, and with R = D^½ and S = I + R K R the solution is c = R S⁻¹ (R K g + V m),
        V = R⁻¹ d: how far m the thresholds give way follows from as many equations as there are blocks.
        """
        rows, columns = at.risk.bending()
        if len(rows) == 0:
            return Function(self.space, -gradient.coef, -gradient.scores)
        if len(rows) > _MOST_BENT:
            return None
        d = self.strength * columns
        root = np.sqrt(d.sum(axis=1))
        lines = self.space.lines(rows)
        with np.errstate(over="ignore", invalid="ignore"):
            S = lines[:, rows] * root.astype(float)
            S *= root[:, None]
            S.flat[:: len(rows) + 1] += 1.0
            V = d / root[:, None]
            try:
                factor = cholesky(S, lower=True, overwrite_a=True, check_finite=False)
                seen = np.column_stack([V, root * gradient.scores[rows]])
                W = solve_triangular(factor, seen, lower=True, overwrite_b=True, check_finite=False)
                W, q = W[:, :-1], W[:, -1]
                total = d.sum(axis=0)
                m = np.linalg.solve(np.diag(total + (total == 0)) - V.T @ V + W.T @ W, -(W.T @ q))
            except LinAlgError:  # a kernel that is none
                return None
            c = root * solve_triangular(factor, q + W @ m, lower=True, trans=1, check_finite=False)
            scores = c.astype(lines.dtype) @ lines - gradient.scores
        coef = -gradient.coef
        coef[rows] += c
        return Function(self.space, coef, scores) if np.isfinite(scores).all() else None

    def _search_line(self, at: _At, step: Function, slope: float) -> _At | None:
        """Find where the objective's slope along a step is small; None where rounding hides any decrease."""
        low, low_slope, high, high_slope = 0.0, slope, np.inf, np.inf
        length, best = 1.0, None
        for _ in range(40):
            new = self._at(at.f.plus(length, step), at.risk.thresholds)
            new_slope = self.space.inner(new.f.coef, step) + self.strength * dot(new.risk.gradient, step.scores)
            smaller = new.objective <= at.objective + _SUFFICIENT * length * slope
            if smaller and (abs(new_slope) <= -_FLATTER * slope or (new_slope < 0 and length == 1.0)):
                return new
            best = new if smaller and (best is None or new.objective < best.objective) else best
            if new_slope < 0:
                low, low_slope = length, new_slope
            else:
                high, high_slope = length, new_slope
            if high == np.inf:
                return None
            share = low_slope / (low_slope - high_slope)
            length = low + min(max(share, 0.1), 0.9) * (high - low)
        return best
