"""Glickman's second rating system: a rating, how certain it is, and how much it changes by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..state import Part, floats
from ..sweeps import Floats
from ..sweeps.games import game_sweep
from ..sweeps.ratings import LOGIT
from .games import Games
from .system import check_number
from .uncertain import UncertainSystem


class Glicko2(UncertainSystem):
    r"""Glicko-2: Glicko with a volatility σ of each player, which rises with results that the rating did not expect.

    On the scale μ = (r − start) · q, φ = RD · q with q = ln(10) / 400, all games of a period count together:

    .. math:: g_j &= 1 \big/ \sqrt{1 + 3 \varphi_j^2 / \pi^2}, \quad
              E_j = \bigl(1 + e^{-g_j (\mu - \mu_j \pm a q)}\bigr)^{-1}, \quad
              1/v = \sum_j g_j^2 E_j (1 - E_j), \quad \Delta = v \sum_j g_j (s_j - E_j) \\
              \ln \sigma'^2 &= x: \quad \frac{x - \ln \sigma^2}{\tau^2} =
              \frac{e^x (\Delta^2 - \varphi^2 - v - e^x)}{2 (\varphi^2 + v + e^x)^2} \\
              1/\varphi'^2 &= 1 / (\varphi^2 + \sigma'^2) + 1/v, \qquad
              \mu' = \mu + \varphi'^2 \sum_j g_j (s_j - E_j)

    A player who was away has φ² + σ² for each period missed, up to the deviation that all start with.

    Parameters
    ----------
    start, deviation, volatility : float, default=1500, 350 and 0.06
        Rating, deviation and volatility of a player who has not played.
    tau : float, default=0.5
        How quickly volatilities change; 0.3 to 1.2 are usual.
    period : float or timedelta, default=None
        How long a rating period is, the time for which σ is stated: in units of the times, or in days where they
        are dates. By default one unit, or 30 days. Players whose deviations are back at ``deviation`` whenever they
        return were given too short a period: try the mean time between a player's games. Glickman
        thinks of periods in which a player plays 10 to 15 games. Without times, every game is one period after its
        players' last.
    advantage : float, default=0
        What the first move, the left player's, is worth in points.
    together : bool, default=True
        Whether games of the same time are rated together, from the ratings before that time. Without, or where no times
        are given, they are rated one after another, as they come.

    Attributes
    ----------
    players_ : dict
        Each player's place in the arrays.
    ratings_, deviations_, volatilities_ : arrays of shape (players,)
        As they were after the player's last game.
    period_ : float
        How long a period is, in the times of the games (days, if they are dates); not set without times.

    Notes
    -----
    Of two games less than a period apart, the second adds σ'² for the part of a period that has passed.

    References
    ----------
    Glickman (2012), Example of the Glicko-2 system.

    Examples
    --------
    >>> import wellorder as wo
    >>> system = wo.ratings.Glicko2().fit(left=["Ann", "Ann", "Cem"], right=["Bob", "Bob", "Ann"], outcome=[-1, -1, 0])
    >>> system.rating(["Ann", "Bob", "Cem"]).round(1).tolist()
    [1677.1, 1279.7, 1583.3]
    """

    def __init__(
        self,
        *,
        start: float = 1500.0,
        deviation: float = 350.0,
        volatility: float = 0.06,
        tau: float = 0.5,
        period: Any = None,
        advantage: float = 0.0,
        together: bool = True,
    ) -> None:
        self.start = start
        self.deviation = deviation
        self.volatility = volatility
        self.tau = tau
        self.period = period
        self.advantage = advantage
        self.together = together

    @property
    def volatilities_(self) -> Floats:
        """The volatilities after the last game, one a player."""
        return self._state["volatility"].copy()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self.volatility, "volatility")
        check_number(self.tau, "tau")

    def _new(self) -> dict[str, float]:
        return {
            "rating": 0.0,
            "deviation": LOGIT * self.deviation,
            "volatility": float(self.volatility),
            "last": np.nan,
        }

    def _player_state(self) -> dict[str, Part]:
        state = super()._player_state()
        last = state.pop("last")
        return state | {"volatility": floats("p", dtype=float, above=0.0), "last": last}

    def _sweep(self, games: Games, when: Floats, period: float) -> Floats:
        first, most = LOGIT * self.advantage, LOGIT * self.deviation
        sweep = game_sweep("glicko2", len(games))
        before: Floats = sweep(
            games.players, games.score, games.bounds, when, *self._grow().values(), first, most, float(self.tau), period
        )
        return before
