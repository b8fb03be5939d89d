"""Davidson's model: Bradley and Terry's, with ties."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

from ..deadline import time_is_up, warn_of_time
from ..losses import Calibration, log_total, outcome_shares, tied_probabilities
from ..state import Part, absent_or, both, checked, count, figures, floats, places, whole
from ..sweeps import Floats, Ints, dot, near_one
from .system import Before, Games, RatingSystem, Uncertainty, check_number

# --------------------------------------------------------------------------------------------------
# The most likely Bradley–Terry ratings of games with ties: Newton's method, its steps by conjugate gradients.


_MOST_PRODUCTS = 500
"""Products with the Hessian in one Newton step, at most."""

_LIGHT = 60
"""Weights down to 2 to the minus this are not rescaled."""

_MOST_WEIGHT = 1e15
"""Where a player's games weigh more than this, against a ridge of one or less, the ridge is lost to rounding."""

_ROUNDING = 1e-13
"""What rounding leaves of a derivative, against the weights that it is summed from."""


@dataclass(frozen=True)
class TiedGames:
    """Games of numbered players, and what is thought of large ratings.

    The parameters are one vector: the ratings, the advantage α of the left side, and log ν.
    """

    players: Ints
    outcome: Ints
    weight: Floats
    n_players: int
    ridge: float
    has_advantage: bool

    @cached_property
    def sides(self) -> tuple[Ints, Ints]:
        """The left and the right players, as what reads entries by number wants them: it would copy them every time."""
        left, right = self.players.T
        return left.astype(np.intp), right.astype(np.intp)

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
        left, right = self.sides
        return np.asarray(parameters[right] - parameters[left] - parameters[-2])

    def spread(self, by_difference: Floats, by_tie: Floats) -> Floats:
        """Carry derivatives in d and log ν, one a game, to the parameters: the adjoint of ``differences``."""
        left, right = self.sides
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
        sums = sum(np.bincount(side, self.own, games.n_players) for side in games.sides)
        whole = np.concatenate([sums, [self.own.sum(), self.tie.sum()]]) + games.penalty
        return np.where((games.free > 0) & (whole > 0), whole, 1.0)

    @property
    def matrix(self) -> Floats:
        """The Hessian, dense; 1 on the diagonal for parameters that are not fitted."""
        games, n = self.games, self.games.n_players
        met = sp.coo_array((-self.own, games.sides), shape=(n + 2, n + 2)).toarray()
        out = met + met.T
        for last in (-2, -1):
            direction = np.zeros(n + 2)
            direction[last] = games.free[last]
            out[last] = out[:, last] = self.product(direction)
        np.fill_diagonal(out, self.diagonal)
        return np.asarray(out)


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
        if size <= tol or n_iter == max_iter or (n_iter and time_is_up()):
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
    heaviest = max(float(np.bincount(side, weight).max(initial=0.0)) for side in games.sides)
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
    fit = dot(games.weight, log_total(d, at[-1]) - own)
    return fit + 0.5 * games.ridge * dot(at[:-1], at[:-1])


def _expand(games: TiedGames, at: Floats) -> tuple[Floats, Bend]:
    """Return gradient and Hessian: with h = (½, −½, 0) for (right, left, tie), E[h] − h and the variances."""
    left, tie, right = outcome_shares(games.differences(at), at[-1])
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


_DENSE = 4
"""Games are counted in a table of all possible ones, as long as it has at most this many entries a game played."""


def merge_games(players: Ints, outcome: Ints, weight: Floats) -> tuple[Ints, Ints, Floats]:
    """Make one game of all that the same two players, on the same sides, ended alike; it weighs what they do together.

    The likelihood is the same. Votes are many and players are few: what a Newton step goes through is then at most
    three games for each two players, however many votes there are. Sorted by players and outcome; O(n log n), or O(n)
    where many are alike, and never more room than a few numbers a game.
    """
    base = int(players.max(initial=-1)) + 1
    if len(outcome) == 0:
        return players, outcome, weight
    code = (players[:, 0] * np.int64(base) + players[:, 1]) * 3 + (outcome + np.int64(1))
    if 3 * base**2 <= _DENSE * len(code):
        kept = np.flatnonzero(np.bincount(code))
        total = np.asarray(np.bincount(code, weight)[kept], dtype=float)
    else:
        order = np.argsort(code, kind="stable")
        code = code[order]
        first = np.flatnonzero(np.append(True, code[1:] != code[:-1]))
        kept, total = code[first], np.add.reduceat(weight[order], first)
    if len(kept) == len(weight) or not np.isfinite(total).all():  # weights so large are refused, by name, when fitted
        return players, outcome, weight
    pair, ended = np.divmod(kept, 3)
    return np.column_stack(np.divmod(pair, base)).astype(np.int32), (ended - 1).astype(np.int8), total


