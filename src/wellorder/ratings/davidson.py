"""Davidson's model: Bradley and Terry's, with ties."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..state import Part, absent_or, both, checked, count, figures, floats, places, whole
from ..sweeps import Array, Floats
from .games import Games
from .system import Before, RatingSystem, check_number
from .tied_likelihood import TiedGames, most_likely, tied_probabilities

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
    count as repetitions.

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

    def predict_proba(self, left: Any, right: Any) -> Floats:
        """Return P(left wins), P(tie), P(right wins), one line a game."""
        return tied_probabilities(self.compare(left, right), float(self._parameters[-1]))

    def predict(self, left: Any, right: Any) -> Array:
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
        self._players = np.concatenate([self._players, games.players])
        self._outcome = np.append(self._outcome, games.outcome)
        self._weight = np.append(self._weight, np.ones(len(games)) if games.weight is None else games.weight)
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
        games = TiedGames(
            self._players, self._outcome, self._weight, len(self.ratings_), float(self.ridge), bool(self.first_move)
        )
        start = np.where(np.isfinite(self._parameters), self._parameters, 0.0)
        self._parameters, self.n_iter_, converged = most_likely(
            games, start, tol=float(self.tol), max_iter=int(self.max_iter)
        )
        if not converged:
            warnings.warn(
                f"stopped after {self.n_iter_} Newton steps before the derivatives fell to tol={self.tol:g}; raise "
                "max_iter, tol or ridge",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _unknown(self) -> float:
        return 0.0

    def _advantage(self) -> float:
        return self.advantage_
