"""Rows on their sides of thresholds, each up to a slack, over a kernel: a dozen steps from inside, whatever C is.

A step solves one system of as many equations as rows, however many thresholds a row looks at: a row's looks share its
score, and thresholds are few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from ..sweeps import Floats, Ints, dot, sums_at

_MOST_STEPS = 100

_TO_THE_WALL = 0.995
"""How much of the way to the nearest bound a step may go."""

_BALANCED = 1e-9
"""How far the two sides of a threshold may be from weighing the same, as a part of all weight."""


@dataclass(frozen=True)
class RowLooks:
    r"""Minimise ½‖f‖² + Σ_q cost_q ξ_q (or cost_q ξ_q²) over functions f, thresholds b and slacks ξ ≥ 0.

    .. math:: side_l (s_{row_l} - b_{column_l}) \ge margin_l - \xi_{slack_l}, \qquad
              b_{upper_e} - b_{lower_e} \ge step_e

    for every look l and every order e between thresholds. Looks that share a slack are of one row.
    """

    row: Ints
    column: Ints
    side: Floats
    margin: Floats
    slack: Ints
    cost: Floats
    n_columns: int
    lower: Ints
    upper: Ints
    step: Floats
    squared: bool = False

    def objective(self, scores: Floats, thresholds: Floats) -> float:
        """Return what the slacks cost that these scores and thresholds need."""
        short = self.margin - self.side * (scores[self.row] - thresholds[self.column])
        need = np.zeros(len(self.cost))
        np.maximum.at(need, self.slack, short)
        return dot(self.cost, need**2 if self.squared else need)


class _Inside(NamedTuple):
    """Everything that moves; z, g and ξ are what the constraints leave, α, γ and β their multipliers."""

    coef: Floats
    thresholds: Floats
    xi: Floats
    z: Floats
    alpha: Floats
    g: Floats
    gamma: Floats
    beta: Floats

    def moved(self, step: _Inside, length: float) -> _Inside:
        return _Inside(*(at + length * along for at, along in zip(self, step, strict=True)))


class _System(NamedTuple):
    """The equations of a step, factored: what all right-hand sides share."""

    theta: Floats
    stiff: Floats  # ψ + Σθ of each slack
    Gamma: Floats
    D: Floats
    inverse: Floats  # of D, zero where D is
    root: Floats
    factor: Floats  # of I + D^½ K D^½
    G: Floats  # D^−½ C
    Y: Floats  # the factor's inverse times G
    M: Floats  # what is left for the thresholds


class InteriorSolution(NamedTuple):
    """Coefficients of the kernel's functions, thresholds, multipliers of the looks, and how far it went."""

    coef: Floats
    thresholds: Floats
    multipliers: Floats
    objective: float
    gap: float
    n_iter: int
    converged: bool


def interior_looks(K: Floats, looks: RowLooks, *, tol: float, max_iter: int = _MOST_STEPS) -> InteriorSolution:
    """Minimise until the duality gap is below ``tol`` times the objective; not converged where numbers run out.

    ``K`` is the kernel between all rows. O(n³) a step, with a Cholesky factor beside the kernel matrix.
    """
    with np.errstate(all="ignore"):
        return _Interior(K, looks).solve(tol, max_iter)