# --------------------------------------------------------------------------------------------------
# The model.


_MOST_DENSE = 2_000
"""Players up to whom the whole Hessian is inverted: a few seconds at most."""

_MOST_LOG = 700.0
"""Numbers whose logarithms are larger, or below its negative, are infinity and zero to a computer."""


class Davidson(RatingSystem):
    r"""Bradley–Terry with ties, by maximum likelihood over all games at once, however long ago they were.

    .. math:: P(right) : P(tie) : P(left) = e^{d/2} : \nu : e^{-d/2}, \qquad d = r_{right} - r_{left} - \alpha

    Minimised is −Σ log P(outcome) + ½ ridge (Σ r² + α²). Without ties ν is zero, and the model is Bradley and Terry's.
    Ratings are natural log-odds around zero.

    Parameters
    ----------
    ridge : float, default=0.1
        Keeps the ratings finite of those who won or lost every game, and those comparable who are linked by no chain of
        games.
    first_move : bool, default=False
        Whether to fit an advantage α of the left player (Davidson and Beaver's order effect); zero otherwise.
    tol : float, default=1e-6
        No derivative of the objective is larger at the end; where a player's games weigh less than 1 together, than so
        much of their weight, and where they weigh more than 10 million, than 1e-13 of it.
    max_iter : int, default=100
        Newton steps at most.
    together : bool, default=True
        In ``stream``, whether a period's games wait for its end; without, and with no times, every game makes a fit of
        all games before it, which is slow.

    Attributes
    ----------
    players_ : dict
        Each player's place in ``ratings_``.
    ratings_ : array of shape (players,)
    advantage_ : float
        α: positive where the first move helps.
    ties_ : float
        ν; two equal players tie with probability ν / (2 + ν).
    n_iter_ : int
        Newton steps of the last fit.

    Notes
    -----
    ``update`` keeps the games of before and fits all of them anew, from the last ratings on. Weights of ``Comparisons``
    count as repetitions: games that the same two players ended alike are kept as one that weighs as much.

    References
    ----------
    Davidson (1970), On extending the Bradley–Terry model to accommodate ties in paired comparison experiments.
    Davidson and Beaver (1977), On extending the Bradley–Terry model to incorporate within-pair order effects.

    Examples
    --------
    >>> import wellorder as wo
    >>> left, right = ["Ann", "Ann", "Bob", "Cem", "Bob"], ["Bob", "Bob", "Cem", "Ann", "Cem"]
    >>> model = wo.ratings.Davidson().fit(left, right, outcome=[-1, 0, 0, 1, 1])
    >>> model.rating(["Ann", "Bob", "Cem"]).round(2).tolist()
    [1.63, -1.33, -0.29]
    >>> model.predict_proba(["Bob"], ["Ann"]).round(2).tolist()
    [[0.03, 0.31, 0.65]]
    """

    n_iter_: int
    _players: Ints
    _outcome: Ints
    _weight: Floats

    def __init__(
        self,
        ridge: float = 0.1,
        *,
        first_move: bool = False,
        tol: float = 1e-6,
        max_iter: int = 100,
        together: bool = True,
    ) -> None:
        self.ridge = ridge
        self.first_move = first_move
        self.tol = tol
        self.max_iter = max_iter
        self.together = together

    @property
    def ratings_(self) -> Floats:
        """The ratings, one a player."""
        return self._parameters[:-2].copy()

    @property
    def advantage_(self) -> float:
        """What the first move is worth, in log-odds."""
        return float(self._parameters[-2])

    @property
    def ties_(self) -> float:
        """ν."""
        return float(np.exp(self._parameters[-1]))

    def update(self, left: Any, right: Any = None, outcome: Any = None, *, time: Any = None) -> Davidson:
        """Fit anew to the games of before and these; parameters as in ``fit``."""
        self._keep(self._read(left, right, outcome, time))
        if not self._decided and len(self._outcome):
            raise ValueError("every game is a tie: there is nothing to rate the players by")
        self._maximise()
        return self

    def expected(self, left: Any, right: Any) -> Floats:
        """Return the score expected of the right player: P(win) + ½ P(tie)."""
        p = self.predict_proba(left, right)
        return np.asarray(p[:, 2] + 0.5 * p[:, 1])

    def predict_proba(self, left: Any, right: Any, *, first_move: bool = True) -> Floats:
        """Return P(left wins), P(tie), P(right wins), one line a game; ``first_move=False``: nobody has it."""
        difference = self.compare(left, right) + (0.0 if first_move else self.advantage_)
        return tied_probabilities(difference, float(self._parameters[-1]))

    def _meaning(self) -> Calibration:
        return Calibration(1.0, self.ties_)

    def uncertainty(self) -> Uncertainty:
        """Return how uncertain the ratings are, by the curvature of the objective at its minimum, ridge included.

        They are measured from the mean of all: the height of the whole says nothing of anybody's place. With more than
        2,000 players the variance of each is that with all others known, which is somewhat less.
        """
        self._begin()
        games = self._games()
        unplayed = 1.0 / float(self.ridge)
        if not len(self._outcome):
            return Uncertainty(np.append(np.full(games.n_players, unplayed), unplayed))
        _, bend = _expand(games, self._parameters)
        if games.n_players > _MOST_DENSE:
            return Uncertainty(np.append(1.0 / bend.diagonal[:-2], unplayed))
        n_parameters = len(self._parameters)
        covariance = cho_solve(cho_factor(bend.matrix), np.eye(n_parameters, n_parameters - 2))[:-2]
        own, height = covariance.mean(axis=0), float(covariance.mean())
        covariance = covariance - own - own[:, None] + height
        return Uncertainty(np.append(np.maximum(covariance.diagonal(), 0.0), unplayed + height), covariance)

    def predict(self, left: Any, right: Any) -> Ints:
        """Return the most likely outcome of each game: −1, 0 or 1; 0 where both players are as likely to win."""
        p = self.predict_proba(left, right)
        return np.where(p[:, 1] >= np.maximum(p[:, 0], p[:, 2]), 0, np.sign(p[:, 2] - p[:, 0])).astype(np.int8)

    def _forget(self) -> None:
        super()._forget()
        self._players = np.empty((0, 2), np.int32)
        self._outcome, self._weight = np.empty(0, np.int8), np.empty(0)
        self._parameters = np.array([0.0, -np.inf])

    def _check_parameters(self) -> None:
        check_number(self.ridge, "ridge")
        check_number(self.tol, "tol")
        if not isinstance(self.max_iter, Integral) or self.max_iter < 1:
            raise ValueError(f"max_iter must be a positive whole number, got {self.max_iter!r}")

    def _fitted_state(self) -> dict[str, Part]:
        def check_parameters(found: Any) -> None:
            if not np.isfinite(found[:-1]).all():
                raise ValueError("a rating is not a finite number")
            if found[-1] != -np.inf and not abs(found[-1]) < _MOST_LOG:  # without a tie, log ν is −∞
                raise ValueError(f"the logarithm of the ties' weight is {found[-1]:g}")

        return super()._fitted_state() | {
            "_players": places("g", 2, below="p", dtype=np.int32),
            "_outcome": whole("g", low=-1, high=1, dtype=np.int8),
            "_weight": floats("g", low=0.0, dtype=float),
            "_parameters": both(figures("p+2", dtype=float), checked(check_parameters)),
            "n_iter_": absent_or(count()),
        }

    def _keep(self, games: Games) -> None:
        weight = np.ones(len(games)) if games.weight is None else games.weight
        self._players, self._outcome, self._weight = merge_games(
            np.concatenate([self._players, games.players]),
            np.append(self._outcome, games.outcome),
            np.append(self._weight, weight),
        )
        more = int(games.players.max(initial=-1)) + 1 - len(self.ratings_)  # in ``stream``, some have yet to play
        self._parameters = np.insert(self._parameters, len(self.ratings_), np.zeros(max(more, 0)))

    def _play(self, games: Games) -> Before:
        """Fit before each period what was played up to then."""
        before, advantage = np.empty((len(games), 2)), np.empty(len(games))
        for begin, end in zip(games.bounds[:-1], games.bounds[1:], strict=True):
            part = games.part(begin, end)
            self._maximise()
            before[begin:end] = np.append(self.ratings_, np.zeros(len(self.players_)))[part.players]
            advantage[begin:end] = self.advantage_
            self._keep(part)
        self._maximise()
        left, right = games.in_rows(before).T
        return Before(left, right, advantage=games.in_rows(advantage))

    @property
    def _decided(self) -> bool:
        """Whether any game was won."""
        return bool(np.any(self._weight[self._outcome != 0] > 0))

    def _maximise(self) -> None:
        if not self._decided:
            return
        games = self._games()
        start = np.where(np.isfinite(self._parameters), self._parameters, 0.0)
        self._parameters, self.n_iter_, converged = most_likely(
            games, start, tol=float(self.tol), max_iter=int(self.max_iter)
        )
        if not converged and self.n_iter_ < self.max_iter and time_is_up():
            warn_of_time(f"after {self.n_iter_} Newton steps")
        elif not converged:
            warnings.warn(
                f"stopped after {self.n_iter_} Newton steps before the derivatives fell to tol={self.tol:g}; raise "
                "max_iter, tol or ridge",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _games(self) -> TiedGames:
        return TiedGames(
            self._players, self._outcome, self._weight, len(self.ratings_), float(self.ridge), bool(self.first_move)
        )

    def _unknown(self) -> float:
        return 0.0

    def _advantage(self) -> float:
        return self.advantage_
