"""The most likely Bradley–Terry ratings of games with ties: Newton's method, its steps by conjugate gradients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..sweeps import Array, Floats, Ints, dot, near_one

_MOST_PRODUCTS = 500
"""Products with the Hessian in one Newton step, at most."""

_LIGHT = 60
"""Weights down to one over two to this power are taken as they are."""

_MOST_WEIGHT = 1e15
"""More repetitions than this of a player's games leave a ridge of one, or less, no digit."""

_ROUNDING = 1e-13
"""What rounding leaves of a derivative, against the weights that it is summed from."""


@dataclass(frozen=True)
class TiedGames:
    """Games of numbered players, and what is thought of large ratings.

    The parameters are one vector: the ratings, the advantage α of the left side, and log ν.
    """

    players: Ints
    outcome: Array
    weight: Floats
    n_players: int
    ridge: float
    has_advantage: bool

    @cached_property
    def has_ties(self) -> bool:
        """Whether there is a tie of any weight; without one, ν is zero, and log ν stays out of it."""
        return bool(self.weight[self.outcome == 0].sum() > 0)

    @cached_property
    def free(self) -> Floats:
        """1 for parameters that are fitted, 0 for those that are not."""
        return np.append(np.ones(self.n_players), [float(self.has_advantage), float(self.has_ties)])

    def differences(self, parameters: Floats) -> Floats:
        """Return d = r_right − r_left − α of each game."""
        return np.asarray(parameters[self.players[:, 1]] - parameters[self.players[:, 0]] - parameters[-2])

    def spread(self, by_difference: Floats, by_tie: Floats) -> Floats:
        """Carry derivatives in d and log ν, one a game, to the parameters: the adjoint of ``differences``."""
        left, right = self.players.T
        out = np.bincount(right, by_difference, self.n_players) - np.bincount(left, by_difference, self.n_players)
        return np.concatenate([out, [-by_difference.sum(), by_tie.sum()]]) * self.free

    @property
    def penalty(self) -> Floats:
        """The ridge of each parameter; ties need none."""
        return np.append(np.full(self.n_players + 1, self.ridge), 0.0)


@dataclass(frozen=True)
class Bend:
    """Second derivatives of each game's negative log-likelihood in (d, log ν)."""

    games: TiedGames
    own: Floats
    cross: Floats
    tie: Floats

    def product(self, direction: Floats) -> Floats:
        """Multiply the Hessian, ridge included, by a direction."""
        games = self.games
        d, tie = games.differences(direction), direction[-1]
        along = games.spread(self.own * d + self.cross * tie, self.cross * d + self.tie * tie)
        return np.asarray(along + games.penalty * direction)

    @property
    def diagonal(self) -> Floats:
        """The Hessian's diagonal; 1 for parameters that are not fitted."""
        games = self.games
        sums = sum(np.bincount(side, self.own, games.n_players) for side in games.players.T)
        whole = np.concatenate([sums, [self.own.sum(), self.tie.sum()]]) + games.penalty
        return np.where((games.free > 0) & (whole > 0), whole, 1.0)


def tied_probabilities(d: Floats, log_nu: float) -> Floats:
    """Return P(left), P(tie), P(right) for differences d, one line each: e^{−d/2}, ν, e^{d/2} over their sum."""
    return np.column_stack(_probabilities(d, log_nu))


def _probabilities(d: Floats, log_nu: float) -> tuple[Floats, Floats, Floats]:
    total = _log_total(d, log_nu)
    return np.exp(-0.5 * d - total), np.exp(log_nu - total), np.exp(0.5 * d - total)


def _log_total(d: Floats, log_nu: float) -> Floats:
    """Return log(e^{−d/2} + ν + e^{d/2}); the largest of them is taken out, so that none overflows."""
    size = 0.5 * np.abs(d)
    most = np.maximum(size, log_nu)
    return np.asarray(most + np.log(np.exp(size - most) + np.exp(-size - most) + np.exp(log_nu - most)))