class _Interior:
    def __init__(self, K: Floats, looks: RowLooks) -> None:
        self._K = K
        self._looks = looks
        self._n = len(K)
        self._n_slacks = len(looks.cost)
        # places of (row, column) in a table of both
        self._cell = looks.row * np.int64(looks.n_columns) + looks.column
        self._mates = self._pairs_of_one_slack()

    def _pairs_of_one_slack(self) -> tuple[Ints, Ints]:
        """Return the places of any two different looks that share a slack, each way round."""
        slack = self._looks.slack
        order = np.argsort(slack, kind="stable")
        first, second = [], []
        most = int(np.bincount(slack).max(initial=0))
        for apart in range(1, most):
            same = np.flatnonzero(slack[order[apart:]] == slack[order[:-apart]])
            first.append(order[same])
            second.append(order[same + apart])
        here, there = (np.concatenate(part) if part else np.empty(0, np.int64) for part in (first, second))
        return np.concatenate([here, there]), np.concatenate([there, here])

    def _start(self) -> _Inside:
        """Start with f = 0, where the bounds are far on both sides, whatever the costs are."""
        looks = self._looks
        among = np.bincount(looks.slack, minlength=self._n_slacks)
        xi = np.full(self._n_slacks, 1.0 if looks.squared else 2.0)
        alpha = 2.0 * looks.cost * xi / np.maximum(among, 1) if looks.squared else looks.cost / (among + 1.0)
        mean = float(alpha.mean()) if len(alpha) else 1.0
        return _Inside(
            np.zeros(self._n),
            np.zeros(looks.n_columns),
            xi,
            np.ones(len(looks.row)),
            alpha[looks.slack],
            np.ones(len(looks.step)),
            np.full(len(looks.step), mean),
            np.zeros(0) if looks.squared else looks.cost - alpha * among,
        )

    def solve(self, tol: float, max_iter: int) -> InteriorSolution:
        looks, K = self._looks, self._K
        at, objective, gap, n_iter = self._start(), np.inf, np.inf, 0
        everything = float(looks.cost.sum())
        while True:
            scores = np.asarray(K @ at.coef.astype(K.dtype, copy=False), dtype=float)
            pulled = sums_at(looks.row, looks.side * at.alpha, self._n)
            pulled_scores = np.asarray(K @ pulled.astype(K.dtype, copy=False), dtype=float)
            objective = 0.5 * dot(at.coef, scores) + looks.objective(scores, at.thresholds)
            bound = dot(at.alpha, looks.margin) + dot(at.gamma, looks.step) - 0.5 * dot(pulled, pulled_scores)
            if looks.squared:
                bound -= dot(sums_at(looks.slack, at.alpha, self._n_slacks) ** 2, 0.25 / looks.cost)
            crossed = float(np.max(looks.step - self._order(at.thresholds), initial=0.0))
            unbalanced = float(np.abs(self._unbalanced(at)).max(initial=0.0))
            gap = max(objective - bound, 0.0)
            if not np.isfinite(objective):
                return InteriorSolution(at.coef, at.thresholds, at.alpha, objective, np.inf, n_iter, False)
            met = unbalanced <= _BALANCED * everything and crossed <= _BALANCED and gap <= tol * abs(objective)
            if met or n_iter == max_iter:
                return InteriorSolution(at.coef, at.thresholds, at.alpha, objective, gap, n_iter, met)
            try:
                step = self._newton_step(at, scores, pulled)
            except (LinAlgError, ValueError):
                return InteriorSolution(at.coef, at.thresholds, at.alpha, objective, gap, n_iter, False)
            at = at.moved(step, min(1.0, _TO_THE_WALL * _longest(at, step)))
            n_iter += 1

    def _order(self, thresholds: Floats) -> Floats:
        return np.asarray(thresholds[self._looks.upper] - thresholds[self._looks.lower])

    def _order_adjoint(self, values: Floats) -> Floats:
        looks, r = self._looks, self._looks.n_columns
        return sums_at(looks.upper, values, r) - sums_at(looks.lower, values, r)

    def _unbalanced(self, at: _Inside) -> Floats:
        looks = self._looks
        pull = np.bincount(looks.column, looks.side * at.alpha, looks.n_columns)
        return np.asarray(pull - self._order_adjoint(at.gamma))

    def _system(self, at: _Inside) -> _System:
        """Eliminate the slacks, then the rows, and factor what is left.

        With θ = α/z, ψ = β/ξ (or 2 cost) and u = side (s − b), slacks are eliminated first: dα = p − W du, where W has
        a block diag θ − θθᵀ/(ψ + Σθ) for each slack. Summed over a row's looks, that is da = P − D ds + C db with a
        diagonal D, and with ds = K da one system of I + D^½ K D^½ is left, and a small one of the thresholds.
        """
        looks, K, n, r = self._looks, self._K, self._n, self._looks.n_columns
        side, slack = looks.side, looks.slack
        theta = at.alpha / at.z
        psi = 2.0 * looks.cost if looks.squared else at.beta / at.xi
        together = sums_at(slack, theta, self._n_slacks)
        stiff = psi + together
        here, there = self._mates
        # W's diagonal θ − θ²/stiff, and what is beside it; side² = 1
        own = theta * (psi[slack] + (together[slack] - theta)) / stiff[slack]
        across = -side[here] * side[there] * theta[here] * theta[there] / stiff[slack[here]]
        cells = np.bincount(self._cell, own, n * r) + np.bincount(self._cell[here], across, n * r)
        C = cells.reshape(n, r)
        D = C.sum(axis=1)
        between = looks.column[here] * np.int64(r) + looks.column[there]
        inverse = np.divide(1.0, D, out=np.zeros(n), where=D > 0)  # a row without a look is in no equation
        B = np.bincount(between, across, r * r).reshape(r, r) - (C * inverse[:, None]).T @ C
        Gamma = at.gamma / at.g
        np.subtract.at(B, (looks.upper, looks.lower), Gamma)
        np.subtract.at(B, (looks.lower, looks.upper), Gamma)
        # thresholds that all move alike leave every row where it is: lines add up to zero, and what stands on the
        # diagonal is known from what stands beside it, without a difference that would lose its digits
        np.fill_diagonal(B, 0.0)
        np.fill_diagonal(B, -B.sum(axis=1))
        root = np.sqrt(D)
        S = K * root.astype(K.dtype)
        S *= root[:, None].astype(K.dtype)
        S.flat[:: n + 1] += 1.0
        factor = cholesky(S, lower=True, overwrite_a=True, check_finite=False)
        G = C * np.sqrt(inverse)[:, None]
        Y = solve_triangular(factor, G, lower=True, check_finite=False)
        M = B + Y.T @ Y
        M[np.diag_indices(r)] += np.where(np.bincount(looks.column, minlength=r) > 0, 0.0, 1.0)
        return _System(theta, stiff, Gamma, D, inverse, root, factor, G, Y, M)

    def _newton_step(self, at: _Inside, scores: Floats, pulled: Floats) -> _Inside:
        """Return Newton's step towards the central path, corrected by what the straight step to its end would miss."""
        looks, K, n, r, m = self._looks, self._K, self._n, self._looks.n_columns, self._n_slacks
        side, slack = looks.side, looks.slack
        theta, stiff, Gamma, D, inverse, root, factor, G, Y, M = self._system(at)
        # what does not hold yet
        off_z = side * (scores[looks.row] - at.thresholds[looks.column]) - looks.margin + at.xi[slack] - at.z
        off_g = self._order(at.thresholds) - looks.step - at.g
        off_coef = pulled - at.coef
        unbalanced = self._unbalanced(at)
        weighed = np.bincount(slack, at.alpha, m)
        off_beta = np.zeros(0) if looks.squared else looks.cost - weighed - at.beta

        def towards(of_z: Floats, of_g: Floats, of_xi: Floats) -> _Inside:
            """Solve for the products α z, γ g and β ξ to change by so much."""
            e = 2.0 * looks.cost * at.xi - weighed if looks.squared else off_beta - of_xi / at.xi
            p = of_z / at.z - theta * off_z
            share = (np.bincount(slack, p, m) - e) / stiff
            moved = side * (p - theta * share[slack])
            h = np.sqrt(inverse) * (np.bincount(looks.row, moved, n) + off_coef)
            q = solve_triangular(factor, h, lower=True, check_finite=False)
            free = of_g / at.g - Gamma * off_g
            known = -unbalanced - np.bincount(looks.column, moved, r) + self._order_adjoint(free) + G.T @ h - Y.T @ q
            db = np.linalg.solve(M, known)
            x = solve_triangular(factor, q + Y @ db, lower=True, trans=1, check_finite=False)
            da = root * x
            idle = D == 0
            da[idle] = off_coef[idle]
            ds = np.asarray(K @ da.astype(K.dtype, copy=False), dtype=float)
            du = side * (ds[looks.row] - db[looks.column])
            dxi = share - np.bincount(slack, theta * du, m) / stiff
            dz = du + dxi[slack] + off_z
            dalpha = (of_z - at.alpha * dz) / at.z
            dg = self._order(db) + off_g
            dbeta = np.zeros(0) if looks.squared else off_beta - np.bincount(slack, dalpha, m)
            return _Inside(da, db, dxi, dz, dalpha, dg, (of_g - at.gamma * dg) / at.g, dbeta)

        now = at.alpha * at.z, at.gamma * at.g, (np.zeros(0) if looks.squared else at.beta * at.xi)
        straight = towards(*(-each for each in now))
        count = sum(map(len, now))
        mean = sum(float(each.sum()) for each in now) / count
        length = min(1.0, _longest(at, straight))
        end = at.moved(straight, length)
        reached = dot(end.alpha, end.z) + dot(end.gamma, end.g)
        reached += 0.0 if looks.squared else dot(end.beta, end.xi)
        centre = mean * max(reached / count / mean, 0.0) ** 3
        return towards(
            centre - now[0] - straight.alpha * straight.z,
            centre - now[1] - straight.gamma * straight.g,
            now[2] if looks.squared else centre - now[2] - straight.beta * straight.xi,
        )


def _longest(at: _Inside, step: _Inside) -> float:
    """Return how far a step may go until something that must be positive is zero."""
    room = [(at.z, step.z), (at.alpha, step.alpha), (at.g, step.g), (at.gamma, step.gamma)]
    if len(at.beta):
        room += [(at.beta, step.beta), (at.xi, step.xi)]
    return min(float(np.where(along < 0, -value / along, np.inf).min(initial=np.inf)) for value, along in room)
