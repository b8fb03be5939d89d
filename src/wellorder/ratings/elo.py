"""Elo's rating system."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..state import Part, floats
from ..sweeps import Floats, game_sweep
from .system import Before, Games, StreamedSystem, Uncertainty, check_number

FIDE = (40.0, 20.0, 10.0, 30.0, 2400.0)
"""K of new players, of others, of those who ever stood at the top; how many games make a player, and the top."""


class Elo(StreamedSystem):
    r"""Elo's ratings: each game moves both players by the surprise that its outcome was.

    .. math:: E = \frac{1}{1 + 10^{(r_{right} - r_{left} - a) / 400}}, \qquad
              r_{left} \mathrel{+}= K (s - E), \quad r_{right} \mathrel{-}= K (s - E)

    with s the left player's score: 1, ½ or 0.

    Parameters
    ----------
    k : float or "fide", default=32
        How far a complete surprise moves a rating. "fide": 40 for a player's first 30 games, then 20, and 10 for
        good once a player's rating has reached 2400.
    start : float, default=1500
        The rating of a player who has not played.
    advantage : float or "fit", default=0
        What the first move, the left player's, is worth in points. "fit": found from the games, and part of what is
        predicted; the ratings are then made as if it were worth nothing.
    together : bool, default=True
        Whether games of the same time are rated together, all from the ratings before that time. Without, or where no
        times are given, they are rated one after another, as they come.

    Attributes
    ----------
    players_ : dict
        Each player's place in ``ratings_``.
    ratings_, n_games_ : arrays of shape (players,)
        The rating after the last game, and the number of games.
    calibration_ : Calibration
        ``slope``, ``ties`` and ``side``: what differences of ratings have meant for wins, draws and losses.

    References
    ----------
    Elo (1978), The rating of chessplayers, past and present.

    Examples
    --------
    >>> import wellorder as wo
    >>> elo = wo.ratings.Elo(k=32).fit(left=["Ann", "Bob"], right=["Bob", "Cem"], outcome=[-1, 0])
    >>> elo.rating(["Ann", "Bob", "Cem", "somebody new"]).round(2).tolist()
    [1516.0, 1484.74, 1499.26, 1500.0]
    >>> elo.expected(["Bob"], ["Ann"]).round(3).tolist()
    [0.545]

    Elo's expected score says nothing of draws; how often equals draw is seen in the games:

    >>> elo.predict_proba(["Bob"], ["Ann"]).round(2).tolist()
    [[0.28, 0.37, 0.34]]
    """

    def __init__(self, k: Any = 32.0, *, start: float = 1500.0, advantage: Any = 0.0, together: bool = True) -> None:
        self.k = k
        self.start = start
        self.advantage = advantage
        self.together = together

    @property
    def n_games_(self) -> Floats:
        """How many games each player has played."""
        return self._state["games"].astype(np.int64)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.k, str):
            if self.k != "fide":
                raise ValueError(f"k={self.k!r} is not known; give a number, or 'fide'")
        else:
            check_number(self.k, "k")

    def _new(self) -> dict[str, float]:
        return {"rating": float(self.start), "games": 0.0, "peak": float(self.start)}

    def _player_state(self) -> dict[str, Part]:
        return {
            "rating": floats("p", dtype=float),
            "games": floats("p", dtype=float, low=0.0),
            "peak": floats("p", dtype=float),
        }

    def uncertainty(self) -> Uncertainty | None:
        """Return None: Elo's ratings do not say how certain they are."""
        return None

    def _rate(self, games: Games) -> Before:
        k = np.array(FIDE if isinstance(self.k, str) else (self.k, self.k, self.k, 0.0, np.inf), float)
        state = self._grow()
        before = game_sweep("elo", len(games))(
            games.players, games.score, games.bounds, *state.values(), self._given, k
        )
        left, right = games.in_rows(before).T
        return Before(left, right, advantage=self._given)