def most_likely(games: TiedGames, start: Floats, *, tol: float, max_iter: int) -> tuple[Floats, int, bool]:
    """Minimise −Σ w log P(outcome) + ½ ridge (Σ r² + α²) until no derivative exceeds ``tol``.

    Less than that for light games, ``tol`` times what a player's weigh together: else they would not be looked at; and
    more for heavy ones, where rounding leaves as much. Returns the parameters, the number of Newton steps, and whether
    that was enough.
    """
    games, tol = _in_range(games, tol)
    at = start * games.free
    if not games.has_ties:
        at[-1] = -np.inf
    value = _value(games, at)
    gradient, bend = _expand(games, at)
    for n_iter in range(max_iter + 1):
        size = float(np.abs(gradient).max(initial=0.0))
        if size <= tol or n_iter == max_iter:
            break
        step = _newton_step(bend, gradient, min(0.1, size))
        slope = dot(gradient, step)
        length = 1.0
        # Armijo's rule; the risk is convex, so that a short enough step always goes down
        while (trial := _value(games, at + length * step)) > value + 1e-4 * length * slope + 1e-13 * abs(value):
            length *= 0.5
            if length < 1e-10:
                return at, n_iter, False
        at, value = at + length * step, trial
        gradient, bend = _expand(games, at)
    return at, n_iter, size <= tol


def _in_range(games: TiedGames, tol: float) -> tuple[TiedGames, float]:
    """Divide the objective by a power of two where all games weigh very little: no square in the search is zero then.

    Returns the tolerance with it. Weights beside which the ridge is nothing are refused: it alone holds the ratings of
    those who won every game.
    """
    weight, exponent = near_one(games.weight)
    heaviest = max(float(np.bincount(side, weight).max(initial=0.0)) for side in games.players.T)
    with np.errstate(over="ignore", under="ignore"):
        whole, ridge = float(np.ldexp(heaviest, exponent)), float(np.ldexp(games.ridge, -exponent))
    if not whole < _MOST_WEIGHT * max(games.ridge, 1.0) or ridge == np.inf:
        raise ValueError(
            f"the games of a player weigh {whole:.3g} together, which cannot be computed with beside a ridge of "
            f"{games.ridge:g}; weights count as repetitions: divide them by a common factor"
        )
    if exponent > -_LIGHT:
        return games, max(tol * min(whole, 1.0), _ROUNDING * whole)
    return replace(games, weight=weight, ridge=ridge), tol * heaviest


def _value(games: TiedGames, at: Floats) -> float:
    d = games.differences(at)
    own = 0.5 * games.outcome * d
    if games.has_ties:
        own = np.where(games.outcome == 0, at[-1], own)
    fit = dot(games.weight, _log_total(d, at[-1]) - own)
    return fit + 0.5 * games.ridge * dot(at[:-1], at[:-1])


def _expand(games: TiedGames, at: Floats) -> tuple[Floats, Bend]:
    """Return gradient and Hessian: with h = (½, −½, 0) for (right, left, tie), E[h] − h and the variances."""
    left, tie, right = _probabilities(games.differences(at), at[-1])
    lean = 0.5 * (right - left)
    w = games.weight
    gradient = games.spread(w * (lean - 0.5 * games.outcome), w * (tie - (games.outcome == 0)))
    gradient[:-1] += games.ridge * at[:-1]
    bend = Bend(games, w * (0.25 * (1.0 - tie) - lean**2), -w * tie * lean, w * tie * (1.0 - tie))
    return gradient, bend


def _newton_step(bend: Bend, gradient: Floats, accuracy: float) -> Floats:
    """Solve H s = −g by conjugate gradients, preconditioned by H's diagonal, to a share of ‖g‖."""
    step, left = np.zeros_like(gradient), -gradient
    diagonal = bend.diagonal
    scaled = left / diagonal
    direction, energy = scaled, dot(left, scaled)
    enough = accuracy**2 * energy
    for _ in range(_MOST_PRODUCTS):
        if energy <= enough or energy == 0.0:
            break
        bent = bend.product(direction)
        length = energy / dot(direction, bent)
        step, left = step + length * direction, left - length * bent
        scaled = left / diagonal
        energy, last = dot(left, scaled), energy
        direction = scaled + energy / last * direction
    return step
